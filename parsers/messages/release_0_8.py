"""Kafka 0.8.0 and 0.8.1: what logs, fetchers and partitions print in words that no later release has."""

from __future__ import annotations

from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import (
    FETCHER_MANAGER,
    FETCHER_OLD,
    ORDERS,
    PARTITION_OLD,
    TP,
)
from parsers.schema import Kind

_LOG = r"(?:\[Kafka Log on Broker (?P<witness>[0-9]+)\], )?"
_PLACE = r"partition \[(?P<bracketed>[^\]]+)\]"
_SEGMENT = rf"(?P<log_dir>.*?)[/\\]{TP}[/\\]"

MESSAGES: tuple[Message, ...] = (
    # -- the log layer --------------------------------------------------------------------------------------------
    Message(
        id="O-01",
        kind=Kind.LOG_LOADED,
        literal=" with log end offset ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^\[Kafka Log on Broker (?P<witness>[0-9]+)\], Completed load of log {TP} with log end offset "
                    r"(?P<leo>[0-9]+)"
                ),
                source_ref="0.8.0 Log:130",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Completed load of log orders-0 with log end offset 7",
                        ({"witness": 1, **ORDERS, "leo": 7},),
                    ),
                ),
            ),
        ),
    ),
    # Printed before the segment is checked.
    Message(
        id="O-02",
        kind=Kind.RECOVERY,
        literal="Recovering log segment ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{_LOG}Recovering log segment {_SEGMENT}(?P<offset>[0-9]+)\.log",
                source_ref="0.8.0 Log:223",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Recovering log segment /data/orders-0/00000000000000000040.log",
                        ({"witness": 1, "log_dir": "/data", **ORDERS, "offset": 40},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-03",
        kind=Kind.BYTES_CUT,
        literal=" invalid bytes from the log ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{_LOG}Truncated (?P<detail>[0-9]+) invalid bytes from the log {TP}\.",
                source_ref="0.8.0 Log:252",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Truncated 70 invalid bytes from the log orders-0.",
                        ({"witness": 1, "detail": "70", **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-04",
        kind=Kind.CORRUPTION_CUT,
        literal="Found invalid offset during recovery of the active segment for topic partition ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{_LOG}Found invalid offset during recovery of the active segment for topic partition {TP}\. "
                    r"Deleting the segment and creating an empty one with starting offset (?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="0.8.0 Log:200",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Found invalid offset during recovery of the active segment for topic "
                        "partition orders-0. Deleting the segment and creating an empty one with starting offset 40",
                        ({"witness": 1, **ORDERS, "offset": 40, "leo": 40},),
                    ),
                ),
            ),
        ),
    ),
    # Printed after the segment was truncated; a truncation at the start of a segment prints nothing.
    Message(
        id="O-05",
        kind=Kind.TRUNCATE,
        literal=" to target offset ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{_LOG}Truncated log segment {_SEGMENT}[0-9]+\.log to target offset (?P<offset>[0-9]+)",
                source_ref="0.8.0 Log:652",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Truncated log segment /data/orders-0/00000000000000000000.log to "
                        "target offset 50",
                        ({"witness": 1, "log_dir": "/data", **ORDERS, "offset": 50},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-06",
        kind=Kind.TRUNCATE_FULL,
        literal="], Truncate and start log ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    r"^\[Kafka Log on Broker (?P<witness>[0-9]+)\], Truncate and start log "
                    rf"'{TP}' to (?P<offset>(?P<leo>[0-9]+))"
                ),
                source_ref="0.8.0 Log:666",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Truncate and start log 'orders-0' to 42",
                        ({"witness": 1, **ORDERS, "offset": 42, "leo": 42},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-07",
        kind=Kind.ROLLED,
        literal="Rolling log '",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{_LOG}Rolling log '{TP}' to .*[/\\](?P<offset>[0-9]+)\.log and ",
                source_ref="0.8.0 Log:516",
                examples=(
                    Example(
                        "[Kafka Log on Broker 1], Rolling log 'orders-0' to /data/orders-0/00000000000000000042.log "
                        "and /data/orders-0/00000000000000000042.index",
                        ({"witness": 1, **ORDERS, "offset": 42},),
                    ),
                ),
            ),
        ),
    ),
    # -- the fetcher ----------------------------------------------------------------------------------------------
    Message(
        id="O-10",
        kind=Kind.FETCHER_ADDED,
        literal="Adding fetcher for partition [",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{FETCHER_MANAGER}Adding fetcher for {_PLACE}, initOffset (?P<offset>-?[0-9]+) to broker "
                    r"(?P<leader>[0-9]+) with "
                ),
                source_ref="0.8.0 AbstractFetcherManager:81",
                examples=(
                    Example(
                        "[ReplicaFetcherManager on broker 1] Adding fetcher for partition [orders,0], initOffset 50 to "
                        "broker 2 with fetcherId 0",
                        ({"witness": 1, **ORDERS, "offset": 50, "leader": 2},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-11",
        kind=Kind.FETCHER_REMOVED,
        literal="Removing fetcher for partition [",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{FETCHER_MANAGER}Removing fetcher for {_PLACE}",
                source_ref="0.8.0 AbstractFetcherManager:87",
                examples=(
                    Example(
                        "[ReplicaFetcherManager on broker 1] Removing fetcher for partition [orders,0]",
                        ({"witness": 1, **ORDERS},),
                    ),
                ),
            ),
        ),
    ),
    # It does not print how long its own log was.
    Message(
        id="O-12",
        kind=Kind.FETCH_RESET,
        literal=" reset its fetch offset to current leader ",
        level="WARN",
        stock=True,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=(
                    rf"^{FETCHER_OLD}Replica (?P<witness>[0-9]+) for {_PLACE} reset its fetch offset to current leader "
                    r"[0-9]+'s (?:latest offset (?P<leo>[0-9]+)|start offset (?P<log_start>[0-9]+))"
                ),
                source_ref="0.8.0 ReplicaFetcherThread:86, 0.8.1.1 ReplicaFetcherThread:85",
                examples=(
                    Example(
                        "[ReplicaFetcherThread-0-2], Replica 1 for partition [orders,0] reset its fetch offset to "
                        "current leader 2's latest offset 56",
                        ({"leader": 2, "witness": 1, **ORDERS, "leo": 56},),
                    ),
                    Example(
                        "[ReplicaFetcherThread-0-2], Replica 1 for partition [orders,0] reset its fetch offset to "
                        "current leader 2's start offset 90",
                        ({"leader": 2, "witness": 1, **ORDERS, "log_start": 90},),
                    ),
                ),
            ),
        ),
    ),
    # -- the partition, at DEBUG ----------------------------------------------------------------------------------
    Message(
        id="O-15",
        kind=Kind.HW,
        literal=": Highwatermark for partition [",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{PARTITION_OLD}Highwatermark for partition \[[^\]]+\] updated to (?P<hw>[0-9]+)",
                source_ref="0.8.0 Partition:286, 0.8.1.1 Partition:299",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Highwatermark for partition [orders,0] updated to 50",
                        ({**ORDERS, "witness": 1, "hw": 50},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="O-16",
        kind=Kind.REMOTE_LEO,
        literal=": Recording follower ",
        level="DEBUG",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="0.8",
                regex=rf"^{PARTITION_OLD}Recording follower (?P<replica>[0-9]+) position (?P<leo>[0-9]+) for partition",
                source_ref="0.8.0 Partition:225, 0.8.1.1 Partition:228",
                examples=(
                    Example(
                        "Partition [orders,0] on broker 1: Recording follower 2 position 50 for partition [orders,0].",
                        ({**ORDERS, "witness": 1, "replica": 2, "leo": 50},),
                    ),
                ),
            ),
        ),
    ),
)
"""Messages of 0.8.2 with the meaning of later ones."""
