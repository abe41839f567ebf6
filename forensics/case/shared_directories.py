"""Partitions of two topics in one directory: their names differ only in case, and the file system ignores case.

Kafka takes ``Orders`` and ``orders`` for two topics. Each partition is a directory named after its topic (LogManager,
Log.parseTopicPartitionName). On Windows, and by default on macOS, both names are one directory. So both logs write to
the same files, and each one's log end offset may be that of the other's records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from parsers.schema import Kind

Shared = dict[str, tuple[str, ...]]
"""Partitions, as ``orders-0``, and the others that have the same directory."""

_CASELESS: Final = r"\\|^(?:[A-Za-z]:/|/Users/|/Volumes/|/private/|/opt/homebrew/|/usr/local/var/lib/kafka-logs)"
"""Paths of Windows, also without a drive as in ``\\tmp\\kafka-logs``, and of macOS outside of Linux's usual folders."""

_OPENS: Final = (Kind.LOG_LOADED.value, Kind.MESSAGE_FORMAT.value)
"""Kinds of line that a broker prints as it opens a log: they name its directory."""


def opens_caseless() -> pl.Expr:
    """Return the condition that an observation is about a log that is opened where file names ignore case."""
    return pl.col("kind").cast(pl.String).is_in(_OPENS) & pl.col("log_dir").str.contains(_CASELESS).fill_null(False)


def shared_directories(observations: pl.DataFrame) -> dict[int | None, Shared]:
    """Return the partitions that share a directory, by broker; None for the lines of an unknown broker.

    Args:
        observations: with ``broker``; those that ``opens_caseless`` is about are enough.

    Returns:
        Only partitions that were in use at the same time: a topic may be deleted before the other one is created.
    """
    opened = observations.filter(opens_caseless()).drop_nulls(["topic", "partition", "time"])
    if opened.is_empty():
        return {}
    place = pl.concat_str("log_dir", "topic", separator="/").str.to_lowercase().alias("place")
    spans = opened.group_by("broker", place, "partition", "topic").agg(
        pl.col("time").min().alias("first"), pl.col("time").max().alias("last")
    )
    beside = spans.join(spans, on=["broker", "place", "partition"], suffix="_of_other", nulls_equal=True).filter(
        pl.col("topic") != pl.col("topic_of_other"),
        pl.col("first") <= pl.col("last_of_other"),
        pl.col("first_of_other") <= pl.col("last"),
    )
    found: dict[int | None, dict[str, set[str]]] = {}
    for broker, topic, other, partition in beside.select("broker", "topic", "topic_of_other", "partition").iter_rows():
        found.setdefault(broker, {}).setdefault(f"{topic}-{partition}", set()).add(f"{other}-{partition}")
    return {broker: _ordered(shared) for broker, shared in found.items()}


def _ordered(shared: Mapping[str, set[str]]) -> Shared:
    return {name: tuple(sorted(shared[name])) for name in sorted(shared)}
