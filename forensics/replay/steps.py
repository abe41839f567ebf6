"""The spans in which a replica served one leader epoch, and what happened to its log in them, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.replay.directory import Ref
from forensics.replay.history import Confidence, Cut, Role, Shrunk
from forensics.replay.lineage import Lineage


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
        reason: of a cut, what it truncates to; of an empty log, "failed" where the directory of the one before had, and
            nothing where no line tells that there was one before.
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
class Tenure:
    """A replica in one leader epoch, within one run of its broker.

    Attributes:
        replica: broker id.
        epoch: leader epoch; -1 for what precedes the first role in the evidence.
        run: run of the broker, counted from its first start in the evidence.
        role: what it was.
        leader: broker it followed, itself, or None where nothing says.
        time, last_time: first and last line of the tenure, microseconds since 1970 UTC.
        refs: lines that began it.
        start_end: log end offset when it began, before any reconciliation; None where it is not exactly known.
        start_low: the least it can have been.
        start_high: the most it can have been, as the log end offsets say that it counted as leader.
        start_hw: high watermark it began with, which was reached earlier.
        steps: truncations, loads and the like, in order.
        entries: epochs it saw begin in its own log: (leader epoch, first offset, evidence).
        fetched: something tells that it followed its leader far enough to fetch.
        end_low: greatest log end offset it is known to have reached.
        hw: greatest high watermark reached in the tenure.
        isr: every ISR it stated as leader, in order.
        standing: the ISR that may stand still, where it proposed the last one and no line says that it was committed.
        alone: log end offset it had as leader once the ISR was known to be itself alone.
        held_back: it said that its high watermark did not advance though it was alone and had more: who fetches within
            the lag holds it back, in the ISR or not.
        shut_down: when its process last said that it was shutting down, microseconds since 1970 UTC.
        is_alone: at its end the ISR was still itself alone; what it merely proposed does not count.
        log_before: its log as the tenure found it, filled by the fold.
        log: its log once reconciled with the leader of the epoch, filled by the fold.
    """

    replica: int
    epoch: int
    run: int
    role: Role
    leader: int | None = None
    time: int | None = None
    last_time: int | None = None
    refs: list[Ref] = field(default_factory=list)
    start_end: int | None = None
    start_ref: Ref | None = None
    start_low: int = 0
    start_high: Sample | None = None
    start_hw: Sample | None = None
    steps: list[Step] = field(default_factory=list)
    entries: list[tuple[int, int, Ref]] = field(default_factory=list)
    fetched: bool = False
    end_low: int = 0
    hw: Sample | None = None
    isr: list[tuple[frozenset[int], Ref]] = field(default_factory=list)
    standing: frozenset[int] | None = None
    alone: Sample | None = None
    is_alone: bool = False
    held_back: bool = False
    shut_down: int | None = None
    log_before: Lineage = field(default_factory=Lineage)
    log: Lineage = field(default_factory=Lineage)

    @property
    def given_up(self) -> bool:
        """Whether it ended with the replica deleted. A controller that takes a replica away elects a leader with it
        still in the ISR, and tells only those that stay (KafkaController.onPartitionReassignment, StopReplica).
        """
        return bool(self.steps) and self.steps[-1].what == "deleted"


@dataclass(slots=True)
class Pending:
    """A log that was shortened, kept until every committed bound is known: they bound its end from below.

    Attributes:
        row: the replica's first line of what came after.
    """

    cut: Cut | None
    shrunk: Shrunk | None
    row: int | None


def came_back(step: Step, replica: int, epoch: int, log: Lineage) -> Shrunk:
    """A log that may have come back shorter, and how: to 2.5 a new, empty log is told as a load too.

    Args:
        step: a load, a recovery or a new log.
        replica: broker id.
        epoch: leader epoch in which the log was there before.
        log: the log before.
    """
    if step.what == "loaded":
        cause = step.reason or ("loaded" if step.target else "created")
    else:
        cause = "failed" if step.reason == "failed" else step.what
    return Shrunk(
        replica=replica,
        epoch=epoch,
        end=step.end if step.end is not None else step.end_low,
        target=step.target,
        lineage=log,
        time=step.time,
        refs=step.refs,
        confidence=Confidence.PROVEN,
        cause=cause,
        end_exact=step.end is not None,
    )


def replaced(step: Step) -> bool:
    """Whether a load found another log than the one that was there: a clean stop had flushed that one whole."""
    before = step.end if step.end is not None else step.end_low
    return step.what == "loaded" and not step.reason and 0 < step.target < before


def made_first(tenure: Tenure) -> Step | None:
    """A new log that a role began with: it is in the place of what the role before left."""
    first = tenure.steps[0] if tenure.steps else None
    return first if first is not None and first.what == "created" and first.target == tenure.start_end else None


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
