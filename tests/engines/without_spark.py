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
from forensics.engines.pipeline.executor import Buckets, Shuffle, Stage, Work
from forensics.engines.pipeline.job import Options, Say
from forensics.engines.stages.judging import Judge
from forensics.engines.stages.rows import Schema, batches, frame
from forensics.result import Result

_RECORDS = 997
"""Rows of an Arrow batch: partitions begin and end within them."""


@dataclass(frozen=True)
class Here:
    """Runs all tasks in this process. As Spark, it promises no order."""

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        return _rows(self._parts(stage), stage.schema)

    def summed(self, stage: Stage, keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        hows = {"sum": pl.Expr.sum, "bit_xor": pl.Expr.bitwise_xor, "min": pl.Expr.min, "max": pl.Expr.max}
        rows = self.run(stage).group_by(keys, maintain_order=True)
        return rows.agg(hows[one](pl.col(name)) for name, one in how.items())

    def shuffled(self, shuffles: Sequence[Shuffle], schema: Schema) -> pl.DataFrame:
        """See ``Executor``."""
        found = []
        for shuffle in shuffles:
            rows = pl.concat([self.run(shuffle.gather), shuffle.more])
            if isinstance(shuffle, Buckets):
                parts = [rows.filter(pl.col("bucket") == number) for number in range(shuffle.count)]
            else:
                rows = rows.sort(*shuffle.order, nulls_last=True)
                task = rows.select(shuffle.keys).hash_rows(7) % shuffle.tasks
                parts = [rows.filter(task == number) for number in range(shuffle.tasks)]
            given = [list(batches(part, shuffle.gather.schema, rows=_RECORDS)) for part in parts]
            found += [_travelled(shuffle.then)(iter(part)) for part in given]
        return _rows(found, schema)

    def _parts(self, stage: Stage) -> list[Iterator[Any]]:
        arrays = [pa.record_batch({"piece": pa.array(list(pieces), pa.string())}) for pieces in stage.tasks if pieces]
        return [_travelled(stage.work)(iter([array])) for array in arrays]

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        raise AssertionError(table_format, probe)

    def convert(self, table_format: str, name: str, source: Path, target: Path) -> None:
        """See ``Executor``."""
        raise AssertionError(table_format, name, source, target)


def _travelled(work: Work) -> Work:
    return pickle.loads(pickle.dumps(work))


def _rows(parts: Sequence[Iterator[Any]], schema: Schema) -> pl.DataFrame:
    """All rows; those of what comes last first."""
    found = [batch for part in reversed([list(part) for part in parts]) for batch in part]
    return frame(found) if found else pl.DataFrame(schema=schema)


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
