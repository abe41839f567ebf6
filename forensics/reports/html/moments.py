"""The logs of all replicas side by side at chosen moments: who holds which records, and where they fork."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from forensics.replay.history import History
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.tenures import Tenure
from forensics.replay.timeline import ON_DISK, SILENT, STOPPED
from forensics.reports.html.wording import micros

MOMENTS = 48


@dataclass(frozen=True, slots=True)
class Bar:
    """One replica's log.

    Attributes:
        pieces: (leader epoch, first offset, end); -1 where no evidence dates the records.
        exact: the end is known; else the log reaches at least so far.
        known: false where the replica said nothing at that moment and its last known log is shown.
    """

    replica: int
    role: str
    pieces: tuple[tuple[int, int, int], ...]
    end: int | None
    exact: bool
    known: bool
    high_watermark: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """All replicas at one time; None for what lies on disk."""

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


def log_view(
    history: History, frame: pl.DataFrame, brokers: Sequence[int], interesting: Sequence[int]
) -> LogView | None:
    """Choose moments and describe each.

    Args:
        history: the partition.
        frame: its timeline.
        brokers: the replicas to show.
        interesting: offsets that findings speak of.
    """
    rows = {broker: list(frame.filter(pl.col("replica") == broker).iter_rows(named=True)) for broker in brokers}
    moments = [_moment(history, rows, time) for time in _times(frame)]
    if any(row["role"] == ON_DISK for found in rows.values() for row in found):
        moments.append(_on_disk(history, rows))
    moments = [moment for moment in moments if any(bar.end is not None for bar in moment.bars)]
    if not moments:
        return None
    ends = [bar.end for moment in moments for bar in moment.bars if bar.end is not None]
    end = max([*ends, *interesting])
    starts = [first for moment in moments for bar in moment.bars for _, first, _ in bar.pieces[1:]]
    wanted = [offset for offset in (*interesting, *starts) if 0 < offset < end]
    # Far more records than anyone can see: begin a little before what matters.
    lowest = min(wanted, default=0)
    first = max(0, lowest - max((end - lowest) // 3, 5)) if wanted else max(0, end - 1000)
    if first < end // 10:
        first = 0
    return LogView(tuple(moments), first, end, len(moments) - 1)


def _times(frame: pl.DataFrame) -> list[int]:
    """Moments at which a log or a role changed, thinned evenly where there are too many."""
    timed = frame.filter(pl.col("from").is_not_null()).sort("from", "replica", "row")
    changed = timed.filter(
        (
            (pl.col("role") != pl.col("role").shift(1).over("replica"))
            | (pl.col("leader_epoch") != pl.col("leader_epoch").shift(1).over("replica"))
            | pl.col("event").is_in(["truncate", "truncate_full", "log_loaded", "log_deleted"])
        ).fill_null(True)
    )
    chosen = changed if changed.height >= MOMENTS // 2 else timed
    times = sorted({time for value in chosen.get_column("from").to_list() if (time := micros(value)) is not None})
    if len(times) > MOMENTS:
        step = (len(times) - 1) / (MOMENTS - 1)
        times = [times[round(position * step)] for position in range(MOMENTS)]
    return times


def _moment(history: History, rows: dict[int, list[dict[str, object]]], time: int) -> Moment:
    bars = tuple(_bar(history, broker, found, time) for broker, found in rows.items())
    return Moment(time, bars, _fork(bars))


def _bar(history: History, broker: int, rows: list[dict[str, object]], time: int) -> Bar:
    state: dict[str, object] | None = None
    valued: dict[str, object] | None = None
    for row in rows:
        start = micros(row["from"])  # type: ignore[arg-type]
        if start is None or start > time:
            break
        state = row
        if row["log_end_offset"] is not None:
            valued = row
    if state is None:
        return Bar(broker, "", (), None, False, False, None)
    role = str(state["role"])
    known = state["log_end_offset"] is not None
    if valued is None:
        return Bar(broker, role, (), None, False, known, None)
    end = int(valued["log_end_offset"])  # type: ignore[call-overload]
    log = _log(history.tenures.get(broker, []), time)
    start_offset = int(valued["log_start_offset"] or 0)  # type: ignore[call-overload]
    return Bar(
        broker,
        role,
        _pieces(log, start_offset, end),
        end,
        known and bool(state["log_end_exact"]) and role not in (SILENT, STOPPED),
        known,
        state["high_watermark"],  # type: ignore[arg-type]
    )


def _log(tenures: list[Tenure], time: int) -> Lineage:
    """A replica's log at a moment: as its tenure found it until it was cut, afterwards as the leader's."""
    now: Tenure | None = None
    for tenure in tenures:
        if tenure.time is None or tenure.time > time:
            break
        now = tenure
    if now is None:
        return Lineage()
    cuts = [step.time for step in now.steps if step.what != "loaded" and step.time is not None]
    return now.log_before if cuts and cuts[0] > time else now.log


def _pieces(log: Lineage, start: int, end: int) -> tuple[tuple[int, int, int], ...]:
    if end <= start:
        return ()
    entries = [entry for entry in log.entries if entry[1] < end]
    if not entries or entries[0][1] > start:
        entries.insert(0, (UNKNOWN, start))
    bounds = [*(max(first, start) for _, first in entries), end]
    pieces = [
        (epoch, first, stop)
        for (epoch, _), first, stop in zip(entries, bounds, bounds[1:], strict=False)
        if first < stop
    ]
    return tuple(pieces)


def _on_disk(history: History, rows: dict[int, list[dict[str, object]]]) -> Moment:
    bars = []
    for broker in rows:
        replica = history.replicas[broker]
        if not replica.on_disk or replica.end is None:
            bars.append(Bar(broker, "", (), None, False, False, None))
            continue
        bars.append(
            Bar(
                broker,
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
