"""Lower bounds of high watermarks by what consumer groups read, where a commit states a leader epoch.

A consumer is served below the high watermark only (ReplicaManager.fetchMessages; with ``read_committed`` below the last
stable offset, which is no higher). A Java consumer that commits its own position states the leader epoch of the last
batch that it returned (KIP-320, SubscriptionState.allConsumed; librdkafka from 2.1 on). So a commit of position p with
leader epoch e shows that a record of epoch e at offset p - 1 was read.

A position can be set by hand, and then no record need have been read. A position that somebody chose has no epoch: the
command ``kafka-consumer-groups --reset-offsets``, ``Admin.alterConsumerGroupOffsets`` with an offset alone, ``seek``,
and a reset to the start or the end of the log. Only an application that names an epoch itself is not told apart. So a
finding that rests on such a commit alone is inferred, and commits without an epoch bound nothing here.
"""

from __future__ import annotations

from forensics.replay.facts.group_positions import GroupPosition
from forensics.replay.history import Epoch, History, HwSource, HwStatement
from forensics.replay.inferences import Inferred
from forensics.replay.roles.log_ends import log_end


def read_by_groups(history: History) -> list[HwStatement]:
    """Return what positions of consumer groups show to have been below the high watermark; highest first.

    None if leader epochs went back: they do not show whose records were read.
    """
    if history.epoch_rollbacks:
        return []
    found = []
    for position in history.facts.positions:
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
