"""Topics by name: those whose name fits a pattern, and names for those that a source gives by id alone (KIP-516)."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

import polars as pl

from parsers.schema import Kind


def matches(topic: str, patterns: Iterable[str]) -> bool:
    """Return whether the name of a topic fits one of some patterns, as a shell's.

    >>> matches("orders", ["audit", "ord*"]), matches("orders", [])
    (True, False)
    """
    return any(fnmatchcase(topic, pattern) for pattern in patterns)


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in ``topic`` if any other row of the case has the name of its ``topic_id``.

    Request logs from 3.1 on and some metadata records give the id alone.

    An id never changes its name; a name may have several ids, one after the other.
    """
    nameless = takes_name()
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
        .with_columns(pl.when(nameless).then("_name").otherwise("topic").alias("topic"))
        .drop("_name")
    )


def takes_name() -> pl.Expr:
    """Filter for rows that give a topic by its id alone, except that a topic was removed.

    A removal is about each partition of its topic, so the replay of each reads it (``lines_of_brokers``).
    """
    removed = pl.col("kind") == Kind.TOPIC_REMOVED.value
    return pl.col("topic").is_null() & pl.col("topic_id").is_not_null() & ~removed
