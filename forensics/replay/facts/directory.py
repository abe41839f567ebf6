"""Contents of one replica's data directory, and references to evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from forensics.replay.lineage import Lineage, Range
from parsers.schema import DamageKind


class LiveBy(StrEnum):
    """The criterion that decides which of several directories of one replica is the live one."""

    LOG_DIRS = "log.dirs"  # the broker printed it in its last log.dirs
    WRITTEN = "meta.properties"  # its log directory was first used after the others
    EPOCH = "leader epoch"  # it has a later leader epoch
    LENGTH = "length"  # its log end offset is higher, or no other criterion decides


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to one piece of evidence.

    Attributes:
        row: row number in the case's observations, or None for bytes.
        source: id of the source, for bytes.
        byte: position of the batch in it.
        note: what it shows, in a few words.
    """

    row: int | None = None
    source: int | None = None
    byte: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong in the log of a replica.

    Attributes:
        kind: what is wrong.
        text: the same in words, with the particulars.
        ref: where.
    """

    kind: DamageKind
    text: str
    ref: Ref


Pointer = tuple[int, Ref]
"""An offset read from a checkpoint file, with its line."""


class Copied(StrEnum):
    """An answer to the question if a directory is a copy of the live one, made at another time."""

    NO = "no"
    PERHAPS = "perhaps"  # its log directory is not in the evidence, and the live one has each of its batches
    YES = "yes"


@dataclass(frozen=True, slots=True)
class StaleDir:
    """Another directory of the same replica on the same broker.

    Attributes:
        directory: its path in the evidence.
        end: its log end offset, or None.
        ref: its last sound batch, else the beginning of one of its files.
        latest: its last leader epoch, or None.
        lineage: leader epochs of its batches (message format v2), else empty.
        log_start: first offset of its segments.
        checkpoint: high watermark in the ``replication-offset-checkpoint`` beside it.
        topic_id: by its ``partition.metadata`` (KIP-516), or None.
        copied: whether it is a copy of the live directory, made at another time.
    """

    directory: str
    end: int | None
    ref: Ref
    latest: int | None = None
    lineage: Lineage = field(default_factory=Lineage)
    log_start: int = 0
    checkpoint: Pointer | None = None
    topic_id: str | None = None
    copied: Copied = Copied.NO


@dataclass(frozen=True, slots=True)
class Disk:
    """The files of one replica, in its live directory.

    Attributes:
        lineage: leader epochs of its batches (message format v2) as far as they are credible, else empty.
        stated: leader epochs as the batches state them.
        end: log end offset read from its segments, or None without segments.
        log_start: first offset, by its files and by the last line that names it. The checkpoint is written once a
            minute, so a line may be newer.
        local_start: first offset of its local segments by the last line that names it, if earlier records are in remote
            storage (KIP-405).
        checkpoint: high watermark in ``replication-offset-checkpoint``.
        log_start_checkpoint, recovery_point, cleaner_point: from the checkpoint files of these names.
        entries: ``leader-epoch-checkpoint``: (epoch, start offset, evidence).
        lone_epochs: leader epochs that a single batch states; no checksum covers the epoch.
        entries_cut: the end of that file is missing, so it may have had more entries.
        magic: highest message format of its batches, or None without batches.
        directory: its path in the evidence.
        refs: batch with which each epoch begins, by epoch.
        end_ref: its last sound batch.
        falls: places where the leader epoch falls as offsets rise.
        damage: damage in its segments.
        stale: other directories of the same replica.
        latest: last leader epoch of this directory, if there are other directories; or None.
        live_by: criterion by which this directory is live, if there are others; or None.
        bases: base offsets of its segment files, rising.
        segments: ids of the sources that are its segments, in the order of their base offsets.
        gaps: offsets between segments that are not adjacent, although nothing was compacted and the segment before is
            whole. A file is missing there.
        skipped: offsets between two adjacent batches of one segment, and the second batch.
        lacking: those of ``skipped`` that no cleaner can have removed.
        holes: ``gaps``, gaps behind damaged segments, and ``lacking``.
        beside: indexes and producer snapshots without their segment: base offset and file name.
        undated: starts of epochs right behind messages of v0 and v1, which may be of the same epoch.
        topic_id: by its ``partition.metadata`` (KIP-516), or None.
    """

    lineage: Lineage = field(default_factory=Lineage)
    stated: Lineage = field(default_factory=Lineage)
    end: int | None = None
    log_start: int = 0
    local_start: int = 0
    checkpoint: Pointer | None = None
    log_start_checkpoint: Pointer | None = None
    recovery_point: Pointer | None = None
    cleaner_point: Pointer | None = None
    entries: tuple[tuple[int, int, Ref], ...] = ()
    lone_epochs: frozenset[int] = frozenset()
    entries_cut: bool = False
    magic: int | None = None
    directory: str | None = None
    refs: Mapping[int, Ref] = field(default_factory=dict)
    end_ref: Ref | None = None
    falls: tuple[Damage, ...] = ()
    damage: tuple[Damage, ...] = ()
    stale: tuple[StaleDir, ...] = ()
    latest: int | None = None
    live_by: LiveBy | None = None
    bases: tuple[int, ...] = ()
    segments: tuple[int, ...] = ()
    gaps: tuple[Range, ...] = ()
    skipped: tuple[tuple[Range, Ref], ...] = ()
    lacking: tuple[Range, ...] = ()
    holes: tuple[Range, ...] = ()
    beside: tuple[tuple[int, str], ...] = ()
    undated: frozenset[int] = frozenset()
    topic_id: str | None = None

    @property
    def shows_replica(self) -> bool:
        """Return whether any file shows that the broker has the replica: a segment, its epoch file or a checkpoint."""
        return self.directory is not None or bool(self.entries) or None is not (self.checkpoint or self.recovery_point)

    @property
    def left_behind(self) -> tuple[StaleDir, ...]:
        """Other directories that are no copies of this one."""
        return tuple(one for one in self.stale if one.copied is Copied.NO)

    def left_by_this_topic(self) -> list[StaleDir]:
        """Return other directories of the same replica, except those known to be of another topic of the same name.

        A topic that is deleted and created again has another topic id and other records (KIP-516).
        """
        ids = (None, self.topic_id)
        return [left for left in self.stale if self.topic_id is None or left.topic_id in ids]

    @property
    def garbled(self) -> bool:
        """Return whether its segments contain bytes that the broker cannot have written. Its log end may be wrong
        then.
        """
        return any(one.kind in _GARBLED for one in self.damage)

    @property
    def torn(self) -> bool:
        """Return whether a segment ends within a batch or in zeros: lost power leaves that, and so does a bad copy."""
        return any(one.kind in _TORN for one in self.damage)

    def begun(self) -> Iterator[tuple[int, int]]:
        """Yield leader epochs and the offsets of their first records, if no record right before these is missing."""
        before: int | None = None
        for epoch, start in self.lineage.entries:
            below = start == 0 or (start > self.log_start and self.cleaner_point is None)
            if (
                epoch >= 0
                and start not in self.undated
                and (below if before is None else before >= 0 and start > self.log_start)
            ):
                yield epoch, start
            before = epoch


NO_DISK: Final = Disk()
"""Of a replica without files in the evidence."""

_GARBLED = frozenset(
    (
        DamageKind.BAD_LENGTH,
        DamageKind.BAD_MAGIC,
        DamageKind.BAD_HEADER,
        DamageKind.OUT_OF_RANGE,
        DamageKind.OFFSETS_GO_BACK,
        DamageKind.MISPLACED,
    )
)
_TORN = frozenset((DamageKind.TORN_TAIL, DamageKind.ZERO_TAIL))


def newest_magic(disks: Mapping[int, Disk]) -> int | None:
    """The newest message format among the batches of a partition's replicas; None where no batch is in the evidence."""
    return max((disk.magic for disk in disks.values() if disk.magic is not None), default=None)


@dataclass(frozen=True, slots=True)
class Copy:
    """Completeness of the copy of a replica's directory.

    Attributes:
        end: True if its last segment is the broker's last one; False if another one was; None if unknown.
        end_why: reason for ``end``, in words.
        end_by_lines: ``end`` rests on absent lines: none of the broker's shows that a later segment began. So it counts
            only as far as their coverage reaches.
        inner: True if gaps between its segments already existed on the broker; False if not; None if unknown.
        inner_why: reason for ``inner``, in words.
        earlier: evidence that there were segments before its first one; empty if there is none.
    """

    end: bool | None
    end_why: str
    inner: bool | None
    inner_why: str
    earlier: str = ""
    end_by_lines: bool = False
