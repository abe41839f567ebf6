"""``kafka.server.ReplicaFetcherThread``: a follower that is fenced, fails or stands still."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import FETCHER, ORDERS, TP
from parsers.schema import Kind

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
    # The follower stands still until it is given a role again.
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
    # The follower stays where it is, and tries again.
    Message(
        id="F-28",
        kind=Kind.LEO,
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
                                **ORDERS,
                                "detail": "Found invalid messages during fetch",
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
                    r"^\[ReplicaFetcher[^\]]*\][,:]? (?:Found invalid messages during fetch|Error while processing "
                    r"data|Error) for partition "
                ),
                source_ref="0.10.2.2 AbstractFetcherThread",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Error for partition [orders,0] to broker "
                        "1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
                        "host this topic-partition.",
                        (),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Error for partition [orders,0] to broker "
                        "1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
                        "host this topic-partition.",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-33",
        kind=Kind.LEO,
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
                fixed={"detail": "from remote tier"},
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Built the leader epoch cache and "
                        "producer snapshots from remote tier for orders-0, with active producers size: 0, "
                        "leaderLogStartOffset: 0, and logEndOffset: 40",
                        ({"detail": "from remote tier", **ORDERS, "log_start": 0, "leo": 40},),
                    ),
                ),
            ),
        ),
    ),
)
"""What keeps a follower from fetching."""
