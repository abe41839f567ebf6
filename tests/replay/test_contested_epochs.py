"""Leader epochs of which lines name two leaders: proven, suspected, or of two topics of one name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from forensics.case import Origin
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.leadership.contested_epochs import Contest, contested_epochs
from forensics.replay.roles.steps import RoleSpan
from forensics.rules.two_leaders_one_epoch import _FINDINGS, _WANTS
from tests.covering import whole

LINE = Ref(row=5)
DAY = 24 * 3_600_000_000
ID = "aaaaaaaaaaaaaaaaaaaaaa"


def history(*seen: int) -> History:
    """Brokers 2 and 1 both led epoch 3, within a day; all lines of the ``seen`` ones are in the evidence."""
    found = History(PartitionFacts("orders", 0), coverage=whole(*seen))
    found.epochs = LeaderEpochs({3: Epoch(3, leader=2, other_leaders={1: LINE}), 4: Epoch(4, leader=1)})
    found.role_spans = {
        broker: [RoleSpan(broker, 3, 1, Role.LEADER, leader=broker, refs=[LINE], time=time)]
        for broker, time in ((1, DAY), (2, 2 * DAY))
    }
    return found


def nothing(found: History) -> None:
    """The evidence stays as ``history`` describes it."""


def two_topics(found: History) -> None:
    found.facts = replace(found.facts, lives=2)


def two_topics_with_id(found: History) -> None:
    found.facts = replace(found.facts, lives=2, topic_id=ID)


def one_id(found: History) -> None:
    found.facts = replace(found.facts, leaders_with_id=frozenset({(3, 1, ID), (3, 2, ID)}))


def two_ids(found: History) -> None:
    found.facts = replace(found.facts, leaders_with_id=frozenset({(3, 1, ID), (3, 2, "b" * 22)}))


def by_one_process(found: History) -> None:
    found.epochs[3].two_by_one = {1}


def by_one_with_missing_lines(found: History) -> None:
    found.epochs[3].two_by_one = {2}


def by_one_in_a_trace(found: History) -> None:
    """A trace that contradicts itself claims nothing, so that lines of each broker may be missing."""
    found.epochs[3].two_by_one = {2}
    found.facts = replace(found.facts, origin=Origin.TRACE)


def later_than_a_day(found: History) -> None:
    found.role_spans[2][0].time = 2 * DAY + 1


def followed(found: History) -> None:
    found.role_spans[2][0].role = Role.FOLLOWER


@pytest.mark.parametrize(
    ("seen", "happens", "contest"),
    [
        ((1, 2), nothing, Contest.PROVEN),
        ((1, 2), two_topics, Contest.TWO_TOPICS),
        ((1, 2), two_topics_with_id, Contest.PROVEN),
        ((1,), nothing, Contest.SUSPECTED),
        ((1,), one_id, Contest.PROVEN),
        ((1,), two_ids, Contest.SUSPECTED),
        ((1,), by_one_process, Contest.PROVEN),
        ((1,), by_one_with_missing_lines, Contest.SUSPECTED),
        ((1,), by_one_in_a_trace, Contest.PROVEN),
        ((1,), later_than_a_day, Contest.UNDECIDED),
        ((1,), followed, Contest.UNDECIDED),
        ((1,), two_topics, Contest.UNDECIDED),
    ],
)
def test_two_leaders_are_proven_if_lines_are_complete_or_name_one_topic_id(
    seen: tuple[int, ...], happens: Callable[[History], None], contest: Contest
) -> None:
    found = history(*seen)
    happens(found)
    (one,) = contested_epochs(found)
    assert (one.epoch.epoch, one.leaders, one.contest) == (3, (2, 1), contest)
    assert one.partly_seen == tuple(broker for broker in (1, 2) if broker not in seen)


def test_each_answer_is_found_or_asked_for() -> None:
    assert {*_FINDINGS} | {*_WANTS} == {*Contest}
    assert {*_FINDINGS} & {*_WANTS} == {Contest.SUSPECTED}
