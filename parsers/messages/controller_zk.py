"""A ZooKeeper-mode controller in state-change.log: elections, states of partitions and replicas, requests it sends."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.messages.patterns import (
    EITHER,
    LEADER_AND_ISR,
    LEADER_ISR_CONTROLLER_EPOCH,
    ORDERS,
    STATE_CHANGE_CONTROLLER,
    TP,
    number,
)
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    Message(
        id="C-01",
        kind=Kind.ELECTION,
        literal=" to OnlinePartition with leader ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
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
                        ({"witness": 9, **ORDERS, "detail": "OfflinePartition", "leader": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # From 1.1 to 3.9 no line of a ZooKeeper-mode controller has the word "unclean": a leader from outside the last ISR
    # shows it.
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
                                **ORDERS,
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
                                **ORDERS,
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
                since="0.8",
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
                        ({"witness": 9, **ORDERS, "detail": "OfflinePartition"},),
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
                since="0.8",
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
                        ({"witness": 9, **ORDERS, "detail": "replicas 1,2"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed partition orders-0 state from NonExistentPartition to "
                        "NewPartition with assigned replicas 1,2,3",
                        ({"witness": 9, **ORDERS, "detail": "replicas 1,2,3"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The broker that receives the request writes the topic to ZooKeeper; the controller reads it there.
    Message(
        id="C-03c",
        kind=Kind.PARTITION_REQUESTED,
        literal=("Creating topic ", "Topic creation Map("),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.3",
                until="3.9",
                regex=(
                    r"^Creating topic (?P<topic>[a-zA-Z0-9._-]+) with configuration \{.*\} and initial partition "
                    r"assignment [A-Za-z]*Map\("
                ),
                source_ref="2.3.1 AdminZkClient, 3.8.0 AdminZkClient",
                each=(Each(r"(?:Map\(|\), )(?P<partition>[0-9]+) -> (?:ReplicaAssignment\([^(]*)?[A-Za-z]+\("),),
                own_row=False,
                examples=(
                    Example(
                        "Creating topic orders with configuration {} and initial partition assignment Map(1 -> "
                        "ArrayBuffer(2, 3), 0 -> ArrayBuffer(1, 2))",
                        ({"topic": "orders", "partition": 1}, ORDERS),
                    ),
                    Example(
                        "Creating topic orders with configuration {cleanup.policy=compact, segment.bytes=5000} and "
                        "initial partition assignment HashMap(0 -> List(1))",
                        (ORDERS,),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="2.1",
                regex=r"^Topic creation Map\(",
                source_ref="2.1.1 AdminZkClient",
                each=(Each(rf"(?:Map\(|\), ){TP} -> "),),
                own_row=False,
                examples=(
                    Example(
                        "Topic creation Map(orders-1 -> ArrayBuffer(2, 3), orders-0 -> ArrayBuffer(1, 2))",
                        ({"topic": "orders", "partition": 1}, ORDERS),
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
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [iI]nitiated state "
                    rf"change for partition {EITHER} from (?P<detail>[A-Za-z]+ to OnlinePartition failed)"
                ),
                source_ref="0.10.2.2 PartitionStateMachine",
                examples=(
                    Example(
                        "Controller 9 epoch 1 initiated state change for partition [orders,0] from OfflinePartition "
                        "to OnlinePartition failed",
                        ({"witness": 9, **ORDERS, "detail": "OfflinePartition to OnlinePartition failed"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Initiated state change for partition orders-0 from "
                        "OfflinePartition to OnlinePartition failed",
                        ({"witness": 9, **ORDERS, "detail": "OfflinePartition to OnlinePartition failed"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    rf"^\[Controller id=(?P<witness>[0-9]+) epoch=[0-9]+\] Controller [0-9]+ epoch [0-9]+ "
                    rf"(?P<detail>failed to change state) for partition {TP} from (?:New|Offline)Partition to "
                    r"OnlinePartition"
                ),
                source_ref="2.8.2 PartitionStateMachine",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Controller 9 epoch 1 failed to change state for partition "
                        "orders-0 from OfflinePartition to OnlinePartition",
                        ({"witness": 9, **ORDERS, "detail": "failed to change state"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until="3.9",
                regex=(
                    rf"^\[Controller id=(?P<witness>[0-9]+) epoch=[0-9]+\] Controller [0-9]+ epoch [0-9]+ "
                    rf"failed to change state for partition {TP} from (?P<detail>OnlinePartition to OnlinePartition)"
                ),
                source_ref="2.8.2 PartitionStateMachine",
                examples=(
                    Example(
                        "[Controller id=9 epoch=1] Controller 9 epoch 1 failed to change state for partition "
                        "orders-0 from OnlinePartition to OnlinePartition",
                        ({"witness": 9, **ORDERS, "detail": "OnlinePartition to OnlinePartition"},),
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
    Message(
        id="C-07",
        kind=Kind.ELECTION,
        literal=" for Offline partition ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:Controller |\[Controller id=)(?P<witness>[0-9]+) epoch[ =][0-9]+\]? [eE]lected leader "
                    rf"{number('leader')} for (?P<detail>Offline) partition {EITHER}"
                ),
                source_ref="0.10.2.2 PartitionStateMachine:350",
                examples=(
                    Example(
                        "Controller 9 epoch 1 elected leader 2 for Offline partition [orders,0]",
                        ({"witness": 9, **ORDERS, "leader": 2, "detail": "Offline"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Elected leader 3 for Offline partition orders-0",
                        ({"witness": 9, **ORDERS, "leader": 3, "detail": "Offline"},),
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
                since="0.8",
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
                        ({"witness": 9, **ORDERS, "replica": 1, "detail": "OfflineReplica"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Changed state of replica 2 for partition orders-0 from NewReplica "
                        "to OnlineReplica",
                        ({"witness": 9, **ORDERS, "replica": 2, "detail": "OnlineReplica"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-09",
        kind=Kind.ELECTION,
        says=Says.RESTATED,
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
                                **ORDERS,
                                "leader": 1,
                                "isr": "1,3",
                                "leader_epoch": 1,
                                "partition_epoch": 1,
                                "detail": "after removing replica 2 from the ISR",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Controller id=9 epoch=1] Partition orders-0 state changed to "
                        "(Leader:-1,ISR:1,LeaderEpoch:3,ControllerEpoch:1) after removing replica 1 from the ISR as "
                        "part of transition to OfflineReplica",
                        (
                            {
                                "witness": 9,
                                **ORDERS,
                                "leader": -1,
                                "isr": "1",
                                "leader_epoch": 3,
                                "detail": "after removing replica 1 from the ISR",
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
)
"""Partitions and replicas as the controller changes them."""
