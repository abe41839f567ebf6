"""The changes of leader and ISR that led to an election, and which brokers its controller had found gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.case.brokers import Broker
from forensics.replay import protocol
from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.high_watermarks.hw_attribution import HwAttribution
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.leadership.state_changes import SessionLine, StateChanged, chain, fenced_to_end, state_changes
from forensics.replay.lineage import Lineage
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from forensics.rules.electable import change_text, electable_facts
from parsers.schema import Kind
from tests.covering import whole

SECOND = 1_000_000
CONTROLLER = 9


def event(row: int, kind: Kind, **values: object) -> Event:
    blank = dict.fromkeys(Event._fields)
    line = {"row": row, "time": row * SECOND, "broker": CONTROLLER, "run": 0, "kind": kind.value, "message": ""}
    return Event(**(blank | line | values))  # type: ignore[arg-type]


def election(row: int, number: int, leader: int, isr: str, **values: object) -> Event:
    return event(row, Kind.ELECTION, leader=leader, leader_epoch=number, partition_epoch=number, isr=isr, **values)


LOST = (election(1, 0, 1, "1,2"), election(10, 1, 2, "2"), election(11, 1, 2, "2"), election(20, 2, -1, "2"))
"""Broker 1 goes, then broker 2. The controller logs the first change twice."""


def texts(history: History, since: int, elected: int) -> list[str]:
    return [fact.text for fact in electable_facts(history, since, Epoch(elected, leader=2))]


@pytest.mark.parametrize(
    ("kraft", "first"),
    [
        (False, "the controller found broker 1 gone, elected broker 2 (leader epoch 1) and shrank the ISR from [1,2]"),
        (True, "the controller fenced broker 1, elected broker 2 (leader epoch 1) and shrank the ISR from [1,2]"),
    ],
)
def test_the_steps_say_who_was_gone_and_who_was_left(kraft: bool, first: str) -> None:
    gone = {CONTROLLER: (SessionLine(9 * SECOND, 8, 1), SessionLine(19 * SECOND, 18, 2))}
    changes = state_changes((*LOST, election(30, 3, 2, "2")), {}, gone)
    history = History(PartitionFacts("orders", 0), PartitionProtocol(kraft=kraft), changes=changes)
    found = electable_facts(history, 0, Epoch(3, leader=2))
    assert [fact.text for fact in found] == [
        f"{first} to [2]",
        (
            f"the controller {'fenced broker 2' if kraft else 'found broker 2 gone'}: no broker led (leader epoch "
            "2). Only broker 2 was in the ISR, so no other could lead"
        ),
        "the controller elected broker 2 (leader epoch 3), the only member of the ISR",
    ]
    assert [[ref.row for ref in fact.refs] for fact in found] == [[8, 10], [18, 20], [30]]
    assert texts(history, 1, 3) == [fact.text for fact in found[1:]], "not of the epoch of the records before them"


SHRUNK = (
    election(1, 0, 1, "1,2,3"),
    event(10, Kind.ELECTION, leader=1, leader_epoch=0, partition_epoch=1, isr="1,3"),
    event(20, Kind.ELECTION, leader=1, leader_epoch=0, partition_epoch=2, isr="1"),
    event(30, Kind.ELECTION, leader=-1, leader_epoch=1, partition_epoch=3, isr="1"),
)
"""Brokers 2 and 3 leave the ISR in epoch 0, then its leader is gone."""
BOTH = (SessionLine(9 * SECOND, 8, 2), SessionLine(19 * SECOND, 18, 3))


@pytest.mark.parametrize(
    ("shrunk", "sessions", "fenced"),
    [
        (SHRUNK, BOTH, {0: {2, 3}}),
        (SHRUNK, BOTH[:1], {0: {2}}),  # the leader may have removed broker 3 because it lagged
        (SHRUNK, (*BOTH, SessionLine(25 * SECOND, 28, 2, gone=False)), {0: {3}}),
        (SHRUNK, (*BOTH, SessionLine(35 * SECOND, 38, 2, gone=False)), {0: {2, 3}}),  # after the epoch
        (SHRUNK[:3], BOTH, {}),  # nothing shows when the epoch ended
        ((*SHRUNK[:2], SHRUNK[3]), BOTH, {}),  # a change has no line
        (
            (
                *SHRUNK[:3],
                event(25, Kind.ELECTION, leader=1, leader_epoch=0, partition_epoch=3, isr="1,3"),
                event(30, Kind.ELECTION, leader=-1, leader_epoch=1, partition_epoch=4, isr="1,3"),
            ),
            BOTH,
            {0: {2}},  # broker 3 joined again
        ),
    ],
)
def test_brokers_that_stay_fenced_until_the_next_epoch(
    shrunk: tuple[Event, ...], sessions: tuple[SessionLine, ...], fenced: dict[int, set[int]]
) -> None:
    lines = {CONTROLLER: sessions}
    found = fenced_to_end(state_changes(shrunk, {}, lines), lines)
    assert {epoch: {*who} for epoch, who in found.items() if who} == fenced


@pytest.mark.parametrize(
    ("version", "fenced", "held", "high_watermark"),
    [
        ("4.1.1", {2, 3}, False, 80),
        ("4.1.1", {2}, False, None),  # broker 3 may fetch and hold the high watermark back
        ("4.1.1", {2, 3}, True, None),  # the leader says that it is held back
        ("2.8.2", {2, 3}, False, None),  # up to 3.5 a fenced one holds it back too, as long as it lags by little
    ],
)
def test_a_leader_alone_in_the_isr_commits_all_while_its_followers_are_fenced(
    version: str, fenced: set[int], held: bool, high_watermark: int | None
) -> None:
    facts = PartitionFacts("orders", 0, fenced={0: frozenset(fenced)}, min_insync_replicas=1)
    history = History(facts, coverage=whole(1, 2, 3))
    line = Ref(row=1)
    led = RoleSpan(1, 0, 0, Role.LEADER, 1, refs=[line], is_alone=True, held_back=held)
    led.steps = [Step(StepKind.LOADED, 80, None, 50, None, None, (Ref(row=9),))]
    history.role_spans = {1: [led], **{other: [RoleSpan(other, 0, 0, Role.FOLLOWER, 1)] for other in (2, 3)}}
    everyone, alone = frozenset({1, 2, 3}), frozenset({1})
    epoch = Epoch(0, leader=1, isr=[(everyone, line), (alone, line)], lineage=Lineage(((0, 0),)))
    history.epochs = LeaderEpochs({0: epoch})
    brokers = {1: BrokerFacts(protocol=protocol.of(Broker(1, version=version)))}
    HwAttribution(ReplicaLogs(history, history.role_spans, {}, brokers)).state_reached(1, led, epoch)
    assert [one.high_watermark for one in history.statements] == ([] if high_watermark is None else [high_watermark])


def test_a_broker_that_went_long_before_is_no_reason() -> None:
    changes = state_changes(
        LOST[:2], {}, {CONTROLLER: (SessionLine(-60 * SECOND, 8, 1),), 5: (SessionLine(9 * SECOND, 8, 1),)}
    )
    assert changes[-1].gone == ()


@pytest.mark.parametrize(("again", "gone"), [(8, (1,)), (9.5, ()), (10.5, (1,))])
def test_a_broker_that_was_there_again_was_not_gone(again: float, gone: tuple[int, ...]) -> None:
    """It may stop in a controlled way soon after its controller had found it gone."""
    lines = sorted((SessionLine(9 * SECOND, 8, 1), SessionLine(int(again * SECOND), 9, 1, gone=False)))
    assert LOST[1].time == 10 * SECOND
    assert state_changes(LOST[:2], {}, {CONTROLLER: lines})[-1].gone == gone


def test_an_election_that_is_called_unclean_is_left_to_its_rule() -> None:
    history = History(PartitionFacts("orders", 0), changes=state_changes(LOST, {}, {}))
    unclean = replace(Epoch(2, leader=2), unclean=[Ref(row=20)])
    assert [fact.time for fact in electable_facts(history, 0, unclean)] == [10 * SECOND]


ROLE = event(2, Kind.BECOME_LEADER, broker=1, leader_epoch=0)
SHRINK = event(5, Kind.ISR_SHRINK, broker=1, isr_before="1,2,3", isr="1")


@pytest.mark.parametrize(
    ("later", "shrank"),
    [
        ((), True),
        ((event(6, Kind.ISR_COMMIT, broker=1, isr="1", partition_epoch=1),), True),
        ((event(6, Kind.ISR_REJECTED, broker=1),), False),
    ],
    ids=["last line", "committed", "rejected"],
)
def test_a_leader_shrinks_its_isr_unless_that_was_rejected(later: tuple[Event, ...], shrank: bool) -> None:
    changes = state_changes(LOST[:1], {1: (ROLE, SHRINK, *later)}, {})
    history = History(PartitionFacts("orders", 0), changes=changes)
    said = [change_text(history, one) for one in changes if one.by_leader == 1]
    assert said == (["shrank the ISR from [1,2,3] to [1]: it was alone in it"] if shrank else [])


def test_one_change_that_two_state_is_that_of_the_leader() -> None:
    stated = event(6, Kind.PARTITION_CHANGED, leader_epoch=0, partition_epoch=1, isr_before="1,2,3", isr="1")
    changes = state_changes((election(1, 0, 1, "1,2,3"), stated), {1: (ROLE, SHRINK)}, {})
    assert [(one.by_leader, one.number) for one in changes] == [(None, 0), (1, 1)]


def test_a_change_of_the_eligible_replicas_alone_is_no_step() -> None:
    alike = event(6, Kind.PARTITION_CHANGED, leader_epoch=0, partition_epoch=1, isr="1,2", detail="elr=1")
    assert len(state_changes((LOST[0], alike), {}, {})) == 1


def test_an_empty_isr_has_its_time_and_the_eligible_replicas() -> None:
    emptied = event(
        *(6, Kind.PARTITION_CHANGED),
        leader=-1,
        leader_epoch=1,
        partition_epoch=1,
        isr_before="1",
        isr="",
        detail="elr=1",
    )
    (one,) = chain(state_changes((LOST[0], emptied), {}, {}), 0, Epoch(2, leader=2))
    text = "the controller shrank the ISR from [1] to [] (ELR [1]): no broker led (leader epoch 1)"
    assert (change_text(History(PartitionFacts("orders", 0)), one), one.time) == (text, 6 * SECOND)


def test_what_was_before_the_isr_grew_is_over() -> None:
    grew = event(15, Kind.PARTITION_CHANGED, leader_epoch=1, partition_epoch=2, isr_before="2", isr="1,2")
    later = replace_numbers(election(20, 2, 1, "1"), 3)
    changes = state_changes((*LOST[:2], grew, later), {}, {})
    assert [one.number for one in chain(changes, 0, Epoch(2, leader=1))] == [3]


def replace_numbers(one: Event, number: int) -> Event:
    return one._replace(partition_epoch=number)


def test_of_a_long_chain_the_last_changes_are_shown() -> None:
    flapping = [election(number, number, number % 2, "0,1") for number in range(40)]
    found: list[StateChanged] = [*chain(state_changes(flapping, {}, {}), 0, Epoch(39, leader=1))]
    assert [one.epoch for one in found] == list(range(34, 40))


def test_a_broker_that_comes_back_leads_from_outside_the_isr() -> None:
    """Broker 1 was the last member of the ISR; broker 2 was gone before it, and returns first."""
    lines = (
        SessionLine(9 * SECOND, 8, 2),
        SessionLine(19 * SECOND, 18, 1),
        SessionLine(29 * SECOND, 28, 2, gone=False),
    )
    elections = (
        election(1, 0, 1, "1,2"),
        election(10, 1, 1, "1"),
        election(20, 2, -1, "1"),
        election(30, 3, 2, "2"),
    )
    changes = state_changes(elections, {}, {CONTROLLER: lines})
    history = History(PartitionFacts("orders", 0), PartitionProtocol(kraft=False), changes=changes)
    found = electable_facts(history, 1, Epoch(3, leader=2))
    assert [fact.text for fact in found] == [
        "the controller found broker 2 gone and shrank the ISR from [1,2] to [1]",
        (
            "the controller found broker 1 gone: no broker led (leader epoch 2). Only broker 1 was in the ISR, so no "
            "other could lead"
        ),
        "broker 2 returned, and the controller elected it (leader epoch 3), with ISR [2] in place of [1]",
    ]
    assert [ref.row for ref in found[2].refs] == [28, 30]
    quiet = state_changes(elections, {}, {CONTROLLER: lines[:2]})
    history = History(PartitionFacts("orders", 0), PartitionProtocol(kraft=False), changes=quiet)
    assert electable_facts(history, 1, Epoch(3, leader=2))[2].text == (
        "the controller elected broker 2 (leader epoch 3), with ISR [2] in place of [1]"
    )


def test_the_isr_that_grows_after_an_election_is_no_step_towards_it() -> None:
    """With ZooKeeper, a line about the ISR states the leader too."""
    elections = (election(1, 0, 1, "1"), election(10, 1, -1, "1"), election(20, 2, 2, "2"))
    grown = event(30, Kind.ELECTION, leader=2, leader_epoch=2, partition_epoch=3, isr="2,3")
    changes = state_changes((*elections, grown), {}, {})
    assert [one.isr for one in chain(changes, 0, Epoch(2, leader=2))] == [frozenset({1}), frozenset({2})]


def test_a_change_begins_with_the_state_that_requests_and_caches_name() -> None:
    """The leader shrinks its ISR, then no broker can lead: no line of an election names either ISR."""
    cached = event(15, Kind.METADATA_CACHED, leader=-1, leader_epoch=2, partition_epoch=2, isr="1", broker=3)
    lines = (election(1, 0, 1, "1,2,3"), cached, election(20, 3, 3, "3"))
    back = {CONTROLLER: (SessionLine(14 * SECOND, 14, 1), SessionLine(19 * SECOND, 19, 3, gone=False))}
    last = state_changes(lines, {}, back)[-1]
    assert (last.before, last.led, last.back) == (frozenset({1}), -1, Ref(row=19, note="broker 3 is back"))
    assert change_text(History(PartitionFacts("orders", 0)), last) == (
        "broker 3 returned, and the controller elected it (leader epoch 3), with ISR [3] in place of [1]"
    )
    (fact,) = electable_facts(History(PartitionFacts("orders", 0), changes=(last,)), 0, Epoch(3, leader=3))
    assert [ref.row for ref in fact.refs] == [19, 20]
