"""Exports of log stores: one JSON document with many entries, or a table of comma-separated values.

Kibana and OpenSearch, Grafana Loki, CloudWatch (``aws logs filter-log-events``), Google Cloud, Datadog and Splunk hand
out what a search found. Each entry is a line of a log, perhaps with its stack trace, beside the name of its pod or
host. The text is split into one source per writer. A search may leave lines out. A writer's lines count as its
whole log only if they hold lines that no search for replication finds.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final, NamedTuple

import polars as pl

from parsers import limits
from parsers.files.sources import Source

PART: Final = "part of a log, exported"
WHOLE: Final = "a log, exported"
_MESSAGES: Final = ("message", "_raw", "textPayload", "line", "log", "msg", "content", "LogEntry", "@message", "body")
_WRITERS: Final = (
    "pod_name",
    "pod",
    "podname",
    "container_name",
    "containername",
    "@logstream",
    "logstreamname",
    "hostname",
    "host",
    "containerid",
    "instance",
    "node",
    "computer",
)
"""Names of a member or a column that names the writer, in small letters, the most specific first."""
_EVENT: Final = re.compile(
    r"^.{0,40}?(?:[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}|[0-9]{2}:[0-9]{2}:[0-9]{2}).{0,80}?"
    r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)
_EVENT_IN: Final = re.compile(rb"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}[.,]?[0-9]{0,9}")
_JSON: Final = re.compile(rb"\s*(?:\[\s*\{|\{\s*\")")
_LINES: Final = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")
"""JSON objects of one line each, which collectors write: a log."""
_ARRAY: Final = re.compile(r"\s*\[\s*\n\s*\{\s*\n")
"""An array of objects of many lines each, which collectors write too: a log, unless its entries name their writers."""
_HEADER: Final = re.compile(rb"(?:\xef\xbb\xbf)?[\w\"@. ,;:\t-]{3,500}\r?\n")
_DEPTH: Final = 6
_ABOUT_REPLICATION: Final = r"(?i)partition|replica|leader|\bisr\b|epoch|offset|truncat|-[0-9]+\b"
_LOGGERS_BESIDE: Final = 5
"""Least number of loggers whose lines at INFO are not about replication in a writer's whole log. A broker that starts
has 13 or more. A search by words finds one or two, by level none at INFO.
"""


class _Entry(NamedTuple):
    writer: str
    text: str


def may_be_export(head: bytes) -> bool:
    """Return whether a text may be an export, by its first bytes: most texts are told apart without reading more."""
    if b"\0" in head or _EVENT_IN.search(head) is None:
        return False
    if _JSON.match(head) is not None:
        return (
            _LINES.match(head) is None and any(b'"%s"' % name.encode() in head for name in _MESSAGES)
        ) or b'"values"' in head
    found = _HEADER.match(head)
    return found is not None and any(sign in found[0] for sign in b",;\t") and _column_of(found[0].decode()) is not None


def split(source: Source) -> Iterator[Source] | None:
    """Return the text by writer; None if it is no export.

    Raises:
        OSError: it cannot be read.
    """
    if source.size > limits.EXPORT.value:
        return None
    with source.open() as stream:
        data = stream.read(limits.EXPORT.value + 1)
    if len(data) > limits.EXPORT.value:
        return None
    text = data.decode("utf-8-sig", "replace")
    entries, goes_on = _of_document(text) if _JSON.match(data) is not None else (_of_table(text), False)
    # A store that keeps each printed line apart has entries that continue an event: stack traces, settings.
    begun = [one for one in entries if not one.text[:1].isspace()]
    if not begun or 2 * sum(_EVENT.match(one.text) is not None for one in begun) < len(begun):
        return None
    if _ARRAY.match(text) is not None and not all(one.writer for one in entries):
        return None
    return _parts(source, _oldest_first(entries), goes_on=goes_on)


def noted(source: Source, head: bytes) -> Source:
    """Return a text that was not taken apart; if it begins as an export, with the limit that it exceeds."""
    if source.size <= limits.EXPORT.value or not may_be_export(head):
        return source
    said = limits.EXPORT.told("it begins as an export of a log store, and has more than {}: not taken apart; split it")
    return replace(source, notes=(*source.notes, said))


def _parts(source: Source, entries: Sequence[_Entry], *, goes_on: bool) -> Iterator[Source]:
    texts: dict[str, list[str]] = {}
    for one in entries:
        texts.setdefault(one.writer, []).append(one.text)
    notes: tuple[str, ...] = ()
    if len(texts) > limits.WRITERS.value:
        texts = {"": [one.text for one in entries]}
        notes = (limits.WRITERS.told("more than {} processes or pods wrote it: read as one log"),)
    yield replace(source, container="an export", notes=(*source.notes, *notes))
    for writer, lines in sorted(texts.items()):
        said = "".join(f"{line}\n" for line in lines).encode()
        extent = WHOLE if not goes_on and _may_be_whole(lines) else PART
        yield Source(
            f"{source.path}!/{_shown(writer) or 'entries'}.log",
            len(said),
            _Content(said),
            stored=f"{extent} in {source.stored}" if source.stored else extent,
            archive=source.archive,
            offset=source.offset,
        )


def _may_be_whole(lines: Sequence[str]) -> bool:
    """Return whether a writer's lines hold what no search for replication finds."""
    from parsers.text import extract, frames

    events = pl.Series("text", [line.partition("\n")[0] for line in lines])
    frame = frames.choose(events)
    if frame is None:
        return False
    rows = frames.split(events.filter(events.str.contains(frame.head)).to_frame(), frame)
    beside = rows.filter(
        ~extract.relevant(rows.get_column("text"))
        & ((pl.col("level") == "INFO") & ~pl.col("message").str.contains(_ABOUT_REPLICATION))
    )
    return beside.get_column("logger").drop_nulls().n_unique() >= _LOGGERS_BESIDE


def _shown(writer: str) -> str:
    return "".join(c if c.isprintable() and c not in "/\\" else "-" for c in writer)


def _oldest_first(entries: list[_Entry]) -> list[_Entry]:
    """Return the entries in the order of their times: a search often shows the newest first."""
    stamps = [found[0] for one in entries if (found := _STAMP.search(one.text[:60])) is not None]
    rises = sum(one <= two for one, two in itertools.pairwise(stamps))
    return entries[::-1] if len(stamps) > 1 and 2 * rises < len(stamps) - 1 else entries


# -- JSON -------------------------------------------------------------------------------------------------------------


def _of_document(text: str) -> tuple[list[_Entry], bool]:
    """Return the entries of a document, and whether it states that the search found more."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return [], False
    return next((entries for entries in _lists(found, "", 0) if entries), []), _goes_on(found)


def _goes_on(found: object) -> bool:
    """Return whether a document is one page of several: CloudWatch names the next, Elasticsearch counts all hits."""
    if not isinstance(found, dict):
        return False
    hits = found.get("hits")
    total = hits.get("total") if isinstance(hits, dict) else None
    count, at_least = (
        (total.get("value"), total.get("relation") == "gte") if isinstance(total, dict) else (total, False)
    )
    here = hits.get("hits") if isinstance(hits, dict) else None
    more = isinstance(count, int) and isinstance(here, list) and (at_least or count > len(here))
    return more or bool(found.get("nextToken"))


def _lists(found: object, writer: str, depth: int) -> Iterator[list[_Entry]]:
    """Yield the entries of each list of objects in a document, the outer ones first."""
    if isinstance(found, list):
        yield _of_list([one for one in found if isinstance(one, dict)], writer)
    elif isinstance(found, dict) and depth < _DEPTH:
        for value in found.values():
            yield from _lists(value, writer, depth + 1)


def _of_list(objects: Sequence[dict[str, Any]], writer: str) -> list[_Entry]:
    streams = [one for one in objects if isinstance(one.get("values"), list)]
    if streams:  # Loki: a writer, with pairs of a time and a line
        return [entry for one in streams for entry in _of_stream(one)]
    return [entry for one in objects if (entry := _of_object(one, writer)) is not None]


def _of_stream(stream: dict[str, Any]) -> Iterator[_Entry]:
    labels = stream.get("stream", {})
    writer = _writer(labels) if isinstance(labels, dict) else ""
    for value in stream["values"]:
        if isinstance(value, list) and len(value) > 1 and isinstance(value[1], str):
            yield _Entry(writer, value[1])


def _of_object(entry: dict[str, Any], writer: str) -> _Entry | None:
    message = _message(entry, 0)
    return None if message is None else _Entry(_writer(entry) or writer, message)


def _message(entry: dict[str, Any], depth: int) -> str | None:
    """Return the line of an entry: of the least nested member with a name for it."""
    own = next((entry[name] for name in _MESSAGES if isinstance(entry.get(name), str)), None)
    if own is not None or depth >= 3:
        return own
    inner = (_message(value, depth + 1) for value in entry.values() if isinstance(value, dict))
    return next((found for found in inner if found is not None), None)


def _writer(entry: dict[str, Any]) -> str:
    """Return the writer that members of an entry name, or ""."""
    named = {name: value for name, value in _named(entry, 0) if isinstance(value, str) and value}
    return next((named[name] for name in _WRITERS if name in named), "")


def _named(entry: dict[str, Any], depth: int) -> Iterator[tuple[str, object]]:
    for key, value in entry.items():
        name = key.rpartition(".")[2].lower()
        if isinstance(value, dict) and depth < 4:
            yield from _named(value, depth + 1)
            value = value.get("name", value.get("hostname"))
        yield name, value


# -- tables -----------------------------------------------------------------------------------------------------------


def _column_of(header: str) -> tuple[str, int] | None:
    """Return the separator of a table and the column of the line; None without a column of a known name."""
    for separator in (",", ";", "\t"):
        names = [name.strip(' "\r\n').lower() for name in header.split(separator)]
        known = [names.index(name.lower()) for name in _MESSAGES if name.lower() in names]
        if len(names) > 1 and known:
            return separator, known[0]
    return None


def _of_table(text: str) -> list[_Entry]:
    header, _, _ = text.partition("\n")
    found = _column_of(header)
    if found is None:
        return []
    separator, column = found
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error:
        return []
    names = [_own_name(name) for name in rows[0]]
    writer = next((names.index(name) for name in _WRITERS if name in names), None)
    labels = names.index("labels") if writer is None and "labels" in names else None
    return [
        _Entry(
            _writer_in_labels(row[labels]) if labels is not None else row[writer] if writer is not None else "", line
        )
        for row in rows[1:]
        if len(row) == len(names) and (line := row[column])
    ]


def _own_name(column: str) -> str:
    """Return a column's name without the names of what it is in: "pod" of ``kubernetes.pod.name``."""
    parts = column.strip().lower().split(".")
    return parts[-2] if parts[-1] in ("name", "hostname") and len(parts) > 1 else parts[-1]


def _writer_in_labels(labels: str) -> str:
    """Return the writer that the labels of a line name, or "": JSON in tables of Grafana."""
    try:
        found = json.loads(labels)
    except (ValueError, RecursionError):
        return ""
    return _writer(found) if isinstance(found, dict) else ""


@dataclass(frozen=True, slots=True)
class _Content:
    data: bytes

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self.data)
