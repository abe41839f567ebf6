"""Exceptions of the log layer: what it refuses, with the two offsets that do not fit."""

from __future__ import annotations

from parsers.messages.catalogue import Each, Example, Message, Variant
from parsers.messages.patterns import EITHER, FETCH_POSITION, LOG_PREFIX, NAME, ORDERS, TP
from parsers.schema import Kind

_OFFSET = r"(?P<offset>-?[0-9]+)"
_OUT_OF_RANGE = r"but we only have log segments "

MESSAGES: tuple[Message, ...] = (
    # A leader that wrote other records, or a follower with records that its leader lacks. Thrown by a follower's
    # append. The follower then stops fetching (F-27); up to 2.2 it retries.
    Message(
        id="X-01",
        kind=Kind.APPEND_REFUSED,
        literal=(" less than the next offset ", "Offset mismatch for partition "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^Unexpected offset in append to {TP}\. (?P<detail>[A-Z][A-Za-z ]+) {_OFFSET} is less than the "
                    r"next offset (?P<leo>[0-9]+)\.(?:.* Log start offset = (?P<log_start>[0-9]+))?"
                ),
                source_ref="1.0.2 Log:696, 2.0.1 Log:826, 3.6.2 UnifiedLog:851",
                examples=(
                    Example(
                        "Unexpected offset in append to orders-0. First offset or last offset of the first batch 40 is "
                        "less than the next offset 42. First 10 offsets in append: List(40, 41), last offset in "
                        "append: 41. Log start offset = 0",
                        (
                            {
                                **ORDERS,
                                "detail": "First offset or last offset of the first batch",
                                "offset": 40,
                                "leo": 42,
                                "log_start": 0,
                            },
                        ),
                    ),
                    Example(
                        "Unexpected offset in append to orders-0. First offset 40 is less than the next offset 42. "
                        "First 10 offsets in append: ArrayBuffer(40), last offset in append: 40. Log start offset = 7",
                        ({**ORDERS, "detail": "First offset", "offset": 40, "leo": 42, "log_start": 7},),
                    ),
                ),
            ),
            # In other words, as people paste it.
            Variant(
                since="1.0",
                until=None,
                regex=(
                    rf"^Unexpected offset in append to {TP}\. (?P<detail>First offset) or .* less than the next offset "
                    rf"(?P<leo>[0-9]+)\. First offset in append: {_OFFSET},"
                    r"(?:.* Log start offset = (?P<log_start>[0-9]+))?"
                ),
                source_ref="Log.append, pasted with another order of words",
                examples=(
                    Example(
                        "Unexpected offset in append to orders-0. First offset or last offset of the first 2 records "
                        "List(40, 41) are less than the next offset 42. First offset in append: 40, last offset in "
                        "append: 41. Log start offset = 0",
                        ({**ORDERS, "detail": "First offset", "offset": 40, "leo": 42, "log_start": 0},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until=None,
                regex=(
                    rf"^Offset mismatch for partition {TP}: (?P<detail>fetched offset) = {_OFFSET}, log end offset = "
                    r"(?P<leo>[0-9]+)\."
                ),
                source_ref="0.10.2.2 ReplicaFetcherThread, 3.6.2 ReplicaFetcherThread:115",
                examples=(
                    Example(
                        "Offset mismatch for partition orders-0: fetched offset = 40, log end offset = 42.",
                        ({**ORDERS, "detail": "fetched offset", "offset": 40, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="0.10",
                until="0.10",
                regex=(
                    r"^Offset mismatch for partition \[(?P<bracketed>[^\]]+)\]: (?P<detail>fetched offset) = "
                    rf"{_OFFSET}, log end offset = (?P<leo>[0-9]+)\."
                ),
                source_ref="0.10.0.1 ReplicaFetcherThread:121",
                examples=(
                    Example(
                        "Offset mismatch for partition [orders,0]: fetched offset = 40, log end offset = 42.",
                        ({**ORDERS, "detail": "fetched offset", "offset": 40, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
    # A follower whose leader begins above the follower's high watermark, or a client that asks to delete records that
    # are not committed.
    Message(
        id="X-02",
        kind=Kind.LOG_START_REFUSED,
        literal="Cannot increment the log start offset to ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.11",
                until=None,
                regex=(
                    rf"^Cannot increment the log start offset to (?P<log_start>[0-9]+) of partition {TP} since it is "
                    r"larger than the high watermark (?P<hw>-?[0-9]+)"
                ),
                source_ref="0.11.0.2 Replica, 2.4.1 Log, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Cannot increment the log start offset to 50 of partition orders-0 since it is larger than the "
                        "high watermark 42",
                        ({**ORDERS, "log_start": 50, "hw": 42},),
                    ),
                ),
            ),
            # As people blot out the partition's name.
            Variant(
                since="0.11",
                until=None,
                regex=(
                    r"^Cannot increment the log start offset to (?P<log_start>[0-9]+) of partition [^ ]+ since it is "
                    r"larger than the high watermark (?P<hw>-?[0-9]+)"
                ),
                source_ref="0.11.0.2 Replica, 2.4.1 Log, 3.6.2 UnifiedLog",
                examples=(
                    Example(
                        "Cannot increment the log start offset to 50 of partition T-P since it is larger than the high "
                        "watermark 42",
                        ({"log_start": 50, "hw": 42},),
                    ),
                ),
            ),
        ),
    ),
    # By a leader, of an offset that a consumer or a follower asked for.
    Message(
        id="X-03",
        kind=Kind.OUT_OF_RANGE,
        literal=(_OUT_OF_RANGE, "Could not determine the end offset of the last fetched epoch "),
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="2.0",
                until=None,
                regex=(
                    rf"^Received request for offset {_OFFSET} for partition {TP}, {_OUT_OF_RANGE}in the range "
                    r"(?P<log_start>-?[0-9]+) to (?P<leo>-?[0-9]+)\."
                ),
                source_ref="2.0.1 Log, 3.0.2 Log, 3.6.2 Partition",
                examples=(
                    Example(
                        "Received request for offset 50 for partition orders-0, but we only have log segments in the "
                        "range 7 to 42.",
                        ({**ORDERS, "offset": 50, "log_start": 7, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="3.1",
                until=None,
                regex=(
                    rf"^Received request for offset {_OFFSET} for partition {TP}, {_OUT_OF_RANGE}(?:upto "
                    r"(?P<leo>-?[0-9]+)|starting from offset: (?P<log_start>-?[0-9]+))\."
                ),
                source_ref="3.1.2 LocalLog, 3.6.2 LocalLog, UnifiedLog",
                examples=(
                    Example(
                        "Received request for offset 50 for partition orders-0, but we only have log segments upto 42.",
                        ({**ORDERS, "offset": 50, "leo": 42},),
                    ),
                    Example(
                        "Received request for offset 5 for partition orders-0, but we only have log segments starting "
                        "from offset: 7.",
                        ({**ORDERS, "offset": 5, "log_start": 7},),
                    ),
                ),
            ),
            # Names no partition.
            Variant(
                since="0.8",
                until="1.1",
                regex=(
                    rf"^Request for offset {_OFFSET} {_OUT_OF_RANGE}in the range (?P<log_start>-?[0-9]+) to "
                    r"(?P<leo>-?[0-9]+)"
                ),
                source_ref="0.8.2.2 Log:437, 1.1.1 Log",
                examples=(
                    Example(
                        "Request for offset 50 but we only have log segments in the range 7 to 42.",
                        ({"offset": 50, "log_start": 7, "leo": 42},),
                    ),
                ),
            ),
            Variant(
                since="2.7",
                until=None,
                regex=r"^Could not determine the end offset of the last fetched epoch ",
                source_ref="2.8.2 Partition, 3.6.2 Partition",
                own_row=False,
                examples=(
                    Example(
                        "Could not determine the end offset of the last fetched epoch Optional[4] from the request",
                        (),
                    ),
                ),
            ),
        ),
    ),
    # Ends a fetcher thread up to 2.2 (F-41).
    Message(
        id="X-06",
        kind=Kind.FETCH_FAILED,
        literal="rror processing data for partition ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until="2.2",
                regex=rf"^[eE]rror processing data for partition {EITHER} offset {_OFFSET}",
                source_ref="0.10.2.2 AbstractFetcherThread:172, 2.0.1 AbstractFetcherThread:337",
                examples=(
                    Example("Error processing data for partition orders-0 offset 40", ({**ORDERS, "offset": 40},)),
                    Example("error processing data for partition [orders,0] offset 40", ({**ORDERS, "offset": 40},)),
                ),
            ),
        ),
    ),
    # Ends the copy of a log into another directory of its own broker (KIP-113).
    Message(
        id="X-07",
        kind=Kind.FETCH_FAILED,
        literal="Offset mismatch for the future replica ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="1.1",
                until=None,
                regex=(
                    rf"^Offset mismatch for the (?P<detail>future replica) {TP}: fetched offset = {_OFFSET}, log end "
                    r"offset = (?P<leo>[0-9]+)\."
                ),
                source_ref="KAFKA-9087, ReplicaAlterLogDirsThread:107",
                examples=(
                    Example(
                        "Offset mismatch for the future replica orders-0: fetched offset = 41, log end offset = 40.",
                        ({**ORDERS, "detail": "future replica", "offset": 41, "leo": 40},),
                    ),
                ),
            ),
        ),
    ),
    # The same in a line of the log layer.
    Message(
        id="X-05",
        kind=Kind.OUT_OF_RANGE,
        literal="] Received request for offset ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="2.5",
                until="2.5",
                regex=(
                    rf"^{LOG_PREFIX}Received request for offset {_OFFSET} for partition [^ ]+, {_OUT_OF_RANGE}in the "
                    r"range (?P<log_start>-?[0-9]+) to (?P<leo>-?[0-9]+)\."
                ),
                source_ref="KAFKA-9580, proposed for Log",
                examples=(
                    Example(
                        "[Log partition=orders-0, dir=/data] Received request for offset 50 for partition "
                        "orders-0, but "
                        "we only have log segments in the range 7 to 42.",
                        ({**ORDERS, "log_dir": "/data", "offset": 50, "log_start": 7, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
    # By a consumer with no reset policy (auto.offset.reset=none).
    Message(
        id="X-04",
        kind=Kind.CONSUMER_OUT_OF_RANGE,
        literal=(
            "Offsets out of range with no configured reset policy for partitions: ",
            "Fetch position FetchPosition{",
        ),
        level="ERROR",
        stock=False,
        thrown=True,
        variants=(
            Variant(
                since="0.9",
                until="2.5",
                regex=r"^Offsets out of range with no configured reset policy for partitions: \{",
                source_ref="2.0.1 OffsetOutOfRangeException:34",
                each=(Each(rf"(?P<tp>{NAME}-[0-9]+)={_OFFSET}"),),
                own_row=False,
                examples=(
                    Example(
                        "Offsets out of range with no configured reset policy for partitions: {orders-0=50}",
                        ({**ORDERS, "offset": 50},),
                    ),
                ),
            ),
            Variant(
                since="2.6",
                until=None,
                regex=(rf"^Fetch position {FETCH_POSITION} is out of range for partition {TP}"),
                source_ref="2.8.2 Fetcher:1364, 3.6.2 AbstractFetch:663",
                examples=(
                    Example(
                        "Fetch position FetchPosition{offset=50, offsetEpoch=Optional[4], "
                        "currentLeader=LeaderAndEpoch{leader=Optional[h:9092 (id: 1 rack: null)], epoch=5}} is out of "
                        "range for partition orders-0",
                        ({**ORDERS, "offset": 50, "previous_epoch": 4, "leader": 1, "leader_epoch": 5},),
                    ),
                ),
            ),
        ),
    ),
    # The same consumer, whose leader answered that its position was truncated (LogTruncationException, KIP-320).
    Message(
        id="X-08",
        kind=Kind.CONSUMER_TRUNCATED,
        literal="Detected truncated partitions: [",
        level="ERROR",
        stock=False,
        thrown=True,
        variants=(
            Variant(
                since="2.6",
                until=None,
                regex=r"^Detected truncated partitions: \[",
                source_ref="2.8.2 SubscriptionState$LogTruncation:toString, 3.6.2 SubscriptionState",
                each=(
                    Each(
                        rf"\(partition={TP}, fetchOffset={_OFFSET}, fetchEpoch=Optional\[(?P<previous_epoch>[0-9]+)\], "
                        r"divergentOffset=(?:unknown|(?P<leo>[0-9]+)), "
                    ),
                ),
                own_row=False,
                examples=(
                    Example(
                        "Detected truncated partitions: [(partition=orders-0, fetchOffset=50, fetchEpoch=Optional[4], "
                        "divergentOffset=42, divergentEpoch=Optional[4]), (partition=orders-1, fetchOffset=30, "
                        "fetchEpoch=Optional[4], divergentOffset=unknown, divergentEpoch=unknown)]",
                        (
                            {**ORDERS, "offset": 50, "previous_epoch": 4, "leo": 42},
                            {"topic": "orders", "partition": 1, "offset": 30, "previous_epoch": 4},
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Exceptions about two offsets; others are not in the catalogue."""
