"""Whether files bear out what lines lead to, and what a replica's part in an epoch proves of its log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from forensics.replay.committed.proof import losses
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.high_watermarks.candidates import beyond_lines, next_start
from forensics.replay.high_watermarks.crosscheck import (
    as_it_was,
    confirmed,
    found_shorter_unexplained,
    may_have_left_isr,
    not_truncated,
)
from forensics.replay.history import (
    History,
    HwSource,
    HwStatement,
    Replica,
    Role,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.lineage import UNKNOWN, Lineage
from forensics.replay.log_reconstruction import LogReconstruction
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.partition_states import PartitionState
from forensics.replay.protocol import Answer
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from forensics.rules.story import loss_cause
from tests.covering import missing_within, whole
from tests.numbered import numbered

LINE = Ref(row=5)


def role_span(epoch: int, *steps: Step, run: int = 1, role: Role = Role.FOLLOWER) -> RoleSpan:
    return RoleSpan(1, epoch, run, role, 2, start_end=23, steps=list(steps), refs=[LINE])


def truncation(target: int, row: int) -> Step:
    return Step(StepKind.TRUNCATED, target, None, target + 1, TruncationReason.LEADER_EPOCH, None, (Ref(row=row),))


def follows(epoch: int, leader: int = 2, run: int = 1) -> RoleSpan:
    return RoleSpan(1, epoch, run, Role.FOLLOWER, leader, refs=[LINE])


@pytest.mark.parametrize(
    ("before", "on"),
    [
        ([follows(1)], True),
        ([follows(1), RoleSpan(1, 2, 1, Role.OFFLINE, -1, refs=[LINE])], True),
        ([follows(1, run=0)], False),
        ([follows(1, leader=3)], False),
        ([RoleSpan(1, 1, 1, Role.LEADER, 1, refs=[LINE])], False),
        ([], False),
    ],
    ids=["same leader", "an epoch without a leader between", "another process", "another leader", "led", "nothing"],
)
def test_a_process_that_keeps_its_leader_need_not_reconcile_with_it_again(before: list[RoleSpan], on: bool) -> None:
    spans = [*before, follows(3)]
    history = History(PartitionFacts("orders", 0), role_spans={1: spans}, replicas={1: Replica(1)}, coverage=whole(1))
    assert LogReconstruction(ReplicaLogs(history, history.role_spans, {}, {}))._followed_on(spans[-1]) is on


@pytest.mark.parametrize(
    ("on_disk", "steps", "missing"),
    [
        (((0, 0), (1, 16)), [], True),  # what it came back with was of epoch 1: it had been cut to 16 before
        (((0, 0), (1, 16)), [truncation(16, row=9)], False),  # it was cut later, and says so
        (((0, 0), (1, 16)), [truncation(16, row=3)], True),  # it says so of a time before
        (((0, 0), (1, 16)), [truncation(18, row=9)], True),  # not so far
        (((0, 0), (1, 21)), [], False),
        ((), [], False),  # files of before message format v2 have no epochs
    ],
)
def test_a_log_that_came_back_shorter_with_other_records_was_cut_where_no_line_tells(
    on_disk: tuple[tuple[int, int], ...], steps: list[Step], missing: bool
) -> None:
    history = History(PartitionFacts("orders", 0), replicas={1: Replica(1)}, coverage=whole(1))
    history.role_spans = {1: [role_span(1, *steps)]}
    history.facts = replace(history.facts, disks={1: Disk(lineage=Lineage(on_disk), end=30)})
    shortened = ShortenedLog(1, 0, Interval.at(23), 21, Lineage(((0, 0),)), None, (LINE,))
    unexplained, lines = found_shorter_unexplained(history, shortened, 5)
    assert unexplained == missing
    why = "its files hold other records from offset 16 on than its lines imply"
    assert (lines.text if lines is not None else None) == (why if missing else None)
    assert not missing_within(history), "an answer changes nothing"


@pytest.mark.parametrize(
    ("isr", "how", "hw", "known"),
    [
        ({1, 2}, True, 30, 16),  # it was in the ISR of an epoch that began at 16, of which it says nothing
        ({1, 2}, False, 30, 16),  # if only later
        ({1, 2}, True, 16, None),
        ({2}, True, 30, None),
    ],
)
def test_what_a_replica_says_last_may_be_of_an_epoch_in_whose_isr_it_was(
    isr: set[int], how: bool, hw: int, known: int | None
) -> None:
    history = History(PartitionFacts("orders", 0), replicas={1: Replica(1)}, coverage=whole(1))
    history.role_spans = {1: [role_span(0)]}
    history.epochs = LeaderEpochs({0: Epoch(0, leader=2, begins=Interval.at(0), leader_took_up=True)})
    history.epochs[1] = Epoch(
        1, leader=2, begins=Interval.at(16), isr=[(frozenset(isr), LINE)], isr_elected=how, leader_took_up=True
    )
    said = HwStatement(1, 0, Lineage(((0, 0),)), hw, HwSource.PRINTED, None, (LINE,))
    assert beyond_lines(history, said) == known


def test_what_a_replica_says_last_may_be_of_an_epoch_of_which_less_is_known_than_of_the_one_before() -> None:
    """Epoch 2 may have begun below the start of epoch 1, which is known."""
    history = History(PartitionFacts("orders", 0), replicas={1: Replica(1)}, coverage=whole(1))
    history.role_spans = {1: [role_span(0)]}
    history.epochs = LeaderEpochs({0: Epoch(0, leader=2, begins=Interval.at(0), leader_took_up=True)})
    history.epochs |= {
        number: Epoch(number, leader=2, begins=begins, isr=[(frozenset({1, 2}), LINE)], leader_took_up=True)
        for number, begins in ((1, Interval.at(16)), (2, Interval(10)))
    }
    said = HwStatement(1, 0, Lineage(((0, 0),)), 30, HwSource.PRINTED, None, (LINE,))
    assert beyond_lines(history, said) == 10


@pytest.mark.parametrize(
    ("isr", "run", "leader", "known"),
    [
        ({1, 2}, 2, 2, 16),  # elected into its ISR, the process that spoke had been told of it; the next one was again
        ({1, 2}, 1, 2, None),  # one process: it says when it was told
        ({2}, 2, 2, None),  # it came into the ISR later
        ({1}, 2, 1, None),  # it led with less than it had had: that is a loss
    ],
)
def test_what_a_process_says_may_be_of_an_epoch_that_only_the_next_one_tells(
    isr: set[int], run: int, leader: int, known: int | None
) -> None:
    history = History(PartitionFacts("orders", 0), replicas={1: Replica(1)}, coverage=whole(1))
    history.role_spans = {1: [role_span(0), role_span(1, run=run)]}
    history.epochs = LeaderEpochs({0: Epoch(0, leader=2, begins=Interval.at(0), leader_took_up=True)})
    history.epochs[1] = Epoch(
        1, leader=leader, begins=Interval.at(16), isr=[(frozenset(isr), LINE)], isr_elected=True, leader_took_up=True
    )
    said = HwStatement(1, 0, Lineage(((0, 0),)), 30, HwSource.PRINTED, None, (LINE,))
    assert beyond_lines(history, said) == known


@pytest.mark.parametrize(("leaders", "kept"), [(((0, 0), (1, 21)), ((0, 0),)), (((0, 0),), ((0, 0), (-1, 15)))])
def test_a_truncation_by_leader_epoch_takes_nothing_that_the_leader_has(
    leaders: tuple[tuple[int, int], ...], kept: tuple[tuple[int, int], ...]
) -> None:
    target = 21 if len(leaders) > 1 else 15
    assert as_it_was(Lineage(((0, 0),)), Lineage(leaders), target, 27).entries == kept


@pytest.mark.parametrize(
    ("spans", "second", "truncation", "cause"),
    [
        ([role_span(3), role_span(4)], 4, None, "lagging-isr-member"),
        ([role_span(4)], 4, None, "unknown"),  # in which process it was in the ISR of epoch 3 is not told
        ([role_span(3), role_span(4, run=2)], 4, None, "unknown"),
        ([role_span(3), role_span(5)], 5, None, "unknown"),  # of epoch 4 nobody tells
        ([role_span(3), role_span(4)], 4, 10, "unknown"),  # it was cut, and what that took is not told
    ],
)
def test_a_member_that_lagged_was_there_when_the_records_were_written(
    spans: list[RoleSpan], second: int, truncation: int | None, cause: str
) -> None:
    early = Answer.YES
    history = History(
        PartitionFacts("orders", 0),
        replicas={1: Replica(1)},
        coverage=whole(1),
        protocol=PartitionProtocol(joins_below_epoch_start=early),
    )
    isr = [(frozenset({1, 2}), LINE)]
    history.epochs = LeaderEpochs(
        {
            n: Epoch(n, leader=2, begins=Interval.at(n), isr=isr, isr_from_leader=True, leader_took_up=True)
            for n in (3, second)
        }
    )
    last = history.epochs[second + 1] = Epoch(
        second + 1, leader=1, begins=Interval.at(10), isr=isr, leader_took_up=True
    )
    history.role_spans = {1: spans}
    if truncation is not None:
        history.truncations_of_unknown_extent = [
            Truncation(
                1,
                second,
                2,
                truncation,
                Interval(truncation),
                Lineage(),
                TruncationReason.HIGH_WATERMARK,
                None,
                (LINE,),
            )
        ]
    assert loss_cause(history, last, 12, 3) == cause


@pytest.mark.parametrize(
    ("own", "leaders", "end", "fenced", "cut_to", "lacking"),
    [
        (((0, 0),), ((0, 0), (1, 16)), 23, False, 16, {1}),
        (((0, 0),), ((0, 0), (1, 16)), 16, False, None, ()),  # it has no more than the leader's log of its epoch
        (((0, 0), (1, 16)), ((0, 0), (1, 16)), 23, False, None, ()),
        (((0, 0), (1, 16)), ((0, 0), (2, 23)), 23, False, None, ()),  # to 1.1 it ends where the next epoch begins
        (((0, 0), (1, 16)), ((0, 0), (2, 23)), 23, True, 16, {1, 2}),  # then the leader's last one counts (KIP-279)
        (((0, 0), (1, 16)), ((0, 0), (1, 16), (2, 23)), 23, True, None, ()),
        (((0, 0), (1, 16)), ((0, 0), (2, 16)), 23, True, 16, {1}),
        (((0, 0),), ((1, 0),), 23, False, None, ()),  # to 1.1 the leader knows no end of epochs before its first
        (((0, 0), (UNKNOWN, 5)), ((0, 0), (1, 16)), 23, False, None, ()),
    ],
)
def test_a_follower_cuts_its_log_to_where_its_epoch_ends_before_it_fetches(
    own: tuple[tuple[int, int], ...],
    leaders: tuple[tuple[int, int], ...],
    end: int,
    fenced: bool,
    cut_to: int | None,
    lacking: Collection[int],
) -> None:
    """Where it did not, its lines are missing, or its leader's where that seems to have older records there."""
    follows = role_span(1)
    follows.start_end, follows.leader = end, 2
    for told in (True, False):
        replicas = {number: Replica(number) for number in (1, 2)}
        history = History(PartitionFacts("orders", 0), replicas=replicas, coverage=whole(1, 2))
        history.protocol = PartitionProtocol(truncation_known=told)
        found = not_truncated(history, follows, Lineage(own), Lineage(leaders), fenced=fenced)
        assert {one.replica for one in found} == (set(lacking) if told else set())
        if found:
            assert (
                f"another leader epoch from offset {cut_to} on, but no line shows that it truncated its own of {end}"
                in found[0].text
            )
            assert [one.undated_from for one in found[1:]] == [cut_to] * (len(found) - 1)


def fork(left: int, right: int, *ranges: tuple[int, int]) -> Fork:
    return Fork(left, right, ranges, LINE, LINE, (0, 0, None), (0, 0, None))


@pytest.mark.parametrize(
    ("apart", "ends", "start"),
    [
        ((21, 37), (38, 37), None),  # its own record stands right below: the leader had none there
        ((21, 37), (38, 60), 21),  # and here it has the leader's
        ((21, 60), (38, 60), None),
        ((21, 37), (30, 37), 21),  # of what its files lost nothing is known
    ],
)
def test_a_high_watermark_over_records_of_its_own_was_reached_before_a_later_leader(
    apart: tuple[int, int], ends: tuple[int, int], start: int | None
) -> None:
    history = History(PartitionFacts("orders", 0, forks=(fork(1, 2, apart),), compared=frozenset({(1, 2)})))
    history.facts = replace(
        history.facts, disks={broker: Disk(end=end) for broker, end in zip((1, 2), ends, strict=True)}
    )
    history.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, begins=Interval.at(0), leader_took_up=True),
            2: Epoch(2, leader=2, begins=Interval.at(21), leader_took_up=True),
        }
    )
    assert next_start(history, 1, 0, 38) == start


@pytest.mark.parametrize(
    ("apart", "compared", "gone"),
    [((50, 80), True, [(50, 80)]), ((43, 80), True, [(43, 80)]), ((50, 80), False, [(43, 80)])],
)
def test_records_that_the_leader_has_as_another_copy_has_them_are_not_lost(
    apart: tuple[int, int], compared: bool, gone: list[tuple[int, int]]
) -> None:
    """Its lines say that leader 3 began at 43; lines are missing."""
    old, new = Lineage(((0, 0),)), Lineage(((0, 0), (2, 43)))
    history = History(PartitionFacts("orders", 0, forks=(fork(1, 3, apart),)))
    history.facts = replace(history.facts, compared=frozenset({(1, 3)} if compared else ()))
    history.facts = replace(history.facts, disks={1: Disk(end=80), 3: Disk(end=80)})
    history.replicas = {1: Replica(1, lineage=old, end=80), 3: Replica(3, lineage=new, end=80)}
    history.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, begins=Interval.at(0), leader_took_up=True, lineage=old),
            2: Epoch(2, leader=3, begins=Interval.at(43), leader_took_up=True, lineage=new),
        }
    )
    history.statements = [HwStatement(1, 0, old, 80, HwSource.READ_BACK, None, (LINE,), True)]
    (loss,), unclear = losses(history)
    assert list(loss.ranges) == gone
    assert unclear == ([] if gone == [(43, 80)] else [(43, 50)])


@pytest.mark.parametrize(
    ("states", "left"),
    [
        ({4: {1, 2}, 5: {2}}, True),  # the controller tells that it was taken out last
        ({4: {2}, 5: {1, 2}}, False),
        ({5: {1, 2}, 6: {2}}, True),
        ({5: None}, False),
        ({}, False),
    ],
)
def test_a_replica_may_have_left_the_isr_as_others_tell(states: dict[int, set[int] | None], left: bool) -> None:
    history = History(PartitionFacts("orders", 0))
    own = [(frozenset({2}), LINE), (frozenset({1, 2}), LINE)]
    told = {isr for isr, _ in own}
    history.epochs = LeaderEpochs(
        {
            2: Epoch(
                2,
                leader=2,
                begins=Interval.at(16),
                isr=own,
                isr_from_leader=True,
                leader_took_up=True,
                isrs_stated_by_others=told,
            )
        }
    )
    history.states = numbered(
        {number: (2, frozenset(isr) if isr is not None else None) for number, isr in states.items()}
    )
    history.states[9] = PartitionState(3, frozenset({2}))  # of another epoch
    history.coverage = whole(2)
    assert may_have_left_isr(history, history.epochs[2], 1) == left
    history.coverage = whole(1)
    assert may_have_left_isr(history, history.epochs[2], 1), "of the leader there is no line at all"


@pytest.mark.parametrize(
    ("named", "later", "missing"), [(False, (4,), True), (True, (4,), False), (False, (2,), False)]
)
def test_of_an_epoch_that_nobody_names_no_lines_are_there(named: bool, later: tuple[int, ...], missing: bool) -> None:
    history = History(PartitionFacts("orders", 0), replicas={1: Replica(1)}, coverage=whole(1))
    history.role_spans = {1: [role_span(1), *(role_span(number, run=2) for number in later)]}
    history.epochs = LeaderEpochs({number: Epoch(number, leader=2) for number in range(1, 5)})
    history.coverage = whole(1, unnamed=() if named else (3,))
    shortened = ShortenedLog(1, 1, Interval.at(23), 21, Lineage(((0, 0),)), None, (LINE,))
    assert found_shorter_unexplained(history, shortened, 5) == (missing, None)


@pytest.mark.parametrize(
    ("hw", "changed", "missing"),
    [
        (31, {}, True),
        (30, {}, False),
        (31, {"epoch": 5}, False),  # another may have led in epoch 4, of which no line of broker 2 is there
        (31, {"run": 2}, False),  # its next process began with what the checkpoint held
        (31, {"start_hw": None}, False),
    ],
)
def test_a_followers_high_watermark_is_no_higher_than_that_of_its_leader(
    hw: int, changed: dict[str, object], missing: bool
) -> None:
    """Broker 2 led epochs 2 and 3, and followed in epoch 4 with high watermark 30."""
    log = Lineage(((0, 0), (2, 20)))
    history = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    history.epochs = LeaderEpochs(
        {number: Epoch(number, leader=2, lineage=log, leader_took_up=True) for number in (2, 3)}
    )
    after = RoleSpan(2, 4, 1, Role.FOLLOWER, 3, start_hw=Sample(30, LINE, None))
    history.role_spans[2] = [
        RoleSpan(2, 2, 1, Role.LEADER, 2),
        RoleSpan(2, 3, 1, Role.LEADER, 2),
        replace(after, **changed),  # type: ignore[arg-type]
    ]
    stated = HwStatement(1, 2, log, hw, HwSource.READ_BACK, None, (LINE,), earlier=True)
    found, shown = confirmed(history, stated)
    assert (shown.replica if shown is not None else None) == (1 if missing else None)
    assert found.lineage == (Lineage.unknown() if missing else log)
    history.coverage = whole(1)
    assert confirmed(history, stated) == (stated, None), "broker 2 may have lines that are missing"
