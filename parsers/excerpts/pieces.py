"""Texts that may be excerpts, and the sources they become. What reads an excerpt is imported when there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from parsers import limits
from parsers.files.sources import HEAD_BYTES, Source

PIECE: Final = "part of a log, an excerpt"
"""How a source is stored that is a piece of an excerpt."""

CONTAINER: Final = "excerpts"
"""Kind of a text whose pieces are files in it."""

MARKED: Final = "in an excerpt"
"""Ends the name of the layout of a piece."""

_CHECKPOINT: Final = b"-checkpoint"
_OUTPUT: Final = (b"Isr:", b"LOG-END-OFFSET", b"LOG END OFFSET", b"logSize", b" leader election (", b"'s checksum ")
"""One of these is in the output of Kafka's commands."""
_ENDINGS: Final = (
    ".txt",
    ".text",
    ".md",
    ".markdown",
    ".rst",
    ".adoc",
    ".eml",
    ".mbox",
    ".html",
    ".htm",
    ".out",
    ".err",
)


def is_piece(source: Source) -> bool:
    """Return whether a source is a piece of an excerpt."""
    return source.stored.startswith(PIECE)


def pieces(source: Source, head: bytes, *, marked: bool = False, mixed: bool = False) -> Iterator[Source] | None:
    """Return the pieces of an excerpt; None if a text is none.

    Args:
        source: a text.
        head: its first bytes.
        marked: a collector's prefix that names the writer was found in most of its lines: names alone are no evidence
            then.
        mixed: it is no log, so that it is an excerpt if any of its lines begins an event.

    Raises:
        OSError: it cannot be read.
    """
    data = _content(source, head)
    if data is None or not _may_be_excerpt(data):
        return None
    from parsers.excerpts import split

    return split.pieces(source, data, marked=marked, mixed=mixed)


def mixed(source: Source, head: bytes) -> Iterator[Source] | None:
    """Return the parts of a text that has output of Kafka's commands and also lines of logs, fences or words of people.

    Args:
        source: a text that is no excerpt by itself.
        head: its first bytes.

    Returns:
        The log lines if there are any, and the output; None for another text, and for output alone.

    Raises:
        OSError: it cannot be read.
    """
    data = _content(source, head)
    if data is None or not _has_output(data):
        return None
    from parsers.excerpts import files

    return files.mixed(source, data)


def around_dumps(source: Source, head: bytes) -> tuple[list[tuple[str, bytes]], list[Source]]:
    """Return the dumps of a text that also has other lines, and the parts of the text around them.

    Args:
        source: a text with output of ``kafka-dump-log``.
        head: its first bytes.

    Returns:
        Path and lines of each dump; log lines and output of other commands. Nothing for long texts and for dumps alone.

    Raises:
        OSError: it cannot be read.
    """
    data = _content(source, head)
    if data is None:
        return [], []
    from parsers.excerpts import files

    return files.around_dumps(source, data)


def checkpoint_files(source: Source, head: bytes) -> list[Source]:
    """Return the checkpoint files that a text quotes.

    Args:
        source: the text.
        head: its first bytes.

    Raises:
        OSError: it cannot be read.
    """
    if source.size > limits.EXCERPT.value or (source.archive and _CHECKPOINT not in head):
        return []
    data = _content(source, head)
    if data is None or _CHECKPOINT not in data:
        return []
    from parsers.excerpts import files

    return files.files(source, data)


def command_output(source: Source, head: bytes) -> list[Source]:
    """Return the output of Kafka's commands that an excerpt quotes between its lines.

    Args:
        source: the text.
        head: its first bytes.

    Raises:
        OSError: it cannot be read.
    """
    data = _content(source, head)
    if data is None or not _has_output(data):
        return []
    from parsers.excerpts import files

    return files.output(source, data)


def _has_output(data: bytes) -> bool:
    return any(words in data for words in _OUTPUT)


def _content(source: Source, head: bytes) -> bytes | None:
    """Return all bytes of a short text that may be pasted, or None.

    A member of a compressed archive is read only if its first bytes suggest an excerpt, because each read may expand
    the archive once more.
    """
    if source.size > limits.EXCERPT.value or b"\0" in head or not head.strip() or not _may_be_pasted(source.name):
        return None
    if len(head) < HEAD_BYTES:
        return head
    if source.archive and not _may_be_excerpt(head):
        return None
    with source.open() as stream:
        data = stream.read(limits.EXCERPT.value + 1)
    return data if len(data) <= limits.EXCERPT.value and b"\0" not in data else None


def _may_be_excerpt(data: bytes) -> bool:
    from parsers.excerpts.gate import may_be_excerpt

    return may_be_excerpt(data)


def _may_be_pasted(name: str) -> bool:
    """Return whether a file's name is possible for pasted lines.

    Settings, programs and JSON are excluded, because reports of other tools quote lines too. Standard input is
    possible.
    """
    return "." not in name or ".log" in name or name.lower().endswith(_ENDINGS)
