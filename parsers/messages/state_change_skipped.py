"""``state.change.logger`` of a broker: changes of role that it skips, as nothing changes or its directory failed."""

from __future__ import annotations

from parsers.details import SAME_LEADER
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import (
    ANY_BROKER,
    BROKER,
    EITHER,
    NAME,
    NAMED_STATE,
    ORDERS,
    REGISTRATION,
    TOPIC_ID,
    TP,
    number,
)
from parsers.schema import Kind

_NO_ROLE = Each(r"(?P<detail>Skipped the become-[a-z]+ state change) ", Kind.STORAGE_ERROR)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="S-08",
        kind=Kind.ROLE_UNCHANGED,
        literal="kipped the become-",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{BROKER}Skipped the become-leader state change for [^ ]+ with topic id {TOPIC_ID} and "
                    rf"partition "
                    rf"state {NAMED_STATE} since it is already the leader with leader epoch -?[0-9]+\. Current high "
                    r"watermark (?P<hw>[0-9]+),"
                ),
                source_ref="3.3.2 Partition:649, 3.6.2 Partition:764",
                fixed={"detail": "leader: already leader"},
                examples=(
                    Example(
                        "[Broker id=2] Skipped the become-leader state change for orders-0 with topic id "
                        "Some(jr7ToJr8QGqdwL9PS_3LOg) and partition state "
                        "LeaderAndIsrPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=2, isr=[2, 1], partitionEpoch=5, "
                        "replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, "
                        "leaderRecoveryState=0) since it is already the leader with leader epoch 2. Current high "
                        "watermark 40, ISR [2,1], adding replicas [] and removing replicas [].",
                        (
                            {
                                "detail": "leader: already leader",
                                "witness": 2,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                **ORDERS,
                                "leader": 2,
                                "leader_epoch": 2,
                                "isr": "2,1",
                                "partition_epoch": 5,
                                "hw": 40,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{BROKER}Skipped the become-follower state change for [^ ]+ with topic id {TOPIC_ID} and "
                    rf"partition "
                    rf"state {NAMED_STATE} since it is already a follower with leader epoch "
                ),
                source_ref="3.3.2 Partition:719",
                fixed={"detail": "follower: already follower"},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-follower state change for orders-0 with topic id "
                        "Some(jr7ToJr8QGqdwL9PS_3LOg) and partition state "
                        "LeaderAndIsrPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=2, isr=[2, 1, 3], "
                        "partitionEpoch=6, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, "
                        "leaderRecoveryState=0) since it is already a follower with leader epoch 2.",
                        (
                            {
                                "detail": "follower: already follower",
                                "witness": 3,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                **ORDERS,
                                "leader": 2,
                                "leader_epoch": 2,
                                "isr": "2,1,3",
                                "partition_epoch": 6,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="4.2",
                until=None,
                regex=(
                    rf"^{BROKER}Skipped the become-leader state change for {TP} with topic id {TOPIC_ID}, partition "
                    rf"registration {REGISTRATION} and isNew=[a-z]+ since it is already the leader with leader epoch "
                    r"-?[0-9]+\. Current high watermark (?P<hw>[0-9]+),"
                ),
                source_ref="4.2.0 Partition",
                fixed={"detail": "leader: already leader"},
                examples=(
                    Example(
                        "[Broker id=1] Skipped the become-leader state change for orders-0 with topic id "
                        "Some(bKbuCpbpSD-WON07SuZrfA), partition registration PartitionRegistration(replicas=[1, 2], "
                        "directories=[1Su2clOHuIT1d5lAlZgvMA, eF_1u6PVO47L2IvOClpGAg], isr=[1, 2], "
                        "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=1, "
                        "leaderRecoveryState=RECOVERED, leaderEpoch=2, partitionEpoch=4) and isNew=false since it is "
                        "already the leader with leader epoch 2. Current high watermark 70, ISR [1,2], adding "
                        "replicas [] and removing replicas [].",
                        (
                            {
                                "detail": "leader: already leader",
                                "witness": 1,
                                "topic_id": "bKbuCpbpSD-WON07SuZrfA",
                                **ORDERS,
                                "leader": 1,
                                "leader_epoch": 2,
                                "isr": "1,2",
                                "partition_epoch": 4,
                                "hw": 70,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="4.2",
                until=None,
                regex=(
                    rf"^{BROKER}Skipped the become-follower state change for {TP} with topic id {TOPIC_ID}, partition "
                    rf"registration {REGISTRATION} and isNew=[a-z]+ since it is already a follower with leader epoch "
                ),
                source_ref="4.2.0 Partition",
                fixed={"detail": "follower: already follower"},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-follower state change for orders-0 with topic id "
                        "Some(bKbuCpbpSD-WON07SuZrfA), partition registration PartitionRegistration(replicas=[2, 3], "
                        "directories=[eF_1u6PVO47L2IvOClpGAg, k8jlhXRGEK-Xr760FDTh8Q], isr=[2, 3], "
                        "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, "
                        "leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=2) and isNew=false since it is "
                        "already a follower with leader epoch 0.",
                        (
                            {
                                "detail": "follower: already follower",
                                "witness": 3,
                                "topic_id": "bKbuCpbpSD-WON07SuZrfA",
                                **ORDERS,
                                "leader": 2,
                                "leader_epoch": 0,
                                "isr": "2,3",
                                "partition_epoch": 2,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            # The request is older than what the replica knows: its state is not the replica's.
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{BROKER}Skipped the become-(?:leader|follower) state change for {TP} with topic id "
                    rf"{TOPIC_ID}(?: and|,) partition (?:state|registration) .* since the "
                    r"(?P<detail>(?:leader|follower) is already at a newer partition epoch) "
                    rf"{number('partition_epoch')}\."
                ),
                source_ref="3.3.2 Partition:572, Partition:682",
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-follower state change for orders-0 with topic id "
                        "Some(jr7ToJr8QGqdwL9PS_3LOg) and partition state "
                        "LeaderAndIsrPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=2, isr=[2], partitionEpoch=4, "
                        "replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, "
                        "leaderRecoveryState=0) since the follower is already at a newer partition epoch 6.",
                        (
                            {
                                "witness": 3,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "detail": "follower is already at a newer partition epoch",
                                "partition_epoch": 6,
                            },
                        ),
                    ),
                ),
            ),
            # The fetcher continues: no reconciliation. Same leader up to 1.1, and an epoch at most one higher in 2.0.
            Variant(
                since="0.8",
                until="3.2",
                regex=(
                    rf"^{ANY_BROKER}[sS]kipped the become-follower state change after marking its partition as "
                    rf"follower "
                    r"with "
                    rf"correlation id -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+ for partition {EITHER} .*since "
                    rf"the new "
                    rf"leader {number('leader')} is the same as the old leader"
                ),
                source_ref="2.4.1 ReplicaManager:1454",
                fixed={"detail": SAME_LEADER},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-follower state change after marking its partition as "
                        "follower "
                        "with correlation id 5 from controller 9 epoch 1 for partition orders-1 (last update "
                        "controller epoch 1) since the new leader 2 is the same as the old leader",
                        (
                            {
                                "detail": SAME_LEADER,
                                "witness": 3,
                                "topic": "orders",
                                "partition": 1,
                                "leader": 2,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="3.2",
                regex=(
                    rf"^{ANY_BROKER}[sS]kipped the become-leader state change after marking its partition as leader "
                    r"with "
                    rf"correlation id -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+ for partition {EITHER} "
                ),
                source_ref="2.4.1 ReplicaManager:1375",
                fixed={"detail": "leader: already leader"},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-leader state change after marking its partition as leader "
                        "with "
                        "correlation id 5 from controller 9 epoch 1 for partition orders-2 (last update controller "
                        "epoch 1) since it is already the leader for the partition.",
                        ({"detail": "leader: already leader", "witness": 3, "topic": "orders", "partition": 2},),
                        "real",
                    ),
                ),
            ),
            # KRaft to 3.2.
            Variant(
                since="3.0",
                until="3.2",
                regex=(
                    rf"^{BROKER}Skipped the become-leader state change for {TP} with topic id "
                    rf"(?P<topic_id>{NAME}) because this partition is already a local leader"
                ),
                source_ref="3.0.2 ReplicaManager:2132, 3.2.3 ReplicaManager:2175",
                fixed={"detail": "leader: already leader"},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-leader state change for orders-0 with topic id "
                        "jr7ToJr8QGqdwL9PS_3LOg because this partition is already a local leader.",
                        (
                            {
                                "detail": "leader: already leader",
                                "witness": 3,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until="3.2",
                regex=(
                    rf"^{BROKER}Skipped the become-follower state change after marking its partition as follower for "
                    rf"partition [^ ]+ with id (?P<topic_id>{NAME}) and partition state {NAMED_STATE}"
                ),
                source_ref="3.0.2 ReplicaManager:2184, 3.2.3 ReplicaManager:2229",
                fixed={"detail": SAME_LEADER},
                examples=(
                    Example(
                        "[Broker id=3] Skipped the become-follower state change after marking its partition as "
                        "follower for partition orders-0 with id jr7ToJr8QGqdwL9PS_3LOg and partition state "
                        "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=-1, "
                        "leader=2, leaderEpoch=2, isr=[2, 1], zkVersion=5, replicas=[1, 2, 3], addingReplicas=[], "
                        "removingReplicas=[], isNew=false, leaderRecoveryState=0).",
                        (
                            {
                                "detail": SAME_LEADER,
                                "witness": 3,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                **ORDERS,
                                "leader": 2,
                                "leader_epoch": 2,
                                "isr": "2,1",
                                "partition_epoch": 5,
                            },
                        ),
                    ),
                ),
            ),
            # The replica's directory failed: it takes no role.
            Variant(
                since="1.0",
                until="3.9",
                regex=(
                    rf"^{BROKER}Skipped the become-(?:leader|follower) state change .*(?:for (?:partition )?){TP} .*"
                    r"(?:disk|storage) error "
                ),
                source_ref="1.1.1 ReplicaManager:1174, 3.1.2 ReplicaManager:1590, 3.6.2 ReplicaManager:2065",
                each=(_NO_ROLE,),
                own_row=False,
                examples=(
                    Example(
                        "[Broker id=1] Skipped the become-leader state change with correlation id 9 from controller 9 "
                        "epoch 7 for partition orders-0 (last update controller epoch 5) since the replica for the "
                        "partition is offline due to storage error "
                        "org.apache.kafka.common.errors.KafkaStorageException: Error while writing to checkpoint file "
                        "/data/orders-0/leader-epoch-checkpoint",
                        (
                            {
                                "kind": "storage_error",
                                "witness": 1,
                                **ORDERS,
                                "detail": "Skipped the become-leader state change",
                            },
                        ),
                    ),
                    Example(
                        "[Broker id=1] Skipped the become-follower state change with correlation id 9 from controller "
                        "9 epoch 7 for partition orders-0 (last update controller epoch 5) with leader 2 since the "
                        "replica for the partition is offline due to disk error "
                        "org.apache.kafka.common.errors.KafkaStorageException: Error",
                        (
                            {
                                "kind": "storage_error",
                                "witness": 1,
                                **ORDERS,
                                "detail": "Skipped the become-follower state change",
                            },
                        ),
                    ),
                    Example(
                        "[Broker id=1] Skipped the become-leader state change for orders-0 with topic id "
                        "jr7ToJr8QGqdwL9PS_3LOg due to a storage error Error while writing to checkpoint file /data/x",
                        (
                            {
                                "kind": "storage_error",
                                "witness": 1,
                                **ORDERS,
                                "detail": "Skipped the become-leader state change",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Skipped changes."""
