"""The ISR right before each election, by partition epoch (zkVersion), which numbers every change of it.

Each write of a partition's state raises the partition epoch by one (PartitionStateStore, PartitionChangeBuilder),
whether it is an election or a change of the ISR alone. So the state before an election has a partition epoch one below
the first state of the new leader epoch, whichever broker logs it. A partition epoch that no line names is a change that
no line shows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from forensics.replay.coverage import Doubt, Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.replay.partition_states import PartitionState, PartitionStates
from forensics.replay.roles.steps import RoleSpan
from parsers.messages.catalogue import Says
from parsers.messages.logs import SAYS
from parsers.schema import ROLES, Kind

_CHANGES = (Kind.UNCLEAN_ELECTION, Kind.PARTITION_CHANGED)
"""Kinds of line that also state the state before the change."""


def states(events: Iterable[Event]) -> PartitionStates:
    """Return every state of a partition that any line states; each broker's events in its order."""
    found: dict[int, PartitionState] = {}
    for event, led in _with_epochs(events):
        # A leader that changes the ISR may log no leader epoch: then it is the epoch that it leads.
        _add_state(found, event.partition_epoch or 0, led if event.leader_epoch is None else event.leader_epoch, event)
    return PartitionStates(found)


def isr_commits(events: Iterable[Event]) -> dict[int, list[int]]:
    """Return the partition epochs of the ISRs that leaders state as committed, by leader epoch, in their order."""
    found: dict[int, list[int]] = {}
    for event, led in _with_epochs(events):
        if event.kind == Kind.ISR_COMMIT and led is not None:
            found.setdefault(led, []).append(event.partition_epoch or 0)
    return found


def _with_epochs(events: Iterable[Event]) -> Iterator[tuple[Event, int | None]]:
    """Yield each line that states a partition epoch, with the leader epoch of its broker's last role, or None."""
    serves: dict[int, int] = {}
    for event in events:
        if event.leader_epoch is not None and event.kind in ROLES:
            serves[event.broker] = event.leader_epoch
        if event.partition_epoch is not None and event.partition_epoch >= 0:
            yield event, serves.get(event.broker)


def _add_state(found: dict[int, PartitionState], at: int, number: int | None, event: Event) -> None:
    """Add what a line states of a partition epoch, and of the one before; what an earlier line stated counts.

    Args:
        found: the states so far.
        at: partition epoch.
        number: leader epoch, or None.
        event: the line.
    """
    if event.kind in _CHANGES and event.previous_epoch is not None and event.isr_before is not None:
        found.setdefault(at - 1, PartitionState(event.previous_epoch, broker_set(event.isr_before)))
    before = found.get(at, PartitionState())
    # A change that a leader asks for names the partition epoch that it has: that of the ISR before.
    of_it = event.isr_before if event.message in SAYS[Says.HANDED_OVER] else event.isr
    number = number if before.leader_epoch is None else before.leader_epoch
    found[at] = PartitionState(number, broker_set(of_it) if before.isr is None else before.isr)


def isr_before(history: History, epoch: Epoch) -> frozenset[int] | None:
    """Return the ISR at the moment at which an epoch's leader was elected; None if unknown."""
    first = _first_state(history, epoch)
    state = history.states.get(first - 1) if first is not None else None
    if state is None or state.leader_epoch is None or state.leader_epoch >= epoch.epoch:
        return None  # of an unknown leader epoch, or epochs went back
    return state.isr


def isrs_stated(history: History, epoch: Epoch) -> list[tuple[frozenset[int], Ref | None]]:
    """Return each ISR of an epoch, in the order of the partition epochs, with the line if its leader states it.

    Where lines of the leader are missing, metadata and the lines of other brokers may still show what it changed.
    """
    own = {isr for isr, _ in epoch.isr}
    stated = [(number, isr) for number in history.states.of(epoch.epoch) if (isr := history.states[number].isr)]
    found: list[tuple[int, frozenset[int], Ref | None]] = []
    at = -1
    for isr, ref in epoch.isr:
        at = min((number for number, other in stated if other == isr and number > at), default=at)
        found.append((at, isr, ref))
    found += [(number, isr, None) for number, isr in stated if isr not in own]
    return [(isr, ref) for _, isr, ref in sorted(found, key=itemgetter(0))]


def latest_isr_stated(history: History, epoch: Epoch, otherwise: frozenset[int]) -> frozenset[int]:
    """Return the ISR of an epoch with the highest partition epoch that any broker logged.

    A KRaft controller removes members whose brokers are gone, so the leader's own last line may be older.
    """
    stated = (history.states[number].isr for number in reversed(history.states.of(epoch.epoch)))
    return next((isr for isr in stated if isr is not None), otherwise)


def isr_stated_by_leader(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader states its ISR and every change of it.

    It logs each change to server.log (Partition.shrinkIsr, expandIsr), so its lines about its log must be whole. What
    controllers or metadata caches state is the ISR of one moment. That it is the one of an election is known by the
    partition epochs alone (``isr_before``).
    """
    return epoch.isr_from_leader and states_isr_changes(history, epoch.leader)


def states_isr_changes(history: History, leader: int | None) -> bool:
    """Return whether the lines of a leader show each change of its ISR.

    A trace that claims to state some kinds of line alone claims none of the ISR.
    """
    coverage = history.coverage
    return coverage.has(leader, Printed.LOG) and leader not in coverage.claimed_partly


def isr_known_to_end(history: History, epoch: Epoch) -> bool:
    """Return whether the last ISR that an epoch's leader states is the one with which its epoch ended.

    Its lines about its log are whole, and the partition epochs count no change of the ISR that no line shows.
    """
    stated = isr_stated_by_leader(history, epoch) and lines_reach_end(history, epoch)
    return stated and not isr_may_have_changed(history, epoch)


def lines_reach_end(history: History, epoch: Epoch) -> bool:
    """Return whether nothing shows that a leader's lines about its log end before its epoch did."""
    roles = history.role_spans.get(epoch.leader, ()) if epoch.leader is not None else ()
    if any(role_span.epoch > epoch.epoch for role_span in reversed(roles)):
        return True  # its lines continue
    return history.coverage.has(epoch.leader, Printed.LOG, Span.AFTER)


def isr_may_have_changed(history: History, epoch: Epoch) -> bool:
    """Return whether partition epochs count a change of the ISR without a line, from an epoch to the next election.

    Changes that may have come with leader epochs which no line names do not count: those are of controllers.
    """
    for later in history.epochs.after(epoch.epoch):
        if isr_changed_without_lines(history, later):
            return True
        if later.leader not in (None, -1):
            return False
    return False


def outlived(history: History, role_spans: Mapping[int, list[RoleSpan]]) -> list[RoleSpan]:
    """Return leaders' role spans for which other brokers state a later ISR than the leaders themselves.

    Such a leader may have continued and appended more, and its lines of that time are missing.
    """
    found = []
    for epoch in history.epochs.values():
        last = epoch.last_isr
        if (
            epoch.leader is not None
            and epoch.isr_from_leader
            and last
            and latest_isr_stated(history, epoch, last) != last
        ):
            found += [role_span for role_span in role_spans.get(epoch.leader, ()) if role_span.epoch == epoch.epoch]
    return found


def elected_isr(history: History, epoch: Epoch) -> frozenset[int] | None:
    """Return the ISR that an epoch's leader was elected with; None if unknown, because an ISR stated later may have
    grown.
    """
    first = _first_state(history, epoch)
    if first is not None and isr_before(history, epoch) is not None:
        isr = history.states[first].isr
        if isr is not None:
            return isr
    return epoch.first_isr if epoch.isr_elected else None


def was_last_member(epochs: Mapping[int, Epoch], epoch: Epoch) -> bool | None:
    """Return whether an epoch's leader was in the last leader's final ISR, after a controller had emptied the ISR.

    Up to 1.0, with unclean elections enabled, a controller removes every member that dies from the ISR, the last one
    too. It raises the leader epoch each time and names no leader once the last one is out
    (KafkaController.removeReplicaFromIsr). Nothing is committed while there is no leader, so every member of the last
    leader's final ISR has all committed records. None if the evidence does not decide.
    """
    if epoch.last_known:
        return True
    number = epoch.epoch - 1
    while (before := epochs.get(number)) is not None and before.leader is not None and not before.other_leaders:
        if before.leader >= 0:
            return epoch.leader == before.leader  # any other member it left was in an ISR since
        if before.last_isr is None:
            return None
        if epoch.leader in before.last_isr:
            return True
        number -= 1
    return None


def elected_with_others(history: History, epoch: Epoch) -> bool:
    """Return whether a leader began with others in the ISR; after an unclean election the leader is alone in it."""
    isr = elected_isr(history, epoch)
    return isr is not None and len(isr) > 1


def outside_isr(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader came from outside the ISR, as far as the evidence shows.

    An election from outside the ISR leaves the new leader alone in it (ZooKeeper: OfflinePartitionLeaderElection;
    KRaft: PartitionChangeBuilder). So other members in its first ISR prove that it was in sync.

    With KRaft a reassignment can make a replica leader in the same change that adds it, and leaders may come from the
    eligible leader replicas (KIP-966). There the answer is true only if the controller logs the election as unclean, or
    the leader logs that it is recovering.
    """
    if epoch.safe and not epoch.unclean:
        return False
    isr = elected_isr(history, epoch) or epoch.first_isr
    if isr is not None and len(isr) > 1:
        return False
    if epoch.unclean:
        return True
    return (
        _by_zookeeper(history, epoch) and isr_changes_complete(history, epoch) and _not_among_the_last(history, epoch)
    )


def _by_zookeeper(history: History, epoch: Epoch) -> bool:
    """Return whether a controller that writes to ZooKeeper elected an epoch's leader, as far as anything shows it."""
    if history.protocol.kraft:
        return False
    return not history.protocol.maybe_kraft or epoch.by_request or (epoch.elected and not epoch.changed)


def from_isr(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader was in the ISR right before the election, or the election itself shows that."""
    if epoch.unclean or epoch.safe:
        return not epoch.unclean
    isr = isr_before(history, epoch)
    before = last_with_isr(history, epoch) if isr is None else None
    if before is not None and before.last_isr is not None and not _led_between(history, before, epoch):
        isr = before.last_isr & (_may_stand(history, before, epoch) or before.last_isr)
    return (
        elected_with_others(history, epoch)
        or from_eligible(history, epoch)
        or (isr is not None and epoch.leader in isr)
    )


def _led_between(history: History, before: Epoch, epoch: Epoch) -> bool:
    """Return whether a broker led between two epochs, or may have led without a line. Its ISR is unknown."""
    if history.coverage.unnamed_between(before.epoch, epoch.epoch):
        return True
    return any(one.leader not in (None, -1) for one in history.epochs.between(before.epoch, epoch.epoch))


def maybe_eligible(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader may have been an eligible leader replica (KIP-966).

    This is the case if it was in no known ISR and no line shows how it was elected.
    """
    if epoch.unclean or epoch.safe or epoch.elected or elected_with_others(history, epoch):
        return False
    if history.protocol.may_elect_from_elr and _not_among_the_last(history, epoch):
        return True
    isr = epoch.first_isr
    if _after_no_leader(history, epoch):
        return isr is None or len(isr) < 2
    before = last_with_isr(history, epoch)
    if before is None or before.last_isr or (isr is not None and len(isr) > 1):
        return False
    return not before.by_request


def shows_ineligible(history: History, epoch: Epoch) -> bool:
    """Return whether something shows that an epoch's leader was no eligible leader replica (KIP-966).

    Such a replica has all committed records. And a member that leaves the ISR becomes one only if the ISR is smaller
    than min.insync.replicas without it, so never if that is 1.
    """
    lacked = history.played is not None and any(one.epoch == epoch.epoch for one in history.played.led_without)
    return bool(epoch.unclean) or lacked or history.facts.min_insync_replicas == 1


def from_eligible(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader was elected from the eligible leader replicas, which have all committed records.

    That is shown if the release may elect from them, the ISR before was empty, and the controller logs the election and
    does not log it as unclean (KIP-966).
    """
    before = last_with_isr(history, epoch)
    if not history.protocol.may_elect_from_elr or before is None or before.last_isr or before.by_request:
        return False
    return epoch.elected and not epoch.unclean


def isr_changes_complete(history: History, epoch: Epoch) -> bool:
    """Return whether every change of the state between the last known ISR before an epoch and the election is known.

    A KRaft controller removes replicas from the ISR itself when their brokers go, and a dead leader logs nothing about
    that. With ZooKeeper only leaders and elections change the state, and leaders may log no number for a change.
    """
    first = _first_state(history, epoch)
    if not history.protocol.kraft:
        just_before = history.states.get(first - 1) if first is not None else None
        if just_before is not None and just_before.isr is None and not history.members_whole:
            return False  # a change of the ISR of which the number alone is left
        doubt = Doubt.ISR_CHANGED if first is None else Doubt.STATE_CHANGED
        return not _leader_without_lines(history, epoch) and not history.coverage.in_doubt(doubt, epoch.epoch)
    if first is None:
        return True
    number = first - 1
    while number in history.states and history.states[number].isr is None:
        number -= 1
    return number in history.states


def isr_changed_without_lines(history: History, epoch: Epoch) -> bool:
    """Return whether a leader changed the ISR near an election without a line, as the partition epochs show."""
    return history.coverage.in_doubt(Doubt.ISR_CHANGED, epoch.epoch)


def _leader_without_lines(history: History, epoch: Epoch) -> bool:
    """Return whether the leader is unknown in an epoch between the last known ISR and an election."""
    if isr_before(history, epoch) is not None:
        return False  # by the partition epochs that is the state right before
    before = last_with_isr(history, epoch)
    since = before.epoch if before is not None else -1
    if history.coverage.unnamed_between(since, epoch.epoch):
        return True
    return any(one.leader is None for one in history.epochs.between(since, epoch.epoch))


def _first_state(history: History, epoch: Epoch) -> int | None:
    """Return the lowest partition epoch that any line states for a leader epoch, or None."""
    return next(iter(history.states.of(epoch.epoch)), None)


def last_with_isr(history: History, epoch: Epoch) -> Epoch | None:
    """Return the last earlier epoch with a known ISR, or None."""
    return next((one for one in reversed(history.epochs.before(epoch.epoch)) if one.last_isr is not None), None)


def _after_no_leader(history: History, epoch: Epoch) -> bool:
    """Return whether there was no leader right before and the ISR is unknown: it may have been empty (KIP-966)."""
    before = history.epochs.before(epoch.epoch)
    if not before or before[-1].leader != -1 or before[-1].last_isr is not None or epoch.elected:
        return False
    if any(one.by_request for one in history.epochs.values()):
        return False
    if history.coverage.unnamed_between(before[-1].epoch, epoch.epoch):
        return False
    return isr_before(history, epoch) is None


def _not_among_the_last(history: History, epoch: Epoch) -> bool:
    """Return whether an epoch's leader, alone in its ISR, was in no ISR known right before the election."""
    isr = elected_isr(history, epoch) or epoch.first_isr
    if epoch.leader is None or epoch.leader < 0 or isr != frozenset({epoch.leader}):
        return False
    isr = isr_before(history, epoch)
    if isr:
        return epoch.leader not in isr
    if _after_no_leader(history, epoch):
        return False
    before = last_with_isr(history, epoch)
    if before is None:
        return False
    if not before.last_isr:
        # Otherwise eligible leader replicas may replace the ISR (KIP-966).
        return before.by_request and was_last_member(history.epochs, epoch) is False
    if before.leader is not None and before.leader >= 0 and not (before.isr_from_leader or before.isr_from_others):
        return False
    return epoch.leader not in before.last_isr | _may_stand(history, before, epoch)


def _may_stand(history: History, before: Epoch, epoch: Epoch) -> frozenset[int]:
    """Return the ISR that the last leader may have left, if no line confirms the ISR that it proposed.

    A leader that was paused may propose an ISR after the controller has elected its successor. The result is empty if
    the partition epochs of the election itself show that all proposals were committed, because each later change of the
    ISR has a number too.
    """
    first, standing = _first_state(history, epoch), before.standing or frozenset()
    numbered = [number for number in history.states.of(before.epoch) if history.states[number].isr is not None]
    if history.protocol.kraft or first is None or not numbered:
        return standing
    if history.states[first].isr != (elected_isr(history, epoch) or epoch.first_isr):
        return standing
    isrs = [isr for isr, _ in itertools.groupby(isr for isr, _ in before.isr)]
    since = history.states[numbered[-1]].isr
    changes = first - numbered[-1] - (epoch.epoch - before.epoch)
    confirmed = since in isrs and changes >= len(isrs) - 1 - isrs.index(since)
    return frozenset() if confirmed else standing
