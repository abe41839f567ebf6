"""Logs that are moved between two directories of one broker (KIP-113): what is told of the copy before it is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from forensics.replay.directory import Ref
from forensics.replay.history import Regression, RegressionKind
from parsers.details import MOVED
from parsers.schema import Kind

_TOLD: Final = (Kind.LOG_COPIED.value, Kind.LOG_MOVED.value)
"""That there is a copy, and that it took the log's place."""

_BEGINS: Final = (Kind.MESSAGE_FORMAT.value, Kind.LOG_LOADED.value)
"""What a broker prints first of a copy that it makes."""

_NAMELESS: Final = (
    Kind.LOG_CREATED.value,
    Kind.HW_MISSING.value,
    Kind.HW_LOADED.value,
    Kind.EPOCH_ASSIGNED.value,
    Kind.ROLLED.value,
    Kind.PRODUCER_SNAPSHOT.value,
)
"""What it prints of a copy as of the log, without the directory."""

_KEY: Final = ("topic", "partition", "broker")
_HOME: Final = ("topic", "partition", "incarnation", "broker")
_READ: Final = ("row", "kind", "leo", "hw", "log_dir", "detail")


def without_copies(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows without those of a copy that was not in use.

    To 2.5 most lines of the copy name the replica as those of its log do, beside another directory if any
    (``LogManager.getOrCreateLog`` with ``isFuture``, ``Log``). That it is one is told when its fetcher is added
    (``ReplicaAlterLogDirsManager``), from 2.4 on also when it is made (its directory ends in ``-future``), or when it
    takes the log's place (``LogManager.replaceCurrentWithFutureLog``).

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
    """Rows of one replica's copies."""
    found: list[int] = []
    supposed: list[int] = []  # of a copy, if it turns out to be one
    in_use: str | None = None
    other: str | None = None
    is_copy = False
    begun = False  # by the process before; what this one lacks is the checkpoint of the copy, or of a log just moved
    for row, kind, leo, hw, log_dir, detail in events.select(_READ).iter_rows():
        loaded = kind == Kind.LOG_LOADED.value
        if in_use is None and other is not None and not (kind == Kind.LOG_COPIED.value or log_dir == other):
            in_use, other, supposed = other, None, []  # the first that is told of is the log itself
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
            other, supposed = log_dir, [row]  # where nothing tells of the log itself: if the next line says so
        elif loaded and not is_copy:
            in_use, other, supposed = log_dir or in_use, None, []
        if is_copy:
            found += supposed
            supposed = []
    return found


Homes = dict[tuple[str, int, int, int], list[tuple[int, int, str]]]


def homes(rows: pl.DataFrame) -> Homes:
    """By replica, in which log directory its broker said its log to be: process, row and directory, where it changed.

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
    """A high watermark that is missing, of a log that stood in another directory when its broker ran before: the
    checkpoint file of the one where it is now never named it.
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
