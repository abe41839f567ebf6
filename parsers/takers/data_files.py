"""Takers for the files of a data directory: segments, checkpoints, properties."""

from __future__ import annotations

import contextlib
import errno
import re
import threading
from collections.abc import Callable, Iterator

import polars as pl

from parsers import limits
from parsers.errors import NotThisFormat
from parsers.file_reading import UTC, FileReading, note, placed, small
from parsers.files.sources import Source
from parsers.formats.clean_shutdown import read_clean_shutdown
from parsers.formats.consumer_offsets import TOPIC as CONSUMER_OFFSETS
from parsers.formats.consumer_offsets import read_positions
from parsers.formats.epoch_checkpoint import read_epoch_checkpoint
from parsers.formats.log_directory import (
    DELETED_SEGMENT,
    DELETED_SEGMENTS,
    METADATA_TOPIC,
    split_directory,
    split_segment_file,
)
from parsers.formats.meta_properties import NAME as META_PROPERTIES
from parsers.formats.meta_properties import WRITTEN, read_meta_properties
from parsers.formats.offset_checkpoint import read_offset_checkpoint
from parsers.formats.partition_metadata import read_partition_metadata
from parsers.formats.producer_snapshot import read_producer_snapshot, statements
from parsers.formats.quorum_state import read_quorum_state
from parsers.formats.segment import read_segment
from parsers.formats.server_properties import read_server_properties
from parsers.text import extract

_FEW_AT_ONCE = 64 << 20
_large_in_memory = threading.Lock()


def named(*names: str) -> Callable[[Source, bytes], bool]:
    """Claims files of these names."""
    return lambda source, _head: source.name in names


def content(source: Source) -> bytes:
    """All of a small file.

    Raises:
        OSError: it is far larger than such a file can be.
    """
    with source.open() as stream:
        data = stream.read(limits.WHOLE.value + 1)
    if len(data) > limits.WHOLE.value:
        raise OSError(errno.EFBIG, limits.WHOLE.told("larger than {}"))
    return data


@contextlib.contextmanager
def segment_bytes(source: Source) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes of a segment in memory, one large segment at a time, and whether there are more of them.

    The file is read, never mapped: the directory may be a live broker's. Touching a page of a mapped file that was
    truncated in the meantime ends the process.
    """
    with contextlib.ExitStack() as stack:
        if source.size > _FEW_AT_ONCE or source.stored:
            stack.enter_context(_large_in_memory)
        with source.open() as stream:
            data = stream.read(limits.METADATA.value)
            longer = len(data) == limits.METADATA.value and bool(stream.read(1))
        yield data, longer


def is_segment(source: Source, _head: bytes) -> bool:
    """Named as a segment that is in use."""
    file = split_segment_file(source.name)
    return file is not None and file.what == "log" and not file.mark


def segment(source: Source, _head: bytes) -> FileReading:
    """Headers of the record batches."""
    file = split_segment_file(source.name)
    assert file is not None
    with source.open() as stream:
        scan = read_segment(stream, base_offset=file.base_offset)
    reading = FileReading("segment", batches=scan.placed(), notices=scan.notices)
    if (directory := split_directory(source.parent)) is not None and directory.topic == CONSUMER_OFFSETS:
        _add_positions(reading, source, scan.batches.filter(scan.sound))
    reading.base_offset = file.base_offset
    reading.log_end = scan.log_end_offset
    reading.valid_bytes = scan.valid_bytes
    reading.magic = max(scan.magic) if scan.magic else None
    return placed(reading, source)


def is_deleted_segment(source: Source, _head: bytes) -> bool:
    """Named as a segment that its broker is about to remove, of a partition that is not the metadata log's."""
    file, directory = split_segment_file(source.name), split_directory(source.parent)
    is_marked = file is not None and file.what == "log" and file.mark == "deleted"
    return is_marked and directory is not None and directory.topic != METADATA_TOPIC


def deleted_segment(source: Source, _head: bytes) -> FileReading:
    """Headers of record batches that are no part of a log any more: they show nothing of what it holds now."""
    file = split_segment_file(source.name)
    assert file is not None
    with source.open() as stream:
        scan = read_segment(stream, base_offset=file.base_offset)
    reading = placed(FileReading(DELETED_SEGMENT, batches=scan.placed(), notices=scan.notices), source)
    reading.directory_state = DELETED_SEGMENTS
    reading.base_offset, reading.log_end, reading.valid_bytes = file.base_offset, scan.log_end_offset, scan.valid_bytes
    reading.magic = max(scan.magic) if scan.magic else None
    return reading


def _add_positions(reading: FileReading, source: Source, batches: pl.DataFrame) -> None:
    """Add the positions of consumer groups, which Kafka itself writes, to what a segment holds."""
    with source.open() as stream:
        found = read_positions(stream, batches)
    reading.observations = found.observations
    reading.notices = pl.concat([reading.notices, found.notices])
    reading.zone = UTC


def offset_checkpoint(source: Source, head: bytes) -> FileReading:
    """Offsets of all replicas in a log directory."""
    if not head:
        return FileReading("offset-checkpoint")
    return small("offset-checkpoint", read_offset_checkpoint(content(source), source.name))


def epoch_checkpoint(source: Source, head: bytes) -> FileReading:
    """Leader epochs of one replica."""
    directory = split_directory(source.parent)
    if directory is None:
        raise NotThisFormat("not in a partition's directory")
    if not head:
        return placed(FileReading("epoch-checkpoint"), source)
    found = read_epoch_checkpoint(content(source), directory.topic, directory.partition)
    return placed(small("epoch-checkpoint", found), source)


def partition_metadata(source: Source, _head: bytes) -> FileReading:
    """Topic id of one replica."""
    directory = split_directory(source.parent)
    if directory is None:
        raise NotThisFormat("not in a partition's directory")
    found = read_partition_metadata(content(source), directory.topic, directory.partition)
    return placed(small("partition-metadata", found), source)


def meta_properties(source: Source, _head: bytes) -> FileReading:
    """Read the identity of a log directory."""
    meta = read_meta_properties(content(source))
    # A broker id that none can be is noted there, and is not handed on.
    values = {k: v for k, v in meta.values.items() if meta.broker_id is not None or k not in ("broker.id", "node.id")}
    said = values if meta.written is None else {**values, WRITTEN: meta.written}
    return FileReading(META_PROPERTIES, notices=meta.notices, properties=said)


_SETTINGS = re.compile(rb"(?m)^(?:broker\.id|node\.id|process\.roles|log\.dirs)[ \t]*[=:]")


def is_server_properties(source: Source, head: bytes) -> bool:
    """By name; a ``.cfg`` or ``.conf`` by what it sets."""
    return source.name.endswith(".properties") or (
        source.name.endswith((".cfg", ".conf")) and _SETTINGS.search(head) is not None
    )


def server_properties(source: Source, _head: bytes) -> FileReading:
    """Configuration of a broker."""
    found = read_server_properties(content(source))
    kept = {key: value for key, value in found.values.items() if key in extract.CONFIG_KEYS}
    return FileReading("server-properties", notices=found.notices, properties=kept)


def clean_shutdown(source: Source, _head: bytes) -> FileReading:
    """Left by a broker that stopped cleanly."""
    return FileReading("clean-shutdown", notices=read_clean_shutdown(content(source)).notices)


def quorum_state(source: Source, _head: bytes) -> FileReading:
    """The metadata quorum as a node last knew it."""
    state = read_quorum_state(content(source))
    said = {
        "leaderId": state.leader,
        "leaderEpoch": state.leader_epoch,
        "votedId": state.voted,
        "voters": ",".join(map(str, state.voters)) or None,
    }
    kept = {key: str(value) for key, value in said.items() if value is not None}
    return placed(FileReading("quorum-state", notices=state.notices, properties=kept), source)


def is_producer_snapshot(source: Source, _head: bytes) -> bool:
    """Named as the state of a partition's producers, in use."""
    file = split_segment_file(source.name)
    return file is not None and file.what == "snapshot" and not file.mark and split_directory(source.parent) is not None


def producer_snapshot(source: Source, _head: bytes) -> FileReading:
    """Idempotent and transactional producers of one replica."""
    file, directory = split_segment_file(source.name), split_directory(source.parent)
    assert file is not None
    assert directory is not None
    try:
        found = read_producer_snapshot(content(source))
    except NotThisFormat as error:
        return placed(FileReading("producer-snapshot", notices=note(f"cannot be read: {error}")), source)
    rows = statements(found.producers, directory.topic, directory.partition, file.base_offset)
    return placed(FileReading("producer-snapshot", observations=rows, notices=found.notices), source)


def is_irrelevant(source: Source, _head: bytes) -> bool:
    """Indexes, locks, files being removed, program files."""
    file = split_segment_file(source.name)
    if file is not None and (file.what != "log" or file.mark):
        return True
    return source.name == ".lock" or source.name.endswith((".jar", ".war", ".class", ".so", ".pyc"))


def irrelevant(source: Source, _head: bytes) -> FileReading:
    """Nothing is read. An index that is in use shows by its name that there is, or was, a segment."""
    file = split_segment_file(source.name)
    reading = FileReading("irrelevant")
    return placed(reading, source) if file is not None and not file.mark else reading
