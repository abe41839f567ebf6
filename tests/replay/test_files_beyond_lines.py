"""Where a replica's lines begin too late or end too early, as files and other brokers tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.committed.proof import committed_at_most
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Damage, Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Replica, Role
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.omissions.files import begin_late, end_early, end_early_by_records
from forensics.replay.roles.log_ends import log_end
from forensics.replay.roles.steps import LogBefore, RoleSpan, Sample, Step, StepKind
from parsers.schema import DamageKind
from tests.covering import whole, without

REF = Ref(row=1)


def uncovered(found: History, logs: dict[int, Lineage]) -> dict[int, str]:
    """Replicas whose lines end too early, and what shows it."""
    return {one.replica: one.text for one in (*end_early(found), *end_early_by_records(found, logs))}


def unbegun(found: History) -> dict[int, str]:
    """Replicas whose lines begin too late, and what shows it."""
    return {one.replica: one.text for one in begin_late(found)}


def step(kind: StepKind, target: int, *, end: int | None = None, before: LogBefore | None = None) -> Step:
    return Step(kind, target, end, end or 0, None, None, (REF,), before)


def history(*spans: RoleSpan, end: int | None = None, starts_empty: bool = False, leader: int = 1) -> History:
    """Broker 1 with these role spans; it led the epochs in which it was leader, others were led by broker 2."""
    found = History(PartitionFacts("orders", 0))
    found.role_spans = {1: list(spans)}
    found.replicas = {1: Replica(1, end=end, starts_empty=starts_empty)}
    found.coverage = whole(1)
    found.facts = replace(found.facts, disks={1: Disk(end=end)})
    found.epochs = LeaderEpochs(
        {
            t.epoch: Epoch(
                t.epoch,
                leader=leader,
                leader_took_up=True,
                begins=Interval() if t.start_end is None else Interval.at(t.start_end),
            )
            for t in spans
        }
    )
    return found


def led(epoch: int, *steps: Step, run: int = 1, start: int | None = 0) -> RoleSpan:
    return RoleSpan(1, epoch, run, Role.LEADER, 1, start_end=start, steps=list(steps))


def followed(epoch: int, *steps: Step, run: int = 1, start: int | None = None, hw: int | None = None) -> RoleSpan:
    kept = None if hw is None else Sample(hw, REF, None)
    return RoleSpan(1, epoch, run, Role.FOLLOWER, 2, start_end=start, start_hw=kept, steps=list(steps))


@pytest.mark.parametrize(
    ("steps", "end", "told"),
    [
        ([step(StepKind.LOADED, 5)], 0, True),
        ([step(StepKind.LOADED, 5)], 5, False),
        ([step(StepKind.LOADED, 5)], 9, True),  # in a role of that process, of which no line tells
        (
            [step(StepKind.LOADED, 5, before=LogBefore.UNCLEAN_STOP)],
            0,
            False,
        ),  # what it found was not flushed, and a crash may take it
        ([step(StepKind.LOADED, 5), step(StepKind.TRUNCATED, 0)], 0, False),
        ([step(StepKind.LOADED, 5), step(StepKind.DELETED, 0)], 0, False),
    ],
)
def test_files_that_end_below_what_was_loaded(steps: list[Step], end: int, told: bool) -> None:
    assert (1 in uncovered(history(followed(1, *steps), end=end), {})) is told


def test_a_torn_segment_is_no_removal() -> None:
    found = history(followed(1, step(StepKind.LOADED, 5)), end=0)
    assert uncovered(found, {}) != {}
    found.facts = replace(found.facts, disks={1: Disk(end=0, damage=(Damage(DamageKind.TORN_TAIL, "torn", REF),))})
    assert uncovered(found, {}) == {}


def test_lines_that_begin_after_others_tell_of_a_replica() -> None:
    before = {1: "its lines begin in leader epoch 3, but its log existed before"}
    assert unbegun(history(followed(0), followed(3))) == {}
    assert unbegun(history(followed(3))) == before
    for leader, isr, why in (
        (2, [], "its log existed before"),
        (2, [1, 2], "it was in the ISR in epoch 0"),
        (1, [1, 2], "it led in epoch 0"),
    ):
        found = history(followed(3))
        found.epochs[0] = Epoch(0, leader=leader, leader_took_up=True)
        found.epochs[0].isr += [(frozenset(isr), REF)] if isr else []
        assert unbegun(found) == {1: f"its lines begin in leader epoch 3, but {why}"}
    found.replicas[1].starts_empty = True
    assert unbegun(found) != {}, "the log made in epoch 3 is not its first"
    found.epochs = LeaderEpochs({number: epoch for number, epoch in found.epochs.items() if number})
    assert unbegun(found) == {}, "its log was made in epoch 3"


@pytest.mark.parametrize(
    ("later", "most"),
    [
        ([followed(1, start=7)], 7),
        ([followed(1, start=None), followed(2, start=7)], 7),
        ([followed(1, step(StepKind.LOADED, 4))], 4),
        ([followed(1, step(StepKind.LOADED, 4, before=LogBefore.UNCLEAN_STOP))], None),
        ([followed(1, step(StepKind.TRUNCATED, 4))], None),
        ([followed(1, step(StepKind.TRUNCATED, 4, end=6))], 6),
        ([followed(1, run=2, start=7)], None),  # no line tells what the new process loaded
        ([], 12),
    ],
)
def test_the_next_known_end_bounds_a_log(later: list[RoleSpan], most: int | None) -> None:
    assert log_end(history(led(0), *later, end=12), 1, 0).high == most


@pytest.mark.parametrize(
    ("later", "exact"),
    [
        ([followed(1, start=7)], 7),
        ([followed(1, start=None), followed(2, start=7)], None),  # it may have grown in epoch 1
        ([followed(1, step(StepKind.LOADED, 4))], None),
        ([], 12),
    ],
)
def test_an_end_is_exact_if_the_log_cannot_have_grown_since(later: list[RoleSpan], exact: int | None) -> None:
    assert log_end(history(led(0), *later, end=12), 1, 0).exact == exact


def test_a_log_that_is_not_told_of_is_not_bounded() -> None:
    found = history(led(0), end=12)
    found.coverage = without(found.coverage, 1, Printed.ROLES)
    assert log_end(found, 1, 0).high is None
    assert log_end(found, 2, 0).high is None


@pytest.mark.parametrize(
    ("now", "after", "most"),
    [
        (led(0), followed(1, hw=5), 5),
        (led(0, start=8), followed(1, hw=5), 8),  # older records were committed in other epochs
        (led(0, start=None), followed(1, hw=5), None),
        (led(0), followed(1), None),
        (led(0), followed(1, hw=5, run=2), None),
        (led(0, step(StepKind.LOADED, 5)), followed(1, hw=5), None),
        (followed(0, start=0), followed(1, hw=5), None),  # a follower's is behind
    ],
)
def test_a_leader_takes_its_high_watermark_into_its_next_role(now: RoleSpan, after: RoleSpan, most: int | None) -> None:
    found = history(now, after)
    assert committed_at_most(found, found.epochs[0]) == most
