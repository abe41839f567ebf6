"""Views for SQL over the tables of a batch: states of replicas with their bounds, and the verdicts of three checks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forensics.engines.pipeline.output import Output
from forensics.engines.spark.written import table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STATES: Final = "kafka_replica_states"
"""View of the table of timelines, where a batch wrote it."""

_PARTITION: Final = ("cluster", "topic", "partition", "incarnation")


@dataclass(frozen=True, slots=True)
class Check:
    """A question, and the rules that answer it.

    Attributes:
        view: its name in SQL.
        rules: each answers it in one respect.
    """

    view: str
    rules: tuple[str, ...]


CHECKS: Final = (
    Check("kafka_hw_above_log_end", ("hw-above-leo",)),
    Check("kafka_truncation_below_committed", ("truncation-below-committed",)),
    Check("kafka_epoch_mismatch", ("epoch-divergence", "replica-divergence")),
)


def views(spark: SparkSession, folder: str) -> tuple[str, ...]:
    """See ``forensics.spark.views``."""
    made = {one.view: _of_check(spark, folder, one) for one in CHECKS}
    if Output(Path(folder).absolute()).open().get("timelines"):
        made[STATES] = _states(table(spark, folder, "timeline", None))
    for name, rows in made.items():
        rows.createOrReplaceTempView(name)
    return tuple(made)


def _of_check(spark: SparkSession, folder: str, check: Check) -> DataFrame:
    """Return one row for each partition, rule and range of offsets; without a range where there is no finding."""
    from pyspark.sql import functions as F

    asked = table(spark, folder, "verdicts", None).filter(F.col("rule").isin(*check.rules))
    verdicts = asked.select(*_PARTITION, "rule", "verdict", "missing", F.explode_outer("findings").alias("fingerprint"))
    findings = table(spark, folder, "findings", None).select(
        *_PARTITION,
        "fingerprint",
        "severity",
        "confidence",
        "replicas",
        F.explode_outer("offsets").alias("range"),
        F.col("from").alias("found_from"),
        F.col("to").alias("found_to"),
        "cause",
        "summary",
    )
    same = [verdicts[name].eqNullSafe(findings[name]) for name in (*_PARTITION, "fingerprint")]
    joined = verdicts.join(findings, same, "left")
    return joined.select(
        *(verdicts[name] for name in (*_PARTITION, "rule", "verdict")),
        "severity",
        "confidence",
        "replicas",
        F.col("range.first").alias("first_offset"),
        F.col("range.end").alias("end_offset"),
        "found_from",
        "found_to",
        "cause",
        "summary",
        "missing",
    )


def _states(timeline: DataFrame) -> DataFrame:
    """Return states whose columns say what is known: a value only where it is exact, and bounds."""
    from pyspark.sql import functions as F

    exact = F.when(F.col("log_end_exact"), F.col("log_end_offset"))
    return timeline.select(
        *_PARTITION,
        "replica",
        "from",
        "to",
        "role",
        "leader",
        "leader_epoch",
        F.when(F.col("high_watermark_exact"), F.col("high_watermark")).alias("high_watermark"),
        F.col("log_end_offset").alias("log_end_low"),
        exact.alias("log_end_high"),
        "log_start_offset",
        "isr",
        "confidence",
    )
