"""A ZooKeeper-mode controller in state-change.log: elections, states of partitions and replicas, requests it sends."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import (
    ANY_STATE,
    EITHER,
    LEADER_AND_ISR,
    LEADER_ISR_CONTROLLER_EPOCH,
    NAME,
    NAMED_STATE,
    PARTITION_STATE,
    STATE_CHANGE_CONTROLLER,
    STATE_CHANGE_CONTROLLER_OLD,
    TP,
    number,
)
from parsers.schema import Kind

_UNNAMED = Each(rf"(?P<tp>{NAME})={PARTITION_STATE}")
_NAMED = Each(NAMED_STATE)
_SENT = Each(rf"[sS]ent LeaderAndIsr request {LEADER_ISR_CONTROLLER_EPOCH}")
_SENT_STATE = Each(rf"[sS]ent LeaderAndIsr request {LEADER_AND_ISR}")

MESSAGES: tuple[Message, ...] = (
    Message(
        id="C-01",
        kind=Kind.ELECTION,
        literal=" to OnlinePartition with leader ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [cC]hanged partition "
                    rf"{EITHER} from (?P<detail>[A-Za-z]+) to OnlinePartition with leader "
                    rf"{number('leader')}"
                ),
                source_ref="0.10.2.2 PartitionStateMachine:207, 1.0.2 PartitionStateMachine:170",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed partition [orders,0] from OfflinePartition to OnlinePartition "
                        "with leader 2",
                        ({"witness": 9, "topic": "orders", "partition": 0, "detail": "OfflinePartition", "leader": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # From 1.1 to 3.9 no line of a ZooKeeper-mode controller says "unclean": a leader from outside the last ISR does.
    Message(
        id="C-02",
        kind=Kind.ELECTION,
        literal=" to OnlinePartition with state ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER}Changed partition {TP} from (?P<detail>[A-Za-z]+) to "
                    rf"OnlinePartition with state {LEADER_AND_ISR}"
                ),
                source_ref="1.1.1 PartitionStateMachine:169, 2.8.2 PartitionStateMachine:229",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Changed partition orders-0 from OfflinePartition to "
                        "OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=1, isr=List(2, 3), zkVersion=1)",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "OfflinePartition",
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed partition orders-0 from OfflinePartition to "
                        "OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=1, "
                        "isrWithBrokerEpoch=List(BrokerState(brokerId=2, brokerEpoch=-1), BrokerState(brokerId=3, "
                        "brokerEpoch=-1)), leaderRecoveryState=RECOVERED, partitionEpoch=1)",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "OfflinePartition",
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-03",
        kind=Kind.PARTITION_OFFLINE,
        literal="Partition to OfflinePartition",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [cC]hanged partition "
                    rf"{EITHER} state from [A-Za-z]+ to (?P<detail>OfflinePartition)"
                ),
                source_ref="2.8.2 PartitionStateMachine:258",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed partition [orders,0] state from OnlinePartition to "
                        "OfflinePartition",
                        ({"witness": 9, "topic": "orders", "partition": 0, "detail": "OfflinePartition"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed partition orders-1 state from OnlinePartition to "
                        "OfflinePartition",
                        ({"witness": 9, "topic": "orders", "partition": 1, "detail": "OfflinePartition"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-03a",
        kind=Kind.PARTITION_CREATED,
        literal=" to NewPartition with assigned replicas ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [cC]hanged partition "
                    rf"{EITHER} state from [A-Za-z]+ to NewPartition with assigned "
                    rf"(?P<detail>replicas [0-9,]*)"
                ),
                source_ref="2.8.2 PartitionStateMachine:218",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed partition [orders,0] state from NonExistentPartition to "
                        "NewPartition with assigned replicas 1,2",
                        ({"witness": 9, "topic": "orders", "partition": 0, "detail": "replicas 1,2"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed partition orders-0 state from NonExistentPartition to "
                        "NewPartition with assigned replicas 1,2,3",
                        ({"witness": 9, "topic": "orders", "partition": 0, "detail": "replicas 1,2,3"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # No replica to elect: the partition stays without a leader.
    Message(
        id="C-03b",
        kind=Kind.PARTITION_OFFLINE,
        literal=(" to OnlinePartition failed", " failed to change state for partition "),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="1.0",
                regex=(
                    r"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [iI]nitiated state "
                    r"change for partition \[(?P<bracketed>[^\]]+)\] from (?P<detail>[A-Za-z]+ to OnlinePartition "
                    r"failed)"
                ),
                source_ref="0.10.2.2 PartitionStateMachine",
                examples=(
                    Example(
                        "Controller 9 epoch 1 initiated state change for partition [orders,0] from OfflinePartition "
                        "to OnlinePartition failed",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "OfflinePartition to OnlinePartition failed",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    rf"^\[Controller id=(?P<witness>[0-9]+) epoch=[0-9]+\] Controller [0-9]+ epoch [0-9]+ "
                    rf"(?P<detail>failed to change state) for partition {TP} from [A-Za-z]+ to OnlinePartition"
                ),
                source_ref="2.8.2 PartitionStateMachine",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Controller 9 epoch 1 failed to change state for partition "
                        "orders-0 from OfflinePartition to OnlinePartition",
                        ({"witness": 9, "topic": "orders", "partition": 0, "detail": "failed to change state"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    r"^\[Controller id=[0-9]+ epoch=[0-9]+\] Controller [0-9]+ epoch [0-9]+ failed to change state "
                    r"for partition "
                ),
                source_ref="2.8.2 PartitionStateMachine",
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Controller 9 epoch 1 failed to change state for partition "
                        "orders-0 from OnlinePartition to OfflinePartition",
                        (),
                    ),
                ),
            ),
        ),
    ),
    # What the controller sends: that broker may never get it.
    Message(
        id="C-04",
        kind=Kind.LEADER_AND_ISR,
        literal=("ending become-leader LeaderAndIsr request ", "ending become-follower LeaderAndIsr request "),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [sS]ending "
                    rf"(?P<detail>become-[a-z]+) LeaderAndIsr request {LEADER_ISR_CONTROLLER_EPOCH} to broker "
                    rf"(?P<replica>[0-9]+) for partition {EITHER}"
                ),
                source_ref="0.10.2.2 ControllerChannelManager:353",
                examples=(
                    Example(
                        "Controller 9 epoch 1 sending become-leader LeaderAndIsr request "
                        "(Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1) to broker 3 for partition [orders,0]",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "become-leader",
                                "leader": 3,
                                "isr": "3",
                                "leader_epoch": 2,
                                "replica": 3,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER}Sending (?P<detail>become-[a-z]+) LeaderAndIsr request {ANY_STATE} "
                    rf"to broker (?P<replica>[0-9]+) for partition {TP}"
                ),
                source_ref="1.1.1 ControllerChannelManager:406, 3.6.2 ControllerChannelManager:539",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Sending become-follower LeaderAndIsr request "
                        "PartitionState(controllerEpoch=1, leader=2, leaderEpoch=1, isr=2,3, zkVersion=1, "
                        "replicas=1,2,3, isNew=false) to broker 3 for partition orders-0",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "become-follower",
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "replica": 3,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Sending become-leader LeaderAndIsr request "
                        "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=1, "
                        "leader=2, leaderEpoch=1, isr=[2], zkVersion=1, replicas=[1, 2], addingReplicas=[], "
                        "removingReplicas=[], isNew=false) to broker 2 for partition orders-0",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "become-leader",
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2",
                                "partition_epoch": 1,
                                "replica": 2,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-04a",
        kind=Kind.METADATA_CACHED,
        literal="ending UpdateMetadata request ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [sS]ending "
                    rf"UpdateMetadata request {LEADER_ISR_CONTROLLER_EPOCH} to brokers .* for partition {TP}"
                ),
                source_ref="0.10.2.2 ControllerChannelManager",
                fixed={"detail": "sent"},
                examples=(
                    Example(
                        "Controller 9 epoch 1 sending UpdateMetadata request "
                        "(Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1) to brokers Set(9, 3) for partition orders-0",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 3,
                                "isr": "3",
                                "leader_epoch": 2,
                                "detail": "sent",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="2.5",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER}Sending UpdateMetadata request {ANY_STATE} to brokers .* for "
                    rf"partition {TP}"
                ),
                source_ref="1.1.1 ControllerChannelManager",
                fixed={"detail": "sent"},
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Sending UpdateMetadata request PartitionState(controllerEpoch=1, "
                        "leader=2, leaderEpoch=1, isr=[2, 3], zkVersion=1, replicas=[1, 2, 3], offlineReplicas=[1]) "
                        "to brokers Set(9, 1, 2, 3) for partition orders-0",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "detail": "sent",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until="3.9",
                regex=(rf"^{STATE_CHANGE_CONTROLLER}Sending UpdateMetadata request to brokers "),
                source_ref="2.8.2 ControllerChannelManager",
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Sending UpdateMetadata request to brokers HashSet(1, 2, 9) for 1 "
                        "partitions",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-04b",
        kind=Kind.METADATA_CACHED,
        literal=("Not sending request (type=LeaderAndIsRequest, ", " fails to send request (type=LeaderAndIsRequest, "),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.10",
                until="3.9",
                regex=(
                    r"^\[(?:Channel manager on controller (?P<witness>[0-9]+)|RequestSendThread "
                    r"controllerId=[0-9]+|Controller-[0-9]+-to-broker-[0-9]+-send-thread)\][:,]? (?:Not "
                    r"sending|Controller [0-9]+ epoch [0-9]+ fails to send) request \(type=LeaderAndIsRequest, "
                ),
                source_ref="1.1.1 ControllerChannelManager, 2.8.2 ControllerChannelManager",
                fixed={"detail": "not delivered"},
                each=(_UNNAMED, _NAMED),
                own_row=False,
                examples=(
                    Example(
                        "[Channel manager on controller 9]: Not sending request (type=LeaderAndIsRequest, "
                        "controllerId=9, controllerEpoch=1, "
                        "partitionStates={orders-0=PartitionState(controllerEpoch=1, leader=3, leaderEpoch=2, "
                        "isr=[3], zkVersion=2, replicas=[1, 2, 3])}, liveLeaders=(127.0.0.1:19003 (id: 3 rack: "
                        "null))) to broker 1, since it is offline.",
                        (
                            {
                                "detail": "not delivered",
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 3,
                                "leader_epoch": 2,
                                "isr": "3",
                                "partition_epoch": 2,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[RequestSendThread controllerId=9] Controller 9 epoch 1 fails to send request "
                        "(type=LeaderAndIsRequest, controllerId=9, controllerEpoch=1, brokerEpoch=62, "
                        "partitionStates=[LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, "
                        "controllerEpoch=1, leader=2, leaderEpoch=1, isr=[2], zkVersion=1, replicas=[1, 2], "
                        "addingReplicas=[], removingReplicas=[], isNew=false)], "
                        "topicIds={orders=sJmUHQMaRIib8LSekyGbmA}, liveLeaders=(127.0.0.1:19002 (id: 2 rack: null))) "
                        "to broker 127.0.0.1:19002 (id: 2 rack: null). Reconnecting to broker.",
                        (
                            {
                                "detail": "not delivered",
                                "topic": "orders",
                                "partition": 0,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2",
                                "partition_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-07",
        kind=Kind.ELECTION,
        literal=" for Offline partition ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER_OLD}elected leader {number('leader')} for (?P<detail>Offline) "
                    rf"partition \[(?P<bracketed>[^\]]+)\]"
                ),
                source_ref="0.10.2.2 PartitionStateMachine:350",
                examples=(
                    Example(
                        "Controller 9 epoch 1 elected leader 2 for Offline partition [orders,0]",
                        ({"witness": 9, "topic": "orders", "partition": 0, "leader": 2, "detail": "Offline"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-08",
        kind=Kind.REPLICA_STATE,
        literal="hanged state of replica ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [cC]hanged state of "
                    rf"replica (?P<replica>[0-9]+) for partition {EITHER} from [A-Za-z]+ "
                    rf"to (?P<detail>[A-Za-z]+)"
                ),
                source_ref="0.10.2.2 ReplicaStateMachine:184, 2.4.1 ReplicaStateMachine:419",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed state of replica 1 for partition [orders,0] from OnlineReplica "
                        "to OfflineReplica",
                        ({"witness": 9, "topic": "orders", "partition": 0, "replica": 1, "detail": "OfflineReplica"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed state of replica 2 for partition orders-0 from NewReplica "
                        "to OnlineReplica",
                        ({"witness": 9, "topic": "orders", "partition": 0, "replica": 2, "detail": "OnlineReplica"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-09",
        kind=Kind.ISR_COMMIT,
        literal=" as part of transition to OfflineReplica",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.6",
                until="3.9",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER}Partition {TP} state changed to {LEADER_ISR_CONTROLLER_EPOCH} "
                    rf"(?P<detail>after removing replica [0-9]+ from the ISR) as part of "
                ),
                source_ref="2.6.3 ReplicaStateMachine:228",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Partition orders-0 state changed to "
                        "(Leader:1,ISR:1,3,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1) after removing replica 2 "
                        "from the ISR as part of transition to OfflineReplica",
                        (
                            {
                                "witness": 9,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 1,
                                "isr": "1,3",
                                "leader_epoch": 1,
                                "partition_epoch": 1,
                                "detail": "after removing replica 2 from the ISR",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-10",
        kind=Kind.DIR_FAILED,
        literal="Mark replicas ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="3.9",
                regex=(
                    r"^\[Controller id=(?P<witness>[0-9]+)(?: epoch=[0-9]+)?\] Mark replicas (?P<detail>.*) on "
                    r"broker (?P<replica>[0-9]+) as offline"
                ),
                source_ref="2.4.1 KafkaController:1257",
                examples=(
                    Example(
                        "[Controller id=9] Mark replicas orders-1,orders-2 on broker 1 as offline",
                        ({"witness": 9, "detail": "orders-1,orders-2", "replica": 1},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-11",
        kind=Kind.LEADER_AND_ISR,
        literal=" with new replica assignment ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [sS]ent LeaderAndIsr "
                    rf"request .*? with new replica assignment .* to leader (?P<replica>[0-9]+) for partition being "
                    rf"reassigned {EITHER}"
                ),
                source_ref="2.4.1 KafkaController:949, 3.6.2 KafkaController:1132",
                fixed={"detail": "reassignment"},
                each=(_SENT, _SENT_STATE),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Sent LeaderAndIsr request "
                        "(Leader:1,ISR:1,2,LeaderEpoch:3,ZkVersion:4,ControllerEpoch:1) with new replica assignment "
                        "ReplicaAssignment(replicas=1,2,3, addingReplicas=3, removingReplicas=) to leader 1 for "
                        "partition being reassigned orders-0",
                        (
                            {
                                "detail": "reassignment",
                                "witness": 9,
                                "replica": 1,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 1,
                                "isr": "1,2",
                                "leader_epoch": 3,
                                "partition_epoch": 4,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Partitions and replicas as the controller changes them."""
