"""The two halves of replication: what a leader does with an append or a fetch, and what a follower does with an answer.

Every function takes the cluster, as the rules differ by its protocol and each step is seen by its trace and its
witness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forensics.model import isr, logs
from forensics.model import protocol as rules
from forensics.model.controller import NO_LEADER, PartitionState
from forensics.model.protocol import EpochEnd
from forensics.model.state import (
    CHECKPOINTS,
    NEVER,
    NO_EPOCH,
    NO_OFFSET,
    Batch,
    Pending,
    Remote,
    Replica,
)

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster

Error = Literal["", "not-leader", "fenced", "unknown-epoch", "out-of-range"]


@dataclass(slots=True)
class Answer:
    """A leader's answer to a fetch, as it travels to the follower."""

    leader: int
    leader_epoch: int
    """Epoch the follower was in when it asked; an answer to an older question is dropped."""
    offset: int
    batches: list[Batch]
    leader_hw: int
    error: Error = ""
    diverging: EpochEnd | None = None
    parked: bool = False
    """Nothing to send yet: the leader holds the request, and fills the answer when it lets go of it."""


# -- becoming something -----------------------------------------------------------------------------------------------


def told(cluster: Cluster, broker: int, state: PartitionState) -> None:
    """A broker hears the controller's state of the partition."""
    replica = cluster.replica(broker)
    zk = cluster.protocol.mode == "zk"
    has = replica.leader_epoch, replica.partition_epoch
    known = not zk and (state.leader_epoch, state.partition_epoch) <= has
    cluster.emit(
        "told",
        broker,
        controller=cluster.controller.id,
        controller_epoch=cluster.controller.epoch,
        correlation=cluster.controller.next_correlation(broker),
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        partition_epoch=state.partition_epoch,
        new=state.new,
        known_epoch=replica.leader_epoch,
        known_leader=replica.leader,
        recovering=state.recovering,
        stale=zk and state.leader_epoch <= replica.leader_epoch,
        known=known,
    )
    if known or (zk and state.leader_epoch <= replica.leader_epoch):
        return
    if replica.disk.damage.get("hw") == "garbled" and not replica.role and replica.leader_epoch == NO_EPOCH:
        _hw_unreadable(cluster, replica, state)
        return
    cluster.has_state(broker)
    _open(cluster, replica, state)
    if state.leader == broker:
        _lead(cluster, replica, state)
    else:
        _follow(cluster, replica, state)


def _open(cluster: Cluster, replica: Replica, state: PartitionState) -> None:
    """Creates the log, or takes the HW from the checkpoint: once in each run of the broker."""
    if replica.leader_epoch != NO_EPOCH or replica.role:
        return
    created = not replica.on_disk
    if created:
        replica.on_disk = True
        replica.disk.hw = None
        cluster.emit("log_created", replica.broker)
    found = replica.disk.hw
    replica.hw = min(found or 0, replica.log.end)
    cluster.emit(
        "hw_loaded",
        replica.broker,
        hw=replica.hw,
        found=found,
        becomes="leader" if state.leader == replica.broker else "follower",
    )


def _hw_unreadable(cluster: Cluster, replica: Replica, state: PartitionState) -> None:
    """``replication-offset-checkpoint`` cannot be read, which only shows when the broker takes up its first partition.

    Up to 0.11 the request fails, again and again, and the broker continues without the partition (0.10.2.2
    ``Partition.getOrCreateReplica``). From 1.0 the log directory counts as failed, and a broker without any other halts
    (``CheckpointFile.read``, ``LogManager.handleLogDirFailure``).
    """
    becomes = "leader" if state.leader == replica.broker else "follower"
    cluster.emit("hw_unreadable", replica.broker, file=CHECKPOINTS["hw"], becomes=becomes)
    if cluster.protocol.halts_on_failed_dir:
        cluster.process_ends(replica.broker)


def _lead(cluster: Cluster, replica: Replica, state: PartitionState) -> None:
    protocol = cluster.protocol
    previous_epoch, previous_leader = replica.leader_epoch, replica.leader
    was_leader = replica.role == "leader"
    fresh = state.leader_epoch > replica.leader_epoch
    replica.role, replica.leader, replica.leader_epoch = "leader", replica.broker, state.leader_epoch
    replica.partition_epoch, replica.isr, replica.truncating = state.partition_epoch, state.isr, False
    cluster.brokers[replica.broker].answer = None
    if not fresh:
        cluster.emit(
            "leads_again",
            replica.broker,
            epoch=state.leader_epoch,
            hw=replica.hw,
            isr=list(state.isr),
            partition_epoch=state.partition_epoch,
            recovering=state.recovering,
        )
        raise_hw(cluster, replica)
        return
    replica.epoch_start = replica.log.end
    if protocol.hw_survives_truncation and not was_leader and replica.hw > replica.log.end:
        replica.hw = NO_OFFSET  # 1.1.1 Replica.convertHWToLocalOffsetMetadata: an offset outside the log is unknown
    if not was_leader:
        replica.remote = {b: Remote() for b in cluster.assigned if b != replica.broker}
        replica.pending = []
    for follower, remote in replica.remote.items():
        in_sync = follower in state.isr
        remote.caught_up_at = cluster.now if in_sync else NEVER
        remote.leader_end_at_fetch, remote.fetched_at = replica.log.end, cluster.now if in_sync else NEVER
    cluster.emit(
        "leads",
        replica.broker,
        epoch=state.leader_epoch,
        start=replica.log.end,
        hw=replica.hw,
        isr=list(state.isr),
        partition_epoch=state.partition_epoch,
        previous_epoch=previous_epoch,
        previous_leader=previous_leader,
        was_leader=was_leader,
        recovering=state.recovering,
        remote=[(b, r.caught_up_at, r.fetched_at) for b, r in replica.remote.items()] if cluster.trace.on else [],
    )
    if protocol.epoch_entry == "becoming-leader":
        logs.assign_epoch(cluster, replica, state.leader_epoch, replica.log.end)
    cluster.witness.leads(cluster.now, replica, clean=not state.unclean)
    raise_hw(cluster, replica)


def _follow(cluster: Cluster, replica: Replica, state: PartitionState) -> None:
    protocol = cluster.protocol
    zk = protocol.mode == "zk"
    if zk and (state.leader == NO_LEADER or state.leader not in cluster.controller.live):
        # makeFollowers keeps the old state when the new leader is not alive; only the HW is loaded, for the checkpoint
        cluster.emit("leader_unavailable", replica.broker, leader=state.leader, leader_epoch=state.leader_epoch)
        return
    previous_epoch, previous_leader = replica.leader_epoch, replica.leader
    same_leader = replica.role == "follower" and replica.leader == state.leader
    same_epoch = state.leader_epoch == replica.leader_epoch
    if replica.role == "leader":
        fail_pending(cluster, replica, "not-leader")
        replica.remote = {}
    replica.role, replica.leader, replica.leader_epoch = "follower", state.leader, state.leader_epoch
    replica.partition_epoch, replica.isr = state.partition_epoch, state.isr
    if same_epoch and same_leader:
        cluster.emit(
            "follows_again",
            replica.broker,
            epoch=state.leader_epoch,
            leader=state.leader,
            isr=list(state.isr),
            partition_epoch=state.partition_epoch,
            recovering=state.recovering,
        )
        return
    skipped = same_leader and protocol.skips_same_leader
    cluster.emit(
        "follows",
        replica.broker,
        epoch=state.leader_epoch,
        leader=state.leader,
        leo=replica.log.end,
        hw=replica.hw,
        partition_epoch=state.partition_epoch,
        previous_epoch=previous_epoch,
        previous_leader=previous_leader,
        skipped=skipped,
    )
    if skipped:
        return
    cluster.brokers[replica.broker].answer = None
    if protocol.truncates_by == "hw":
        logs.cut(cluster, replica, replica.hw, "hw")
        cluster.emit(
            "fetcher_added", replica.broker, leader=state.leader, epoch=state.leader_epoch, offset=replica.log.end
        )
        return
    if state.leader == NO_LEADER:
        replica.truncating = False
        return
    # the fetch offset a fetcher starts with: the HW, or from 2.8 on the LEO of a log with epochs
    by_fetch = protocol.truncates_on_fetch and bool(replica.epochs.entries)
    start = replica.log.end if by_fetch else replica.hw
    cluster.emit("fetcher_added", replica.broker, leader=state.leader, epoch=state.leader_epoch, offset=start)
    replica.truncating = not by_fetch
    # from 2.1 on it does not ask when it has no epoch to ask for
    if replica.truncating and protocol.kafka >= "2.1" and not replica.epochs.entries:
        _cut_unasked(cluster, replica, state.leader)


def _cut_unasked(cluster: Cluster, replica: Replica, leader: int) -> None:
    """Truncate a log without epochs to its HW."""
    cluster.emit("cuts_to_hw", replica.broker, leader=leader, hw=replica.hw)
    logs.cut(cluster, replica, replica.hw, "hw")
    replica.truncating = False


# -- the leader's half ------------------------------------------------------------------------------------------------


def append(
    cluster: Cluster, replica: Replica, values: tuple[str, ...], acks: str, producer: int, marker: str
) -> list[Batch]:
    """A leader appends what a producer sent: one batch, or with message format 1 one entry a record."""
    log, protocol = replica.log, cluster.protocol
    groups = [(value,) for value in values] if protocol.magic == 1 else [values]
    if protocol.epochs and protocol.epoch_entry == "first-append":
        logs.assign_epoch(cluster, replica, replica.leader_epoch, log.end)
    made = []
    first = log.end
    for group in groups:
        had = sum(len(one.values) for one in log.batches if one.producer == producer >= 0 and not one.marker)
        epoch, end = replica.leader_epoch, log.end + len(group)
        batch = Batch(log.end, end, epoch, group, cluster.now, acks, producer, marker, had)
        log.append(batch)
        made.append(batch)
    if cluster.trace.on:
        cluster.emit(
            "appends",
            replica.broker,
            role="leader",
            on=replica.broker,
            first=first,
            end=log.end,
            batches=made,
            acks=acks,
        )
    if acks == "all":
        replica.pending.extend(Pending(batch) for batch in made)
    raise_hw(cluster, replica)
    return made


def counted(cluster: Cluster, replica: Replica) -> list[int]:
    """The LEOs that hold back a leader's HW: of the ISR, and of replicas caught up within the lag limit though not in
    it.

    Without the second half a replica about to enter the ISR could be overtaken, and the HW would exceed the LEO of an
    ISR member (``Partition.maybeIncrementLeaderHW``). From 3.6 with KRaft a fenced replica does not count.
    """
    leos = [replica.log.end]
    now, lag = cluster.now, cluster.lag_ms
    by_offset, kraft = cluster.protocol.caught_up_by_offset, cluster.protocol.kraft
    for follower, remote in replica.remote.items():
        in_isr = follower in replica.isr
        if not in_isr:
            if kraft and follower not in cluster.controller.live:
                continue
            if now - remote.caught_up_at > lag and not (by_offset and remote.leo == replica.log.end):
                continue
        leos.append(remote.leo)
    return leos


def raise_hw(cluster: Cluster, replica: Replica) -> None:
    """A leader's HW rises to the least LEO that counts; it never falls within an epoch."""
    if cluster.protocol.hw_needs_min_isr and len(replica.isr) < min(cluster.min_isr, len(cluster.assigned)):
        if cluster.trace.on:
            cluster.emit("hw_held_min_isr", replica.broker, isr=list(replica.isr))
        return
    leos = counted(cluster, replica)
    new, old = min(leos), replica.hw
    if new > old:
        replica.hw = new
        cluster.witness.hw_passed(replica.log, old, new)
        if cluster.trace.on:
            cluster.emit("hw_raised", replica.broker, old=old, new=new)
        _acknowledge(cluster, replica)
    elif cluster.trace.on:
        leos_of = {b: r.leo for b, r in replica.remote.items()} | {replica.broker: replica.log.end}
        cluster.emit("hw_held", replica.broker, hw=old, new=new, counted=leos, leos=leos_of)


def _acknowledge(cluster: Cluster, replica: Replica) -> None:
    while replica.pending and replica.pending[0].batch.end <= replica.hw:
        batch = replica.pending.pop(0).batch
        if len(replica.isr) >= cluster.min_isr:
            cluster.acknowledge(batch)
        elif cluster.trace.on:
            cluster.emit("refused", None, why="NOT_ENOUGH_REPLICAS_AFTER_APPEND", first=batch.base, end=batch.end)


def fail_pending(cluster: Cluster, replica: Replica, why: str) -> None:
    """The waiting producers get an error: what they wrote may or may not live on."""
    if replica.pending and cluster.trace.on:
        first, end = replica.pending[0].batch.base, replica.pending[-1].batch.end
        cluster.emit("refused", None, why=why, first=first, end=end)
    replica.pending = []


def serve(cluster: Cluster, leader: Replica, follower: int, offset: int, epoch: int, last_epoch: int) -> Answer:
    """A leader handles a follower's fetch: reads, learns the follower's LEO, may widen the ISR and raise its HW.

    Existing data is sent at once, with the HW from *before* this fetch was counted. That is why a follower's HW is one
    round behind. A fetch at the log end is parked and answered later, with the HW of that moment.
    """
    error = _refusal(cluster, leader, follower, epoch)
    diverging: EpochEnd | None = None
    if not error and cluster.protocol.truncates_on_fetch:
        try:
            diverging = _divergence(cluster, leader, follower, offset, last_epoch)
        except LookupError:
            error = "out-of-range"
    if not error and diverging is None and offset > leader.log.end:
        error = "out-of-range"
    if error:
        return Answer(leader.broker, epoch, offset, [], leader.hw, error)
    if diverging is not None:
        return Answer(leader.broker, epoch, offset, [], leader.hw, diverging=diverging)
    batches = leader.log.read(offset, cluster.brokers[follower].slow)
    hw = leader.hw
    if cluster.trace.on:
        cluster.emit("reads_for", leader.broker, follower=follower, offset=offset, leader_end=leader.log.end, hw=hw)
    _learn(cluster, leader, follower, offset)
    return Answer(leader.broker, epoch, offset, batches, hw, parked=not batches)


def _refusal(cluster: Cluster, leader: Replica, follower: int, epoch: int) -> Error:
    """Return why a broker does not look at a fetch at all; "" if it does."""
    if leader.role != "leader" or follower not in leader.remote:
        return "not-leader"
    if cluster.protocol.fences_stale_epochs and epoch != leader.leader_epoch:
        return "fenced" if epoch < leader.leader_epoch else "unknown-epoch"
    return ""


def _divergence(cluster: Cluster, leader: Replica, follower: int, offset: int, last_epoch: int) -> EpochEnd | None:
    """Return where a follower's log diverges from the leader's, by the last epoch in its fetch; None if it does not.

    Raises:
        LookupError: The leader does not know that epoch.
    """
    protocol, end = cluster.protocol, leader.log.end
    found = rules.diverges(protocol, leader.epochs, end, offset, last_epoch)
    if cluster.trace.on and last_epoch != NO_EPOCH:
        told = rules.answer(protocol, leader.epochs, last_epoch, end)
        _emit_epoch_answer(cluster, leader, follower, last_epoch, told)
    return found


def _learn(cluster: Cluster, leader: Replica, follower: int, offset: int) -> None:
    """The fetch offset is the follower's LEO (``Partition.updateFollowerFetchState``)."""
    remote = leader.remote[follower]
    if offset >= leader.log.end:
        remote.caught_up_at = max(remote.caught_up_at, cluster.now)
    elif offset >= remote.leader_end_at_fetch:
        remote.caught_up_at = max(remote.caught_up_at, remote.fetched_at)
    remote.leo, remote.leader_end_at_fetch, remote.fetched_at = offset, leader.log.end, cluster.now
    isr.expand(cluster, leader, follower)
    raise_hw(cluster, leader)
    if cluster.trace.on:
        cluster.emit("records_leo", leader.broker, follower=follower, leo=offset)


def release(cluster: Cluster, answer: Answer, follower: int) -> None:
    """A parked fetch is let go, by new data or by its time limit: it is read again, with the HW of now."""
    leader = cluster.replica(answer.leader)
    answer.parked = False
    if leader.role != "leader" or follower not in leader.remote:
        answer.error = "not-leader"
        return
    if answer.offset > leader.log.end:
        answer.error = "out-of-range"
        return
    answer.batches = leader.log.read(answer.offset, cluster.brokers[follower].slow)
    answer.leader_hw = leader.hw
    _learn(cluster, leader, follower, answer.offset)


def _emit_epoch_answer(cluster: Cluster, leader: Replica, follower: int, asked: int, reply: EpochEnd) -> None:
    cluster.emit(
        "answers_epoch",
        leader.broker,
        follower=follower,
        asked=asked,
        epoch=reply.epoch,
        end=reply.end,
        size=len(leader.epochs.entries),
    )


# -- the follower's half ----------------------------------------------------------------------------------------------


def ask_epoch(cluster: Cluster, replica: Replica, leader: Replica) -> bool:
    """One round of reconciling: where did my newest epoch end on you? True if the leader answered."""
    protocol = cluster.protocol
    request = rules.question(protocol, replica.epochs, replica.leader_epoch, replica.broker)
    if request is None:
        _cut_unasked(cluster, replica, leader.broker)
        return False
    asked = request.leader_epoch
    cluster.emit("asks_epoch", replica.broker, leader=leader.broker, **request._asdict())
    if leader.role != "leader":
        cluster.emit("epoch_refused", replica.broker, leader=leader.broker, error="NOT_LEADER_OR_FOLLOWER")
        return False
    if protocol.fences_stale_epochs and replica.leader_epoch != leader.leader_epoch:
        error = "FENCED_LEADER_EPOCH" if replica.leader_epoch < leader.leader_epoch else "UNKNOWN_LEADER_EPOCH"
        cluster.emit("epoch_refused", replica.broker, leader=leader.broker, error=error)
        return False
    reply = rules.answer(protocol, leader.epochs, asked, leader.log.end)
    _emit_epoch_answer(cluster, leader, replica.broker, asked, reply)
    step = rules.cut_by_answer(protocol, replica.epochs, reply, replica.log.end, replica.hw)
    cluster.emit(
        "hears_epoch",
        replica.broker,
        leader=leader.broker,
        asked=asked,
        epoch=reply.epoch,
        end=reply.end,
        to=step.to,
        done=step.done,
        why=step.why,
        leo=replica.log.end,
        hw=replica.hw,
    )
    logs.cut(cluster, replica, step.to, "epoch")
    replica.truncating = not step.done
    return True


def take(cluster: Cluster, replica: Replica, answer: Answer) -> None:
    """A follower handles the answer to its fetch."""
    if not _expects(cluster, replica, answer):
        return
    if answer.error:
        _take_error(cluster, replica, answer)
    elif answer.diverging is not None:
        _take_diverging(cluster, replica, answer, answer.diverging)
    elif answer.batches and answer.batches[0].base < replica.log.end:
        # forked logs whose batches do not line up: the append throws, the follower tries again and again
        base = answer.batches[0].base
        cluster.emit("stuck", replica.broker, leader=answer.leader, offset=replica.log.end, base=base)
    else:
        _append(cluster, replica, answer)


def _expects(cluster: Cluster, replica: Replica, answer: Answer) -> bool:
    """Return whether a follower still follows the leader that answers, in the epoch and from the offset it fetched."""
    if replica.role != "follower" or replica.leader != answer.leader or replica.truncating:
        return False
    of_epoch = not cluster.protocol.fences_stale_epochs or answer.leader_epoch == replica.leader_epoch
    return of_epoch and answer.offset == replica.log.end


def _take_error(cluster: Cluster, replica: Replica, answer: Answer) -> None:
    """A follower's fetch was refused: if it fetched outside of the leader's log, it moves."""
    cluster.emit(
        "fetch_refused",
        replica.broker,
        leader=answer.leader,
        error=answer.error,
        offset=answer.offset,
        leader_epoch=replica.leader_epoch,
    )
    if answer.error == "out-of-range":
        _out_of_range(cluster, replica)


def _take_diverging(cluster: Cluster, replica: Replica, answer: Answer, diverging: EpochEnd) -> None:
    """A follower learns where its log diverges from the leader's, and truncates (KIP-595)."""
    log, protocol = replica.log, cluster.protocol
    if protocol.takes_hw_before_truncation:
        _emit_receives(cluster, replica, answer)
        _take_hw(cluster, replica, answer)
    step = rules.cut_by_answer(protocol, replica.epochs, diverging, log.end, replica.hw)
    cluster.emit(
        "diverges",
        replica.broker,
        leader=answer.leader,
        epoch=diverging.epoch,
        end=diverging.end,
        to=step.to,
        done=step.done,
        why=step.why,
        leo=log.end,
    )
    logs.cut(cluster, replica, step.to, "diverging")


def _append(cluster: Cluster, replica: Replica, answer: Answer) -> None:
    """A follower appends the batches that it fetched, if any, and takes the leader's HW."""
    log, before = replica.log, replica.log.end
    _emit_receives(cluster, replica, answer)
    for batch in answer.batches:
        if cluster.protocol.epochs:
            logs.assign_epoch(cluster, replica, batch.epoch, batch.base)
        log.append(batch)
    if cluster.trace.on and answer.batches:
        cluster.emit(
            "appends",
            replica.broker,
            role="follower",
            on=replica.broker,
            first=before,
            end=log.end,
            batches=answer.batches,
            leader=answer.leader,
            leader_hw=answer.leader_hw,
            acks="",
        )
    _take_hw(cluster, replica, answer)


def _emit_receives(cluster: Cluster, replica: Replica, answer: Answer) -> None:
    if cluster.trace.on:
        cluster.emit(
            "receives",
            replica.broker,
            leader=answer.leader,
            leo=replica.log.end,
            leader_hw=answer.leader_hw,
            batches=answer.batches,
        )


def _take_hw(cluster: Cluster, replica: Replica, answer: Answer) -> None:
    """The follower's HW: the leader's as the answer gave it, but not beyond the follower's own end. It may fall."""
    was = replica.hw
    replica.hw = min(replica.log.end, max(answer.leader_hw, 0))
    if cluster.trace.on:
        cluster.emit(
            "hw_taken",
            replica.broker,
            leader=answer.leader,
            leader_hw=answer.leader_hw,
            hw=replica.hw,
            was=was,
            batches=answer.batches,
        )


def _out_of_range(cluster: Cluster, replica: Replica) -> None:
    """Handle a leader's log that ends before the follower's: truncate to the leader's end, or, up to 1.1, halt
    instead.
    """
    assert replica.leader is not None
    leader = cluster.replica(replica.leader)
    if leader.role != "leader" or not cluster.reaches(replica.broker, replica.leader):
        return
    end = leader.log.end
    if end >= replica.log.end:
        cluster.emit(
            "fetch_reset",
            replica.broker,
            leader=replica.leader,
            offset=replica.log.end,
            to=replica.log.end,
            whole=False,
        )
        return
    if cluster.protocol.halts_on_short_leader and not cluster.unclean:
        cluster.emit("halts", replica.broker, leader=replica.leader, leader_end=end, leo=replica.log.end)
        cluster.process_ends(replica.broker)
        return
    cluster.emit("fetch_reset", replica.broker, leader=replica.leader, offset=replica.log.end, to=end, whole=True)
    logs.cut(cluster, replica, end, "out-of-range")
