"""``kafka.cluster.Partition``: what the leader records of its followers, and how its high watermark moves."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LIST, NAME, ORDERS, PARTITION, PARTITION_OLD, known, metadata
from parsers.schema import Kind

_REPLICA_LEO = Each(rf"replica (?P<replica>[0-9]+): {metadata('leo')}", Kind.REMOTE_LEO)
_BROKER_ACKED = Each(r"broker (?P<replica>[0-9]+): (?P<leo>[0-9]+)")
_REPLICA_ACKED = Each(_REPLICA_LEO.regex)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="P-10",
        kind=Kind.REMOTE_LEO,
        literal=" log end offset (LEO) position ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}Recorded replica (?P<replica>[0-9]+) log end offset \(LEO\) position "
                    rf"{known('leo')}(?:\.| for)"
                ),
                source_ref="0.10.2.2 Partition:243, 0.11.0.2 Partition:271",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: Recorded replica 2 log end offset (LEO) position 50 for "
                        "partition orders-0.",
                        ({**ORDERS, "witness": 3, "replica": 2, "leo": 50},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Recorded replica 2 log end offset (LEO) position 50.",
                        ({**ORDERS, "witness": 3, "replica": 2, "leo": 50},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{PARTITION}Recorded replica (?P<replica>[0-9]+) log end offset \(LEO\) position "
                    rf"{known('leo')}(?: and log start offset {known('log_start')})?\."
                ),
                source_ref="1.1.1 Partition:357, 2.4.1 Partition:637, 3.6.2 Partition:899",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Recorded replica 1 log end offset (LEO) position 30.",
                        ({**ORDERS, "witness": 2, "replica": 1, "leo": 30},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=2] Recorded replica 1 log end offset (LEO) position 10 and log "
                        "start offset 0.",
                        ({**ORDERS, "witness": 2, "replica": 1, "leo": 10, "log_start": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-13",
        kind=Kind.HW,
        literal=("High watermark for partition [", "] High watermark updated ", ": High watermark updated to "),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.10",
                regex=rf"^{PARTITION_OLD}High watermark for partition \[[^\]]+\] updated to {metadata('hw')}",
                source_ref="0.10.2.2 Partition:369",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: High watermark for partition [orders,0] updated to "
                        "90 [0 : 3310]",
                        ({**ORDERS, "witness": 3, "hw": 90},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=rf"^{PARTITION_OLD}High watermark updated to {metadata('hw')}",
                source_ref="0.11.0.2 Partition:391",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: High watermark updated to 1 [0 : 70]",
                        ({**ORDERS, "witness": 1, "hw": 1},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 1: High watermark updated to 43 [0 : 3012]",
                        ({**ORDERS, "witness": 1, "hw": 43},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.3",
                regex=rf"^{PARTITION}High watermark updated to {metadata('hw')}",
                source_ref="2.1.1 Partition:597",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] High watermark updated to 31 [0 : 2190]",
                        ({**ORDERS, "witness": 2, "hw": 31},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] High watermark updated to (offset=43 segment=[0:3012])",
                        ({**ORDERS, "witness": 1, "hw": 43},),
                    ),
                ),
            ),
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{PARTITION}High watermark updated from {metadata('hw_before')} to {metadata('hw')}",
                source_ref="2.4.1 Partition:784, 3.6.2 Partition:1126",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] High watermark updated from (offset=10 segment=[0:700]) to "
                        "(offset=11 segment=[0:770])",
                        ({**ORDERS, "witness": 2, "hw_before": 10, "hw": 11},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] High watermark updated from (offset=41segment=[0:2911]) to "
                        "(offset=42segment=[0:2983])",
                        ({**ORDERS, "witness": 1, "hw_before": 41, "hw": 42},),
                    ),
                    Example(
                        "[Partition orders-0 broker=2] High watermark updated from (offset=10, segment=[0:700]) to "
                        "(offset=11, segment=[0:770])",
                        ({**ORDERS, "witness": 2, "hw_before": 10, "hw": 11},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-16",
        kind=Kind.HW_HELD,
        literal="Skipping update high watermark since ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.10",
                regex=(
                    rf"^{PARTITION_OLD}Skipping update high watermark since Old hw {metadata('hw')} is larger than "
                    r"new hw .* for partition \[[^\]]+\]\. All leo's are (?P<detail>.*)"
                ),
                source_ref="0.10.2.2 Partition:372",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: Skipping update high watermark since Old hw 50 [0 : 1840] "
                        "is larger than new hw 50 [0 : 1840] for partition [orders,0]. All leo's are 50 [0 : 1840],"
                        "90 [0 : 3310]",
                        ({**ORDERS, "witness": 3, "hw": 50, "detail": "50 [0 : 1840],90 [0 : 3310]"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    r"^Partition \[(?P<bracketed>[^\]]+)\] on broker (?P<witness>[0-9]+): Skipping update high "
                    rf"watermark since new hw .* is not larger than old hw {metadata('hw')}\."
                    r"All LEOs are (?P<detail>.*)"
                ),
                source_ref="0.11.0.2 Partition:394",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Skipping update high watermark since new hw 0 [0 : 0] is "
                        "not larger than old hw 0 [0 : 0].All LEOs are 0 [0 : 0]",
                        ({**ORDERS, "witness": 1, "hw": 0, "detail": "0 [0 : 0]"},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 1: Skipping update high watermark since new hw 0 [0 : 0] is "
                        "not larger than old hw 0 [0 : 0].All LEOs are 0 [0 : 0],7 [0 : 252]",
                        ({**ORDERS, "witness": 1, "hw": 0, "detail": "0 [0 : 0],7 [0 : 252]"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="1.1",
                regex=(
                    rf"^{PARTITION}Skipping update high watermark since new hw .* is not larger than "
                    rf"old hw {metadata('hw')}\.All LEOs are (?P<detail>.*)"
                ),
                source_ref="1.1.1 Partition:477",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Skipping update high watermark since new hw -1 [0 : 0] is not "
                        "larger than old hw 0 [0 : 0].All LEOs are 0 [0 : 0],-1 [0 : 0]",
                        ({**ORDERS, "witness": 1, "hw": 0, "detail": "0 [0 : 0],-1 [0 : 0]"},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="2.0",
                until="2.3",
                regex=(
                    rf"^{PARTITION}Skipping update high watermark since new hw .* is not larger than "
                    r"old hw .*\. All current LEOs are "
                ),
                source_ref="2.0.1 Partition:521",
                each=(Each(rf"old hw {metadata('hw')}\. All current LEOs are (?P<detail>.*)"), _REPLICA_LEO),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Skipping update high watermark since new hw (offset=10 "
                        "segment=[0:700]) is not larger than old hw (offset=10 segment=[0:700]). All current LEOs "
                        "are Set(replica 1: (offset=10 segment=[0:700]))",
                        (
                            {**ORDERS, "witness": 2, "hw": 10, "detail": "Set(replica 1: (offset=10 segment=[0:700]))"},
                            {"kind": "remote_leo", **ORDERS, "witness": 2, "replica": 1, "leo": 10},
                        ),
                    ),
                ),
            ),
            # From 2.4 the old value is not printed; the log end offsets are, the leader's own among them.
            Variant(
                since="2.4",
                until=None,
                regex=(
                    rf"^{PARTITION}Skipping update high watermark since new hw .* is not larger than old value\. "
                    r"All current LEOs are "
                ),
                source_ref="2.4.1 Partition:795, 3.6.2 Partition:1137",
                each=(Each(r"All current LEOs are (?P<detail>.*)"), _REPLICA_LEO),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Skipping update high watermark since new hw (offset=10 "
                        "segment=[0:700]) is not larger than old value. All current LEOs are Set(replica 1: "
                        "(offset=-1 segment=[0:0]), replica 2: (offset=10 segment=[0:700]))",
                        (
                            {
                                **ORDERS,
                                "witness": 2,
                                "detail": "Set(replica 1: (offset=-1 segment=[0:0]), "
                                "replica 2: (offset=10 segment=[0:700]))",
                            },
                            {"kind": "remote_leo", **ORDERS, "witness": 2, "replica": 1},
                            {"kind": "remote_leo", **ORDERS, "witness": 2, "replica": 2, "leo": 10},
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-20",
        kind=Kind.HW_HELD,
        literal="Not increasing HWM because partition is under min ISR(ISR=",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="3.7",
                until=None,
                regex=(
                    rf"^{PARTITION}Not increasing HWM because partition is under min ISR\(ISR="
                    rf"(?P<isr>{LIST}|[0-9,]*)"
                ),
                source_ref="3.7.1 Partition, trunk Partition:1176",
                fixed={"detail": "under min ISR"},
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] Not increasing HWM because partition is under min ISR"
                        "(ISR=Set(1)",
                        ({**ORDERS, "witness": 1, "isr": "1", "detail": "under min ISR"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-21",
        kind=Kind.ACKS_AWAITED,
        literal="Progress awaiting ISR acks for offset ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=rf"^{PARTITION}Progress awaiting ISR acks for offset [0-9]+: acked: ",
                source_ref="2.4.1 Partition:730, 3.6.2 Partition:1058",
                each=(_BROKER_ACKED, _REPLICA_ACKED),
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-1 broker=3] Progress awaiting ISR acks for offset 205: acked: "
                        "Set(broker 3: 205), awaiting Set(broker 1: -1)",
                        ({"topic": "orders", "partition": 1, "witness": 3, "replica": 3, "leo": 205},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=2] Progress awaiting ISR acks for offset 21: acked: Set(replica "
                        "2: (offset=21 segment=[0:1470])), awaiting Set(replica 1: (offset=20 segment=[0:1400]))",
                        (
                            {**ORDERS, "witness": 2, "replica": 2, "leo": 21},
                            {**ORDERS, "witness": 2, "replica": 1, "leo": 20},
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-22",
        kind=Kind.REMOTE_LEO,
        literal=" received offset ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=rf"^{PARTITION_OLD}Replica (?P<replica>[0-9]+) (?:of {NAME} )?received offset (?P<leo>[0-9]+)",
                source_ref="0.10.2.2 Partition:314",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: Replica 2 of orders-0 received offset 90",
                        ({**ORDERS, "witness": 3, "replica": 2, "leo": 90},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="1.1",
                regex=rf"^{PARTITION}Replica (?P<replica>[0-9]+) received offset (?P<leo>[0-9]+)",
                source_ref="1.1.1 Partition:415",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Replica 1 received offset 41",
                        ({**ORDERS, "witness": 2, "replica": 1, "leo": 41},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
)
"""Log end offsets of followers and the high watermark they allow."""
