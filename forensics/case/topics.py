"""Names for topics that a source gives by id alone (KIP-516): request logs from 3.1 on, some metadata records."""

from __future__ import annotations

import polars as pl


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in ``topic`` if any other row of the case has the name of its ``topic_id``.

    An id never changes its name; a name may have several ids, one after the other.
    """
    nameless = pl.col("topic").is_null() & pl.col("topic_id").is_not_null()
    if not rows.select(nameless.any()).item():
        return rows
    names = (
        rows.filter(pl.col("topic").is_not_null() & pl.col("topic_id").is_not_null())
        .select("topic_id", pl.col("topic").alias("_name"))
        .unique()
        .sort("topic_id", "_name")
        .unique("topic_id", keep="first", maintain_order=True)
    )
    return (
        rows.join(names, on="topic_id", how="left", maintain_order="left")
        .with_columns(pl.coalesce("topic", "_name").alias("topic"))
        .drop("_name")
    )
