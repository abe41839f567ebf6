"""High watermarks and ISRs that log lines print, each by itself.

A line such as "Shrinking ISR … (highWatermark: 5021, endOffset: 5100)" states what was committed, and who was in sync,
even if no line of its broker names the role in which it was logged. Role spans cannot use such a line, so it is
collected here.
``forensics.replay.signs.suspicions`` decides what it means where the evidence is not whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from forensics.replay.facts.events import in_groups, tuples
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


class PrintedHw(NamedTuple):
    """One such line.

    Attributes:
        row: its position.
        text: number of the text that it is in. All pieces of one pasted text have the same.
        time: microseconds since 1970 UTC, or None.
        broker: broker that logged it, about its own replica.
        run: its process.
        kind: see ``parsers.schema.Kind``.
        leader: leader that it names, or None.
        leader_epoch: leader epoch that the replica then entered, or None. The high watermark was reached before.
        offset: of a truncation, its target; else None.
        value: high watermark; None of a line that prints none.
        after: high watermark that replaces ``value``, of a line about a fall; else None.
        end: log end offset of the replica, or None.
        isr: ISR that the broker states as leader, or None.
        previous: of a role, the leader epoch that the replica was in before, or None; -1 for none in this process.
    """

    row: int
    text: int
    time: int | None
    broker: int
    run: int
    kind: str
    leader: int | None
    leader_epoch: int | None
    offset: int | None
    value: int | None
    after: int | None
    end: int | None
    isr: str | None
    previous: int | None


KINDS = (
    Kind.ISR_SHRINK,
    Kind.ISR_EXPAND,
    Kind.ISR_COMMIT,
    Kind.ISR_REJECTED,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.HW_LOADED,
    Kind.HW_REGRESSED,
    Kind.TRUNCATE_BELOW_HW,
    Kind.TRUNCATE_PLAN,
    Kind.TRUNCATE_NOOP,
    Kind.LOG_DELETED,
)
"""Kinds of line that print a high watermark, an ISR, or what a replica truncates to, or end what it is about. They are
rare.
"""

PrintedHws = dict[tuple[str, int, int], list[PrintedHw]]
"""By topic, partition and incarnation."""

_PLACE = ("topic", "partition", "incarnation")


def printed_hws(rows: pl.DataFrame, texts: Mapping[int, int]) -> PrintedHws:
    """Return the high watermarks that lines print, in the order of the case.

    At level DEBUG a broker logs each advance of a high watermark. Of these lines the last one of a minute is enough.

    Args:
        rows: observations with ``incarnation`` and ``broker``.
        texts: number of the text of each source; see ``PrintedHw``.
    """
    own = pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))
    logged = rows.filter(own, pl.col("message") != TRACE)
    rare = logged.filter(pl.col("kind").is_in([kind.value for kind in KINDS]))
    advances = logged.filter(pl.col("kind") == Kind.HW.value, pl.col("hw").is_not_null())
    minute = pl.col("time").dt.truncate("1m").alias("_minute")
    advances = advances.unique([*_PLACE, "broker", "source", minute], keep="last") if advances.height else advances
    fell = pl.col("kind") == Kind.HW_REGRESSED.value
    every = pl.concat([rare, advances]).with_columns(
        pl.when(fell).then("hw_before").otherwise("hw").alias("value"),
        pl.when(fell).then("hw").alias("after"),
        pl.col("leo").alias("end"),
        pl.col("previous_epoch").alias("previous"),
        pl.col("source").cast(pl.Int64).replace(dict(texts)).alias("text"),
    )
    return in_groups(every.sort(*_PLACE, "row"), _PLACE, _lines)


def _lines(rows: pl.DataFrame) -> list[PrintedHw]:
    return tuples(rows, PrintedHw._make, PrintedHw._fields)
