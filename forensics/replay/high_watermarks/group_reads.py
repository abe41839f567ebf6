"""Lower bounds of high watermarks by what consumer groups read, where a commit states a leader epoch.

A consumer is served below the high watermark only (ReplicaManager.fetchMessages; with ``read_committed`` below the last
stable offset, which is no higher). A Java consumer that commits its own position states the leader epoch of the last
batch that it returned (KIP-320, SubscriptionState.allConsumed; librdkafka from 2.1 on). So a commit of position p with
leader epoch e shows that a record of epoch e at offset p - 1 was read.

A position can be set by hand, and then no record need have been read. A position that somebody chose has no epoch: the
command ``kafka-consumer-groups --reset-offsets``, ``Admin.alterConsumerGroupOffsets`` with an offset alone, ``seek``,
and a reset to the start or the end of the log. Some clients state an epoch that they have not read: sarama commits the
one that it fetched with its first position, or 0 (``OffsetCommitRequest.AddBlock``). So a commit counts only if it was
made before the leader began that lacks the record, and if its group states no epoch whose log had ended below. An
application that names an epoch itself is not told apart. So a finding that rests on a commit alone is inferred, and
commits without an epoch bound nothing here.
"""

from __future__ import annotations

from forensics.replay.facts.group_positions import GroupPosition
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.inferences import Inferred
from forensics.replay.leader_epochs import Epoch
from forensics.replay.roles.log_ends import log_end


def read_by_groups(history: History) -> list[HwStatement]:
    """Return what positions of consumer groups show to have been below the high watermark; highest first.

    None if leader epochs went back: they do not show whose records were read.
    """
    if history.epoch_rollbacks:
        return []
    found = []
    stale = {one.group for one in history.facts.positions if _states_former_epoch(history, one)}
    for position in history.facts.positions:
        if position.group in stale:
            continue
        epoch = history.epochs.get(position.epoch) if position.epoch is not None else None
        if epoch is None or epoch.leader is None or not _can_have_been_read(history, position, epoch):
            continue
        found.append(
            HwStatement(
                replica=epoch.leader,
                epoch=epoch.epoch,
                lineage=epoch.lineage,
                high_watermark=position.position,
                how=HwSource.READ_BY_GROUP,
                time=position.time,
                refs=position.refs,
                by=(Inferred.READ_BELOW_HIGH_WATERMARK,),
                group=position.group,
            )
        )
    return sorted(found, key=lambda one: (-one.high_watermark, one.epoch, one.group or ""))


def _can_have_been_read(history: History, position: GroupPosition, epoch: Epoch) -> bool:
    """Return whether the record before a position can have been read in the log of a leader epoch.

    Its log has a record of that epoch there, and may have had it. The commit is not older than the epoch: an older one
    is about a topic of the same name that was deleted. The clocks may be those of two brokers. A commit that is too old
    by a wrong clock bounds nothing, and one of a deleted topic also lacks the tombstone that its deletion writes.
    """
    last = position.position - 1
    if last < 0 or epoch.other_leaders or epoch.lineage.epoch_at(last) != epoch.epoch:
        return False
    if position.time is None or epoch.time is None or position.time < epoch.time:
        return False
    end = log_end(history, epoch.leader, epoch.epoch).high
    return end is None or position.position <= end


def _states_former_epoch(history: History, position: GroupPosition) -> bool:
    """Return whether a commit states another epoch than that of the record before its position.

    A later leader had begun below the position when the commit was made. Nothing that such a group states counts.
    """
    number, time = position.epoch, position.time
    if number is None or time is None:
        return False
    later = (epoch for epoch in history.epochs.after(number) if epoch.leader not in (None, -1))
    begun = (epoch for epoch in later if epoch.time is not None and epoch.time <= time)
    return any(epoch.start is not None and epoch.start < position.position for epoch in begun)


def read_before(statement: HwStatement, epoch: Epoch) -> bool:
    """Return whether what a statement shows was so before a leader epoch began.

    Of a group the clocks of two brokers show it, of a scrape the epochs of which its value can be.
    """
    if statement.how is HwSource.SCRAPED:
        return statement.epoch < epoch.epoch
    return statement.time is not None and epoch.time is not None and statement.time < epoch.time
