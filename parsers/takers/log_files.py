"""Takers for text: what brokers log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

import polars as pl

from parsers.file_reading import UTC, FileReading, joined, note, small, whole_span
from parsers.files.sources import HEAD_BYTES, Source
from parsers.formats import (
    command_output,
    dump_log_text,
    log4j_config,
    log_dirs_json,
    metadata_dump,
    metadata_log,
    metrics_json,
    metrics_text,
    producer_snapshot,
    quorum_describe,
    trace_jsonl,
    zookeeper_nodes,
)
from parsers.formats.log_directory import DELETED_SEGMENTS, split_directory
from parsers.formats.trace_checks import BACKWARDS
from parsers.reading import Reading
from parsers.takers import trace_files, trace_order
from parsers.takers.data_files import content
from parsers.takers.metadata_files import TOPIC as METADATA
from parsers.text import broker_log, lines, wrappings

_LONG_HEAD: Final = 256 << 10
_TIMED: Final = re.compile(rb"[0-9]{2}:[0-9]{2}:[0-9]{2}|[0-9]{10}|[0-9]{8}T[0-9]{6}")
"""Part of a time that every layout has; searched first, because most small files have none."""


def is_text(source: Source, head: bytes) -> bool:
    """Return whether a file begins with lines of a known layout, or with continuation lines of an earlier event."""
    if len(head) < HEAD_BYTES and _TIMED.search(head) is None:
        return False
    sample = lines.sample(head)
    if sample is not None and wrappings.readable(sample):
        return True
    if (sample is None or b"\0" in head) and head.strip(b"\0"):
        return False
    if len(head) < HEAD_BYTES:
        return False
    with source.open() as stream:
        sample = lines.sample(stream.read(_LONG_HEAD))
    return sample is not None and wrappings.readable(sample)


def is_log(source: Source, head: bytes) -> bool:
    """Return whether a file is known by its content alone: a log by its times, a trace by what it states.

    A file of a broker in a trace is neither: checkpoints of two brokers are often equal.
    """
    if trace_jsonl.is_trace(head):
        return not trace_files.begins_file(head)
    return is_text(source, head)


def opening(head: bytes) -> bytes:
    """Return the first bytes of a text to the end of the line with its first time, which hardly any other text begins
    with. Of a trace these are its first two lines, as it may have no times. Nothing where they are no text.
    """
    if b"\0" in head:
        return b""
    if trace_jsonl.is_trace(head):
        return b"".join(head.splitlines(keepends=True)[:2])
    timed = _TIMED.search(head)
    end = head.find(b"\n", timed.end()) if timed is not None else -1
    return head[: end + 1] if end >= 0 else head


def is_undated(head: bytes) -> bool:
    """Begins with lines of a layout that prints no date."""
    if b"\0" in head or _TIMED.search(head) is None:
        return False
    sample = lines.sample(head)
    return sample is not None and wrappings.undated(sample)


def log(source: Source, _head: bytes) -> FileReading:
    """A broker's log."""
    return joined(list(broker_log.parts(source)))


_GC_NAME: Final = re.compile(r"(?:^|[^A-Za-z])gc(?:[-_.][A-Za-z0-9_-]*)?\.log(?:$|\.)", re.IGNORECASE)
_GC_LINE: Final = re.compile(
    rb"(?m)^(?:(?:\[[^\]\n]*\])*\[(?:gc|safepoint)[a-z0-9,+]* *\]|(?:OpenJDK|Java HotSpot).*? VM |CommandLine flags: |"
    rb"(?:[0-9T:.+-]+: )?[0-9]+[.,][0-9]{3}: (?:\[|Total time |Application time)|Heap *$|"
    rb" *(?:par new generation|PSYoungGen|def new generation|garbage-first heap) )"
)
"""Lines of unified logging (``-Xlog:gc*``, Java 9 and newer), and of ``-Xloggc`` before; and the heap at the end."""


def is_gc_log(source: Source, head: bytes) -> bool:
    """Named as what kafka-run-class.sh has the JVM write of its garbage collection; begins as such, or is empty."""
    return _GC_NAME.search(source.name) is not None and (not head or _GC_LINE.search(head) is not None)


def gc_log(_source: Source, _head: bytes) -> FileReading:
    """Nothing is read: pauses of a broker show in what others print of it."""
    return FileReading("gc-log")


def is_dump(_source: Source, head: bytes) -> bool:
    """Printed by ``kafka-dump-log``."""
    return dump_log_text.HEAD.search(head) is not None and b"\0" not in head


def dump_log(source: Source, _head: bytes) -> FileReading:
    """Batch headers as ``kafka-dump-log`` printed them."""
    with source.open() as stream:
        blocks = list(lines.blocks(stream))
    parts = [(block.lines, block.notices) for block in blocks]
    cut = bool(blocks) and blocks[-1].unended and not dump_log_text.WHOLE.search(blocks[-1].lines[-1])
    if cut:
        # Its last numbers may lack digits.
        parts[-1] = (blocks[-1].lines.head(-1), blocks[-1].notices)
    printed = pl.concat([part for part, _ in parts])
    found = dump_log_text.read_dump_log(printed)
    file = found.file
    if file is not None and file.what == "snapshot" and not file.mark:
        return _dumped_snapshot(found.path, file.base_offset, parts)
    name = found.path.rpartition("/")[2]
    if name and (file is None or file.what != "log" or file.mark not in ("", "deleted")):
        return _no_segment(name, printed.len(), known=file is not None)
    reading = _dumped_batches(found, parts)
    if cut:
        reading.log_end = None
        _remark(reading, "the dump ends within a line: it may be incomplete, and does not show where the log ends")
    directory = split_directory(PurePosixPath(found.path).parent.name)
    if directory is None:
        _remark(reading, 'the dump does not name its partition: keep the line "Dumping ..." with it')
        return reading
    reading.topic, reading.partition = directory.topic, directory.partition
    reading.directory_state = directory.state.value
    if file is not None and file.mark:
        reading.directory_state = DELETED_SEGMENTS
    elif directory.topic == METADATA:
        _decoded(reading, printed, found)
    else:
        reading.observations = found.not_valid(directory.topic, directory.partition)
    return reading


def _no_segment(name: str, lines_read: int, *, known: bool) -> FileReading:
    """Return the reading of a dump that is not used: of an index, or of a file whose kind is not known."""
    if known:
        return FileReading("irrelevant", lines=lines_read)
    why = f"the dump of {name} is not read, only those of segments: give the file itself"
    return FileReading("dump-log", lines=lines_read, notices=note(why))


def _dumped_batches(found: dump_log_text.Dump, parts: Sequence[tuple[pl.Series, pl.DataFrame]]) -> FileReading:
    """Return the batches of a dumped segment, with the notices of its lines and the offsets in its name.

    Args:
        found: the dump.
        parts: its lines, with their notices.
    """
    reading = FileReading("dump-log", batches=found.batches)
    reading.notices = pl.concat([*[notices for _, notices in parts], found.notices])
    reading.lines = reading.events = reading.relevant = sum(part.len() for part, _ in parts)
    reading.understood = reading.relevant - reading.notices.height
    reading.base_offset = found.file.base_offset if found.file is not None else None
    reading.log_end = found.log_end if found.log_end is not None else reading.base_offset
    magic = found.batches.get_column("magic").max()
    reading.magic = magic if isinstance(magic, int) else None
    return reading


def _remark(reading: FileReading, why: str) -> None:
    """Add a notice about the whole file."""
    reading.notices = pl.concat([reading.notices, note(why)])


def _decoded(reading: FileReading, printed: pl.Series, found: dump_log_text.Dump) -> None:
    """Make a dump of the metadata log, where its records were decoded, what the segment itself would be."""
    if metadata_dump.has_records(printed):
        scan = metadata_dump.read_metadata_dump(printed, found)
        reading.format, reading.zone = metadata_log.NAME, UTC
        reading.observations = scan.observations
        reading.notices = pl.concat([reading.notices, scan.notices])


def _dumped_snapshot(path: str, end: int, parts: list[tuple[pl.Series, pl.DataFrame]]) -> FileReading:
    """Producers as ``kafka-dump-log`` printed them."""
    lines_read = pl.concat([part for part, _ in parts])
    directory = split_directory(PurePosixPath(path).parent.name)
    if directory is None:
        return FileReading("irrelevant", lines=lines_read.len())
    found = producer_snapshot.read_dump(lines_read)
    reading = FileReading("producer-snapshot", lines=lines_read.len())
    reading.observations = producer_snapshot.statements(found.producers, directory.topic, directory.partition, end)
    reading.notices = pl.concat([*[notices for _, notices in parts], found.notices])
    reading.topic, reading.partition = directory.topic, directory.partition
    reading.directory_state = directory.state.value
    return reading


def is_trace(_source: Source, head: bytes) -> bool:
    """Return whether the text begins as a trace."""
    return trace_jsonl.is_trace(head)


def trace(source: Source, _head: bytes) -> FileReading:
    """Observations of another system, or of an earlier reading."""
    reading, unplaced = FileReading("trace", zone=UTC), 0
    observations, notices = [reading.observations], [reading.notices]
    with source.open() as stream:
        for block in lines.blocks(stream):
            found = trace_jsonl.read_trace(block.frame())
            observations.append(found.observations)
            notices += [block.notices, found.notices]
            unplaced += found.unplaced
            reading.lines += block.lines.len()
            reading.unread += found.unread + block.notices.get_column("line").count()
            said = found.observations.get_column("line").unique()  # the first line states several things
            reading.relevant += pl.concat([said, found.notices.get_column("line")]).n_unique()
            reading.understood += said.len()
    reading.events = reading.relevant
    reading.observations, reading.notices = pl.concat(observations), pl.concat(notices)
    _in_order_of_times(reading, unplaced)
    return reading


def _in_order_of_times(reading: FileReading, unplaced: int) -> None:
    """Set whether the lines of a trace are in another order than that of their times, and when they begin and end.

    Args:
        reading: the trace.
        unplaced: lines whose time runs backwards, so that their place is unknown if the order of the lines counts.
    """
    times = reading.observations.get_column("time").drop_nulls().cast(pl.Int64)
    if times.len():
        reading.first_time, reading.last_time = int(times[0]), int(times[-1])
    stated = reading.observations.filter(trace_jsonl.BELOW_HEADER, pl.col("witness").is_not_null())
    order = trace_order.lost_order(stated)
    if order is None:
        reading.unread += unplaced
        return
    reading.shuffled = True
    reading.first_time, reading.last_time = whole_span(reading)
    kept = reading.notices.filter(pl.col("reason") != BACKWARDS)
    reading.notices = pl.concat([kept, note(trace_order.REMARK, line=order.first)])
    if order.equal is not None:
        reading.unread += 1
        reading.notices = pl.concat([reading.notices, note(trace_order.AT_ONE_TIME, line=order.equal)])


def is_file_of_trace(_source: Source, head: bytes) -> bool:
    """Return whether the first line is that of a file in a trace."""
    return trace_files.begins_file(head)


def file_of_trace(source: Source, _head: bytes) -> FileReading:
    """A file of a broker as a trace states what was read in it."""
    with source.open() as stream:
        blocks = [*lines.blocks(stream)]
    rows = pl.concat([block.frame().select("line", "text") for block in blocks])
    found = trace_jsonl.read_trace(rows)
    reading = trace_files.read_file(rows, found.observations)
    reading.notices = pl.concat([reading.notices, found.notices, *(block.notices for block in blocks)])
    return reading


def is_output(_source: Source, head: bytes) -> bool:
    """Printed by ``kafka-topics --describe`` or another command about partitions or groups."""
    return command_output.begins_output(head)


def output(source: Source, _head: bytes) -> FileReading:
    """Leaders, ISRs, elections, positions and differences as Kafka's commands printed them."""
    with source.open() as stream:
        parts = [block.lines for block in lines.blocks(stream)]
    return small(command_output.NAME, command_output.read_output(pl.concat(parts).to_list()))


def is_metrics(_source: Source, head: bytes) -> bool:
    """Samples as exporters print them, or as ``promtool tsdb dump`` does."""
    return metrics_text.begins_metrics(head)


def metrics(source: Source, _head: bytes) -> FileReading:
    """High watermarks, log ends and positions as exporters printed them. Of other exporters nothing is read."""
    text, unended, count = metrics_text.MetricsText(), False, 0
    notices = []
    with source.open() as stream:
        for block in lines.blocks(stream):
            text.add(block.lines.to_list(), block.first_line)
            notices.append(block.notices)
            unended, count = block.unended, count + block.lines.len()
    return _scraped(text.reading(unended=unended), notices, of_kafka=text.of_kafka, count=count)


def is_answer(_source: Source, head: bytes) -> bool:
    """Return whether a file is an answer of Prometheus to a query."""
    return metrics_json.begins_answer(head)


def answer(source: Source, _head: bytes) -> FileReading:
    """The same as Prometheus keeps them."""
    found, of_kafka = metrics_json.read_answer(content(source))
    return _scraped(found, [], of_kafka=of_kafka, count=0)


def _scraped(found: Reading, more: Sequence[pl.DataFrame], *, of_kafka: bool, count: int) -> FileReading:
    """Return samples as the reading of a file; if none is about Kafka, it is no evidence."""
    if not of_kafka:
        return FileReading("irrelevant", lines=count)
    reading = small(metrics_text.NAME, found)
    reading.notices = pl.concat([*more, found.notices])
    reading.zone, reading.lines = UTC, count
    return reading


def is_nodes(source: Source, head: bytes) -> bool:
    """Nodes of ZooKeeper as ``zookeeper-shell`` prints them, or saved as JSON."""
    return zookeeper_nodes.is_nodes(source.path, head) and not is_text(source, head)


def nodes(source: Source, _head: bytes) -> FileReading:
    """Leaders, ISRs and epochs as ZooKeeper held them."""
    return small("zookeeper-nodes", zookeeper_nodes.read_nodes(content(source).decode("utf-8", "replace"), source.path))


def is_quorum(_source: Source, head: bytes) -> bool:
    """Printed by ``kafka-metadata-quorum describe``."""
    return quorum_describe.is_quorum(head)


def quorum(source: Source, _head: bytes) -> FileReading:
    """The metadata quorum as ``kafka-metadata-quorum describe`` printed it."""
    return small("quorum-describe", quorum_describe.read_quorum(content(source).decode("utf-8", "replace")))


def is_log_dirs(_source: Source, head: bytes) -> bool:
    """Printed by ``kafka-log-dirs --describe``."""
    return b'"logDirs"' in head or b"Querying brokers for log directories" in head


def log_dirs(source: Source, _head: bytes) -> FileReading:
    """Sizes and lags as ``kafka-log-dirs --describe`` printed them."""
    return small("log-dirs", log_dirs_json.read_log_dirs(content(source)))


_LOGGING: Final = re.compile(
    rb"(?m)^\s*(?:log4j\.(?:root|logger|category)|rootLogger\.|logger\.[\w-]+\.(?:name|level)|Loggers\s*:|.*<Loggers\b)",
    re.IGNORECASE,
)


def is_logging(source: Source, head: bytes) -> bool:
    """A configuration of log4j, by name or content."""
    return source.name.startswith(("log4j", "tools-log4j")) or (
        source.name.endswith((".properties", ".xml", ".yaml", ".yml")) and _LOGGING.search(head) is not None
    )


def logging(source: Source, _head: bytes) -> FileReading:
    """Read which loggers were enabled."""
    return small("log4j-config", log4j_config.read_log4j_config(content(source).decode("utf-8", "replace")))
