"""Order of the lines of a trace: whether they are in another one than that in which they were written.

People sort the lines of a trace by a field, group them or shuffle them, or take them from a store that keeps no order.
Their times are still right. A clock that was set back is something else: times fall once, and the order is that of the
lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from parsers.text.time_order import out_of_order

REMARK: Final = "the lines are in another order than their times: read in the order of their times"
AT_ONE_TIME: Final = (
    "lines of one witness have the same time, and their order is lost: what the trace claims does not count"
)

_FALLS: Final = 4  # more often than a clock is set back
_SHARE: Final = 4  # and a line in so many is earlier than one above it
_BETWEEN: Final = 3  # lines between those of the group above, if times fall once
_SORTED_BY: Final = ("kind", "leader_epoch", "offset", "leo", "hw")


class Order(NamedTuple):
    """The order of a trace whose lines are in another one than that in which they were written.

    Attributes:
        first: the first line with a time before that of a line above it, of the same witness.
        equal: the first line whose place among lines of the same time is lost; None if there is none.
    """

    first: int
    equal: int | None


class _Line(NamedTuple):
    line: int
    time: int
    witness: int
    place: tuple[str | None, int | None]
    fields: tuple[object, ...]


_OF_PROCESS: Final = (None, None)


def lost_order(rows: pl.DataFrame) -> Order | None:
    """Return the order of a trace whose lines are in no order that a process writes them in; None for another trace.

    Args:
        rows: the observations that have a witness, in the order of the file, without those of the first line.
    """
    named = rows.select("line", pl.col("time").cast(pl.Int64), "witness", "topic", "partition", *_SORTED_BY)
    if named.height == 0 or named.get_column("time").null_count():
        return None
    fallen = pl.col("time") < pl.col("time").cum_max().shift(1)
    back = named.filter(fallen.fill_null(False).over("witness"))
    if back.height == 0:
        return None
    lines = [
        _Line(line, time, witness, (topic, partition), tuple(fields))
        for line, time, witness, topic, partition, *fields in named.iter_rows()
    ]
    of: dict[int, list[_Line]] = {}
    for line in lines:
        of.setdefault(line.witness, []).append(line)
    brokers = [_Own(own) for own in of.values()]
    if not any(own.reordered for own in brokers):
        return None
    return Order(back.get_column("line")[0], _equal(lines, stable=all(own.stable for own in brokers)))


class _Own:
    """The lines of one witness.

    Attributes:
        reordered: they are in no order that a process writes them in.
        stable: lines of the same time are in the order in which they were written, as far as that is known.
    """

    def __init__(self, lines: Sequence[_Line]) -> None:
        # Lines that were put together partition by partition are in order within each.
        parts = [*_by_place(lines).values(), *([] if _together([line.place for line in lines]) else [lines])]
        sorted_by, mixed = any(_is_grouped(part) for part in parts), any(_is_mixed(part) for part in parts)
        self.reordered = _is_apart(lines) or sorted_by or mixed
        self.stable = not mixed and (self.reordered or not any(_falls(part) for part in parts))


def _by_place(lines: Sequence[_Line]) -> dict[object, list[_Line]]:
    found: dict[object, list[_Line]] = {}
    for line in lines:
        found.setdefault(line.place, []).append(line)
    return found


def _together(values: Sequence[object]) -> bool:
    """Return whether each value has its lines together."""
    return sum(1 for _ in itertools.groupby(values)) == len({*values})


def _is_apart(lines: Sequence[_Line]) -> bool:
    """Return whether the lines about processes are apart from those of each partition, which begin before they end."""
    places = [line.place for line in lines]
    if not _together(places) or any(_falls(part) for part in _by_place(lines).values()):
        return False
    process = [line.time for line in lines if line.place == _OF_PROCESS]
    others = [line.time for line in lines if line.place != _OF_PROCESS]
    return bool(process) and any(process[0] < time < process[-1] for time in others)


def _falls(lines: Sequence[_Line]) -> int:
    """Return how many times the times of lines fall."""
    return sum(after.time < before.time for before, after in itertools.pairwise(lines))


def _is_mixed(lines: Sequence[_Line]) -> bool:
    """Return whether so many times fall that no clock that was set back explains it."""
    falls = _falls(lines)
    if falls == 0:
        return False
    latest = itertools.accumulate((line.time for line in lines), max)
    behind = sum(line.time < most for line, most in zip(lines, latest, strict=True))
    often = falls >= _FALLS and _SHARE * behind >= len(lines)
    return often or out_of_order([after.time - before.time for before, after in itertools.pairwise(lines)])


def _is_grouped(lines: Sequence[_Line]) -> bool:
    """Return whether lines are grouped by a field that is not their partition, as sorting them does."""
    falls = _falls(lines)
    least = 1 if falls > 1 else _BETWEEN
    return falls > 0 and any(
        _between(lines, [line.fields[at] for line in lines]) >= least for at in range(len(_SORTED_BY))
    )


def _between(own: Sequence[_Line], values: Sequence[object]) -> int:
    """Return how many lines show that all are grouped by a field, in the order of their times within each group.

    Each value has its lines together, and times fall only from one group to the next. A clock that was set back there
    would show the same. So lines of a group must be between two of the group above it.
    """
    groups = [[line.time for line, _ in part] for _, part in itertools.groupby(zip(own, values, strict=True), _value)]
    if not _together(values) or any(times != sorted(times) for times in groups):
        return 0
    falls = ((above, below) for above, below in itertools.pairwise(groups) if below[0] < above[-1])
    return sum(above[0] < time < above[-1] for above, below in falls for time in below)


def _value(one: tuple[_Line, object]) -> object:
    return one[1]


def _equal(lines: Sequence[_Line], *, stable: bool) -> int | None:
    """Return the first line whose place among those of the same time is lost: of its partition, or its process.

    Args:
        lines: all lines, in the order of the file.
        stable: lines of the same time that follow each other among those of their partition are in their order.
    """
    seen: set[tuple[int, object]] = set()
    last: dict[object, int] = {}
    for line in lines:
        of_process = line.place == _OF_PROCESS
        own = line.witness if of_process else line.place
        again = (line.time, own) in seen and not (stable and last[own] == line.time)
        if again or (of_process and (line.time, -line.witness - 1) in seen):  # a line of a partition is above it
            return line.line
        seen.add((line.time, own))
        last[own] = line.time
        if not of_process:
            seen.add((line.time, -line.witness - 1))
    return None
