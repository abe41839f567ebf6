"""Leader epochs of which lines name several leaders: one partition with two leaders, or two topics of one name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from forensics.case import Origin
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch

_ONE_TOPIC = 24 * 3_600_000_000
"""Microseconds. Two leaders that began the same epoch further apart are more likely of two topics of one name."""


class Contest(StrEnum):
    """The answer to whether an epoch had the several leaders that lines name."""

    PROVEN = "it had them"
    SUSPECTED = "it may have had them: each logged that it led, within a day, or a node of ZooKeeper names each"
    UNDECIDED = "lines are missing that would show whether the topic was deleted and created again"
    TWO_TOPICS = "the topic was deleted and created again, and lines do not show which of the two they are about"


@dataclass(frozen=True, slots=True)
class ContestedEpoch:
    """A leader epoch of which lines name several leaders.

    Attributes:
        epoch: the epoch.
        leaders: the leaders, first the one by which the epoch is known.
        contest: whether it had all of them.
        partly_seen: replicas of which lines are missing.
    """

    epoch: Epoch
    leaders: tuple[int, ...]
    contest: Contest
    partly_seen: tuple[int, ...]


def contested_epochs(history: History) -> list[ContestedEpoch]:
    """Return the leader epochs with several leaders, in order."""
    return [
        _contested(history, epoch, (epoch.leader, *sorted(epoch.other_leaders)))
        for epoch in history.epochs.values()
        if epoch.other_leaders and epoch.leader is not None
    ]


def _contested(history: History, epoch: Epoch, leaders: tuple[int, ...]) -> ContestedEpoch:
    partly = tuple(broker for broker in sorted(history.members) if not history.coverage.whole(broker))
    return ContestedEpoch(epoch, leaders, _contest(history, epoch, leaders, partly), partly)


def _contest(history: History, epoch: Epoch, leaders: tuple[int, ...], partly: tuple[int, ...]) -> Contest:
    if epoch.led_by_node >= {*leaders}:
        return Contest.SUSPECTED  # saved nodes name no cluster, and these do not agree with each other
    # A line of a trace names its cluster. Of the lines that a broker logged, nothing shows that they are of one process
    # and of one cluster if some are missing.
    in_doubt = {*partly} if history.origin is Origin.FILES else set[int]()
    if partly and epoch.two_by_one <= in_doubt and not _of_one_id(history, epoch.epoch, leaders):
        return Contest.SUSPECTED if _all_led_soon(history, epoch, leaders) else Contest.UNDECIDED
    return Contest.TWO_TOPICS if history.facts.lives > 1 and history.topic_id is None else Contest.PROVEN


def _of_one_id(history: History, number: int, leaders: tuple[int, ...]) -> bool:
    """Return whether the leaders of an epoch all logged that they led, with the same topic id."""
    ids = {
        leader: {topic_id for at, broker, topic_id in history.facts.leaders_with_id if (at, broker) == (number, leader)}
        for leader in leaders
    }
    return all(ids.values()) and len(set().union(*ids.values())) == 1


def _all_led_soon(history: History, epoch: Epoch, leaders: tuple[int, ...]) -> bool:
    """Return whether each leader of an epoch logged that it led, within a day, and only one topic is known."""
    began = {
        span.replica: span.time
        for broker in leaders
        for span in history.role_spans.get(broker, ())
        if span.role is Role.LEADER and span.epoch == epoch.epoch and span.time is not None
    }
    if set(began) != set(leaders) or history.facts.lives > 1:
        return False
    return max(began.values()) - min(began.values()) <= _ONE_TOPIC
