"""Cluster of the lines of a log, over time: one log may contain lines of several clusters in turn.

A folder of logs may outlive a cluster: a data directory is wiped, ZooKeeper starts again from nothing, and the same
files continue. So a file does not belong to one cluster; a process does, from its start to the next. Only
``server.log`` prints the cluster id (KIP-78, KafkaServer.startup, 0.10.1 to 3.9), once at each start. The other logs of
the folder are of the process that ran at that time.

Two more kinds of line separate clusters. The controller epoch never falls within a cluster: ZooKeeper keeps it
(``/controller_epoch``, KafkaZkClient), and with KRaft it is the epoch of the metadata log. And a process that logs the
end of its shutdown is over: later lines are of another one, even if the lines of its start are missing.

All of this uses rows without a topic, which are few. A *period* below is a time in which all lines are of one cluster.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count, pairwise
from typing import Final, NamedTuple

import polars as pl

from forensics.case.order import utc
from parsers.encodings.checkpoint_file import INT32_MAX, integer
from parsers.excerpts.pieces import is_piece
from parsers.file_reading import UTC, FileReading, note
from parsers.files.sources import Source
from parsers.schema import Kind
from parsers.text.broker_log import NAME as LOG
from parsers.text.shared_output import is_part

LIVES: Final[dict[str, pl.DataType]] = {
    "source": pl.UInt32(),
    "from": pl.Datetime("us", UTC),
    "cluster": pl.String(),
}
"""Times from which the lines of a source are of a cluster; only for sources of several, each from its first line on."""

DIVIDED: Final[dict[str, pl.DataType]] = {"source": pl.UInt32(), "line": pl.Int64(), "cluster": pl.String()}
"""First line of each cluster in a log of several clusters."""

UNKNOWN: Final = "unknown-"
"""Prefix of the name of a cluster whose id no line prints, though lines show that it is none of the others."""

_EARLY: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - as all times here, UTC without a zone
_STEP: Final = timedelta(microseconds=1)
_AT_ONCE: Final = timedelta(minutes=1)  # longest time between a process's first line and its cluster id
_NOT_PRINTED: Final = (
    "no line prints the id of the cluster that this log tells of from {}: other processes beside it were of several "
    "clusters, so these lines are not compared with any other cluster's"
)


class Life(NamedTuple):
    """A period in which a folder's logs are of one cluster.

    Attributes:
        begin: when it begins, UTC without a zone.
        cluster: the printed id, or a name that begins with ``UNKNOWN`` without one.
    """

    begin: datetime
    cluster: str


_Stretch = tuple[datetime, str | None]
"""Start of a period, and its printed cluster id."""


class _Marks(NamedTuple):
    """Facts about processes in the rows of a folder's logs, each in the order of time.

    Attributes:
        printed: when a process printed which cluster id.
        starts: when a process began.
        ends: when a process logged the end of its shutdown.
        active: when a broker became controller, and with which controller epoch.
        seen: times at which anything is known to have been printed.
    """

    printed: list[tuple[datetime, str]]
    starts: list[datetime]
    ends: list[datetime]
    active: list[tuple[datetime, int]]
    seen: list[datetime]


_KINDS: Final = (Kind.BROKER_CLUSTER, Kind.PROCESS_START, Kind.SHUTDOWN_COMPLETE, Kind.CONTROLLER_ACTIVE)


def lives(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    cluster: list[str | None],
    zone_of: Callable[[FileReading], str],
    assumed: str,
) -> pl.DataFrame:
    """Assign to each log the cluster of the processes that wrote it.

    Args:
        files: sources with their contents; a notice is added if no line prints the cluster.
        owner: broker of each file.
        cluster: cluster of each file, if known; for logs it is changed to the last one in them.
        zone_of: returns the zone of a file's times.
        assumed: zone of first and last times if a file names none.

    Returns:
        Schema ``LIVES``, in order.
    """
    logs = [number for number, (_, found) in enumerate(files) if found.format == LOG]
    told = {number: ids for number in logs if (ids := _ids(files[number][1]))}
    everyone = set().union(*told.values()) | set(cluster)
    if len(everyone - {None}) < 2:
        return pl.DataFrame(schema=LIVES)
    spans = {number: span for number in logs if (span := _span(files[number][1], assumed)) is not None}
    known = _timelines(files, owner, told, spans, zone_of)
    parts = [pl.DataFrame(schema=LIVES)]
    for number, span in spans.items():
        if (timeline := _timeline(files[number][0], owner[number], known)) is not None:
            mine = _within(timeline, span)
            cluster[number] = mine[-1].cluster
            parts.append(_rows(number, mine))
            _say(files[number][1], mine)
    return pl.concat(parts)


def _rows(number: int, mine: Sequence[Life]) -> pl.DataFrame:
    """Return rows of ``LIVES`` for a source; none if it is of one cluster."""
    rows = [(number, begin, name) for begin, name in mine] if len(mine) > 1 else []
    found = pl.DataFrame(rows, schema={**LIVES, "from": pl.Datetime("us")}, orient="row")
    return found.with_columns(pl.col("from").dt.replace_time_zone(UTC))


def by_cluster(sources: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return the sources with one row for each of their clusters.

    Args:
        sources: schema ``SOURCES``.
        told: schema ``LIVES``.

    Returns:
        The same columns; for a source of several clusters, first and last time are those within each.
    """
    if told.is_empty():
        return sources
    ends = told.group_by("source", "cluster", maintain_order=True).agg(
        pl.col("from").min().alias("_from"), pl.col("from").max().alias("_last")
    )
    later = told.with_columns((pl.col("from").shift(-1).over("source") - _STEP).alias("_until"))
    ends = ends.join(
        later.select("source", "cluster", pl.col("from").alias("_last"), "_until"), on=["source", "cluster", "_last"]
    ).rename({"source": "id", "cluster": "_cluster"})
    first, last = pl.col("first_time"), pl.col("last_time")
    return (
        sources.join(ends, on="id", how="left", maintain_order="left_right")
        .with_columns(
            pl.coalesce("_cluster", "cluster").alias("cluster"),
            pl.when(first.is_not_null()).then(pl.max_horizontal(first, "_from")).alias("first_time"),
            pl.when(last.is_not_null()).then(pl.min_horizontal(last, "_until")).alias("last_time"),
        )
        .select(sources.columns)
    )


def clustered(rows: pl.DataFrame, told: pl.DataFrame, numbers: Mapping[str | None, int]) -> pl.DataFrame:
    """Return observations with ``_cluster``, and ``cluster`` if they have it, at the time of each.

    Args:
        rows: observations with ``source``, ``_when`` and ``_cluster``, the number of their file's cluster.
        told: schema ``LIVES``.
        numbers: number of each cluster.
    """
    several = rows.get_column("source").is_in(told.get_column("source").unique().cast(rows.schema["source"]).implode())
    if not several.any():
        return rows
    number = pl.col("cluster").replace_strict(dict(numbers), default=None, return_dtype=rows.schema["_cluster"])
    begins = told.select(
        pl.col("source").cast(rows.schema["source"]),
        pl.col("from").alias("_begin"),
        number.alias("_number"),
        pl.col("cluster").alias("_name"),
    )
    place = rows.select("source", pl.col("_when").alias("_begin")).with_row_index("_at").filter(several)
    first = begins.unique("source", keep="first", maintain_order=True).get_column("_begin").min()
    place = place.with_columns(pl.col("_begin").fill_null(first)).sort("_begin", maintain_order=True)
    found = place.join_asof(begins.sort("_begin"), on="_begin", by="source", check_sortedness=False)
    found = found.select("_at", "_number", "_name")
    rows = rows.with_row_index("_at").join(found, on="_at", how="left", maintain_order="left").drop("_at")
    names = [pl.coalesce("_name", "cluster").alias("cluster")] if "cluster" in rows.columns else []
    return rows.with_columns(pl.coalesce("_number", "_cluster").alias("_cluster"), *names).drop("_number", "_name")


def divided(rows: pl.DataFrame, told: pl.DataFrame, numbers: Mapping[str | None, int]) -> pl.DataFrame:
    """Return the periods of logs by line, schema ``DIVIDED``.

    Args:
        rows: observations with ``source``, ``line`` and ``_cluster``.
        told: schema ``LIVES``.
        numbers: number of each cluster.
    """
    if told.is_empty():
        return pl.DataFrame(schema=DIVIDED)
    found = rows.filter(pl.col("source").is_in(told.get_column("source").unique().implode()))
    found = found.select("source", "line", "_cluster").drop_nulls("line").sort("source", "line", maintain_order=True)
    names = {number: name for name, number in numbers.items()}
    name = pl.col("_cluster").replace_strict(names, return_dtype=pl.String).alias("cluster")
    return changes(found, "_cluster").select("source", "line", name)


def changes(rows: pl.DataFrame, cluster: str) -> pl.DataFrame:
    """Return the rows at which the column with their cluster changes, of sources in order."""
    return rows.filter(pl.col(cluster).ne_missing(pl.col(cluster).shift(1).over("source")))


def of_cluster(rows: pl.DataFrame, divided: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """Return the rows of one cluster's sources, without lines of other clusters.

    Args:
        rows: with ``source`` and ``line``.
        divided: schema ``DIVIDED``.
        name: the cluster.
    """
    several = rows.get_column("source").is_in(divided.get_column("source").unique().implode())
    if not several.any():
        return rows
    place = rows.select("source", pl.col("line").fill_null(0)).with_row_index("_at").filter(several)
    found = place.sort("line").join_asof(divided.sort("line"), on="line", by="source", check_sortedness=False)
    first = divided.unique("source", keep="first", maintain_order=True).rename({"cluster": "_first"})
    found = found.join(first.select("source", "_first"), on="source", how="left")
    other = found.filter(pl.coalesce("cluster", "_first").ne_missing(pl.lit(name, dtype=pl.String)))
    return rows.filter(~pl.int_range(pl.len(), dtype=pl.UInt32).is_in(other.get_column("_at").implode()))


def _ids(found: FileReading) -> set[str]:
    rows = found.observations.filter(pl.col("kind") == Kind.BROKER_CLUSTER.value)
    return set(rows.get_column("detail").drop_nulls().to_list())


def _span(found: FileReading, assumed: str) -> tuple[datetime, datetime] | None:
    ends = [found.first_time, found.last_time]
    if None in ends:
        return None
    printed = pl.Series("time", ends, dtype=pl.Datetime("us")).to_frame()
    first, last = printed.select(utc(pl.col("time"), found.zone or assumed).dt.replace_time_zone(None)).to_series()
    return None if first is None or last is None else (first, last)


_Group = tuple[str, int | None, bool]
"""A folder; if the clusters of its brokers differ at one time, also the broker, and a flag for that."""


def _timeline(source: Source, broker: int | None, known: Mapping[_Group, list[Life]]) -> list[Life] | None:
    """Return the periods of a log's folder, or of its broker in it."""
    folder = source.folder
    return known.get((folder, None, False), known.get((folder, broker, True)))


def _timelines(
    files: Sequence[tuple[Source, FileReading]],
    owner: Sequence[int | None],
    told: Mapping[int, set[str]],
    spans: Mapping[int, tuple[datetime, datetime]],
    zone_of: Callable[[FileReading], str],
) -> dict[_Group, list[Life]]:
    """Return the periods of each folder whose logs print the ids of several clusters."""
    found: dict[_Group, list[Life]] = {}
    unknown = count(1)
    for folder, numbers in _of_several(files, told, spans).items():
        by_broker = _groups(folder, numbers, owner, by_broker=True)
        printed = {group[1]: _marks(files, mine, spans, zone_of).printed for group, mine in by_broker.items()}
        apart = _at_odds(printed) or any(_of_several_writers(files[number][0]) for number in numbers)
        for group, mine in _groups(folder, numbers, owner, by_broker=apart).items():
            timeline = _told(_marks(files, mine, spans, zone_of))
            if timeline:
                found[group] = [Life(at, name or f"{UNKNOWN}{next(unknown)}") for at, name in timeline]
    return found


def _of_several_writers(source: Source) -> bool:
    """Return whether a source is a part of a text with several writers, which somebody may have put together."""
    return is_piece(source) or is_part(source)


def _of_several(
    files: Sequence[tuple[Source, FileReading]], told: Mapping[int, set[str]], spans: Iterable[int]
) -> dict[str, list[int]]:
    """Return the logs of each folder in which several ids are printed."""
    members: dict[str, list[int]] = {}
    for number in spans:
        members.setdefault(files[number][0].folder, []).append(number)
    printed = {folder: {one for n in numbers for one in told.get(n, ())} for folder, numbers in members.items()}
    return {folder: numbers for folder, numbers in members.items() if len(printed[folder]) > 1}


def _groups(
    folder: str, numbers: Sequence[int], owner: Sequence[int | None], *, by_broker: bool
) -> dict[_Group, list[int]]:
    """Return the logs of a folder, all together or by broker."""
    if not by_broker:
        return {(folder, None, False): list(numbers)}
    groups: dict[_Group, list[int]] = {}
    for number in numbers:
        groups.setdefault((folder, owner[number], True), []).append(number)
    return groups


def _at_odds(printed: Mapping[int | None, list[tuple[datetime, str]]]) -> bool:
    """Return whether brokers of different clusters log to one folder at the same time.

    Args:
        printed: by the broker of the files: time and id of each print. Logs of several brokers do not count.
    """
    named = {broker: ids for broker, ids in printed.items() if broker is not None}
    stays = [
        (broker, one, first, last)
        for broker, ids in named.items()
        for (first, one), (last, other) in pairwise(ids)
        if one == other
    ]
    return any(
        first < moment < last and other != one
        for broker, one, first, last in stays
        for neighbour, ids in named.items()
        if neighbour != broker
        for moment, other in ids
    )


def _marks(
    files: Sequence[tuple[Source, FileReading]],
    numbers: Sequence[int],
    spans: Mapping[int, tuple[datetime, datetime]],
    zone_of: Callable[[FileReading], str],
) -> _Marks:
    made = _Marks([], [], [], [], [moment for number in numbers for moment in spans[number]])
    kinds = [kind.value for kind in _KINDS]
    for number in numbers:
        found = files[number][1]
        rows = found.observations.filter(pl.col("kind").is_in(kinds), pl.col("time").is_not_null())
        time = utc(pl.col("time"), zone_of(found)).dt.replace_time_zone(None)
        for kind, detail, moment in rows.select("kind", "detail", time).drop_nulls("time").iter_rows():
            made.seen.append(moment)
            _mark(made, kind, detail, moment)
    for one in made:
        one.sort()
    return made


def _mark(made: _Marks, kind: str, detail: str | None, moment: datetime) -> None:
    if kind == Kind.PROCESS_START:
        made.starts.append(moment)
    elif kind == Kind.SHUTDOWN_COMPLETE:
        made.ends.append(moment)
    elif kind == Kind.BROKER_CLUSTER and detail is not None:
        made.printed.append((moment, detail))
    elif kind == Kind.CONTROLLER_ACTIVE and (epoch := integer(detail or "", most=INT32_MAX)) is not None:
        made.active.append((moment, epoch))


def _told(marks: _Marks) -> list[_Stretch]:
    """Return the periods of one folder in order; the first one also covers everything printed before."""
    if not marks.printed:
        return []
    falls = _falls(marks)
    made: list[_Stretch] = []
    for begin, until in zip([_EARLY, *falls], [*falls, None], strict=True):
        printed = [one for one in marks.printed if one[0] >= begin and (until is None or one[0] < until)]
        made += _between(marks, printed, begin)
    return made


def _between(marks: _Marks, printed: Sequence[tuple[datetime, str]], begin: datetime) -> list[_Stretch]:
    """Return the periods between two moments at which the controller epoch fell."""
    if not printed:
        return [(begin, None)]
    made: list[_Stretch] = [(begin, printed[0][1])]
    for (before, earlier), (moment, later) in pairwise(printed):
        if earlier == later:
            continue
        start = _start(marks, moment, before)
        over = [end for end in marks.ends if before < end < start]
        silent = [one for one in marks.seen if over and over[-1] < one < start]
        if silent:  # a process in between logged something, but neither its start nor its id is in the evidence
            made.append((over[-1] + _STEP, None))
        made.append((start, later))
    return made


def _start(marks: _Marks, moment: datetime, before: datetime) -> datetime:
    """Return when the process began that printed its cluster id at a moment."""
    at = bisect_right(marks.starts, moment)
    start = marks.starts[at - 1] if at else moment
    return start if start > before and moment - start <= _AT_ONCE else moment


def _falls(marks: _Marks) -> list[datetime]:
    """Return when processes began whose controller epoch is lower than one before."""
    found: list[datetime] = []
    greatest, before = -1, _EARLY
    for moment, epoch in marks.active:
        if epoch < greatest or (epoch == greatest and moment - before > _AT_ONCE):
            found.append(_boundary(marks, before, moment))
            greatest = -1
        greatest, before = max(greatest, epoch), moment
    return found


def _boundary(marks: _Marks, before: datetime, moment: datetime) -> datetime:
    """Return when a process began that was controller at a moment, after another one that was controller before."""
    over = [end for end in marks.ends if before < end < moment]
    starts = [start for start in marks.starts if (over[-1] if over else before) < start <= moment]
    if starts:
        return starts[0] if over else starts[-1]
    if over:
        return over[-1] + _STEP
    seen = [one for one in marks.seen if before < one < moment]
    gaps = [(after - one, after) for one, after in zip([before, *seen], [*seen, moment], strict=True)]
    return max(gaps)[1]


def _within(timeline: Sequence[Life], span: tuple[datetime, datetime]) -> list[Life]:
    """Return the periods that a file covers."""
    begins = [one.begin for one in timeline]
    first, last = (max(bisect_right(begins, moment) - 1, 0) for moment in span)
    made: list[Life] = []
    for one in timeline[first : max(last, first) + 1]:
        if not made or made[-1].cluster != one.cluster:
            made.append(one)
    return made


def _say(found: FileReading, mine: Sequence[Life]) -> None:
    """Add a notice if no line prints the cluster of a period."""
    for one in mine:
        if one.cluster.startswith(UNKNOWN):
            since = "its first line" if one is mine[0] else f"{one.begin:%Y-%m-%d %H:%M:%S} UTC"
            found.notices = pl.concat([found.notices, note(_NOT_PRINTED.format(f"{since} on"))])
