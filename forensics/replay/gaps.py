"""Epochs in which a replica had a part, as others and files tell, and of which its own lines say nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from forensics.replay.epochs import at_once
from forensics.replay.events import Event
from forensics.replay.history import BrokerFacts, Epoch, Role
from forensics.replay.isr import isr_text
from forensics.replay.leading import NO_FACTS
from forensics.replay.removals import accounted
from forensics.replay.steps import StepKind, Tenure
from parsers.schema import ROLES

_AT_ONCE = 5_000_000
"""Microseconds within which a broker may take several records of the metadata log at once; when it is behind, more."""

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
    ends: Mapping[int, int],
    removed: Mapping[int, frozenset[int]],
) -> dict[int, tuple[int, str]]:
    """Epochs that a replica had a part in, as others say, and of which its own lines, which go on before and behind or
    end there, tell nothing.

    Args:
        tenures: of replicas whose lines on their roles are in the evidence.
        epochs: every epoch.
        facts: what is known of brokers.
        before_it: which epochs followed one another on each broker. Epochs in between passed it by: a KRaft broker
            applies several changes of a partition as one (TopicDelta).
        ends: where the log of each replica ends whose files are at hand.
        removed: by epoch without a leader, the replicas that a controller had just taken out of the ISR.

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
                and not (broker != epoch.leader and _taken_for_dead(broker, number, epochs))
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
            older = ends.get(broker, 0) <= _next_start(number, epochs, tenures)
            silent = epoch.elected and older and _silent(spans, number) and not _in_vain(epoch, tenures)
            served = epoch.served or _changed(epoch) or _fed(epoch, epochs, tenures)
            if broker == epoch.leader and (served or number == max(epochs) or silent):
                found[broker] = number, f"it {'led' if served else 'was to lead'} in epoch {number}"
                continue
            # A follower goes on fetching from a leader that leads again, told or not, unless its fetches are fenced.
            if joined and (before[-1].leader != epoch.leader or fact.fenced):
                found[broker] = number, f"it came into the ISR in epoch {number}"
    for broker in sorted({*tenures} - {*found}):
        for one, shorter in _shorter(broker, tenures, facts).items():
            if one not in found or shorter[0] < found[one][0]:
                found[one] = shorter
    for broker, spans in sorted(tenures.items()):
        grown = _grown(spans)
        if grown is not None and (broker not in found or grown.epoch < found[broker][0]):
            found[broker] = grown.epoch, f"its log grew beyond {grown.start_end} in epoch {grown.epoch}, without a role"
    for broker, spans in sorted(tenures.items()):
        missed = _nameless(broker, spans, epochs, removed)
        if missed is not None and (broker not in found or missed < found[broker][0]):
            found[broker] = missed, f"it led before epoch {missed} and serves on after it, and nothing names that epoch"
    return found


def _silent(spans: Sequence[Tenure], number: int) -> bool:
    """Whether nothing of a replica is told from an epoch on, by the process that was there before or a later one."""
    return spans[-1].epoch < number and not any(
        step.kind in (StepKind.LOADED, StepKind.DELETED) for step in spans[-1].steps
    )


def _in_vain(epoch: Epoch, tenures: Mapping[int, Sequence[Tenure]]) -> bool:
    """Whether who leads next had followed the leader of an epoch from its ISR and got nothing: that one had died, or
    was frozen, as it was elected, which an elector does not know before its session is over.
    """
    isr = (epoch.first_isr or frozenset()) if epoch.isr_elected else frozenset()
    return any(
        one.epoch == epoch.epoch and one.role is Role.FOLLOWER and two.role is Role.LEADER and one.run == two.run
        and one.leader in (None, epoch.leader) and one.start_end is not None and one.start_end == two.start_end
        and not one.fetched and not one.steps
        for broker in isr - {epoch.leader}
        for one, two in itertools.pairwise(tenures.get(broker, ()))
    )  # fmt: skip


def _fed(epoch: Epoch, epochs: Mapping[int, Epoch], tenures: Mapping[int, Sequence[Tenure]]) -> bool:
    """Whether the log of a follower grew as it followed the leader of an epoch. What it had of that leader's next epoch
    it may have fetched before it was told of it.
    """
    for one, two in (pair for spans in tenures.values() for pair in itertools.pairwise(spans)):
        here = one.epoch == epoch.epoch and one.role is Role.FOLLOWER and one.run == two.run
        again = any(one.epoch < n <= two.epoch and other.leader == epoch.leader for n, other in epochs.items())
        followed = here and one.leader in (None, epoch.leader) and not again
        if followed and one.start_end is not None and (two.start_end or 0) > one.start_end:
            return True
    return False


def _changed(epoch: Epoch) -> bool:
    """Whether the ISR changed within an epoch, which its leader alone does where controllers write to ZooKeeper."""
    return epoch.by_request and len({*epoch.told, *(isr for isr, _ in epoch.isr)}) > 1


def _next_start(number: int, epochs: Mapping[int, Epoch], tenures: Mapping[int, Sequence[Tenure]]) -> int:
    """Where the next leader after an epoch began; what a copy holds beyond that was written by the one before."""
    led = (other for other, epoch in epochs.items() if other > number and epoch.leader not in (None, -1))
    later = min(led, default=-1)
    roles = [t for spans in tenures.values() for t in spans if t.epoch == later and t.role is Role.LEADER]
    return max((t.start_end or 0 for t in roles), default=0)


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
    if not roles or not any(step.kind in (StepKind.LOADED, StepKind.CREATED) for step in before):
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
        forget_start(tenures[broker], number)
    return found


def forget_start(spans: Sequence[Tenure], number: int) -> None:
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


def _taken_for_dead(broker: int, number: int, epochs: Mapping[int, Epoch]) -> bool:
    """Whether the next epoch began as the controller took a broker out of the ISR: one that is frozen, or cut off, may
    never have got the request on this one (RequestSendThread gives up what waits for a broker that is gone).
    """
    epoch, after = epochs[number], epochs.get(number + 1)
    if after is None or not epoch.by_request or not after.isr_elected or broker not in (epoch.last_isr or ()):
        return False
    return after.first_isr is not None and broker not in after.first_isr


def _brief(number: int, epochs: Mapping[int, Epoch]) -> bool:
    """Whether the next epoch began so soon that a broker may have heard of both at once."""
    this, after = epochs[number], epochs.get(number + 1)
    return this.time is not None and after is not None and after.time is not None and after.time - this.time < _AT_ONCE


def _shorter(
    broker: int, tenures: Mapping[int, Sequence[Tenure]], facts: Mapping[int, BrokerFacts]
) -> dict[int, tuple[int, str]]:
    """An epoch in which a follower fetched more from a leader than that began its next epoch with, and no line tells
    what removed it: either the leader's lines are missing, or the follower's on a later epoch. The leader's are not
    where one process led in both and no epoch was between them.
    """
    own = tenures[broker]
    for at, to in itertools.pairwise(at for at, tenure in enumerate(own) if tenure.role is not Role.OFFLINE):
        one, two = own[at], own[to]
        told = any(tenure.steps for tenure in own[at:to])
        if told or one.role is not Role.LEADER or two.start_end is None:
            continue
        if two.role is Role.FOLLOWER and two.run == one.run and two.epoch == one.epoch + 1 and two.start_end > 0:
            beyond = _fetched(tenures, facts, one, two.start_end)
            if beyond:
                why = f"in epoch {one.epoch}, and it followed in epoch {two.epoch} with {two.start_end}"
                return {broker: (one.epoch, f"a follower had fetched up to {max(beyond.values())} from it {why}")}
        if two.role is not Role.LEADER:
            continue
        beyond = {
            other: t.end_low
            for other, spans in tenures.items()
            for t in spans
            if other != broker and t.epoch == one.epoch and t.leader == broker and facts.get(other, NO_FACTS).fenced
            if t.end_low > max(t.start_low, t.start_end or 0, two.start_end)
            # A fetch that waits at its leader is answered in the next epoch, before the follower is told of that.
            if not (one.run == two.run and any(later.epoch == two.epoch for later in spans))
        }
        why = f"in epoch {one.epoch}, and epoch {two.epoch} began at {two.start_end}"
        found = {other: (one.epoch, f"it had fetched up to {end} {why}") for other, end in beyond.items()}
        if found and not (one.run == two.run and two.epoch == one.epoch + 1):
            found[broker] = one.epoch, f"a follower had fetched up to {max(beyond.values())} from it {why}"
        if found:
            return found
    return {}


def _fetched(
    tenures: Mapping[int, Sequence[Tenure]], facts: Mapping[int, BrokerFacts], led: Tenure, end: int
) -> dict[int, int]:
    """How far followers had fetched in a leader's epoch, of those that reached beyond an offset; nothing of this counts
    before leader epochs, where a follower may have a tail of its own.
    """
    return {
        other: t.end_low
        for other, spans in tenures.items()
        for t in spans
        if other != led.replica and t.epoch == led.epoch and t.leader == led.replica
        if t.end_low > max(t.start_low, t.start_end or 0, end) and not facts.get(other, NO_FACTS).hw_protocol
    }


def _grown(spans: Sequence[Tenure]) -> Tenure | None:
    """The first tenure in which nobody led, as far as a new process tells, and yet the log grew."""
    run = None
    for one in spans:
        new, run = one.run != run, one.run
        if not new or one.role is not Role.OFFLINE or one.epoch < 0 or one.start_end is None:
            continue
        if any(step.kind is StepKind.LOADED and step.target > one.start_end for step in one.steps[:1]):
            return one
    return None


def _nameless(
    broker: int, spans: Sequence[Tenure], epochs: Mapping[int, Epoch], removed: Mapping[int, frozenset[int]]
) -> int | None:
    """An epoch of which nobody tells though the leader before it lived on: it was told of its successor at the least.

    While the last leader is dead, an epoch without one may begin of which stock logging tells nothing. And controllers
    of ZooKeeper clusters raise the epoch by one for each replica that they take out of the ISR, several in one request
    (KafkaController.onReplicasBecomeOffline).
    """
    for one, two in itertools.pairwise(spans):
        if one.role is not Role.LEADER or one.given_up or one.run != two.run or one.epoch < 0:
            continue
        named = [number for number in epochs if one.epoch <= number <= two.epoch]
        nameless = [
            number
            for start, end in itertools.pairwise(sorted(named))
            for number in range(start + 1, end)
            if not accounted(epochs[start], epochs[end], removed)
        ]
        before, after = epochs[one.epoch], epochs[two.epoch]
        if nameless and not (after.leader == broker and at_once(before, after)):
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
    return bool(longer) and not any(step.kind is not StepKind.LOADED for tenure in here for step in tenure.steps)
