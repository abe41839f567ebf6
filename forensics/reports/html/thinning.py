"""Fewer points for a chart, without losing what it is drawn for."""

from __future__ import annotations

import polars as pl


def thin(frame: pl.DataFrame, budget: int, *, values: tuple[str, ...], keep: str, changes: str) -> pl.DataFrame:
    """Reduce a series to about ``budget`` rows, in their order.

    Rows that a finding cites always stay. Within the budget everything stays. Above it the changes (of a role, of a
    log) come first. The rest is divided into stretches of equal length. Each keeps its first row, its last, and the
    least and the greatest of each value, so that no spike disappears.

    Args:
        frame: the series, in order.
        budget: rows to keep beside those that findings cite.
        values: numeric columns whose extremes stay.
        keep: boolean column: a finding cites the row.
        changes: boolean column: the row is a change that matters more than progress.

    Returns:
        The rows that stay, all columns.
    """
    if frame.height <= budget:
        return frame
    rows = frame.with_row_index("_at")
    must = rows.filter(pl.col(keep))
    important = _extremes(rows.filter(pl.col(changes) & ~pl.col(keep)), budget // 2, values)
    rest = rows.filter(~pl.col(changes) & ~pl.col(keep))
    progress = _extremes(rest, budget - important.height, values)
    return pl.concat([must, important, progress]).unique("_at").sort("_at").drop("_at")


def _extremes(rows: pl.DataFrame, budget: int, values: tuple[str, ...]) -> pl.DataFrame:
    if rows.height <= budget:
        return rows
    each = 2 + 2 * len(values)
    buckets = max(budget // each, 1)
    rows = rows.with_columns((pl.int_range(pl.len()) * buckets // pl.len()).alias("_bucket"))
    position = pl.col("_at")
    picks = [position.first(), position.last()]
    for value in values:
        picks += [
            position.get(pl.col(value).arg_min()),
            position.get(pl.col(value).arg_max()),
        ]
    chosen = rows.group_by("_bucket").agg(pick.alias(f"_{n}") for n, pick in enumerate(picks))
    wanted = chosen.drop("_bucket").unpivot().get_column("value").drop_nulls().unique()
    return rows.filter(pl.col("_at").is_in(wanted.implode())).drop("_bucket")
