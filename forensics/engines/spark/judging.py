"""Judging of any DataFrame of observations: what was read with ``forensics.spark.read``, or kept in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from forensics.case.frames import check
from forensics.engines.spark.frames import collected, mapped
from forensics.engines.stages.judging_rows import TABLES, JudgeRows
from forensics.engines.stages.packing import packed

if TYPE_CHECKING:
    from forensics.engines.spark.frames import DataFrame


class Judged(NamedTuple):
    """The answers, each computed when it is used.

    Attributes:
        findings: one row for each finding.
        verdicts: one row for each rule and partition.
        timeline: the states of each replica, from one change to the next.
    """

    findings: DataFrame
    verdicts: DataFrame
    timeline: DataFrame


def judge(observations: DataFrame, *, whole: bool) -> Judged:
    """See ``forensics.spark.judge``."""
    from pyspark.sql import functions as F

    check(observations.columns)
    # Each task needs the lines about whole brokers: when a process began, its release, its settings.
    shared = packed(collected(observations.filter(F.col("topic").isNull())))
    rows = observations.filter(F.col("topic").isNotNull()).repartition("topic", "partition")

    def answers(name: str) -> DataFrame:
        return mapped(rows, JudgeRows(name, shared, whole), TABLES[name][0])

    return Judged(answers("findings"), answers("verdicts"), answers("timeline"))
