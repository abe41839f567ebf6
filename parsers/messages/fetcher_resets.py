"""``kafka.server.ReplicaFetcherThread``: a fetch offset that the leader does not have."""

from __future__ import annotations

from parsers.details import FROM_REMOTE
from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import EITHER, FETCHER, FETCHER_OLD, NAME, ORDERS, TP
from parsers.schema import Kind

_RESET_OLD = Each(
    r"for partition \[?(?P<topic>[a-zA-Z0-9._-]+)[,-](?P<partition>[0-9]+)\]? reset its fetch offset from "
    r"(?P<offset>[0-9]+) to current leader [0-9]+'s (?:latest offset (?P<leo>[0-9]+)|start offset "
    r"(?P<log_start>[0-9]+))"
)

_SET = Each(r"eset (?:fetch )?offset to (?P<leo>[0-9]+)", Kind.FETCH_OFFSET_SET)
_SET_TO_OWN = Each(r"current local replica's end offset (?P<leo>[0-9]+)", Kind.FETCH_OFFSET_SET)
_REFUSED = Each(
    r"latest offset (?P<leo>[0-9]+) is less than replica(?: [0-9]+)?'s latest offset (?P<offset>[0-9]+)",
    Kind.TRUNCATION_REFUSED,
)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="F-06",
        kind=Kind.FETCH_RESET,
        literal=(
            " out of range; reset offset to ",
            " is out of range, which typically implies a leader change. Reset fetch offset to ",
            " is out of range or moved to remote tier. Reset fetch offset to ",
        ),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Current offset (?P<offset>[0-9]+) for partition \[(?P<bracketed>[^\]]+)\] "
                    rf"(?P<detail>out of range; reset offset to [0-9]+)"
                ),
                source_ref="0.10.2.2 AbstractFetcherThread:177",
                each=(_SET,),
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2], Current offset 70 for partition [orders,0] out of range; reset "
                        "offset to 56",
                        (
                            {"leader": 2, "offset": 70, **ORDERS, "detail": "out of range; reset offset to 56"},
                            {
                                "kind": "fetch_offset_set",
                                "leader": 2,
                                "offset": 70,
                                **ORDERS,
                                "detail": "out of range; reset offset to 56",
                                "leo": 56,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2], Current offset 50 for partition [orders,0] out of range; reset "
                        "offset to 30",
                        (
                            {"leader": 2, "offset": 50, **ORDERS, "detail": "out of range; reset offset to 30"},
                            {
                                "kind": "fetch_offset_set",
                                "leader": 2,
                                "offset": 50,
                                **ORDERS,
                                "detail": "out of range; reset offset to 30",
                                "leo": 30,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Current offset (?P<offset>[0-9]+) for partition {TP} (?:is )?(?P<detail>out of "
                    rf"range.*)"
                ),
                source_ref="1.0.2 AbstractFetcherThread:211, 2.4.1 AbstractFetcherThread:534",
                each=(_SET,),
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Current offset 30 for partition "
                        "orders-0 is out of range, which typically implies a leader change. Reset fetch offset to 24",
                        (
                            {
                                "witness": 1,
                                "leader": 2,
                                "offset": 30,
                                **ORDERS,
                                "detail": "out of range, which typically implies a leader change. Reset fetch offset "
                                "to 24",
                            },
                            {
                                "kind": "fetch_offset_set",
                                "witness": 1,
                                "leader": 2,
                                "offset": 30,
                                **ORDERS,
                                "detail": "out of range, which typically implies a leader change. Reset fetch offset "
                                "to 24",
                                "leo": 24,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Current offset 50 for partition "
                        "orders-0 is out of range or moved to remote tier. Reset fetch offset to 60",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "offset": 50,
                                **ORDERS,
                                "detail": "out of range or moved to remote tier. Reset fetch offset to 60",
                            },
                            {
                                "kind": "fetch_offset_set",
                                "witness": 3,
                                "leader": 2,
                                "offset": 50,
                                **ORDERS,
                                "detail": "out of range or moved to remote tier. Reset fetch offset to 60",
                                "leo": 60,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Current offset 50 for partition "
                        "orders-0 is out of range, which typically implies a leader change. Reset fetch offset to 30",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                "offset": 50,
                                **ORDERS,
                                "detail": "out of range, which typically implies a leader change. Reset fetch offset "
                                "to 30",
                            },
                            {
                                "kind": "fetch_offset_set",
                                "witness": 3,
                                "leader": 2,
                                "offset": 50,
                                **ORDERS,
                                "detail": "out of range, which typically implies a leader change. Reset fetch offset "
                                "to 30",
                                "leo": 30,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-07",
        kind=Kind.FETCH_RESET,
        literal=(" reset its fetch offset from ", "Reset fetch offset for partition "),
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}Replica (?P<witness>[0-9]+) for partition (?:\[[^\]]+\]|{NAME}) reset its fetch "
                    rf"offset from "
                ),
                source_ref="0.10.2.2 ReplicaFetcherThread:189, ReplicaFetcherThread:218",
                each=(_RESET_OLD,),
                own_row=False,
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2], Replica 1 for partition orders-0 reset its fetch offset from 70 "
                        "to current leader 2's latest offset 56",
                        ({"leader": 2, "witness": 1, **ORDERS, "offset": 70, "leo": 56},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2]: Replica 3 for partition orders-0 reset its fetch offset from 50 "
                        "to current leader 2's latest offset 30",
                        ({"leader": 2, "witness": 3, **ORDERS, "offset": 50, "leo": 30},),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2], Replica 3 for partition [orders,0] reset its fetch offset from "
                        "50 to current leader 2's start offset 30",
                        ({"leader": 2, "witness": 3, **ORDERS, "offset": 50, "log_start": 30},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{FETCHER}Reset fetch offset for partition {TP} from (?P<offset>[0-9]+) to (?:the )?current "
                    rf"leader's (?:latest offset (?P<leo>[0-9]+)|start offset (?P<log_start>[0-9]+))"
                ),
                source_ref="1.1.1 ReplicaFetcherThread:175, 2.4.1 AbstractFetcherThread:599, 3.6.2 "
                "AbstractFetcherThread:652",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch offset for partition "
                        "orders-0 from 30 to current leader's latest offset 24",
                        ({"witness": 1, "leader": 2, **ORDERS, "offset": 30, "leo": 24},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Reset fetch offset for partition "
                        "orders-0 from 50 to current leader's latest offset 30",
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 50, "leo": 30},),
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Reset fetch offset for partition "
                        "orders-0 from 50 to current leader's start offset 60",
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 50, "log_start": 60},),
                    ),
                ),
            ),
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{FETCHER}Reset fetch offset for partition {TP} from (?P<offset>[0-9]+) to the "
                    rf"(?P<detail>current local replica's end offset [0-9]+)"
                ),
                source_ref="3.6.2 AbstractFetcherThread:691",
                each=(_SET_TO_OWN,),
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Reset fetch offset for partition "
                        "orders-0 from 50 to the current local replica's end offset 60",
                        (
                            {
                                "witness": 3,
                                "leader": 2,
                                **ORDERS,
                                "offset": 50,
                                "detail": "current local replica's end offset 60",
                            },
                            {
                                "kind": "fetch_offset_set",
                                "witness": 3,
                                "leader": 2,
                                **ORDERS,
                                "offset": 50,
                                "detail": "current local replica's end offset 60",
                                "leo": 60,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-09",
        kind=Kind.TRUNCATE_FULL,
        literal="Truncate fully and reset fetch offset for partition ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{FETCHER}Truncate fully and reset fetch offset for partition {TP} from [0-9]+ to the current "
                    rf"leader's start offset (?P<offset>(?P<leo>(?P<log_start>[0-9]+)))"
                ),
                source_ref="3.6.2 AbstractFetcherThread:686",
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Truncate fully and reset fetch offset "
                        "for partition orders-0 from 20 to the current leader's start offset 132 because the local "
                        "replica's end offset is smaller than the current leader's start offsets.",
                        ({"witness": 3, "leader": 1, **ORDERS, "offset": 132, "leo": 132, "log_start": 132},),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Truncate fully and reset fetch offset "
                        "for partition orders-0 from 50 to the current leader's start offset 60 because the local "
                        "replica's end offset is smaller than the current leader's start offsets.",
                        ({"witness": 3, "leader": 2, **ORDERS, "offset": 60, "leo": 60, "log_start": 60},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-33a",
        kind=Kind.TRUNCATE_FULL,
        literal="Updated the epoch cache from remote tier till offset: ",
        level="INFO",
        stock=True,
        variants=(
            # At DEBUG before 3.8. What is below stays in remote storage (KIP-405).
            Variant(
                since="3.6",
                until=None,
                regex=(
                    r"^(?:\[[^\]]+\]:? )?Updated the epoch cache from remote tier till offset: "
                    r"(?P<offset>(?P<leo>[0-9]+)) with size: [0-9]+ for Topic: (?P<topic>[^ ;]+); Partition: "
                    r"(?P<partition>[0-9]+);"
                ),
                source_ref="3.6.2 ReplicaFetcherTierStateMachine:239, 3.8.0 TierStateMachine:255",
                fixed={"detail": FROM_REMOTE},
                examples=(
                    Example(
                        "Updated the epoch cache from remote tier till offset: 120 with size: 1 for Topic: orders; "
                        "Partition: 0; Leader: Some(1); Replicas: 1,2,3; ISR: ; LeaderRecoveryState: RECOVERED",
                        ({**ORDERS, "offset": 120, "leo": 120, "detail": FROM_REMOTE},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="F-10",
        kind=Kind.FETCH_RESET,
        literal=" because log truncation is not allowed for ",
        level="ERROR",
        stock=True,
        variants=(
            # 0.8.2 to 0.10.0 name a topic without the partition.
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^{FETCHER_OLD}(?:Halting|Exiting) because log truncation is not allowed for (?:topic "
                    rf"[^ ,]+|partition {EITHER}), ?[Cc]urrent leader [0-9]+'s latest offset (?P<leo>[0-9]+) is "
                    r"less than replica (?P<witness>[0-9]+)'s latest offset (?P<offset>[0-9]+)"
                ),
                source_ref="0.8.2.2 ReplicaFetcherThread:95, 0.10.2.2 ReplicaFetcherThread:183",
                fixed={"detail": "the broker halts: unclean election is not allowed"},
                each=(_REFUSED,),
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2]: Exiting because log truncation is not allowed for partition "
                        "orders-0, current leader 2's latest offset 30 is less than replica 3's latest offset 50",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                **ORDERS,
                                "leo": 30,
                                "witness": 3,
                                "offset": 50,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                **ORDERS,
                                "leo": 30,
                                "witness": 3,
                                "offset": 50,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Exiting because log truncation is not allowed for partition "
                        "[orders,0], Current leader 1's latest offset 5 is less than replica 2's latest offset 20",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 1,
                                **ORDERS,
                                "leo": 5,
                                "witness": 2,
                                "offset": 20,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 1,
                                **ORDERS,
                                "leo": 5,
                                "witness": 2,
                                "offset": 20,
                            },
                        ),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-1], Exiting because log truncation is not allowed for partition "
                        "orders-0, Current leader 1's latest offset 5 is less than replica 2's latest offset 20",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 1,
                                **ORDERS,
                                "leo": 5,
                                "witness": 2,
                                "offset": 20,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 1,
                                **ORDERS,
                                "leo": 5,
                                "witness": 2,
                                "offset": 20,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2], Halting because log truncation is not allowed for topic orders, "
                        "Current leader 2's latest offset 2051 is less than replica 3's latest offset 2391",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                "leo": 2051,
                                "witness": 3,
                                "offset": 2391,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                "leo": 2051,
                                "witness": 3,
                                "offset": 2391,
                            },
                        ),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="1.1",
                regex=(
                    rf"^{FETCHER}Exiting because log truncation is not allowed for partition {TP}, current leader's "
                    r"latest offset (?P<leo>[0-9]+) is less than replica's latest offset (?P<offset>[0-9]+)"
                ),
                source_ref="1.1.1 ReplicaFetcherThread:170",
                fixed={"detail": "the broker halts: unclean election is not allowed"},
                each=(_REFUSED,),
                examples=(
                    Example(
                        "[ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Exiting because log truncation is not "
                        "allowed for partition orders-0, current leader's latest offset 14 is less than replica's "
                        "latest offset 42",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "witness": 2,
                                "leader": 1,
                                **ORDERS,
                                "leo": 14,
                                "offset": 42,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "witness": 2,
                                "leader": 1,
                                **ORDERS,
                                "leo": 14,
                                "offset": 42,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            # As vendors' pages quote it, without the thread.
            Variant(
                since="0.10",
                until="0.11",
                regex=(
                    rf"^(?:Halting|Exiting) because log truncation is not allowed for partition {TP}, ?[Cc]urrent "
                    r"leader(?: (?P<leader>[0-9]+))?'s latest offset (?P<leo>[0-9]+) is less than "
                    r"replica(?: (?P<witness>[0-9]+))?'s latest offset (?P<offset>[0-9]+)"
                ),
                quoted=True,
                source_ref="0.10.2.2 ReplicaFetcherThread:183",
                fixed={"detail": "the broker halts: unclean election is not allowed"},
                each=(_REFUSED,),
                examples=(
                    Example(
                        "Exiting because log truncation is not allowed for partition orders-0, Current leader 2's "
                        "latest offset 30 is less than replica 3's latest offset 50",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                **ORDERS,
                                "leo": 30,
                                "witness": 3,
                                "offset": 50,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                "leader": 2,
                                **ORDERS,
                                "leo": 30,
                                "witness": 3,
                                "offset": 50,
                            },
                        ),
                    ),
                    Example(
                        "Exiting because log truncation is not allowed for partition orders-0, current leader's latest "
                        "offset 30 is less than replica's latest offset 50",
                        (
                            {
                                "detail": "the broker halts: unclean election is not allowed",
                                **ORDERS,
                                "leo": 30,
                                "offset": 50,
                            },
                            {
                                "kind": "truncation_refused",
                                "detail": "the broker halts: unclean election is not allowed",
                                **ORDERS,
                                "leo": 30,
                                "offset": 50,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Fetch offsets set back or forward."""
