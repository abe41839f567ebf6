"""``kafka.server.ReplicaFetcherThread``: what a follower holds, gets from its leader and fetches next."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import EITHER, FETCHER, FETCHER_OLD, NAME, ORDERS, TP, known
from parsers.schema import NO_TOPIC_ID, Kind

_FETCH_DATA = Each(
    rf"(?P<tp>{NAME})=(?:PartitionData)?\((?:topicId=(?P<topic_id>{NAME}), )?(?:fetchO|o)ffset=(?P<leo>[0-9]+), "
    r"logStartOffset=(?:-1|(?P<log_start>[0-9]+)), maxBytes=[0-9]+"
    r"(?:, currentLeaderEpoch=Optional(?:\[(?P<leader_epoch>[0-9]+)\])?)?"
    r"(?:, lastFetchedEpoch=Optional(?:\[(?P<previous_epoch>[0-9]+)\])?)?"
)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="F-01",
        kind=Kind.FOLLOWER_FETCHED,
        literal=" messages and leader hw ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Follower (?P<witness>[0-9]+) has replica log end offset (?P<leo>[0-9]+) for "
                    rf"partition {EITHER}\. Received [0-9]+ messages and leader hw {known('leader_hw')}"
                ),
                source_ref="0.10.2.2 ReplicaFetcherThread:126",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 has replica log end offset 0 for partition orders-0. "
                        "Received 36 messages and leader hw 0",
                        ({"leader": 1, "witness": 3, "leo": 0, **ORDERS, "leader_hw": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 has replica log end offset 50 for partition "
                        "[orders,0]. Received 960 messages and leader hw 50",
                        ({"leader": 1, "witness": 3, "leo": 50, **ORDERS, "leader_hw": 50},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Follower has replica log end offset (?P<leo>[0-9]+) for partition {TP}\. Received "
                    rf"[0-9]+ (?:bytes of )?messages and leader hw {known('leader_hw')}"
                ),
                source_ref="1.1.1 ReplicaFetcherThread:108, 3.6.2 ReplicaFetcherThread:118",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower has replica log end offset 0 "
                        "for partition orders-0. Received 0 messages and leader hw 0",
                        ({"witness": 2, "leader": 1, "leo": 0, **ORDERS, "leader_hw": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower has replica log end offset 0 "
                        "for partition orders-0. Received 0 bytes of messages and leader hw 0",
                        ({"witness": 2, "leader": 1, "leo": 0, **ORDERS, "leader_hw": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-02",
        kind=Kind.LEO,
        literal=" bytes of messages for partition ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Follower (?P<witness>[0-9]+) has replica log end offset (?P<leo>[0-9]+) after "
                    rf"appending [0-9]+ bytes of messages for partition {EITHER}"
                ),
                source_ref="0.10.2.2 ReplicaFetcherThread:130",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 has replica log end offset 1 after appending 36 "
                        "bytes of messages for partition orders-0",
                        ({"leader": 1, "witness": 3, "leo": 1, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 has replica log end offset 80 after appending 960 "
                        "bytes of messages for partition [orders,0]",
                        ({"leader": 1, "witness": 3, "leo": 80, **ORDERS},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Follower has replica log end offset (?P<leo>[0-9]+) after appending [0-9]+ bytes of "
                    rf"messages for partition {TP}"
                ),
                source_ref="3.6.2 ReplicaFetcherThread:125",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower has replica log end offset 0 "
                        "after appending 0 bytes of messages for partition orders-0",
                        ({"witness": 2, "leader": 1, "leo": 0, **ORDERS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # What was set: it may be lower than before.
    Message(
        id="F-03",
        kind=Kind.HW,
        literal=" set replica high watermark for partition ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Follower (?P<witness>[0-9]+) set replica high watermark for partition "
                    rf"(?:\[(?P<bracketed>[^\]]+)\]) to (?P<hw>[0-9]+)"
                ),
                source_ref="0.9.0.1 ReplicaFetcherThread",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 set replica high watermark for partition [orders,0] "
                        "to 7",
                        ({"leader": 1, "witness": 3, **ORDERS, "hw": 7},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Follower (?P<witness>[0-9]+) set replica high watermark for partition {TP} to "
                    rf"(?P<hw>[0-9]+)"
                ),
                source_ref="0.10.2.2 ReplicaFetcherThread:138",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1], Follower 3 set replica high watermark for partition orders-0 to 0",
                        ({"leader": 1, "witness": 3, **ORDERS, "hw": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.2",
                regex=(rf"^{FETCHER}Follower set replica high watermark for partition {TP} to (?P<hw>[0-9]+)"),
                source_ref="2.4.1 ReplicaFetcherThread:173",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower set replica high watermark "
                        "for partition orders-0 to 0",
                        ({"witness": 2, "leader": 1, **ORDERS, "hw": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-04",
        kind=Kind.LEADER_HW,
        literal="Follower received high watermark ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="3.3",
                until=None,
                regex=(
                    rf"^{FETCHER}Follower received high watermark {known('leader_hw')} from the leader (?:and "
                    rf"updated replica high watermark to (?P<hw>[0-9]+)|but did not update replica high watermark) "
                    rf"for partition {TP}"
                ),
                source_ref="3.6.2 ReplicaFetcherThread:139",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower received high watermark 1 "
                        "from the leader and updated replica high watermark to 1 for partition orders-0",
                        ({"witness": 2, "leader": 1, "leader_hw": 1, "hw": 1, **ORDERS},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower received high watermark 0 "
                        "from the leader but did not update replica high watermark for partition orders-0",
                        ({"witness": 2, "leader": 1, "leader_hw": 0, **ORDERS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # A follower fetches from its own end.
    Message(
        id="F-05",
        kind=Kind.LEO,
        literal=(
            "] Sending fetch request (",
            ", Issuing to broker ",
            ": Issuing fetch to broker ",
            "] Issuing fetch to broker ",
        ),
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.10",
                regex=(rf"^{FETCHER_OLD}Issuing to broker [0-9]+ of fetch request "),
                source_ref="0.10.2.2 AbstractFetcherThread:117",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1], Issuing to broker 1 of fetch request "
                        "kafka.server.ReplicaFetcherThread$FetchRequest@16228067",
                        (),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(rf"^{FETCHER_OLD}Issuing fetch to broker [0-9]+, request: \("),
                source_ref="0.11.0.2 AbstractFetcherThread",
                fixed={"detail": "fetch request"},
                each=(_FETCH_DATA,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Issuing fetch to broker 1, request: (type=FetchRequest, "
                        "replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={orders-0=(offset=0, "
                        "logStartOffset=0, maxBytes=1048576)})",
                        ({"detail": "fetch request", "leader": 1, **ORDERS, "leo": 0, "log_start": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1]: Issuing fetch to broker 1, request: (type=FetchRequest, "
                        "replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={orders-0=(offset=112, "
                        "logStartOffset=0, maxBytes=1048576)})",
                        ({"leader": 1, "detail": "fetch request", **ORDERS, "leo": 112, "log_start": 0},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(rf"^{FETCHER}(?:Issuing fetch to broker [0-9]+, request:|Sending fetch request) \("),
                source_ref="2.4.1 AbstractFetcherThread:285",
                fixed={"detail": "fetch request"},
                each=(_FETCH_DATA,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Sending fetch request "
                        "(type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-0=(offset=0, logStartOffset=0, maxBytes=1048576)}, "
                        "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=INVALID, epoch=INITIAL))",
                        ({"detail": "fetch request", "witness": 3, "leader": 1, **ORDERS, "leo": 0, "log_start": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Issuing fetch to broker 2, request: "
                        "(type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-0=(offset=7, logStartOffset=0, maxBytes=1048576)})",
                        ({"detail": "fetch request", "witness": 3, "leader": 2, **ORDERS, "leo": 7, "log_start": 0},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Sending fetch request "
                        "(type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-0=PartitionData(topicId=LkVWPW8-R2adfpyJVoFwRg, fetchOffset=0, "
                        "logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[0], "
                        "lastFetchedEpoch=Optional.empty)}, isolationLevel=read_uncommitted, removed=, replaced=, "
                        "metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)",
                        (
                            {
                                "detail": "fetch request",
                                "witness": 2,
                                "leader": 1,
                                **ORDERS,
                                "topic_id": "LkVWPW8-R2adfpyJVoFwRg",
                                "leo": 0,
                                "log_start": 0,
                                "leader_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Names the partitions that changed since the fetch before, maybe none.
    Message(
        id="F-30",
        kind=Kind.LEO,
        literal=("Error in response for fetch request ", "Error in fetch "),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.10",
                regex=(rf"^{FETCHER_OLD}Error in fetch (?:kafka|Name: FetchRequest)"),
                source_ref="0.10.2.2 AbstractFetcherThread",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2], Error in fetch "
                        "kafka.server.ReplicaFetcherThread$FetchRequest@62123375",
                        (),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-3], Error in fetch Name: FetchRequest; Version: 0; CorrelationId: "
                        "651; ClientId: ReplicaFetcherThread-0-3; ReplicaId: 1; MaxWait: 500 ms; MinBytes: 1 bytes; "
                        "RequestInfo: [orders,0] -> PartitionFetchInfo(1740,1048576). Possible cause: "
                        "java.nio.channels.ClosedChannelException",
                        (),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(rf"^{FETCHER_OLD}Error in fetch to broker [0-9]+, request \("),
                source_ref="0.11.0.2 AbstractFetcherThread",
                fixed={"detail": "fetch request failed"},
                each=(_FETCH_DATA,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-1]: Error in fetch to broker 1, request (type=FetchRequest, "
                        "replicaId=3, maxWait=20000, minBytes=1, maxBytes=10485760, fetchData={orders-0=(offset=112, "
                        "logStartOffset=0, maxBytes=1048576)})",
                        ({"detail": "fetch request failed", "leader": 1, **ORDERS, "leo": 112, "log_start": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(rf"^{FETCHER}Error in (?:response for fetch request|fetch to broker [0-9]+, request) \("),
                source_ref="2.4.1 AbstractFetcherThread:290",
                fixed={"detail": "fetch request failed"},
                each=(_FETCH_DATA,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error in response for fetch request "
                        "(type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-1=(offset=300, logStartOffset=0, maxBytes=1048576)}, "
                        "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=1517771001, epoch=INITIAL))",
                        (
                            {
                                "detail": "fetch request failed",
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 1,
                                "leo": 300,
                                "log_start": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response for fetch request "
                        "(type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-0=PartitionData(topicId=3g8GC8UnTCSU8LMOtSFMkg, fetchOffset=475, "
                        "logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[3], "
                        "lastFetchedEpoch=Optional[1])}, isolationLevel=read_uncommitted, removed=, replaced=, "
                        "metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)",
                        (
                            {
                                "detail": "fetch request failed",
                                "witness": 1,
                                "leader": 2,
                                **ORDERS,
                                "topic_id": "3g8GC8UnTCSU8LMOtSFMkg",
                                "leo": 475,
                                "log_start": 0,
                                "leader_epoch": 3,
                                "previous_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Error in response for fetch request "
                        "(type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, "
                        "fetchData={orders-0=PartitionData(topicId=AAAAAAAAAAAAAAAAAAAAAA, fetchOffset=2706, "
                        "logStartOffset=0, maxBytes=1048576, currentLeaderEpoch=Optional[9], "
                        "lastFetchedEpoch=Optional[8])}, isolationLevel=READ_UNCOMMITTED, removed=, replaced=, "
                        "metadata=(sessionId=INVALID, epoch=INITIAL), rackId=)",
                        (
                            {
                                "detail": "fetch request failed",
                                "witness": 3,
                                "leader": 1,
                                **ORDERS,
                                "topic_id": NO_TOPIC_ID,
                                "leo": 2706,
                                "log_start": 0,
                                "leader_epoch": 9,
                                "previous_epoch": 8,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error in response for fetch request "
                        "(type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, "
                        "isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=168228739, "
                        "epoch=36), rackId=)",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Fetching, in the order of one round."""
