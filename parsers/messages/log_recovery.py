"""The log layer at start: segments checked after a crash, damage found and removed."""

from __future__ import annotations

from parsers.details import SEGMENTS_MISSING
from parsers.messages.catalogue import Each, Example, Message, Says, Variant
from parsers.messages.patterns import LOG_PREFIX, ORDERS, TP
from parsers.schema import Kind

_PLACE: dict[str, int | str | None] = {**ORDERS, "log_dir": "/data"}
_FILE = rf"(?P<log_dir>.*?)[/\\]{TP}[/\\](?P<offset>[0-9]+)\.[a-z]+"
_BYTE = Each(r"at byte offset (?P<detail>[0-9]+)", Kind.SEGMENT_DAMAGED)
_CUT = Each(r"(?P<detail>[0-9]+) invalid bytes at the end", Kind.BYTES_CUT)

MESSAGES: tuple[Message, ...] = (
    Message(
        id="L-08",
        kind=Kind.RECOVERY,
        literal="Recovering unflushed segment ",
        level="INFO",
        stock=True,
        says=Says.UNFLUSHED,
        variants=(
            # A log that is being removed or moved: not the replica.
            Variant(
                since="0.10",
                until="0.11",
                regex=(r"^Recovering unflushed segment [0-9]+ in log [^ ]*-delete\."),
                source_ref="0.11.0.2 Log",
                own_row=False,
                examples=(
                    Example(
                        "Recovering unflushed segment 0 in log orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete.", ()
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.11",
                regex=rf"^Recovering unflushed segment (?P<offset>[0-9]+) in log {TP}\.",
                source_ref="0.10.2.2 Log:302",
                examples=(
                    Example("Recovering unflushed segment 0 in log orders-0.", ({**ORDERS, "offset": 0},), "real"),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=rf"^{LOG_PREFIX}Recovering unflushed segment (?P<offset>[0-9]+)",
                source_ref="1.1.1 Log:445, 3.6.2 LogLoader:426",
                examples=(
                    Example(
                        "[LogLoader partition=orders-0, dir=/srv/kafka/broker-2/data] Recovering unflushed segment 0. "
                        "0/1 recovered for orders-0.",
                        ({**ORDERS, "log_dir": "/srv/kafka/broker-2/data", "offset": 0},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-09",
        kind=Kind.CORRUPTION_CUT,
        literal="Corruption found in segment ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^Corruption found in segment (?P<detail>[0-9]+) of log {TP}, truncating to offset "
                    r"(?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="0.10.2.2 Log:315",
                examples=(
                    Example(
                        "Corruption found in segment 0 of log orders-0, truncating to offset 42.",
                        ({"detail": "0", **ORDERS, "offset": 42, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Corruption found in segment (?P<detail>[0-9]+), truncating to offset "
                    r"(?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="1.1.1 Log, 3.6.2 LogLoader:440",
                examples=(
                    Example(
                        "[LogLoader partition=pay-0, dir=/srv/kafka/broker-3/data] Corruption found in segment 0, "
                        "truncating to offset 90",
                        (
                            {
                                "topic": "pay",
                                "partition": 0,
                                "log_dir": "/srv/kafka/broker-3/data",
                                "detail": "0",
                                "offset": 90,
                                "leo": 90,
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "[Log partition=orders-0, dir=/data] Corruption found in segment 40, truncating to offset 42",
                        ({**_PLACE, "detail": "40", "offset": 42, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-10",
        kind=Kind.CORRUPTION_CUT,
        literal="Found invalid offset during recovery",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.11",
                regex=(
                    rf"^Found invalid offset during recovery for log (?:(?P<log_dir>.*?)[/\\])?{TP}\. Deleting the "
                    r"corrupt segment and creating an empty one with starting offset (?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="0.8.2.2 Log:209, 0.10.2.2 Log:309",
                examples=(
                    Example(
                        "Found invalid offset during recovery for log orders-0. Deleting the corrupt segment and "
                        "creating an empty one with starting offset 42",
                        ({**ORDERS, "offset": 42, "leo": 42},),
                    ),
                    Example(
                        "Found invalid offset during recovery for log /data/orders-0. Deleting the corrupt segment "
                        "and creating an empty one with starting offset 42",
                        ({**_PLACE, "offset": 42, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Found invalid offset during recovery\. Deleting the corrupt segment and creating "
                    rf"an "
                    r"empty one with starting offset (?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="3.6.2 LogLoader:434",
                examples=(
                    Example(
                        "[LogLoader partition=orders-0, dir=/data] Found invalid offset during recovery. Deleting the "
                        "corrupt segment and creating an empty one with starting offset 42",
                        ({**_PLACE, "offset": 42, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-11",
        kind=Kind.RECOVERY,
        literal="Found invalid messages in log segment ",
        level="WARN",
        stock=True,
        says=Says.CORRUPT_BYTES,  # LogSegment.recover
        variants=(
            # A log that is being removed or moved: not the replica.
            Variant(
                since="1.1",
                until=None,
                regex=(r"^Found invalid messages in log segment .*\.[0-9a-f]{32}-(?:delete|future|stray)[/\\]"),
                source_ref="2.4.1 LogSegment:372",
                own_row=False,
                examples=(
                    Example(
                        "Found invalid messages in log segment "
                        "/data/orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete/00000000000000000000.log at byte "
                        "offset 2450: Record is corrupt.",
                        (),
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until=None,
                regex=rf"^Found invalid messages in log segment {_FILE} (?P<detail>at byte offset [0-9]+)",
                source_ref="0.10.2.2 LogSegment:245, 2.4.1 LogSegment:372, 3.8.0 LogSegment:514",
                each=(_BYTE,),
                examples=(
                    Example(
                        "Found invalid messages in log segment "
                        "/srv/kafka/broker-3/data/pay-0/00000000000000000000.log at byte offset 3336.",
                        (
                            {
                                "log_dir": "/srv/kafka/broker-3/data",
                                "topic": "pay",
                                "partition": 0,
                                "offset": 0,
                                "detail": "at byte offset 3336",
                            },
                            {
                                "kind": "segment_damaged",
                                "log_dir": "/srv/kafka/broker-3/data",
                                "topic": "pay",
                                "partition": 0,
                                "offset": 0,
                                "detail": "3336",
                            },
                        ),
                        "real",
                    ),
                    Example(
                        "Found invalid messages in log segment C:\\my logs\\orders-0\\00000000000000000040.log at byte "
                        "offset 12: Record size is less than the minimum record overhead (14).",
                        (
                            {"log_dir": "C:\\my logs", **ORDERS, "offset": 40, "detail": "at byte offset 12"},
                            {
                                "kind": "segment_damaged",
                                "log_dir": "C:\\my logs",
                                **ORDERS,
                                "offset": 40,
                                "detail": "12",
                            },
                        ),
                    ),
                    Example(
                        "Found invalid messages in log segment /data/orders-0/00000000000000000000.log at byte offset "
                        "2450: Record is corrupt (stored crc = 1, computed crc = 2).",
                        (
                            {**_PLACE, "offset": 0, "detail": "at byte offset 2450"},
                            {"kind": "segment_damaged", **_PLACE, "offset": 0, "detail": "2450"},
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-12",
        kind=Kind.RECOVERY,
        literal=" invalid bytes at the end of segment ",
        level="DEBUG",
        stock=False,
        variants=(
            # A log that is being removed or moved: not the replica.
            Variant(
                since="1.1",
                until=None,
                regex=(
                    r"^Truncated [0-9]+ invalid bytes at the end of segment "
                    r".*\.[0-9a-f]{32}-(?:delete|future|stray)[/\\]"
                ),
                source_ref="2.4.1 LogSegment:377",
                own_row=False,
                examples=(
                    Example(
                        "Truncated 70 invalid bytes at the end of segment "
                        "/data/orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete/00000000000000000000.log during "
                        "recovery",
                        (),
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until=None,
                regex=rf"^Truncated (?P<detail>[0-9]+ invalid bytes at the end) of segment {_FILE} during recovery",
                source_ref="2.4.1 LogSegment:377",
                each=(_CUT,),
                examples=(
                    Example(
                        "Truncated 70 invalid bytes at the end of segment /data/orders-0/00000000000000000000.log "
                        "during recovery",
                        (
                            {**_PLACE, "offset": 0, "detail": "70 invalid bytes at the end"},
                            {"kind": "bytes_cut", **_PLACE, "offset": 0, "detail": "70"},
                        ),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="L-13",
        kind=Kind.TRUNCATE_FULL,
        literal="Deleting all segments because logEndOffset (",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="2.2",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}Deleting all segments because logEndOffset \([0-9]+\) +(?:is )?smaller "
                    r"than logStartOffset \(?(?P<offset>(?P<leo>(?P<log_start>[0-9]+)))\)?"
                ),
                fixed={"detail": SEGMENTS_MISSING},
                source_ref="2.4.1 Log:808, 3.6.2 LogLoader:403",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Deleting all segments because logEndOffset (40) is "
                        "smaller than logStartOffset (42). This could happen if segment files were deleted from the "
                        "file system.",
                        ({**_PLACE, "offset": 42, "leo": 42, "log_start": 42, "detail": SEGMENTS_MISSING},),
                    ),
                    Example(
                        "[LogLoader partition=orders-0, dir=/data] Deleting all segments because logEndOffset (40)  "
                        "smaller than logStartOffset 42. This could happen if segment files were deleted from the "
                        "file system.",
                        ({**_PLACE, "offset": 42, "leo": 42, "log_start": 42, "detail": SEGMENTS_MISSING},),
                    ),
                ),
            ),
        ),
    ),
    # An index that does not fit its segment makes the broker check the segment itself, byte by byte.
    Message(
        id="L-14",
        kind=Kind.RECOVERY,
        literal=(
            "Found a corrupted index file",
            "Could not find offset index file corresponding to log file ",
            "Could not find index file corresponding to log file ",
        ),
        level="WARN",
        stock=True,
        variants=(
            # A log that is being removed or moved: not the replica.
            Variant(
                since="1.1",
                until=None,
                regex=(
                    r"^(?:\[[^\]]*\] )?(?:Found a corrupted|Could not find offset) index file "
                    r".*?-(?:delete|future|stray)[/\\]"
                ),
                source_ref="2.4.1 Log:625",
                own_row=False,
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/srv/kafka/broker-1/data] Found a corrupted index file "
                        "corresponding to log file "
                        "/srv/kafka/broker-1/data/orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete/"
                        "00000000000000000000.log due to Corrupt index found, index file "
                        "(/srv/kafka/broker-1/data/orders-0.a8cfa1f6d87c4ffb816da974186a4271-delete/"
                        "00000000000000000000.index) has non-zero size but the last offset is 0 which is no greater "
                        "than the base offset 0.}, recovering segment and rebuilding index files...",
                        (),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.8",
                until="0.10",
                regex=(
                    r"^(?:Could not find index file corresponding to log file|Found a corrupted index file,) "
                    rf"{_FILE}, .*rebuilding index"
                ),
                source_ref="0.8.2.2 Log:161, 0.9.0.1 Log, 0.10.2.2 Log:235",
                fixed={"detail": "index rebuilt"},
                examples=(
                    Example(
                        "Could not find index file corresponding to log file /data/orders-0/00000000000000000040.log, "
                        "rebuilding index...",
                        ({**_PLACE, "offset": 40, "detail": "index rebuilt"},),
                    ),
                    Example(
                        "Found a corrupted index file, /my data/orders-0/00000000000000000040.index, deleting and "
                        "rebuilding index...",
                        ({**ORDERS, "log_dir": "/my data", "offset": 40, "detail": "index rebuilt"},),
                    ),
                ),
            ),
            Variant(
                since="0.9",
                until="0.11",
                regex=rf"^Found a corrupted index file due to .*? index file \({_FILE}\)",
                source_ref="0.10.2.2 Log",
                fixed={"detail": "index rebuilt"},
                examples=(
                    Example(
                        "Found a corrupted index file due to requirement failed: Corrupt index found, index file "
                        "(/srv/kafka/broker-2/data/orders-0/00000000000000000000.index) has non-zero size but the last "
                        "offset is 0 which is no larger than the base offset 0.}. deleting "
                        "/srv/kafka/broker-2/data/orders-0/00000000000000000000.timeindex, "
                        "/srv/kafka/broker-2/data/orders-0/00000000000000000000.index and rebuilding index...",
                        ({"detail": "index rebuilt", "log_dir": "/srv/kafka/broker-2/data", **ORDERS, "offset": 0},),
                        "real",
                    ),
                ),
            ),
            Variant(
                since="0.11",
                until=None,
                regex=(
                    r"^(?:\[[^\]]*\] )?(?:Could not find offset index file corresponding to log file|Found a corrupted "
                    rf"index file due to .*? index file) \(?{_FILE}[,)].* ?rebuilding index"
                ),
                source_ref="1.0.2 Log",
                fixed={"detail": "index rebuilt"},
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Could not find offset index file corresponding to log "
                        "file "
                        "/data/orders-0/00000000000000000000.log, rebuilding index...",
                        ({**_PLACE, "offset": 0, "detail": "index rebuilt"},),
                    ),
                ),
            ),
            Variant(
                since="1.1",
                until=None,
                regex=(
                    rf"^{LOG_PREFIX}(?:Found a corrupted|Could not find offset) index file corresponding to log file "
                    r".*?(?P<offset>[0-9]{20})\.[a-z]+[, ].*recovering segment"
                ),
                source_ref="2.4.1 Log:625",
                fixed={"detail": "segment recovered, index rebuilt"},
                examples=(
                    Example(
                        "[Log partition=orders-2, dir=/srv/kafka/broker-2/data] Found a corrupted index file "
                        "corresponding to log file /srv/kafka/broker-2/data/orders-2/00000000000000000000.log due to "
                        "Corrupt index found, index file "
                        "(/srv/kafka/broker-2/data/orders-2/00000000000000000000.index) has non-zero size but the last "
                        "offset is 0 which is no greater than the base offset 0.}, recovering segment and rebuilding "
                        "index files...",
                        (
                            {
                                "detail": "segment recovered, index rebuilt",
                                "log_dir": "/srv/kafka/broker-2/data",
                                "topic": "orders",
                                "partition": 2,
                                "offset": 0,
                            },
                        ),
                        "real",
                    ),
                    # A path may have lost a separator where somebody converted the text.
                    Example(
                        "[Log partition=orders-2, dir=D:\\kafka] Found a corrupted index file corresponding to log "
                        "file D:\\kafkaorders-2\\00000000000000000040.log due to Corrupt index found, index file "
                        "(D:\\kafkaorders-2\\00000000000000000040.index) has non-zero size but the last offset is 40 "
                        "which is no greater than the base offset 40.}, recovering segment and rebuilding index "
                        "files...",
                        (
                            {
                                "detail": "segment recovered, index rebuilt",
                                "log_dir": "D:\\kafka",
                                "topic": "orders",
                                "partition": 2,
                                "offset": 40,
                            },
                        ),
                    ),
                ),
            ),
            # As people blot out the path.
            Variant(
                since="0.9",
                until=None,
                regex=(
                    r"^Found a corrupted index file due to requirement failed: Corrupt index found, index file "
                    r"\([^/)]*\) has non-zero size"
                ),
                source_ref="0.10.2.2 Log",
                fixed={"detail": "index rebuilt"},
                examples=(
                    Example(
                        "Found a corrupted index file due to requirement failed: Corrupt index found, index file () "
                        "has non-zero size but the last offset is 42 which is no larger than the base offset 42.}. "
                        "deleting ... and rebuilding index...",
                        ({"detail": "index rebuilt"},),
                    ),
                ),
            ),
        ),
    ),
)
"""Recovery, in the order a broker goes through it."""
