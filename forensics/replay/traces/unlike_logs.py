"""Replicas of a trace that is played, which have different records at the same offsets at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import Range, intersect, merge
from forensics.replay.traces.committed_records import Records
from forensics.replay.traces.leader_epochs import LedEpochs
from forensics.replay.traces.replica_log import Log, Piece, unlike


@dataclass(frozen=True, slots=True)
class Apart:
    """Two replicas with different records at committed offsets, at the end of the trace.

    Attributes:
        left, right: broker ids.
        ranges: the offsets.
        left_piece, right_piece: the first records that differ.
        left_ref, right_ref: the lines that appended them.
        by_one: one leader wrote all records of their leader epoch. So they differ by themselves, and it is enough that
            one of them is committed.
    """

    left: int
    right: int
    ranges: tuple[Range, ...]
    left_piece: Piece
    right_piece: Piece
    left_ref: Ref
    right_ref: Ref
    by_one: bool = False

    def has(self, broker: int, piece: Piece) -> bool:
        """Return whether some records of a replica are among those that differ."""
        return broker in (self.left, self.right) and bool(intersect(self.ranges, [piece[:2]]))


def among(apart: Iterable[Apart], broker: int, piece: Piece) -> bool:
    """Return whether some records of a replica are among those that differ between any two replicas."""
    return any(one.has(broker, piece) for one in apart)


@dataclass(frozen=True, slots=True)
class Held:
    """The log of a replica at the end of a trace.

    Attributes:
        log: its log.
        hw: the highest high watermark that counts for its own records.
    """

    log: Log
    hw: int


def apart_at_end(replicas: Mapping[int, Held], committed: Records, epochs: LedEpochs) -> Iterator[Apart]:
    """Yield the pairs of replicas with different records at the same committed offsets.

    The records are committed on both sides: by a leader, or below the high watermark of the replica itself. Where one
    broker alone led their leader epoch, there is one record of it at each offset. So one side is enough then.

    Args:
        replicas: by broker id.
        committed: the records that leaders have committed.
        epochs: the leader epochs.
    """
    counted = {broker: _counted(held, committed) for broker, held in sorted(replicas.items())}
    for left, right in combinations(sorted(replicas), 2):
        one, two = replicas[left].log, replicas[right].log
        found = [*unlike(counted[left], counted[right])]
        both = merge(span for span, *_ in found)
        alone = [*_of_one_leader(one, two, [*counted[left], *counted[right]], epochs)]
        if found or alone:
            _, mine, its = min((*found, *alone), key=lambda apart: apart[0])
            ranges = tuple(merge([*both, *(span for span, *_ in alone)]))
            refs = one.refs[mine.writer], two.refs[its.writer]
            yield Apart(left, right, ranges, mine, its, *refs, by_one=not found)


def _of_one_leader(one: Log, two: Log, counted: list[Piece], epochs: LedEpochs) -> Iterator[tuple[Range, Piece, Piece]]:
    """Yield different records of the same leader epoch, if one broker alone led it and one side is committed."""
    for span, mine, its in unlike(one.pieces, two.pieces):
        if mine.writer[0] == its.writer[0] and epochs.by_one(mine.writer[0]):
            sides = [piece[:2] for piece in counted if piece.writer in (mine.writer, its.writer)]
            for part in merge(intersect([span], sides)):
                yield part, mine, its


def _counted(held: Held, committed: Records) -> list[Piece]:
    """Return the records of a replica that are committed: by a leader, or below its own high watermark."""
    found: list[Piece] = []
    for piece in held.log.pieces:
        spans = [span for span, _ in committed.of(piece)] + intersect([piece[:2]], [(0, held.hw)])
        found += [piece._replace(first=first, end=end) for first, end in merge(spans)]
    return found
