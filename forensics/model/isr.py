"""The ISR: which replicas join and leave it; a change is valid only once it is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forensics.model.state import Replica

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster


def expand(cluster: Cluster, leader: Replica, follower: int) -> None:
    """A follower that has caught up enters the ISR.

    Its LEO must have reached the HW and, since 2.0.1 and 2.1 (KAFKA-7128), the start of the leader's epoch: a new
    leader's own HW is a late one, and up to 2.0.0 a replica that lacked committed records could enter below it.
    """
    if follower in leader.isr:
        return
    leo = leader.remote[follower].leo
    if leo < leader.hw or (not cluster.protocol.joins_below_epoch_start and leo < leader.epoch_start):
        return
    if cluster.protocol.kraft and follower not in cluster.controller.live:
        return
    propose(cluster, leader, (*leader.isr, follower), joined=follower)


def shrink(cluster: Cluster, leader: Replica) -> bool:
    """A leader drops the ISR members that have not caught up within the lag limit; returns whether there were any."""
    if leader.role != "leader":
        return False
    now, lag, end = cluster.now, cluster.lag_ms, leader.log.end
    out = []
    for follower in leader.isr:
        if follower == leader.broker:
            continue
        remote = leader.remote[follower]
        if now - remote.caught_up_at > lag and not (cluster.protocol.caught_up_by_offset and remote.leo == end):
            out.append(follower)
    if out:
        propose(cluster, leader, tuple(b for b in leader.isr if b not in out), out=out)
    return bool(out)


def propose(
    cluster: Cluster, leader: Replica, isr: tuple[int, ...], *, joined: int | None = None, out: list[int] | None = None
) -> None:
    """Asks for a changed ISR. It holds only once ZooKeeper or the controller has it."""
    if not cluster.reaches(leader.broker, cluster.CONTROLLER):
        return
    if cluster.trace.on:
        known = {b: (r.leo, r.caught_up_at) for b, r in leader.remote.items()}
        cluster.emit(
            "isr_proposed",
            leader.broker,
            was=list(leader.isr),
            isr=list(isr),
            joined=joined,
            out=out or [],
            known=known,
            hw=leader.hw,
            leo=leader.log.end,
            partition_epoch=leader.partition_epoch,
            leader_epoch=leader.leader_epoch,
        )
    accepted = cluster.controller.alter_isr(leader.broker, leader.leader_epoch, leader.partition_epoch, isr)
    if not accepted:
        cluster.emit("isr_refused", leader.broker, partition_epoch=leader.partition_epoch, isr=list(isr))
        return
    leader.isr = isr
    leader.partition_epoch += 1
    if cluster.trace.on:
        known = {b: (r.leo, r.caught_up_at) for b, r in leader.remote.items()}
        cluster.emit(
            "isr_committed",
            leader.broker,
            isr=list(isr),
            partition_epoch=leader.partition_epoch,
            under_min=len(isr) < cluster.min_isr,
            known=known,
        )
    if cluster.protocol.kraft:
        cluster.deliver_metadata()
