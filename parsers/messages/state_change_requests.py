"""``state.change.logger`` of a broker: controller requests as received, and the steps of carrying them out (TRACE)."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import (
    ANY_BROKER,
    ANY_STATE,
    BROKER,
    BROKER_OLD,
    EITHER,
    LEADER_ISR_CONTROLLER_EPOCH,
    NAMED_STATE,
    PARTITION_STATE,
    TOPIC_ID,
    TP,
    number,
)
from parsers.schema import Kind

_REQUEST = r"correlation id -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+"
_STEP_REQUEST = r"LeaderAndIsr request correlationId -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+"

MESSAGES: tuple[Message, ...] = (
    Message(
        id="S-20",
        kind=Kind.LEADER_AND_ISR,
        literal="eceived LeaderAndIsr request ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
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
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Broker 3 received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=2, "
                        "leaderEpoch=1, isr=2,3, zkVersion=1, replicas=1,2,3) correlation id 4 from controller 9 "
                        "epoch 1 for partition [orders,0]",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
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
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
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
                        (
                            {
                                "witness": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader": 1,
                                "leader_epoch": 0,
                                "isr": "1,2",
                                "partition_epoch": 0,
                            },
                        ),
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
                        ({"witness": 3, "topic": "orders", "partition": 0, "leader_epoch": 1, "previous_epoch": 1},),
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
                        ({"witness": 3, "topic": "orders", "partition": 0, "leader_epoch": 1, "previous_epoch": 1},),
                        "real",
                    ),
                    Example(
                        "[Broker id=3] Ignoring LeaderAndIsr request from controller 9 with correlation id 6 epoch 1 "
                        "for partition orders-0 since its associated leader epoch 1 matches the current leader epoch",
                        ({"witness": 3, "topic": "orders", "partition": 0, "leader_epoch": 1},),
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
            # Of the whole request.
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
        id="S-25",
        kind=Kind.TRANSITION,
        literal="andling LeaderAndIsr request correlationId ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[hH]andling {_STEP_REQUEST} starting the become-leader transition for partition "
                    rf"{TP}"
                ),
                source_ref="0.10.2.2 ReplicaManager:737, 2.4.1 ReplicaManager:1353",
                fixed={"detail": "leader: start"},
                examples=(
                    Example(
                        "Broker 3 handling LeaderAndIsr request correlationId 7 from controller 9 epoch 1 starting "
                        "the become-leader transition for partition orders-0",
                        ({"detail": "leader: start", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[hH]andling {_STEP_REQUEST} starting the become-follower transition for "
                    rf"partition {TP}"
                    rf"(?: with leader {number('leader')})?"
                ),
                source_ref="0.10.2.2 ReplicaManager:737, 2.4.1 ReplicaManager:1353",
                fixed={"detail": "follower: start"},
                examples=(
                    Example(
                        "[Broker id=2] Handling LeaderAndIsr request correlationId 1 from controller 9 epoch 1 "
                        "starting the become-follower transition for partition orders-0 with leader 1",
                        ({"detail": "follower: start", "witness": 2, "topic": "orders", "partition": 0, "leader": 1},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until="3.9",
                regex=(rf"^{BROKER}Handling LeaderAndIsr request correlationId -?[0-9]+ from controller -?[0-9]+ for "),
                source_ref="2.6.3 ReplicaManager:1236",
                own_row=False,
                examples=(
                    Example(
                        "[Broker id=2] Handling LeaderAndIsr request correlationId 1 from controller 9 for 1 "
                        "partitions",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-25a",
        kind=Kind.TRANSITION,
        literal="ompleted LeaderAndIsr request correlationId ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[cC]ompleted {_STEP_REQUEST} for the become-leader transition for partition {TP}"
                ),
                source_ref="2.4.1 ReplicaManager:1535",
                fixed={"detail": "leader: done"},
                examples=(
                    Example(
                        "Broker 3 completed LeaderAndIsr request correlationId 7 from controller 9 epoch 1 for the "
                        "become-leader transition for partition orders-0",
                        ({"detail": "leader: done", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[cC]ompleted {_STEP_REQUEST} for the become-follower transition for partition {TP}"
                ),
                source_ref="2.4.1 ReplicaManager:1535",
                fixed={"detail": "follower: done"},
                examples=(
                    Example(
                        "[Broker id=3] Completed LeaderAndIsr request correlationId 1 from controller 9 epoch 1 for "
                        "the become-follower transition for partition orders-1",
                        ({"detail": "follower: done", "witness": 3, "topic": "orders", "partition": 1},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-25b",
        kind=Kind.TRANSITION,
        literal="topped fetchers as part of become-",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[sS]topped fetchers as part of become-leader request from controller -?[0-9]+ "
                    rf"epoch -?[0-9]+ with "
                    rf"correlation id -?[0-9]+ for partition {TP}"
                ),
                source_ref="2.4.1 ReplicaManager",
                fixed={"detail": "leader: fetchers stopped"},
                examples=(
                    Example(
                        "Broker 3 stopped fetchers as part of become-leader request from controller 9 epoch 1 with "
                        "correlation id 7 for partition orders-0",
                        ({"detail": "leader: fetchers stopped", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[sS]topped fetchers as part of become-follower request from controller -?[0-9]+ "
                    rf"epoch -?[0-9]+ with "
                    rf"correlation id -?[0-9]+ for partition {TP}"
                ),
                source_ref="2.4.1 ReplicaManager",
                fixed={"detail": "follower: fetchers stopped"},
                examples=(
                    Example(
                        "[Broker id=3] Stopped fetchers as part of become-follower request from controller 9 epoch 1 "
                        "with correlation id 1 for partition orders-0",
                        ({"detail": "follower: fetchers stopped", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(r"^\[Broker id=[0-9]+\] Stopped fetchers as part of become-.* for [0-9]+ partitions"),
                source_ref="3.6.2 ReplicaManager",
                own_row=False,
                examples=(
                    Example("[Broker id=2] Stopped fetchers as part of become-follower for 1 partitions", (), "real"),
                ),
            ),
        ),
    ),
    # 0.11 to 2.5 print it although nothing is cut here: the fetcher does that later.
    Message(
        id="S-26",
        kind=Kind.TRANSITION,
        literal="runcated logs and checkpointed recovery boundaries for partition ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="2.5",
                regex=(
                    rf"^{ANY_BROKER}[tT]runcated logs and checkpointed recovery boundaries for partition {TP} as "
                    rf"part of "
                ),
                source_ref="0.10.2.2 ReplicaManager:864, 2.4.1 ReplicaManager:1496",
                fixed={"detail": "follower: truncation step"},
                examples=(
                    Example(
                        "Broker 3 truncated logs and checkpointed recovery boundaries for partition orders-0 as part "
                        "of become-follower request with correlation id 1 from controller 9 epoch 1",
                        ({"detail": "follower: truncation step", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-27",
        kind=Kind.TRANSITION,
        literal="tarted fetcher to new leader as part of become-follower request ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="2.5",
                regex=(
                    rf"^{ANY_BROKER}[sS]tarted fetcher to new leader as part of become-follower request from "
                    rf"controller .* for "
                    rf"partition {TP}"
                ),
                source_ref="2.4.1 ReplicaManager:1519",
                fixed={"detail": "follower: fetcher started"},
                examples=(
                    Example(
                        "[Broker id=3] Started fetcher to new leader as part of become-follower request from "
                        "controller 9 epoch 1 with correlation id 1 for partition orders-0",
                        ({"detail": "follower: fetcher started", "witness": 3, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-29",
        kind=Kind.TRANSITION,
        literal=" but cannot become follower since the new leader ",
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[rR]eceived LeaderAndIsrRequest with .* for partition {TP} .*but cannot become "
                    rf"follower since "
                    rf"the new leader {number('leader')} is unavailable"
                ),
                source_ref="2.4.1 ReplicaManager:1462",
                fixed={"detail": "follower: leader unavailable"},
                examples=(
                    Example(
                        "Broker 2 received LeaderAndIsrRequest with correlation id 1 from controller 9 epoch 1 for "
                        "partition orders-0 but cannot become follower since the new leader -1 is unavailable.",
                        (
                            {
                                "detail": "follower: leader unavailable",
                                "witness": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader": -1,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Broker id=2] Received LeaderAndIsrRequest with correlation id 1 from controller 9 epoch 1 "
                        "for partition orders-0 (last update controller epoch 1) but cannot become follower since "
                        "the new leader -1 is unavailable.",
                        (
                            {
                                "detail": "follower: leader unavailable",
                                "witness": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader": -1,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-29a",
        kind=Kind.TRANSITION,
        literal="] Unable to start fetching ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{BROKER}Unable to start fetching {TP} with topic ID {TOPIC_ID} from leader "
                    rf"(?:Some\({number('leader')}\)|None) because "
                ),
                source_ref="3.9.1 ReplicaManager",
                fixed={"detail": "follower: leader unavailable"},
                examples=(
                    Example(
                        "[Broker id=2] Unable to start fetching orders-0 with topic ID Some(LkVWPW8-R2adfpyJVoFwRg) "
                        "from leader Some(-1) because it is not alive.",
                        (
                            {
                                "detail": "follower: leader unavailable",
                                "witness": 2,
                                "topic": "orders",
                                "partition": 0,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "leader": -1,
                            },
                        ),
                        "real",
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
                since="0.9",
                until="0.11",
                regex=(
                    r"^Broker (?P<witness>[0-9]+) cached leader info \(LeaderAndIsrInfo:"
                    rf"{LEADER_ISR_CONTROLLER_EPOCH},ReplicationFactor:[0-9]+\),AllReplicas:[0-9,]*\) for partition "
                    rf"{TP} "
                ),
                source_ref="0.10.2.2 MetadataCache:193",
                examples=(
                    Example(
                        "Broker 3 cached leader info "
                        "(LeaderAndIsrInfo:(Leader:3,ISR:3,"
                        "LeaderEpoch:2,ControllerEpoch:1),ReplicationFactor:3),AllReplicas:1,2,3) for partition "
                        "orders-0 in response to UpdateMetadata request sent by controller 9 epoch 1 with "
                        "correlation id 8",
                        (
                            {
                                "witness": 3,
                                "leader": 3,
                                "isr": "3",
                                "leader_epoch": 2,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
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
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "leader_epoch": 1,
                                "isr": "2,3",
                                "partition_epoch": 1,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Broker id=2] Cached leader info UpdateMetadataPartitionState(topicName='orders', "
                        "partitionIndex=0, controllerEpoch=1, leader=2, leaderEpoch=3, isr=[2], zkVersion=3, "
                        "replicas=[1, 2], offlineReplicas=[]) for partition orders-0 in response to UpdateMetadata "
                        "request sent by controller 9 epoch 1 with correlation id 5",
                        (
                            {
                                "witness": 2,
                                "leader": 2,
                                "leader_epoch": 3,
                                "isr": "2",
                                "partition_epoch": 3,
                                "topic": "orders",
                                "partition": 0,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="S-32",
        kind=Kind.TRANSITION,
        literal="andling stop replica ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="2.5",
                regex=(rf"^{BROKER}Handling (?P<detail>stop replica \(delete=(?:true|false)\)) for partition {TP}"),
                source_ref="2.4.1 ReplicaManager:349",
                examples=(
                    Example(
                        "[Broker id=3] Handling stop replica (delete=false) for partition orders-0",
                        ({"witness": 3, "detail": "stop replica (delete=false)", "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="0.11",
                regex=(
                    rf"^{BROKER_OLD}handling (?P<detail>stop replica \(delete=(?:true|false)\)) for partition "
                    rf"{EITHER}"
                ),
                source_ref="0.10.2.2 ReplicaManager",
                examples=(
                    Example(
                        "Broker 3 handling stop replica (delete=false) for partition [orders,0]",
                        ({"witness": 3, "detail": "stop replica (delete=false)", "topic": "orders", "partition": 0},),
                    ),
                    Example(
                        "Broker 3 handling stop replica (delete=false) for partition orders-0",
                        ({"witness": 3, "detail": "stop replica (delete=false)", "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="2.5",
                regex=(r"^(?:Broker |\[Broker id=)[0-9]+\]? [fF]inished handling stop replica "),
                source_ref="2.4.1 ReplicaManager",
                own_row=False,
                examples=(
                    Example(
                        "[Broker id=3] Finished handling stop replica (delete=false) for partition orders-0", (), "real"
                    ),
                ),
            ),
        ),
    ),
)
"""Requests and their steps, in the order they are carried out."""
