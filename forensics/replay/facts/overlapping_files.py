"""Lines that two files of one broker have: parts of its log that overlap, or an export beside the log itself.

A whole copy of a log, and the beginning of one, are left out before they are read (``forensics.case.twins``). Of other
files that overlap, each event counts once: the same broker states the same at the same time.
"""

from __future__ import annotations

from typing import Final

import polars as pl

_WHERE: Final = ("row", "source", "line", "byte", "run", "starts_run")
"""Columns about the place of a row, not about what it states. The process may differ at a start."""

_LINE: Final = ("broker", "topic", "partition", "message", "time")
"""Columns in which hardly any two lines of different files agree: the others are compared for these alone."""

_FILE: Final = ("source", "topic", "partition")
"""The rows of one partition in one file, because each partition may be judged by itself."""


def without_overlaps(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out rows that another file has as well: the one that has fewer of them, or comes later.

    What one file states several times counts as often as the file does that states it most. Rows without a time count
    always.

    Args:
        rows: observations with their ``broker``, in order.
    """
    stated = [name for name in rows.columns if name not in _WHERE]
    known = rows.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("_at"),
        "source",
        pl.when(pl.col("time").is_not_null()).then(pl.struct(_LINE).hash()).alias("_hash"),
    ).drop_nulls("_hash")
    twice = known.filter(pl.col("source").n_unique().over("_hash") > 1)  # perhaps
    if twice.is_empty():
        return rows
    again = rows[twice.get_column("_at")].with_columns(twice.get_column("_at"))
    again = again.with_columns(pl.int_range(pl.len()).over(*stated, "source").alias("_nth"))
    lengths = rows.group_by(_FILE).len("_length")
    longest = again.join(lengths, on=_FILE, nulls_equal=True).sort("_length", "_at", descending=[True, False])
    kept = longest.unique([*stated, "_nth"], keep="first", maintain_order=True).get_column("_at")
    dropped = twice.filter(~pl.col("_at").is_in(kept.implode())).get_column("_at")
    return rows.with_row_index("_at").filter(~pl.col("_at").is_in(dropped.implode())).drop("_at")
