"""One file in, its rows out, whatever its format.

Which reader takes a file is decided by one ordered table: the first whose test of name and first bytes holds. A reader
that finds another format inside passes the file on; what nobody takes is listed as unknown, never dropped.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import polars as pl

from parsers import extract, frames, lines
from parsers.errors import NotThisFormat
from parsers.formats.clean_shutdown import read_clean_shutdown
from parsers.formats.epoch_checkpoint import read_epoch_checkpoint
from parsers.formats.log_directory import split_directory, split_segment_file
from parsers.formats.meta_properties import read_meta_properties
from parsers.formats.offset_checkpoint import FILES as CHECKPOINT_FILES
from parsers.formats.offset_checkpoint import read_offset_checkpoint
from parsers.formats.partition_metadata import read_partition_metadata
from parsers.formats.quorum_state import read_quorum_state
from parsers.formats.segment import read_segment
from parsers.formats.server_properties import read_server_properties
from parsers.reading import Reading
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, empty
from parsers.sources import Source

UNKNOWN = "unknown"
IRRELEVANT = "irrelevant"
UNREADABLE = "unreadable"


@dataclass(slots=True)
class FileReading:
    """What one file says, and how much of it was understood.

    Attributes:
        format: name of the format, or ``unknown``, ``irrelevant``, ``unreadable``.
        observations: schema ``OBSERVATIONS``.
        batches: schema ``BATCHES``; for segments.
        notices: schema ``NOTICES``.
        properties: settings of a properties file.
        topic, partition, directory_state: what the directory's name says, for files of a partition.
        lines, events, relevant, understood: of a text log: physical lines, events, events that may speak of
            replication, and those of them that fitted a known wording.
        first_time, last_time: of its events, as printed, microseconds since 1970.
        log_end: next offset after the last sound batch of a segment.
        magic: highest message format in a segment.
        frame: layout of a text log.
    """

    format: str
    observations: pl.DataFrame = field(default_factory=lambda: empty(OBSERVATIONS))
    batches: pl.DataFrame = field(default_factory=lambda: empty(BATCHES))
    notices: pl.DataFrame = field(default_factory=lambda: empty(NOTICES))
    properties: dict[str, str] = field(default_factory=dict)
    topic: str | None = None
    partition: int | None = None
    directory_state: str | None = None
    lines: int = 0
    events: int = 0
    relevant: int = 0
    understood: int = 0
    first_time: int | None = None
    last_time: int | None = None
    base_offset: int | None = None
    log_end: int | None = None
    valid_bytes: int | None = None
    magic: int | None = None
    frame: str | None = None


@dataclass(frozen=True, slots=True)
class Taker:
    """One row of the table of readers.

    Attributes:
        format: name shown in ``sources``.
        what: what such a file is, in a few words.
        claims: whether name and first bytes may be of the format.
        read: reads it; raises ``NotThisFormat`` to pass it on.
    """

    format: str
    what: str
    claims: Callable[[Source, bytes], bool]
    read: Callable[[Source, bytes], FileReading]


def read(source: Source) -> FileReading:
    """Read one file; never raises for what is in it."""
    if source.problem:
        return FileReading(UNREADABLE, notices=note(source.problem))
    try:
        head = source.head()
        for taker in TAKERS:
            if taker.claims(source, head):
                with contextlib.suppress(NotThisFormat):
                    return taker.read(source, head)
    except OSError as error:
        return FileReading(UNREADABLE, notices=note(f"cannot be read: {error.strerror or error}"))
    return FileReading(UNKNOWN, notices=_stranger(source, head))


def note(reason: str, excerpt: str = "", line: int | None = None) -> pl.DataFrame:
    """A table of one notice."""
    row = {"reason": [reason], "excerpt": [excerpt], "line": [line], "byte": [None]}
    return pl.DataFrame(row, schema=NOTICES)


def _stranger(source: Source, head: bytes) -> pl.DataFrame:
    if source.name.endswith((".log", "-checkpoint")) or ".log." in source.name:
        # Named as evidence, but nothing in it is: the user must hear of it.
        return note("named like a broker's file, but nothing in it was recognised", repr(head[:60]))
    return empty(NOTICES)


def _named(*names: str) -> Callable[[Source, bytes], bool]:
    return lambda source, _head: source.name in names


def _content(source: Source) -> bytes:
    with source.open() as stream:
        return stream.read()


def _empty_or_small(source: Source, _head: bytes) -> bool:
    return source.size == 0


# -- data directories ---------------------------------------------------------------------------------------------------


def _is_segment(source: Source, _head: bytes) -> bool:
    file = split_segment_file(source.name)
    return file is not None and file.what == "log" and not file.mark


def _segment(source: Source, _head: bytes) -> FileReading:
    file = split_segment_file(source.name)
    assert file is not None
    with source.open() as stream, contextlib.ExitStack() as stack:
        data: bytes | mmap.mmap
        try:
            data = stack.enter_context(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) if source.size else b""
        except (OSError, ValueError):
            data = stream.read()  # members of archives have no file of their own
        scan = read_segment(data, base_offset=file.base_offset)
    reading = FileReading("segment", batches=scan.batches, notices=scan.notices)
    reading.base_offset = file.base_offset
    reading.log_end = scan.log_end_offset
    reading.valid_bytes = scan.valid_bytes
    reading.magic = max(scan.magic) if scan.magic else None
    return _placed(reading, source)


def _placed(reading: FileReading, source: Source) -> FileReading:
    directory = split_directory(source.parent)
    if directory is not None:
        reading.topic, reading.partition = directory.topic, directory.partition
        reading.directory_state = directory.state.value
    return reading


def _small(format_name: str, found: Reading) -> FileReading:
    return FileReading(format_name, observations=found.observations, notices=found.notices)


def _offset_checkpoint(source: Source, _head: bytes) -> FileReading:
    if source.size == 0:
        return FileReading("offset-checkpoint")
    return _small("offset-checkpoint", read_offset_checkpoint(_content(source), source.name))


def _epoch_checkpoint(source: Source, _head: bytes) -> FileReading:
    directory = split_directory(source.parent)
    if directory is None:
        raise NotThisFormat("not in a partition's directory")
    if source.size == 0:
        return _placed(FileReading("epoch-checkpoint"), source)
    found = read_epoch_checkpoint(_content(source), directory.topic, directory.partition)
    return _placed(_small("epoch-checkpoint", found), source)


def _partition_metadata(source: Source, _head: bytes) -> FileReading:
    directory = split_directory(source.parent)
    if directory is None:
        raise NotThisFormat("not in a partition's directory")
    found = read_partition_metadata(_content(source), directory.topic, directory.partition)
    return _placed(_small("partition-metadata", found), source)


def _meta_properties(source: Source, _head: bytes) -> FileReading:
    meta = read_meta_properties(_content(source))
    return FileReading("meta-properties", notices=meta.notices, properties=dict(meta.values))


def _server_properties(source: Source, _head: bytes) -> FileReading:
    found = read_server_properties(_content(source))
    kept = {key: value for key, value in found.values.items() if key in extract.CONFIG_KEYS}
    return FileReading("server-properties", notices=found.notices, properties=kept)


def _clean_shutdown(source: Source, _head: bytes) -> FileReading:
    return FileReading("clean-shutdown", notices=read_clean_shutdown(_content(source)).notices)


def _quorum_state(source: Source, _head: bytes) -> FileReading:
    return FileReading("quorum-state", notices=read_quorum_state(_content(source)).notices)


def _irrelevant(source: Source, _head: bytes) -> bool:
    file = split_segment_file(source.name)
    if file is not None and (file.what != "log" or file.mark):
        return True
    return source.name == ".lock"


# -- text ---------------------------------------------------------------------------------------------------------------


def _is_text(_source: Source, head: bytes) -> bool:
    sample = lines.sample(head)
    return sample is not None and frames.choose(sample) is not None


def _text_log(source: Source, _head: bytes) -> FileReading:
    reading = FileReading("broker-log")
    observations: list[pl.DataFrame] = []
    notices: list[pl.DataFrame] = []
    inside = False
    frame: frames.Frame | None = None
    with source.open() as stream:
        for block in lines.blocks(stream):
            if frame is None:
                frame = frames.choose(block.lines)
                if frame is None:
                    raise NotThisFormat("no line begins as a broker's log does")
                reading.frame = frame.name
            found = extract.extract(block, frame, inside_config=inside)
            inside = found.inside_config
            observations.append(found.observations)
            notices.append(found.notices)
            reading.lines += block.lines.len()
            reading.events += found.events
            reading.relevant += found.relevant
            reading.understood += found.understood
            reading.first_time = found.first_time if reading.first_time is None else reading.first_time
            reading.last_time = found.last_time if found.last_time is not None else reading.last_time
    if observations:
        reading.observations = pl.concat(observations)
        reading.notices = pl.concat(notices)
    return reading


TAKERS: tuple[Taker, ...] = (
    # Names that a broker alone gives come first, in no particular order; text is told by its first lines.
    Taker("segment", "record batches of one partition", _is_segment, _segment),
    Taker("offset-checkpoint", "offsets of all replicas in a directory", _named(*CHECKPOINT_FILES), _offset_checkpoint),
    Taker("epoch-checkpoint", "leader epochs of one replica", _named("leader-epoch-checkpoint"), _epoch_checkpoint),
    Taker("partition-metadata", "topic id of one replica", _named("partition.metadata"), _partition_metadata),
    Taker("meta-properties", "whose directory it is", _named("meta.properties"), _meta_properties),
    Taker("clean-shutdown", "the broker stopped cleanly", _named(".kafka_cleanshutdown"), _clean_shutdown),
    Taker("quorum-state", "the metadata quorum's vote", _named("quorum-state"), _quorum_state),
    Taker(
        "server-properties",
        "configuration of a broker",
        lambda source, _head: source.name.endswith(".properties") and not source.name.startswith(("log4j", "tools-")),
        _server_properties,
    ),
    Taker(IRRELEVANT, "indexes, locks and files being removed", _irrelevant, lambda s, h: FileReading(IRRELEVANT)),
    Taker("broker-log", "a broker's log4j output", _is_text, _text_log),
)
"""Readers in the order in which they are asked."""


def printed(time: int | None) -> str | None:
    """A time as printed in a log (microseconds since 1970, no zone) as ISO text."""
    if time is None:
        return None
    return datetime.fromtimestamp(time / 1e6, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
