"""The names in a log directory: partition directories, segment files, snapshots of the metadata log.

Names only, nothing is opened. Source: ``LocalLog`` and ``UnifiedLog`` (``Log`` to 3.0), ``LogFileUtils``; ``Snapshots``
for the metadata log.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from typing import Final, NamedTuple

NAME: Final = "log-directory"

METADATA_TOPIC: Final = "__cluster_metadata"
"""Topic in the name of the directory of the metadata log (KRaft)."""

DELETED_SEGMENT: Final = "deleted-segment"
"""Format of a segment that its broker renamed ``*.log.deleted`` (``LocalLog.deleteSegmentFiles``, before 3.0 ``Log``).

Retention, compaction and a truncation below its base offset rename a segment so. The broker removes the file after
``file.delete.delay.ms``, or as it starts (``LogLoader``). It is no part of the log any more.
"""
DELETED_SEGMENTS: Final = "deleted-segments"
"""``directory_state`` of what a deleted segment holds, so that nothing takes it for the log of its directory."""

_TOPIC: Final = r"(?P<topic>[A-Za-z0-9._-]{1,253})"
"""Kafka takes 249 characters since 0.10, and took 255 before (``Topic``). A file name has 255, "-0" among them."""
_CURRENT: Final = re.compile(rf"{_TOPIC}-(?P<partition>[0-9]{{1,10}})")
_MARKED: Final = re.compile(rf"{_TOPIC}-(?P<partition>[0-9]{{1,10}})\.[0-9a-f]{{32}}-(?P<state>delete|future|stray)")
_MOST_OFFSET: Final = 2**63 - 1  # offsets are a Java long, and the end of a log must be one too
_NAME_MAX: Final = 255
"""Characters to which Kafka shortens the name of a deleted or stray directory, at the end of its topic
(``LocalLog.logDirNameWithSuffixCappedLength``). The name of a future directory is not shortened."""
_SEGMENT: Final = re.compile(
    r"(?P<base>[0-9]{20})\.(?P<what>log|index|timeindex|txnindex|snapshot)(?:\.(?P<mark>deleted|cleaned|swap))?"
)
_SNAPSHOT: Final = re.compile(r"(?P<end>[0-9]{20})-(?P<epoch>[0-9]{10})\.checkpoint(?:\.(?P<mark>part|deleted))?")


class DirectoryState(StrEnum):
    """State of a partition directory, by its name."""

    CURRENT = "current"
    DELETE = "delete"  # marked, to be removed within file.delete.delay.ms
    FUTURE = "future"  # being moved to this disk (1.1+)
    STRAY = "stray"  # not assigned to this broker (3.6+)


class Directory(NamedTuple):
    """A partition directory.

    Attributes:
        topic: its topic.
        partition: its partition.
        state: current, delete, future or stray.
        topic_cut: the topic may have lost its end, because a marked name holds 255 characters at most.
    """

    topic: str
    partition: int
    state: DirectoryState
    topic_cut: bool = False


class SegmentFile(NamedTuple):
    """A file that belongs to one segment.

    Attributes:
        base_offset: offset in the name; for ``snapshot`` the end offset of the producer state in it.
        what: log, index, timeindex, txnindex or snapshot.
        mark: deleted (to be removed), cleaned (compaction was writing it), swap (to replace others), or empty.
    """

    base_offset: int
    what: str
    mark: str


class MetadataSnapshot(NamedTuple):
    """A snapshot of the metadata log.

    Attributes:
        end_offset: the state holds every record below this offset.
        epoch: controller epoch of the last of them.
        mark: part (being written), deleted (to be removed), or empty.
    """

    end_offset: int
    epoch: int
    mark: str


@functools.lru_cache(maxsize=1024)
def split_directory(name: str) -> Directory | None:
    """Topic, partition and state of a partition directory, or None for a name of another kind.

    Cached, as are segment files: each reader that may take a file asks about the same two names.

    Example:
        >>> split_directory("a-b.c-12")
        Directory(topic='a-b.c', partition=12, state=<DirectoryState.CURRENT: 'current'>, topic_cut=False)
    """
    found = _CURRENT.fullmatch(name)
    state = DirectoryState.CURRENT
    if found is None:
        found = _MARKED.fullmatch(name)
        if found is None:
            return None
        state = DirectoryState(found["state"])
    partition = int(found["partition"])
    if partition >= 2**31:
        return None
    cut = state in (DirectoryState.DELETE, DirectoryState.STRAY) and len(name) >= _NAME_MAX
    return Directory(found["topic"], partition, state, cut)


@functools.lru_cache(maxsize=1024)
def split_segment_file(name: str) -> SegmentFile | None:
    """Base offset and sort of a segment's file, or None for a name of another kind.

    Example:
        >>> split_segment_file("00000000000000000042.log")
        SegmentFile(base_offset=42, what='log', mark='')
    """
    found = _SEGMENT.fullmatch(name)
    if found is None or int(found["base"]) >= _MOST_OFFSET:
        return None
    return SegmentFile(int(found["base"]), found["what"], found["mark"] or "")


def split_metadata_snapshot(name: str) -> MetadataSnapshot | None:
    """End offset and epoch of a snapshot of the metadata log, or None for a name of another kind.

    Example:
        >>> split_metadata_snapshot("00000000000000000071-0000000003.checkpoint")
        MetadataSnapshot(end_offset=71, epoch=3, mark='')
    """
    found = _SNAPSHOT.fullmatch(name)
    if found is None or int(found["end"]) >= _MOST_OFFSET or int(found["epoch"]) >= 2**31:
        return None
    return MetadataSnapshot(int(found["end"]), int(found["epoch"]), found["mark"] or "")
