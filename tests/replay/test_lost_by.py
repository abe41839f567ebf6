"""Why a leader lacked records: the first reason of an ordered table that the evidence shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.replay.committed.lost_by import REASONS, Lack, LostBy, Why, ended_by, lost_by
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import (
    EpochRollback,
    History,
    HwAboveIsrMember,
    Role,
    ShortenedBy,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.partition_protocol import PartitionProtocol, TruncatesTo
from forensics.replay.quorum.voting import Quorum
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind
from forensics.rules.causes import CauseId
from forensics.rules.story import CAUSE_OF
from tests.covering import whole

LINE = Ref(row=5)
BOTH = frozenset({1, 2})
OFFSET, WRITTEN, LAST = 10, 1, 3


def history() -> History:
    """Broker 2 leads epochs 0 and 3, broker 1 those between; broker 2 lacks offset 10, which is of epoch 1."""
    found = History(PartitionFacts("orders", 0), PartitionProtocol(TruncatesTo.HIGH_WATERMARK), coverage=whole(1, 2))
    found.epochs = LeaderEpochs(
        {
            number: Epoch(number, leader=leader, begins=Interval.at(OFFSET), leader_took_up=True, isr=[(BOTH, LINE)])
            for number, leader in {0: 2, 1: 1, 2: 1, LAST: 2}.items()
        }
    )
    return found


def truncation(reason: TruncationReason, epoch: int = 2) -> Truncation:
    return Truncation(2, epoch, 1, OFFSET, Interval.at(20), Lineage(((0, 0), (WRITTEN, 5))), reason, None, (LINE,))


def shorter(found: History) -> None:
    log = Lineage(((0, 0), (WRITTEN, 5)))
    found.shortened_logs = [
        ShortenedLog(2, WRITTEN, Interval.at(20), OFFSET, log, None, (LINE,), cause=ShortenedBy.UNCLEAN_RESTART)
    ]


def truncated(found: History) -> None:
    found.truncations = [truncation(TruncationReason.HIGH_WATERMARK)]


def outside(found: History) -> None:
    found.epochs[LAST].unclean = [LINE]
    found.epochs[LAST].isr = [(frozenset({2}), LINE)]


def kept_tail(found: History) -> None:
    fork = Fork(1, 2, ((OFFSET, 20),), LINE, LINE, (OFFSET, 19, None), (OFFSET, 19, None))
    found.facts = replace(found.facts, forks=(fork,))
    found.role_spans[2] = [RoleSpan(2, WRITTEN, 1, Role.FOLLOWER, leader=1, refs=[LINE], start_end=20)]


def lagged(found: History) -> None:
    found.members_behind = [HwAboveIsrMember(1, 2, 2, 15, OFFSET, None, (LINE,))]


def went_back(found: History) -> None:
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]


def voters_lost(found: History) -> None:
    found.quorum = Quorum(frozenset({1, 2, 3}), shortened=frozenset({(1, 1)}))


STORIES: tuple[tuple[str, Callable[[History], None], Why], ...] = (
    ("_voters_lost", voters_lost, LostBy.VOTERS),
    ("_found_shorter", shorter, ShortenedBy.UNCLEAN_RESTART),
    ("_truncated", truncated, LostBy.HW_TRUNCATION),
    ("_elected_from_outside", outside, LostBy.UNCLEAN_ELECTION),
    ("_kept_own_tail", kept_tail, LostBy.HW_TRUNCATION),
    ("_lagged", lagged, LostBy.LAGGING_ISR_MEMBER),
    ("_epochs_put_back", went_back, LostBy.EPOCHS_PUT_BACK),
)
"""For each reason, in the order of the table: its name, what happened, and the answer."""


def test_each_reason_has_a_story_in_the_order_of_the_table() -> None:
    assert [name for name, _, _ in STORIES] == [reason.__name__ for reason in REASONS]


@pytest.mark.parametrize(("name", "happens", "why"), STORIES, ids=[name for name, _, _ in STORIES])
def test_a_reason_alone_gives_the_answer(name: str, happens: Callable[[History], None], why: Why) -> None:
    quiet, told = history(), history()
    happens(told)
    assert lost_by(quiet, quiet.epochs[LAST], OFFSET, WRITTEN) is LostBy.UNKNOWN
    lack = Lack(told.epochs[LAST], OFFSET, WRITTEN)
    assert {reason.__name__: answer for reason in REASONS if (answer := reason(told, lack)) is not None} == {name: why}
    assert lost_by(told, told.epochs[LAST], OFFSET, WRITTEN) is why


@pytest.mark.parametrize("place", range(len(STORIES) - 1))
def test_the_earlier_reason_counts(place: int) -> None:
    told = history()
    for _, happens, _ in STORIES[place:]:
        happens(told)
    assert lost_by(told, told.epochs[LAST], OFFSET, WRITTEN) is STORIES[place][2]


def test_a_replica_that_followed_one_without_the_record_lacks_it_for_the_same_reason() -> None:
    """Broker 3 leads epoch 2 without the record: it was elected from outside the ISR."""
    told = history()
    told.epochs[2] = Epoch(
        2, leader=3, begins=Interval.at(OFFSET), leader_took_up=True, isr=[(frozenset({3}), LINE)], unclean=[LINE]
    )
    told.truncations = [truncation(TruncationReason.LEADER_EPOCH)]
    assert lost_by(told, told.epochs[LAST], OFFSET, WRITTEN) is LostBy.UNCLEAN_ELECTION
    told.truncations = [replace(told.truncations[0], target=OFFSET + 1)]
    assert lost_by(told, told.epochs[LAST], OFFSET, WRITTEN) is LostBy.UNKNOWN


CREATED = Step(StepKind.CREATED, 0, None, 0, None, None, (LINE,), before=LogBefore.REPLACED)


@pytest.mark.parametrize(
    ("steps", "point", "end", "why"),
    [
        ([], None, 10, ShortenedBy.UNCLEAN_RESTART),
        ([], 10, 10, ShortenedBy.UNCLEAN_RESTART),
        ([], 11, 10, ShortenedBy.CLEAN_RESTART),  # what was flushed is gone too: another log replaced it
        ([CREATED], 11, 0, ShortenedBy.NEW_LOG),
        ([CREATED], 11, 10, LostBy.UNKNOWN),  # it has grown since
        ([CREATED, replace(CREATED, kind=StepKind.LOADED)], 11, 0, ShortenedBy.CLEAN_RESTART),
        ([replace(CREATED, before=None)], None, 0, ShortenedBy.UNCLEAN_RESTART),  # the first log of a new replica
    ],
)
def test_a_log_that_ends_early_on_disk_was_replaced_or_not_flushed(
    steps: list[Step], point: int | None, end: int, why: Why
) -> None:
    found = History(PartitionFacts("orders", 0, disks={2: Disk(recovery_point=(point, LINE) if point else None)}))
    found.role_spans = {2: [RoleSpan(2, 0, 1, Role.FOLLOWER, leader=1, refs=[LINE], steps=steps)]}
    assert ended_by(found, 2, end) is why


def test_each_reason_has_a_cause() -> None:
    whys = [*ShortenedBy, *LostBy]
    assert [*CAUSE_OF] == whys
    assert len({why.value for why in whys}) == len(whys), "equal texts would be one key"
    assert CAUSE_OF[LostBy.UNKNOWN] is CauseId.UNKNOWN
