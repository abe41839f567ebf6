"""A ZooKeeper-mode controller in controller.log: how it elects, what it believes, which brokers it sees."""

from __future__ import annotations

from parsers.details import CANDIDATE
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import (
    CONTROLLER,
    EITHER,
    LEADER_AND_ISR,
    LEADER_AND_ISR_JSON,
    LEADER_ISR_CONTROLLER_EPOCH,
    LIST,
    LISTED,
    NAME,
    ORDERS,
    TP,
    number,
)
from parsers.schema import Kind

_STATE_MACHINE = r"\[Partition ?[sS]tate ?[mM]achine (?:on Controller |controllerId=)(?P<witness>[0-9]+)\]:? "
_EITHER_NAME = rf"(?:\[[^\]]+\]|{NAME}-[0-9]+)"
_CACHE_OLD = Each(rf"\[(?P<bracketed>[^\]]+)\] -> {LEADER_ISR_CONTROLLER_EPOCH}")
_CACHE_ONE = Each(rf"leader cache for {EITHER} is updated to {LEADER_ISR_CONTROLLER_EPOCH}")
_CACHE = Each(rf"(?P<tp>{NAME}-[0-9]+) -> {LEADER_ISR_CONTROLLER_EPOCH}")

MESSAGES: tuple[Message, ...] = (
    # The only message of a ZooKeeper-mode controller about this, up to 1.0.
    Message(
        id="C-20",
        kind=Kind.UNCLEAN_ELECTION,
        literal="No broker in ISR is alive for ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^\[OfflinePartitionLeaderSelector\]: No broker in ISR is alive for "
                    rf"{EITHER}\. Elect leader {number('leader')} from live brokers "
                    rf"(?P<detail>[0-9,]*)\. There's potential data loss"
                ),
                source_ref="0.10.2.2 PartitionLeaderSelector:79",
                examples=(
                    Example(
                        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,0]. Elect leader 2 "
                        "from live brokers 2. There's potential data loss.",
                        ({**ORDERS, "leader": 2, "detail": "2"},),
                        "real",
                    ),
                    Example(
                        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for orders-0. Elect leader 2 from "
                        "live brokers 2. There's potential data loss.",
                        ({**ORDERS, "leader": 2, "detail": "2"},),
                        "real",
                    ),
                ),
            ),
            # Before it is known whether there is one.
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^\[OfflinePartitionLeaderSelector\]: No broker in ISR is alive for {_EITHER_NAME}\. Pick the "
                    r"leader from the alive assigned replicas: "
                ),
                source_ref="0.10.2.2 PartitionLeaderSelector",
                own_row=False,
                examples=(
                    Example(
                        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,0]. Pick the leader "
                        "from the alive assigned replicas: ",
                        (),
                        "real",
                    ),
                    Example(
                        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,0]. Pick the leader "
                        "from the alive assigned replicas: 2",
                        (),
                    ),
                    Example(
                        "[OfflinePartitionLeaderSelector]: No broker in ISR is alive for orders-0. Pick the leader "
                        "from the alive assigned replicas: 2",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Before it is written to ZooKeeper.
    Message(
        id="C-21",
        kind=Kind.ELECTION,
        literal=(
            "Some broker in ISR is alive for ",
            "Selected new leader and ISR ",
            "[ControlledShutdownLeaderSelector]: Partition ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^\[[A-Za-z]+LeaderSelector\]: Some broker in ISR is alive for {EITHER}\. "
                    rf"Select {number('leader')} from ISR (?P<isr>[0-9,]*) to be the leader"
                ),
                source_ref="0.10.2.2 PartitionLeaderSelector:90",
                fixed={"detail": CANDIDATE},
                examples=(
                    Example(
                        "[OfflinePartitionLeaderSelector]: Some broker in ISR is alive for [orders,0]. Select 2 from "
                        "ISR 2,3 to be the leader.",
                        ({**ORDERS, "leader": 2, "isr": "2,3", "detail": CANDIDATE},),
                        "real",
                    ),
                    Example(
                        "[OfflinePartitionLeaderSelector]: Some broker in ISR is alive for orders-0. Select 3 from "
                        "ISR 3 to be the leader.",
                        ({**ORDERS, "leader": 3, "isr": "3", "detail": CANDIDATE},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^\[[A-Za-z]+LeaderSelector\]: Selected new leader and ISR {LEADER_AND_ISR_JSON} for "
                    rf"(?P<detail>offline) partition {EITHER}"
                ),
                source_ref="0.10.2.2 PartitionLeaderSelector:94",
                examples=(
                    Example(
                        "[OfflinePartitionLeaderSelector]: Selected new leader and ISR "
                        '{"leader":2,"leader_epoch":1,"isr":[2,3]} for offline partition [orders,0]',
                        ({**ORDERS, "leader": 2, "leader_epoch": 1, "isr": "2,3", "detail": "offline"},),
                        "real",
                    ),
                    Example(
                        "[OfflinePartitionLeaderSelector]: Selected new leader and ISR "
                        '{"leader":2,"leader_epoch":3,"isr":[2]} for offline partition orders-0',
                        ({**ORDERS, "leader": 2, "leader_epoch": 3, "isr": "2", "detail": "offline"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^\[ControlledShutdownLeaderSelector\]: Partition {EITHER} : current leader = "
                    rf"-?[0-9]+, new leader = {number('leader')}"
                ),
                source_ref="0.10.2.2 PartitionLeaderSelector",
                fixed={"detail": "controlled shutdown"},
                examples=(
                    Example(
                        "[ControlledShutdownLeaderSelector]: Partition [orders,0] : current leader = 1, new leader = 2",
                        ({**ORDERS, "leader": 2, "detail": "controlled shutdown"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-22",
        kind=Kind.ISR_COMMIT,
        literal="Retaining last ISR ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^{CONTROLLER}Retaining last ISR (?P<isr>[0-9]+) of partition {EITHER} since "
                    rf"unclean leader election is disabled"
                ),
                source_ref="0.10.2.2 KafkaController:1080",
                fixed={"detail": "last of the ISR kept"},
                examples=(
                    Example(
                        "[Controller 9]: Retaining last ISR 2 of partition [orders,0] since unclean leader election "
                        "is disabled",
                        ({"witness": 9, **ORDERS, "isr": "2", "detail": "last of the ISR kept"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-22a",
        kind=Kind.METADATA_CACHED,
        literal=" since it is not in the ISR. Leader = ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^{CONTROLLER}Cannot remove replica [0-9]+ from ISR of partition {EITHER} "
                    rf"since it is not in the ISR\. Leader = {number('leader')} ; ISR = (?P<isr>{LIST})"
                ),
                source_ref="0.10.2.2 KafkaController",
                examples=(
                    Example(
                        "[Controller 9]: Cannot remove replica 2 from ISR of partition [orders,0] since it is not in "
                        "the ISR. Leader = 3 ; ISR = List(3)",
                        ({"witness": 9, **ORDERS, "leader": 3, "isr": "3"},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9] Cannot remove replica 1 from ISR of partition orders-0 since it is not in "
                        "the ISR. Leader = 3 ; ISR = List(3)",
                        ({"witness": 9, **ORDERS, "leader": 3, "isr": "3"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-23",
        kind=Kind.ISR_COMMIT,
        literal="New leader and ISR for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^{CONTROLLER}New leader and ISR for partition {EITHER} is "
                    rf"{LEADER_AND_ISR_JSON}"
                ),
                source_ref="0.10.2.2 KafkaController:1094",
                examples=(
                    Example(
                        "[Controller 9]: New leader and ISR for partition [orders,0] is "
                        '{"leader":-1,"leader_epoch":2,"isr":[2]}',
                        ({"witness": 9, **ORDERS, "leader": -1, "leader_epoch": 2, "isr": "2"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-23a",
        kind=Kind.METADATA_CACHED,
        literal="After leader election, leader cache ",
        level="DEBUG",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(rf"^{_STATE_MACHINE}After leader election, leader cache "),
                source_ref="0.10.2.2 PartitionStateMachine",
                each=(_CACHE_OLD, _CACHE_ONE),
                own_row=False,
                examples=(
                    Example(
                        "[Partition state machine on Controller 9]: After leader election, leader cache is updated "
                        "to Map([orders,0] -> (Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1))",
                        ({"witness": 9, **ORDERS, "leader": 3, "isr": "3", "leader_epoch": 2},),
                        "real",
                    ),
                    Example(
                        "[Partition state machine on Controller 9]: After leader election, leader cache for "
                        "[orders,0] is updated to (Leader:3,ISR:3,LeaderEpoch:2,ControllerEpoch:1)",
                        ({"witness": 9, **ORDERS, "leader": 3, "isr": "3", "leader_epoch": 2},),
                        "real",
                    ),
                    Example(
                        "[PartitionStateMachine controllerId=9] After leader election, leader cache for orders-0 is "
                        "updated to (Leader:2,ISR:2,LeaderEpoch:3,ControllerEpoch:1)",
                        ({"witness": 9, **ORDERS, "leader": 2, "isr": "2", "leader_epoch": 3},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Also about partitions that are added to a topic. Their state change is logged in state-change.log (C-03a).
    Message(
        id="C-23d",
        kind=Kind.PARTITION_CREATED,
        literal="New partition creation callback for ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^{CONTROLLER}New partition creation callback for \[",
                source_ref="0.10.2.2 KafkaController:523",
                each=(Each(r"(?:for |,)\[(?P<bracketed>[^\]]+)\]"),),
                own_row=False,
                examples=(
                    Example(
                        "[Controller 9]: New partition creation callback for [orders,0],[orders,1]",
                        ({"witness": 9, **ORDERS}, {"witness": 9, "topic": "orders", "partition": 1}),
                        "rendered",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.9",
                regex=rf"^{CONTROLLER}New partition creation callback for {TP}",
                source_ref="2.8.2 KafkaController:645",
                each=(Each(rf"(?:for |,){TP}"),),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] New partition creation callback for orders-0,1st-0",
                        ({"witness": 9, **ORDERS}, {"witness": 9, "topic": "1st", "partition": 0}),
                        "rendered",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-23b",
        kind=Kind.PARTITION_CREATED,
        literal="Initializing leader and isr for partition ",
        level="DEBUG",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^{_STATE_MACHINE}Initializing leader and isr for partition {EITHER} to "
                    rf"{LEADER_ISR_CONTROLLER_EPOCH}"
                ),
                source_ref="0.10.2.2 PartitionStateMachine",
                examples=(
                    Example(
                        "[Partition state machine on Controller 9]: Initializing leader and isr for partition "
                        "[orders,0] to (Leader:1,ISR:1,2,3,LeaderEpoch:0,ControllerEpoch:1)",
                        ({"witness": 9, **ORDERS, "leader": 1, "isr": "1,2,3", "leader_epoch": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-23c",
        kind=Kind.METADATA_CACHED,
        literal="All leaders = ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(rf"^{CONTROLLER}All leaders = "),
                source_ref="1.1.1 KafkaController",
                each=(_CACHE_OLD, _CACHE),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] All leaders = orders-0 -> "
                        "(Leader:2,ISR:2,3,LeaderEpoch:1,ControllerEpoch:1)",
                        ({"witness": 9, **ORDERS, "leader": 2, "isr": "2,3", "leader_epoch": 1},),
                        "real",
                    ),
                    Example(
                        "[Controller 9]: All leaders = [orders,0] -> "
                        "(Leader:1,ISR:1,2,LeaderEpoch:2,ControllerEpoch:1)",
                        ({"witness": 9, **ORDERS, "leader": 1, "isr": "1,2", "leader_epoch": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-24",
        kind=Kind.PARTITION_CHANGED,
        literal="Updated leader epoch for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{CONTROLLER}Updated leader epoch for partition {EITHER} to "
                    rf"{number('leader_epoch')}(?:, zkVersion={number('partition_epoch')})?"
                ),
                source_ref="0.10.2.2 KafkaController:1145, 3.6.2 KafkaController:1278",
                examples=(
                    Example(
                        "[Controller id=9] Updated leader epoch for partition orders-0 to 1",
                        ({"witness": 9, **ORDERS, "leader_epoch": 1},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9] Updated leader epoch for partition orders-0 to 3, zkVersion=5",
                        ({"witness": 9, **ORDERS, "leader_epoch": 3, "partition_epoch": 5},),
                    ),
                    Example(
                        "[Controller 9]: Updated leader epoch for partition [orders,0] to 3",
                        ({"witness": 9, **ORDERS, "leader_epoch": 3},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-25",
        kind=Kind.ISR_COMMIT,
        literal="] ISR for partition ",
        level="DEBUG",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until="3.9",
                regex=(
                    rf"^{CONTROLLER}ISR for partition {TP} updated to \[(?P<isr>[0-9, ]*)\] and zkVersion updated to "
                    rf"\[(?P<partition_epoch>[0-9]+)\]"
                ),
                source_ref="2.8.2 KafkaController",
                examples=(
                    Example(
                        "[Controller id=9] ISR for partition orders-0 updated to [2,1] and zkVersion updated to [4]",
                        ({"witness": 9, **ORDERS, "isr": "2,1", "partition_epoch": 4},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until="3.9",
                regex=(rf"^{CONTROLLER}ISR for partition {TP} updated to {LEADER_AND_ISR}\."),
                source_ref="3.6.2 KafkaController:2462",
                examples=(
                    Example(
                        "[Controller id=9] ISR for partition orders-0 updated to LeaderAndIsr(leader=2, "
                        "leaderEpoch=3, isr=List(2, 1), leaderRecoveryState=RECOVERED, partitionEpoch=4).",
                        ({"witness": 9, **ORDERS, "leader": 2, "leader_epoch": 3, "isr": "2,1", "partition_epoch": 4},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-26",
        kind=Kind.ISR_REJECTED,
        literal=(", bad ZK version.", "Rejecting AlterPartition from node "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until="3.9",
                regex=(rf"^{CONTROLLER}Failed to update ISR to .* for partition {TP}, (?P<detail>bad ZK version)"),
                source_ref="3.6.2 KafkaController:2473",
                examples=(
                    Example(
                        "[Controller id=9] Failed to update ISR to LeaderAndIsr(leader=2, leaderEpoch=3, isr=List(2, "
                        "1), zkVersion=4) for partition orders-0, bad ZK version.",
                        ({"witness": 9, **ORDERS, "detail": "bad ZK version"},),
                    ),
                ),
            ),
            Variant(
                since="3.2",
                until="3.9",
                regex=(
                    rf"^{CONTROLLER}Rejecting AlterPartition from node (?P<replica>[0-9]+) for {TP} "
                    rf"(?P<detail>because .*)"
                ),
                source_ref="3.6.2 KafkaController:2414",
                examples=(
                    Example(
                        "[Controller id=9] Rejecting AlterPartition from node 2 for orders-0 because leader is "
                        "recovering and ISR is greater than 1: LeaderAndIsr(leader=2, leaderEpoch=3, isr=List(2, 1), "
                        "leaderRecoveryState=RECOVERING, partitionEpoch=4)",
                        (
                            {
                                "witness": 9,
                                **ORDERS,
                                "replica": 2,
                                "detail": "because leader "
                                "is recovering and ISR is greater than 1: LeaderAndIsr(leader=2, leaderEpoch=3, "
                                "isr=List(2, 1), leaderRecoveryState=RECOVERING, partitionEpoch=4)",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-29b",
        kind=Kind.ELECTION_REQUESTED,
        literal="Starting replica leader election (UNCLEAN) for partitions ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until="3.9",
                regex=rf"^{CONTROLLER}Starting replica leader election \(UNCLEAN\) for partitions ",
                source_ref="2.8.2 KafkaController:909, 3.6.2 KafkaController:914",
                each=(Each(LISTED),),
                own_row=False,
                examples=(
                    Example(
                        "[Controller id=9] Starting replica leader election (UNCLEAN) for partitions orders-0 "
                        "triggered by AdminClientTriggered",
                        ({"witness": 9, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[Controller id=9] Starting replica leader election (UNCLEAN) for partitions "
                        "orders-0,pay.eu-1-12 triggered by AdminClientTriggered",
                        ({"witness": 9, **ORDERS}, {"witness": 9, "topic": "pay.eu-1", "partition": 12}),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="C-29",
        kind=Kind.ELECTION,
        literal=" completed preferred replica leader election. New leader is ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^\[(?:Controller (?:id=)?(?P<witness>[0-9]+)|Partition state machine on Controller "
                    rf"[0-9]+|PartitionStateMachine controllerId=[0-9]+)\]:? Partition "
                    rf"{EITHER} completed preferred replica leader election\. New leader "
                    rf"is {number('leader')}"
                ),
                source_ref="3.6.2 KafkaController:1216",
                fixed={"detail": "preferred"},
                examples=(
                    Example(
                        "[Controller id=9] Partition orders-0 completed preferred replica leader election. New "
                        "leader is 1",
                        ({"witness": 9, **ORDERS, "leader": 1, "detail": "preferred"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Elections, beliefs, brokers."""
