"""Different records at one offset, by the appends or the epoch entries of two replicas.

They are of two leader epochs, below the high watermarks of both. Or they are record batches of one epoch with two
checksums, below the high watermark of one. A trace need not claim to state
each change. Without that claim a truncation may be missing, after which one replica appended the records that the other
has. So this suggests two lineages, which ``suspicions`` reports.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import Key, StatementLine, statement_lines
from forensics.replay.lineage import Range, intersect, subtract
from forensics.replay.traces.epoch_entries import Entries
from forensics.replay.traces.replica_log import Log, Piece, unlike
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_ENTRIES = (Kind.EPOCH_ENTRY, Kind.EPOCH_ASSIGNED)

_STATES = (*_ENTRIES, Kind.APPEND, Kind.HW, Kind.LEO, Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER, Kind.LEADER_HW)
"""Kinds of line that state records or a high watermark."""

_SHORTENS = (Kind.TRUNCATE, Kind.TRUNCATE_FULL, Kind.LOG_LOADED, Kind.LOG_CREATED, Kind.CORRUPTION_CUT)
"""Kinds of line that state a shorter log."""


@dataclass(frozen=True, slots=True)
class UnlikeAppends:
    """The first offsets at which two replicas have different records.

    Attributes:
        left, right: broker ids.
        epochs: leader epochs of the records, in that order; the same if their batches differ.
        first, end: the offsets, half-open.
        time: of the later line, microseconds since 1970 UTC, or None.
        refs: the lines of the two appends or entries.
    """

    left: int
    right: int
    epochs: tuple[int, int]
    first: int
    end: int
    time: int | None
    refs: tuple[Ref, Ref]


@dataclass(slots=True)
class _Replica:
    log: Log = field(default_factory=Log)
    entries: Entries = field(default_factory=Entries)
    hw: int = 0
    times: dict[int | None, int | None] = field(default_factory=dict)

    def take(self, line: StatementLine) -> None:
        """Take one line. Records without a leader epoch are not known."""
        if line.kind in _SHORTENS:
            known = line.leo if line.kind == Kind.LOG_LOADED else line.offset
            self.log.truncate(known or 0)
            self.entries.truncate(known or 0)
        elif line.kind in _ENTRIES:
            self.entries.add(line)
            self.times[line.row] = line.time
        elif line.kind == Kind.APPEND:
            self._append(line)
        if line.hw is not None:
            self.hw = max(self.hw, line.hw)

    def _append(self, line: StatementLine) -> None:
        if line.offset is None or line.leo is None or line.leader_epoch is None or line.offset >= line.leo:
            return
        self.log.truncate(line.offset)
        self.entries.truncate(line.offset)
        ref = Ref(row=line.row, note=f"offsets {line.offset} to {line.leo - 1} of leader epoch {line.leader_epoch}")
        writer = line.leader_epoch, line.checksum or ""
        self.log.append(Piece(line.offset, line.leo, writer, whole=line.checksum is not None), ref)
        self.times[line.row] = line.time

    def records(self) -> list[Piece]:
        """Return its records below its high watermark: those of appends, and of entries elsewhere."""
        appended = _below(self.log, self.hw)
        others = subtract([(0, self.hw)], [piece[:2] for piece in appended])
        for piece, ref in self.entries.pieces:
            self.log.refs.setdefault(piece.writer, ref)
            appended += [piece._replace(first=first, end=end) for first, end in intersect([piece[:2]], others)]
        return sorted(appended)


def unlike_appends(rows: pl.DataFrame) -> dict[Key, list[UnlikeAppends]]:
    """Return the pairs of replicas with such appends, by incarnation of each partition that has any.

    Args:
        rows: observations of partitions, with ``broker``, ``row``, ``source`` and ``incarnation``.
    """
    kinds = [kind.value for kind in (*_STATES, *_SHORTENS)]
    found: dict[Key, dict[int, _Replica]] = {}
    for line in statement_lines(rows.filter(pl.col("kind").is_in(kinds) & (pl.col("message") == TRACE))):
        if line.broker == line.replica:
            found.setdefault(line.key, {}).setdefault(line.broker, _Replica()).take(line)
    pairs = {key: [*_pairs(replicas)] for key, replicas in found.items()}
    return {key: one for key, one in pairs.items() if one}


def _pairs(replicas: dict[int, _Replica]) -> Iterator[UnlikeAppends]:
    for (left, one), (right, two) in itertools.combinations(sorted(replicas.items()), 2):
        found = [
            apart for apart in unlike(one.records(), two.records()) if apart[1].writer[0] != apart[2].writer[0]
        ] or [*_batches_apart(one, two)]
        for span, here, there in found[:1]:
            yield _pair((left, right), span, (one, here), (two, there))


def _batches_apart(one: _Replica, two: _Replica) -> Iterator[tuple[Range, Piece, Piece]]:
    """Yield record batches of one leader epoch with two checksums. A leader epoch has one record at an offset, so it is
    enough that the high watermark of one replica is above it.
    """
    for span, here, there in unlike(one.log.pieces, two.log.pieces):
        batches = here.whole and there.whole and here[:2] == there[:2] == span
        if batches and here.writer[0] == there.writer[0] and span[0] < (end := max(one.hw, two.hw)):
            yield (span[0], min(span[1], end)), here, there


def _below(log: Log, end: int) -> list[Piece]:
    return [piece._replace(end=min(piece.end, end)) for piece in log.pieces if piece.first < end]


def _pair(
    brokers: tuple[int, int], span: Range, one: tuple[_Replica, Piece], two: tuple[_Replica, Piece]
) -> UnlikeAppends:
    refs = one[0].log.refs[one[1].writer], two[0].log.refs[two[1].writer]
    epochs = one[1].writer[0], two[1].writer[0]
    times = [replica.times.get(ref.row) for (replica, _), ref in zip((one, two), refs, strict=True)]
    time = max((moment for moment in times if moment is not None), default=None)
    return UnlikeAppends(*brokers, epochs, *span, time, refs)
