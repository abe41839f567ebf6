"""Epoch entries of a trace that is played, compared with the records of the same log and with those of other replicas.

An entry states the leader epoch of the record at its offset. A line may be missing about other entries of the same
log: a trace need not state them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.played_line import PlayedLine
from forensics.replay.lineage import Range, intersect
from forensics.replay.played_log import BEFORE, Log, Piece, Undecided
from forensics.replay.signs.stated import EpochStarts

_UNBOUNDED = 1 << 62


@dataclass(slots=True)
class Entries:
    """The epoch entries that a replica has stated, of the records that its log has now.

    Attributes:
        found: by leader epoch, the offset from which it begins, and the line.
    """

    found: dict[int, tuple[int, Ref]] = field(default_factory=dict)

    def add(self, line: PlayedLine) -> None:
        """Take an entry."""
        if line.leader_epoch is not None and line.offset is not None and line.leader_epoch >= 0:
            note = f"leader epoch {line.leader_epoch} from offset {line.offset}"
            self.found[line.leader_epoch] = line.offset, Ref(row=line.row, note=note)

    def truncate(self, to: int) -> None:
        """Forget the entries of records that a truncation removed."""
        self.found = {epoch: one for epoch, one in self.found.items() if one[0] < to}

    def at(self, offset: int) -> tuple[int, Ref] | None:
        """Return the leader epoch of the record at an offset where an entry begins, and the line; None elsewhere."""
        there = [(epoch, ref) for epoch, (start, ref) in self.found.items() if start == offset]
        return max(there, key=lambda one: one[0], default=None)

    def bounds(self, offset: int) -> tuple[int, int]:
        """Return the least and the greatest leader epoch of the record at an offset: epochs only rise along a log."""
        exact = self.at(offset)
        if exact is not None:
            return exact[0], exact[0]
        least = max((epoch for epoch, (start, _) in self.found.items() if start <= offset), default=0)
        return least, min((epoch - 1 for epoch, (start, _) in self.found.items() if start > offset), default=_UNBOUNDED)

    def nearest(self, offset: int) -> Ref:
        """Return the line of the entry that bounds the leader epoch at an offset."""
        below = [(start, ref) for start, ref in self.found.values() if start <= offset]
        above = [(-start, ref) for start, ref in self.found.values() if start > offset]
        return max(below or above, key=lambda one: one[0])[1]


def unlike_before(
    left: tuple[Sequence[Piece], Entries], right: tuple[Sequence[Piece], Entries]
) -> Iterator[tuple[Range, Piece, Piece, Ref, Ref]]:
    """Yield offsets of records with which both replicas began, and to which their entries give other leader epochs.

    Args:
        left, right: the committed records of each replica, and its entries.
    """
    both = intersect(_before(left[0]), _before(right[0]))
    known = [*left[1].found.values(), *right[1].found.values()] if left[1].found and right[1].found else []
    for offset in sorted({start for start, _ in known}):
        (low, high), (least, most) = left[1].bounds(offset), right[1].bounds(offset)
        if (high < least or most < low) and any(first <= offset < end for first, end in both):
            one, two = (
                Piece(offset, offset + 1, (epoch, f"entry of {side}"), whole=False)
                for epoch, side in ((low if high == _UNBOUNDED else high, "left"), (least, "right"))
            )
            yield (offset, offset + 1), one, two, left[1].nearest(offset), right[1].nearest(offset)


def _before(pieces: Sequence[Piece]) -> list[Range]:
    return [piece[:2] for piece in pieces if piece.writer == BEFORE]


def entry_start(log: Log, line: PlayedLine, *, reloaded: bool) -> EpochStarts | None:
    """Compare an entry of a leader epoch with the records of the same log; return two different starts of the epoch.

    Args:
        log: the log of the replica.
        line: the entry.
        reloaded: a process has loaded the log: one that was killed may build its entries from what is left of it.

    Raises:
        Undecided: the log has records of a later epoch below the entry.
    """
    epoch, offset = line.leader_epoch, line.offset
    if epoch is None or offset is None or epoch < 0:
        return None
    below = [piece for piece in log.pieces if piece.first < offset and piece.writer[0] > epoch]
    if below:
        newer = below[0].writer[0]
        raise Undecided(
            f"has an entry of leader epoch {epoch} from offset {offset} on, and records of leader epoch {newer} "
            f"from offset {below[0].first} on"
        )
    own = next((piece for piece in log.pieces if piece.writer[0] == epoch), None)
    if own is None or own.first == offset or own.first <= log.start > 0 or (reloaded and offset > own.first):
        return None
    appended = own.first, line.broker, log.refs[own.writer]
    entry = offset, line.broker, Ref(row=line.row, note=f"leader epoch {epoch} from offset {offset}")
    return EpochStarts(epoch, tuple(sorted((appended, entry), key=lambda one: one[0])))
