"""Logs that were found shorter: who holds what they lacked, and what a replica has again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.replay.committed.aftermath import (
    FlushedTail,
    Regained,
    aftermath,
    flushed_tails,
    unnamed_between_roles,
)
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import EpochRollback, History, Replica, Role, ShortenedBy, ShortenedLog
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from forensics.rules.leo_regression import _HOST, _HOW, _REGAINED
from tests.covering import whole

LINE = Ref(row=5)
BOTH = frozenset({1, 2})
LOG = Lineage(((0, 0),))


def history(own_end: int = 50) -> History:
    """Broker 1 leads epoch 0; broker 2 follows and is found at offset 50, after 80. Files show what both have now."""
    files = {1: Disk(lineage=LOG, end=100), 2: Disk(lineage=LOG, end=own_end)}
    found = History(PartitionFacts("orders", 0, disks=files), coverage=whole(1, 2))
    found.replicas = {
        1: Replica(1, lineage=LOG, end=100, on_disk=True),
        2: Replica(2, lineage=LOG, end=own_end, on_disk=True),
    }
    found.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, begins=Interval.at(0), lineage=LOG, leader_took_up=True, isr=[(BOTH, LINE)]),
        }
    )
    found.role_spans = {2: [RoleSpan(2, 0, 1, Role.FOLLOWER, leader=1, refs=[LINE])]}
    found.shortened_logs = [ShortenedLog(2, 0, Interval.at(80), 50, LOG, None, (LINE,))]
    return found


@pytest.mark.parametrize(
    ("own_end", "holders", "regained", "others"),
    [(50, (1,), Regained.NOT, (1,)), (79, (1,), Regained.NOT, (1,)), (80, (1, 2), Regained.FETCHED, ())],
)
def test_a_replica_has_again_what_its_files_hold(
    own_end: int, holders: tuple[int, ...], regained: Regained, others: tuple[int, ...]
) -> None:
    found = history(own_end)
    one = aftermath(found, found.shortened_logs[0])
    assert (one.holders, one.regained, one.others) == (holders, regained, others)
    assert one.whole_again is (regained is Regained.FETCHED)


def test_a_replica_that_rejoined_the_isr_has_what_was_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = history()
    monkeypatch.setattr("forensics.replay.committed.aftermath.has_committed_again", lambda history, shortened: True)
    one = aftermath(found, found.shortened_logs[0])
    assert (one.regained, one.others, one.whole_again) == (Regained.REJOINED, (), False)


LOAD = Step(StepKind.LOADED, 50, None, 80, None, None, (LINE,))
FOLLOWED = RoleSpan(2, 0, 1, Role.FOLLOWER, leader=1, refs=[LINE], steps=[LOAD])
LATER = RoleSpan(2, 3, 2, Role.FOLLOWER, leader=3, start_end=90)


@pytest.mark.parametrize(
    ("spans", "again"),
    [
        ([FOLLOWED, LATER], True),
        ([FOLLOWED], False),
        ([FOLLOWED, replace(LATER, start_end=79)], False),
        ([FOLLOWED, LATER, replace(LATER, epoch=4, start_end=60)], False),  # the last one counts
        ([FOLLOWED, replace(LATER, role=Role.LEADER)], False),  # it may have written other records
        ([replace(FOLLOWED, role=Role.LEADER), LATER], False),
        ([LATER], False),
    ],
)
def test_a_follower_whose_log_is_as_long_again(spans: list[RoleSpan], *, again: bool) -> None:
    """Whatever led in between is not known, so nobody is told to hold the records."""
    found = history()
    found.role_spans = {2: spans}
    one = aftermath(found, found.shortened_logs[0])
    assert (one.regained is Regained.AS_LONG, one.others == (), one.whole_again) == (again, again, False)


def leads(found: History) -> None:
    found.role_spans[2] = [replace(found.role_spans[2][0], role=Role.LEADER)]


def bounded(found: History) -> None:
    found.shortened_logs = [replace(found.shortened_logs[0], before=Interval(80))]


def unordered(found: History) -> None:
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]


@pytest.mark.parametrize(
    ("happens", "measured"),
    [
        ((), True),
        ((leads, bounded), True),  # no committed record can be gone
        ((leads, unordered), True),  # its log end offset is known exactly
        ((bounded, unordered), True),  # a follower
        ((leads, bounded, unordered), False),
    ],
)
def test_a_leader_may_have_committed_more_than_its_least_end(
    happens: tuple[Callable[[History], None], ...], *, measured: bool
) -> None:
    found = history()
    for one in happens:
        one(found)
    assert aftermath(found, found.shortened_logs[0]).measured is measured


@pytest.mark.parametrize(
    ("loaded", "end", "point", "removed"), [(50, 50, 80, True), (50, 90, 80, False), (50, 50, 50, False)]
)
def test_a_log_loaded_below_its_recovery_point_lost_flushed_records(
    loaded: int, end: int, point: int, *, removed: bool
) -> None:
    found = history()
    found.facts = replace(found.facts, disks={2: Disk(end=end, recovery_point=(point, LINE))})
    load = Step(StepKind.LOADED, loaded, None, loaded, None, None, (LINE,))
    found.role_spans[2][0].steps = [load]
    assert flushed_tails(found) == ([FlushedTail(2, ((50, 80),))] if removed else [])
    found.role_spans[2][0].steps = [load, replace(load, kind=StepKind.TRUNCATED)]
    assert flushed_tails(found) == [], "a line shows a removal"


def test_each_event_and_each_answer_has_words() -> None:
    assert {*_HOST} == {*_HOW} == {*ShortenedBy}
    assert {*_REGAINED} == {*Regained}


def test_epochs_between_two_roles_that_no_line_names_are_told_with_both_roles() -> None:
    found = history()
    found.coverage = whole(1, 2, unnamed=(2, 3, 7))
    assert unnamed_between_roles(found) == []
    found.role_spans[2] += [RoleSpan(2, 1, 1, Role.FOLLOWER), RoleSpan(2, 5, 2, Role.FOLLOWER)]
    found.role_spans[1] = [RoleSpan(1, -1, 0, Role.OFFLINE), RoleSpan(1, 5, 0, Role.LEADER)]  # of no known epoch before
    assert unnamed_between_roles(found) == [(2, (1, 2, 3, 5))]
