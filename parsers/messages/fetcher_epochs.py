"""The fetcher and its leader's epochs: what it asks, is told, cuts and gives up."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import FETCHER, FETCHER_OLD, NAME, TP
from parsers.schema import Kind

_ASKED = Each(rf"(?P<tp>{NAME}) -> (?P<leader_epoch>-?[0-9]+)")
_ANSWERED = Each(
    rf"(?P<tp>{NAME}) -> EpochEndOffset\{{error=NONE, (?:leaderEpoch=(?P<leader_epoch>-?[0-9]+), )?"
    r"endOffset=(?P<offset>-?[0-9]+)\}"
)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="F-11",
        kind=Kind.TRUNCATE_PLAN,
        literal=" leader epoch, leader replied with an unknown offset in ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Based on [^ ]+ leader epoch, leader replied with an unknown offset in {TP}\. "
                    rf"(?P<detail>(?:The initial fetch offset|High watermark)) (?P<offset>[0-9]+) will be used for "
                    rf"truncation"
                ),
                source_ref="1.1.1 ReplicaFetcherThread:312, 2.4.1 AbstractFetcherThread:482",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Based on follower's leader epoch, "
                        "leader replied with an unknown offset in orders-0. The initial fetch offset 0 will be used "
                        "for truncation.",
                        (
                            {
                                "witness": 3,
                                "leader": 1,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "The initial fetch offset",
                                "offset": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Based on follower's leader epoch, leader replied with an unknown offset in "
                    rf"{TP}\. (?P<detail>High watermark) (?P<offset>(?P<hw>[0-9]+)) will be used for truncation"
                ),
                source_ref="0.11.0.2 ReplicaFetcherThread:332",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Based on follower's leader epoch, leader replied with an "
                        "unknown offset in orders-0. High watermark 0 will be used for truncation.",
                        (
                            {
                                "leader": 1,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "High watermark",
                                "offset": 0,
                                "hw": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-13",
        kind=Kind.TRUNCATE_NOOP,
        literal=" leader epoch, leader replied with an offset ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="1.1",
                regex=(
                    rf"^{FETCHER}Based on follower's leader epoch, leader replied with an offset (?P<offset>[0-9]+) "
                    rf">= the follower's log end offset (?P<leo>[0-9]+) in {TP}\. No truncation needed\."
                ),
                source_ref="1.1.1 ReplicaFetcherThread:376",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Based on follower's leader epoch, "
                        "leader replied with an offset 25 >= the follower's log end offset 25 in orders-0. No "
                        "truncation needed.",
                        ({"witness": 3, "leader": 2, "topic": "orders", "partition": 0, "offset": 25, "leo": 25},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Based on follower's leader epoch, leader replied with an offset "
                    rf"(?P<offset>[0-9]+) >= the follower's log end offset (?P<leo>[0-9]+) in {TP}\. No truncation "
                    rf"needed\."
                ),
                source_ref="0.11.0.2 ReplicaFetcherThread:327",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-3]: Based on follower's leader epoch, leader replied with an offset "
                        "112 >= the follower's log end offset 112 in orders-0. No truncation needed.",
                        ({"leader": 3, "offset": 112, "leo": 112, "topic": "orders", "partition": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-14",
        kind=Kind.TRUNCATE_PLAN,
        literal=" is on protocol version where leader epoch is not considered ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Leader or [^ ]+ is on protocol version where leader epoch is not considered in the "
                    rf"OffsetsForLeaderEpoch response\. The leader's offset (?P<offset>[0-9]+) will be used for "
                    rf"truncation in {TP}\."
                ),
                source_ref="2.0.1 AbstractFetcherThread:335, 2.4.1 AbstractFetcherThread:488",
                fixed={"detail": "leader's offset, of a protocol without its epoch"},
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Leader or replica is on protocol "
                        "version where leader epoch is not considered in the OffsetsForLeaderEpoch response. The "
                        "leader's offset 40 will be used for truncation in orders-0.",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "offset": 40,
                                "detail": "leader's offset, of a protocol without its epoch",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-15",
        kind=Kind.TRUNCATE_PLAN,
        literal=" leader epoch, leader replied with epoch ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Based on [^ ]+ leader epoch, leader replied with epoch (?P<leader_epoch>-?[0-9]+) "
                    rf"(?P<detail>below any [^ ]+ tracked epochs|unknown to the [^ ]+) for {TP}\. (?:The leader's "
                    rf"offset only|Will truncate to) (?P<offset>[0-9]+) "
                ),
                source_ref="2.4.1 AbstractFetcherThread:503, AbstractFetcherThread:516",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Based on replica's leader epoch, "
                        "leader replied with epoch 2 below any replica's tracked epochs for orders-0. The leader's "
                        "offset only 40 will be used for truncation.",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader_epoch": 2,
                                "detail": "below any replica's tracked epochs",
                                "offset": 40,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Based on replica's leader epoch, "
                        "leader replied with epoch 2 unknown to the replica for orders-0. Will truncate to 40 and "
                        "send another leader epoch request to the leader.",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader_epoch": 2,
                                "detail": "unknown to the replica",
                                "offset": 40,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-17",
        kind=Kind.TRUNCATE_PLAN,
        literal="Truncating partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    rf"^{FETCHER}Truncating partition {TP} (?:with TruncationState\(offset=[0-9]+, "
                    rf"?completed=[a-z]+\) due to|to) (?P<detail>local high watermark) (?P<offset>(?P<hw>[0-9]+))"
                ),
                source_ref="2.4.1 AbstractFetcherThread:238, 3.6.2 AbstractFetcherThread:244",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Truncating partition orders-0 with "
                        "TruncationState(offset=0, completed=true) due to local high watermark 0",
                        (
                            {
                                "witness": 2,
                                "leader": 1,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "local high watermark",
                                "offset": 0,
                                "hw": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.1",
                until=None,
                regex=(
                    rf"^{FETCHER}Truncating partition {TP} with TruncationState\(offset=(?P<offset>[0-9]+), "
                    rf"?completed=[a-z]+\) due to leader epoch and offset "
                    rf"(?P<detail>EpochEndOffset\(errorCode=-?[0-9]+, partition=[0-9]+, "
                    rf"leaderEpoch=(?P<leader_epoch>-?[0-9]+), endOffset=-?[0-9]+\))"
                ),
                source_ref="3.6.2 AbstractFetcherThread:263",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition orders-0 with "
                        "TruncationState(offset=10, completed=true) due to leader epoch and offset "
                        "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=10)",
                        (
                            {
                                "witness": 1,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "offset": 10,
                                "detail": "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=10)",
                                "leader_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # From 2.4 the check comes after the high watermark was lowered: it can no longer hold (KAFKA-19474).
    Message(
        id="F-19",
        kind=Kind.TRUNCATE_BELOW_HW,
        literal=" below high watermark ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(rf"^{FETCHER}Truncating {TP} to offset (?P<offset>[0-9]+) below high watermark (?P<hw>[0-9]+)"),
                source_ref="2.0.1 ReplicaFetcherThread:323, 2.4.1 ReplicaFetcherThread:285, 3.6.2 "
                "ReplicaFetcherThread:181",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Truncating orders-0 to offset 40 "
                        "below high watermark 50",
                        ({"witness": 3, "leader": 2, "topic": "orders", "partition": 0, "offset": 40, "hw": 50},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-20",
        kind=Kind.EPOCH_REPLY,
        literal="Retrying leaderEpoch request for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Retrying leaderEpoch request for partition {TP} as the leader reported an "
                    rf"(?P<detail>error: .*)"
                ),
                source_ref="2.4.1 AbstractFetcherThread:262",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Retrying leaderEpoch request for "
                        "partition orders-0 as the leader reported an error: UNKNOWN_SERVER_ERROR",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "error: UNKNOWN_SERVER_ERROR",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Retrying leaderEpoch request for partition {TP} as the leader reported an "
                    rf"(?P<detail>error: .*)"
                ),
                source_ref="0.11.0.2 ReplicaFetcherThread:265",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2]: Retrying leaderEpoch request for partition orders-0 as the "
                        "leader reported an error: UNKNOWN",
                        ({"leader": 2, "topic": "orders", "partition": 0, "detail": "error: UNKNOWN"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-20a",
        kind=Kind.EPOCH_REQUEST,
        literal="Error when sending leader epoch request for ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(rf"^{FETCHER_OLD}Error when sending leader epoch request for "),
                source_ref="0.11.0.3 ReplicaFetcherThread",
                fixed={"detail": "failed"},
                each=(_ASKED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2]: Error when sending leader epoch request for Map(orders-0 -> 0)",
                        ({"detail": "failed", "leader": 2, "topic": "orders", "partition": 0, "leader_epoch": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(rf"^{FETCHER}Error when sending leader epoch request for "),
                source_ref="1.1.1 ReplicaFetcherThread",
                fixed={"detail": "failed"},
                each=(_ASKED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error when sending leader epoch "
                        "request for Map(orders-0 -> 0)",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "failed",
                                "leader_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-21",
        kind=Kind.EPOCH_REPLY,
        literal="Receive leaderEpoch response ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(rf"^{FETCHER_OLD}Receive leaderEpoch response "),
                source_ref="0.11.0.2 ReplicaFetcherThread:305",
                each=(_ANSWERED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Receive leaderEpoch response Map(orders-0 -> "
                        "EpochEndOffset{error=NONE, endOffset=-1}) from broker BrokerEndPoint(1,127.0.0.1,21001)",
                        ({"leader": 1, "topic": "orders", "partition": 0, "offset": -1},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2]: Receive leaderEpoch response Map(orders-0 -> "
                        "EpochEndOffset{error=NONE, endOffset=30})",
                        ({"leader": 2, "topic": "orders", "partition": 0, "offset": 30},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.0",
                regex=(rf"^{FETCHER}Receive leaderEpoch response "),
                source_ref="2.0.1 ReplicaFetcherThread",
                each=(_ANSWERED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Receive leaderEpoch response "
                        "Map(orders-0 -> EpochEndOffset{error=NONE, endOffset=30})",
                        ({"witness": 3, "leader": 2, "topic": "orders", "partition": 0, "offset": 30},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Receive leaderEpoch response "
                        "Map(orders-0 -> EpochEndOffset{error=NONE, leaderEpoch=2, endOffset=30})",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "leader_epoch": 2,
                                "offset": 30,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
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
                        (
                            {
                                "witness": 3,
                                "leader": 1,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "older",
                                "leader_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Partition orders-0 has a newer epoch "
                        "(3) than the current leader. Retry the partition later.",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "newer",
                                "leader_epoch": 3,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Partition orders-0 has an new epoch "
                        "(3) than the current leader. retry the partition later",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 0,
                                "detail": "new",
                                "leader_epoch": 3,
                            },
                        ),
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
                        (
                            {
                                "detail": "newer",
                                "witness": 3,
                                "leader": 1,
                                "topic": "orders",
                                "partition": 0,
                                "leader_epoch": 2,
                            },
                        ),
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
                        ({"witness": 3, "leader": 2, "topic": "orders", "partition": 0, "detail": "not the leader"},),
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
                        ({"witness": 3, "leader": 1, "topic": "orders", "partition": 0},),
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
                        ({"witness": 3, "leader": 1, "detail": "Error", "topic": "orders", "partition": 0, "leo": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error while processing data for "
                        "partition orders-0 at offset 30",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "detail": "Error while processing data",
                                "topic": "orders",
                                "partition": 0,
                                "leo": 30,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Unexpected error occurred while "
                        "processing data for partition orders-0 at offset 30",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "detail": "Unexpected error occurred while processing data",
                                "topic": "orders",
                                "partition": 0,
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
                                "topic": "orders",
                                "partition": 0,
                                "detail": "Found invalid messages during fetch",
                                "leo": 30,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="0.9",
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
                        ({"detail": "from remote tier", "topic": "orders", "partition": 0, "log_start": 0, "leo": 40},),
                    ),
                ),
            ),
        ),
    ),
)
"""Coming to terms with a leader, in the order of the steps."""
