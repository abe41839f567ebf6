"""One file in, its rows out, whatever its format.

One ordered table decides which reader takes a file: the first whose test of name and first bytes succeeds. A reader
that finds another format inside passes the file on. A file that no reader takes is listed as unknown, never dropped.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import BinaryIO

import polars as pl

from parsers import limits
from parsers.admission import admitted
from parsers.containment import Defect, contained, each
from parsers.errors import NotThisFormat
from parsers.excerpts.pieces import MARKED, is_piece
from parsers.file_reading import FileReading, Taker, note
from parsers.files.sources import Source
from parsers.files.streams import problem_of
from parsers.formats.log_directory import DELETED_SEGMENT, split_segment_file
from parsers.formats.offset_checkpoint import FILES as CHECKPOINT_FILES
from parsers.formats.trace_jsonl import is_reprinted
from parsers.plugins import Group, Table
from parsers.schema import NOTICES, empty
from parsers.takers import added_formats, data_files, log_files, metadata_files
from parsers.takers.data_files import named
from parsers.takers.pointer_files import POINTER, is_pointer, pointer
from parsers.text import broker_log
from parsers.unread import TARS, why_unread
from parsers.walk import in_reading_order

__all__ = [
    "ARCHIVE",
    "EVENT",
    "FAILED",
    "GC_LOG",
    "IRRELEVANT",
    "NOT_READ",
    "TAKERS",
    "UNKNOWN",
    "UNREADABLE",
    "FileReading",
    "Taker",
    "note",
    "of_plugins",
    "printed",
    "read",
]

_MOST_TOGETHER = 64
EVENT = re.compile(rb"(?m)^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8},[0-9]{3}\] [A-Z]+ ")
"""How most logs look; what has such a line need not be asked for its layout twice."""
_BYTES_TOGETHER = 4 << 20
_NO_LOGS = frozenset((*CHECKPOINT_FILES, "leader-epoch-checkpoint", "partition.metadata", "meta.properties"))

UNKNOWN = "unknown"
IRRELEVANT = "irrelevant"
GC_LOG = "gc-log"
UNREADABLE = "unreadable"
FAILED = "failed"
"""This program failed in reading it: a defect, which its notice names."""
NOT_READ = (UNREADABLE, FAILED)
"""Formats of files without any usable content."""
ARCHIVE = "archive"


def units(sources: Sequence[Source]) -> list[list[int]]:
    """Return positions of the sources in groups to be read together, in the order in which they are cheapest to read.

    Only a directory of the metadata log makes a group of several: its files continue each other.
    """
    groups: dict[str | int, list[int]] = {}
    for number in in_reading_order(sources):
        source = sources[number]
        key = source.folder if metadata_files.belongs(source) else number
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def with_neighbours(sources: Sequence[Source], units: Sequence[Sequence[int]]) -> list[list[int]]:
    """The groups, short files that may be logs joined with those next to them: read together they cost far less.

    In a compressed archive, which is read forwards, a file of another kind ends a group; elsewhere it does not.
    """
    joined: list[list[int]] = []
    near: list[int] = []
    size = 0
    for unit in units:
        first = sources[unit[0]]
        if len(unit) > 1 or not _may_be_short_log(first):
            joined.append(list(unit))
            if first.archive:
                near = []
            continue
        if near and (
            len(near) == _MOST_TOGETHER
            or size + first.size > _BYTES_TOGETHER
            or sources[near[0]].archive != first.archive
        ):
            near = []
        if not near:
            joined.append(near)
            size = 0
        near.append(unit[0])
        size += first.size
    return joined


def _may_be_short_log(source: Source) -> bool:
    return (
        0 < source.size <= broker_log.SHORT
        and not (source.problem or source.container or metadata_files.belongs(source))
        and split_segment_file(source.name) is None
        and source.name not in _NO_LOGS
    )


def read_unit(sources: Sequence[Source]) -> list[FileReading]:
    """Read the files of one group; never raises for what is in them.

    Where the program fails in reading several together, each is read by itself.
    """
    found = contained(lambda: _unit(sources))
    if not isinstance(found, Defect):
        return found
    if len(sources) == 1:
        return [failed(found)]
    return [reading for source in sources for reading in read_unit([source])]


def handed_over(reading: FileReading) -> FileReading:
    """The reading as others may see it: its tables satisfy their schemas."""
    return admitted(reading)


def failed(defect: Defect) -> FileReading:
    """Return the reading of a file on which the program failed."""
    return FileReading(FAILED, notices=note(f"not read: {defect}"))


def _unit(sources: Sequence[Source]) -> list[FileReading]:
    if metadata_files.belongs(sources[0]):
        watches = [_Watch(source) for source in sources]
        readings = metadata_files.directory([watch.source for watch in watches])
        return [watch.told(reading) for watch, reading in zip(watches, readings, strict=True)]
    return _together(sources) if len(sources) > 1 else [read(source) for source in sources]


def _together(sources: Sequence[Source]) -> list[FileReading]:
    """Read files, those that are short logs at once."""
    watches = [_Watch(source) for source in sources]
    logs: list[int] = []
    with contextlib.suppress(OSError):  # then each by itself, to report which one
        for number, watch in enumerate(watches):
            head = b"" if sources[number].problem else watch.source.head()
            others = any(taker.claims(watch.source, head) for taker in TAKERS[:-1])
            if not others and (EVENT.search(head) or TAKERS[-1].claims(watch.source, head)):
                logs.append(number)
        read_at_once = broker_log.together([watches[number].source for number in logs])
        found = dict(zip(logs, read_at_once, strict=True))
        return [
            watches[number].told(reading) if (reading := found.get(number)) is not None else read(source)
            for number, source in enumerate(sources)
        ]
    return [read(source) for source in sources]


def read(source: Source) -> FileReading:
    """Read one file by itself; never raises for what is in it."""
    found = contained(lambda: _read(source))
    return failed(found) if isinstance(found, Defect) else found


def _read(source: Source) -> FileReading:
    if source.problem:
        return FileReading(UNREADABLE, notices=note(source.problem, *source.notes))
    if source.container:
        return FileReading(ARCHIVE, notices=note(*source.notes))
    watch = _Watch(source)
    return watch.told(_taken(watch.source))


def read_parts(source: Source) -> Iterator[FileReading]:
    """Read one file by itself, a large log in parts that follow each other; never raises for what is in it.

    A part of a format in ``NOT_READ`` ends a file that could not be read to its end: nothing before it counts.
    """
    for part in each(_read_parts(source)):
        yield failed(part) if isinstance(part, Defect) else part


def _read_parts(source: Source) -> Iterator[FileReading]:
    if source.problem or source.container:
        yield _read(source)
        return
    watch = _Watch(source)
    before: FileReading | None = None
    for part in _parts(watch.source):
        if before is not None:
            yield handed_over(before)
        before = part
    if before is not None:
        yield watch.told(before)


def _parts(source: Source) -> Iterator[FileReading]:
    try:
        head = source.head()
        for taker in TAKERS:
            if not taker.claims(source, head):
                continue
            with contextlib.suppress(NotThisFormat):
                if taker.format == broker_log.NAME:
                    yield from broker_log.parts(source)
                else:
                    yield taker.read(source, head)
                return
    except OSError as error:
        yield FileReading(UNREADABLE, notices=note(f"cannot be read: {error.strerror or error}"))
        return
    yield FileReading(UNKNOWN, notices=_stranger(source, head))


class _Watch:
    """Keeps the streams through which a file is read, because a truncation shows only while reading."""

    def __init__(self, source: Source) -> None:
        self._streams: list[BinaryIO] = []
        self._source = source

    @property
    def source(self) -> Source:
        """Return the source as it is to be read. It is not kept: it refers to this object, which would not be freed."""
        return replace(self._source, open=self._opened)

    def _opened(self) -> BinaryIO:
        stream = self._source.open()
        self._streams.append(stream)
        return stream

    def told(self, reading: FileReading) -> FileReading:
        """Return the reading, with the problems of the streams, once."""
        cuts = dict.fromkeys(problem for stream in self._streams if (problem := problem_of(stream)))
        if cuts or self._source.notes:
            reading.notices = pl.concat([reading.notices, note(*self._source.notes, *cuts)])
            reading.log_end = None  # what is not there may be the end of the log
        if is_piece(self._source) and reading.frame is None:
            reading.frame = MARKED  # a file that somebody pasted beside the lines
        return handed_over(reading)


def _taken(source: Source) -> FileReading:
    try:
        head = source.head()
        for taker in TAKERS:
            if taker.claims(source, head):
                with contextlib.suppress(NotThisFormat):
                    return taker.read(source, head)
    except OSError as error:
        return FileReading(UNREADABLE, notices=note(f"cannot be read: {error.strerror or error}"))
    return FileReading(UNKNOWN, notices=_stranger(source, head))


_SPEAKS = "server.log"


def _piece(source: Source, _: bytes) -> FileReading:
    from parsers.excerpts.reading import piece  # compiles many patterns, which logs do not need

    return piece(source)


def _nothing_recognised(source: Source, head: bytes) -> str:
    why = "named like a broker's file, but nothing in it was recognised"
    if source.size <= limits.EXCERPT.value:
        return why
    said = f"{why}: if each line has a prefix, as in a quote, remove it, or split the text into files of {{}}"
    return limits.EXCERPT.told(said)


def _stranger(source: Source, head: bytes) -> pl.DataFrame:
    if why := why_unread(source.path if source.path.lower().endswith(TARS) else source.name, head):
        return note(why)
    if is_reprinted(head):
        jq = "jq -c '.[]'" if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") else "jq -c ."
        return note(
            f"a trace has one JSON object in each line, and this text has not: {jq} {source.name} > trace.jsonl"
        )
    if log_files.is_undated(head):
        why = "its lines print the time of day and no date, by which nothing can be ordered: not read"
        return note(f"{why}; put the date before each line, as in 2026-11-21 04:05:49,991")
    if source.name.endswith((".log", "-checkpoint")) or ".log." in source.name:
        # Named as evidence, but nothing in it is: the user must hear of it.
        if head:
            return note(_nothing_recognised(source, head), excerpt=repr(head[:60]))
        # In some of its logs, as that of requests, a broker writes nothing as a rule; in this it does as it starts.
        return note("a broker's file with nothing in it") if source.name.startswith(_SPEAKS) else empty(NOTICES)
    return empty(NOTICES)


BUILT_IN: tuple[Taker, ...] = (
    Taker(POINTER, "stands for a file that Git LFS or git-annex keeps elsewhere", is_pointer, pointer),
    Taker("trace", "a file of a broker, in a trace", log_files.is_file_of_trace, log_files.file_of_trace),
    Taker(
        "excerpt",
        "lines of logs as people paste them",
        lambda source, _head: is_piece(source),
        _piece,
    ),
    Taker(
        "metadata-log",
        "what the controllers of a KRaft cluster decided",
        lambda source, _head: metadata_files.belongs(source),
        lambda source, _head: metadata_files.directory([source])[0],
    ),
    Taker("dump-log", "a segment as kafka-dump-log prints it", log_files.is_dump, log_files.dump_log),
    # Names that only a broker uses come first, in no particular order; text is recognised by its first lines.
    Taker(
        "metadata-snapshot",
        "features a KRaft cluster began with",
        metadata_files.is_bootstrap,
        metadata_files.bootstrap,
    ),
    Taker("segment", "record batches of one partition", data_files.is_segment, data_files.segment),
    Taker(
        DELETED_SEGMENT,
        "record batches that a broker is about to remove",
        data_files.is_deleted_segment,
        data_files.deleted_segment,
    ),
    Taker(
        "offset-checkpoint",
        "offsets of all replicas in a directory",
        named(*CHECKPOINT_FILES),
        data_files.offset_checkpoint,
    ),
    Taker(
        "epoch-checkpoint",
        "leader epochs of one replica",
        named("leader-epoch-checkpoint"),
        data_files.epoch_checkpoint,
    ),
    Taker("partition-metadata", "topic id of one replica", named("partition.metadata"), data_files.partition_metadata),
    Taker("meta-properties", "whose directory it is", named("meta.properties"), data_files.meta_properties),
    Taker("clean-shutdown", "the broker stopped cleanly", named(".kafka_cleanshutdown"), data_files.clean_shutdown),
    Taker("quorum-state", "the metadata quorum's vote", named("quorum-state"), data_files.quorum_state),
    Taker(
        "producer-snapshot",
        "producers of one replica: which batch was the last of each",
        data_files.is_producer_snapshot,
        data_files.producer_snapshot,
    ),
    Taker("log4j-config", "which loggers were on", log_files.is_logging, log_files.logging),
    Taker(
        "server-properties",
        "configuration of a broker",
        data_files.is_server_properties,
        data_files.server_properties,
    ),
    Taker(
        IRRELEVANT,
        "indexes, locks, program files and files being removed",
        data_files.is_irrelevant,
        data_files.irrelevant,
    ),
    Taker(GC_LOG, "pauses of the JVM", log_files.is_gc_log, log_files.gc_log),
    Taker("trace", "observations, one a line", log_files.is_trace, log_files.trace),
    Taker("command-output", "output of Kafka's commands about partitions", log_files.is_output, log_files.output),
    Taker("metrics", "what exporters print about partitions and groups", log_files.is_metrics, log_files.metrics),
    Taker("metrics", "the same as Prometheus answers queries", log_files.is_answer, log_files.answer),
    Taker("zookeeper-nodes", "leader, ISR and epochs as ZooKeeper held them", log_files.is_nodes, log_files.nodes),
    Taker("quorum-describe", "output of kafka-metadata-quorum describe", log_files.is_quorum, log_files.quorum),
    Taker("log-dirs", "output of kafka-log-dirs --describe", log_files.is_log_dirs, log_files.log_dirs),
    Taker("broker-log", "a broker's log4j output", log_files.is_text, log_files.log),
)
"""Readers in the order in which they are asked."""

TAKERS: Table[Taker] = Table(
    BUILT_IN, Group.FORMATS, name=lambda one: one.format, admit=added_formats.admitted, behind=1
)
"""The same with the formats of plugins, which are asked before a file is read as a broker's log."""


def of_plugins() -> list[str]:
    """Return the formats of plugins. A file of one shows nothing about which files of a broker are there."""
    return [taker.format for taker in TAKERS.added]


def printed(time: int | None) -> str | None:
    """A time as printed in a log (microseconds since 1970, no zone) as ISO text."""
    if time is None:
        return None
    return datetime.fromtimestamp(time / 1e6, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
