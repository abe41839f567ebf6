"""An excerpt as sources whose lines are those of a log again.

Lines with a named writer (by their prefix, by the heading above) make one source per writer. Others make one source for
each stretch of lines between fences and prose, because nothing shows that two stretches are of one broker. In each
source, lines have the same numbers as in the text; other lines are blank there. Prose and fences are in the source that
follows them.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from parsers.excerpts.dissect import Excerpt, Line, dissected
from parsers.excerpts.dressings import NAMES
from parsers.excerpts.escapes import BLOTTED
from parsers.excerpts.gate import may_be_excerpt, times_out_of_order
from parsers.excerpts.kinds import Kind
from parsers.files.sources import HEAD_BYTES, Source
from parsers.text.lines import plain

PIECE: Final = "part of a log, an excerpt"
"""How a source is stored that is a piece of an excerpt."""

CONTAINER: Final = "excerpts"
MOST_BYTES: Final = 256 << 10
"""Largest size of a text that may be an excerpt. An issue of GitHub holds 64 KiB at most, one of Jira 32."""

_MARK: Final = b"\xef\xbb\xbf"

Key = tuple[str, int]
"""Owner of lines: a writer, or a stretch whose writer is unknown."""


def is_piece(source: Source) -> bool:
    """Return whether a source is a piece of an excerpt."""
    return source.stored.startswith(PIECE)


def pieces(source: Source, head: bytes, *, marked: bool = False) -> Iterator[Source] | None:
    """Return the pieces of an excerpt; None if a text is none.

    Args:
        source: a text.
        head: its first bytes.
        marked: a collector's prefix that names the writer was found in most of its lines: names alone are no evidence
            then.

    Raises:
        OSError: it cannot be read.
    """
    data = content(source, head)
    if data is None or not may_be_excerpt(data):
        return None
    try:
        text = plain(data.removeprefix(_MARK)).decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = dissected(text)
    if times_out_of_order(data):
        found.signs.add("order")
    return _pieces(source, data, found) if found.signs - (NAMES if marked else frozenset()) else None


def content(source: Source, head: bytes) -> bytes | None:
    """Return all bytes of a short text that may be pasted, or None.

    A member of a compressed archive is read only if its first bytes suggest an excerpt, because each read may expand
    the archive once more.
    """
    if source.size > MOST_BYTES or b"\0" in head or not head.strip() or not _may_be_pasted(source.name):
        return None
    if len(head) < HEAD_BYTES:
        return head
    if source.archive and not may_be_excerpt(head):
        return None
    with source.open() as stream:
        data = stream.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES and b"\0" not in data else None


def _pieces(source: Source, data: bytes, found: Excerpt) -> Iterator[Source]:
    owners = _owners(found.lines)
    keys = list(dict.fromkeys(key for mine in owners for key in mine))
    stored = f"{PIECE} in {source.stored}" if source.stored else PIECE
    notes: tuple[str, ...] = source.notes
    if found.ambiguous:
        numbers = ", ".join(map(str, found.ambiguous[:10]))
        notes += (f"lines that were wrapped within a number, or may have been, are left out: {numbers}",)
    if BLOTTED in found.signs:
        notes += ("names of topics are blotted out: two of them may have got the same name",)
    alone = len(keys) == 1 and not keys[0][0]
    if not alone:
        yield replace(source, container=CONTAINER, notes=notes)
    for key in keys:
        mine = [line.text if key in owner else "" for line, owner in zip(found.lines, owners, strict=True)]
        text = "".join(f"{line}\n" for line in mine).encode()
        yield Source(
            source.path if alone else f"{source.path}!/{_called(key, found.lines, owners)}",
            len(text),
            _Text(text),
            called=source.called if alone else "",
            notes=notes if alone else (),
            stored=stored,
            archive=source.archive,
            offset=source.offset,
            beginning=text[:HEAD_BYTES],
            digest=hashlib.sha256(data).hexdigest() if alone else None,
        )


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


def _may_be_pasted(name: str) -> bool:
    """Return whether a file's name is possible for pasted lines.

    Settings, programs and JSON are excluded, because reports of other tools quote lines too. Standard input is
    possible.
    """
    return "." not in name or ".log" in name or name.lower().endswith(_ENDINGS)


def _owners(lines: Sequence[Line]) -> list[frozenset[Key]]:
    """Return the piece of each line; none for lines that are no log lines after the last log line."""
    begun = {_key(line) for line in lines if line.begins}
    in_stretch: dict[int, set[Key]] = {}
    for line in lines:
        if line.begins:
            in_stretch.setdefault(line.stretch, set()).add(_key(line))
    found: list[frozenset[Key]] = []
    following: frozenset[Key] = frozenset()
    last = next((frozenset((_key(line),)) for line in reversed(lines) if line.begins), frozenset())
    for line in reversed(lines):
        if line.stretch and _key(line) in begun:
            following = frozenset((_key(line),))
            found.append(following)
        elif line.kind is Kind.LEFT_OUT and line.stretch in in_stretch:
            found.append(frozenset(in_stretch[line.stretch]))  # of all writers
        else:
            found.append(following or last)
    return found[::-1]


def _key(line: Line) -> Key:
    return (line.writer, 0) if line.writer else ("", line.stretch)


def _called(key: Key, lines: Sequence[Line], owners: Sequence[frozenset[Key]]) -> str:
    """Return the name of a piece: its writer, or its first and last line."""
    writer, _ = key
    if writer:
        parts = [part for part in writer.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        return "/".join("".join(c if c.isprintable() else "-" for c in part) for part in parts) or "unnamed"
    numbers = [n for n, (line, owner) in enumerate(zip(lines, owners, strict=True), 1) if key in owner and line.stretch]
    return f"lines {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"


@dataclass(frozen=True, slots=True)
class _Text:
    data: bytes

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self.data)
