"""DataFrames of the Spark engine, by the DataFrame API alone: the same on a laptop, a cluster and Spark Connect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from forensics.engines.spark.rows import Schema, arrow_schema, ddl, narrowed
from forensics.errors import TaskFailed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["DataFrame", "SparkSession", "Work", "collected", "in_tasks", "made", "mapped"]

_REFUSED: Final = re.compile(r"^ *[\w.]*(?:Error|Exception): (.*(?:\[Errno |os error ).*)$", re.MULTILINE)

Work = Callable[[Iterable[Any]], Iterator[Any]]
"""Arrow batches in, Arrow batches out."""


def in_tasks(spark: SparkSession, tasks: Sequence[Sequence[str]]) -> DataFrame:
    """One column ``piece``, each task's pieces in a partition of their own."""
    from pyspark.sql import functions as F

    rows = pl.DataFrame(
        {
            "task": [number for number, pieces in enumerate(tasks) for _ in pieces],
            "piece": [piece for pieces in tasks for piece in pieces],
        },
        schema={"task": pl.Int64(), "piece": pl.String()},
    )
    count = max(len(tasks), 1)
    numbers = spark.range(0, count, 1, count).withColumnRenamed("id", "task")
    return numbers.join(F.broadcast(made(spark, rows, {"task": pl.Int64(), "piece": pl.String()})), "task").select(
        "piece"
    )


def made(spark: SparkSession, rows: pl.DataFrame, schema: Schema) -> DataFrame:
    """A small Polars frame as a DataFrame of a plain schema."""
    if rows.is_empty():
        return spark.createDataFrame([], ddl(schema))
    return spark.createDataFrame(
        narrowed(rows, schema).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(arrow_schema(schema))
    )


def mapped(frame: DataFrame, work: Work, schema: Schema) -> DataFrame:
    """What the work makes of each partition."""
    return frame.mapInArrow(work, ddl(schema))


def collected(frame: DataFrame) -> pl.DataFrame:
    """A small DataFrame as a Polars frame.

    Raises:
        TaskFailed: the system refused what a task asked of it, as room on a disk.
    """
    from pyspark.errors import PySparkException

    try:
        found = pl.from_arrow(frame.toArrow())
    except PySparkException as error:
        said = _REFUSED.findall(str(error))
        if not said:
            raise
        raise TaskFailed(
            f"a task on a worker failed: {said[-1]}; mend that and run the batch again: what was read stays"
        ) from error
    assert isinstance(found, pl.DataFrame)
    return found
