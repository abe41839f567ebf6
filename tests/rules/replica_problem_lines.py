"""Lines about one replica's files, epochs and compaction that state known problems, and lines that look like them."""

from __future__ import annotations

from tests.rules.shown_lines import FELL, FETCHER, STORED, Shown, event

_LOG, _CACHE = f"[Log partition=sales-7, dir={STORED}]", "kafka.server.epoch.LeaderEpochFileCache"
_BROKER = event("[Partition sales-7 broker=2] Expanding ISR from 2 to 2,3", "kafka.cluster.Partition")


def _conflict(offset: int) -> str:
    return event(
        f"[LeaderEpochCache sales-7] New epoch entry EpochEntry(epoch=9, startOffset={offset}) caused truncation of "
        "conflicting entries ListBuffer(EpochEntry(epoch=8, startOffset=520)). Cache now contains 7 entries.",
        _CACHE,
        "WARN",
    )


def _produced(end: str) -> str:
    return event(
        "[Producer clientId=p] The broker returned org.apache.kafka.common.errors.OutOfOrderSequenceException: The "
        f"broker received an out of order sequence number. for topic-partition sales-7 at offset 130{end}",
        "org.apache.kafka.clients.producer.internals.Sender",
        "ERROR",
    )


def _remote(message: str) -> str:
    return event(
        f"[RemoteLogManager=2 partition=Rh8JkKq4RPy1v6cF2f9x0A:sales-7] {message}",
        "kafka.log.remote.RemoteLogManager$RLMTask",
        "ERROR",
    )


def _begun_again(side: str) -> str:
    """A follower of 0.8 whose leader's log starts, or ends, at 90."""
    return event(
        f"[ReplicaFetcherThread-0-2], Replica 3 for partition [sales,7] reset its fetch offset from 90 to current "
        f"leader 2's {side} offset 90",
        level="WARN",
    )


_RESET_TO_START = event(
    "[ReplicaFetcherThread-0-2], Current offset 130 for partition [sales,7] out of range; reset offset to 90",
    level="ERROR",
)

_UNKNOWN_TOPIC = "the topicId Rh8JkKq4RPy1v6cF2f9x0A does not exist in the metadata image"
_ELSEWHERE = "the current replica assignment [3, 4] does not contain the local brokerId 2."
_SET_ASIDE = event(
    f"Log in {STORED}/sales-7 marked stray and renamed to {STORED}/sales-7.0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f-stray",
    "kafka.log.LogManager",
    "WARN",
)


def _stray(reason: str) -> str:
    log = (
        f"Log(dir={STORED}/sales-7, topicId=Rh8JkKq4RPy1v6cF2f9x0A, topic=sales, partition=7, highWatermark=0, "
        "lastStableOffset=0, logStartOffset=0, logEndOffset=151)"
    )
    return event(f"Found stray log dir {log}: {reason}", "kafka.log.LogManager$")


def _twice(other: str) -> str:
    return (
        "java.lang.IllegalStateException: Duplicate log directories for sales-7 are found in both "
        f"/disk1/sales-7 and {other}. It is likely because log directory failure happened while broker was replacing "
        "current replica with future replica."
    )


_LOADING = event("Error while loading log dir /disk1", "kafka.log.LogManager", "ERROR")


def _not_loaded(exception: str) -> str:
    return event(
        f"There was an error in one of the threads during logs loading: {exception}", "kafka.log.LogManager", "ERROR"
    )


_FAULT = event(
    "Encountered fatal fault: Error starting LogManager",
    "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler",
    "ERROR",
)

SHOWN: dict[str, Shown] = {
    "topic-id-missing": Shown(
        [
            _FAULT,
            (
                f"java.lang.RuntimeException: The log dir Log(dir={STORED}/sales-7, topic=sales, partition=7, "
                "highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=0) does not have a topic ID, "
                "which is not allowed when running in KRaft mode."
            ),
        ],
        [_FAULT, "java.lang.RuntimeException: The log dir is locked"],
    ),
    "file-not-readable": Shown(
        [_FAULT, f"java.io.IOException: Could not read file {STORED}/sales-7/00000000000000000151.timeindex"],
        [_FAULT, "java.io.IOException: Could not read file /etc/kafka/secrets/password"],
    ),
    "logs-not-loaded": Shown(
        [_not_loaded("kafka.common.KafkaException: anything")],
        [
            _not_loaded(
                f"kafka.common.InvalidOffsetException: Attempt to append an offset (130) to position 28 no larger than "
                f"the last offset appended (151) to {STORED}/sales-7/00000000000000000100.index."
            )
        ],
        name=None,
    ),
    "two-directories": Shown(
        [_LOADING, _twice("/disk2/sales-7")],
        [_LOADING, "java.lang.IllegalStateException: Found directory /disk1/sales"],
    ),
    "remote-read-failed": Shown(
        [
            event(
                "[remote-log-reader-2]Error occurred while reading the remote data for sales-7",
                "kafka.log.remote.RemoteLogReader",
                "ERROR",
            )
        ],
        [_remote("Error occurred while copying log segments of partition: Rh8JkKq4RPy1v6cF2f9x0A:sales-7")],
    ),
    "stray-topic": Shown([_stray(_UNKNOWN_TOPIC)], [_stray(_ELSEWHERE), _SET_ASIDE]),
    "stray-replica": Shown([_stray(_ELSEWHERE)], [_stray(_UNKNOWN_TOPIC), _SET_ASIDE]),
    "truncation-and-lower-high-watermark": Shown(
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 130", "kafka.log.Log"), FELL],
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 151", "kafka.log.Log"), FELL],
        offsets=((130, 151),),
    ),
    "isr-member-behind": Shown(
        [
            event(
                "[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2,3. Leader: (highWatermark: 151, endOffset: "
                "160). Out of sync replicas: (brokerId: 1, endOffset: 130).",
                "kafka.cluster.Partition",
            )
        ],
        [
            event(
                "[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2,3. Leader: (highWatermark: 151, endOffset: "
                f"160). Out of sync replicas: (brokerId: 1, endOffset: {end}).",
                "kafka.cluster.Partition",
            )
            for end in (151, -1)
        ],
        broker=2,
        offsets=((130, 151),),
    ),
    "segments-missing": Shown(
        [
            event(
                f"{_LOG} Deleting all segments because logEndOffset (41) is smaller than logStartOffset (130). This "
                "could happen if segment files were deleted from the file system.",
                "kafka.log.Log",
                "WARN",
            )
        ],
        [event(f"{_LOG} Truncating to offset 130", "kafka.log.Log")],
    ),
    "compaction-stopped": Shown(
        [
            event(
                "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log Log(dir=/d/sales-7). "
                "Marking its partition (sales-7) as uncleanable",
                "kafka.log.LogCleaner",
                "WARN",
            )
        ],
        [_BROKER],
    ),
    "epoch-begins-below": Shown([_conflict(400)], [_conflict(520)]),
    "epochs-out-of-order": Shown(
        [
            event(
                "Received a PartitionLeaderEpoch assignment for an epoch < latestEpoch. This implies messages have "
                "arrived out of order. New: {epoch:3, offset:1}, Current: {epoch:4, offset:5} for Partition: sales-7",
                _CACHE,
                "WARN",
            )
        ],
        [
            event(
                "Updated PartitionLeaderEpoch. New: {epoch:4, offset:5}, Current: {epoch:3, offset1} for Partition: "
                "sales-7. Cache now contains 2 entries.",
                _CACHE,
            )
        ],
    ),
    "remote-state-missing": Shown(
        [
            event(f"{FETCHER} Error building remote log auxiliary state for sales-7", level="ERROR"),
            (
                "org.apache.kafka.server.log.remote.storage.RemoteStorageException: Couldn't build the state from "
                "remote store for partition: sales-7, currentLeaderEpoch: 7, leaderLocalLogStartOffset: 90, "
                "leaderLogStartOffset: 0, epoch: 6as the previous remote log segment metadata was not found"
            ),
        ],
        [
            event(f"{FETCHER} Error building remote log auxiliary state for sales-7", level="ERROR"),
            (
                "org.apache.kafka.common.errors.OffsetMovedToTieredStorageException: The requested offset is moved to "
                "tiered storage."
            ),
        ],
        broker=3,
    ),
    "remote-copy-failed": Shown(
        [_remote("Error occurred while copying log segments of partition: Rh8JkKq4RPy1v6cF2f9x0A:sales-7")],
        [_remote("Current task for topic-partition R:sales-7 received error but it will be scheduled")],
        broker=2,
    ),
    "log-fetched-again": Shown(
        [_begun_again("start"), _RESET_TO_START],
        [_begun_again("latest"), _RESET_TO_START],
        broker=3,
    ),
    "behind-log-start": Shown(
        [
            event(
                f"{FETCHER} Reset fetch offset for partition sales-7 from 90 to current leader's start offset 130",
                level="WARN",
            )
        ],
        [
            event(
                f"{FETCHER} Reset fetch offset for partition sales-7 from 151 to current leader's latest offset 130",
                level="WARN",
            )
        ],
        broker=3,
    ),
    "damage-found": Shown(
        [
            event(
                f"Found invalid messages in log segment {STORED}/sales-7/00000000000000000130.log at byte offset 5516: "
                "Record is corrupt (stored crc = 1, computed crc = 2).",
                "kafka.log.LogSegment",
                "WARN",
            )
        ],
        [event(f"{_LOG} Recovering unflushed segment 130", "kafka.log.Log")],
    ),
    "log-not-restarted": Shown(
        [
            event(f"{FETCHER} Error getting offset for partition sales-7", level="ERROR"),
            (
                "java.lang.IllegalStateException: Compaction for partition sales-7 cannot be aborted and paused since "
                "it is in LogCleaningPaused state."
            ),
        ],
        [event(f"{FETCHER} Error getting offset for partition sales-7", level="ERROR")],
        broker=3,
    ),
    "producer-unknown": Shown(
        [_produced(". This indicates data loss on the broker, and should be investigated.")],
        [_produced("."), _BROKER],
    ),
}
