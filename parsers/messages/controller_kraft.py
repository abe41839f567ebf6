"""The KRaft controller (``org.apache.kafka.controller``): partitions as its log changes them."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import NAME, ORDERS, QUORUM_CONTROLLER, TP, number
from parsers.schema import ELECTED_SAFELY, Kind

_REGISTRATION = (
    r" isr=(?P<isr>\[[0-9, ]*\]),.*? leader=(?P<leader>-?[0-9]+),.*? leaderEpoch=(?P<leader_epoch>-?[0-9]+), "
    r"partitionEpoch=(?P<partition_epoch>-?[0-9]+)"
)
_LISTS = r"(?:(?:{names}): \[[^\]]*\] -> \[[^\]]*\](?:, )?)*"
_OTHERS = _LISTS.replace("{names}", "[a-zA-Z]+")
_UNCLEAN = rf"{QUORUM_CONTROLLER}UNCLEAN partition change for {TP} with topic ID (?P<topic_id>{NAME}): "
_ISR = r"(?:isr: (?P<isr_before>\[[0-9, ]*\]) -> (?P<isr>\[[0-9, ]*\])(?:, )?)?"
_LEADER = r"(?:leader: -?[0-9]+ -> (?P<leader>-?[0-9]+)(?:, )?)?"
_PARTITION_EPOCH = r"partitionEpoch: -?[0-9]+ -> (?P<partition_epoch>-?[0-9]+)"
_RECOVERY = r"leaderRecoveryState: [A-Z]+ -> (?P<detail>[A-Z]+)(?:, )?"
_EPOCHS = r"leaderEpoch: (?P<previous_epoch>-?[0-9]+) -> (?P<leader_epoch>-?[0-9]+)"
_BEFORE_RECOVERY = _LISTS.replace("{names}", "replicas|directories") + _ISR + _OTHERS + _LEADER
_AFTER_RECOVERY = rf"(?:{_EPOCHS}(?:, )?)?" + _OTHERS + rf"(?:{_PARTITION_EPOCH})?"
_DIFFERENCE = rf"{_BEFORE_RECOVERY}(?:{_RECOVERY})?{_AFTER_RECOVERY}"

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
    # The test is "not in the ISR before": also true of safe elections, see K-02a.
    Message(
        id="K-02",
        kind=Kind.UNCLEAN_ELECTION,
        literal="UNCLEAN partition change for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.2",
                until=None,
                regex=rf"^{_UNCLEAN}{_BEFORE_RECOVERY}{_RECOVERY}{_AFTER_RECOVERY}",
                source_ref="3.2.3 PartitionRegistration",
                examples=(
                    Example(
                        "[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID "
                        "jr7ToJr8QGqdwL9PS_3LOg: isr: [1] -> [2], leader: -1 -> 2, leaderRecoveryState: RECOVERED -> "
                        "RECOVERING, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "isr_before": "1",
                                "isr": "2",
                                "leader": 2,
                                "detail": "RECOVERING",
                                "previous_epoch": 1,
                                "leader_epoch": 2,
                                "partition_epoch": 4,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until="3.1",
                regex=rf"^{_UNCLEAN}{_ISR}{_LEADER}{_EPOCHS}, {_PARTITION_EPOCH}",
                source_ref="3.0.2 PartitionRegistration:141",
                examples=(
                    Example(
                        "[Controller 1] UNCLEAN partition change for orders-0 with topic ID jr7ToJr8QGqdwL9PS_3LOg: "
                        "isr: [1] -> [2], leader: -1 -> 2, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "isr_before": "1",
                                "isr": "2",
                                "leader": 2,
                                "previous_epoch": 1,
                                "leader_epoch": 2,
                                "partition_epoch": 4,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # The last step of a reassignment may put the new leader into the ISR as it elects it, and eligible leader replicas
    # (KIP-966) stand in for the ISR: neither marks the leader as recovering (PartitionChangeBuilder).
    Message(
        id="K-02a",
        kind=Kind.PARTITION_CHANGED,
        literal="UNCLEAN partition change for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{_UNCLEAN}{_LISTS.replace('{names}', 'directories')}replicas: \[[^\]]*\] -> \[[^\]]*\], "
                    rf"{_LISTS.replace('{names}', 'directories')}{_ISR}{_OTHERS}{_LEADER}{_EPOCHS}(?:, )?{_OTHERS}"
                    rf"(?:{_PARTITION_EPOCH})?"
                ),
                fixed={"detail": ELECTED_SAFELY},
                source_ref="3.0.2 PartitionRegistration:141",
                examples=(
                    Example(
                        "[QuorumController id=100] UNCLEAN partition change for moved-0 with topic ID "
                        "1Q7G7JiBQNqcXRAlKJt-Lw: replicas: [3, 2, 1] -> [3, 2], directories: "
                        "[s8r_NsVH_Mo6FPTsW83frg, ihDbTs1mtPynSFBHxAeXrQ, 4RtwCUXqtd_dr3FPcXDvQQ] -> "
                        "[s8r_NsVH_Mo6FPTsW83frg, ihDbTs1mtPynSFBHxAeXrQ], isr: [1, 2] -> [2, 3], removingReplicas: "
                        "[1] -> [], addingReplicas: [3] -> [], leader: 1 -> 3, leaderEpoch: 0 -> 1, partitionEpoch: "
                        "1 -> 2",
                        (
                            {
                                "witness": 100,
                                "topic": "moved",
                                "partition": 0,
                                "topic_id": "1Q7G7JiBQNqcXRAlKJt-Lw",
                                "isr_before": "1,2",
                                "isr": "2,3",
                                "leader": 3,
                                "detail": ELECTED_SAFELY,
                                "previous_epoch": 0,
                                "leader_epoch": 1,
                                "partition_epoch": 2,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID "
                        "43sFNFV6SoyiZ3-lMJZNTg: replicas: [3, 1] -> [3], directories: [bPmuGJyWdI-Oxayvx_zKHg, "
                        "uQDpmeuyxplALnMsy9pLfg] -> [bPmuGJyWdI-Oxayvx_zKHg], isr: [1] -> [3], removingReplicas: [1] "
                        "-> [], addingReplicas: [3] -> [], leader: 1 -> 3, leaderEpoch: 0 -> 1, partitionEpoch: 1 -> 2",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "43sFNFV6SoyiZ3-lMJZNTg",
                                "isr_before": "1",
                                "isr": "3",
                                "leader": 3,
                                "detail": ELECTED_SAFELY,
                                "previous_epoch": 0,
                                "leader_epoch": 1,
                                "partition_epoch": 2,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.7",
                until=None,
                regex=(
                    rf"^{_UNCLEAN}{_ISR}{_LEADER}{_EPOCHS}, elr: \[[0-9, ]*\] -> \[[0-9, ]*\](?:, )?{_OTHERS}"
                    rf"(?:{_PARTITION_EPOCH})?"
                ),
                fixed={"detail": ELECTED_SAFELY},
                source_ref="3.7.1 PartitionRegistration",
                examples=(
                    Example(
                        "[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID "
                        "jr7ToJr8QGqdwL9PS_3LOg: isr: [] -> [2], leader: -1 -> 2, leaderEpoch: 1 -> 2, elr: [1, 2] -> "
                        "[1], lastKnownElr: [1] -> [], partitionEpoch: 3 -> 4",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "isr_before": "",
                                "isr": "2",
                                "leader": 2,
                                "detail": ELECTED_SAFELY,
                                "previous_epoch": 1,
                                "leader_epoch": 2,
                                "partition_epoch": 4,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-03",
        kind=Kind.PARTITION_CHANGED,
        literal="] partition change for ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}partition change for {TP} with topic ID (?P<topic_id>{NAME}): {_DIFFERENCE}"
                ),
                source_ref="trunk PartitionRegistration:353",
                examples=(
                    Example(
                        "[QuorumController id=100] partition change for orders-0 with topic ID "
                        "NfAogHojQdanhIkLA2kzpA: isr: [1, 2, 3] -> [2, 3], leader: 1 -> 2, leaderEpoch: 0 -> 1, "
                        "partitionEpoch: 0 -> 1",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "NfAogHojQdanhIkLA2kzpA",
                                "isr_before": "1,2,3",
                                "isr": "2,3",
                                "leader": 2,
                                "previous_epoch": 0,
                                "leader_epoch": 1,
                                "partition_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[QuorumController id=100] partition change for orders-0 with topic ID "
                        "LkVWPW8-R2adfpyJVoFwRg: leader: 2 -> -1, leaderEpoch: 1 -> 2, partitionEpoch: 1 -> 2",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "leader": -1,
                                "previous_epoch": 1,
                                "leader_epoch": 2,
                                "partition_epoch": 2,
                            },
                        ),
                        "real",
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
    # Names the topic by its id alone.
    Message(
        id="K-09",
        kind=Kind.UNCLEAN_ELECTION,
        literal="using an unclean election",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.2",
                until=None,
                regex=(
                    rf"^(?:\[[^\]]*\] )?Setting new leader for topicId (?P<topic_id>{NAME}), partition "
                    rf"(?P<partition>[0-9]+) to {number('leader')} using an unclean election"
                    rf"(?:\. Previous partition: PartitionRegistration\(.*?leaderEpoch={number('previous_epoch')},)?"
                ),
                source_ref="3.6.2 PartitionChangeBuilder:242",
                examples=(
                    Example(
                        "Setting new leader for topicId jr7ToJr8QGqdwL9PS_3LOg, partition 0 to 2 using an unclean "
                        "election",
                        ({"topic_id": "jr7ToJr8QGqdwL9PS_3LOg", "partition": 0, "leader": 2},),
                        "real",
                    ),
                    Example(
                        "Setting new leader for topicId 1USqz6E3QqSRpPMPNwovhw, partition 1 to 3 using an unclean "
                        "election. Previous partition: PartitionRegistration(replicas=[3, 1], "
                        "directories=[oIT5Dc4EugrC6Q17qVwbwQ, QtFKEaMT_mTZGy6sBt6UKg], isr=[], removingReplicas=[], "
                        "addingReplicas=[], elr=[], lastKnownElr=[3], leader=-1, leaderRecoveryState=RECOVERED, "
                        "leaderEpoch=1, partitionEpoch=2), change record: PartitionChangeRecord(partitionId=1)",
                        (
                            {
                                "topic_id": "1USqz6E3QqSRpPMPNwovhw",
                                "partition": 1,
                                "leader": 3,
                                "previous_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-09a",
        kind=Kind.ELECTION,
        literal=("using a clean election", "using ELR"),
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="3.2",
                until=None,
                regex=(
                    rf"^(?:\[[^\]]*\] )?Setting new leader for topicId (?P<topic_id>{NAME}), partition "
                    rf"(?P<partition>[0-9]+) to {number('leader')} using (?P<detail>a clean election|ELR)"
                ),
                source_ref="3.7.1 PartitionChangeBuilder:342",
                examples=(
                    Example(
                        "Setting new leader for topicId jr7ToJr8QGqdwL9PS_3LOg, partition 0 to 2 using a clean "
                        "election",
                        (
                            {
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "partition": 0,
                                "leader": 2,
                                "detail": "a clean election",
                            },
                        ),
                    ),
                    Example(
                        "Setting new leader for topicId jr7ToJr8QGqdwL9PS_3LOg, partition 0 to 2 using ELR",
                        ({"topic_id": "jr7ToJr8QGqdwL9PS_3LOg", "partition": 0, "leader": 2, "detail": "ELR"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="K-10",
        kind=Kind.UNCLEAN_ELECTION,
        literal="Triggering unclean leader election for offline partition ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="3.9",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Triggering unclean leader election for offline partition "
                    rf"(?P<tp>{NAME}-[0-9]+)"
                ),
                source_ref="3.9 ReplicationControlManager:1705",
                fixed={"detail": "triggered"},
                examples=(
                    Example(
                        "[QuorumController id=100] Triggering unclean leader election for offline partition orders-0.",
                        ({"witness": 100, **ORDERS, "detail": "triggered"},),
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
)
"""Partitions, elections, brokers, the controller itself."""
