"""A chart as tables, one per lane: its lines and marks in words, with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.reports.html.lanes import ON_DISK, Chart, Lane, Mark, State

ROWS, LEAST = 320, 40
"""Rows of all tables of one chart, and of each of them at least."""

_FIRST = ("finding", "unclean", "cut", "elected", "start")
"""Marks in the order in which they get a row where there is not room for all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One moment of one replica.

    Attributes:
        time: microseconds since 1970 UTC; None for files.
        what: its role, or what happened.
        event: something happened; else it is a state that lasts until the next one.
        log_end, high_watermark: offsets, with whether they are exact or lower bounds.
        evidence: file and line.
    """

    time: int | None
    what: str
    event: bool = False
    epoch: int | None = None
    log_end: tuple[int, bool] | None = None
    high_watermark: tuple[int, bool] | None = None
    isr: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one lane, and how many were left out."""

    replica: int
    name: str
    rows: tuple[Row, ...]
    more: int


def tables(chart: Chart) -> tuple[Table, ...]:
    """Return every lane of a chart in words. Steps of the finding are never left out, then truncations, elections,
    starts, states.
    """
    each = max(ROWS // max(len(chart.lanes), 1), LEAST)
    return tuple(_table(chart, lane, each) for lane in chart.lanes)


def _table(chart: Chart, lane: Lane, most: int) -> Table:
    marks = sorted(lane.marks, key=lambda mark: (_FIRST.index(mark.kind), mark.time, mark.label))
    kept = [mark for place, mark in enumerate(marks) if mark.kind == "finding" or place < most]
    states = _spread(lane.states, max(most - len(kept), most // 4))
    # At one moment the state comes first, then what happened in it.
    rows = [(state.start, 0, _state(chart, state)) for state in states]
    rows += [(mark.time, 1, _mark(chart, mark)) for mark in kept]
    rows.sort(key=lambda row: row[:2])
    told = [row for _, _, row in rows]
    if lane.disk_end is not None or lane.disk_high_watermark is not None:
        told.append(
            Row(None, ON_DISK, log_end=_exactly(lane.disk_end), high_watermark=_exactly(lane.disk_high_watermark))
        )
    return Table(lane.replica, lane.name, tuple(told), len(lane.states) + len(marks) - len(rows))


def _spread(states: Sequence[State], most: int) -> list[State]:
    """Evenly chosen where there are too many, the last one among them."""
    if len(states) <= most:
        return list(states)
    step = (len(states) - 1) / (most - 1)
    return [states[round(place * step)] for place in range(most)]


def _state(chart: Chart, state: State) -> Row:
    what = state.role
    if what == "follower" and state.leader is not None:
        what += f" of {state.leader}"
    return Row(
        _time(chart, state.start),
        what,
        epoch=state.epoch,
        log_end=(state.log_end, state.exact) if state.log_end is not None else None,
        high_watermark=(state.high_watermark, state.high_watermark_exact) if state.high_watermark is not None else None,
        isr="" if state.isr is None else state.isr or "empty",
        evidence=_evidence(chart, state.ref),
    )


def _mark(chart: Chart, mark: Mark) -> Row:
    what = f"step {mark.label}: {mark.text}" if mark.label else mark.text
    return Row(_time(chart, mark.time), what, event=True, evidence=_evidence(chart, mark.ref))


def _time(chart: Chart, at: int) -> int:
    return chart.zero + at * 1000


def _exactly(value: int | None) -> tuple[int, bool] | None:
    return (value, True) if value is not None else None


def _evidence(chart: Chart, ref: int) -> str:
    if ref < 0:
        return ""
    path, line, _ = chart.references[ref]
    return path if line is None else f"{path}:{line}"
