"""The case: every file's rows as one set of tables, with owner, order and run, ready for replay."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from forensics.case import partial
from forensics.case.brokers import Broker, brokers
from forensics.case.lives import DIVIDED, LIVES, by_cluster, clustered, divided, lives, of_cluster
from forensics.case.log_directories import log_directories
from forensics.case.metadata import agree
from forensics.case.order import (
    between,
    cluster_numbers,
    in_order,
    is_fixed,
    latest,
    ranks,
    to_utc,
    utc,
    with_runs,
    witnessed,
)
from forensics.case.origin import Origin
from forensics.case.owners import owners
from forensics.case.printers import several, told_apart
from forensics.case.skew import skew as estimate
from forensics.case.topics import named
from forensics.case.twins import COPY, leave_dumps_of_segments
from forensics.case.zones import ASSUMED, settle
from parsers.excerpts.pieces import is_piece
from parsers.file_reading import note
from parsers.files.sources import Source
from parsers.read import FileReading, of_plugins
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, Kind, empty
from parsers.text import exports, grep_output
from parsers.text.layouts import NOT_KNOWN


@dataclass(frozen=True, slots=True)
class Reading:
    """Settings for the interpretation of printed times.

    Attributes:
        zone: zone of the logs' printed times as the user gave it; None to infer it from the logs, else UTC.
        skew: microseconds to add to a broker's times.
        since, until: first and last moment whose lines count, microseconds since 1970 UTC; None for no limit. Files
            that hold a state (segments, checkpoints, the metadata log) and a broker's lines about itself always count.
    """

    zone: str | None = None
    skew: dict[int, int] = field(default_factory=dict)
    since: int | None = None
    until: int | None = None

    @property
    def assumed(self) -> str:
        """Zone of printed times if the evidence does not show it."""
        return self.zone or ASSUMED


SOURCES: dict[str, pl.DataType] = {
    "id": pl.UInt32(),
    "path": pl.String(),
    "broker": pl.Int32(),
    "cluster": pl.String(),
    "format": pl.String(),
    "topic": pl.String(),
    "partition": pl.Int32(),
    "directory_state": pl.String(),
    "bytes": pl.Int64(),
    "sha256": pl.String(),
    "first_time": pl.Datetime("us", "UTC"),
    "last_time": pl.Datetime("us", "UTC"),
    "lines": pl.Int64(),
    "events": pl.Int64(),
    "relevant": pl.Int64(),
    "understood": pl.Int64(),
    "notices": pl.Int64(),
    "roles_begun": pl.Int64(),
    "roles_due": pl.Int64(),
    "base_offset": pl.Int64(),
    "log_end": pl.Int64(),
    "magic": pl.Int8(),
    "frame": pl.String(),
    "zone": pl.String(),  # zone of its times: stated in the file, given, inferred from a collector, or assumed
}
"""One row per file; for a log of several clusters, ``cluster`` is the last."""


_NO_EVIDENCE = (
    "unknown",
    "irrelevant",
    "archive",  # what is in an archive counts by itself
    COPY,  # what it is a copy of counts by itself
    "server-properties",
    "zookeeper-nodes",
    "command-output",
    "metrics",
)
"""Formats of files that show neither what a log holds nor what a broker did."""


@dataclass
class Case:
    """All evidence.

    Attributes:
        sources: schema ``SOURCES``.
        observations: ``OBSERVATIONS`` plus ``row`` (its number), ``source``, ``broker`` (owner or printed witness),
            ``run`` (process of that broker) and ``starts_run``; ordered by broker and, within one, as it happened.
        batches: ``BATCHES`` plus ``source``, ``broker``, ``topic``, ``partition``.
        notices: ``NOTICES`` plus ``source``.
        brokers: by id; for evidence of several clusters, only within one of its ``parts``.
        everyone: every broker of every cluster.
        lives: schema ``LIVES``: logs of several clusters, and the time from which each cluster applies.
        divided: the same by lines: ``source``, first ``line`` of a ``cluster``.
        reading: how times were interpreted.
        whole: the case of which this is one cluster's part, or None.
    """

    sources: pl.DataFrame
    observations: pl.DataFrame
    batches: pl.DataFrame
    notices: pl.DataFrame
    brokers: dict[int, Broker]
    reading: Reading
    files: list[Source] = field(default_factory=list)
    everyone: tuple[Broker, ...] = ()
    lives: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=LIVES))
    divided: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=DIVIDED))
    whole: Case | None = None

    @property
    def cluster(self) -> str | None:
        """The cluster id, if its brokers name one and no other."""
        names = {broker.cluster for broker in self.brokers.values() if broker.cluster is not None}
        return next(iter(names)) if len(names) == 1 else None

    @functools.cached_property
    def paths(self) -> list[str]:
        """Path of each source, by id."""
        if self.whole is not None:
            return self.whole.paths
        return [str(path) for path in self.sources.get_column("path").to_list()]

    @functools.cached_property
    def with_data(self) -> frozenset[int]:
        """Brokers with a data directory in the evidence."""
        told = self.sources.filter(pl.col("format").is_in(["segment", "dump-log", "metadata-log", "offset-checkpoint"]))
        return frozenset(told.get_column("broker").drop_nulls().unique().to_list())

    @functools.cached_property
    def traces_alone(self) -> bool:
        """Return whether only traces could be read of the evidence: they hold no record batches and no files.

        Settings, and what names leader and ISR alone, may be beside them.
        """
        return set(self.showing.get_column("format").unique().to_list()) == {"trace"}

    @functools.cached_property
    def by_id(self) -> Mapping[int, Sequence[Broker]]:
        """Every broker of every cluster by its id: clusters use the same ids."""
        found: dict[int, list[Broker]] = {}
        for one in self.everyone:
            found.setdefault(one.id, []).append(one)
        return found

    @functools.cached_property
    def sharing(self) -> Sequence[Broker]:
        """The brokers on which partitions share a directory."""
        return [broker for broker in self.brokers.values() if broker.shared]

    @property
    def showing(self) -> pl.DataFrame:
        """The sources that show what a log holds or what a broker did."""
        return self.sources.filter(pl.col("format").is_in([*_NO_EVIDENCE, *of_plugins()]).not_())

    @property
    def origin(self) -> Origin:
        """The origin of the evidence: logs and files of brokers, or only traces, of Kafka or of another system."""
        if not self.traces_alone or any(broker.logged for broker in self.brokers.values()):
            return Origin.FILES
        others = any(broker.of_other_system for broker in self.brokers.values())
        return Origin.OTHER_SYSTEM if others else Origin.TRACE

    @functools.cached_property
    def complete(self) -> frozenset[int]:
        """Brokers for which a trace claims to state every change, and whose lines could all be read."""
        return frozenset(broker.id for broker in self.brokers.values() if broker.complete)

    @functools.cached_property
    def listed(self) -> frozenset[int]:
        """Brokers that a trace lists and claims nothing of, without any line, where it claims others."""
        claims = any(broker.complete or broker.claim is not None for broker in self.brokers.values())
        return frozenset(broker.id for broker in self.brokers.values() if broker.listed and claims)

    @functools.cached_property
    def logs_claimed(self) -> dict[int, tuple[int | None, int | None]]:
        """Brokers for which a trace claims to state every change of their logs, with the span of the claim."""
        return {one.id: one.log_within for one in self.brokers.values() if one.log_within is not None}

    @functools.cached_property
    def headers(self) -> dict[int, tuple[int, int]]:
        """Position of each source's batch headers: first row and number of rows."""
        runs = self.batches.get_column("source").rle().struct.unnest()
        firsts = runs.get_column("len").cast(pl.Int64).cum_sum() - runs.get_column("len").cast(pl.Int64)
        return {one: (at, count) for one, at, count in zip(runs["value"], firsts, runs["len"], strict=True)}

    @functools.cached_property
    def checkpointed(self) -> frozenset[str]:
        """Paths of the checkpoint files that are complete."""
        return checkpointed(self.sources)

    @functools.cached_property
    def skew(self) -> pl.DataFrame:
        """Estimated differences of the brokers' clocks; schema ``skew.SKEW``. Only presentation may use it."""
        found = []
        for part in self.parts:
            names = part.sources.get_column("cluster").drop_nulls().unique().to_list()
            found.append(estimate(part.observations, names[0] if names else None))
        return pl.concat(found)

    @functools.cached_property
    def holes(self) -> pl.DataFrame:
        """Gaps marked in excerpts; see ``partial.holes``."""
        return partial.holes(self)

    @functools.cached_property
    def unattributed(self) -> dict[tuple[str, int], int]:
        """Partitions with lines of an unknown broker, and their number; see ``partial.unattributed``."""
        return partial.unattributed(self)

    def path(self, source: int) -> str:
        """Path of a source."""
        return self.paths[source]

    @functools.cached_property
    def parts(self) -> tuple[Case, ...]:
        """The case cluster by cluster, in the order of their names: brokers of different clusters share ids.

        Rows and sources keep their numbers. A case of one cluster, or of none that is named, is its own only part.
        """
        names = sorted(by_cluster(self.sources, self.lives).get_column("cluster").drop_nulls().unique().to_list())
        if len(names) < 2:
            return (self,)
        return tuple(part for name in (*names, None) if (part := self._part(name)) is not None)

    def part_of(self, cluster: str | None) -> Case:
        """Return the part of one cluster."""
        for part in self.parts:
            if part is self or part.sources.get_column("cluster")[0] == cluster:
                return part
        raise KeyError(cluster)

    def _part(self, name: str | None) -> Case | None:
        everything = by_cluster(self.sources, self.lives)
        sources = everything.filter(pl.col("cluster").eq_missing(pl.lit(name, dtype=pl.String)))
        if sources.is_empty():
            return None
        mine = pl.col("source").is_in(sources.get_column("id").to_list())
        found = tuple(broker for broker in self.everyone if broker.cluster == name)
        return replace(
            self,
            sources=sources,
            observations=of_cluster(self.observations.filter(mine), self.divided, name),
            batches=self.batches.filter(mine),
            notices=of_cluster(self.notices.filter(mine), self.divided, name),
            brokers={broker.id: broker for broker in found},
            everyone=found,
            whole=self,
        )


def assemble(files: Sequence[tuple[Source, FileReading]], reading: Reading | None = None) -> Case:
    """Assemble a case.

    Args:
        files: sources with their rows, in the order in which they were found.
        reading: zone and skew of printed times.
    """
    reading = reading or Reading()
    had = [found.notices.height for _, found in files]
    owner, cluster, told = situated(files, reading, lambda found: found.zone or reading.assumed)
    rows = _observations(files, owner, cluster, told, reading, had)
    everyone = brokers_of(files, owner, cluster, told, rows)
    by_line = divided(rows, told, cluster_numbers(names_of(cluster, told)))
    return Case(
        sources=listed(files, owner, cluster, reading),
        observations=rows.drop("_cluster"),
        batches=_batches(files, owner),
        notices=_notices(files),
        brokers={broker.id: broker for broker in everyone},
        reading=reading,
        files=[source for source, _ in files],
        everyone=everyone,
        lives=told,
        divided=by_line,
    )


def situated(
    files: Sequence[tuple[Source, FileReading]], reading: Reading, zone_of: Callable[[FileReading], str]
) -> tuple[list[int | None], list[str | None], pl.DataFrame]:
    """Return broker and cluster of each file, and the logs of several clusters (schema ``LIVES``).

    Also set the zone of each log, and remove rows that another file already states, with a notice.

    Args:
        files: sources with their contents.
        reading: how printed times are interpreted.
        zone_of: returns the zone of a file's times, once its own is known.
    """
    owner, cluster = owners(files)
    settle(files, owner, cluster, reading.zone)
    told = lives(files, owner, cluster, zone_of, reading.assumed)
    agree(files, owner, cluster)
    leave_dumps_of_segments(files, owner, cluster)
    partial.leave_excerpts_of_logs(files, owner, cluster)
    partial.leave_traces_of_evidence(files, owner, cluster)
    partial.say_whose_is_unknown(files, owner)
    return owner, cluster, told


def names_of(cluster: Sequence[str | None], told: pl.DataFrame) -> list[str | None]:
    """Return the cluster of each file, and other clusters in logs."""
    return [*cluster, *told.get_column("cluster").unique(maintain_order=True).to_list()]


def listed(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    cluster: Sequence[str | None],
    reading: Reading,
) -> pl.DataFrame:
    """Return one row per file, schema ``SOURCES``."""
    rows = []
    spans = _spans(files, owner, reading)
    for number, ((source, found), broker, name) in enumerate(zip(files, owner, cluster, strict=True)):
        first, last = spans.get(number, (None, None))
        rows.append(
            {
                "id": number,
                "path": source.path,
                "broker": broker,
                "cluster": name,
                "format": found.format,
                "topic": found.topic,
                "partition": found.partition,
                "directory_state": found.directory_state,
                "bytes": source.size,
                "sha256": None,
                "first_time": first,
                "last_time": last,
                "lines": found.lines,
                "events": found.events,
                "relevant": found.relevant,
                "understood": found.understood,
                "notices": found.notices.height,
                "roles_begun": found.roles_begun,
                "roles_due": None if found.shuffled else found.roles_due,
                "base_offset": found.base_offset,
                "log_end": found.log_end,
                "magic": found.magic,
                "frame": found.frame,
                "zone": None if found.first_time is None else found.zone or reading.assumed,
            }
        )
    return pl.DataFrame(rows, schema=SOURCES)


def brokers_of(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    cluster: Sequence[str | None],
    told: pl.DataFrame,
    observations: pl.DataFrame,
) -> tuple[Broker, ...]:
    """Return every broker of every cluster.

    Args:
        files: sources with their contents; rows are not used.
        owner, cluster: of each file.
        told: logs of several clusters, schema ``LIVES``.
        observations: in order, with ``source``, ``broker`` and ``_cluster``, the number of their cluster; those without
            a topic, those of traces and those that ``opens_caseless`` is about are enough.
    """
    everyone: list[Broker] = []
    all_names = names_of(cluster, told)
    names = sorted({name for name in all_names if name is not None})
    if len(names) < 2:
        return tuple(_brokers(files, owner, range(len(files)), next(iter(names), None), observations))
    numbers = cluster_numbers(all_names)
    for name in (*names, None):
        also = set(told.filter(pl.col("cluster") == name).get_column("source").to_list()) if name is not None else set()
        mine = [number for number, other in enumerate(cluster) if other == name or number in also]
        of_name = pl.col("_cluster").is_null() | (pl.col("_cluster") == numbers.get(name, -1))
        rows = observations.filter(pl.col("source").is_in(mine) & of_name)
        everyone += _brokers(files, owner, mine, name, rows)
    return tuple(everyone)


def _brokers(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    mine: Sequence[int],
    name: str | None,
    rows: pl.DataFrame,
) -> list[Broker]:
    """The brokers of one cluster, by id.

    Args:
        files, owner: of the whole case.
        mine: which of the files are of the cluster.
        name: the cluster.
        rows: observations of the cluster.
    """
    settings: dict[int, dict[str, str]] = {}
    for number in mine:
        broker, found = owner[number], files[number][1]
        if found.format == "server-properties" and broker is not None:
            settings.setdefault(broker, {}).update(found.properties)
    clusters = {broker: name for number in mine if (broker := owner[number]) is not None}
    for broker in _told_in_shared(files, owner, rows):
        clusters.setdefault(broker, name)
    made = brokers(rows, settings, clusters)
    for broker, directories in log_directories(files, owner, mine).items():
        made[broker].directories = directories
    for broker in _seen_in_part(files, owner, rows):
        made[broker].server_log = False
    partly = _told_in_excerpts(files, rows)
    damaged = _told_in_damaged_traces(files, rows)
    for broker in (_left_out(files, owner) | partly | damaged) & set(made):
        made[broker].complete, made[broker].claim, made[broker].log_within = False, None, None
        made[broker].server_log = made[broker].state_log = False
        made[broker].unread = broker in damaged
    return list(made.values())


def _told_in_shared(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], observations: pl.DataFrame
) -> list[int]:
    """Return brokers that state something in a trace, which may list others too, or in a log of several brokers."""
    of_several = (found.format == "broker-log" and owner[n] is None for n, (_, found) in enumerate(files))
    shared = [n for n, several in enumerate(of_several) if several or files[n][1].format == "trace"]
    told = observations.filter(pl.col("source").is_in(shared)) if shared else observations.clear()
    return sorted(told.get_column("broker").drop_nulls().unique().to_list())


def _seen_in_part(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], observations: pl.DataFrame
) -> list[int]:
    """Return brokers with lines that cannot be distinguished from another broker's, so that their log is incomplete."""
    shared = [n for n, (_, found) in enumerate(files) if owner[n] is None and found.format == "broker-log"]
    if not shared:
        return []
    rows = observations.filter(pl.col("source").is_in(shared))
    mixed = rows.filter(pl.col("broker").is_null()).get_column("source").unique()
    told = rows.filter(pl.col("source").is_in(mixed.implode())).get_column("broker")
    return sorted(told.drop_nulls().unique().to_list())


def _told_in_excerpts(files: Sequence[tuple[Source, FileReading]], observations: pl.DataFrame) -> set[int]:
    """Brokers whose lines are an excerpt, a trace of one, or a few lines of a log: their other lines are missing."""
    if partial.few_lines_alone([found for _, found in files]):
        return set(observations.get_column("broker").drop_nulls().to_list())
    excerpts = [number for number, (source, _) in enumerate(files) if is_piece(source)]
    missing = pl.col("kind") == Kind.LINES_MISSING.value
    told = observations.filter(pl.col("source").is_in(excerpts) | missing)
    return set(told.get_column("broker").drop_nulls().to_list())


def _told_in_damaged_traces(files: Sequence[tuple[Source, FileReading]], observations: pl.DataFrame) -> set[int]:
    """Return brokers that state something in a trace with unreadable lines, so that statements are missing."""
    damaged = [n for n, (_, found) in enumerate(files) if found.format == "trace" and found.unread]
    told = observations.filter(pl.col("source").is_in(damaged)) if damaged else observations.clear()
    return set(told.get_column("broker").drop_nulls().to_list())


def _left_out(files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None]) -> set[int]:
    """Return brokers whose logs are incomplete.

    A search left lines out, or may have, as the lines are in no order of time; or some lines have an unknown layout.
    """
    parts = zip(files, owner, strict=True)
    return {
        broker
        for (source, found), broker in parts
        if broker is not None and (_is_found(source) or found.shuffled or NOT_KNOWN in (found.frame or ""))
    }


def _is_found(source: Source) -> bool:
    """Return whether a source holds what a search found of a log."""
    return any(part in source.stored for part in (grep_output.PART, exports.PART))


def _spans(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], reading: Reading
) -> dict[int, tuple[object, object]]:
    """Return first and last time of each file, in UTC; computed by zone, because there may be thousands."""
    by_zone: dict[str, list[int]] = {}
    for number, (_, found) in enumerate(files):
        if found.first_time is not None or found.last_time is not None:
            by_zone.setdefault(found.zone or reading.assumed, []).append(number)
    spans: dict[int, tuple[object, object]] = {}
    for zone, numbers in by_zone.items():
        ahead = [_skew_of(owner[n], reading) for n in numbers]
        first = _in_utc([files[n][1].first_time for n in numbers], zone, ahead)
        last = _in_utc([files[n][1].last_time for n in numbers], zone, ahead)
        spans |= dict(zip(numbers, zip(first, last, strict=True), strict=True))
    return spans


def _skew_of(broker: int | None, reading: Reading) -> int:
    """Return the microseconds that the user adds to a broker's times; 0 for an unknown broker."""
    return 0 if broker is None else reading.skew.get(broker, 0)


def _in_utc(printed: Sequence[int | None], zone: str, ahead: Sequence[int]) -> list[object]:
    """Return printed times of one zone in UTC, each with its skew added."""
    rows = pl.Series("time", printed, dtype=pl.Datetime("us")).to_frame().with_columns(utc(pl.col("time"), zone))
    return (rows.get_column("time") + pl.Series(ahead).cast(pl.Duration("us"))).to_list()


_FACTS: dict[str, pl.DataType] = {
    "source": pl.UInt32(),
    "_owner": pl.Int32(),
    "_rank": pl.Int32(),
    "_cluster": pl.UInt16(),
    "_trace": pl.Boolean(),
    "_shuffled": pl.Boolean(),
}


def _alike(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], reading: Reading
) -> list[list[int]]:
    """Group files with rows: those whose zones have a fixed offset from UTC together, as there may be thousands."""
    groups: dict[tuple[str, int], list[int]] = {}
    for number, ((_, found), broker) in enumerate(zip(files, owner, strict=True)):
        zone = found.zone or reading.assumed
        apart = not is_fixed(zone) or (broker is None and found.format == "broker-log")
        if found.observations.height:
            groups.setdefault((zone, number if apart else -1), []).append(number)
    return list(groups.values())


def _observations(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    cluster: Sequence[str | None],
    told: pl.DataFrame,
    reading: Reading,
    had: Sequence[int],
) -> pl.DataFrame:
    """Return all rows, with ``_cluster``, the number of their cluster; ``had`` is each file's number of own notices."""
    place = cluster_numbers(names_of(cluster, told))
    facts = pl.DataFrame(
        {
            "source": range(len(files)),
            "_owner": owner,
            "_rank": ranks(files, owner, cluster),
            "_cluster": [place[name] for name in cluster],
            "_trace": [found.format == "trace" for _, found in files],
            "_shuffled": [found.shuffled for _, found in files],
        },
        schema=_FACTS,
    )
    parts = []
    for numbers in _alike(files, owner, reading):
        found = files[numbers[0]][1]
        rows, heights = _joined([files[number][1] for number in numbers])
        said = facts.select(pl.all().gather(pl.Series(np.repeat(numbers, heights))))
        part = to_utc(rows, found.zone or reading.assumed).hstack(said)
        # The lines of a trace are in order for each of its witnesses.
        teller = pl.when("_trace").then("witness")
        ordered = pl.when("_shuffled").then(between(pl.col("time"))).otherwise(latest(pl.col("time")))
        part = part.with_columns(ordered.over("source", teller).alias("_when"))
        shared = owner[numbers[0]] is None and found.format == "broker-log"
        parts.append(_of_several(part, found, had[numbers[0]]) if shared else part)
    if not parts:
        schema = dict(OBSERVATIONS) | {
            "source": pl.UInt32(),
            "broker": pl.Int32(),
            "run": pl.Int32(),
            "starts_run": pl.Boolean(),
            "_cluster": pl.UInt16(),
        }
        schema["time"] = pl.Datetime("us", "UTC")
        return empty(schema).with_row_index("row")
    rows = named(pl.concat(parts))
    parts.clear()
    for _, found in files:
        found.observations = empty(OBSERVATIONS)  # one copy of a large case is enough
    rows = clustered(witnessed(rows, reading.skew), told, place)
    rows = _in_window(rows, reading, files)
    rows = in_order(rows).with_row_index("row")
    return with_runs(rows).drop("_owner", "_rank", "_when", "_trace", "_shuffled")


def _joined(readings: Sequence[FileReading]) -> tuple[pl.DataFrame, list[int]]:
    """Return the rows of files that follow each other, and each file's number of rows.

    A few files are taken at a time, as the tables of all small files take more memory than their rows.
    """
    heights: list[int] = []
    tables: list[pl.DataFrame] = []
    for first in range(0, len(readings), _AT_A_TIME):
        parts = [reading.observations for reading in readings[first : first + _AT_A_TIME]]
        heights += [part.height for part in parts]
        tables.append(pl.concat(parts, rechunk=len(parts) > 1))
    return pl.concat(tables), heights


_AT_A_TIME = 512


_LASTING = [
    kind.value
    for kind in (
        Kind.BROKER_VERSION,
        Kind.BROKER_SYSTEM,
        Kind.BROKER_CONFIG,
        Kind.BROKER_CLUSTER,
        Kind.TOPIC_CONFIG,
        Kind.TOPIC_ID,
    )
]
"""Kinds of line that state more than the state of a moment."""


def _in_window(rows: pl.DataFrame, reading: Reading, files: Sequence[tuple[Source, FileReading]]) -> pl.DataFrame:
    """Remove the lines outside of the requested window; each file gets a notice with their number."""
    keep = in_window(reading)
    if keep is None:
        return rows
    lost = rows.filter(~keep).group_by("source").agg(pl.len()).sort("source")
    for number, count in lost.iter_rows():
        found = files[number][1]
        found.notices = pl.concat([found.notices, left_out(count)])
    claims = (pl.col("kind") == Kind.TRACE.value) & pl.col("source").is_in(lost.get_column("source").implode())
    return rows.filter(keep & ~claims)  # if statements are left out, no trace is complete


def checkpointed(sources: pl.DataFrame) -> frozenset[str]:
    """Return the paths of the complete checkpoint files, of offsets and of epochs; ``sources`` are those of the
    case.
    """
    whole = pl.col("format").is_in(["offset-checkpoint", "epoch-checkpoint"]) & (pl.col("notices") == 0)
    return frozenset(sources.filter(whole).get_column("path").to_list())


def in_window(reading: Reading) -> pl.Expr | None:
    """Return the condition that an observation counts, its time in UTC; None without a window."""
    if reading.since is None and reading.until is None:
        return None
    time = pl.col("time").cast(pl.Int64)
    inside = (time >= (reading.since or 0)) & (time <= (reading.until if reading.until is not None else 1 << 62))
    return pl.col("line").is_null() | inside.fill_null(True) | pl.col("kind").is_in(_LASTING)


def left_out(count: int) -> pl.DataFrame:
    """The notice of a file that has statements outside of the window."""
    return note(f"{count} statements outside of the time span that was asked for are left out")


def _of_several(rows: pl.DataFrame, found: FileReading, had: int) -> pl.DataFrame:
    """Return the rows of a log of several brokers, each with the broker that logged it, if certain.

    Notices of the file itself come before notices about other files: the first ``had`` are its own.
    """
    if not several(rows):
        return rows
    rows, said = told_apart(rows)
    found.notices = pl.concat([found.notices.head(had), said, found.notices.slice(had)])
    return rows


def _batches(files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None]) -> pl.DataFrame:
    schema = {
        **BATCHES,
        "source": pl.UInt32(),
        "broker": pl.Int32(),
        "topic": pl.String(),
        "partition": pl.Int32(),
    }
    parts = [
        found.batches.with_columns(
            pl.lit(number, dtype=pl.UInt32).alias("source"),
            pl.lit(broker, dtype=pl.Int32).alias("broker"),
            pl.lit(found.topic, dtype=pl.String).alias("topic"),
            pl.lit(found.partition, dtype=pl.Int32).alias("partition"),
        )
        for number, ((_, found), broker) in enumerate(zip(files, owner, strict=True))
        if found.batches.height
    ]
    return pl.concat(parts) if parts else empty(schema)


def _notices(files: Sequence[tuple[Source, FileReading]]) -> pl.DataFrame:
    parts = [
        found.notices.with_columns(pl.lit(number, dtype=pl.UInt32).alias("source"))
        for number, (_, found) in enumerate(files)
        if found.notices.height
    ]
    return pl.concat(parts) if parts else empty({**NOTICES, "source": pl.UInt32()})
