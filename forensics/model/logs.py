"""Changes of a replica's log besides appending: an epoch begins, the end is truncated, epochs are rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.model.state import NO_EPOCH, NO_OFFSET, EpochCache, Replica

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster


def assign_epoch(cluster: Cluster, replica: Replica, epoch: int, start: int) -> None:
    """Notes the start of an epoch in the replica's cache, which is written to its checkpoint at once."""
    before = replica.epochs.entries[-1] if replica.epochs.entries else (NO_EPOCH, NO_OFFSET)
    size = len(replica.epochs.entries)
    dropped = replica.epochs.assign(epoch, start, replaces=cluster.protocol.cache_drops_contradicted)
    if dropped is None:
        return
    replica.disk.write("epochs", list(replica.epochs.entries))
    if cluster.trace.on:
        cluster.emit(
            "epoch_assigned",
            replica.broker,
            epoch=epoch,
            start=start,
            before=before,
            size_before=size,
            size=len(replica.epochs.entries),
            dropped=dropped,
        )


def cut(cluster: Cluster, replica: Replica, to: int, why: str) -> None:
    """Truncates a replica's log to ``to``, with its epoch cache and, from 2.4, its HW."""
    log, end, hw = replica.log, replica.log.end, replica.hw
    if to >= end:
        # from 2.8 the cache is truncated even then: a leader's entry without records may contradict the new leader's
        dropped = replica.epochs.cut(end) if cluster.protocol.kafka >= "2.8" else []
        if dropped:
            replica.disk.write("epochs", list(replica.epochs.entries))
        cluster.emit("cut_nothing", replica.broker, to=to, end=end, hw=hw, why=why, dropped=dropped)
        return
    removed = log.truncate(to)
    cluster.witness.truncated(cluster.now, replica.broker, to, end, removed)
    dropped = replica.epochs.cut(to)
    if dropped:
        replica.disk.write("epochs", list(replica.epochs.entries))
    if not cluster.protocol.hw_survives_truncation:
        replica.hw = min(replica.hw, to)
    # every truncation writes that checkpoint
    replica.disk.write("recovery_point", min(replica.disk.recovery_point or 0, to))
    cluster.emit(
        "cut",
        replica.broker,
        to=to,
        end=end,
        hw_before=hw,
        hw=replica.hw,
        why=why,
        dropped=dropped,
        left=len(replica.epochs.entries),
    )


def recover_epochs(replica: Replica, *, epochs: bool) -> EpochCache:
    """Return the cache after an unclean load: rebuilt from the batches after the recovery point, truncated at the log's
    end.
    """
    cache = EpochCache(replica.disk.epochs)
    for batch in replica.log.read(replica.disk.recovery_point or 0) if epochs else ():
        if batch.epoch > cache.latest:
            cache.assign(batch.epoch, batch.base, replaces=True)
    cache.cut(replica.log.end)
    return cache
