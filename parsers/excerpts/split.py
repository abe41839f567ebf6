"""An excerpt as sources whose lines are those of a log again.

Lines whose writer is named (by what stands before them, by the heading above) make one source a writer. Others make one
source for each stretch of lines between fences and prose: that two stretches are of one broker is nowhere said. In each
source lines stand at the numbers that they have in the text; what is not of it is a blank line there. Prose and fences
stand in the source that follows them.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from parsers.excerpts.dissect import Excerpt, Line, dissected
from parsers.excerpts.dressings import NAMES
from parsers.excerpts.gate import may_be_excerpt, out_of_order
from parsers.excerpts.kinds import Kind
from parsers.lines import plain
from parsers.sources import HEAD_BYTES, Source

PIECE: Final = "part of a log, an excerpt"
"""How a source is stored that is a piece of an excerpt."""

CONTAINER: Final = "excerpts"
MOST_BYTES: Final = 256 << 10
"""Of a text that may be an excerpt. An issue of GitHub holds 64 KiB at most, one of Jira 32."""

_MARK: Final = b"\xef\xbb\xbf"

Key = tuple[str, int]
"""Whose lines: a writer's, or those of a stretch whose writer nothing names."""


def is_piece(source: Source) -> bool:
    """Whether a source is a piece of an excerpt."""
    return source.stored.startswith(PIECE)


def pieces(source: Source, head: bytes, *, marked: bool = False) -> Iterator[Source] | None:
    """The pieces of an excerpt; None where a text is none.

    Args:
        source: a text.
        head: its first bytes.
        marked: a collector's way of naming the writer was found in most of its lines: names alone tell nothing then.

    Raises:
        OSError: it cannot be read.
    """
    data = _content(source, head)
    if data is None or not may_be_excerpt(data):
        return None
    try:
        text = plain(data.removeprefix(_MARK)).decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = dissected(text)
    if out_of_order(data):
        found.signs.add("order")
    return _pieces(source, data, found) if found.signs - (NAMES if marked else frozenset()) else None


def _content(source: Source, head: bytes) -> bytes | None:
    """All bytes of a text that is short enough; of a member of a compressed archive only where its first bytes ask for
    it, as each look at one may expand the archive once more.
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
    """Whether a file is called as one may be that somebody pasted lines into: neither settings nor programs, nor JSON,
    as reports of other tools quote lines too. That may stand in standard input.
    """
    return "." not in name or ".log" in name or name.lower().endswith(_ENDINGS)


def _owners(lines: Sequence[Line]) -> list[frozenset[Key]]:
    """Whose piece each line is in: in none for what is no line of a log and follows the last of them."""
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
            found.append(frozenset(in_stretch[line.stretch]))  # of all who write there
        else:
            found.append(following or last)
    return found[::-1]


def _key(line: Line) -> Key:
    return (line.writer, 0) if line.writer else ("", line.stretch)


def _called(key: Key, lines: Sequence[Line], owners: Sequence[frozenset[Key]]) -> str:
    """What a piece is called: after its writer, or after its first and last line."""
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
