"""Exports of log stores: one JSON document with many entries, or a table of comma-separated values.

Kibana and OpenSearch, Grafana Loki, CloudWatch (``aws logs filter-log-events``), Google Cloud, Datadog and Splunk hand
out what a search found. Each entry is a line of a log, perhaps with its stack trace, beside the name of its pod or
host. The text is split into one source per writer. A search leaves lines out, so the logs of these brokers are not
complete.
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

from parsers.files.sources import Source

PART: Final = "part of a log, exported"
MOST_BYTES: Final = 16 << 20
"""Largest size of a text that is read as an export: it is read into memory."""
MOST_WRITERS: Final = 1000
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
    if source.size > MOST_BYTES:
        return None
    with source.open() as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        return None
    text = data.decode("utf-8-sig", "replace")
    entries = _of_document(text) if _JSON.match(data) is not None else _of_table(text)
    if not entries or 2 * sum(_EVENT.match(one.text) is not None for one in entries) < len(entries):
        return None
    if _ARRAY.match(text) is not None and not all(one.writer for one in entries):
        return None
    return _parts(source, _oldest_first(entries))


def _parts(source: Source, entries: Sequence[_Entry]) -> Iterator[Source]:
    texts: dict[str, list[str]] = {}
    for one in entries:
        texts.setdefault(one.writer, []).append(one.text)
    if len(texts) > MOST_WRITERS:
        texts = {"": [one.text for one in entries]}
    yield replace(source, container="an export", notes=source.notes)
    for writer, lines in sorted(texts.items()):
        said = "".join(f"{line}\n" for line in lines).encode()
        yield Source(
            f"{source.path}!/{_shown(writer) or 'entries'}.log",
            len(said),
            _Content(said),
            stored=f"{PART} in {source.stored}" if source.stored else PART,
            archive=source.archive,
            offset=source.offset,
        )


def _shown(writer: str) -> str:
    return "".join(c if c.isprintable() and c not in "/\\" else "-" for c in writer)


def _oldest_first(entries: list[_Entry]) -> list[_Entry]:
    """Return the entries in the order of their times: a search often shows the newest first."""
    stamps = [found[0] for one in entries if (found := _STAMP.search(one.text[:60])) is not None]
    rises = sum(one <= two for one, two in itertools.pairwise(stamps))
    return entries[::-1] if len(stamps) > 1 and 2 * rises < len(stamps) - 1 else entries


# -- JSON -------------------------------------------------------------------------------------------------------------


def _of_document(text: str) -> list[_Entry]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return next((entries for entries in _lists(found, "", 0) if entries), [])


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
    names = [name.strip().lower().rpartition(".")[2] for name in rows[0]]
    writer = next((names.index(name) for name in _WRITERS if name in names), None)
    return [
        _Entry(row[writer] if writer is not None else "", row[column])
        for row in rows[1:]
        if len(row) == len(names) and row[column]
    ]


@dataclass(frozen=True, slots=True)
class _Content:
    data: bytes

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self.data)
