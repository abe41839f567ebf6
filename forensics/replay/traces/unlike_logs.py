"""Replicas of a trace that is played, which have different records at the same offsets at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import Range, intersect, merge
from forensics.replay.traces.committed_records import Records
from forensics.replay.traces.leader_epochs import LedEpochs
from forensics.replay.traces.replica_log import BEFORE, Log, Piece, Writer, unlike


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


def apart_below_alike(logs: Mapping[int, Log], apart: Collection[Apart]) -> Iterator[Apart]:
    """Yield the pairs of replicas that have the same record at one offset, and different records at lower ones.

    Leader epochs are compared so that this cannot be (KIP-101): a replica that fetches an epoch has the records of its
    leader below. So it counts also where no record is committed.

    Args:
        logs: by broker id, at the end of a trace.
        apart: pairs whose committed records differ; these are left out.
    """
    known = {(one.left, one.right) for one in apart}
    for left, right in combinations(sorted(logs), 2):
        one, two = logs[left], logs[right]
        shared = [*_shared(one, two)] if (left, right) not in known else []
        last = max((end for _, end in shared), default=0)
        found = [part for part in unlike(one.pieces, two.pieces) if part[0][0] < last]
        if found:
            _, mine, its = min(found, key=lambda part: part[0])
            ranges = tuple(merge(span for span, *_ in found))
            yield Apart(left, right, ranges, mine, its, one.refs[mine.writer], two.refs[its.writer])


def _shared(one: Log, two: Log) -> Iterator[Range]:
    """Yield the offsets of records that both logs have; those with which they begin are only taken as alike."""
    own: dict[Writer, list[Range]] = {}
    for piece in one.pieces:
        if piece.writer[1] != BEFORE[1]:
            own.setdefault(piece.writer, []).append(piece[:2])
    for piece in two.pieces:
        yield from intersect(own.get(piece.writer, ()), [piece[:2]])


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
