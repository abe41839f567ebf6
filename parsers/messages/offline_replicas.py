"""``state.change.logger`` and others: replicas that cannot take up a role, because their directory failed."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import BROKER, NAME, ORDERS, QUORUM_CONTROLLER, REPLICA_MANAGER, TP
from parsers.schema import Kind

_OFFLINE = (
    r"(?:due to storage exception|as the local replica for the partition is in an offline log directory|because (?:it "
    r"resides|the local replica for the partition is) in an offline log directory|due to a storage error)"
)

MESSAGES: tuple[Message, ...] = (
    # What a controller asks of a replica in a failed directory.
    Message(
        id="W-04",
        kind=Kind.STORAGE_ERROR,
        literal=(
            "] Ignoring stop replica (delete=",
            "] Ignoring StopReplica request (delete=",
            "] Unable to bring up new local ",
            "] Unable to delete replica ",
            "] Unable to delete stray replica ",
            "] Unable to start fetching ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="3.9",
                regex=(
                    rf"^{BROKER}(?P<detail>Ignoring (?:stop replica|StopReplica request) \(delete=[a-z]+\)) .*?for "
                    rf"partition {TP} {_OFFLINE}"
                ),
                source_ref="1.0.2 ReplicaManager:372, 2.6.3 ReplicaManager:401",
                examples=(
                    Example(
                        "[Broker id=1] Ignoring StopReplica request (delete=false) from controller 9 with correlation "
                        "id 4 epoch 1 for partition orders-0 as the local replica for the partition is in an offline "
                        "log directory",
                        ({"witness": 1, "detail": "Ignoring StopReplica request (delete=false)", **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[Broker id=1] Ignoring stop replica (delete=true) for partition orders-0 due to storage "
                        "exception",
                        ({"witness": 1, "detail": "Ignoring stop replica (delete=true)", **ORDERS},),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{BROKER}(?P<detail>Unable to (?:bring up new local [a-z]+|delete (?:stray )?replica|start "
                    rf"fetching)) {TP} (?:with topic (?:id|ID) (?:Some\()?(?P<topic_id>{NAME})\)? )?{_OFFLINE}"
                ),
                source_ref="3.0.2 ReplicaManager:2029, ReplicaManager:2077, 3.1.2 ReplicaManager:2226",
                examples=(
                    Example(
                        "[Broker id=1] Unable to bring up new local leader orders-0 with topic id "
                        "5pgMNdDkS2Wz_FzPvQVqyw because it resides in an offline log directory.",
                        (
                            {
                                "witness": 1,
                                "detail": "Unable to bring up new local leader",
                                **ORDERS,
                                "topic_id": "5pgMNdDkS2Wz_FzPvQVqyw",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Broker id=1] Unable to delete replica orders-0 because the local replica for the partition "
                        "is in an offline log directory",
                        ({"witness": 1, "detail": "Unable to delete replica", **ORDERS},),
                    ),
                    Example(
                        "[Broker id=1] Unable to delete stray replica orders-0 because the local replica for the "
                        "partition is in an offline log directory: Partition orders-0 is offline.",
                        ({"witness": 1, "detail": "Unable to delete stray replica", **ORDERS},),
                    ),
                    Example(
                        "[Broker id=1] Unable to start fetching orders-0 with topic ID 5pgMNdDkS2Wz_FzPvQVqyw due to a "
                        "storage error Error while writing to checkpoint file /data/x",
                        (
                            {
                                "witness": 1,
                                "detail": "Unable to start fetching",
                                **ORDERS,
                                "topic_id": "5pgMNdDkS2Wz_FzPvQVqyw",
                            },
                        ),
                    ),
                ),
            ),
            # By the request itself, or by an error that is not of storage.
            Variant(
                since="2.6",
                until="3.9",
                regex=(
                    rf"^{BROKER}Ignoring StopReplica request \(delete=[a-z]+\) .* (?:since its associated leader epoch "
                    rf"|"
                    r"due to an unexpected )"
                ),
                source_ref="2.6.3 ReplicaManager:419, 2.7.2 ReplicaManager:491",
                own_row=False,
                examples=(
                    Example(
                        "[Broker id=1] Ignoring StopReplica request (delete=true) from controller 9 with correlation "
                        "id 4 epoch 1 for partition orders-0 since its associated leader epoch 2 is smaller than the "
                        "current leader epoch 3",
                        (),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=(
                    rf"^{BROKER}Unable to (?:delete (?:stray )?replica [^ ]+ because we got an unexpected |start "
                    r"fetching [^ ]+ with topic ID [^ ]+ due to )"
                ),
                source_ref="3.0.2 ReplicaManager:2080, ReplicaManager:2191",
                own_row=False,
                examples=(
                    Example(
                        "[Broker id=1] Unable to delete replica orders-0 because we got an unexpected "
                        "java.lang.RuntimeException exception: x",
                        (),
                    ),
                    Example(
                        "[Broker id=3] Unable to start fetching orders-0 with topic ID wcJ6LpE-Qp66bHstteBYdg due to "
                        "InconsistentTopicIdException",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="W-05",
        kind=Kind.STORAGE_ERROR,
        literal=(
            "Error while making broker the leader for partition ",
            "Error while making broker the follower for partition ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="3.0",
                regex=(
                    rf"^{REPLICA_MANAGER}(?P<detail>Error while making broker the (?:leader|follower)) for partition "
                    r"Topic: (?P<topic>[^ ;]+); Partition: (?P<partition>[0-9]+); .* in dir (?:None|Some\("
                    r"(?P<log_dir>.+)\))"
                ),
                source_ref="1.0.2 ReplicaManager:1140, 2.0.1 ReplicaManager:1267, 3.0.2 ReplicaManager:1591",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Error while making broker the follower for partition Topic: orders; "
                        "Partition: 0; Leader: None; AllReplicas: ; InSyncReplicas:  with leader 2 in dir Some(/data)",
                        (
                            {
                                "witness": 1,
                                "detail": "Error while making broker the follower",
                                **ORDERS,
                                "log_dir": "/data",
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until="3.0",
                regex=(
                    rf"^{REPLICA_MANAGER}(?P<detail>Error while making broker the leader) for partition {TP} in dir "
                    r"(?:None|Some\((?P<log_dir>.+)\))"
                ),
                source_ref="3.0.2 ReplicaManager:2142",
                examples=(
                    Example(
                        "[ReplicaManager broker=1] Error while making broker the leader for partition orders-0 in dir "
                        "Some(/data)",
                        (
                            {
                                "witness": 1,
                                "detail": "Error while making broker the leader",
                                **ORDERS,
                                "log_dir": "/data",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # A log of an earlier topic of that name: the role is not taken.
    Message(
        id="W-08",
        kind=Kind.TOPIC_ID_MISMATCH,
        literal=(" does not match the topic ID for partition ", " does not match the topic Id for partition "),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^{BROKER}Topic (?:ID|Id) in memory: (?:Some\()?(?P<topic_id>{NAME})\)? does not match the topic "
                    rf"(?:ID|Id) for partition {TP} (?:received|provided in the request): (?:Some\()?"
                    r"(?P<detail>[A-Za-z0-9_-]{22})"
                ),
                source_ref="2.8.2 ReplicaManager, 3.0.2 ReplicaManager, 3.6.2 ReplicaManager",
                examples=(
                    Example(
                        "[Broker id=1] Topic ID in memory: 5pgMNdDkS2Wz_FzPvQVqyw does not match the topic ID for "
                        "partition orders-0 received: LkVWPW8-R2adfpyJVoFwRg.",
                        (
                            {
                                "witness": 1,
                                "topic_id": "5pgMNdDkS2Wz_FzPvQVqyw",
                                **ORDERS,
                                "detail": "LkVWPW8-R2adfpyJVoFwRg",
                            },
                        ),
                    ),
                    Example(
                        "[Broker id=1] Topic Id in memory: Some(5pgMNdDkS2Wz_FzPvQVqyw) does not match the topic Id "
                        "for partition orders-0 provided in the request: LkVWPW8-R2adfpyJVoFwRg.",
                        (
                            {
                                "witness": 1,
                                "topic_id": "5pgMNdDkS2Wz_FzPvQVqyw",
                                **ORDERS,
                                "detail": "LkVWPW8-R2adfpyJVoFwRg",
                            },
                        ),
                    ),
                ),
            ),
            # As people quote it, without the broker or the other id.
            Variant(
                since="2.8",
                until=None,
                regex=(
                    rf"^Topic (?:ID|Id) in memory: (?:Some\()?(?P<topic_id>{NAME})\)? does not match the topic "
                    rf"(?:ID|Id) "
                    rf"for partition {TP} "
                ),
                quoted=True,
                source_ref="2.8.2 ReplicaManager, 3.0.2 ReplicaManager, 3.6.2 ReplicaManager",
                examples=(
                    Example(
                        "Topic ID in memory: 5pgMNdDkS2Wz_FzPvQVqyw does not match the topic ID for partition orders-0 "
                        "received:",
                        ({"topic_id": "5pgMNdDkS2Wz_FzPvQVqyw", **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    # As the KRaft controller hears of it; directories by their ids (KIP-858).
    Message(
        id="W-06",
        kind=Kind.STORAGE_ERROR,
        literal=" marked offline, remaining directories: ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.7",
                until=None,
                regex=(
                    rf"^{QUORUM_CONTROLLER}Directories (?P<detail>\[[^\]]*\]) in broker (?P<replica>[0-9]+) marked "
                    r"offline, "
                ),
                source_ref="3.7.1 ReplicationControlManager:1409",
                examples=(
                    Example(
                        "[QuorumController id=100] Directories [DzHY3Ta7pYYOzM2PBRHIAw] in broker 1 marked offline, "
                        "remaining directories: [Z5FoHL2o4yKKjnfVlDkRcA]",
                        ({"witness": 100, "detail": "[DzHY3Ta7pYYOzM2PBRHIAw]", "replica": 1},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Roles and removals that did not come about."""
