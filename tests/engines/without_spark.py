"""A batch whose tasks run one after another in this process: everything but Spark, which is slow to start."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa

from forensics.case import Reading
from forensics.engines.spark import batch as engine
from forensics.engines.spark import frames, shuffling
from forensics.engines.spark.job import Options, Say
from forensics.engines.stages.judging import Judge
from forensics.engines.stages.rows import batches, frame
from forensics.result import Result

Schema = Mapping[str, pl.DataType]

_RECORDS = 997
"""Rows of an Arrow batch: partitions begin and end within them."""


@dataclass(frozen=True)
class Frame:
    """What Spark would hold of a DataFrame: how to make the Arrow batches of each of its partitions."""

    schema: Schema
    parts: tuple[Callable[[], list[Any]], ...]

    def rows(self) -> pl.DataFrame:
        """All rows; those of what comes last first, because no order is promised."""
        found = [batch for part in reversed(self.parts) for batch in part()]
        return frame(found) if found else pl.DataFrame(schema=self.schema)


def _of(rows: Sequence[pl.DataFrame], schema: Schema) -> Frame:
    return Frame(schema, tuple(lambda some=some: list(batches(some, schema, rows=_RECORDS)) for some in rows))


def in_tasks(_spark: object, tasks: Sequence[Sequence[str]]) -> Frame:
    arrays = [pa.record_batch({"piece": pa.array(list(pieces), pa.string())}) for pieces in tasks if pieces]
    return Frame({"piece": pl.String()}, tuple(lambda array=array: [array] for array in arrays))


def made(_spark: object, rows: pl.DataFrame, schema: Schema) -> Frame:
    return _of([rows], schema)


def mapped(given: Frame, work: Callable[[Any], Iterator[Any]], schema: Schema) -> Frame:
    data = pickle.dumps(work)  # it travels
    return Frame(schema, tuple(lambda part=part: list(pickle.loads(data)(iter(part()))) for part in given.parts))


def union(given: Sequence[Frame]) -> Frame:
    return Frame(given[0].schema, tuple(part for one in given for part in one.parts))


def summed(given: Frame, keys: Sequence[str], **columns: str) -> Frame:
    hows = {"sum": pl.Expr.sum, "bit_xor": pl.Expr.bitwise_xor, "min": pl.Expr.min, "max": pl.Expr.max}
    rows = (
        given.rows().group_by(keys, maintain_order=True).agg(hows[how](pl.col(name)) for name, how in columns.items())
    )
    return _of([rows], {name: given.schema[name] for name in rows.columns})


def in_order(given: Frame, keys: Sequence[str], order: Sequence[str], tasks: int) -> Frame:
    rows = given.rows().sort(*order, nulls_last=True)
    task = rows.select(keys).hash_rows(7) % tasks
    return _of([rows.filter(task == number) for number in range(tasks)], given.schema)


def in_buckets(given: Frame, bucket: str, count: int) -> Frame:
    rows = given.rows()
    return _of([rows.filter(pl.col(bucket) == number) for number in range(count)], given.schema)


def collected(given: Frame) -> pl.DataFrame:
    return given.rows()


@contextlib.contextmanager
def here() -> Iterator[None]:
    """Within the block tasks run in this process, whatever the session."""
    with patch.multiple(
        frames,
        in_tasks=in_tasks,
        made=made,
        mapped=mapped,
        union=union,
        summed=summed,
        in_order=in_order,
        in_buckets=in_buckets,
        collected=collected,
    ):
        yield


def run(
    path: str,
    folder: Path,
    *,
    together: int | None = None,
    say: Say = lambda _: None,
    reading: Reading | None = None,
    **options: Any,
) -> Result:
    """A batch over one path.

    Args:
        path: the archive.
        folder: an empty folder, or one of a run before.
        together: rows of partitions that are judged at once; a partition of more is thinned, and travels row by row.
        say: told how far it is.
        reading: how printed times are read.
        options: others of ``Options``.
    """
    with here(), contextlib.ExitStack() as small:
        if together is not None:
            made_ = Judge.of
            limited = lambda *given, **more: replace(made_(*given, **more), together=together, most=together)  # noqa: E731
            small.enter_context(patch.object(Judge, "of", limited))
            small.enter_context(patch.object(shuffling, "_LARGE", together))
        chosen = Options(reading=reading or Reading(), **options)
        return engine.batch(None, [path], str(folder), chosen, say)  # type: ignore[arg-type]
