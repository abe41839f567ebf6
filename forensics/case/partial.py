"""Incomplete evidence: excerpts, and lines of an unknown broker.

An excerpt repeats lines if its log is in the evidence, so it is left out. Lines without a time are ordered by their
excerpt; nothing orders them among other lines of their broker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from forensics.case.twins import COPY
from parsers.excerpts.pieces import MARKED, is_piece
from parsers.file_reading import FileReading, note
from parsers.files.sources import Source
from parsers.formats.command_output import NAME as DESCRIBED
from parsers.formats.dump_log_text import NAME as DUMP
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages.logs import LOG_OF
from parsers.read import of_plugins
from parsers.schema import Kind
from parsers.takers.trace_files import CONTAINER as OF_FILES
from parsers.text.broker_log import NAME as LOG

if TYPE_CHECKING:
    from forensics.case.case import Case

_AT_HAND = (
    "an excerpt from the time of its broker's own logs, which are in the evidence: left out, so that no line counts "
    "twice"
)
_MADE_FROM = "made from logs that are in the evidence too: left out, not to count what they say twice"
_NOBODYS = (
    'nothing shows which broker logged these lines: they are left out; put "Broker 1:" above them, or put the file '
    "into a folder called after its broker, as in broker-1/"
)
_NO_WITNESS = (
    'no line names its "witness", the broker that states it: all are left out; name it, or put the file into a folder '
    "called after its broker, as in broker-1/"
)
_UNORDERED = (
    "its lines have no time, and the evidence has other lines of its broker: their order is unknown, so they are left "
    "out"
)


_NOBODYS_LINES = {LOG: _NOBODYS, TRACE: _NO_WITNESS}
"""Notice about lines of which no broker is known, by format."""

IN_EXCERPT: pl.Expr = pl.col("frame").fill_null("").str.ends_with(MARKED)
"""Of a source: it is a piece of an excerpt."""

_OF_COLLECTOR: pl.Expr = pl.col("frame").fill_null("").str.contains(" in (?:.* in )?(?:kubectl|kubetail|compose|stern)")
"""Of a source: a collector put the lines of several brokers into one text, and it is those of one of them."""

BRIEF = 100
"""Most lines of a text that may be an unmarked excerpt. A broker logs more lines when it starts."""

_OF_TEXT = frozenset((LOG, "archive", "unknown", "irrelevant", COPY))
"""Formats of evidence that is nothing but lines of logs."""


def few_lines_alone(files: Sequence[FileReading]) -> bool:
    """Return whether the evidence is a few lines of logs alone: no complete log of a broker is so short."""
    formats = {found.format for found in files}.difference(of_plugins())
    return LOG in formats <= _OF_TEXT and sum(found.lines for found in files if found.format == LOG) <= BRIEF


def excerpts_alone(case: Case) -> bool:
    """Return whether the evidence is a pasted excerpt: a few lines, no data directory and no trace.

    A dump of an unknown broker counts as pasted.
    """
    dumped = (pl.col("format") == DUMP) & pl.col("broker").is_null()
    whole = case.sources.filter(~IN_EXCERPT, ~dumped).get_column("format")
    if not {*whole} <= {*_OF_TEXT, DESCRIBED, *of_plugins()}:
        return False
    logs = case.sources.filter(pl.col("format") == LOG)
    if logs.is_empty():
        return DESCRIBED in case.sources.get_column("format")
    return bool(logs.select(IN_EXCERPT.all()).item()) or int(logs.get_column("lines").sum()) <= BRIEF


def leave_excerpts_of_logs(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> None:
    """Leave out excerpts whose lines would count twice, or cannot be ordered; a notice states that.

    Args:
        files: sources with their contents; format, rows and notices of the left out ones change.
        owner, cluster: of each file.
    """
    logs: dict[tuple[str | None, int], list[FileReading]] = {}
    pieces: dict[tuple[str | None, int], list[FileReading]] = {}
    for (source, found), broker, name in zip(files, owner, cluster, strict=True):
        if found.format == LOG and broker is not None:
            (pieces if is_piece(source) else logs).setdefault((name, broker), []).append(found)
    for key, excerpts in pieces.items():
        _leave_of_broker(excerpts, logs.get(key, []))


def leave_traces_of_evidence(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> None:
    """Leave out traces that were made from logs and files, if logs of the same brokers and time are in the evidence.

    What such a trace says would count twice. A notice states that.
    """
    logs = _spans_of_logs(files, owner, cluster)
    traces = [source.path for source, _ in files if _holds_files(source)]
    for path in traces if logs else ():
        parts: dict[str | None, list[FileReading]] = {}
        for (source, found), name in zip(files, cluster, strict=True):
            if source.path.startswith(f"{path}!/"):
                parts.setdefault(name, []).append(found)
        for name, of_cluster in parts.items():
            _leave_if_repeated(of_cluster, name, logs)


_Spans = Mapping[tuple[str | None, int], Sequence[tuple[int, int]]]
"""First and last times of logs, by cluster and broker."""


def _spans_of_logs(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> _Spans:
    logs: dict[tuple[str | None, int], list[tuple[int, int]]] = {}
    for (_, found), broker, name in zip(files, owner, cluster, strict=True):
        if found.format == LOG and broker is not None and (span := _span(found)) is not None:
            logs.setdefault((name, broker), []).append(span)
    return logs


def _leave_if_repeated(parts: Sequence[FileReading], name: str | None, logs: _Spans) -> None:
    """Leave out the parts of a trace if its statements repeat logs."""
    repeats = [found for found in parts if _repeats(found, name, logs)]
    for found in parts if repeats else ():
        found.topic = found.partition = found.directory_state = None
        _leave(found, *([_MADE_FROM] if any(found is one for one in repeats) else []))


def _holds_files(source: Source) -> bool:
    """Return whether a source is a trace with files in it."""
    return source.container == OF_FILES


def _repeats(found: FileReading, name: str | None, logs: _Spans) -> bool:
    """Return whether logs in the evidence are of a broker that a trace describes, and of the same time."""
    span = _span(found)
    if found.format != TRACE or span is None:
        return False
    spoke = found.observations.get_column("witness").drop_nulls().unique().to_list()
    return any(_meets(span, spans) for (other, broker), spans in logs.items() if broker in spoke and other == name)


def _leave_of_broker(excerpts: Sequence[FileReading], logs: Sequence[FileReading]) -> None:
    """Leave out excerpts of one broker's logs that repeat these logs, or each other."""
    timed = any(_span(found) is not None for found in (*logs, *excerpts))
    for found in excerpts:
        span, mine = _span(found), _logs_of(found)
        alike = [log for log in logs if not mine or not (others := _logs_of(log)) or mine & others]
        spans = [other for one in alike if (other := _span(one)) is not None]
        if span is None and timed:
            _leave(found, _UNORDERED)
        elif span is not None and spans and _meets(span, spans):
            _leave(found, _AT_HAND)


def _logs_of(found: FileReading) -> set[str]:
    """Return the logs of a broker, such as server.log, in which it prints the lines of a file; none if unknown.

    A state-change.log does not hold the lines of an excerpt of server.log.
    """
    messages = found.observations.get_column("message").drop_nulls().unique()
    return {LOG_OF[message].value for message in messages if message in LOG_OF}


def say_whose_is_unknown(files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None]) -> None:
    """Add a notice to each log or trace whose broker is unknown, both by its lines and by the files beside it."""
    for (_, found), broker in zip(files, owner, strict=True):
        if found.format not in _NOBODYS_LINES or broker is not None or not found.understood:
            continue
        rows = found.observations
        rows = rows if found.format == LOG else rows.filter(pl.col("topic").is_not_null())
        if rows.height and rows.get_column("witness").null_count() == rows.height:
            found.notices = pl.concat([found.notices, note(_NOBODYS_LINES[found.format])])


def _span(found: FileReading) -> tuple[int, int] | None:
    first, last = found.first_time, found.last_time
    return None if first is None or last is None else (first, last)


def _meets(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether a span overlaps the time from the first of others to the last."""
    return span[0] <= max(last for _, last in spans) and span[1] >= min(first for first, _ in spans)


def _leave(found: FileReading, *why: str) -> None:
    found.format = COPY
    found.observations = found.observations.clear()
    found.notices = pl.concat([found.notices, note(*why)])


def holes(case: Case) -> pl.DataFrame:
    """Return the places at which excerpts mark missing lines.

    Returns:
        Columns source, broker (null if the lines' broker is unknown), line, detail (the mark).
    """
    missing = case.observations.filter(pl.col("kind") == Kind.LINES_MISSING.value)
    return missing.select("source", "broker", "line", "detail").sort("source", "line")


def texts(case: Case) -> dict[int, int]:
    """Return the first source of the text that each piece of an excerpt is of, or each writer's part of a text. Clocks
    of its writers may differ, but a person or a collector put its lines together.
    """
    first: dict[str, int] = {}
    pieces = case.sources.filter(IN_EXCERPT | _OF_COLLECTOR).select("id", "path").sort("id")
    return {number: first.setdefault(path.rpartition("!/")[0] or path, number) for number, path in pieces.iter_rows()}


def without_broker(case: Case) -> pl.DataFrame:
    """Return observations of logs about a partition whose broker is unknown."""
    logs = case.sources.filter(pl.col("format") == LOG).get_column("id")
    return case.observations.filter(
        pl.col("broker").is_null()
        & pl.col("topic").is_not_null()
        & pl.col("partition").is_not_null()
        & pl.col("source").is_in(logs.implode())
    )


def unattributed(case: Case) -> dict[tuple[str, int], int]:
    """Return partitions with lines of an unknown broker, which are left out, and their number.

    No verdict about such a partition is clean, and no conclusion from absent lines is proven.
    """
    counted = without_broker(case).group_by("topic", "partition").agg(pl.len()).sort("topic", "partition")
    return {(topic, partition): count for topic, partition, count in counted.iter_rows()}
