"""Assignment of sources to tasks: small files together, large plain logs by ranges, everything else in one piece."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from forensics.engines.stages.listing import SPLIT, File, Look
from parsers import read
from parsers.files.sources import Source
from parsers.text.broker_log import Range, ranges

EXPANDS: Final = 8
"""How much larger a compressed log is taken to be than what is stored."""
GIANT: Final = 4 * SPLIT
_BINARY: Final = 8
"""How many bytes of segments and other binary files are read in the time of one byte of a log, about."""
_FILE: Final = 256 << 10
"""Bytes of a log that are read in the time that it takes to open a file and find out what it is, about."""


def content_of(source: Look | Source) -> int:
    """Return the bytes of a source's content, about: a compressed log is larger than what is stored."""
    return source.size * (EXPANDS if source.stored and not source.archive else 1)


@dataclass(frozen=True, slots=True)
class Unit:
    """One source to be read.

    Attributes:
        number: its number.
        file: its file.
        look: facts about it.
        identity: key of its rows: if it is unchanged, they need not be read again.
    """

    number: int
    file: File
    look: Look
    identity: str = ""

    @property
    def weight(self) -> int:
        """Bytes to be worked through, about."""
        return content_of(self.look)

    @property
    def cost(self) -> int:
        """Bytes of a plain log that are read in the same time, about."""
        return _FILE + self.weight // (1 if self.look.opening or self.look.stored else _BINARY)


@dataclass(frozen=True, slots=True)
class Piece:
    """Sources that are read together: one source, a range of one, or a directory whose files continue each other.

    Attributes:
        units: the sources.
        split: number of the range.
        range: the range, or None for all.
        held: all rows of the source are needed at once, to distinguish the brokers that printed them.
    """

    units: tuple[Unit, ...]
    split: int = 0
    range: Range | None = None
    held: bool = False

    @property
    def weight(self) -> int:
        """Bytes to be worked through, about."""
        if self.range is not None:
            size = self.units[0].look.size
            return (size if self.range.end is None else self.range.end) - self.range.begin
        return sum(unit.weight for unit in self.units)

    @property
    def cost(self) -> int:
        """Bytes of a plain log that are read in the same time, about."""
        return self.weight if self.range is not None else sum(unit.cost for unit in self.units)

    @property
    def why_whole(self) -> str:
        """Why it is read by one task."""
        look = self.units[0].look
        if len(self.units) > 1:
            return "the files of a metadata log go on from each other"
        if look.stored:
            return f"{look.stored} can only be read from its beginning"
        return "not a plain log of lines"

    def row(self) -> str:
        """As text, for a task."""
        return json.dumps(
            {
                "units": [
                    [u.number, [u.file.path, u.file.real, u.file.size, u.file.changed], u.look.row(), u.identity]
                    for u in self.units
                ],
                "split": self.split,
                "range": None if self.range is None else [self.range.begin, self.range.end],
                "held": self.held,
            }
        )

    @staticmethod
    def of(text: str) -> Piece:
        """From the text of ``row``."""
        said: dict[str, Any] = json.loads(text)
        units = []
        for number, file, look, identity in said["units"]:
            units.append(Unit(number, File(*file), Look.of(look), identity))
        span = said["range"]
        return Piece(tuple(units), said["split"], None if span is None else Range(*span), said["held"])


@dataclass(slots=True)
class Plan:
    """Tasks, each a list of pieces, and what a user should know of them."""

    tasks: list[list[Piece]] = field(default_factory=list)

    @property
    def pieces(self) -> list[Piece]:
        """All pieces."""
        return [piece for task in self.tasks for piece in task]

    @property
    def splits(self) -> dict[str, int]:
        """Files read by ranges, and in how many."""
        found: dict[str, int] = {}
        for piece in self.pieces:
            if piece.range is not None:
                path = piece.units[0].look.path
                found[path] = found.get(path, 0) + 1
        return found

    @property
    def giants(self) -> list[Piece]:
        """Large pieces that one task must read."""
        return sorted(
            (piece for piece in self.pieces if piece.range is None and piece.weight > GIANT),
            key=lambda piece: -piece.weight,
        )


def _packed(pieces: Sequence[Piece], most: int) -> list[list[Piece]]:
    """Return tasks of neighbouring pieces that together cost at most so much, or of one piece that costs more."""
    tasks: list[list[Piece]] = []
    cost = 0
    for piece in pieces:
        if not tasks or cost + piece.cost > most:
            tasks.append([])
            cost = 0
        tasks[-1].append(piece)
        cost += piece.cost
    return tasks


def planned(units: Sequence[Unit], *, split: int = SPLIT, whole: Iterable[int] = (), least: int = 1) -> Plan:
    """Tasks for the units.

    Args:
        units: sources to be read, in the order of the archive.
        split: bytes of a task, about.
        whole: numbers of units that have to be read in one go.
        least: about as many tasks as there should be at least, so that all processors have some.
    """
    in_one_go = set(whole)
    pieces: list[Piece] = []
    together: list[list[Piece]] = []
    forwards: dict[str, list[Piece]] = {}
    sources = [unit.look.source() for unit in units]
    for group in read.units(sources):
        members = tuple(units[position] for position in group)
        first = members[0]
        if first.look.splits and first.number not in in_one_go and first.look.size >= 2 * split:
            for number, span in enumerate(ranges(first.look.size, split)):
                together.append([Piece(members, number, span)])
        elif first.look.archive:
            # A compressed archive is read through once, however much of it is needed.
            held = first.number in in_one_go
            forwards.setdefault(first.file.path, []).append(Piece(members, held=held))
        else:
            pieces.append(Piece(members, held=first.number in in_one_go))
    together += forwards.values()
    share = sum(piece.cost for piece in pieces) // max(least - len(together), 1)
    together += _packed(pieces, min(split, share))
    # Long tasks first: what starts last should not be what takes longest.
    together.sort(key=lambda task: -sum(piece.cost for piece in task))
    return Plan(together)
