"""Who led a partition in each leader epoch, and with which ISR, from everyone who says so."""

from __future__ import annotations

import itertools
from collections.abc import Container, Mapping, Sequence

from forensics.replay.directory import Disk, Ref
from forensics.replay.elections import was_last_member
from forensics.replay.events import Event
from forensics.replay.history import Epoch, Role
from forensics.replay.isr import broker_set
from forensics.replay.isr_removal_epochs import accounted
from forensics.replay.steps import RoleSpan
from parsers.details import CANDIDATE, ELECTED_SAFELY, REPLICAS, last_known, names_brokers
from parsers.schema import Kind

_AT_ONCE = 1_000_000
"""Microseconds between two lines of one controller on one election."""

"""Who had been the last in the ISR, as controllers print it where they elect from outside of it."""


def collect(
    role_spans: Mapping[int, list[RoleSpan]],
    cluster: Sequence[Event],
    disks: Mapping[int, Disk],
    told: Container[int],
) -> dict[int, Epoch]:
    """Every epoch that any evidence names, by number.

    The leader's own word on its ISR comes first. Controllers and the metadata caches of all brokers (UpdateMetadata)
    fill in where the leader's log is missing.

    Args:
        role_spans: each replica's, from its own lines.
        cluster: what others say of leaders and ISRs.
        disks: each replica's files.
        told: brokers whose own word on their roles is in the evidence.
    """
    epochs: dict[int, Epoch] = {}

    def at(number: int) -> Epoch:
        return epochs.setdefault(number, Epoch(number))

    unclean: dict[int, tuple[Event, Ref]] = {}
    elected: dict[tuple[int, int | None], Event] = {}
    warned: set[int] = set()
    chosen: dict[int, int] = {}  # by the controller that tells: whom it found alive in the ISR, to 1.0
    for event in sorted(cluster, key=lambda e: e.kind not in ELECTS):  # who elects is asked before who repeats it
        if event.leader_epoch is not None and event.leader_epoch >= 0:
            epoch = at(event.leader_epoch)
            _add_stated_isr(epoch, event)
            if event.kind in ELECTS:
                elected[event.broker, event.leader] = event
                epoch.safe = epoch.safe or (event.broker in chosen and chosen.pop(event.broker) == event.leader)
            said, ref = unclean.get(event.broker, (event, None))
            if ref is not None and event.kind in ELECTS and said.leader in (None, event.leader):
                epoch.unclean.append(ref)
                if names_brokers(said.detail):
                    warned.add(epoch.epoch)
                del unclean[event.broker]
        elif event.detail == CANDIDATE and event.leader is not None and event.leader in (broker_set(event.isr) or ()):
            chosen[event.broker] = event.leader
        elif event.kind == Kind.UNCLEAN_ELECTION:
            ref, number = Ref(row=event.row, note="no broker of the ISR was alive"), _elected_in(event, elected)
            if number is not None:
                at(number).unclean.append(ref)
                at(number).last_known |= _is_last_known(event)
            else:
                # Up to 1.0 the warning comes before the election and names no epoch.
                unclean[event.broker] = event, ref
    for broker in sorted(role_spans):
        for role_span in role_spans[broker]:
            if role_span.epoch >= 0 and role_span.role is not Role.LEADER:
                _add_follower_role(at(role_span.epoch), role_span)
    for broker in sorted(role_spans):
        for role_span in role_spans[broker]:
            if role_span.epoch >= 0 and role_span.role is Role.LEADER:
                _add_leader_role(at(role_span.epoch), broker, role_span)
    _add_second_leaders(epochs, role_spans)
    for disk in disks.values():
        for number in {*(entry[0] for entry in disk.entries), *(entry[0] for entry in disk.lineage.entries)}:
            if number >= 0:
                at(number).leader_took_up = True
    for role_span in (role_span for spans in role_spans.values() for role_span in spans):
        for number, _, _ in role_span.entries:
            at(number).leader_took_up = True  # a record of it was fetched
    for epoch in epochs.values():
        # Nothing speaks against it where the leader's own lines are not in the evidence.
        if epoch.leader is not None and epoch.leader >= 0 and epoch.leader not in told:
            epoch.leader_took_up = True
    for epoch in epochs.values():
        _settle_after_emptied(epochs, epoch, warned=epoch.epoch in warned)
    return dict(sorted(epochs.items()))


def _add_second_leaders(epochs: Mapping[int, Epoch], role_spans: Mapping[int, Sequence[RoleSpan]]) -> None:
    """Add the leaders that a broker's own role lines name beside another one of the same epoch."""
    for role_span in itertools.chain.from_iterable(role_spans.values()):
        for leader, ref in role_span.rivals:
            epochs[role_span.epoch].two_by_one = True
            _add_leader(epochs[role_span.epoch], leader, ref)


def _elected_in(event: Event, elected: Mapping[tuple[int, int | None], Event]) -> int | None:
    """The epoch of an unclean election whose line names none: it names the one before (since 4.1), or the metadata log
    told of the election first, within a second.

    Args:
        event: the line.
        elected: the last election told of by each broker, by the leader.
    """
    if event.previous_epoch is not None:
        return event.previous_epoch + 1
    last = elected.get((event.broker, event.leader))
    if last is None or last.time is None or event.time is None or abs(event.time - last.time) > _AT_ONCE:
        return None
    return last.leader_epoch


def _settle_after_emptied(epochs: Mapping[int, Epoch], epoch: Epoch, *, warned: bool) -> None:
    """Who was in the ISR before a ZooKeeper controller emptied it has all that was committed, though the controller to
    1.0 warns of potential data loss (OfflinePartitionLeaderSelector) whenever it finds nobody of the ISR alive, and in
    an empty one it finds nobody.
    """
    before = epochs.get(epoch.epoch - 1)
    if epoch.leader is None or epoch.leader < 0 or (before is None and not warned):
        return
    if before is not None and (before.last_isr or (before.leader is not None and before.leader >= 0)):
        return
    if before is not None and warned:
        before.by_request = True  # no KRaft controller warns so
    member = was_last_member(epochs, epoch) if before is not None and before.by_request else None
    epoch.safe = epoch.safe or member is True
    if member is True or (warned and member is None):
        epoch.unclean.clear()


def unnamed(
    epochs: Mapping[int, Epoch],
    role_spans: Mapping[int, Sequence[RoleSpan]],
    *,
    heard: bool,
    skips: bool,
    removed: Mapping[int, frozenset[int]] | None = None,
) -> frozenset[int]:
    """Leader epochs that must have been between those that are named, with a leader, and that nothing names: who led in
    them, and what was committed, is not known.

    While the last leader is dead, an epoch without one may begin of which stock logging tells nothing; but none has to
    follow on another of these.

    Args:
        epochs: those that are named.
        role_spans: each replica's.
        heard: every replica's roles are told by itself.
        skips: brokers may have left epochs out though all of their lines are there: they follow the metadata log, and
            take several changes as one (TopicDelta).
        removed: by epoch without a leader, the replicas that a controller had just taken out of the ISR.
    """
    found: set[int] = set()
    for one, two in itertools.pairwise(sorted(epochs)):
        told = epochs[one].leader
        led = told is not None and told >= 0 and epochs[two].leader == -1
        between = two > one + 1 and not in_one_request(epochs[one], epochs[two], role_spans, removed or {})
        if between and (led or not heard) and not skips:
            found.update(range(one + 1, two))
    return frozenset(found)


def at_once(before: Epoch, after: Epoch) -> bool:
    """Whether the epochs between two of one leader may have come in one request: a controller of a ZooKeeper cluster
    raises the epoch for each replica that it takes out of the ISR (KafkaController.onReplicasBecomeOffline).
    """
    taken = len((before.last_isr or frozenset()) - (after.first_isr or frozenset()))
    return before.leader == after.leader and after.epoch - before.epoch <= taken


def in_one_request(
    before: Epoch, after: Epoch, role_spans: Mapping[int, Sequence[RoleSpan]], removed: Mapping[int, frozenset[int]]
) -> bool:
    """Whether a controller is known to have sent the epochs between two with the later one: nobody led in them.

    Args:
        before: the epoch before.
        after: the epoch after.
        role_spans: each replica's.
        removed: by epoch without a leader, the replicas that a controller had just taken out of the ISR.
    """
    led = role_spans.get(before.leader, ()) if before.leader is not None else ()
    lived_on = at_once(before, after) and _went_on(led, before.epoch, after.epoch)
    return lived_on or accounted(before, after, removed)


def _went_on(spans: Sequence[RoleSpan], one: int, two: int) -> bool:
    """Whether one process led in both epochs."""
    led = {role_span.epoch: role_span.run for role_span in spans if role_span.role is Role.LEADER}
    return one in led and led[one] == led.get(two)


ELECTS = (Kind.ELECTION, Kind.UNCLEAN_ELECTION, Kind.PARTITION_CREATED, Kind.PARTITION_CHANGED)
"""Who says so says it at the moment of the election; what brokers cache may be the ISR of any later moment."""


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
    epoch.by_request = epoch.by_request or event.kind in (Kind.METADATA_CACHED, Kind.LEADER_AND_ISR)
    if event.kind in (Kind.UNCLEAN_ELECTION, Kind.RECOVERING):
        epoch.unclean.append(ref)
    epoch.last_known = epoch.last_known or _is_last_known(event)
    epoch.safe = epoch.safe or _safe(event)


def _is_last_known(event: Event) -> bool:
    """Whether who elects a leader from outside the ISR, which is empty, says that it was the last one in it."""
    return event.kind == Kind.UNCLEAN_ELECTION and event.leader in (broker_set(last_known(event.detail)) or ())


def _safe(event: Event) -> bool:
    """Whether who elects says that a leader has all that was committed though it was in no ISR before: the change that
    ends a reassignment puts it there (PartitionChangeBuilder), and eligible leader replicas stand in (KIP-966).
    """
    if event.kind != Kind.PARTITION_CHANGED or event.leader is None or event.leader < 0:
        return False
    return (event.detail or "").startswith((ELECTED_SAFELY, REPLICAS))


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
    """The leader's own word on when it began counts before what others say they were told, often much later."""
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
        # Its first word is of a change; with which ISR it was elected only others tell.
        epoch.isr = [*(epoch.isr[:1] if epoch.isr_elected else []), *role_span.isr]
    epoch.isr_from_leader, epoch.standing = True, role_span.standing


def _add_leader(epoch: Epoch, leader: int, ref: Ref) -> None:
    if epoch.leader is None or (epoch.leader < 0 <= leader):
        epoch.leader = leader
        epoch.refs.append(ref)
    elif leader >= 0 and leader != epoch.leader:
        epoch.other_leaders.setdefault(leader, ref)
