"""Replicas that a ZooKeeper controller took out of an ISR one after another, in epochs that it sent to nobody.

A controller raises the leader epoch for each dead replica that it takes out of the ISR
(ReplicaStateMachine.doRemoveReplicasFromIsr), and sends the last of these epochs alone. Where all replicas die at once
nobody leads in it. What it prints of each replica (TRACE, stock to 2.5) accounts for every epoch in between, and so for
no other leader in any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from forensics.replay.history import Epoch
from parsers.details import OFFLINE_REPLICA
from parsers.schema import Kind

_SAID = ("topic", "partition", "incarnation", "broker", "run", "row", "replica", "leader", "leader_epoch")

Removals = dict[tuple[str, int, int], dict[int, frozenset[int]]]


def removals(rows: pl.DataFrame) -> Removals:
    """By partition and life, for each leader epoch without a leader: the replicas that its controller said to be gone
    since it last spoke of an earlier epoch.

    Args:
        rows: observations with ``incarnation``.
    """
    gone = (pl.col("kind") == Kind.REPLICA_STATE.value) & (pl.col("detail") == OFFLINE_REPLICA)
    speak = rows.filter(gone).select("topic", "partition", "broker").unique()
    said = rows.filter(gone | (pl.col("leader_epoch").is_not_null() & pl.col("leader").is_not_null()))
    said = said.join(speak, on=["topic", "partition", "broker"], how="semi").sort(*_SAID[:6])
    found: Removals = {}
    since: set[int] = set()
    last: tuple[object, ...] | None = None
    epoch = -1
    for topic, partition, incarnation, broker, run, _, replica, leader, number in said.select(_SAID).iter_rows():
        if (topic, partition, incarnation, broker, run) != last:
            last, since, epoch = (topic, partition, incarnation, broker, run), set(), -1
        if number is None:
            since.add(replica)
        elif number > epoch:
            if leader == -1:
                of_epoch = found.setdefault((topic, partition, incarnation), {})
                # Who was the controller before hears of the epoch too, and says of nobody that he is gone.
                of_epoch[number] = of_epoch.get(number) or frozenset(since)
            since, epoch = set(), number
    return found


def accounted(before: Epoch, after: Epoch, removed: Mapping[int, frozenset[int]]) -> bool:
    """Whether each epoch from one to a later one without a leader is that of a replica taken out of the ISR."""
    taken = removed.get(after.epoch, frozenset()) & (before.last_isr or frozenset())
    return after.leader == -1 and len(taken) == after.epoch - before.epoch
