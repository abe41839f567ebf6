"""Rules of plugins, as this program asks them: where the code of one fails, its answer is unknown and names it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from forensics.case import Case
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.rules.finding import Help, Judgement, Rule, Severity, Verdict
from parsers.containment import guarded
from parsers.plugins import Unfit, fitting, returned


def admitted(entry: object, plugin: str) -> Rule:
    """Return the rule as it is used.

    Raises:
        Unfit: it is no ``Rule``, or has no id, no severity or no explanation.
    """
    rule = fitting(entry, Rule, lambda one: one.id)
    if type(rule.severity) is not Severity or type(rule.help) is not Help or not rule.summary:
        raise Unfit(f"{rule.id} needs a Severity, a summary and a Help")

    def judge(history: History, case: Case) -> Judgement:
        found = returned(rule.judge(history, case), Judgement, f"the rule {rule.id}")
        if {found.rule, *(one.rule for one in found.findings)} != {rule.id}:
            raise ValueError(f"the rule {rule.id} returned an answer of another rule")
        returned(found.verdict, Verdict, f"as its verdict the rule {rule.id}")
        for one in found.findings:
            returned(one.severity, Severity, f"as a severity the rule {rule.id}")
        return found

    return replace(rule, judge=guarded(judge, plugin))


@dataclass(frozen=True, slots=True)
class Line:
    """A row that a message or a format gave for a partition.

    Attributes:
        broker: whose it is, or None.
        time: microseconds since 1970 UTC, or None.
        message: id of the message, or name of the format as the row states it.
        offset: as the row states it, or None.
        detail: likewise.
        ref: reference to it, for a ``Fact``.
    """

    broker: int | None
    time: int | None
    message: str
    offset: int | None
    detail: str | None
    ref: Ref


def lines_of(history: History, case: Case, *messages: str) -> list[Line]:
    """Return the rows that some messages or formats gave for a partition, in their order.

    For all partitions of a case the rows are looked for once. A row names no incarnation of a topic that was deleted
    and created again, so an earlier incarnation has none.
    """
    kept = case.__dict__.setdefault("_lines_of_plugins", {})
    if messages not in kept:
        kept[messages] = _by_partition(case, messages)
    found: dict[tuple[str, int], list[Line]] = kept[messages]
    return list(found.get((history.topic, history.partition), ())) if history.incarnation == 0 else []


def _by_partition(case: Case, messages: tuple[str, ...]) -> dict[tuple[str, int], list[Line]]:
    rows = case.observations.filter(
        pl.col("message").is_in(messages) & pl.col("topic").is_not_null() & pl.col("partition").is_not_null()
    ).select("topic", "partition", "broker", pl.col("time").cast(pl.Int64), "message", "offset", "detail", "row")
    found: dict[tuple[str, int], list[Line]] = {}
    for topic, partition, broker, time, message, offset, detail, row in rows.iter_rows():
        line = Line(broker, time, message, offset, detail, Ref(row=row))
        found.setdefault((topic, partition), []).append(line)
    return found
