"""``kafka.log.Log`` (up to 3.0), ``UnifiedLog``, ``LocalLog``: end, truncation, high watermark, appends."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import LOG_PREFIX, ORDERS, TP, metadata
from parsers.schema import Kind

MESSAGES: tuple[Message, ...] = (
    Message(
        id="L-01",
        kind=Kind.LOG_LOADED,
        literal="Completed load of log ",
        level="INFO",
        stock=True,
        variants=(
            # A log that is being removed or moved: not the replica.
            Variant(
                since="0.10",
                until="0.11",
                regex=(r"^Completed load of log [^ ]*-delete with "),
                source_ref="0.11.0.2 Log",
                own_row=False,
                examples=(
                    Example(
                        "Completed load of log orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete with 1 log segments, "
                        "log start offset 0 and log end offset 7 in 3 ms",
                        (),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^Completed load of log {TP} with (?:(?P<detail>[0-9]+) log segments(?:,| and) )?"
                    r"(?:log start offset (?P<log_start>[0-9]+) and )?log end offset (?P<leo>[0-9]+)"
                ),
                source_ref="0.9.0.1 Log:97, 0.10.2.2 Log:122, 0.11.0.2 Log:200",
                examples=(
                    Example("Completed load of log orders-0 with log end offset 7", ({**ORDERS, "leo": 7},)),
                    Example(
                        "Completed load of log orders-0 with 1 log segments and log end offset 0 in 21 ms",
                        ({**ORDERS, "leo": 0, "detail": "1"},),
                        "real",
                    ),
                    Example(
                        "Completed load of log orders-0 with 1 log segments, log start offset 0 and log end offset 0 "
                        "in 13 ms",
                        ({**ORDERS, "log_start": 0, "leo": 0, "detail": "1"},),
                        "real",
                    ),
                ),
            ),
            # Also printed when a new, empty log is made.
            Variant(
                since="1.0",
                until="2.5",
                regex=(
                    rf"^{LOG_PREFIX}Completed load of log with (?P<detail>[0-9]+) segments, log start offset "
                    r"(?P<log_start>[0-9]+) and log end offset (?P<leo>[0-9]+)"
                ),
                source_ref="1.1.1 Log:230, 2.4.1 Log:316",
                examples=(
                    Example(
                        "[Log partition=orders-2, dir=/srv/kafka/broker-3/data] Completed load of log with 1 segments, "
                        "log start offset 0 and log end offset 0 in 20 ms",
                        (
                            {
                                "topic": "orders",
                                "partition": 2,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "log_start": 0,
                                "leo": 0,
                                "detail": "1",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-15",
        kind=Kind.MESSAGE_FORMAT,
        literal=("Loading producer state from offset ", "Loading producer state till offset "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^Loading producer state from offset (?P<leo>[0-9]+) for partition {TP} with message format "
                    r"version (?P<offset>[0-9]+)"
                ),
                source_ref="0.11.0.2 Log",
                examples=(
                    Example(
                        "Loading producer state from offset 0 for partition orders-0 with message format version 2",
                        ({**ORDERS, "leo": 0, "offset": 2},),
                        "real",
                    ),
                ),
            ),
            # Of the metadata log: a line about the node as a whole, so its row names no partition.
            Variant(
                since="2.7",
                until=None,
                regex=(
                    r"^\[[A-Za-z]*Log[A-Za-z]* partition=(?:__cluster_|@)metadata-0, dir=[^\]]+\] Loading producer "
                    r"state till offset [0-9]+"
                ),
                source_ref="2.8.2 Log:964, 3.6.2 UnifiedLog:2120, 4.1.1 UnifiedLog",
                own_row=False,
                each=(
                    Each(
                        r"dir=(?P<log_dir>[^\]]+)\] Loading producer state till offset (?P<leo>[0-9]+)",
                        Kind.METADATA_LOADED,
                    ),
                ),
                examples=(
                    Example(
                        "[LogLoader partition=__cluster_metadata-0, dir=/srv/kafka/broker-1/data] Loading producer "
                        "state till offset 104",
                        ({"kind": "metadata_loaded", "log_dir": "/srv/kafka/broker-1/data", "leo": 104},),
                        "real",
                    ),
                    Example(
                        "[Log partition=@metadata-0, dir=/tmp/kraft-logs] Loading producer state till offset 40 with "
                        "message format version 2",
                        ({"kind": "metadata_loaded", "log_dir": "/tmp/kraft-logs", "leo": 40},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.9",
                regex=(
                    rf"^{LOG_PREFIX}Loading producer state (?:from|till) offset (?P<leo>[0-9]+) with message format "
                    r"version (?P<offset>[0-9]+)"
                ),
                source_ref="1.1.1 Log:470, 2.8.2 Log:964, 3.6.2 UnifiedLog:2120",
                examples=(
                    Example(
                        "[LogLoader partition=orders-0, dir=/srv/kafka/broker-2/data] Loading producer state till "
                        "offset 0 with message format version 2",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-2/data", "leo": 0, "offset": 2},),
                        "real",
                    ),
                ),
            ),
            # Since 4.0 there is no other format to write (KIP-724).
            Variant(
                since="4.0",
                until=None,
                regex=rf"^{LOG_PREFIX}Loading producer state till offset (?P<leo>[0-9]+)",
                source_ref="4.1.1 UnifiedLog",
                fixed={"offset": 2},
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-1, dir=/srv/kafka/broker-3/data] Loading producer state till "
                        "offset 140",
                        (
                            {
                                "offset": 2,
                                "topic": "orders",
                                "partition": 1,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "leo": 140,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-20",
        kind=Kind.TRUNCATE,
        literal="Truncating log ",
        level="INFO",
        stock=True,
        variants=(
            # Up to 0.10 printed before the check whether there is anything to truncate; 0.11 prints it after.
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Truncating log {TP} to offset (?P<offset>[0-9]+)\.",
                source_ref="0.10.2.2 Log:881, 0.11.0.2 Log:1382",
                fixed={"detail": "may have no effect"},
                examples=(
                    Example(
                        "Truncating log orders-0 to offset 50.",
                        ({**ORDERS, "offset": 50, "detail": "may have no effect"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-21",
        kind=Kind.TRUNCATE,
        literal="] Truncating to offset ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{LOG_PREFIX}Truncating to offset (?P<offset>[0-9]+)",
                source_ref="1.1.1 Log:1504, 3.6.2 UnifiedLog:1724",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-1, dir=/srv/kafka/broker-3/data] Truncating to offset 140",
                        ({"topic": "orders", "partition": 1, "log_dir": "/srv/kafka/broker-3/data", "offset": 140},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # A target above the end up to 0.10, at or above it since 0.11. Prints the last offset, one less than the end.
    Message(
        id="L-22",
        kind=Kind.TRUNCATE_NOOP,
        literal=" has no effect as the largest offset in the log is ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^Truncating {TP} to (?P<offset>[0-9]+) has no effect as the largest offset in the log is "
                    r"(?P<last>-?[0-9]+)\."
                ),
                source_ref="0.10.2.2 Log:885, 0.11.0.2 Log:1379",
                examples=(
                    Example(
                        "Truncating orders-0 to 112 has no effect as the largest offset in the log is 111.",
                        ({**ORDERS, "offset": 112, "leo": 112},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Truncating to (?P<offset>[0-9]+) has no effect as the largest offset in the log is "
                    r"(?P<last>-?[0-9]+)"
                ),
                source_ref="1.1.1 Log, 3.6.2 UnifiedLog:1712",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/srv/kafka/broker-2/data] Truncating to 0 has no effect "
                        "as the largest offset in the log is -1",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-2/data", "offset": 0, "leo": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-23",
        kind=Kind.TRUNCATE_FULL,
        literal=("Truncate and start log '", "Truncate and start at offset "),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Truncate and start log '{TP}' (?:to|at offset) (?P<offset>(?P<leo>[0-9]+))",
                source_ref="0.10.2.2 Log:907, 0.11.0.2 Log:1405",
                examples=(Example("Truncate and start log 'orders-0' to 42", ({**ORDERS, "offset": 42, "leo": 42},)),),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Truncate and start at offset (?P<offset>(?P<leo>[0-9]+))"
                    r"(?:, logStartOffset: (?P<log_start>[0-9]+))?"
                ),
                source_ref="3.6.2 UnifiedLog:1753, LocalLog:561",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Truncate and start at offset 132",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "offset": 132,
                                "leo": 132,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/data] Truncate and start at offset 42, "
                        "logStartOffset: 42",
                        ({**ORDERS, "log_dir": "/data", "offset": 42, "leo": 42, "log_start": 42},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-30",
        kind=Kind.HW,
        literal="Setting high watermark (",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{LOG_PREFIX}Setting high watermark {metadata('hw')}",
                source_ref="2.4.1 Log:400, 3.6.2 UnifiedLog:383",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/srv/kafka/broker-2/data] Setting high watermark "
                        "(offset=0, segment=[-1:-1])",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-2/data", "hw": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-31",
        kind=Kind.HW_REGRESSED,
        literal="Non-monotonic update of high watermark from ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Non-monotonic update of high watermark from {metadata('hw_before')} to "
                    rf"{metadata('hw')}"
                ),
                source_ref="2.7.1 Log:439, 2.8.2 Log:481, 3.6.2 UnifiedLog:375",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-1/data] Non-monotonic update of high "
                        "watermark from (offset=15 segment=[0:806]) to (offset=10 segment=[0:700])",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-1/data", "hw_before": 15, "hw": 10},),
                        "real",
                    ),
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/srv/kafka/broker-1/data] Non-monotonic update of high "
                        "watermark from (offset=15, segment=[0:806]) to (offset=10, segment=[0:700])",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-1/data", "hw_before": 15, "hw": 10},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-32",
        kind=Kind.APPEND,
        literal="Appended message set ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^Appended message set to log {TP} with first offset: (?P<offset>-?[0-9]+), "
                    r"next offset: (?P<leo>[0-9]+),"
                ),
                source_ref="0.10.2.2 Log:435",
                examples=(
                    Example(
                        "Appended message set to log orders-0 with first offset: 0, next offset: 1, and messages: "
                        "[(offset=0,record=Record(magic = 1, attributes = 0, compression = NONE, crc = 1601273046, "
                        "CreateTime = 1795238925721, key = 0 bytes, value = 2 bytes))]",
                        ({**ORDERS, "offset": 0, "leo": 1},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Appended message set (?:to log )?with last offset:? -?[0-9]+,? first offset: "
                    r"[A-Za-z=(\[]*(?P<offset>-?[0-9]+)?.*?, next offset: (?P<leo>[0-9]+),"
                ),
                source_ref="1.0.2 Log:766, 1.1.1 Log:782, 2.4.1 Log:1218, 3.6.2 UnifiedLog:932",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Appended message set to log with last offset 4 "
                        "first offset: 0, next offset: 5, and messages: []",
                        ({**ORDERS, "log_dir": "/data", "offset": 0, "leo": 5},),
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Appended message set with last "
                        "offset: 0, first offset: 0, next offset: 1, and messages: [(record=DefaultRecord(offset=0, "
                        "timestamp=1795239013556, key=0 bytes, value=2 bytes))]",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-3/data", "offset": 0, "leo": 1},),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Appended message set with last offset: 4, first offset: "
                        "Some(0), next offset: 5, and messages: MemoryRecords(size=70)",
                        ({**ORDERS, "log_dir": "/data", "offset": 0, "leo": 5},),
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Appended message set with last offset: 4, first offset: "
                        "None, next offset: 5, and messages: MemoryRecords(size=70)",
                        ({**ORDERS, "log_dir": "/data", "leo": 5},),
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-2/data] Appended message set with last "
                        "offset: 0, first offset: Some((offset=0 segment=[0:0])), next offset: 1, and messages: "
                        "MemoryRecords(size=70, buffer=java.nio.HeapByteBuffer[pos=0 lim=70 cap=73])",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-2/data", "offset": 0, "leo": 1},),
                        "real",
                    ),
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/data] Appended message set with last offset: 4, first "
                        "offset: Optional[(offset=0segment=[0:0])], next offset: 5, and messages: MemoryRecords(..)",
                        ({**ORDERS, "log_dir": "/data", "offset": 0, "leo": 5},),
                    ),
                    Example(
                        "[UnifiedLog partition=orders-2, dir=/srv/kafka/broker-3/data] Appended message set with last "
                        "offset: 4, first offset: 0, next offset: 5, and messages: MemoryRecords(size=126, "
                        "buffer=java.nio.HeapByteBuffer[pos=0 lim=126 cap=129])",
                        (
                            {
                                "topic": "orders",
                                "partition": 2,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "offset": 0,
                                "leo": 5,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-34",
        kind=Kind.LOG_START,
        literal=("Incrementing log start offset ", "Incremented log start offset to ", " merged log start offset to "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^Incrementing log start offset of partition {TP} to (?P<log_start>[0-9]+) in dir "
                    r"(?P<log_dir>[^ ]+)"
                ),
                source_ref="0.11.0.2 Log:743",
                examples=(
                    Example(
                        "Incrementing log start offset of partition orders-0 to 30 in dir /data",
                        ({**ORDERS, "log_start": 30, "log_dir": "/data"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.5",
                regex=rf"^{LOG_PREFIX}Incrementing log start offset to (?P<log_start>[0-9]+)",
                source_ref="2.4.1 Log:1280",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Incrementing log start offset to 144",
                        ({"topic": "orders", "partition": 0, "log_dir": "/srv/kafka/broker-3/data", "log_start": 144},),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Incrementing log start offset to 30",
                        ({**ORDERS, "log_dir": "/data", "log_start": 30},),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Incremented log start offset to (?P<log_start>[0-9]+) due to "
                    r"(?:reason )?(?P<detail>.*)"
                ),
                source_ref="2.8.2 Log:1425, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "[UnifiedLog partition=purged-0, dir=/srv/kafka/broker-3/data] Incremented log start offset "
                        "to 30 due to client delete records request",
                        (
                            {
                                "topic": "purged",
                                "partition": 0,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "log_start": 30,
                                "detail": "client delete records request",
                            },
                        ),
                        "real",
                    ),
                ),
            ),
            # Confluent Server: with the segments that it keeps in tiered storage.
            Variant(
                since="2.4",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Incrementing merged log start offset to (?P<log_start>[0-9]+)"
                    r"(?: due to (?P<detail>.*))?"
                ),
                source_ref="Confluent Server 5.4 and 7.3, kafka.log.MergedLog",
                examples=(
                    Example(
                        "[MergedLog partition=orders-0, dir=/data] Incrementing merged log start offset to 30 due to "
                        "segment deletion",
                        ({**ORDERS, "log_dir": "/data", "log_start": 30, "detail": "segment deletion"},),
                    ),
                    Example(
                        "[MergedLog partition=orders-0, dir=/data] Incrementing merged log start offset to 30",
                        ({**ORDERS, "log_dir": "/data", "log_start": 30},),
                    ),
                ),
            ),
        ),
    ),
    # The log as a whole starts where it did: older records are in the remote tier.
    Message(
        id="L-35",
        kind=Kind.LOG_START,
        literal="Incremented local log start offset to ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="3.6",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Incremented local log start offset to (?P<offset>[0-9]+) due to reason "
                    r"(?P<detail>.*)"
                ),
                source_ref="3.6.2 UnifiedLog:984",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/data] Incremented local log start offset to 30 due to "
                        "reason segment deletion",
                        ({**ORDERS, "log_dir": "/data", "offset": 30, "detail": "segment deletion"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Messages of a log about its end, its high watermark and its start."""
