"""Work of tasks, as functions of Arrow batches that contain everything they need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from forensics.case.quotes import line_texts
from forensics.engines.stages import reading
from forensics.engines.stages.context import SURVEY
from forensics.engines.stages.deriving import Derive, digested, in_folders, written
from forensics.engines.stages.judging import (
    BROUGHT,
    CARRIED,
    JUDGED,
    KEY,
    PLACED,
    STATES,
    Judge,
    arrived,
    brought,
    carried,
)
from forensics.engines.stages.listing import File, hashed, looked
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.plan import Piece
from forensics.engines.stages.rows import RAW, batches, chunks, plain
from forensics.engines.stages.table import PART, in_cluster
from forensics.replay.timeline import closed, processes

LOOKED: Final = {"order": pl.Int64(), "sha256": pl.String(), "looks": pl.String()}
READ: Final = {PART: pl.String(), **{name: dtype for schema in RAW.values() for name, dtype in schema.items()}}
"""Rows that were read, of all tables of ``RAW``: which one is in the column ``PART``."""
DIGESTS: Final = {
    **{name: PLACED[name] for name in KEY},
    "n": pl.Int64(),
    "one": pl.Int64(),
    "two": pl.Int64(),
}
"""A digest of the rows of a partition, ``digested``."""
PROCESSES: Final = {
    "cluster": pl.String(),
    "broker": pl.Int32(),
    "run": pl.Int32(),
    "first": pl.Int64(),
    "last": pl.Int64(),
    "ended": pl.Int32(),
}
"""A broker's process: first and last time, in microseconds, and whether it logged that it stopped."""
TIMELINE: Final = {**plain(STATES), "in_cluster": pl.String()}
"""The table of timelines, in plain types."""
_AT_ONCE: Final = 500
"""Partitions whose timelines get their ends at once."""
QUOTED: Final = {"path": pl.String(), "line": pl.Int64(), "text": pl.String(), "sha256": pl.String()}


@dataclass(frozen=True, slots=True)
class LookInto:
    """Hash files and list their contents.

    Attributes:
        hashes: whether to hash them.
    """

    hashes: bool = True

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``LOOKED`` for files as JSON: position, path, place, size, time and problem."""
        for text in _pieces(incoming):
            order, *fields = json.loads(text)
            file = File(*fields)
            digest = hashed(file) if self.hashes else None
            looks = json.dumps([look.row() for look in looked(file, digest)])
            yield from batches(
                pl.DataFrame({"order": [order], "sha256": [digest], "looks": [looks]}, schema=LOOKED), LOOKED
            )


@dataclass(frozen=True, slots=True)
class Read:
    """Read pieces.

    Attributes:
        zone: zone of printed times that name none.
    """

    zone: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``READ`` for pieces."""
        for table, rows in reading.rows(list(_pieces(incoming)), self.zone):
            named = rows.with_columns(pl.lit(table).alias(PART))
            yield from batches(named, {PART: pl.String(), **RAW[table]})


@dataclass(frozen=True, slots=True)
class Survey:
    """Facts about all rows that are needed before they are placed.

    Attributes:
        derive: facts about the rows' files.
    """

    derive: Derive

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``SURVEY`` for raw observations, of which ``survey_columns`` are enough."""
        yield from batches(self.derive.survey(chunks(incoming)), SURVEY)


@dataclass(frozen=True, slots=True)
class Place:
    """Give rows of a table their broker, cluster, time and process.

    Attributes:
        derive: facts about the rows' files.
        table: its name.
    """

    derive: Derive
    table: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows as ``written`` has them for raw ones, ``columns``."""
        schema = written(self.table)
        for rows in self.derive.table(self.table, chunks(incoming)):
            yield from batches(in_folders(self.table, rows), schema)


@dataclass(frozen=True, slots=True)
class Digest:
    """Sum up rows.

    Attributes:
        keys: columns.
    """

    keys: tuple[str, ...]

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows as ``digested`` gives them for stored rows."""
        for rows in chunks(incoming):
            found = digested(rows, self.keys)
            yield from batches(found, dict(found.schema))


@dataclass(frozen=True, slots=True)
class Processes:
    """Find when brokers' processes ran."""

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``PROCESSES`` for observations."""
        for rows in chunks(incoming):
            yield from batches(processes(rows, "cluster"), PROCESSES)


@dataclass(frozen=True, slots=True)
class Carry:
    """Bring rows about large partitions to where they are judged, row by row: the executor puts them in order.

    Attributes:
        table: whose rows they are.
        keys: the partitions that are wanted, packed.
    """

    table: str
    keys: bytes

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``CARRIED`` for rows of the table."""
        keys = unpacked(self.keys)
        for rows in chunks(incoming):
            found = rows.join(keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
            yield from batches(carried(self.table, found), CARRIED)


@dataclass(frozen=True, slots=True)
class Bring:
    """Bring rows about small partitions to where they are judged, many together.

    Attributes:
        table: whose rows they are.
        buckets: the partitions that are wanted, each with its bucket, packed.
    """

    table: str
    buckets: bytes

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``BROUGHT`` for rows of the table."""
        buckets = unpacked(self.buckets)
        held: dict[int, list[pl.DataFrame]] = {}
        for rows in chunks(incoming):
            for bucket, part in brought(carried(self.table, rows), buckets):
                held.setdefault(bucket, []).append(part)
        yield from bundled(held)


def bundled(held: dict[int, list[pl.DataFrame]]) -> Iterator[Any]:
    """Rows of buckets as Arrow batches of ``BROUGHT``; what is given is taken apart."""
    while held:
        bucket, parts = held.popitem()
        data = packed(pl.concat(parts), "lz4")
        yield from batches(pl.DataFrame({"bucket": [bucket], "rows": [data]}, schema=BROUGHT), BROUGHT)


@dataclass(frozen=True, slots=True)
class JudgeAll:
    """Judge partitions.

    Attributes:
        judge: judges them.
        together: rows come as ``Bring`` gives them, not as ``Carry`` does.
    """

    judge: Judge
    together: bool

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``JUDGED`` for rows of whole partitions."""
        found = self.judge.of_frames(arrived(incoming)) if self.together else self.judge.frames(incoming)
        for judged in found:
            yield from batches(judged, JUDGED)


@dataclass(frozen=True, slots=True)
class Close:
    """Give timelines their ends, once it is known when processes ended.

    Attributes:
        spans: as ``forensics.replay.timeline.spans`` gives it, with ``cluster``, packed.
        clusters: how many the case has.
        kept: only these partitions, packed; None for all.
        numbers: of sources ``then`` and ``now``, packed; None where they are the same.
    """

    spans: bytes
    clusters: int
    kept: bytes | None = None
    numbers: bytes | None = None

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``TIMELINE`` for rows of ``JUDGED``, of which ``KEY`` and the states are enough."""
        spans_ = unpacked(self.spans)
        kept, numbers = (None if data is None else unpacked(data) for data in (self.kept, self.numbers))
        for rows in chunks(incoming, rows=_AT_ONCE):
            wanted = rows.filter(pl.col("states").is_not_null())
            if kept is not None:
                wanted = wanted.join(kept, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
            if wanted.is_empty():
                continue
            states = pl.concat(map(unpacked, wanted.get_column("states")))
            if numbers is not None:
                states = _renumbered(states, numbers)
            for (cluster,), mine in states.partition_by("cluster", as_dict=True, maintain_order=True).items():
                of_cluster = spans_
                if self.clusters > 1:
                    of_cluster = spans_.filter(pl.col("cluster").eq_missing(pl.lit(cluster, pl.String)))
                done = closed(mine, of_cluster.drop("cluster"), *KEY, "incarnation")
                named = pl.lit(in_cluster(cluster), pl.String).alias("in_cluster")
                yield from batches(done.with_columns(named), TIMELINE)


def _renumbered(rows: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """Timelines with the numbers that sources have now."""
    if numbers.get_column("then").equals(numbers.get_column("now")):
        return rows
    then, now = numbers.get_columns()
    places = [name for name, dtype in rows.schema.items() if isinstance(dtype, pl.Struct)]
    return rows.with_columns(
        pl.when(pl.col(name).is_not_null())
        .then(
            pl.struct(
                pl.col(name).struct.field("source").replace_strict(then, now, default=None),
                pl.col(name).struct.field("line"),
            )
        )
        .alias(name)
        for name in places
    )


@dataclass(frozen=True, slots=True)
class Quote:
    """Read what findings cite."""

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``QUOTED`` for pieces with the lines that are wanted of each; line 0 gives the hash alone."""
        for text in _pieces(incoming):
            piece, wanted = json.loads(text)
            source = reading.opened(Piece.of(piece).units[0])
            try:
                digest = source.sha256()
            except OSError:
                digest = None
            texts = line_texts(source, set(wanted)) if wanted else {}
            rows = [(source.path, 0, "", digest), *[(source.path, line, said, digest) for line, said in texts.items()]]
            yield from batches(pl.DataFrame(rows, schema=QUOTED, orient="row"), QUOTED)


def _pieces(incoming: Iterable[Any]) -> Iterator[str]:
    for batch in incoming:
        yield from batch.column("piece").to_pylist()
