"""What brokers refuse, and what brokers and consumers complain of: two offsets of one log that do not fit.

Such a line states a fact by itself: "the log of my leader ends at 2051, mine at 2391". It moves no log, so role spans
do not know it. Here it is only collected; ``forensics.replay.suspicions`` asks what it means.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from forensics.replay.events import as_values
from parsers.schema import Kind
from parsers.take_metadata import TOPIC as METADATA_TOPIC


class Complaint(NamedTuple):
    """One such line. Values that it does not state are None.

    Attributes:
        row, source: where it stands.
        time: microseconds since 1970 UTC.
        broker: who printed it; of a consumer's line, whose file it is in, or None.
        kind: see ``parsers.schema.Kind``.
        leader, leader_epoch: whom it names.
        offset: log end offset of the replica, offset asked for, or a consumer's position.
        hw, hw_before: high watermark.
        leo: log end offset of the other side.
        log_start: log start offset of the other side.
        detail: see ``parsers.schema.Kind``.
    """

    row: int
    source: int
    time: int | None
    broker: int | None
    kind: str
    leader: int | None
    leader_epoch: int | None
    offset: int | None
    hw: int | None
    hw_before: int | None
    leo: int | None
    log_start: int | None
    detail: str | None


BROKERS = (
    Kind.TRUNCATION_REFUSED,
    Kind.APPEND_REFUSED,
    Kind.LOG_START_REFUSED,
    Kind.FETCH_RESET,
    Kind.FETCH_OFFSET_SET,
    Kind.OUT_OF_RANGE,
    Kind.HW_REGRESSED,
)
"""What brokers say."""

CONSUMERS = (Kind.CONSUMER_OUT_OF_RANGE, Kind.CONSUMER_TRUNCATED, Kind.CONSUMER_RESET)
"""What consumers say, in the logs of whatever application."""

Complaints = dict[tuple[str, int, int], list[Complaint]]
"""By topic, partition and incarnation."""

_PLACE = ("topic", "partition", "incarnation")


def complaints(rows: pl.DataFrame, nobodys: pl.DataFrame) -> Complaints:
    """The complaints of each life of each partition, in the order of the case.

    Args:
        rows: observations with ``incarnation``.
        nobodys: observations that no broker printed. What is in them is taken to be about the present life.
    """
    brokers = rows.filter(pl.col("kind").is_in([kind.value for kind in (*BROKERS, *CONSUMERS)]))
    consumers = nobodys.filter(
        pl.col("kind").is_in([kind.value for kind in CONSUMERS]),
        pl.col("topic") != METADATA_TOPIC,
        pl.col("partition").is_not_null(),
    ).with_columns(pl.lit(0, dtype=pl.Int32).alias("incarnation"))
    found: Complaints = {}
    for part in (brokers, consumers):
        for topic, partition, incarnation, *values in (
            part.filter(pl.col("partition").is_not_null())
            .sort(*_PLACE, "row")
            .select(*_PLACE, *as_values(Complaint._fields))
            .iter_rows()
        ):
            found.setdefault((topic, partition, incarnation), []).append(Complaint(*values))
    return found
