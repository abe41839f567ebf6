"""Inferences: what replay concludes from the protocol where no line and no file states it, one row each.

Bounds, high watermark statements, truncations and shortened logs name the rows that they rest on (``by``). A finding
names those of its values. docs/how-it-judges.md shows the table. A line that is absent is never a reason by itself:
each function asks the coverage before it concludes anything from one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Inferred(StrEnum):
    """Ids of the inferences."""

    ISR_COVERS_HW = "isr-covers-hw"
    HW_WITHIN_LOG = "hw-within-log"
    LEADER_HAS_WHAT_WAS_FETCHED = "leader-has-what-was-fetched"
    SCRAPED_LOG_END = "scraped-log-end"
    FOLLOWER_HW_IS_LEADERS = "follower-hw-is-leaders"
    READ_BACK_WAS_REACHED = "read-back-was-reached"
    ALONE_COMMITS = "alone-commits"
    RECORDS_OF_LATER_EPOCH = "records-of-later-epoch"
    ANSWERED_IN_NEXT_EPOCH = "answered-in-next-epoch"
    READ_BELOW_HIGH_WATERMARK = "read-below-high-watermark"
    SCRAPED_HIGH_WATERMARK = "scraped-high-watermark"
    FOLLOWED_UNTIL_ELECTED = "followed-until-elected"
    LEADER_LOG_GROWS = "leader-log-grows"


@dataclass(frozen=True, slots=True)
class Inference:
    """One row of the table.

    Attributes:
        id: its name.
        says: the conclusion, in one sentence.
        source: KIP, KAFKA issue, or Kafka's class and method that makes it true.
        function: the function that draws it, as module below ``forensics.replay`` and name.
        needs: rows of ``protocol.BEHAVIOURS`` that must hold for it.
        unless: rows of ``protocol.BEHAVIOURS`` that must not hold.
    """

    id: Inferred
    says: str
    source: str
    function: str
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


INFERENCES = (
    Inference(
        Inferred.ISR_COVERS_HW,
        "A replica that was in the ISR when the leader reached high watermark h held the offsets below h.",
        "Partition.maybeIncrementLeaderHW takes the lowest log end offset of the ISR",
        "truncations.held_ends:HeldEnds.bounded",
    ),
    Inference(
        Inferred.HW_WITHIN_LOG,
        "A replica that stated high watermark h held the offsets below h.",
        "UnifiedLog.maybeUpdateHighWatermark takes no high watermark above the log end offset",
        "truncations.held_ends:HeldEnds.bounded",
    ),
    Inference(
        Inferred.LEADER_HAS_WHAT_WAS_FETCHED,
        "A leader held what a follower fetched from it after both logs were reconciled by leader epoch.",
        "KIP-101: a follower truncates to where its leader's epoch ends before it fetches",
        "truncations.held_ends:HeldEnds.by_fetches",
        needs=("truncates_by_epoch",),
    ),
    Inference(
        Inferred.SCRAPED_LOG_END,
        "A replica whose broker's exporter printed log end offset n held the offsets below n at that time.",
        "UnifiedLog registers the gauge LogEndOffset of kafka.log, which is its log end offset",
        "roles.scraped_ends:ScrapedEnds.before_removal",
    ),
    Inference(
        Inferred.FOLLOWER_HW_IS_LEADERS,
        "A high watermark that a follower states in a leader epoch is about the log of the leader of that epoch.",
        "ReplicaFetcherThread.processPartitionData takes it from the leader's response, also before it truncates",
        "high_watermarks.hw_attribution:HwAttribution.state",
    ),
    Inference(
        Inferred.READ_BACK_WAS_REACHED,
        "A high watermark that a checkpoint holds, or that a broker reads back from it, was reached before.",
        "ReplicaManager.checkpointHighWatermarks writes the high watermark of each replica",
        "high_watermarks.hw_attribution:HwAttribution.state",
    ),
    Inference(
        Inferred.ALONE_COMMITS,
        "A leader alone in the ISR, from which no replica fetches but fenced ones, commits what it appends.",
        "Partition.maybeIncrementLeaderHW; with min.insync.replicas 1 in all releases",
        "high_watermarks.hw_attribution:HwAttribution.state_reached",
        unless=("hw_needs_min_isr",),
    ),
    Inference(
        Inferred.RECORDS_OF_LATER_EPOCH,
        "A high watermark above the first record of a later leader epoch in the follower's log is about that epoch.",
        "LeaderEpochFileCache.assign notes each epoch with its first record",
        "high_watermarks.candidates:attributed",
    ),
    Inference(
        Inferred.ANSWERED_IN_NEXT_EPOCH,
        "A high watermark of a follower above the start of its leader's next epoch is about that epoch.",
        "its leader's log ended there until then; before KIP-320 a leader answers a fetch of an earlier epoch",
        "high_watermarks.candidates:attributed",
    ),
    Inference(
        Inferred.READ_BELOW_HIGH_WATERMARK,
        "A record of a leader epoch that a consumer group read was below the high watermark of that epoch's log.",
        "ReplicaManager.fetchMessages serves consumers below it; KIP-320 states the epoch in the commit",
        "high_watermarks.group_reads:read_by_groups",
    ),
    Inference(
        Inferred.SCRAPED_HIGH_WATERMARK,
        "An offset that an exporter printed as a partition's end was the high watermark of the leader at that time.",
        "Partition.fetchOffsetForTimestamp answers a consumer that asks for the latest offset with the high watermark",
        "high_watermarks.scraped:_statement",
    ),
    Inference(
        Inferred.FOLLOWED_UNTIL_ELECTED,
        "A leader began no higher than its former leader's log had reached, if it followed until it was elected.",
        "a follower appends only what it fetches (ReplicaFetcherThread.processPartitionData)",
        "leadership.epoch_start:EpochStart._begins",
    ),
    Inference(
        Inferred.LEADER_LOG_GROWS,
        "A leader epoch began no higher than any log end offset that its leader had in that epoch.",
        "a leader only appends (Partition.appendRecordsToLeader)",
        "leadership.epoch_start:EpochStart._begins",
    ),
)
"""Every inference, in the order in which replay draws them: log ends, high watermarks, starts of epochs."""


def joined(*by: Iterable[Inferred]) -> tuple[Inferred, ...]:
    """Return all of these inferences, each once, in the order of the table."""
    named = {one for some in by for one in some}
    return tuple(one.id for one in INFERENCES if one.id in named) if named else ()
