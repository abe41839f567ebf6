"""Segments and directories that brokers were about to remove, with the records in them.

Retention and a truncation below a segment's base offset rename the segment ``*.log.deleted``
(LocalLog.deleteSegmentFiles, before 3.0 Log). When a replica leaves a broker, its directory is renamed
``TOPIC-N.<uuid>-delete`` (LogManager.asyncDelete). The broker removes both ``file.delete.delay.ms`` later, and what a
dead broker left when it starts (LogLoader, LogManager.loadLog). They are no part of a log, so they prove nothing of
what a log holds. They may have the only copy of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.replay.facts.live_dirs import folder
from forensics.replay.lineage import Lineage, Range, intersect, merge, size, subtract
from parsers.formats.log_directory import DELETED_SEGMENTS, DirectoryState
from parsers.schema import Kind

_KEY = ("topic", "partition", "broker", "left")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some offsets of a log without a gap, written in one leader epoch.

    Attributes:
        offsets: half-open.
        epoch: the leader epoch; None for message formats v0 and v1, which have none.
    """

    offsets: Range
    epoch: int | None


@dataclass(frozen=True, slots=True)
class DeletedSegment:
    """A segment or a directory that its broker was about to remove.

    Attributes:
        broker: which.
        path: of the file, or of the directory.
        is_directory: it is a directory.
        pieces: the offsets of its sound batches.
        topic_id: by the ``partition.metadata`` of the directory (KIP-516), or None.
    """

    broker: int
    path: str
    is_directory: bool
    pieces: tuple[Piece, ...]
    topic_id: str | None = None

    @property
    def offsets(self) -> tuple[Range, ...]:
        """The offsets of all of its sound batches."""
        return tuple(merge(one.offsets for one in self.pieces))

    def held(self, lineage: Lineage, ranges: Sequence[Range]) -> list[Range]:
        """Return the offsets at which it has the records of a log: those written in the same leader epoch."""
        known = [one for one in self.pieces if one.epoch is not None and one.epoch >= 0]
        spans = [(span, one.epoch) for one in known for span in lineage.pieces(intersect([one.offsets], ranges))]
        return merge(span for span, epoch in spans if lineage.epoch_at(span[0]) == epoch)

    def may_hold(self, ranges: Sequence[Range]) -> list[Range]:
        """Return the offsets at which it has messages of a format without epochs, which need not be those of a log."""
        return intersect(ranges, merge(one.offsets for one in self.pieces if one.epoch is None))


def deleted_segments(case: Case) -> dict[tuple[str, int], tuple[DeletedSegment, ...]]:
    """Return what brokers were about to remove, by topic and partition, in the order of brokers and paths."""
    is_segment = pl.col("directory_state").eq_missing(DELETED_SEGMENTS)
    is_directory = pl.col("directory_state").eq_missing(DirectoryState.DELETE.value)
    path = pl.when(is_segment).then("path").otherwise(folder(pl.col("path")))
    left = case.sources.filter((is_segment | is_directory) & pl.all_horizontal(pl.col(_KEY[:3]).is_not_null())).select(
        *_KEY[:3], path.alias("left"), pl.col("id").alias("source"), is_directory.alias("whole")
    )
    if left.is_empty():
        return {}
    stated = case.observations.filter(pl.col("kind") == Kind.TOPIC_ID.value).select("source", "topic_id").drop_nulls()
    ids = dict(left.join(stated, on="source", how="inner").sort("source").select("left", "topic_id").iter_rows())
    found: dict[tuple[str, int], list[DeletedSegment]] = {}
    sound = case.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok")).select(
        "source", "byte", pl.col("base_offset").fill_null(pl.col("last_offset")), "last_offset", "leader_epoch"
    )
    pieces = _pieces(sound.join(left, on="source", how="inner"))
    for (topic, partition, broker, place, whole), rows in pieces.group_by(*_KEY, "whole", maintain_order=True):
        held = tuple(Piece((first, end), epoch) for first, end, epoch in rows.select("first", "end", "epoch").rows())
        one = DeletedSegment(broker, place, bool(whole), held, ids.get(place))
        found.setdefault((topic, partition), []).append(one)
    return {key: tuple(those) for key, those in found.items()}


def _pieces(batches: pl.DataFrame) -> pl.DataFrame:
    """Return the pieces of each segment or directory: ``_KEY``, ``whole``, ``first``, ``end``, ``epoch``."""
    end, epoch = pl.col("last_offset") + 1, pl.col("leader_epoch")
    begins = (pl.col("base_offset") != end.shift(1)) | epoch.ne_missing(epoch.shift(1))
    return (
        batches.sort(*_KEY, "base_offset", "source", "byte")
        .with_columns(begins.over(_KEY).fill_null(value=True).cum_sum().over(_KEY).alias("piece"))
        .group_by(*_KEY, "whole", "piece", maintain_order=True)
        .agg(pl.col("base_offset").min().alias("first"), end.max().alias("end"), epoch.first().alias("epoch"))
    )


def kept_in(
    found: Sequence[DeletedSegment], lineage: Lineage, ranges: Sequence[Range]
) -> list[tuple[DeletedSegment, list[Range], bool]]:
    """Return those that hold some of a log's records, with the offsets, and whether leader epochs show it.

    The one with the most records comes first. One that adds nothing to those before it is left out.
    """
    known = [(one, one.held(lineage, ranges), True) for one in found]
    unsure = [(one, one.may_hold(ranges), False) for one in found]
    chosen: list[tuple[DeletedSegment, list[Range], bool]] = []
    rest = list(ranges)
    for one, held, sure in sorted((*known, *unsure), key=lambda given: (not given[2], -size(given[1]))):
        if intersect(held, rest):
            chosen.append((one, held, sure))
            rest = subtract(rest, held)
    return chosen
