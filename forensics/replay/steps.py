"""What happened to one replica's log, step by step, and the values read on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.replay.history import Cut, Ref, Shrunk


@dataclass(slots=True)
class Sample:
    """A value and the evidence for it; ``how`` is set where that is not a line that prints it."""

    value: int
    ref: Ref
    time: int | None
    how: str = ""


@dataclass(slots=True)
class Step:
    """Something that happened to the log within a tenure, in order.

    Attributes:
        what: "cut", "full" (all removed, log starts anew at ``target``), "loaded", "deleted", "created", "gap"
            (lines are missing: what became of the log is not known).
        target: log end offset afterwards.
        end: log end offset before, where it is exactly known; ``end_low`` otherwise.
        repeats: how often the same was told again, with nothing in between that moved the replica.
        last: when, and by which line, the last time; None where it was told once.
    """

    what: str
    target: int
    end: int | None
    end_low: int
    reason: str
    time: int | None
    refs: tuple[Ref, ...]
    repeats: int = 0
    last: tuple[int | None, Ref] | None = None


@dataclass(slots=True)
class Pending:
    """A log that was shortened, kept until every committed bound is known: they bound its end from below."""

    cut: Cut | None
    shrunk: Shrunk | None
    own_low: int


def came_back(step: Step) -> str:
    """How a shorter log came about: to 2.5 a new, empty log is told as a load too."""
    if step.what == "loaded":
        return step.reason or ("loaded" if step.target else "created")
    return step.what


def told_before(steps: Sequence[Step], target: int, reason: str, now: tuple[int | None, Ref]) -> bool:
    """Whether a truncation after missing lines is the one before over again, which stood between missing lines too.

    A loop of such truncations says nothing new, however often it is told: the step before then counts one more.
    """
    if [step.what for step in steps[-3:]] != ["gap", "cut", "gap"]:
        return False
    before = steps[-2]
    if (before.target, before.reason, before.end) != (target, reason, None):
        return False
    before.repeats += 1
    before.last = now
    return True
