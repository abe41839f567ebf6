"""The layouts of one log, in turn: if an operator changes a broker's logging, the same file continues.

The first lines show one layout. Lines that begin no event of it, but look like events about replication, show another
one from there on. Each line that begins an event belongs to the first known layout that it fits, and each other line to
the event before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from parsers.file_reading import note
from parsers.schema import NOTICES, empty
from parsers.text import extract, frames, wrappings
from parsers.text.extract import Extract
from parsers.text.frames import Frame
from parsers.text.lines import Block
from parsers.text.wrappings import Wrapping

NOT_KNOWN: Final = "a layout that is not known"
"""As shown in ``sources`` beside those that are."""

_MOST: Final = 12
"""Layouts of one log."""

_SAMPLE: Final = 500
_FEW: Final = 3
"""Lines that show a wrapping or another layout: one or two lines of text often look wrapped in some way."""

_FEW_DAMAGED: Final = 10
"""Lines of a log whose beginnings may be missing or overwritten."""

_PER_TEXT: Final = 1 << 32
_TIME: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}|[0-9]{10}|[0-9]{8}[T ]?[0-9]{6}"
_LEVEL: Final = r"(?i)\b(?:trace|debug|info|warn|warning|error|fatal|severe)\b"
_ZONES: Final = (
    "the times of one of its layouts name their zone and those of another do not: all are read as those of the first"
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Wrappings of lines, and the layout inside.

    Attributes:
        around: wrappings, outermost first.
        frame: the layout inside.
    """

    around: tuple[Wrapping, ...]
    frame: Frame

    @property
    def name(self) -> str:
        """As shown in ``sources``."""
        return " in ".join([self.frame.name, *[wrapping.name for wrapping in reversed(self.around)]])

    @property
    def utc(self) -> bool:
        """True if its times are in UTC, whatever zone the user gives."""
        return self.frame.utc or wrappings.dated(self.around)

    def heads(self, block: Block) -> pl.Series:
        """Numbers of the lines that begin its events."""
        inner = wrappings.unwrap(block, self.around).frame()
        return inner.filter(pl.col("text").str.contains(self.frame.head)).get_column("line").unique()


@dataclass(frozen=True, slots=True)
class Portion:
    """The lines of one layout among those of a block.

    Attributes:
        layout: theirs.
        inner: lines without their wrappings.
        found: their contents.
        unread: events of an unknown layout are among them.
    """

    layout: Layout
    inner: Block
    found: Extract
    unread: bool = False


def _not_understood(left: pl.DataFrame) -> pl.DataFrame:
    """Return the notice of lines that look like events of an unknown layout; there is at least one."""
    count = f"{left.height} lines look" if left.height > 1 else "a line looks"
    why = f"{count} like events of {NOT_KNOWN}, the first here: not understood"
    excerpt, line = str(left.get_column("text")[0])[: extract.EXCERPT], int(left.get_column("line")[0])
    return note(why, excerpt=excerpt, line=line)


class Layouts:
    """The layouts that were found in a log; blocks arrive in the order of the file.

    Attributes:
        known: in the order in which they were found.
        inside_config: the block before ended inside a dump of ``KafkaConfig``.
    """

    def __init__(self, around: tuple[Wrapping, ...], frame: Frame, *, inside_config: bool = False) -> None:
        self.known = [Layout(around, frame)]
        self.inside_config = inside_config
        self._last = 0
        self._told_zones = False

    @property
    def utc(self) -> bool:
        """Printed times are read as UTC."""
        return self.known[0].utc

    def portions(self, block: Block) -> list[Portion]:
        """Return the lines of each layout, in the order of the layouts, with their contents."""
        first = self.known[0]
        inner = wrappings.unwrap(block, first.around)
        rows = inner.frame()
        others = rows.filter(~pl.col("text").str.contains(first.frame.head))
        if self._last == 0 and not strays(others).height:
            found = extract.extract(inner, first.frame, inside_config=self.inside_config)
            self.inside_config = found.inside_config
            return [Portion(first, inner, found)]
        return self._several(block)

    def _several(self, block: Block) -> list[Portion]:
        owners, notices, unread, unknown = self._owners(block)
        begun = self._last
        by_line = owners.get_column("owner").fill_null(strategy="forward").fill_null(begun)
        self._last = int(by_line[-1])
        inside, self.inside_config = self.inside_config, False
        parts: list[Portion] = []
        lines, numbers = block.lines, owners.get_column("line")
        for number, layout in enumerate(self.known):
            mine = by_line == number
            if not mine.any():
                continue
            noticed = block.notices if not parts else block.notices.clear()
            ends = number == self._last
            own = Block(
                lines.filter(mine), block.first_line, noticed, numbers.filter(mine), unended=block.unended and ends
            )
            inner = wrappings.unwrap(own, layout.around)
            found = extract.extract(inner, layout.frame, inside_config=inside and number == begun)
            if ends:
                self.inside_config = found.inside_config
            if not parts:
                found = replace(found, notices=pl.concat([found.notices, notices]), relevant=found.relevant + unread)
            parts.append(Portion(layout, inner, found, unread=unknown))
        return parts

    def _owners(self, block: Block) -> tuple[pl.DataFrame, pl.DataFrame, int, bool]:
        """Return the layout of each line that begins an event, notices, the number of events of an unknown layout, and
        whether these are more than damaged lines.
        """
        rows = block.frame().select("line", "text")
        owner = pl.Series("owner", [None] * rows.height, dtype=pl.Int64)
        notices = empty(NOTICES)
        number = 0
        while True:
            while number < len(self.known):
                owner = self._owned(rows, owner, number)
                number += 1
            left = strays(rows.filter(owner.is_null()))
            another = self._another(rows.filter(owner.is_null()), left) if left.height else None
            if another is None:
                break
            self.known.append(another)
            if another.utc is not self.utc and not self._told_zones:
                self._told_zones = True
                notices = pl.concat([notices, note(_ZONES, line=int(left.get_column("line")[0]))])
        unknown = left.height > _FEW_DAMAGED
        if self.known[0].frame is frames.STOCK and left.height:
            left = left.filter(~extract.beheaded(left.get_column("text")))  # those are reported one by one
        if left.height:
            notices = pl.concat([notices, _not_understood(left)])
        return rows.select("line").with_columns(owner), notices, left.height, unknown or left.height >= _FEW

    def _owned(self, rows: pl.DataFrame, owner: pl.Series, number: int) -> pl.Series:
        """Return the layout of each line, with that of lines without one which begin an event of one more layout.

        Args:
            rows: all lines.
            owner: layout of each so far, or null.
            number: which of the known layouts is tried.
        """
        left = rows.filter(owner.is_null())
        heads = self.known[number].heads(_block(left)) if left.height else rows.clear().get_column("line")
        mine = rows.get_column("line").is_in(heads.implode()) & owner.is_null()
        return owner.zip_with(~mine, pl.Series("owner", [number], dtype=pl.Int64).new_from_index(0, owner.len()))

    def _another(self, unowned: pl.DataFrame, left: pl.DataFrame) -> Layout | None:
        """A layout of lines that are of none that is known."""
        if len(self.known) == _MOST:
            return None
        since = unowned.filter((pl.col("line") >= left.get_column("line")[0]) & _event())
        for sample in (since.head(_SAMPLE), left.head(_SAMPLE), left.head(1)):
            around, frame = wrappings.choose(sample.get_column("text"))
            if frame is None:
                continue
            found = Layout(around, frame)
            fits = found.heads(_block(left)).len()
            if fits >= (_FEW if around and around != self.known[0].around else 1):
                return found
        return None


def strays(others: pl.DataFrame) -> pl.DataFrame:
    """Those of the lines that begin no event of a layout, but look like events about replication."""
    if others.is_empty():
        return others
    events = others.filter(_event())
    if events.is_empty():
        return events
    return events.filter(extract.relevant(events.get_column("text")))


def changing(blocks: Sequence[Block], frame: Frame) -> set[int]:
    """Return which of several short texts of one layout have lines of another too, by number."""
    rows = pl.concat([block.frame().with_columns(pl.col("line") + at * _PER_TEXT) for at, block in enumerate(blocks)])
    found = strays(rows.filter(~pl.col("text").str.contains(frame.head)))
    return set((found.get_column("line") // _PER_TEXT).to_list())


def _event() -> pl.Expr:
    text = pl.col("text")
    return text.str.contains(_TIME) & text.str.contains(_LEVEL)


def _block(rows: pl.DataFrame) -> Block:
    return Block(rows.get_column("text"), 1, empty(NOTICES), rows.get_column("line"))
