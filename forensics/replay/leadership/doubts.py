"""Doubts: lines that may be missing although nothing in the evidence shows that one is.

A doubt lowers no coverage, because it does not say which replica lacks the line, or because it rests on something weak,
such as the clocks of two brokers. It leaves one question about one leader epoch undecided.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from forensics.replay.coverage import Doubt, Doubtful
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import elected_isr
from forensics.replay.leadership.epochs import in_one_request
from forensics.replay.lineage import gap
from forensics.replay.roles.steps import RoleSpan


def doubts(history: History) -> Iterator[Doubtful]:
    """Yield every doubt about a partition, once its epochs, its states and what is shown to be missing are known."""
    for epoch in history.epochs.values():
        yield from _of_election(history, epoch)
    yield from _of_members(history)
    yield from (Doubtful(Doubt.LEADER, number) for number in _without_leader(history))
    for spans in history.role_spans.values():
        for before, role_span in itertools.pairwise(spans):
            yield from _of_process(history, before, role_span.epoch)


def _of_process(history: History, before: RoleSpan, until: int) -> Iterator[Doubtful]:
    """Yield the doubts about the lines of the process that had a role, up to a later epoch."""
    if before.shut_down is None:
        if before.loads and all(step.before is None for step in before.loads):
            yield Doubtful(Doubt.STOP_UNSEEN, before.epoch, before.replica, before.run)
        return
    for epoch in history.epochs.between(before.epoch, until + 1):
        if epoch.time is not None and before.shut_down > epoch.time:
            yield Doubtful(Doubt.RAN_ON, epoch.epoch, before.replica, before.run)


def _without_leader(history: History) -> list[int]:
    """Return the leader epochs between the first and the last that have a leader, of which no line says who led.

    These are more epochs than the coverage calls unnamed. With ZooKeeper, an epoch in which every replica states that
    it had no role may still have changed the ISR. The next leader is elected from that ISR.
    """
    led = [number for number, epoch in history.epochs.items() if epoch.leader is not None and epoch.leader >= 0]
    if not led:
        return []
    stated = history.states.leader_epochs
    known = {number for number, epoch in history.epochs.items() if epoch.leader is not None}
    asked = {*history.epochs}
    for one, two in itertools.pairwise(history.epochs.between(led[0] - 1, led[-1] + 1)):
        if not in_one_request(one, two, history.role_spans, history.facts.removed):
            asked.update(gap(one.epoch, two.epoch))
    return sorted(asked.difference(known, stated))


def _of_election(history: History, epoch: Epoch) -> Iterator[Doubtful]:
    """Yield the doubts about the changes of the ISR near an election.

    Each change of a partition's state raises the partition epoch by one. So the numbers around an election say how many
    changes there were. Which of the leaders about that time made those without a line, they do not say.
    """
    around = _numbers_around(history, epoch)
    if around is None:
        return
    last, first, since, until = around
    changes = first - 1 - last - _stated_changes(history, last, since, until) - _changes_up_to(history, until, first)
    elections = until - since - 1
    if changes > elections:
        yield Doubtful(Doubt.ISR_CHANGED, epoch.epoch)
    if last in history.states:  # else every epoch since the first counts, logged or not
        named = {one.epoch for one in history.epochs.between(since, until)}
        elections = len(named.union(history.coverage.unnamed_between(since, until)))
    if changes > elections:
        yield Doubtful(Doubt.STATE_CHANGED, epoch.epoch)


def _of_members(history: History) -> Iterator[Doubtful]:
    """Yield the doubts about elections after which a member of the last ISR is missing although its broker ran on.

    An election removes members whose brokers are gone. If a broker's process had a role before and after, it left the
    ISR by a change that no line shows, or its session ended for a moment.
    """
    led = [epoch for epoch in history.epochs.values() if epoch.leader not in (None, -1)]
    for before, epoch in itertools.pairwise(led):
        elected = elected_isr(history, epoch)
        if before.last_isr is None or not before.isr_from_leader or elected is None or before.leader == epoch.leader:
            continue  # an epoch of the same leader is that of a member which a controller removed
        gone = before.last_isr - elected - {before.leader}
        left = sum(_ran_on(history, broker, before.epoch, epoch.epoch) for broker in gone)
        # With ZooKeeper each has a leader epoch.
        removals = 0 if history.protocol.kraft else epoch.epoch - before.epoch - 1
        if left > removals:
            yield Doubtful(Doubt.ISR_CHANGED, epoch.epoch)


def _ran_on(history: History, broker: int, before: int, after: int) -> bool:
    """Return whether one process of a broker had a role in two leader epochs."""
    runs = {one.epoch: one.run for one in history.role_spans.get(broker, ()) if one.shut_down is None}
    return before in runs and runs[before] == runs.get(after)


def _numbers_around(history: History, epoch: Epoch) -> tuple[int, int, int, int] | None:
    """Return the last partition epoch before an election and the next one, and the leader epochs of both.

    The next one may be of a later leader epoch. None if one of them is not stated, or if epochs went back. A partition
    is created with partition epoch 0 in leader epoch 0, so these need not be stated if a line names that leader epoch.
    """
    states = history.states
    last, first = states.last_before(epoch.epoch), states.first_from(epoch.epoch)
    since = states[last].leader_epoch if last is not None else None
    if last is None and epoch.epoch > 0 and 0 in history.epochs:
        last, since = 0, 0
    until = states[first].leader_epoch if first is not None else None
    if last is None or since is None or first is None or until is None or last > first:
        return None
    return last, first, since, until


def _stated_changes(history: History, last: int, since: int, until: int) -> int:
    """Return how many changes of the ISR leaders state after a partition epoch.

    Args:
        history: the partition.
        last: the partition epoch.
        since: its leader epoch.
        until: the leader epoch before which changes count.
    """
    found = 0
    for other in history.epochs.between(since - 1, until):
        if other.isr_from_leader:
            isrs = [isr for isr, _ in itertools.groupby(isr for isr, _ in other.isr)]
            found += len(isrs) - 1 - (_changes_before(history, since, last, isrs) if other.epoch == since else 0)
    return found


def _changes_before(history: History, epoch: int, state: int, isrs: Sequence[frozenset[int]]) -> int:
    """Return how many of the changes that a leader states came up to a state of the partition: these are no later ones.

    Args:
        history: the partition.
        epoch: the leader epoch.
        state: partition epoch of the state.
        isrs: the ISRs that the leader states, in order.
    """
    isr = history.states[state].isr if state in history.states else None
    if state in history.isr_commits.get(epoch, ()) and isr in isrs:
        return len(isrs) - 1 - isrs[::-1].index(isr)
    stated = history.states.of(epoch)
    return min(state - (stated[0] if stated else state), len(isrs) - 1)


def _changes_up_to(history: History, number: int, state: int) -> int:
    """Return how many ISR changes a leader logs from the start of its epoch to a state of the partition.

    A controller that removes a replica from the ISR may log no partition epoch (2.6 to 3.0). Then the first one logged
    for the epoch is that of a later change.
    """
    epoch, isr = history.epochs.get(number), history.states[state].isr
    if epoch is None or not epoch.isr_from_leader:
        return 0
    isrs = [isr for isr, _ in itertools.groupby(isr for isr, _ in epoch.isr)]
    return isrs.index(isr) if isr in isrs else 0
