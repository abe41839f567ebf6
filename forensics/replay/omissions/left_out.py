"""Lines about a partition that are left out, because several brokers logged to one file and no line names its
broker.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.case.partial import without_broker
from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.facts.directory import Ref

LINES_LEFT_OUT = Omission(
    "lines-left-out",
    Span.WITHIN,
    "several brokers wrote to one log file, and {count} lines there about this partition name no broker",
    "most lines of the log layer name no broker (LogContext of Log, LogManager; log4j.properties)",
)

_NOTE = "does not say which broker printed it"

OMISSIONS = (LINES_LEFT_OUT,)
"""Evidence in a log of several brokers of lines that cannot be assigned to one of them."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Statements about a partition that cannot be assigned to a broker.

    Attributes:
        count: their number.
        first: the first of them.
        brokers: brokers that are named in the same logs, in lines about this partition.
    """

    count: int
    first: Ref
    brokers: frozenset[int]


def left_out(case: Case) -> dict[tuple[str, int], LeftOut]:
    """Return the statements that are left out, by topic and partition."""
    nobodys = without_broker(case)
    if nobodys.is_empty():
        return {}
    place = ["topic", "partition"]
    shared = nobodys.select(*place, "source").unique()
    named = case.observations.filter(pl.col("broker").is_not_null()).join(shared, on=[*place, "source"], how="semi")
    speaking: dict[tuple[str, int], set[int]] = {}
    for topic, partition, broker in named.select(*place, "broker").unique().iter_rows():
        speaking.setdefault((topic, partition), set()).add(broker)
    counted = nobodys.group_by(place).agg(pl.len(), pl.col("row").min()).sort(place)
    return {
        (topic, partition): LeftOut(count, Ref(row=row, note=_NOTE), frozenset(speaking.get((topic, partition), ())))
        for topic, partition, count, row in counted.iter_rows()
    }


def may_be_theirs(found: LeftOut | None, replicas: Set[int]) -> Iterator[MissingLines]:
    """Yield missing lines of replicas to which some of these statements may belong."""
    if found is not None:
        for broker in sorted(found.brokers & replicas):
            yield LINES_LEFT_OUT.of(broker, {"count": found.count}, ref=found.first)
