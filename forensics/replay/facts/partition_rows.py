"""The observations of partitions that replay reads: in order, each with its incarnation and the number of its log."""

from __future__ import annotations

from typing import Final

import polars as pl

from forensics.case.order import METADATA_TOPIC
from forensics.replay.facts.incarnations import incarnations
from forensics.replay.facts.log_dir_moves import without_copies
from forensics.replay.facts.log_numbers import LOG, numbered
from forensics.replay.facts.overlapping_files import without_overlaps
from forensics.replay.facts.removed_logs import without_removed_logs
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import SCRAPED, Kind

_TRAFFIC: Final = (Kind.REMOTE_LEO, Kind.ACKS_AWAITED, Kind.EPOCH_REPLY)
"""Kinds that replay does not read in logs, except the followers' log end offsets in a line that shrinks the ISR."""


def partition_rows(observations: pl.DataFrame, *, metadata: bool = False) -> pl.DataFrame:
    """Return the rows by topic, partition, broker and row, with the columns ``incarnation`` and ``LOG``.

    Args:
        observations: of the case.
        metadata: with those of the metadata log, which ``quorum`` replays.
    """
    place = ("topic", "partition", "broker")
    read = pl.col("topic").is_not_null() & pl.col("broker").is_not_null() & _is_read(observations)
    if not metadata:
        read = read & (pl.col("topic") != METADATA_TOPIC)
    order = observations.select(
        *place, "row", pl.int_range(pl.len(), dtype=pl.UInt32).alias("_at"), read.alias("_read")
    )
    order = numbered(order.filter("_read").sort("row"), place).sort(LOG, maintain_order=True)
    # The rows are chosen and put in order by these columns alone, and then taken with all of theirs at once.
    rows = observations[order.get_column("_at")].with_columns(order.get_column(LOG))
    rows = incarnations(without_removed_logs(without_copies(without_overlaps(rows))))
    if rows.get_column("incarnation").sum():
        return numbered(rows.drop(LOG))
    return rows


def _is_read(observations: pl.DataFrame) -> pl.Expr:
    """Filter for rows that replay reads; each line of a trace is, and each that names a topic id."""
    traffic = pl.col("kind").is_in([kind.value for kind in _TRAFFIC]) & (pl.col("message") != TRACE)
    unread = traffic & (pl.col("topic_id").str.len_chars() > 0).fill_null(False).not_()
    # Read by themselves, as no broker states them of its log; what plugins state is read by their rules alone.
    apart = pl.col("kind").is_in([kind.value for kind in (Kind.GROUP_COMMITTED, *SCRAPED, Kind.PLUGIN)])
    return (~unread & ~apart) | pl.col("row").is_in(lagging(observations).get_column("row").implode())


def lagging(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the followers' log end offsets that a leader logs when it shrinks the ISR, in order.

    In a trace each value of a line of a log has a line of its own, with the message and the time of that line.
    """
    shrinks, remote = pl.col("kind") == Kind.ISR_SHRINK.value, pl.col("kind") == Kind.REMOTE_LEO.value
    repeated = shrinks & (pl.col("message") != TRACE)
    same = ["source", "broker", "topic", "partition", "message", "time"]
    shrunk = rows.filter(shrinks)
    ends = rows.filter(remote) if shrunk.height else rows.clear()
    if ends.is_empty():
        return ends
    by_line = ends.join(shrunk, on=["source", "line"], how="semi")
    by_message = ends.join(shrunk.filter(repeated), on=same, how="semi")
    return pl.concat([by_line, by_message]).unique("row").sort("row")
