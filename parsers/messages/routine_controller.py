"""Lines of controllers, the metadata quorum and the process itself that add nothing.

Other lines have the same and more. These are recognised, so that no user has to ask whether one of them matters, and
give no row.
"""

from __future__ import annotations

from parsers.messages.catalogue import Message, Wording, routine
from parsers.messages.patterns import (
    CONTROLLER,
    QUORUM_CONTROLLER,
    RAFT,
    STATE_CHANGE_CONTROLLER,
    STATE_CHANGE_CONTROLLER_OLD,
)
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    routine(
        "C-06",
        Kind.LEADER_AND_ISR,
        "eceived response ",
        "TRACE",
        True,
        Wording(
            "0.8",
            "0.11",
            rf"^{STATE_CHANGE_CONTROLLER_OLD}received response .* for a request sent to broker ",
            "0.10.2.2 ControllerChannelManager",
            (
                "Controller 9 epoch 1 received response "
                "{error_code=0,partitions=[{topic=orders,partition=0,error_code=0}]} for a request sent to "
                "broker h:9092 (id: 1 rack: null)"
            ),
            "real",
        ),
        Wording(
            "1.0",
            "3.9",
            rf"^{STATE_CHANGE_CONTROLLER}Received response .* for (?:a )?request ",
            "2.4.1 ControllerChannelManager:277",
            (
                "[Controller id=9 epoch=1] Received response {error_code=0} for request UPDATE_METADATA "
                "with correlation id 0 sent to broker h:9092 (id: 9 rack: null)"
            ),
            "real",
        ),
    ),
    routine(
        "C-27a",
        Kind.CONTROLLER_ACTIVE,
        (
            " successfully elected as ",
            " incremented epoch to ",
        ),
        "INFO",
        True,
        Wording(
            "0.8",
            "0.10",
            r"^[0-9]+ successfully elected as leader",
            "0.10.2.2 ZookeeperLeaderElector",
            "9 successfully elected as leader",
            "real",
        ),
        Wording(
            "0.11",
            "3.9",
            rf"^{CONTROLLER}[0-9]+ successfully elected as the controller",
            "0.11.0.2 KafkaController, 3.6.2 KafkaController:1565",
            "[Controller id=9] 9 successfully elected as the controller",
            "real",
        ),
        Wording(
            "0.8",
            "2.1",
            rf"^{CONTROLLER}Controller [0-9]+ incremented epoch to ",
            "0.10.2.2 KafkaController:731",
            "[Controller 9]: Controller 9 incremented epoch to 1",
            "real",
        ),
    ),
    routine(
        "C-28b",
        Kind.BROKER_REGISTERED,
        (
            "Newly added brokers: ",
            "Updated broker epochs cache: ",
        ),
        "INFO",
        True,
        Wording(
            "0.8",
            "3.9",
            r"^\[(?:BrokerChangeListener on Controller [0-9]+|Controller (?:id=)?[0-9]+)\]:? Newly added brokers: ",
            "0.10.2.2 ReplicaStateMachine, 3.6.2 KafkaController:1626",
            "[BrokerChangeListener on Controller 9]: Newly added brokers: 1, deleted brokers: , all live brokers: 1,9",
            "real",
        ),
        Wording(
            "2.2",
            "3.9",
            rf"^{CONTROLLER}Updated broker epochs cache: ",
            "3.6.2 KafkaController:1664",
            "[Controller id=9] Updated broker epochs cache: HashMap(1 -> 76, 9 -> 25)",
            "real",
        ),
    ),
    routine(
        "C-28c",
        Kind.SHUTDOWN_BEGIN,
        "Shutting down broker ",
        "INFO",
        True,
        Wording(
            "0.8",
            "3.9",
            rf"^{CONTROLLER}Shutting down broker ",
            "3.6.2 KafkaController:1377",
            "[Controller id=9] Shutting down broker 1",
            "real",
        ),
    ),
    routine(
        "C-29a",
        Kind.ELECTION,
        (
            "Starting preferred replica leader election for partitions ",
            "Starting replica leader election (PREFERRED) for partitions ",
        ),
        "INFO",
        True,
        Wording(
            "0.8",
            "2.3",
            rf"^{CONTROLLER}Starting preferred replica leader election for partitions ",
            "0.10.2.2 KafkaController",
            "[Controller 9]: Starting preferred replica leader election for partitions [orders,0]",
            "real",
        ),
        Wording(
            "2.4",
            "3.9",
            rf"^{CONTROLLER}Starting replica leader election \(PREFERRED\) for partitions ",
            "3.6.2 KafkaController:914",
            "[Controller id=9] Starting replica leader election (PREFERRED) for partitions  triggered by ZkTriggered",
            "real",
        ),
    ),
    routine(
        "C-30",
        Kind.TOPIC_CONFIG,
        "Unclean leader election has been enabled ",
        "INFO",
        True,
        Wording(
            "2.3",
            "3.9",
            rf"^{CONTROLLER}Unclean leader election has been enabled (?:by default|for topic )",
            "3.6.2 KafkaController:1345, :1351",
            "[Controller id=9] Unclean leader election has been enabled for topic orders",
        ),
    ),
    routine(
        "K-08",
        Kind.PARTITION_CHANGED,
        ": changing ",
        "INFO",
        True,
        Wording(
            "3.0",
            None,
            rf"^{QUORUM_CONTROLLER}[A-Za-z]+(?:\[[^\]]+\])?: changing [0-9]+ partition\(s\)",
            "3.6.2 ReplicationControlManager:1782",
            "[QuorumController id=100] handleBrokerFenced: changing 1 partition(s)",
            "real",
        ),
        Wording(
            "3.0",
            None,
            rf"^{QUORUM_CONTROLLER}[A-Za-z]+(?:\[[^\]]+\])?: changing partition\(s\): ",
            "3.6.2 ReplicationControlManager:1782",
            "[QuorumController id=100] enterControlledShutdown[1]: changing partition(s): orders-0, orders-1",
            "real",
        ),
    ),
    routine(
        "K-10a",
        Kind.ELECTION,
        "Cannot trigger unclean leader election for offline partition ",
        "WARN",
        True,
        Wording(
            "3.9",
            None,
            rf"^{QUORUM_CONTROLLER}Cannot trigger unclean leader election for offline partition ",
            "3.9.0 ReplicationControlManager:1705",
            (
                "[QuorumController id=100] Cannot trigger unclean leader election for offline partition "
                "orders-0: ELIGIBLE_LEADERS_NOT_AVAILABLE"
            ),
        ),
    ),
    routine(
        "K-11",
        Kind.PARTITION_CHANGED,
        " has overlapping ISR=",
        "ERROR",
        True,
        Wording(
            "3.8",
            None,
            rf"^{QUORUM_CONTROLLER}[^ ]+ has overlapping ISR=",
            "3.8.0 ReplicationControlManager:2289",
            "[QuorumController id=100] orders-0 has overlapping ISR=[1, 2] and ELR=[2]",
        ),
    ),
    routine(
        "K-13",
        Kind.BROKER_UNFENCED,
        (
            " to unfence has been granted ",
            "requested and been granted a controlled shutdown",
            " to shut down has been granted ",
        ),
        "INFO",
        True,
        Wording(
            "2.8",
            None,
            rf"^{QUORUM_CONTROLLER}The request from broker [0-9]+ to unfence has been granted ",
            "3.3.2 BrokerHeartbeatManager:552",
            (
                "[QuorumController id=100] The request from broker 1 to unfence has been granted because "
                "it has caught up with the offset of its register broker record 11."
            ),
            "real",
        ),
        Wording(
            "2.8",
            None,
            rf"^{QUORUM_CONTROLLER}Unfenced broker [0-9]+ has requested and been granted a controlled shutdown",
            "3.3.2 BrokerHeartbeatManager:577",
            "[QuorumController id=100] Unfenced broker 1 has requested and been granted a controlled shutdown.",
            "real",
        ),
        Wording(
            "2.8",
            None,
            rf"^{QUORUM_CONTROLLER}The request from broker [0-9]+ to shut down has been granted ",
            "3.3.2 BrokerHeartbeatManager:600",
            (
                "[QuorumController id=100] The request from broker 1 to shut down has been granted since "
                "the lowest active offset 51 is now greater than the broker's controlled shutdown offset "
                "51."
            ),
            "real",
        ),
    ),
    routine(
        "K-14a",
        Kind.CONTROLLER_ACTIVE,
        "In the new epoch ",
        "INFO",
        True,
        Wording(
            "3.0",
            None,
            rf"^{QUORUM_CONTROLLER}In the new epoch [0-9]+, the leader is ",
            "3.3.2 QuorumController:1084",
            "[QuorumController id=100] In the new epoch 2, the leader is 101.",
        ),
    ),
    routine(
        "K-15",
        Kind.PARTITION_CHANGED,
        (
            "Replaying log record ",
            "Replaying snapshot ",
        ),
        "TRACE",
        False,
        Wording(
            "3.5",
            None,
            rf"^{QUORUM_CONTROLLER}Replaying log record ",
            "3.5.2 QuorumController:1521, 3.6.2 QuorumController:1454",
            (
                "[QuorumController id=100] Replaying log record PartitionChangeRecord(partitionId=0, "
                "topicId=Rh8JkKq4RPy1v6cF2f9x0A, isr=[1], leader=1) with offset 53"
            ),
        ),
        Wording(
            "3.5",
            None,
            rf"^{QUORUM_CONTROLLER}Replaying snapshot ",
            "3.9.0 QuorumController:1542",
            (
                "[QuorumController id=100] Replaying snapshot 00000000000000000053-0000000001 record "
                "TopicRecord(name='orders', topicId=Rh8JkKq4RPy1v6cF2f9x0A)"
            ),
        ),
    ),
    routine(
        "Q-08",
        Kind.ELECTION,
        "Vote request ",
        "INFO",
        True,
        Wording(
            "2.7",
            None,
            rf"^{RAFT}Vote request .* is (?:granted|rejected)",
            "3.6.2 KafkaRaftClient:590",
            "[RaftManager id=1] Vote request VoteRequestData(clusterId='x', topics=[]) with epoch 2 is granted",
        ),
    ),
    routine(
        "V-01a",
        Kind.BROKER_VERSION,
        (
            "Kafka commitId : ",
            "Kafka commitId: ",
            "Kafka startTimeMs: ",
        ),
        "INFO",
        True,
        Wording(
            "0.9",
            "2.1",
            r"^Kafka commitId : ",
            "0.10.2.2 AppInfoParser:83",
            "Kafka commitId : cd80bc412b9b9701",
            "real",
        ),
        Wording(
            "2.2", None, r"^Kafka commitId: ", "3.6.2 AppInfoParser:119", "Kafka commitId: f745dfdcee2b9851", "real"
        ),
        Wording(
            "2.3", None, r"^Kafka startTimeMs: ", "3.6.2 AppInfoParser", "Kafka startTimeMs: 1795234415123", "real"
        ),
    ),
    routine(
        "V-04b",
        Kind.PROCESS_STARTED,
        (
            "] Transition from ",
            "The broker has been unfenced. Transitioning from RECOVERY to RUNNING",
        ),
        "INFO",
        True,
        Wording(
            "3.1",
            None,
            r"^\[(?:Broker|Controller|Shared)Server id=[0-9]+\] Transition from [A-Z_]+ to [A-Z_]+",
            "3.6.2 BrokerServer:154",
            "[BrokerServer id=1] Transition from SHUTDOWN to STARTING",
            "real",
        ),
        Wording(
            "2.8",
            None,
            r"^\[BrokerLifecycleManager id=[0-9]+[^\]]*\] The broker has been unfenced",
            "3.6.2 BrokerLifecycleManager:413",
            "[BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING.",
            "real",
        ),
    ),
    routine(
        "V-06b",
        Kind.SHUTDOWN_BEGIN,
        (
            "Controlled shutdown succeeded",
            "Controlled shutdown request returned successfully after ",
            "Proceeding to do an unclean shutdown ",
        ),
        "INFO",
        True,
        Wording(
            "0.8",
            None,
            r"^\[Kafka ?Server (?:id=)?[0-9]+\],? Controlled shutdown succeeded",
            "0.10.2.2 KafkaServer, 2.8.2 KafkaServer",
            "[KafkaServer id=1] Controlled shutdown succeeded",
            "real",
        ),
        Wording(
            "2.0",
            "3.9",
            r"^\[Kafka ?Server (?:id=)?[0-9]+\],? Controlled shutdown request returned successfully after ",
            "3.6.2 KafkaServer:818",
            "[KafkaServer id=1] Controlled shutdown request returned successfully after 12ms",
        ),
        Wording(
            "0.8",
            None,
            r"^\[Kafka ?Server (?:id=)?[0-9]+\],? Proceeding to do an unclean shutdown ",
            "0.10.2.2 KafkaServer:442",
            "[Kafka Server 1], Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed",
        ),
    ),
    routine(
        "V-07",
        Kind.SHUTDOWN_BEGIN,
        (
            "Fatal error during KafkaServer startup",
            "Fatal error during broker startup",
        ),
        "ERROR",
        True,
        Wording(
            "0.8",
            "3.9",
            r"^(?:\[Kafka ?Server (?:id=)?[0-9]+\],? )?Fatal error during KafkaServer startup",
            "3.6.2 KafkaServer:613",
            "[KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown",
        ),
        Wording(
            "2.8",
            None,
            r"^\[BrokerServer id=[0-9]+\] Fatal error during broker startup",
            "3.6.2 BrokerServer:517",
            "[BrokerServer id=1] Fatal error during broker startup. Prepare to shutdown",
        ),
    ),
    routine(
        "V-08",
        Kind.METADATA_CACHED,
        (
            "Publishing initial metadata at offset ",
            "Publishing metadata at offset ",
        ),
        "INFO",
        True,
        Wording(
            "3.0",
            None,
            r"^\[BrokerMetadataPublisher id=[0-9]+\] Publishing initial metadata at offset ",
            "3.6.2 BrokerMetadataPublisher:157",
            (
                "[BrokerMetadataPublisher id=1] Publishing initial metadata at offset "
                "OffsetAndEpoch(offset=10, epoch=1) with metadata.version 3.9-IV0."
            ),
            "real",
        ),
        Wording(
            "3.0",
            None,
            r"^\[BrokerMetadataPublisher id=[0-9]+\] Publishing metadata at offset ",
            "3.6.2 BrokerMetadataPublisher:163",
            "[BrokerMetadataPublisher id=1] Publishing metadata at offset OffsetAndEpoch(offset=54, epoch=1).",
        ),
    ),
    routine(
        "C-07a",
        Kind.ELECTION,
        " started leader election for partition ",
        "TRACE",
        True,
        Wording(
            "0.8",
            "0.11",
            rf"^{STATE_CHANGE_CONTROLLER_OLD}started leader election for partition ",
            "0.10.2.2 PartitionStateMachine:320",
            "Controller 9 epoch 1 started leader election for partition [orders,0]",
        ),
    ),
)
