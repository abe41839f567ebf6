"""DataFrames of the Spark engine, by the DataFrame API alone: the same on a laptop, a cluster and Spark Connect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from forensics.engines.stages.rows import Schema, arrow_schema, ddl, narrowed
from forensics.errors import TaskFailed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "DataFrame",
    "SparkSession",
    "Work",
    "as_path",
    "collected",
    "in_buckets",
    "in_order",
    "in_tasks",
    "made",
    "mapped",
    "summed",
    "union",
]

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
    """Apply the work to each partition."""
    return frame.mapInArrow(work, ddl(schema))


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of frames that have the same columns."""
    return reduce(lambda one, other: one.union(other), frames)


def summed(frame: DataFrame, keys: Sequence[str], **columns: str) -> DataFrame:
    """One row for each value of the keys.

    Args:
        frame: rows.
        keys: columns; null is a value like any other.
        columns: what becomes of each other column: ``sum``, ``bit_xor``, ``min``, ``max``.
    """
    from pyspark.sql import functions as F

    return frame.groupBy(*keys).agg(*(getattr(F, how)(name).alias(name) for name, how in columns.items()))


def in_order(frame: DataFrame, keys: Sequence[str], order: Sequence[str], tasks: int) -> DataFrame:
    """Rows of the same keys in one partition, one after another and in order, what is null last."""
    from pyspark.sql import functions as F

    # One number first: to put numbers in order is much cheaper than names.
    columns = [F.xxhash64(*keys), *[F.col(name).asc_nulls_last() for name in order]]
    return frame.repartition(tasks, *keys).sortWithinPartitions(*columns)


def in_buckets(frame: DataFrame, bucket: str, count: int) -> DataFrame:
    """Rows of the same bucket in one partition, one after another.

    Args:
        frame: rows.
        bucket: column with a number below ``count``.
        count: how many there are.
    """
    from pyspark.sql import functions as F

    # Spark 4.1 has a way to give each bucket a task of its own; before it, some get two.
    by_id = getattr(frame, "repartitionById", None)
    apart = by_id(count, F.col(bucket)) if by_id is not None else frame.repartition(count, bucket)
    return apart.sortWithinPartitions(bucket)


def as_path(path: Path) -> str:
    """A path as Spark reads it: what looks like a pattern in it is none."""
    return re.sub(r"([][{}*?\\])", r"\\\1", str(path))


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
