"""Records that no leader that is told of can have written."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import History, Replica, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.omissions.unknown_writers import unknown_writers
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from tests.covering import whole, without
from tests.incident import wishes

REF = Ref(row=1)
AFTER = "2026-11-21 07:31:07"


def unwritten(history: History) -> dict[int, str]:
    """Replicas that hold what no leader that any line names wrote, and what shows it first."""
    return {one.replica: one.text for one in reversed([*unknown_writers(history)])}


def forked(*leaders: int, epoch: int | None = None) -> History:
    """Brokers 1, 2 and 3 hold [0, 37); 1 holds others than 2 and 3 from 21 on. Leaders led from epoch 0 on."""
    history = History(PartitionFacts("orders", 0))
    history.epochs = LeaderEpochs(
        {number: Epoch(number, leader=leader, leader_took_up=True) for number, leader in enumerate(leaders)}
    )
    brokers = (1, 2, 3)
    history.replicas = {b: Replica(b, end=37, on_disk=True) for b in brokers}
    history.coverage = whole(*brokers)
    history.role_spans = {b: [RoleSpan(b, 0, 1, Role.LEADER if b == leaders[0] else Role.FOLLOWER)] for b in brokers}
    history.facts = replace(history.facts, compared=frozenset(itertools.combinations(brokers, 2)))
    batch = (21, 21, epoch)
    history.facts = replace(
        history.facts, forks=tuple(Fork(1, other, ((21, 37),), REF, REF, batch, batch) for other in (2, 3))
    )
    return history


def test_what_no_leader_wrote_was_written_by_a_leader_that_nobody_tells_of() -> None:
    assert sorted(unwritten(forked(1))) == [2, 3]
    assert sorted(unwritten(forked(2, 3))) == [1]
    assert unwritten(forked(1, 2)) == {}, "each of them may have written its own side"
    assert unwritten(forked(1, -1, 3)) == {}, "broker 2 has it from broker 3"


def test_a_record_of_message_format_v2_names_its_leader() -> None:
    assert unwritten(forked(1, epoch=0)) == {}
    assert unwritten(forked(1, epoch=-1)) != {}, "no epoch, as with an inter-broker protocol before 0.11"


@pytest.mark.parametrize(("target", "told"), [(20, False), (21, False), (22, True)])
def test_a_leader_whose_log_was_shortened_may_have_written_both(target: int, told: bool) -> None:
    history = forked(1)
    history.role_spans[1][0].steps.append(Step(StepKind.TRUNCATED, target, 37, 37, None, None, (REF,)))
    assert bool(unwritten(history)) is told


def test_where_a_leader_may_have_written_what_is_not_at_hand_nothing_follows() -> None:
    assert unwritten(forked(1))
    unread, short, silent, earlier, between, reopened = (forked(1) for _ in range(6))
    silent.epochs[1] = Epoch(1, leader=1, leader_took_up=True)
    unread.facts = replace(unread.facts, compared=frozenset())
    short.replicas[1].end = 21
    silent.coverage = without(silent.coverage, 1, Printed.LOG)
    earlier.epochs = LeaderEpochs({3: Epoch(3, leader=1, leader_took_up=True)})
    between.epochs |= {1: Epoch(1, leader_took_up=True), 2: Epoch(2, leader=1, leader_took_up=True)}
    reopened.role_spans[1].append(RoleSpan(1, 0, 2, Role.FOLLOWER))
    for history in (unread, short, silent, earlier, between, reopened):
        assert unwritten(history) == {}


def test_logs_that_end_before_an_election_do_not_say_who_is_current(sample_traces: Path, tmp_path: Path) -> None:
    """Broker 1 led alone to the end of the lines; broker 2 was elected and wrote others just after."""
    shutil.copytree(sample_traces / "unclean-0.10.2.2", tmp_path / "evidence")
    for log in tmp_path.rglob("*.log"):
        if log.parent.name == "logs":
            lines = log.read_text().splitlines(keepends=True)
            log.write_text("".join(itertools.takewhile(lambda line: line[1:] < AFTER or line[0] != "[", lines)))
    (partition,) = scan([str(tmp_path)]).partitions
    elections = partition.judgements["unclean-election"]
    assert (elections.verdict.value, elections.findings) == ("unknown", ())
    assert "after epoch 3 (no known leader wrote what broker 2 holds at offset 42)" in wishes(elections)[0]
    (fork,) = partition.judgements["replica-divergence"].findings
    assert "current leader" not in fork.summary


def test_one_leader_of_which_no_line_tells_writes_an_offset_once() -> None:
    history = forked(1)
    history.coverage = without(history.coverage, 1, Printed.LOG)
    why = "brokers 1 and {} hold different records at 21, but only one leader is known"
    assert unwritten(history) == {1: why.format(2), 2: why.format(2), 3: why.format(3)}
