"""The fetcher and its leader's epochs: its requests, the answers, truncations and failures."""

from __future__ import annotations

from parsers.details import INITIAL_FETCH_OFFSET
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import FETCHER, FETCHER_OLD, LOG_PREFIX, NAME, ORDERS, TP
from parsers.schema import Kind

_ASKED = Each(rf"(?P<tp>{NAME}) -> (?P<leader_epoch>-?[0-9]+)")
_ANSWERED = Each(
    rf"(?P<tp>{NAME})(?: -> |=)EpochEndOffset\{{error=NONE, (?:leaderEpoch=(?P<leader_epoch>-?[0-9]+), )?"
    r"endOffset=(?P<offset>-?[0-9]+)\}"
)

_ASKED_FENCED = Each(rf"(?P<tp>{NAME})=\(currentLeaderEpoch=[^,]*, leaderEpoch=(?P<leader_epoch>-?[0-9]+)\)")
_DIVERGES = Each(
    r"EpochEndOffset\(errorCode=-?[0-9]+, partition=[0-9]+, leaderEpoch=(?P<leader_epoch>-?[0-9]+), "
    r"endOffset=(?P<offset>-?[0-9]+)\)",
    Kind.EPOCH_REPLY,
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
                since="1.1",
                until=None,
                regex=(
                    rf"^{FETCHER}Based on [^ ]+ leader epoch, leader replied with an unknown offset in {TP}\. "
                    rf"(?P<detail>{INITIAL_FETCH_OFFSET}) (?P<offset>[0-9]+) will be used for truncation"
                ),
                source_ref="1.1.1 ReplicaFetcherThread:312, 2.4.1 AbstractFetcherThread:482",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Based on follower's leader epoch, "
                        "leader replied with an unknown offset in orders-0. The initial fetch offset 0 will be used "
                        "for truncation.",
                        ({"witness": 3, "leader": 1, **ORDERS, "detail": INITIAL_FETCH_OFFSET, "offset": 0},),
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
                        ({"leader": 1, **ORDERS, "detail": "High watermark", "offset": 0, "hw": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="1.0",
                regex=(
                    rf"^{FETCHER}Based on follower's leader epoch, leader replied with an unknown offset in {TP}\. "
                    rf"(?P<detail>High watermark) (?P<offset>(?P<hw>[0-9]+)) will be used for truncation"
                ),
                source_ref="1.0.2 ReplicaFetcherThread:321",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Based on follower's leader epoch, "
                        "leader replied with an unknown offset in orders-0. High watermark 0 will be used for "
                        "truncation.",
                        (
                            {
                                "witness": 3,
                                "leader": 1,
                                **ORDERS,
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
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 25, "leo": 25},),
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
                        ({"leader": 3, "offset": 112, "leo": 112, **ORDERS},),
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
                                **ORDERS,
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
                                **ORDERS,
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
                                **ORDERS,
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
                                **ORDERS,
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
                each=(_DIVERGES,),
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition orders-0 with "
                        "TruncationState(offset=10, completed=true) due to leader epoch and offset "
                        "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=10)",
                        (
                            {
                                "witness": 1,
                                "leader": 2,
                                **ORDERS,
                                "offset": 10,
                                "detail": "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=10)",
                                "leader_epoch": 0,
                            },
                            {
                                "kind": "epoch_reply",
                                "witness": 1,
                                "leader": 2,
                                **ORDERS,
                                "detail": "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=10)",
                                "leader_epoch": 0,
                                "offset": 10,
                            },
                        ),
                        "real",
                    ),
                    # It truncates to the smaller of its leader's answer and its own epochs (KIP-279).
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Truncating partition orders-0 with "
                        "TruncationState(offset=50, completed=true) due to leader epoch and offset "
                        "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=480)",
                        (
                            {
                                "witness": 1,
                                "leader": 3,
                                **ORDERS,
                                "offset": 50,
                                "detail": "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=480)",
                                "leader_epoch": 0,
                            },
                            {
                                "kind": "epoch_reply",
                                "witness": 1,
                                "leader": 3,
                                **ORDERS,
                                "detail": "EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=480)",
                                "leader_epoch": 0,
                                "offset": 480,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    # From 2.4 to 4.1 the check comes after the high watermark was lowered: it cannot hold (KAFKA-19474).
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
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 40, "hw": 50},),
                    ),
                ),
            ),
            Variant(
                since="4.2",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Truncating {NAME} to offset (?P<offset>[0-9]+) below high watermark "
                    r"(?P<hw>[0-9]+)"
                ),
                source_ref="4.2.0 UnifiedLog",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/srv/kafka/broker-1/data] Truncating orders-0 to offset "
                        "10 below high watermark 15",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-1/data", "offset": 10, "hw": 15},),
                        "real",
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
                    rf"error: (?P<detail>.*)"
                ),
                source_ref="2.4.1 AbstractFetcherThread:262",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Retrying leaderEpoch request for "
                        "partition orders-0 as the leader reported an error: UNKNOWN_SERVER_ERROR",
                        ({"witness": 3, "leader": 2, **ORDERS, "detail": "UNKNOWN_SERVER_ERROR"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Retrying leaderEpoch request for partition {TP} as the leader reported an "
                    rf"error: (?P<detail>.*)"
                ),
                source_ref="0.11.0.2 ReplicaFetcherThread:265",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2]: Retrying leaderEpoch request for partition orders-0 as the "
                        "leader reported an error: UNKNOWN",
                        ({"leader": 2, **ORDERS, "detail": "UNKNOWN"},),
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
                        ({"detail": "failed", "leader": 2, **ORDERS, "leader_epoch": 0},),
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
                        ({"witness": 3, "leader": 2, **ORDERS, "detail": "failed", "leader_epoch": 0},),
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
                        ({"leader": 1, **ORDERS, "offset": -1},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2]: Receive leaderEpoch response Map(orders-0 -> "
                        "EpochEndOffset{error=NONE, endOffset=30})",
                        ({"leader": 2, **ORDERS, "offset": 30},),
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
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 30},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Receive leaderEpoch response "
                        "Map(orders-0 -> EpochEndOffset{error=NONE, leaderEpoch=2, endOffset=30})",
                        ({"witness": 3, "leader": 2, **ORDERS, "leader_epoch": 2, "offset": 30},),
                    ),
                ),
            ),
        ),
    ),
    # Since 2.7 a follower sends this only to a leader that uses an older protocol (KIP-595).
    Message(
        id="F-22",
        kind=Kind.EPOCH_REQUEST,
        literal="Sending offset for leader epoch request ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.1",
                until="2.7",
                regex=rf"^{FETCHER}Sending offset for leader epoch request .*\(epochsByPartition=\{{",
                source_ref="2.1.1 OffsetsForLeaderEpochRequest:99, 2.4.1 ReplicaFetcherThread:307",
                each=(_ASKED_FENCED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Sending offset for leader epoch request "
                        "OffsetsForLeaderEpochRequest(epochsByPartition={orders-1=(currentLeaderEpoch=Optional[2], "
                        "leaderEpoch=0), orders-0=(currentLeaderEpoch=Optional[2], leaderEpoch=1)})",
                        (
                            {"witness": 3, "leader": 2, "topic": "orders", "partition": 1, "leader_epoch": 0},
                            {"witness": 3, "leader": 2, **ORDERS, "leader_epoch": 1},
                        ),
                        "real",
                    ),
                ),
            ),
            # Names a topic once for several partitions: what it asks for, the answer shows.
            Variant(
                since="2.8",
                until=None,
                regex=rf"^{FETCHER}Sending offset for leader epoch request ",
                source_ref="2.8.2 OffsetsForLeaderEpochRequest:84, 3.6.2 RemoteLeaderEndPoint:155",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Sending offset for leader epoch request "
                        "OffsetForLeaderEpochRequestData(replicaId=2, topics=[])",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-22a",
        kind=Kind.EPOCH_REPLY,
        literal="Received leaderEpoch response ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="2.1",
                until="2.7",
                regex=rf"^{FETCHER}Received leaderEpoch response .*, epochEndOffsetsByPartition=\{{",
                source_ref="2.1.1 OffsetsForLeaderEpochResponse:171, 2.4.1 ReplicaFetcherThread:312",
                each=(_ANSWERED,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Received leaderEpoch response "
                        "ClientResponse(receivedTimeMs=7, latencyMs=2, disconnected=false, "
                        "requestHeader=RequestHeader(apiKey=OFFSET_FOR_LEADER_EPOCH, apiVersion=3, "
                        "clientId=broker-3-fetcher-0, correlationId=9), "
                        "responseBody=(type=OffsetsForLeaderEpochResponse, , throttleTimeMs=0, "
                        "epochEndOffsetsByPartition={orders-0=EpochEndOffset{error=NONE, leaderEpoch=4, "
                        "endOffset=30}}))",
                        ({"witness": 3, "leader": 2, **ORDERS, "leader_epoch": 4, "offset": 30},),
                    ),
                ),
            ),
            Variant(
                since="2.8",
                until=None,
                regex=rf"^{FETCHER}Received leaderEpoch response ",
                source_ref="2.8.2 OffsetsForLeaderEpochResponse:76, 3.6.2 RemoteLeaderEndPoint:160",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Received leaderEpoch response "
                        "ClientResponse(receivedTimeMs=7)",
                        (),
                    ),
                ),
            ),
        ),
    ),
)
"""Coming to terms with a leader, in the order of the steps."""
