"""Tasks of a batch on Spark: each works on a partition of a DataFrame, and Spark brings rows together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from forensics.engines.pipeline.executor import Buckets, Ordered, Shuffle, Stage
from forensics.engines.spark import frames
from forensics.engines.stages.deriving import folders, written_schema
from forensics.engines.stages.rows import Schema
from forensics.errors import UnusableOutput
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

    def run(self, stage: Stage) -> pl.DataFrame:
        """See ``Executor``."""
        return frames.collected(self._mapped(stage))

    def summed(self, stage: Stage, keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """See ``Executor``."""
        return frames.collected(frames.summed(self._mapped(stage), keys, **how))

    def shuffled(self, shuffles: Sequence[Shuffle], schema: Schema) -> pl.DataFrame:
        """See ``Executor``. All are one job, so that a large partition keeps no other waiting."""
        work = [frames.mapped(self._shuffled(one), one.then, schema) for one in shuffles]
        return frames.collected(frames.union(work))

    def _mapped(self, stage: Stage) -> DataFrame:
        return frames.mapped(frames.in_tasks(self.spark, stage.tasks), stage.work, stage.schema)

    def _shuffled(self, shuffle: Shuffle) -> DataFrame:
        found = self._mapped(shuffle.gather)
        if shuffle.more.height:
            found = frames.union([found, frames.made(self.spark, shuffle.more, shuffle.gather.schema)])
        match shuffle:
            case Buckets(count=count):
                return frames.in_buckets(found, "bucket", count)
            case Ordered(keys=keys, order=order, tasks=tasks):
                return frames.in_order(found, keys, order, tasks)

    def check(self, table_format: str, probe: Path) -> None:
        """See ``Executor``."""
        found = contained(lambda: self.spark.range(1).write.format(table_format).save(str(probe)))
        if isinstance(found, Defect):  # a class for each way to reach Spark, not all public
            lines = found.trace.strip().splitlines()
            said = next((line.partition("Exception: ")[2] for line in lines if "Exception: " in line), found.error)
            raise UnusableOutput(
                f"--table-format {table_format}: this session cannot write it ({said}); start it with the format's "
                "package (--conf spark.jars.packages=...), or write parquet"
            )

    def convert(self, table_format: str, name: str, source: Path, target: Path) -> None:
        """See ``Executor``."""
        rows = self.spark.read.schema(written_schema(name)).parquet(frames.as_path(source))
        rows.write.format(table_format).partitionBy(*folders(name)).save(str(target))
