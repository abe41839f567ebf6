"""Parts of one replica: batches, a log half on disk and half in the page cache, its epoch cache and its files.

Offsets are Kafka's: the log end offset (LEO) is the next offset to be written, the high watermark (HW) the first offset
that is not committed. Nothing in here depends on time, other brokers or protocols.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

NO_EPOCH = -1
NO_OFFSET = -1
NEVER = -(10**12)
"""A time before all times: brokers use 0 for it, as their clocks count from 1970."""


class Batch(NamedTuple):
    """Records that were appended together. A replica copies a batch unchanged, so the same object is in many logs.

    Before leader epochs (message format 1) each record is a batch of its own, as uncompressed messages were.
    """

    base: int
    """Offset of the first record."""
    end: int
    """Offset after the last record."""
    epoch: int
    """Leader epoch of the leader that appended it. Kept even where the format on disk has no place for it."""
    values: tuple[str, ...]
    """Values of the records; a marker's one value names its kind."""
    at: int
    """Logical milliseconds of the append."""
    acks: str
    """Acks of the producer: ``0``, ``1`` or ``all``."""
    producer: int = -1
    """Producer id of a transaction, else -1."""
    marker: str = ""
    """``commit`` or ``abort`` for the control batch that ends a transaction."""
    sequence: int = 0
    """A transactional producer's number for the first record: what the leader had of it before."""


class Record(NamedTuple):
    """One record as truth knows it: two records at an offset are the same iff epoch and value are."""

    offset: int
    epoch: int
    value: str


class Log:
    """The log of one replica.

    Appended records are in the page cache; ``synced`` is the offset up to which the log would survive a power cut. A
    crash of the process alone loses nothing, as the operating system still has the pages.
    """

    __slots__ = ("_bases", "batches", "end", "synced")

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self._bases: list[int] = []
        self.end = 0
        self.synced = 0

    def append(self, batch: Batch) -> None:
        """Adds a batch at the end."""
        if batch.base != self.end:
            raise ValueError(f"batch at {batch.base} does not follow the log end {self.end}")
        self.batches.append(batch)
        self._bases.append(batch.base)
        self.end = batch.end

    def truncate(self, to: int) -> list[Batch]:
        """Removes everything from offset ``to`` on and returns what went. A batch that holds ``to`` goes as a whole.

        The end is then ``to`` even so, as in ``Log.truncateTo``; targets are batch ends in practice.
        """
        keep = len(self.batches)
        while keep and self.batches[keep - 1].end > to:
            keep -= 1
        removed = self.batches[keep:]
        del self.batches[keep:], self._bases[keep:]
        self.end = min(self.end, to)
        self.synced = min(self.synced, self.end)
        return removed

    def read(self, offset: int, limit: int = 0) -> list[Batch]:
        """The batches from ``offset`` to the end, at most ``limit`` of them (0: all)."""
        first = bisect_right(self._bases, offset) - 1
        if first < 0 or self.batches[first].end <= offset:
            first += 1
        return self.batches[first : first + limit] if limit else self.batches[first:]

    def records(self, start: int = 0, end: int | None = None) -> Iterator[Record]:
        """Every record in ``[start, end)``."""
        stop = self.end if end is None else end
        for batch in self.read(start):
            if batch.base >= stop:
                return
            for offset, value in enumerate(batch.values, batch.base):
                if start <= offset < stop:
                    yield Record(offset, batch.epoch, value)

    def has(self, record: Record) -> bool:
        """Return whether this log holds that very record."""
        at = bisect_right(self._bases, record.offset) - 1
        if at < 0:
            return False
        batch = self.batches[at]
        return (
            record.offset < batch.end
            and batch.epoch == record.epoch
            and batch.values[record.offset - batch.base] == record.value
        )

    def copied(self) -> Log:
        """Return a log with the same batches."""
        copy = Log()
        copy.batches, copy._bases, copy.end, copy.synced = list(self.batches), list(self._bases), self.end, self.synced
        return copy

    def last_epoch(self) -> int:
        """Epoch of the last record."""
        return self.batches[-1].epoch if self.batches else NO_EPOCH


class EpochCache:
    """The leader epochs of one log, ``[(epoch, start offset)]``, as ``leader-epoch-checkpoint`` keeps them."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self.entries: list[tuple[int, int]] = list(entries)

    @property
    def latest(self) -> int:
        """The newest epoch known, or -1."""
        return self.entries[-1][0] if self.entries else NO_EPOCH

    def assign(self, epoch: int, start: int, *, replaces: bool) -> list[tuple[int, int]] | None:
        """Notes that ``epoch`` begins at ``start``.

        Args:
            replaces: Versions from 2.0 drop older entries that the new one contradicts (an epoch without data);
                before, the new entry was only added at the end.

        Returns:
            The entries dropped, or None if nothing changed.
        """
        if self.entries and (epoch < self.entries[-1][0] or (epoch == self.entries[-1][0])):
            return None
        if not replaces:
            if self.entries and start < self.entries[-1][1]:
                return None
            self.entries.append((epoch, start))
            return []
        dropped = [entry for entry in self.entries if entry[1] >= start]
        if dropped:
            self.entries = [entry for entry in self.entries if entry[1] < start]
        self.entries.append((epoch, start))
        return dropped

    def cut(self, end: int) -> list[tuple[int, int]]:
        """Removes the entries that begin at or after ``end`` and returns them."""
        dropped = [entry for entry in self.entries if entry[1] >= end]
        if dropped:
            self.entries = [entry for entry in self.entries if entry[1] < end]
        return dropped


Checkpoint = Literal["hw", "recovery_point", "log_start", "epochs"]

CHECKPOINTS: dict[Checkpoint, str] = {
    "hw": "replication-offset-checkpoint",
    "recovery_point": "recovery-point-offset-checkpoint",
    "log_start": "log-start-offset-checkpoint",
    "epochs": "leader-epoch-checkpoint",
}
"""The checkpoints of a replica, and their files."""

NOTHING: dict[Checkpoint, Any] = {"hw": None, "recovery_point": None, "log_start": None, "epochs": []}
"""Contents of a missing file, as a broker reads it."""


@dataclass(slots=True)
class Disk:
    """The small files of one replica, as last written. A checkpoint is synced and renamed: it survives a power cut."""

    hw: int | None = None
    """``replication-offset-checkpoint``; None where the file has no line for the partition."""
    recovery_point: int | None = None
    """``recovery-point-offset-checkpoint``: everything below was flushed. Not the LEO."""
    log_start: int | None = None
    """``log-start-offset-checkpoint``: no line for a log that begins where its first segment does, as all do here."""
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """``leader-epoch-checkpoint``."""
    clean: bool = False
    """True if ``.kafka_cleanshutdown`` exists."""
    metadata_end: int = 0
    """KRaft: log end offset of the metadata log in the directory, as of the broker's last registration."""
    former: dict[Checkpoint, Any] = field(default_factory=dict)
    """Contents of each checkpoint before its last change: an older copy, as a backup has it."""
    damage: dict[Checkpoint, Literal["lost", "empty", "garbled"]] = field(default_factory=dict)
    """Files that are missing, that a starting broker created empty, or that cannot be read."""

    def write(self, checkpoint: Checkpoint, value: Any) -> None:
        """The broker writes a checkpoint. Whatever was wrong with the file is over."""
        before = getattr(self, checkpoint)
        if value != before:
            self.former[checkpoint] = before
        setattr(self, checkpoint, value)
        self.damage.pop(checkpoint, None)

    def lose(self, checkpoint: Checkpoint, damage: Literal["lost", "garbled"]) -> None:
        """The file is deleted, or made unreadable: its contents are lost."""
        before = getattr(self, checkpoint)
        if before != NOTHING[checkpoint]:
            self.former[checkpoint] = before
        self.damage[checkpoint] = damage
        setattr(self, checkpoint, [] if checkpoint == "epochs" else None)

    def copied(self) -> Disk:
        """Return the same files, without what they held before."""
        return replace(self, epochs=list(self.epochs), former={}, damage=dict(self.damage))

    def restore(self, checkpoint: Checkpoint) -> bool:
        """The file is replaced by an older copy of itself. False if it never had other contents."""
        if checkpoint not in self.former:
            return False
        self.write(checkpoint, self.former[checkpoint])
        return True


@dataclass(slots=True)
class Remote:
    """A leader's knowledge of one follower: its LEO, from its fetches. A leader keeps no follower's HW."""

    leo: int = NO_OFFSET
    caught_up_at: int = NEVER
    """When the follower last had everything."""
    fetched_at: int = NEVER
    leader_end_at_fetch: int = 0


@dataclass(slots=True)
class Pending:
    """A produce request that waits for ``acks=all``."""

    batch: Batch


@dataclass(slots=True)
class Transaction:
    """A transaction in a log: where it began and, once decided, where its marker is."""

    producer: int
    first: int
    marker: int | None = None
    aborted: bool = False

    def holds(self, batch: Batch) -> bool:
        """Return whether the batch is part of it. Without a marker its end is unknown."""
        return (
            batch.producer == self.producer and self.first <= batch.base and batch.base <= (self.marker or self.first)
        )


@dataclass(slots=True)
class Replica:
    """One broker's copy of the partition: what is in memory goes with the process, ``log`` and ``disk`` stay."""

    broker: int
    log: Log = field(default_factory=Log)
    disk: Disk = field(default_factory=Disk)
    epochs: EpochCache = field(default_factory=EpochCache)
    hw: int = 0
    role: str = ""
    """``leader``, ``follower``, or empty before the controller assigned a role."""
    leader: int | None = None
    leader_epoch: int = NO_EPOCH
    partition_epoch: int = NO_EPOCH
    isr: tuple[int, ...] = ()
    """The ISR as this broker received it, or, for a leader, as last committed."""
    truncating: bool = False
    """Follower: must reconcile with its leader before it may fetch."""
    epoch_start: int = 0
    """Leader: its LEO when it became leader of its epoch."""
    remote: dict[int, Remote] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    on_disk: bool = False
    """True if the partition's directory exists."""
    backup: tuple[Log, Disk] | None = None
    """A copy of the directory that an operator keeps elsewhere."""

    def back_up(self) -> None:
        """Keep a copy of the log and its files as they are, the page cache included."""
        self.backup = self.log.copied(), self.disk.copied()

    def put_back(self) -> bool:
        """The directory is replaced by the copy; what is copied back is on disk. False if there is none."""
        if self.backup is None:
            return False
        log, disk = self.backup
        self.log, self.disk = log.copied(), disk.copied()
        self.log.synced = self.log.end
        return True

    def swap_directory(self, other: Replica) -> None:
        """Exchange the directory with that of another replica."""
        (self.log, self.disk), (other.log, other.disk) = (other.log, other.disk), (self.log, self.disk)

    def forget(self) -> None:
        """Forget what the end of the process loses."""
        self.hw = 0
        self.role, self.leader, self.leader_epoch, self.partition_epoch = "", None, NO_EPOCH, NO_EPOCH
        self.isr, self.truncating, self.epoch_start = (), False, 0
        self.remote, self.pending = {}, []

    def transactions(self) -> list[Transaction]:
        """The transactions in this log, in order of their first record."""
        found: list[Transaction] = []
        running: dict[int, Transaction] = {}
        for batch in self.log.batches:
            if batch.producer < 0:
                continue
            if batch.marker:
                if ended := running.pop(batch.producer, None):
                    ended.marker, ended.aborted = batch.base, batch.marker == "abort"
            elif batch.producer not in running:
                running[batch.producer] = Transaction(batch.producer, batch.base)
                found.append(running[batch.producer])
        return found

    def last_stable(self) -> int:
        """The last stable offset (LSO): the HW, or the first record of a transaction not yet decided below it.

        A transaction whose marker is not itself committed is undecided (``ProducerStateManager.firstUnstableOffset``).
        """
        undecided = [t.first for t in self.transactions() if t.marker is None or t.marker >= self.hw]
        return min([self.hw, *undecided])

    def readable(self, *, committed: bool = False) -> Iterator[Record]:
        """Yield the records that a leader with this log would send to consumers: no markers, nothing from the HW on.

        Args:
            committed: Nothing from the LSO on either, and no record of an aborted transaction.
        """
        end = max(self.last_stable() if committed else self.hw, 0)
        aborted = [t for t in self.transactions() if t.aborted] if committed else []
        for batch in self.log.read(0):
            if batch.marker or any(t.holds(batch) for t in aborted):
                continue
            for offset, value in enumerate(batch.values, batch.base):
                if offset < end:
                    yield Record(offset, batch.epoch, value)
