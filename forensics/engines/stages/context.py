"""Data that concern many partitions, assembled on the driver from the facts of all files: owners, order, brokers, runs.

It is small: a row for each file, the lines about whole brokers, and the batch headers of the metadata log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final

import polars as pl

from forensics.case import Reading
from forensics.case.brokers import Broker
from forensics.case.case import brokers_of, in_window, left_out, listed, names_of, situated
from forensics.case.lives import clustered
from forensics.case.metadata import FORMATS as METADATA_FORMATS
from forensics.case.order import (
    METADATA_TOPIC,
    ORDER,
    cluster_numbers,
    does_something,
    in_order,
    ranks,
    utc,
    with_runs,
    witnessed,
)
from forensics.case.twins import COPY, Twin, as_copy, copies
from forensics.engines.stages.listing import Look
from forensics.engines.stages.packing import unpacked
from forensics.engines.stages.reading import AGAIN, HEADER
from parsers import read
from parsers.file_reading import UTC, FileReading, joined
from parsers.files.sources import Source
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, Kind, conform, empty
from parsers.takers.log_files import is_log, opening

FACTS: Final = ("unit", "split", "header", "context", "names", "keys")

NO_UNIT: Final = -1


@dataclass(slots=True)
class Facts:
    """Facts about one source, without its rows.

    Attributes:
        reading: the merged header.
        identity: as of the unit.
        sha256: hash of its content.
        observations, batches, notices: how many rows there are.
        splits: for each range in order: lines before it, and greatest time printed before it.
        again: it has to be read sequentially.
        witnesses: how often each broker is named as the one that prints.
        spoken: of rows that are lines: broker named, or None, and id of the message.
        metadata_hw: greatest high watermark of the metadata quorum that is printed.
        context: rows without a topic, and those that ``opens_caseless`` is about, with ``seq``, ``split`` and ``when``.
        names: topic ids with names, and of a metadata log the bytes of all its rows.
        keys: keys of the batches of a metadata log.
    """

    reading: FileReading
    identity: str = ""
    sha256: str | None = None
    observations: int = 0
    batches: int = 0
    notices: int = 0
    splits: tuple[tuple[int, int | None], ...] = ()
    again: bool = False
    witnesses: Mapping[int, int] | None = None
    spoken: frozenset[tuple[int | None, str | None]] = frozenset()
    metadata_hw: int | None = None
    context: pl.DataFrame | None = None
    names: pl.DataFrame | None = None
    keys: pl.DataFrame | None = None


def merged(rows: pl.DataFrame) -> dict[int, Facts]:
    """Facts by unit, from the rows of all its ranges."""
    by_unit: dict[int, list[dict[str, Any]]] = {}
    for row in rows.sort("unit", "split").iter_rows(named=True):
        by_unit.setdefault(row["unit"], []).append(row)
    return {unit: _merged(found) for unit, found in by_unit.items()}


def _again(headers: list[dict[str, Any]]) -> bool:
    """Return whether a source has to be read sequentially.

    It has to if it cannot be read by ranges, if several brokers printed it, or if its zone has an hour in it twice.
    """
    if any(header["format"] == AGAIN for header in headers):
        return True
    printers = {broker for header in headers for broker in header["printers"]}
    whole = len(printers) > 1 or any(header["repeated"] for header in headers)
    return whole and not headers[0]["held"]


def _merged(rows: list[dict[str, Any]]) -> Facts:
    headers = [json.loads(row["header"]) for row in rows]
    reading = joined([FileReading(**{name: header[name] for name in HEADER}) for header in headers])
    if not_read := {header["format"] for header in headers}.intersection(read.NOT_READ):
        reading = FileReading(max(not_read))
    splits = _splits(headers)
    hws = [header["metadata_hw"] for header in headers if header["metadata_hw"] is not None]
    return Facts(
        reading,
        headers[0]["identity"],
        headers[0]["sha256"],
        observations=sum(header["observations"] for header in headers),
        batches=sum(header["batches"] for header in headers),
        notices=sum(header["notices"] for header in headers),
        splits=splits,
        again=_again(headers),
        witnesses=_witnesses(headers),
        spoken=frozenset((broker, message) for header in headers for broker, message in header["spoken"]),
        metadata_hw=max(0, *hws) if hws else None,
        context=_concat(
            unpacked(row["context"]).with_columns(
                pl.col("line") + lines,
                pl.lit(row["split"], pl.Int32).alias("split"),
                pl.max_horizontal("when", pl.lit(when, pl.Int64)).alias("when"),
            )
            for row, (lines, when) in zip(rows, splits, strict=True)
            if row["context"] is not None
        ),
        names=_concat(unpacked(row["names"]) for row in rows if row["names"] is not None),
        keys=_concat(unpacked(row["keys"]) for row in rows if row["keys"] is not None),
    )


def _splits(headers: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, int | None], ...]:
    """Return for each range in order the lines before it, and the greatest time printed before it."""
    found: list[tuple[int, int | None]] = []
    lines, when = 0, None
    for header in headers:
        found.append((lines, when))
        lines += header["lines"]
        when = max((time for time in (when, header["when"]) if time is not None), default=None)
    return tuple(found)


def _witnesses(headers: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return how often each broker is named as the one that prints."""
    found: dict[int, int] = {}
    for header in headers:
        for witness, count in header["witnesses"]:
            found[witness] = found.get(witness, 0) + count
    return found


def _concat(frames: Iterable[pl.DataFrame | None]) -> pl.DataFrame | None:
    some = [frame for frame in frames if frame is not None]
    return pl.concat(some) if some else None


def _concat_or(nothing: pl.DataFrame, frames: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    found = _concat(frames)
    return nothing if found is None else found


# -- what was handed in twice -----------------------------------------------------------------------------------------


def twins(looks: Sequence[Look], opened: Callable[[int], Source]) -> dict[int, Twin]:
    """Return duplicate sources, as ``forensics.case.twins.copies``.

    Args:
        looks: all sources.
        opened: returns one ready to be read, by its position.
    """
    sources = [look.source(partial(_open, opened, number)) for number, look in enumerate(looks)]
    numbers = {id(source): number for number, source in enumerate(sources)}

    def known(source: Source) -> bool:
        real = opened(numbers[id(source)])
        return is_log(real, real.head())

    def lines_of(source: Source) -> bytes:
        return opening(opened(numbers[id(source)]).head()) if source.stored.startswith("text") else b""

    def begins(source: Source) -> bytes:
        return looks[numbers[id(source)]].opening.encode()

    return copies(sources, opening=begins, first_lines=lines_of, is_log=known)


def _open(opened: Callable[[int], Source], number: int) -> BinaryIO:
    return opened(number).open()


# -- the whole --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Context:
    """Data that every task of replay needs.

    Attributes:
        reading: how printed times are interpreted.
        sources: one row per source, schema ``SOURCES``.
        attributes: by unit and split: number of the source, owner, cluster, zone, and which of its rows count.
        kept: unit and byte: rows of metadata logs that count.
        names: topic ids with names.
        lines: rows without a topic, in order, with ``_cluster``, ``broker`` and ``starts_run``.
        brokers: every broker of every cluster.
        clusters: number of each cluster.
        lives: logs of several clusters, schema ``LIVES``.
        notices: notices of the assembly, with ``source`` and ``seq``.
        left: observations outside of the requested window.
    """

    reading: Reading
    sources: pl.DataFrame
    attributes: pl.DataFrame
    kept: pl.DataFrame
    names: pl.DataFrame
    lines: pl.DataFrame
    brokers: tuple[Broker, ...]
    clusters: dict[str | None, int]
    lives: pl.DataFrame
    notices: pl.DataFrame
    left: int


@dataclass(slots=True)
class Draft:
    """A context whose runs are not known yet, as that takes a look at all rows.

    Attributes:
        files: sources with readings that have no rows.
        owner, cluster: of each.
        reading, sources, attributes, kept, names, lines, clusters, lives, notices: as of the context.
        opened: rows that ``opens_caseless`` is about, with ``_cluster`` and ``broker``.
        spoken: once for each file, broker and message: ``source``, ``_cluster`` (null: that of the file), ``broker``,
            ``message``, ``line``.
    """

    files: list[tuple[Source, FileReading]]
    owner: list[int | None]
    cluster: list[str | None]
    reading: Reading
    sources: pl.DataFrame
    attributes: pl.DataFrame
    kept: pl.DataFrame
    names: pl.DataFrame
    lines: pl.DataFrame
    clusters: dict[str | None, int]
    lives: pl.DataFrame
    notices: pl.DataFrame
    opened: pl.DataFrame
    spoken: pl.DataFrame

    @property
    def starts(self) -> pl.DataFrame:
        """Return lines that report the start of a process, in order."""
        return self.lines.filter(pl.col("kind") == Kind.PROCESS_START.value)


def draft(
    looks: Sequence[Look],
    units: Sequence[int],
    facts: Mapping[int, Facts],
    copied: Mapping[int, Twin],
    reading: Reading,
) -> Draft:
    """Put together what does not take a look at all rows.

    Args:
        looks: all sources, in the order of the archive.
        units: the unit in which each was read, or NO_UNIT.
        facts: by unit.
        copied: positions of copies, with what stands for them.
        reading: how printed times are read.
    """
    sources = [look.source() for look in looks]
    files = [
        (source, _reading_without_rows(number, sources, unit, facts, copied))
        for number, (source, unit) in enumerate(zip(sources, units, strict=True))
    ]
    before = [found.notices.height for _, found in files]
    owner, cluster, lives = situated(files, reading, lambda found: _zone(found, reading))
    clusters, places = cluster_numbers(names_of(cluster, lives)), ranks(files, owner, cluster)
    each = [
        _Placed.of(number, unit, files[number], facts[unit]) for number, unit in enumerate(units) if unit != NO_UNIT
    ]
    attributes = [
        {
            **row,
            "_owner": owner[one.number],
            "_cluster": clusters[cluster[one.number]],
            "_rank": places[one.number],
            "_zone": _zone(one.found, reading),
            "cluster": cluster[one.number],
        }
        for one in each
        for row in one.attributes()
    ]
    table = pl.DataFrame(attributes, schema=ATTRIBUTES)
    lines = placed(_concat_or(empty(CONTEXT_ROWS), map(_Placed.lines, each)), table, reading, whole=True)
    lines = clustered(lines, lives, clusters)
    if (keep := in_window(reading)) is not None:
        lines = lines.filter(keep)
    of_brokers = pl.col("topic").is_null()
    rows_of_metadata = pl.DataFrame(schema={"unit": pl.Int64, "byte": pl.Int64})
    return Draft(
        files,
        owner,
        cluster,
        reading,
        listed(files, owner, cluster, reading),
        table,
        _concat_or(rows_of_metadata, map(_Placed.rows_of_metadata, each)),
        _names(each),
        in_order(lines.filter(of_brokers)),
        clusters,
        lives,
        _concat_or(
            empty(EXTRA), map(_notices_since, range(len(files)), _had(units, before), (one for _, one in files))
        ),
        lines.filter(~of_brokers),
        pl.DataFrame([row for one in each for row in one.spoken(owner[one.number])], schema=SPOKEN, orient="row"),
    )


def _names(each: Iterable[_Placed]) -> pl.DataFrame:
    """Return the name of each topic id: ``topic_id``, ``topic``."""
    found = _concat_or(pl.DataFrame(schema={"topic_id": pl.String, "topic": pl.String}), (one.names() for one in each))
    return found.unique().sort("topic_id", "topic").unique("topic_id", keep="first", maintain_order=True)


def _had(units: Sequence[int], before: Sequence[int]) -> list[int]:
    """Return how many notices of each file its reading gave: those of the others are none of any task."""
    return [0 if unit == NO_UNIT else count for unit, count in zip(units, before, strict=True)]


def _reading_without_rows(
    number: int,
    sources: Sequence[Source],
    unit: int,
    facts: Mapping[int, Facts],
    copied: Mapping[int, Twin],
) -> FileReading:
    if number in copied:
        return as_copy(sources[copied[number].of], copied[number])
    if unit == NO_UNIT:
        return read.read(sources[number])  # an archive, or a file with a problem: neither is opened
    return _stub(facts[unit])


def _notices_since(number: int, count: int, found: FileReading) -> pl.DataFrame | None:
    """Return the notices of a file after so many, schema ``EXTRA``; None if there are none."""
    if found.notices.height <= count:
        return None
    more = found.notices.slice(count).with_row_index("seq", offset=count)
    return more.with_columns(pl.lit(number, pl.UInt32).alias("source"), pl.col("seq").cast(pl.Int64))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A source that was read, and is in its place.

    Attributes:
        number, path: of the source.
        unit: the unit in which it was read.
        found: its reading, without rows.
        facts: about its rows.
        bytes: of a metadata log, the bytes of its rows that count; else None.
    """

    number: int
    path: str
    unit: int
    found: FileReading
    facts: Facts
    bytes: pl.DataFrame | None

    @staticmethod
    def of(number: int, unit: int, file: tuple[Source, FileReading], facts: Facts) -> _Placed:
        """From a file of the case."""
        source, found = file
        of_metadata = found.format in METADATA_FORMATS
        kept = found.observations.select("byte").unique() if of_metadata else None
        return _Placed(number, source.path, unit, found, facts, kept)

    def attributes(self) -> Iterator[dict[str, Any]]:
        """Yield columns of ``ATTRIBUTES`` for each range of bytes."""
        found = self.found
        for split, (lines_before, when) in enumerate(self.facts.splits):
            yield {
                "unit": self.unit,
                "split": split,
                "source": self.number,
                "_trace": found.format == "trace",
                "_lines": lines_before,
                "_when_before": when,
                "_rows": found.format not in (*read.NOT_READ, COPY),
                "_batches": not (found.format == "dump-log" and found.batches.is_empty()),
                "_bytes": self.bytes is not None,
                "_topic": found.topic,
                "_partition": found.partition,
                "path": self.path,
            }

    def rows_of_metadata(self) -> pl.DataFrame | None:
        """Return unit and byte of the rows of a metadata log that count."""
        if self.bytes is None:
            return None
        return self.bytes.select(pl.lit(self.unit, pl.Int64).alias("unit"), "byte")

    def names(self) -> pl.DataFrame | None:
        """Return the topic ids that it states, with their names."""
        named = self.facts.names
        if named is None:
            return None
        if self.bytes is not None:
            named = named.join(self.bytes, on="byte", how="semi")
        return named.filter(pl.col("topic_id").is_not_null()).select("topic_id", "topic")

    def lines(self) -> pl.DataFrame | None:
        """Return its rows without a topic, and those that ``opens_caseless`` is about."""
        rows = self.facts.context
        if rows is None or self.found.format in read.NOT_READ:
            return None
        if self.bytes is not None:
            rows = rows.join(self.bytes, on="byte", how="semi", nulls_equal=True)
        return rows.with_columns(pl.lit(self.unit, pl.Int64).alias("unit"))

    def spoken(self, owner: int | None) -> Iterator[tuple[int, None, int | None, str | None, int]]:
        """Yield a row of ``SPOKEN`` for each broker and message.

        Args:
            owner: broker of the file.
        """
        if self.found.format in read.NOT_READ:
            return
        for broker, message in sorted(self.facts.spoken, key=repr):
            yield self.number, None, owner if broker is None else broker, message, 1


ATTRIBUTES: Final[dict[str, pl.DataType]] = {
    "unit": pl.Int64(),
    "split": pl.Int32(),
    "source": pl.UInt32(),
    "_owner": pl.Int32(),
    "_cluster": pl.Int32(),
    "_rank": pl.Int32(),
    "_trace": pl.Boolean(),
    "_zone": pl.String(),
    "_lines": pl.Int64(),
    "_when_before": pl.Int64(),
    "_rows": pl.Boolean(),
    "_batches": pl.Boolean(),
    "_bytes": pl.Boolean(),
    "_topic": pl.String(),
    "_partition": pl.Int32(),
    "path": pl.String(),
    "cluster": pl.String(),
}

CONTEXT_ROWS: Final[dict[str, pl.DataType]] = {
    "seq": pl.Int64(),
    **OBSERVATIONS,
    "when": pl.Int64(),
    "split": pl.Int32(),
    "unit": pl.Int64(),
}
SPOKEN: Final[dict[str, pl.DataType]] = {
    "source": pl.UInt32(),
    "_cluster": pl.Int32(),
    "broker": pl.Int32(),
    "message": pl.String(),
    "line": pl.Int64(),
}
EXTRA: Final[dict[str, pl.DataType]] = {"seq": pl.Int64(), **NOTICES, "source": pl.UInt32()}


def _zone(found: FileReading, reading: Reading) -> str:
    """The zone of the times in a file's rows: where the user gave one, they were put in UTC as they were read."""
    return found.zone if found.zone is not None and reading.zone is None else UTC


def _stub(facts: Facts) -> FileReading:
    """Return a reading without rows, with the facts for owners, copies of the metadata log and the list of sources."""
    whole = FileReading(**{name: getattr(facts.reading, name) for name in HEADER})
    of_metadata = whole.format in METADATA_FORMATS
    parts = list(_rows_of_metadata(facts) if of_metadata else _telling_rows(facts))
    if parts:
        whole.observations = pl.concat(parts)
    if of_metadata and facts.keys is not None:
        whole.batches = pl.concat([empty(BATCHES), facts.keys], how="diagonal")
    elif whole.format == "dump-log" and facts.batches:
        whole.batches = pl.concat([empty(BATCHES), pl.DataFrame({"byte": [0]})], how="diagonal")
    if facts.notices:
        whole.notices = conform(pl.DataFrame({"line": [None] * facts.notices}), NOTICES)
    return whole


def _rows_of_metadata(facts: Facts) -> Iterator[pl.DataFrame]:
    """Yield observations for the rows of a metadata log, of which only the place counts."""
    if facts.names is not None:
        yield _rows(byte=facts.names.get_column("byte").unique())


def _telling_rows(facts: Facts) -> Iterator[pl.DataFrame]:
    """Yield observations by which the owner of a file is found."""
    if facts.context is not None:
        yield facts.context.select(*OBSERVATIONS)
    # The one that is named most often counts: so many rows that their order by number is the same.
    counts = facts.witnesses or {}
    places = {count: place for place, count in enumerate(sorted(set(counts.values())), start=1)}
    for witness, count in sorted(counts.items()):
        yield _rows(witness=pl.Series([witness] * places[count], dtype=pl.Int32))
    if facts.metadata_hw is not None:
        hw = _rows(hw=pl.Series([facts.metadata_hw], dtype=pl.Int64))
        kind = pl.lit(Kind.HW.value, OBSERVATIONS["kind"]).alias("kind")
        yield hw.with_columns(kind, pl.lit(METADATA_TOPIC).alias("topic"))


def _rows(**columns: pl.Series) -> pl.DataFrame:
    """Observations with only these columns."""
    return conform(pl.DataFrame(columns), OBSERVATIONS)


# -- rows in their place ----------------------------------------------------------------------------------------------


def placed(rows: pl.DataFrame, attributes: pl.DataFrame, reading: Reading, *, whole: bool = False) -> pl.DataFrame:
    """Add the facts about their file to observations: source, owner, order, time in UTC, and the witness.

    Args:
        rows: observations with ``unit``, ``split``, ``seq`` and ``when``.
        attributes: of the units; rows of others are left out.
        reading: how printed times are interpreted.
        whole: lines and ``when`` are those of the whole file, not of a range.
    """
    rows = rows.join(attributes, on=["unit", "split"], how="inner", maintain_order="left").filter("_rows")
    if not whole:
        rows = rows.with_columns(
            pl.col("line") + pl.col("_lines"), pl.max_horizontal("when", "_when_before").alias("when")
        )
    printed = pl.col("time"), pl.col("when").cast(pl.Datetime("us")).alias("_when")
    zones = sorted(rows.get_column("_zone").unique().to_list()) or [UTC]
    rows = rows.with_columns(
        pl.coalesce(pl.when(pl.col("_zone") == zone).then(utc(time, zone)) for zone in zones).alias(name)
        for time, name in zip(printed, ("time", "_when"), strict=True)
    )
    return witnessed(rows, reading.skew)


def settled(made: Draft, surveyed: pl.DataFrame) -> Context:
    """The context, once a look was taken at all rows.

    Args:
        made: all else.
        surveyed: schema ``SURVEY``.
    """
    busy = surveyed.filter(pl.col("gap").is_not_null())
    spoken = made.spoken
    if in_window(made.reading) is not None or made.lives.height:  # statements at other times do not count
        spoken = surveyed.filter(pl.col("gap").is_null() & pl.col("left").is_null())
        spoken = spoken.select(
            pl.col("source").cast(pl.UInt32), "_cluster", "broker", "message", pl.lit(1, pl.Int64).alias("line")
        )
        spoken = spoken.unique().sort("source", "_cluster", "broker", "message")
    sources, notices = _without_what_is_left_out(made, surveyed)
    mine = ["_cluster", "broker"]
    starts = made.starts.with_columns(pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over(mine).alias("gap"))
    did = busy.select(
        *mine, "gap", pl.lit("did").alias("topic"), pl.lit(1, pl.Int64).alias("line"), pl.lit(False).alias("_start")
    )
    marked = pl.concat(
        [starts.with_columns(pl.lit(True).alias("_start"), pl.lit(None, pl.String).alias("topic")), did], how="diagonal"
    )
    marked = with_runs(marked.sort(*mine, "gap", pl.col("_start").not_(), nulls_last=True, maintain_order=True))
    first = marked.filter("starts_run").select("source", "split", "seq")
    lines = made.lines.join(
        first.with_columns(pl.lit(True).alias("starts_run")),
        on=["source", "split", "seq"],
        how="left",
        maintain_order="left",
    ).with_columns(pl.col("starts_run").fill_null(False))
    told = pl.concat([lines, spoken, made.opened], how="diagonal").with_columns(pl.col("starts_run").fill_null(False))
    brokers = brokers_of(made.files, made.owner, made.cluster, made.lives, told)
    return Context(
        made.reading,
        sources,
        made.attributes,
        made.kept,
        made.names,
        lines,
        brokers,
        made.clusters,
        made.lives,
        notices,
        int(surveyed.get_column("left").sum()),
    )


def _without_what_is_left_out(made: Draft, surveyed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return sources and notices, with one more notice for each file with rows outside of the window."""
    left = surveyed.group_by("source").agg(pl.col("left").sum()).filter(pl.col("left") > 0).sort("source")
    notices = [made.notices]
    for number, count in left.iter_rows():
        said = left_out(count).with_columns(
            pl.lit(made.files[number][1].notices.height, pl.Int64).alias("seq"),
            pl.lit(number, pl.UInt32).alias("source"),
        )
        notices.append(said.select(*EXTRA))
    more = pl.col("id").is_in(left.get_column("source").cast(pl.UInt32).implode()).cast(pl.Int64)
    return made.sources.with_columns(pl.col("notices") + more), pl.concat(notices)


SURVEY: Final = {
    "_cluster": pl.Int32(),
    "broker": pl.Int32(),
    "gap": pl.Int64(),  # number of start lines before an action of the broker
    "source": pl.Int32(),
    "message": pl.String(),  # its message in that file
    "left": pl.Int64(),  # so many of the file's rows are outside of the window
}
"""Facts from all rows; each row fills in one of the three."""


_POSITION: Final = (*ORDER, "split", "seq")


def gaps(rows: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Add to each row the number of starts of its broker before it.

    Args:
        rows: placed observations.
        starts: placed observations, fewer.

    Returns:
        The rows in order, with ``gap``.
    """
    both = pl.concat(
        [
            rows.with_columns(pl.lit(False).alias("_start")),
            starts.select(*_POSITION).with_columns(pl.lit(True).alias("_start")),
        ],
        how="diagonal",
    )
    # A start counts as before itself: as a row it comes after its mark.
    both = both.sort(*_POSITION, pl.col("_start").not_(), nulls_last=True, maintain_order=True)
    counted = pl.col("_start").cast(pl.Int64).cum_sum().over("_cluster", "broker").alias("gap")
    return both.with_columns(counted).filter(~pl.col("_start")).drop("_start")


def busy(rows: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Between which of the starts brokers did something."""
    return gaps(rows.filter(does_something()), starts).select("_cluster", "broker", "gap").unique()
