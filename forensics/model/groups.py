"""Consumer groups: they read below the high watermark, commit, lag, and are reset by hand.

Their positions are in one partition of ``__consumer_offsets``. The model does not replicate it: it is on every broker,
as of a cluster in which no broker lost any of it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from forensics.model.protocol import Protocol
from forensics.model.segments import keyed
from forensics.model.state import NO_EPOCH
from forensics.model.trace import epoch_ms

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster

FOLDER = "__consumer_offsets-0"
EPOCH_IN_COMMITS = "2.1"
"""First release whose commits state a leader epoch (KIP-320)."""


class GroupCommit(NamedTuple):
    """A position as a group committed it.

    Attributes:
        group: its name.
        position: offset of the next record that it reads.
        epoch: leader epoch of the last record that it read; -1 of a position that it did not read up to.
        at: logical milliseconds.
    """

    group: str
    position: int
    epoch: int
    at: int


@dataclass(slots=True)
class Groups:
    """The groups that read the partition.

    Attributes:
        commits: what they committed, in order.
    """

    commits: list[GroupCommit] = field(default_factory=list)
    _positions: dict[str, int] = field(default_factory=dict)

    def read(
        self, cluster: Cluster, group: str, most: int = 0, from_broker: int | None = None, epoch: int | None = None
    ) -> int:
        """Let a group read on and commit, and return how many records it got.

        A position beyond the log's end is reset to the end, as with ``auto.offset.reset=latest``.

        Args:
            cluster: the cluster.
            group: the group.
            most: records that it reads at most; 0 for all.
            from_broker: the broker that it believes to be the leader; None for the leader.
            epoch: leader epoch that its client states whatever it read, as some do; None for that of the last record.
        """
        replica = cluster.replica(from_broker) if from_broker is not None else cluster.leader()
        if replica is None or replica.role != "leader" or not cluster.runs(replica.broker):
            return 0
        position = self._positions.get(group, 0)
        if position > replica.log.end:
            self._commit(cluster, group, max(replica.hw, 0), NO_EPOCH)
            return 0
        records = [one for one in cluster.consume(from_broker=from_broker) if one.offset >= position]
        records = records[:most] if most else records
        if records:
            self._commit(cluster, group, records[-1].offset + 1, records[-1].epoch if epoch is None else epoch)
        return len(records)

    def set_by_hand(self, cluster: Cluster, group: str, position: int) -> None:
        """Set the position of a group to any offset, as ``Admin.alterConsumerGroupOffsets`` does: without an epoch."""
        self._commit(cluster, group, position, NO_EPOCH)

    def _commit(self, cluster: Cluster, group: str, position: int, epoch: int) -> None:
        self._positions[group] = position
        self.commits.append(GroupCommit(group, position, epoch, cluster.now))
        if cluster.trace.on:
            cluster.emit("group_committed", None, group=group, position=position, epoch=epoch)


def offsets_segment(commits: list[GroupCommit], topic: str, partition: int, protocol: Protocol) -> bytes:
    """Return the commits as a segment of ``__consumer_offsets``, a batch each.

    Values are of version 3 with the leader epoch from 2.1 on, else of version 1 (OffsetCommitValue).
    """
    return b"".join(
        keyed(offset, _key(one.group, topic, partition), _value(one, protocol), one.at, protocol.magic)
        for offset, one in enumerate(commits)
    )


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _key(group: str, topic: str, partition: int) -> bytes:
    return struct.pack(">h", 1) + _text(group) + _text(topic) + struct.pack(">i", partition)


def _value(commit: GroupCommit, protocol: Protocol) -> bytes:
    time = epoch_ms(commit.at)
    if protocol.kafka < EPOCH_IN_COMMITS:
        return struct.pack(">hq", 1, commit.position) + _text("") + struct.pack(">qq", time, time + 86_400_000)
    return struct.pack(">hqi", 3, commit.position, commit.epoch) + _text("") + struct.pack(">q", time)
