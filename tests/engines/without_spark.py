"""A batch whose tasks run one after another in this process: everything but Spark, which is slow to start."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa

from forensics.case import Reading
from forensics.engines.pipeline import batch as engine
from forensics.engines.pipeline import shuffling
from forensics.engines.pipeline.executor import Buckets, Given, Ordered, Stage, Tasks, Work
from forensics.engines.pipeline.job import Options, Say
from forensics.engines.stages.deriving import digested
from forensics.engines.stages.files import Sink, put_nothing
from forensics.engines.stages.judging import Judge
from forensics.engines.stages.rows import Schema, batches, completed, frame
from forensics.engines.stages.table import Rows, Table
from forensics.result import Result

_RECORDS = 997
"""Rows of an Arrow batch: partitions begin and end within them."""


@dataclass(frozen=True)
class Here:
    """Runs all tasks in this process. As Spark, it promises no order."""

    slots: int = 1

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        return _together(self._tasks(stage), stage.schema)

    def store(self, into: Table, *stages: Stage) -> None:
        """See ``Executor``."""
        sinks = [Sink(into, f"part-{number}") for number, _ in enumerate(stages)]
        for stage, sink in zip(stages, sinks, strict=True):
            for batch in (batch for task in reversed(self._tasks(stage)) for batch in task):
                sink.add(frame([batch]))
        if not sum(sink.close() for sink in sinks):
            put_nothing(into)

    def summed(self, stages: Sequence[Stage], keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        hows = {"sum": pl.Expr.sum, "bit_xor": pl.Expr.bitwise_xor, "min": pl.Expr.min, "max": pl.Expr.max}
        rows = pl.concat(map(self.run, stages)).group_by(keys, maintain_order=True)
        return rows.agg(hows[one](pl.col(name)) for name, one in how.items())

    def digested(self, rows: Rows, keys: Sequence[str]) -> pl.DataFrame:
        """See ``Executor``."""
        return digested(self.read(rows), keys)

    def read(self, rows: Rows) -> pl.DataFrame:
        """See ``Executor``."""
        return pl.concat([pl.DataFrame(schema=dict(rows.schema)), *map(rows.read, reversed(rows.files()))])

    def share(self) -> float:
        """See ``Executor``."""
        return 0.0

    def _tasks(self, stage: Stage) -> list[list[Any]]:
        """The Arrow batches that each task gives."""
        if stage.work is None:
            return list(self._over(stage))
        return [list(_travelled(stage.work)(iter(given))) for given in self._over(stage)]

    def _over(self, stage: Stage) -> Iterator[list[Any]]:
        match stage.over:
            case Tasks(pieces=tasks):
                yield from ([pa.record_batch({"piece": pa.array(list(one), pa.string())})] for one in tasks if one)
            case Given(rows=rows):
                yield list(batches(rows, stage.schema))
            case Rows() as rows:
                yield from (list(batches(rows.read(path), rows.schema, rows=_RECORDS)) for path in rows.files())
            case Buckets(gather=gather, count=count):
                rows = pl.concat(map(self.run, gather))
                parts = [rows.filter(pl.col("bucket") == number) for number in range(count)]
                yield from (list(batches(part, gather[0].schema, rows=_RECORDS)) for part in parts)
            case Ordered(gather=gather, keys=keys, order=order, tasks=count):
                rows = pl.concat(map(self.run, gather)).sort(*order, nulls_last=True)
                task = rows.select(keys).hash_rows(7) % count
                parts = [rows.filter(task == number) for number in range(count)]
                yield from (list(batches(part, gather[0].schema, rows=_RECORDS)) for part in parts)

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        raise AssertionError(table_format, probe)


def _travelled(work: Work) -> Work:
    return pickle.loads(pickle.dumps(work))


def _together(tasks: Sequence[list[Any]], schema: Schema) -> pl.DataFrame:
    """All rows; those of what comes last first."""
    found = [completed(batch, schema) for task in reversed(tasks) for batch in task]
    return frame(found) if found else pl.DataFrame(schema=dict(schema))


@contextlib.contextmanager
def here() -> Iterator[None]:
    """Within the block tasks run in this process, whatever the session."""
    with patch("forensics.engines.spark.executor.SparkExecutor", lambda _session: Here()):
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
    with contextlib.ExitStack() as small:
        if together is not None:
            made_ = Judge.of
            limited = lambda *given, **more: replace(made_(*given, **more), together=together, most=together)  # noqa: E731
            small.enter_context(patch.object(Judge, "of", limited))
            small.enter_context(patch.object(shuffling, "_LARGE", together))
        chosen = Options(reading=reading or Reading(), **options)
        return engine.batch(Here(), [path], str(folder), chosen, say)
