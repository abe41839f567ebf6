"""The logs of all replicas side by side at chosen moments: which replica holds which records, and where they fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from forensics.replay.history import History
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.roles.steps import RoleSpan, StepKind
from forensics.replay.timeline import ON_DISK, SILENT, STOPPED
from forensics.rules.finding import brokers_text

MOMENTS = 96
"""Moments that can be chosen: changes of a role or a log first, then progress in between."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One replica's log.

    Attributes:
        name: its broker or controller in words.
        pieces: (leader epoch, first offset, end); -1 if the epoch of the records is unknown.
        exact: the end is known; else it is a lower bound.
        known: false if the replica had no line at that moment and its last known log is shown.
    """

    replica: int
    name: str
    role: str
    pieces: tuple[tuple[int, int, int], ...]
    end: int | None
    exact: bool
    known: bool
    high_watermark: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """All replicas at one time; None for the files."""

    time: int | None
    bars: tuple[Bar, ...]
    fork: int | None


@dataclass(frozen=True, slots=True)
class LogView:
    """The moments, and the offsets that are worth drawing."""

    moments: tuple[Moment, ...]
    first: int
    end: int
    chosen: int


class _State(NamedTuple):
    """State of a replica in the timeline at a moment, and its last known log."""

    role: str | None
    known: bool
    exact: bool
    high_watermark: int | None
    end: int | None
    start: int | None


def log_view(
    history: History, frame: pl.DataFrame, brokers: Sequence[int], interesting: Sequence[int]
) -> LogView | None:
    """Choose moments and describe each.

    Args:
        history: the partition.
        frame: its timeline.
        brokers: the replicas to show.
        interesting: offsets of findings.
    """
    moments = _moments(history, frame, brokers)
    if not moments:
        return None
    first, end = _worth_drawing(moments, interesting)
    return LogView(tuple(moments), first, end, len(moments) - 1)


def _moments(history: History, frame: pl.DataFrame, brokers: Sequence[int]) -> list[Moment]:
    """Return the replicas at each chosen time, and by their files, where any log is known."""
    times = _times(frame)
    states = _states(frame, brokers, times)
    logs = [(time, tuple(_bar(history, broker, states[time, broker], time) for broker in brokers)) for time in times]
    moments = [Moment(time, bars, _fork(bars)) for time, bars in logs]
    if any(history.replicas[broker].on_disk for broker in brokers if broker in history.replicas):
        moments.append(_on_disk(history, brokers))
    return [moment for moment in moments if any(bar.end is not None for bar in moment.bars)]


def _worth_drawing(moments: Sequence[Moment], interesting: Sequence[int]) -> tuple[int, int]:
    """Return the first and the last offset to draw: a little before what matters, as there are far more records."""
    bars = [bar for moment in moments for bar in moment.bars]
    end = max([*(bar.end for bar in bars if bar.end is not None), *interesting])
    starts = (first for bar in bars for _, first, _ in bar.pieces[1:])
    wanted = [offset for offset in (*interesting, *starts) if 0 < offset < end]
    lowest = min(wanted, default=0)
    first = max(0, lowest - max((end - lowest) // 3, 5)) if wanted else max(0, end - 1000)
    return (0 if first < end // 10 else first), end


def _times(frame: pl.DataFrame) -> list[int]:
    """Moments at which a log or a role changed, and of the progress in between as many as there is room for."""
    timed = frame.filter(pl.col("from").is_not_null()).sort("from", "replica", "row")
    before = [
        (pl.col(name) != pl.col(name).shift(1).over("replica")).fill_null(True) for name in ("role", "leader_epoch")
    ]
    cut = pl.col("event").is_in(["truncate", "truncate_full", "log_loaded", "log_deleted"]).fill_null(False)
    changed = timed.filter(pl.any_horizontal(*before, cut))
    times = _evenly(changed.get_column("from").cast(pl.Int64).unique().sort().to_list(), MOMENTS)
    rest = sorted(set(timed.get_column("from").cast(pl.Int64).to_list()).difference(times))
    return sorted({*times, *_evenly(rest, MOMENTS - len(times))})


def _evenly(times: list[int], most: int) -> list[int]:
    """At most so many, the first and the last among them."""
    if len(times) <= most:
        return times
    return [times[round(place * (len(times) - 1) / (most - 1))] for place in range(most)] if most > 1 else times[:most]


def _states(frame: pl.DataFrame, brokers: Sequence[int], times: list[int]) -> dict[tuple[int, int], _State]:
    """The last state of each replica that began at each time or before."""
    began = frame.filter(pl.col("from").is_not_null()).select(
        "replica",
        pl.col("from").cast(pl.Int64),
        "role",
        "high_watermark",
        pl.col("log_end_exact").fill_null(False).alias("exact"),
        pl.col("log_end_offset").alias("end"),
        pl.col("log_start_offset").alias("start"),
    )
    began = began.sort("from", maintain_order=True)
    wanted = pl.DataFrame({"time": times}, schema={"time": pl.Int64}).join(
        pl.DataFrame({"replica": list(brokers)}, schema={"replica": pl.Int32}), how="cross"
    )
    found = wanted.sort("time").join_asof(
        began.with_columns(pl.col("end").is_not_null().alias("known")).drop("end", "start"),
        left_on="time",
        right_on="from",
        by="replica",
        check_sortedness=False,
    )
    # A process without further lines still has the log of its last line.
    found = found.drop("from").join_asof(
        began.filter(pl.col("end").is_not_null()).select("replica", "from", "end", "start"),
        left_on="time",
        right_on="from",
        by="replica",
        check_sortedness=False,
    )
    rows = found.select("time", "replica", "role", "known", "exact", "high_watermark", "end", "start").iter_rows()
    return {(time, replica): _State(*values) for time, replica, *values in rows}


def _bar(history: History, broker: int, state: _State, time: int) -> Bar:
    role, known = state.role or "", bool(state.known)
    name = brokers_text([broker], history.controllers)
    if state.end is None:
        return Bar(broker, name, role, (), None, False, known, None)
    log = _log(history.role_spans.get(broker, []), time)
    return Bar(
        broker,
        name,
        role,
        _pieces(log, state.start or 0, state.end),
        state.end,
        known and state.exact and role not in (SILENT, STOPPED),
        known,
        state.high_watermark if known else None,
    )


def _log(role_spans: list[RoleSpan], time: int) -> Lineage:
    """Return a replica's log at a moment: as its role span found it until it truncated, afterwards as the leader's."""
    now: RoleSpan | None = None
    for role_span in role_spans:
        if role_span.time is None or role_span.time > time:
            break
        now = role_span
    if now is None:
        return Lineage()
    cuts = [step.time for step in now.steps if step.kind is not StepKind.LOADED and step.time is not None]
    return now.log_before if cuts and cuts[0] > time else now.log


def _pieces(log: Lineage, start: int, end: int) -> tuple[tuple[int, int, int], ...]:
    if end <= start:
        return ()
    entries = [entry for entry in log.entries if entry[1] < end]
    if not entries or entries[0][1] > start:
        entries.insert(0, (UNKNOWN, start))
    bounds = [*(max(first, start) for _, first in entries), end]
    pieces = [
        (max(epoch, UNKNOWN), first, stop)
        for (epoch, _), first, stop in zip(entries, bounds, bounds[1:], strict=False)
        if first < stop
    ]
    return tuple(pieces)


def _on_disk(history: History, brokers: Sequence[int]) -> Moment:
    bars = []
    for broker in brokers:
        replica, name = history.replicas.get(broker), brokers_text([broker], history.controllers)
        if replica is None or not replica.on_disk or replica.end is None:
            bars.append(Bar(broker, name, "", (), None, False, False, None))
            continue
        bars.append(
            Bar(
                broker,
                name,
                ON_DISK,
                _pieces(replica.lineage, replica.log_start, replica.end),
                replica.end,
                True,
                True,
                replica.checkpoint[0] if replica.checkpoint is not None else None,
            )
        )
    return Moment(None, tuple(bars), _fork(tuple(bars)))


def _fork(bars: tuple[Bar, ...]) -> int | None:
    """First offset at which two logs hold records of different epochs."""
    logs = [(Lineage(tuple((epoch, first) for epoch, first, _ in bar.pieces)), bar) for bar in bars if bar.pieces]
    found = []
    for position, (left, mine) in enumerate(logs):
        for right, theirs in logs[position + 1 :]:
            first = max(mine.pieces[0][1], theirs.pieces[0][1])
            end = min(mine.pieces[-1][2], theirs.pieces[-1][2])
            if first < end:
                differ, _ = differences(left, right, first, end)
                found += [piece[0] for piece in differ]
    return min(found, default=None)
