"""Faults: crashes, power cuts, pauses, broken links, lost files, elections. Each fault is one function of a cluster.

A fault that makes no sense in the present state (a crash of a broker that is down) does nothing and returns False;
random schedules rely on that.
"""

from __future__ import annotations

from forensics.model.cluster import Cluster
from forensics.model.state import CHECKPOINTS, Checkpoint


def crash(cluster: Cluster, broker: int) -> bool:
    """The process is killed. The operating system keeps what it had not yet written."""
    if not cluster.brokers[broker].up:
        return False
    cluster.now += 1
    cluster.act("kill -9", broker=broker)
    cluster.process_ends(broker)
    return True


def power_loss(cluster: Cluster, broker: int, keep: int | None = None) -> bool:
    """The machine loses power: what was not on disk is gone.

    Args:
        keep: How far the operating system happened to have written the log; never less than what was flushed.
    """
    node = cluster.brokers[broker]
    if not node.up:
        return False
    cluster.now += 1
    replica = node.replica
    end = replica.log.end
    survives = min(end, max(replica.log.synced, keep or 0))
    replica.log.truncate(survives)
    survives = replica.log.batches[-1].end if replica.log.batches else 0
    replica.log.end = survives
    replica.log.synced = survives
    cluster.act("power lost", broker=broker, log_end=end, survives=survives)
    cluster.process_ends(broker)
    return True


def notice(cluster: Cluster, broker: int) -> bool:
    """The broker's session times out: the controller takes it for dead, whether it is or not."""
    if broker not in cluster.controller.live or cluster.reaches(broker, cluster.CONTROLLER):
        return False
    cluster.now += 1
    cluster.brokers[broker].known = False
    cluster.controller.broker_failed(broker)
    return True


def stop(cluster: Cluster, broker: int) -> bool:
    """A controlled shutdown: leadership moves, the HW is checkpointed, the log flushed, the end marked clean."""
    node = cluster.brokers[broker]
    if not cluster.runs(broker):
        return False
    cluster.now += 1
    cluster.act("stop", broker=broker)
    cluster.emit("stopping", broker)
    if cluster.reaches(broker, cluster.CONTROLLER):
        cluster.controller.controlled_shutdown(broker)
    cluster.checkpoint(broker)
    replica = node.replica
    replica.log.synced = replica.log.end
    replica.disk.write("recovery_point", replica.log.end)
    replica.disk.write("log_start", None)
    replica.disk.clean = True
    cluster.emit("stopped", broker, leo=replica.log.end, hw=replica.hw)
    cluster.process_ends(broker)
    node.known = False
    cluster.controller.broker_failed(broker)
    return True


def restart(cluster: Cluster, broker: int) -> bool:
    """The broker starts again.

    Without a ``notice`` before, it starts before its session ended and keeps its place in the ISR, as KIP-101 is
    usually explained. ZooKeeper and KRaft refuse such a registration until the old session is over; random runs wait
    for that.
    """
    return cluster.restart(broker)


def pause(cluster: Cluster, broker: int) -> bool:
    """The process is paused (a long garbage collection, SIGSTOP): it neither sends nor answers requests."""
    node = cluster.brokers[broker]
    if not cluster.runs(broker):
        return False
    cluster.now += 1
    node.paused = True
    cluster.act("pause", broker=broker)
    return True


def resume(cluster: Cluster, broker: int) -> bool:
    """The process continues, at first with its old state; it receives changes when it ``reconnects``."""
    node = cluster.brokers[broker]
    if not (node.up and node.paused):
        return False
    cluster.now += 1
    node.paused = False
    cluster.act("resume", broker=broker)
    return True


def reconnect(cluster: Cluster, broker: int) -> bool:
    """A broker that was considered dead gets a session again and receives the present state."""
    node = cluster.brokers[broker]
    if node.known or not cluster.reaches(broker, cluster.CONTROLLER):
        return False
    cluster.now += 1
    node.known = True
    cluster.controller.broker_started(broker, anew=False)
    return True


def cut_link(cluster: Cluster, one: int, other: int) -> bool:
    """Two nodes no longer reach each other; 0 is the controller."""
    link = frozenset((one, other))
    if link in cluster.broken or one == other:
        return False
    cluster.now += 1
    cluster.broken.add(link)
    for node in cluster.brokers.values():
        if node.answer is not None and frozenset((node.id, node.answer.leader)) == link:
            node.answer = None
    cluster.act("cut link", between=sorted((one, other)))
    return True


def heal_link(cluster: Cluster, one: int, other: int) -> bool:
    """The link works again. If it is the controller's link, the broker receives the changes that it missed."""
    link = frozenset((one, other))
    if link not in cluster.broken:
        return False
    cluster.now += 1
    cluster.broken.discard(link)
    cluster.act("heal link", between=sorted((one, other)))
    if cluster.CONTROLLER in link:
        broker = one or other
        if not reconnect(cluster, broker):
            cluster.deliver(broker)
    return True


def slow(cluster: Cluster, broker: int, batches: int = 1) -> bool:
    """The broker's fetches bring few batches each; 0 for no limit."""
    cluster.brokers[broker].slow = batches
    return True


def wipe(cluster: Cluster, broker: int) -> bool:
    """The disk of a broker that is down is lost and replaced."""
    if cluster.brokers[broker].up:
        return False
    cluster.now += 1
    cluster.act("disk replaced", broker=broker)
    cluster.erase(broker)
    return True


def lose_checkpoint(cluster: Cluster, broker: int, checkpoint: Checkpoint = "hw") -> bool:
    """A checkpoint of a broker that is down is deleted. A broker treats a missing file as an empty one.

    Its HW starts from 0 without ``hw``. It recovers its whole log without ``recovery_point`` if it did not stop
    cleanly. Without ``epochs`` it only has the epochs that recovery finds in the log.
    """
    if not _damageable(cluster, broker, checkpoint):
        return False
    cluster.now += 1
    cluster.replica(broker).disk.lose(checkpoint, "lost")
    cluster.act("checkpoint lost", broker=broker, file=CHECKPOINTS[checkpoint])
    return True


def garble_checkpoint(cluster: Cluster, broker: int, checkpoint: Checkpoint = "hw") -> bool:
    """A checkpoint of a broker that is down becomes unreadable: zeros, as some file systems leave after a power cut.

    ``recovery_point`` and ``log_start`` are then treated as empty (``LogManager.loadLogs``). With ``epochs`` the broker
    does not start. With ``hw`` it ends as soon as it receives the partition, or up to 0.11 continues without it. Both
    last until an operator deletes the file.
    """
    if not _damageable(cluster, broker, checkpoint):
        return False
    cluster.now += 1
    cluster.replica(broker).disk.lose(checkpoint, "garbled")
    cluster.act("checkpoint garbled", broker=broker, file=CHECKPOINTS[checkpoint])
    return True


def restore_checkpoint(cluster: Cluster, broker: int, checkpoint: Checkpoint = "hw") -> bool:
    """A checkpoint of a broker that is down is replaced by an older copy: its contents before its last change."""
    if not _damageable(cluster, broker, checkpoint) or not cluster.replica(broker).disk.restore(checkpoint):
        return False
    cluster.now += 1
    cluster.act("older checkpoint put back", broker=broker, file=CHECKPOINTS[checkpoint])
    return True


def _damageable(cluster: Cluster, broker: int, checkpoint: Checkpoint) -> bool:
    """Return whether the broker is down and writes such a file: up to 0.10 there are neither epochs nor log starts."""
    if cluster.brokers[broker].up or not cluster.replica(broker).on_disk:
        return False
    return cluster.protocol.epochs or checkpoint in ("hw", "recovery_point")


def damage_epochs(cluster: Cluster, broker: int, keep: int = 0) -> bool:
    """``leader-epoch-checkpoint`` of a broker that is down keeps only its first ``keep`` entries."""
    if cluster.brokers[broker].up:
        return False
    cluster.now += 1
    disk = cluster.replica(broker).disk
    disk.write("epochs", disk.epochs[:keep])
    cluster.act("checkpoint damaged", broker=broker, file="leader-epoch-checkpoint", keeps=keep)
    return True


def lie_about_epochs(cluster: Cluster, broker: int, early: int = 1) -> bool:
    """``leader-epoch-checkpoint`` of a broker that is down states that its last epoch began earlier than it did.

    A follower truncates to where its own cache says that an epoch ends, if its leader's answer is higher
    (ReplicaFetcherThread.truncate, AbstractFetcherThread.getOffsetTruncationState).

    Args:
        early: by how many offsets; it stays above the start of the epoch before.
    """
    disk = cluster.replica(broker).disk
    if cluster.brokers[broker].up or len(disk.epochs) < 2:
        return False
    (_, before), (epoch, start) = disk.epochs[-2:]
    lie = max(before + 1, start - early)
    if lie >= start:
        return False
    cluster.now += 1
    disk.write("epochs", [*disk.epochs[:-1], (epoch, lie)])
    cluster.act("checkpoint damaged", broker=broker, file="leader-epoch-checkpoint", epoch=epoch, start=lie, was=start)
    return True


def back_up(cluster: Cluster, broker: int) -> bool:
    """An operator copies the data directory of a broker, as it is at this moment."""
    replica = cluster.replica(broker)
    if not replica.on_disk:
        return False
    cluster.now += 1
    replica.back_up()
    cluster.act("data directory copied", broker=broker, log_end=replica.log.end)
    return True


def put_back(cluster: Cluster, broker: int) -> bool:
    """The data directory of a broker that is down is replaced by the copy that was made of it before."""
    replica = cluster.replica(broker)
    end = replica.log.end
    if cluster.brokers[broker].up or not replica.on_disk or not replica.put_back():
        return False
    cluster.now += 1
    cluster.act("older data directory put back", broker=broker, log_end_before=end, log_end=replica.log.end)
    return True


def swap_directories(cluster: Cluster, broker: int, other: int) -> bool:
    """The data directories of two brokers that are down are exchanged, and the ids in them changed: both can start."""
    if broker == other or any(cluster.brokers[one].up or not cluster.replica(one).on_disk for one in (broker, other)):
        return False
    cluster.now += 1
    ends = [cluster.replica(one).log.end for one in (broker, other)]
    cluster.replica(broker).swap_directory(cluster.replica(other))
    for one, before, after in ((broker, *ends), (other, *reversed(ends))):
        cluster.act("data directory of another broker put in", broker=one, log_end_before=before, log_end=after)
    return True


def shrink_isr(cluster: Cluster) -> bool:
    """The lag limit passes without fetches: followers drop out of the ISR."""
    cluster.wait(cluster.lag_ms + cluster.lag_ms // 2 + 1, fetching=False)
    return True


def prefer(cluster: Cluster, broker: int) -> bool:
    """Leadership moves to an ISR member although no broker died."""
    cluster.now += 1
    moved = cluster.controller.prefer(broker)
    if moved:
        cluster.act("preferred election", broker=broker)
    return moved


def controller_failover(cluster: Cluster, new: int | None = None) -> bool:
    """The controller dies and a spare one takes over with a higher controller epoch.

    Args:
        new: its id; None for the next one.
    """
    cluster.now += 1
    new = cluster.controller.id + 1 if new is None else new
    cluster.act("controller failover", controller=new)
    cluster.controller.take_over(new)
    return True
