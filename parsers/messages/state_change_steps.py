"""``state.change.logger`` of a broker: the steps of carrying a controller's request out (TRACE up to 2.5)."""

from __future__ import annotations

from parsers.details import Transition
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import ANY_BROKER, BROKER, BROKER_OLD, EITHER, ORDERS, TOPIC_ID, TP, number
from parsers.schema import Kind

_STEP_REQUEST = r"LeaderAndIsr request correlationId -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+"

MESSAGES: tuple[Message, ...] = (
    Message(
        id="S-25",
        kind=Kind.TRANSITION,
        literal="andling LeaderAndIsr request correlationId ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[hH]andling {_STEP_REQUEST} starting the become-leader transition for partition "
                    rf"{EITHER}"
                ),
                source_ref="0.10.2.2 ReplicaManager:737, 2.4.1 ReplicaManager:1353",
                fixed={"detail": Transition.LEADER_START},
                examples=(
                    Example(
                        "Broker 3 handling LeaderAndIsr request correlationId 7 from controller 9 epoch 1 starting "
                        "the become-leader transition for partition orders-0",
                        ({"detail": Transition.LEADER_START, "witness": 3, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[hH]andling {_STEP_REQUEST} starting the become-follower transition for "
                    rf"partition {EITHER}"
                    rf"(?: with leader {number('leader')})?"
                ),
                source_ref="0.10.2.2 ReplicaManager:737, 2.4.1 ReplicaManager:1353",
                fixed={"detail": Transition.FOLLOWER_START},
                examples=(
                    Example(
                        "[Broker id=2] Handling LeaderAndIsr request correlationId 1 from controller 9 epoch 1 "
                        "starting the become-follower transition for partition orders-0 with leader 1",
                        ({"detail": Transition.FOLLOWER_START, "witness": 2, **ORDERS, "leader": 1},),
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
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[cC]ompleted {_STEP_REQUEST} for the become-leader transition for partition "
                    rf"{EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager:1535",
                fixed={"detail": Transition.LEADER_DONE},
                examples=(
                    Example(
                        "Broker 3 completed LeaderAndIsr request correlationId 7 from controller 9 epoch 1 for the "
                        "become-leader transition for partition orders-0",
                        ({"detail": Transition.LEADER_DONE, "witness": 3, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[cC]ompleted {_STEP_REQUEST} for the become-follower transition for partition "
                    rf"{EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager:1535",
                fixed={"detail": Transition.FOLLOWER_DONE},
                examples=(
                    Example(
                        "[Broker id=3] Completed LeaderAndIsr request correlationId 1 from controller 9 epoch 1 for "
                        "the become-follower transition for partition orders-1",
                        ({"detail": Transition.FOLLOWER_DONE, "witness": 3, "topic": "orders", "partition": 1},),
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
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[sS]topped fetchers as part of become-leader request from controller -?[0-9]+ "
                    rf"epoch -?[0-9]+ with "
                    rf"correlation id -?[0-9]+ for partition {EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager",
                fixed={"detail": Transition.LEADER_FETCHERS_STOPPED},
                examples=(
                    Example(
                        "Broker 3 stopped fetchers as part of become-leader request from controller 9 epoch 1 with "
                        "correlation id 7 for partition orders-0",
                        ({"detail": Transition.LEADER_FETCHERS_STOPPED, "witness": 3, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[sS]topped fetchers as part of become-follower request from controller -?[0-9]+ "
                    rf"epoch -?[0-9]+ with "
                    rf"correlation id -?[0-9]+ for partition {EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager",
                fixed={"detail": Transition.FOLLOWER_FETCHERS_STOPPED},
                examples=(
                    Example(
                        "[Broker id=3] Stopped fetchers as part of become-follower request from controller 9 epoch 1 "
                        "with correlation id 1 for partition orders-0",
                        ({"detail": Transition.FOLLOWER_FETCHERS_STOPPED, "witness": 3, **ORDERS},),
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
    # 0.11 to 2.5 print it although nothing is truncated here: the fetcher does that later.
    Message(
        id="S-26",
        kind=Kind.TRANSITION,
        literal="runcated logs and checkpointed recovery boundaries for partition ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="2.5",
                regex=(
                    rf"^{ANY_BROKER}[tT]runcated logs and checkpointed recovery boundaries for partition {EITHER} as "
                    rf"part of "
                ),
                source_ref="0.10.2.2 ReplicaManager:864, 2.4.1 ReplicaManager:1496",
                fixed={"detail": Transition.FOLLOWER_TRUNCATION},
                examples=(
                    Example(
                        "Broker 3 truncated logs and checkpointed recovery boundaries for partition orders-0 as part "
                        "of become-follower request with correlation id 1 from controller 9 epoch 1",
                        ({"detail": Transition.FOLLOWER_TRUNCATION, "witness": 3, **ORDERS},),
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
                since="0.8",
                until="2.5",
                regex=(
                    rf"^{ANY_BROKER}[sS]tarted fetcher to new leader as part of become-follower request from "
                    rf"controller .* for "
                    rf"partition {EITHER}"
                ),
                source_ref="2.4.1 ReplicaManager:1519",
                fixed={"detail": Transition.FOLLOWER_FETCHER_STARTED},
                examples=(
                    Example(
                        "[Broker id=3] Started fetcher to new leader as part of become-follower request from "
                        "controller 9 epoch 1 with correlation id 1 for partition orders-0",
                        ({"detail": Transition.FOLLOWER_FETCHER_STARTED, "witness": 3, **ORDERS},),
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
                since="0.8",
                until="3.9",
                regex=(
                    rf"^{ANY_BROKER}[rR]eceived LeaderAndIsrRequest with .* for partition {EITHER} .*but cannot become "
                    rf"follower since "
                    rf"the new leader {number('leader')} is unavailable"
                ),
                source_ref="2.4.1 ReplicaManager:1462",
                fixed={"detail": Transition.LEADER_UNAVAILABLE},
                examples=(
                    Example(
                        "Broker 2 received LeaderAndIsrRequest with correlation id 1 from controller 9 epoch 1 for "
                        "partition orders-0 but cannot become follower since the new leader -1 is unavailable.",
                        ({"detail": Transition.LEADER_UNAVAILABLE, "witness": 2, **ORDERS, "leader": -1},),
                        "real",
                    ),
                    Example(
                        "[Broker id=2] Received LeaderAndIsrRequest with correlation id 1 from controller 9 epoch 1 "
                        "for partition orders-0 (last update controller epoch 1) but cannot become follower since "
                        "the new leader -1 is unavailable.",
                        ({"detail": Transition.LEADER_UNAVAILABLE, "witness": 2, **ORDERS, "leader": -1},),
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
                fixed={"detail": Transition.LEADER_UNAVAILABLE},
                examples=(
                    Example(
                        "[Broker id=2] Unable to start fetching orders-0 with topic ID Some(LkVWPW8-R2adfpyJVoFwRg) "
                        "from leader Some(-1) because it is not alive.",
                        (
                            {
                                "detail": Transition.LEADER_UNAVAILABLE,
                                "witness": 2,
                                **ORDERS,
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
                        ({"witness": 3, "detail": Transition.STOPPED, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{BROKER_OLD}handling (?P<detail>stop replica \(delete=(?:true|false)\)) for partition "
                    rf"{EITHER}"
                ),
                source_ref="0.10.2.2 ReplicaManager",
                examples=(
                    Example(
                        "Broker 3 handling stop replica (delete=false) for partition [orders,0]",
                        ({"witness": 3, "detail": Transition.STOPPED, **ORDERS},),
                    ),
                    Example(
                        "Broker 3 handling stop replica (delete=false) for partition orders-0",
                        ({"witness": 3, "detail": Transition.STOPPED, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
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
"""Steps, in the order they are taken."""
