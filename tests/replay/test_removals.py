"""Committed records that truncations removed, and what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.replay.committed.lost_by import LostBy
from forensics.replay.committed.vanished_tails import GoneUnseen, gone_unseen
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import (
    EpochRollback,
    History,
    HwSource,
    HwStatement,
    OwnHw,
    Replica,
    ShortenedLog,
    Truncation,
    TruncationReason,
)
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage, Range
from forensics.replay.truncations.removals import (
    SETTLED,
    Fate,
    beyond_committed,
    open_truncation,
    outcome,
    removals,
)
from forensics.rules.truncation_below_committed import OUTCOMES
from tests.covering import whole

LINE = Ref(row=5)
OLD, NEW = Lineage(((0, 0),)), Lineage(((0, 0), (1, 100)))
BOTH = frozenset({1, 2})


def history(high_watermark: int = 80) -> History:
    """Broker 1 led epoch 0 up to a high watermark; broker 2, which has all of it, leads epoch 1 from offset 100 on.

    Broker 1 follows it and truncates from 100 to 50.
    """
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    found.replicas = {broker: Replica(broker, lineage=NEW, end=120) for broker in (1, 2)}
    found.epochs = LeaderEpochs(
        {
            0: Epoch(0, leader=1, begins=Interval.at(0), lineage=OLD, leader_took_up=True, isr=[(BOTH, LINE)]),
            1: Epoch(1, leader=2, begins=Interval.at(100), lineage=NEW, leader_took_up=True, isr=[(BOTH, LINE)]),
        }
    )
    found.statements = [HwStatement(1, 0, OLD, high_watermark, HwSource.PRINTED_BY_LEADER, None, (Ref(row=1),))]
    reason = TruncationReason.LEADER_EPOCH
    found.truncations = [Truncation(1, 1, 2, 50, Interval.at(100), OLD, reason, None, (LINE,))]
    return found


def test_what_is_below_a_high_watermark_was_committed() -> None:
    (removed,) = removals(history())
    assert (removed.ranges, removed.decided, removed.read_back_alone) == (((50, 80),), True, False)
    (nothing,) = removals(history(high_watermark=50))
    assert (nothing.ranges, nothing.decided) == ((), False)


@pytest.mark.parametrize(("epoch", "beyond"), [(1, ((80, 100),)), (0, ((50, 100),)), (-1, ((50, 100),))])
def test_the_rest_is_not_known_to_be_committed_in_an_earlier_epoch(epoch: int, beyond: tuple[Range, ...]) -> None:
    found = history()
    assert beyond_committed(found, replace(found.truncations[0], epoch=epoch)) == beyond


@pytest.mark.parametrize(("restored", "first"), [(False, 50), (True, 60)])
def test_what_a_replica_stated_itself_counts_for_records_of_its_own(*, restored: bool, first: int) -> None:
    found = history(high_watermark=0)
    found.facts = replace(found.facts, topic_id="aaaaaaaaaaaaaaaaaaaaaa")
    own = OwnHw(first, 80, Ref(row=4), None, restored=restored)
    found.truncations = [replace(found.truncations[0], own_hw=own)]
    (removed,) = removals(found)
    assert (removed.ranges, removed.read_back_alone) == (((first, 80),), restored)
    found.facts = replace(found.facts, topic_id=None)
    (removed,) = removals(found)
    assert bool(removed.ranges) is not restored, "without a topic id it may be of another topic"


def settled(found: History) -> None:
    """No other record may have been lost: the leader has all that was committed."""
    found.answers["possible_losses"] = []


def lost(found: History) -> None:
    found.epochs[1].begins, found.epochs[1].lineage = Interval.at(50), Lineage(((0, 0), (1, 50)))


def there_again(found: History) -> None:
    found.replicas = {b: Replica(b, lineage=NEW, end=120, on_disk=True) for b in (1, 2)}
    found.facts = replace(found.facts, disks={b: Disk(lineage=NEW, end=120) for b in (1, 2)})


def leader_without_older(found: History) -> None:
    """The offset at which the leader began is unknown, and what its log held below."""
    found.epochs[1].begins, found.epochs[1].lineage = Interval(), Lineage()
    found.replicas = {1: Replica(1), 2: Replica(2)}


def without_older_settled(found: History) -> None:
    """Lines show that the leader began behind the records, and not what its log held below."""
    leader_without_older(found)
    settled(found)
    found.epochs[1].begins = Interval.at(100)


def epochs_back(found: History) -> None:
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]


@pytest.mark.parametrize(
    ("happens", "fate", "why"),
    [
        (lost, Fate.LOST, LostBy.UNKNOWN),
        (there_again, Fate.THERE_AGAIN, LostBy.UNKNOWN),
        (settled, Fate.FETCHED_AGAIN, LostBy.UNKNOWN),
        (without_older_settled, Fate.KEPT, LostBy.UNKNOWN),
        (epochs_back, Fate.LEADER_HAD_THEN, LostBy.UNKNOWN),
        (leader_without_older, Fate.UNKNOWN, LostBy.UNKNOWN),
    ],
)
def test_what_became_of_the_records(happens: Callable[[History], None], fate: Fate, why: LostBy) -> None:
    found = history()
    happens(found)
    (removed,) = removals(found)
    became = outcome(found, removed)
    assert (became.fate, became.why) == (fate, why)
    assert (became.lost, became.loss is not None) == ((((50, 80),), True) if fate is Fate.LOST else ((), False))


def test_a_truncation_to_the_own_high_watermark_is_its_own_reason() -> None:
    found = history()
    found.truncations = [replace(found.truncations[0], reason=TruncationReason.HIGH_WATERMARK)]
    (removed,) = removals(found)
    assert outcome(found, removed).why is LostBy.HW_TRUNCATION


def test_each_fate_has_words() -> None:
    assert {*OUTCOMES} == {*Fate}
    assert {*Fate} > SETTLED
    assert {fate for fate, words in OUTCOMES.items() if "unknown" in words or "lost" in words} == {*Fate} - SETTLED


def unnamed(found: History) -> None:
    del found.epochs[1]


def no_leader_before(found: History) -> None:
    found.epochs[0].leader = found.epochs[1].leader = None
    epochs_back(found)


@pytest.mark.parametrize(("happens", "leader"), [(epochs_back, 1), (unnamed, None), (no_leader_before, None)])
def test_a_truncation_is_open_if_the_leader_it_followed_may_have_lacked_records(
    happens: Callable[[History], None], leader: int | None
) -> None:
    found = history()
    found.answers["possible_losses"] = []
    found.epochs[1].lineage = Lineage(((0, 0), (1, 50)))
    found.epochs[1].begins = Interval.at(50)
    truncation = found.truncations[0]
    assert open_truncation(found, truncation) is None, "it had all committed records, and did not have these"
    happens(found)
    opened = open_truncation(found, truncation)
    assert opened is not None
    assert (opened.truncation, opened.before.leader if opened.before is not None else None) == (truncation, leader)


def test_lost_records_of_a_replica_without_files_may_have_been_truncated_unseen() -> None:
    found = history()
    lost(found)
    found.truncations = []
    found.replicas = {1: Replica(1), 2: Replica(2, lineage=Lineage(((0, 0), (1, 50))), end=70)}
    assert gone_unseen(found) == [GoneUnseen(1, ((50, 80),))]
    found.replicas[1].lineage = NEW  # it has records of the leader that lacked them
    assert gone_unseen(found) == []
    found.replicas[1].lineage = OLD
    assert gone_unseen(found) == [GoneUnseen(1, ((50, 80),))]
    found.shortened_logs = [ShortenedLog(1, 0, Interval.at(100), 50, OLD, None, (LINE,))]
    found.answers.clear()
    assert gone_unseen(found) == []
