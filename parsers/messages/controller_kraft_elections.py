"""The KRaft controller (``org.apache.kafka.controller``): changes of a partition's leader, clean and unclean."""

from __future__ import annotations

from parsers.details import ELECTED_SAFELY
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import NAME, ORDERS, QUORUM_CONTROLLER, TP, number
from parsers.schema import Kind

_LISTS = r"(?:(?:{names}): \[[^\]]*\] -> \[[^\]]*\](?:, )?)*"
_OTHERS = _LISTS.replace("{names}", "[a-zA-Z]+")
_UNCLEAN = rf"{QUORUM_CONTROLLER}UNCLEAN partition change for {TP}(?: with topic ID (?P<topic_id>{NAME}))?: "
_ISR = r"(?:isr: (?P<isr_before>\[[0-9, ]*\]) -> (?P<isr>\[[0-9, ]*\])(?:, )?)?"
_LEADER = r"(?:leader: -?[0-9]+ -> (?P<leader>-?[0-9]+)(?:, )?)?"
_PARTITION_EPOCH = r"partitionEpoch: -?[0-9]+ -> (?P<partition_epoch>-?[0-9]+)"
_RECOVERY = r"leaderRecoveryState: [A-Z]+ -> (?P<detail>[A-Z]+)(?:, )?"
_EPOCHS = r"leaderEpoch: (?P<previous_epoch>-?[0-9]+) -> (?P<leader_epoch>-?[0-9]+)"
_BEFORE_RECOVERY = _LISTS.replace("{names}", "replicas|directories") + _ISR + _OTHERS + _LEADER
_AFTER_RECOVERY = rf"(?:{_EPOCHS}(?:, )?)?" + _OTHERS + rf"(?:{_PARTITION_EPOCH})?"
_ELECTED_LAST_KNOWN = (
    rf"leaderRecoveryState: [A-Z]+ -> [A-Z]+(?:, )?(?:{_EPOCHS}(?:, )?)?{_LISTS.replace('{names}', 'elr')}"
    rf"(?P<detail>lastKnownElr: \[[0-9, ]+\]) -> \[[0-9, ]*\](?:, )?(?:{_PARTITION_EPOCH})?"
)
_DIFFERENCE = rf"{_BEFORE_RECOVERY}(?:{_RECOVERY})?{_AFTER_RECOVERY}"

MESSAGES: tuple[Message, ...] = (
    # The test is "not in the ISR before": also true of safe elections, see K-02a.
    Message(
        id="K-02",
        kind=Kind.UNCLEAN_ELECTION,
        literal="UNCLEAN partition change for ",
        level="INFO",
        stock=True,
        variants=(
            # With eligible leader replicas (KIP-966) it also names the last members of the ISR.
            Variant(
                since="4.0",
                until=None,
                regex=rf"^{_UNCLEAN}{_BEFORE_RECOVERY}{_ELECTED_LAST_KNOWN}",
                source_ref="4.1.1 PartitionRegistration",
                examples=(
                    Example(
                        "[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID "
                        "2MKM0f9bS52CrRo7VDUk7w: isr: [] -> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> "
                        "RECOVERING, leaderEpoch: 6 -> 7, lastKnownElr: [1] -> [], partitionEpoch: 13 -> 14",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "2MKM0f9bS52CrRo7VDUk7w",
                                "isr_before": "",
                                "isr": "1",
                                "leader": 1,
                                "previous_epoch": 6,
                                "leader_epoch": 7,
                                "detail": "lastKnownElr: [1]",
                                "partition_epoch": 14,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
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
                    # As people shorten it.
                    Example(
                        "[QuorumController id=1] UNCLEAN partition change for orders-0: isr: [1] -> [2], leader: 1 -> "
                        "2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6",
                        (
                            {
                                "witness": 1,
                                **ORDERS,
                                "isr_before": "1",
                                "isr": "2",
                                "leader": 2,
                                "detail": "RECOVERING",
                                "previous_epoch": 2,
                                "leader_epoch": 3,
                                "partition_epoch": 6,
                            },
                        ),
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
    # The last step of a reassignment may add the new leader to the ISR as it elects it, and eligible leader replicas
    # (KIP-966) replace the ISR. Neither marks the leader as recovering (PartitionChangeBuilder).
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
            # Controllers say UNCLEAN of a leader from neither the ISR nor, in later 4.x, the ELR: this one is from one.
            Variant(
                since="4.0",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}partition change for {TP} with topic ID (?P<topic_id>{NAME}): "
                    rf"{_LISTS.replace('{names}', 'replicas|directories')}{_ISR}"
                    rf"{_LISTS.replace('{names}', 'removingReplicas|addingReplicas')}leader: -?[0-9]+ -> "
                    rf"(?P<leader>[0-9]+), {_EPOCHS}, elr: \[[0-9, ]+\] -> \[[0-9, ]*\](?:, )?{_OTHERS}"
                    rf"(?:{_PARTITION_EPOCH})?"
                ),
                fixed={"detail": ELECTED_SAFELY},
                source_ref="4.0.0 PartitionRegistration",
                examples=(
                    Example(
                        "[QuorumController id=100] partition change for orders-0 with topic ID "
                        "jr7ToJr8QGqdwL9PS_3LOg: isr: [2] -> [3], leader: 2 -> 3, leaderEpoch: 4 -> 5, elr: [3] -> "
                        "[2], partitionEpoch: 8 -> 9",
                        (
                            {
                                "witness": 100,
                                **ORDERS,
                                "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
                                "isr_before": "2",
                                "isr": "3",
                                "leader": 3,
                                "detail": ELECTED_SAFELY,
                                "previous_epoch": 4,
                                "leader_epoch": 5,
                                "partition_epoch": 9,
                            },
                        ),
                    ),
                ),
            ),
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
                    r"(?:\. Previous partition: PartitionRegistration\((?:.*?(?P<detail>lastKnownElr=\[[0-9, ]+\]))?.*?"
                    rf"leaderEpoch={number('previous_epoch')},)?"
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
                                "detail": "lastKnownElr=[3]",
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
)
"""Elections, in the order of their numbers."""
