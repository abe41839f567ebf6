"""One replica's own events, in its own order, divided into role spans: one role in one leader epoch each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import replace

from forensics.replay.coverage import Place, Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event, stated_end
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import EpochAnswer, Role, TruncationReason
from forensics.replay.protocol import Answer
from forensics.replay.roles.steps import LogBefore, RoleSpan, Sample, Step, StepKind, repeated
from forensics.replay.roles.watermarks import Watermarks
from parsers.details import (
    APPEND_FAILED,
    FROM_REMOTE,
    INITIAL_FETCH_OFFSET,
    MOVED,
    Transition,
    answered_end,
    epoch_entries,
)
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages.catalogue import Says
from parsers.messages.logs import SAYS
from parsers.schema import Kind

ROLES = frozenset({Kind.LEADER_AND_ISR, Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER})
"""Kinds of line that name a replica's role."""


def named_role(event: Event, replica: int) -> Role:
    """Return the role that a line gives to a replica."""
    if event.kind == Kind.BECOME_LEADER or event.leader == replica:
        return Role.LEADER
    return Role.OFFLINE if event.leader is not None and event.leader < 0 else Role.FOLLOWER


class Reader(Watermarks):
    """Builds the role spans of one replica from its events.

    Args:
        replica: broker id.
        facts: facts about its broker. A follower of a release before KIP-101 truncates to its own high watermark.
    """

    def read(self, events: Iterable[Event], missing: Set[int] = frozenset()) -> list[RoleSpan]:
        """Read all events and give the role spans in order.

        Args:
            events: the replica's lines.
            missing: rows before or behind which lines are missing.
        """
        events = list(events)
        roles = [event.leader_epoch or 0 for event in events if event.kind in ROLES]
        self.roles_stated, self.last_stated = bool(roles), max(roles, default=-1)
        for event in events:
            if event.row in missing:
                self._lose_track(event)
            handler = _HANDLERS.get(event.kind)
            if handler is None:
                continue
            if event.time is not None and self.first_time is None:
                self.first_time = event.time
            self.stated_hw = None
            handler(self, event)
            self._note_change(event)
            if event.row in missing:
                self._lose_track(event)
            if event.time is not None:
                self._passes(event.run, event.time)
        self._close()
        return self.role_spans

    def _passes(self, run: int, time: int) -> None:
        """Note the time of a line, and that of the last one in a role."""
        self.now.last_time = time
        if run == self.now.run and not self.at_rest:
            self.now.acted_time = time

    # -- roles ------------------------------------------------------------------------------------------------------

    def _role(self, event: Event) -> None:
        epoch = event.leader_epoch
        if epoch is None or self._is_stale(event, epoch):
            return
        role = named_role(event, self.replica)
        leader = self.replica if role is Role.LEADER else event.leader
        ref = Ref(row=event.row, note=f"{role} at leader epoch {epoch}")
        if self._is_another(event, epoch):
            self._begin(event, epoch, role, leader, ref)
        else:
            self._add_to_role(event, leader, ref)
        isr = broker_set(event.isr)
        if isr is not None:
            self.now.isr.append((isr, ref))
            self.now.is_alone = role is Role.LEADER and isr == {self.replica}
        if event.kind != Kind.LEADER_AND_ISR:
            self._take_start(event, ref, leads=role is Role.LEADER)

    def _is_stale(self, event: Event, epoch: int) -> bool:
        """Return whether a role is of an earlier epoch than the replica's: that request was never carried out."""
        return epoch < self.now.epoch and event.run == self.now.run and not self.at_rest

    def _take_start(self, event: Event, ref: Ref, *, leads: bool) -> None:
        """Take the log end offset and the high watermark with which a role begins, by the line that states it.

        Args:
            event: the line.
            ref: the same, as evidence.
            leads: it states the role of the leader.
        """
        if event.leo is not None and not self.now.steps:
            if event.leo == 0:
                self._add_replacement(0, event)
            self.now.begin_at(event.leo, ref)
            self._exact(event.leo, ref)
            self.growing = leads
        if event.hw is None:
            return
        if event.message == TRACE and self.now.steps:
            self._hw(event)  # a line on the role that it has had for a while
        else:
            self._hw_at_start(event.hw, event)

    def _is_another(self, event: Event, epoch: int) -> bool:
        """Return whether a role is another one than the replica has."""
        now = self.now
        return epoch > now.epoch or event.run != now.run or self.at_rest or self._leads_again(event)

    def _leads_again(self, event: Event) -> bool:
        """Return whether a leader takes up its epoch at another offset, as a process does whose start has no line.

        That process knew no epoch before (Partition.makeLeader prints -1).
        """
        now = self.now
        if self.at_rest or event.run != now.run:
            return False
        states_start = now.states_own_start and now.role is Role.LEADER
        first = event.kind == Kind.BECOME_LEADER and event.previous_epoch == -1
        return states_start and first and event.leader_epoch == now.epoch and event.leo not in (None, now.start_end)

    def _add_to_role(self, event: Event, leader: int | None, ref: Ref) -> None:
        """Another line on the role that it has. It names the same leader as the line before, or a second one."""
        now = self.now
        now.refs.append(ref)
        if now.leader is None:
            now.leader = leader
        elif event.kind != Kind.LEADER_AND_ISR and leader is not None and leader >= 0 <= now.leader != leader:
            now.rivals.append((leader, ref))

    def _begin(self, event: Event, epoch: int, role: Role, leader: int | None, ref: Ref) -> None:
        if self._leads_again(event):
            self._lose_track(event)
        self._close()
        before = self.now
        served = before.role is not Role.OFFLINE and (before.leader is None or before.leader >= 0)
        restarted = event.run != before.run and before.epoch != -1 and not self.at_rest  # no line shows what it loaded
        unseen = self._may_have_grown(event) or (served and not self.sampled and not self.at_rest)
        if self.growing or restarted or unseen:
            self.end = None
        if restarted:
            self.had, self.had_ref, self.low, self.low_ref, self.exact_end = self.low, self.low_ref, 0, None, None
        self.sampled = self.at_rest = False
        if event.run != before.run or before.epoch == -1 or self.since is None:
            self.since = event.time
        now = RoleSpan(self.replica, epoch, event.run, role, leader, event.time, event.time, [ref])
        now.start_end, now.start_ref = self.end, self.end_ref
        now.start_low = now.end_low = self.end if self.end is not None else self.low
        now.start_hw, self.loaded_hw = self.loaded_hw, None
        now.shut_down = before.shut_down if before.run == event.run else None
        now.dir_failed = self.failed
        self.now, self.planned = now, None
        self.fetching = False
        self.own_first = self.own_hw = None
        self.restored = now.start_hw if self.log_unsure != event.run else None
        self.growing = role is Role.LEADER

    def _may_have_grown(self, event: Event) -> bool:
        """Return whether a trace does not claim to state each change of the log, so that an append may be left out."""
        lines = self.facts.lines
        return (
            event.message == TRACE and not lines.claimed and not (lines.claimed_within and Printed.LOG in lines.printed)
        )

    def _close(self) -> None:
        now = self.now
        if now.epoch != -1 or now.steps or now.hw or now.start_hw or now.end_low:
            self.role_spans.append(now)

    # -- the log ----------------------------------------------------------------------------------------------------

    def _lose_track(self, event: Event) -> None:
        """Lines are missing here: what became of the log, and where it ends, is not known any more."""
        place = Place(self.now.epoch, self.now.run, event.row)
        if place not in self.places[-1:]:
            self.places.append(place)
        self.end, self.low, self.low_ref, self.growing, self.sampled = None, 0, None, True, False
        self.exact_end = None
        self.loaded_hw, self.planned, self.at_rest = None, None, False
        if event.message != TRACE:  # a trace's witness stated its role and high watermark nevertheless
            self.own_first = self.own_hw = self.restored = None
            self.log_unsure = event.run

    def _step(
        self,
        kind: StepKind,
        target: int,
        event: Event,
        note: str,
        *,
        reason: TruncationReason | None = None,
        before: LogBefore | None = None,
    ) -> None:
        ref = Ref(row=event.row, note=note)
        refs: tuple[Ref, ...] = (ref,)
        if kind in (StepKind.CREATED, StepKind.LOADED):
            failed = self._take_dir_failure(before, ref)
            before, refs = failed if target == 0 else (before, refs)
        # An exact value stays exact only while nothing can have been appended unseen.
        end = None if self.growing and not self.traced else self.end
        if kind is StepKind.LOADED and target < max(end or 0, self.low):
            self.log_unsure = event.run
        step = Step(kind, target, end, self.low, reason, event.time, refs, before, end_ref=self.low_ref)
        if kind is StepKind.RECOVERY_TRUNCATED:
            step.append_failed = self.append_failed
        else:
            self.append_failed = None
        self.now.steps.append(self._with_empty_directory(step, event))
        self._exact(target, ref)
        self.growing = False
        self.own_first = self.own_hw = self.restored = None

    def _loaded(self, event: Event) -> None:
        if event.leo is None:
            return
        if event.detail == MOVED:
            # The log moved to another directory of the same broker while in use: same records, and the old log is
            # renamed.
            self.stated_hw = event.hw
            self._exact(event.leo, Ref(row=event.row, note=f"log end offset {event.leo} when moved"))
            self._moved(event)
        elif self._awaits_deletion(event.leo):
            pass
        elif event.leo == 0 and event.run == self.now.run and event.message not in SAYS[Says.NAMES_DIRECTORY]:
            self._created(event)  # up to 2.5 a new, empty log is logged as a load, after the role that requires it
        elif self.at_rest and self.now.ends_with(StepKind.LOADED):
            self._loaded_again(event, event.leo)
        else:
            self._loaded_by_process(event, event.leo)

    def _awaits_deletion(self, end: int) -> bool:
        """Return whether a load is of a log that waits for deletion.

        Up to 2.5 it is logged under the replica's name and as empty, whatever its length (Log.loadSegments).
        """
        return end == 0 and (self.doomed or self.now.replica_removed)

    def _loaded_by_process(self, event: Event, end: int) -> None:
        """Handle a log that a new process of the broker loaded."""
        self._note_lifetime(event)
        if self.end is not None and end > self.end:
            self.end = None  # some appends are missing: at least those made while the process was killed
        recovers = self.recovering or event.run == self.unclean
        older = self._older_directory(event, recovers=recovers)
        left = LogBefore.UNCLEAN_STOP if recovers and not older else None
        self._recovered_to(end, event)
        failed = self.failed
        self._step(StepKind.LOADED, end, event, f"log end offset {end} when loaded", before=left)
        step = self.now.steps[-1]
        self._note_dir_failure(step, failed)
        step.dir_older = older
        step.stop_unseen = self._stopped_unseen(event)
        # A process that stops cleanly leaves a marker file (LogManager.shutdown).
        step.put_back = bool(step.dir_older) or self.unflushed == event.run == self.shut_whole + 1
        self.at_rest, self.recovering, self.loaded_by = True, False, event.run

    def _older_directory(self, event: Event, *, recovers: bool) -> tuple[Ref, ...]:
        """Return what shows that a process loaded a directory that is older than the process before had left it.

        If that was killed and this one recovers its logs, the metadata log may have lost its own end with the power.
        But a copy of a running broker is recovered too. So what counts is that the process before began to stop.
        """
        run, shown_by = self.older
        return shown_by if run == event.run and (not recovers or self.shut == event.run - 1) else ()

    def _stopped_unseen(self, event: Event) -> bool:
        """Return whether the process before had a role, and no line shows that it stopped.

        A broker that stops prints that it begins to. If it was killed and its next process recovers nothing, another
        directory may be in place of the one that it left: one that a clean stop had left, such as a copy.
        """
        before = event.run - 1
        served = self.now.run == before and self.now.epoch >= 0
        return served and event.message != TRACE and before not in (self.shut, self.shut_whole)

    def _loaded_again(self, event: Event, end: int) -> None:
        """Handle a log that was loaded twice with no other line in between.

        Up to 2.5 a log that waits for deletion is loaded under the replica's name too, and logged as empty: the longer
        one counts. Another shorter load is of another process, though no line shows its start; so is each line that
        names the directory, and one of a trace. Nothing shows that the first one stopped cleanly.
        """
        before = self.now.steps[-1].target
        if end > 0:
            self.failed = None  # its directory can be read again
        if end > before:
            self._replace_load(event, end)
        if end >= before or (end == 0 and event.message not in (TRACE, *SAYS[Says.NAMES_DIRECTORY])):
            return
        self.end = None  # that process may have appended
        note = f"log end offset {end} when loaded again"
        self._step(StepKind.LOADED, end, event, note, before=LogBefore.UNCLEAN_STOP)

    def _note_dir_failure(self, step: Step, failed: Ref | None) -> None:
        """A directory that had failed can be read again, and its log may be shorter."""
        if step.target == 0:
            return  # it may be a new log that replaced it
        self.failed = None
        if failed is not None and step.target < step.least_end:
            step.dir_failed, step.refs = True, (*step.refs, failed)

    def _moved(self, event: Event) -> None:
        # The other directory's checkpoint holds the high watermark only after it is written the next time.
        self.moved, self.since = True, event.time

    def _replace_load(self, event: Event, end: int) -> None:
        before = self.now.steps.pop()
        ref = Ref(row=event.row, note=f"log end offset {end} when loaded")
        self.now.steps.append(replace(before, target=end, time=event.time, refs=(ref,)))
        self._exact(end, ref)

    def _recovery(self, event: Event) -> None:
        self._note_lifetime(event)
        self.recovering = True
        if event.message in SAYS[Says.UNFLUSHED]:
            self.unflushed = event.run
        if event.message in SAYS[Says.CORRUPT_BYTES]:
            self.corrupt = event
        elif self.corrupt is not None and (event.offset or 0) > (self.corrupt.offset or 0):
            self.corrupt = None  # a later segment follows

    def _recovered_to(self, end: int, event: Event) -> None:
        """Note that log recovery truncated the log to where it ended when it was loaded.

        A broker that rebuilds an index recovers the segment beside it. If it removes bytes then, no line states to
        which offset (Log.loadSegmentFiles, LogLoader.loadSegmentFiles).
        """
        corrupt, self.corrupt = self.corrupt, None
        if corrupt is None or corrupt.run != event.run or (corrupt.offset or 0) < self.rolled <= end:
            return
        note = f"log recovery found corrupt bytes, and the log ended at {end} then"
        self._step(StepKind.RECOVERY_TRUNCATED, end, corrupt, note)
        step = self.now.steps[-1]
        step.refs = (*step.refs, Ref(row=event.row, note=f"log end offset {end} when loaded"))

    def _unclean(self, event: Event) -> None:
        self._note_lifetime(event)
        self.unclean = event.run

    def _shut_down(self, event: Event) -> None:
        if event.run == self.now.run:
            self.now.shut_down = event.time or 0
        self.shut = event.run

    def _shut_whole(self, event: Event) -> None:
        self.shut_whole = event.run

    def _note_lifetime(self, event: Event) -> None:
        if not self.recovering and event.run != self.unclean:  # else an earlier line of this process did so
            last = self.now.last_time or 0
            self.lived = last - (self.since or last)

    def _corrupt(self, event: Event) -> None:
        self.corrupt = None
        if event.offset is not None:
            self._step(
                StepKind.RECOVERY_TRUNCATED, event.offset, event, f"recovery truncated the log to {event.offset}"
            )

    def _directory_failed(self, event: Event) -> None:
        if not self.now.replica_removed:  # otherwise the directory has no log of it
            self.failed = self.failed or Ref(row=event.row, note="its log directory failed")
            self.failed_by = event.run

    def _storage_error(self, event: Event) -> None:
        if (event.detail or "").startswith(APPEND_FAILED):
            self.append_failed = Ref(row=event.row, note="an append to the log failed")

    def _registered(self, event: Event) -> None:
        self.registered = (Ref(row=event.row, note=f"registered with broker epoch {event.offset}"),)

    def _directory_older(self, event: Event) -> None:
        shown_by = Ref(row=event.row, note=f"the metadata log in the directory ended at {event.detail}")
        self.older = event.run, (shown_by, *self.registered)

    def _directory_empty(self, event: Event) -> None:
        self.emptied = event.run, Ref(row=event.row, note="no log was found in its log directory")

    def _with_empty_directory(self, step: Step, event: Event) -> Step:
        """Return a step; a new log with the line of its process about an empty directory, if no failure explains it."""
        found = self.emptied
        explained = step.kind is not StepKind.CREATED or step.before is LogBefore.DIR_FAILED
        if explained or found is None or found[0] != event.run:
            return step
        return replace(step, dir_empty=found[1])

    def _take_dir_failure(self, before: LogBefore | None, ref: Ref) -> tuple[LogBefore | None, tuple[Ref, ...]]:
        """The state before an empty log, with evidence: after a log directory failed, another gets a new log.

        Args:
            before: what preceded it if no log directory failed.
            ref: the line of the empty log.
        """
        failed, self.failed = self.failed, None
        return (before, (ref,)) if failed is None else (LogBefore.DIR_FAILED, (ref, failed))

    def _created(self, event: Event) -> None:
        now = self.now
        first_step = not now.steps
        self.since = event.time
        restarted = now.epoch != -1 and event.run != now.run  # by a new process, after the one before had a role
        first = not self.role_spans and not now.steps and self.low == 0 and not restarted and self.failed is None
        self.starts_empty |= first
        now.dir_failed = None
        if self.end == 0 and not self.growing:
            if self.facts.protocol.kraft is Answer.YES:  # behind the role; else another line of the same creation
                self._add_replacement(0, event, made=True)
            self.failed = None  # this log comes after
            return
        if first:
            self._exact(0, Ref(row=event.row, note="a new, empty log"))
        else:
            self._as_before()
            before = LogBefore.REPLACED if self._had_log(restarted=restarted) else None
            self._step(StepKind.CREATED, 0, event, "a new, empty log", before=before)
        if now.start_end is None or (first_step and not restarted and self._loaded_before(event)):
            now.begin_at(0, self.end_ref)
            now.end_low = 0
        self.growing = now.role is Role.LEADER and now.epoch >= 0

    def _had_log(self, *, restarted: bool) -> bool:
        """Return whether the replica had a log, not deleted, that a new log replaced."""
        spans = (*self.role_spans, self.now)
        steps = [step.kind for span in spans for step in span.steps]
        had = restarted or self.low > 0 or bool(steps) or any(span.epoch >= 0 for span in self.role_spans)
        return had and steps[-1:] != [StepKind.DELETED]

    def _loaded_before(self, event: Event) -> bool:
        """Return whether a leader's log was loaded by a former process, so that this process created a new one."""
        return self.now.role is Role.LEADER and self.loaded_by not in (None, event.run)

    def _add_replacement(self, target: int, event: Event, *, made: bool = False) -> None:
        """A new process's role begins with less than its log had, and no load says why, or with a new log."""
        last = self.role_spans[-1] if self.role_spans else None
        less = last is not None and (last.end_low == 0 <= last.epoch if made else target < last.end_low)
        if last is not None and event.run != last.run and less:
            ref = Ref(row=event.row, note=f"log end offset {target} in a new process")
            if not any(
                step.kind in (StepKind.LOADED, StepKind.CREATED, StepKind.DELETED, StepKind.RECOVERY_TRUNCATED)
                for step in last.steps
            ):
                before, refs = self._take_dir_failure(LogBefore.REPLACED, ref)
                step = Step(StepKind.CREATED, target, None, last.end_low, None, event.time, refs, before)
                last.steps.append(self._with_empty_directory(step, event))

    def _deleted(self, event: Event) -> None:
        if self.moved:
            self.moved = False
            return
        self._step(StepKind.DELETED, 0, event, "replica deleted")
        self.at_rest, self.loaded_by = True, None

    def _asked_to_stop(self, event: Event) -> None:
        self.doomed = event.detail == Transition.DELETED

    def _truncate(self, event: Event) -> None:
        target, now = event.offset, self.now
        if target is None:
            return
        ref = Ref(row=event.row, note=f"truncated to {target}")
        reason, planned = self._reason_to_truncate_to(target, event.run)
        self.planned = None
        if reason is TruncationReason.HIGH_WATERMARK:
            self._hw_at_start(target, event)
        if (before := self._same_before(target, reason)) is not None:
            before.repeats += 1
            before.last = event.time, ref
            if self.end is None:
                self._exact(target, ref)
            return
        # From 0.11 on the line is printed only where it removes something.
        old = self.facts.protocol.truncates_to_hw(event.run)
        if self.end is not None and target >= self.end:
            if old or not self.growing:
                self._keep_all(target, event, ref)
                return  # before 0.11 the line is logged although nothing is removed
            self.end = None  # its log has grown since
        self._note_read_back()
        least = target if old else target + 1
        own = self._take_own_above(target, reason)
        refs, answer = ((*planned.refs, ref), planned.answer) if planned is not None else ((ref,), None)
        now.steps.append(
            Step(
                StepKind.TRUNCATED, target, self.end, max(self.low, least), reason, event.time, refs, own_hw=own,
                answer=answer,
            )
        )  # fmt: skip
        self._exact(target, ref)
        self._note_fetching(event)
        self.moved_by = self._progress()

    def _keep_all(self, target: int, event: Event, ref: Ref) -> None:
        """Note that a follower truncated first of all to no less than its log had."""
        now = self.now
        first = now.kept is None and not any(step.kind is StepKind.TRUNCATED for step in now.steps)
        if first and now.role is Role.FOLLOWER and self.facts.protocol.truncates_by_epoch is not Answer.YES:
            now.kept = Sample(target, ref, event.time)

    def _reason_to_truncate_to(self, target: int, run: int) -> tuple[TruncationReason, Step | None]:
        """The offset that a replica truncates to now, and the decision that a line stated before, if any."""
        planned, now = self.planned, self.now
        if planned is not None and planned.target == target:
            return planned.reason or TruncationReason.UNKNOWN, planned
        first = now.role is not Role.LEADER and not any(step.kind is StepKind.TRUNCATED for step in now.steps)
        old = self.facts.protocol.truncates_to_hw(run)
        return TruncationReason.HIGH_WATERMARK if old and first else TruncationReason.UNKNOWN, None

    def _same_before(self, target: int, reason: TruncationReason) -> Step | None:
        """The last truncation, if another one only repeats it.

        A follower in a truncation loop logs the same thousands of times.
        """
        last = self.now.last_step
        if last is not None and last.kind is StepKind.TRUNCATED and last.target == target and self.end == target:
            return last
        still = self.end is None and self.moved_by == self._progress()
        return repeated(self.now.steps, target, reason) if still else None

    def _epochs_removed(self, event: Event) -> None:
        """The leader epochs that its last truncation removed from its epoch file."""
        last = self.now.last_step
        if last is not None and (last.kind, last.target) == (StepKind.TRUNCATED, event.offset) and not last.repeats:
            last.noted = tuple(epoch_entries(event.detail))

    def _note_read_back(self) -> None:
        """The replica truncates, so it has a role, though no line names one: offline replicas do not truncate."""
        if self.now.role is Role.OFFLINE and self.now.read_back is None:
            self.now.read_back = self.loaded_hw

    def _progress(self) -> tuple[object, ...]:
        """Return values that differ if anything except a truncation was logged in between."""
        now = self.now
        return now.hw, now.start_hw, now.end_low, len(now.entries), len(now.isr), len(self.role_spans)

    def _noop(self, event: Event) -> None:
        if event.leo is None or event.leo < 0:
            return
        ref = Ref(row=event.row, note=f"log end offset {event.leo}")
        now = self.now
        if now.role is not Role.LEADER and now.is_start_open:
            now.begin_at(event.leo, ref)
        now.fetched = now.fetched or now.role is Role.FOLLOWER  # its leader answered: nothing to truncate
        self._exact(event.leo, ref)
        self._note_fetching(event)

    def _note_fetching(self, event: Event) -> None:
        """Note that a follower appends from here on: it has reconciled its log with its leader's.

        Up to 2.0.0 no line shows that it fetches again if only the epoch of its leader has changed. Then a truncation,
        even without effect, is the first sign of it.
        """
        if self.now.role is Role.FOLLOWER and not self.facts.protocol.truncates_to_hw(event.run):
            self.fetching = True

    def _epoch_begins(self, event: Event) -> None:
        """Record the first record of an epoch in its own log: a leader's start, or what a follower fetched."""
        epoch, offset, now = event.leader_epoch, event.offset, self.now
        if epoch is None or offset is None or epoch < 0 or self.at_rest or event.run != now.run:
            return
        ref = Ref(row=event.row, note=f"records of leader epoch {epoch} begin at {offset}")
        now.entries.append((epoch, offset, ref))
        now.fetched = now.fetched or now.role is Role.FOLLOWER
        if now.role is Role.LEADER and epoch == now.epoch and now.is_start_open:
            now.begin_at(offset, ref)
        if offset > self.low:
            self._reaches(offset, event)
            self.end, self.growing = None, True

    def _full(self, event: Event) -> None:
        last = self.now.last_step
        known = last is not None and (last.kind, last.target) == (StepKind.TRUNCATED_FULLY, event.offset)
        if event.offset is not None and not (known and self.end == event.offset):
            remote = event.detail == FROM_REMOTE
            why = TruncationReason.REMOTE_LOG_END if remote else TruncationReason.LOG_START
            note = f"all removed, the log starts again at {event.offset}"
            self._step(StepKind.TRUNCATED_FULLY, event.offset, event, note, reason=why)

    def _plan(self, event: Event) -> None:
        if event.leo is not None and event.leo >= 0:
            self._noop(event)
        hw = event.hw
        # If its leader knows none of its epochs, a follower uses its initial fetch offset instead. That is its high
        # watermark, unless its log has epochs and it truncates on fetch (ReplicaManager.initialFetchOffset).
        known = self.facts.protocol
        starts_at_hw = known.truncates_to_hw(event.run) or known.truncates_on_fetch is Answer.NO
        if event.detail == INITIAL_FETCH_OFFSET and starts_at_hw:
            hw = event.offset
        if hw is not None:
            self._hw_at_start(hw, event)
        if event.offset is not None:
            reason = TruncationReason.HIGH_WATERMARK if hw is not None else TruncationReason.LEADER_EPOCH
            ref = Ref(row=event.row, note=f"decided to truncate to {event.offset}")
            answer = _answer(event)
            self.planned = Step(StepKind.TRUNCATED, event.offset, None, 0, reason, event.time, (ref,), answer=answer)

    def _reset(self, event: Event) -> None:
        """Handle a follower whose log end offset is not within its leader's log
        (AbstractFetcherThread.fetchOffsetAndTruncate).

        It truncates to the leader's log end offset if that is lower. If the leader's log starts above it, it removes
        everything and starts there; default logging has no line for that. A line logged after this gives the offset of
        before.
        """
        if event.leo is None and event.log_start is None:
            return
        if event.offset is not None:
            self._exact(event.offset, Ref(row=event.row, note=f"log end offset {event.offset}"))
            start = event.log_start
            if start is not None and start > event.offset:
                why = TruncationReason.LOG_START
                self._step(StepKind.TRUNCATED_FULLY, start, event, f"its leader's log starts at {start}", reason=why)
                self.growing = True
        if event.leo is not None:
            ref = Ref(row=event.row, note=f"the leader's log ends at {event.leo}")
            reason = TruncationReason.LEADER_END_OFFSET
            done = self.now.last_step
            if done is not None and done.kind is StepKind.TRUNCATED and done.target == event.leo == event.offset:
                done.reason, done.refs = reason, (*done.refs, ref)  # 0.8 logs this after the truncation
            else:
                self.planned = Step(StepKind.TRUNCATED, event.leo, None, 0, reason, event.time, (ref,))

    def _fetcher(self, event: Event) -> None:
        self._role_by_fetcher(event)
        now = self.now
        if now.role is not Role.FOLLOWER:
            return
        if now.leader is None:
            now.leader = event.leader
        if event.offset is not None and self.facts.protocol.starts_fetching_at_hw is Answer.YES:
            self._hw_at_start(event.offset, event)
        elif event.offset is not None and self.facts.protocol.starts_fetching_at_leo is Answer.YES:
            ref = Ref(row=event.row, note=f"fetches from {event.offset}")
            if now.is_start_open:
                now.begin_at(event.offset, ref)
            self._exact(event.offset, ref)
        # An exact value stays exact for the fetcher's first decision, the reconciliation; then records arrive.
        self.growing = self.fetching = True

    def _role_by_fetcher(self, event: Event) -> None:
        """A fetcher was added for the replica, so it follows, in the leader epoch that the line names.

        Only in an epoch above those of all lines that name its role: role lines state more, and their order counts.
        """
        epoch, leader = event.leader_epoch, event.leader
        if epoch is None or epoch <= self.last_stated or leader is None or leader < 0 or leader == self.replica:
            return
        if self._is_stale(event, epoch) or not self._is_another(event, epoch):
            return
        ref = Ref(row=event.row, note=f"{Role.FOLLOWER} at leader epoch {epoch}, by its fetcher")
        self._begin(event, epoch, Role.FOLLOWER, leader, ref)

    def _appended(self, event: Event) -> None:
        self.traced = self.traced or event.message == TRACE
        end = stated_end(event)
        if end is not None and end >= 0:
            self._note_shorter(event, end)
            # Every append is printed at this level, so the end stays exact.
            self._note_own_records(event, end)
            self.growing = event.kind == Kind.FETCH_REFUSED
            self._exact(end, Ref(row=event.row, note=f"log end offset {end}"), sampled=not self.growing)
            # A request with the last epoch of the log asks to be reconciled with its leader (KIP-595, from 2.8 on).
            self.now.fetched |= event.previous_epoch in (None, event.leader_epoch)
        self._hw(event)

    def _note_shorter(self, event: Event, end: int) -> None:
        """Note that a trace that claims nothing leaves out what shortened the log."""
        if end < self.low and self._may_have_grown(event):
            self._lose_track(event)

    def _at_least(self, event: Event) -> None:
        end = stated_end(event)
        if end is not None and event.kind == Kind.FOLLOWER_FETCHED:
            self._note_shorter(event, end)
        if end is not None and end > self.low:
            self._reaches(end, event)
            self.end, self.growing = None, True
            self.now.fetched = True
        self._hw(event)

    def _rolled(self, event: Event) -> None:
        """Record the log end offset at which a segment was rolled or a producer snapshot taken, by the running
        process.
        """
        now, end = self.now, stated_end(event)
        if event.kind == Kind.ROLLED:
            self.rolled = end or 0
        if end is None or self.at_rest or self.recovering or event.run != now.run or end <= self.low:
            return
        self._reaches(end, event)
        self.end, self.growing = None, True
        if now.role is Role.LEADER and now.is_alone:
            now.alone = Sample(end, Ref(row=event.row, note=f"alone in the ISR with log end offset {end}"), event.time)


def _answer(event: Event) -> EpochAnswer | None:
    """The answer of a leader that a planned truncation names."""
    epoch, end = event.leader_epoch, answered_end(event.detail)
    return EpochAnswer(epoch, end) if epoch is not None and end is not None else None


_HANDLERS: dict[str, Callable[[Reader, Event], None]] = {
    Kind.LEADER_AND_ISR: Reader._role,
    Kind.BECOME_LEADER: Reader._role,
    Kind.BECOME_FOLLOWER: Reader._role,
    Kind.ROLE_UNCHANGED: Reader._isr,
    Kind.ISR_REJECTED: Reader._isr_rejected,
    Kind.LOG_LOADED: Reader._loaded,
    Kind.LOG_MOVED: Reader._moved,
    Kind.RECOVERY: Reader._recovery,
    Kind.UNCLEAN_RESTART: Reader._unclean,
    Kind.SHUTDOWN_BEGIN: Reader._shut_down,
    Kind.SHUTDOWN_COMPLETE: Reader._shut_whole,
    Kind.CORRUPTION_CUT: Reader._corrupt,
    Kind.DIR_FAILED: Reader._directory_failed,
    Kind.STORAGE_ERROR: Reader._storage_error,
    Kind.DIR_EMPTY: Reader._directory_empty,
    Kind.BROKER_REGISTERED: Reader._registered,
    Kind.METADATA_LOADED: Reader._directory_older,
    Kind.LOG_CREATED: Reader._created,
    Kind.LOG_DELETED: Reader._deleted,
    Kind.TRANSITION: Reader._asked_to_stop,
    Kind.HW_LOADED: Reader._loaded_hw,
    Kind.TRUNCATE: Reader._truncate,
    Kind.EPOCH_CUT: Reader._epochs_removed,
    Kind.TRUNCATE_NOOP: Reader._noop,
    Kind.TRUNCATE_FULL: Reader._full,
    Kind.TRUNCATE_PLAN: Reader._plan,
    Kind.EPOCH_ASSIGNED: Reader._epoch_begins,
    Kind.FETCHER_ADDED: Reader._fetcher,
    Kind.FETCH_RESET: Reader._reset,
    Kind.APPEND: Reader._appended,
    Kind.LEO: Reader._appended,
    Kind.FETCH_REFUSED: Reader._appended,
    Kind.LEADER_HW: Reader._at_least,
    Kind.FOLLOWER_FETCHED: Reader._at_least,
    Kind.ROLLED: Reader._rolled,
    Kind.PRODUCER_SNAPSHOT: Reader._rolled,
    Kind.HW: Reader._hw,
    Kind.TRUNCATE_BELOW_HW: Reader._below_hw,
    Kind.PRODUCED: Reader._produced,
    Kind.CONSUMED: Reader._produced,
    Kind.HW_MISSING: Reader._hw_missing,
    Kind.HW_REGRESSED: Reader._hw_regressed,
    Kind.REMOTE_LEO: Reader._lagging,
    Kind.HW_HELD: Reader._held,
    Kind.ISR_SHRINK: Reader._isr,
    Kind.ISR_EXPAND: Reader._isr,
    Kind.ISR_COMMIT: Reader._isr,
}
"""Handler of each kind of observation about a replica; other kinds do not change it."""
