"""Lines that a broker must have logged about a replica and that are absent, by its own other lines.

What a broker does to a replica it logs in several lines, in two files. Examples are a request and the steps that carry
it out, a truncation and the state that it rebuilds afterwards, and the load of a log. If one of these lines is alone,
the others are missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from forensics.case.printers import OUT_OF_ORDER
from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.coverage import MissingLines, Omission
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import PROGRESS, Event
from forensics.replay.facts.partition_lines import JUMPED
from forensics.replay.history import Role
from forensics.replay.omissions.own_line_pairs import (
    APPEND_JUMPED,
    APPENDED_BELOW_END,
    APPENDED_BEYOND_END,
    CLOCK_SET_BACK,
    CREATED_AGAIN,
    EARLIER_ROLE,
    EPOCHS_FORGOTTEN,
    EPOCHS_TRUNCATED,
    FETCHED_AS_LEADER,
    FETCHER_OF_OTHER_ROLE,
    FIRST_ROLE_AGAIN,
    GREW_BEFORE_ROLE,
    HW_BEYOND_APPENDS,
    ISR_CHANGED,
    LATE_LOG,
    LATER_ROLE,
    METADATA_AHEAD,
    NO_FETCHER,
    NO_FETCHER_REMOVED,
    NO_LEADER_START,
    NO_LOAD,
    NO_REQUEST,
    NOT_OPENED,
    NOT_TRUNCATED,
    OPENED_AGAIN,
    OTHER_LEADER,
    RECOVERED,
    SAME_EPOCH_AGAIN,
    STATE_REBUILT,
    TRUNCATED_AGAIN,
    TRUNCATED_AS_FOLLOWER,
    TRUNCATED_BEYOND_APPENDS,
    TRUNCATION_PLANNED,
    UNSEEN_PROCESS,
)
from forensics.replay.protocol import Answer
from forensics.replay.roles.role_spans import named_role
from parsers.details import AMBIGUOUS, BY_REQUEST, DONE, FROM_REMOTE, MOVED, ROLE_STEPS, SAME_LEADER, Transition
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

JOURNAL = (
    Kind.TRANSITION,
    Kind.STALE_REQUEST,
    Kind.EPOCH_CUT,
    Kind.MESSAGE_FORMAT,
    Kind.METADATA_CACHED,
    Kind.PROCESS_STARTED,
    Kind.SHUTDOWN_BEGIN,
    Kind.FETCHER_REMOVED,
    Kind.HW_MISSING,
)
"""Lines that show that others were printed, and nothing else."""

WITH_OTHERS = (Kind.FETCHER_REMOVED, Kind.HW_MISSING)
"""Those that show nothing of a replica unless the broker has other lines about it: a replica that it had no longer, or
a log that it never made."""

FOLLOWS = "where the append before it ended"
"""Detail of an append after one that was left out because it could not matter."""

_OF_ITSELF = frozenset({*PROGRESS, Kind.PROCESS_STARTED, Kind.SHUTDOWN_BEGIN, Kind.UNCLEAN_RESTART})
"""Lines that may occur between two appends of one log: progress, and lines about the process itself."""


_REMOVES_EPOCHS = frozenset(
    {
        Kind.EPOCH_CUT,
        Kind.EPOCH_CONFLICT,
        Kind.TRUNCATE,
        Kind.TRUNCATE_FULL,
        Kind.TRUNCATE_NOOP,
        Kind.FETCH_RESET,
        Kind.LOG_CREATED,
        Kind.LOG_LOADED,
        Kind.LOG_DELETED,
        Kind.DIR_FAILED,
    }
)
"""Lines after which an epoch cache may hold fewer epochs, or another log be in use. A reset to where the leader's log
starts empties the cache without a line of its own (Log.truncateFullyAndStartAt)."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Missing lines.

    Attributes:
        row: the line that shows it; the missing lines were before or right after it.
        shown_by: the omission.
        values: values that its sentence names.
    """

    row: int
    shown_by: Omission
    values: dict[str, object]

    def of(self, replica: int) -> MissingLines:
        """Return these as missing lines of a replica."""
        text = self.shown_by.of(replica, self.values).text
        return replace(self.shown_by.of(replica, self.values, ref=Ref(row=self.row, note=text)), placed=True)


class OwnLines:
    """Reads the lines of one broker about its replica and finds missing lines between them.

    Args:
        replica: broker id.
        always_truncates: the broker truncates each time it becomes follower and logs it, even if it removes nothing.
        logs_leader_start: as leader it logs the offset at which its leader epoch starts.
        logs_opened_log: it logs the high watermark with which it opens the log.
    """

    def __init__(
        self,
        replica: int,
        *,
        always_truncates: bool = False,
        logs_leader_start: bool = False,
        logs_opened_log: bool = False,
    ) -> None:
        self.replica = replica
        self.always_truncates = always_truncates
        self.gaps: list[Gap] = []
        self.run = -1
        self.logs_leader_start = logs_leader_start
        self.logs_opened_log = logs_opened_log
        self.first: int | None = None  # line of it in the evidence
        self.telling: set[int] = set()  # processes of it that print this, whatever their release
        self._fresh()

    def _fresh(self) -> None:
        """Begin a new process, without any role."""
        self.epoch = -1
        self.epoch_before = -1  # of the role before
        self.role: Role | None = None
        self.before: Role | None = None  # the role before
        self.began = -1  # line at which its role began
        self.leader: int | None = None
        self.followed: int | None = None  # leader in the role before, or in the one before that if there was none
        self.first_role: int | None = None
        self.first_epoch: int | None = None
        self.leading = False  # certainly: its fetcher was stopped
        self.requested = False  # a request is being carried out
        self.asked: int | None = None  # leader epoch of the last request
        self.done: int | None = None  # leader epoch of the last one that was carried out
        self.to_fetch: int | None = None  # a follower's role whose fetcher has not been started
        self.to_remove: int | None = None  # a leader's role before which no fetcher was removed
        self.removed = False  # a fetcher, since the last role
        self.to_lead: int | None = None  # has to lead, and has not logged from which offset it does
        self.truncated: int | None = None  # last target
        self.reconciled = False  # truncated since it became a follower
        self.rebuilt: int | None = None  # state rebuilt, and neither a load nor a truncation explains it
        self.reset = False  # its leader's log ended before its own
        self.planned: int | None = None  # a truncation that was decided and not yet done
        self.recovering: int | None = None
        self.recovers_another = False  # another directory of that name
        self.present = False  # this process loaded or created its log
        self.used = False  # and fetched into it, or had it in a role before this one
        self.failed = False  # its log directory
        self.moved = False  # it was loaded in another directory while in use
        self.snapshot: Event | None = None  # of producers, within its log; a load takes one too, and logs it afterwards
        self.found: int | None = None  # the end of that log, until the first role is carried out
        self.cached: tuple[int, int] | None = None  # an epoch seen in metadata, ahead of the role
        self.up = False  # the process has started, and found no log
        self.started = False  # the process has
        self.stopping = False  # the process is
        self.stopped = False  # the replica was stopped by request
        self.to_open: int | None = None  # a log of which no line shows that it was opened
        self.was_opened = False
        self.opened: int | None = None  # high watermark with which it was
        self.served: int | None = None  # last leader epoch of a role that it took up without doubt
        self.led_from: int | None = None  # the offset from which it led that
        self.end: int | None = None  # of the log, by the last append, where each is printed
        self.next: int | None = None  # the first other line after that append
        self.noted: int | None = None  # latest leader epoch in its cache, by the last line that adds one

    def read(self, events: Iterable[Event]) -> list[Gap]:
        """Read all of the broker's lines, in order, and return the gaps."""
        events = list(events)
        self.first = next((event.row for event in events), None)
        self.telling = {event.run for event in events if event.kind == Kind.BECOME_LEADER}
        last: Event | None = None
        for event in events:
            if event.message == TRACE:
                return []  # a trace states everything once
            if self.next is None and event.kind not in _OF_ITSELF:
                self.next = event.row
            if event.run != self.run:
                self._over(last)
                self.run = event.run
                self._fresh()
            self._handle(event)
            if event.kind != Kind.PROCESS_STARTED:  # a role may precede the line about the process
                last = event
        self._over(last)
        return self.gaps

    def _handle(self, event: Event) -> None:
        if event.kind in _REMOVES_EPOCHS:
            self.noted = None
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event)

    def _add_gap(self, row: int | None, shown_by: Omission, **values: object) -> None:
        if row is not None:
            self.gaps.append(Gap(row, shown_by, values))

    # -- roles --------------------------------------------------------------------------------------------------------

    def _role(self, event: Event) -> None:
        if event.leader_epoch is None:
            return
        epoch = event.leader_epoch
        if event.kind == Kind.LEADER_AND_ISR:
            self.requested, self.asked = True, epoch
        previous = event.previous_epoch
        known = self.epoch if self.epoch < epoch else self.epoch_before  # a request names the role first
        if previous is not None and known < previous < epoch and (self.run > 0 or known >= 0):
            self._add_gap(event.row, EARLIER_ROLE, epoch=previous)
        if event.kind == Kind.BECOME_LEADER:
            self.to_lead = None
        if event.kind != Kind.LEADER_AND_ISR:
            self._note_role_taken_up(event, epoch)
        if epoch > self.epoch:
            self._end_role(epoch)
            self._begin_role(event, epoch)
        elif epoch == self.epoch:
            self.leader = self.leader if self.leader is not None else event.leader
            self.leading = self.leading or event.kind == Kind.BECOME_LEADER

    def _end_role(self, epoch: int) -> None:
        """End the role before one of a later epoch."""
        self._settled()
        self.used = self.used or (self.present and not self.failed and self.role is not None)
        if self.role is not Role.OFFLINE:
            self.followed = self.leader
        if self.cached is not None and self.cached[0] < epoch:
            self._add_gap(self.cached[1], METADATA_AHEAD, epoch=self.cached[0])
        self.cached = None
        self.epoch_before, self.before = self.epoch, self.role

    def _begin_role(self, event: Event, epoch: int) -> None:
        """Begin the role that a line states, of an epoch later than any before."""
        self.epoch, self.role = epoch, named_role(event, self.replica)
        self.began = event.row
        leads = self.role is Role.LEADER
        self.leader = self.replica if leads else event.leader
        if self.first_role is None:
            self.first_role, self.first_epoch = event.row, epoch
            if self.run > 0:
                self._expect_opened(event.row)
        if event.kind != Kind.LEADER_AND_ISR:
            self._begins(event.leo if event.leo is not None else event.hw)
        self.leading = event.kind == Kind.BECOME_LEADER
        if leads:
            self.found = None
        self.to_fetch = event.row if self.role is Role.FOLLOWER else None
        self.reconciled = False
        self._expect_lines_of_leader(event)

    def _expect_lines_of_leader(self, event: Event) -> None:
        """Expect what a leader's role has in other lines: that its fetcher was removed, and where its epoch starts.

        A request is printed before the fetcher is removed, "Leader ... starts" after it. Lines may begin in between.
        """
        leads, asked = self.role is Role.LEADER, event.kind == Kind.LEADER_AND_ISR
        removed = event.kind == Kind.BECOME_LEADER and (self.removed or self.first == event.row)
        starts = self.logs_leader_start or self.run in self.telling
        self.to_remove = event.row if leads and not removed else None
        self.to_lead = event.row if leads and asked and starts else None
        self.removed = False

    def _note_role_taken_up(self, event: Event, epoch: int) -> None:
        """A role that calls itself the first of its process is not, where the process had one before: of an earlier
        epoch, or it led this one from another offset.
        """
        leads = event.kind == Kind.BECOME_LEADER
        again = leads and None not in (self.led_from, event.leo) and self.led_from != event.leo
        served = self.served is not None and (self.served < epoch or (again and self.served == epoch))
        if event.previous_epoch == -1 and served and not self.stopped:
            self._add_gap(event.row, FIRST_ROLE_AGAIN, epoch=epoch, served=self.served)
        self.served, self.led_from = epoch, event.leo if leads else None

    def _settled(self) -> None:
        """Another role begins: lines that belong to the one before must be there by now."""
        if self.to_fetch is not None and not self.stopping:  # who is shutting down starts none
            self._add_gap(self.to_fetch, NO_FETCHER, epoch=self.epoch)
        self._add_gap(self.to_remove, NO_FETCHER_REMOVED, epoch=self.epoch)
        self._add_gap(self.to_lead, NO_LEADER_START, epoch=self.epoch)
        if self.to_open is not None and self.to_open <= self.began:  # before the role that ends now
            self._add_gap(self.to_open, NOT_OPENED)
            self.to_open = None
        if self.present:  # a new log has its line after the role that asks for it
            self._log_settled()

    def _log_settled(self) -> None:
        if self.rebuilt is not None:
            self._add_gap(self.rebuilt, STATE_REBUILT)
        if self.planned is not None:
            self._add_gap(self.planned, TRUNCATION_PLANNED)
        if self.recovering is not None:
            self._add_gap(self.recovering, RECOVERED)
        self.rebuilt = self.planned = self.recovering = None

    def _over(self, last: Event | None) -> None:
        """Check the last role when the process or the evidence ends."""
        if last is None:
            return
        if self.snapshot is not None and self.first_role is None:
            self._begins(self.snapshot.offset, self.snapshot.row)
        if self.to_fetch is not None and self.to_fetch != last.row and not self.stopping:
            self._add_gap(self.to_fetch, NO_FETCHER, epoch=self.epoch)
        self._add_gap(self.to_remove, NO_FETCHER_REMOVED, epoch=self.epoch)
        if self.to_lead != last.row:
            self._add_gap(self.to_lead, NO_LEADER_START, epoch=self.epoch)
        self._log_settled()
        if self.to_open != last.row:
            self._add_gap(self.to_open, NOT_OPENED)
        if self.first_role is not None and not self.present and (self.run > 0 or self.first_epoch == 0):
            self._add_gap(self.first_role, NO_LOAD)
        if self.cached is not None and not self.stopping and self.first_role is not None:
            self._add_gap(self.cached[1], METADATA_AHEAD, epoch=self.cached[0])

    def _unchanged(self, event: Event) -> None:
        if event.leader_epoch is not None and event.leader_epoch > self.epoch:
            self._add_gap(event.row, LATER_ROLE, epoch=event.leader_epoch)
        elif event.detail == SAME_LEADER:
            self.to_fetch, self.reconciled = None, True
            if None not in (event.leader, self.followed) and event.leader != self.followed:
                self._add_gap(event.row, OTHER_LEADER, leader=event.leader)

    def _refused(self, event: Event) -> None:
        known = event.previous_epoch if event.previous_epoch is not None else event.leader_epoch
        if known is not None and known > self.epoch and (self.run > 0 or self.epoch >= 0):
            self._add_gap(event.row, LATER_ROLE, epoch=known)
        self.requested, self.to_remove = False, None

    def _step(self, event: Event) -> None:
        """Handle a step of a request that is being carried out."""
        if event.detail == Transition.LEADER_UNAVAILABLE:
            self.to_fetch, self.role, self.asked = None, Role.OFFLINE, None
            return
        if event.detail not in (*ROLE_STEPS, *DONE):
            self.stopping = self.stopped = True
            return
        if not self.requested:
            self._add_gap(event.row, NO_REQUEST)
            self.requested = True
        if event.detail in DONE:
            # A process does not take up an epoch in which it already is (Partition.makeFollower, ReplicaManager).
            if self.asked is not None and self.asked == self.done:
                self._add_gap(event.row, SAME_EPOCH_AGAIN, epoch=self.done)
            self.requested, self.done = False, self.asked
            self.leading = self.role is Role.LEADER and self.asked == self.epoch

    def _cached(self, event: Event) -> None:
        epoch = event.leader_epoch
        if event.leader is None or event.leader < 0:
            return
        # A new process receives metadata of all partitions before it receives its roles.
        if epoch is not None and epoch > self.epoch >= 0 and not self.stopping:
            self.cached = (epoch, event.row)

    # -- fetchers -----------------------------------------------------------------------------------------------------

    def _started(self, event: Event) -> None:
        known = (event.leader_epoch, event.leader)
        other = self.role is not Role.FOLLOWER
        other = other or (None not in (self.leader, known[1]) and known[1] != self.leader)
        other = other or (known[0] is not None and known[0] != self.epoch)
        if other:
            self._add_gap(event.row, FETCHER_OF_OTHER_ROLE, leader=event.leader)
        elif self.always_truncates and not self.reconciled:
            self._add_gap(event.row, NOT_TRUNCATED, leader=event.leader)
        self.removed = False
        self._begins(event.offset)
        self.used = self.used or (self.present and not self.failed)
        self.to_fetch, self.found, self.served = (
            None,
            None,
            self.epoch if self.epoch >= 0 else self.served,
        )

    def _removed(self, event: Event) -> None:
        self.removed, self.to_remove = True, None

    def _fetched(self, event: Event) -> None:
        if self.leading:
            self._add_gap(event.row, FETCHED_AS_LEADER)
            self.leading = False
        elif event.leader is not None and None is not self.leader != event.leader != self.followed:
            self._add_gap(event.row, FETCHER_OF_OTHER_ROLE, leader=event.leader)
            self.leader = event.leader

    def _begins(self, end: int | None, row: int | None = None) -> None:
        """Check the start of the first role: a process writes nothing before it, so its log is as long as it was
        found.
        """
        if end is not None and self.found is not None and end > self.found:
            shown = self.first_role if self.first_role is not None else row
            self._add_gap(shown, GREW_BEFORE_ROLE, end=end, found=self.found)
            self.found = None

    # -- the log ------------------------------------------------------------------------------------------------------

    def _appended(self, event: Event) -> None:
        """Handle an append: a log prints each of them (kafka.log.Log at TRACE).

        A leader's append begins where the last one ended. A follower's may begin later, if its leader's log was
        compacted.
        """
        if event.detail == BY_REQUEST or event.leo is None:
            return
        end, offset = self._ended(), event.offset
        if offset is not None and self.end is not None and offset < self.end:
            self._add_gap(event.row, APPENDED_BELOW_END, end=self.end, offset=offset)
        elif self.role is Role.LEADER and offset is not None and end is not None and offset > end:
            self._add_gap(self.next, APPENDED_BEYOND_END, end=end, offset=offset)
        elif self.role is Role.LEADER and event.detail == JUMPED:
            self._add_gap(event.row, APPEND_JUMPED, offset=offset)
        self.end, self.next = event.leo, None

    def _ended(self) -> int | None:
        """Return the log end offset by its last append; None if others may follow, because replay reads only some of a
        series.
        """
        return self.end if self.next is not None else None

    def _reached(self, event: Event) -> None:
        """Handle a high watermark: it is within the log."""
        end = self._ended()
        if end is not None and event.hw is not None and event.hw > end:
            self._add_gap(self.next, HW_BEYOND_APPENDS, end=end, high_watermark=event.hw)
            self.end = None

    def _rolled(self, event: Event) -> None:
        self._begins(event.offset, event.row)

    def _snapshot(self, event: Event) -> None:
        if self.recovering is None and not self.recovers_another:
            self.snapshot = event

    def _truncate(self, event: Event) -> None:
        if self.role is Role.LEADER or (self.role is None and self.run > 0):
            self._add_gap(event.row, TRUNCATED_AS_FOLLOWER, offset=event.offset)
        if self.always_truncates and self.reconciled and not self.reset and self.role is Role.FOLLOWER:
            self._add_gap(event.row, TRUNCATED_AGAIN, offset=event.offset)
        if event.kind == Kind.TRUNCATE_FULL and event.detail == FROM_REMOTE:
            self.rebuilt = None  # this line is logged first
        end = self._ended()
        if end is not None and event.kind == Kind.TRUNCATE and event.offset is not None and event.offset > end:
            self._add_gap(self.next, TRUNCATED_BEYOND_APPENDS, end=end, offset=event.offset)
        self.truncated, self.planned, self.reconciled, self.reset = event.offset, None, True, False
        self.end = None

    def _reset(self, event: Event) -> None:
        self.reset = True
        if event.log_start is not None:
            self.truncated = event.log_start  # no line reports a log that restarts where its leader's log starts

    def _noop(self, event: Event) -> None:
        self.planned = None
        self.truncated = event.offset  # the log loses nothing; its leader epochs may lose one without records

    def _plan(self, event: Event) -> None:
        if event.offset is not None:
            self.planned = event.row

    def _epochs_removed(self, event: Event) -> None:
        # While it loads its logs, lines are about the directory being loaded; one that waits for deletion has the same
        # name.
        loading = self.role is None and not self.up
        if self.truncated != event.offset and self.present and not loading:
            self._add_gap(event.row, EPOCHS_TRUNCATED, offset=event.offset)

    def _noted(self, event: Event) -> None:
        """Handle a leader epoch that is added to the cache: up to 1.1 the line names the latest that was there."""
        had, current = self.noted, event.previous_epoch
        if had is not None and current is not None and current < had:
            self._add_gap(event.row, EPOCHS_FORGOTTEN, had=had, epoch=event.leader_epoch, current=current)
        self.noted = event.leader_epoch

    def _rebuild(self, event: Event) -> None:
        if event.leo is not None and event.leo != self.truncated and not self._loads_another():
            self.rebuilt = event.row

    def _recovery(self, event: Event) -> None:
        if self._loads_another():
            self.recovers_another = True
        else:
            self.recovering = event.row

    def _loads_another(self) -> bool:
        """Return whether a process that has loaded the log still loads its logs: then a line is about another
        directory of the same name, which waits for deletion (LogManager.loadLog).
        """
        return self.present and self.role is None and not self.started

    def _loaded(self, event: Event) -> None:
        self.moved = event.detail == MOVED
        if self.up and event.leo and not self.moved and not self.present:
            # It loads its logs before it has started (KafkaServer.startup, BrokerServer.startup).
            self._add_gap(event.row, LATE_LOG)
        if not self.moved and self.epoch >= 0 and event.leo and self.present:
            # the first line of this process is missing
            self._over(event)
            self._fresh()
        self.rebuilt = self.recovering = self.end = self.snapshot = None
        if event.leo is not None and self.first_role is None:
            self.found = max(event.leo, self.found or 0)
        self.present = True

    def _expect_opened(self, row: int) -> None:
        """Expect the line of a log that this process opens now."""
        if self.logs_opened_log and not self.was_opened:
            self.to_open = row

    def _found_none(self, _: Event) -> None:
        """Handle that there is no checkpointed high watermark: a line of a log that is opened too."""
        self.to_open, self.was_opened = None, True

    def _opened(self, event: Event) -> None:
        """Handle a high watermark of a log that is opened.

        A process opens the log of a partition once (Partition.createLog, 2.4 and later; before that, lines name every
        replica of a role). It finds a higher high watermark only if a process in between had a role.
        """
        self.to_open, self.was_opened = None, True
        if event.hw is None or event.detail == AMBIGUOUS:
            return
        if self.opened is not None and event.hw > self.opened and not self.stopped:
            self._add_gap(event.row, OPENED_AGAIN)
            self._fresh()
        self.opened = event.hw

    def _made(self, event: Event) -> None:
        # A process creates no log where it has one (LogManager.getOrCreateLog).
        if self.used and not self.stopped:
            self._add_gap(event.row, CREATED_AGAIN)
        self.used = self.failed = False
        self.rebuilt = self.end = None
        self.present = True
        self._expect_opened(event.row)

    def _leads(self, event: Event) -> None:
        # If it receives a leader that is not alive, it keeps its former role (ReplicaManager.makeFollowers). Its own
        # thread may shrink the ISR a moment after it stops to lead, until the request is carried out.
        goes_on = self.before is Role.LEADER and self.to_fetch is not None
        if (self.role is Role.FOLLOWER and not goes_on) or (self.role is None and self.run > 0):
            self._add_gap(event.row, ISR_CHANGED)

    def _up(self, event: Event) -> None:
        self.up, self.started = not self.present, True
        if self.up:  # it loaded a directory that waits for its deletion
            self.rebuilt = self.recovering = self.snapshot = None

    def _stop(self, event: Event) -> None:
        self.stopping = True

    def _failed(self, event: Event) -> None:
        self.used, self.failed = False, True  # a new log is created in another directory (KIP-112)
        self.to_fetch = self.to_lead = None  # a replica that is offline takes up no role (ReplicaManager, 1.1)

    def _gone(self, event: Event) -> None:
        moved = self.moved
        self._fresh()
        self.present = moved  # the log in the other directory


_HANDLERS: dict[str, Callable[[OwnLines, Event], None]] = {
    Kind.LEADER_AND_ISR: OwnLines._role,
    Kind.BECOME_LEADER: OwnLines._role,
    Kind.BECOME_FOLLOWER: OwnLines._role,
    Kind.ROLE_UNCHANGED: OwnLines._unchanged,
    Kind.STALE_REQUEST: OwnLines._refused,
    Kind.TRANSITION: OwnLines._step,
    Kind.METADATA_CACHED: OwnLines._cached,
    Kind.FETCHER_ADDED: OwnLines._started,
    Kind.FETCHER_REMOVED: OwnLines._removed,
    Kind.TRUNCATE: OwnLines._truncate,
    Kind.TRUNCATE_FULL: OwnLines._truncate,
    Kind.TRUNCATE_NOOP: OwnLines._noop,
    Kind.FETCH_RESET: OwnLines._reset,
    Kind.TRUNCATE_PLAN: OwnLines._plan,
    Kind.EPOCH_CUT: OwnLines._epochs_removed,
    Kind.EPOCH_ASSIGNED: OwnLines._noted,
    Kind.MESSAGE_FORMAT: OwnLines._rebuild,
    Kind.RECOVERY: OwnLines._recovery,
    Kind.LOG_LOADED: OwnLines._loaded,
    Kind.LOG_CREATED: OwnLines._made,
    Kind.HW_LOADED: OwnLines._opened,
    Kind.HW_MISSING: OwnLines._found_none,
    Kind.LOG_DELETED: OwnLines._gone,
    Kind.DIR_FAILED: OwnLines._failed,
    Kind.ISR_SHRINK: OwnLines._leads,
    Kind.ISR_EXPAND: OwnLines._leads,
    Kind.PROCESS_STARTED: OwnLines._up,
    Kind.SHUTDOWN_BEGIN: OwnLines._stop,
    Kind.APPEND: OwnLines._appended,
    Kind.HW: OwnLines._reached,
    Kind.HW_HELD: OwnLines._reached,
    Kind.ROLLED: OwnLines._rolled,
    Kind.PRODUCER_SNAPSHOT: OwnLines._snapshot,
    Kind.FOLLOWER_FETCHED: OwnLines._fetched,
    Kind.LEADER_HW: OwnLines._fetched,
}


def gaps_in(broker: int, own: Sequence[Event], fact: BrokerFacts) -> list[Gap]:
    """Return missing lines between those of one broker about its replica, in the order in which they are found.

    If one of its two files is not in the evidence, only what the other one has to hold by itself counts.
    """
    if not fact.lines.printed:
        return []
    always_truncates = fact.protocol.always_truncates_as_follower is Answer.YES
    logs_leader_start = fact.protocol.logs_leader_start is Answer.YES
    logs_opened_log = fact.protocol.logs_opened_log is Answer.YES
    found = OwnLines(
        broker,
        always_truncates=always_truncates,
        logs_leader_start=logs_leader_start,
        logs_opened_log=logs_opened_log,
    ).read(own)
    unseen = fact.lines.unseen_process
    if own and unseen is not None:
        # Unknown between which of its processes that one ran, or whether it was the last.
        begins = [two.row for one, two in itertools.pairwise(own) if one.run != two.run]
        found += [Gap(row, UNSEEN_PROCESS, {"broker_epoch": unseen}) for row in (*begins, own[-1].row)]
    found = [*(Gap(row, CLOCK_SET_BACK, {}) for row in _set_back(own)), *found]  # it explains the others
    return [gap for gap in found if gap.shown_by.about <= fact.lines.printed]


def _set_back(own: Sequence[Event]) -> Iterator[int]:
    """Yield the rows of lines that have an earlier time than one before them, and of the first one behind these.

    Lines of one file are in their order, whatever their times. Those of two files are in the order of their times.
    """
    latest, fallen = 0, False
    for event in own:
        if event.time is None or event.message == TRACE:
            continue
        was, fallen = fallen, event.time < latest - OUT_OF_ORDER
        latest = max(latest, event.time)
        if was or fallen:
            yield event.row
