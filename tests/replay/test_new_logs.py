"""Empty logs of replicas that may have had another one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.replay.committed.new_logs import (
    BegunEmpty,
    begun_empty,
    last_leader_replaced_log,
    replaced_unmeasured,
    replacements,
)
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, HwSource, HwStatement, Replica, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind, came_back
from tests.covering import whole, without

LINE = Ref(row=5)
CREATED = Step(StepKind.CREATED, 0, None, 0, None, None, (LINE,))


def history(*, isr: frozenset[int] = frozenset({1, 2})) -> History:
    """Broker 1 led epoch 0 with records; broker 2, then in the ISR, leads epoch 1 and begins it with an empty log."""
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    found.replicas = {1: Replica(1), 2: Replica(2, starts_empty=True)}
    found.epochs = LeaderEpochs({0: Epoch(0, leader=1, isr=[(isr, LINE)]), 1: Epoch(1, leader=2, leader_took_up=True)})
    found.role_spans = {
        1: [RoleSpan(1, 0, 1, Role.LEADER, leader=1, refs=[LINE], end_low=30)],
        2: [RoleSpan(2, 1, 1, Role.LEADER, leader=2, refs=[LINE], start_end=0)],
    }
    return found


def in_epoch_0(found: History) -> None:
    found.role_spans[2] = [replace(found.role_spans[2][0], epoch=0)]


def with_records(found: History) -> None:
    found.role_spans[2] = [replace(found.role_spans[2][0], start_end=30)]


def seen_before(found: History) -> None:
    found.replicas[2].starts_empty = False


def nothing_written(found: History) -> None:
    found.role_spans[1] = [replace(found.role_spans[1][0], end_low=0)]


@pytest.mark.parametrize("happens", [in_epoch_0, with_records, seen_before, nothing_written])
def test_a_log_that_begins_empty_after_others_had_records_is_found(happens: Callable[[History], None]) -> None:
    found = history()
    assert begun_empty(found) == [BegunEmpty(2, 1)]
    happens(found)
    assert begun_empty(found) == []


@pytest.mark.parametrize(
    ("role", "isr", "begun"), [(Role.LEADER, {1}, 1), (Role.FOLLOWER, {1}, 0), (Role.FOLLOWER, {1, 2}, 1)]
)
def test_a_follower_counts_if_it_was_in_the_isr(role: Role, isr: set[int], begun: int) -> None:
    found = history(isr=frozenset(isr))
    found.role_spans[2] = [replace(found.role_spans[2][0], role=role)]
    assert len(begun_empty(found)) == begun


@pytest.mark.parametrize(
    ("before", "isr", "replaced"),
    [(None, {1}, 0), (None, {1, 2}, 1), (LogBefore.DIR_FAILED, {1}, 1)],
)
def test_a_new_log_replaced_another_if_the_replica_had_a_part_before(
    before: LogBefore | None, isr: set[int], replaced: int
) -> None:
    found = history(isr=frozenset(isr))
    found.role_spans[2][0].steps = [replace(CREATED, before=before)]
    assert len(replacements(found, 2)) == replaced


@pytest.mark.parametrize(
    ("step", "open_"),
    [
        (replace(CREATED, before=LogBefore.REPLACED), [2]),
        (replace(CREATED, before=LogBefore.REPLACED, end=30), []),  # a line states how long the log before it was
        (replace(CREATED, before=LogBefore.DIR_FAILED), []),  # the failed directory says it
    ],
)
def test_how_long_a_replaced_log_was_is_open_where_no_line_states_it(step: Step, open_: list[int]) -> None:
    found = history()
    found.role_spans[2][0].steps = [step]
    assert replaced_unmeasured(found) == open_
    found.shortened_logs = [came_back(step, 2, 1, Lineage())]  # it is known to have been shortened
    assert replaced_unmeasured(found) == []


def test_a_last_leader_that_replaced_its_log_had_committed_what_is_unknown() -> None:
    found = history()
    found.epochs[1].isr = [(frozenset({2}), LINE)]
    assert last_leader_replaced_log(found) is None
    found.role_spans[2][0].steps = [CREATED]
    assert last_leader_replaced_log(found) is found.epochs[1]
    found.role_spans[2][0].steps = [replace(CREATED, end=20)]
    assert last_leader_replaced_log(found) is None, "its log end offset before is known"
    found.role_spans[2][0].steps = [CREATED]
    found.epochs[1].isr = [(frozenset({1, 2}), LINE)]
    assert last_leader_replaced_log(found) is None, "another replica has what it committed"


def test_empty_files_below_a_high_watermark_count_where_no_line_names_a_role() -> None:
    found = history()
    found.facts = replace(found.facts, disks={2: Disk(end=0)})
    found.statements = [HwStatement(1, 0, Lineage(((0, 0),)), 10, HwSource.PRINTED, None, (LINE,))]
    assert last_leader_replaced_log(found) is None
    found.coverage = without(found.coverage, 2, Printed.ROLES)
    assert last_leader_replaced_log(found) is found.epochs[1]
    found.facts = replace(found.facts, disks={2: Disk(end=5)})
    assert last_leader_replaced_log(found) is None
