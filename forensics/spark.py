"""Kafka forensics for Spark users: functions that take and return DataFrames.

    from forensics import spark as forensics

    forensics.read(spark, "evidence/", table="checkpoints").filter("topic = 'orders'").show()
    forensics.from_lines(spark.table("ops.kafka_logs"), path="file", line="nr", text="value")
    forensics.judge(spark.table("ops.observations").filter("topic = 'orders'")).findings.show()
    result = forensics.batch(spark, ["archive/"], "judged/")
    forensics.table(spark, "judged/", "findings").groupBy("rule").count().show()
    forensics.views(spark, "judged/")
    spark.sql("SELECT * FROM kafka_truncation_below_committed WHERE verdict = 'violated'").show()

PySpark is imported when a function is called. All of them work with an existing session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forensics.engines.pipeline.job import Options
    from forensics.engines.spark.frames import DataFrame, SparkSession
    from forensics.engines.spark.judging import Judged
    from forensics.result import Result


def read(
    spark: SparkSession,
    path: str,
    *,
    table: str = "observations",
    topics: Sequence[str] = (),
    partitions: Sequence[int] = (),
    kinds: Sequence[str] = (),
    brokers: Sequence[int] = (),
    since: str = "",
    until: str = "",
    columns: Sequence[str] = (),
    tz: str | None = None,
) -> DataFrame:
    """Read the files below a path as a table: ``observations``, ``batches``, ``checkpoints`` or ``notices``.

    Args:
        spark: a session.
        path: a file, directory or archive that all workers can open.
        table: name of the table.
        topics: patterns; rows of other topics are left out.
        partitions, kinds, brokers: rows of others are left out; a kind is a value of the column of this name, a broker
            one of the column ``witness``.
        since, until: times in ISO 8601, UTC where they name no zone; rows before and after are left out, and those
            without a time.
        columns: only these; all without it. What is left out is read by Python, and never passes through the JVM.
        tz: zone of printed times that name none. Default: inferred from a collector's times in the same file, else UTC.
            The table ``notices`` shows where they are rejected. A scan also uses a broker's other files.

    Raises:
        UnreadableInput: there is no such table, or no such zone.
    """
    from forensics.engines.spark.datasource import NAME, KafkaForensics, check
    from forensics.engines.spark.session import slots
    from parsers.files.remote import is_remote

    check(table, tz)
    spark.dataSource.register(KafkaForensics)
    # Two tasks for each that can run at the same time: one may take longer than others.
    options = {
        "table": table,
        "topics": ",".join(topics),
        "partitions": ",".join(map(str, partitions)),
        "kinds": ",".join(kinds),
        "brokers": ",".join(map(str, brokers)),
        "since": since,
        "until": until,
        "columns": ",".join(columns),
        "tz": tz or "",
        "tasks": str(2 * slots(spark)),
    }
    # The process of Spark that lists the files is in a directory of its own.
    return spark.read.format(NAME).options(**options).load(path if is_remote(path) else str(Path(path).absolute()))


def from_lines(
    lines: DataFrame, *, path: str = "path", line: str = "line", text: str = "text", tz: str = "UTC"
) -> DataFrame:
    """Return observations from lines of logs that are in a table already.

    Args:
        lines: one row per physical line. Lines in one partition of the DataFrame are read together: keep the lines of a
            file together if settings of brokers matter.
        path, line, text: names of the columns with the file's name, the line's number and its text.
        tz: zone of printed times that name none. Collector times show no zone here, because no task sees a whole file.

    Returns:
        Columns of the table ``observations``.
    """
    from forensics.engines.spark.lines import observations

    return observations(
        lines.selectExpr(f"`{path}` AS path", f"CAST(`{line}` AS bigint) AS line", f"`{text}` AS text"), tz
    )


def judge(observations: DataFrame, *, whole: bool = False) -> Judged:
    """Replay and judge observations: rows of ``read``, ``from_lines`` or a table of a batch, also filtered or joined.

    All rows of a partition of a topic reach one task, with those about whole brokers, which go through the driver.
    Record batches are no rows of observations, so what only segments show is unknown: ``batch`` judges an archive with
    them.

    Args:
        observations: columns of the table ``observations``. Needed are ``topic``, ``partition``, ``kind``, ``line``
            (the order within a file), and ``path`` or ``source``.
        whole: each file of which there is a row is complete. Else rows may be missing: no absent line is proof, and
            what would need it is unknown.

    Returns:
        DataFrames ``findings``, ``verdicts`` and ``timeline``, each computed when it is used.

    Raises:
        UnreadableInput: a column is missing that is needed.
    """
    from forensics.engines.spark.judging import judge as judged

    return judged(observations, whole=whole)


def batch(
    spark: SparkSession,
    paths: Sequence[str],
    folder: str,
    options: Options | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Result:
    """Judge an archive as ``forensics batch`` does; see ``forensics.engines.pipeline.batch.batch``."""
    from forensics.engines.pipeline import batch as engine
    from forensics.engines.spark.executor import SparkExecutor

    return engine.batch(SparkExecutor(spark), paths, folder, options, say)


def table(spark: SparkSession, folder: str, name: str, *, cluster: str | None = None) -> DataFrame:
    """Return a table that a batch wrote: observations, batches, notices, sources, findings or verdicts.

    Args:
        spark: a session.
        folder: of the batch.
        name: of the table.
        cluster: only rows of this cluster; of the three large tables only its folders are read. Their names are the
            column ``in_cluster``, those of days the column ``date``.

    Raises:
        UnreadableInput: there is no such folder, or no such table.
        UnusableOutput: no batch was completed there.
    """
    from forensics.engines.spark.written import table as written

    return written(spark, folder, name, cluster)


def views(spark: SparkSession, folder: str) -> tuple[str, ...]:
    """Make views for SQL over what a batch wrote, and return their names.

    ``kafka_hw_above_log_end``, ``kafka_truncation_below_committed`` and ``kafka_epoch_mismatch`` have one row for each
    partition, rule and range of offsets: the verdict (``violated``, ``clean``, ``unknown``, ``not-applicable``), of a
    finding its replicas, ``first_offset`` and ``end_offset`` (half-open), and what is missing for an answer.
    ``kafka_replica_states`` is there if the batch wrote timelines. Its ``high_watermark`` is null where only a bound is
    known. The log end offset is not below ``log_end_low``, nor above ``log_end_high``, which is null if it is unknown.

    Args:
        spark: a session.
        folder: of the batch.

    Raises:
        UnreadableInput: there is no such folder.
        UnusableOutput: no batch was completed there.
    """
    from forensics.engines.spark.views import views as made

    return made(spark, folder)
