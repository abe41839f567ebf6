"""Whose statement a row is, the order in which things happened, and the process that did them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

import polars as pl

from forensics.case.metadata import FORMATS as METADATA_FORMATS
from parsers.schema import Kind
from parsers.take_metadata import TOPIC as METADATA_TOPIC

__all__ = [
    "METADATA_TOPIC",
    "ORDER",
    "cluster_numbers",
    "does_something",
    "in_order",
    "latest",
    "rank",
    "to_utc",
    "utc",
    "with_runs",
    "witnessed",
]

ORDER = ("_cluster", "broker", "_when", "_rank", "source", "line", "byte")
"""Columns by which observations are ordered, nulls last; what is equal in all keeps the order of its file."""

# Within one millisecond a role change is received (state-change.log) before the log layer acts on it (server.log).
_FIRST = "state-change"


def rank(name: str) -> int:
    """Which of two files comes first where both print one time."""
    return 0 if _FIRST in name else 1


def cluster_numbers(clusters: Sequence[str | None]) -> dict[str | None, int]:
    """A number for each cluster: brokers of different clusters share ids, but neither order nor runs."""
    return {name: at for at, name in enumerate(sorted(set(clusters), key=lambda name: (name is None, name)))}


def utc(time: pl.Expr, zone: str) -> pl.Expr:
    """A printed time as UTC; null where the zone has no such time."""
    ZoneInfo(zone)  # an unknown zone fails here, by name
    return time.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null").dt.convert_time_zone("UTC")


def to_utc(frame: pl.DataFrame, zone: str) -> pl.DataFrame:
    """The frame with its printed ``time`` as UTC."""
    return frame.with_columns(utc(pl.col("time"), zone))


def latest(time: pl.Expr) -> pl.Expr:
    """The order of a file holds even where its clock goes back: a later line is never earlier."""
    return time.fill_null(strategy="forward").cum_max()


def witnessed(rows: pl.DataFrame, skew: Mapping[int, int]) -> pl.DataFrame:
    """Add ``broker``, who states the row, and move its time by that broker's skew.

    A record of the metadata log speaks of others; a setting in it is that of the broker it names; a trace says of each
    line whose it is.

    Args:
        rows: observations with ``_owner`` (broker of the file) and ``_trace`` (the file is one).
        skew: microseconds to add to a broker's times.
    """
    settings = pl.col("kind") == Kind.BROKER_CONFIG.value
    rows = rows.with_columns(
        pl.when(pl.col("message").is_in(METADATA_FORMATS) & ~pl.col("_trace"))
        .then(pl.when(settings).then(pl.col("replica")).otherwise(pl.col("_owner")))
        .otherwise(pl.coalesce("witness", "_owner"))
        .alias("broker")
    )
    for broker, shift in sorted(skew.items()):
        rows = rows.with_columns(
            pl.when(pl.col("broker") == broker)
            .then(pl.col("time") + pl.duration(microseconds=shift))
            .otherwise(pl.col("time"))
            .alias("time")
        )
    return rows


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as they happened, broker by broker."""
    return rows.sort(*ORDER, nulls_last=True, maintain_order=True)


def with_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``starts_run`` and ``run``, the process of the broker, to rows in order.

    Several lines tell of one start: a new run begins only once the one before has done something.
    """
    mine = ["_cluster", "broker"]
    starting = pl.col("kind") == Kind.PROCESS_START.value
    work = does_something().cum_sum().over(mine)
    seen = pl.when(starting).then(work).otherwise(None).forward_fill().shift(1).over(mine)
    rows = rows.with_columns((starting & ((seen != work) | seen.is_null())).fill_null(False).alias("starts_run"))
    return rows.with_columns(pl.col("starts_run").cast(pl.Int32).cum_sum().over(mine).alias("run"))


def does_something() -> pl.Expr:
    """Whether a row is a line about a partition; the metadata quorum's own log is loaded before a process starts."""
    return (pl.col("topic") != METADATA_TOPIC).fill_null(False) & pl.col("line").is_not_null()
