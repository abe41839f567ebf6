"""What the files of one replica's data directory say, and where evidence lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forensics.replay.lineage import Lineage, Range
from parsers.schema import DamageKind


class LiveBy(StrEnum):
    """What tells which of several directories of one replica is the live one."""

    LOG_DIRS = "log.dirs"  # the broker printed it as log.dirs last
    WRITTEN = "meta.properties"  # its log directory was first used after the others
    EPOCH = "leader epoch"  # it knows a later leader epoch
    LENGTH = "length"  # its log reaches farther, or nothing tells


@dataclass(frozen=True, slots=True)
class Ref:
    """One piece of evidence.

    Attributes:
        row: row number in the case's observations, or None for bytes.
        source: id of the source, for bytes.
        byte: where the batch begins in it.
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


@dataclass(frozen=True, slots=True)
class StaleDir:
    """Another directory of the same replica on the same broker.

    Attributes:
        directory: where it lies in the evidence.
        end: its log end offset, or None.
        ref: its last sound batch, else the beginning of one of its files.
        latest: the last leader epoch that it knows, or None.
        lineage: leader epochs of its batches (message format v2), else empty.
        log_start: first offset of its segments.
        checkpoint: high watermark in the ``replication-offset-checkpoint`` beside it.
        topic_id: by its ``partition.metadata`` (KIP-516), or None.
    """

    directory: str
    end: int | None
    ref: Ref
    latest: int | None = None
    lineage: Lineage = field(default_factory=Lineage)
    log_start: int = 0
    checkpoint: Pointer | None = None
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Disk:
    """What the files of one replica say.

    Attributes:
        lineage: leader epochs of its batches (message format v2) as far as they can be believed, else empty.
        stated: the same as the batches state them.
        end: log end offset read from its segments, or None where there are none.
        log_start: first offset, by its files, and by the last line that tells of it: the checkpoint is written once a
            minute.
        local_start: where its segments begin as its last line on that says, if what is below is in remote storage
            (KIP-405).
        checkpoint: high watermark in ``replication-offset-checkpoint``.
        log_start_checkpoint, recovery_point, cleaner_point: from the files of these names.
        entries: ``leader-epoch-checkpoint``: (epoch, start offset, evidence).
        lone_epochs: leader epochs that one batch alone states: no checksum covers the epoch.
        entries_cut: the end of that file is gone: more may have stood in it.
        magic: highest message format of its batches, or None when it has none.
        directory: where it lies in the evidence.
        refs: batch with which each epoch begins, by epoch.
        end_ref: its last sound batch.
        falls: places where the leader epoch falls as offsets rise.
        damage: what is damaged in its segments.
        stale: other directories of the same replica.
        latest: the last leader epoch that this directory knows, where there are others; or None.
        live_by: what tells that this one is live, where there are others; or None.
        bases: base offsets of its segment files, rising.
        gaps: offsets between segments that do not follow one another, where nothing was cleaned and the one before is
            whole, so that a file is missing.
        skipped: offsets between two batches that follow one another in the bytes of one segment, and the second batch.
        lacking: these, where no cleaner can have taken what is skipped.
        holes: ``gaps``, those behind damaged segments, and ``lacking``.
        beside: indexes and producer snapshots without the segment of their name: its base offset, and their name.
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
    gaps: tuple[Range, ...] = ()
    skipped: tuple[tuple[Range, Ref], ...] = ()
    lacking: tuple[Range, ...] = ()
    holes: tuple[Range, ...] = ()
    beside: tuple[tuple[int, str], ...] = ()
    undated: frozenset[int] = frozenset()
    topic_id: str | None = None

    def left_by_this_topic(self) -> list[StaleDir]:
        """Other directories of the same replica that are not known to be of another topic of the same name: a topic
        that is deleted and made again has another id, and its records are others (KIP-516).
        """
        ids = (None, self.topic_id)
        return [left for left in self.stale if self.topic_id is None or left.topic_id in ids]

    @property
    def garbled(self) -> bool:
        """Whether bytes in its segments cannot be what the broker wrote: where its log ends may be one of them."""
        return any(one.kind in _GARBLED for one in self.damage)

    def begun(self) -> Iterator[tuple[int, int]]:
        """Leader epochs and the offsets of their first records, where nothing that stood before these is missing."""
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


def newest_magic(disks: Mapping[int, Disk]) -> int | None:
    """The newest message format among the batches of a partition's replicas; None where no batch is in the evidence."""
    return max((disk.magic for disk in disks.values() if disk.magic is not None), default=None)


@dataclass(frozen=True, slots=True)
class Copy:
    """Whether the copy of a replica's directory holds all that was there.

    Attributes:
        end: its last segment is the last one there was; False where another one was, None where nothing tells.
        end_why: what shows that, in words.
        inner: what is missing between its segments was missing on the broker; False where it was there, None where
            nothing tells.
        inner_why: what shows that, in words.
        earlier: what shows that segments before its first one were there; empty where nothing does.
    """

    end: bool | None
    end_why: str
    inner: bool | None
    inner_why: str
    earlier: str = ""
