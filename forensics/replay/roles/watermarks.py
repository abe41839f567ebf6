"""A replica's high watermark and, as leader, its ISR, by its own lines."""

from __future__ import annotations

from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.coverage import Place
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.facts.partition_lines import OWN
from forensics.replay.history import (
    HwAboveIsrMember,
    HwSource,
    OwnHw,
    Regression,
    RegressionKind,
    Role,
    StateChange,
    TruncationReason,
)
from forensics.replay.protocol import Answer
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from parsers.details import AMBIGUOUS, counted_ends
from parsers.formats.request_log import MESSAGES as REQUEST_LOG
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_CHECKPOINTED = 10_000_000
"""Microseconds, twice the default of replica.high.watermark.checkpoint.interval.ms."""

_OWN = frozenset(OWN)


def _lower(event: Event, stated: Sample) -> bool:
    """Return whether a line states a lower high watermark than one before it, by its time too.

    Where a clock was set back, lines of two files may be in another order than they were written in.
    """
    undated = event.time is None or stated.time is None
    return event.hw is not None and event.hw < stated.value and (undated or (event.time or 0) >= (stated.time or 0))


class Watermarks:
    """Reads the lines that change no log, and carries a replica's state from one role span to the next.

    Args:
        replica: broker id.
        facts: facts about its broker.
    """

    def __init__(self, replica: int, facts: BrokerFacts) -> None:
        self.replica, self.facts = replica, facts
        self.role_spans: list[RoleSpan] = []
        self.now = RoleSpan(replica, -1, -1, Role.OFFLINE)
        self.at_rest = False  # loaded by a new process, or deleted, and no role received since
        self.loaded_by: int | None = None  # the process that loaded it last
        self.loaded_hw: Sample | None = None
        self.end: int | None = None  # exact log end offset at this point of the evidence
        self.end_ref: Ref | None = None
        self.low = 0  # the least it can be
        self.low_ref: Ref | None = None  # what states that
        self.had = 0  # the least it was when its last process ended, until something shows what this one has
        self.had_ref: Ref | None = None
        self.growing = False  # records may have been appended since `end` was exact
        self.fetching = False  # in its role it appends what it fetches
        self.sampled = False  # `end` comes from a logger that prints every append
        self.since: int | None = None  # when this replica was last created or its process started
        self.lived = 0  # how long it had existed when its last process ended, microseconds
        self.moved = False  # between two directories; the log it leaves is about to be renamed
        self.doomed = False  # a request to delete the replica was logged
        self.planned: Step | None = None
        self.moved_by: tuple[object, ...] = ()  # state of the replica when its log was last truncated
        self.starts_empty = False
        self.regressions: list[Regression] = []
        self.members_behind: list[HwAboveIsrMember] = []
        self.nameless_members_behind: list[HwAboveIsrMember] = []  # of a leader whose role no line names
        self.shrinking: Event | None = None
        self.proposed: Event | None = None  # of the ISR: it may still be refused
        self.recovering = False  # the log is being recovered: its broker did not stop cleanly
        self.shut = -1  # last process that logged that it was shutting down
        self.shut_whole = -2  # last process that logged that it had shut down; before any, no process is the next one
        self.unflushed = -1  # last process that recovered what had not been flushed
        self.corrupt: Event | None = None  # corrupt bytes that log recovery removed from the last segment it named
        self.rolled = 0  # where the last segment began that a line says
        self.unclean = -1  # last process that restarted after an unclean stop
        self.failed: Ref | None = None  # its log directory failed, and no log is known to have come from it since
        self.failed_by = -1  # the last process whose log directory failed
        self.append_failed: Ref | None = None  # an append to the log failed, and no process has loaded it since
        self.older: tuple[int, tuple[Ref, ...]] = -1, ()  # last process whose directory was older, and what shows it
        self.registered: tuple[Ref, ...] = ()  # of a process before it, whose record that directory does not have
        self.emptied: tuple[int, Ref] | None = None  # the last process that found no log in its log directory
        self.roles_stated = False  # some line names a role of the replica
        self.last_stated = -1  # the highest leader epoch of these lines
        self.places: list[Place] = []  # where lines are missing
        self.traced = False  # a trace states its appends, so every one of them
        self.first_time: int | None = None
        self.own_first: int | None = None  # from this offset on, its records are of its leader in this role
        self.own_hw: OwnHw | None = None
        self.restored: Sample | None = None  # read back by this process; nothing changed the log since
        self.changes: list[StateChange] = []
        self.noted_end: tuple[int, tuple[object, ...]] = (-1, ())  # process and log end offset of the last change
        self.stated_hw: int | None = None  # by the present line
        self.exact_end: int | None = None  # the last end that was exact; None if lines are missing since
        self.log_unsure = -1  # last process whose log may be another than the one that its checkpoints were written of

    def _exact(self, end: int, ref: Ref, *, sampled: bool = False) -> None:
        self.end, self.end_ref, self.low, self.low_ref, self.had, self.sampled = end, ref, end, ref, 0, sampled
        self.exact_end = end
        self.now.end_low = max(self.now.end_low, end)

    def _note_change(self, event: Event) -> None:
        """Note what a line changed of the log end offset, and the high watermark that it states.

        Lines about progress are left out.
        """
        if event.kind not in _OWN:
            return
        known, was = self.low_ref is not None, self.noted_end
        stated = known and self.exact_end == self.low
        appends = (self.growing or self.fetching) and not self.at_rest and event.run == self.now.run
        row = self.low_ref.row if self.low_ref is not None else None
        end = (self.low if known else -1, stated and self.end is not None and not appends, stated, row)
        # Until a process has loaded its log, what is known is the end that the process before had.
        of_process = event.run in (self.now.run, self.loaded_by) or event.kind == Kind.LOG_LOADED or row == event.row
        if of_process and was != (event.run, end) and (known or event.run == was[0]):
            self.noted_end = event.run, end
            self.changes.append(StateChange(event.row, *end, self.stated_hw))
        elif self.stated_hw is not None:
            self.changes.append(StateChange(event.row, None, exact=None, stated=None, end_row=None, hw=self.stated_hw))

    def _reaches(self, end: int, event: Event) -> None:
        """The log reaches at least up to an offset."""
        self.now.end_low = max(self.now.end_low, end)
        if end > self.low:
            self.low, self.low_ref = end, Ref(row=event.row, note=f"log end offset {end} at least")

    def _as_before(self) -> None:
        """The log had what it had in the process before, whatever this process found."""
        if self.had > self.low:
            self.low, self.low_ref = self.had, self.had_ref

    def _loaded_hw(self, event: Event) -> None:
        if event.hw is None or (event.detail == AMBIGUOUS and event.hw == 0):
            return
        self.stated_hw = event.hw
        if event.run != self.now.run or self.at_rest:
            # Read before the broker received its role: it belongs to the role span that follows.
            self.loaded_hw = Sample(event.hw, Ref(row=event.row, note=f"high watermark {event.hw}"), event.time)
            self.restored = self.loaded_hw if self.log_unsure != event.run else None
        else:
            self._hw_at_start(event.hw, event)

    def _hw_at_start(self, hw: int, event: Event) -> None:
        now, self.stated_hw = self.now, hw
        if now.hw is None and (now.start_hw is None or hw > now.start_hw.value):
            now.start_hw = Sample(hw, Ref(row=event.row, note=f"high watermark {hw}"), event.time)

    def _below_hw(self, event: Event) -> None:
        if event.hw is not None and event.run == self.now.run and not self.at_rest:
            self._hw_at_start(event.hw, event)  # the follower warns that it truncates below its high watermark

    def _hw_missing(self, event: Event) -> None:
        """No checkpointed high watermark for a log that has records: the checkpoint file was lost or emptied."""
        self.stated_hw = 0
        served, last, fresh = self.now, self.now.last_step, self.at_rest
        if not fresh and last is None and self.role_spans and self.role_spans[-1].run != self.now.run:
            # Up to 1.0 it is read only after the new process received its first role.
            served, last = self.role_spans[-1], self.role_spans[-1].last_step
            fresh = last is not None and last.kind is StepKind.LOADED
        if 0 <= served.run < max(self._may_have_written(event.run - 1), self.shut):
            return  # the process before had no role, so its file does not name this one (ReplicaManager.allPartitions)
        # A clean shutdown writes the file (ReplicaManager.shutdown), however short the process was.
        clean = last is not None and last.kind is StepKind.LOADED and last.before is None
        clean = clean and -1 < event.run - 1 <= self.shut
        if fresh and self.end and self._has_checkpointed(clean=clean):
            refs = (Ref(row=event.row, note="no checkpointed high watermark"),)
            known = [one for t in (*self.role_spans, self.now) for one in (t.hw, t.start_hw)]
            before = max((one.value for one in known if one is not None), default=0)
            self.regressions.append(
                Regression(self.replica, self.now.epoch, before, 0, RegressionKind.CHECKPOINT, event.time, refs)
            )

    def _may_have_written(self, run: int) -> int:
        """Return a process if it may have written the checkpoint file: not if its log directory failed; else -1."""
        return run if run != self.failed_by else -1

    def _has_checkpointed(self, *, clean: bool) -> bool:
        """Return whether the process before must have written the checkpoint file: it stopped cleanly or lived long.

        A trace that claims to state every change states each write, so ``played`` answers for it: a broker that hangs
        writes none, and neither does one that stops before it took up the partition.
        """
        return (clean or self.lived > _CHECKPOINTED) and not self.facts.lines.claimed

    def _hw_regressed(self, event: Event) -> None:
        self.stated_hw = event.hw
        if self.now.role is Role.LEADER and event.hw is not None and event.hw_before is not None:
            ref = Ref(row=event.row, note=f"high watermark from {event.hw_before} to {event.hw}")
            self._fell(event.hw_before, event.hw, event, (ref,))

    def _fell(self, before: int, after: int, event: Event, refs: tuple[Ref, ...]) -> None:
        """Note that the high watermark of a leader fell. A trace states the role beside the value; a log does not."""
        by_clock = event.message != TRACE
        values = self.replica, self.now.epoch, before, after, RegressionKind.LEADER
        reordered = event.message.startswith(REQUEST_LOG)
        self.regressions.append(Regression(*values, event.time, refs, by_clock, reordered))

    def _lagging(self, event: Event) -> None:
        """The log end offset of a follower, in the line that takes it out of the ISR."""
        leader = self.shrinking
        if leader is None or leader.hw is None or event.leo is None or event.leo < 0 or event.replica is None:
            return
        leads = self.now.role is Role.LEADER
        if leads:
            self.now.followers[event.replica] = max(event.leo, self.now.followers.get(event.replica, 0))
        if leader.hw > event.leo:
            ref = Ref(row=event.row, note=f"high watermark {leader.hw}, replica {event.replica} at {event.leo}")
            values = event.replica, leader.hw, event.leo, event.time, (ref,)
            found = self.members_behind if leads else self.nameless_members_behind
            found.append(HwAboveIsrMember(self.replica, self.now.epoch if leads else -1, *values))

    def _hw(self, event: Event) -> None:
        self.stated_hw = event.hw
        if event.hw is None or self.at_rest or event.run != self.now.run:
            return  # set while the log is loaded: not reached, but remembered
        now = self.now
        stated = self._stated_as_leader(event)
        if stated is not None and event.kind == Kind.HW and _lower(event, stated):
            ref = Ref(row=event.row, note=f"high watermark {event.hw}")
            refs = (stated.ref, ref)
            self._fell(stated.value, event.hw, event, refs)
        if now.role is Role.LEADER:
            # A leader's high watermark is within its log.
            self._reaches(event.hw, event)
        # Up to its start value a high watermark may be what an earlier role span left in memory.
        kept = now.start_hw.value if now.start_hw is not None else -1
        if event.hw > kept and (now.hw is None or event.hw > now.hw.value):
            now.hw = Sample(event.hw, Ref(row=event.row, note=f"high watermark {event.hw}"), event.time)
            now.fetched = True
        self._note_own_hw(event, event.hw)

    def _stated_as_leader(self, event: Event) -> Sample | None:
        """The highest high watermark that a leader has stated in its role.

        A trace that states one where the leader's epoch begins states it of that moment. What Kafka prints there may be
        what an earlier role left in memory.
        """
        now = self.now
        if now.role is not Role.LEADER:
            return None
        if now.hw is None and now.start_hw is not None and event.message == TRACE and now.refs:
            return now.start_hw if now.start_hw.ref.row == now.refs[0].row else None
        return now.hw

    def _note_own_hw(self, event: Event, hw: int) -> None:
        """A high watermark of the very records that the replica has from its leader in this role.

        A follower adopts its leader's high watermark before it reconciles with it (KAFKA-14704). So the value is about
        the follower's own records only after it has appended the leader's records, and only about these.
        """
        first = 0 if self.now.role is Role.LEADER else self.own_first
        value = hw if self.end is None or self.growing else min(hw, self.end)
        if first is None or self.now.epoch < 0 or value <= first:
            return
        if self.own_hw is None or value > self.own_hw.end:
            self.own_hw = OwnHw(first, value, Ref(row=event.row, note=f"high watermark {hw}"), event.time)

    def _note_own_records(self, event: Event, end: int) -> None:
        """The replica appended what its leader sent it, up to an offset."""
        if event.kind == Kind.FETCH_REFUSED or self.now.role is not Role.FOLLOWER or self.at_rest:
            return
        before = self.end if not self.growing or self.sampled else None
        first = event.offset if event.kind == Kind.APPEND else before
        if first is not None and first < end:
            self.own_first = first if self.own_first is None else min(first, self.own_first)

    def _take_own_above(self, target: int, reason: TruncationReason) -> OwnHw | None:
        """The high watermark that the replica had stated of its own records above the offset it truncates to now."""
        own = self.own_hw if self.own_hw is not None and self.own_hw.end > target else None
        self.own_hw = self.own_hw if own is None else None
        self.own_first = self.own_first if self.own_first is not None and self.own_first <= target else None
        restored, self.restored = self.restored, None
        by_epoch = reason is TruncationReason.LEADER_EPOCH or self.facts.protocol.truncates_by_epoch is Answer.YES
        return own or (self._restored_above(restored, target) if by_epoch else None)

    def _restored_above(self, restored: Sample | None, target: int) -> OwnHw | None:
        """The high watermark that the process read back, above the offset to which it truncates as its first step.

        A checkpoint is written of what the replica had before it followed anybody in this process. Only a follower that
        reconciles by leader epoch must keep it: to its own high watermark a follower truncates in the ordinary course.
        """
        if restored is None or self.facts.protocol.truncates_to_hw(self.now.run):
            return None
        value = restored.value if self.end is None else min(restored.value, self.end)
        return OwnHw(0, value, restored.ref, restored.time, restored=True) if value > target else None

    def _held(self, event: Event) -> None:
        """Handle a leader's line that its high watermark stays: it names the log end offsets that it counted, its own
        too.
        """
        now, behind = self.now, event.hw is not None and event.hw < self.low
        now.held_back = now.held_back or (now.role is Role.LEADER and now.is_alone and behind)
        self._hw(event)
        if now.role is not Role.LEADER or self.at_rest or event.run != now.run:
            return
        ends = counted_ends(event.detail)
        if ends and max(ends) >= 0 and (now.start_high is None or max(ends) < now.start_high.value):
            ref = Ref(row=event.row, note=f"log end offset {max(ends)} at most")
            now.start_high = Sample(max(ends), ref, event.time)

    def _produced(self, event: Event) -> None:
        """Handle a leader's answer to a producer or a consumer: its log covers the records, and its high watermark
        too where a consumer read them or acks=all was asked for.
        """
        now = self.now
        if now.role is not Role.LEADER or self.at_rest or event.run != now.run or event.offset is None:
            return
        self._reaches(event.offset + 1, event)
        kept = max(s.value for s in (now.hw, now.start_hw) if s is not None) if now.hw or now.start_hw else -1
        if event.hw is not None and event.hw > kept:
            read = event.kind == Kind.CONSUMED
            acked = f"acks=all answered for the records from offset {event.offset} on"
            note = f"a consumer read offset {event.offset}" if read else acked
            how = HwSource.CONSUMED if read else HwSource.ACKNOWLEDGED
            now.hw = Sample(event.hw, Ref(row=event.row, note=note), event.time, how)

    def _isr(self, event: Event) -> None:
        now = self.now
        # Only a leader removes a replica (Partition.maybeShrinkIsr), also where no line names its role.
        self.shrinking = event if event.kind == Kind.ISR_SHRINK else None
        if now.role is not Role.LEADER:
            return
        if event.leo is not None and event.leo >= 0:
            self._reaches(event.leo, event)
        self._hw(event)
        self.proposed = event if event.kind in (Kind.ISR_SHRINK, Kind.ISR_EXPAND) else None
        was, isr = broker_set(event.isr_before), broker_set(event.isr)
        if was and not now.isr:
            now.isr.append((was, Ref(row=event.row, note="ISR before the first change that its leader made")))
            now.isr_before_change = True
        if isr is not None:
            self._take_isr(isr, event)

    def _take_isr(self, isr: frozenset[int], event: Event) -> None:
        """Take the ISR that a leader states after a change: one that it proposes or that is committed."""
        now = self.now
        confirms = self.facts.protocol.logs_isr_commits is Answer.YES
        now.standing = (now.standing or now.isr[-1][0]) if self.proposed and confirms and now.isr else None
        now.isr.append((isr, Ref(row=event.row, note=f"ISR {event.isr}")))
        now.is_alone = isr == {self.replica} and (now.is_alone or event.kind != Kind.ISR_SHRINK)
        if now.is_alone and event.kind == Kind.ISR_COMMIT and now.end_low > 0:
            ref = Ref(row=event.row, note=f"alone in the ISR with log end offset {now.end_low} at least")
            now.alone = Sample(now.end_low, ref, event.time)

    def _isr_rejected(self, event: Event) -> None:
        """Handle a rejected ISR change: a leader that does not know that it was replaced retries again and again."""
        for role_span in (self.now, *self.role_spans[-1:]):  # it may receive its successor before the rejection
            if self.proposed is not None and role_span.isr and role_span.isr[-1][1].row == self.proposed.row:
                role_span.isr.pop()
        self.proposed = None
