"""Advice to copy logs, in the words of the system, and to look at a partition in a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forensics.case import Case, Origin
from forensics.replay.history import History
from forensics.rules.commands import Tool, filled, form_for, step
from forensics.rules.finding import HERE, NUMBER, TOPIC, Action, brokers_text

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


def describe(history: History, case: Case, check: str) -> Action:
    """Return the step that shows leader and ISR of a partition.

    Args:
        history: the partition.
        case: the case.
        check: what to look for there, as an imperative.
    """
    return step(check, form_for(Tool.DESCRIBE, history, case), case, topic=TOPIC)


def look_for_others(before: str) -> str:
    """Return the step that looks for a copy outside the cluster, and what it costs to use one.

    Args:
        before: until when, as the end of a clause; "" for no matter when.
    """
    return (
        f"look for another copy of {HERE}{before}: a backup, a disk snapshot, a mirrored cluster or tiered storage. "
        "Its records can be written again. They get new offsets then, and consumers read them late"
    )


def elect_unclean(history: History, case: Case, text: str) -> tuple[Action, ...]:
    """Return the steps that let a replica from outside the ISR lead, with the commands of the cluster's release.

    Args:
        history: the partition.
        case: the case.
        text: what is done and what it costs, as an imperative.
    """
    found = form_for(Tool.ELECT_UNCLEAN, history, case)
    elect, form = step(text, found, case, topic=TOPIC, partition=NUMBER), found[0]
    if form is None or not form.undo:
        return (elect,)
    undo = filled(form.undo, case, topic=TOPIC, partition=NUMBER)
    return (elect, Action("take this setting back once it leads:", undo))
