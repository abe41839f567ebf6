"""``state.change.logger`` of a broker: controller requests as received, and the steps of carrying them out (TRACE)."""

from __future__ import annotations

from parsers.details import ALL_REPLICAS
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import (
    ANY_BROKER,
    ANY_STATE,
    BROKER,
    BROKER_OLD,
    EITHER,
    LEADER_AND_ISR_INFO,
    LEADER_ISR_CONTROLLER_EPOCH,
    NAMED_STATE,
    ORDERS,
    PARTITION_STATE,
    TP,
    number,
)
from parsers.schema import Kind

_REQUEST = r"correlation id -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+"

MESSAGES: tuple[Message, ...] = (
    Message(
        id="S-20",
        kind=Kind.LEADER_AND_ISR,
        literal="eceived LeaderAndIsr request ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.9",
                regex=(
                    rf"^{BROKER_OLD}received LeaderAndIsr request {LEADER_AND_ISR_INFO} {_REQUEST} for partition "
                    r"\[(?P<bracketed>[^\]]+)\]"
                ),
                source_ref="0.9.0.1 ReplicaManager",
                examples=(
                    Example(
                        "Broker 3 received LeaderAndIsr request (LeaderAndIsrInfo:(Leader:1,ISR:1,2,3,LeaderEpoch:0,"
                        "ControllerEpoch:1),ReplicationFactor:3),AllReplicas:1,2,3) correlation id 1 from controller "
                        "9 epoch 1 for partition [orders,0]",
                        ({"witness": 3, "leader": 1, "isr": "1,2,3", "leader_epoch": 0, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until="0.11",
                regex=(
                    rf"^{BROKER_OLD}received LeaderAndIsr request {PARTITION_STATE} {_REQUEST} for partition "
                    r"\[(?P<bracketed>[^\]]+)\]"
                ),
                source_ref="0.10.2.2 ReplicaManager:648",
                examples=(
                    Example(
                        "Broker 3 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=2, "
                        "leaderEpoch=1, isr=[2, 3], zkVersion=1, replicas=[1, 2, 3]) correlation id 3 from controller "
                        "9 epoch 1 for partition [orders,0]",
                        ({"witness": 3, "leader": 2, "leader_epoch": 1, "isr": "2,3", "partition_epoch": 1, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "Broker 3 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=2, "
                        "leaderEpoch=1, isr=2,3, zkVersion=1, replicas=1,2,3) correlation id 4 from controller 9 "
                        "epoch 1 for partition [orders,0]",
                        ({"witness": 3, "leader": 2, "leader_epoch": 1, "isr": "2,3", "partition_epoch": 1, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.3",
                regex=rf"^{BROKER}Received LeaderAndIsr request {PARTITION_STATE} {_REQUEST} for partition {TP}",
                source_ref="1.1.1 ReplicaManager",
                examples=(
                    Example(
                        "[Broker id=3] Received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=2, "
                        "leaderEpoch=1, isr=2,3, zkVersion=1, replicas=1,2,3, isNew=false) correlation id 3 from "
                        "controller 9 epoch 1 for partition orders-0",
                        ({"witness": 3, "leader": 2, "leader_epoch": 1, "isr": "2,3", "partition_epoch": 1, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.4",
                until="3.9",
                regex=rf"^{BROKER}Received LeaderAndIsr request {NAMED_STATE} {_REQUEST}",
                source_ref="2.4.1 ReplicaManager:1178, 3.6.2 ReplicaManager:1752",
                examples=(
                    Example(
                        "[Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=1, leader=1, leaderEpoch=0, isr=[1, 2], zkVersion=0, "
                        "replicas=[1, 2], addingReplicas=[], removingReplicas=[], isNew=true) correlation id 1 from "
                        "controller 9 epoch 1",
                        ({"witness": 2, **ORDERS, "leader": 1, "leader_epoch": 0, "isr": "1,2", "partition_epoch": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-22",
        kind=Kind.STALE_REQUEST,
        literal="gnoring LeaderAndIsr request from controller ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=(
                    rf"^{BROKER_OLD}ignoring LeaderAndIsr request from controller .* for partition "
                    rf"\[(?P<bracketed>[^\]]+)\] "
                    rf"since its associated leader epoch {number('leader_epoch')} is not higher than the current "
                    rf"leader "
                    rf"epoch {number('previous_epoch')}"
                ),
                source_ref="0.10.2.2 ReplicaManager:682",
                examples=(
                    Example(
                        "Broker 3 ignoring LeaderAndIsr request from controller 9 with correlation id 5 epoch 1 for "
                        "partition [orders,0] since its associated leader epoch 1 is not higher than the current "
                        "leader "
                        "epoch 1",
                        ({"witness": 3, **ORDERS, "leader_epoch": 1, "previous_epoch": 1},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.9",
                regex=(
                    rf"^{BROKER_OLD}ignoring LeaderAndIsr request from controller .* for partition "
                    rf"\[(?P<bracketed>[^\]]+)\] since its associated leader epoch {number('leader_epoch')} is old\. "
                    rf"Current leader epoch is {number('previous_epoch')}"
                ),
                source_ref="0.9.0.1 ReplicaManager",
                examples=(
                    Example(
                        "Broker 3 ignoring LeaderAndIsr request from controller 9 with correlation id 6 epoch 1 for "
                        "partition [orders,0] since its associated leader epoch 2 is old. Current leader epoch is 2",
                        ({"witness": 3, **ORDERS, "leader_epoch": 2, "previous_epoch": 2},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.9",
                regex=(
                    rf"^{BROKER}Ignoring LeaderAndIsr request from controller .* for partition {TP} since its "
                    rf"associated "
                    rf"leader epoch {number('leader_epoch')} (?:is (?:not higher|smaller) than the current leader "
                    rf"epoch "
                    rf"{number('previous_epoch')}|matches the current leader epoch)"
                ),
                source_ref="2.4.1 ReplicaManager:1233, ReplicaManager:1240, 3.6.2 ReplicaManager:1879",
                examples=(
                    Example(
                        "[Broker id=3] Ignoring LeaderAndIsr request from controller 9 with correlation id 7 epoch 1 "
                        "for partition orders-0 since its associated leader epoch 1 is not higher than the current "
                        "leader epoch 1",
                        ({"witness": 3, **ORDERS, "leader_epoch": 1, "previous_epoch": 1},),
                        "real",
                    ),
                    Example(
                        "[Broker id=3] Ignoring LeaderAndIsr request from controller 9 with correlation id 6 epoch 1 "
                        "for partition orders-0 since its associated leader epoch 1 matches the current leader epoch",
                        ({"witness": 3, **ORDERS, "leader_epoch": 1},),
                        "real",
                    ),
                ),
            ),
            # For reasons that are not of an epoch.
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[iI]gnoring LeaderAndIsr request from controller .*? for partition "
                    rf"{EITHER} (?P<detail>as .*)"
                ),
                source_ref="2.4.1 ReplicaManager:1202, ReplicaManager:1227",
                examples=(
                    Example(
                        "[Broker id=1] Ignoring LeaderAndIsr request from controller 9 with correlation id 3 epoch 1 "
                        "for "
                        "partition orders-1 as the local replica for the partition is in an offline log directory",
                        (
                            {
                                "witness": 1,
                                "topic": "orders",
                                "partition": 1,
                                "detail": "as the local replica for the partition is in an offline log directory",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            # About the whole request.
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    r"^(?:Broker |\[Broker id=)(?P<witness>[0-9]+)\]? [iI]gnoring LeaderAndIsr request from "
                    r"controller .*? "
                    r"(?P<detail>since its controller epoch .*)"
                ),
                source_ref="0.10.2.2 ReplicaManager:655, 2.4.1 ReplicaManager:1185",
                examples=(
                    Example(
                        "[Broker id=3] Ignoring LeaderAndIsr request from controller 9 with correlation id 7 since its "
                        "controller epoch 1 is old. Latest known controller epoch is 2",
                        (
                            {
                                "witness": 3,
                                "detail": "since its controller epoch 1 is old. Latest known controller epoch is 2",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-31",
        kind=Kind.METADATA_CACHED,
        literal="ached leader info ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(rf"^{BROKER_OLD}cached leader info {LEADER_AND_ISR_INFO} for partition {EITHER} "),
                source_ref="0.10.2.2 MetadataCache:193",
                examples=(
                    Example(
                        "Broker 3 cached leader info "
                        "(LeaderAndIsrInfo:(Leader:3,ISR:3,"
                        "LeaderEpoch:2,ControllerEpoch:1),ReplicationFactor:3),AllReplicas:1,2,3) for partition "
                        "orders-0 in response to UpdateMetadata request sent by controller 9 epoch 1 with "
                        "correlation id 8",
                        ({"witness": 3, "leader": 3, "isr": "3", "leader_epoch": 2, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "Broker 2 cached leader info (LeaderAndIsrInfo:(Leader:-1,ISR:,LeaderEpoch:3,"
                        "ControllerEpoch:1),ReplicationFactor:3),AllReplicas:1,2,3) for partition [orders,0] in "
                        "response to UpdateMetadata request sent by controller 9 epoch 1 with correlation id 3",
                        ({"witness": 2, "leader": -1, "isr": "", "leader_epoch": 3, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.9",
                regex=(rf"^{BROKER}Cached leader info {ANY_STATE} for partition {TP} "),
                source_ref="2.4.1 MetadataCache:293",
                examples=(
                    Example(
                        "[Broker id=3] Cached leader info PartitionState(controllerEpoch=1, leader=2, leaderEpoch=1, "
                        "isr=[2, 3], zkVersion=1, replicas=[1, 2, 3], offlineReplicas=[1]) for partition orders-0 in "
                        "response to UpdateMetadata request sent by controller 9 epoch 1 with correlation id 4",
                        ({"witness": 3, "leader": 2, "leader_epoch": 1, "isr": "2,3", "partition_epoch": 1, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[Broker id=2] Cached leader info UpdateMetadataPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=1, leader=2, leaderEpoch=3, isr=[2], zkVersion=3, "
                        "replicas=[1, 2], offlineReplicas=[]) for partition orders-0 in response to UpdateMetadata "
                        "request sent by controller 9 epoch 1 with correlation id 5",
                        ({"witness": 2, "leader": 2, "leader_epoch": 3, "isr": "2", "partition_epoch": 3, **ORDERS},),
                    ),
                ),
            ),
            # A line that ends within the partition's name, as people paste it.
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{BROKER_OLD}cached leader info \(LeaderAndIsrInfo:{LEADER_ISR_CONTROLLER_EPOCH},"
                    rf"ReplicationFactor:[0-9]+\),(?P<detail>{ALL_REPLICAS}[0-9,]+)\) for partition "
                ),
                source_ref="0.10.2.2 MetadataCache:193",
                examples=(
                    Example(
                        "Broker 3 cached leader info (LeaderAndIsrInfo:(Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1)"
                        ",ReplicationFactor:3),AllReplicas:1,2,3) for partition ord",
                        (
                            {
                                "witness": 3,
                                "leader": 3,
                                "isr": "3",
                                "leader_epoch": 2,
                                "detail": "AllReplicas:1,2,3",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # Printed by KafkaApis: the request was for an earlier start of the broker, and nothing of it is carried out.
    Message(
        id="V-09",
        kind=Kind.STALE_REQUEST,
        literal=" smaller than the current broker epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.2",
                until="3.9",
                regex=(
                    r"^\[KafkaApi-(?P<witness>[0-9]+)\] Received (?P<detail>(?:LeaderAndIsr|[Uu]pdate ?[Mm]etadata|"
                    r"[Ss]top ?[Rr]eplica) request with broker epoch -?[0-9]+ smaller than the current broker epoch "
                    r"-?[0-9]+)"
                ),
                source_ref="2.4.1 KafkaApis, 3.6.2 KafkaApis:278",
                examples=(
                    Example(
                        "[KafkaApi-1] Received LeaderAndIsr request with broker epoch 25 smaller than the current "
                        "broker epoch 30",
                        (
                            {
                                "witness": 1,
                                "detail": "LeaderAndIsr request with broker epoch 25 smaller than the current broker "
                                "epoch 30",
                            },
                        ),
                    ),
                    Example(
                        "[KafkaApi-1] Received stop replica request with broker epoch 25 smaller than the current "
                        "broker epoch 30",
                        (
                            {
                                "witness": 1,
                                "detail": "stop replica request with broker epoch 25 smaller than the current broker "
                                "epoch 30",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Requests and their steps, in the order they are carried out."""
