"""DataFrames of the Spark engine, by the DataFrame API alone: the same on a laptop, a cluster and Spark Connect."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from forensics.engines.stages.rows import Schema, arrow_schema, completed, ddl, narrowed
from forensics.engines.stages.table import PARQUET, Rows, Table
from forensics.errors import TaskFailed
from parsers import plugins

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
    "refusals",
    "stored",
    "union",
    "write",
    "written_types",
]

_REFUSED: Final = re.compile(
    r"^ *(?:Caused by: )?[\w.]*(?:Error|Exception|OtherPlugins): "
    r"(.*(?:\[Errno |this worker has |os error |No space left|denied|quota).*)$",
    re.MULTILINE,
)

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


@dataclass(frozen=True, slots=True)
class _Whole:
    """Work whose rows have all columns of a schema.

    Attributes:
        work: may leave columns out.
        schema: in plain types.
        plugins: those of the driver.
    """

    work: Work
    schema: Schema
    plugins: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows that the work gives.

        Raises:
            OtherPlugins: this worker has other plugins than the driver.
        """
        plugins.require(self.plugins)
        for batch in self.work(incoming):
            yield completed(batch, self.schema)


def mapped(frame: DataFrame, work: Work, schema: Schema) -> DataFrame:
    """Apply the work to each partition."""
    return frame.mapInArrow(_Whole(work, schema, plugins.said()), ddl(schema))


def written_types(table: Table) -> str:
    """Return the columns of a table as Spark reads them from its files."""
    types = dict.fromkeys(table.times, "timestamp") | dict.fromkeys(table.dates, "date")
    columns = [f"`{name}` {types[name]}" if name in types else ddl({name: of}) for name, of in table.schema.items()]
    return ", ".join(columns)


def stored(spark: SparkSession, rows: Rows) -> DataFrame:
    """Return stored rows in plain types."""
    from pyspark.sql import functions as F

    places = [as_path(place) for place in rows.folders()]
    if not places:
        return spark.createDataFrame([], ddl(rows.schema))
    table = rows.tables[0]
    found = spark.read.format(table.format).schema(written_types(table)).load(places)
    if rows.where is not None:
        found = found.filter(F.col(rows.where[0]).isin(sorted(rows.where[1])))
    wanted = [F.unix_micros(name).alias(name) if name in table.times else F.col(name) for name in rows.columns]
    return found.select(*wanted)


def write(frame: DataFrame, into: Table) -> int:
    """Write plain rows as a table, by Spark's own writer; return how many there are.

    Raises:
        TaskFailed: the system refused what a task asked of it.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    counted = Observation(f"rows of {into.folder.name}")
    times = {name: F.timestamp_micros(name) for name in into.times}
    dates = {name: F.date_from_unix_date(name) for name in into.dates}
    typed = frame.withColumns(times | dates) if times or dates else frame
    rows = typed.observe(counted, F.count(F.lit(1)).alias("rows"))
    with refusals(), _times_in_microseconds(frame.sparkSession):
        writer = rows.write.mode("overwrite").format(into.format).option("partitionOverwriteMode", "static")
        if into.format == PARQUET:
            writer = writer.option("compression", "zstd")
        writer.partitionBy(*into.by).save(f"file://{into.folder}")
    return int(counted.get["rows"])


@contextlib.contextmanager
def _times_in_microseconds(spark: SparkSession) -> Iterator[None]:
    """Within the block, times of any year are written; of INT96, Spark's default, others read only 1677 to 2262."""
    name = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(name)
    spark.conf.set(name, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of frames that have the same columns."""
    return reduce(lambda one, other: one.union(other), frames)


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
    return "file://" + re.sub(r"([][{}*?\\])", r"\\\1", str(path))


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Within the block, state what the system refused a task in one sentence.

    Raises:
        TaskFailed: the system refused what a task asked of it, as room on a disk.
    """
    try:
        yield
    except _errors() as error:
        said = _REFUSED.findall(str(error))
        if not said:
            raise
        raise TaskFailed(
            f"a task on a worker failed: {said[-1]}; mend that and run the batch again: what was read stays"
        ) from error


def _errors() -> tuple[type[Exception], ...]:
    """Return the exceptions of PySpark; without a server those of Java are raised as they are (Py4J)."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    except ImportError:  # a client of Spark Connect has none
        return (PySparkException,)
    return PySparkException, Py4JError


def collected(frame: DataFrame) -> pl.DataFrame:
    """A small DataFrame as a Polars frame.

    Raises:
        TaskFailed: the system refused what a task asked of it, as room on a disk.
    """
    with refusals():
        found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found
