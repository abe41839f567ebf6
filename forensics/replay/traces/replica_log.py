"""The log of one replica of a trace that is played: which records it has, and which append wrote each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import Lineage, Range

Writer = tuple[int, str]
"""Leader epoch and append of a record: its checksum, or the line of the leader that wrote it."""


BEFORE: Final[Writer] = (-1, "before the trace")
"""The records with which a replica begins. Those of all replicas are taken as alike."""


class Undecided(Exception):
    """A contradiction after which the log of the replica is not known. The message is what contradicts."""


class Piece(NamedTuple):
    """Records of one append in a log.

    Attributes:
        first, end: their offsets, half-open.
        writer: leader epoch and append.
        whole: they are one record batch, which a truncation removes as a whole (FileRecords.truncateTo).
    """

    first: int
    end: int
    writer: Writer
    whole: bool


@dataclass(slots=True)
class Log:
    """The records of one replica, in order of their offsets."""

    pieces: list[Piece] = field(default_factory=list)
    refs: dict[Writer, Ref] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    def append(self, piece: Piece, ref: Ref) -> None:
        """Add records at the end; ``ref`` is the line that appended them."""
        last = self.pieces[-1] if self.pieces else None
        if last is not None and not piece.whole and (last.writer, last.end) == (piece.writer, piece.first):
            self.pieces[-1] = last._replace(end=piece.end)
        else:
            self.pieces.append(piece)
        self.refs.setdefault(piece.writer, ref)
        self.end = piece.end

    def truncate(self, to: int) -> list[Piece]:
        """Remove everything from an offset on, and return it. The end is then that offset."""
        gone: list[Piece] = []
        while self.pieces and self.pieces[-1].end > to:
            last = self.pieces.pop()
            if last.first < to and not last.whole:
                self.pieces.append(last._replace(end=to))
                last = last._replace(first=to)
            gone.append(last)
        self.end = min(self.end, to)
        return gone

    def overlapping(self, first: int, end: int) -> Iterator[Piece]:
        """Yield the pieces that have any of some offsets, the last one first."""
        for piece in reversed(self.pieces):
            if piece.end <= first:
                return
            if piece.first < end:
                yield piece

    def within(self, first: int, end: int) -> Iterator[Piece]:
        """Yield what the log has of some offsets, its end first."""
        for piece in self.overlapping(first, end):
            yield piece._replace(first=max(piece.first, first), end=min(piece.end, end))

    @property
    def lineage(self) -> Lineage:
        """The leader epochs of the records."""
        return lineage_of(self.pieces)


def of_append(first: int, end: int, epoch: int, checksum: str | None, row: int) -> Piece:
    """Return records that no other replica has: with a checksum one record batch, else known by their line."""
    return Piece(first, end, (epoch, f"line {row}" if checksum is None else checksum), whole=checksum is not None)


def lineage_of(pieces: list[Piece]) -> Lineage:
    """Return the leader epochs of records, which are in order."""
    entries: list[tuple[int, int]] = []
    for piece in pieces:
        if not entries or entries[-1][0] != piece.writer[0]:
            entries.append((piece.writer[0], piece.first))
    return Lineage(tuple(entries))


def unlike(left: list[Piece], right: list[Piece]) -> Iterator[tuple[Range, Piece, Piece]]:
    """Yield the offsets at which two logs have different records; both are in order."""
    at = 0
    for one in left:
        while at < len(right) and right[at].end <= one.first:
            at += 1
        for two in right[at:]:
            if two.first >= one.end:
                break
            if one.writer != two.writer:
                yield (max(one.first, two.first), min(one.end, two.end)), one, two
