"""Records of each leader epoch, as the first line about them states them.

A leader writes each offset of its epoch once (KIP-101). So an append that states a leader epoch and no checksum is of
the records that the leader of that epoch wrote there, whichever replica it is about.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.lineage import subtract
from forensics.replay.traces.replica_log import Log, Piece
from parsers.schema import Kind


def led_by(lines: Iterable[TraceLine]) -> dict[int, set[int]]:
    """Return the brokers that take up each leader epoch in any of some lines."""
    found: dict[int, set[int]] = {}
    for line in lines:
        if line.kind == Kind.BECOME_LEADER and line.leader_epoch is not None:
            found.setdefault(line.leader_epoch, set()).add(line.broker)
    return found


@dataclass(slots=True)
class Written:
    """The records of each leader epoch so far.

    Attributes:
        leaders: brokers that lead each epoch in any line of the trace.
        found: the records of each epoch, in order of their offsets.
    """

    leaders: Mapping[int, set[int]]
    found: dict[int, Log] = field(default_factory=dict)

    def by_leader(self, piece: Piece) -> None:
        """Note what a leader appended. What it wrote there before, and lost, is gone."""
        log = self.found.setdefault(piece.writer[0], Log())
        log.truncate(piece.first)
        log.pieces.append(piece)

    def of(self, piece: Piece) -> list[Piece]:
        """Return record batches of the same leader epoch that have any offsets of a piece, in order.

        If two brokers led the epoch, none is known: each of them has its own records.
        """
        log = self.found.get(piece.writer[0])
        if log is None or len(self.leaders.get(piece.writer[0], ())) > 1:
            return []
        return [*log.overlapping(piece.first, piece.end)][::-1]

    def completed(self, piece: Piece) -> list[Piece]:
        """Return the records of a replica that does not lead: those that are known, and its own between them."""
        found = [one._replace(first=max(one.first, piece.first), end=min(one.end, piece.end)) for one in self.of(piece)]
        gaps = subtract([piece[:2]], [one[:2] for one in found])
        own = [piece._replace(first=first, end=end) for first, end in gaps]
        log = self.found.setdefault(piece.writer[0], Log())
        for one in own:
            insort(log.pieces, one)
        return sorted([*found, *own])
