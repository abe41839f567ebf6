"""The leader and ISR of each leader epoch, from every broker that states them."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.elections import was_last_member
from forensics.replay.leadership.isr_removal_epochs import accounted
from forensics.replay.lineage import gap
from forensics.replay.roles.steps import RoleSpan
from parsers.details import CANDIDATE, elected_safely, last_known, names_brokers
from parsers.formats.zookeeper_nodes import NAME as NODES
from parsers.schema import Kind

_AT_ONCE = 1_000_000
"""Microseconds between two lines of one controller on one election."""


def collect(
    role_spans: Mapping[int, list[RoleSpan]],
    cluster: Sequence[Event],
    disks: Mapping[int, Disk],
    complete: Container[int],
) -> LeaderEpochs:
    """Return every epoch that any evidence names, by number.

    The leader's own statements about its ISR come first. Controllers and the metadata caches of all brokers
    (UpdateMetadata) are used where the leader's log is missing.

    Args:
        role_spans: role spans of each replica, from its own lines.
        cluster: statements of others about leaders and ISRs.
        disks: files of each replica.
        complete: brokers whose own lines about their roles are in the evidence.
    """
    collected = _Elections()
    for event in sorted(cluster, key=lambda e: e.kind not in ELECTS):  # controllers first, then brokers that repeat it
        collected.add(event)
    epochs = collected.epochs
    spans = [(broker, role_span) for broker in sorted(role_spans) for role_span in role_spans[broker]]
    with_epoch = [(broker, role_span) for broker, role_span in spans if role_span.epoch >= 0]
    for _, role_span in with_epoch:
        if role_span.role is not Role.LEADER:
            _add_follower_role(_at(epochs, role_span.epoch), role_span)
    for broker, role_span in with_epoch:
        if role_span.role is Role.LEADER:
            _add_leader_role(_at(epochs, role_span.epoch), broker, role_span)
    _add_second_leaders(epochs, role_spans)
    _add_took_up(epochs, disks.values(), [role_span for _, role_span in spans], complete)
    for event in collected.recovering:
        _add_recovering(epochs, role_spans.get(event.broker, ()), event)
    for epoch in epochs.values():
        _settle_after_emptied(epochs, epoch, warned=epoch.epoch in collected.warned)
    _add_leader_lines(epochs.values(), role_spans, cluster)
    return LeaderEpochs(epochs)


def _at(epochs: dict[int, Epoch], number: int) -> Epoch:
    if number not in epochs:
        epochs[number] = Epoch(number)
    return epochs[number]


@dataclass(slots=True)
class _Elections:
    """The epochs that controllers, metadata and metadata caches name, event by event.

    Attributes:
        epochs: by number.
        warned: those whose controller warned of an unclean election and named the brokers in it.
        announced: by controller, a warning of an unclean election that names no epoch, and its line. Up to 1.0 the
            warning precedes the election.
        elected: the last election logged by each broker, by the leader.
        chosen: by controller, the live ISR member that it chose, up to 1.0.
        recovering: lines of leaders that were marked as recovering. They name no epoch.
    """

    epochs: dict[int, Epoch] = field(default_factory=dict)
    warned: set[int] = field(default_factory=set)
    announced: dict[int, tuple[Event, Ref]] = field(default_factory=dict)
    elected: dict[tuple[int, int | None], Event] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    recovering: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Take in what one statement says."""
        if event.leader_epoch is not None and event.leader_epoch >= 0:
            self._add_to(_at(self.epochs, event.leader_epoch), event)
        elif event.detail == CANDIDATE and event.leader is not None and event.leader in (broker_set(event.isr) or ()):
            self.chosen[event.broker] = event.leader
        elif event.kind == Kind.UNCLEAN_ELECTION:
            self._add_warning(event)
        elif event.kind == Kind.RECOVERING:
            self.recovering.append(event)

    def _add_to(self, epoch: Epoch, event: Event) -> None:
        _add_stated_isr(epoch, event)
        if event.kind not in ELECTS:
            return
        self.elected[event.broker, event.leader] = event
        epoch.safe = epoch.safe or (event.broker in self.chosen and self.chosen.pop(event.broker) == event.leader)
        if event.broker not in self.announced:
            return
        warning, ref = self.announced[event.broker]
        if warning.leader in (None, event.leader):
            epoch.unclean.append(ref)
            if names_brokers(warning.detail):
                self.warned.add(epoch.epoch)
            del self.announced[event.broker]

    def _add_warning(self, event: Event) -> None:
        """Take in a warning of an unclean election whose line has no epoch."""
        ref, number = Ref(row=event.row, note="no broker of the ISR was alive"), _elected_in(event, self.elected)
        if number is None:
            self.announced[event.broker] = event, ref
            return
        epoch = _at(self.epochs, number)
        epoch.unclean.append(ref)
        epoch.last_known |= _is_last_known(event)


def _add_recovering(epochs: Mapping[int, Epoch], spans: Sequence[RoleSpan], event: Event) -> None:
    """Take in that a leader was marked as recovering: right after the line, it takes up the epoch.

    An unclean election sets the mark, and the first ISR that the leader commits clears it (LeaderRecoveryState,
    KIP-704; Partition.makeLeader). Until then every election of the same leader shows it. So the election was unclean
    if another broker led before.
    """
    role_span = next((one for one in spans if one.refs and (one.refs[0].row or 0) > event.row), None)
    if role_span is None or role_span.role is not Role.LEADER:
        return
    number = role_span.epoch - 1
    while number in epochs and epochs[number].leader == -1:
        number -= 1
    if number in epochs and epochs[number].leader not in (None, event.broker) and not epochs[number].other_leaders:
        epoch = epochs[role_span.epoch]
        epoch.recovering = Ref(row=event.row, note="marked as recovering")
        epoch.unclean.append(epoch.recovering)


def _add_took_up(
    epochs: dict[int, Epoch], disks: Iterable[Disk], spans: Sequence[RoleSpan], complete: Container[int]
) -> None:
    """Mark the epochs that their leaders took up: files or followers have them, or lines of the leader on them may be
    missing.
    """
    for disk in disks:
        for number in {*(entry[0] for entry in disk.entries), *(entry[0] for entry in disk.lineage.entries)}:
            if number >= 0:
                _at(epochs, number).leader_took_up = True
    for role_span in spans:
        for number, _, _ in role_span.entries:
            _at(epochs, number).leader_took_up = True  # a follower fetched a record of it
    first: dict[int, int] = {}
    for role_span in spans:
        if role_span.epoch >= 0:
            first[role_span.replica] = min(role_span.epoch, first.get(role_span.replica, role_span.epoch))
    for epoch in epochs.values():
        epoch.may_have_taken_up = not epoch.leader_took_up and _may_have_taken_up(epoch, complete, first)
        epoch.leader_took_up = epoch.leader_took_up or epoch.may_have_taken_up


def _may_have_taken_up(epoch: Epoch, complete: Container[int], first: Mapping[int, int]) -> bool:
    """Return whether the leader of an epoch may have taken it up without a line in the evidence.

    Args:
        epoch: the epoch.
        complete: brokers whose own lines about their roles are in the evidence.
        first: the epoch in which the roles of each replica begin. What it led before, its lines cannot contradict.
    """
    leader = epoch.leader
    if leader is None or leader < 0:
        return False
    return leader not in complete or epoch.epoch < first.get(leader, 0)


def _add_second_leaders(epochs: Mapping[int, Epoch], role_spans: Mapping[int, Sequence[RoleSpan]]) -> None:
    """Add the leaders that a broker's own role lines name beside another one of the same epoch."""
    for role_span in itertools.chain.from_iterable(role_spans.values()):
        for leader, ref in role_span.rivals:
            epochs[role_span.epoch].two_by_one.add(role_span.replica)
            _add_leader(epochs[role_span.epoch], leader, ref)


def _add_leader_lines(
    epochs: Iterable[Epoch], role_spans: Mapping[int, Sequence[RoleSpan]], cluster: Sequence[Event]
) -> None:
    """Add evidence of each leader to epochs that have several."""
    for epoch in (epoch for epoch in epochs if epoch.other_leaders):
        found: dict[int, dict[tuple[int, str], Ref]] = {}
        for leader, broker, message, ref in (*_named_by_roles(role_spans, epoch.epoch), *_named(cluster, epoch.epoch)):
            found.setdefault(leader, {}).setdefault((broker, message), ref)
        epoch.leader_lines = {leader: tuple(refs.values()) for leader, refs in found.items()}
        epoch.led_by_node = {leader for leader, lines in found.items() if any(kind == NODES for _, kind in lines)}


def _named_by_roles(role_spans: Mapping[int, Sequence[RoleSpan]], number: int) -> Iterator[tuple[int, int, str, Ref]]:
    """Yield the leaders of an epoch that role lines name: leader, broker, which line it is, and the line."""
    own = ((broker, span) for broker, spans in role_spans.items() for span in spans if span.epoch == number)
    for broker, span in own:
        # Of the lines that begin a follower's role the first names its leader, others may only fit to it.
        leader, refs = (broker, span.refs) if span.role is Role.LEADER else (span.leader, span.refs[:1])
        named = [] if leader is None else [(leader, ref) for ref in refs]
        for place, (other, ref) in enumerate((*named, *span.rivals)):
            yield other, broker, str(place), ref


def _named(cluster: Sequence[Event], number: int) -> Iterator[tuple[int, int, str, Ref]]:
    """Yield the leaders of an epoch that other lines name: leader, broker, which kind of line it is, and the line."""
    for event in cluster:
        if event.leader_epoch == number and event.leader is not None:
            note = f"leader {event.leader} at leader epoch {number}"
            yield event.leader, event.broker, event.message, Ref(row=event.row, note=note)


def _elected_in(event: Event, elected: Mapping[tuple[int, int | None], Event]) -> int | None:
    """Return the epoch of an unclean election whose line names none.

    The line names the epoch before (since 4.1), or the metadata log showed the election first, within a second.

    Args:
        event: the line.
        elected: the last election logged by each broker, by the leader.
    """
    if event.previous_epoch is not None:
        return event.previous_epoch + 1
    last = elected.get((event.broker, event.leader))
    if last is None or last.time is None or event.time is None or abs(event.time - last.time) > _AT_ONCE:
        return None
    return last.leader_epoch


def _settle_after_emptied(epochs: Mapping[int, Epoch], epoch: Epoch, *, warned: bool) -> None:
    """Settle an epoch after a ZooKeeper controller emptied the ISR: its members before have all committed records.

    The controller up to 1.0 nevertheless warns of potential data loss (OfflinePartitionLeaderSelector): it does so
    whenever no member of the ISR is alive, and an empty ISR has none.
    """
    before = epochs.get(epoch.epoch - 1)
    if epoch.leader is None or epoch.leader < 0 or (before is None and not warned):
        return
    if before is not None and (before.last_isr or (before.leader is not None and before.leader >= 0)):
        return
    if before is not None and warned:
        before.by_request = True  # no KRaft controller logs this warning
    member = was_last_member(epochs, epoch) if before is not None and before.by_request else None
    epoch.safe = epoch.safe or member is True
    if member is True or (warned and member is None):
        epoch.unclean.clear()


def unnamed(
    epochs: Mapping[int, Epoch],
    role_spans: Mapping[int, Sequence[RoleSpan]],
    *,
    complete: bool,
    skips: bool,
    removed: Mapping[int, frozenset[int]] | None = None,
) -> frozenset[int]:
    """Return leader epochs with a leader that must have existed between named ones, although nothing names them.

    Their leaders, and what they committed, are unknown. While the last leader is down, an epoch without a leader may
    begin that default logging does not show. Such an epoch never has to follow another one like it.

    Args:
        epochs: the named ones.
        role_spans: role spans of each replica.
        complete: every replica's own lines show its roles.
        skips: brokers may skip epochs although all of their lines are present: they follow the metadata log, and apply
            several changes as one (TopicDelta).
        removed: by epoch without a leader, the replicas that a controller had just removed from the ISR.
    """
    found: set[int] = set()
    for one, two in itertools.pairwise(sorted(epochs)):
        leader = epochs[one].leader
        led = leader is not None and leader >= 0 and epochs[two].leader == -1
        between = two > one + 1 and not in_one_request(epochs[one], epochs[two], role_spans, removed or {})
        if between and (led or not complete) and not skips:
            found.update(gap(one, two))
    return frozenset(found)


def at_once(before: Epoch, after: Epoch) -> bool:
    """Return whether the epochs between two of the same leader may have been sent in one request.

    A controller with ZooKeeper raises the epoch for each replica that it removes from the ISR
    (KafkaController.onReplicasBecomeOffline).
    """
    taken = len((before.last_isr or frozenset()) - (after.first_isr or frozenset()))
    return before.leader == after.leader and after.epoch - before.epoch <= taken


def in_one_request(
    before: Epoch, after: Epoch, role_spans: Mapping[int, Sequence[RoleSpan]], removed: Mapping[int, frozenset[int]]
) -> bool:
    """Return whether a controller is known to have sent the epochs between two in one request, so that no broker led in
    them.

    Args:
        before: the epoch before.
        after: the epoch after.
        role_spans: role spans of each replica.
        removed: by epoch without a leader, the replicas that a controller had just removed from the ISR.
    """
    led = role_spans.get(before.leader, ()) if before.leader is not None else ()
    lived_on = at_once(before, after) and _led_on(led, before.epoch, after.epoch)
    return lived_on or accounted(before, after, removed)


def _led_on(spans: Sequence[RoleSpan], one: int, two: int) -> bool:
    """Return whether one process led in both epochs."""
    led = {role_span.epoch: role_span.run for role_span in spans if role_span.role is Role.LEADER}
    return one in led and led[one] == led.get(two)


ELECTS = (Kind.ELECTION, Kind.UNCLEAN_ELECTION, Kind.PARTITION_CREATED, Kind.PARTITION_CHANGED)
"""Kinds of line logged at the moment of an election. A metadata cache may hold the ISR of any later moment."""


_BY_REQUEST = (Kind.METADATA_CACHED, Kind.LEADER_AND_ISR, Kind.TOPIC_DESCRIBED)
"""Kinds of a controller with ZooKeeper: requests that brokers log, and the nodes themselves."""


def _add_stated_isr(epoch: Epoch, event: Event) -> None:
    ref = Ref(row=event.row, note=f"leader {event.leader} at leader epoch {event.leader_epoch}")
    if event.leader is not None:
        _add_leader(epoch, event.leader, ref)
    if epoch.time is None:
        epoch.time = event.time
    isr = broker_set(event.isr)
    if isr is not None:
        epoch.isrs_stated_by_others.add(isr)
    if isr is not None and all(known != isr for known, _ in epoch.isr):
        epoch.isr.append((isr, ref))
        epoch.isr_from_others = True
    if isr is not None and epoch.isr and epoch.isr[0][0] == isr and event.kind in ELECTS:
        epoch.isr_elected = True
    epoch.elected = epoch.elected or event.kind in ELECTS
    epoch.changed = epoch.changed or event.kind == Kind.PARTITION_CHANGED
    epoch.by_request = epoch.by_request or event.kind in _BY_REQUEST
    if event.kind in (Kind.UNCLEAN_ELECTION, Kind.RECOVERING):
        epoch.unclean.append(ref)
    epoch.last_known = epoch.last_known or _is_last_known(event)
    epoch.safe = epoch.safe or _safe(event)


def _is_last_known(event: Event) -> bool:
    """Return whether the controller logs that the new leader was the last member of an ISR that is now empty."""
    return event.kind == Kind.UNCLEAN_ELECTION and event.leader in (broker_set(last_known(event.detail)) or ())


def _safe(event: Event) -> bool:
    """Return whether the controller's line shows that a leader from outside the ISR has all committed records.

    The change that ends a reassignment makes such a replica leader (PartitionChangeBuilder), and eligible leader
    replicas replace the ISR (KIP-966).
    """
    if event.kind != Kind.PARTITION_CHANGED or event.leader is None or event.leader < 0:
        return False
    return elected_safely(event.detail)


def _add_follower_role(epoch: Epoch, role_span: RoleSpan) -> None:
    if epoch.time is None:
        epoch.time = role_span.time
    if role_span.leader is not None:
        _add_leader(epoch, role_span.leader, role_span.refs[0])
        begun = role_span.start_end
        if role_span.leader == epoch.leader and begun is not None and any(s.target > begun for s in role_span.steps):
            epoch.leader_took_up = True  # its follower fetched
        if role_span.isr and not epoch.isr:
            epoch.isr = list(role_span.isr)


def _add_leader_role(epoch: Epoch, broker: int, role_span: RoleSpan) -> None:
    """The leader's own line on when it began counts before the lines of brokers that learned it, often much later."""
    _add_leader(epoch, broker, role_span.refs[0])
    if epoch.leader == broker and not epoch.isr_from_leader and not epoch.leader_took_up:
        epoch.refs[:] = [role_span.refs[0]]
        epoch.time = role_span.time if role_span.time is not None else epoch.time
    epoch.leader_took_up = True
    if not role_span.isr:
        return
    if epoch.isr_from_leader:
        epoch.isr += role_span.isr
    elif role_span.isr_before_change or role_span.isr[0][1] in role_span.refs:
        epoch.isr, epoch.isr_elected = list(role_span.isr), True
    else:
        # Its first line is about a change. The ISR of its election is known from others only.
        epoch.isr = [*(epoch.isr[:1] if epoch.isr_elected else []), *role_span.isr]
    epoch.isr_from_leader, epoch.standing = True, role_span.standing


def _add_leader(epoch: Epoch, leader: int, ref: Ref) -> None:
    if epoch.leader is None or (epoch.leader < 0 <= leader):
        epoch.leader = leader
        epoch.refs.append(ref)
    elif leader >= 0 and leader != epoch.leader:
        epoch.other_leaders.setdefault(leader, ref)
