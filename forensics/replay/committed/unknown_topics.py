"""Partitions of topics that the controllers no longer know, though nothing shows that they were deleted (KRaft).

No broker serves such a partition. If the metadata log lost the topic, all of its records are out of reach, and each
replica still has its copy: since 3.7 brokers keep them, in directories with names that end in ``-stray`` (KAFKA-15605).
"""

from __future__ import annotations

from forensics.replay.facts.stray_replicas import StrayReplica
from forensics.replay.history import History


def left_without_topic(history: History) -> tuple[StrayReplica, ...]:
    """Return the replicas with records whose topic the controllers no longer know, by broker."""
    last = {one.broker: one for one in history.facts.stray_replicas if one.leo}
    return tuple(one for broker, one in sorted(last.items()) if not _had_role_since(history, broker, one.row))


def without_any_replica(history: History) -> tuple[StrayReplica, ...]:
    """Return the same, if no replica is left that could serve the partition: each of two or more was found stray.

    A broker that was down when a topic was deleted finds its replica so, while the others delete theirs.
    """
    found = left_without_topic(history)
    alone = len(found) < 2 or not history.members <= {one.broker for one in found}
    return () if alone else found


def _had_role_since(history: History, broker: int, row: int) -> bool:
    """Return whether a broker had a role again after a line."""
    refs = (ref for span in history.role_spans.get(broker, ()) for ref in span.refs)
    return any(ref.row is not None and ref.row > row for ref in refs)
