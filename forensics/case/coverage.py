"""Coverage of the evidence: broker by kind of file, with its time span."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl

from forensics.case.case import Case
from forensics.case.partial import IN_EXCERPT
from parsers.text.broker_log import NAME as LOG

KINDS: tuple[tuple[str, str], ...] = (
    # names that operators use; distinguished by name within the format, because all logs share one layout
    ("server.log", "server"),
    ("state-change.log", "state-change"),
    ("controller.log", "controller"),
    ("kafka-request.log", "request"),
    ("log-cleaner.log", "cleaner"),
)


def coverage(case: Case) -> pl.DataFrame:
    """Return one row per broker and kind of file.

    A file of no single broker, such as a trace, counts for each broker that states something in it.

    Returns:
        Columns broker, kind, files, bytes, lines, understood, relevant, first_time, last_time (UTC), ordered by broker
        and kind; files of no known broker have a null broker.
    """
    name = pl.col("path").str.split("/").list.last()
    kind: Any = pl.when(pl.col("format") != "broker-log").then(pl.col("format"))
    kind = kind.when(IN_EXCERPT).then(pl.lit("excerpt"))
    for label, part in KINDS:
        kind = kind.when(name.str.contains(part, literal=True)).then(pl.lit(label))
    return (
        _by_broker(case)
        .with_columns(kind.otherwise(pl.lit("log")).alias("kind"))
        .group_by("broker", "kind")
        .agg(
            pl.len().alias("files"),
            pl.col("bytes").sum(),
            pl.col("lines").sum(),
            pl.col("relevant").sum(),
            pl.col("understood").sum(),
            pl.col("first_time").min(),
            pl.col("last_time").max(),
        )
        .sort("broker", "kind", nulls_last=True)
    )


def _by_broker(case: Case) -> pl.DataFrame:
    sources = case.sources.filter(pl.col("format") != "irrelevant")
    shared = sources.filter(pl.col("broker").is_null()).select("id")
    told = (
        case.observations.filter(pl.col("broker").is_not_null())
        .join(shared, left_on="source", right_on="id", how="semi")
        .group_by("source", pl.col("broker").alias("_broker"))
        .agg(pl.col("time").min().alias("_first"), pl.col("time").max().alias("_last"))
        .rename({"source": "id"})
    )
    return (
        sources.join(told, on="id", how="left", maintain_order="left")
        .with_columns(
            pl.coalesce("broker", "_broker").alias("broker"),
            pl.coalesce("_first", "first_time").alias("first_time"),
            pl.coalesce("_last", "last_time").alias("last_time"),
        )
        .drop("_broker", "_first", "_last")
    )


def period(sources: pl.DataFrame) -> tuple[datetime, datetime] | None:
    """Return the first and the last time of the evidence, UTC; None without any.

    A log in which no line about replication was understood does not count: an example in a manual has a time too.
    """
    judged = sources.filter((pl.col("format") != LOG) | (pl.col("understood") > 0))
    times = pl.concat([judged.get_column("first_time"), judged.get_column("last_time")]).drop_nulls()
    first, last = times.min(), times.max()
    return (first, last) if isinstance(first, datetime) and isinstance(last, datetime) else None
