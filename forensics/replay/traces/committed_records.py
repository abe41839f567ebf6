"""The records of a trace that is played, of which a high watermark shows that they are committed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import Range, intersect, subtract
from forensics.replay.traces.replica_log import Piece, Writer


class Commit(NamedTuple):
    """A high watermark of a leader, as it stated it or another replica learned it.

    Attributes:
        replica: the leader; a follower whose records a consumer read.
        epoch: its leader epoch.
        high_watermark: the value.
        time: microseconds since 1970 UTC, or None.
        ref: the line.
    """

    replica: int
    epoch: int
    high_watermark: int
    time: int | None
    ref: Ref


NOBODY: Final = Commit(-1, -1, 0, None, Ref())
"""The commit of records that are in a set for another reason."""


def highest_first(commits: Iterable[Commit]) -> tuple[Commit, ...]:
    """Return high watermarks in an order that does not depend on that of the lines."""
    return tuple(sorted(commits, key=lambda one: (-one.high_watermark, one.replica, one.epoch)))


class Records:
    """A set of records: the offsets of each append, with the commit that added them."""

    def __init__(self) -> None:
        self.found: dict[Writer, list[tuple[Range, Commit]]] = {}

    def ranges(self, writer: Writer) -> list[Range]:
        """The offsets of one append."""
        return [span for span, _ in self.found.get(writer, ())]

    def add(self, writer: Writer, first: int, end: int, commit: Commit) -> None:
        """Add records, if they are not there."""
        for span in subtract([(first, end)], self.ranges(writer)):
            self.found.setdefault(writer, []).append((span, commit))

    def remove(self, piece: Piece) -> None:
        """Remove records, if they are there."""
        found = self.found.get(piece.writer, [])
        found[:] = [(part, commit) for span, commit in found for part in subtract([span], [piece[:2]])]

    def of(self, piece: Piece) -> list[tuple[Range, Commit]]:
        """Return the records of a piece that are in the set."""
        parts = ((intersect([span], [piece[:2]]), commit) for span, commit in self.found.get(piece.writer, ()))
        return [(part, commit) for found, commit in parts for part in found]
