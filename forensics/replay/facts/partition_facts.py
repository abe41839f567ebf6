"""Facts about one incarnation of a partition, as files and lines state them. Nothing here is inferred or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from forensics.case import Origin
from forensics.replay.facts.deleted_segments import DeletedSegment
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.group_positions import GroupPosition
from forensics.replay.facts.printed_hws import PrintedHw
from forensics.replay.facts.refusals import Complaint
from forensics.replay.facts.scrapes import EndSeries, Series
from forensics.replay.facts.stray_replicas import StrayReplica
from forensics.replay.lineage import Range, intersect, merge, subtract


@dataclass(frozen=True, slots=True)
class ForkPart:
    """Some offsets of a difference between two replicas.

    Attributes:
        ranges: the offsets.
        left_ref, right_ref: first differing batch on each side.
        left_batch, right_batch: (base offset, last offset, leader epoch or None) of those.
    """

    ranges: tuple[Range, ...]
    left_ref: Ref
    right_ref: Ref
    left_batch: tuple[int, int, int | None]
    right_batch: tuple[int, int, int | None]


@dataclass(frozen=True, slots=True)
class Fork:
    """Two replicas that hold different records at the same offsets, read from their segments.

    Attributes:
        left, right: broker ids, left < right.
        ranges: offsets at which they differ.
        left_ref, right_ref: first differing batch on each side.
        left_batch, right_batch: (base offset, last offset, leader epoch or None) of those.
        in_one_epoch: the part of it at which both have a batch of one leader epoch, or None. The leader of an epoch
            writes each offset once, so this is no tail that one of them has yet to truncate.
        enclosed: the rest of it as far as both have the same batch behind it, or None. A follower that truncated to
            follow would not have the one without the other.
        within_one_epoch: the leader epoch of ``in_one_epoch`` is known at some of its offsets.
        moved: they hold one batch of a leader epoch at two offsets. Its leader gave it one.
        strangers: they have no batch in common. One of them may be the log of another partition, copied to a wrong
            directory.
    """

    left: int
    right: int
    ranges: tuple[Range, ...]
    left_ref: Ref
    right_ref: Ref
    left_batch: tuple[int, int, int | None]
    right_batch: tuple[int, int, int | None]
    in_one_epoch: ForkPart | None = None
    enclosed: ForkPart | None = None
    within_one_epoch: bool = False
    moved: bool = False
    strangers: bool = False

    @property
    def brokers(self) -> tuple[int, int]:
        """The two replicas."""
        return self.left, self.right

    @property
    def undated(self) -> bool:
        """True where one of the first differing batches has no leader epoch (message formats v0 and v1)."""
        return self.left_batch[2] is None or self.right_batch[2] is None

    @property
    def lasting(self) -> list[Range]:
        """The offsets at which neither of them truncates to follow the other: records differ there for good."""
        return merge(span for part in (self.in_one_epoch, self.enclosed) if part is not None for span in part.ranges)

    def at(self, part: ForkPart) -> Fork:
        """Return a part of the difference as one of its own."""
        batches = (part.left_ref, part.right_ref, part.left_batch, part.right_batch)
        return Fork(self.left, self.right, part.ranges, *batches)


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """Facts about one incarnation of a partition.

    Lines about a role or a log of one replica are not here: replay reads those one by one, as ``Event``.

    Attributes:
        topic, partition: its name.
        topic_id: as lines or ``partition.metadata`` print it, or None.
        cluster: cluster id, or None.
        incarnation: 0 for the last topic of this name, 1 for the one before.
        lives: how many incarnations the evidence shows.
        leaders_with_id: (leader epoch, broker, topic id) for each leader whose own role line names the topic id.
        disks: files of each replica, by broker.
        forks: differences between the segments of two replicas.
        compared: pairs of brokers whose segments were compared.
        removed: by epoch without a leader, the replicas that a controller had just removed from the ISR.
        fenced: by leader epoch, the brokers that a controller fenced as they left the ISR, and let in again after it.
        deleted_segments: what brokers were about to remove; no verdict rests on it.
        properties: of the log, as last printed when it was created.
        properties_ref: that line.
        log_dirs: for brokers that changed it, when they printed which ``log.dirs``.
        min_insync_replicas: if the topic or the brokers that held it state one.
        without_records: by broker, offsets within a log at which a truncation left no records, as traces state it.
        log_starts: (broker, row, offset) of each line that states a log start offset.
        complaints: lines about two offsets that contradict each other.
        stray_replicas: lines about replicas of a topic that the controllers do not know, if nothing deleted it.
        printed_hws: high watermarks and ISRs as printed, one for each line.
        positions: that consumer groups committed; of the last topic of this name.
        scrapes: high watermarks as exporters printed them, series by series; of the last topic of this name.
        scraped_ends: log end offsets as exporters printed them, by broker, series by series; of the same topic.
        requests_unsent: a broker received a request that no controller's line sends.
        starting: replicas whose last process began after the last line of a controller that names no partition.
        listed: brokers that a trace lists and claims nothing of, without any line: they may have a replica.
        with_ids: brokers whose own lines or files name the cluster or the topic by its id.
        origin: the kind of evidence that states it.
        appends_stated: a trace states appends to its logs.
    """

    topic: str
    partition: int
    topic_id: str | None = None
    cluster: str | None = None
    incarnation: int = 0
    lives: int = 1
    leaders_with_id: frozenset[tuple[int, int, str]] = frozenset()
    disks: Mapping[int, Disk] = field(default_factory=dict)
    forks: tuple[Fork, ...] = ()
    compared: frozenset[tuple[int, int]] = frozenset()
    removed: Mapping[int, frozenset[int]] = field(default_factory=dict)
    fenced: Mapping[int, frozenset[int]] = field(default_factory=dict)
    deleted_segments: tuple[DeletedSegment, ...] = field(default=(), compare=False)
    properties: Mapping[str, str] = field(default_factory=dict)
    properties_ref: Ref | None = None
    log_dirs: Mapping[int, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    min_insync_replicas: int | None = None
    without_records: Mapping[int, tuple[Range, ...]] = field(default_factory=dict)
    log_starts: tuple[tuple[int, int, int], ...] = field(default=(), repr=False, compare=False)
    complaints: tuple[Complaint, ...] = field(default=(), repr=False, compare=False)
    stray_replicas: tuple[StrayReplica, ...] = field(default=(), repr=False, compare=False)
    printed_hws: tuple[PrintedHw, ...] = field(default=(), repr=False, compare=False)
    positions: tuple[GroupPosition, ...] = field(default=(), repr=False, compare=False)
    scrapes: tuple[Series, ...] = ()
    scraped_ends: Mapping[int, tuple[EndSeries, ...]] = field(default_factory=dict)
    requests_unsent: bool = False
    starting: frozenset[int] = frozenset()
    listed: frozenset[int] = frozenset()
    with_ids: frozenset[int] = field(default=frozenset(), repr=False, compare=False)
    origin: Origin = Origin.FILES
    appends_stated: bool = False

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"

    def identical_ranges(self, one: int, other: int, ranges: Iterable[Range]) -> list[Range]:
        """Return at which of some offsets the segments of two replicas hold the same batches; none without batches.

        Where one of them skips offsets, or lacks a segment, nothing was compared.
        """
        pair = (min(one, other), max(one, other))
        own = [disk for broker in pair if (disk := self.disks.get(broker)) is not None]
        ends = [disk.end for disk in own if disk.end is not None]
        if pair not in self.compared or len(ends) < 2:
            return []
        compared = [(max(disk.log_start for disk in own), min(ends))]  # deleted offsets are not compared
        missing = [piece for disk in own for piece in disk.holes]
        return subtract(intersect(ranges, compared), [*self.diverging_ranges(one, other), *missing])

    def diverging_ranges(self, one: int, other: int) -> list[Range]:
        """The offsets at which the segments of two replicas hold different records."""
        pair = (min(one, other), max(one, other))
        return [piece for fork in self.forks if (fork.left, fork.right) == pair for piece in fork.ranges]
