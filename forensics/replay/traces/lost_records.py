"""The committed records of a trace that leaders lacked, and the later leaders that had them again.

A loss is over for the records with which the leader of a later epoch began. They may be lost once more, to a leader
after that one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from forensics.replay.lineage import Range, intersect, merge, subtract
from forensics.replay.traces.committed_records import Commit, Records, highest_first
from forensics.replay.traces.replica import Replica, holding
from forensics.replay.traces.replica_log import Piece, lineage_of
from forensics.replay.traces.results import LedWithout, ServedAgain


class _Part(NamedTuple):
    """Some records that a leader lacked.

    Attributes:
        piece: the records.
        commit: the high watermark that covered them.
        since: the leader epoch since which they are there again, and its leader; None if they are not.
    """

    piece: Piece
    commit: Commit
    since: tuple[int, int] | None = None

    def within(self, span: Range, since: tuple[int, int] | None) -> _Part:
        """Return the part of these records at some offsets."""
        return _Part(self.piece._replace(first=span[0], end=span[1]), self.commit, since)


@dataclass(slots=True)
class Losses:
    """The committed records that leaders lacked so far.

    Attributes:
        gone: the records that no leader has had again.
        found: each leader that lacked records, with these.
    """

    gone: Records = field(default_factory=Records)
    found: list[tuple[LedWithout, list[_Part]]] = field(default_factory=list)

    def add(self, one: LedWithout, lacking: Sequence[tuple[Piece, Commit]]) -> None:
        """Add a leader and the records that it lacks."""
        for piece, commit in lacking:
            self.gone.add(piece.writer, piece.first, piece.end, commit)
        self.found.append((one, [_Part(piece, commit) for piece, commit in lacking]))

    def leads(self, broker: int, replica: Replica) -> None:
        """A leader takes the newest epoch up: what it has of these records is there again."""
        for one, parts in self.found:
            if one.epoch < replica.epoch:
                parts[:] = [half for part in parts for half in self._halves(part, broker, replica)]

    def _halves(self, part: _Part, broker: int, replica: Replica) -> Iterator[_Part]:
        """Yield what a leader has of some records, and what it lacks."""
        if part.since is not None:
            yield part
            return
        has = _held(replica, part.piece)
        for span in has:
            self.gone.remove(part.piece._replace(first=span[0], end=span[1]))
            yield part.within(span, (replica.epoch, broker))
        for span in subtract([part.piece[:2]], has):
            yield part.within(span, None)

    def at_end(self, replicas: Mapping[int, Replica], last: Collection[int]) -> tuple[LedWithout, ...]:
        """Return the losses as they are at the end, those that are over apart from the others.

        Args:
            replicas: the replicas of the partition.
            last: those that lead the newest epoch.
        """
        self._reopen([replicas[broker] for broker in last])
        return tuple(each for one, parts in self.found for each in _apart(one, parts, replicas, last))

    def _reopen(self, last: Sequence[Replica]) -> None:
        """Take records that were there again as gone if the last leaders do not have them, and no later loss has."""
        later = Records()
        for _, parts in reversed(self.found):
            kept = [half for part in parts for half in _reopened(part, last, later)]
            for piece, commit, since in kept:
                if since is None:
                    self.gone.add(piece.writer, piece.first, piece.end, commit)
                later.add(piece.writer, piece.first, piece.end, commit)
            parts[:] = kept


def _held(replica: Replica, piece: Piece) -> list[Range]:
    """Return the offsets of some records that a replica has."""
    return list(holding({0: replica}, [piece]).get(0, ()))


def _reopened(part: _Part, last: Sequence[Replica], later: Records) -> Iterator[_Part]:
    """Yield some records in parts: as they are, and those that the last leaders do not have.

    What these deleted from the beginning of their logs is not lost.
    """
    if part.since is None:
        yield part
        return
    has = [part.piece[:2]] if last else []
    for replica in last:
        has = intersect(has, [*_held(replica, part.piece), (0, replica.deleted)])
    kept = intersect([part.piece[:2]], [*has, *later.ranges(part.piece.writer)])
    for span in kept:
        yield part.within(span, part.since)
    for span in subtract([part.piece[:2]], kept):
        yield part.within(span, None)


def _apart(
    one: LedWithout, parts: Sequence[_Part], replicas: Mapping[int, Replica], last: Collection[int]
) -> Iterator[LedWithout]:
    """Yield a loss by what is over of it, and since when."""
    by_since: dict[ServedAgain | None, list[_Part]] = {}
    for part in parts:
        for served, half in _by_holder(part, replicas, last):
            by_since.setdefault(served, []).append(half)
    for served, same in sorted(by_since.items(), key=lambda each: _order(each[0])):
        pieces = sorted(part.piece for part in same)
        yield replace(
            one,
            ranges=tuple(merge(piece[:2] for piece in pieces)),
            lineage=lineage_of(pieces),
            commits=highest_first({part.commit for part in same}),
            holders=holding(replicas, pieces),
            served_by=served,
        )


def _order(served: ServedAgain | None) -> tuple[int, int, bool]:
    """Return the key of an order in which a loss that is not over comes first."""
    return (-1, -1, False) if served is None else (served.epoch, served.leader, served.holder is None)


def _by_holder(
    part: _Part, replicas: Mapping[int, Replica], last: Collection[int]
) -> Iterator[tuple[ServedAgain | None, _Part]]:
    """Yield some records with who has served them again, those that the last leader has apart."""
    if part.since is None:
        yield None, part
        return
    holder = next(iter(last)) if len(last) == 1 else None
    has = [] if holder is None else _held(replicas[holder], part.piece)
    for span in has:
        yield ServedAgain(*part.since, holder), part.within(span, part.since)
    for span in subtract([part.piece[:2]], has):
        yield ServedAgain(*part.since, None), part.within(span, part.since)
