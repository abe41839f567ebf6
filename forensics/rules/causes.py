"""Causes of lost records: a closed list, each with its source and with what would have prevented it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forensics.case import Origin


class CauseId(StrEnum):
    """Names of causes, in JSON too."""

    HW_TRUNCATION = "hw-truncation"
    UNCLEAN_ELECTION = "unclean-election"
    FORCED_ELECTION = "forced-election"
    UNFLUSHED_TAIL = "unflushed-tail"
    CORRUPT_BATCH = "corrupt-batch"
    WIPED_DISK = "wiped-disk"
    LAGGING_ISR_MEMBER = "lagging-isr-member"
    ACKS1_FAILOVER = "acks1-failover"
    DAMAGED_EPOCH_FILE = "damaged-epoch-file"
    STALE_DIRECTORY = "stale-directory"
    MANUAL_EDIT = "manual-edit"
    VOTERS_LOST_RECORDS = "voters-lost-records"
    EPOCHS_PUT_BACK = "epochs-put-back"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause.

    Attributes:
        id: its name.
        text: what it is, in one or two sentences; "most likely" where the evidence shows the effect alone.
        reference: KIP or KAFKA issue.
        versions: versions affected, as what follows "affects".
        prevention: configuration or upgrade that would have prevented it.
    """

    id: CauseId
    text: str
    reference: str
    versions: str
    prevention: str


_APART = "put 3 or more replicas into separate failure domains (racks, power supplies)"
_NOT_ALONE = "set min.insync.replicas to 2 or more, so that no leader acknowledges acks=all alone"

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
        "all versions. Up to 0.10.2, unclean.leader.election.enable is true by default",
        "set unclean.leader.election.enable=false, and min.insync.replicas to 2 or more with acks=all",
    ),
    Cause(
        CauseId.FORCED_ELECTION,
        "a command forced the election of a replica from outside the ISR; no setting allowed it",
        "KIP-460",
        "versions 2.4 and later",
        "do not run kafka-leader-election.sh --election-type UNCLEAN while a replica of the last ISR may return; set "
        "min.insync.replicas to 2 or more with acks=all",
    ),
    Cause(
        CauseId.UNFLUSHED_TAIL,
        "the end of a replica's log is gone. Either its host lost power or crashed before the records were flushed, "
        "or its data directory was put back from a backup or a snapshot. The log lines of both are the same",
        "KIP-966",
        "all versions: Kafka relies on replication, not on fsync",
        f"{_APART}; from 4.0 on, let Kafka track eligible leader replicas (KIP-966): one that stopped uncleanly is "
        "then not elected",
    ),
    Cause(
        CauseId.CORRUPT_BATCH,
        "log recovery found corruption, and the broker truncated its log there. A crash in the middle of a write "
        "leaves corrupt bytes, and so does a faulty disk or memory: check both before you trust this broker",
        "Kafka's LogLoader.recoverLog",
        "all versions",
        f"{_NOT_ALONE}; {_APART}",
    ),
    Cause(
        CauseId.WIPED_DISK,
        "a replica restarted with an empty log: most likely its disk was wiped, replaced, not mounted, or failed",
        "KIP-903, KIP-966",
        "all versions: a member of the ISR is elected by its broker id, also if its disk is empty by then",
        "do not start a broker on an empty disk while it is the only member of an ISR",
    ),
    Cause(
        CauseId.LAGGING_ISR_MEMBER,
        "a member of the ISR was elected leader although it lacked committed records",
        "KAFKA-7128, KIP-207",
        "versions up to 2.0: the leader adds a replica to the ISR before it has reached the start of the leader epoch",
        "run 2.1 or later",
    ),
    Cause(
        CauseId.ACKS1_FAILOVER,
        "no follower had fetched the leader's last records when another replica became leader. Producers with acks=0 "
        "or acks=1 treat them as written; producers with acks=all got no acknowledgement and send them again",
        "the Kafka documentation, producer setting acks",
        "all versions. This is legal",
        "use acks=all, and set min.insync.replicas to 2 or more",
    ),
    Cause(
        CauseId.DAMAGED_EPOCH_FILE,
        "leader-epoch-checkpoint does not describe the log beside it",
        "KAFKA-7897, KIP-101",
        "versions 0.11 and later",
        "do not edit, restore or delete checkpoint files of a partition by hand",
    ),
    Cause(
        CauseId.STALE_DIRECTORY,
        "most likely the broker started on a data directory from another time: a left-over or a copy",
        "KIP-858 (directory ids)",
        "all versions. From 3.7 on, a directory has an id, but a copy has that of its original",
        "do not start a broker on a restored copy. Remove old disks before you use their broker id again, but not "
        "before you have copied what is on them",
    ),
    Cause(
        CauseId.MANUAL_EDIT,
        "most likely somebody changed files of a log directory by hand: removed, emptied or restored a checkpoint, or "
        "moved a replica",
        "the Kafka documentation, log directories",
        "all versions",
        "do not change files of a log directory by hand, also while the broker is stopped",
    ),
    Cause(
        CauseId.VOTERS_LOST_RECORDS,
        "a controller lost what it had of the metadata log: most likely its disk was wiped, formatted again or put "
        "back from an older copy. Controllers that lack a record can elect a leader without it, and a controller that "
        "is the only one begins with what its disk has",
        "KIP-595",
        "all versions with KRaft: a vote counts whatever the voter had before its disk was replaced",
        "replace the disk of one controller at a time, and wait until it has the whole log again; do not restore a "
        "controller from a backup while others run",
    ),
    Cause(
        CauseId.EPOCHS_PUT_BACK,
        "leader epochs were used a second time: most likely ZooKeeper or the metadata log was restored from an older "
        "copy",
        "KIP-101 and the Kafka documentation, ZooKeeper operation",
        "all versions",
        "do not restore ZooKeeper or the metadata log from an older copy while the brokers keep newer data",
    ),
    Cause(CauseId.UNKNOWN, "the evidence proves no cause", "", "", ""),
)
"""Every cause a finding may name."""

BY_ID = {cause.id: cause for cause in CAUSES}

_OF_OTHER: Mapping[CauseId, tuple[str, str]] = MappingProxyType(
    {
        CauseId.HW_TRUNCATION: (
            "a replica that became a follower truncated its log to its own high watermark",
            "let a follower truncate to where its log agrees with that of its leader, by leader epochs",
        ),
        CauseId.UNCLEAN_ELECTION: (
            "a replica from outside the ISR was elected leader",
            "elect leaders only from the replicas that have all committed records",
        ),
        CauseId.FORCED_ELECTION: (
            "a command forced the election of a replica from outside the ISR",
            "do not force an election while a replica of the last ISR may return",
        ),
        CauseId.UNFLUSHED_TAIL: (
            "the end of a replica's log is gone. Most likely its host crashed before the records were flushed",
            "flush records before they count as committed, or put replicas into separate failure domains",
        ),
        CauseId.CORRUPT_BATCH: (
            (
                "a replica found corruption in its log and truncated it there. A crash in the middle of a write leaves "
                "corrupt bytes, and so does a faulty disk or memory: the evidence does not show which it was"
            ),
            "check the disk and the memory of the host, and put replicas into separate failure domains",
        ),
        CauseId.WIPED_DISK: (
            "a replica restarted with an empty log: most likely its disk was wiped, replaced, not mounted, or failed",
            "let a replica with an empty log rejoin as a new one, which cannot lead",
        ),
        CauseId.LAGGING_ISR_MEMBER: (
            "a member of the ISR was elected leader although it lacked committed records",
            "add a replica to the ISR only when it has all committed records",
        ),
        CauseId.ACKS1_FAILOVER: (
            "no follower had the leader's last records when another replica became leader. They were not committed",
            "wait for the commit before a client counts a record as written",
        ),
        CauseId.DAMAGED_EPOCH_FILE: (
            "the epoch entries of a replica do not describe its log",
            "do not edit, restore or delete what a replica notes of its leader epochs",
        ),
        CauseId.STALE_DIRECTORY: (
            "most likely the replica started with data from another time: a left-over or a copy",
            "remove old disks before a replica is started, and do not start one on a restored copy",
        ),
        CauseId.MANUAL_EDIT: (
            (
                "most likely somebody changed what the replica had stored: removed or restored its high watermark, or "
                "moved its log"
            ),
            "do not change the files of a replica by hand",
        ),
        CauseId.EPOCHS_PUT_BACK: (
            (
                "leader epochs were used a second time: most likely the store that numbers them was restored from an "
                "older copy"
            ),
            "do not restore the store that numbers leader epochs while the replicas keep newer data",
        ),
        CauseId.VOTERS_LOST_RECORDS: (
            "a voter lost what it had of the log: most likely its disk was wiped or put back from an older copy",
            "replace the disk of one voter at a time, and wait until it has the whole log again",
        ),
        CauseId.UNKNOWN: ("the evidence proves no cause", ""),
    }
)
"""Text and prevention of each cause in a system that is not Kafka."""

OF_OTHER = {number: Cause(number, text, "", "", prevention) for number, (text, prevention) in _OF_OTHER.items()}
"""The same causes in the words of such a system: no release and no issue of Kafka is named."""


def cause_for(cause: CauseId, origin: Origin) -> Cause:
    """Return a cause in the words of the system that the evidence is of."""
    return (BY_ID if origin.of_kafka else OF_OTHER)[cause]
