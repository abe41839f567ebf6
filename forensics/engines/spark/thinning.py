"""Rows of one partition that cannot change its answer, left out while they pass by.

A logger at TRACE prints high watermark and log end offset a million times. ``forensics.replay.partitions`` thins them
once it has all rows of a partition; here the same is done to rows that come in order, as many at a time as memory
allows, and what is left gives the same history. Left out is only

* progress between two other rows of its broker, but for the first, the last and the greatest of its kind, the first
  that falls below one before it, and the one before that;
* what a broker says of another's progress, where it names no topic id that was not the last one anyway.

Everything else is kept, so what is left grows with events that change a role or a log, not with traffic.
"""

from __future__ import annotations

import polars as pl

from forensics.replay.partitions import PROGRESS
from parsers.schema import Kind

_PLACE = ("cluster", "topic", "partition", "broker")


def thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that can matter.

    Args:
        rows: observations in order, by partition, then broker. May be what is left of rows thinned before, followed by
            the rows that come next.
    """
    place = list(_PLACE)
    mine = pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))
    moves = pl.col("kind").is_in([kind.value for kind in PROGRESS])
    named = pl.when(pl.col("topic_id").str.len_chars() > 0).then(pl.col("topic_id"))
    line = ["source", "line"]
    shrinking = rows.filter(pl.col("kind") == Kind.ISR_SHRINK.value).select(*line, pl.lit(True).alias("_shrinks"))
    rows = rows.join(shrinking.unique(), on=line, how="left", maintain_order="left").with_columns(
        (moves & mine).alias("_progress"),
        ((moves & ~mine) | (pl.col("kind") == Kind.REMOTE_LEO.value)).alias("_hearsay"),
        named.alias("_id"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("_at"),
        # The line that may go on in the rows to come is kept whole.
        ((pl.col("source") == pl.col("source").last()) & pl.col("line").eq_missing(pl.col("line").last())).alias(
            "_open"
        ),
    )
    before = pl.col("_id").forward_fill().shift(1).over(place)
    earliest = pl.col("time").cum_min().shift(1).over([*place, "_id"])
    tells = pl.col("_id").is_not_null() & (
        pl.col("_id").ne_missing(before) | (pl.col("time") < earliest).fill_null(pl.col("time").is_not_null())
    )
    rows = rows.with_columns(tells.alias("_tells"))
    hearsay = pl.col("_hearsay") & ~pl.col("_tells") & pl.col("_shrinks").is_null() & ~pl.col("_open")
    rows = rows.filter(~hearsay)
    breaks = ~pl.col("_progress") | pl.col("_tells")
    rows = rows.with_columns(breaks.cast(pl.UInt32).cum_sum().over(place).alias("_stretch"))
    span = [*place, "_stretch", "kind"]
    known = pl.col("hw").is_not_null()
    hw = pl.when(known).then(pl.col("hw"))
    lower = (hw < hw.cum_max().over(span)).fill_null(False)
    rows = rows.with_columns(lower.alias("_lower"))
    first_lower = pl.col("_at") == pl.col("_at").filter("_lower").min().over(span)
    rows = rows.with_columns(
        first_lower.fill_null(False).alias("_first_lower"),
        pl.col("_at").filter("_lower").min().over(span).alias("_falls_at"),
    )
    keep = (
        breaks
        | (pl.col("_at") == pl.col("_at").max().over(span))
        | (pl.col("_at") == pl.col("_at").filter(known).min().over(span)).fill_null(False)
        | (pl.col("_at") == pl.col("_at").filter(pl.col("hw") == pl.col("hw").max()).min().over(span)).fill_null(False)
        | pl.col("_first_lower")
        | (
            pl.col("_at") == pl.col("_at").filter(known & (pl.col("_at") < pl.col("_falls_at"))).max().over(span)
        ).fill_null(False)
    )
    return rows.filter(keep).drop(
        "_progress", "_hearsay", "_id", "_at", "_open", "_shrinks", "_tells", "_stretch", "_lower", "_first_lower",
        "_falls_at",
    )  # fmt: skip
