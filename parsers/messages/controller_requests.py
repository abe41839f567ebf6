"""A ZooKeeper-mode controller in state-change.log: the requests it sends to brokers, or cannot send."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.messages.patterns import (
    ANY_STATE,
    EITHER,
    LEADER_AND_ISR,
    LEADER_ISR_CONTROLLER_EPOCH,
    NAME,
    NAMED_STATE,
    ORDERS,
    PARTITION_STATE,
    STATE_CHANGE_CONTROLLER,
    TP,
)
from parsers.schema import Kind

_NUMBERED = "(?:with correlationId [0-9]+ )?"
_UNNAMED = Each(rf"(?P<tp>{NAME})={PARTITION_STATE}")
_NAMED = Each(NAMED_STATE)
_SENT = Each(rf"[sS]ent LeaderAndIsr request {LEADER_ISR_CONTROLLER_EPOCH}")
_SENT_STATE = Each(rf"[sS]ent LeaderAndIsr request {LEADER_AND_ISR}")

MESSAGES: tuple[Message, ...] = (
    Message(
        id="C-05",
        kind=Kind.ROLE_SENT,
        literal="Sending LeaderAndIsr request to broker ",
        level="INFO",
        stock=True,
        says=Says.SENT,
        variants=(
            Variant(
                since="2.6",
                until="3.9",
                regex=rf"^{STATE_CHANGE_CONTROLLER}Sending LeaderAndIsr request to broker (?P<replica>[0-9]+) with ",
                source_ref="2.8.2 ControllerChannelManager:480",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Sending LeaderAndIsr request to broker 1 with 1 become-leader "
                        "and 0 become-follower partitions",
                        ({"witness": 9, "replica": 1},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # What the controller sends: that broker may never get it.
    Message(
        id="C-04",
        kind=Kind.LEADER_AND_ISR,
        says=Says.SENT,
        literal=("ending become-leader LeaderAndIsr request ", "ending become-follower LeaderAndIsr request "),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [sS]ending "
                    rf"(?P<detail>become-[a-z]+) LeaderAndIsr request {LEADER_ISR_CONTROLLER_EPOCH} "
                    rf"{_NUMBERED}to broker "
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
                                **ORDERS,
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
                                **ORDERS,
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
                                **ORDERS,
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
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [sS]ending "
                    rf"UpdateMetadata request {LEADER_ISR_CONTROLLER_EPOCH} {_NUMBERED}to brokers? .* for "
                    rf"partition {EITHER}"
                ),
                source_ref="0.10.2.2 ControllerChannelManager",
                fixed={"detail": "sent"},
                examples=(
                    Example(
                        "Controller 9 epoch 1 sending UpdateMetadata request "
                        "(Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1) to brokers Set(9, 3) for partition orders-0",
                        ({"witness": 9, **ORDERS, "leader": 3, "isr": "3", "leader_epoch": 2, "detail": "sent"},),
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
                                **ORDERS,
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
                                **ORDERS,
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
                                **ORDERS,
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
        id="C-11",
        kind=Kind.LEADER_AND_ISR,
        says=Says.SENT,
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
                                **ORDERS,
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
"""Requests: what a broker received, not what it did."""
