"""The log layer's segments: recovery after a crash, damage, rolling, deletion, flushing."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import LOG_PREFIX, ORDERS, TP
from parsers.schema import Kind

_PLACE: dict[str, int | str | None] = {**ORDERS, "log_dir": "/data"}
_SNAPSHOT = rf"\[ProducerStateManager partition={TP}\] "
_SEGMENT = r"LogSegment\(baseOffset=(?P<offset>[0-9]+)"

MESSAGES: tuple[Message, ...] = (
    # The offset is the end of the log at that moment.
    Message(
        id="L-38",
        kind=Kind.ROLLED,
        literal="Rolled new log segment ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Rolled new log segment for '{TP}' in",
                source_ref="0.10.2.2 Log:828",
                examples=(
                    Example("Rolled new log segment for 'orders-0' in 5 ms.", ({**ORDERS},), "real"),
                    Example("Rolled new log segment for 'orders-0' in 3 ms.", ({**ORDERS},)),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{LOG_PREFIX}Rolled new log segment at offset (?P<offset>[0-9]+)",
                source_ref="2.4.1 Log:1945, 3.6.2 LocalLog:547",
                examples=(
                    Example(
                        "[LocalLog partition=compacted-0, dir=/srv/kafka/broker-3/data] Rolled new log segment at "
                        "offset 40 in 5 ms.",
                        ({"topic": "compacted", "partition": 0, "log_dir": "/srv/kafka/broker-3/data", "offset": 40},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # Taken at a roll, on a clean stop and at recovery, up to the end of the log at that moment.
    Message(
        id="PS-01",
        kind=Kind.PRODUCER_SNAPSHOT,
        literal=("] Writing producer snapshot at offset ", "] Wrote producer snapshot at offset "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="1.0",
                until="2.8",
                regex=rf"^{_SNAPSHOT}Writing producer snapshot at offset (?P<offset>[0-9]+)",
                source_ref="1.1.1 ProducerStateManager",
                examples=(
                    Example(
                        "[ProducerStateManager partition=orders-0] Writing producer snapshot at offset 35",
                        ({**ORDERS, "offset": 35},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="3.0",
                until=None,
                regex=rf"^{_SNAPSHOT}Wrote producer snapshot at offset (?P<offset>[0-9]+)",
                source_ref="3.6.2 ProducerStateManager",
                examples=(
                    Example(
                        "[ProducerStateManager partition=orders-0] Wrote producer snapshot at offset 15 with 0 "
                        "producer ids in 13 ms.",
                        ({**ORDERS, "offset": 15},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-39",
        kind=Kind.RECOVERY_POINT,
        literal=("Flushing log '", "Flushing log up to offset "),
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Flushing log '{TP}'? up to offset (?P<offset>[0-9]+)",
                source_ref="0.10.2.2 Log:852",
                fixed={"detail": "flush"},
                examples=(
                    Example(
                        "Flushing log 'orders-0 up to offset 42, last flushed: 1 current time: 2 unflushed = 7",
                        ({"detail": "flush", **ORDERS, "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="3.1",
                regex=rf"^{LOG_PREFIX}Flushing log up to offset (?P<offset>[0-9]+), last flushed",
                source_ref="2.4.1 Log:1971",
                fixed={"detail": "flush"},
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Flushing log up to offset 20, last "
                        "flushed: 1795247966253,  current time: 1795247972934, unflushed: 8",
                        (
                            {
                                "detail": "flush",
                                "topic": "orders",
                                "partition": 0,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "offset": 20,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Flushing log up to offset 42, last flushed: 1,  current "
                        "time: 2, unflushed: 7",
                        ({**_PLACE, "detail": "flush", "offset": 42},),
                    ),
                ),
            ),
            Variant(
                since="3.2",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Flushing log up to offset [0-9]+ \([a-z]+\) ?with recovery point (?P<offset>[0-9]+)"
                ),
                source_ref="3.6.2 UnifiedLog:1653",
                fixed={"detail": "flush"},
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-2, dir=/srv/kafka/broker-3/data] Flushing log up to offset 135 "
                        "(inclusive)with recovery point 135, last flushed: 1795234327002,  current time: "
                        "1795234358416,unflushed: 135",
                        (
                            {
                                "detail": "flush",
                                "topic": "orders",
                                "partition": 2,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "offset": 135,
                            },
                        ),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The lines of the later, physical deletion are left out: by then the topic may be another one.
    Message(
        id="L-40",
        kind=Kind.SEGMENTS_DELETED,
        literal=("Scheduling log segment ", "Scheduling segments for deletion "),
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Scheduling log segment (?P<offset>[0-9]+) for log {TP} for deletion\.",
                source_ref="0.10.2.2 Log:969",
                examples=(
                    Example("Scheduling log segment 0 for log orders-0 for deletion.", ({**ORDERS, "offset": 0},)),
                ),
            ),
            Variant(
                since="1.0",
                until="2.3",
                regex=rf"^{LOG_PREFIX}Scheduling log segment \[baseOffset (?P<offset>[0-9]+),",
                source_ref="1.1.1 Log:1603",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Scheduling log segment [baseOffset "
                        "0, size 1920] for deletion.",
                        ({"topic": "orders", "partition": 0, "log_dir": "/srv/kafka/broker-3/data", "offset": 0},),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Scheduling log segment [baseOffset 7, size 490] for "
                        "deletion.",
                        ({**_PLACE, "offset": 7},),
                    ),
                ),
            ),
            Variant(
                since="2.4",
                until="2.6",
                regex=rf"^{LOG_PREFIX}Scheduling segments for deletion [A-Za-z]*\(?{_SEGMENT}",
                source_ref="2.4.1 Log:2235",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Scheduling segments for deletion List(LogSegment("
                        "baseOffset=7, size=490, lastModifiedTime=1583402400000, largestTime=1583402400000))",
                        ({**_PLACE, "offset": 7},),
                    ),
                ),
            ),
            # A truncation that removes no whole segment.
            Variant(
                since="2.4",
                until="2.6",
                regex=rf"^{LOG_PREFIX}Scheduling segments for deletion [A-Za-z]*\(\)",
                source_ref="2.4.1 Log:2235",
                own_row=False,
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-2/data] Scheduling segments for deletion "
                        "List()",
                        (),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-42",
        kind=Kind.SEGMENTS_DELETED,
        literal="Found deletable segments with base offsets [",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="0.11",
                regex=(
                    rf"^Found deletable segments with base offsets \[(?P<offset>[0-9]+)[0-9,]*\] for {TP} due to "
                    r"(?P<detail>.*)"
                ),
                source_ref="0.11.0.2 Log",
                examples=(
                    Example(
                        "Found deletable segments with base offsets [0,7] for orders-0 due to retention time "
                        "604800000ms breach",
                        ({**ORDERS, "offset": 0, "detail": "retention time 604800000ms breach"},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until="2.6",
                regex=(
                    rf"^{LOG_PREFIX}Found deletable segments with base offsets \[(?P<offset>[0-9]+)[0-9,]*\] due to "
                    r"(?P<detail>.*)"
                ),
                source_ref="2.4.1 Log:1707",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-2/data] Found deletable segments with base "
                        "offsets [132] due to retention size in bytes 5000 breach",
                        (
                            {
                                "topic": "orders",
                                "partition": 0,
                                "log_dir": "/srv/kafka/broker-2/data",
                                "offset": 132,
                                "detail": "retention size in bytes 5000 breach",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Found deletable segments with base offsets [0,7] due to "
                        "log start offset 30 breach",
                        ({**_PLACE, "offset": 0, "detail": "log start offset 30 breach"},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-43",
        kind=Kind.SEGMENTS_DELETED,
        literal="Deleting segment LogSegment(",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{LOG_PREFIX}Deleting segment {_SEGMENT}, (?:[^()]|\([^()]*\))*\) due to (?P<detail>.*)",
                source_ref="2.8.2 Log:2847, 3.6.2 UnifiedLog:2279",
                examples=(
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/srv/kafka/broker-1/data] Deleting segment "
                        "LogSegment(baseOffset=0, size=1920, lastModifiedTime=1795247167896, "
                        "largestRecordTimestamp=1795247167898) due to log retention size 5000 breach. Log size after "
                        "deletion will be 25280.",
                        (
                            {
                                **ORDERS,
                                "log_dir": "/srv/kafka/broker-1/data",
                                "offset": 0,
                                "detail": "log retention size 5000 breach. Log size after deletion will be 25280.",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-3/data] Deleting segment "
                        "LogSegment(baseOffset=240, size=1972, lastModifiedTime=1795294874912, "
                        "largestRecordTimestamp=Some(1795294874901)) due to retention time 9000ms breach based on the "
                        "largest record timestamp in the segment",
                        (
                            {
                                **ORDERS,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "offset": 240,
                                "detail": "retention time 9000ms breach based on the largest record timestamp in the "
                                "segment",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/data] Deleting segment LogSegment(baseOffset=7, "
                        "size=490, "
                        "lastModifiedTime=1700000000000, largestRecordTimestamp=1700000000000) due to log retention "
                        "time 604800000ms breach based on the largest record timestamp in the segment",
                        (
                            {
                                **_PLACE,
                                "offset": 7,
                                "detail": "log retention time 604800000ms breach based on the largest record timestamp "
                                "in the segment",
                            },
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-24",
        kind=Kind.SEGMENTS_DELETED,
        literal="] Deleting segments ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.7",
                until=None,
                regex=rf"^{LOG_PREFIX}Deleting segments (?P<detail>(?:as|due) [^:]*): {_SEGMENT}",
                source_ref="2.8.2 Log:2876, 3.6.2 LocalLog:1000, UnifiedLog:2312",
                examples=(
                    Example(
                        "[LocalLog partition=orders-0, dir=/srv/kafka/broker-3/data] Deleting segments as the log has "
                        "been deleted: LogSegment(baseOffset=0, size=4370, lastModifiedTime=1795234459934, "
                        "largestRecordTimestamp=1795234459933)",
                        (
                            {
                                **ORDERS,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "detail": "as the log has been deleted",
                                "offset": 0,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[LocalLog partition=orders-0, dir=/data] Deleting segments as part of log truncation: "
                        "LogSegment(baseOffset=7, size=490, lastModifiedTime=1700000000000, "
                        "largestRecordTimestamp=1700000000000)",
                        ({**_PLACE, "detail": "as part of log truncation", "offset": 7},),
                    ),
                    Example(
                        "[UnifiedLog partition=orders-0, dir=/data] Deleting segments due to log start offset 30 "
                        "breach: LogSegment(baseOffset=0, size=490, lastModifiedTime=1700000000000, "
                        "largestRecordTimestamp=1700000000000)",
                        ({**_PLACE, "detail": "due to log start offset 30 breach", "offset": 0},),
                    ),
                ),
            ),
            # Physical deletion in 2.4 to 2.6, or nothing to delete.
            Variant(
                since="2.4",
                until=None,
                regex=rf"^{LOG_PREFIX}Deleting segments ",
                source_ref="2.4.1 Log:2228",
                own_row=False,
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Deleting segments List(LogSegment(baseOffset=7, size=490, "
                        "lastModifiedTime=1583402400000, largestTime=1583402400000))",
                        (),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-45",
        kind=Kind.LEO,
        literal="Trying to roll a new log segment with start offset ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.1",
                until=None,
                regex=rf"^{LOG_PREFIX}Trying to roll a new log segment with .*?LEO = (?P<leo>[0-9]+)\)",
                source_ref="2.4.1 Log:1894",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Trying to roll a new log segment with start offset 42 "
                        "=max(provided offset = Some(42), LEO = 42) while it already exists and is active with size 0.",
                        ({**_PLACE, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
)
"""Recovery and segments, in the order in which a log goes through them."""
