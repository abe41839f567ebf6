"""The copies of a partition's log in the evidence, and which of them hold the same records at some offsets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

import polars as pl

from forensics.case import Case
from forensics.replay.lineage import Range, intersect, merge, size, subtract
from parsers.formats.log_directory import DELETED_SEGMENT, DELETED_SEGMENTS, DirectoryState
from parsers.schema import Kind

_COLUMNS: Final = (
    *("source", "byte", "size", "base_offset", "last_offset", "leader_epoch", "magic", "crc", "crc_ok", "records"),
    *("timestamp_type", "transactional", "control", "producer_id", "producer_epoch"),
)
_OF_COPY: Final = ("cluster", "broker", "directory", "directory_state", "topic_id")


class Batch(NamedTuple):
    """One record batch of format v2, or one message or wrapper of v0 or v1, and where its bytes are.

    Attributes:
        source, byte, size: file and bytes of it.
        first: its first offset; of a wrapper whose content cannot be read, the last.
        last: its last offset.
        leader_epoch: that of the batch; None for v0 and v1, which have none.
        magic: message format.
        crc: checksum that it states.
        intact: the checksum is right.
        records: how many its header states.
        timestamp_type: 0 create time, 1 append time; None where it has no time.
        transactional, control: what its attributes say.
        producer_id, producer_epoch: those of an idempotent producer; None or -1 without.
    """

    source: int
    byte: int
    size: int
    first: int
    last: int
    leader_epoch: int | None
    magic: int
    crc: int
    intact: bool
    records: int
    timestamp_type: int | None
    transactional: bool
    control: bool
    producer_id: int | None
    producer_epoch: int | None

    @property
    def identity(self) -> tuple[int, int, int | None, int]:
        """The values by which it differs from other batches: the checksum covers the rest of it."""
        return self.first, self.last, self.leader_epoch, self.crc

    @property
    def offsets(self) -> Range:
        """Its offsets, half-open."""
        return self.first, self.last + 1


@dataclass(frozen=True, slots=True)
class Copy:
    """One log of the partition: the segments of one directory, or one segment that was deleted from it.

    Segments of one directory that were deleted at different times may hold different records at the same offsets, so
    each is a copy of its own.

    Attributes:
        cluster: the cluster's id, or None.
        broker: whose it is, or None.
        directory: where it is in the evidence; of a deleted segment the file.
        state: of the directory by its name: current, delete, future or stray; deleted-segments for a deleted segment.
        end: next offset after its last batch; without a batch the first offset that its segments would have.
        batches: its batches around the offsets in question, and its control batches, by offset.
        topic_id: the topic id in its ``partition.metadata`` (KIP-516), or None.
        is_empty: no batch was read in its segments.
    """

    cluster: str | None
    broker: int | None
    directory: str
    state: str
    end: int
    batches: tuple[Batch, ...] = field(repr=False)
    topic_id: str | None = None
    is_empty: bool = False

    @property
    def is_deleted_segment(self) -> bool:
        """Return whether it is a segment that its broker is about to remove."""
        return self.state == DELETED_SEGMENTS

    def within(self, ranges: Sequence[Range]) -> list[Batch]:
        """Return the batches that hold some of the offsets."""
        return [one for one in self.batches if any(one.first < end and first <= one.last for first, end in ranges)]


@dataclass(frozen=True, slots=True)
class OneTopic:
    """One of the topics that had a name in turn: a topic may be deleted, and another one created with its name.

    Attributes:
        topic_id: its id; None if unknown, as before 2.8, where topics have none.
        replaced: another topic had the name later.
    """

    topic_id: str | None = None
    replaced: bool = False

    def may_be(self, copy: Copy) -> bool:
        """Return whether a copy may be of this topic: of one that was replaced only deleted directories are left."""
        if self.topic_id is not None and copy.topic_id is not None:
            return self.topic_id == copy.topic_id
        return not self.replaced or copy.state == DirectoryState.DELETE


ANY_TOPIC: Final = OneTopic()
"""Any topic that had the name."""


@dataclass(frozen=True, slots=True)
class Side:
    """Copies that hold the same records at the offsets in question, as far as each has any of them.

    Attributes:
        copies: those copies; the one with the most of these offsets first.
        batches: what they hold, by offset, each from the first copy in which its checksum is right.
        whose: for each batch, the copies that have it.
    """

    copies: tuple[Copy, ...]
    batches: tuple[Batch, ...]

    def held(self, ranges: Iterable[Range]) -> list[Range]:
        """Return the offsets of some ranges that its batches cover."""
        return intersect(ranges, merge(one.offsets for one in self.batches))

    @property
    def epochs(self) -> tuple[int, ...]:
        """Leader epochs of its batches."""
        return tuple(sorted({one.leader_epoch for one in self.batches if one.leader_epoch is not None}))


class Damaged(NamedTuple):
    """A batch within the offsets in question whose checksum is wrong, so that it is not taken.

    Attributes:
        copy: where.
        batch: which, by what its header states.
    """

    copy: Copy
    batch: Batch


@dataclass(frozen=True, slots=True)
class Holding:
    """The copies and records that the evidence holds of some offsets of a partition.

    Attributes:
        topic, partition, cluster: which.
        wanted: the offsets, half-open ranges in rising order.
        copies: every copy of the partition's log, also those that hold none of the offsets.
        sides: what they hold of them; several where copies hold different records. The one with the most comes first.
        damaged: batches that are not taken.
        of: the topic, of those that had the name in turn.
        others: copies that are left out: they are of another topic of this name.
    """

    topic: str
    partition: int
    cluster: str | None
    wanted: tuple[Range, ...]
    copies: tuple[Copy, ...]
    sides: tuple[Side, ...]
    damaged: tuple[Damaged, ...]
    of: OneTopic = ANY_TOPIC
    others: tuple[Copy, ...] = ()

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"

    @property
    def gone(self) -> list[Range]:
        """Offsets that no sound batch of any copy covers."""
        return subtract(self.wanted, [span for side in self.sides for span in side.held(self.wanted)])


def copies(case: Case, topic: str, partition: int, wanted: Sequence[Range]) -> list[Copy]:
    """Return the copies of a partition's log: live directories first, then by cluster, broker and name.

    Segments that their broker was about to remove count, those that compaction was writing do not: they are parts of
    others.

    Args:
        case: the evidence.
        topic, partition: which partition.
        wanted: the offsets in question; a log may have millions of batches elsewhere.
    """
    first, end = (wanted[0][0], wanted[-1][1]) if wanted else (0, 0)
    sources = _segments(case, topic, partition)
    rows = (
        case.batches.select(_COLUMNS)
        .join(sources, on="source", how="inner")
        .with_columns(pl.col("base_offset").fill_null(pl.col("last_offset")), pl.col("crc_ok").fill_null(value=True))
        .sort("base_offset", "source", "byte")
    )
    near = (pl.col("last_offset") >= first) & (pl.col("base_offset") < end)
    found = []
    for (cluster, broker, directory, state, topic_id), part in rows.group_by(_OF_COPY, maintain_order=True):
        chosen = part.filter(near | pl.col("control").fill_null(value=False))
        batches = tuple(map(Batch._make, chosen.select(_COLUMNS).iter_rows()))
        last = part.filter("crc_ok").get_column("last_offset").max()
        log_end = last + 1 if isinstance(last, int) else 0
        found.append(Copy(cluster, broker, directory, state or "current", log_end, batches, topic_id))
    empty = sources.join(rows, on="directory", how="anti").group_by(_OF_COPY).agg(pl.col("segment_base").max())
    for cluster, broker, directory, state, topic_id, base in empty.iter_rows():
        found.append(Copy(cluster, broker, directory, state or "current", base or 0, (), topic_id, is_empty=True))
    return sorted(found, key=lambda one: (one.state != "current", one.cluster or "", _number(one), one.directory))


def _segments(case: Case, topic: str, partition: int) -> pl.DataFrame:
    """Return the segments of a partition, each with the directory and the topic id that its copy has."""
    folder = pl.col("path").str.replace(r"/?[^/]*$", "")
    place = (pl.col("topic") == topic) & (pl.col("partition") == partition)
    files = case.sources.filter(place).with_columns(pl.col("id").alias("source"), folder.alias("folder"))
    ids = case.observations.filter((pl.col("kind") == Kind.TOPIC_ID.value) & place).select("source", "topic_id")
    of_folders = files.select("source", "folder").join(ids.drop_nulls(), on="source", how="inner")
    of_folders = of_folders.group_by("folder").agg(pl.col("topic_id").first())
    return (
        files.filter(pl.col("format").is_in(["segment", DELETED_SEGMENT]))
        .join(of_folders, on="folder", how="left", maintain_order="left")
        .select(
            "source",
            "cluster",
            "broker",
            pl.when(pl.col("format") == DELETED_SEGMENT).then("path").otherwise("folder").alias("directory"),
            "directory_state",
            "topic_id",
            pl.col("base_offset").alias("segment_base"),
        )
    )


def _number(copy: Copy) -> int:
    return -1 if copy.broker is None else copy.broker


def holding(
    case: Case,
    topic: str,
    partition: int,
    wanted: Iterable[Range],
    cluster: str | None = None,
    of: OneTopic = ANY_TOPIC,
) -> Holding:
    """Return what the evidence holds of some offsets of a partition.

    Args:
        case: the evidence.
        topic, partition: which partition.
        wanted: offsets, half-open ranges.
        cluster: only copies of this cluster, and of none that is known; None for all.
        of: which of the topics that had the name in turn.
    """
    ranges = tuple(merge(wanted))
    every = [one for one in copies(case, topic, partition, ranges) if cluster is None or one.cluster in (cluster, None)]
    mine, others = _of_topic(every, of)
    within = [(copy, copy.within(ranges)) for copy in mine]
    damaged = tuple(Damaged(copy, one) for copy, batches in within for one in batches if not one.intact)
    sides: list[_Side] = []
    for copy, batches in within:
        _sort_in(sides, copy, [one for one in batches if one.intact])
    made = [one.made(ranges) for one in sides]
    # Sorting keeps the order of sides with as many offsets.
    made.sort(key=lambda one: -size(one.held(ranges)))
    return Holding(topic, partition, cluster, ranges, mine, tuple(made), damaged, of, others)


def _of_topic(every: Sequence[Copy], of: OneTopic) -> tuple[tuple[Copy, ...], tuple[Copy, ...]]:
    """Return the copies that may be of a topic, and the others."""
    mine = tuple(one for one in every if of.may_be(one))
    return mine, tuple(one for one in every if one not in mine)


def _sort_in(sides: list[_Side], copy: Copy, sound: Sequence[Batch]) -> None:
    """Add a copy to the first side that it does not contradict, or as a new one."""
    if not sound:
        return
    fits = (one for one in sides if one.cluster in (copy.cluster, None) and not one.contradicts(sound))
    side = next(fits, None)
    if side is None:
        side = _Side(copy.cluster)
        sides.append(side)
    side.take(copy, sound)


class _Side:
    """A side in the making.

    Attributes:
        cluster: that of its copies.
        copies: its copies, with the batches of each.
    """

    def __init__(self, cluster: str | None) -> None:
        self.cluster = cluster
        self.copies: list[tuple[Copy, list[Batch]]] = []
        self._batches: dict[tuple[int, int, int | None, int], Batch] = {}
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def contradicts(self, batches: Sequence[Batch]) -> bool:
        """Return whether one of the batches holds an offset at which this side has another batch."""
        return any(one.identity not in self._batches and self._covers(one) for one in batches)

    def _covers(self, batch: Batch) -> bool:
        """Return whether a batch of this side shares an offset with another one."""
        at = bisect_left(self._lasts, batch.first)
        return at < len(self._firsts) and self._firsts[at] <= batch.last

    def take(self, copy: Copy, batches: Sequence[Batch]) -> None:
        """Take a copy that does not contradict."""
        self.copies.append((copy, list(batches)))
        for one in batches:
            self._batches.setdefault(one.identity, one)
        ordered = sorted(self._batches.values(), key=lambda one: (one.first, one.last))
        self._firsts = [one.first for one in ordered]
        self._lasts = list(accumulate((one.last for one in ordered), max))

    def made(self, ranges: Sequence[Range]) -> Side:
        """Return the side."""

        def less(place: int) -> tuple[int, int]:
            held = intersect(ranges, merge(one.offsets for one in self.copies[place][1]))
            return -size(held), place

        order = sorted(range(len(self.copies)), key=less)
        batches: dict[tuple[int, int, int | None, int], Batch] = {}
        for place in order:
            for one in self.copies[place][1]:
                batches.setdefault(one.identity, one)
        ordered = sorted(batches.values(), key=lambda one: (one.first, one.last))
        return Side(tuple(self.copies[place][0] for place in order), tuple(ordered))
