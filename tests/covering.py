"""Coverage as tests need it: brokers whose lines are all there, and brokers of whose lines some are missing."""

from __future__ import annotations

from dataclasses import replace

from forensics.replay.coverage import BOTH, Coverage, Omission, Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History

LINES_MISSING = Omission("test", Span.WITHIN, "lines are missing", "a test")


def whole(*brokers: int, unnamed: tuple[int, ...] = ()) -> Coverage:
    """Every line of these brokers is in the evidence; no line names the unnamed leader epochs."""
    return Coverage(dict.fromkeys(brokers, BOTH), unnamed=frozenset(unnamed))


def without(coverage: Coverage, broker: int, what: Printed) -> Coverage:
    """The same without what a broker printed of one thing."""
    printed = {b: printed - {what} if b == broker else printed for b, printed in coverage.printed.items()}
    return replace(coverage, printed=printed)


def holed(coverage: Coverage, *brokers: int, placed: bool = False) -> Coverage:
    """The same with lines missing within those of some brokers: at a place that the coverage has too, or at any."""
    return coverage.lowered(replace(LINES_MISSING.of(broker, ref=Ref(row=1)), placed=placed) for broker in brokers)


def missing_within(history: History) -> set[int]:
    """Replicas of which lines are missing between their first and their last one."""
    return {*history.coverage.shown_missing(Span.WITHIN)}
