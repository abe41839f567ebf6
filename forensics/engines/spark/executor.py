"""Tasks of a batch on Spark: stages are DataFrames, Spark brings rows together, and its own writer stores them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from forensics.engines.pipeline.executor import Buckets, Given, Ordered, Stage, Tasks
from forensics.engines.spark import frames
from forensics.engines.spark.session import context_of, slots
from forensics.engines.stages.files import put_nothing
from forensics.engines.stages.table import PARQUET, Rows, Table
from forensics.errors import UnusableOutput, UnwritableOutput
from parsers.containment import Defect, contained

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SparkExecutor:
    """Runs tasks in a session: see ``Executor``.

    Attributes:
        spark: the session.
    """

    spark: SparkSession

    @property
    def slots(self) -> int:
        """See ``Executor``."""
        return slots(self.spark)

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        with self._described(stage.name):
            return frames.collected(self._rows(stage))

    def store(self, into: Table, *stages: Stage) -> None:
        """See ``Executor``. All stages are one job, so that a large partition keeps no other waiting.

        Raises:
            UnwritableOutput: rows were written, and are not here.
        """
        with self._described(", ".join(stage.name for stage in stages)):
            rows = frames.union([self._rows(stage) for stage in stages])
            count = frames.write(rows, into)
        if into.format != PARQUET or into.files():
            return
        if count:
            raise UnwritableOutput(
                f"{into.folder} was written by workers, and its files are not here: it has to be in a folder that "
                "driver and workers share; mount one, and name it"
            )
        put_nothing(into)

    def summed(self, stages: Sequence[Stage], keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        from pyspark.sql import functions as F

        with self._described(", ".join(stage.name for stage in stages)):
            rows = frames.union([self._rows(stage) for stage in stages])
            sums = [getattr(F, one)(name).alias(name) for name, one in how.items()]
            return frames.collected(rows.groupBy(*keys).agg(*sums))

    def digested(self, rows: Rows, keys: Sequence[str]) -> pl.DataFrame:
        """See ``Executor``."""
        from pyspark.sql import functions as F

        one, two = F.xxhash64(*rows.columns), F.xxhash64(F.lit(1), *rows.columns)
        sums = (F.count(F.lit(1)).alias("n"), F.bit_xor(one).alias("one"), F.bit_xor(two).alias("two"))
        with self._described(f"digest {rows.tables[0].folder.name}"):
            return frames.collected(frames.stored(self.spark, rows).groupBy(*keys).agg(*sums))

    def read(self, rows: Rows) -> pl.DataFrame:
        """See ``Executor``."""
        with self._described("fetch rows for the driver"):
            return frames.collected(frames.stored(self.spark, rows))

    def share(self) -> float:
        """See ``Executor``. Spark Connect does not show it: 0."""
        if (context := context_of(self.spark)) is None:
            return 0.0
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        tasks = [(one.numCompletedTasks, one.numTasks) for one in stages if one is not None]
        return sum(done for done, _ in tasks) / max(sum(of for _, of in tasks), 1)

    @contextlib.contextmanager
    def _described(self, name: str) -> Iterator[None]:
        """Within the block, Spark's pages and its event log show jobs under a name; not with Spark Connect."""
        if (context := context_of(self.spark)) is None:
            yield
            return
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(f"forensics: {name}")
        try:
            yield
        finally:
            context.setLocalProperty("spark.job.description", before)  # type: ignore[arg-type]

    def _rows(self, stage: Stage) -> DataFrame:
        rows = self._over(stage)
        return rows if stage.work is None else frames.mapped(rows, stage.work, stage.schema)

    def _over(self, stage: Stage) -> DataFrame:
        match stage.over:
            case Tasks(pieces=pieces):
                return frames.in_tasks(self.spark, pieces)
            case Given(rows=rows):
                return frames.made(self.spark, rows, stage.schema)
            case Rows() as rows:
                return frames.stored(self.spark, rows)
            case Buckets(gather=gather, count=count):
                return frames.in_buckets(frames.union([self._rows(one) for one in gather]), "bucket", count)
            case Ordered(gather=gather, keys=keys, order=order, tasks=tasks):
                found = frames.union([self._rows(one) for one in gather])
                return frames.in_order(found, keys, order, tasks)

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        found = contained(lambda: self.spark.range(1).write.format(table_format).save(f"file://{probe}"))
        if isinstance(found, Defect):  # a class for each way to reach Spark, not all public
            lines = found.trace.strip().splitlines()
            said = next((line.partition("Exception: ")[2] for line in lines if "Exception: " in line), found.error)
            raise UnusableOutput(
                f"--table-format {table_format}: this session cannot write it ({said}); start it with the format's "
                "package (--conf spark.jars.packages=...), or write parquet"
            )
