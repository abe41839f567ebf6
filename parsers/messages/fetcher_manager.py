"""``kafka.server.ReplicaFetcherManager``: which partitions are fetched, from which leader, from which offset."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import BROKER_END_POINT, EITHER, FETCHER_MANAGER, NAME, ORDERS, TP
from parsers.schema import Kind

_ADDED_OLD = Each(
    rf"\[{EITHER}, initOffset (?P<offset>-?[0-9]+) to broker "
    r"(?:BrokerEndPoint\(|id:)(?P<leader>[0-9]+),"
)
_ADDED_WITH_EPOCH = Each(rf"{TP} -> \(offset=(?P<offset>-?[0-9]+), leaderEpoch=(?P<leader_epoch>-?[0-9]+)\)")
_ADDED = Each(
    rf"{TP} -> InitialFetchState\((?:(?:Some\((?P<topic_id>{NAME})\)|None),)?{BROKER_END_POINT},"
    r"(?P<leader_epoch>-?[0-9]+),(?P<offset>-?[0-9]+)\)"
)
_REMOVED = Each(rf"(?P<tp>{NAME}-[0-9]+)")
_REMOVED_OLD = Each(r"\[(?P<bracketed>[a-zA-Z0-9._-]+,[0-9]+)\]")

MESSAGES: tuple[Message, ...] = (
    # The offset: own log end after the truncation up to 0.10, before it up to 1.0, own high watermark in 1.1 and 2.0.
    Message(
        id="FM-1",
        kind=Kind.FETCHER_ADDED,
        literal="Added fetcher for partitions ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="2.0",
                regex=(rf"^{FETCHER_MANAGER}Added fetcher for partitions "),
                source_ref="0.10.2.2 AbstractFetcherManager:94",
                each=(_ADDED_OLD,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherManager on broker 3] Added fetcher for partitions List([orders-0, initOffset "
                        "0 to broker BrokerEndPoint(1,127.0.0.1,19001)] , [orders-1, initOffset 0 to broker "
                        "BrokerEndPoint(2,127.0.0.1,19002)] )",
                        (
                            {"witness": 3, **ORDERS, "offset": 0, "leader": 1},
                            {"witness": 3, "topic": "orders", "partition": 1, "offset": 0, "leader": 2},
                        ),
                        "real",
                    ),
                    Example("[ReplicaFetcherManager on broker 3] Added fetcher for partitions List()", (), "real"),
                    Example(
                        "[ReplicaFetcherManager on broker 1] Added fetcher for partitions List([[orders,0], "
                        "initOffset 50 to broker id:2,host:127.0.0.1,port:31002] )",
                        ({"witness": 1, **ORDERS, "offset": 50, "leader": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The offset: own high watermark up to 2.6; since 2.7 own end where an epoch is known and the protocol allows it.
    Message(
        id="FM-2",
        kind=Kind.FETCHER_ADDED,
        literal="Added fetcher to broker ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=(
                    rf"^{FETCHER_MANAGER}Added fetcher to broker (?:BrokerEndPoint\(id=)?(?P<leader>-?[0-9]+)[^ "
                    rf"]*(?: host=[^ ]*)? for partitions "
                ),
                source_ref="2.1.1 AbstractFetcherManager:155, 2.5.1 AbstractFetcherManager:156, 2.8.2 "
                "AbstractFetcherManager:157",
                each=(_ADDED_WITH_EPOCH, _ADDED),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherManager on broker 2] Added fetcher to broker BrokerEndPoint(id=1, "
                        "host=h1:9092) for partitions Map(orders-0 -> (offset=7, leaderEpoch=3))",
                        ({"witness": 2, "leader": 1, **ORDERS, "offset": 7, "leader_epoch": 3},),
                    ),
                    Example(
                        "[ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions Map(orders-0 "
                        "-> (offset=7, leaderEpoch=3))",
                        ({"witness": 2, "leader": 1, **ORDERS, "offset": 7, "leader_epoch": 3},),
                    ),
                    Example(
                        "[ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions Map(orders-0 "
                        "-> InitialFetchState(BrokerEndPoint(id=1, host=127.0.0.1:19001),0,0))",
                        ({"witness": 2, "leader": 1, **ORDERS, "leader_epoch": 0, "offset": 0},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherManager on broker 2] Added fetcher to broker 3 for partitions "
                        "HashMap(orders-0 -> InitialFetchState(Some(0o7OajTjRge1bGbhVFK9Pw),BrokerEndPoint(id=3, "
                        "host=127.0.0.1:19003),1,20), purged-0 -> "
                        "InitialFetchState(Some(gVALHyhWRNOLVG3R7J71Bg),BrokerEndPoint(id=3, "
                        "host=127.0.0.1:19003),0,50))",
                        (
                            {
                                "witness": 2,
                                "leader": 3,
                                **ORDERS,
                                "topic_id": "0o7OajTjRge1bGbhVFK9Pw",
                                "leader_epoch": 1,
                                "offset": 20,
                            },
                            {
                                "witness": 2,
                                "leader": 3,
                                "topic": "purged",
                                "partition": 0,
                                "topic_id": "gVALHyhWRNOLVG3R7J71Bg",
                                "leader_epoch": 0,
                                "offset": 50,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherManager on broker 3] Added fetcher to broker 2 for partitions "
                        "HashMap(orders-1 -> InitialFetchState(Some(NfAogHojQdanhIkLA2kzpA),BrokerEndPoint[id=2, "
                        "host=127.0.0.1, port=19002],0,0))",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "topic": "orders",
                                "partition": 1,
                                "topic_id": "NfAogHojQdanhIkLA2kzpA",
                                "leader_epoch": 0,
                                "offset": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="FM-5",
        kind=Kind.FETCHER_REMOVED,
        literal="Removed fetcher for partitions ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until=None,
                regex=(rf"^{FETCHER_MANAGER}Removed fetcher for partitions "),
                source_ref="2.4.1 AbstractFetcherManager:188",
                each=(_REMOVED, _REMOVED_OLD),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherManager on broker 3] Removed fetcher for partitions Set(orders-0, orders-1)",
                        ({"witness": 3, **ORDERS}, {"witness": 3, "topic": "orders", "partition": 1}),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherManager on broker 3] Removed fetcher for partitions orders-1,orders-0",
                        ({"witness": 3, "topic": "orders", "partition": 1}, {"witness": 3, **ORDERS}),
                        "real",
                    ),
                    Example("[ReplicaFetcherManager on broker 3] Removed fetcher for partitions ", (), "real"),
                ),
            ),
        ),
    ),
    # Moves a log between directories: its lines are about a copy that is not the replica yet. Only the copy's existence
    # counts.
    Message(
        id="FM-9",
        kind=Kind.FETCHER_ADDED,
        literal=("[ReplicaAlterLogDirsThread-", "[ReplicaAlterLogDirsManager on broker "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=r"^\[ReplicaAlterLogDirsManager on broker [0-9]+\] Added fetcher ",
                source_ref="2.4.1 AbstractFetcherManager:146",
                own_row=False,
                each=(Each(rf"(?P<tp>{NAME}-[0-9]+)(?:, initOffset | -> )", Kind.LOG_COPIED),),
                examples=(
                    Example(
                        "[ReplicaAlterLogDirsManager on broker 1] Added fetcher for partitions List([orders-0, "
                        "initOffset 0 to broker BrokerEndPoint(1,localhost,-1)] )",
                        ({**ORDERS, "kind": "log_copied"},),
                        "real",
                    ),
                    Example("[ReplicaAlterLogDirsManager on broker 1] Added fetcher for partitions List()", (), "real"),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=(r"^\[ReplicaAlterLogDirs(?:Thread-|Manager on broker )[0-9]+\]:? "),
                source_ref="2.4.1 ReplicaAlterLogDirsThread",
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaAlterLogDirsManager on broker 3] Removed fetcher for partitions Set(orders-0)",
                        (),
                        "real",
                    ),
                    Example(
                        "[ReplicaAlterLogDirsThread-0]: Truncating partition orders-0 to local high watermark 0", ()
                    ),
                ),
            ),
        ),
    ),
)
"""Fetchers started and stopped."""
