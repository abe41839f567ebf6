"""Refusals of brokers, and complaints of brokers and consumers: two offsets of one log that contradict each other.

Such a line states a fact by itself: "my leader's log ends at 2051, mine at 2391". It changes no log, so role spans do
not use it. It is only collected here; ``forensics.replay.signs.suspicions`` decides what it means.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.events import in_groups, tuples
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC


class Complaint(NamedTuple):
    """One such line. Values that it does not state are None.

    Attributes:
        row, source: its position.
        time: microseconds since 1970 UTC.
        broker: broker that logged it, or None if no line names it. For a consumer's line, the broker whose file it is
            in, or None.
        kind: see ``parsers.schema.Kind``.
        leader, leader_epoch: leader that it names.
        previous_epoch: leader epoch of the record before a consumer's position.
        offset: log end offset of the replica, requested offset, or a consumer's position.
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
    previous_epoch: int | None
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
    Kind.ISR_SHRINK,
)
"""Kinds of line that brokers log."""

CONSUMERS = (
    Kind.CONSUMER_OUT_OF_RANGE,
    Kind.CONSUMER_TRUNCATED,
    Kind.CONSUMER_RESET,
    Kind.CONSUMER_SET,
    Kind.GROUP_DESCRIBED,
)
"""Kinds of line that consumers log, in the logs of any application, or that a command prints of their positions."""

NOBODYS = (Kind.HW_REGRESSED, Kind.CORRUPTION_CUT)
"""Kinds of line that count too where no line names their broker, if a line of a broker names the partition."""

_UNREACHABLE: Final = 1 << 56
"""No log reaches this offset: at ten million records a second that takes 200 years."""


def reachable(offset: int) -> bool:
    """Return whether a log may have an offset; a number that is not of this kind was damaged.

    >>> reachable(5_661_575_540), reachable(8_459_296_551_737_491_457)
    (True, False)
    """
    return offset < _UNREACHABLE


Complaints = dict[tuple[str, int, int], list[Complaint]]
"""By topic, partition and incarnation."""

_PLACE = ("topic", "partition", "incarnation")


def complaints(rows: pl.DataFrame, nobodys: pl.DataFrame) -> Complaints:
    """Return the complaints of each incarnation of each partition, in the order of the case.

    Args:
        rows: observations with ``incarnation``.
        nobodys: observations that no broker logged. They are assumed to be about the present incarnation.
    """
    contradicts = (pl.col("kind") != Kind.GROUP_DESCRIBED.value) | (pl.col("offset") > pl.col("leo"))
    brokers = rows.filter(pl.col("kind").is_in([kind.value for kind in (*BROKERS, *CONSUMERS)]))
    others = nobodys.filter(pl.col("topic") != METADATA_TOPIC, pl.col("partition").is_not_null())
    others = others.with_columns(pl.lit(0, dtype=pl.Int32).alias("incarnation"))
    consumers, fell = (
        others.filter(pl.col("kind").is_in([kind.value for kind in kinds])) for kinds in (CONSUMERS, NOBODYS)
    )
    if fell.height:  # of a partition that no broker's line names, it shows nothing
        fell = fell.join(rows, on=list(_PLACE), how="semi")
    found: Complaints = {}
    for part in (brokers, consumers, fell):
        if part.is_empty():
            continue
        rows = part.filter(pl.col("partition").is_not_null(), contradicts).sort(*_PLACE, "row")
        for place, lines in in_groups(rows, _PLACE, _lines).items():
            found.setdefault(place, []).extend(lines)
    return found


def _lines(rows: pl.DataFrame) -> list[Complaint]:
    return tuples(rows, Complaint._make, Complaint._fields)
