"""Epoch entries of a trace that is played, compared with the records of the same log and with those of other replicas.

An entry states the leader epoch of the record at its offset. In a complete trace it holds until the next entry of the
same log. So entries also show which records a replica begins with. Below the first entry the leader epoch is unknown:
retention and a recovery remove the first entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import StatementLine
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.lineage import Range, intersect, merge, subtract
from forensics.replay.traces.broken_invariants import EpochsFall, EpochStarts
from forensics.replay.traces.replica_log import BEFORE, Log, Piece, Undecided
from parsers.schema import Kind

_UNBOUNDED = 1 << 62


@dataclass(slots=True)
class Entries:
    """The epoch entries that a replica has stated, of the records that its log has now.

    Attributes:
        found: by leader epoch, the offset from which it begins, and the line.
        earlier: a process has loaded the log since: the entries of its epoch file replace these.
        listed: the epochs of those that were listed, as in an epoch file.
    """

    found: dict[int, tuple[int, Ref]] = field(default_factory=dict)
    earlier: bool = False
    listed: set[int] = field(default_factory=set)

    def add(self, line: TraceLine | StatementLine) -> None:
        """Take an entry."""
        if line.leader_epoch is None or line.offset is None or line.leader_epoch < 0:
            return
        if self.earlier and line.kind == Kind.EPOCH_ENTRY:
            self.found, self.earlier = {}, False
        note = f"leader epoch {line.leader_epoch} from offset {line.offset}"
        self.found[line.leader_epoch] = line.offset, Ref(row=line.row, note=note)
        if line.kind == Kind.EPOCH_ENTRY:
            self.listed.add(line.leader_epoch)
        else:
            self.listed.discard(line.leader_epoch)

    def truncate(self, to: int) -> None:
        """Forget the entries of records that a truncation removed."""
        self.found = {epoch: one for epoch, one in self.found.items() if one[0] < to}

    def fall(self, replica: int) -> EpochsFall | None:
        """Return two listed entries where the later epoch begins below the earlier one; None for none.

        A broker that notes an epoch removes such entries before (LeaderEpochFileCache.assign), so no epoch file has
        them.
        """
        listed = ((one[0], epoch, one[1]) for epoch, one in self.found.items() if epoch in self.listed)
        for (start, epoch, ref), (above, below, other) in pairwise(sorted(listed, key=lambda one: one[:2])):
            if start < above and epoch > below:
                return EpochsFall(replica, (epoch, start, ref), (below, above, other))
        return None

    @property
    def pieces(self) -> list[tuple[Piece, Ref]]:
        """The records of each entry with its line, up to the next entry; nothing if epochs fall along the log."""
        starts = sorted((start, epoch, ref) for epoch, (start, ref) in self.found.items())
        if any(one[1] > two[1] for one, two in pairwise(starts)):
            return []
        ends = [start for start, _, _ in starts[1:]] + [_UNBOUNDED][: len(starts)]
        return [
            (Piece(start, end, (epoch, BEFORE[1]), whole=False), ref)
            for (start, epoch, ref), end in zip(starts, ends, strict=True)
            if start < end
        ]


@dataclass(frozen=True, slots=True)
class Beginning:
    """The records with which a replica begins, as its entries describe them.

    Attributes:
        line: the line that states them.
        start, end: their offsets, half-open.
        pieces: records with a known leader epoch, in order, each with the line of its entry.
    """

    line: TraceLine
    start: int
    end: int
    pieces: tuple[tuple[Piece, Ref], ...] = ()

    def described(self, log: Log, entries: Entries) -> Beginning:
        """Return it as entries describe those of its records that the log has now; unchanged if they describe none."""
        spans = _before(log.pieces)
        found = tuple((part, ref) for piece, ref in entries.pieces for part in _within(piece, spans))
        return replace(self, pieces=found) if found else self

    def named(self, disputed: Sequence[Range]) -> list[tuple[Piece, Ref]]:
        """Return its records in order, with the leader epochs of those to which some replicas give different ones."""
        known = [(part, ref) for piece, ref in self.pieces for part in _within(piece, disputed)]
        others = subtract([(self.start, self.end)], [piece[:2] for piece, _ in known])
        stated = Ref(row=self.line.row, note=f"log end offset {self.end}")
        alike = [(Piece(*span, BEFORE, whole=False), stated) for span in others]
        return sorted([*known, *alike], key=lambda one: one[0].first)


def _before(pieces: Sequence[Piece]) -> list[Range]:
    return [piece[:2] for piece in pieces if piece.writer[1] == BEFORE[1]]


def _within(piece: Piece, spans: Sequence[Range]) -> Iterator[Piece]:
    for first, end in intersect([piece[:2]], spans):
        yield piece._replace(first=first, end=end)


def disputed(beginnings: Mapping[int, Beginning]) -> list[Range]:
    """Return the offsets of records with which replicas begin, and to which their entries give other leader epochs."""
    apart: list[Range] = []
    for left, right in combinations(beginnings.values(), 2):
        for one, _ in left.pieces:
            apart += [span for two, _ in right.pieces if one.writer != two.writer for span in _shared(one, two)]
    return merge(apart)


def _shared(one: Piece, two: Piece) -> list[Range]:
    return intersect([one[:2]], [two[:2]])


def undescribed(beginnings: Mapping[int, Beginning], spans: Sequence[Range]) -> int | None:
    """Return a replica that begins with records at some offsets, of which no entry states the leader epoch; or None."""
    for broker, one in sorted(beginnings.items()):
        known = [piece[:2] for piece, _ in one.pieces]
        if subtract(intersect([(one.start, one.end)], spans), known):
            return broker
    return None


def entry_start(log: Log, line: TraceLine, *, reloaded: bool) -> EpochStarts | None:
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
    appended_here = (piece for piece in log.pieces if piece.writer[1] != BEFORE[1])
    own = next((piece for piece in appended_here if piece.writer[0] == epoch), None)
    if own is None or own.first == offset or own.first <= log.start > 0 or (reloaded and offset > own.first):
        return None
    if offset < own.first and not subtract([(offset, own.first)], _before(log.pieces)):
        return None  # the epoch may have begun before the trace
    appended = own.first, line.broker, log.refs[own.writer]
    entry = offset, line.broker, Ref(row=line.row, note=f"leader epoch {epoch} from offset {offset}")
    return EpochStarts(epoch, tuple(sorted((appended, entry), key=lambda one: one[0])))
