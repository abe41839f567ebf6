"""Leader epochs in which a replica had a role, by others' lines and files, without a line of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from forensics.replay.broker_facts import NO_FACTS, BrokerFacts, fences, truncates_to_hw
from forensics.replay.by_epoch import ByEpoch
from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.epochs import at_once
from forensics.replay.leadership.isr_removal_epochs import unaccounted
from forensics.replay.protocol import Answer, Protocol
from forensics.replay.roles.steps import RoleSpan, StepKind
from parsers.schema import ROLES

_AT_ONCE = 5_000_000
"""Microseconds within which a broker may take several records of the metadata log at once; when it is behind, more."""

Linked = Mapping[int, Mapping[int, int]]
"""By broker: for the epoch of each role, the leader epoch that its own line names as the one before."""


def linked(events: Mapping[int, Iterable[Event]]) -> Linked:
    """Return the former epoch that each broker's own line names for a role.

    An epoch cache has only epochs with records, so it knows fewer.
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


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of all replicas, by their own lines and by others.

    Attributes:
        spans: role spans of the replicas whose lines about their roles are in the evidence.
        epochs: every leader epoch that any evidence names.
        facts: facts about brokers.
        before_it: the former epoch of each role, by broker. The broker skipped epochs in between: a KRaft broker
            applies several changes of a partition as one (TopicDelta).
        ends: log end offset of each replica whose files are in the evidence.
        removed: by epoch without a leader, the replicas that a controller had just removed from the ISR.
        unclaimed: replicas that only a trace describes which does not claim to state every change of them.
    """

    spans: Mapping[int, Sequence[RoleSpan]]
    epochs: LeaderEpochs
    facts: Mapping[int, BrokerFacts]
    before_it: Linked
    ends: Mapping[int, int]
    removed: Mapping[int, frozenset[int]]
    unclaimed: frozenset[int] = frozenset()

    def protocol(self, broker: int) -> Protocol:
        """Return a broker's behaviour where releases differ."""
        return self.facts.get(broker, NO_FACTS).protocol

    def logs(self, broker: int) -> bool:
        """Return whether what a broker logs about its replica's log and ISR, in server.log, is in the evidence."""
        return Printed.LOG in self.facts.get(broker, NO_FACTS).lines.printed


@dataclass(frozen=True, slots=True)
class _Part:
    """A replica and a leader epoch in which it may have had a role.

    Attributes:
        before: its last role span of an earlier epoch, or None.
        here: its role spans of this epoch.
        joined: the leader itself logs that the replica joined the ISR during the epoch.
    """

    broker: int
    epoch: Epoch
    spans: Sequence[RoleSpan]
    before: RoleSpan | None
    here: Sequence[RoleSpan]
    joined: bool

    @property
    def number(self) -> int:
        """The leader epoch."""
        return self.epoch.epoch


@dataclass(frozen=True, slots=True)
class _Sign:
    """A replica's role in an epoch without a line of its own.

    Attributes:
        epoch: the epoch whose lines are missing.
        values: values that the sentence of the omission names.
    """

    broker: int
    epoch: int
    shown_by: Omission
    values: Mapping[str, object]


ELECTED_MEMBER = Omission(
    "elected-isr-member",
    Span.WITHIN,
    "it was in the ISR with which epoch {epoch} began, but no line shows a role in it",
    "controllers send LeaderAndIsr of each epoch to every replica in its ISR; KRaft brokers apply each change",
)
NOT_RECONCILED = Omission(
    "not-reconciled",
    Span.WITHIN,
    "its log was longer than its leader's in epoch {epoch}, but no line shows a truncation",
    "KIP-279: a follower truncates what its leader does not have before it fetches and can join the ISR",
)
ISR_NOT_STATED = Omission(
    "isr-not-stated",
    Span.WITHIN,
    "others state the ISR {isr} of epoch {epoch}, but no line of its own does",
    "with ZooKeeper the leader alone changes the ISR within an epoch, and prints it (Partition.updateIsr)",
)
LED = Omission(
    "led", Span.WITHIN, "it led epoch {epoch}, but no line shows that role", "Partition.makeLeader prints each epoch"
)
ELECTED = Omission(
    "elected",
    Span.WITHIN,
    "it was elected to lead epoch {epoch}, but no line shows that role",
    "Partition.makeLeader prints each epoch",
)
JOINED_ISR = Omission(
    "joined-isr",
    Span.WITHIN,
    "it joined the ISR in epoch {epoch}, but no line shows a role in it",
    "a replica fetches from the leader that the controller named, in that epoch (KIP-320)",
)
MAY_HAVE_SERVED = Omission(
    "may-have-served",
    Span.WITHIN,
    "it states lines after leader epoch {epoch} had begun, but no role in it",
    "the first line of a trace of a Partition says what it is complete about (docs/trace-format.md)",
)
FETCHED_BEYOND = Omission(
    "fetched-beyond",
    Span.WITHIN,
    "it had fetched up to {end} in epoch {epoch}, and epoch {after} began at {start}",
    "KIP-101: a follower truncates what its next leader does not have",
)
LEADER_SHORTER = Omission(
    "leader-shorter",
    Span.WITHIN,
    "a follower had fetched up to {end} from it in epoch {epoch}, and {then} {start}",
    "a follower fetches only what its leader has; a leader's log only grows (Partition)",
)
GREW_WITHOUT_ROLE = Omission(
    "grew-without-role",
    Span.WITHIN,
    "its log grew beyond {start} in epoch {epoch}, but no line shows a role in it",
    "a log grows only as leader or follower (ReplicaManager)",
)
LED_ON_BOTH_SIDES = Omission(
    "led-on-both-sides",
    Span.WITHIN,
    "it led before and after epoch {epoch}, but no line names that epoch",
    "controllers inform every live replica of each new epoch (KafkaController)",
)
ROLES_BEGIN_LATE = Omission(
    "roles-begin-late",
    Span.WITHIN,
    "it was in the ISR of epoch {member}, but its first role is of epoch {epoch}",
    "controllers send LeaderAndIsr of each new epoch to every replica in its ISR",
)
ISR_GREW_WHILE_AWAY = Omission(
    "isr-grew-while-away",
    Span.WITHIN,
    "the ISR of epoch {epoch} had grown by {member} when it led again",
    "the leader alone lets replicas into the ISR (Partition.maybeExpandIsr)",
)

OMISSIONS = (
    ELECTED_MEMBER,
    NOT_RECONCILED,
    ISR_NOT_STATED,
    LED,
    ELECTED,
    JOINED_ISR,
    MAY_HAVE_SERVED,
    FETCHED_BEYOND,
    LEADER_SHORTER,
    GREW_WITHOUT_ROLE,
    LED_ON_BOTH_SIDES,
    ROLES_BEGIN_LATE,
    ISR_GREW_WHILE_AWAY,
)
"""Evidence in others' lines of a replica's roles for which its own lines are missing."""


def only_elected(roles: Roles) -> frozenset[int]:
    """Return leader epochs of which nothing but the election shows the leader: its lines end in an earlier epoch."""
    found: set[int] = set()
    spans = {broker: _by_epoch(own) for broker, own in roles.spans.items()}
    for number, epoch in roles.epochs.items():
        broker = epoch.leader
        own = spans.get(broker) if broker is not None else None
        part = _part(roles, broker, own, epoch) if broker is not None and own is not None and own.things else None
        sign = _led(roles, part) if part is not None else None
        if sign is not None and sign.shown_by is ELECTED:
            found.add(number)
    return frozenset(found)


def missed_epochs(roles: Roles, *, rising: bool) -> dict[int, list[MissingLines]]:
    """Return the leader epochs in which each replica had a role without a line of its own, the first one first.

    Its lines continue before and after such an epoch, or end there.

    Args:
        roles: roles by all lines.
        rising: leader epochs rise in the order of the leaders; otherwise a returning leader is no evidence.
    """
    found: dict[int, dict[int, _Sign]] = {}
    for sign in itertools.chain(_in_epochs(roles), _shorter(roles), _grown(roles), _nameless(roles)):
        found.setdefault(sign.broker, {}).setdefault(sign.epoch, sign)
    weaker = (_begin_late, _regrown) if rising else (_begin_late,)
    for detect in weaker:
        for sign in detect(roles):
            found.setdefault(sign.broker, {sign.epoch: sign})
    return {
        broker: [_missing(roles, sign) for _, sign in sorted(signs.items())] for broker, signs in sorted(found.items())
    }


def _missing(roles: Roles, sign: _Sign) -> MissingLines:
    last = [role_span for role_span in roles.spans[sign.broker] if role_span.epoch <= sign.epoch][-1]
    return replace(sign.shown_by.of(sign.broker, sign.values, ref=last.refs[-1], epoch=sign.epoch), placed=True)


def _in_epochs(roles: Roles) -> Iterator[_Sign]:
    """Yield the epochs of each replica in which others name a role of it."""
    for broker, spans in sorted(roles.spans.items()):
        own = _by_epoch(spans)
        named = roles.epochs.values() if broker in roles.unclaimed else roles.epochs.naming.get(broker, ())
        parts = (_part(roles, broker, own, epoch) for epoch in named)
        yield from (sign for part in parts if part is not None for sign in _signs(roles, part))


def _by_epoch(spans: Sequence[RoleSpan]) -> ByEpoch[RoleSpan]:
    """Return a replica's role spans by their leader epochs; one before its first role has none."""
    return ByEpoch(spans, lambda role_span: role_span.epoch if role_span.epoch >= 0 else None)


def _part(roles: Roles, broker: int, spans: ByEpoch[RoleSpan], epoch: Epoch) -> _Part | None:
    """Return a replica's part in an epoch; None if its own lines show that it skipped the epoch."""
    before, after = spans.last_before(epoch.epoch), spans.first_from(epoch.epoch + 1)
    former = roles.before_it.get(broker, {}).get(after.epoch) if after is not None else None
    if before is not None and former == before.epoch:
        return None
    joined = epoch.isr_from_leader and any(broker in isr for isr, _ in epoch.isr[1:]) and broker not in epoch.isr[0][0]
    return _Part(broker, epoch, spans.things, before, spans.of(epoch.epoch), joined)


def _signs(roles: Roles, part: _Part) -> Iterator[_Sign]:
    """Yield evidence that a replica had a part in an epoch without a line of its own."""
    return (sign for detect in _OF_A_PART if (sign := detect(roles, part)) is not None)


def _elected_member(roles: Roles, part: _Part) -> _Sign | None:
    """The replica was elected into the ISR, continues to run, and has no line about that epoch."""
    epoch, broker, number = part.epoch, part.broker, part.number
    if part.here or not epoch.elected_with(broker):
        return None
    if not _was_there(part.before, part.spans, number):
        return None
    if _brief(number, roles.epochs) and roles.protocol(broker).kraft is Answer.YES:
        return None
    if broker != epoch.leader and _taken_for_dead(broker, number, roles.epochs):
        return None
    return _Sign(broker, number, ELECTED_MEMBER, {})


def _not_reconciled(roles: Roles, part: _Part) -> _Sign | None:
    """The replica joined the ISR with a longer log than its leader had at the start, and no truncation is logged."""
    leaders = roles.spans.get(part.epoch.leader if part.epoch.leader is not None else -1, ())
    fetched = part.joined and part.here and fences(roles.facts, part.broker) and roles.logs(part.broker)
    if fetched and _untruncated(part.here, leaders):
        return _Sign(part.broker, part.number, NOT_RECONCILED, {})
    return None


def _isr_not_stated(roles: Roles, part: _Part) -> _Sign | None:
    """It led, and others know an ISR of that epoch which it never stated."""
    logged = roles.logs(part.broker)
    if logged and part.broker == part.epoch.leader and part.here and (isr := _isr_of_others(part.epoch)):
        return _Sign(part.broker, part.number, ISR_NOT_STATED, {"isr": isr_text(isr)})
    return None


def _led(roles: Roles, part: _Part) -> _Sign | None:
    """Others name the replica as leader, and it has no line about that epoch."""
    epoch, number = part.epoch, part.number
    if part.before is None or part.here or part.broker != epoch.leader:
        return None
    taken_up = epoch.leader_took_up and not epoch.may_have_taken_up
    served = taken_up or _changed(epoch) or _fed(epoch, roles.epochs, roles.spans)
    if served:
        return _Sign(part.broker, number, LED, {})
    if not roles.epochs.after(number):
        return _Sign(part.broker, number, ELECTED, {})
    older = roles.ends.get(part.broker, 0) <= _next_start(number, roles.epochs, roles.spans)
    if epoch.elected and older and _ends_before(part.spans, number) and not _in_vain(epoch, roles.spans):
        return _Sign(part.broker, number, ELECTED, {})
    return None


def _joined_isr(roles: Roles, part: _Part) -> _Sign | None:
    """The replica joined the ISR of an epoch about which it has no line.

    A follower continues to fetch from the same leader in a new epoch, even before it receives the epoch, unless its
    fetches are fenced.
    """
    if not part.joined or part.before is None or part.here:
        return None
    if part.before.leader != part.epoch.leader or fences(roles.facts, part.broker):
        return _Sign(part.broker, part.number, JOINED_ISR, {})
    return None


def _may_have_served(roles: Roles, part: _Part) -> _Sign | None:
    """It states lines after an epoch began, and the trace does not claim to state its roles.

    A leader that leads on has the same log.
    """
    leader, broker = part.epoch.leader, part.broker
    if broker not in roles.unclaimed or part.here or part.before is None or leader == -1:
        return None
    if leader == broker and part.before.role is Role.LEADER:
        return None
    led = (one for one in roles.spans.get(leader, ()) if one.epoch == part.number) if leader is not None else ()
    begun = next((one.time for one in led if one.role is Role.LEADER), None)
    last, returned = part.before.acted_time, part.spans[-1].epoch > part.number
    if not returned and begun is not None and last is not None and last < begun:
        return None
    return _Sign(broker, part.number, MAY_HAVE_SERVED, {})


_OF_A_PART = (_elected_member, _not_reconciled, _isr_not_stated, _led, _joined_isr, _may_have_served)
"""Checks of a replica and an epoch, in this order; the first result counts."""


def _ends_before(spans: Sequence[RoleSpan], number: int) -> bool:
    """Return whether a replica has no line from an epoch on, of the process that was there before or of a later one."""
    return spans[-1].epoch < number and not any(
        step.kind in (StepKind.LOADED, StepKind.DELETED) for step in spans[-1].steps
    )


def _in_vain(epoch: Epoch, role_spans: Mapping[int, Sequence[RoleSpan]]) -> bool:
    """Return whether the next leader had followed an epoch's leader from its ISR and fetched nothing.

    Then that leader had died, or was paused, when it was elected. A controller does not know this before the leader's
    session expires.
    """
    return any(
        one.epoch == epoch.epoch and one.role is Role.FOLLOWER and two.role is Role.LEADER and one.run == two.run
        and one.leader in (None, epoch.leader) and one.start_end is not None and one.start_end == two.start_end
        and not one.fetched and not one.steps
        for broker, spans in role_spans.items()
        if broker != epoch.leader and epoch.elected_with(broker)
        for one, two in itertools.pairwise(spans)
    )  # fmt: skip


def _fed(epoch: Epoch, epochs: LeaderEpochs, role_spans: Mapping[int, Sequence[RoleSpan]]) -> bool:
    """Return whether a follower's log grew while it followed an epoch's leader.

    Records of that leader's next epoch do not count: the follower may fetch them before it receives that epoch.
    """
    for one, two in (pair for spans in role_spans.values() for pair in itertools.pairwise(spans)):
        if one.epoch != epoch.epoch or one.role is not Role.FOLLOWER or one.run != two.run:
            continue
        again = any(later.leader == epoch.leader for later in epochs.between(one.epoch, two.epoch + 1))
        followed = one.leader in (None, epoch.leader) and not again
        if followed and one.start_end is not None and (two.start_end or 0) > one.start_end:
            return True
    return False


def _changed(epoch: Epoch) -> bool:
    """Return whether the ISR changed within an epoch. With ZooKeeper only the leader changes it then."""
    return epoch.by_request and len({*epoch.isrs_stated_by_others, *(isr for isr, _ in epoch.isr)}) > 1


def _next_start(number: int, epochs: LeaderEpochs, role_spans: Mapping[int, Sequence[RoleSpan]]) -> int:
    """Return the start of the next leader after an epoch; records of a copy beyond it were written by the one
    before.
    """
    later = next((one.epoch for one in epochs.after(number) if one.leader not in (None, -1)), -1)
    roles = [t for spans in role_spans.values() for t in spans if t.epoch == later and t.role is Role.LEADER]
    return max((t.start_end or 0 for t in roles), default=0)


def _isr_of_others(epoch: Epoch) -> frozenset[int] | None:
    """An ISR that others received and that its leader never stated.

    If controllers write to ZooKeeper, only the leader changes the ISR within an epoch (Partition.updateIsr).
    """
    if not epoch.isr_from_leader or not epoch.by_request or epoch.other_leaders:
        return None
    return min(epoch.isrs_stated_by_others - {isr for isr, _ in epoch.isr}, key=sorted, default=None)


def _begin_late(roles: Roles) -> Iterator[_Sign]:
    """Yield replicas that received an epoch by request, as others show, before the first role in their own lines.

    Their lines show how the log was created or loaded. What they wrote before their first known role is unknown.
    """
    for broker, spans in sorted(roles.spans.items()):
        first = min((role_span.epoch for role_span in spans if role_span.epoch >= 0), default=-1)
        before = {step.kind for role_span in spans if role_span.epoch < 0 for step in role_span.steps}
        if before.isdisjoint((StepKind.LOADED, StepKind.CREATED)):
            continue
        sent = (one.epoch for one in roles.epochs.before(first) if _stated_by_request(one, broker))
        yield from (_Sign(broker, first, ROLES_BEGIN_LATE, {"member": n}) for n in itertools.islice(sent, 1))


def _stated_by_request(epoch: Epoch, broker: int) -> bool:
    """Return whether controllers sent an epoch to brokers, and this one was its leader or in its first ISR."""
    return epoch.by_request and (epoch.leader == broker or broker in (epoch.first_isr or ()))


def _was_there(before: RoleSpan | None, spans: Sequence[RoleSpan], number: int) -> bool:
    """Return whether one process of a broker had the replica both before an epoch and after it."""
    if before is None or before.replica_removed:
        return False
    return any(role_span.epoch > number and role_span.run == before.run for role_span in spans)


def _taken_for_dead(broker: int, number: int, epochs: Mapping[int, Epoch]) -> bool:
    """Return whether the next epoch began because the controller removed a broker from the ISR.

    A broker that was paused or disconnected may never have received the request for this epoch (RequestSendThread drops
    requests that wait for a broker that is gone).
    """
    epoch, after = epochs[number], epochs.get(number + 1)
    if after is None or not epoch.by_request or broker not in (epoch.last_isr or ()):
        return False
    return after.elected_without(broker)


def _brief(number: int, epochs: Mapping[int, Epoch]) -> bool:
    """Return whether the next epoch began so soon that a broker may have received both at once."""
    this, after = epochs[number], epochs.get(number + 1)
    return this.time is not None and after is not None and after.time is not None and after.time - this.time < _AT_ONCE


def _shorter(roles: Roles) -> Iterator[_Sign]:
    """Yield epochs in which a follower fetched more than its leader had at its next role, without a logged removal.

    Either the leader's lines are missing, or the follower's about a later epoch. The leader's are complete if one
    process led in both and no epoch was between them.
    """
    for _, own in sorted(roles.spans.items()):
        for at, to in itertools.pairwise(at for at, role_span in enumerate(own) if role_span.role is not Role.OFFLINE):
            one, two = own[at], own[to]
            if any(role_span.steps for role_span in own[at:to]) or one.role is not Role.LEADER or two.start_end is None:
                continue
            found = list(_follows_with_less(roles, one, two) or _leads_with_less(roles, one, two))
            yield from found
            if found:
                break


def _follows_with_less(roles: Roles, one: RoleSpan, two: RoleSpan) -> list[_Sign]:
    """A leader that follows in the very next epoch, with fewer records than a follower had fetched from it."""
    if two.role is not Role.FOLLOWER or two.run != one.run or two.epoch != one.epoch + 1 or not two.start_end:
        return []
    beyond = _fetched(roles, one, two.start_end)
    then = {"then": f"it followed in epoch {two.epoch} with", "start": two.start_end}
    return [_Sign(one.replica, one.epoch, LEADER_SHORTER, {"end": max(beyond.values()), **then})] if beyond else []


def _leads_with_less(roles: Roles, one: RoleSpan, two: RoleSpan) -> list[_Sign]:
    """A leader that leads again, with fewer records than followers had fetched from it."""
    if two.role is not Role.LEADER:
        return []
    start = two.start_end or 0
    beyond = {
        other: t.end_low
        for other, spans in roles.spans.items()
        for t in spans
        if other != one.replica and t.epoch == one.epoch and t.leader == one.replica and fences(roles.facts, other)
        if t.end_low > max(t.start_low, start)
        # A fetch that waits at its leader is answered in the next epoch, before the follower receives that epoch.
        if not (one.run == two.run and any(later.epoch == two.epoch for later in spans))
    }
    values = {"after": two.epoch, "start": start}
    found = [_Sign(other, one.epoch, FETCHED_BEYOND, {"end": end, **values}) for other, end in beyond.items()]
    if found and not (one.run == two.run and two.epoch == one.epoch + 1):
        then = {"then": f"epoch {two.epoch} began at", "start": start}
        found.append(_Sign(one.replica, one.epoch, LEADER_SHORTER, {"end": max(beyond.values()), **then}))
    return found


def _fetched(roles: Roles, led: RoleSpan, end: int) -> dict[int, int]:
    """Return the log end offset of followers that fetched beyond ``end`` in a leader's epoch.

    Followers of a release before leader epochs do not count, because they may have a tail of their own.
    """
    return {
        other: t.end_low
        for other, spans in roles.spans.items()
        for t in spans
        if other != led.replica and t.epoch == led.epoch and t.leader == led.replica
        if t.end_low > max(t.start_low, end) and not truncates_to_hw(roles.facts, other)
    }


def _grown(roles: Roles) -> Iterator[_Sign]:
    """Yield logs that grew while no broker led, by the lines of a new process."""
    for broker, spans in sorted(roles.spans.items()):
        grown = _grew_offline(spans)
        if grown is not None:
            yield _Sign(broker, grown.epoch, GREW_WITHOUT_ROLE, {"start": grown.start_end})


def _grew_offline(spans: Sequence[RoleSpan]) -> RoleSpan | None:
    """Return the first role span without a leader in which the log grew, by the lines of a new process."""
    run = None
    for one in spans:
        new, run = one.run != run, one.run
        if not new or one.role is not Role.OFFLINE or one.epoch < 0 or one.start_end is None:
            continue
        if any(step.kind is StepKind.LOADED and step.target > one.start_end for step in one.steps[:1]):
            return one
    return None


def _nameless(roles: Roles) -> Iterator[_Sign]:
    """Yield replicas that led before an epoch that no line names, and have a role after it."""
    for broker, spans in sorted(roles.spans.items()):
        missed = _unnamed_between(roles, broker, spans)
        if missed is not None:
            yield _Sign(broker, missed, LED_ON_BOTH_SIDES, {})


def _unnamed_between(roles: Roles, broker: int, spans: Sequence[RoleSpan]) -> int | None:
    """Return an epoch that no line names although its former leader kept running, and so received at least its
    successor.

    While the last leader is dead, an epoch without a leader may begin that default logging does not show. Controllers
    with ZooKeeper raise the epoch by one for each replica that they remove from the ISR, several in one request
    (KafkaController.onReplicasBecomeOffline).
    """
    for one, two in itertools.pairwise(spans):
        if one.role is not Role.LEADER or one.replica_removed or one.run != two.run or one.epoch < 0:
            continue
        named = roles.epochs.between(one.epoch - 1, two.epoch + 1)
        between = (unaccounted(before, after, roles.removed) for before, after in itertools.pairwise(named))
        nameless = next(itertools.chain.from_iterable(between), None)
        if nameless is not None and not (named[-1].leader == broker and at_once(named[0], named[-1])):
            return nameless
    return None


def _regrown(roles: Roles) -> Iterator[_Sign]:
    """Yield epochs to which a leader returned with an ISR that had grown while it was away. Only it adds replicas."""
    for broker, spans in sorted(roles.spans.items()):
        for one, two in itertools.pairwise(spans):
            if one.role is Role.LEADER is two.role and one.epoch == two.epoch and one.isr and two.isr:
                grown = two.isr[0][0] - one.isr[-1][0]
                if grown:
                    yield _Sign(broker, one.epoch, ISR_GREW_WHILE_AWAY, {"member": min(grown)})
                    break


def _untruncated(here: Sequence[RoleSpan], leaders: Sequence[RoleSpan]) -> bool:
    """Return whether a follower had more than its leader at the start of the epoch, and no truncation is logged
    (KIP-279).
    """
    number = here[0].epoch
    starts = [t.start_end for t in leaders if t.epoch == number and t.role is Role.LEADER and t.start_end is not None]
    longer = starts and any(t.role is Role.FOLLOWER and (t.start_end or 0) > starts[0] for t in here[:1])
    return bool(longer) and not any(step.kind is not StepKind.LOADED for role_span in here for step in role_span.steps)
