"""Records that may be lost besides those of a proven loss, and without any high watermark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.replay.committed.open_losses import Unbounded, may_have_committed_unseen, more_lost
from forensics.replay.committed.proof import Loss, PossibleLoss
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import (
    EpochRollback,
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
from forensics.replay.lineage import Lineage, Range
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind
from tests.covering import LINES_MISSING, whole, without

LINE = Ref(row=5)
LOG = Lineage(((0, 0),))


def history() -> tuple[History, Loss]:
    """Broker 1 led epoch 0 and committed up to 80; broker 2 leads epoch 1 from 50 on. All lines and files are there."""
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    found.replicas = {broker: Replica(broker, end=80, on_disk=True) for broker in (1, 2)}
    found.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, begins=Interval.at(0), lineage=LOG, leader_took_up=True),
            1: Epoch(1, leader=2, begins=Interval.at(50), lineage=Lineage(((0, 0), (1, 50))), leader_took_up=True),
            2: Epoch(2, leader=1, begins=Interval.at(90), lineage=Lineage(((0, 0), (1, 50))), leader_took_up=True),
        }
    )
    statement = HwStatement(1, 0, LOG, 80, HwSource.PRINTED_BY_LEADER, None, (LINE,))
    found.answers["possible_losses"] = []
    loss = Loss(((50, 80),), found.epochs[1], (statement,), {}, LOG)
    found.answers["losses"] = [loss], []
    return found, loss


def possible(found: History, before: int, after: int, end: int | None) -> None:
    found.answers["possible_losses"] = [PossibleLoss(50, end, found.epochs[before], found.epochs[after])]


def test_of_a_loss_with_all_lines_and_files_nothing_is_open() -> None:
    found, loss = history()
    more = more_lost(found, loss)
    assert not more.any_near
    assert (more.later, more.unflushed) == (None, False)


def unordered(found: History) -> None:
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]


def contested(found: History) -> None:
    found.epochs[1].other_leaders = {3: LINE}


@pytest.mark.parametrize("happens", [unordered, contested])
def test_without_an_order_of_leaders_more_may_be_lost(happens: Callable[[History], None]) -> None:
    found, loss = history()
    possible(found, 0, 1, None)
    happens(found)
    more = more_lost(found, loss)
    assert (more.unordered, more.beyond, more.any_near) == (True, None, True)


def no_files(found: History) -> None:
    found.replicas[1].on_disk = False


def new_log(found: History) -> None:
    step = Step(StepKind.CREATED, 0, None, 0, None, None, (LINE,))
    found.role_spans = {1: [RoleSpan(1, 1, 1, Role.FOLLOWER, leader=2, refs=[LINE], steps=[step])]}


def had_more(found: History) -> None:
    found.role_spans = {1: [RoleSpan(1, 0, 1, Role.LEADER, leader=1, refs=[LINE], end_low=95)]}


@pytest.mark.parametrize("happens", [no_files, new_log, had_more])
def test_a_former_leader_may_have_committed_more(happens: Callable[[History], None]) -> None:
    found, loss = history()
    possible(found, 0, 1, None)
    assert more_lost(found, loss).beyond is None
    happens(found)
    assert more_lost(found, loss).beyond is found.epochs[0]
    possible(found, 0, 1, 80)
    assert more_lost(found, loss).beyond is None, "it is known to have ended with the lost records"


@pytest.mark.parametrize(("loaded", "why"), [(80, None), (95, Unbounded.HAD_MORE)])
def test_the_line_of_the_next_load_shows_how_long_a_log_was_whose_files_are_gone(
    loaded: int, why: Unbounded | None
) -> None:
    """The files of a topic that was deleted are gone; those of any other topic show no more of what was truncated."""
    found, loss = history()
    possible(found, 0, 1, None)
    no_files(found)
    assert more_lost(found, loss).why is Unbounded.NO_FILES
    step = Step(StepKind.LOADED, loaded, None, 80, None, None, (LINE,), before=LogBefore.UNCLEAN_STOP)
    found.role_spans = {1: [RoleSpan(1, 0, 1, Role.LEADER, leader=1, refs=[LINE], end_low=80, steps=[step])]}
    assert more_lost(found, loss).why is why
    found.coverage = without(found.coverage, 1, Printed.LOG)
    assert more_lost(found, loss).why is Unbounded.NO_FILES


def test_what_such_a_leader_truncated_later_is_named() -> None:
    found, loss = history()
    possible(found, 0, 1, None)
    no_files(found)
    reason = TruncationReason.LEADER_EPOCH
    found.truncations = [Truncation(1, 1, 2, 50, Interval.at(95), LOG, reason, None, (LINE,))]
    assert more_lost(found, loss).truncated == ((80, 95),)
    found.truncations = [replace(found.truncations[0], epoch=0)]
    assert more_lost(found, loss).truncated == ()


@pytest.mark.parametrize(
    ("unclear", "begins", "below"), [((40, 50), None, True), ((40, 50), 50, False), ((30, 40), None, False)]
)
def test_offsets_right_below_may_be_lost_if_a_start_is_unknown(
    unclear: Range, begins: int | None, *, below: bool
) -> None:
    found, loss = history()
    found.answers["losses"] = [loss], [unclear]
    found.epochs[1].begins = Interval.at(begins) if begins is not None else Interval()
    assert more_lost(found, loss).below == ((unclear,) if below else ())


def test_a_later_change_of_leader_is_separate() -> None:
    found, loss = history()
    possible(found, 1, 2, None)
    more = more_lost(found, loss)
    assert more.later is not None
    assert more.later.after is found.epochs[2]


def test_an_unclean_stop_may_have_cost_the_end_of_the_log() -> None:
    found, loss = history()
    step = Step(StepKind.LOADED, 50, None, 50, None, None, (LINE,), before=LogBefore.UNCLEAN_STOP)
    found.role_spans = {2: [RoleSpan(2, 0, 1, Role.FOLLOWER, leader=1, refs=[LINE], steps=[step])]}
    assert more_lost(found, loss).unflushed
    found.role_spans[2][0].steps = [replace(step, before=None)]
    assert not more_lost(found, loss).unflushed


def written(found: History) -> None:
    found.replicas[1].end = 1


def without_files(found: History) -> None:
    found.replicas[1].on_disk = False


def test_without_a_high_watermark_empty_logs_or_complete_lines_show_that_nothing_was_committed() -> None:
    found = History(PartitionFacts("orders", 0), coverage=whole(1))
    assert may_have_committed_unseen(found)
    found.replicas = {1: Replica(1, end=0, on_disk=True, directory="data/orders-0")}
    assert not may_have_committed_unseen(found), "its log is empty"
    for happens in (written, without_files):
        found.replicas = {1: Replica(1, end=0, on_disk=True, directory="data/orders-0")}
        happens(found)
        assert may_have_committed_unseen(found)
        found.replicas[1].starts_empty = True
        assert not may_have_committed_unseen(found), "its lines are complete since its log was created"
    complete = found.coverage
    for lacking in (LINES_MISSING, *(replace(LINES_MISSING, span=span) for span in (Span.BEFORE, Span.AFTER))):
        found.coverage = complete.lowered([lacking.of(1, ref=Ref(row=1))])
        assert may_have_committed_unseen(found), lacking.span
