"""What a replica holds after epochs of which its own lines do not tell."""

from __future__ import annotations

import pytest

from forensics.replay.coverage import Place
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.doubts import doubts
from forensics.replay.leadership.epoch_start import EpochStart
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.leadership.unseen_epochs import had_part, passed_over
from forensics.replay.lineage import UNKNOWN, Lineage, at_least
from forensics.replay.partition_protocol import PartitionProtocol, TruncatesTo
from forensics.replay.roles.steps import LogBefore, RoleSpan, Sample, Step, StepKind
from tests.covering import holed, whole


def between(*isr: set[int], leader: int | None = 2, number: int = 1, start: int | None = 30) -> History:
    """Broker 1 follows epoch 0 of broker 3; others tell of one epoch more."""
    told = [(frozenset(one), Ref(row=0)) for one in isr]
    epoch = Epoch(
        number,
        leader=leader,
        begins=Interval() if start is None else Interval.at(start),
        isr=told,
        leader_took_up=leader is not None,
        isr_from_leader=True,
    )
    nobody = {one: Epoch(one, leader=-1) for one in range(1, number)}
    epochs = {0: Epoch(0, leader=3, begins=Interval.at(0), leader_took_up=True), **nobody, number: epoch}
    return History(PartitionFacts("orders", 0), epochs=LeaderEpochs(epochs), coverage=whole(1, 2, 3))


def role(epoch: int, *, run: int = 1, leads: bool = False, loaded: int | None = None) -> RoleSpan:
    steps = [] if loaded is None else [Step(StepKind.LOADED, loaded, None, 0, None, None, (Ref(row=1),))]
    leader = 1 if leads else 3
    return RoleSpan(
        1, epoch, run, Role.LEADER if leads else Role.FOLLOWER, leader, start_low=20, end_low=50, steps=steps
    )


@pytest.mark.parametrize(
    ("leads", "leader", "start", "known"),
    [
        (False, 2, 30, 30),  # what the other leader wrote begins there
        (False, 2, 10, 20),  # what it began with is its own
        (False, None, None, 20),
        (True, 2, 30, 50),  # a leader's records are its own
        (False, 3, 30, None),  # its leader went on
        (False, -1, None, None),  # nobody wrote
    ],
)
def test_an_epoch_of_another_that_a_living_process_says_nothing_of(
    leads: bool, leader: int | None, start: int | None, known: int | None
) -> None:
    history = between({1, 2}, leader=leader, start=start)
    assert passed_over(history, role(0, leads=leads), role(2)) == known


def test_who_was_told_of_every_epoch_or_was_not_there_passed_over_none() -> None:
    history = between({1, 2})
    assert passed_over(history, role(0), role(1)) is None
    assert passed_over(history, role(0, loaded=40), role(2, run=2)) is None


@pytest.mark.parametrize(
    ("number", "isr", "known"),
    [
        (1, [{1, 2}], 30),
        (1, [{2, 3}], None),  # it was gone
        (1, [], 30),  # nobody says who was in it
        (2, [{1, 2}, {2}, {1, 2}], 30),  # in the epoch to which it came back it had been before
        (2, [{1, 2}], None),  # or not
        (2, [{2}, {1, 2}], None),
        (3, [{1, 2}], None),  # later than its return
    ],
)
def test_who_came_back_had_a_part_in_the_epochs_in_whose_isr_others_put_it(
    number: int, isr: list[set[int]], known: int | None
) -> None:
    assert had_part(between(*isr, number=number), role(0, loaded=40), role(2, run=2)) == known


def doubted(history: History, *spans: RoleSpan) -> History:
    """The same with the doubts about the lines of one replica."""
    history.role_spans[spans[0].replica] = [*spans]
    history.coverage = history.coverage.with_doubts(doubts(history))
    return history


def test_who_led_unheard_of_may_have_let_in_who_came_back() -> None:
    """Lines of the leader are missing, some or all, and others are told of an ISR late or never."""
    history = between({2, 3})
    history.epochs[1].isr_from_leader = False
    assert had_part(history, role(0, loaded=40), role(2, run=2)) is None
    history.coverage = whole(1)
    came_back = role(0, loaded=40), role(2, run=2)
    assert had_part(doubted(history, *came_back), *came_back) == 30, "of the leader there is no line at all"
    history.coverage = holed(whole(1, 2), 2)
    before = role(0, loaded=40)
    assert had_part(doubted(history, before, role(2, run=2)), before, role(2, run=2)) == 30
    history.epochs[1].time = 90
    before.shut_down = 80  # and it told of its end
    assert had_part(doubted(history, before, role(2, run=2)), before, role(2, run=2)) is None


@pytest.mark.parametrize(
    ("shut", "left", "elected", "start", "had", "known"),
    [
        (None, LogBefore.UNCLEAN_STOP, 90, 30, 30, None),  # killed, and elected as it died
        (None, None, 90, 30, 30, 20),  # it was closed cleanly, and nothing tells of that
        (80, None, 90, 30, 30, None),  # it stopped before
        (99, None, 90, 30, 30, 20),  # it lived on
        (None, LogBefore.UNCLEAN_STOP, 90, 30, 31, 20),  # another had begun below what it came back with
        (None, LogBefore.UNCLEAN_STOP, 90, None, 31, None),
    ],
)
def test_an_epoch_of_its_own_that_others_alone_tell_of(
    shut: int | None, left: LogBefore | None, elected: int, start: int | None, had: int, known: int | None
) -> None:
    history = between({2, 3}, start=start)
    history.epochs[1].leader_took_up = start is not None
    history.epochs[2] = Epoch(2, leader=1, time=elected)
    before, after = role(0), role(3, run=2)
    before.shut_down = shut
    before.steps.append(Step(StepKind.LOADED, had, None, 0, None, None, (Ref(row=1),), left))
    after.start_hw = Sample(had, None, Ref(row=2))
    assert had_part(doubted(history, before, after), before, after) == known
    history.coverage = holed(history.coverage, 1)
    assert had_part(history, before, after) == 20, "no line of its roles is no proof where some are missing"


@pytest.mark.parametrize(("members", "next_", "known"), [({1, 3}, 3, None), ({3}, 3, 20), (set(), 2, 20)])
def test_epochs_that_nobody_tells_of(members: set[int], next_: int, known: int | None) -> None:
    """A controller that takes replicas out of the ISR raises the epoch for each, and no further."""
    history = between(leader=-1, number=next_)
    history.epochs = LeaderEpochs({number: epoch for number, epoch in history.epochs.items() if number in (0, next_)})
    history.epochs[0].isr = [(frozenset(members), Ref(row=0))]
    assert had_part(history, role(0, loaded=40), role(next_ + 1, run=2)) == known


@pytest.mark.parametrize(("loads", "run", "known"), [(1, 2, None), (1, 3, 30), (2, 3, None), (0, 2, None)])
def test_a_process_in_between_that_tells_of_no_load_may_have_served(loads: int, run: int, known: int | None) -> None:
    """Each process loads its logs, the one that came back among them."""
    before = role(0)
    before.steps += [step for _ in range(loads) for step in role(0, loaded=40).steps]
    assert had_part(between({2, 3}), before, role(2, run=run)) == known


@pytest.mark.parametrize(
    ("leader", "isr", "known"), [(1, [{2}], 30), (None, [], 30), (None, [{2}], None), (-1, [], None)]
)
def test_who_came_back_may_have_led_in_between_or_followed_nobody_knows_whom(
    leader: int | None, isr: list[set[int]], known: int | None
) -> None:
    """The records of an epoch are on a disk, or were fetched: somebody wrote them, if only nobody tells who."""
    history = between(*isr, leader=leader)
    history.epochs[1].leader_took_up = True
    assert had_part(history, role(0, loaded=40), role(2, run=2)) == known
    assert had_part(history, role(0, loaded=40), role(1, run=2, leads=leader == 1)) is None  # it came back to that one


@pytest.mark.parametrize(("had", "begins"), [(((0, 0), (2, 16)), at_least(2)), (((0, 0),), UNKNOWN), ((), UNKNOWN)])
def test_an_epoch_that_began_nobody_knows_where_goes_on_from_what_its_leader_had(
    had: tuple[tuple[int, int], ...], begins: int
) -> None:
    """Before 0.11 no line tells where a leader begins."""
    epochs = {3: Epoch(3, leader=1, leader_took_up=True)}
    history = History(
        PartitionFacts("orders", 0), PartitionProtocol(TruncatesTo.HIGH_WATERMARK), epochs=LeaderEpochs(epochs)
    )
    leading = EpochStart(ReplicaLogs(history, {1: []}, {}, {}))
    leading.logs.now[1] = Lineage(had)
    role_span = RoleSpan(1, 3, 1, Role.LEADER, 1, start_low=16, end_low=16)
    leading.begin(history.epochs[3], 1, role_span)
    assert history.epochs[3].lineage == Lineage(had).truncated(16).begin(begins, 16)


@pytest.mark.parametrize(
    ("entry", "end", "below"),
    [((3, 21), 21, ((0, 0), (2, 13))), ((3, 21), 30, ((0, 0),)), ((3, 20), 21, ((0, 0),))],
)
def test_what_stood_below_an_epoch_without_records_its_leaders_files_tell(
    entry: tuple[int, int], end: int, below: tuple[tuple[int, int], ...]
) -> None:
    """A leader writes down where its epoch begins before it has any record of it."""
    history = History(PartitionFacts("orders", 0), epochs=LeaderEpochs({3: Epoch(3, leader=1, leader_took_up=True)}))
    disk = Disk(lineage=Lineage(((0, 0), (2, 13))), end=end, entries=((*entry, Ref(row=1)),))
    leading = EpochStart(ReplicaLogs(history, {1: []}, {1: disk}, {}))
    leading.logs.now[1] = Lineage(((0, 0),))
    leading.begin(history.epochs[3], 1, RoleSpan(1, 3, 1, Role.LEADER, 1, start_end=21, start_low=21, end_low=21))
    assert history.epochs[3].lineage == Lineage(below).begin(3, 21)


def test_with_lines_on_its_roles_missing_it_may_have_led_before_it_came_back() -> None:
    """Broker 1 was elected to lead epoch 1, and its next process has a role in epoch 2."""
    history = between({1, 2}, leader=1)
    found = EpochStart(ReplicaLogs(history, {1: []}, {}, {}))
    found.logs.now[1], found.logs.previous[1] = Lineage(((0, 0),)), role(0, run=1)
    assert found.logs.found(1, role(2, run=2)) == Lineage(((0, 0),))
    history.coverage = holed(history.coverage, 1)
    assert found.logs.found(1, role(2, run=2)) == Lineage(((0, 0), (UNKNOWN, 30)))
    # Near miss: they are missing in a later role.
    history.coverage = holed(whole(1, 2, 3), 1, placed=True).with_places(1, [Place(2, 2)])
    assert found.logs.found(1, role(2, run=2)) == Lineage(((0, 0),))
    history.coverage = history.coverage.with_places(1, [Place(0, 1)])
    assert found.logs.found(1, role(2, run=2)) == Lineage(((0, 0), (UNKNOWN, 30)))
