"""Rows of one partition that cannot change its answer are left out as they arrive.

A logger at TRACE prints high watermark and log end offset a million times. ``forensics.replay.partitions`` thins them
once it has all rows of a partition. Here the same is done to rows that arrive in order, as many at a time as memory
allows, and the remaining rows give the same history. Only these rows are left out:

* Progress between two other rows of its broker. Kept are the first, the last and the greatest of its kind, the first
  that falls below one before it, and the one before that. For rolled segments and appends these are kept for each
  message that reports them. Appends that do not begin where the one before them ended are kept too.
* A broker's lines about another broker's progress, and epoch ends that it answers with each fetch, if the row names no
  new topic id.
* Headers of batches within a file and an epoch that hold a record at each offset and are adjacent, if all replicas with
  these offsets have the same batch. ``replay.facts.disks`` and ``forks`` need only where epochs begin, where logs end,
  what differs, and the first batch behind a difference that replicas share. ``held`` needs offsets without a record,
  and ``rules.written`` the last batch before an epoch begins.

Everything else is kept. So the result grows with events that change a role or a log and with offsets that hold no
record, not with other traffic.
"""

from __future__ import annotations

import polars as pl

from forensics.replay.facts.events import PROGRESS
from forensics.replay.facts.partition_lines import JUMPED, told_by, with_jumps
from forensics.replay.omissions.own_lines import FOLLOWS
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_SAME = ("leader_epoch", "crc", "records", "magic")
"""Columns by which two batches of the same offsets are equal."""

_TRAFFIC = (Kind.REMOTE_LEO, Kind.ACKS_AWAITED, Kind.EPOCH_REPLY)
"""Kinds that replay does not read, except in the line that shrinks the ISR."""

_PLACE = ("cluster", "topic", "partition", "broker")


def thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that can matter.

    Args:
        rows: observations in order, by partition, then broker. May be what is left of rows thinned before, followed by
            the rows that come next.
    """
    columns, place = rows.columns, list(_PLACE)
    mine = pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))
    moves = pl.col("kind").is_in([kind.value for kind in PROGRESS])
    named = pl.when(pl.col("topic_id").str.len_chars() > 0).then(pl.col("topic_id"))
    line = ["source", "line"]
    shrinking = rows.filter(pl.col("kind") == Kind.ISR_SHRINK.value).select(*line, pl.lit(True).alias("_shrinks"))
    rows = rows.join(shrinking.unique(), on=line, how="left", maintain_order="left").with_columns(
        (moves & mine).alias("_progress"),
        ((moves & ~mine) | pl.col("kind").is_in([kind.value for kind in _TRAFFIC])).alias("_hearsay"),
        named.alias("_id"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("_at"),
        # A line that may continue in later rows is kept whole.
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
    nobodys = pl.col("broker").is_null()  # counted, not replayed
    hearsay = pl.col("_hearsay") & ~pl.col("_tells") & pl.col("_shrinks").is_null() & ~pl.col("_open") & ~nobodys
    rows = rows.filter(~hearsay)
    breaks = ~pl.col("_progress") | pl.col("_tells")
    rows = rows.with_columns(breaks.cast(pl.UInt32).cum_sum().over(place).alias("_stretch"), told_by().alias("_by"))
    span = [*place, "_stretch", "kind", "_by"]
    known = pl.col("hw").is_not_null()
    hw = pl.when(known).then(pl.col("hw"))
    lower = (hw < hw.cum_max().over(span)).fill_null(False)
    rows = rows.with_columns(lower.alias("_lower"), with_jumps(span))
    rows = rows.with_columns(
        _at("_lower").min().over(span).alias("_falls_at"),
        (pl.col("hw") == pl.col("hw").max().over(span)).alias("_peak"),
    )
    chosen = (
        pl.col("_at").max(),
        _at(known | (pl.col("kind") == Kind.APPEND.value)).min(),
        _at("_peak").min(),
        pl.col("_falls_at").min(),
        _at(known & (pl.col("_at") < pl.col("_falls_at"))).max(),
    )
    jumps = (pl.col("detail") == JUMPED).fill_null(False)
    # A last stable offset counts in each line of a trace, and where it is above the high watermark.
    stable = ((pl.col("message") == TRACE) & pl.col("lso").is_not_null()) | (pl.col("lso") > pl.col("hw"))
    keep = [
        breaks,
        jumps,
        stable.fill_null(False),
        nobodys,
        *((pl.col("_at") == one.over(span)).fill_null(False) for one in chosen),
    ]
    rows = rows.with_columns(pl.any_horizontal(keep).alias("_kept"))
    follows = (pl.col("kind") == Kind.APPEND.value) & ~pl.col("_kept").shift(1).over(span).fill_null(True)
    follows &= pl.col("detail").is_null()
    rows = rows.with_columns(pl.when(follows).then(pl.lit(FOLLOWS)).otherwise("detail").alias("detail"))
    return rows.filter("_kept").select(columns)


def _at(which: str | pl.Expr) -> pl.Expr:
    """Positions of rows, null for others: to filter in a window asks each of half a million windows by itself."""
    return pl.when(pl.col(which) if isinstance(which, str) else which).then(pl.col("_at"))


def headers(rows: pl.DataFrame) -> pl.Series:
    """Return which headers of batches can matter.

    Args:
        rows: headers of one partition, of all its replicas, in the order of base offsets, then sources and bytes. May
            be the result of earlier rows, followed by the next ones.

    Returns:
        True for each header to keep.
    """
    span = ["base_offset", "last_offset"]
    sound = pl.col("crc_ok").fill_null(True)
    columns = (
        rows.group_by(span)
        .agg(
            sound.all().alias("_one"),
            pl.col("broker").hash().sum().alias("_whose"),
            *(pl.col(name).n_unique().alias(f"_{name}") for name in _SAME),
        )
        .sort(span, nulls_last=True)
        .with_columns(pl.col("last_offset").cum_max().shift(1).alias("_reached"))
    )
    # A batch that shares offsets with no other except the same one on other replicas; for the last this is unknown yet.
    apart = (pl.col("_reached") < pl.col("base_offset")) | pl.col("_reached").is_null()
    apart &= pl.col("last_offset") < pl.col("base_offset").shift(-1)
    same = pl.all_horizontal("_one", *(pl.col(f"_{name}") == 1 for name in _SAME))
    plain = (apart & same).fill_null(False)
    # The first that these replicas share, and the first that they share behind a difference.
    again = plain & plain.shift(1).fill_null(False) & (pl.col("_whose") == pl.col("_whose").shift(1))
    columns = columns.select(*span, again.alias("_plain"))
    found = rows.join(columns, on=span, how="left", maintain_order="left").with_columns(sound.alias("_sound"))

    def as_its(neighbour: int, *names: str) -> pl.Expr:
        return pl.all_horizontal(
            pl.col("_sound").shift(neighbour).over("broker").fill_null(False),
            *(pl.col(name).eq_missing(pl.col(name).shift(neighbour).over("broker")) for name in names),
        )

    full = pl.col("records") == pl.col("last_offset") - pl.col("base_offset") + 1
    full &= ~pl.col("control").fill_null(False)
    # Bytes between two headers are those of headers that were left out before, which leave no gap.
    goes_on = pl.col("base_offset") == pl.col("last_offset").shift(1).over("broker") + 1
    goes_on |= pl.col("byte") != (pl.col("byte") + pl.col("size")).shift(1).over("broker")
    full &= goes_on & goes_on.shift(-1).over("broker")
    needless = pl.col("_plain").fill_null(False) & full.fill_null(False)
    # Two are kept of those that share an epoch: whether one batch alone states it matters.
    needless &= as_its(1, "source", "leader_epoch") & as_its(2, "leader_epoch") & as_its(-1, "source", "leader_epoch")
    return found.select(~needless).to_series()
