"""Statements of one witness about a replica that break an invariant by themselves, whatever else is missing.

A trace is testimony: what a witness states about one replica at one moment counts as stated. One line with high
watermark 15 and log end offset 10 proves that the high watermark was above the log end offset. No other line can revoke
that. In logs this holds for lines that print both values of one moment: those about a role from 2.4 on, when Kafka
began to keep the high watermark within the log (Log.updateHighWatermark).

Up to 2.3 a follower that truncates keeps its high watermark in memory until the next fetch. So where a trace names such
a release, a high watermark stated after a truncation, with nothing appended since, is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import Key, StatementLine, statement_lines
from forensics.replay.traces.broken_invariants import EpochStarts, HwAboveLeo
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_BOTH = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)
"""Kinds of log line that print a high watermark and a log end offset together, from 2.4 on."""

_STATES = (
    *_BOTH,
    Kind.HW,
    Kind.LEO,
    Kind.APPEND,
    Kind.LOG_LOADED,
    Kind.LOG_END,
    Kind.HW_LOADED,
    Kind.HW_CHECKPOINT,
    Kind.ISR_SHRINK,
    Kind.ISR_EXPAND,
    Kind.LEADER_HW,
    Kind.PRODUCED,
    Kind.CONSUMED,
)
"""Kinds that state the high watermark or the log end offset of a replica at that moment."""

_IMPLY = (Kind.PRODUCED, Kind.CONSUMED)
"""Kinds that imply the least that the high watermark of a replica is."""

_SHORTENS = (
    Kind.TRUNCATE,
    Kind.TRUNCATE_FULL,
    Kind.TRUNCATE_PLAN,
    Kind.CORRUPTION_CUT,
    Kind.LOG_CREATED,
    Kind.LOG_DELETED,
    Kind.HW_REGRESSED,
    Kind.LINES_MISSING,
)
"""Kinds after which an earlier high watermark is no longer that of the log."""

_BEGINS = (Kind.PROCESS_START, Kind.LOG_LOADED, *_BOTH)
"""Kinds that begin a new process or role: earlier statements no longer apply."""

_EPOCHS = (Kind.EPOCH_ASSIGNED, Kind.EPOCH_ENTRY)
_TRIMS = (Kind.LOG_START, Kind.LOG_START_CHECKPOINT, Kind.SEGMENTS_DELETED, Kind.COMPACTED)
"""Kinds after which an epoch entry may name a later offset than the first record of its epoch had."""
_ALSO = (Kind.STATE,)
"""Kinds that count here for their log start offset alone."""


Span = tuple[int | None, int | None]
"""First and last moment, microseconds since 1970 UTC; None where there is no bound."""


@dataclass(frozen=True, slots=True)
class LogFell:
    """A log end offset that fell, where the trace claims to state each change, and states none.

    Attributes:
        replica: broker id of the replica, which states both values.
        epoch: leader epoch.
        leads: it is the leader, which only appends.
        before, after: the two log end offsets.
        time: of the later one, microseconds since 1970 UTC, or None.
        refs: the two lines.
    """

    replica: int
    epoch: int
    leads: bool
    before: int
    after: int
    time: int | None
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """Statements about one partition that break an invariant by themselves.

    Attributes:
        hw_above_leo: the first of each replica.
        epoch_starts: leader epochs with several first offsets, by number.
        log_fell: the first of each replica.
    """

    hw_above_leo: tuple[HwAboveLeo, ...] = ()
    epoch_starts: tuple[EpochStarts, ...] = ()
    log_fell: tuple[LogFell, ...] = ()


NOTHING = Stated()


@dataclass(slots=True)
class _Known:
    """The state of a replica as one witness has stated it so far.

    Attributes:
        broker, replica: the witness, and the replica that it describes.
        exact: the witness states every change here, so a value holds until the next one is stated.
        keeps: a truncation leaves its high watermark in memory, by its release.
        epoch: leader epoch of its last role.
        time: moment of the last values, microseconds since 1970 UTC.
        hw, leo: last values of that moment, each with its line.
        checkpoint: the last checkpointed high watermark since which nothing shortened the log.
        truncated: offset to which the log was shortened, -1 if unknown; None once it has grown again.
        leads: by its last role, if nothing has begun since that may have shortened the log.
    """

    broker: int
    replica: int
    exact: bool = False
    keeps: bool = False
    epoch: int = -1
    time: int | None = None
    hw: tuple[int, Ref] | None = None
    leo: tuple[int, Ref] | None = None
    checkpoint: tuple[int, Ref] | None = None
    truncated: int | None = None
    leads: bool = False

    def begin(self, line: StatementLine) -> None:
        """Begin a new process or role, or a shortened log: earlier values no longer apply."""
        self.time = self.hw = self.leo = self.checkpoint = None
        target = 0 if line.kind == Kind.LOG_CREATED else line.offset
        if self.exact and line.kind in (Kind.TRUNCATE, Kind.LOG_CREATED) and target is not None:
            self.time, self.leo = line.time, (target, Ref(row=line.row, note=f"log end offset {target}"))
        self.leads = line.kind == Kind.BECOME_LEADER and self.broker == self.replica
        if line.kind in _SHORTENS and self.keeps:
            self.truncated = line.offset if line.kind == Kind.TRUNCATE and line.offset is not None else -1
        elif line.kind not in _SHORTENS and line.leader_epoch is not None:
            self.epoch = line.leader_epoch

    def add(self, line: StatementLine) -> None:
        """Store the values that a line states."""
        self.time = line.time
        if line.kind in _IMPLY:
            self._imply(line)
        elif line.hw is not None:
            value = line.hw, Ref(row=line.row, note=f"high watermark {line.hw}")
            if line.kind == Kind.HW_CHECKPOINT:
                self.checkpoint = value
            else:
                self.hw = value
        if line.leo is None:
            return
        if self.truncated is not None and (line.kind == Kind.APPEND or 0 <= self.truncated < line.leo):
            self.truncated = None
        # If not every append is stated, the later of two at one moment may be missing.
        states = line.kind != Kind.APPEND or line.hw is not None or self.exact
        self.leo = (line.leo, Ref(row=line.row, note=f"log end offset {line.leo}")) if states else None

    def hold(self, line: StatementLine, *, exact: bool) -> None:
        """Forget the values before a line if others may have been reached in between."""
        if not (self.exact and exact) and (line.time is None or line.time != self.time):
            self.hw = self.leo = self.checkpoint = None
        self.exact = exact

    def _imply(self, line: StatementLine) -> None:
        """A high watermark that clients imply; they may state it later, so it counts where no change is left out."""
        if self.exact and line.hw is not None and (self.hw is None or self.hw[0] < line.hw):
            self.hw = line.hw, Ref(row=line.row, note=f"high watermark {line.hw} or higher")

    def ended(self, line: StatementLine) -> bool:
        """Return whether a line states a shorter log than the process had: it was looked at after that had ended."""
        if line.kind != Kind.LOG_END or line.leo is None or self.leo is None:
            return False
        return line.leo < self.leo[0]

    def fell(self, line: StatementLine) -> LogFell | None:
        """Return the log end offset that a line states below an earlier one, or None.

        Without the claim, the line of a truncation or of another role may be missing: ``went_back`` finds that.
        """
        if not self.exact or self.leo is None or line.leo is None or line.leo >= self.leo[0]:
            return None
        if line.kind == Kind.APPEND:
            return None  # appends may be stated in another order than they were made in
        before, earlier = self.leo
        refs = earlier, Ref(row=line.row, note=f"log end offset {line.leo}")
        return LogFell(self.replica, self.epoch, self.leads, before, line.leo, line.time, refs)

    def above(self) -> HwAboveLeo | None:
        """Return the high watermark above the log end offset at the last moment, or None."""
        if self.truncated is not None or self.leo is None:
            return None
        end, end_ref = self.leo
        for hw in (self.hw, self.checkpoint):
            if hw is None or hw[0] <= end:
                continue
            refs: tuple[Ref, ...] = (hw[1], end_ref)
            if hw[1].row == end_ref.row:
                refs = (Ref(row=end_ref.row, note=f"high watermark {hw[0]}, log end offset {end}"),)
            later = hw is self.checkpoint and hw[1].row != end_ref.row
            return HwAboveLeo(self.replica, self.broker, self.epoch, hw[0], end, later, self.time, refs)
        return None


@dataclass(slots=True)
class _Partition:
    replicas: dict[tuple[int, int], _Known] = field(default_factory=dict)
    above: dict[int, HwAboveLeo] = field(default_factory=dict)
    fell: dict[int, LogFell] = field(default_factory=dict)
    starts: dict[int, dict[int, tuple[int, Ref, bool]]] = field(default_factory=dict)
    trimmed: dict[int, int] = field(default_factory=dict)
    """Replicas whose log does not begin at offset 0, with its highest start offset."""
    exact: set[int] = field(default_factory=set)
    """Replicas of which each entry is where every change is stated."""
    start_unknown: set[int] = field(default_factory=set)
    """Replicas that begin with a log of which no line states the start offset."""
    created: set[int] = field(default_factory=set)
    """Replicas with a new log that has no record yet."""
    reloaded: dict[int, tuple[int, int] | None] = field(default_factory=dict)
    """Replicas that were loaded again, with the entry of the lowest leader epoch that they have stated since."""

    def removed(self, replica: int, offset: int) -> bool:
        """Return whether a replica may have removed the records below an offset from the start of its log."""
        start = self.trimmed.get(replica, 0)
        return start >= offset if replica in self.exact else start > 0

    def note_first_record(self, line: StatementLine) -> None:
        """Note a replica whose log is new, until it has a record."""
        if line.kind == Kind.LOG_CREATED:
            self.created.add(line.replica)
        elif line.kind == Kind.APPEND:
            self.created.discard(line.replica)


def stated(
    rows: pl.DataFrame,
    complete: Mapping[int, Span] = MappingProxyType({}),
    keep: frozenset[int] = frozenset(),
    doubted: frozenset[Key] = frozenset(),
    killed: Set[tuple[int, int]] = frozenset(),
) -> dict[Key, Stated]:
    """Return statements that break an invariant by themselves, by incarnation of each partition that has any.

    Args:
        rows: observations of partitions in order, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their logs, by the claim of their trace, with its span.
        keep: brokers of releases in which a truncation leaves the high watermark in memory.
        doubted: incarnations about which a trace contradicts itself: its claim does not count there.
        killed: brokers and processes of which a trace states that the process before was killed.
    """
    kinds = [kind.value for kind in {*_STATES, *_SHORTENS, *_BEGINS, *_EPOCHS, *_TRIMS, *_ALSO}]
    both = pl.col("kind").is_in([kind.value for kind in _BOTH]) & (pl.col("hw") > pl.col("leo"))
    wanted = rows.filter(pl.col("kind").is_in(kinds) & ((pl.col("message") == TRACE) | both.fill_null(False)))
    found: dict[Key, _Partition] = {}
    for line in statement_lines(wanted):
        exact = line.key not in doubted and _is_exact(line, complete)
        rebuilds = not exact or (line.broker, line.run) in killed
        _take(found.setdefault(line.key, _Partition()), line, keep, exact=exact, rebuilds=rebuilds)
    results = ((key, _result(partition)) for key, partition in found.items())
    return {key: result for key, result in results if result != NOTHING}


def _is_exact(line: StatementLine, complete: Mapping[int, Span]) -> bool:
    """Return whether a line is where its witness states every change of its own log."""
    span = complete.get(line.broker)
    if span is None or line.broker != line.replica:
        return False
    since, until = span
    if line.time is None:
        return since is None and until is None
    return (since is None or since <= line.time) and (until is None or line.time <= until)


def _take(partition: _Partition, line: StatementLine, keep: frozenset[int], *, exact: bool, rebuilds: bool) -> None:
    """Add one statement of a witness about a replica.

    Args:
        partition: what is known so far.
        line: the statement.
        keep: see ``stated``.
        exact: the witness states every change here.
        rebuilds: its process may have rebuilt the epoch file, because the one before was killed.
    """
    start = _starts_later(line, created=line.replica in partition.created)
    if start > 0:
        partition.trimmed[line.replica] = max(start, partition.trimmed.get(line.replica, 0))
    partition.note_first_record(line)
    if line.kind in _ALSO:
        return
    if line.kind in _EPOCHS:
        _begins(partition, line, exact=exact, rebuilds=rebuilds)
        return
    place = line.broker, line.replica
    if line.kind == Kind.LOG_LOADED:
        _loads(partition, line, first=place not in partition.replicas, rebuilds=rebuilds, exact=exact)
    known = partition.replicas.setdefault(place, _Known(*place, exact, line.replica in keep))
    begins = line.kind in (*_BEGINS, *_SHORTENS) or known.ended(line)
    if begins or line.time is None or line.time != known.time:
        _note(partition, known.above())  # the moment before has ended
    if begins:
        known.begin(line)
    known.hold(line, exact=exact)
    if line.kind in _STATES:
        if (fell := known.fell(line)) is not None:
            partition.fell.setdefault(fell.replica, fell)
        known.add(line)
    if line.hw is not None and (line.leo is not None or (exact and line.kind in _IMPLY)):
        _note(partition, known.above())


def _loads(partition: _Partition, line: StatementLine, *, first: bool, rebuilds: bool, exact: bool) -> None:
    """A process has loaded a log. If nothing was stated of it before, its start offset is known from this line only."""
    if exact and line.leo is not None:
        _forget_above(partition, line.replica, line.leo)
    if first and not rebuilds and line.log_start is None:
        partition.start_unknown.add(line.replica)
    if rebuilds or not first or line.log_start is None:
        partition.reloaded[line.replica] = None


def _forget_above(partition: _Partition, replica: int, end: int) -> None:
    """Forget entries of one replica that begin above the log that it has loaded: its epoch file no longer has them."""
    for starts in partition.starts.values():
        for at in [at for at, (stated_by, *_) in starts.items() if stated_by == replica and at > end]:
            del starts[at]


_SOMEWHERE: Final = 1 << 62


def _starts_later(line: StatementLine, *, created: bool) -> int:
    """Return the offset at which a line states that the log of a replica begins, if that is not 0.

    A replica that is added after retention begins at the log start offset of its leader (ReplicaFetcherThread,
    truncateFullyAndStartAt). The first entry of its leader epochs begins there too.

    Args:
        line: the line.
        created: the log of its replica is new, and has no record before the line.
    """
    first = line.kind == Kind.TRUNCATE_FULL or (line.kind == Kind.APPEND and created)
    begins_at = line.offset if first else line.log_start
    return (_SOMEWHERE if line.kind in _TRIMS else 0) if begins_at is None else begins_at


def _begins(partition: _Partition, line: StatementLine, *, exact: bool, rebuilds: bool) -> None:
    """Add an entry of a leader epoch with its first offset. Where not every change is stated, the line of a process
    that rebuilt its epoch file may be missing before a second first offset of one replica.
    """
    epoch = line.leader_epoch
    if epoch is None or line.offset is None or epoch < 0:
        return
    (partition.exact.add if exact else partition.exact.discard)(line.replica)
    reloaded, entry = partition.reloaded, (epoch, line.offset)
    first = line.replica in reloaded and _is_first(reloaded[line.replica], entry)
    if first:
        reloaded[line.replica] = entry
    starts = partition.starts.setdefault(epoch, {})
    known = starts.get(line.offset)
    listed = known is not None and known[0] == line.replica and known[2]  # the file lists what was noted again
    rebuilt = first and (rebuilds or listed or _noted_again(partition, line))
    others = (at for at, (replica, *_) in starts.items() if replica == line.replica)
    rebuilt |= not exact and any(at != line.offset for at in others)
    if line.offset not in starts or starts[line.offset][2]:
        ref = Ref(row=line.row, note=f"leader epoch {epoch} from offset {line.offset}")
        starts[line.offset] = line.replica, ref, rebuilt


def _is_first(lowest: tuple[int, int] | None, entry: tuple[int, int]) -> bool:
    """Return whether an entry may be the first one of an epoch file: no file has an epoch twice.

    Args:
        lowest: the entry of the lowest leader epoch that is known of the file.
        entry: leader epoch and offset.
    """
    return lowest is None or entry[0] < lowest[0] or entry == lowest


def _noted_again(partition: _Partition, line: StatementLine) -> bool:
    """Return whether the first entry after a load may begin above the epoch, though no process was killed.

    One that was killed may have lost its epoch file. The next one rebuilds it from the records that it recovers, so the
    first entry then begins with these (LeaderEpochFileCache, LogLoader.recover). After a clean stop the file is read as
    it is. If it is lost, a replica notes its leader epoch again with the next record. And the log may begin there.
    """
    return line.kind == Kind.EPOCH_ASSIGNED or line.replica in partition.start_unknown


def _note(partition: _Partition, above: HwAboveLeo | None) -> None:
    if above is not None:
        partition.above.setdefault(above.replica, above)


def _result(partition: _Partition) -> Stated:
    for known in partition.replicas.values():
        _note(partition, known.above())
    above = tuple(one for _, one in sorted(partition.above.items()))
    fell = tuple(one for _, one in sorted(partition.fell.items()))
    return Stated(above, tuple(_several(partition)), fell)


def _several(partition: _Partition) -> Iterator[EpochStarts]:
    """Yield epochs with several first offsets. A replica that removed the start of its log may name a later one."""
    stated = ((epoch, starts) for epoch, starts in sorted(partition.starts.items()) if starts)
    for epoch, starts in stated:
        least = min(starts)
        own = {at for at, (replica, _, rebuilt) in starts.items() if not rebuilt and not partition.removed(replica, at)}
        real = sorted({least, *own})
        if len(real) > 1:
            yield EpochStarts(epoch, tuple((offset, *starts[offset][:2]) for offset in real))
