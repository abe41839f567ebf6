"""Logs that are moved between two directories of one broker (KIP-113), and the copy before it is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.history import Regression, RegressionKind
from parsers.details import MOVED
from parsers.schema import Kind

_TOLD: Final = (Kind.LOG_COPIED.value, Kind.LOG_MOVED.value)
"""Kinds of line that show that a copy exists, or that it replaced the log."""

_BEGINS: Final = (Kind.MESSAGE_FORMAT.value, Kind.LOG_LOADED.value)
"""Kinds of the first line that a broker logs about a copy that it creates."""

_NAMELESS: Final = (
    Kind.LOG_CREATED.value,
    Kind.HW_MISSING.value,
    Kind.HW_LOADED.value,
    Kind.EPOCH_ASSIGNED.value,
    Kind.ROLLED.value,
    Kind.PRODUCER_SNAPSHOT.value,
)
"""Kinds of line about a copy that look like those about the log, because they name no directory."""

_KEY: Final = ("topic", "partition", "broker")
_HOME: Final = ("topic", "partition", "incarnation", "broker")
_READ: Final = ("row", "kind", "leo", "hw", "log_dir", "detail")


def without_copies(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove rows about a copy that was not in use.

    Up to 2.5 most lines about the copy name the replica like those about its log, with another directory at most
    (``LogManager.getOrCreateLog`` with ``isFuture``, ``Log``). Three lines show that it is a copy: when its fetcher is
    added (``ReplicaAlterLogDirsManager``), from 2.4 on when it is created (its directory ends in ``-future``), and when
    it replaces the log (``LogManager.replaceCurrentWithFutureLog``).

    Args:
        rows: observations of partitions, sorted by topic, partition, broker and row.
    """
    told = rows.filter(pl.col("kind").is_in(_TOLD))
    if told.is_empty():
        return rows
    about = rows.filter(pl.col("kind").is_in([*_TOLD, *_BEGINS, *_NAMELESS]) | pl.col("log_dir").is_not_null())
    about = about.join(told.select(_KEY).unique(), on=_KEY, how="semi", maintain_order="left")
    dropped: list[int] = []
    for _, events in about.select(*_KEY, *_READ).group_by(_KEY, maintain_order=True):
        dropped += _of_copies(events)
    return rows.filter(~pl.col("row").is_in(dropped)) if dropped else rows


def _of_copies(events: pl.DataFrame) -> list[int]:
    """Return rows about copies, for one replica."""
    found: list[int] = []
    supposed: list[int] = []  # rows of a copy, if a later line confirms it
    in_use: str | None = None
    other: str | None = None
    is_copy = False
    begun = False  # a former process began the copy; this one lacks a checkpoint of the copy, or of a log just moved
    for row, kind, leo, hw, log_dir, detail in events.select(_READ).iter_rows():
        loaded = kind == Kind.LOG_LOADED.value
        if in_use is None and other is not None and not (kind == Kind.LOG_COPIED.value or log_dir == other):
            in_use, other, supposed = other, None, []  # the first one logged is the log itself
        if kind == Kind.LOG_COPIED.value:
            is_copy = other is not None
        elif kind == Kind.LOG_MOVED.value or (loaded and detail == MOVED):
            found += supposed
            in_use, other, is_copy, supposed = log_dir or other or in_use, None, False, []
            begun = False
        elif begun and (kind == Kind.HW_MISSING.value or (kind == Kind.HW_LOADED.value and hw == 0)):
            found.append(row)
        elif loaded and leo != 0:
            begun = begun or is_copy
            in_use, other, is_copy, supposed = log_dir or in_use, None, False, []
        elif other is not None and (log_dir == other or (log_dir is None and kind in _NAMELESS)):
            supposed.append(row)
        elif other is None and kind in _BEGINS and log_dir not in (None, in_use):
            other, supposed = log_dir, [row]  # without a line about the log itself: if the next line confirms it
        elif loaded and not is_copy:
            in_use, other, supposed = log_dir or in_use, None, []
        if is_copy:
            found += supposed
            supposed = []
    return found


Homes = dict[tuple[str, int, int, int], list[tuple[int, int, str]]]


def homes(rows: pl.DataFrame) -> Homes:
    """Return the log directory of each replica, by its broker's lines: process, row and directory of each change.

    Args:
        rows: observations with ``incarnation``, without those of copies.
    """
    told = rows.filter(pl.col("log_dir").is_not_null(), pl.col("run").is_not_null()).sort(*_HOME, "row")
    told = told.filter((pl.col("log_dir") != pl.col("log_dir").shift(1).over(_HOME)).fill_null(True))
    found: Homes = {}
    for topic, partition, incarnation, broker, run, row, log_dir in told.select(
        *_HOME, "run", "row", "log_dir"
    ).iter_rows():
        found.setdefault((topic, partition, incarnation, broker), []).append((run, row, log_dir))
    return found


def carried(regression: Regression, told: Sequence[tuple[int, int, str]]) -> Regression:
    """Explain a missing high watermark by a move of the log to another directory since the broker's last process.

    The checkpoint file of the new directory never contained the partition.
    """
    at = regression.refs[0].row
    if regression.kind is not RegressionKind.CHECKPOINT or regression.after or at is None:
        return regression
    before = [one for one in told if one[1] <= at]
    if len(before) < 2 or before[-1][0] == before[-2][0]:
        return regression
    (_, _, one), (_, row, other) = before[-2:]
    ref = Ref(row=row, note=f"its log is in {other}, and was in {one}")
    return replace(regression, kind=RegressionKind.MOVED, refs=(*regression.refs, ref))
