"""One log file with the lines of several brokers: ``cat``, a collector, a shared standard output.

Most lines do not say which broker printed them. Where logs were joined one after another, the time falls back at each
joint, and whoever is named between two joints printed all that lies there. Where lines are mixed, only those that name
their broker count; the others are left out and said: the wrong broker would make a wrong answer.
"""

from __future__ import annotations

import polars as pl

from parsers.file_reading import note
from parsers.schema import Kind

_FALL = 2_000_000  # microseconds: threads of one broker print lines out of order by less
_ENOUGH = 5  # lines that name a broker: fewer may stand side by side by chance
_ID = r"^(?:broker|node)\.id=([0-9]{1,9})$"


def printer() -> pl.Expr:
    """Who printed a line, where it says so: by its prefix, or as a setting of its own."""
    setting = pl.when(pl.col("kind") == Kind.BROKER_CONFIG.value).then(pl.col("detail").str.extract(_ID))
    return pl.coalesce("witness", setting.cast(pl.Int32, strict=False))


def several(rows: pl.DataFrame) -> bool:
    """Whether more than one broker printed the lines of a log."""
    named = rows.select(printer().alias("printer")).get_column("printer").drop_nulls()
    return named.n_unique() > 1


def attributed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of one file of several brokers, ``witness`` filled in where it is sure, and the place in time ``_when``.

    Args:
        rows: observations in the order of their lines.
    """
    time = pl.col("time").fill_null(strategy="forward")
    joint = (time.shift(1) - time > pl.duration(microseconds=_FALL)).fill_null(False)
    rows = rows.with_columns(joint.cum_sum().alias("_log"), printer().alias("_printer"))
    before, after = pl.col("_printer").forward_fill().over("_log"), pl.col("_printer").backward_fill().over("_log")
    between = pl.when(pl.coalesce(before, after) == pl.coalesce(after, before)).then(pl.coalesce(before, after))
    one_by_one = rows.get_column("_log").is_in(_one_by_one(rows).implode())
    rows = rows.with_columns(
        pl.when(one_by_one).then(between).otherwise(pl.col("_printer")).alias("witness"),
        time.cum_max().over("_log").alias("_when"),
    )
    return rows.drop("_log", "_printer")


def told_apart(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a log of several brokers, ``attributed``, and a notice where some are left out."""
    rows = attributed(rows)
    mute = rows.get_column("witness").null_count()
    if not mute:
        return rows, note()
    why = f"lines of several brokers are mixed here: {mute} that do not name theirs are left out"
    return rows, note(f"{why}; give each broker's log by itself")


def _one_by_one(rows: pl.DataFrame) -> pl.Series:
    """Stretches between two joints in which each broker has its say before the next begins: no two are mixed."""
    named = rows.filter(pl.col("_printer").is_not_null())
    switches = (pl.col("_printer") != pl.col("_printer").shift(1)).fill_null(True).sum()
    counted = named.group_by("_log", maintain_order=True).agg(
        switches.alias("switches"),
        pl.col("_printer").n_unique().alias("printers"),
        pl.col("_printer").value_counts().struct.field("count").min().alias("least"),
    )
    alone, apart = pl.col("printers") == 1, pl.col("switches") == pl.col("printers")
    return counted.filter(alone | (apart & (pl.col("least") >= _ENOUGH))).get_column("_log")
