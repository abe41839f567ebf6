"""Causes of lost records: a closed list, each with its source and with what would have prevented it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CauseId(StrEnum):
    """Names of causes, in JSON too."""

    HW_TRUNCATION = "hw-truncation"
    UNCLEAN_ELECTION = "unclean-election"
    FORCED_ELECTION = "forced-election"
    UNFLUSHED_TAIL = "unflushed-tail"
    WIPED_DISK = "wiped-disk"
    LAGGING_ISR_MEMBER = "lagging-isr-member"
    ACKS1_FAILOVER = "acks1-failover"
    DAMAGED_EPOCH_FILE = "damaged-epoch-file"
    STALE_DIRECTORY = "stale-directory"
    MANUAL_EDIT = "manual-edit"
    EPOCHS_PUT_BACK = "epochs-put-back"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause.

    Attributes:
        id: its name.
        text: what it is, in one sentence.
        reference: KIP or KAFKA issue.
        versions: versions affected.
        prevention: configuration or upgrade that would have prevented it.
    """

    id: CauseId
    text: str
    reference: str
    versions: str
    prevention: str


CAUSES: tuple[Cause, ...] = (
    Cause(
        CauseId.HW_TRUNCATION,
        "a replica that became a follower truncated its log to its own high watermark",
        "KIP-101, KAFKA-1211",
        "brokers before 0.11, or an inter-broker protocol or message format before 0.11",
        "run 0.11 or later, and set inter.broker.protocol.version and log.message.format.version to 0.11 or later",
    ),
    Cause(
        CauseId.UNCLEAN_ELECTION,
        "a replica from outside the ISR was elected leader",
        "KIP-106",
        "all. Up to 0.10.2, unclean.leader.election.enable is true by default",
        "set unclean.leader.election.enable=false, and min.insync.replicas to 2 or more with acks=all",
    ),
    Cause(
        CauseId.FORCED_ELECTION,
        "a command forced the election of a replica from outside the ISR; no setting allowed it",
        "KIP-460",
        "2.4 and later",
        "do not run kafka-leader-election.sh --election-type UNCLEAN while a replica of the last ISR may return; set "
        "min.insync.replicas to 2 or more with acks=all",
    ),
    Cause(
        CauseId.UNFLUSHED_TAIL,
        "a replica restarted without the end of its log: its host lost power or crashed before the records were "
        "flushed",
        "KIP-966",
        "all. Kafka relies on replication, not on fsync",
        "put 3 or more replicas into separate failure domains (racks, power supplies)",
    ),
    Cause(
        CauseId.WIPED_DISK,
        "a replica restarted with an empty log: its disk was wiped, replaced, not mounted, or failed",
        "KIP-903, KIP-966",
        "all. KRaft does not add a replica of an older broker epoch to an ISR (KIP-903). It still elects a wiped "
        "replica that is in the ISR or was its last member",
        "do not start a broker on an empty disk while it is the only member of an ISR",
    ),
    Cause(
        CauseId.LAGGING_ISR_MEMBER,
        "a member of the ISR was elected leader although it lacked committed records",
        "KAFKA-7128, KIP-207",
        "up to 2.0: the leader adds a replica to the ISR before it has reached the start of the leader epoch",
        "run 2.1 or later",
    ),
    Cause(
        CauseId.ACKS1_FAILOVER,
        "no follower had fetched the leader's last records when another replica became leader. Producers with acks=0 "
        "or acks=1 treat them as written; producers with acks=all got no acknowledgement and send them again",
        "Kafka documentation, producer setting acks",
        "all. This is legal",
        "use acks=all, and set min.insync.replicas to 2 or more",
    ),
    Cause(
        CauseId.DAMAGED_EPOCH_FILE,
        "leader-epoch-checkpoint does not describe the log beside it",
        "KAFKA-7897, KIP-101",
        "0.11 and later",
        "do not edit, restore or delete checkpoint files of a partition by hand",
    ),
    Cause(
        CauseId.STALE_DIRECTORY,
        "the broker started on a data directory from another time: a left-over or a copy",
        "KIP-858 (directory ids)",
        "all. From 3.7 on, directory ids distinguish the directories",
        "remove old disks before you use their broker id again; do not start a broker on a restored copy",
    ),
    Cause(
        CauseId.MANUAL_EDIT,
        "somebody changed files of a log directory by hand: removed, emptied or restored a checkpoint, or moved a "
        "replica",
        "Kafka documentation, log directories",
        "all",
        "do not change files of a log directory by hand, also while the broker is stopped",
    ),
    Cause(
        CauseId.EPOCHS_PUT_BACK,
        "ZooKeeper or the metadata log was restored from an older copy, so leader epochs were used a second time",
        "KIP-101, Kafka documentation, ZooKeeper operation",
        "all",
        "do not restore ZooKeeper or the metadata log from an older copy while the brokers keep newer data",
    ),
    Cause(CauseId.UNKNOWN, "the evidence does not show the cause", "", "", ""),
)
"""Every cause a finding may name."""

BY_ID = {cause.id: cause for cause in CAUSES}
