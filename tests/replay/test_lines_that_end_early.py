"""Lines of a replica that end before its files were copied: what its log lost in between, no line shows.

Each test judges the same history twice: with lines up to the copy, and with lines of which something shows that they
end earlier. The last two ask the same of leader epochs that no line names.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.committed.surviving_copies import with_own
from forensics.replay.coverage import Coverage, Omission, Span
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import (
    History,
    HwSource,
    HwStatement,
    Replica,
    Role,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.elections import from_isr
from forensics.replay.leadership.epoch_start import EpochStart
from forensics.replay.leadership.replica_logs import ReplicaLogs
from forensics.replay.lineage import UNKNOWN, Lineage
from forensics.replay.partition_protocol import PartitionProtocol, TruncatesTo
from forensics.replay.roles.log_ends import log_end
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from forensics.replay.truncations.safe_truncations import is_safe
from tests.covering import whole

LINE, FILE = Ref(row=5), Ref(row=9)
ENDS_EARLY = Omission("test-ends-early", Span.AFTER, "its lines end early", "a test")
APART = Fork(1, 2, ((50, 80),), FILE, FILE, (50, 50, None), (50, 50, None))
"""The segments of brokers 1 and 2 differ at offsets 50 to 79, and no batch states its leader epoch."""


def early(*brokers: int) -> Coverage:
    """Lines of brokers 1 and 2, which end early for some."""
    return whole(1, 2).lowered(ENDS_EARLY.of(broker) for broker in brokers)


def diverged() -> History:
    """Up to 0.10 broker 1 led epoch 0, and then broker 2 epoch 1. Their segments differ from offset 50 on."""
    disks = {broker: Disk(end=80) for broker in (1, 2)}
    facts = PartitionFacts("orders", 0, disks=disks, forks=(APART,), compared=frozenset({(1, 2)}))
    history = History(facts, coverage=whole(1, 2), protocol=PartitionProtocol(TruncatesTo.HIGH_WATERMARK))
    history.replicas = {b: Replica(b, directory="d", end=80, end_refs=(FILE,)) for b in (1, 2)}
    history.epochs = LeaderEpochs(
        {0: Epoch(0, leader=1, leader_took_up=True), 1: Epoch(1, leader=2, leader_took_up=True)}
    )
    leads = RoleSpan(2, 1, 1, Role.LEADER, 2, refs=[LINE])
    history.role_spans = {1: [RoleSpan(1, 0, 1, Role.LEADER, 1, refs=[LINE])], 2: [leads]}
    return history


def test_files_bound_a_log_from_above_only_where_the_lines_reach_the_copy() -> None:
    """Broker 1 may have truncated what it had beyond 80 after its last line."""
    history = diverged()
    history.role_spans[1][0].shut_down = 9  # it did not crash
    assert log_end(history, 1, 0) == Interval.at(80, FILE)
    history.coverage = early(1)
    assert log_end(history, 1, 0) == Interval()


@pytest.mark.parametrize("who", [1, 2], ids=["older log", "leader"])
def test_an_epoch_began_where_segments_part_unless_one_was_truncated_after_the_last_line(who: int) -> None:
    history = diverged()
    begins = EpochStart(ReplicaLogs(history, history.role_spans, history.facts.disks, {}))
    assert begins._start_by_fork(history.epochs[1], 2, Interval()) == Interval.at(50, FILE)
    history.coverage = early(who)
    assert begins._start_by_fork(history.epochs[1], 2, Interval()) == Interval()


def test_a_log_with_no_line_on_an_epoch_is_older_than_it_only_if_no_later_line_is_missing() -> None:
    history = diverged()
    begins = EpochStart(ReplicaLogs(history, history.role_spans, history.facts.disks, {}))
    assert begins._older(1, 60, 1)
    history.coverage = early(1)
    assert not begins._older(1, 60, 1)


def test_a_former_leader_still_has_its_records_only_if_no_later_line_may_show_a_truncation() -> None:
    history = diverged()
    said = HwStatement(1, 0, Lineage(((UNKNOWN, 0),)), 80, HwSource.PRINTED_BY_LEADER, None, (LINE,))
    assert with_own(history, {}, [said], history.epochs[1], [(50, 80)]) == {1: ((50, 80),)}
    history.coverage = early(1)
    assert with_own(history, {}, [said], history.epochs[1], [(50, 80)]) == {}


def test_a_truncation_is_safe_unless_a_leader_that_no_line_names_may_have_committed_more() -> None:
    """Broker 9 led epoch 0 with high watermark 40, and broker 1 leads epoch 2. Nothing names the leader of epoch 1."""
    cut = Step(StepKind.TRUNCATED, 40, None, 41, TruncationReason.LEADER_EPOCH, None, (LINE,))
    history = History(PartitionFacts("orders", 0), coverage=whole(1, 2, 9))
    stays = (frozenset({1, 2}), LINE)
    history.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=9, begins=Interval.at(0), leader_took_up=True),
            2: Epoch(2, leader=1, begins=Interval.at(40), isr=[stays], isr_from_leader=True, isr_elected=True),
        }
    )
    history.role_spans = {
        1: [RoleSpan(1, 2, 1, Role.LEADER, 1, refs=[LINE])],
        2: [RoleSpan(2, 0, 1, Role.FOLLOWER, 9), RoleSpan(2, 2, 1, Role.FOLLOWER, 1, steps=[cut])],
        9: [RoleSpan(9, 0, 1, Role.LEADER, 9), RoleSpan(9, 2, 1, Role.FOLLOWER, 1, start_hw=Sample(40, LINE, None))],
    }
    truncation = Truncation(2, 2, 1, 40, Interval(41), Lineage(), TruncationReason.LEADER_EPOCH, None, (LINE,))
    assert is_safe(history, truncation)
    history.coverage = replace(history.coverage, unnamed=frozenset({1}))
    assert not is_safe(history, truncation)


def test_the_last_known_isr_is_that_of_an_election_unless_another_leader_may_have_changed_it() -> None:
    epochs = {0: Epoch(0, leader=1, isr=[(frozenset({1, 2}), LINE)], isr_from_leader=True), 2: Epoch(2, leader=2)}
    history = History(PartitionFacts("orders", 0), coverage=whole(1, 2), epochs=LeaderEpochs(epochs))
    assert from_isr(history, epochs[2])
    history.coverage = whole(1, 2, unnamed=(1,))
    assert not from_isr(history, epochs[2])
