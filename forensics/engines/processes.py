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

from forensics.engines.local import no_cycles
from forensics.engines.pipeline.executor import Ordered, Shuffle, Stage, Work
from forensics.engines.stages.judging import BROUGHT
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.rows import Schema, batches, chunks, frame
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
        self._workers = Workers(jobs)
        self._folder = folder
        self._rounds = itertools.count()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all processes."""
        self._workers.__exit__(kind, error, at)

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        return _together(self._answers(_run, stage.work, ((pieces,) for pieces in stage.tasks)), stage.schema)

    def summed(self, stage: Stage, keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        sums = [_HOW[one](pl.col(name)) for name, one in how.items()]
        found = pl.DataFrame(schema=stage.schema)
        for rows in self._answers(_run, stage.work, ((pieces,) for pieces in stage.tasks)):
            if not rows.height:
                continue
            found = pl.concat([found, rows]).group_by(keys, maintain_order=True).agg(sums).select(found.columns)
        return found

    def shuffled(self, shuffles: Sequence[Shuffle], schema: Schema) -> pl.DataFrame:
        """See ``Executor``."""
        found = [self._shuffled(one, schema) for one in shuffles]
        return pl.concat([pl.DataFrame(schema=schema), *found])

    def _shuffled(self, shuffle: Shuffle, schema: Schema) -> pl.DataFrame:
        folder = self._folder / f"{_SHUFFLED}-{next(self._rounds)}"
        folder.mkdir(parents=True)
        keys, order = (shuffle.keys, shuffle.order) if isinstance(shuffle, Ordered) else ((), ())
        gather = _Gather(shuffle.gather.work, tuple(keys), tuple(order))
        names = (str(folder / f"{number:06}") for number in itertools.count())
        slices: dict[int, list[Slice]] = {}
        tasks = ((pieces, next(names)) for pieces in shuffle.gather.tasks)
        more = gather.written(batches(shuffle.more, shuffle.gather.schema), next(names))
        for places in itertools.chain([more], self._answers(_gathered, gather, tasks)):
            for bucket, place in places:
                slices.setdefault(bucket, []).append(place)
        largest = sorted(slices, key=lambda bucket: (-sum(one.size for one in slices[bucket]), bucket))
        after = _After(shuffle.then, shuffle.gather.schema, tuple(order))
        loads = ((bucket, sorted(slices[bucket], key=lambda one: one[:2])) for bucket in largest)
        found = _together(self._answers(_judged, after, loads), schema)
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def _answers(self, do: Any, work: object, given: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what is done with each of the given. If a process ended on one, it is tried once more, alone."""
        loads = [Load(work, one) for one in given]
        again: list[Load] = []
        for number, found in self._workers.ask(do, loads, do):
            if isinstance(found, Died):
                again.append(loads[number])
            else:
                yield _unless_failed(found)
        for load in again:
            for _, found in self._workers.ask(do, [load]):
                yield _unless_failed(found)

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        raise UnusableOutput(f"--table-format {table_format}: only Spark writes it")

    def convert(self, table_format: str, name: str, source: Path, target: Path) -> None:
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


def _together(found: Iterable[pl.DataFrame], schema: Schema) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=schema), *(rows for rows in found if rows.height)])


@dataclass(frozen=True, slots=True)
class _Gather:
    """The first round of a shuffle.

    Attributes:
        work: gives rows.
        keys: columns whose values decide the bucket; none where the rows are packed, and their buckets known.
        order: columns by which the rows of each slice are put in order.
    """

    work: Work
    keys: tuple[str, ...]
    order: tuple[str, ...]

    def written(self, found: Iterable[Any], name: str) -> list[tuple[int, Slice]]:
        """Write rows, and return the place of those of each bucket.

        Args:
            found: Arrow batches.
            name: of the file.
        """
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
class _After:
    """The second round of a shuffle.

    Attributes:
        work: what is done with the rows of a bucket.
        schema: of these rows.
        order: columns by which they are put in order; none where they are packed.
    """

    work: Work
    schema: Schema
    order: tuple[str, ...]

    def rows(self, bucket: int, slices: Sequence[Slice]) -> Iterator[Any]:
        """Yield the rows of a bucket as Arrow batches."""
        if self.order:
            for rows in self._merged(slices):
                yield from batches(rows, self.schema)
            return
        for data in map(_read, slices):
            yield from batches(pl.DataFrame({"bucket": [bucket], "rows": [data]}, schema=BROUGHT), BROUGHT)

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


def _run(work: Work, pieces: Sequence[str]) -> pl.DataFrame | _Refused:
    """Return the rows that the work gives for a task: what a process does."""
    return _unless_refused(lambda: _framed(work(iter([_piece(pieces)]))))


def _gathered(gather: _Gather, pieces: Sequence[str], name: str) -> list[tuple[int, Slice]] | _Refused:
    """Write the rows that the work gives for a task: what a process does in the first round of a shuffle."""
    return _unless_refused(lambda: gather.written(gather.work(iter([_piece(pieces)])), name))


def _judged(after: _After, bucket: int, slices: Sequence[Slice]) -> pl.DataFrame | _Refused:
    """Return what the work gives for the rows of a bucket: what a process does in the second round of a shuffle."""
    return _unless_refused(lambda: _framed(after.work(after.rows(bucket, slices))))


def _piece(pieces: Sequence[str]) -> Any:
    return pa.record_batch({"piece": pa.array(list(pieces), pa.string())})


def _framed(found: Iterable[Any]) -> pl.DataFrame:
    there = list(found)
    return frame(there) if there else pl.DataFrame()


def _unless_refused(do: Callable[[], T]) -> T | _Refused:
    """Return what is done, or why the system refused it. Files of evidence that cannot be read are no such reason."""
    try:
        with no_cycles():
            return do()
    except OSError as error:
        return _Refused(f"{error.filename or 'a temporary file'}: {error.strerror or error}")
