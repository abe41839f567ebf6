"""Writing of files: beside their target, and renamed once they are complete. The evidence is never overwritten.

A scan that is interrupted, or a disk that is full, leaves the file that was there before, or none: never a half one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from json.encoder import encode_basestring
from pathlib import Path

from forensics.errors import UnwritableOutput
from parsers.files.sources import Source

_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def as_json(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON, with control characters for terminals and reading order escaped.

    >>> print(as_json({"topic": "a\x9b\u202eb\xe9"}))
    {"topic": "a\u009b\u202ebé"}
    """
    return _safe(json.dumps(value, indent=indent, ensure_ascii=False))


def _safe(text: str) -> str:
    """Return JSON in which no character steers a terminal; they occur only in strings."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def members_as_json(members: Iterable[tuple[str, object]]) -> Iterator[str]:
    r"""Return an object as JSON, in pieces, indented by one space a level; what an iterator gives is one piece each.

    So the text of one partition is in memory at a time, and not that of all.

    >>> print("".join(members_as_json([("a", {"b": 1}), ("c", iter([[2], 3])), ("d", iter([]))])))
    {
     "a": {
      "b": 1
     },
     "c": [
      [
       2
      ],
      3
     ],
     "d": []
    }
    """
    begin = "{\n "
    for name, value in members:
        yield f"{begin}{as_json(name)}: "
        yield from _each(value) if isinstance(value, Iterator) else (_safe(_indented(value, "\n ")),)
        begin = ",\n "
    yield "{}" if begin == "{\n " else "\n}"


def _each(values: Iterator[object]) -> Iterator[str]:
    """Yield the members of a list that is a member of an object."""
    begin, below = "[\n  ", "\n  "
    for value in values:
        yield f"{begin}{_safe(_indented(value, below))}"
        begin = ",\n  "
    yield "[]" if begin == "[\n  " else "\n ]"


def _indented(value: object, line: str) -> str:
    """Return what ``json.dumps`` does with an indent of one, which takes it five times as long.

    Args:
        value: the value.
        line: a line end, and the spaces before what begins a line at this depth.
    """
    if isinstance(value, str):
        return encode_basestring(value)
    inner = f"{line} "
    if isinstance(value, dict) and value:
        between = f",{inner}"
        members = [
            f"{encode_basestring(name if isinstance(name, str) else json.dumps(name))}: {_indented(one, inner)}"
            for name, one in value.items()
        ]
        return f"{{{inner}{between.join(members)}{line}}}"
    if isinstance(value, list | tuple) and value:
        between = f",{inner}"
        return f"[{inner}{between.join([_indented(one, inner) for one in value])}{line}]"
    return json.dumps(value)


def no_formula(cell: str) -> str:
    """Return a CSV cell that no spreadsheet reads as a formula: an apostrophe precedes what begins like one.

    >>> no_formula("=1+1"), no_formula("orders")
    ("'=1+1", 'orders')
    """
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell


@contextlib.contextmanager
def beside(targets: Sequence[Path]) -> Iterator[list[Path]]:
    """Paths to write to, each in the folder of its target; they become the targets where all went well, else they go.

    What is no file, such as a device or a pipe, is written to as it is. A link stays one: what it leads to is replaced.

    Raises:
        UnwritableOutput: a target cannot be written.
    """
    at = targets[0]
    made: list[tuple[Path, Path]] = []
    try:
        for at in targets:
            real = Path(os.path.realpath(at))
            special = real.exists() and not real.is_file()
            made.append((real if special else real.with_name(f".{real.name[:200]}.{os.getpid()}.part"), real))
        yield [part for part, _ in made]
        for part, real in made:
            if part != real:
                part.replace(real)
    except OSError as error:
        raise UnwritableOutput(f"{at}: {error.strerror or error}; name a file that can be written") from None
    finally:
        for part, real in made:
            if part != real:
                part.unlink(missing_ok=True)


def put_text(path: str, pieces: Iterable[str], evidence: Iterable[Source] = ()) -> None:
    """Write a text in place of what is there.

    Args:
        path: where.
        pieces: of the text.
        evidence: what must not be written over.

    Raises:
        UnwritableOutput: it cannot be written, or is evidence.
    """
    refuse(Path(path), evidence)
    with beside([Path(path)]) as (part,), part.open("w", encoding="utf-8") as stream:
        stream.writelines(pieces)


def writable(*paths: str | None) -> None:
    """Make sure that files can be written before anything is read: a scan may take an hour.

    Args:
        paths: files, made later; None and ``-`` (standard output) are passed over.

    Raises:
        UnwritableOutput: one of them is a folder, or its folder is missing or cannot be written to.
    """
    for given in paths:
        if given is None or given == "-":
            continue
        path = Path(os.path.realpath(given))
        folder = path.parent
        if path.is_dir():
            raise UnwritableOutput(f"{given}: is a folder; name a file")
        if not folder.exists():
            raise UnwritableOutput(f"{given}: there is no folder {folder}; create it, or name another file")
        if not folder.is_dir():
            raise UnwritableOutput(f"{given}: {folder} is no folder; name another file")
        special = path.exists() and not path.is_file()
        if not os.access(path if special else folder, os.W_OK):
            raise UnwritableOutput(f"{given}: permission denied to write there; name a file that can be written")


def refuse(path: Path, evidence: Iterable[Source]) -> None:
    """Make sure that a target is no evidence, under whatever name: a hard link is the same file.

    Raises:
        UnwritableOutput: it is.
    """
    known = _identity(path)
    if known is None:
        return
    files = {source.place.file if source.place is not None else _file(source) for source in evidence}
    if any(_identity(Path(file)) == known for file in files):
        raise UnwritableOutput(f"{path} is part of the evidence, which is never written to; name another file")


def _file(source: Source) -> str:
    """Return the file on disk that contains a source."""
    return source.path.partition("!/")[0]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino
