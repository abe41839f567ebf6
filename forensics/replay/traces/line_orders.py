"""Orders in which the lines of a trace can have happened, where the time of some runs backwards or is not stated.

The lines of one witness are in the order in which things happened. If the time of a line is before that of a line above
it, one of the two times is wrong. So a line with a wrong time, or with none, happened at any moment between its
neighbours. Only in one file without any times the order of the file is that of all lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice, product
from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import TraceLine
from parsers.formats.trace_checks import rising_lengths
from parsers.formats.trace_jsonl import NAME as TRACE

MOST: Final = 64
"""Orders of one partition that are tried at most."""


class Disorder(NamedTuple):
    """A line whose time does not show when it happened.

    Attributes:
        broker: broker id of its witness.
        line: its number in its file.
        row: its row number.
        untimed: it has no time; else that runs backwards.
    """

    broker: int
    line: int
    row: int
    untimed: bool

    @property
    def text(self) -> str:
        """The line and what is wrong with it, in words."""
        what = "a line of broker {} has no time" if self.untimed else "the time of broker {} runs backwards"
        return f"line {self.line}: {what.format(self.broker)}, and the order of its lines decides"


def disordered(rows: pl.DataFrame) -> dict[Key, Disorder]:
    """Return the first line of each partition whose time does not show when it happened.

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.
    """
    place = ["topic", "partition", "incarnation"]
    stated = rows.filter(pl.col("message") == TRACE).sort("row")
    latest = pl.col("time").cum_max().forward_fill().shift(1).over([*place, "broker"])
    none, files = pl.col("time").is_null(), pl.col("source").n_unique().over(place)
    untimed = none & (pl.col("time").is_not_null().any().over(place) | (files > 1))
    stated = stated.with_columns(untimed.alias("_untimed"), (pl.col("time") < latest).fill_null(False).alias("_back"))
    first = stated.filter(pl.any_horizontal("_back", "_untimed")).unique(place, keep="first", maintain_order=True)
    found = first.select(*place, "broker", "line", "row", "_untimed").iter_rows()
    return {tuple(one[:3]): Disorder(*one[3:]) for one in found}


def orders(lines: Sequence[TraceLine]) -> list[list[TraceLine]] | None:
    """Return the orders in which the lines of a partition can have happened; None if there are too many.

    Args:
        lines: in the order of their times.
    """
    each = [*_of_each_broker(lines)]
    untimed = [line for line in lines if line.time is None and line.message == TRACE]
    if None in each or len(untimed) > MOST:
        return None
    found: list[list[TraceLine]] = []
    for chosen in product(*(one for one in each if one is not None)):
        wrong = sorted(chain(untimed, *chosen), key=lambda line: line.row)
        rows = {line.row for line in wrong}
        sound = [line for line in lines if line.row not in rows]
        found += islice(_placed(sound, wrong), MOST + 1 - len(found))
    return found if len(found) <= MOST else None


def _of_each_broker(lines: Sequence[TraceLine]) -> Iterator[list[list[TraceLine]] | None]:
    """Yield the choices of lines with wrong times for each broker."""
    timed = sorted((line for line in lines if line.time is not None), key=lambda line: (line.broker, line.row))
    for _, own in groupby(timed, key=lambda line: line.broker):
        yield _wrong([*own])


def _placed(lines: list[TraceLine], wrong: Sequence[TraceLine]) -> Iterator[list[TraceLine]]:
    """Yield the lines with more of them, each anywhere between its neighbours in the file."""
    if not wrong:
        yield lines
        return
    one, *rest = wrong
    own = [(at, line.row) for at, line in enumerate(lines) if line.broker == one.broker]
    first = max((at + 1 for at, row in own if row < one.row), default=0)
    last = min((at for at, row in own if row > one.row), default=len(lines))
    for at in range(first, last + 1):
        yield from _placed([*lines[:at], one, *lines[at:]], rest)


def _wrong(own: Sequence[TraceLine]) -> list[list[TraceLine]] | None:
    """Return each choice of the fewest lines of a broker without which its times do not run backwards.

    Args:
        own: the lines of one broker in the order of the file.

    Returns:
        The choices, None if there are too many.
    """
    parts = _longest([line.time or 0 for line in own])
    kept = [frozenset(part.positions) for part in parts] if parts is not None else None
    return kept if kept is None else [[line for at, line in enumerate(own) if at not in one] for one in kept]


def _longest(times: Sequence[int]) -> list[_Part] | None:
    """Return each longest part of some times that does not fall; None if there are too many."""
    first, *others = _layers(times)
    parts = [_Part(at, None) for at in first]
    for layer in others:
        parts = [_Part(at, part) for part in parts for at in layer if part.precedes(at, times)]
        if len(parts) > MOST:
            return None
    return parts


class _Part(NamedTuple):
    """Lines whose times do not fall, by the position of the last one and the part before it."""

    last: int
    before: _Part | None

    def precedes(self, at: int, times: Sequence[int]) -> bool:
        """Return whether another position can follow."""
        return self.last < at and times[self.last] <= times[at]

    @property
    def positions(self) -> Iterator[int]:
        """All positions, the last one first."""
        part: _Part | None = self
        while part is not None:
            yield part.last
            part = part.before


def _layers(times: Sequence[int]) -> list[list[int]]:
    """Return the positions that are first, second and so on in a longest part of some times that does not fall."""
    before, after = rising_lengths(times), rising_lengths([-time for time in reversed(times)])[::-1]
    layers: list[list[int]] = [[] for _ in range(max(before, default=0))]
    for at, (one, two) in enumerate(zip(before, after, strict=True)):
        if one + two - 1 == len(layers):
            layers[one - 1].append(at)
    return layers
