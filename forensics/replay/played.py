"""A complete trace, played: the log of each replica, record by record.

Where a trace claims to state each change of every replica, nothing has to be inferred. Each line changes the log of one
replica, and what was committed, truncated and lost follows by comparing records. A record is known by its offset, its
leader epoch and the append that wrote it, so two leaders of one epoch are told apart too.

Lines are taken in the order of their times; lines of the same time in the order of the trace. If a
trace contradicts itself, or does not say which records a follower appended, nothing is played.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.played_line import PlayedLine
from forensics.replay.facts.statement_lines import Key
from forensics.replay.history import Regression, RegressionKind, ShortenedBy, ShortenedLog
from forensics.replay.lineage import Lineage, Range, intersect, merge, subtract
from forensics.replay.played_isr import ABOUT_ISR, InSync
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

Writer = tuple[int, str]
"""Leader epoch and append of a record: its checksum, or the line of the leader that wrote it."""


class Undecided(Exception):
    """The trace contradicts itself, or leaves open which records a replica has."""


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


class Commit(NamedTuple):
    """A high watermark that a leader stated.

    Attributes:
        replica: the leader.
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


@dataclass(frozen=True, slots=True)
class TruncatedCommitted:
    """A truncation that removed committed records.

    Attributes:
        replica: broker id.
        epoch, leader: of its role.
        target, end: log end offset after and before.
        ranges: offsets of the committed records among those removed.
        lineage: leader epochs of its log before.
        commit: the first high watermark that covered one of them.
        time: microseconds since 1970 UTC, or None.
        ref: the line.
    """

    replica: int
    epoch: int
    leader: int | None
    target: int
    end: int
    ranges: tuple[Range, ...]
    lineage: Lineage
    commit: Commit
    time: int | None
    ref: Ref


@dataclass(frozen=True, slots=True)
class LedWithout:
    """A leader that began its epoch without committed records.

    Attributes:
        replica, epoch: the leader and its leader epoch.
        ranges: offsets of the records.
        lineage: their leader epochs.
        commits: high watermarks that covered them, the highest first.
        holders: replicas that hold some of them at the end of the trace, with the offsets.
    """

    replica: int
    epoch: int
    ranges: tuple[Range, ...]
    lineage: Lineage
    commits: tuple[Commit, ...]
    holders: Mapping[int, tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class Apart:
    """Two replicas with different records at offsets that are committed on both sides, at the end of the trace.

    Attributes:
        left, right: broker ids.
        ranges: the offsets.
        left_piece, right_piece: the first records that differ.
        left_ref, right_ref: the lines that appended them.
    """

    left: int
    right: int
    ranges: tuple[Range, ...]
    left_piece: Piece
    right_piece: Piece
    left_ref: Ref
    right_ref: Ref


@dataclass(frozen=True, slots=True)
class Played:
    """Everything that a complete trace decides about one partition.

    Attributes:
        truncated: truncations of committed records.
        led_without: leaders without committed records.
        apart: replicas with different committed records at the end.
        fallen: high watermarks that fell: of a leader in its role, or below the checkpoint that a process read back.
        shortened: logs that a process loaded, or created, shorter than they had been.
        isr: elections and high watermarks compared with the ISR; None if no line states an ISR.
    """

    truncated: tuple[TruncatedCommitted, ...]
    led_without: tuple[LedWithout, ...]
    apart: tuple[Apart, ...]
    fallen: tuple[Regression, ...]
    shortened: tuple[ShortenedLog, ...]
    isr: InSync | None = None


@dataclass(slots=True)
class _Log:
    """The records of one replica, in order of their offsets."""

    pieces: list[Piece] = field(default_factory=list)
    refs: dict[Writer, Ref] = field(default_factory=dict)
    start: int = 0
    end: int = 0

    def append(self, piece: Piece, ref: Ref) -> None:
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

    def within(self, first: int, end: int) -> Iterator[Piece]:
        """Yield what the log has of some offsets, its end first."""
        for piece in reversed(self.pieces):
            if piece.end <= first:
                return
            if piece.first < end:
                yield piece._replace(first=max(piece.first, first), end=min(piece.end, end))

    @property
    def lineage(self) -> Lineage:
        """The leader epochs of the records."""
        return _lineage(self.pieces)


def _lineage(pieces: list[Piece]) -> Lineage:
    entries: list[tuple[int, int]] = []
    for piece in pieces:
        if not entries or entries[-1][0] != piece.writer[0]:
            entries.append((piece.writer[0], piece.first))
    return Lineage(tuple(entries))


@dataclass(slots=True)
class _Replica:
    """One replica as its lines have stated it so far.

    Attributes:
        known: its lines have stated with which log it began.
        epoch, leader, leads: its role; epoch -1 before its first one.
        passed: high watermark up to which its records count as committed, while it leads.
        hw: last high watermark.
        checkpoint: last checkpointed high watermark with its line, of the present log.
        led_at: the last high watermark that it stated in its role as leader, with the line.
    """

    log: _Log = field(default_factory=_Log)
    known: bool = False
    epoch: int = -1
    leader: int | None = None
    leads: bool = False
    passed: int = 0
    hw: int = 0
    checkpoint: tuple[int, Ref] | None = None
    led_at: tuple[int, Ref] | None = None


class _Records:
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

    def of(self, piece: Piece) -> list[tuple[Range, Commit]]:
        """Return the records of a piece that are in the set."""
        parts = ((intersect([span], [piece[:2]]), commit) for span, commit in self.found.get(piece.writer, ()))
        return [(part, commit) for found, commit in parts for part in found]


class _Player:
    """Plays the lines of one partition."""

    def __init__(self, *, commits: bool = False) -> None:
        self.replicas: dict[int, _Replica] = {}
        self.in_sync = InSync(commits)
        self.isr_stated = False
        self.committed, self.lost = _Records(), _Records()
        self.truncated: list[TruncatedCommitted] = []
        self.without: list[tuple[LedWithout, list[Piece]]] = []
        self.fallen: list[Regression] = []
        self.shortened: list[ShortenedLog] = []
        self.deleted = 0

    def take(self, line: PlayedLine) -> None:
        """Play one line.

        Raises:
            Undecided: it contradicts an earlier one, or leaves open which records are meant.
        """
        if line.message != TRACE:
            raise Undecided
        if line.replica not in (None, line.broker):
            return
        handler = _HANDLERS.get(line.kind)
        if handler is not None:
            handler(self, self.replicas.setdefault(line.broker, _Replica()), line)
        self.isr_stated |= line.isr is not None
        self.in_sync.take(line, {broker: one.log.end for broker, one in self.replicas.items() if one.known})

    # -- roles --------------------------------------------------------------------------------------------------------

    def _leads(self, replica: _Replica, line: PlayedLine) -> None:
        self._ends_at(replica, line)
        if line.leader_epoch is None:
            raise Undecided
        replica.epoch, replica.leader, replica.leads, replica.passed = line.leader_epoch, line.broker, True, 0
        replica.led_at = None
        self._led_without(replica, line)
        self._high_watermark(replica, line)

    def _follows(self, replica: _Replica, line: PlayedLine) -> None:
        self._ends_at(replica, line)
        if line.leader_epoch is None:
            raise Undecided
        replica.epoch, replica.leader, replica.leads = line.leader_epoch, line.leader, False
        replica.hw = replica.hw if line.hw is None else line.hw

    def _led_without(self, replica: _Replica, line: PlayedLine) -> None:
        """Find the committed records that a leader does not have as it begins its epoch."""
        lacking: list[Piece] = []
        commits: list[Commit] = []
        own = _Records()
        for piece in replica.log.pieces:
            own.found.setdefault(piece.writer, []).append(((piece.first, piece.end), _NOBODY))
        for writer, spans in self.committed.found.items():
            known = [*own.ranges(writer), *self.lost.ranges(writer), (0, self.deleted)]
            for span, commit in spans:
                for first, end in subtract([span], known):
                    lacking.append(Piece(first, end, writer, whole=False))
                    commits.append(commit)
        for piece, commit in zip(lacking, commits, strict=True):
            self.lost.add(piece.writer, piece.first, piece.end, commit)
        if lacking:
            ordered = sorted({*commits}, key=lambda one: (-one.high_watermark, one.replica, one.epoch))
            lineage = _lineage(sorted(lacking))
            ranges = tuple(merge(piece[:2] for piece in lacking))
            found = LedWithout(line.broker, replica.epoch, ranges, lineage, tuple(ordered), {})
            self.without.append((found, lacking))

    # -- the log ------------------------------------------------------------------------------------------------------

    def _ends_at(self, replica: _Replica, line: PlayedLine) -> None:
        """A line states where the log ends."""
        if not replica.known:
            if line.leo or line.log_start:
                raise Undecided  # it began with records that no line names
            replica.known = True
        elif line.leo is not None and line.leo != replica.log.end:
            raise Undecided

    def _loaded(self, replica: _Replica, line: PlayedLine) -> None:
        replica.leads, replica.leader = False, None
        self._found(replica, line)

    def _found(self, replica: _Replica, line: PlayedLine) -> None:
        """A line states the log as somebody found it, which may be shorter than it was."""
        end = line.leo if line.leo is not None else replica.log.end
        if replica.known and end < replica.log.end:
            self._came_back(replica, end, line)
            replica.log.truncate(end)
        self._ends_at(replica, line)

    def _created(self, replica: _Replica, line: PlayedLine) -> None:
        if replica.known and replica.log.end > 0:
            self._came_back(replica, 0, line)
        replica.log, replica.known, replica.checkpoint = _Log(), True, None

    def _came_back(self, replica: _Replica, end: int, line: PlayedLine) -> None:
        refs = (Ref(row=line.row, note=f"log end offset {end}"),)
        cause = _SHORTENED_BY[line.kind]
        log = replica.log
        self.shortened.append(
            ShortenedLog(
                line.broker, replica.epoch, log.end, end, log.lineage, line.time, refs, implied=False, cause=cause
            )
        )

    def _appends(self, replica: _Replica, line: PlayedLine) -> None:
        first = replica.log.end if line.offset is None else line.offset
        if line.leo is None or not replica.known or first != replica.log.end:
            raise Undecided
        ref = Ref(row=line.row, note=f"offsets {first} to {line.leo - 1} appended")
        for piece in self._appended(replica, first, line.leo, line):
            replica.log.append(piece, ref)
        self._high_watermark(replica, line)

    def _appended(self, replica: _Replica, first: int, end: int, line: PlayedLine) -> list[Piece]:
        """Return the records of an append."""
        epoch = line.leader_epoch
        if line.checksum is not None and (epoch is not None or replica.leads):
            return [Piece(first, end, (replica.epoch if epoch is None else epoch, line.checksum), whole=True)]
        if replica.leads and epoch in (None, replica.epoch):
            return [Piece(first, end, (replica.epoch, f"line {line.row}"), whole=False)]
        found = self._of_leader(replica, first, end)
        if epoch is not None and any(epoch != piece.writer[0] for piece in found):
            raise Undecided
        return found

    def _of_leader(self, replica: _Replica, first: int, end: int) -> list[Piece]:
        """Return the records that a follower has from its leader."""
        leader = self.replicas.get(replica.leader) if replica.leader is not None else None
        found = [] if leader is None else [*leader.log.within(first, end)][::-1]
        if [(first, end)] != merge(piece[:2] for piece in found):
            raise Undecided
        return found

    def _truncates(self, replica: _Replica, line: PlayedLine) -> None:
        log, to = replica.log, line.offset
        if to is None or not replica.known or line.leo not in (None, log.end):
            raise Undecided
        end, lineage = log.end, log.lineage
        self._removes(replica, line, log.truncate(to), (to, end), lineage)

    def _removes(
        self, replica: _Replica, line: PlayedLine, removed: list[Piece], change: tuple[int, int], lineage: Lineage
    ) -> None:
        """Find the committed records that a truncation removed; ``change`` is its target and the log end before."""
        to, end = change
        found = [one for piece in removed for one in self.committed.of(piece)]
        if found:
            ref = Ref(row=line.row, note=f"truncated to {to}")
            ranges = tuple(merge(span for span, _ in found))
            commit = max((commit for _, commit in found), key=lambda one: (one.high_watermark, -one.epoch))
            self.truncated.append(
                TruncatedCommitted(
                    line.broker, replica.epoch, replica.leader, to, end, ranges, lineage, commit, line.time, ref
                )
            )

    def _begins_anew(self, replica: _Replica, line: PlayedLine) -> None:
        if line.offset is None:
            raise Undecided
        log, lineage, end = replica.log, replica.log.lineage, replica.log.end
        # What the leader deleted from the beginning of the log is not lost.
        left = [piece for piece in log.pieces if piece.end > self.deleted]
        removed = [piece._replace(first=max(piece.first, self.deleted)) for piece in left]
        self._removes(replica, line, removed, (min(line.offset, end), end), lineage)
        replica.log = _Log(start=line.offset, end=line.offset)

    def _starts_at(self, replica: _Replica, line: PlayedLine) -> None:
        """The beginning of a log was deleted; where its leader does that, the records are not lost."""
        if line.log_start is None:
            return
        log = replica.log
        log.start = max(log.start, line.log_start)
        kept = (piece._replace(first=max(piece.first, log.start)) for piece in log.pieces if piece.end > log.start)
        log.pieces = [*kept]
        if replica.leads:
            self.deleted = max(self.deleted, line.log_start)

    def _ended(self, replica: _Replica, line: PlayedLine) -> None:
        self._found(replica, line)
        if line.log_start:
            self._starts_at(replica, line)

    # -- high watermarks ----------------------------------------------------------------------------------------------

    def _high_watermark(self, replica: _Replica, line: PlayedLine) -> None:
        """A replica states its high watermark: that of a leader, or of a follower for what it has as its leader."""
        if line.leo is not None and line.kind in (Kind.HW, Kind.LEO):
            self._ends_at(replica, line)
        if line.hw is None:
            return
        replica.hw = max(replica.hw, line.hw) if line.kind in _IMPLY else line.hw
        ref = Ref(row=line.row, note=f"high watermark {line.hw}")
        commit = Commit(line.broker, replica.epoch, line.hw, line.time, ref)
        if replica.leads:
            if line.kind not in _IMPLY:
                self._as_leader(replica, line, line.hw, ref)
            for piece in replica.log.within(replica.passed, line.hw):
                self.committed.add(piece.writer, piece.first, piece.end, commit)
            replica.passed = max(replica.passed, line.hw)

    def _as_leader(self, replica: _Replica, line: PlayedLine, hw: int, ref: Ref) -> None:
        """A leader states its high watermark, which may not fall in its role."""
        if replica.led_at is not None and hw < replica.led_at[0]:
            before, first = replica.led_at
            kind, refs = RegressionKind.LEADER, (first, ref)
            self.fallen.append(Regression(line.broker, replica.epoch, before, hw, kind, line.time, refs))
        replica.led_at = hw, ref

    def _only_hw(self, replica: _Replica, line: PlayedLine) -> None:
        replica.hw = replica.hw if line.hw is None else line.hw

    def _reads_hw(self, replica: _Replica, line: PlayedLine) -> None:
        """A process reads the high watermark of its checkpoint file, and keeps it within its log."""
        self._only_hw(replica, line)
        if line.hw is not None and replica.checkpoint is not None:
            before, ref = replica.checkpoint
            if line.hw < min(before, replica.log.end):
                self._read_less(replica, line, before, line.hw, (ref, Ref(row=line.row, note=f"read back {line.hw}")))

    def _read_less(self, replica: _Replica, line: PlayedLine, before: int, after: int, refs: tuple[Ref, ...]) -> None:
        kind = RegressionKind.CHECKPOINT
        self.fallen.append(Regression(line.broker, replica.epoch, before, after, kind, line.time, refs))

    def _checkpoints(self, replica: _Replica, line: PlayedLine) -> None:
        if line.hw is not None:
            replica.checkpoint = line.hw, Ref(row=line.row, note=f"high watermark {line.hw} in the checkpoint")

    def _no_checkpoint(self, replica: _Replica, line: PlayedLine) -> None:
        replica.hw = 0
        if replica.checkpoint is not None and replica.log.end > 0:
            before, ref = replica.checkpoint
            refs = (ref, Ref(row=line.row, note="no checkpointed high watermark"))
            self._read_less(replica, line, before, 0, refs)

    def _cannot_play(self, replica: _Replica, line: PlayedLine) -> None:
        raise Undecided

    # -- the end ------------------------------------------------------------------------------------------------------

    def result(self) -> Played:
        """Return what the lines decide."""
        without = tuple(
            LedWithout(one.replica, one.epoch, one.ranges, one.lineage, one.commits, self._holders(pieces))
            for one, pieces in self.without
        )
        apart = tuple(self._apart())
        isr = self.in_sync if self.isr_stated else None
        return Played(tuple(self.truncated), without, apart, tuple(self.fallen), tuple(self.shortened), isr)

    def _holders(self, pieces: list[Piece]) -> dict[int, tuple[Range, ...]]:
        """Return which replicas hold records at the end."""
        found: dict[int, tuple[Range, ...]] = {}
        for broker, replica in sorted(self.replicas.items()):
            own: dict[Writer, list[Range]] = {}
            for piece in replica.log.pieces:
                own.setdefault(piece.writer, []).append(piece[:2])
            held = merge(span for piece in pieces for span in intersect([piece[:2]], own.get(piece.writer, ())))
            if held:
                found[broker] = tuple(held)
        return found

    def _apart(self) -> Iterator[Apart]:
        """Yield the pairs of replicas with different committed records at the same offsets."""
        counted = {broker: self._counted(replica) for broker, replica in sorted(self.replicas.items())}
        brokers = sorted(counted)
        for at, left in enumerate(brokers):
            for right in brokers[at + 1 :]:
                pairs = [*_unlike(counted[left], counted[right])]
                if pairs:
                    one, two = pairs[0][1:]
                    refs = self.replicas[left].log.refs[one.writer], self.replicas[right].log.refs[two.writer]
                    yield Apart(left, right, tuple(merge(span for span, _, _ in pairs)), one, two, *refs)

    def _counted(self, replica: _Replica) -> list[Piece]:
        """Return the records of a replica that are committed: by a leader, or below its own high watermark."""
        hw = max(replica.hw, replica.checkpoint[0] if replica.checkpoint is not None else 0)
        found: list[Piece] = []
        for piece in replica.log.pieces:
            spans = [span for span, _ in self.committed.of(piece)] + intersect([piece[:2]], [(0, hw)])
            found += [piece._replace(first=first, end=end) for first, end in merge(spans)]
        return found


def _unlike(left: list[Piece], right: list[Piece]) -> Iterator[tuple[Range, Piece, Piece]]:
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


_NOBODY: Final = Commit(-1, -1, 0, None, Ref())

_IMPLY: Final = (Kind.PRODUCED, Kind.CONSUMED)
"""Kinds that imply the least that a high watermark can be."""

_SHORTENED_BY: Final[dict[str, ShortenedBy]] = {
    Kind.LOG_CREATED: ShortenedBy.NEW_LOG,
    Kind.LOG_LOADED: ShortenedBy.UNCLEAN_RESTART,
    Kind.LOG_END: ShortenedBy.LATER_LOOK,
}
"""Cause by the line that states the shorter log."""

_HANDLERS: Final[dict[str, Callable[[_Player, _Replica, PlayedLine], None]]] = {
    Kind.BECOME_LEADER: _Player._leads,
    Kind.BECOME_FOLLOWER: _Player._follows,
    Kind.LOG_CREATED: _Player._created,
    Kind.LOG_LOADED: _Player._loaded,
    Kind.LOG_END: _Player._ended,
    Kind.APPEND: _Player._appends,
    Kind.LEO: _Player._high_watermark,
    Kind.HW: _Player._high_watermark,
    Kind.PRODUCED: _Player._high_watermark,
    Kind.CONSUMED: _Player._high_watermark,
    Kind.LEADER_HW: _Player._only_hw,
    Kind.HW_LOADED: _Player._reads_hw,
    Kind.HW_REGRESSED: _Player._only_hw,
    Kind.HW_CHECKPOINT: _Player._checkpoints,
    Kind.HW_MISSING: _Player._no_checkpoint,
    Kind.TRUNCATE: _Player._truncates,
    Kind.TRUNCATE_FULL: _Player._begins_anew,
    Kind.LOG_START: _Player._starts_at,
    Kind.LOG_DELETED: _Player._cannot_play,
    Kind.LOG_MOVED: _Player._cannot_play,
    Kind.DIR_FAILED: _Player._cannot_play,
    Kind.RECOVERY: _Player._cannot_play,
    Kind.CORRUPTION_CUT: _Player._cannot_play,
    Kind.SEGMENTS_DELETED: _Player._cannot_play,
    Kind.COMPACTED: _Player._cannot_play,
}
"""Handler of a line of each kind. Lines of other kinds change no log."""


def play(rows: pl.DataFrame, complete: frozenset[int]) -> dict[Key, Played]:
    """Play the complete traces; return what they decide, by incarnation of each partition.

    A partition is left out if its lines decide less, or if some of them are of brokers without the claim.

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their replicas, by the claim of their trace.
    """
    if not complete:
        return {}
    place = ["topic", "partition", "incarnation"]
    told = rows.filter(pl.col("kind").is_in(list(_HANDLERS)))
    partly = told.filter(~pl.col("broker").is_in([*complete])).select(place).unique()
    whole = told.select(place).unique().join(partly, on=place, how="anti")
    about = pl.col("kind").is_in(list(_HANDLERS)) | pl.col("kind").is_in(ABOUT_ISR)
    commits = {*rows.filter(pl.col("kind") == Kind.ISR_COMMIT.value).select(place).unique().iter_rows()}
    players: dict[Key, _Player | None] = {}
    for line in _lines(rows.filter(about).join(whole, on=place, how="semi")):
        player = players.setdefault(line.key, _Player(commits=line.key in commits))
        if player is None:
            continue
        try:
            player.take(line)
        except Undecided:
            players[line.key] = None
    return {key: player.result() for key, player in players.items() if player is not None}


def _lines(rows: pl.DataFrame) -> Iterator[PlayedLine]:
    """Yield observations in the order of their times; those of the same time in the order of the trace."""
    values = rows.sort("row").with_columns(pl.col("time").cast(pl.Int64))
    values = values.with_columns(pl.col("time").forward_fill().over("broker").alias("_when"))
    return map(PlayedLine._make, values.sort("_when", "source", "line").select(PlayedLine._fields).iter_rows())


_CHANGES: Final = (Kind.APPEND, Kind.TRUNCATE, Kind.LOG_LOADED, Kind.TRUNCATE_FULL, Kind.LOG_CREATED)
"""Kinds that change which record batches a log has."""


def without_records(rows: pl.DataFrame, complete: frozenset[int]) -> dict[Key, dict[int, tuple[Range, ...]]]:
    """Return offsets below the log end offset at which a replica has no records, by incarnation of each partition.

    A truncation to an offset within a record batch removes the whole batch; the log continues at that offset
    (FileRecords.truncateTo).

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their replicas, by the claim of their trace.
    """
    own = pl.col("broker").is_in([*complete]) & (pl.col("message") == TRACE)
    told = rows.filter(pl.col("kind").is_in([kind.value for kind in _CHANGES]) & own)
    logs: dict[tuple[Key, int], _Holes] = {}
    for line in _lines(told) if complete else ():
        logs.setdefault((line.key, line.broker), _Holes()).take(line)
    found: dict[Key, dict[int, tuple[Range, ...]]] = {}
    for (key, broker), one in logs.items():
        if one.holes:
            found.setdefault(key, {})[broker] = tuple(merge(one.holes))
    return found


@dataclass(slots=True)
class _Holes:
    """The record batches of one log, and the offsets below its end at which a truncation left none."""

    log: _Log = field(default_factory=_Log)
    holes: list[Range] = field(default_factory=list)

    def take(self, line: PlayedLine) -> None:
        if line.kind == Kind.APPEND:
            if line.checksum is not None and line.offset is not None and line.leo is not None:
                writer = line.leader_epoch or 0, line.checksum
                self.log.append(Piece(line.offset, line.leo, writer, whole=True), Ref())
            return
        to = (line.leo if line.kind == Kind.LOG_LOADED else line.offset) or 0
        removed = self.log.truncate(to)
        self.holes = intersect(self.holes, [(0, to)]) + [(piece.first, to) for piece in removed if piece.first < to]
