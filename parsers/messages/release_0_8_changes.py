"""Kafka 0.8.0 and 0.8.1, ``state.change.logger``: what it prints in words that no later release has."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant, Wording, routine
from parsers.messages.patterns import BROKER_OLD, ORDERS, STATE_CHANGE_CONTROLLER_OLD, number
from parsers.schema import Kind

_PLACE = r"partition \[(?P<bracketed>[^\]]+)\]"
_REQUEST = r"LeaderAndIsr request correlationId -?[0-9]+ from controller -?[0-9]+ epoch -?[0-9]+"

MESSAGES: tuple[Message, ...] = (
    # Neither leader, epoch nor ISR: the contents of the request are not printed.
    Message(
        id="O-20",
        kind=Kind.ROLE_SENT,
        literal=(
            "-leader LeaderAndIsr request with correlationId ",
            "-follower LeaderAndIsr request with correlationId ",
            " UpdateMetadata request with correlationId ",
        ),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER_OLD}sending (?P<detail>become-[a-z]+) LeaderAndIsr request with "
                    rf"correlationId [0-9]+ to broker (?P<replica>[0-9]+) for {_PLACE}"
                ),
                source_ref="0.8.0 ControllerChannelManager:241",
                examples=(
                    Example(
                        "Controller 9 epoch 1 sending become-leader LeaderAndIsr request with correlationId 7 to "
                        "broker 3 for partition [orders,0]",
                        ({"witness": 9, "detail": "become-leader", "replica": 3, **ORDERS},),
                    ),
                    Example(
                        "Controller 9 epoch 1 sending become-follower LeaderAndIsr request with correlationId 7 to "
                        "broker 2 for partition [orders,0]",
                        ({"witness": 9, "detail": "become-follower", "replica": 2, **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    r"^Controller [0-9]+ epoch [0-9]+ sending UpdateMetadata request with correlationId [0-9]+ to "
                    r"broker [0-9]+ for partition \["
                ),
                source_ref="0.8.0 ControllerChannelManager:253",
                own_row=False,
                examples=(
                    Example(
                        "Controller 9 epoch 1 sending UpdateMetadata request with correlationId 7 to broker 3 for "
                        "partition [orders,0]",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-21",
        kind=Kind.REPLICA_STATE,
        literal=("] to OnlineReplica", "] to NewReplica", "] to OfflineReplica", "] to NonExistentReplica"),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{STATE_CHANGE_CONTROLLER_OLD}changed state of replica (?P<replica>[0-9]+) for {_PLACE} to "
                    r"(?P<detail>[A-Za-z]+Replica)"
                ),
                source_ref="0.8.0 ReplicaStateMachine:129",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed state of replica 1 for partition [orders,0] to OnlineReplica",
                        ({"witness": 9, "replica": 1, "detail": "OnlineReplica", **ORDERS},),
                    ),
                    Example(
                        "Controller 9 epoch 1 changed state of replica 1 for partition [orders,0] to NewReplica",
                        ({"witness": 9, "replica": 1, "detail": "NewReplica", **ORDERS},),
                    ),
                    Example(
                        "Controller 9 epoch 1 changed state of replica 1 for partition [orders,0] to OfflineReplica",
                        ({"witness": 9, "replica": 1, "detail": "OfflineReplica", **ORDERS},),
                    ),
                    Example(
                        "Controller 9 epoch 1 changed state of replica 1 for partition [orders,0] to "
                        "NonExistentReplica",
                        ({"witness": 9, "replica": 1, "detail": "NonExistentReplica", **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-22",
        kind=Kind.PARTITION_CREATED,
        literal=" state from NotExists to New with assigned replicas ",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{STATE_CHANGE_CONTROLLER_OLD}changed {_PLACE} state from NotExists to New ",
                source_ref="0.8.0 PartitionStateMachine:143",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed partition [orders,0] state from NotExists to New with assigned "
                        "replicas 1,2",
                        ({"witness": 9, **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-23",
        kind=Kind.PARTITION_OFFLINE,
        literal=" state from Online to Offline",
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{STATE_CHANGE_CONTROLLER_OLD}changed {_PLACE} state from Online to Offline",
                source_ref="0.8.0 PartitionStateMachine:167",
                examples=(
                    Example(
                        "Controller 9 epoch 1 changed partition [orders,0] state from Online to Offline",
                        ({"witness": 9, **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-24",
        kind=Kind.TRANSITION,
        literal=(" starting the become-", "completed become-leader transition ", "completed the become-follower "),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{BROKER_OLD}received {_REQUEST} starting the become-leader transition "
                rf"for {_PLACE}",
                source_ref="0.8.0 ReplicaManager:253",
                fixed={"detail": "leader: start"},
                examples=(
                    Example(
                        "Broker 3 received LeaderAndIsr request correlationId 7 from controller 9 epoch 1 starting the "
                        "become-leader transition for partition [orders,0]",
                        ({"detail": "leader: start", "witness": 3, **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{BROKER_OLD}received {_REQUEST} starting the become-follower transition "
                rf"for {_PLACE}",
                source_ref="0.8.0 ReplicaManager:269",
                fixed={"detail": "follower: start"},
                examples=(
                    Example(
                        "Broker 3 received LeaderAndIsr request correlationId 7 from controller 9 epoch 1 starting the "
                        "become-follower transition for partition [orders,0]",
                        ({"detail": "follower: start", "witness": 3, **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{BROKER_OLD}completed become-leader transition for {_PLACE}",
                source_ref="0.8.0 ReplicaManager:263",
                fixed={"detail": "leader: done"},
                examples=(
                    Example(
                        "Broker 3 completed become-leader transition for partition [orders,0]",
                        ({"detail": "leader: done", "witness": 3, **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{BROKER_OLD}completed the become-follower transition for {_PLACE}",
                source_ref="0.8.0 ReplicaManager:280",
                fixed={"detail": "follower: done"},
                examples=(
                    Example(
                        "Broker 3 completed the become-follower transition for partition [orders,0]",
                        ({"detail": "follower: done", "witness": 3, **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-25",
        kind=Kind.STALE_REQUEST,
        literal=(
            "discarded the become-",
            "received invalid LeaderAndIsr request ",
            "ignoring LeaderAndIsr request with correlation id ",
            "received LeaderAndIsr request correlation id ",
        ),
        level="TRACE",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{BROKER_OLD}discarded the become-(?P<detail>leader|follower) request with .* for {_PLACE} "
                    rf"since current leader epoch {number('previous_epoch')} is >= the request's leader epoch "
                    rf"{number('leader_epoch')}"
                ),
                source_ref="0.8.0 Partition:142, Partition:179",
                examples=(
                    Example(
                        "Broker 3 discarded the become-leader request with correlation id 7 from controller 9 epoch 1 "
                        "for partition [orders,0] since current leader epoch 5 is >= the request's leader epoch 4",
                        ({"witness": 3, "detail": "leader", **ORDERS, "previous_epoch": 5, "leader_epoch": 4},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{BROKER_OLD}received invalid LeaderAndIsr request .* with an older leader epoch "
                    rf"{number('leader_epoch')} for {_PLACE}, current leader epoch is {number('previous_epoch')}"
                ),
                source_ref="0.8.1.1 ReplicaManager:246",
                examples=(
                    Example(
                        "Broker 3 received invalid LeaderAndIsr request with correlation id 7 from controller 9 epoch "
                        "1 with an older leader epoch 4 for partition [orders,0], current leader epoch is 5",
                        ({"witness": 3, "leader_epoch": 4, **ORDERS, "previous_epoch": 5},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{BROKER_OLD}ignoring LeaderAndIsr request with correlation id .* "
                    rf"(?P<detail>as broker is not in assigned replica list [0-9,]*) for {_PLACE}"
                ),
                source_ref="0.8.1.1 ReplicaManager:239",
                examples=(
                    Example(
                        "Broker 3 ignoring LeaderAndIsr request with correlation id 7 from controller 9 epoch 1 as "
                        "broker is not in assigned replica list 1,2 for partition [orders,0]",
                        ({"witness": 3, "detail": "as broker is not in assigned replica list 1,2", **ORDERS},),
                    ),
                ),
            ),
            # About the whole request.
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{BROKER_OLD}received LeaderAndIsr request correlation id -?[0-9]+ "
                    r"(?P<detail>with an old controller epoch .*)"
                ),
                source_ref="0.8.0 ReplicaManager:207, 0.8.1.1 ReplicaManager:218",
                examples=(
                    Example(
                        "Broker 3 received LeaderAndIsr request correlation id 7 with an old controller epoch 1. "
                        "Latest known controller epoch is 2",
                        (
                            {
                                "witness": 3,
                                "detail": "with an old controller epoch 1. Latest known controller epoch is 2",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    routine(
        "O-26",
        Kind.TRANSITION,
        (
            "handling LeaderAndIsr request correlation id ",
            "handled LeaderAndIsr request correlationId ",
            " aborted the become-follower state change ",
        ),
        "TRACE",
        True,
        Wording(
            "0.8",
            "0.8",
            r"^Broker [0-9]+ handling LeaderAndIsr request correlation id ",
            "0.8.0 ReplicaManager:200",
            "Broker 3 handling LeaderAndIsr request correlation id 7 received from controller 9 epoch 1 for partition "
            "[orders,0]",
        ),
        Wording(
            "0.8",
            "0.8",
            r"^Broker [0-9]+ handled LeaderAndIsr request correlationId ",
            "0.8.0 ReplicaManager:234",
            "Broker 3 handled LeaderAndIsr request correlationId 7 received from controller 9 epoch 1 for partition "
            "[orders,0]",
        ),
        Wording(
            "0.8",
            "0.8",
            r"^Broker [0-9]+ aborted the become-follower state change ",
            "0.8.0 Partition:214, 0.8.2.2 Partition",
            "Broker 3 aborted the become-follower state change with correlation id 7 from controller 9 epoch 1 for "
            "partition [orders,0] new leader 2",
        ),
    ),
)
"""Messages of 0.8.2 with the meaning of later ones."""
