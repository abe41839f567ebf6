"""Writing of files: beside their target, and renamed once they are complete. The evidence is never overwritten.

A scan that is interrupted, or a disk that is full, leaves the file that was there before, or none: never a half one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Final, NamedTuple

from forensics.errors import UnwritableOutput
from forensics.overwriting import identity, replaceable
from parsers.encodings.json_text import STEERING, escaped
from parsers.files.remote import is_remote
from parsers.files.sources import Source

_IN_TEXT: Final = re.compile(rf"[\x00-\x1f{STEERING}]")


def plain(text: str) -> str:
    r"""Return a text that cannot steer a terminal: evidence is written by others.

    >>> plain("a\x1b[2Jb\u200e")
    'a\\x1b[2Jb\\u200e'
    """
    return _IN_TEXT.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def as_json(value: object, *, indent: int | None = None) -> str:
    r"""Return a value as JSON, with control characters for terminals and reading order escaped.

    >>> print(as_json({"topic": "a\x9b\u202eb\xe9"}))
    {"topic": "a\u009b\u202ebé"}
    """
    return escaped(json.dumps(value, indent=indent, ensure_ascii=False))


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
        yield from _each(value) if isinstance(value, Iterator) else (escaped(_indented(value, "\n ")),)
        begin = ",\n "
    yield "{}" if begin == "{\n " else "\n}"


def _each(values: Iterator[object]) -> Iterator[str]:
    """Yield the members of a list that is a member of an object."""
    begin, below = "[\n  ", "\n  "
    for value in values:
        yield f"{begin}{escaped(_indented(value, below))}"
        begin = ",\n  "
    yield "[]" if begin == "[\n  " else "\n ]"


_PLACE: Final = re.compile(r"((?<!\\)(?:\\\\)*)\\u0000([0-9]+);")


def place(number: int) -> str:
    """Return what is in an ``Alike`` in place of one of the texts that differ; no path and no name can contain it."""
    return f"\0{number};"


class Alike:
    """A value of which a document has many that differ in a few texts alone: the rest is put into JSON once.

    Args:
        value: with ``place(0)`` where the first of these texts belongs, and so on.
    """

    def __init__(self, value: object) -> None:
        self._value = value
        self._pieces: dict[str, tuple[list[str], list[int]]] = {}

    def text(self, texts: Sequence[str], line: str) -> str:
        r"""Return the value with some texts as JSON; for ``line`` see ``_indented``.

        >>> Alike({"missing": "logs of \x000;, not \\u00000;"}).text(['a"b'], "")
        '{ "missing": "logs of a\\"b, not \\\\u00000;"}'
        """
        if line not in self._pieces:
            around = _PLACE.sub("\\1\0\\2\0", _indented(self._value, line)).split("\0")
            self._pieces[line] = around, [int(number) for number in around[1::2]]
        around, places = self._pieces[line]
        encoded = [encode_basestring(text)[1:-1] for text in texts]
        around[1::2] = [encoded[number] for number in places]
        return "".join(around)


class Named(NamedTuple):
    """One of the values that are ``Alike``, with its own texts."""

    alike: Alike
    texts: Sequence[str]


def _indented(value: object, line: str) -> str:
    """Return what ``json.dumps`` does with an indent of one, which takes it ten times as long.

    Args:
        value: the value.
        line: a line end, and the spaces before what begins a line at this depth.
    """
    return _TEXTS.get(type(value), _other)(value, line)


def _object(value: dict[object, object], line: str) -> str:
    if not value:
        return "{}"
    inner = f"{line} "
    members = [
        f"{encode_basestring(name if isinstance(name, str) else json.dumps(name))}: "
        f"{encode_basestring(one) if type(one) is str else _TEXTS.get(type(one), _other)(one, inner)}"
        for name, one in value.items()
    ]
    return f"{{{inner}{f',{inner}'.join(members)}{line}}}"


def _array(value: Sequence[object], line: str) -> str:
    if not value:
        return "[]"
    inner = f"{line} "
    return f"[{inner}{f',{inner}'.join([_TEXTS.get(type(one), _other)(one, inner) for one in value])}{line}]"


def _other(value: object, line: str) -> str:
    """Return a value of another type; also of one that is made of a type of JSON, such as a member of an ``Enum``."""
    for base, text in _TEXTS.items():
        if isinstance(value, base):
            return text(value, line)
    return json.dumps(value)


_TEXTS: Final[Mapping[type, Callable[[Any, str], str]]] = {
    Named: lambda value, line: value.alike.text(value.texts, line),
    str: lambda value, _: encode_basestring(value),
    type(None): lambda *_: "null",
    bool: lambda value, _: "true" if value else "false",
    int: lambda value, _: int.__repr__(value),
    dict: _object,
    list: _array,
    tuple: _array,
}
"""The text of a value, by its type."""


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


@contextlib.contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """Make a folder, and those above it; if what follows fails, those that were not there before are removed again.

    Raises:
        OSError: it cannot be made.
    """
    missing = [one for one in (folder, *folder.absolute().parents) if not one.exists()]
    with contextlib.ExitStack() as undo:
        for one in reversed(missing):
            undo.callback(_removed_if_empty, one)
        folder.mkdir(parents=True, exist_ok=True)
        yield
        undo.pop_all()


@contextlib.contextmanager
def new_folder(into: Path) -> Iterator[Path]:
    """Yield a folder whose content becomes that of another one when all went well; else nothing is left of it.

    A folder that is there already, such as the working directory or a volume of a container, stays the same one.

    Args:
        into: a folder that is not there yet, or empty.

    Raises:
        UnwritableOutput: it cannot be written.
    """
    there = into.is_dir()
    part = (into if there else into.parent) / f".{into.absolute().name[:200]}.{os.getpid()}.part"
    try:
        with folder_made(part.parent):
            part.mkdir()
            try:
                yield part
                for one in sorted(part.iterdir()) if there else ():
                    one.rename(into / one.name)
                if not there:
                    part.rename(into)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise UnwritableOutput(
            f"{into}: {error.strerror or error}; name a folder that can be written, with room in it"
        ) from None


def _removed_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


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


def writable(*paths: str | None, inputs: Iterable[str | None] = ()) -> None:
    """Make sure that files can be written before anything is read: a scan may take an hour.

    Args:
        paths: files, made later; None and ``-`` (standard output) are passed over.
        inputs: files that are read beside the evidence.

    Raises:
        UnwritableOutput: one of them is a folder, or its folder is missing or cannot be written to; or it would replace
            what ``replaceable`` keeps.
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
    replaceable(paths, inputs)


def evidence_around(folder: Path, inputs: Iterable[str]) -> str | None:
    """Return the path of the evidence in which a folder is, or None; of a file of a partition it is its directory.

    A bind mount shows a folder at another path too, and so it does a part of one. So folders are compared by their
    identity on disk as well, and by their paths within their file systems.
    """
    here, mounts = folder.resolve(), _mounts()
    around, stored = {identity(one) for one in (here, *here.parents)} - {None}, _stored_at(here, mounts)
    places = ((path, _taken_in(path)) for path in inputs if not is_remote(path))
    return next(
        (
            path
            for path, real in places
            if here.is_relative_to(real)
            or identity(real) in around
            or any(stored.is_relative_to(one) for one in _shown_below(real, mounts))
        ),
        None,
    )


class _Mount(NamedTuple):
    """A mount of Linux: the folder at ``point`` is ``stored``, a folder of a file system."""

    point: Path
    stored: Path


_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


def _mounts() -> list[_Mount]:
    """Return all mounts, a later one over an earlier one (proc(5), /proc/pid/mountinfo); none on other systems.

    A folder of a file system is written as its path there below the numbers of the device.
    """
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    rows = [line.split(" ") for line in lines]
    return [_Mount(_unescaped(row[4]), Path(f"/{row[2]}{_unescaped(row[3])}")) for row in rows if row[3][:1] == "/"]


def _unescaped(path: str) -> Path:
    return Path(_ESCAPED.sub(lambda found: chr(int(found[1], 8)), path))


def _stored_at(folder: Path, mounts: Sequence[_Mount]) -> Path:
    """Return where a folder is stored: the deepest mount above it decides, and of equal ones the last."""
    above = [one for one in mounts if folder.is_relative_to(one.point)]
    mount = max(reversed(above), key=lambda one: len(one.point.parts), default=None)
    return folder if mount is None else mount.stored / folder.relative_to(mount.point)


def _shown_below(folder: Path, mounts: Sequence[_Mount]) -> list[Path]:
    """Return where a folder is stored, and what is mounted below it."""
    return [_stored_at(folder, mounts), *(one.stored for one in mounts if one.point.is_relative_to(folder))]


def outside(targets: Iterable[str | None], inputs: Iterable[str]) -> None:
    """Make sure that no file is written into the folders of the evidence: the next scan would read it as evidence.

    Args:
        targets: files or folders of files, made later; None and ``-`` (standard output) are passed over.
        inputs: the evidence.

    Raises:
        UnwritableOutput: one of them is.
    """
    given = [*inputs]
    for target in targets:
        if target is None or target == "-":
            continue
        path = Path(target).absolute()
        around = evidence_around(path if path.is_dir() else path.parent, given)
        if around is not None:
            raise UnwritableOutput(
                f"{target}: is inside the evidence ({around}), which is never written to; name a file outside of it"
            )


def _taken_in(path: str) -> Path:
    from parsers.formats.log_directory import split_directory  # with all formats, which the list of commands lacks

    real = Path(path).resolve()
    try:
        is_of_partition = real.is_file() and split_directory(real.parent.name) is not None
    except PermissionError:  # an error of its reader
        return real
    return real.parent if is_of_partition else real


def refuse(path: Path, evidence: Iterable[Source]) -> None:
    """Make sure that a target is no evidence, under whatever name: a hard link is the same file.

    Raises:
        UnwritableOutput: it is.
    """
    known = identity(path)
    if known is None:
        return
    files = {source.place.file if source.place is not None else _file(source) for source in evidence}
    if any(identity(Path(file)) == known for file in files):
        raise UnwritableOutput(f"{path} is part of the evidence, which is never written to; name another file")


def _file(source: Source) -> str:
    """Return the file on disk that contains a source."""
    return source.path.partition("!/")[0]
