"""``kafka.cluster.Partition``: changes of the in-sync replicas that did not take effect."""

from __future__ import annotations

from parsers.details import STALE_ZK_VERSION
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import ORDERS, PARTITION, PARTITION_OLD, number
from parsers.schema import Kind

_REASON = r"(?P<detail>(?:since|because|due to) [^.]*)"

MESSAGES: tuple[Message, ...] = (
    Message(
        id="P-37",
        kind=Kind.ISR_REJECTED,
        literal=" not equal to that in zookeeper, skip updating ISR",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=rf"^{PARTITION_OLD}Cached zkVersion \[?{number('partition_epoch')}\]? not equal",
                source_ref="0.10.2.2 Partition",
                fixed={"detail": STALE_ZK_VERSION},
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Cached zkVersion [8] not equal to that in zookeeper, skip "
                        "updating ISR",
                        (
                            {
                                "detail": "cached zkVersion not equal to that in zookeeper",
                                "topic": "orders",
                                "partition": 0,
                                "witness": 1,
                                "partition_epoch": 8,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Cached zkVersion [3] not equal to that in zookeeper, skip "
                        "updating ISR",
                        (
                            {
                                **ORDERS,
                                "witness": 3,
                                "partition_epoch": 3,
                                "detail": "cached zkVersion not equal to that in zookeeper",
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.7",
                regex=rf"^{PARTITION}Cached zkVersion \[?{number('partition_epoch')}\]? not equal",
                source_ref="1.1.1 Partition:710, 2.4.1 Partition:1186",
                fixed={"detail": STALE_ZK_VERSION},
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Cached zkVersion 3 not equal to that in zookeeper, skip "
                        "updating ISR",
                        (
                            {
                                **ORDERS,
                                "witness": 1,
                                "partition_epoch": 3,
                                "detail": "cached zkVersion not equal to that in zookeeper",
                            },
                        ),
                    ),
                ),
            ),
            # As people quote it, without the partition in front.
            Variant(
                since="0.8",
                until="2.7",
                regex=rf"^Cached zkVersion \[?{number('partition_epoch')}\]? not equal",
                quoted=True,
                source_ref="0.10.2.2 Partition, 2.4.1 Partition:1186",
                fixed={"detail": STALE_ZK_VERSION},
                examples=(
                    Example(
                        "Cached zkVersion [8] not equal to that in zookeeper, skip updating ISR",
                        ({"partition_epoch": 8, "detail": "cached zkVersion not equal to that in zookeeper"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-42",
        kind=Kind.ISR_REJECTED,
        literal=("ailed to update ISR to Pending", "ailed to alter partition to "),
        level="DEBUG",
        stock=False,
        variants=(
            # P-43 (WARN, retried) and P-44 (INFO, rejected by the controller) begin alike.
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{PARTITION}(?:Controller f|F)ailed to (?:update ISR|alter partition) to .*? {_REASON}",
                source_ref="2.7.2 Partition:1437, 2.8.2 Partition:1406, 3.2.3 Partition:1423, 3.6.2 Partition:1845",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Failed to update ISR to PendingExpandIsr(isr=Set(1), "
                        "newInSyncReplicaId=2) since we sent an old leader epoch. Giving up.",
                        ({**ORDERS, "witness": 1, "detail": "since we sent an old leader epoch"},),
                    ),
                    Example(
                        "[Partition orders-0 broker=1] Failed to alter partition to PendingExpandIsr("
                        "newInSyncReplicaId=2, sentLeaderAndIsr=LeaderAndIsr(leader=1, leaderEpoch=5, "
                        "isrWithBrokerEpoch=List(BrokerState(brokerId=1, brokerEpoch=10)), "
                        "leaderRecoveryState=RECOVERED, partitionEpoch=7), leaderRecoveryState=RECOVERED, "
                        "lastCommittedState=CommittedPartitionState(isr=Set(1), leaderRecoveryState=RECOVERED)) "
                        "because the partition epoch is invalid. Partition state may be out of sync, awaiting new "
                        "the latest metadata.",
                        ({**ORDERS, "witness": 1, "detail": "because the partition epoch is invalid"},),
                    ),
                    Example(
                        "[Partition orders-0 broker=1] Failed to alter partition to PendingShrinkIsr("
                        "outOfSyncReplicaIds=Set(2), sentLeaderAndIsr=LeaderAndIsr(leader=1, leaderEpoch=5, "
                        "isr=List(1), leaderRecoveryState=RECOVERED, partitionEpoch=7), "
                        "leaderRecoveryState=RECOVERED, lastCommittedState=CommittedPartitionState(isr=Set(1, 2), "
                        "leaderRecoveryState=RECOVERED)) since the controller rejected the request with "
                        "INELIGIBLE_REPLICA. Partition state has been reset to the latest committed state "
                        "CommittedPartitionState(isr=Set(1, 2), leaderRecoveryState=RECOVERED).",
                        (
                            {
                                **ORDERS,
                                "witness": 1,
                                "detail": "since the controller rejected the request with INELIGIBLE_REPLICA",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-42a",
        kind=Kind.ISR_REJECTED,
        literal="Ignoring failed ISR update to ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.1",
                until=None,
                regex=rf"^{PARTITION}Ignoring failed ISR update to .*? (?P<detail>since we have already updated state)",
                source_ref="3.9.1 Partition",
                examples=(
                    Example(
                        "[Partition orders-2 broker=3] Ignoring failed ISR update to PendingExpandIsr("
                        "newInSyncReplicaId=2, sentLeaderAndIsr=LeaderAndIsr(leader=3, leaderEpoch=0, "
                        "isrWithBrokerEpoch=[BrokerState(brokerId=3, brokerEpoch=22), BrokerState(brokerId=1, "
                        "brokerEpoch=76), BrokerState(brokerId=2, brokerEpoch=112)], leaderRecoveryState=RECOVERED, "
                        "partitionEpoch=3), leaderRecoveryState=RECOVERED, "
                        "lastCommittedState=CommittedPartitionState(isr=Set(3, 1), leaderRecoveryState=RECOVERED)) "
                        "since we have already updated state to CommittedPartitionState(isr=Set(3, 1, 2), "
                        "leaderRecoveryState=RECOVERED)",
                        (
                            {
                                "topic": "orders",
                                "partition": 2,
                                "witness": 3,
                                "detail": "since we have already updated state",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-45",
        kind=Kind.ISR_REJECTED,
        literal=("Ignoring new ISR ", "Ignoring ISR from AlterIsr with "),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{PARTITION}Ignoring (?:new ISR|ISR from AlterIsr with) .*? "
                    r"(?P<detail>since we have a [a-z ]+ -?[0-9]+)"
                ),
                source_ref="2.7.2 Partition, 3.6.2 Partition:1892",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Ignoring ISR from AlterIsr with LeaderAndIsr(leader=2, "
                        "leaderEpoch=6, isr=List(2), zkVersion=9) since we have a newer version 10.",
                        ({**ORDERS, "witness": 1, "detail": "since we have a newer version 10"},),
                    ),
                    Example(
                        "[Partition orders-0 broker=1] Ignoring new ISR LeaderAndIsr(leader=2, leaderEpoch=6, "
                        "isr=List(2), zkVersion=9) since we have a stale leader epoch 5.",
                        ({**ORDERS, "witness": 1, "detail": "since we have a stale leader epoch 5"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Proposals refused or overtaken."""
