"""Replicas that a ZooKeeper controller removed from an ISR one after another, in epochs that it never sent.

A controller raises the leader epoch for each dead replica that it removes from the ISR
(ReplicaStateMachine.doRemoveReplicasFromIsr), and sends only the last of these epochs. If all replicas die at once, no
broker leads in it. The lines that it logs for each replica (TRACE, on by default up to 2.5) account for every epoch in
between, so none of them had another leader.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from forensics.replay.leader_epochs import Epoch
from parsers.details import OFFLINE_REPLICA
from parsers.schema import Kind

_STATED = ("topic", "partition", "incarnation", "broker", "run", "row", "replica", "leader", "leader_epoch")

Removals = dict[tuple[str, int, int], dict[int, frozenset[int]]]


def removals(rows: pl.DataFrame) -> Removals:
    """Return the replicas that a controller logged as offline before each leader epoch without a leader.

    They are counted since its last line about an earlier epoch, by partition and incarnation.

    Args:
        rows: observations with ``incarnation``.
    """
    gone = (pl.col("kind") == Kind.REPLICA_STATE.value) & (pl.col("detail") == OFFLINE_REPLICA)
    speak = rows.filter(gone).select("topic", "partition", "broker").unique()
    if speak.is_empty():
        return {}
    stated = rows.filter(gone | (pl.col("leader_epoch").is_not_null() & pl.col("leader").is_not_null()))
    stated = stated.join(speak, on=["topic", "partition", "broker"], how="semi").sort(*_STATED[:6])
    found: Removals = {}
    since: set[int] = set()
    last: tuple[object, ...] | None = None
    epoch = -1
    for topic, partition, incarnation, broker, run, _, replica, leader, number in stated.select(_STATED).iter_rows():
        if (topic, partition, incarnation, broker, run) != last:
            last, since, epoch = (topic, partition, incarnation, broker, run), set(), -1
        if number is None:
            since.add(replica)
        elif number > epoch:
            if leader == -1:
                of_epoch = found.setdefault((topic, partition, incarnation), {})
                # The former controller receives the epoch too, and logs no replica as offline.
                of_epoch[number] = of_epoch.get(number) or frozenset(since)
            since, epoch = set(), number
    return found


def accounted(before: Epoch, after: Epoch, removed: Mapping[int, frozenset[int]]) -> bool:
    """Return whether every epoch between two belongs to a replica removed from the ISR; the later one has no leader."""
    taken = removed.get(after.epoch, frozenset()) & (before.last_isr or frozenset())
    return after.leader == -1 and len(taken) == after.epoch - before.epoch


def unaccounted(before: Epoch, after: Epoch, removed: Mapping[int, frozenset[int]]) -> range:
    """Return the epochs between two, unless every one of them belongs to a replica removed from the ISR."""
    return range(0) if accounted(before, after, removed) else range(before.epoch + 1, after.epoch)
