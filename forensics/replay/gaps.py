"""Lines that a broker must have printed and that are not in the evidence.

What a broker does to a replica it tells in several lines, in two files: a request and the steps of carrying it out, the
fetchers it stops and starts, the truncation and the state it rebuilds from there, the load of a log by each process.
Where one of them stands alone, the others are missing, and nothing that follows from this broker's lines is sure.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.events import Event
from forensics.replay.history import BrokerFacts, Epoch, Role
from forensics.replay.isr import isr_text
from forensics.replay.leading import NO_FACTS
from forensics.replay.steps import Tenure
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import AMBIGUOUS, MOVED, ROLES, Kind

JOURNAL = (
    Kind.TRANSITION,
    Kind.STALE_REQUEST,
    Kind.EPOCH_CUT,
    Kind.MESSAGE_FORMAT,
    Kind.METADATA_CACHED,
    Kind.SHUTDOWN_BEGIN,
)
"""What says of other lines that they were printed, and nothing else."""


_AT_ONCE = 5_000_000
"""Microseconds within which a broker may take several records of the metadata log at once; when it is behind, more."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Missing lines.

    Attributes:
        row: the line that shows it; what is missing stood before or right behind it.
        why: in words.
    """

    row: int
    why: str


class Journal:
    """Follows the lines of one broker about its replica and finds what is missing between them.

    Args:
        replica: broker id.
        always_cuts: followers truncate whenever they take up a leader, and print it (ReplicaManager.makeFollowers to
            0.10.2).
        tells_start: a leader prints at which offset it begins (Partition.makeLeader from 0.11 on).
    """

    def __init__(self, replica: int, *, always_cuts: bool = False, tells_start: bool = False) -> None:
        self.replica = replica
        self.always_cuts = always_cuts
        self.gaps: list[Gap] = []
        self.run = -1
        self.tells_start = tells_start
        self._fresh()

    def _fresh(self) -> None:
        """A new process, which knows nothing of roles."""
        self.epoch = -1
        self.role: Role | None = None
        self.leader: int | None = None
        self.followed: int | None = None  # leader in the role before, or in the one before that if there was none
        self.first_role: int | None = None
        self.first_epoch: int | None = None
        self.requested = False  # a request is being carried out
        self.asked: int | None = None  # leader epoch of the last request
        self.done: int | None = None  # leader epoch of the last one that was carried out
        self.to_fetch: int | None = None  # a follower's role whose fetcher has not been started
        self.to_lead: int | None = None  # asked to lead, and has not said from which offset it does
        self.truncated: int | None = None  # last target
        self.reconciled = False  # truncated since it became a follower
        self.rebuilt: int | None = None  # state rebuilt, and neither load nor truncation says why
        self.reset = False  # its leader's log ended before its own
        self.planned: int | None = None  # a truncation that was decided and not yet done
        self.recovering: int | None = None
        self.present = False  # its log was loaded or made by this process
        self.cached: tuple[int, int] | None = None  # an epoch heard of in metadata, ahead of the role
        self.stopping = False
        self.opened: int | None = None  # high watermark with which it was
        self.served: int | None = None  # last leader epoch of a role that it took up without doubt

    def read(self, events: Iterable[Event]) -> list[Gap]:
        """Read all of the broker's lines, in order, and give the gaps."""
        events = list(events)
        self.tells_start = self.tells_start or any(event.kind == Kind.BECOME_LEADER for event in events)
        last: Event | None = None
        for event in events:
            if event.message == TRACE:
                return []  # a trace states everything there is to state, each thing once
            if event.run != self.run:
                self._over(last)
                self.run = event.run
                self._fresh()
            handler = _HANDLERS.get(event.kind)
            if handler is not None:
                handler(self, event)
            last = event
        self._over(last)
        return self.gaps

    def _gap(self, row: int | None, why: str) -> None:
        if row is not None:
            self.gaps.append(Gap(row, why))

    # -- roles --------------------------------------------------------------------------------------------------------

    def _role(self, event: Event) -> None:
        if event.leader_epoch is None:
            return
        epoch = event.leader_epoch
        if event.kind == Kind.LEADER_AND_ISR:
            self.requested, self.asked = True, epoch
        previous = event.previous_epoch
        if previous is not None and self.epoch < previous < epoch and (self.run > 0 or self.epoch >= 0):
            self._gap(event.row, f"it had been in leader epoch {previous}")
        if event.kind == Kind.BECOME_LEADER:
            self.to_lead = None
            if previous == -1 and self.served is not None and self.served < epoch and not self.stopping:
                why = f"a process took up leader epoch {epoch} as its first, and it had served epoch {self.served}"
                self._gap(event.row, why)
            self.served = epoch
        if epoch <= self.epoch:
            if epoch == self.epoch and self.leader is None:
                self.leader = event.leader
            return
        self._settled()
        if self.role is not Role.OFFLINE:
            self.followed = self.leader
        if self.cached is not None and self.cached[0] < epoch:
            self._gap(self.cached[1], f"it heard of leader epoch {self.cached[0]}")
        self.cached = None
        self.epoch = epoch
        leads = event.kind == Kind.BECOME_LEADER or event.leader == self.replica
        gone = event.leader is not None and event.leader < 0
        self.role = Role.LEADER if leads else Role.OFFLINE if gone else Role.FOLLOWER
        self.leader = self.replica if leads else event.leader
        if self.first_role is None:
            self.first_role, self.first_epoch = event.row, epoch
        self.to_fetch = event.row if self.role is Role.FOLLOWER else None
        asked = leads and event.kind == Kind.LEADER_AND_ISR
        self.to_lead = event.row if asked and self.tells_start else None
        self.reconciled = False

    def _settled(self) -> None:
        """Another role begins: what belongs to the one before must have been said."""
        if self.to_fetch is not None:
            self._gap(self.to_fetch, f"no fetcher was started in leader epoch {self.epoch}")
        self._gap(self.to_lead, f"it never said where it began to lead in epoch {self.epoch}")
        if self.present:  # a log that is being made says so after the role that calls for it
            self._log_settled()

    def _log_settled(self) -> None:
        if self.rebuilt is not None:
            self._gap(self.rebuilt, "state was rebuilt for a load or a truncation that no line tells of")
        if self.planned is not None:
            self._gap(self.planned, "a truncation was decided of which no line tells the end")
        if self.recovering is not None:
            self._gap(self.recovering, "a log was recovered and no line tells its length")
        self.rebuilt = self.planned = self.recovering = None

    def _over(self, last: Event | None) -> None:
        """The process has ended, or the evidence."""
        if last is None:
            return
        if self.to_fetch is not None and self.to_fetch != last.row and not self.stopping:
            self._gap(self.to_fetch, f"no fetcher was started in leader epoch {self.epoch}")
        if self.to_lead != last.row:
            self._gap(self.to_lead, f"it never said where it began to lead in epoch {self.epoch}")
        self._log_settled()
        if self.first_role is not None and not self.present and (self.run > 0 or self.first_epoch == 0):
            self._gap(self.first_role, "no line tells how long the log was that the process found")
        if self.cached is not None and not self.stopping and self.first_role is not None:
            self._gap(self.cached[1], f"it heard of leader epoch {self.cached[0]}")

    def _unchanged(self, event: Event) -> None:
        if event.leader_epoch is not None and event.leader_epoch > self.epoch:
            self._gap(event.row, f"it was in leader epoch {event.leader_epoch}")
        elif event.detail == "follower: same leader":
            self.to_fetch, self.reconciled = None, True
            if None not in (event.leader, self.followed) and event.leader != self.followed:
                self._gap(event.row, f"it had followed broker {event.leader}")

    def _refused(self, event: Event) -> None:
        known = event.previous_epoch if event.previous_epoch is not None else event.leader_epoch
        if known is not None and known > self.epoch and (self.run > 0 or self.epoch >= 0):
            self._gap(event.row, f"it was in leader epoch {known}")
        self.requested = False

    def _step(self, event: Event) -> None:
        """A step of a request that is being carried out."""
        detail = event.detail or ""
        if detail.endswith("leader unavailable"):
            self.to_fetch, self.role, self.asked = None, Role.OFFLINE, None
            return
        if not detail.startswith(("leader:", "follower:")):
            self.stopping = True  # the replica is stopped
            return
        if not self.requested:
            self._gap(event.row, "a request was carried out whose receipt no line tells")
            self.requested = True
        if detail.endswith(": done"):
            # A process does not take up an epoch that it is in already (Partition.makeFollower, ReplicaManager).
            if self.asked is not None and self.asked == self.done:
                self._gap(event.row, f"a new process took up leader epoch {self.done} again")
            self.requested, self.done = False, self.asked

    def _heard(self, event: Event) -> None:
        epoch = event.leader_epoch
        if event.leader is None or event.leader < 0:
            return
        # A new process hears of all partitions before it is told of its roles.
        if epoch is not None and epoch > self.epoch >= 0 and not self.stopping:
            self.cached = (epoch, event.row)

    # -- fetchers -----------------------------------------------------------------------------------------------------

    def _started(self, event: Event) -> None:
        known = (event.leader_epoch, event.leader)
        other = self.role is not Role.FOLLOWER
        other = other or (None not in (self.leader, known[1]) and known[1] != self.leader)
        other = other or (known[0] is not None and known[0] != self.epoch)
        if other:
            self._gap(event.row, f"it fetched from broker {event.leader}")
        elif self.always_cuts and not self.reconciled:
            self._gap(event.row, f"no line tells where its log was cut before it fetched from broker {event.leader}")
        self.to_fetch, self.served = None, self.epoch if self.epoch >= 0 else self.served

    # -- the log ------------------------------------------------------------------------------------------------------

    def _truncate(self, event: Event) -> None:
        if self.role is Role.LEADER or (self.role is None and self.run > 0):
            self._gap(event.row, f"its log was cut to {event.offset} as a follower's")
        if self.always_cuts and self.reconciled and not self.reset and self.role is Role.FOLLOWER:
            self._gap(event.row, f"its log was cut to {event.offset} as for another leader")
        self.truncated, self.planned, self.reconciled, self.reset = event.offset, None, True, False

    def _reset(self, event: Event) -> None:
        self.reset = True
        if event.log_start is not None:
            self.truncated = event.log_start  # of the log that begins anew where its leader's starts no line tells

    def _noop(self, event: Event) -> None:
        self.planned = None
        self.truncated = event.offset  # of the log nothing goes, of its leader epochs one without records may

    def _plan(self, event: Event) -> None:
        if event.offset is not None:
            self.planned = event.row

    def _epochs_cut(self, event: Event) -> None:
        if self.truncated != event.offset and self.present:
            self._gap(event.row, f"its leader epochs from offset {event.offset} on were removed")

    def _rebuild(self, event: Event) -> None:
        if event.leo is not None and event.leo != self.truncated:
            self.rebuilt = event.row

    def _recovery(self, event: Event) -> None:
        self.recovering = event.row

    def _loaded(self, event: Event) -> None:
        if event.detail != MOVED and self.epoch >= 0 and event.leo and self.present:
            # A process whose beginning is not told.
            self._over(event)
            self._fresh()
        self.rebuilt = self.recovering = None
        self.present = True

    def _opened(self, event: Event) -> None:
        """A process opens the log of a partition once (Partition.createLog, 2.4 and later; before, lines tell of every
        replica that a role names), and finds a higher high watermark only after one that served.
        """
        if event.hw is None or event.detail == AMBIGUOUS:
            return
        if self.opened is not None and event.hw > self.opened and not self.stopping:
            self._gap(event.row, "a process opened its log, and no line tells of its start")
            self._fresh()
        self.opened = event.hw

    def _made(self, event: Event) -> None:
        self.rebuilt = None
        self.present = True

    def _leads(self, event: Event) -> None:
        # Told of a leader that is not there, it goes on with what it was (ReplicaManager.makeFollowers).
        if self.role is Role.FOLLOWER or (self.role is None and self.run > 0):
            self._gap(event.row, "it changed the ISR, and no line tells that it led")

    def _stop(self, event: Event) -> None:
        self.stopping = True

    def _gone(self, event: Event) -> None:
        self._fresh()
        self.present = True


_HANDLERS: dict[str, Callable[[Journal, Event], None]] = {
    Kind.LEADER_AND_ISR: Journal._role,
    Kind.BECOME_LEADER: Journal._role,
    Kind.BECOME_FOLLOWER: Journal._role,
    Kind.ROLE_UNCHANGED: Journal._unchanged,
    Kind.STALE_REQUEST: Journal._refused,
    Kind.TRANSITION: Journal._step,
    Kind.METADATA_CACHED: Journal._heard,
    Kind.FETCHER_ADDED: Journal._started,
    Kind.TRUNCATE: Journal._truncate,
    Kind.TRUNCATE_FULL: Journal._truncate,
    Kind.TRUNCATE_NOOP: Journal._noop,
    Kind.FETCH_RESET: Journal._reset,
    Kind.TRUNCATE_PLAN: Journal._plan,
    Kind.EPOCH_CUT: Journal._epochs_cut,
    Kind.MESSAGE_FORMAT: Journal._rebuild,
    Kind.RECOVERY: Journal._recovery,
    Kind.LOG_LOADED: Journal._loaded,
    Kind.LOG_CREATED: Journal._made,
    Kind.HW_LOADED: Journal._opened,
    Kind.LOG_DELETED: Journal._gone,
    Kind.ISR_SHRINK: Journal._leads,
    Kind.ISR_EXPAND: Journal._leads,
    Kind.SHUTDOWN_BEGIN: Journal._stop,
}


def gaps_in(broker: int, own: Sequence[Event], fact: BrokerFacts) -> list[Gap]:
    """Missing lines between those of one broker about its replica."""
    if not (fact.server_log and fact.state_log):
        return []  # a file is missing, and known to be
    found = Journal(broker, always_cuts=fact.always_cuts, tells_start=fact.tells_start).read(own)
    if own and fact.unheard is not None:
        why = f"controllers registered a process of it with broker epoch {fact.unheard}, of which its lines say nothing"
        found.append(Gap(own[-1].row, why))  # where among its lines is not told
    return found


Linked = Mapping[int, Mapping[int, int]]
"""By broker, the leader epoch that its line on taking up a role calls the one before, by the epoch of that role."""


def linked(events: Mapping[int, Iterable[Event]]) -> Linked:
    """Which epochs followed one another on each broker, as it says itself where it takes up a role: an epoch cache
    knows epochs by their records, so it knows less.
    """
    return {
        broker: {
            event.leader_epoch: event.previous_epoch
            for event in own
            if event.kind in ROLES
            and event.leader_epoch is not None
            and event.previous_epoch is not None
            and event.previous_epoch >= 0
        }
        for broker, own in events.items()
    }


def untold(
    tenures: Mapping[int, Sequence[Tenure]],
    epochs: Mapping[int, Epoch],
    facts: Mapping[int, BrokerFacts],
    before_it: Linked,
) -> dict[int, tuple[int, str]]:
    """Epochs that a replica had a part in, as others say, and of which its own lines, which go on before and behind or
    end there, tell nothing.

    Args:
        tenures: of replicas whose lines on their roles are in the evidence.
        epochs: every epoch.
        facts: what is known of brokers.
        before_it: which epochs followed one another on each broker. Epochs in between passed it by: a KRaft broker
            applies several changes of a partition as one (TopicDelta).

    Returns:
        The first such epoch of each replica, and what shows its part.
    """
    found: dict[int, tuple[int, str]] = {}
    for number, epoch in sorted(epochs.items()):
        brief = _brief(number, epochs)
        for broker, spans in sorted(tenures.items()):
            fact = facts.get(broker, NO_FACTS)
            before = [tenure for tenure in spans if 0 <= tenure.epoch < number]
            here = [tenure for tenure in spans if tenure.epoch == number]
            joined = epoch.isr_own and any(broker in isr for isr, _ in epoch.isr[1:]) and broker not in epoch.isr[0][0]
            if broker in found or _passed_by(before, spans, number, before_it.get(broker, {})):
                continue
            if (
                _was_there(before, spans, number)
                and not here
                and broker in (epoch.first_isr or ())
                and epoch.isr_elected
                and not (brief and fact.kraft)
            ):
                found[broker] = number, f"it was in the ISR that epoch {number} began with"
                continue
            if (
                joined
                and here
                and fact.fenced
                and _uncut(here, tenures.get(epoch.leader if epoch.leader is not None else -1, ()))
            ):
                found[broker] = number, f"its log was longer than its leader's in epoch {number}, and was not cut"
            if broker not in found and broker == epoch.leader and here and (unsaid := _unsaid(epoch)):
                found[broker] = number, f"others were told of the ISR {isr_text(unsaid)} in epoch {number}"
            if not before or here:
                continue
            if broker == epoch.leader and (epoch.served or number == max(epochs)):
                found[broker] = (
                    number,
                    f"it led in epoch {number}" if epoch.served else f"it was to lead in epoch {number}",
                )
                continue
            # A follower goes on fetching from a leader that leads again, told or not, unless its fetches are fenced.
            if joined and (before[-1].leader != epoch.leader or fact.fenced):
                found[broker] = number, f"it came into the ISR in epoch {number}"
    for broker in sorted({*tenures} - {*found}):
        shorter = _shorter(broker, tenures, facts)
        if shorter is not None:
            found[broker] = shorter
    for broker, spans in sorted(tenures.items()):
        grown = _grown(spans)
        if grown is not None and (broker not in found or grown.epoch < found[broker][0]):
            found[broker] = grown.epoch, f"its log grew beyond {grown.start_end} in epoch {grown.epoch}, without a role"
    for broker, spans in sorted(tenures.items()):
        missed = _nameless(broker, spans, epochs)
        if missed is not None and (broker not in found or missed < found[broker][0]):
            found[broker] = missed, f"it led before epoch {missed} and serves on after it, and nothing names that epoch"
    return found


def _unsaid(epoch: Epoch) -> frozenset[int] | None:
    """An ISR that others were told of and its leader never stated, who alone changes it within an epoch where
    controllers write to ZooKeeper (Partition.updateIsr).
    """
    if not epoch.isr_own or not epoch.by_request or epoch.other_leaders:
        return None
    return min(epoch.told - {isr for isr, _ in epoch.isr}, key=sorted, default=None)


def _passed_by(before: Sequence[Tenure], spans: Sequence[Tenure], number: int, before_it: Mapping[int, int]) -> bool:
    """Whether a broker says itself that a role followed one of before an epoch."""
    after = next((tenure for tenure in spans if tenure.epoch > number), None)
    return bool(before) and after is not None and before_it.get(after.epoch) == before[-1].epoch


def _unmade(broker: int, spans: Sequence[Tenure], epochs: Mapping[int, Epoch]) -> tuple[int, str] | None:
    """An epoch of which a replica's own lines tell nothing though they tell how its log was made, and others that it
    was told of that epoch by request: its first role came later, and what it wrote in between is not told.
    """
    roles = [tenure.epoch for tenure in spans if tenure.epoch >= 0]
    before = [step for tenure in spans if tenure.epoch < 0 for step in tenure.steps]
    if not roles or not any(step.what in ("loaded", "created") for step in before):
        return None
    for number, epoch in sorted(epochs.items()):
        if number < min(roles) and epoch.by_request and (epoch.leader == broker or broker in (epoch.first_isr or ())):
            return min(roles), f"it was in the ISR of epoch {number}, its roles begin in epoch {min(roles)}"
    return None


def late(
    tenures: Mapping[int, Sequence[Tenure]], told: Iterable[int], epochs: Mapping[int, Epoch]
) -> dict[int, tuple[int, str]]:
    """Replicas whose roles begin late, though how their log was made or loaded is told; where such a role began is
    forgotten, since that was read from the log as it was made.
    """
    found = {
        broker: since for broker in sorted(told) if (since := _unmade(broker, tenures[broker], epochs)) is not None
    }
    for broker, (number, _) in found.items():
        _forget_start(tenures[broker], number)
    return found


def _forget_start(spans: Sequence[Tenure], number: int) -> None:
    """What a log was made or loaded with is not what a later role began with, where lines in between are missing."""
    for tenure in spans:
        if tenure.epoch == number and _told_before(tenure) is not None:
            _forget(tenure)


def forget_printed(spans: Sequence[Tenure]) -> None:
    """The last end that was printed in one role is not what the next began with, where lines in between are missing."""
    told = {ref.row for tenure in spans for step in tenure.steps for ref in step.refs}
    for tenure in spans:
        if _told_before(tenure) not in (None, *told):
            _forget(tenure)


def _told_before(tenure: Tenure) -> int | None:
    """Row of the line that tells where a role began, if it stands before the role's own line."""
    own = tenure.refs[0].row if tenure.refs else None
    told = tenure.start_ref.row if tenure.start_ref is not None else None
    return told if own is not None and told is not None and told < own else None


def _forget(tenure: Tenure) -> None:
    tenure.start_end, tenure.start_ref, tenure.start_low = None, None, 0


def _was_there(before: Sequence[Tenure], spans: Sequence[Tenure], number: int) -> bool:
    """Whether one process of a broker served the replica both before an epoch and after it."""
    if not before or before[-1].given_up:
        return False
    return any(tenure.epoch > number and tenure.run == before[-1].run for tenure in spans)


def _brief(number: int, epochs: Mapping[int, Epoch]) -> bool:
    """Whether the next epoch began so soon that a broker may have heard of both at once."""
    this, after = epochs[number], epochs.get(number + 1)
    return this.time is not None and after is not None and after.time is not None and after.time - this.time < _AT_ONCE


def _shorter(
    broker: int, tenures: Mapping[int, Sequence[Tenure]], facts: Mapping[int, BrokerFacts]
) -> tuple[int, str] | None:
    """An epoch in which a follower fetched more from a leader than that began its next epoch with, and no line tells
    what removed it.
    """
    own = tenures[broker]
    for at, to in itertools.pairwise(at for at, tenure in enumerate(own) if tenure.role is not Role.OFFLINE):
        one, two = own[at], own[to]
        told = any(tenure.steps for tenure in own[at:to])
        if told or one.role is not Role.LEADER or two.role is not Role.LEADER or two.start_end is None:
            continue
        followed = [
            t
            for other, spans in tenures.items()
            for t in spans
            if other != broker and t.epoch == one.epoch and t.leader == broker
            if facts.get(other, NO_FACTS).fenced
        ]
        had = max((t.end_low for t in followed if t.end_low > max(t.start_low, t.start_end or 0)), default=0)
        if had > two.start_end:
            why = f"a follower had fetched up to {had} from it in epoch {one.epoch}, and it began epoch {two.epoch} at"
            return one.epoch, f"{why} {two.start_end}"
    return None


def _grown(spans: Sequence[Tenure]) -> Tenure | None:
    """The first tenure in which nobody led, as far as a new process tells, and yet the log grew."""
    run = None
    for one in spans:
        new, run = one.run != run, one.run
        if not new or one.role is not Role.OFFLINE or one.epoch < 0 or one.start_end is None:
            continue
        if any(step.what == "loaded" and step.target > one.start_end for step in one.steps[:1]):
            return one
    return None


def _nameless(broker: int, spans: Sequence[Tenure], epochs: Mapping[int, Epoch]) -> int | None:
    """An epoch of which nobody tells though the leader before it lived on: it was told of its successor at the least.

    While the last leader is dead, an epoch without one may begin of which stock logging tells nothing. And controllers
    of ZooKeeper clusters raise the epoch by one for each replica that they take out of the ISR, several in one request
    (KafkaController.onReplicasBecomeOffline).
    """
    for one, two in itertools.pairwise(spans):
        if one.role is not Role.LEADER or one.given_up or one.run != two.run or one.epoch < 0:
            continue
        nameless = [number for number in range(one.epoch + 1, two.epoch) if number not in epochs]
        before, after = epochs[one.epoch], epochs[two.epoch]
        taken = len((before.last_isr or frozenset()) - (after.first_isr or frozenset()))
        if nameless and not (after.leader == broker and two.epoch - one.epoch <= taken):
            return nameless[0]
    return None


def regrown(tenures: Mapping[int, Sequence[Tenure]], told: Iterable[int]) -> dict[int, tuple[int, str]]:
    """Epochs to which a leader came back with an ISR that had grown while it was away: it alone lets replicas in."""
    return {broker: grown for broker in sorted(told) if (grown := _regrown(tenures[broker])) is not None}


def _regrown(spans: Sequence[Tenure]) -> tuple[int, str] | None:
    for one, two in itertools.pairwise(spans):
        if one.role is Role.LEADER is two.role and one.epoch == two.epoch and one.isr and two.isr:
            grown = two.isr[0][0] - one.isr[-1][0]
            if grown:
                return one.epoch, f"the ISR of epoch {one.epoch} had grown by {min(grown)} when it came back to lead"
    return None


def _uncut(here: Sequence[Tenure], leaders: Sequence[Tenure]) -> bool:
    """Whether a follower had more than its leader began the epoch with, and no line tells that it was cut (KIP-279)."""
    number = here[0].epoch
    starts = [t.start_end for t in leaders if t.epoch == number and t.role is Role.LEADER and t.start_end is not None]
    longer = starts and any(t.role is Role.FOLLOWER and (t.start_end or 0) > starts[0] for t in here[:1])
    return bool(longer) and not any(step.what != "loaded" for tenure in here for step in tenure.steps)
