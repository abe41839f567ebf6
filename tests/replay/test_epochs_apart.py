"""Different leader epochs of two replicas at offsets below both high watermarks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.committed.epochs_apart import EpochsApart, apart_by_batches, apart_by_lines
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import History, Replica, Role
from forensics.replay.lineage import UNKNOWN, Lineage, Range
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from tests.covering import whole

LINE = Ref(row=5)
ONE = Lineage(((0, 0), (1, 50)))


def history(other: Lineage, *marks: int) -> History:
    """Brokers 1 and 2 claim to state every change, and end with these high watermarks."""
    found = History(PartitionFacts("orders", 0), coverage=replace(whole(1, 2), claimed=frozenset({1, 2})))
    found.replicas = {1: Replica(1, lineage=ONE), 2: Replica(2, lineage=other)}
    found.role_spans = {
        broker: [RoleSpan(broker, 1, 1, Role.FOLLOWER, 3, refs=[LINE], hw=Sample(mark, LINE, None))]
        for broker, mark in enumerate(marks, start=1)
    }
    return found


@pytest.mark.parametrize(
    ("other", "marks", "ranges", "undecided"),
    [
        (ONE, (80, 80), (), ()),
        (Lineage(((0, 0), (2, 50))), (80, 80), ((50, 80),), ()),
        (Lineage(((0, 0), (2, 50))), (80, 60), ((50, 60),), ()),
        (Lineage(((0, 0), (2, 50))), (80, 50), (), ()),
        (Lineage(((0, 0), (2, 50))), (80,), (), ()),  # of broker 2 no high watermark is known
        (Lineage(((0, 0), (UNKNOWN, 50))), (80, 80), (), ((50, 80),)),
    ],
)
def test_lines_of_complete_traces_imply_the_epochs_of_each_offset(
    other: Lineage, marks: tuple[int, ...], ranges: tuple[Range, ...], undecided: tuple[Range, ...]
) -> None:
    found = history(other, *marks)
    expected = [EpochsApart((1, 2), ranges, undecided)] if ranges or undecided else []
    assert apart_by_lines(found) == expected
    found.coverage = whole(1, 2)
    assert apart_by_lines(found) == [], "nothing is claimed"


def test_offsets_without_records_and_above_a_truncation_do_not_count() -> None:
    found = history(Lineage(((0, 0), (2, 50))), 80, 80)
    found.facts = replace(found.facts, without_records={2: ((50, 55),)})
    assert [one.ranges for one in apart_by_lines(found)] == [((55, 80),)]
    found.role_spans[1][0].steps = [Step(StepKind.TRUNCATED, 60, 80, 80, None, None, (LINE,))]
    assert [one.ranges for one in apart_by_lines(found)] == [((55, 60),)]


@pytest.mark.parametrize(
    ("marks", "committed", "unchecked"),
    [({1: 80, 2: 60}, True, ()), ({1: 80, 2: 50}, False, ()), ({1: 80}, False, (2,)), ({}, False, (1, 2))],
)
def test_batches_of_two_epochs_count_below_both_checkpoints(
    marks: dict[int, int], *, committed: bool, unchecked: tuple[int, ...]
) -> None:
    fork = Fork(1, 2, ((50, 80),), LINE, LINE, (50, 59, 1), (50, 54, 2))
    found = History(PartitionFacts("orders", 0, forks=(fork,)))
    found.replicas = {b: Replica(b, checkpoint=(marks[b], LINE) if b in marks else None) for b in (1, 2)}
    (one,) = apart_by_batches(found)
    assert (one.fork, one.epochs, one.committed, one.unchecked) == (fork, (1, 2), committed, unchecked)
    for epoch in (1, None):
        alike = replace(fork, right_batch=(50, 54, epoch))
        found.facts = replace(found.facts, forks=(alike,))
        assert apart_by_batches(found) == []
