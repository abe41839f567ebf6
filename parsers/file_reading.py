"""Contents of one file, and one row of the table that decides which reader reads it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar, overload

import polars as pl

from parsers.distances import Distances, together
from parsers.files.sources import Source
from parsers.formats.log_directory import split_directory
from parsers.reading import EXCERPT, Reading
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, empty

UTC = "UTC"

_T = TypeVar("_T")


_NOTHING: Final = (empty(OBSERVATIONS), empty(BATCHES), empty(NOTICES))
"""Frames do not change, so all empty ones are the same: a table of its own takes 28 KB."""


class Packed(NamedTuple):
    """The rows of one file within a table of the rows of many.

    Attributes:
        table: of many files.
        first: row of this file's first one.
        height: number of its rows.
    """

    table: pl.DataFrame
    first: int
    height: int


class Rows:
    """The field ``observations``: a table, kept as it is or packed; read, it is always a table."""

    @overload
    def __get__(self, reading: None, owner: type) -> None: ...

    @overload
    def __get__(self, reading: FileReading, owner: type) -> pl.DataFrame: ...

    def __get__(self, reading: FileReading | None, owner: type) -> pl.DataFrame | None:
        """Return the table; of the class, the default."""
        if reading is None:
            return None
        kept = reading.__dict__["_kept"]
        return kept.table.slice(kept.first, kept.height) if isinstance(kept, Packed) else kept

    def __set__(self, reading: FileReading, value: pl.DataFrame | Packed | None) -> None:
        """Keep a table, or where it is packed; None stands for no rows."""
        reading.__dict__["_kept"] = _NOTHING[0] if value is None else value


@dataclass
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
        shuffled: of a text log: its lines are in no order that a process writes them in (``parsers.text.time_order``).
        roles_begun: of a broker's log: roles that it states before it first announces how many come.
        roles_due: of a broker's log: of the roles that it announces last, how many it does not state; None if it
            announces none.
        unread: of a trace: lines that could not be read, so that it does not state what it claims to.
        first_time, last_time: of its events, as printed, microseconds since 1970.
        base_offset: offset in a segment's name.
        log_end: next offset after the last sound batch of a segment; of a snapshot of the metadata log that is whole,
            the end offset in its name.
        valid_bytes: bytes before the first unsound place of a segment.
        magic: highest message format in a segment.
        frame: layout of a text log; several are joined by "; ".
        prose: of an excerpt: lines that are no log's.
        zone: zone of its times if the file itself states it; None if the user must.
        distances: differences between printed times and those that a collector added.
    """

    format: str
    observations: Rows = Rows()
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
    shuffled: bool = False
    roles_begun: int = 0
    roles_due: int | None = None
    unread: int = 0
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


class Packing:
    """Packs the observations of small files together: a table of a few rows takes 28 KB."""

    def __init__(self) -> None:
        self._waiting: list[FileReading] = []

    def add(self, reading: FileReading) -> None:
        """Pack a file's observations, at once or with those of files to come."""
        if 0 < reading.observations.height <= _SMALL:
            self._waiting.append(reading)
        if len(self._waiting) == _TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Pack what waits."""
        if len(self._waiting) > 1:
            tables = [reading.observations for reading in self._waiting]
            packed, first = _compact(pl.concat(tables)), 0
            for reading, table in zip(self._waiting, tables, strict=True):
                reading.observations = Packed(packed, first, table.height)
                first += table.height
        self._waiting = []


def _compact(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of its own memory: each small one has at least 8 KB for every column of text."""
    whole = io.BytesIO()
    table.rechunk().write_ipc(whole, compat_level=pl.CompatLevel.oldest())
    return pl.read_ipc(whole.getvalue())


_SMALL: Final = 64
_TOGETHER: Final = 512


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
        if directory.topic_cut:
            reading.notices = pl.concat([reading.notices, note(_TOPIC_CUT)])
    return reading


_TOPIC_CUT: Final = (
    "the name of its directory has 255 characters, the most that fit, so Kafka may have cut off the end of the topic"
)


def joined(parts: Sequence[FileReading]) -> FileReading:
    """Return the parts of one text file, in their order, as one reading."""
    if len(parts) == 1:
        return parts[0]
    whole = replace(parts[0])
    whole.observations = pl.concat([part.observations for part in parts])
    whole.batches = pl.concat([part.batches for part in parts])
    whole.notices = pl.concat([part.notices for part in parts])
    whole.distances = together(part.distances for part in parts)
    whole.lines = sum(part.lines for part in parts)
    whole.events = sum(part.events for part in parts)
    whole.relevant = sum(part.relevant for part in parts)
    whole.understood = sum(part.understood for part in parts)
    whole.unread = sum(part.unread for part in parts)
    whole.shuffled = any(part.shuffled for part in parts)
    whole.roles_begun, whole.roles_due = roles_due((part.roles_begun, part.roles_due) for part in parts)
    whole.first_time, whole.last_time = _times(parts)
    whole.zone = _first(part.zone for part in reversed(parts))
    whole.frame = _layouts(part.frame for part in parts)
    return whole


def roles_due(parts: Iterable[tuple[int, int | None]]) -> tuple[int, int | None]:
    """Return ``roles_begun`` and ``roles_due`` of the parts of one log, from those of each, in order."""
    begun, due = 0, None
    for shown, left in parts:
        if due is None:
            begun += shown
        due = left if left is not None else due if due is None else max(due - shown, 0)
    return begun, due


def _times(parts: Sequence[FileReading]) -> tuple[int | None, int | None]:
    """Return the times of the first and last event; of shuffled lines the earliest and latest."""
    first = [part.first_time for part in parts if part.first_time is not None]
    last = [part.last_time for part in parts if part.last_time is not None]
    if any(part.shuffled for part in parts):
        return min(first, default=None), max(last, default=None)
    return next(iter(first), None), next(reversed(last), None)


def whole_span(reading: FileReading) -> tuple[int | None, int | None]:
    """Return the earliest and the latest time of a text whose lines are in no order of time."""
    time = reading.observations.get_column("time").cast(pl.Int64)
    stated = (reading.first_time, reading.last_time, time.min(), time.max())
    ends = [moment for moment in stated if isinstance(moment, int)]
    return min(ends, default=None), max(ends, default=None)


def _layouts(named: Iterable[str | None]) -> str | None:
    """Return the layouts of all parts, each once."""
    each = dict.fromkeys(name for names in named if names for name in names.split("; "))
    return "; ".join(each) or None


def _first(values: Iterable[_T | None]) -> _T | None:
    """Return the first value that is not None; None if there is none."""
    return next((value for value in values if value is not None), None)
