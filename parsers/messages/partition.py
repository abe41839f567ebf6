"""``kafka.cluster.Partition``: what the leader of a partition prints, and what every replica prints on loading.

Inside one follower fetch the class updates the follower's state, then the ISR, then the high watermark, and prints the
recorded log end offset last: a high watermark line comes *before* the line that explains it.
"""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LIST, NAME, PARTITION, PARTITION_OLD, known, metadata, number
from parsers.schema import Kind

_REPLICA_LEO = Each(rf"replica (?P<replica>[0-9]+): {metadata('leo')}", Kind.REMOTE_LEO)
_BROKER_LEO = Each(r"broker (?P<replica>[0-9]+): (?P<leo>[0-9]+)", Kind.REMOTE_LEO)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="P-01",
        kind=Kind.HW_MISSING,
        literal="No checkpointed highwatermark is found for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.9",
                until="0.11",
                regex=rf"^{PARTITION_OLD}No checkpointed highwatermark is found for partition ",
                source_ref="0.10.2.2 Partition:113",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: No checkpointed highwatermark is found for partition "
                        "orders-0",
                        ({"topic": "orders", "partition": 0, "witness": 3},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{PARTITION}No checkpointed highwatermark is found for partition ",
                source_ref="3.6.2 Partition:456",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] No checkpointed highwatermark is found for partition orders-0",
                        ({"topic": "orders", "partition": 0, "witness": 2},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-02",
        kind=Kind.HW_LOADED,
        literal="Log loaded for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{PARTITION}Log loaded for partition [^ ]+ with initial high watermark (?P<hw>[0-9]+)",
                source_ref="2.4.1 Partition:332, 3.6.2 Partition:460",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Log loaded for partition orders-0 with initial high watermark 0",
                        ({"topic": "orders", "partition": 0, "witness": 2, "hw": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-03",
        kind=Kind.BECOME_LEADER,
        literal=" starts at Leader Epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^{PARTITION_OLD}{NAME} starts at Leader Epoch {number('leader_epoch')} "
                    rf"from offset (?P<leo>[0-9]+)\. Previous Leader Epoch was: {number('previous_epoch')}"
                ),
                source_ref="0.11.0.2 Partition:184",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: orders-0 starts at Leader Epoch 2 from offset 112. "
                        "Previous Leader Epoch was: 1",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 3,
                                "leader_epoch": 2,
                                "leo": 112,
                                "previous_epoch": 1,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.3",
                regex=(
                    rf"^{PARTITION}{NAME} starts at Leader Epoch {number('leader_epoch')} "
                    rf"from offset (?P<leo>[0-9]+)\. Previous Leader Epoch was: {number('previous_epoch')}"
                ),
                source_ref="2.0.1 Partition:298",
                examples=(
                    Example(
                        "[Partition orders-2 broker=3] orders-2 starts at Leader Epoch 1 from offset 25. "
                        "Previous Leader Epoch was: 0",
                        (
                            {
                                "topic": "orders",
                                "partition": 2,
                                "witness": 3,
                                "leader_epoch": 1,
                                "leo": 25,
                                "previous_epoch": 0,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-04",
        kind=Kind.BECOME_LEADER,
        literal=" starts at leader epoch ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.4",
                until="2.5",
                regex=(
                    rf"^{PARTITION}{NAME} starts at leader epoch {number('leader_epoch')} from offset (?P<leo>[0-9]+) "
                    rf"with high watermark (?P<hw>[0-9]+)\. Previous leader epoch was {number('previous_epoch')}\."
                ),
                source_ref="2.4.1 Partition:509, 2.5.1 Partition:493",
                examples=(
                    Example(
                        "[Partition orders-0 broker=1] orders-0 starts at leader epoch 3 from offset 42 with high "
                        "watermark 40. Previous leader epoch was 2.",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 1,
                                "leader_epoch": 3,
                                "leo": 42,
                                "hw": 40,
                                "previous_epoch": 2,
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
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
                        ({"topic": "orders", "partition": 0, "witness": 3, "replica": 2, "leo": 50},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 3: Recorded replica 2 log end offset (LEO) position 50.",
                        ({"topic": "orders", "partition": 0, "witness": 3, "replica": 2, "leo": 50},),
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
                        ({"topic": "orders", "partition": 0, "witness": 2, "replica": 1, "leo": 30},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=2] Recorded replica 1 log end offset (LEO) position 10 and log "
                        "start offset 0.",
                        ({"topic": "orders", "partition": 0, "witness": 2, "replica": 1, "leo": 10, "log_start": 0},),
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
                since="0.9",
                until="0.10",
                regex=rf"^{PARTITION_OLD}High watermark for partition \[[^\]]+\] updated to {metadata('hw')}",
                source_ref="0.10.2.2 Partition:369",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 3: High watermark for partition [orders,0] updated to "
                        "90 [0 : 3310]",
                        ({"topic": "orders", "partition": 0, "witness": 3, "hw": 90},),
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
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw": 1},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 1: High watermark updated to 43 [0 : 3012]",
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw": 43},),
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
                        ({"topic": "orders", "partition": 0, "witness": 2, "hw": 31},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] High watermark updated to (offset=43 segment=[0:3012])",
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw": 43},),
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
                        ({"topic": "orders", "partition": 0, "witness": 2, "hw_before": 10, "hw": 11},),
                        "real",
                    ),
                    Example(
                        "[Partition orders-0 broker=1] High watermark updated from (offset=41segment=[0:2911]) to "
                        "(offset=42segment=[0:2983])",
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw_before": 41, "hw": 42},),
                    ),
                    Example(
                        "[Partition orders-0 broker=2] High watermark updated from (offset=10, segment=[0:700]) to "
                        "(offset=11, segment=[0:770])",
                        ({"topic": "orders", "partition": 0, "witness": 2, "hw_before": 10, "hw": 11},),
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
                since="0.9",
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
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 3,
                                "hw": 50,
                                "detail": "50 [0 : 1840],90 [0 : 3310]",
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
                    r"^Partition \[(?P<bracketed>[^\]]+)\] on broker (?P<witness>[0-9]+): Skipping update high "
                    rf"watermark since new hw .* is not larger than old hw {metadata('hw')}\."
                    r"All LEOs are (?P<detail>.*)"
                ),
                source_ref="0.11.0.2 Partition:394",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Skipping update high watermark since new hw 0 [0 : 0] is "
                        "not larger than old hw 0 [0 : 0].All LEOs are 0 [0 : 0]",
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw": 0, "detail": "0 [0 : 0]"},),
                        "real",
                    ),
                    Example(
                        "Partition [orders,0] on broker 1: Skipping update high watermark since new hw 0 [0 : 0] is "
                        "not larger than old hw 0 [0 : 0].All LEOs are 0 [0 : 0],7 [0 : 252]",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 1,
                                "hw": 0,
                                "detail": "0 [0 : 0],7 [0 : 252]",
                            },
                        ),
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
                        ({"topic": "orders", "partition": 0, "witness": 1, "hw": 0, "detail": "0 [0 : 0],-1 [0 : 0]"},),
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
                            {
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "hw": 10,
                                "detail": "Set(replica 1: (offset=10 segment=[0:700]))",
                            },
                            {
                                "kind": "remote_leo",
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "replica": 1,
                                "leo": 10,
                            },
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
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "detail": "Set(replica 1: (offset=-1 segment=[0:0]), "
                                "replica 2: (offset=10 segment=[0:700]))",
                            },
                            {"kind": "remote_leo", "topic": "orders", "partition": 0, "witness": 2, "replica": 1},
                            {
                                "kind": "remote_leo",
                                "topic": "orders",
                                "partition": 0,
                                "witness": 2,
                                "replica": 2,
                                "leo": 10,
                            },
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
                        ({"topic": "orders", "partition": 0, "witness": 1, "isr": "1", "detail": "under min ISR"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-21",
        kind=Kind.REMOTE_LEO,
        literal="Progress awaiting ISR acks for offset ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=rf"^{PARTITION}Progress awaiting ISR acks for offset [0-9]+: acked: ",
                source_ref="2.4.1 Partition:730, 3.6.2 Partition:1058",
                each=(_BROKER_LEO, _REPLICA_LEO),
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
                            {"topic": "orders", "partition": 0, "witness": 2, "replica": 2, "leo": 21},
                            {"topic": "orders", "partition": 0, "witness": 2, "replica": 1, "leo": 20},
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
                        ({"topic": "orders", "partition": 0, "witness": 3, "replica": 2, "leo": 90},),
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
                        ({"topic": "orders", "partition": 0, "witness": 2, "replica": 1, "leo": 41},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="P-50",
        kind=Kind.TRUNCATE_FULL,
        literal="first record to be appended to the ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{PARTITION}Unexpected offset in append to {NAME}\. First offset [0-9]+ is less than log start "
                    r"offset [0-9]+\. Since this is the first record to be appended to the follower's log, "
                    r"will start the log from offset (?P<offset>[0-9]+)\."
                ),
                source_ref="1.1.1 Partition:586, 3.6.2 Partition:1289",
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Unexpected offset in append to orders-0. First offset 40 is "
                        "less than log start offset 42. Since this is the first record to be appended to the "
                        "follower's log, will start the log from offset 40.",
                        ({"topic": "orders", "partition": 0, "witness": 2, "offset": 40},),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=rf"^{PARTITION}Unexpected offset in append to .* to be appended to the future replica's log",
                source_ref="3.6.2 Partition:1289",
                own_row=False,
                examples=(
                    Example(
                        "[Partition orders-0 broker=2] Unexpected offset in append to orders-0. First offset 40 is "
                        "less than log start offset 42. Since this is the first record to be appended to the "
                        "future replica's log, will start the log from offset 40.",
                        (),
                    ),
                ),
            ),
        ),
    ),
)
"""High watermark, log end offsets and leadership, in the order of the knowledge they give."""
