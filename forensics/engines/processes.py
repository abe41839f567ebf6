"""Tasks of a batch in processes of this machine. What is brought together waits on disk, so memory stays bounded.

A shuffle has two rounds. Tasks of the first write the rows of all their buckets into one file each, and return where in
it each bucket is. Tasks of the second read the rows of one bucket from all these files.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from forensics.engines.local import no_cycles
from forensics.engines.pipeline.executor import Buckets, Given, Ordered, Stage, Tasks, Work
from forensics.engines.stages.files import Sink, grouped, put_nothing
from forensics.engines.stages.judging import BROUGHT
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.rows import Schema, batches, chunks, frame, narrowed
from forensics.engines.stages.table import Rows, Table
from forensics.engines.stages.work import Digest
from forensics.engines.workers import Died, Load, Workers
from forensics.errors import DefectOfProgram, TaskFailed, UnusableOutput
from parsers.containment import Defect

T = TypeVar("T")

_SHUFFLED: Final = "shuffled"
_HOW: Final = {"sum": pl.Expr.sum, "bit_xor": pl.Expr.bitwise_xor, "min": pl.Expr.min, "max": pl.Expr.max}
_ROWS: Final = 1 << 16
"""Rows that are divided among buckets at once."""
_SEED: Final = 7


class Slice(NamedTuple):
    """Rows of one bucket in a file.

    Attributes:
        file: its path.
        begin, size: bytes of the packed rows in it.
        first: values by which its first row is ordered; none where rows are in no order.
    """

    file: str
    begin: int
    size: int
    first: tuple[Any, ...] = ()


_To = Callable[[Iterable[Any], int], Any]
"""Uses the rows of a task, which are given with its number."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """The answer of a task to which the system refused something.

    Attributes:
        why: a sentence.
    """

    why: str


class Processes:
    """Runs tasks in this process and others: see ``Executor``. It is used within a ``with`` statement."""

    def __init__(self, jobs: int, folder: Path) -> None:
        """Start none yet.

        Args:
            jobs: how many processes work, this one among them.
            folder: where rows wait; what is in it is removed once it was read.
        """
        self.slots = jobs
        self._workers = Workers(jobs)
        self._folder = folder
        self._rounds = itertools.count()
        self._done, self._of = 0, 1

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all processes."""
        self._workers.__exit__(kind, error, at)

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        found = [rows for rows in self._answers(stage, _Framed()) if rows.height]
        return pl.concat([pl.DataFrame(schema=stage.schema), *(narrowed(rows, stage.schema) for rows in found)])

    def store(self, into: Table, *stages: Stage) -> None:
        """See ``Executor``."""
        rows = 0
        for number, stage in enumerate(stages):
            rows += sum(self._answers(stage, _Stored(into, f"part-{number}")))
        if not rows:
            put_nothing(into)

    def summed(self, stages: Sequence[Stage], keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        sums = [_HOW[one](pl.col(name)) for name, one in how.items()]
        found = pl.DataFrame(schema=stages[0].schema)
        for rows in itertools.chain.from_iterable(self._answers(stage, _Framed()) for stage in stages):
            if rows.height:
                found = pl.concat([found, rows]).group_by(keys, maintain_order=True).agg(sums).select(found.columns)
        return found

    def digested(self, rows: Rows, keys: Sequence[str]) -> pl.DataFrame:
        """See ``Executor``."""
        schema = {name: rows.schema[name] for name in keys} | dict.fromkeys(("n", "one", "two"), pl.Int64())
        sums = {"n": "sum", "one": "bit_xor", "two": "bit_xor"}
        return self.summed([Stage("digest", rows, Digest(tuple(keys)), schema)], keys, sums)

    def read(self, rows: Rows) -> pl.DataFrame:
        """See ``Executor``."""
        return pl.concat([pl.DataFrame(schema=dict(rows.schema)), *map(rows.read, rows.files())])

    def share(self) -> float:
        """See ``Executor``."""
        return self._done / self._of

    def _answers(self, stage: Stage, to: _To) -> Iterator[Any]:
        """Yield what becomes of the rows that each task gives."""
        over, work = stage.over, stage.work
        if isinstance(over, Given):
            yield to(batches(over.rows, stage.schema), 0)
            return
        assert work is not None
        if isinstance(over, Buckets | Ordered):
            yield from self._shuffled(over, work, to)
            return
        if isinstance(over, Tasks):
            loads: Iterable[tuple[Any, ...]] = [(number, pieces) for number, pieces in enumerate(over.pieces)]
            reads: _Pieces | _Files = _Pieces()
        else:
            heights = ((str(path), pq.read_metadata(path).num_rows) for path in over.files())
            loads = list(enumerate(grouped((path, rows) for path, rows in heights if rows)))
            reads = _Files(over)
        yield from self._asked(_run, (reads, work, to), loads)

    def _shuffled(self, shuffle: Buckets | Ordered, work: Work, to: _To) -> Iterator[Any]:
        folder = self._folder / f"{_SHUFFLED}-{next(self._rounds)}"
        folder.mkdir(parents=True)
        keys, order = (shuffle.keys, shuffle.order) if isinstance(shuffle, Ordered) else ((), ())
        slices: dict[int, list[Slice]] = {}
        for number, stage in enumerate(shuffle.gather):
            gather = _Gathered(tuple(keys), tuple(order), str(folder / str(number)))
            for places in self._answers(stage, gather):
                for bucket, place in places:
                    slices.setdefault(bucket, []).append(place)
        largest = sorted(slices, key=lambda bucket: (-sum(one.size for one in slices[bucket]), bucket))
        reads = _Slices(shuffle.gather[0].schema, tuple(order))
        loads = ((bucket, sorted(slices[bucket], key=lambda one: one[:2])) for bucket in largest)
        yield from self._asked(_run, (reads, work, to), loads)
        shutil.rmtree(folder, ignore_errors=True)

    def _asked(self, do: Any, common: object, given: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what is done with each of the given. If a process ended on one, it is tried once more, alone."""
        loads = [Load(common, one) for one in given]
        self._done, self._of = 0, len(loads) or 1
        again: list[Load] = []
        for number, found in self._workers.ask(do, loads, do):
            if isinstance(found, Died):
                again.append(loads[number])
            else:
                self._done += 1
                yield _unless_failed(found)
        for load in again:
            for _, found in self._workers.ask(do, [load]):
                yield _unless_failed(found)

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        raise UnusableOutput(f"--table-format {table_format}: only Spark writes it")


def _unless_failed(found: Any) -> Any:
    """Return the answer of a task.

    Raises:
        TaskFailed: the system refused something, or the process ended.
        DefectOfProgram: this program failed.
    """
    if isinstance(found, _Refused):
        raise TaskFailed(f"{found.why}; name a folder with more room: --tmp DIR")
    if isinstance(found, Died):
        raise TaskFailed(str(found))
    if isinstance(found, Defect):
        raise DefectOfProgram(f"a task failed: {found}")
    return found


@dataclass(frozen=True, slots=True)
class _Framed:
    """Rows go back to the process that asked."""

    def __call__(self, found: Iterable[Any], number: int) -> pl.DataFrame:
        """Return Arrow batches as a frame."""
        there = list(found)
        return frame(there) if there else pl.DataFrame()


@dataclass(frozen=True, slots=True)
class _Stored:
    """Rows are stored.

    Attributes:
        into: a table.
        stem: beginning of the names of its files.
    """

    into: Table
    stem: str

    def __call__(self, found: Iterable[Any], number: int) -> int:
        """Store Arrow batches of a task; return how many rows they have."""
        sink = Sink(self.into, f"{self.stem}-{number:06}")
        for batch in found:
            sink.add(frame([batch]))
        return sink.close()


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Rows are written as slices: the first round of a shuffle.

    Attributes:
        keys: columns whose values decide the bucket; none where the rows are packed, and their buckets known.
        order: columns by which the rows of each slice are put in order.
        stem: beginning of the names of the files.
    """

    keys: tuple[str, ...]
    order: tuple[str, ...]
    stem: str

    def __call__(self, found: Iterable[Any], number: int) -> list[tuple[int, Slice]]:
        """Write Arrow batches of a task, and return the place of those of each bucket."""
        name = f"{self.stem}-{number:06}"
        places: list[tuple[int, Slice]] = []
        end = 0
        with Path(name).open("wb") as out:
            for bucket, data, first in self._divided(found) if self.keys else _packed(found):
                places.append((bucket, Slice(name, end, len(data), first)))
                end += out.write(data)
        return places

    def _divided(self, found: Iterable[Any]) -> Iterator[tuple[int, bytes, tuple[Any, ...]]]:
        for rows in chunks(found, rows=_ROWS):
            numbered = rows.with_columns(rows.select(self.keys).hash_rows(_SEED).alias("_bucket"))
            parts = numbered.partition_by("_bucket", as_dict=True, include_key=False, maintain_order=True)
            for (bucket,), part in parts.items():
                rows = part.sort(*self.order, nulls_last=True, maintain_order=True)
                yield bucket, packed(rows, "lz4"), rows.select(self.order).row(0)


def _packed(found: Iterable[Any]) -> Iterator[tuple[int, bytes, tuple[Any, ...]]]:
    for batch in found:
        buckets, rows = (batch.column(name).to_pylist() for name in BROUGHT)
        yield from ((bucket, data, ()) for bucket, data in zip(buckets, rows, strict=True))


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A task works on pieces of text."""

    def __call__(self, number: int, given: Sequence[str]) -> Iterator[Any]:
        """Yield them as an Arrow batch."""
        yield pa.record_batch({"piece": pa.array(list(given), pa.string())})


@dataclass(frozen=True, slots=True)
class _Files:
    """A task works on files of stored rows.

    Attributes:
        rows: which of their rows.
    """

    rows: Rows

    def __call__(self, number: int, given: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of the files as Arrow batches."""
        for path in given:
            yield from batches(self.rows.read(Path(path)), self.rows.schema, rows=_ROWS)


@dataclass(frozen=True, slots=True)
class _Slices:
    """A task works on slices of rows: the second round of a shuffle.

    Attributes:
        schema: of these rows.
        order: columns by which they are put in order; none where they are packed.
    """

    schema: Schema
    order: tuple[str, ...]

    def __call__(self, number: int, given: Sequence[Slice]) -> Iterator[Any]:
        """Yield the rows of a bucket, whose number it is, as Arrow batches."""
        if self.order:
            for rows in self._merged(given):
                yield from batches(rows, self.schema)
            return
        for data in map(_read, given):
            yield from batches(pl.DataFrame({"bucket": [number], "rows": [data]}, schema=BROUGHT), BROUGHT)

    def _merged(self, slices: Sequence[Slice]) -> Iterator[pl.DataFrame]:
        """Yield the rows of slices in order. Only those slices are in memory that overlap.

        A mark is put where the next slice begins: what is before the mark is complete.
        """
        names = list(self.schema)
        types = {name: self.schema[name] for name in self.order}
        begins = pl.DataFrame([one.first for one in slices], types, orient="row")
        begins = self._sorted(begins.with_row_index("_slice")).with_columns(pl.lit(True).alias("_mark"))
        held: list[pl.DataFrame] = []
        for turn, number in enumerate(begins.get_column("_slice").to_list()):
            held.append(unpacked(_read(slices[number])))
            mark = begins[turn + 1 : turn + 2].drop("_slice")
            # The mark is first among equals, so what is before it is before all rows of later slices.
            rows = self._sorted(pl.concat([mark, *held], how="diagonal"))
            place = rows.get_column("_mark").arg_true() if mark.height else None
            end = rows.height if place is None else int(place[0])
            done, rest = rows[:end], rows[end + 1 :]
            held = [rest.select(names)] if rest.height else []
            if done.height:
                yield done.select(names)

    def _sorted(self, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.sort(*self.order, nulls_last=True, maintain_order=True)


def _read(place: Slice) -> bytes:
    with Path(place.file).open("rb") as stream:
        stream.seek(place.begin)
        return stream.read(place.size)


def _run(how: tuple[Any, Work, Any], number: int, given: Sequence[Any]) -> Any:
    """Return what becomes of the rows that the work gives for a task: what a process does.

    Args:
        how: reads what is given, the work, and what is done with the rows.
        number: of the task.
        given: pieces, files or slices.
    """
    reads, work, to = how
    return _unless_refused(lambda: to(work(reads(number, given)), number))


def _unless_refused(do: Callable[[], T]) -> T | _Refused:
    """Return what is done, or why the system refused it. Files of evidence that cannot be read are no such reason."""
    try:
        with no_cycles():
            return do()
    except OSError as error:
        return _Refused(f"{error.filename or 'a temporary file'}: {error.strerror or error}")
