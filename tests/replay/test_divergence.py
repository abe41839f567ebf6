"""Which differences between segments are at committed offsets, and which replicas are on the same side of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.replay.committed.divergence import Divergence, committed_up_to, divergences, weighed_forks
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import History, HwSource, HwStatement, Replica, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage, Range
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from tests.incident import Incident

REFS = {broker: Ref(byte=broker) for broker in (1, 2, 3)}


def fork(left: int, right: int, *ranges: Range) -> Fork:
    batches = [(ranges[0][0], ranges[0][1] - 1, broker) for broker in (left, right)]
    return Fork(left, right, ranges, REFS[left], REFS[right], *batches)


def history(*forks: Fork, checkpoints: Mapping[int, int], leader: int | None = None) -> History:
    """Replicas whose logs end at 100, with the given forks and high watermarks in checkpoint files."""
    brokers = sorted({broker for one in forks for broker in (one.left, one.right)})
    pairs = frozenset((one, two) for one in brokers for two in brokers if one < two)
    found = History(PartitionFacts("orders", 0, forks=forks, compared=pairs))
    found.replicas = {
        broker: Replica(broker, end=100, on_disk=True, checkpoint=(checkpoints[broker], REFS[broker]))
        if broker in checkpoints
        else Replica(broker, end=100, on_disk=True)
        for broker in brokers
    }
    if leader is not None:
        found.epochs = LeaderEpochs({0: Epoch(0, leader=leader, leader_took_up=True)})
    return found


@pytest.mark.parametrize(
    ("checkpoints", "leader", "committed", "without_hw", "maybe_higher"),
    [
        ({1: 80, 2: 80}, None, ((50, 80),), (), ()),
        ({1: 60, 2: 80}, None, ((50, 60),), (), ()),
        ({1: 60, 2: 80}, 1, ((50, 60),), (), (1,)),  # it may have committed more since its checkpoint
        ({1: 60, 2: 80}, 2, ((50, 60),), (), ()),
        ({1: 40, 2: 40}, 1, (), (), ()),
        ({1: 80}, None, (), (), (2,)),  # up to the difference broker 2 has the records of broker 1
        ({}, None, (), (1, 2), ()),
    ],
)
def test_a_difference_counts_below_both_high_watermarks(
    checkpoints: dict[int, int],
    leader: int | None,
    committed: tuple[Range, ...],
    without_hw: tuple[int, ...],
    maybe_higher: tuple[int, ...],
) -> None:
    found = history(fork(1, 2, (50, 80)), checkpoints=checkpoints, leader=leader)
    (one,) = weighed_forks(found)
    assert (one.committed, one.without_hw, one.maybe_higher) == (committed, without_hw, maybe_higher)
    assert [piece.ranges for piece in divergences(found, [one])] == ([committed] if committed else [])


def test_a_high_watermark_counts_within_what_the_next_process_found() -> None:
    found = history(fork(1, 2, (50, 80)), checkpoints={2: 80})
    span = RoleSpan(1, 0, 1, Role.LEADER, leader=1, refs=[Ref(row=1)])
    span.steps = [Step(StepKind.LOADED, 70, None, 70, None, None, (Ref(row=9),))]
    stated = HwStatement(1, 0, Lineage(((0, 0),)), 75, HwSource.PRINTED, None, (Ref(row=5),))
    found.statements, found.role_spans = [stated], {1: [span]}
    assert committed_up_to(found, 1) == 70
    found.statements = [replace(stated, refs=(Ref(row=10),))]
    assert committed_up_to(found, 1) == 75


@pytest.mark.parametrize(
    ("forks", "sides"),
    [
        ([fork(1, 2, (50, 80))], [((1,), (2,))]),
        ([fork(1, 2, (50, 80)), fork(1, 3, (50, 80))], [((1,), (2, 3))]),
        ([fork(1, 3, (50, 80)), fork(2, 3, (50, 80))], [((1, 2), (3,))]),
        (  # three logs: each difference by itself
            [fork(1, 2, (50, 80)), fork(1, 3, (50, 80)), fork(2, 3, (50, 80))],
            [((1,), (2,)), ((1,), (3,)), ((2,), (3,))],
        ),
        ([fork(1, 2, (50, 80)), fork(1, 3, (60, 80))], [((1,), (2,)), ((1,), (3,))]),  # other offsets
    ],
)
def test_equal_differences_have_two_sides(
    forks: list[Fork], sides: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> None:
    found = history(*forks, checkpoints={1: 100, 2: 100, 3: 100})
    assert [one.sides for one in divergences(found, weighed_forks(found))] == sides


def test_a_side_names_its_first_differing_batch() -> None:
    one = Divergence(((50, 80),), (fork(1, 2, (50, 80)), fork(1, 3, (50, 80))), ((1,), (2, 3)))
    assert one.brokers == (1, 2, 3)
    assert [one.first_batch(broker) for broker in one.brokers] == [
        ((50, 79, broker), REFS[broker]) for broker in (1, 2, 3)
    ]


OF_TWO, OF_FOUR = ((0, 0), (2, 25), (4, 29)), ((0, 0), (4, 25))
"""What the epoch files of the two logs below say, as long as nothing was deleted."""


@pytest.mark.parametrize(
    ("of_two", "of_four", "confidence"),
    [
        (OF_TWO, OF_FOUR, "proven"),
        (OF_TWO, ((4, 29),), None),  # its log begins within epoch 4, above what differs
        (((4, 29),), OF_FOUR, "suspected"),  # so does this one, or its file was lost at the start of epoch 4
        (OF_TWO, ((0, 0), (4, 29)), "inferred"),  # this file is wrong: where epochs were deleted, 0 is gone too
        ((), OF_FOUR, "inferred"),  # no file and no line excludes that
    ],
)
def test_records_below_the_start_of_an_epoch_file_may_have_been_deleted(
    of_two: tuple[tuple[int, int], ...], of_four: tuple[tuple[int, int], ...], confidence: str | None, tmp_path: Path
) -> None:
    """After DeleteRecords a segment still holds records below the log start offset."""
    incident = Incident(tmp_path, brokers=2)
    for number, entries, own in ((1, of_two, (25, 28, 2)), (2, of_four, (25, 28, 4))):
        node = incident[number].checkpoint(40)
        if entries:
            node.epochs(*entries)
        node.segment([(0, 24, 0)])
        node.segment([own], salt=str(number).encode(), base=25)
        node.segment([(29, 39, 4)], base=29)
    found = incident.findings("replica-divergence")
    assert [one.confidence for one in found] == ([] if confidence is None else [confidence])
    if confidence == "suspected":
        assert "deleted these records" in found[0].uncertain[0]
        assert any("broker 1's server.log" in wish for wish in incident.missing("replica-divergence"))
        assert incident.verdict("epoch-divergence") == "unknown"
