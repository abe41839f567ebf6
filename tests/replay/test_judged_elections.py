"""How each leader was elected: the first answer of an ordered table that the evidence gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import EpochRollback, History, Replica
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.judged_elections import (
    ANSWERS,
    Elected,
    Election,
    LastIsr,
    elected,
    is_last_member_again,
    judged_elections,
    last_isr,
)
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.rules.unclean_election import _WANTS
from tests.covering import whole
from tests.numbered import numbered

LINE = Ref(row=5)
ONE, TWO, BOTH = frozenset({1}), frozenset({2}), frozenset({1, 2})


def history(before: frozenset[int] = BOTH) -> History:
    """Broker 1 leads epoch 0 with a last ISR, broker 2 leads epoch 1 alone; all lines are in the evidence."""
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    found.replicas = {1: Replica(1), 2: Replica(2)}
    found.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, leader_took_up=True, isr=[(BOTH, LINE), (before, LINE)], isr_from_leader=True),
            1: Epoch(1, leader=2, leader_took_up=True, isr=[(TWO, LINE)], isr_from_leader=True, isr_elected=True),
        }
    )
    return found


def went_back() -> tuple[History, Election]:
    found = history()
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]
    return found, Election(found.epochs[1], found.epochs[0], ())


def no_isr_before() -> tuple[History, Election]:
    found = history()
    return found, Election(found.epochs[1], found.epochs[0], [1])


def from_outside() -> tuple[History, Election]:
    found = history(before=ONE)
    return found, Election(found.epochs[1], found.epochs[0], ())


def first() -> tuple[History, Election]:
    found = history()
    return found, Election(found.epochs[0], None, ())


def eligible() -> tuple[History, Election]:
    found = history(before=ONE)
    found.protocol = PartitionProtocol(kraft=True, may_elect_from_elr=True)
    return found, Election(found.epochs[1], found.epochs[0], ())


def not_shown() -> tuple[History, Election]:
    found = history(before=ONE)
    found.protocol = PartitionProtocol(kraft=True)
    return found, Election(found.epochs[1], found.epochs[0], ())


STORIES: tuple[tuple[str, Callable[[], tuple[History, Election]], Elected], ...] = (
    ("_out_of_order", went_back, Elected.OUT_OF_ORDER),
    ("_isr_unknown", no_isr_before, Elected.UNKNOWN),
    ("_from_outside", from_outside, Elected.OUTSIDE_ISR),
    ("_is_first", first, Elected.IN_SYNC),
    ("_maybe_eligible", eligible, Elected.MAYBE_ELIGIBLE),
    ("_not_shown_in_sync", not_shown, Elected.UNKNOWN),
)
"""For each row of the table: its name, an election to which it applies first, and the answer."""


def test_each_row_has_a_story_in_the_order_of_the_table() -> None:
    assert [(name, answer) for name, _, answer in STORIES] == [(row.__name__, answer) for row, answer in ANSWERS]


@pytest.mark.parametrize(("name", "happens", "answer"), STORIES, ids=[name for name, _, _ in STORIES])
def test_the_first_row_that_applies_gives_the_answer(
    name: str, happens: Callable[[], tuple[History, Election]], answer: Elected
) -> None:
    found, election = happens()
    assert next(row.__name__ for row, _ in ANSWERS if row(found, election)) == name
    assert elected(found, election) is answer


def test_a_member_of_the_isr_is_in_sync() -> None:
    found = history()
    found.epochs[2] = Epoch(2, leader=-1)
    judged = judged_elections(found, ())
    assert [(epoch.epoch, answer) for epoch, answer in judged] == [(0, Elected.IN_SYNC), (1, Elected.IN_SYNC)]


def test_an_answer_that_leaves_the_election_open_says_what_is_missing() -> None:
    assert {*Elected} - {*_WANTS} == {Elected.OUTSIDE_ISR, Elected.IN_SYNC}


def test_the_last_isr_is_that_of_the_last_epoch_unless_the_partition_epoch_shows_another() -> None:
    found = history(before=ONE)
    assert last_isr(found, found.epochs[1]) == LastIsr(ONE, found.epochs[0], of_epoch=True)
    assert last_isr(found, found.epochs[0]) == LastIsr(None, None, of_epoch=False)
    found.states = numbered({4: (0, TWO), 5: (1, TWO)})
    assert last_isr(found, found.epochs[1]) == LastIsr(TWO, found.epochs[0], of_epoch=False)


@pytest.mark.parametrize(
    ("by_request", "asked", "again"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_the_last_member_led_again(*, by_request: bool, asked: bool, again: bool) -> None:
    found = history()
    epoch = found.epochs[1]
    epoch.last_known, epoch.by_request, epoch.asked = True, by_request, [LINE] if asked else []
    assert is_last_member_again(found, epoch) is again
    epoch.last_known, found.epochs[0].leader = False, None
    assert not is_last_member_again(found, epoch)
