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
from parsers.excerpts.gate import times_out_of_order
from parsers.excerpts.kinds import Kind
from parsers.excerpts.pieces import CONTAINER, PIECE
from parsers.files.sources import HEAD_BYTES, Source
from parsers.text.lines import plain

_MARK: Final = b"\xef\xbb\xbf"

Key = tuple[str, int]
"""Owner of lines: a writer, or a stretch whose writer is unknown."""


def pieces(source: Source, data: bytes, *, marked: bool = False, mixed: bool = False) -> Iterator[Source] | None:
    """Return the pieces of an excerpt; None if a text is none.

    Args:
        source: a text.
        data: all of its bytes.
        marked: a collector's prefix that names the writer was found in most of its lines: names alone are no evidence
            then.
        mixed: something else was beside its lines, so that they are an excerpt if any of them begins an event.
    """
    try:
        text = plain(data.removeprefix(_MARK)).decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = dissected(text)
    if times_out_of_order(data):
        found.signs.add("order")
    if mixed and any(line.begins for line in found.lines):
        found.signs.add("mixed")
    return _pieces(source, data, found) if found.signs - (NAMES if marked else frozenset()) else None


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
