"""Lines that may be missing although nothing shows that one is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.coverage import Doubt, Doubtful, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.elections import isr_known_to_end
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind
from tests.covering import LINES_MISSING, whole
from tests.numbered import numbered

LINE = Ref(row=1)


def roles(shut_down: int | None = None, before: LogBefore | None = LogBefore.UNCLEAN_STOP) -> list[RoleSpan]:
    """Broker 1 follows in epoch 0 with process 4, and in epoch 3 with process 5, which loaded its log."""
    first = RoleSpan(1, 0, 4, Role.FOLLOWER, 2, shut_down=shut_down)
    first.steps.append(Step(StepKind.LOADED, 30, None, 0, None, None, (LINE,), before))
    return [first, RoleSpan(1, 3, 5, Role.FOLLOWER, 2)]


def history(spans: list[RoleSpan], *, kraft: bool = False) -> History:
    """Epochs 0, 1 and 3 of a partition, led by broker 2; epoch 1 begins at 90, epoch 3 at 95."""
    found = History(
        PartitionFacts("orders", 0), PartitionProtocol(kraft=kraft), coverage=whole(1, 2), role_spans={1: spans}
    )
    found.epochs = LeaderEpochs(
        {n: Epoch(n, leader=2, leader_took_up=True, time=time) for n, time in ((0, 0), (1, 90), (3, 95))}
    )
    return found


@pytest.mark.parametrize(
    ("spans", "doubtful"),
    [
        (roles(), set()),
        (roles(before=None), {Doubtful(Doubt.STOP_UNSEEN, 0, 1, 4)}),
        (roles(80, before=None), set()),  # the line on its shutdown is there, before any later epoch
        (roles(92), {Doubtful(Doubt.RAN_ON, 1, 1, 4)}),
        (roles(99), {Doubtful(Doubt.RAN_ON, 1, 1, 4), Doubtful(Doubt.RAN_ON, 3, 1, 4)}),
    ],
)
def test_a_process_that_ran_on_or_stopped_unseen_may_have_had_another_role(
    spans: list[RoleSpan], doubtful: set[Doubtful]
) -> None:
    found = {*doubts(history(spans))}
    assert {one for one in found if one.replica is not None} == doubtful
    assert {one for one in found if one.replica is None} == {Doubtful(Doubt.LEADER, 2)}, "no line names epoch 2"


@pytest.mark.parametrize("kraft", [False, True])
def test_numbers_of_states_count_changes(kraft: bool) -> None:
    """States 1 and 5 are of epochs 1 and 3: two changes more than the epochs in between account for."""
    one = history([], kraft=kraft)
    one.states = numbered({1: (1, None), 5: (3, None)})
    changed = {Doubtful(Doubt.ISR_CHANGED, 3), Doubtful(Doubt.STATE_CHANGED, 3)}
    assert {*doubts(one)} - {Doubtful(Doubt.LEADER, 2)} == changed
    assert one.coverage.with_doubts(doubts(one)).doubtful(Doubt.LEADER) == [2]


@pytest.mark.parametrize(
    ("first", "doubtful"),
    [
        (4, {Doubtful(Doubt.ISR_CHANGED, 1), Doubtful(Doubt.STATE_CHANGED, 1)}),
        (1, set()),  # the election alone
    ],
)
def test_a_partition_is_created_with_state_0(first: int, doubtful: set[Doubtful]) -> None:
    """So the first number that a line states counts the changes before it, if leader epoch 0 is known."""
    one = history([])
    one.states = numbered({first: (1, frozenset({2}))})
    assert {*doubts(one)} - {Doubtful(Doubt.LEADER, 2)} == doubtful
    del one.epochs[0]
    assert {*doubts(one)} == {Doubtful(Doubt.LEADER, 2)}, "the first lines may be of any state"


def test_a_change_that_is_numbered_is_counted_once() -> None:
    """The ISR of epoch 1 shrank and grew again, up to state 3; two states more came before epoch 3 had its first."""
    one = history([])
    isrs = [frozenset(isr) for isr in ({1, 2, 3}, {1, 2}, {1, 2, 3})]
    one.epochs[1].isr, one.epochs[1].isr_from_leader = [(isr, LINE) for isr in isrs], True
    one.isr_commits = {1: [2, 3]}
    one.states = numbered({2: (1, isrs[1]), 3: (1, isrs[2]), 6: (3, frozenset({2}))})
    assert Doubtful(Doubt.ISR_CHANGED, 3) in {*doubts(one)}
    # the state of epoch 2, which no line names
    one.states = numbered({2: (1, isrs[1]), 3: (1, isrs[2]), 5: (3, frozenset({2}))})
    assert Doubtful(Doubt.ISR_CHANGED, 3) not in {*doubts(one)}


@pytest.mark.parametrize(("run", "doubtful"), [(4, True), (5, False)])
def test_a_member_whose_process_ran_on_left_the_isr_without_a_line(run: int, doubtful: bool) -> None:
    spans = [RoleSpan(1, 1, 4, Role.FOLLOWER, 2), RoleSpan(1, 2, run, Role.FOLLOWER, 3)]
    one = history(spans)
    one.epochs[1].isr, one.epochs[1].isr_from_leader = [(frozenset({1, 2, 3}), LINE)], True
    one.epochs[2] = Epoch(2, leader=3, isr=[(frozenset({3}), LINE)], isr_elected=True)
    assert (Doubtful(Doubt.ISR_CHANGED, 2) in {*doubts(one)}) is doubtful


def test_the_last_role_of_a_leader_ends_with_lines_that_may_be_missing() -> None:
    one = history([])
    one.epochs[3].isr, one.epochs[3].isr_from_leader = [(frozenset({1, 2}), LINE)], True
    one.role_spans = {2: [RoleSpan(2, 3, 1, Role.LEADER, 2)]}
    assert isr_known_to_end(one, one.epochs[3])
    one.coverage = one.coverage.lowered([replace(LINES_MISSING, span=Span.AFTER).of(2)])
    assert not isr_known_to_end(one, one.epochs[3])
    one.role_spans[2].append(RoleSpan(2, 4, 1, Role.FOLLOWER, 1))  # its lines continue
    assert isr_known_to_end(one, one.epochs[3])


def test_an_isr_may_have_changed_until_the_next_leader_is_elected() -> None:
    one = history([])
    for epoch in one.epochs.values():
        epoch.isr, epoch.isr_from_leader = [(frozenset({1, 2}), LINE)], True
    assert all(isr_known_to_end(one, epoch) for epoch in one.epochs.values())
    one.coverage = one.coverage.with_doubts([Doubtful(Doubt.ISR_CHANGED, 3)])
    assert [isr_known_to_end(one, epoch) for epoch in one.epochs.values()] == [True, False, True]
    one.epochs[1].leader = -1  # then nobody changed the ISR of epoch 0 until epoch 3 had a leader
    assert not isr_known_to_end(one, one.epochs[0])


def test_a_state_that_names_the_epoch_leaves_no_doubt_who_led_it_to_ask() -> None:
    one = history([])
    one.states = numbered({2: (2, frozenset({2}))})
    assert Doubtful(Doubt.LEADER, 2) not in {*doubts(one)}


def test_a_doubt_is_about_one_epoch_or_one_process() -> None:
    coverage = whole(1).with_doubts([Doubtful(Doubt.RAN_ON, 1, 1, 4)])
    assert coverage.in_doubt(Doubt.RAN_ON, 1, 1, 4)
    assert not any(coverage.in_doubt(Doubt.RAN_ON, *other) for other in ((1, 1, 5), (1, 2, 4), (2, 1, 4)))
    assert coverage.whole(1), "a doubt lowers no coverage"
