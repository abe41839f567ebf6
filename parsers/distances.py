"""Differences between printed times and those that a collector added: evidence for a zone, or for lines read late.

A collector adds the moment at which it read a line, in UTC. Printed times differ from that by the offset of the
broker's zone, minus the time that the line waited. Only many lines show which of the two it is. So everything that a
file shows is counted here, part by part, and judged once the whole case is known (``forensics.case.zones``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

Distances = list[list[int]]
"""By whole quarters of an hour, rising: quarters, lines, lines within seconds of them, first and last printed time of
those (0 where there are none), least and greatest distance. Times and distances in microseconds, printed less added."""

QUARTER: Final = 900_000_000
LATEST: Final = 15_000_000
"""A line that is read as it is written waits no longer: Filebeat looks again after at most ten seconds."""
EARLIEST: Final = 5_000_000
"""How far a clock that gives whole seconds, or another host's, may be behind."""
_FARTHEST: Final = 15 * 4  # hours: no zone is as far


def measured(printed: pl.Series, added: pl.Series) -> Distances:
    """Distances of one part's lines.

    Args:
        printed: naive times as printed.
        added: naive times in UTC that a collector gave; null where a line has none.
    """
    rows = (
        pl.DataFrame({"time": printed.cast(pl.Int64), "added": added.cast(pl.Int64)})
        .drop_nulls()
        .with_columns((pl.col("time") - pl.col("added")).alias("apart"))
        .with_columns((pl.col("apart") / QUARTER).round().cast(pl.Int64).clip(-_FARTHEST, _FARTHEST).alias("quarter"))
        .with_columns((pl.col("apart") - QUARTER * pl.col("quarter")).is_between(-LATEST, EARLIEST).alias("near"))
    )
    near = pl.col("time").filter(pl.col("near"))
    found = rows.group_by("quarter").agg(
        pl.len().cast(pl.Int64),
        pl.col("near").sum().cast(pl.Int64).alias("close"),
        near.min().fill_null(0).alias("first"),
        near.max().fill_null(0).alias("last"),
        pl.col("apart").min().alias("least"),
        pl.col("apart").max().alias("most"),
    )
    return [list(row) for row in found.sort("quarter").iter_rows()]


def together(parts: Iterable[Sequence[Sequence[int]]]) -> Distances:
    """The distances of a file from those of its parts."""
    found: dict[int, list[int]] = {}
    for quarter, lines, close, first, last, least, most in (row for part in parts for row in part):
        if quarter not in found:
            found[quarter] = [quarter, lines, close, first, last, least, most]
            continue
        row = found[quarter]
        if close:
            row[3] = min(row[3], first) if row[2] else first
            row[4] = max(row[4], last) if row[2] else last
        row[1] += lines
        row[2] += close
        row[5], row[6] = min(row[5], least), max(row[6], most)
    return [found[quarter] for quarter in sorted(found)]
