"""``kafka.cluster.Partition``: the in-sync replicas as their leader proposes, commits or gives up changing them.

A shrink or expand line is a proposal. It holds only once an "ISR updated" line or the controller confirms it.
"""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.messages.patterns import LEADER_AND_ISR, ORDERS, PARTITION, PARTITION_OLD, number
from parsers.schema import Kind

_IDS = r"[0-9,]*"
_LAGGING = Each(r"\(brokerId: (?P<replica>[0-9]+), endOffset: (?:-1|unknown|(?P<leo>[0-9]+))", Kind.REMOTE_LEO)
_SUBMITTED = (
    rf"sentLeaderAndIsr={LEADER_AND_ISR}.*lastCommittedState=CommittedPartitionState\(isr=(?P<isr_before>[^)]*)\)"
)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="P-30",
        kind=Kind.ISR_SHRINK,
        literal="Shrinking ISR ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}Shrinking ISR (?:for partition [^ ]+ )?from (?P<isr_before>{_IDS}) to "
                    rf"(?P<isr>{_IDS})"
                ),
                source_ref="0.10.2.2 Partition:395, 0.11.0.2 Partition:430",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Shrinking ISR for partition [orders,0] from 1,2,3 to 1,2",
                        ({**ORDERS, "witness": 1, "isr_before": "1,2,3", "isr": "1,2"},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Shrinking ISR for partition [orders,0] from 3,2,1 to 3,1",
                        ({**ORDERS, "witness": 3, "isr_before": "3,2,1", "isr": "3,1"},),
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Shrinking ISR from 3,2,1 to 3,1",
                        ({**ORDERS, "witness": 3, "isr_before": "3,2,1", "isr": "3,1"},),
                    ),
                ),
            ),
            # What the leader knows and what it believes of the followers are rows of their own.
            Variant(
                since="2.2",
                until=None,
                regex=rf"^{PARTITION}Shrinking ISR from {_IDS} to {_IDS}\. Leader: ",
                source_ref="2.2.2 Partition:642, 3.3.2 Partition:1054, 3.6.2 Partition:1200",
                each=(
                    Each(
                        rf"Shrinking ISR from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})\. Leader: "
                        rf"\(highWatermark: (?P<hw>[0-9]+), endOffset: (?P<leo>[0-9]+)\)"
                    ),
                    _LAGGING,
                ),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Shrinking ISR from 2,1 to 2. Leader: (highWatermark: 85, "
                        "endOffset: 90). Out of sync replicas: (brokerId: 1, endOffset: 85, lastCaughtUpTimeMs: "
                        "1795248413097).",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "isr_before": "2,1",
                                "isr": "2",
                                "hw": 85,
                                "leo": 90,
                            },
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "replica": 1,
                                "leo": 85,
                                "kind": "remote_leo",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1,3. Leader: (highWatermark: 100, "
                        "endOffset: 250). Out of sync replicas: (brokerId: 2, endOffset: 90).",
                        (
                            {**ORDERS, "witness": 1, "isr_before": "1,2,3", "isr": "1,3", "hw": 100, "leo": 250},
                            {"kind": "remote_leo", **ORDERS, "witness": 1, "replica": 2, "leo": 90},
                        ),
                    ),
                    Example(
                        "[Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: (highWatermark: 100, "
                        "endOffset: 250). Out of sync replicas: (brokerId: 2, endOffset: 90, lastCaughtUpTimeMs: "
                        "1700000000000) (brokerId: 3, endOffset: unknown, lastCaughtUpTimeMs: unknown).",
                        (
                            {**ORDERS, "witness": 1, "isr_before": "1,2,3", "isr": "1", "hw": 100, "leo": 250},
                            {"kind": "remote_leo", **ORDERS, "witness": 1, "replica": 2, "leo": 90},
                            {"kind": "remote_leo", **ORDERS, "witness": 1, "replica": 3},
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.1",
                regex=rf"^{PARTITION}Shrinking ISR from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})",
                source_ref="2.1.1 Partition:639",
                examples=(
                    Example(
                        "[Partition orders-1 broker=3] Shrinking ISR from 1,3,2 to 3",
                        ({"topic": "orders", "partition": 1, "witness": 3, "isr_before": "1,3,2", "isr": "3"},),
                        "real",
                    ),
                ),
            ),
            # As people quote them, without the partition in front.
            Variant(
                since="2.2",
                until=None,
                regex=(
                    rf"^Shrinking ISR from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})\. Leader: "
                    r"\(highWatermark: (?P<hw>[0-9]+), endOffset: (?P<leo>[0-9]+)\)"
                ),
                quoted=True,
                source_ref="2.2.2 Partition:642, 3.3.2 Partition:1054, 3.6.2 Partition:1200",
                examples=(
                    Example(
                        "Shrinking ISR from 2,1,3 to 2. Leader: (highWatermark: 85, endOffset: 90). Out of sync "
                        "replicas: (brokerId: 1, endOffset: 85) (brokerId: 3, endOffset: 85).",
                        ({"isr_before": "2,1,3", "isr": "2", "hw": 85, "leo": 90},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    r"^Shrinking ISR for partition \[(?P<bracketed>[^\]]+)\] from (?P<isr_before>[0-9,]+) to "
                    r"(?P<isr>[0-9,]+)"
                ),
                quoted=True,
                source_ref="0.10.2.2 Partition:395",
                examples=(
                    Example(
                        "Shrinking ISR for partition [orders,0] from 1,2,3 to 1,2",
                        ({**ORDERS, "isr_before": "1,2,3", "isr": "1,2"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-34",
        kind=Kind.ISR_EXPAND,
        literal="Expanding ISR ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}Expanding ISR (?:for partition [^ ]+ )?from (?P<isr_before>{_IDS}) to "
                    rf"(?P<isr>{_IDS})"
                ),
                source_ref="0.10.2.2 Partition:277, 0.11.0.2 Partition:305",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: Expanding ISR for partition orders-0 from 3,2 to 3,2,1",
                        ({**ORDERS, "witness": 3, "isr_before": "3,2", "isr": "3,2,1"},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Expanding ISR from 3 to 3,2",
                        ({**ORDERS, "witness": 3, "isr_before": "3", "isr": "3,2"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.7",
                regex=rf"^{PARTITION}Expanding ISR from (?P<isr_before>{_IDS}) to (?P<isr>{_IDS})",
                source_ref="2.7.2 Partition:1344",
                examples=(
                    Example(
                        "[Partition orders-2 broker=3] Expanding ISR from 3,2 to 3,2,1",
                        ({"topic": "orders", "partition": 2, "witness": 3, "isr_before": "3,2", "isr": "3,2,1"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-36",
        kind=Kind.ISR_COMMIT,
        literal="] ISR updated to [",
        level="INFO",
        stock=True,
        variants=(
            # Up to 2.3 (at TRACE) whole replicas: "ReplicaId: 3; ..", since 2.0 "Replica(replicaId=3, .."
            Variant(
                since="1.0",
                until="2.7",
                regex=(
                    rf"^{PARTITION}ISR updated to \[(?P<isr>.*)\] and zkVersion updated to "
                    rf"\[{number('partition_epoch')}\]"
                ),
                source_ref="2.3.1 Partition:1027, 2.4.1 Partition:1183",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] ISR updated to [1,2] and zkVersion updated to [3]",
                        ({**ORDERS, "witness": 1, "isr": "1,2", "partition_epoch": 3},),
                    ),
                    Example(
                        "[Partition orders-0 broker=2] ISR updated to [ReplicaId: 2; Topic: orders; Partition: 0; "
                        "isLocal: true; lastCaughtUpTimeMs: 0; Highwatermark: 40 [0 : 2820]; LastStableOffset: "
                        "40 [0 : 2820],ReplicaId: 1; Topic: orders; Partition: 0; isLocal: false; "
                        "lastCaughtUpTimeMs: 1795239045993] and zkVersion updated to [5]",
                        ({**ORDERS, "witness": 2, "isr": "2,1", "partition_epoch": 5},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=3] ISR updated to [Replica(replicaId=3, topic=orders, "
                        "partition=0, isLocal=true, lastCaughtUpTimeMs=0, highWatermark=(offset=78 "
                        "segment=[0:3038]), lastStableOffset=(offset=78 segment=[0:3038])),Replica(replicaId=2, "
                        "topic=orders, partition=0, isLocal=false, lastCaughtUpTimeMs=1795433509873)] and zkVersion "
                        "updated to [3]",
                        ({**ORDERS, "witness": 3, "isr": "3,2", "partition_epoch": 3},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-36a",
        kind=Kind.ISR_COMMIT,
        literal=": ISR updated to [",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}ISR updated to \[(?P<isr>.*)\] and zkVersion updated to "
                    rf"\[{number('partition_epoch')}\]"
                ),
                source_ref="0.10.2.2 Partition",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: ISR updated to [ReplicaId: 3; Topic: orders; Partition: 0; "
                        "isLocal: true; lastCaughtUpTimeMs: 0; Highwatermark: 50 [0 : 1840],ReplicaId: 2; Topic: "
                        "orders; Partition: 0; isLocal: false; lastCaughtUpTimeMs: 1795238952932] and zkVersion "
                        "updated to [3]",
                        ({**ORDERS, "witness": 3, "isr": "3,2", "partition_epoch": 3},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-39",
        kind=Kind.ISR_COMMIT,
        literal=" and version updated to ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{PARTITION}ISR updated (?:from AlterIsr )?to (?P<isr>{_IDS}) *(?:\(under-min-isr\))? *and "
                    rf"version "
                    rf"updated to \[?{number('partition_epoch')}\]?"
                ),
                source_ref="2.7.2 Partition:1462, 2.8.2 Partition:1431, 3.1.2 Partition:1449, 3.6.2 Partition:1907",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] ISR updated from AlterIsr to 1,2 and version updated to [4]",
                        ({**ORDERS, "witness": 1, "isr": "1,2", "partition_epoch": 4},),
                    ),
                    Example(
                        "[Partition orders-0 broker=2] ISR updated to 2,1 and version updated to [4]",
                        ({**ORDERS, "witness": 2, "isr": "2,1", "partition_epoch": 4},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=2] ISR updated to 2,1,3  and version updated to 6",
                        ({**ORDERS, "witness": 2, "isr": "2,1,3", "partition_epoch": 6},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] ISR updated to 1 (under-min-isr) and version updated to 6",
                        ({**ORDERS, "witness": 1, "isr": "1", "partition_epoch": 6},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-40",
        kind=Kind.ISR_EXPAND,
        says=Says.HANDED_OVER,
        literal="Enqueued ISR change to state ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.8",
                until="3.0",
                regex=rf"^{PARTITION}Enqueued ISR change to state ",
                source_ref="2.8.2 Partition:1382",
                each=(
                    Each(
                        rf"change to state {LEADER_AND_ISR} after transition to PendingExpandIsr"
                        r"\(isr=(?P<isr_before>[^)]*)\)"
                    ),
                    Each(
                        rf"change to state {LEADER_AND_ISR} after transition to PendingShrinkIsr"
                        r"\(isr=(?P<isr_before>[^)]*)\)",
                        Kind.ISR_SHRINK,
                    ),
                ),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Enqueued ISR change to state LeaderAndIsr(leader=2, "
                        "leaderEpoch=3, isr=List(2, 1), zkVersion=3) after transition to PendingExpandIsr(isr=Set(2), "
                        "newInSyncReplicaId=1)",
                        (
                            {
                                **ORDERS,
                                "witness": 2,
                                "leader": 2,
                                "leader_epoch": 3,
                                "isr": "2,1",
                                "partition_epoch": 3,
                                "isr_before": "2",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=2] Enqueued ISR change to state LeaderAndIsr(leader=2, "
                        "leaderEpoch=3, isr=List(2), zkVersion=4) after transition to PendingShrinkIsr(isr=Set(2, 1), "
                        "outOfSyncReplicaIds=Set(1))",
                        (
                            {
                                "kind": "isr_shrink",
                                **ORDERS,
                                "witness": 2,
                                "leader": 2,
                                "leader_epoch": 3,
                                "isr": "2",
                                "partition_epoch": 4,
                                "isr_before": "2,1",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-41",
        kind=Kind.ISR_EXPAND,
        says=Says.HANDED_OVER,
        literal="Submitting ISR state change ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.1",
                until=None,
                regex=rf"^{PARTITION}Submitting ISR state change ",
                source_ref="3.6.2 Partition:1779",
                each=(
                    Each(rf"change PendingExpandIsr\([^(]*{_SUBMITTED}"),
                    Each(rf"change PendingShrinkIsr\([^(]*(?:\([^)]*\), )?{_SUBMITTED}", Kind.ISR_SHRINK),
                ),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Submitting ISR state change PendingExpandIsr("
                        "newInSyncReplicaId=1, sentLeaderAndIsr=LeaderAndIsr(leader=2, leaderEpoch=3, "
                        "isrWithBrokerEpoch=List(BrokerState(brokerId=2, brokerEpoch=78), BrokerState(brokerId=1, "
                        "brokerEpoch=96)), leaderRecoveryState=RECOVERED, partitionEpoch=3), "
                        "leaderRecoveryState=RECOVERED, lastCommittedState=CommittedPartitionState(isr=Set(2), "
                        "leaderRecoveryState=RECOVERED))",
                        (
                            {
                                **ORDERS,
                                "witness": 2,
                                "leader": 2,
                                "leader_epoch": 3,
                                "isr": "2,1",
                                "partition_epoch": 3,
                                "isr_before": "2",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Partition orders-2 broker=3] Submitting ISR state change PendingShrinkIsr("
                        "outOfSyncReplicaIds=Set(1), sentLeaderAndIsr=LeaderAndIsr(leader=3, leaderEpoch=0, "
                        "isrWithBrokerEpoch=[BrokerState(brokerId=3, brokerEpoch=22), BrokerState(brokerId=2, "
                        "brokerEpoch=19)], leaderRecoveryState=RECOVERED, partitionEpoch=1), "
                        "leaderRecoveryState=RECOVERED, lastCommittedState=CommittedPartitionState(isr=Set(3, 2, 1), "
                        "leaderRecoveryState=RECOVERED))",
                        (
                            {
                                "kind": "isr_shrink",
                                "topic": "orders",
                                "partition": 2,
                                "witness": 3,
                                "leader": 3,
                                "leader_epoch": 0,
                                "isr": "3,2",
                                "partition_epoch": 1,
                                "isr_before": "3,2,1",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Changes of the in-sync replicas, in the order a change goes through."""
