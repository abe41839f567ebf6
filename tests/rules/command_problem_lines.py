"""Output of commands, and lines of clients and of the metadata quorum, that state known problems; and near misses."""

from __future__ import annotations

from tests.rules.shown_lines import FETCHER, LOADED, STORED, Shown, event

_TOPIC = "Topic: sales\tPartitionCount: 8\tReplicationFactor: 3\tConfigs: min.insync.replicas=1"
_COLUMNS = "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID"
_FATAL = event(
    "Encountered fatal fault: Unexpected error in raft IO thread",
    "org.apache.kafka.server.fault.ProcessTerminatingFaultHandler",
    "ERROR",
)
_APPENDING = event(
    "[ReplicaManager broker=2] Error processing append operation on partition sales-7",
    "kafka.server.ReplicaManager",
    "ERROR",
)
_NOT_RENAMED = "Failed to change the log file suffix from  to .deleted for log segment 42"
_MOVED = "OFFSET_MOVED_TO_TIERED_STORAGE"
_FETCHER = "org.apache.kafka.clients.consumer.internals.Fetcher"
_RESET = event("Resetting offset for partition sales-7 to offset 151.", _FETCHER)
_CHANNEL = "kafka.server.LogDirFailureChannel"


def _described(leader: str, isr: str, elr: str = "") -> str:
    eligible = f"\tElr: {elr}\tLastKnownElr: " if elr else ""
    return f"\tTopic: sales\tPartition: 7\tLeader: {leader}\tReplicas: 2,3,4\tIsr: {isr}{eligible}"


def _group(position: int, end: int) -> str:
    return f"billing         sales           7          {position}             {end}             {end - position}    -"


def _refused(reason: str) -> str:
    return event(
        "[Partition sales-7 broker=2] Failed to alter partition to PendingExpandIsr(newInSyncReplicaId=3, "
        "sentLeaderAndIsr=LeaderAndIsr(leader=2, leaderEpoch=5, isrWithBrokerEpoch=List(BrokerState(brokerId=2, "
        "brokerEpoch=10)), leaderRecoveryState=RECOVERED, partitionEpoch=7), leaderRecoveryState=RECOVERED, "
        f"lastCommittedState=CommittedPartitionState(isr=Set(2), leaderRecoveryState=RECOVERED)) {reason}",
        "kafka.cluster.Partition",
    )


def _consumer(position: int) -> str:
    return event(f"Fetch offset {position} is out of range for partition sales-7, resetting offset", _FETCHER)


def _controller(message: str) -> str:
    """A line of the active controller, as 3.3 prints it."""
    return event(f"[Controller 1] {message}", "org.apache.kafka.controller.QuorumController", "WARN")


def _raft_cleans(partition: str) -> str:
    return (
        "org.apache.kafka.common.errors.OffsetOutOfRangeException: Cannot increment the log start offset to 140 of "
        f"partition {partition} since it is larger than the high watermark 131"
    )


def _raft(state: str) -> str:
    """A change of a node's state in the metadata quorum."""
    return event(f"[RaftManager id=1] Completed transition to {state})", "org.apache.kafka.raft.QuorumState")


def _led(isr: str) -> str:
    return event(
        f"[OfflinePartitionLeaderSelector]: Some broker in ISR is alive for [sales,7]. Select 2 from ISR {isr} to be "
        "the leader.",
        "kafka.controller.OfflinePartitionLeaderSelector",
        "DEBUG",
    )


def _created(message: str) -> str:
    return event(
        f"[Partition state machine on Controller 1]: {message}", "kafka.controller.PartitionStateMachine", "DEBUG"
    )


def _unattached(epoch: int, leader: str = "OptionalInt.empty") -> str:
    return f"UnattachedState(epoch={epoch}, leaderId={leader}, votedKey=Optional.empty, voters=[1, 2], highWatermark=1)"


def _registered(error: str) -> str:
    return event(
        f"[BrokerLifecycleManager id=3] Unable to register broker 3 because the controller returned error {error}",
        "kafka.server.BrokerLifecycleManager",
    )


def _waits(reason: str) -> str:
    return event(
        f"[MetadataLoader id=3] initializeNewPublishers: the loader is still catching up because {reason}",
        "org.apache.kafka.image.loader.MetadataLoader",
    )


_EXITS = event("Exiting Kafka due to fatal exception", "kafka.Kafka$", "ERROR")

SHOWN: dict[str, Shown] = {
    "quorum-of-another-cluster": Shown(
        [
            event(
                "[RaftManager id=3] Unexpected error INCONSISTENT_CLUSTER_ID in FETCH response: InboundResponse("
                "correlationId=7, data=FetchResponseData(errorCode=104), source=k1:9093 (id: 1 rack: null))",
                "org.apache.kafka.raft.KafkaRaftClient",
                "ERROR",
            )
        ],
        [_registered("DUPLICATE_BROKER_REGISTRATION")],
        broker=3,
        name="__cluster_metadata-0",
    ),
    "storage-not-formatted": Shown(
        [_EXITS, "java.lang.RuntimeException: No readable meta.properties files found."],
        [LOADED, _EXITS, "java.lang.RuntimeException: Found multiple nodes"],
        name=None,
    ),
    "broker-id-in-use": Shown(
        [_registered("DUPLICATE_BROKER_REGISTRATION")],
        [_registered("INCONSISTENT_CLUSTER_ID")],
        broker=3,
        name=None,
    ),
    "quorum-epoch-without-leader": Shown(
        [_raft(f"{_unattached(8)} from {_unattached(7)}")],
        [
            _raft(f"{_unattached(8)} from {_unattached(8)}"),
            _raft(f"{_unattached(8)} from {_unattached(7, 'OptionalInt[2]')}"),
        ],
        broker=1,
        name="__cluster_metadata-0",
    ),
    "quorum-not-reached": Shown(
        [_waits("we still don't know the high water mark yet.")],
        [_waits("we have loaded up to offset 130, but the high water mark is 151"), _RESET],
        broker=3,
        name="__cluster_metadata-0",
    ),
    "consumer-position-set": Shown(
        [event("[Consumer clientId=c, groupId=g] Seeking to LATEST offset of partition sales-7", _FETCHER)],
        [_RESET],
    ),
    "group-without-position": Shown(
        [event("[Consumer clientId=c, groupId=g] Found no committed offset for partition sales-7", _FETCHER)],
        [event("[Consumer clientId=c, groupId=g] Seeking to EARLIEST offset of partition sales-7", _FETCHER)],
    ),
    "segment-not-renamed": Shown(
        [f"kafka.common.KafkaStorageException: {_NOT_RENAMED}"],
        [event(f"[Log partition=sales-7, dir={STORED}] Deleting segment 42", "kafka.log.Log")],
        name=None,
    ),
    "metadata-log-diverged": Shown(
        [
            _FATAL,
            (
                "org.apache.kafka.common.KafkaException: The leader requested truncation to offset 130, which is below "
                "the current high watermark LogOffsetMetadata(offset=151, metadata=Optional.empty)"
            ),
        ],
        [_FATAL, "java.lang.IllegalStateException: Unexpected snapshot"],
        name="__cluster_metadata-0",
        offsets=((130, 151),),
    ),
    "leader-elected-later": Shown(
        [
            event(
                "[Controller id=3 epoch=12] Controller 3 epoch 12 failed to change state for partition sales-7 from "
                "OfflinePartition to OnlinePartition",
                "state.change.logger",
                "ERROR",
            ),
            event(
                "[Controller id=3 epoch=12] Changed partition sales-7 from OfflinePartition to OnlinePartition with "
                "state LeaderAndIsr(leader=2, leaderEpoch=9, isr=List(2), zkVersion=21)",
                "state.change.logger",
            ),
        ],
        [
            event(
                "[Controller id=3 epoch=12] Changed partition sales-7 from OfflinePartition to OnlinePartition with "
                "state LeaderAndIsr(leader=2, leaderEpoch=9, isr=List(2), zkVersion=21)",
                "state.change.logger",
            ),
            event(
                "[Controller id=3 epoch=12] Controller 3 epoch 12 failed to change state for partition sales-7 from "
                "OfflinePartition to OnlinePartition",
                "state.change.logger",
                "ERROR",
            ),
        ],
        broker=3,
    ),
    "leader-elected": Shown([_led("2,3")], [_led("2")]),
    "partition-created": Shown(
        [
            _created(
                "Initializing leader and isr for partition [sales,7] to (Leader:2,ISR:2,3,LeaderEpoch:0,"
                "ControllerEpoch:4)"
            )
        ],
        [_led("2,3")],
        broker=1,
    ),
    "metadata-log-contradicts": Shown(
        [
            _FATAL,
            (
                "java.lang.RuntimeException: Found duplicate TopicRecord for sales with a different ID than before. "
                "Previous ID was Rh8JkKq4RPy1v6cF2f9x0A and new ID is eQsSREvITgOLN7uKjScwFw"
            ),
        ],
        [_FATAL, "java.lang.RuntimeException: Tried to delete a topic"],
        name="__cluster_metadata-0",
    ),
    "snapshot-above-high-watermark": Shown(
        [_raft_cleans("__cluster_metadata-0")],
        [_raft_cleans("sales-7")],
        name="__cluster_metadata-0",
    ),
    "controller-event-failed": Shown(
        [
            _controller(
                "maybeFenceReplicas: failed with unknown server exception NotLeaderException at epoch 26 in 19 us"
            )
        ],
        [_controller("registerBroker: unable to start processing because of NotControllerException.")],
        broker=1,
        name="__cluster_metadata-0",
    ),
    "voter-replaced": Shown(
        [
            event(
                "[RaftManager id=3] Candidate sent a voter key (Optional[ReplicaKey(id=3, directoryId=Optional["
                "q7JxVn2kTbW0dYh5sLr3Ag])]) in the VOTE request that doesn't match the local key (OptionalInt[3], "
                "Rh8JkKq4RPy1v6cF2f9x0A); rejecting the vote",
                "org.apache.kafka.raft.KafkaRaftClient",
            )
        ],
        [
            event(
                "[RaftManager id=3] Vote request VoteRequestData(clusterId='one') with epoch 4 is rejected",
                "org.apache.kafka.raft.KafkaRaftClient",
            )
        ],
        broker=3,
        name="__cluster_metadata-0",
    ),
    "quorum-without-majority": Shown(
        [_raft("CandidateState(localId=1, epoch=7, retries=4, voteStates={1=GRANTED, 2=UNRECORDED}")],
        [_raft("CandidateState(localId=1, epoch=7, retries=1, voteStates={1=GRANTED, 2=UNRECORDED}")],
        broker=1,
        name="__cluster_metadata-0",
    ),
    "metadata-snapshot-missing": Shown(
        [
            (
                "java.lang.IllegalStateException: Inconsistent snapshot state: there must be a snapshot at an offset "
                "larger then the current log start offset 151, but the latest snapshot is "
                "Some(OffsetAndEpoch(offset=130, epoch=4))"
            ),
        ],
        [_FATAL, "java.lang.IllegalStateException: Unexpected snapshot"],
        name="__cluster_metadata-0",
    ),
    "release-below-metadata-version": Shown(
        [_FATAL, "java.lang.IllegalArgumentException: No MetadataVersion with feature level 25"],
        [_FATAL, "java.lang.IllegalStateException: Unexpected snapshot"],
        name=None,
    ),
    "quorum-votes-refused": Shown(
        [
            event(
                "[RaftManager id=1] Insufficient remaining votes to become leader (rejected by [2, 3]). We will "
                "backoff before retrying election again",
                "org.apache.kafka.raft.KafkaRaftClient",
            )
        ],
        [_raft("CandidateState(localId=1, epoch=7, retries=1, voteStates={1=GRANTED, 2=REJECTED}")],
        broker=1,
        name="__cluster_metadata-0",
    ),
    "fetches-from-itself": Shown(
        ["kafka.common.KafkaException: Should not set log end offset on partition [sales,7]'s local replica 2"],
        [event(f"[Log partition=sales-7, dir={STORED}] Deleting segment 42", "kafka.log.Log")],
        broker=2,
    ),
    "quorum-leadership-left": Shown(
        [
            _raft(
                "Unattached(epoch=7, voters=[1, 2, 3], electionTimeoutMs=15) from Leader(localId=1, epoch=6, voters=[]"
            )
        ],
        [_raft("Unattached(epoch=7, voters=[1, 2, 3], electionTimeoutMs=15) from Voted(epoch=6, votedId=2, voters=[]")],
        broker=1,
        name="__cluster_metadata-0",
    ),
    "quorum-contradicts": Shown(
        [
            _FATAL,
            (
                "java.lang.IllegalStateException: Received request or response with leader OptionalInt[1] and epoch 41 "
                "which is inconsistent with current leader OptionalInt.empty and epoch 0"
            ),
        ],
        [_FATAL, "java.lang.IllegalStateException: Received an unexpected response"],
        name="__cluster_metadata-0",
    ),
    "temporary-directory": Shown(
        [event("Error while deleting segments for sales-7 in dir /private/tmp/kafka-logs", _CHANNEL, "ERROR")],
        [event("Error while deleting segments for sales-7 in dir /srv/tmp/kafka-logs", _CHANNEL, "ERROR")],
    ),
    "checkpoint-damaged": Shown(
        [f"java.io.IOException: Malformed line in checkpoint file ({STORED}/replication-offset-checkpoint): ''"],
        [LOADED, f"java.io.IOException: Unrecognized version of the file: {STORED}/replication-offset-checkpoint"],
        name=None,
    ),
    "fetch-moved-to-remote": Shown(
        [event(f"{FETCHER} Received error {_MOVED}, at fetch offset: 130, topic-partition: sales-7")],
        [event(f"{FETCHER} Received UNKNOWN_TOPIC_ID from the leader for partition sales-7.", level="WARN")],
        broker=3,
    ),
    "replicas-differ": Shown(
        [
            (
                "2026-03-01 10:22:41,107: partition sales-7 has unmatched checksum at offset 130; replica 2's checksum "
                "1043522731; replica 3's checksum 2761098450"
            )
        ],
        [LOADED, "2026-03-01 10:22:41,107: max lag is 21 for partition sales-7 at offset 130 among 8 partitions"],
    ),
    "election-requested": Shown(
        ["Successfully completed leader election (UNCLEAN) for partitions sales-7"],
        [LOADED, "Successfully completed leader election (PREFERRED) for partitions sales-7"],
    ),
    "isr-described-apart": Shown(
        [_TOPIC, _described("2", "2,4"), _described("3", "3")],
        [_TOPIC, _described("2", "2,4"), _described("4", "4,3")],
    ),
    "eligible-leader-offline": Shown(
        [_TOPIC, _described("none", "", "3")],
        [_TOPIC, _described("none", "3")],
    ),
    "group-above-log-end": Shown(
        [_COLUMNS, _group(151, 130)],
        [_COLUMNS, _group(130, 151)],
        offsets=((130, 151),),
    ),
    "isr-change-refused": Shown(
        [_refused("because the partition epoch is invalid. Partition state may be out of sync.")],
        [
            event(
                "[Partition sales-7 broker=2] Cached zkVersion 4 not equal to that in zookeeper, skip updating ISR",
                "kafka.cluster.Partition",
            )
        ],
        broker=2,
    ),
    "consumer-behind-log-start": Shown([_consumer(130), _RESET], [_consumer(190), _RESET]),
    "producer-out-of-sequence": Shown(
        [
            _APPENDING,
            (
                "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer "
                "7001 at offset 130 in partition sales-7: 44 (incoming seq. number), 12 (current end sequence number)"
            ),
        ],
        [
            _APPENDING,
            (
                "org.apache.kafka.common.errors.UnknownProducerIdException: Found no record of producerId=7001 on the "
                "broker at offset 130in partition sales-7. It is possible that the last message with the "
                "producerId=7001 has been removed due to hitting the retention limit."
            ),
        ],
        broker=2,
    ),
}
