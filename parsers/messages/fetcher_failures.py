"""``kafka.server.ReplicaFetcherThread``: a follower that is fenced, fails or stops fetching."""

from __future__ import annotations

from parsers.details import FROM_REMOTE
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import EITHER, FETCHER, FETCHER_OLD, ORDERS, TP
from parsers.schema import Kind

_TO_BROKER = Each(
    rf"for partition {EITHER} to broker (?P<leader>[0-9]+):(?:class )?(?P<detail>[a-zA-Z0-9_.]+)", Kind.FETCH_ERROR
)
_INVALID = Each(
    rf"(?P<detail>invalid messages) during fetch for partition {EITHER} offset (?P<offset>[0-9]+)", Kind.FETCH_ERROR
)

MESSAGES: tuple[Message, ...] = (
    # Benign at each change of epoch.
    Message(
        id="F-23",
        kind=Kind.FETCH_FENCED,
        literal=(
            ") than the current leader. Will await ",
            ") than the current leader. retry ",
            ") than the current leader. Retry ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    rf"^{FETCHER}Partition {TP} has an? (?P<detail>older|new|newer) epoch "
                    rf"\((?P<leader_epoch>[0-9]+)\) than the current leader\."
                ),
                source_ref="2.4.1 AbstractFetcherThread:273, 2.8.2 AbstractFetcherThread:311, 3.6.2 "
                "AbstractFetcherThread:302",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Partition orders-0 has an older epoch "
                        "(0) than the current leader. Will await the new LeaderAndIsr state before resuming fetching.",
                        ({"witness": 3, "leader": 1, **ORDERS, "detail": "older", "leader_epoch": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Partition orders-0 has a newer epoch "
                        "(3) than the current leader. Retry the partition later.",
                        ({"witness": 3, "leader": 2, **ORDERS, "detail": "newer", "leader_epoch": 3},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Partition orders-0 has an new epoch "
                        "(3) than the current leader. retry the partition later",
                        ({"witness": 3, "leader": 2, **ORDERS, "detail": "new", "leader_epoch": 3},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-25",
        kind=Kind.FETCH_FENCED,
        literal="Remote broker has a smaller leader epoch for partition ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    rf"^{FETCHER}Remote broker has a smaller leader epoch for partition {TP} than this replica's "
                    rf"current leader epoch of (?P<leader_epoch>[0-9]+)\."
                ),
                source_ref="2.4.1 AbstractFetcherThread:358",
                fixed={"detail": "newer"},
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Remote broker has a smaller leader "
                        "epoch for partition orders-0 than this replica's current leader epoch of 2.",
                        ({"detail": "newer", "witness": 3, "leader": 1, **ORDERS, "leader_epoch": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-26",
        kind=Kind.FETCH_FENCED,
        literal="Remote broker is not the leader for partition ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=(rf"^{FETCHER}Remote broker is not the leader for partition {TP},"),
                source_ref="1.1.1 AbstractFetcherThread:221, 2.4.1 AbstractFetcherThread:366",
                fixed={"detail": "not the leader"},
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Remote broker is not the leader for "
                        "partition orders-0, which could indicate that the partition is being moved",
                        ({"witness": 3, "leader": 2, **ORDERS, "detail": "not the leader"},),
                    ),
                ),
            ),
        ),
    ),
    # The follower does not fetch until it receives a role again.
    Message(
        id="F-27",
        kind=Kind.FETCH_FAILED,
        literal=" marked as failed",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.3",
                until=None,
                regex=(rf"^{FETCHER}Partition {TP} marked as failed"),
                source_ref="2.4.1 AbstractFetcherThread:404",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Partition orders-0 marked as failed",
                        ({"witness": 3, "leader": 1, **ORDERS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The thread ends with all of its partitions; the exception below names one of them.
    Message(
        id="F-41",
        kind=Kind.FETCH_FAILED,
        literal=("] Error due to", "]: Error due to", "], Error due to"),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{FETCHER}Error due to",
                source_ref="1.1.1 ShutdownableThread, 3.6.2 ShutdownableThread",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Error due to",
                        ({"witness": 3, "leader": 1},),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^{FETCHER_OLD}Error due to",
                source_ref="0.10.2.2 ShutdownableThread",
                examples=(
                    Example("[ReplicaFetcherThread-0-1], Error due to ", ({"leader": 1},)),
                    Example("[ReplicaFetcherThread-0-1]: Error due to", ({"leader": 1},)),
                ),
            ),
        ),
    ),
    # The follower stays where it is, and tries again.
    Message(
        id="F-28",
        kind=Kind.FETCH_REFUSED,
        literal=(
            "Found invalid messages during fetch for partition ",
            "] Error while processing data for partition ",
            "Unexpected error occurred while processing data for partition ",
            "] Error for partition ",
            "]: Error for partition ",
            "], Error for partition ",
        ),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}(?P<detail>(?:Found invalid messages during fetch|Error while processing "
                    rf"data|Unexpected error occurred while processing data|Error)) for partition {TP} (?:at "
                    rf")?offset (?P<leo>[0-9]+)"
                ),
                source_ref="2.4.1 AbstractFetcherThread:340",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Error for partition orders-0 at "
                        "offset 0",
                        ({"witness": 3, "leader": 1, "detail": "Error", **ORDERS, "leo": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error while processing data for "
                        "partition orders-0 at offset 30",
                        ({"witness": 3, "leader": 2, "detail": "Error while processing data", **ORDERS, "leo": 30},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Unexpected error occurred while "
                        "processing data for partition orders-0 at offset 30",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "detail": "Unexpected error occurred while processing data",
                                **ORDERS,
                                "leo": 30,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Found invalid messages during fetch "
                        "for partition orders-0 offset 30",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "detail": "Found invalid messages during fetch",
                                **ORDERS,
                                "leo": 30,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="1.0",
                regex=(
                    rf"^(?:(?:{FETCHER_OLD}|\[ReplicaFetcher [^\]]*\] )(?:Found invalid messages during fetch|Error "
                    r"while processing data|Error)|Found invalid messages during fetch) for partition "
                ),
                source_ref="0.8.2.2 AbstractFetcherThread, 0.10.2.2 AbstractFetcherThread",
                each=(_TO_BROKER, _INVALID),
                own_row=False,
                examples=(
                    # Without the name of its thread: it goes past the method that adds it.
                    Example(
                        "Found invalid messages during fetch for partition [orders,0] offset 30 error Message found "
                        "with corrupt size (0)",
                        ({"kind": "fetch_error", **ORDERS, "offset": 30, "detail": "invalid messages"},),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1]: Error for partition [orders,0] to broker "
                        "1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
                        "host this topic-partition.",
                        (
                            {
                                "kind": "fetch_error",
                                "leader": 1,
                                **ORDERS,
                                "detail": "org.apache.kafka.common.errors.UnknownTopicOrPartitionException",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Error for partition [orders,0] to broker "
                        "1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
                        "host this topic-partition.",
                        (
                            {
                                "kind": "fetch_error",
                                "leader": 1,
                                **ORDERS,
                                "detail": "org.apache.kafka.common.errors.UnknownTopicOrPartitionException",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Error for partition [orders,0] to broker 1:class "
                        "kafka.common.NotLeaderForPartitionException",
                        (
                            {
                                "kind": "fetch_error",
                                "leader": 1,
                                **ORDERS,
                                "detail": "kafka.common.NotLeaderForPartitionException",
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1]: Found invalid messages during fetch for partition [orders,0] "
                        "offset 30 error Message found with corrupt size (0)",
                        ({"kind": "fetch_error", "leader": 1, "detail": "invalid messages", **ORDERS, "offset": 30},),
                    ),
                ),
            ),
            # As guides quote it, in a form between two releases.
            Variant(
                since="0.11",
                until="2.0",
                regex=(
                    rf"^(?:\[ReplicaFetcherThread-[0-9]+-(?P<leader>[0-9]+)\][,:]? )?(?P<detail>Error) for "
                    rf"partition {TP} at "
                    r"offset (?P<leo>[0-9]+)"
                ),
                quoted=True,
                source_ref="2.0.1 AbstractFetcherThread",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2] Error for partition orders-0 at offset 30",
                        ({"leader": 2, "detail": "Error", **ORDERS, "leo": 30},),
                    ),
                ),
            ),
        ),
    ),
    # What its leader answers; or none does.
    Message(
        id="F-31",
        kind=Kind.FETCH_ERROR,
        literal=(
            " from the leader for partition ",
            "Received error OFFSET_MOVED_TO_TIERED_STORAGE",
            "Error getting offset for partition ",
            "Error building remote log auxiliary state for ",
            "Replication is failing due to a message that is greater than replica.fetch.max.bytes",
        ),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{FETCHER}Received (?P<detail>UNKNOWN_TOPIC_OR_PARTITION|UNKNOWN_TOPIC_ID|"
                    rf"INCONSISTENT_TOPIC_ID) from the leader for partition {TP}"
                ),
                source_ref="3.6.2 AbstractFetcherThread:421",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Received UNKNOWN_TOPIC_OR_PARTITION "
                        "from the leader for partition orders-0. This error may be returned transiently when the "
                        "partition is being created or deleted, but it is not expected to persist.",
                        ({"witness": 2, "leader": 1, "detail": "UNKNOWN_TOPIC_OR_PARTITION", **ORDERS},),
                        "real",
                    ),
                ),
            ),
            # Routine with tiered storage (KIP-405): what it asks for is in remote storage alone.
            Variant(
                since="3.5",
                until=None,
                regex=(
                    rf"^{FETCHER}Received error (?P<detail>OFFSET_MOVED_TO_TIERED_STORAGE), at fetch offset: "
                    rf"(?P<offset>[0-9]+), topic-partition: {TP}"
                ),
                source_ref="3.6.2 AbstractFetcherThread:410",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Received error "
                        "OFFSET_MOVED_TO_TIERED_STORAGE, at fetch offset: 42, topic-partition: orders-0",
                        (
                            {
                                "witness": 2,
                                "leader": 1,
                                "detail": "OFFSET_MOVED_TO_TIERED_STORAGE",
                                "offset": 42,
                                **ORDERS,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}(?P<detail>Error getting offset|Error building remote log auxiliary state) for "
                    rf"(?:partition )?{TP}"
                ),
                source_ref="1.1.1 AbstractFetcherThread:216, 3.5.2 AbstractFetcherThread:774",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error getting offset for partition "
                        "orders-0",
                        ({"witness": 2, "leader": 1, "detail": "Error getting offset", **ORDERS},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Error building remote log auxiliary "
                        "state for orders-0",
                        ({"witness": 3, "leader": 1, "detail": "Error building remote log auxiliary state", **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}(?P<detail>Error getting offset) for partition \[(?P<bracketed>[^\]]+)\] to "
                    rf"broker "
                ),
                source_ref="0.8.2.2 AbstractFetcherThread:148, 0.11.0.2 AbstractFetcherThread:215",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Error getting offset for partition [orders,0] to broker 1",
                        ({"leader": 1, "detail": "Error getting offset", **ORDERS},),
                    ),
                ),
            ),
            # 0.9 names no partition.
            Variant(
                since="0.9",
                until=None,
                regex=(
                    rf"^(?:{FETCHER_OLD}|\[ReplicaFetcher [^\]]*\] )(?P<detail>Replication is failing due to a message "
                    rf"that is greater than replica\.fetch\.max\.bytes)(?: for partition {EITHER}\.)?"
                ),
                source_ref="0.9.0.1 ReplicaFetcherThread:132, 0.10.1.1 ReplicaFetcherThread:154, 3.6.2 "
                "ReplicaFetcherThread",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Replication is failing due to a message "
                        "that is greater than replica.fetch.max.bytes for partition orders-0. This generally occurs "
                        "when the max.message.bytes has been overridden to exceed this value and a suitably large "
                        "message has also been sent.",
                        (
                            {
                                "detail": "Replication is failing due to a message that is greater than "
                                "replica.fetch.max.bytes",
                                **ORDERS,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-34",
        kind=Kind.TRUNCATE_FAILED,
        literal=("] Failed to truncate ", "Unexpected error occurred during truncation for "),
        level="ERROR",
        stock=True,
        variants=(
            Variant(
                since="2.3",
                until=None,
                regex=(
                    rf"^{FETCHER}(?:Failed to truncate|Unexpected error occurred during truncation for) {TP} at offset "
                    r"(?P<offset>[0-9]+)"
                ),
                source_ref="2.3.1 AbstractFetcherThread:187, 3.6.2 AbstractFetcherThread",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Failed to truncate orders-0 at offset "
                        "42",
                        ({"witness": 2, "leader": 1, **ORDERS, "offset": 42},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Unexpected error occurred during "
                        "truncation for orders-0 at offset 42",
                        ({"witness": 2, "leader": 1, **ORDERS, "offset": 42},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-33",
        kind=Kind.FETCH_REFUSED,
        literal="Built the leader epoch cache and producer snapshots from remote tier for ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^\[[^\]]*\]:? Built the leader epoch cache and producer snapshots from remote tier for {TP}, "
                    rf"with active producers size: [0-9]+, leaderLogStartOffset: (?P<log_start>[0-9]+), and "
                    rf"logEndOffset: (?P<leo>[0-9]+)"
                ),
                source_ref="3.6.2 ReplicaFetcherTierStateMachine:248",
                fixed={"detail": FROM_REMOTE},
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Built the leader epoch cache and "
                        "producer snapshots from remote tier for orders-0, with active producers size: 0, "
                        "leaderLogStartOffset: 0, and logEndOffset: 40",
                        ({"detail": FROM_REMOTE, **ORDERS, "log_start": 0, "leo": 40},),
                    ),
                ),
            ),
        ),
    ),
)
"""Messages about a follower that cannot fetch."""
