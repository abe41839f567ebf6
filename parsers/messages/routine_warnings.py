"""Warnings and errors of the replication loggers that are not about a log, a high watermark, an ISR or a leader.

Others of these loggers are reported as unknown wordings.
"""

from __future__ import annotations

from parsers.messages.catalogue import Message, Wording, routine
from parsers.messages.patterns import CONTROLLER, PARTITION, QUORUM_CONTROLLER, RAFT, REPLICA_MANAGER
from parsers.schema import Kind

_SENDER = r"^\[(?:Controller-[0-9]+-to-broker-[0-9]+-send-thread|RequestSendThread controllerId=[0-9]+)\][,:]? "

MESSAGES: tuple[Message, ...] = (
    # A broker that is down, as its controller sees it; other lines have the controller's reaction.
    routine(
        "U-01",
        Kind.BROKER_FENCED,
        (
            "'s connection to broker ",
            " fails to send a request to broker ",
            "Not sending request ",
            " fails to send request ",
        ),
        "WARN",
        True,
        Wording(
            "0.8",
            "3.9",
            _SENDER + r"Controller [0-9]+'s connection to broker .* was unsuccessful",
            "0.8.2.2 ControllerChannelManager:178, 3.6.2 ControllerChannelManager",
            "[RequestSendThread controllerId=9] Controller 9's connection to broker h:9092 (id: 1 rack: null) was "
            "unsuccessful",
            "real",
        ),
        Wording(
            "0.8",
            "3.9",
            _SENDER + r"Controller [0-9]+ fails to send a request to broker ",
            "0.8.2.2 ControllerChannelManager, 3.6.2 ControllerChannelManager",
            "[RequestSendThread controllerId=9] Controller 9 fails to send a request to broker h:9092 (id: 1 rack: "
            "null)",
        ),
        # LeaderAndIsr requests are in C-04b, since 0.10.
        Wording(
            "0.8",
            "3.9",
            r"^\[Channel manager on controller [0-9]+\]:? Not sending request (?:\(type[=:] ?(?:StopReplica|"
            r"UpdateMetadata|UpdateMetaData|ControlledShutdown)|Name:|\{controller_id=|[A-Z_]+ with controllerId=)",
            "1.1.1 ControllerChannelManager:87, 3.5.2 ControllerChannelManager:94",
            "[Channel manager on controller 9]: Not sending request (type=StopReplicaRequest, controllerId=9, "
            "controllerEpoch=1, deletePartitions=false, partitions=orders-0) to broker 1, since it is offline.",
            "real",
        ),
        Wording(
            "0.8",
            "3.9",
            _SENDER + r"Controller [0-9]+ epoch [0-9]+ fails to send request (?:\(type[=:] ?(?:StopReplica|"
            r"UpdateMetadata|UpdateMetaData|ControlledShutdown)|Name:|\{controller_id=|[A-Z_]+ )",
            "1.1.1 ControllerChannelManager, 3.6.2 ControllerChannelManager",
            "[RequestSendThread controllerId=9] Controller 9 epoch 1 fails to send request (type=StopReplicaRequest, "
            "controllerId=9, controllerEpoch=1, deletePartitions=false) to broker h:9092 (id: 1 rack: null). "
            "Reconnecting to broker.",
            "real",
        ),
    ),
    routine(
        "U-02",
        Kind.SEGMENTS_DELETED,
        ("Error when freeing index buffer", "Error unmapping index "),
        "ERROR",
        True,
        Wording(
            "0.8",
            "0.11",
            r"^Error when freeing index buffer",
            "0.8.2.2 OffsetIndex:303, 0.10.2.2 AbstractIndex:206",
            "Error when freeing index buffer",
            "real",
        ),
        Wording(
            "1.0",
            None,
            r"^Error unmapping index ",
            "1.0.2 AbstractIndex:204, 3.5.2 AbstractIndex",
            "Error unmapping index /data/orders-0/00000000000000000000.index",
        ),
    ),
    # The state is then built from the log itself.
    routine(
        "U-03",
        Kind.RECOVERY,
        "Failed to load producer snapshot from '",
        "WARN",
        True,
        Wording(
            "0.11",
            None,
            r"^(?:\[ProducerStateManager [^\]]*\] )?Failed to load producer snapshot from '",
            "0.11.0.2 ProducerStateManager:457, 3.6.2 ProducerStateManager",
            "[ProducerStateManager partition=orders-0] Failed to load producer snapshot from "
            "'/data/orders-0/00000000000000000042.snapshot': Snapshot is corrupt (CRC is no longer valid).",
        ),
    ),
    # Compaction, which starts again or leaves a partition out.
    routine(
        "U-04",
        Kind.COMPACTED,
        (
            "Resetting first dirty offset ",
            "The last checkpoint dirty offset for partition ",
            " invalid messages during compaction",
            "Cannot use more than 2G of cleaner buffer space",
        ),
        "WARN",
        True,
        Wording(
            "0.9",
            None,
            r"^(?:\[[^\]]*\]:? )?Resetting first dirty offset (?:of .* )?to log start offset ",
            "0.9.0.1 LogCleanerManager, 2.3.1 LogCleanerManager",
            "Resetting first dirty offset of orders-0 to log start offset 42 since the checkpointed offset 7 is "
            "invalid.",
        ),
        Wording(
            "2.3",
            None,
            r"^(?:\[[^\]]*\]:? )?The last checkpoint dirty offset for partition ",
            "2.3.1 LogCleanerManager, 2.4.1 LogCleanerManager",
            "The last checkpoint dirty offset for partition orders-0 is 50, which is larger than the log end offset "
            "42. Resetting to the log start offset 0.",
        ),
        Wording(
            "0.9",
            None,
            r"^(?:\[[^\]]*\][,:]? )?.{0,2}Found [0-9]+ invalid messages during compaction",
            "0.9.0.1 LogCleaner:266",
            "\tFound 2 invalid messages during compaction.",
        ),
        Wording(
            "0.8",
            None,
            r"^(?:\[[^\]]*\][,:]? )?Cannot use more than 2G of cleaner buffer space",
            "0.8.2.2 LogCleaner",
            "[kafka-log-cleaner-thread-0], Cannot use more than 2G of cleaner buffer space per cleaner thread, "
            "ignoring excess buffer space...",
        ),
    ),
    # The proposal is still open: it is sent again.
    routine(
        "U-05",
        Kind.ISR_REJECTED,
        (
            "Failed to enqueue ISR change state ",
            "Broker had a stale broker epoch (",
            "in-flight flag when no apparent request is in-flight",
            "Controller returned an unexpected top-level error when handling Alter",
        ),
        "WARN",
        True,
        Wording(
            "3.0",
            "3.0",
            rf"^{PARTITION}Failed to enqueue ISR change state ",
            "3.0.2 Partition:1355",
            "[Partition orders-0 broker=1] Failed to enqueue ISR change state LeaderAndIsr(leader=1, leaderEpoch=2, "
            "isr=List(1), zkVersion=3) for partition orders-0",
        ),
        Wording(
            "2.7",
            None,
            r"^(?:\[[^\]]*\]:? )?Broker had a stale broker epoch \(",
            "2.7.2 AlterIsrManager:137, 3.6.2 AlterPartitionManager",
            "Broker had a stale broker epoch (25), retrying.",
        ),
        Wording(
            "2.8",
            None,
            r"^(?:\[[^\]]*\]:? )?Attempting to clear Alter[A-Za-z]+ in-flight flag when no apparent request ",
            "2.8.2 AlterIsrManager, 3.6.2 AlterPartitionManager",
            "Attempting to clear AlterPartition in-flight flag when no apparent request is in-flight",
        ),
        Wording(
            "2.7",
            None,
            r"^(?:\[[^\]]*\]:? )?Controller returned an unexpected top-level error when handling Alter",
            "2.7.2 AlterIsrManager, 3.6.2 AlterPartitionManager",
            "Controller returned an unexpected top-level error when handling AlterPartition request: NETWORK_EXCEPTION",
        ),
    ),
    # A ZooKeeper-mode controller; C-03b has the failure of an election.
    routine(
        "U-06",
        Kind.ELECTION,
        (
            "Error while moving some ",
            "failed to complete preferred replica leader election",
            "Error completing preferred replica leader election ",
            "Error completing replica leader election ",
            " since the respective topics are being deleted",
            "Controller moved to another broker when ",
            "ncountered error while electing leader for partition ",
            " initiated state change of replica ",
            "Initiated state change of replica ",
            "Forcing the controller to resign",
            "Error while electing or becoming controller on broker ",
            "A controller has been elected but just resigned",
            "Ignoring request to delete non-existing topics ",
        ),
        "ERROR",
        True,
        Wording(
            "0.8",
            "3.9",
            r"^\[(?:Partition|Replica) ?[sS]tate ?[mM]achine [^\]]*\]:? Error while moving some "
            r"(?:partitions|replicas) to ",
            "0.8.2.2 PartitionStateMachine, 3.6.2 ReplicaStateMachine",
            "[PartitionStateMachine controllerId=9] Error while moving some partitions to OnlinePartition state",
        ),
        Wording(
            "0.8",
            "3.9",
            rf"^{CONTROLLER}Partition .* failed to complete preferred replica leader election",
            "0.8.2.2 KafkaController, 2.0.1 KafkaController",
            "[Controller id=9] Partition orders-0 failed to complete preferred replica leader election to 1. Leader is "
            "still 2",
        ),
        Wording(
            "0.8",
            "2.3",
            rf"^{CONTROLLER}Error completing preferred replica leader election ",
            "0.8.2.2 KafkaController, 2.3.1 KafkaController",
            "[Controller 9]: Error completing preferred replica leader election for partitions [orders,0]",
        ),
        Wording(
            "2.4",
            "3.9",
            rf"^{CONTROLLER}Error completing replica leader election ",
            "2.4.1 KafkaController, 3.6.2 KafkaController",
            "[Controller id=9] Error completing replica leader election (PREFERRED) for partition orders-0",
        ),
        Wording(
            "0.8",
            "3.9",
            rf"^{CONTROLLER}Skipping .* since the respective topics are being deleted",
            "0.8.2.2 KafkaController, 2.4.1 KafkaController",
            "[Controller id=9] Skipping preferred replica election for partitions Set(orders-0) since the respective "
            "topics are being deleted",
        ),
        Wording(
            "2.1",
            "3.9",
            r"^\[[^\]]*\] Controller moved to another broker when ",
            "2.1.1 PartitionStateMachine, 2.1.1 ReplicaStateMachine",
            "[PartitionStateMachine controllerId=9] Controller moved to another broker when moving some partitions to "
            "OnlinePartition state",
        ),
        Wording(
            "0.8",
            "3.9",
            r"^(?:\[[^\]]*\] )?Controller [0-9]+ epoch [0-9]+ initiated state change of replica .* failed",
            "0.8.2.2 ReplicaStateMachine, 1.1.1 ReplicaStateMachine",
            "[Controller id=9 epoch=1] Controller 9 epoch 1 initiated state change of replica 1 for partition orders-0 "
            "from OnlineReplica to OfflineReplica failed",
        ),
        Wording(
            "0.8",
            "1.0",
            r"^(?:\[[^\]]*\] )?(?:Controller [0-9]+ epoch [0-9]+ )?[eE]ncountered error while electing leader for ",
            "0.10.2.2 PartitionStateMachine, 1.0.2 PartitionStateMachine",
            "Controller 9 epoch 1 encountered error while electing leader for partition [orders,1] due to: No other "
            "replicas in ISR 2 for [orders,1] besides shutting down brokers 2.",
            "real",
        ),
        Wording(
            "1.0",
            "1.0",
            r"^\[Controller [^\]]*\] Initiated state change of replica .* failed",
            "1.0.2 ReplicaStateMachine",
            "[Controller id=9 epoch=1] Initiated state change of replica 1 for partition [orders,0] from OnlineReplica "
            "to OfflineReplica failed",
        ),
        Wording(
            "0.9",
            "3.9",
            rf"^{CONTROLLER}Forcing the controller to resign",
            "0.9.0.1 KafkaController, 3.6.2 KafkaController",
            "[Controller id=9] Forcing the controller to resign",
        ),
        Wording(
            "0.11",
            "3.9",
            rf"^{CONTROLLER}Error while electing or becoming controller on broker ",
            "0.11.0.2 KafkaController, 2.1.1 KafkaController",
            "[Controller id=9] Error while electing or becoming controller on broker 9. Trigger controller movement "
            "immediately",
        ),
        Wording(
            "0.11",
            "3.9",
            rf"^{CONTROLLER}A controller has been elected but just resigned",
            "0.11.0.2 KafkaController, 3.6.2 KafkaController",
            "[Controller id=9] A controller has been elected but just resigned, this will result in another round of "
            "election",
        ),
        Wording(
            "0.8",
            "3.9",
            r"^\[[^\]]*\]:? Ignoring request to delete non-existing topics ",
            "0.8.2.2 PartitionStateMachine, 1.0.2 KafkaController",
            "[Controller id=9] Ignoring request to delete non-existing topics orders",
        ),
    ),
    # A KRaft controller.
    routine(
        "U-07",
        Kind.CONTROLLER_ACTIVE,
        (
            "Performing controller activation.",
            "We were the leader in epoch ",
            "Cancelling deferred write event ",
            " that is unknown to the controller",
            ": unable to start processing because of ",
        ),
        "WARN",
        True,
        Wording(
            "3.6",
            None,
            rf"^{QUORUM_CONTROLLER}Performing controller activation\. ",
            "3.9.1 QuorumController, 4.1.1 QuorumController",
            "[QuorumController id=100] Performing controller activation. The metadata log appears to be empty. "
            "Appending 1 bootstrap record(s) in metadata transaction at metadata.version 3.9-IV0 from bootstrap source "
            "'the default bootstrap'.",
            "real",
        ),
        Wording(
            "3.3",
            None,
            rf"^{QUORUM_CONTROLLER}We were the leader in epoch ",
            "3.3.2 QuorumController, 3.9.0 QuorumController",
            "[QuorumController id=100] We were the leader in epoch 1, and are still the leader in the new epoch 2.",
        ),
        Wording(
            "3.3",
            "3.8",
            rf"^{QUORUM_CONTROLLER}Broker [0-9]+ registered with feature .* that is unknown to the controller",
            "3.8.1 ClusterControlManager",
            "[QuorumController id=100] Broker 1 registered with feature metadata.version that is unknown to the "
            "controller",
            "real",
        ),
        Wording(
            "2.8",
            None,
            rf"^{QUORUM_CONTROLLER}Cancelling deferred write event ",
            "2.8.2 QuorumController, 3.9.0 QuorumController",
            "[QuorumController id=100] Cancelling deferred write event maybeFenceReplicas because the event queue is "
            "now closed.",
        ),
        Wording(
            "2.8",
            None,
            rf"^{QUORUM_CONTROLLER}[A-Za-z]+: unable to start processing because of [A-Za-z]+",
            "2.8.2 QuorumController, 3.9.0 QuorumController",
            "[Controller 1] registerBroker: unable to start processing because of NotControllerException.",
        ),
        # Without a sentence on migration or features.
        Wording(
            "4.0",
            None,
            rf"^{QUORUM_CONTROLLER}Performing controller activation\.",
            "4.1.1 ActivationRecordsGenerator",
            "[QuorumController id=100] Performing controller activation.",
        ),
    ),
    # Tiered storage: the copy is tried again, and a segment is kept until it is copied.
    routine(
        "U-09",
        Kind.LOG_START,
        " received error but it will be scheduled",
        "WARN",
        True,
        Wording(
            "3.6",
            None,
            r"^\[RemoteLogManager=[^\]]*\] Current task for topic-partition .* received error but it will be scheduled",
            "3.6.2 RemoteLogManager, 3.9.1 RemoteLogManager",
            "[RemoteLogManager=1 partition=eQsSREvITgOLN7uKjScwFw:orders-1] Current task for topic-partition "
            "eQsSREvITgOLN7uKjScwFw:orders-1 received error but it will be scheduled",
            "real",
        ),
    ),
    # A node of the metadata quorum; the exception below the line names the cause.
    routine(
        "U-09b",
        Kind.LOG_START,
        "Had an error during log cleaning",
        "ERROR",
        True,
        Wording(
            "3.2",
            None,
            rf"^{RAFT}Had an error during log cleaning",
            "3.3.2 KafkaRaftClient",
            "[RaftManager nodeId=1] Had an error during log cleaning",
        ),
    ),
    # A broker that does not lead the partition answers so; clients and followers ask the new leader. Later releases
    # print nothing.
    routine(
        "U-10",
        Kind.FETCH_REFUSED,
        ("Fetch request with correlation id ", "Produce request with correlation id "),
        "WARN",
        True,
        Wording(
            "0.8",
            "0.8",
            rf"^(?:{REPLICA_MANAGER}|\[KafkaApi-[0-9]+\] )Fetch request with correlation id [0-9]+ from client .* on "
            r"partition \[[^\]]+\] failed due to ",
            "0.8.1.1 KafkaApis:readMessageSets, 0.8.2.2 ReplicaManager:readMessageSets",
            "[Replica Manager on Broker 1]: Fetch request with correlation id 7 from client ReplicaFetcherThread-0-2 "
            "on partition [orders,0] failed due to Leader not local for partition [orders,0] on broker 1",
        ),
        Wording(
            "0.8",
            "0.8",
            r"^\[KafkaApi-[0-9]+\] Produce request with correlation id [0-9]+ from client .* on partition \[[^\]]+\] "
            r"failed due to ",
            "0.8.1.1 KafkaApis:appendToLocalLog, 0.8.2.2 KafkaApis:appendToLocalLog",
            "[KafkaApi-1] Produce request with correlation id 7 from client c on partition [orders,0] failed due to "
            "Leader not local for partition [orders,0] on broker 1",
        ),
    ),
    # Answers to clients, and what the thread of a fetcher that ends prints.
    routine(
        "U-08",
        Kind.FETCHER_REMOVED,
        (
            "Failed to initiate shutdown of ",
            " after shutting down replica fetcher thread",
            "Unable to describe replica dirs for ",
            "Unable to alter log dirs for ",
            "Error processing delete records operation on partition ",
        ),
        "ERROR",
        True,
        Wording(
            "2.1",
            None,
            r"^\[ReplicaFetcher [^\]]*\] Failed to initiate shutdown of ",
            "2.1.1 ReplicaFetcherThread, 3.3.2 ReplicaFetcherThread",
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Failed to initiate shutdown of leader endpoint x "
            "after initiating replica fetcher thread shutdown",
        ),
        Wording(
            "2.1",
            None,
            r"^\[ReplicaFetcher [^\]]*\] Failed to close .* after shutting down replica fetcher thread",
            "2.1.1 ReplicaFetcherThread, 3.3.2 ReplicaFetcherThread",
            "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Failed to close leader endpoint x after shutting "
            "down replica fetcher thread",
        ),
        Wording(
            "2.6",
            None,
            rf"^{REPLICA_MANAGER}Unable to describe replica dirs for ",
            "2.6.3 ReplicaManager, 3.6.2 ReplicaManager",
            "[ReplicaManager broker=1] Unable to describe replica dirs for /data",
        ),
        Wording(
            "2.6",
            None,
            rf"^{REPLICA_MANAGER}Unable to alter log dirs for ",
            "2.6.3 ReplicaManager, 3.6.2 ReplicaManager",
            "[ReplicaManager broker=1] Unable to alter log dirs for orders-0",
        ),
        Wording(
            "0.11",
            None,
            rf"^{REPLICA_MANAGER}Error processing delete records operation on partition ",
            "0.11.0.2 ReplicaManager, 3.6.2 ReplicaManager",
            "[ReplicaManager broker=1] Error processing delete records operation on partition orders-0",
        ),
    ),
    # The file is in a directory that was renamed in between: its topic is being deleted.
    routine(
        "U-11",
        Kind.CHECKPOINT_ERROR,
        ("Failed to write to checkpoint file ",),
        "WARN",
        True,
        Wording(
            "3.7",
            None,
            r"^Failed to write to checkpoint file .*\. This is ok if the topic/partition is being deleted",
            "3.8.0 CheckpointFileWithFailureHandler.writeIfDirExists (KAFKA-16541)",
            "Failed to write to checkpoint file /srv/kafka/broker-3/data/again-2/leader-epoch-checkpoint. This is ok "
            "if the topic/partition is being deleted",
            "real",
        ),
    ),
)
"""Known, and of no use here."""
