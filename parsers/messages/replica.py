"""``kafka.cluster.Replica``: what the leader stores of its followers, and a replica's own high watermark (TRACE)."""

from __future__ import annotations

from parsers.details import AMBIGUOUS, FETCHES_FROM_ITSELF
from parsers.messages.catalogue import Example, Message, Variant
from parsers.messages.patterns import EITHER, NAME, ORDERS, TP, known, metadata
from parsers.schema import Kind

_REPLICA = (
    rf"Replica\(replicaId=(?P<replica>[0-9]+), topic=(?P<topic>{NAME}), partition=(?P<partition>[0-9]+), "
    rf"lastCaughtUpTimeMs=-?[0-9]+, logStartOffset={known('log_start')}, logEndOffset={known('leo')}, "
)

MESSAGES: tuple[Message, ...] = (
    # Printed for every Replica object, remote ones too and then always 0: only a value above 0 is surely the local one.
    Message(
        id="R-01",
        kind=Kind.HW_LOADED,
        literal="Replica loaded for partition ",
        level="INFO",
        stock=True,
        variants=(
            Variant(
                since="0.11",
                until="2.3",
                regex=rf"^Replica loaded for partition {TP} with initial high watermark (?P<hw>[0-9]+)",
                source_ref="0.11.0.2 Replica:62, 2.3.1 Replica:57",
                fixed={"detail": AMBIGUOUS},
                examples=(
                    Example(
                        "Replica loaded for partition orders-2 with initial high watermark 0",
                        ({"topic": "orders", "partition": 2, "hw": 0, "detail": AMBIGUOUS},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="R-02",
        kind=Kind.REMOTE_LEO,
        literal="Setting log end offset for replica ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="2.3",
                regex=(
                    rf"^Setting log end offset for replica (?P<replica>[0-9]+) for partition {EITHER} to "
                    rf"\[{metadata('leo')}\]"
                ),
                source_ref="0.10.2.2 Replica:91",
                examples=(
                    Example(
                        "Setting log end offset for replica 2 for partition orders-0 to [50 [0 : 1840]]",
                        ({**ORDERS, "replica": 2, "leo": 50},),
                        "real",
                    ),
                    Example(
                        "Setting log end offset for replica 1 for partition orders-0 to [-1 [0 : 0]]",
                        ({**ORDERS, "replica": 1},),
                        "real",
                    ),
                    Example(
                        "Setting log end offset for replica 2 for partition [orders,0] to [50 [0 : 1590]]",
                        ({**ORDERS, "replica": 2, "leo": 50},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="R-03",
        kind=Kind.HW,
        literal="Setting high watermark for replica ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.8",
                until="2.3",
                regex=(
                    rf"^Setting high watermark for replica (?P<replica>[0-9]+) partition {EITHER} "
                    r"(?:on broker [0-9]+ )?to "
                    rf"\[{metadata('hw')}\]"
                ),
                source_ref="0.10.2.2 Replica:104",
                examples=(
                    Example(
                        "Setting high watermark for replica 3 partition orders-0 to [90 [0 : 3310]]",
                        ({**ORDERS, "replica": 3, "hw": 90},),
                        "real",
                    ),
                    Example(
                        "Setting high watermark for replica 3 partition orders-0 to [90 [-1 : -1]]",
                        ({**ORDERS, "replica": 3, "hw": 90},),
                    ),
                    Example(
                        "Setting high watermark for replica 3 partition [orders,0] on broker 3 to [80 [-1 : -1]]",
                        ({**ORDERS, "replica": 3, "hw": 80},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="R-04",
        kind=Kind.LOG_START,
        literal="Setting log start offset for remote replica ",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="0.11",
                until="2.3",
                regex=(
                    rf"^Setting log start offset for remote replica (?P<replica>[0-9]+) for partition {TP} to "
                    rf"\[{known('log_start')}\]"
                ),
                source_ref="0.11.0.2 Replica:131",
                fixed={"detail": "as its leader recorded it"},
                examples=(
                    Example(
                        "Setting log start offset for remote replica 1 for partition orders-0 to [0]",
                        ({**ORDERS, "replica": 1, "log_start": 0, "detail": "as its leader recorded it"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="R-05",
        kind=Kind.REMOTE_LEO,
        literal="Updated state of replica to Replica(",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="2.4",
                until="2.5",
                regex=rf"^Updated state of replica to {_REPLICA}",
                source_ref="2.4.1 Replica:86",
                examples=(
                    Example(
                        "Updated state of replica to Replica(replicaId=2, topic=orders, partition=0, "
                        "lastCaughtUpTimeMs=1583402400000, logStartOffset=0, logEndOffset=41, "
                        "logEndOffsetMetadata=(offset=41 segment=[0:2911]), lastFetchLeaderLogEndOffset=42, "
                        "lastFetchTimeMs=1583402400004, lastSentHighWatermark=40)",
                        ({**ORDERS, "replica": 2, "leo": 41, "log_start": 0},),
                    ),
                ),
            ),
        ),
    ),
    Message(
        id="R-06",
        kind=Kind.REMOTE_LEO,
        literal="Reset state of replica to Replica(",
        level="TRACE",
        stock=False,
        variants=(
            Variant(
                since="2.4",
                until=None,
                regex=rf"^Reset state of replica to {_REPLICA}",
                source_ref="2.4.1 Replica:106, 3.6.2 Replica:169",
                fixed={"detail": "reset"},
                examples=(
                    Example(
                        "Reset state of replica to Replica(replicaId=1, topic=orders, partition=0, "
                        "lastCaughtUpTimeMs=0, logStartOffset=-1, logEndOffset=-1, "
                        "logEndOffsetMetadata=(offset=-1, segment=[-1:-1]), lastFetchLeaderLogEndOffset=-1, "
                        "brokerEpoch=-2, lastFetchTimeMs=0)",
                        ({**ORDERS, "replica": 1, "detail": "reset"},),
                        "real",
                    ),
                ),
            ),
        ),
    ),
    # The follower that asks has the broker id of the leader that it asks.
    Message(
        id="KP-19",
        kind=Kind.PROBLEM,
        literal="Should not set log end offset on partition ",
        level="ERROR",
        stock=True,
        thrown=True,
        variants=(
            Variant(
                since="0.8",
                until="2.3",
                regex=(rf"^Should not set log end offset on partition {EITHER}'s local replica (?P<witness>[0-9]+)"),
                source_ref="0.10.2.2 Replica:logEndOffset, 2.0.1 Replica",
                fixed={"detail": FETCHES_FROM_ITSELF},
                examples=(
                    Example(
                        "Should not set log end offset on partition [orders,0]'s local replica 2",
                        ({**ORDERS, "witness": 2, "detail": FETCHES_FROM_ITSELF},),
                    ),
                    Example(
                        "Should not set log end offset on partition orders-0's local replica 2",
                        ({**ORDERS, "witness": 2, "detail": FETCHES_FROM_ITSELF},),
                    ),
                ),
            ),
        ),
    ),
)
"""Log end offsets and high watermarks as they are set."""
