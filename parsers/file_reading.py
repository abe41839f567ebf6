"""Contents of one file, and one row of the table that decides which reader reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from parsers.distances import Distances, together
from parsers.files.sources import Source
from parsers.formats.log_directory import split_directory
from parsers.reading import EXCERPT, Reading
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, empty

UTC = "UTC"


_NOTHING = (empty(OBSERVATIONS), empty(BATCHES), empty(NOTICES))  # frames do not change: all empty ones are the same


@dataclass(slots=True)
class FileReading:
    """Contents of one file, and how much of it was understood.

    Attributes:
        format: name of the format, or ``unknown``, ``irrelevant``, ``unreadable``, ``archive``, ``copy``.
        observations: schema ``OBSERVATIONS``.
        batches: schema ``BATCHES``; for segments.
        notices: schema ``NOTICES``.
        properties: settings of a properties file.
        topic, partition, directory_state: from the directory's name, for files of a partition.
        lines, events, relevant, understood: of a text log: physical lines, events, events that may be about
            replication, and those of them that fitted a known wording.
        first_time, last_time: of its events, as printed, microseconds since 1970.
        base_offset: offset in a segment's name.
        log_end: next offset after the last sound batch of a segment.
        valid_bytes: bytes before the first unsound place of a segment.
        magic: highest message format in a segment.
        frame: layout of a text log; several are joined by "; ".
        prose: of an excerpt: lines that are no log's.
        zone: zone of its times if the file itself states it; None if the user must.
        distances: differences between printed times and those that a collector added.
    """

    format: str
    observations: pl.DataFrame = field(default_factory=lambda: _NOTHING[0])
    batches: pl.DataFrame = field(default_factory=lambda: _NOTHING[1])
    notices: pl.DataFrame = field(default_factory=lambda: _NOTHING[2])
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
    prose: int = 0
    zone: str | None = None
    distances: Distances = field(default_factory=list)


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


def note(*reasons: str, excerpt: str = "", line: int | None = None) -> pl.DataFrame:
    """A table of notices, one a reason."""
    rows = [(None, reason, excerpt[:EXCERPT], line, None) for reason in reasons]
    return pl.DataFrame(rows, schema=NOTICES, orient="row")


def small(format_name: str, found: Reading) -> FileReading:
    """Return the result of a reader of small files."""
    return FileReading(format_name, observations=found.observations, notices=found.notices)


def placed(reading: FileReading, source: Source) -> FileReading:
    """Return the reading with the facts in the name of the file's directory."""
    directory = split_directory(source.parent)
    if directory is not None:
        reading.topic, reading.partition = directory.topic, directory.partition
        reading.directory_state = directory.state.value
    return reading


def joined(parts: Sequence[FileReading]) -> FileReading:
    """The parts of one text file, in their order, as one reading."""
    whole = parts[0]
    if len(parts) == 1:
        return whole
    whole = replace(whole)
    whole.observations = pl.concat([part.observations for part in parts])
    whole.batches = pl.concat([part.batches for part in parts])
    whole.notices = pl.concat([part.notices for part in parts])
    whole.distances = together(part.distances for part in parts)
    for part in parts[1:]:
        whole.lines += part.lines
        whole.events += part.events
        whole.relevant += part.relevant
        whole.understood += part.understood
        whole.first_time = part.first_time if whole.first_time is None else whole.first_time
        whole.last_time = part.last_time if part.last_time is not None else whole.last_time
        whole.zone = part.zone if part.zone is not None else whole.zone
    frames = dict.fromkeys(name for part in parts if part.frame for name in part.frame.split("; "))
    whole.frame = "; ".join(frames) or None
    return whole
