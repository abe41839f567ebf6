"""Logs that are moved between two directories of one broker (KIP-113): what is told of the copy before it is in use."""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.schema import MOVED, Kind

_BEGINS: Final = (Kind.MESSAGE_FORMAT.value, Kind.LOG_LOADED.value)
"""With these a broker begins to tell of a copy."""

_OF_COPIES: Final = (
    Kind.MESSAGE_FORMAT,
    Kind.LOG_LOADED,
    Kind.LOG_CREATED,
    Kind.HW_MISSING,
    Kind.HW_LOADED,
    Kind.TRUNCATE,
    Kind.TRUNCATE_NOOP,
    Kind.EPOCH_ASSIGNED,
    Kind.ROLLED,
)
"""What a broker prints of the copy as it does of the log."""

_KEY: Final = ("topic", "partition", "broker")


def without_copies(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows without those of a copy that was not in use yet.

    To 2.3 the lines of the copy name the replica as those of its log do (``LogManager.getOrCreateLog`` with
    ``isFuture``, ``ReplicaAlterLogDirsThread``); another one tells that it took the log's place
    (``replaceCurrentWithFutureLog``). From 2.4 on they name its directory, which ends in ``-future``, and the parsers
    pass them over.

    Args:
        rows: observations of partitions, sorted by topic, partition, broker and row.
    """
    moved = rows.filter(pl.col("kind") == Kind.LOG_MOVED.value)
    if moved.is_empty():
        return rows
    about = rows.filter(pl.col("kind").is_in([Kind.LOG_MOVED.value, *(kind.value for kind in _OF_COPIES)]))
    about = about.join(moved.select(_KEY).unique(), on=_KEY, how="semi", maintain_order="left")
    dropped: list[int] = []
    for _, events in about.select(*_KEY, "row", "kind", "leo", "log_dir", "detail").group_by(_KEY, maintain_order=True):
        dropped += _of_copies(events)
    return rows.filter(~pl.col("row").is_in(dropped)) if dropped else rows


def _of_copies(events: pl.DataFrame) -> list[int]:
    """Rows of one replica's copies."""
    found: list[int] = []
    since: list[int] = []  # the copy that was begun last
    in_use: str | None = None
    other: str | None = None
    for row, kind, leo, log_dir, detail in events.select("row", "kind", "leo", "log_dir", "detail").iter_rows():
        if kind == Kind.LOG_MOVED.value:
            found += since
            in_use, other, since = other or in_use, None, []
        elif kind == Kind.LOG_LOADED.value and (leo != 0 or detail == MOVED):
            in_use, other, since = (in_use, log_dir, []) if detail == MOVED else (log_dir or in_use, None, [])
        elif since and log_dir in (None, other):
            since.append(row)
        elif kind in _BEGINS and in_use is not None and log_dir not in (None, in_use):
            other, since = log_dir, [row]
        elif kind == Kind.LOG_LOADED.value:
            in_use = log_dir or in_use
    return found
