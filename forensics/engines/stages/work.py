"""Work of tasks, as functions of Arrow batches that contain everything they need."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from forensics.case.quotes import line_texts
from forensics.engines.stages import reading
from forensics.engines.stages.context import SURVEY
from forensics.engines.stages.deriving import TABLES, Derive, columns, digested, folders, in_folders
from forensics.engines.stages.files import Sink, folder_of, frames, named_after, put
from forensics.engines.stages.judging import BROUGHT, CARRIED, KEY, PLACED, Judge, arrived, brought, carried
from forensics.engines.stages.listing import File, hashed, looked
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.plan import Piece
from forensics.engines.stages.rows import RAW, batches, narrowed
from forensics.replay.timeline import closed, processes

LOOKED: Final = {"order": pl.Int64(), "sha256": pl.String(), "looks": pl.String()}
WRITTEN: Final = {"table": pl.String(), "name": pl.String(), "rows": pl.Int64()}
"""Files that a task wrote."""
DIGESTS: Final = {
    "name": pl.String(),
    **{name: PLACED[name] for name in KEY},
    "n": pl.Int64(),
    "one": pl.Int64(),
    "two": pl.Int64(),
    "broker": pl.Int32(),
    "run": pl.Int32(),
    "first": pl.Int64(),
    "last": pl.Int64(),
    "ended": pl.Int32(),
}
"""Files that a task wrote, ``n`` rows in each. Without a name, a digest of the rows of a partition, ``digested``, or of
a broker's process: its first and last time, and whether it logged that it stopped.
"""
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
    """Read pieces, and write their rows.

    Attributes:
        zone: zone of printed times that name none.
        folder: where the tables of ``RAW`` are written.
    """

    zone: str
    folder: str

    @staticmethod
    def facts_of(folder: Path, pieces: list[str]) -> Path:
        """Return the folder with the results once the pieces of a task are read."""
        return folder / "facts" / f"{named_after(pieces)}-000.parquet"

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``WRITTEN`` for pieces."""
        pieces = list(_pieces(incoming))
        sinks = {table: Sink(f"{self.folder}/{table}", named_after(pieces)) for table in RAW}
        for table, rows in reading.rows(pieces, self.zone):
            sinks[table].add(rows)
        for table, sink in sinks.items():
            found = [(table, f"{table}/{name}", rows) for name, rows in sink.close()]
            yield from batches(pl.DataFrame(found, schema=WRITTEN, orient="row"), WRITTEN)


@dataclass(frozen=True, slots=True)
class Survey:
    """Facts about all rows that are needed before they are written.

    Attributes:
        derive: facts about the rows' files.
        names: columns to examine.
    """

    derive: Derive
    names: tuple[str, ...]

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``SURVEY`` for files of raw observations."""
        yield from batches(self.derive.survey(frames(list(_pieces(incoming)), self.names)), SURVEY)


@dataclass(frozen=True, slots=True)
class Write:
    """Write the tables.

    Attributes:
        derive: facts about the rows' files.
        folder: where the tables are written.
        timelines: also return when processes ran.
    """

    derive: Derive
    folder: str
    timelines: bool = False

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``DIGESTS`` for names of tables, each with files of raw rows."""
        for piece in _pieces(incoming):
            table, paths = json.loads(piece)
            sink = Sink(f"{self.folder}/{table}", named_after([piece]), folders(table))
            for rows in self.derive.table(table, frames(paths, columns(table))):
                sink.add(in_folders(table, rows))
                yield from batches(digested(rows, KEY), DIGESTS)
                if self.timelines and table == "observations":
                    yield from batches(processes(rows, "cluster"), DIGESTS)
            found = [(f"{table}/{name}", rows) for name, rows in sink.close()]
            yield from batches(pl.DataFrame(found, schema=["name", "n"], orient="row"), DIGESTS)


@dataclass(frozen=True, slots=True)
class Carry:
    """Bring rows about large partitions to where they are judged, row by row: Spark puts them in order.

    Attributes:
        keys: the partitions that are wanted, packed.
    """

    keys: bytes

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``CARRIED`` for names of tables, each with files of its rows."""
        keys = unpacked(self.keys)
        for table, rows in _of_tables(incoming):
            found = rows.join(keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
            yield from batches(carried(table, found), CARRIED)


@dataclass(frozen=True, slots=True)
class Bring:
    """Bring rows about small partitions to where they are judged, many together.

    Attributes:
        buckets: the partitions that are wanted, each with its bucket, packed.
    """

    buckets: bytes

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``BROUGHT`` for names of tables, each with files of its rows."""
        buckets = unpacked(self.buckets)
        held: dict[int, list[pl.DataFrame]] = {}
        for table, rows in _of_tables(incoming):
            for bucket, part in brought(carried(table, rows), buckets):
                held.setdefault(bucket, []).append(part)
        yield from bundled(held)


def bundled(held: dict[int, list[pl.DataFrame]]) -> Iterator[Any]:
    """Rows of buckets as Arrow batches of ``BROUGHT``; what is given is taken apart."""
    while held:
        bucket, parts = held.popitem()
        data = packed(pl.concat(parts), "lz4")
        yield from batches(pl.DataFrame({"bucket": [bucket], "rows": [data]}, schema=BROUGHT), BROUGHT)


@dataclass(frozen=True, slots=True)
class JudgeInto:
    """Judge partitions, and write what is found.

    Attributes:
        judge: judges them.
        folder: where it is written.
        together: rows come as ``Bring`` gives them, not as ``Carry`` does.
    """

    judge: Judge
    folder: str
    together: bool

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``WRITTEN`` for rows of whole partitions."""
        answers = self.judge.of_frames(arrived(incoming)) if self.together else self.judge.frames(incoming)
        for answer in answers:
            stem = named_after(map(repr, answer.judged.select(KEY).iter_rows()))
            sink = Sink(f"{self.folder}/judged", stem)
            sink.add(answer.judged)
            found = [("judged", name, height) for name, height in sink.close()]
            if answer.states.height:  # in one file, for a partition must not be divided
                put(Path(self.folder, "states", f"{stem}.parquet"), answer.states)
                found.append(("states", f"{stem}.parquet", answer.states.height))
            yield from batches(pl.DataFrame(found, schema=WRITTEN, orient="row"), WRITTEN)


@dataclass(frozen=True, slots=True)
class Close:
    """Write timelines, once it is known when processes ended.

    Attributes:
        spans: as ``forensics.replay.timeline.spans`` gives it, with ``cluster``, packed.
        clusters: how many the case has.
        kept: partitions whose former timelines are still true, packed.
        numbers: of sources ``then`` and ``now``, packed.
        folder: where they are written.
    """

    spans: bytes
    clusters: int
    kept: bytes
    numbers: bytes
    folder: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``WRITTEN`` for files of states: whether they are former timelines, and paths."""
        spans_, kept, numbers = unpacked(self.spans), unpacked(self.kept), unpacked(self.numbers)
        for piece in _pieces(incoming):
            former, paths = json.loads(piece)
            rows = pl.concat(pl.read_parquet(path, hive_partitioning=False, glob=False) for path in paths)
            if former:
                rows = rows.join(kept, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
                rows = _renumbered(rows, numbers)
            found = []
            for (cluster,), mine in rows.partition_by("cluster", as_dict=True, maintain_order=True).items():
                of_cluster = spans_
                if self.clusters > 1:
                    of_cluster = spans_.filter(pl.col("cluster").eq_missing(pl.lit(cluster, pl.String)))
                done = closed(mine, of_cluster.drop("cluster"), *KEY, "incarnation")
                folder = folder_of("in_cluster", "none" if cluster is None else cluster)
                name = f"{folder}/{named_after([piece])}.parquet"
                put(Path(self.folder, name), done)
                found.append(("timeline", name, done.height))
            yield from batches(pl.DataFrame(found, schema=WRITTEN, orient="row"), WRITTEN)


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


def _of_tables(incoming: Iterable[Any]) -> Iterator[tuple[str, pl.DataFrame]]:
    for piece in _pieces(incoming):
        table, paths = json.loads(piece)
        for rows in frames(paths, list(TABLES[table])):
            yield table, narrowed(rows, TABLES[table])


def _pieces(incoming: Iterable[Any]) -> Iterator[str]:
    for batch in incoming:
        yield from batch.column("piece").to_pylist()
