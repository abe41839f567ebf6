"""The timeline of one partition for the terminal: one column a replica, time down, repeats folded."""

from __future__ import annotations

import itertools
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from forensics.case import Case
from forensics.case.dates import chosen, epoch_dates
from forensics.case.quotes import places
from forensics.case.trace_clusters import cluster_text
from forensics.outputs import plain
from forensics.replay.history import History
from forensics.replay.timeline import DELETED, LOADING, ON_DISK, SILENT, STOPPED
from forensics.reports.remarks import dated
from forensics.reports.timeline_steps import Mark, Shown, micros_of
from forensics.reports.titles import earlier
from forensics.rules.finding import brokers_text
from parsers.schema import Kind

_LEAST = 15
_DOINGS = (
    Kind.TRUNCATE,
    Kind.TRUNCATE_FULL,
    Kind.LOG_LOADED,
    Kind.CORRUPTION_CUT,
    Kind.LOG_DELETED,
    Kind.PROCESS_START,
    Kind.SHUTDOWN_COMPLETE,
)
_CUTS = (Kind.TRUNCATE.value, Kind.CORRUPTION_CUT.value, Kind.TRUNCATE_FULL.value)
_STATES = {
    LOADING: "process started",
    STOPPED: "stopped",
    SILENT: "(no log lines until restart)",
    DELETED: "replica removed",
}


def render(
    case: Case,
    history: History,
    frame: pl.DataFrame,
    *,
    width: int | None = None,
    cite: bool = False,
    shown: Shown | None = None,
) -> str:
    """The whole table, ending with a line end.

    Args:
        case: what was taken in.
        history: the partition.
        frame: its timeline.
        width: columns of the terminal; asked for where it is not given.
        cite: name the file and line behind each change.
        shown: the span of time to show, and the steps of findings; by default all, and no steps.
    """
    shown = shown or Shown()
    columns = width or shutil.get_terminal_size((120, 40)).columns
    known = frame.filter(
        pl.col("role").is_in(["leader", "follower", "offline", ON_DISK]) | pl.col("log_end_offset").is_not_null()
    )
    brokers = sorted(set(known.get_column("replica").to_list()))
    title = f"{_name(case, history)}   Times UTC. LEO: log end offset, HW: high watermark. \u2265 n: n or higher"
    if not brokers:
        return f"{title}\nthe evidence has no state of any replica\n"
    each = max((columns - 14) // len(brokers), _LEAST)
    every = _rows(frame.filter(pl.col("replica").is_in(brokers)), brokers)
    rows = [row for row in every if shown.has(row.time)]
    lines = [title]
    if len(rows) < len(every):
        lines.append(f"{len(rows):,} of {len(every):,} rows, in the time that was asked for")
    lines += ["", _line("", [brokers_text([broker], history.controllers) for broker in brokers], each)]
    lines += _table(rows, brokers, each, _found(case, rows) if cite else {}, _Steps(shown.steps, columns))
    if not history.incarnation:  # files are of the present incarnation
        lines += _dates(case, history, brokers)
    return "\n".join(plain(line.rstrip()) for line in lines) + "\n"


def _name(case: Case, history: History) -> str:
    """Return the partition, its cluster if there are several, and which incarnation of its topic it is."""
    several = f" of {cluster_text(history.cluster)}" if len(case.parts) > 1 else ""
    return f"{history.name}{several}{earlier(history.incarnation)}"


def _table(
    rows: Sequence[_Row], brokers: Sequence[int], each: int, found: Mapping[int, str], steps: _Steps
) -> list[str]:
    """Return the rows with their days, the places behind them and the steps of findings.

    Args:
        rows: the rows.
        brokers: one column each.
        each: width of a column.
        found: the place of each observation to name.
        steps: the steps of findings.
    """
    lines: list[str] = []
    day = ""
    for row in rows:
        lines += steps.before(row.time)
        if row.time is not None and row.day != day:
            day = row.day
            lines.append(day)
        lines += _row(row, brokers, each)
        refs = [(broker, number) for broker in brokers for number in row.refs.get(broker, ())]
        lines += [f"{'':14}broker {broker}: {found[number]}" for broker, number in refs if number in found]
    return lines + steps.rest()


def _row(row: _Row, brokers: Sequence[int], each: int) -> list[str]:
    """Return the lines of one row: a long cell is wrapped."""
    cells = [textwrap.wrap(row.cells.get(broker, ""), each - 2) for broker in brokers]
    depth = max(len(cell) for cell in cells)
    return [
        _line(row.clock if at == 0 else "", [cell[at] if at < len(cell) else "" for cell in cells], each)
        for at in range(depth)
    ]


class _Steps:
    """The steps of findings, printed between the rows of the table."""

    def __init__(self, marks: Sequence[Mark], columns: int) -> None:
        self._left = list(marks)
        self._columns = columns
        self._named = len({mark.lead.fingerprint for mark in marks}) > 1

    def before(self, time: datetime | None) -> list[str]:
        """Return the steps that happened before a row; those that only files show come after all rows."""
        due = [one for one in self._left if one.time is not None and (time is None or one.time < micros_of(time))]
        return self._printed(due)

    def rest(self) -> list[str]:
        """Return the steps that are left."""
        return self._printed(self._left)

    def _printed(self, due: Sequence[Mark]) -> list[str]:
        self._left = [one for one in self._left if one not in due]
        lines: list[str] = []
        for mark in due:
            of = f" of {mark.lead.rule}" if self._named else ""
            first = f"{'':4}>> step {mark.number}{of}: "
            lines += textwrap.wrap(
                plain(mark.text), self._columns, initial_indent=first, subsequent_indent=" " * 8, break_long_words=False
            )
        return lines


def _dates(case: Case, history: History, brokers: list[int]) -> list[str]:
    """Return start times of the epochs by record times, or by snapshots if the batches are gone."""
    found = epoch_dates(case.part_of(history.cluster))
    dates = {}
    for broker in brokers:
        disk = history.facts.disks.get(broker)
        folders = found.get((history.topic, history.partition, broker), {})
        dates[broker] = chosen(folders, disk.directory if disk else None)
    said = [f"  {text}" for text in dated(dates)]
    return (
        [
            "",
            (
                "start of leader epochs, by the timestamps of records: producers set them, unless the topic has "
                "message.timestamp.type=LogAppendTime"
            ),
            *said,
        ]
        if said
        else []
    )


@dataclass(slots=True)
class _Row:
    """Changes at one time, by broker."""

    time: datetime | None
    cells: dict[int, str] = field(default_factory=dict)
    refs: dict[int, list[int]] = field(default_factory=dict)

    @property
    def clock(self) -> str:
        return "on disk" if self.time is None else self.time.strftime("%H:%M:%S.%f")[:-3]

    @property
    def day(self) -> str:
        return "" if self.time is None else self.time.strftime("%Y-%m-%d")


def _line(first: str, cells: Iterable[str], each: int) -> str:
    return f"{first:<14}" + "".join(f"{cell:<{each}}" for cell in cells)


def _found(case: Case, rows: list[_Row]) -> dict[int, str]:
    wanted = {number for row in rows for numbers in row.refs.values() for number in numbers}
    return {row: f"{case.path(place.source)}:{place.line}" for row, place in places(case, wanted).items()}


def _rows(frame: pl.DataFrame, brokers: list[int]) -> list[_Row]:
    """Changes in the order of their times; progress of all replicas between two of them is one row."""
    rows: list[_Row] = []
    before: dict[int, dict[str, Any]] = {}
    progress: dict[int, list[dict[str, Any]]] = {}
    for state in _in_order(frame).iter_rows(named=True):
        broker = state["replica"]
        if state["_moves"]:
            progress.setdefault(broker, []).append(state)
            continue
        _fold(rows, progress, before)
        words = _words(state, before.get(broker))
        if words:
            _put(rows, state, words)
        before[broker] = state
    _fold(rows, progress, before)
    last = _Row(None)
    for state in frame.filter(pl.col("role") == ON_DISK).iter_rows(named=True):
        last.cells[state["replica"]] = _values(state, None)
    return [*rows, last] if last.cells else rows


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the dated states by time; ``_moves`` marks those that differ from the one before in offsets alone."""
    timed = frame.filter(pl.col("from").is_not_null())
    same = pl.all_horizontal(
        pl.col(name).eq_missing(pl.col(name).shift(1).over("replica"))
        for name in ("run", "role", "leader", "leader_epoch", "isr")
    )
    moves = same & ~pl.col("event").is_in([kind.value for kind in _DOINGS]).fill_null(False)
    marked = timed.with_columns(moves.fill_null(False).alias("_moves"))
    return marked.sort("from", "replica", "row", maintain_order=True)


def _put(rows: list[_Row], state: dict[str, Any], words: str) -> None:
    """Add a state in words to the last row if that is of the same moment and has none of this replica, else to a new
    row.
    """
    broker = state["replica"]
    if not rows or rows[-1].time != state["from"] or broker in rows[-1].cells:
        rows.append(_Row(state["from"]))
    rows[-1].cells[broker] = words
    rows[-1].refs[broker] = [state["row"]] if state["row"] is not None and state["role"] != SILENT else []


def _fold(rows: list[_Row], progress: dict[int, list[dict[str, Any]]], before: dict[int, dict[str, Any]]) -> None:
    if not progress:
        return
    row = _Row(min(states[0]["from"] for states in progress.values()))
    for broker, states in sorted(progress.items()):
        words, last = _progress(states, before.get(broker)), states[-1]["from"]
        if words:
            many = last != row.time and (len(states) > 2 or _has_offsets(before.get(broker)))
            changes = f"{len(states):,} changes, " if len(states) > 2 else ""
            row.cells[broker] = words + (f" ({changes}until {last.strftime('%H:%M:%S.%f')[:-3]})" if many else "")
            row.refs[broker] = [state["row"] for state in (states[0], states[-1])[: 2 if many else 1]]
        before[broker] = states[-1]
    progress.clear()
    if row.cells:
        rows.append(row)


def _has_offsets(state: dict[str, Any] | None) -> bool:
    return state is not None and (state["log_end_offset"] is not None or state["high_watermark"] is not None)


def _progress(states: Sequence[dict[str, Any]], before: dict[str, Any] | None) -> str:
    """Return how offsets changed in several states of one replica, from the value before to the last one."""
    last, taken = states[-1], _taken(states)
    if len(states) == 1 or before is None or before["run"] != last["run"]:
        return _values(last, before, taken=taken)
    parts = []
    for name, short, shown in (("log_end_offset", "LEO", True), ("high_watermark", "HW", not taken)):
        if shown and last[name] is not None and last[name] != before[name]:
            since = f"{before[name]:,} \u2192 " if before[name] is not None else ""
            parts.append(f"{short} {since}{_value(last, name)}")
    return " ".join(parts)


def _words(state: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Return the change, in a few words."""
    role, event = state["role"], state["event"]
    if role in _STATES and not (role == LOADING and event != Kind.PROCESS_START.value):
        return _STATES[role]
    shortened = event in _CUTS and _shortened(state, before)
    log = _truncation(state, before) if shortened else "log loaded" if event == Kind.LOG_LOADED.value else ""
    parts = (_role(state, before), log, _values(state, before, end=not shortened, taken=_taken([state])))
    return "  ".join(part for part in parts if part)


def _role(state: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Return the role, if it is another than before or a new process has it, else ""."""
    if before is not None and all(state[name] == before[name] for name in ("run", "role", "leader", "leader_epoch")):
        return ""
    epoch, leader = state["leader_epoch"], state["leader"]
    roles = {
        "leader": f"leads epoch {epoch}",
        "follower": f"follows{'' if leader is None else f' {leader}'}, epoch {epoch}",
        "offline": f"leader epoch {epoch}, no leader",
    }
    return roles.get(state["role"], "")


def _truncation(state: dict[str, Any], before: dict[str, Any] | None) -> str:
    """Return a truncation, with the log end offset before it if that is known exactly."""
    known = before is not None and before["log_end_exact"] and before["log_end_offset"] is not None
    was = f"{before['log_end_offset']:,} " if known and before is not None else ""
    return f"TRUNCATED {was}\u2192 {state['log_end_offset']:,}"


def _shortened(state: dict[str, Any], before: dict[str, Any] | None) -> bool:
    """Return whether a truncation removed something, if known: before 0.11 the line is printed in any case."""
    if state["log_end_offset"] is None:
        return False
    if before is None or before["log_end_offset"] is None or not before["log_end_exact"]:
        return True
    return bool(state["log_end_offset"] < before["log_end_offset"])


def _taken(states: Sequence[dict[str, Any]]) -> bool:
    """Return whether the last high watermark of a follower is no statement of a line, but the least of its leader.

    A follower takes over what its leader sends, so its own may fall when it begins to fetch; no line prints it.
    """
    last = states[-1]["high_watermark"]
    *_, since = itertools.takewhile(lambda state: state["high_watermark"] == last, reversed(states))
    began = since["event"] == Kind.FETCHER_ADDED.value
    return began and not since["high_watermark_exact"] and since["high_watermark_row"] != since["row"]


def _values(state: dict[str, Any], before: dict[str, Any] | None, *, end: bool = True, taken: bool = False) -> str:
    """Offsets and ISR where they differ from the state before.

    Args:
        state: the state.
        before: the state before it.
        end: show the log end offset too.
        taken: the high watermark is the least of the leader, which is not shown; see ``_taken``.
    """
    parts = []
    for name, short, shown in (("log_end_offset", "LEO", end), ("high_watermark", "HW", not taken)):
        changed = before is None or before[name] != state[name] or before["run"] != state["run"]
        if shown and changed and state[name] is not None:
            parts.append(f"{short} {_value(state, name)}")
    if state["isr"] is not None and (before is None or before["isr"] != state["isr"]):
        parts.append(f"ISR {state['isr'] or 'empty'}")
    return " ".join(parts)


def _value(state: dict[str, Any], name: str) -> str:
    """Return a log end offset or a high watermark, with a sign where it may be higher."""
    bounded = name == "log_end_offset" and not state["log_end_exact"]
    sign = "\u2265 " if bounded else ""
    return f"{sign}{state[name]:,}"
