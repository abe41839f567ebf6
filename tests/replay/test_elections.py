"""Where leaders came from: judged by what is told of the time just before, and of the election itself."""

from __future__ import annotations

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.elections import (
    elected_isr,
    from_eligible,
    from_isr,
    isr_before,
    isr_changed_without_lines,
    isr_changes_complete,
    latest_isr_stated,
    maybe_eligible,
    outlived,
    outside_isr,
    states,
    was_last_member,
)
from forensics.replay.leadership.epochs import collect
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.partition_states import PartitionState
from forensics.replay.roles.steps import RoleSpan
from parsers.schema import Kind
from tests.numbered import numbered

LINE = Ref(row=1)


Told = dict[int, tuple[int | None, frozenset[int] | None]]
"""Leader epoch and ISR by partition epoch."""


def succession(
    told: Told,
    *later: set[int],
    elected: bool = False,
    eligible: bool = False,
) -> tuple[History, Epoch]:
    """Broker 1 led epoch 0 and ended alone in the ISR; broker 2 leads epoch 1, of which it states its later ISRs."""
    history = History(
        PartitionFacts("orders", 0),
        PartitionProtocol(kraft=eligible, may_elect_from_elr=eligible),
        states=numbered(told),
    )
    history.epochs[0] = Epoch(
        0, leader=1, isr=[(frozenset({1, 2}), LINE), (frozenset({1}), LINE)], isr_from_leader=True
    )
    isrs = [(frozenset(isr), LINE) for isr in later]
    history.epochs[1] = Epoch(1, leader=2, isr=isrs, isr_from_leader=True, elected=elected, isr_elected=False)
    return history, history.epochs[1]


TOLD: Told = {1: (0, frozenset({1})), 2: (1, frozenset({2}))}


def test_the_isr_of_an_election_is_the_first_of_its_epoch() -> None:
    history, epoch = succession(TOLD, {1, 2})
    assert isr_before(history, epoch) == {1}
    assert elected_isr(history, epoch) == {2}
    assert outside_isr(history, epoch)


def test_an_isr_told_later_says_nothing_of_the_election() -> None:
    history, epoch = succession({}, {1, 2})
    assert elected_isr(history, epoch) is None
    assert not outside_isr(history, epoch)
    assert not from_isr(history, epoch)


def test_where_eligible_leader_replicas_may_be_who_elects_must_say_unclean() -> None:
    silent, told = succession(TOLD, {2}, eligible=True), succession(TOLD, {2}, eligible=True, elected=True)
    for history, epoch in (silent, told):
        assert not outside_isr(history, epoch)
    assert maybe_eligible(*silent)
    assert not maybe_eligible(*told)
    history, epoch = told
    epoch.unclean.append(LINE)
    assert outside_isr(history, epoch)


def test_a_kraft_controller_may_change_the_isr_of_a_leader_that_is_gone() -> None:
    history, epoch = succession({0: (0, frozenset({1, 2})), 3: (1, frozenset({2}))}, {2}, eligible=True)
    assert not isr_changes_complete(history, epoch)
    history.states[1], history.states[2] = PartitionState(0, frozenset({1})), PartitionState(0)
    assert isr_changes_complete(history, epoch)


def change(kind: Kind, partition_epoch: int, **values: object) -> Event:
    blank = dict.fromkeys(Event._fields)
    row = {"row": 0, "broker": 2, "run": 0, "kind": kind.value, "message": "", "partition_epoch": partition_epoch}
    return Event(**(blank | row | values))  # type: ignore[arg-type]


def test_a_change_of_the_isr_is_of_the_epoch_that_its_leader_serves() -> None:
    taken = change(Kind.BECOME_LEADER, -1, leader_epoch=4)
    assert states([taken, change(Kind.ISR_COMMIT, 5, isr="1,2")]) == numbered({5: (4, frozenset({1, 2}))})
    assert states([change(Kind.ISR_COMMIT, 5, isr="1,2")]) == numbered({5: (None, frozenset({1, 2}))})


def test_a_leader_that_asks_for_another_isr_names_the_number_of_the_isr_that_it_has() -> None:
    asked = change(Kind.ISR_EXPAND, 4, message="P-40", leader_epoch=3, isr_before="2", isr="2,3")
    assert states([asked, change(Kind.ISR_COMMIT, 5, leader_epoch=3, isr="2,3")]) == numbered(
        {4: (3, frozenset({2})), 5: (3, frozenset({2, 3}))}
    )


def test_a_leader_may_have_lived_on_where_others_tell_a_later_isr_of_its_epoch() -> None:
    history, _ = succession({1: (0, frozenset({1})), 4: (1, frozenset({2}))}, {2})
    role_spans = {1: [RoleSpan(1, 0, 1, Role.LEADER)], 2: [RoleSpan(2, 1, 1, Role.LEADER)]}
    assert outlived(history, role_spans) == []
    history.states[2] = PartitionState(0, frozenset({1, 3}))
    assert latest_isr_stated(history, history.epochs[0], frozenset()) == {1, 3}
    assert outlived(history, role_spans) == role_spans[1]
    history.epochs[0].isr_from_leader = False
    assert outlived(history, role_spans) == [], "its own word is not in the evidence at all"


Chain = dict[int, tuple[int, set[int] | None]]
"""Leader and ISR by epoch."""


@pytest.mark.parametrize(
    ("chain", "member"),
    [
        ({0: (2, {2}), 1: (-1, set())}, True),  # it was the only one that was left
        ({0: (1, {1}), 1: (-1, set())}, False),
        ({0: (1, {1, 2}), 1: (-1, {2}), 2: (-1, set())}, True),  # both went at once; nobody led since
        ({0: (2, {1, 2}), 1: (-1, {1}), 2: (-1, set())}, True),
        ({0: (1, {1, 3}), 1: (-1, {3}), 2: (-1, set())}, False),
        ({1: (-1, set())}, None),  # nobody tells who led before
        ({0: (2, {2}), 2: (-1, set())}, None),  # nor in between
        ({0: (1, {1, 2}), 1: (-1, None), 2: (-1, set())}, None),
    ],
)
def test_the_last_member_of_an_isr_that_was_emptied_has_what_was_committed(chain: Chain, member: bool | None) -> None:
    """To 1.0 the controller calls the election of broker 2 unclean all the same."""
    last = max(chain)

    def told(kind: Kind, number: int | None, leader: int, isr: set[int] | None) -> Event:
        members = None if isr is None else ",".join(map(str, sorted(isr)))
        return change(kind, -1, broker=9, leader_epoch=number, leader=leader, isr=members)

    cached = [told(Kind.METADATA_CACHED, number, *state) for number, state in chain.items()]
    warned = [told(Kind.UNCLEAN_ELECTION, None, 2, None)._replace(detail="2"), told(Kind.ELECTION, last + 1, 2, {2})]
    for events in (cached + warned, [*cached, *warned[1:]]):
        history = History(PartitionFacts("orders", 0))
        history.epochs = collect({}, events, {}, ())
        epoch = history.epochs[last + 1]
        assert was_last_member(history.epochs, epoch) is member
        assert outside_isr(history, epoch) is (member is False)
        assert from_isr(history, epoch) is (member is True)
        assert bool(epoch.unclean) is (member is False and events[-2].kind == Kind.UNCLEAN_ELECTION)


def test_a_warning_proves_nothing_where_the_isr_may_have_been_empty() -> None:
    """In an empty ISR the controller finds nobody alive, whoever comes back."""
    elected = change(Kind.ELECTION, -1, broker=9, leader=2, leader_epoch=4, isr="2")
    for before, alive, proven in ((3, "2,3", True), (2, "2,3", False), (2, None, True)):
        # A KRaft controller names nobody, and knows what was in the ISR.
        warned = change(Kind.UNCLEAN_ELECTION, -1, broker=9, leader=2, detail=alive)
        led = change(Kind.METADATA_CACHED, -1, leader=1, leader_epoch=before, isr="1")
        assert bool(collect({}, [led, warned, elected], {}, ())[4].unclean) is proven


@pytest.mark.parametrize(
    ("numbers", "own", "seen", "missed"),
    [
        ({1: 1, 3: 3}, [{3}], True, False),  # each epoch is one change
        ({1: 1, 4: 3}, [{3}], False, True),  # one more: broker 3 may have let broker 2 in
        ({1: 1, 4: 3}, [{3}, {1, 3}], True, False),  # it tells of it
        ({1: 1, 3: 1, 6: 3}, [{3}, {1, 3}, {3}], False, True),  # of this one it does not: its own are numbered to 3
        ({1: 1}, [{3}], True, False),  # nobody numbers a later state
    ],
)
def test_a_later_number_tells_of_changes_before_an_election_that_has_none(
    numbers: dict[int, int], own: list[set[int]], seen: bool, missed: bool
) -> None:
    """Broker 3 led epoch 1, broker 2 alone leads epoch 2, nobody epoch 3; states are numbered as far as given."""
    history = History(
        PartitionFacts("orders", 0), states=numbered({number: (of, None) for number, of in numbers.items()})
    )
    history.epochs[1] = Epoch(1, leader=3, isr=[(frozenset(isr), LINE) for isr in own], isr_from_leader=True)
    history.epochs[2] = Epoch(2, leader=2, isr=[(frozenset({2}), LINE)], isr_elected=True)
    history.epochs[3] = Epoch(3, leader=-1)
    history.coverage = history.coverage.with_doubts(doubts(history))
    assert isr_changes_complete(history, history.epochs[2]) is seen
    assert outside_isr(history, history.epochs[2]) is seen
    assert isr_changed_without_lines(history, history.epochs[2]) is missed


def test_an_epoch_of_which_nobody_says_who_led_may_have_changed_the_isr() -> None:
    history, epoch = succession({}, {2})
    epoch.isr_elected = True
    assert outside_isr(history, epoch)
    history.epochs = LeaderEpochs({0: history.epochs[0], 1: Epoch(1, leader_took_up=True), 2: epoch})
    epoch.epoch = 2
    assert not isr_changes_complete(history, epoch)
    assert not outside_isr(history, epoch)
    history.states = numbered({5: (1, frozenset({1})), 6: (2, frozenset({2}))})
    assert outside_isr(history, epoch), "somebody tells the state just before all the same"


@pytest.mark.parametrize(("first", "own", "seen"), [(2, True, True), (3, True, False), (2, False, False)])
def test_the_first_number_of_an_epoch_may_be_that_of_a_change_within_it(first: int, own: bool, seen: bool) -> None:
    """Broker 1 leads on as broker 2 is taken out of the ISR, in an epoch that begins without a number, and lets it
    in again.
    """
    both, alone = frozenset({1, 2}), frozenset({1})
    history = History(PartitionFacts("orders", 0), states=numbered({0: (0, both), first: (1, both)}))
    history.epochs[0] = Epoch(0, leader=1, isr=[(both, LINE)], isr_from_leader=True)
    history.epochs[1] = Epoch(1, leader=1, isr=[(alone, LINE), (both, LINE)], isr_from_leader=own, isr_elected=True)
    history.coverage = history.coverage.with_doubts(doubts(history))
    assert isr_changes_complete(history, history.epochs[1]) is seen


@pytest.mark.parametrize("eligible", [True, False])
def test_a_leader_after_an_empty_isr_is_eligible_only_where_a_release_may_know_that(eligible: bool) -> None:
    """Since 4.0 a controller remembers the members that have all committed records (KIP-966)."""
    history, epoch = succession({1: (0, frozenset()), 2: (1, frozenset({2}))}, {2}, elected=True, eligible=eligible)
    history.epochs[0] = Epoch(0, leader=-1, isr=[(frozenset(), LINE)])
    assert from_eligible(history, epoch) == eligible
