"""Files of brokers in a trace: the rows that a reader found in each of them.

A trace that is made from evidence keeps what segments and checkpoint files show, so that a scan of it alone answers as
a scan of the evidence does. The first line of such a trace has ``"files": true``. The files follow its other lines.
Each begins with a line of kind ``file``, which names its path. Lines of kind ``batches`` hold the headers of its record
batches, and lines of kind ``damage`` say what is wrong in it. The entries of a checkpoint file are lines of their own
kinds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from parsers.encodings.json_text import encode
from parsers.file_reading import UTC, FileReading, note, whole_span
from parsers.formats.trace_jsonl import is_line
from parsers.formats.trace_kinds import FILE_LINES, PLACE, SCHEMA
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, conform

FILE, BATCHES_OF, DAMAGE = FILE_LINES
CONTAINER: Final = "trace with files"
SEVERAL: Final = "traces of several clusters"
_TOGETHER: Final = 200
"""Batches in one line, at most."""

_PLACED: Final = ("format", "topic", "partition", "directory_state", "base_offset", "log_end", "valid_bytes", "magic")
"""Attributes of a ``FileReading`` that a line of kind ``file`` has, if they have a value."""

_NUMBERS: Final = frozenset(("partition", "base_offset", "log_end", "valid_bytes", "magic"))
_OF_FILE: Final = re.compile(rb'"kind"\s*:\s*"file"')
_HOLDS: Final = "holds"
"""Field of a line of kind ``file``: how many batches, damages and statements of the file follow."""
_AMID_LINES: Final = (
    "lines of brokers are among those of this file, so the trace is in another order than that in which it was "
    "written: the file is left out, and the lines are read in the order of their times"
)
_UNUSABLE: Final = ("unreadable", "failed", "archive", "copy")


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that a reader found in one file.

    Attributes:
        path: where it was, with "/" between parts.
        placed: attributes of its ``FileReading`` by name.
        properties: settings of a properties file.
        observations, batches, notices: its rows.
    """

    path: str
    placed: Mapping[str, Any]
    properties: Mapping[str, str]
    observations: pl.DataFrame
    batches: pl.DataFrame
    notices: pl.DataFrame
    statements: tuple[str, ...] = field(default=())


def begins_file(line: bytes) -> bool:
    """Return whether a line begins a file of a trace, whatever the order of its fields is."""
    first = line.partition(b"\n")[0]
    return bool(_OF_FILE.search(first)) and is_line(first) and _object(_text(first)).get("kind") == FILE


def path_of(line: bytes) -> str:
    """Return the path that a line of kind ``file`` states."""
    path = _object(_text(line)).get("path")
    return path if isinstance(path, str) and path else "unnamed"


def cluster_of(head: bytes) -> str | None:
    """Return the cluster that the first line of a trace names, if a text begins with one."""
    return _cluster(_header(head.partition(b"\n")[0]))


def canonical(line: bytes) -> bytes:
    """Return what a line states, the same for each order of its fields; nothing for a blank line."""
    if not line.strip():
        return b""
    content = _object(_text(line))
    return json.dumps(content, sort_keys=True).encode() if content else line


def _header(line: bytes) -> dict[str, Any]:
    """Return the content of a line of kind ``trace``; nothing for another line."""
    if b'"trace"' not in line:
        return {}
    content = _object(_text(line))
    return content if content.get("schema") == SCHEMA and content.get("kind") == "trace" else {}


def _cluster(said: Mapping[str, Any]) -> str | None:
    named = said.get("cluster")
    return named if isinstance(named, str) else None


@dataclass(slots=True)
class Parts:
    """The parts of a text that is a trace, or several traces one after another.

    A line of kind ``trace`` that names another cluster than the one before it begins the trace of that cluster. In a
    trace that says that files follow, a line of kind ``file`` begins a file, and one of kind ``trace`` another trace of
    that cluster.

    Attributes:
        name: file name of the statements.
        most: so many parts at most.
        places: where each part begins, and its path.
        at: how many bytes were added.
        clusters: the clusters so far, one for each trace.
        stated: the present trace has a line.
        files: the present trace says that files follow.
        container: what the text is, if it has several parts or files.
    """

    name: str
    most: int
    places: list[tuple[int, str]] = field(default_factory=list)
    at: int = 0
    clusters: list[str | None] = field(default_factory=list)
    stated: bool = False
    files: bool = False
    container: str | None = None

    def add(self, line: bytes) -> None:
        """Take the next line."""
        said = _header(line)
        cluster = _cluster(said)
        if not self.places:
            self.clusters.append(cluster)
            self.places.append((0, self.name))
        elif cluster not in (None, self.clusters[-1]) and not self.stated:
            self.clusters[-1] = cluster  # what is above it is damaged or blank
        elif cluster not in (None, self.clusters[-1]) and len(self.places) < self.most:
            self._begin(cluster)
        elif said and self.files and self.stated and len(self.places) < self.most:
            self.places.append((self.at, f"{self._within()}{len(self.places)}-{self.name}"))
        self.stated = self.stated or is_line(line)
        if said.get("files") is True:
            self.files, self.container = True, CONTAINER
        if self.files and begins_file(line) and len(self.places) < self.most:
            self.places.append((self.at, f"{self._within()}{path_of(line)}"))
        self.at += len(line)

    def _begin(self, cluster: str | None) -> None:
        """Begin the trace of another cluster."""
        if len(self.clusters) == 1:
            self.places = [(at, f"{self._folder()}/{path}") for at, path in self.places]
        self.clusters.append(cluster)
        self.files = self.stated = False
        self.places.append((self.at, f"{self._folder()}/{self.name}"))
        self.container = self.container or SEVERAL

    def _within(self) -> str:
        """The beginning of the path of a part of the present trace."""
        return f"{self._folder()}/" if len(self.clusters) > 1 else ""

    def _folder(self) -> str:
        """A folder for the parts of the present trace."""
        name = (self.clusters[-1] or "no cluster").replace("/", "_")
        return f"{len(self.clusters)}, {name}"


def write_file(kept: Kept) -> Iterator[str]:
    """Yield the lines of one file, without line ends and without its statements."""
    placed = {name: kept.placed[name] for name in _PLACED if kept.placed.get(name) is not None}
    properties = {"properties": dict(kept.properties)} if kept.properties else {}
    held = {_HOLDS: kept.batches.height + kept.notices.height + len(kept.statements)}
    yield _line({"kind": FILE, "path": kept.path, **placed, **properties, **held})
    rows = kept.batches.select(*BATCHES)
    place: dict[str, Any] = {name: placed[name] for name in PLACE if name in placed}
    for part in rows.iter_slices(_TOGETHER):
        yield _line({"kind": BATCHES_OF, **place, "columns": part.columns, "rows": [list(row) for row in part.rows()]})
    for row in kept.notices.select(*NOTICES).rename({"kind": "damage"}).rows(named=True):
        yield _line({"kind": DAMAGE, **place, **{name: value for name, value in row.items() if value is not None}})
    yield from kept.statements


def _line(content: dict[str, Any]) -> str:
    return encode({"schema": SCHEMA, **content})


def read_file(rows: pl.DataFrame, statements: pl.DataFrame) -> FileReading:
    """Return what a trace says was read in a file.

    Args:
        rows: columns ``line`` and ``text``: all lines, the first of kind ``file``.
        statements: rows of ``OBSERVATIONS`` of the other lines.
    """
    if statements.get_column("witness").null_count() < statements.height:
        return _amid_lines(rows, statements.filter(pl.col("witness").is_not_null()))
    said = _object(rows.get_column("text")[0])
    reading = FileReading(str(said.get("format", "unknown")), zone=UTC)
    if reading.format in _UNUSABLE:
        reading.format = "unknown"
    wrong = [name for name in _PLACED[1:] if not _set(reading, name, said.get(name))]
    given = said.get("properties", {})
    reading.properties = {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    reading.notices = note(*(f'"{name}" of a file is not what it should be' for name in wrong), line=1)
    damages = 0
    for line, text in rows.select("line", "text").iter_rows():
        content = _object(text)
        damages += content.get("kind") == DAMAGE
        try:
            _add(reading, content)
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, pl.exceptions.PolarsError):
            said_of = note("a line about a file cannot be read", excerpt=text, line=line)
            reading.notices = pl.concat([reading.notices, said_of])
    reading.observations = _with_bytes(rows, statements)
    reading.lines = rows.height
    found, holds = reading.batches.height + reading.observations.height + damages, said.get(_HOLDS)
    if holds == found:
        return reading
    # A filter left out some of its lines, and nothing shows which.
    reason = f"{found} batches and statements of a file follow, but it had {holds}: the file is left out"
    return FileReading("unknown", zone=UTC, notices=note(reason, line=1), lines=reading.lines)


def _amid_lines(rows: pl.DataFrame, statements: pl.DataFrame) -> FileReading:
    """Return what brokers state among the lines of a file: somebody has put the lines of the trace in another order."""
    reading = FileReading("trace", zone=UTC, shuffled=True, lines=rows.height, observations=statements)
    reading.events = reading.relevant = reading.understood = statements.height
    reading.first_time, reading.last_time = whole_span(reading)
    reading.notices = note(_AMID_LINES, line=1)
    return reading


def _set(reading: FileReading, name: str, value: object) -> bool:
    """Set an attribute of a reading, if there is a value; return False for a value of another type."""
    if value is not None and not isinstance(value, int if name in _NUMBERS else str):
        return False
    setattr(reading, name, value)
    return True


def _add(reading: FileReading, content: Mapping[str, Any]) -> None:
    """Add the batches or the damage that a line states."""
    if content.get("kind") == BATCHES_OF:
        reading.batches = pl.concat([reading.batches, _batches(content)])
    elif content.get("kind") == DAMAGE:
        row = [content.get("damage" if name == "kind" else name) for name in NOTICES]
        reading.notices = pl.concat([reading.notices, pl.DataFrame([row], schema=NOTICES, orient="row")])


def _batches(content: Mapping[str, Any]) -> pl.DataFrame:
    columns, rows = content["columns"], content["rows"]
    schema = {name: BATCHES[name] for name in columns}
    return conform(pl.DataFrame(rows, schema=schema, orient="row"), BATCHES)


def _with_bytes(rows: pl.DataFrame, statements: pl.DataFrame) -> pl.DataFrame:
    """Return statements of a file; those of a binary file have their byte in it, and no line."""
    at = rows.select("line", pl.col("text").str.json_path_match("$.byte").cast(pl.Int64, strict=False).alias("_byte"))
    found = statements.join(at, on="line", how="left", maintain_order="left")
    binary = pl.col("_byte").is_not_null()
    line = pl.when(~binary).then("line").alias("line")
    return conform(found.with_columns(line, pl.col("_byte").alias("byte")), OBSERVATIONS)


def _text(line: bytes) -> str:
    return line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
