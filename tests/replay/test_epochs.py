"""Which leader epochs there were: those that somebody names, and those that must have been between them."""

from __future__ import annotations

import pytest

from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.elections import isr_changes_complete, outside_isr
from forensics.replay.leadership.epochs import collect, unnamed
from forensics.replay.omissions.role_epochs import Roles, missed_epochs
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from parsers.schema import Kind
from tests.numbered import numbered

LINE = Ref(row=5)


def test_what_a_follower_fetched_of_an_epoch_its_leader_wrote() -> None:
    """Its leader's own lines, which are in the evidence, do not tell that it took up the epoch."""
    follower = RoleSpan(2, 3, 1, Role.FOLLOWER, 1, refs=[LINE])
    assert not collect({1: [], 2: [follower]}, [], {}, {1, 2})[3].leader_took_up
    follower.entries.append((3, 10, LINE))
    assert collect({1: [], 2: [follower]}, [], {}, {1, 2})[3].leader_took_up


@pytest.mark.parametrize(
    ("before", "unclean"),
    [
        ([(1, Role.LEADER, 1)], True),
        ([(1, Role.LEADER, 1), (2, Role.OFFLINE, -1)], True),
        ([(1, Role.LEADER, 2)], False),  # elected again: the mark is of an election before
        ([(1, Role.LEADER, 2), (2, Role.OFFLINE, -1)], False),
        ([(1, Role.LEADER, 1), (2, Role.FOLLOWER, None)], False),  # who led epoch 2 no line states
        ([], False),
    ],
)
def test_a_leader_that_was_marked_as_recovering(before: list[tuple[int, Role, int | None]], unclean: bool) -> None:
    """The line names no epoch: it stands right before the one with which the leader begins (Partition.makeLeader)."""
    number = len(before) + 1
    spans: dict[int, list[RoleSpan]] = {1: [], 2: []}
    for row, (epoch, role, leader) in enumerate(before):
        whose = leader if role is Role.LEADER and leader is not None else 2
        spans[whose].append(RoleSpan(whose, epoch, 1, role, leader, refs=[Ref(row=row)]))
    spans[2].append(RoleSpan(2, number, 1, Role.LEADER, 2, refs=[Ref(row=9)]))
    marked = Event(*[None] * len(Event._fields))._replace(broker=2, row=8, run=1, kind=Kind.RECOVERING)
    epoch = collect(spans, [marked], {}, {1, 2})[number]
    assert [ref.row for ref in epoch.unclean] == [8] * unclean
    assert (epoch.recovering is not None) == unclean
    late = collect(spans, [marked._replace(row=10)], {}, {1, 2})[number]
    assert late.unclean == [], "a later role takes it up"


@pytest.mark.parametrize("leader", [0, 3])
@pytest.mark.parametrize(
    ("later", "runs", "heard", "skips", "between"),
    [
        (-1, (1, 2), True, False, [2]),  # an epoch without a leader follows on one with a leader
        (None, (1, 2), True, False, []),  # while the leader was dead nobody may have led
        (None, (1, 2), False, False, [2]),  # or one whose lines are not there
        (None, (1, 1), False, False, []),  # one process led in both, two replicas went at once
        (None, (1, 1), False, False, [2, 3]),  # and three epochs are more than these
        (-1, (1, 2), True, True, []),  # a KRaft broker takes several changes as one
    ],
)
def test_epochs_that_nobody_names(
    leader: int, later: int | None, runs: tuple[int, int], heard: bool, skips: bool, between: list[int]
) -> None:
    """The same broker leads before and, but for an epoch without a leader, after them; broker 0 is one like any."""
    last = 4 if between == [2, 3] else 3
    members, alone = [(frozenset({leader, 8, 9}), LINE)], [(frozenset({leader}), LINE)]
    epochs = {
        1: Epoch(1, leader=leader, leader_took_up=True, isr=members),
        last: Epoch(last, leader=leader if later is None else later, leader_took_up=later is None, isr=alone),
    }
    spans = {
        leader: [
            RoleSpan(leader, number, run, Role.LEADER, leader) for number, run in zip((1, last), runs, strict=True)
        ]
    }
    found = unnamed(epochs, spans, complete=heard, skips=skips)
    assert sorted(found) == between


@pytest.mark.parametrize(
    ("numbers", "own", "outside"),
    [
        ({1: 1, 2: 2}, [{3}], True),
        ({1: 1, 3: 2}, [{3}], False),  # one change in between nobody tells: the ISR may have grown
        ({1: 1, 3: 2}, [{3}, {2, 3}, {2, 3}], False),  # its leader tells of it, with no number; and of who came in
        ({1: 1, 3: 2}, [{1, 3}, {3}], True),
        ({1: 1, 4: 2}, [{1, 3}, {3}], False),
        ({}, [{3}], True),  # nobody numbers them: then the leader's lines tell of each change
    ],
)
def test_with_zookeeper_every_change_of_the_state_is_numbered(
    numbers: dict[int, int], own: list[set[int]], outside: bool
) -> None:
    """Broker 2 leads epoch 2, alone; the ISR of epoch 1 as its leader, broker 3, tells it."""
    history = History(PartitionFacts("orders", 0))
    told = [(frozenset(isr), LINE) for isr in own]
    history.epochs[1] = Epoch(1, leader=3, isr=told, isr_from_leader=True, leader_took_up=True)
    history.epochs[2] = Epoch(
        2, leader=2, isr=[(frozenset({2}), LINE)], isr_from_leader=True, isr_elected=True, leader_took_up=True
    )
    history.states = numbered(
        {
            number: (of, frozenset({2}) if of == 2 else frozenset(own[0]) if number == 1 else None)
            for number, of in numbers.items()
        }
    )
    history.coverage = history.coverage.with_doubts(doubts(history))
    assert (outside_isr(history, history.epochs[2]) and 2 not in own[-1]) == outside
    if outside:
        assert isr_changes_complete(history, history.epochs[2])


@pytest.mark.parametrize(("loaded", "missing"), [(20, False), (34, True)])
def test_a_log_does_not_grow_while_nobody_leads(loaded: int, missing: bool) -> None:
    """A new process is told that nobody leads, and the next one finds more than it had."""
    told = RoleSpan(2, 1, 2, Role.OFFLINE, -1, refs=[LINE], start_end=20)
    told.steps.append(Step(StepKind.LOADED, loaded, None, 0, None, None, (LINE,)))
    spans = {2: [RoleSpan(2, 0, 1, Role.FOLLOWER, 1, start_end=0), told]}
    epochs = {0: Epoch(0, leader=1, leader_took_up=True), 1: Epoch(1, leader=-1)}
    found = missed_epochs(Roles(spans, LeaderEpochs(epochs), {2: BrokerFacts()}, {}, {}, {}), rising=True)
    why = "its log grew beyond 20 in epoch 1, but no line shows a role in it"
    assert [(one.replica, one.epoch, one.text) for [one] in found.values()] == ([(2, 1, why)] if missing else [])
