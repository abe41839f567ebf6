"""The KRaft controller (``org.apache.kafka.controller``): partitions and their ISR in its log."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import NAME, ORDERS, QUORUM_CONTROLLER, TP, number
from parsers.schema import Kind

_REGISTRATION = (
    r" isr=(?P<isr>\[[0-9, ]*\]),.*? leader=(?P<leader>-?[0-9]+),.*? leaderEpoch=(?P<leader_epoch>-?[0-9]+), "
    r"partitionEpoch=(?P<partition_epoch>-?[0-9]+)"
)

MESSAGES: tuple[Message, ...] = (
    # Printed again when a new process replays its log.
    Message(
        id="K-01",
        kind=Kind.PARTITION_CREATED,
        literal=("Created partition ", "Replayed PartitionRecord for new partition "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until="2.8",
                regex=(
                    rf"^{QUORUM_CONTROLLER}Created partition (?P<topic_id>{NAME}):(?P<partition>[0-9]+) with "
                    rf".*?{_REGISTRATION}"
                ),
                source_ref="2.8.2 ReplicationControlManager",
                examples=(
                    Example(
                        "[Controller 1] Created partition LkVWPW8-R2adfpyJVoFwRg:0 with "
                        "PartitionControlInfo(replicas=[1, 2], isr=[1, 2], removingReplicas=null, "
                        "addingReplicas=null, leader=1, leaderEpoch=0, partitionEpoch=0).",
                        (
                            {
                                "witness": 1,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "partition": 0,
                                "isr": "1,2",
                                "leader": 1,
                                "leader_epoch": 0,
                                "partition_epoch": 0,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}(?:Created|Replayed PartitionRecord for new) partition {TP} with topic ID "
                    rf"(?P<topic_id>{NAME}) and PartitionRegistration\(.*?{_REGISTRATION}"
                ),
                source_ref="3.0.2 ReplicationControlManager:238, 3.6.2 ReplicationControlManager:420",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed PartitionRecord for new partition orders-0 with topic ID "
                        "LkVWPW8-R2adfpyJVoFwRg and PartitionRegistration(replicas=[1, 2], "
                        "directories=[7FS1eQ5oMCehOQXOI-5axg, 9u9VNXPXfzwC95xCFivyKw], isr=[1, 2], "
                        "removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=1, "
                        "leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "isr": "1,2",
                                "leader": 1,
                                "leader_epoch": 0,
                                "partition_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Controller 1] Created partition orders-0 with topic ID LkVWPW8-R2adfpyJVoFwRg and "
                        "PartitionRegistration(replicas=[1, 2], isr=[1, 2], removingReplicas=[], addingReplicas=[], "
                        "leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0).",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "isr": "1,2",
                                "leader": 1,
                                "leader_epoch": 0,
                                "partition_epoch": 0,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-04",
        kind=Kind.PARTITION_CHANGED,
        literal=(
            "Replayed partition change PartitionChangeRecord(",
            "Replayed partition assignment change PartitionChangeRecord(",
        ),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Replayed partition (?:assignment )?change "
                    rf"PartitionChangeRecord\(partitionId=(?P<partition>[0-9]+), topicId=(?P<topic_id>{NAME}), "
                    rf"isr=(?:null|(?P<isr>\[[0-9, ]*\])), leader=(?:-2|{number('leader')}), .* for topic "
                    rf"(?P<topic>{NAME})"
                ),
                source_ref="3.0.2 ReplicationControlManager:306, 3.6.2 ReplicationControlManager:492",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed partition change PartitionChangeRecord(partitionId=0, "
                        "topicId=NfAogHojQdanhIkLA2kzpA, isr=[2, 3], leader=2, replicas=null, removingReplicas=null, "
                        "addingReplicas=null, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, "
                        "lastKnownElr=null) for topic orders",
                        (
                            {
                                "witness": 100,
                                "partition": 0,
                                "topic_id": "NfAogHojQdanhIkLA2kzpA",
                                "isr": "2,3",
                                "leader": 2,
                                "topic": "orders",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] Replayed partition assignment change "
                        "PartitionChangeRecord(partitionId=0, topicId=1Q7G7JiBQNqcXRAlKJt-Lw, isr=[2, 3], leader=3, "
                        "replicas=[3, 2], removingReplicas=[], addingReplicas=[], leaderRecoveryState=-1, "
                        "directories=[s8r_NsVH_Mo6FPTsW83frg, ihDbTs1mtPynSFBHxAeXrQ], eligibleLeaderReplicas=null, "
                        "lastKnownElr=null) for topic moved",
                        (
                            {
                                "witness": 100,
                                "partition": 0,
                                "topic_id": "1Q7G7JiBQNqcXRAlKJt-Lw",
                                "isr": "2,3",
                                "leader": 3,
                                "topic": "moved",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] Replayed partition change PartitionChangeRecord(partitionId=0, "
                        "topicId=LkVWPW8-R2adfpyJVoFwRg, isr=null, leader=-1, replicas=null, removingReplicas=null, "
                        "addingReplicas=null, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, "
                        "lastKnownElr=null) for topic orders",
                        (
                            {
                                "witness": 100,
                                "partition": 0,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "leader": -1,
                                "topic": "orders",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-05",
        kind=Kind.ISR_COMMIT,
        literal=" has altered ISR for ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(rf"^{QUORUM_CONTROLLER}Node [0-9]+ has altered ISR for {TP} to (?P<isr>\[[0-9, ]*\])"),
                source_ref="3.6.2 ReplicationControlManager:1026",
                examples=(
                    Example(
                        "[QuorumController id=100] Node 2 has altered ISR for orders-0 to [2, 3, 1].",
                        ({"witness": 100, **ORDERS, "isr": "2,3,1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-06",
        kind=Kind.ISR_REJECTED,
        literal=("Rejecting AlterPartition request from node ", "Rejecting alterIsr request from node "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Rejecting (?:AlterPartition|alterIsr) request from node "
                    rf"(?P<replica>[0-9]+) for {TP} (?P<detail>because .*)"
                ),
                source_ref="3.0.2 ReplicationControlManager:628, 3.9 ReplicationControlManager:1169",
                examples=(
                    Example(
                        "[QuorumController id=100] Rejecting AlterPartition request from node 2 for orders-0 because "
                        "the current partition epoch is 5, not 4.",
                        (
                            {
                                "witness": 100,
                                "replica": 2,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "because the current partition epoch is 5, not 4.",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Controller 1] Rejecting alterIsr request from node 2 for orders-0 because the current "
                        "leader is 1.",
                        ({"witness": 1, "replica": 2, **ORDERS, "detail": "because the current leader is 1."},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-16",
        kind=Kind.TOPIC_ID,
        literal=("Replayed TopicRecord for topic ", "Created topic "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}(?:Replayed TopicRecord for|Created) topic (?P<topic>{NAME}) with topic ID "
                    r"(?P<topic_id>[A-Za-z0-9_-]{22})"
                ),
                source_ref="3.3.2 ReplicationControlManager.replay(TopicRecord), 3.6.2 ReplicationControlManager",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed TopicRecord for topic orders with topic ID "
                        "Fvd2EajMSPaJ6VDNW7X_eg.",
                        ({"witness": 100, "topic": "orders", "topic_id": "Fvd2EajMSPaJ6VDNW7X_eg"},),
                        "real",
                    ),
                    Example(
                        "[Controller 100] Created topic orders with topic ID Fvd2EajMSPaJ6VDNW7X_eg.",
                        ({"witness": 100, "topic": "orders", "topic_id": "Fvd2EajMSPaJ6VDNW7X_eg"},),
                    ),
                ),
            ),
        ),
    ),
    # As of a metadata record, the row has no topic: it is about each of its partitions.
    Message(
        id="K-17",
        kind=Kind.TOPIC_REMOVED,
        literal=("Replayed RemoveTopicRecord for topic ", "Removed topic "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}(?:Replayed RemoveTopicRecord for|Removed) topic (?P<detail>{NAME}) with ID "
                    r"(?P<topic_id>[A-Za-z0-9_-]{22})"
                ),
                source_ref="2.8.0 ReplicationControlManager:374, 3.6.2 ReplicationControlManager:534",
                examples=(
                    Example(
                        "[QuorumController id=100] Replayed RemoveTopicRecord for topic orders with ID "
                        "Fvd2EajMSPaJ6VDNW7X_eg.",
                        ({"witness": 100, "detail": "orders", "topic_id": "Fvd2EajMSPaJ6VDNW7X_eg"},),
                        "real",
                    ),
                    Example(
                        "[Controller 100] Removed topic orders with ID Fvd2EajMSPaJ6VDNW7X_eg.",
                        ({"witness": 100, "detail": "orders", "topic_id": "Fvd2EajMSPaJ6VDNW7X_eg"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Partitions, their ISR, the controller itself."""
