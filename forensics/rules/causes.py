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
        "truncation to the high watermark on becoming a follower",
        "KIP-101, KAFKA-1211",
        "brokers before 0.11, or an inter-broker protocol or message format before it",
        "run 0.11 or later with inter.broker.protocol.version and log.message.format.version at 0.11 or later",
    ),
    Cause(
        CauseId.UNCLEAN_ELECTION,
        "a replica from outside the ISR was elected",
        "KIP-106",
        "all; enabled by default up to 0.10.2",
        "unclean.leader.election.enable=false (where it was false already, a command forced the election), and "
        "min.insync.replicas of 2 or more with acks=all; with eligible leader replicas (KIP-966, from 4.0 on) the last "
        "known leader may be elected all the same",
    ),
    Cause(
        CauseId.FORCED_ELECTION,
        "a command forced the election of a replica from outside the ISR, which no setting allowed",
        "KIP-460",
        "2.4 and later",
        "no unclean election by command (kafka-leader-election.sh --election-type UNCLEAN) before the replicas of the "
        "last ISR are given up for lost; min.insync.replicas of 2 or more with acks=all",
    ),
    Cause(
        CauseId.UNFLUSHED_TAIL,
        "a replica came back without the end of its log: power loss or a crash of the host before the "
        "records were flushed",
        "KIP-966",
        "all; Kafka relies on replication, not on fsync",
        "replicas in independent failure domains, min.insync.replicas of 2 or more",
    ),
    Cause(
        CauseId.WIPED_DISK,
        "a replica came back with an empty log in the place of its old one: a wiped, replaced, unmounted or failed "
        "disk",
        "KIP-903, KIP-966",
        "all; KRaft adds no replica of an older broker epoch to an ISR (KIP-903), but elects a wiped one that is "
        "still in it or was its last member",
        "never start a broker on an empty disk while it is the only member of an ISR",
    ),
    Cause(
        CauseId.LAGGING_ISR_MEMBER,
        "a member of the ISR that did not have the committed records was elected",
        "KAFKA-7128, KIP-207",
        "an ISR that admits a replica before it has reached the leader epoch's start: up to 2.0",
        "run 2.1 or later",
    ),
    Cause(
        CauseId.ACKS1_FAILOVER,
        "the leader's last records had reached no follower when another led: producers with acks=0 or acks=1 had been "
        "told that these are safe; producers with acks=all had not, and send them again",
        "Kafka documentation, producer setting acks",
        "all; legal",
        "acks=all with min.insync.replicas of 2 or more",
    ),
    Cause(
        CauseId.DAMAGED_EPOCH_FILE,
        "leader-epoch-checkpoint does not describe the log beside it",
        "KAFKA-7897, KIP-101",
        "0.11 and later",
        "never edit, restore or delete checkpoint files of a partition by hand",
    ),
    Cause(
        CauseId.STALE_DIRECTORY,
        "a data directory left or copied from another time in the place of the broker's own",
        "KIP-858 (directory ids)",
        "all; directory ids tell them apart from 3.7 on",
        "take old disks out before their broker id is used again; never start a broker on a restored copy",
    ),
    Cause(
        CauseId.MANUAL_EDIT,
        "files of a log directory were changed by hand: a checkpoint removed, emptied or restored, or a replica moved",
        "Kafka documentation, log directories",
        "all",
        "never touch files of a log directory while a broker is stopped",
    ),
    Cause(
        CauseId.EPOCHS_PUT_BACK,
        "leader epochs were handed out again: ZooKeeper or the metadata log was put back from an older copy",
        "KIP-101, Kafka documentation, ZooKeeper operation",
        "all",
        "never restore ZooKeeper or the metadata log from an older copy under brokers that have gone on",
    ),
    Cause(CauseId.UNKNOWN, "the evidence does not show the cause", "", "", ""),
)
"""Every cause a finding may name."""

BY_ID = {cause.id: cause for cause in CAUSES}
