"""Role spans of a replica, one leader epoch each, and what happened to its log in them, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from forensics.replay.facts.directory import Ref
from forensics.replay.history import (
    EpochAnswer,
    HwSource,
    OwnHw,
    Role,
    ShortenedBy,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.inferences import Inferred
from forensics.replay.interval import Interval
from forensics.replay.lineage import Lineage


class StepKind(StrEnum):
    """Kind of change to the log of a replica."""

    TRUNCATED = "truncated"
    TRUNCATED_FULLY = "truncated fully"  # all removed, the log restarts at the target (Log.truncateFullyAndStartAt)
    RECOVERY_TRUNCATED = "recovery truncated"  # log recovery removed what it found to be corrupt
    LOADED = "loaded"  # by a new process of the broker
    CREATED = "created"  # a new, empty log
    DELETED = "deleted"  # the replica was deleted


REMOVES = frozenset(StepKind) - {StepKind.LOADED}
"""Steps that may take records away while the broker runs."""


class LogBefore(StrEnum):
    """State of the log before a load or a new log."""

    UNCLEAN_STOP = "unclean stop"  # its process had not stopped cleanly: what was not flushed may be gone
    DIR_FAILED = "log directory failed"
    REPLACED = "replaced"  # lines show a log that the new one replaced


@dataclass(slots=True)
class Sample:
    """A value and the evidence for it.

    Attributes:
        value: the value.
        ref: a line of the replica. Its place orders the value among the lines of the replica.
        time: microseconds since 1970 UTC, or None.
        how: of a high watermark that no line prints, its source.
        by: inferences by which the replica had it, if no line of the replica states it.
        besides: what shows it then.
    """

    value: int
    ref: Ref
    time: int | None
    how: HwSource | None = None
    by: tuple[Inferred, ...] = ()
    besides: tuple[Ref, ...] = ()


@dataclass(slots=True)
class Step:
    """One change of the log within a role span, in order.

    Attributes:
        kind: what happened.
        target: log end offset after it.
        end: log end offset before, if exactly known; ``end_low`` otherwise.
        reason: of a truncation, the offset that it truncates to; None for other steps.
        time: microseconds since 1970 UTC, or None.
        refs: evidence.
        before: of a load and of a new log, how the log before had been left. None of a load if no line shows an unclean
            stop: that proves a clean stop only if the coverage of its broker's log lines allows it. None of a new log
            if no line says that there was one before.
        repeats: how often the same was logged again, with nothing in between that moved the replica.
        last: when, and by which line, the last time; None if it was logged once.
        dir_failed: of a load that found less than the log had: its log directory had failed before.
        dir_empty: of a new log, the line that its log directory held no log as its process started, or None.
        stop_unseen: of a load, no line shows that the process before stopped: it may have been killed.
        dir_older: of a load, lines that show that the directory is older than the process before had left it.
        own_hw: of a truncation, a high watermark above its target that the replica had stated before.
        answer: of a truncation, the answer of the leader that made the replica truncate, if a line states it.
        end_ref: what states the log end offset before, or the least that it can have been.
        noted: of a truncation, the leader epochs that it removed from the epoch file, with their start offsets.
        put_back: of a load, the directory is not as the process before left it: that one stopped cleanly.
        append_failed: of what log recovery removed, the line that an append to the log had failed, or None.
    """

    kind: StepKind
    target: int
    end: int | None
    end_low: int
    reason: TruncationReason | None
    time: int | None
    refs: tuple[Ref, ...]
    before: LogBefore | None = None
    repeats: int = 0
    last: tuple[int | None, Ref] | None = None
    dir_failed: bool = False
    dir_empty: Ref | None = None
    stop_unseen: bool = False
    dir_older: tuple[Ref, ...] = ()
    own_hw: OwnHw | None = None
    answer: EpochAnswer | None = None
    end_ref: Ref | None = None
    noted: tuple[tuple[int, int], ...] = ()
    put_back: bool = False
    append_failed: Ref | None = None

    @property
    def least_end(self) -> int:
        """Log end offset before, or the least that it can have been by what its log was seen to hold."""
        return self.end if self.end is not None else self.end_low

    @property
    def known_end(self) -> int:
        """The same, by the high watermarks that it had stated too."""
        return max(self.least_end, self.own_hw.end) if self.own_hw is not None else self.least_end

    @property
    def found_all(self) -> bool:
        """Return whether a load found all that the log had."""
        return self.kind is StepKind.LOADED and not self.may_lack_end and self.target >= self.end_low

    @property
    def may_lack_end(self) -> bool:
        """Return whether a load may have found less than the log had, as after an unclean stop or of an older copy."""
        return self.before is LogBefore.UNCLEAN_STOP or self.stop_unseen or bool(self.dir_older)

    @property
    def older_with_unknown_end(self) -> bool:
        """Return whether a load was of a directory older than its broker had left it, and nothing shows what is gone.

        What its lines show that the log had is reported as a log that became shorter. If the process before had a new,
        empty log, this one is the log of before that, and of the records in the new one nothing is known.
        """
        return bool(self.dir_older) and (self.target == self.known_end or 0 < self.known_end < self.target)

    @property
    def recovered_from_unknown_end(self) -> bool:
        """Return whether log recovery truncated a log whose end before is unknown: it had grown since the last line.

        After an append that failed, part of its batch may be left at the end of the log. It was not acknowledged, and
        no other follows: the log directory goes offline (UnifiedLog.maybeHandleIOException).
        """
        unknown = self.end is None or self.end < self.target
        return self.kind is StepKind.RECOVERY_TRUNCATED and unknown and self.append_failed is None


@dataclass(slots=True)
class RoleSpan:
    """A replica in one leader epoch, within one process of its broker.

    Attributes:
        replica: broker id.
        epoch: leader epoch; -1 before the first role in the evidence.
        run: process of the broker: 0 before the first start in the evidence, and one more with each start.
        role: its role.
        leader: broker it followed, itself, or None if unknown.
        time, last_time: first and last line of the role span, microseconds since 1970 UTC.
        refs: lines that began it.
        start_end: log end offset when it began, before any reconciliation; None if not exactly known.
        start_low: the least that ``start_end`` can be; the same where it is known.
        start_high: upper bound of ``start_end``, from the log end offsets that it counted as leader.
        start_hw: high watermark it began with, which was reached earlier.
        read_back: the same of a role that no line names, where it truncated its log.
        steps: truncations, loads and the like, in order.
        kept: offset to which it truncated first as a follower, which removed nothing. Before 0.11 that is its own high
            watermark; later releases log no such line.
        entries: epochs it saw begin in its own log: (leader epoch, first offset, evidence).
        rivals: other leaders of the same epoch that its own role lines name: (broker id, evidence).
        fetched: evidence shows that it followed its leader far enough to fetch.
        end_low: greatest log end offset it is known to have reached.
        hw: greatest high watermark reached in the role span.
        isr: every ISR it stated as leader, in order.
        isr_before_change: the first of these is the one before the first change that it made.
        standing: the ISR that may still hold, if it proposed the last one and no line states the commit.
        followers: log end offsets of followers by its lines as leader, the greatest of each.
        alone: log end offset it had as leader once the ISR was known to be itself alone.
        held_back: it logged that its high watermark did not advance though it was alone and had more. A replica that
            fetches within the lag holds it back, in the ISR or not.
        shut_down: when its process last logged that it was shutting down, microseconds since 1970 UTC.
        dir_failed: line of its failed log directory, if no line since shows which log it has.
        is_alone: at its end it was still alone in the ISR; a merely proposed ISR does not count.
        acted_time: its last line before its log was loaded or its process ended, microseconds since 1970 UTC.
        log_before: its log at the start of the role span, filled by replay.
        log: its log once reconciled with the leader of the epoch, filled by replay.
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
    read_back: Sample | None = None
    steps: list[Step] = field(default_factory=list)
    kept: Sample | None = None
    entries: list[tuple[int, int, Ref]] = field(default_factory=list)
    rivals: list[tuple[int, Ref]] = field(default_factory=list)
    fetched: bool = False
    end_low: int = 0
    hw: Sample | None = None
    isr: list[tuple[frozenset[int], Ref]] = field(default_factory=list)
    isr_before_change: bool = False
    standing: frozenset[int] | None = None
    followers: dict[int, int] = field(default_factory=dict)
    alone: Sample | None = None
    is_alone: bool = False
    held_back: bool = False
    shut_down: int | None = None
    dir_failed: Ref | None = None
    acted_time: int | None = None
    log_before: Lineage = field(default_factory=Lineage)
    log: Lineage = field(default_factory=Lineage)

    def __post_init__(self) -> None:
        """Let the lower bound of a known start be the start."""
        self.start_low = self.start_low if self.start_end is None else self.start_end

    @property
    def replica_removed(self) -> bool:
        """Return whether the role span ended with the replica deleted.

        A controller that removes a replica elects a leader with the replica still in the ISR, and sends that only to
        those that stay (KafkaController.onPartitionReassignment, StopReplica).
        """
        return self.ends_with(StepKind.DELETED)

    @property
    def last_step(self) -> Step | None:
        """The last change of its log, or None."""
        return self.steps[-1] if self.steps else None

    @property
    def loads(self) -> list[Step]:
        """The loads of its log that followed the role, in order."""
        return [step for step in self.steps if step.kind is StepKind.LOADED]

    @property
    def changes(self) -> list[Step]:
        """The changes of its log within the role, in order."""
        return [step for step in self.steps if step.kind is not StepKind.LOADED]

    def ends_with(self, kind: StepKind) -> bool:
        """Return whether the last change of its log is of a kind."""
        return bool(self.steps) and self.steps[-1].kind is kind

    @property
    def is_start_open(self) -> bool:
        """Return whether no line states the log end offset when it began, and nothing is known to have removed records
        since.
        """
        return self.start_end is None and not self.steps

    @property
    def states_own_start(self) -> bool:
        """Return whether its own line states the log end offset when it began."""
        return self.start_ref is not None and self.start_ref in self.refs

    def begin_at(self, end: int, ref: Ref | None) -> None:
        """Note the log end offset when it began, as a line states it exactly."""
        self.start_end, self.start_ref, self.start_low = end, ref, end

    @property
    def last_change(self) -> int | None:
        """Row of the line that shows the last change of its log; None if none did."""
        return self.steps[-1].refs[0].row if self.steps else None


@dataclass(slots=True)
class UnresolvedRemoval:
    """A log that was shortened, kept until every committed bound is known, because these bound its former end.

    Attributes:
        row: the replica's first line after it.
    """

    truncation: Truncation | None
    shortened: ShortenedLog | None
    row: int | None


def came_back(step: Step, replica: int, epoch: int, log: Lineage) -> ShortenedLog:
    """Return a log that may have been found shorter, and the event; up to 2.5 a new, empty log is logged as a load too.

    Args:
        step: a load, a recovery or a new log.
        replica: broker id.
        epoch: leader epoch in which the log existed before.
        log: the log before.
    """
    if step.before is LogBefore.DIR_FAILED:
        cause = ShortenedBy.DIR_FAILURE
    elif step.before is LogBefore.UNCLEAN_STOP:
        cause = ShortenedBy.UNCLEAN_RESTART
    elif step.kind is StepKind.RECOVERY_TRUNCATED:
        cause = ShortenedBy.RECOVERY
    else:
        loaded = step.kind is StepKind.LOADED and step.target > 0
        cause = ShortenedBy.CLEAN_RESTART if loaded else ShortenedBy.NEW_LOG
    return ShortenedLog(
        replica=replica,
        epoch=epoch,
        before=Interval(step.least_end, step.end, () if step.end_ref is None else (step.end_ref,)),
        target=step.target,
        lineage=log,
        time=step.time,
        refs=step.refs,
        cause=cause,
        dir_failed=step.dir_failed or step.before is LogBefore.DIR_FAILED,
        dir_empty=step.dir_empty,
        dir_older=step.dir_older,
    )


def replaced(step: Step) -> bool:
    """Return whether a load may have found another log than the former one, of which a clean shutdown flushed all.

    If lines are missing, the stop may have been unclean. This answer proves nothing: from here on the leader epochs of
    the log are unknown, and the high watermark that the process reads back is about no known log.
    """
    shorter = step.kind is StepKind.LOADED and step.before is None and 0 < step.target < step.least_end
    return step.put_back or shorter


def made_first(role_span: RoleSpan) -> Step | None:
    """Return the new log that a role began with, if any. It replaced the log of the role before."""
    first = role_span.steps[0] if role_span.steps else None
    return (
        first if first is not None and first.kind is StepKind.CREATED and first.target == role_span.start_end else None
    )


def repeated(steps: Sequence[Step], target: int, reason: TruncationReason) -> Step | None:
    """Return the last truncation if another one from an unknown end only repeats it; None if this is another one.

    The log end offset before the first is unknown too. A follower in a loop of such truncations prints the same
    thousands of times.
    """
    before = steps[-1] if steps else None
    if before is None or before.kind is not StepKind.TRUNCATED:
        return None
    return before if (before.target, before.reason, before.end) == (target, reason, None) else None


def clear_start_from_load(spans: Sequence[RoleSpan], epoch: int) -> None:
    """Clear where a role began that no line of the role itself states: lines are missing since its log was made or
    loaded.

    Args:
        spans: of one replica, changed.
        epoch: of the role.
    """
    for role_span in spans:
        if role_span.epoch == epoch and _start_from_earlier(role_span) is not None:
            _clear_start(role_span)


def took_stop_for_unclean(spans: Sequence[RoleSpan], epoch: int) -> None:
    """Take the stop before the process that led an epoch for unclean, as its controller did, whatever its lines show.

    A broker that registers names its epoch from the file that its last clean stop left (CleanShutdownFile). If that is
    not its last epoch, as with a directory put back from a copy, the controller takes it out of the eligible leader
    replicas (KIP-966).

    Args:
        spans: of one replica, changed.
        epoch: in which it led as the last known leader.
    """
    led = next((at for at, role_span in enumerate(spans) if role_span.epoch == epoch), 0)
    before = [one for one in spans[:led] if one.run != spans[led].run]
    for step in before[-1].loads if before else ():
        step.before = step.before or LogBefore.UNCLEAN_STOP


def clear_end_before_first_step(spans: Sequence[RoleSpan]) -> None:
    """Clear the log end offset before the first step of each role: lines are missing, so the log may have been longer.

    Args:
        spans: changed.
    """
    for step in (step for role_span in spans for step in role_span.steps[:1]):
        step.end = None


def clear_starts_from_earlier_roles(spans: Sequence[RoleSpan]) -> None:
    """Clear where roles began that is taken from the last end that an earlier role printed: lines in between are
    missing.

    Args:
        spans: of one replica, changed.
    """
    of_steps = {ref.row for role_span in spans for step in role_span.steps for ref in step.refs}
    for role_span in spans:
        if _start_from_earlier(role_span) not in (None, *of_steps):
            _clear_start(role_span)


def _start_from_earlier(role_span: RoleSpan) -> int | None:
    """Row of the line that states where a role began, if it is before the role's own line."""
    own = role_span.refs[0].row if role_span.refs else None
    states = role_span.start_ref.row if role_span.start_ref is not None else None
    return states if own is not None and states is not None and states < own else None


def _clear_start(role_span: RoleSpan) -> None:
    role_span.start_end, role_span.start_ref, role_span.start_low = None, None, 0
