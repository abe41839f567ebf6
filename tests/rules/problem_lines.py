"""Lines that state each known problem, and lines that look like them."""

from __future__ import annotations

from tests.rules.broker_problem_lines import SHOWN as OF_BROKERS
from tests.rules.command_problem_lines import SHOWN as OF_COMMANDS
from tests.rules.fetch_problem_lines import SHOWN as OF_FETCHES
from tests.rules.replica_problem_lines import SHOWN as OF_REPLICAS
from tests.rules.shown_lines import CAUGHT_UP, FELL, FETCHER, FRAME, LOADED, STORED, TO_EPOCH, Shown, event, opened

FETCH_MISMATCH = [
    event(
        f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
        level="ERROR",
    ),
    (
        "java.lang.IllegalStateException: Offset mismatch for partition sales-7: fetched offset = 130, log end "
        "offset = 131."
    ),
]
"""Lines of a fetch that was started before an earlier one had ended."""


SHOWN: dict[str, Shown] = {
    **OF_REPLICAS,
    **OF_COMMANDS,
    **OF_BROKERS,
    **OF_FETCHES,
    "shared-directory": Shown(
        [opened("sales-7"), opened("Sales-7", at=42), opened("sales-7", at=43)],
        [
            opened("sales-7", stored=STORED),
            opened("Sales-7", stored=STORED, at=42),
            opened("sales-7", stored=STORED, at=43),
        ],
        name="Sales-7",
    ),
    "truncation-refused": Shown(
        [
            event(
                f"{FETCHER} Exiting because log truncation is not allowed for partition sales-7, current leader's "
                "latest "
                "offset 130 is less than replica's latest offset 151",
                level="FATAL",
            )
        ],
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 130", "kafka.log.Log")],
        broker=3,
        offsets=((130, 151),),
    ),
    "out-of-order-append": Shown(
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
                level="ERROR",
            ),
            (
                "org.apache.kafka.common.errors.OffsetsOutOfOrderException: Out of order offsets found in append to "
                "sales-7: "
                "ArrayBuffer(130, 131, 130)"
            ),
            FRAME,
        ],
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
                level="ERROR",
            ),
            "org.apache.kafka.common.errors.InvalidTimestampException: Out of range",
            FRAME,
        ],
        broker=3,
    ),
    "fetch-offset-mismatch": Shown(
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
                level="ERROR",
            ),
            (
                "java.lang.IllegalStateException: Offset mismatch for partition sales-7: fetched offset = 130, log end "
                "offset = 131."
            ),
            FRAME,
        ],
        [event(f"{FETCHER} Partition sales-7 marked as failed", level="WARN")],
        broker=3,
    ),
    "fetch-beyond-log-end": Shown(
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 131",
                level="ERROR",
            ),
            (
                "java.lang.IllegalStateException: Offset mismatch for partition sales-7: fetched offset = 131, log end "
                "offset = 130."
            ),
        ],
        FETCH_MISMATCH,
        broker=3,
    ),
    "future-replica-stopped": Shown(
        [
            event("[ReplicaAlterLogDirsThread-1]: Error due to", "kafka.server.ReplicaAlterLogDirsThread", "ERROR"),
            "org.apache.kafka.common.KafkaException: Error processing data for partition sales-7 offset 131",
            (
                "Caused by: java.lang.IllegalStateException: Offset mismatch for the future replica sales-7: fetched "
                "offset = 131, log end offset = 130."
            ),
        ],
        [
            event("[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error due to", level="ERROR"),
            "org.apache.kafka.common.KafkaException: Error processing data for partition sales-7 offset 131",
            (
                "Caused by: java.lang.IllegalStateException: Offset mismatch for partition sales-7: fetched offset = "
                "131, log end offset = 130."
            ),
        ],
    ),
    "append-refused": Shown(
        [
            event(
                f"{FETCHER} Unexpected error occurred while processing data for partition sales-7 at offset 130",
                level="ERROR",
            ),
            (
                "kafka.common.UnexpectedAppendOffsetException: Unexpected offset in append to sales-7. First offset "
                "130 is less than "
                "the next offset 151. First 10 offsets in append: ArrayBuffer(130), last offset in append: 130. Log "
                "start offset = 0"
            ),
        ],
        FETCH_MISMATCH,
        broker=3,
        offsets=((130, 151),),
    ),
    "fetch-offset-went-back": Shown(
        [
            event(
                (
                    "[ReplicaFetcherThread-0-2], Current offset 151 for partition [sales,7] out of range; reset offset "
                    "to 130"
                ),
                level="ERROR",
            ),
            event(
                "[ReplicaFetcherManager on broker 3] Removed fetcher for partitions [sales,7]",
                "kafka.server.ReplicaFetcherManager",
            ),
        ],
        [
            event(
                (
                    "[ReplicaFetcherThread-0-2], Current offset 0 for partition [sales,7] out of range; reset offset "
                    "to 130"
                ),
                level="ERROR",
            )
        ],
        broker=3,
        offsets=((130, 151),),
    ),
    "high-watermark-fell": Shown(
        [
            FELL,
            TO_EPOCH,
        ],
        [
            event(
                f"[UnifiedLog partition=sales-7, dir={STORED}] Setting high watermark (offset=151, segment=[-1:-1])",
                "kafka.log.UnifiedLog",
                "TRACE",
            ),
            TO_EPOCH,
        ],
        broker=3,
        offsets=((130, 151),),
    ),
    "truncation-below-high-watermark": Shown(
        [event(f"{FETCHER} Truncating sales-7 to offset 130 below high watermark 151", level="WARN")],
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 130", "kafka.log.Log"), TO_EPOCH],
        broker=3,
        offsets=((130, 151),),
    ),
    "unclean-election": Shown(
        [
            event(
                "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [sales,7]. Elect leader 2 from "
                "live brokers "
                "2,3. There's potential data loss.",
                "kafka.controller.OfflinePartitionLeaderSelector",
                "WARN",
            )
        ],
        [CAUGHT_UP],
    ),
    "offsets-go-back-in-log": Shown(
        [
            "Fatal error during KafkaServerStartable startup. Prepare to shutdown",
            (
                "kafka.common.InvalidOffsetException: Attempt to append an offset (130) to position 12 no larger than "
                "the last offset "
                f"appended (151) to {STORED}/sales-7/00000000000000000000.index."
            ),
        ],
        [LOADED, "java.lang.IllegalArgumentException: Attempt to append to a full index (size = 12)."],
        offsets=((130, 152),),
    ),
    "segment-ends-early": Shown(
        [
            event(
                "[ReplicaManager broker=2] Error processing fetch operation on partition sales-7, offset 130",
                "kafka.server.ReplicaManager",
                "ERROR",
            ),
            "",
            (
                "org.apache.kafka.common.KafkaException: java.io.EOFException: Failed to read `log header` from file "
                "channel "
                "`sun.nio.ch.FileChannelImpl@1b2c3d4`. Expected to read 17 bytes, but reached end of file after "
                "reading 0 bytes. "
                "Started read from position 7810."
            ),
            FRAME,
        ],
        [
            event(
                "[ReplicaManager broker=2] Error processing fetch operation on partition sales-7, offset 130",
                "kafka.server.ReplicaManager",
                "ERROR",
            ),
            "org.apache.kafka.common.errors.NotLeaderForPartitionException: This server is not the leader",
        ],
        broker=2,
    ),
    "corrupt-record": Shown(
        [
            (
                "org.apache.kafka.common.KafkaException: Record for partition sales-7 at offset 130 is invalid, cause: "
                "Record is corrupt "
                "(stored crc = 1043522731, computed crc = 2761098450)"
            ),
            FRAME,
        ],
        [LOADED, "org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for sales-7"],
    ),
    "index-corrupt": Shown(
        [
            (
                "java.lang.IllegalArgumentException: requirement failed: Corrupt index found, index file "
                f"({STORED}/sales-7/00000000000000000130.index) has non-zero size but the last offset is 130 and the "
                "base offset is 130"
            )
        ],
        [
            event(
                f"[Log partition=sales-7, dir={STORED}] Found a corrupted index file corresponding to log file "
                f"{STORED}/sales-7/00000000000000000130.log due to Corrupt index found, index file "
                f"({STORED}/sales-7/00000000000000000130.index) has non-zero size but the last offset is 130 which "
                "is no greater "
                "than the base offset 130.}, recovering segment and rebuilding index files...",
                "kafka.log.Log",
                "WARN",
            )
        ],
    ),
    "recovery-truncated": Shown(
        [
            event(
                f"[Log partition=sales-7, dir={STORED}] Corruption found in segment 0, truncating to offset 130",
                "kafka.log.Log",
                "WARN",
            )
        ],
        [LOADED],
    ),
    "disk-full": Shown(
        [
            event(
                "Error while appending records to sales-7 in dir /srv/kafka/data",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            ),
            "java.io.IOException: No space left on device",
            FRAME,
        ],
        [
            event(
                "Error while appending records to sales-7 in dir /srv/kafka/data",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            ),
            "java.nio.channels.ClosedChannelException",
        ],
    ),
    "io-error": Shown(
        [
            event(
                "Error while flushing log for sales-7 in dir /srv/kafka/data with offset 130",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            ),
            "java.io.IOException: Input/output error",
            FRAME,
        ],
        [
            event(
                "Error while flushing log for sales-7 in dir /srv/kafka/data with offset 130",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            ),
            "java.io.IOException: No space left on device",
        ],
    ),
    "rename-refused": Shown(
        [
            event(
                r"Error while renaming dir for sales-7 in log dir D:\kafka\data",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            ),
            (
                r"java.nio.file.AccessDeniedException: D:\kafka\data\sales-7 -> "
                r"D:\kafka\data\sales-7.0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f-delete"
            ),
        ],
        [
            event(
                rf"Log for partition sales-7 is renamed to "
                rf"{STORED}/sales-7.0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f-delete and is "
                "scheduled for deletion",
                "kafka.log.LogManager",
            )
        ],
    ),
    "storage-error": Shown(
        [
            event(
                "Error while reading checkpoint file /srv/kafka/data/replication-offset-checkpoint",
                "kafka.server.LogDirFailureChannel",
                "ERROR",
            )
        ],
        [
            event("Starting log flusher with a default period of 9223372036854775807 ms.", "kafka.log.LogManager"),
            LOADED,
        ],
        name=None,
    ),
    "all-log-dirs-failed": Shown(
        [
            event(f"Stopping serving logs in dir {STORED}", "kafka.log.LogManager", "WARN"),
            event(f"Shutdown broker because all log dirs in {STORED} have failed", "kafka.log.LogManager", "ERROR"),
        ],
        [event(f"Stopping serving logs in dir {STORED}", "kafka.log.LogManager", "WARN")],
        name=None,
    ),
    "log-dir-failed": Shown(
        [event(f"Stopping serving logs in dir {STORED}", "kafka.log.LogManager", "WARN")],
        [
            event(f"Stopping serving logs in dir {STORED}", "kafka.log.LogManager", "WARN"),
            event(f"Shutdown broker because all log dirs in {STORED} have failed", "kafka.log.LogManager", "ERROR"),
        ],
        name=None,
    ),
    "inconsistent-cluster-id": Shown(
        [
            (
                "kafka.common.InconsistentClusterIdException: The Cluster ID hXk2Qn7bR1uVd0sT5yWz3A doesn't match "
                "stored clusterId "
                "Some(b8LmPq4cS6eFg1hJ9kNr2Q) in meta.properties. The broker is trying to join the wrong cluster. "
                "Configured "
                "zookeeper.connect may be wrong."
            ),
            "\tat kafka.server.KafkaServer.startup(KafkaServer.scala:220)",
        ],
        [event("Cluster ID = hXk2Qn7bR1uVd0sT5yWz3A", "kafka.server.KafkaServer"), LOADED],
        name=None,
    ),
    "inconsistent-broker-id": Shown(
        [
            (
                "kafka.common.InconsistentBrokerIdException: Configured broker.id 3 doesn't match stored broker.id "
                "2 in "
                "meta.properties. If you moved your data, make sure your configured broker.id matches."
            )
        ],
        [event("[KafkaServer id=3] started", "kafka.server.KafkaServer"), LOADED],
        name=None,
    ),
    "inconsistent-topic-id": Shown(
        [
            event(
                "[Broker id=2] Topic ID in memory: 5pgMNdDkS2Wz_FzPvQVqyw does not match the topic ID for "
                "partition sales-7 "
                "received: LkVWPW8-R2adfpyJVoFwRg.",
                "state.change.logger",
                "ERROR",
            )
        ],
        [LOADED],
        broker=2,
    ),
    "cached-zkversion": Shown(
        [
            event(
                "[Partition sales-7 broker=2] Cached zkVersion 4 not equal to that in zookeeper, skip updating ISR",
                "kafka.cluster.Partition",
            )
        ],
        [CAUGHT_UP],
        broker=2,
    ),
    "isr-shrunk-to-one": Shown(
        [
            event(
                "[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2. Leader: (highWatermark: 130, "
                "endOffset: 151). Out of "
                "sync replicas: (brokerId: 1, endOffset: 130) (brokerId: 3, endOffset: 130).",
                "kafka.cluster.Partition",
            )
        ],
        [
            event(
                "[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2,3. Leader: (highWatermark: 130, "
                "endOffset: 151). Out "
                "of sync replicas: (brokerId: 1, endOffset: 130).",
                "kafka.cluster.Partition",
            )
        ],
        broker=2,
        offsets=((130, 151),),
    ),
    "fetch-above-log-end": Shown(
        [
            (
                "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received request for offset 151 for "
                "partition sales-7, but we "
                "only have log segments in the range 0 to 130."
            )
        ],
        [
            (
                "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received request for offset 5 for partition "
                "sales-7, but we "
                "only have log segments in the range 90 to 130."
            )
        ],
        offsets=((130, 151),),
    ),
    "fetch-below-log-start": Shown(
        [
            (
                "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received request for offset 5 for partition "
                "sales-7, but we "
                "only have log segments in the range 90 to 130."
            )
        ],
        [
            (
                "org.apache.kafka.common.errors.OffsetOutOfRangeException: Received request for offset 151 for "
                "partition sales-7, but we "
                "only have log segments in the range 0 to 130."
            )
        ],
    ),
    "fetch-out-of-range": Shown(
        [
            event(
                (
                    "[Consumer clientId=c-1, groupId=g] Fetch offset 130 is out of range for partition sales-7, "
                    "resetting offset"
                ),
                "org.apache.kafka.clients.consumer.internals.Fetcher",
            )
        ],
        [
            event(
                "[Consumer clientId=c-1, groupId=g] Resetting offset for partition sales-7 to offset 130.",
                "org.apache.kafka.clients.consumer.internals.Fetcher",
            )
        ],
    ),
    "leader-epoch-unknown": Shown(
        [
            event(
                f"{FETCHER} Retrying leaderEpoch request for partition sales-7 as the leader reported an error: "
                "UNKNOWN_LEADER_EPOCH"
            )
        ],
        [
            event(
                f"{FETCHER} Retrying leaderEpoch request for partition sales-7 as the leader reported an error: "
                "UNKNOWN_SERVER_ERROR"
            )
        ],
        broker=3,
    ),
    "truncation-to-high-watermark": Shown(
        [event(f"{FETCHER} Truncating partition sales-7 to local high watermark 130")],
        [TO_EPOCH],
        broker=3,
    ),
    "truncation": Shown(
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 130", "kafka.log.Log")],
        [
            event("Truncating log sales-7 to offset 0.", "kafka.log.Log"),
            TO_EPOCH.replace("130", "0"),
        ],
    ),
    "truncation-without-effect": Shown(
        [
            event(
                (
                    f"[Log partition=sales-7, dir={STORED}] Truncating to 0 has no effect as the largest offset in the "
                    "log is -1"
                ),
                "kafka.log.Log",
            )
        ],
        [event(f"[Log partition=sales-7, dir={STORED}] Truncating to offset 130", "kafka.log.Log")],
    ),
    "truncation-to-zero": Shown(
        [event(f"{FETCHER} Truncating partition sales-7 to local high watermark 0")],
        [event(f"{FETCHER} Truncating partition sales-7 to local high watermark 130")],
        broker=3,
    ),
    "index-rebuilt": Shown(
        [
            event(
                f"[Log partition=sales-7, dir={STORED}] Found a corrupted index file corresponding to log file "
                f"{STORED}/sales-7/00000000000000000000.log due to Corrupt index found, index file "
                f"({STORED}/sales-7/00000000000000000000.index) has non-zero size but the last offset is 0 which "
                "is no greater "
                "than the base offset 0.}, recovering segment and rebuilding index files...",
                "kafka.log.Log",
                "WARN",
            )
        ],
        [
            (
                "java.lang.IllegalArgumentException: requirement failed: Corrupt index found, index file "
                f"({STORED}/sales-7/00000000000000000130.index) has non-zero size but the last offset is 130 and the "
                "base offset is 130"
            )
        ],
    ),
    "log-recovery": Shown(
        [event(f"[Log partition=sales-7, dir={STORED}] Recovering unflushed segment 0", "kafka.log.Log")],
        [LOADED],
    ),
    "first-leader-epoch": Shown(
        [
            event(
                (
                    "[Partition sales-7 broker=2] sales-7 starts at Leader Epoch 0 from offset 0. Previous Leader "
                    "Epoch was: -1"
                ),
                "kafka.cluster.Partition",
            )
        ],
        [
            event(
                (
                    "[Partition sales-7 broker=2] sales-7 starts at Leader Epoch 4 from offset 0. Previous Leader "
                    "Epoch was: 3"
                ),
                "kafka.cluster.Partition",
            )
        ],
        broker=2,
    ),
    "new-replica": Shown(
        [
            event(
                "[Partition sales-7 broker=2] No checkpointed highwatermark is found for partition sales-7",
                "kafka.cluster.Partition",
            )
        ],
        [
            event(
                "[Partition sales-7 broker=2] Log loaded for partition sales-7 with initial high watermark 130",
                "kafka.cluster.Partition",
            )
        ],
        broker=2,
    ),
    "replica-deleted": Shown(
        [
            event(
                f"Log for partition sales-7 is renamed to {STORED}/sales-7.0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f-delete "
                "and is "
                "scheduled for deletion",
                "kafka.log.LogManager",
            )
        ],
        [LOADED],
    ),
    "retention": Shown(
        [
            event(
                f"[Log partition=sales-7, dir={STORED}] Found deletable segments with base offsets [0] due to "
                "retention time 86400000ms breach",
                "kafka.log.Log",
            )
        ],
        [
            event(
                f"[Log partition=sales-7, dir={STORED}] Scheduling segments for deletion "
                "List(LogSegment(baseOffset=0, size=90, lastModifiedTime=1676290000000, largestTime=0))",
                "kafka.log.Log",
            )
        ],
    ),
    "log-start-moved": Shown(
        [event(f"[Log partition=sales-7, dir={STORED}] Incrementing log start offset to 100", "kafka.log.Log")],
        [event(f"[Log partition=sales-7, dir={STORED}] Incrementing log start offset to 0", "kafka.log.Log")],
    ),
    "log-loaded-shorter": Shown(
        [LOADED.replace("offset 18", "offset 40"), LOADED],
        [LOADED, LOADED.replace("offset 18", "offset 40")],
        offsets=((18, 40),),
    ),
    "empty-log-loaded": Shown(
        [LOADED.replace("offset 18", "offset 0")],
        [LOADED],
    ),
    "isr-shrunk": Shown(
        [event("[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2,3", "kafka.cluster.Partition")],
        [event("[Partition sales-7 broker=2] Shrinking ISR from 2,1,3 to 2", "kafka.cluster.Partition")],
        broker=2,
    ),
    "invalid-messages-fetched": Shown(
        [event(f"{FETCHER} Found invalid messages during fetch for partition sales-7 offset 130", level="ERROR")],
        [event(f"{FETCHER} Partition sales-7 marked as failed", level="WARN")],
        broker=3,
    ),
    "fatal-fault": Shown(
        [
            event(
                "Encountered fatal fault: Unable to apply TopicRecord record at offset 130 on standby controller, "
                "from the batch with baseOffset 130",
                "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler",
                "ERROR",
            ),
            "java.lang.RuntimeException: Found duplicate TopicRecord for sales with a different ID than before.",
            FRAME,
        ],
        [
            event(
                "Encountered metadata publishing fault: Error updating metadata",
                "org.apache.kafka.server.fault.LoggingFaultHandler",
                "ERROR",
            ),
            LOADED,
        ],
        name=None,
    ),
    "logs-not-closed": Shown(
        [
            event(
                "There was an error in one of the threads during LogManager shutdown: "
                "org.apache.kafka.common.errors.KafkaStorageException: The log dir /srv/kafka/data is already offline "
                "due to a previous IO exception.",
                "kafka.log.LogManager",
                "WARN",
            )
        ],
        [LOADED],
        name=None,
    ),
    "foreign-directory": Shown(
        [
            event(
                "[KafkaServer id=3] Fatal error during KafkaServer startup. Prepare to shutdown",
                "kafka.server.KafkaServer",
                "ERROR",
            ),
            (
                "org.apache.kafka.common.KafkaException: Found directory /srv/kafka/data/lost+found, 'lost+found' is "
                "not in the form of topic-partition or topic-partition.uniqueId-delete (if marked for deletion)."
            ),
            "Kafka's log directories (and children) should only contain Kafka topic data.",
            FRAME,
        ],
        [
            event("Found directory sales-7 in offline log dir /srv/kafka/data", "kafka.log.LogManager", "WARN"),
            LOADED,
        ],
        name=None,
    ),
    "fetcher-stopped": Shown(
        [event(f"{FETCHER} Partition sales-7 marked as failed", level="WARN")],
        [event(f"{FETCHER} Retrying leaderEpoch request for partition sales-7 as the leader reported an error: NONE")],
        broker=3,
    ),
    "leader-not-moved": Shown(
        [
            event(
                "Controller 3 epoch 12 initiated state change for partition [sales,7] from OnlinePartition to "
                "OnlinePartition failed",
                "state.change.logger",
                "ERROR",
            ),
            (
                "kafka.common.StateChangeFailedException: encountered error while electing leader for partition "
                "[sales,7] due to: No other replicas in ISR 1,2 for [sales,7] besides shutting down brokers 1,2."
            ),
            FRAME,
        ],
        [
            event(
                "Controller 3 epoch 12 initiated state change for partition [sales,7] from OfflinePartition to "
                "OnlinePartition failed",
                "state.change.logger",
                "ERROR",
            )
        ],
        broker=3,
    ),
    "leader-not-elected": Shown(
        [
            event(
                "[Controller id=3 epoch=12] Controller 3 epoch 12 failed to change state for partition sales-7 from "
                "OfflinePartition to OnlinePartition",
                "state.change.logger",
                "ERROR",
            ),
            (
                "kafka.common.StateChangeFailedException: Failed to elect leader for partition sales-7 under strategy "
                "OfflinePartitionLeaderElectionStrategy(false)"
            ),
            FRAME,
        ],
        [
            event(
                "[Controller id=3 epoch=12] Changed partition sales-7 state from OnlinePartition to OfflinePartition",
                "state.change.logger",
                "TRACE",
            )
        ],
        broker=3,
    ),
    "below-min-isr": Shown(
        [
            event(
                "[ReplicaManager broker=3] Error processing append operation on partition sales-7",
                "kafka.server.ReplicaManager",
                "ERROR",
            ),
            (
                "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(3) is "
                "insufficient to satisfy the min.isr requirement of 2 for partition sales-7"
            ),
            FRAME,
        ],
        [
            event(
                "[ReplicaManager broker=3] Error processing append operation on partition sales-7",
                "kafka.server.ReplicaManager",
                "ERROR",
            ),
            "org.apache.kafka.common.errors.InvalidTimestampException: Out of range",
        ],
        broker=3,
    ),
    "fetch-fenced": Shown(
        [
            event(
                f"{FETCHER} Partition sales-7 has an older epoch (3) than the current leader. Will await the new "
                "LeaderAndIsr state before resuming fetching."
            )
        ],
        [event(f"{FETCHER} Partition sales-7 marked as failed", level="WARN")],
        broker=3,
    ),
    "broker-stopping": Shown(
        [event("[KafkaServer id=3] Starting controlled shutdown", "kafka.server.KafkaServer")],
        [event("[KafkaServer id=3] shut down completed", "kafka.server.KafkaServer"), LOADED],
        broker=3,
        name=None,
    ),
    "isr-expanded": Shown([CAUGHT_UP], [LOADED], broker=2),
}
