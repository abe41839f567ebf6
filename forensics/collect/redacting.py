"""The files of a bundle without names: each form of a file, with what replaces names in it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final, Protocol

from forensics.collect import headers, secrets, settings
from forensics.collect.choosing import Form
from parsers.containers import Memory, expand
from parsers.files.sources import Source
from parsers.formats.consumer_offsets import TOPIC as CONSUMER_OFFSETS
from parsers.formats.log_directory import DELETED_SEGMENT, split_directory
from parsers.formats.segment import NAME as SEGMENT

_NUMBERS: Final = frozenset(("producer-snapshot",))
"""Formats in which there are only numbers."""

_LEFT_OUT: Final[Mapping[str, str]] = {"trace": "trace: forensics trace --redact writes one without names"}
"""Formats that are packed otherwise, each with the reason for which they are left out."""


class Names(Protocol):
    """Replaces names, of which it knows those of the whole evidence."""

    def lines(self, path: str, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines of a log of the evidence."""

    def row(self, line: str) -> str:
        """Return a line of what a tool printed."""

    def checkpoint(self, line: str) -> str:
        """Return a line of a checkpoint of offsets."""

    def setting(self, key: str, value: str) -> str:
        """Return the value of a setting."""

    def member(self, path: str) -> str:
        """Return the path of a file."""

    def statements(self, paths: Iterable[str]) -> Iterator[str]:
        """Return what files show as lines of a trace."""


Change = Callable[[Names, str], str]
_LOGS: Final = frozenset(("broker-log", "excerpt"))
_CHANGES: Final[Mapping[str, Change]] = {
    "offset-checkpoint": lambda names, line: names.checkpoint(line),
    **dict.fromkeys(
        (
            *("epoch-checkpoint", "partition-metadata", "meta-properties", "clean-shutdown"),
            *("command-output", "metrics", "zookeeper-nodes", "quorum-describe", "log-dirs"),
        ),
        lambda names, line: names.row(line),
    ),
}
"""Other formats of text, each with what replaces the names in a line."""

_SEGMENTS: Final = frozenset((SEGMENT, DELETED_SEGMENT))
_STATED: Final = frozenset(("metadata-log", "metadata-snapshot", "quorum-state"))
"""Formats that are packed as the lines of a trace: no text, or of no use apart from such a file."""

_STEP: Final = 1 << 20

STATEMENTS: Final = "statements.jsonl"
"""Name of the trace in a bundle."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A file without names.

    Attributes:
        form: in which it is packed.
        what: its format, or why it is left out.
        ending: added to its name.
        lines: its content; None for a file of numbers alone, that is left out, or that is a part of the trace.
    """

    form: Form
    what: str
    ending: str = ""
    lines: Iterable[str] | None = None


def redacted(source: Source, form: Form, what: str, names: Names) -> Redacted:
    """Return a file without names.

    Args:
        source: the file.
        form, what: how it would be packed with names.
        names: what replaces them.

    Raises:
        OSError: it cannot be read.
    """
    if form is Form.LEFT_OUT or what in _LEFT_OUT:
        return Redacted(Form.LEFT_OUT, _LEFT_OUT.get(what, what))
    if form is Form.HEADERS or what in _SEGMENTS:
        return Redacted(Form.HEADERS, what, headers.ENDING, _headers(source, names))
    if form is Form.MASKED:
        return Redacted(form, what, lines=_settings(source, names))
    if what in _STATED:
        return Redacted(Form.STATEMENTS, what)
    if what in _NUMBERS:
        return Redacted(form, what)
    if what in _LOGS:
        return Redacted(Form.REDACTED, what, lines=names.lines(source.path, secrets.without(texts(source))))
    change = _CHANGES.get(what)
    if change is None:
        return Redacted(Form.LEFT_OUT, f"{what}, in which not all names are known")
    return Redacted(Form.REDACTED, what, lines=(change(names, line) for line in secrets.without(texts(source))))


def is_stated(source: Source, form: Form, what: str) -> bool:
    """Return whether the trace of a bundle has what a file shows: also positions of groups, beside their segment."""
    if form is not Form.HEADERS or what != SEGMENT:
        return form is Form.STATEMENTS
    directory = split_directory(source.parent)
    return directory is not None and directory.topic == CONSUMER_OFFSETS


def is_text(what: str) -> bool:
    """Return whether a format is a text of lines."""
    return what in _LOGS or what in _CHANGES


def learn(source: Source, form: Form, what: str, names: Names) -> None:
    """Look at a text before any name is replaced: a later line may be the first that shows a name as a host's."""
    if form is Form.WHOLE and is_text(what):
        for _ in names.lines(source.path, texts(source)):
            pass


def texts(source: Source) -> Iterator[str]:
    """Yield the lines of a text, with their ends, decompressed. Bytes that are no UTF-8 stay what they are.

    Raises:
        OSError: it cannot be read.
    """
    for one in expand(source, Memory()):
        if one.problem:
            raise OSError(one.problem)
        with one.open() as stream:
            for line in _until(stream, None if one.stored else one.size):
                yield line.decode("utf-8", "surrogateescape")


def _until(lines: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """Yield lines of a file that its broker may write to, as long as it was at first; None for one of unknown size."""
    at = 0
    for line in lines:
        if size is not None and at + len(line) >= size:
            yield line[: size - at]
            return
        at += len(line)
        yield line


def _headers(source: Source, names: Names) -> Iterator[str]:
    """Yield the headers of a segment; two of its lines name it."""
    path = names.member(source.path)
    for line in headers.lines(source):
        yield line.replace(source.path, path) if line.startswith("Dumping ") else line


def _settings(source: Source, names: Names) -> Iterator[str]:
    with source.open() as stream:
        data = stream.read(source.size)
    for line in settings.masked(data).decode("utf-8", "surrogateescape").splitlines():
        key, _, value = line.partition("=")
        yield f"{key}={names.setting(key, value)}\n"


def write(lines: Iterable[str], into: IO[bytes]) -> None:
    """Write lines."""
    for line in lines:
        into.write(line.encode("utf-8", "surrogateescape"))


def digest(content: IO[bytes]) -> str:
    """Return the hash of what is packed: that of the original would show whether a guessed name is the right one."""
    content.seek(0)
    found = hashlib.sha256()
    while data := content.read(_STEP):
        found.update(data)
    return found.hexdigest()


__all__ = ["STATEMENTS", "Names", "Redacted", "digest", "is_stated", "is_text", "learn", "redacted", "texts", "write"]
