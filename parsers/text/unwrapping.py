"""Functions that all wrappings of lines use: read a collector's time, join pieces of a line, make a block of inner
lines.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.text.lines import Block

MOST_PIECES: Final = 1000
"""Pieces of one line that are joined."""

_TAI64_EPOCH: Final = (1 << 62) + 10
"""The label of 1970-01-01 00:00:00 UTC as daemontools, multilog and svlogd count (``taia_now``)."""


def trailing(flags: pl.Series) -> int:
    """How many at the end are set."""
    return int(flags.reverse().cast(pl.Int8).cum_min().sum())


def added(text: pl.Expr, nanos: pl.Expr | None = None) -> pl.Expr:
    """Return a collector's time as naive UTC: ISO 8601 with a zone, a number since 1970 whose size shows its unit,
    TAI64N.
    """
    whole = text.str.extract(r"^([0-9]{10,19})(?:\.[0-9]+)?$")
    number = whole.cast(pl.Int64, strict=False)
    size = whole.str.len_bytes()
    micros: pl.Expr = (
        pl.when(size == 10)
        .then(number * 1_000_000)
        .when(size == 13)
        .then(number * 1000)
        .when(size == 16)
        .then(number)
        .when(size == 19)
        .then(number // 1000)
    )
    fraction = text.str.extract(r"^[0-9]{10}(\.[0-9]+)$").cast(pl.Float64, strict=False)
    micros = micros + (fraction.fill_null(0.0) * 1_000_000).round().cast(pl.Int64)
    label = text.str.extract(r"^@([0-9a-f]{24})$")
    seconds = label.str.slice(0, 16).str.to_integer(base=16, strict=False) - _TAI64_EPOCH
    rest = label.str.slice(16).str.to_integer(base=16, strict=False) // 1000
    micros = pl.coalesce(micros, seconds * 1_000_000 + rest)
    if nanos is not None:
        micros = micros + (nanos.cast(pl.Int64, strict=False).fill_null(0) // 1000)
    iso = (
        text.str.replace(r"^(.{10})T", "$1 ")
        .str.replace(",", ".", literal=True)
        .str.replace(r" ?(?:Z|UTC)$", "+0000")
        .str.replace(r" ?([+-][0-9]{2}):?([0-9]{2})$", "$1$2")
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f%z", time_unit="us", time_zone="UTC", strict=False)
        .dt.replace_time_zone(None)
    )
    return pl.coalesce(iso, micros.cast(pl.Datetime("us")))


def joined(rows: pl.DataFrame) -> pl.DataFrame:
    """Join the pieces of lines; ``more`` marks a piece that another follows."""
    piece = (~pl.col("more").fill_null(False)).cum_sum().shift(1, fill_value=0).alias("_whole")
    return (
        rows.with_columns(piece)
        .group_by("_whole", maintain_order=True)
        .agg(
            pl.col("line").first(),
            pl.col("inner").fill_null("").str.join(""),
            pl.col("outer").first(),
            *([pl.col("text").first()] if "text" in rows.columns else []),
        )
    )


def inside(outside: Block, rows: pl.DataFrame) -> Block:
    """The lines in columns ``line``, ``inner`` and ``outer``, as a block."""
    outer = rows.get_column("outer")
    return Block(
        rows.get_column("inner").fill_null("").alias("text"),
        outside.first_line,
        outside.notices,
        rows.get_column("line"),
        None if outer.null_count() == outer.len() else outer,
    )
