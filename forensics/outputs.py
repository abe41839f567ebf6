"""Writing of files: beside their target, and renamed once they are complete. The evidence is never overwritten.

A scan that is interrupted, or a disk that is full, leaves the file that was there before, or none: never a half one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from forensics.errors import UnwritableOutput
from parsers.sources import Source

_STEERING = re.compile(r"[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def as_json(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON, with control characters for terminals and reading order escaped.

    >>> print(as_json({"topic": "a\x9b\u202eb\xe9"}))
    {"topic": "a\u009b\u202ebé"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # they occur only in strings


def members_as_json(members: Iterable[tuple[str, object]]) -> str:
    r"""Return an object as JSON, indented by one space a level; what an iterator gives is written one by one.

    So the plain values of one partition are in memory at a time, and not those of all.

    >>> print(members_as_json([("a", {"b": 1}), ("c", iter([[2], 3])), ("d", iter([]))]))
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
    texts = (f" {as_json(name)}: {_below(value, 1)}" for name, value in members)
    return "{\n" + ",\n".join(texts) + "\n}"


def _below(value: object, depth: int) -> str:
    """Return a value as it is written that many levels deep; no string of JSON contains a line end."""
    if not isinstance(value, Iterator):
        return as_json(value, indent=1).replace("\n", f"\n{' ' * depth}")
    inner = f"\n{' ' * (depth + 1)}"
    texts = f",{inner}".join(_below(one, depth + 1) for one in value)
    return f"[{inner}{texts}\n{' ' * depth}]" if texts else "[]"


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


def put_text(path: str, text: str, evidence: Iterable[Source] = ()) -> None:
    """Write a text in place of what is there.

    Args:
        path: where.
        text: what.
        evidence: what must not be written over.

    Raises:
        UnwritableOutput: it cannot be written, or is evidence.
    """
    refuse(Path(path), evidence)
    with beside([Path(path)]) as (part,), part.open("w", encoding="utf-8") as stream:
        stream.write(text)


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
