"""Advice to copy logs, in the words of the system, and to look at a partition in a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forensics.case import Origin
from forensics.replay.history import History
from forensics.rules.finding import HERE, TOPIC, Action, brokers_text

_EVERY: Mapping[bool, str] = MappingProxyType(
    {
        True: f"before any broker is started again, copy the directory {HERE} of every replica to another disk",
        False: f"before anything is started again, copy the log of {HERE} of every replica to another disk",
    }
)
_OF: Mapping[bool, str] = MappingProxyType(
    {
        True: f"stop {{brokers}} and copy the directory {HERE} of each to another disk",
        False: f"stop {{brokers}} and copy the log of {HERE} to another disk",
    }
)
_FROM: Mapping[bool, str] = MappingProxyType(
    {
        True: f"copy the directory of {HERE} from each of {{brokers}} before any restart",
        False: f"copy the log of {HERE} from each of {{brokers}} before any restart",
    }
)
_BEFORE_START: Mapping[bool, str] = MappingProxyType(
    {
        True: f"before any broker is started again, copy the directory {HERE} of {{whose}} to another disk",
        False: f"before anything is started again, copy the log of {HERE} of {{whose}} to another disk",
    }
)
"""Each step for brokers of Kafka, and for another system."""

KEEP_BOTH = (
    "delete one copy to make the replicas equal: it may be the only one with records that were acknowledged to "
    "producers"
)
"""An action that would destroy one of the copies that differ."""


def copy_all(origin: Origin) -> str:
    """Return the step that copies every replica."""
    return _EVERY[origin.of_kafka]


def stop_and_copy(brokers: Sequence[int], origin: Origin) -> str:
    """Return the step that stops some brokers and copies their replicas."""
    return _OF[origin.of_kafka].format(brokers=brokers_text([*brokers]))


def copy_from(brokers: Sequence[int], origin: Origin) -> str:
    """Return the step that copies the replicas of some brokers before any restart."""
    return _FROM[origin.of_kafka].format(brokers=brokers_text([*brokers]))


def copy_before_start(brokers: Sequence[int], origin: Origin) -> str:
    """Return the step that copies the replicas of some brokers, or of all if none is named, before a start."""
    return _BEFORE_START[origin.of_kafka].format(whose=brokers_text([*brokers]) if brokers else "every replica")


def describe(history: History, check: str) -> Action:
    """Return the step that shows leader and ISR of a partition.

    Args:
        history: the partition.
        check: what to look for there, as an imperative.
    """
    old = " (before Kafka 2.2: --zookeeper HOST:2181 in place of --bootstrap-server HOST:9092)"
    return Action(
        f"{check}{'' if history.protocol.kraft else old}:",
        f"kafka-topics.sh --bootstrap-server HOST:9092 --describe --topic {TOPIC}",
    )
