"""Files that people paste into a ticket: ``cat replication-offset-checkpoint``, and output of Kafka's commands.

A text has such a file where a line names the file and the lines below it are its content: the version, the number of
entries, the entries. The line, or a heading above it, may also name the broker and the directory. Each file becomes a
source of its own with the path that it had, so that it is read like any other of its name. The lines of output of
commands are one source together.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from parsers.excerpts.headings import heading
from parsers.excerpts.kinds import fence_of
from parsers.excerpts.pieces import PIECE
from parsers.files.sources import Source
from parsers.formats import command_output
from parsers.formats.epoch_checkpoint import FILE as EPOCHS
from parsers.formats.offset_checkpoint import FILES

_NAMES: Final = "|".join(re.escape(name) for name in (*FILES, EPOCHS))
_NAMED: Final = re.compile(rf"(?P<folder>[\w.~-]+)?/?(?<![\w-])(?P<file>{_NAMES})(?![\w-])")
_DIRECTORY: Final = re.compile(r"(?<![\w.-])[A-Za-z0-9._-]*[A-Za-z_][A-Za-z0-9._-]*-[0-9]{1,9}(?![\w-])")
_BROKER: Final = re.compile(
    r"(?i)(?:broker|kafka|node|server|replica)(?:[ _.#:=-]{0,2}id)?[ _.#:=-]{0,2}(?P<number>[0-9]{1,9})(?![\w.])"
)
_DRESSED: Final = re.compile(r"^(?:[ \t]*(?:>|&gt;))*[ \t]*(?P<inner>.*?)[ \t]*$")
_NUMBER: Final = re.compile(r"^[0-9]{1,9}$")
_FIELDS: Final = {EPOCHS: 2}
_OTHERS: Final = 3
"""Fields of an entry, in the epoch file and in the files of offsets."""
_NEAR: Final = 4
"""Lines between the one that names a file and its first line: fences, blank lines, an answer's greeting."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A line that names a file.

    Attributes:
        file: its name.
        folder: name of its directory, or "".
        broker: id of its broker, or "".
    """

    file: str
    folder: str
    broker: str


def files(source: Source, data: bytes) -> list[Source]:
    """Return the checkpoint files that a text quotes.

    Args:
        source: the text.
        data: all of its bytes.
    """
    lines = [_inner(line) for line in data.decode("utf-8", "replace").split("\n")]
    found: dict[str, Source] = {}
    for name, at, count in _quoted(lines):
        said = "".join(f"{line}\n" for line in lines[at : at + count]).encode()
        owner = f"broker-{name.broker}" if name.broker else ""
        path = "/".join(part for part in (owner, name.folder, name.file) if part)
        found[path] = _quoted_file(source, path, said)
    return list(found.values())


def output(source: Source, data: bytes) -> list[Source]:
    """Return the output of Kafka's commands that a text quotes, as one file: each line at its place, others empty."""
    lines = [_inner(line) for line in data.decode("utf-8", "replace").split("\n")]
    kept = command_output.own_lines(lines)
    if not kept:
        return []
    said = "".join(f"{line if number in kept else ''}\n" for number, line in enumerate(lines, 1)).encode()
    return [_quoted_file(source, f"{command_output.NAME}.txt", said)]


def _quoted_file(source: Source, path: str, said: bytes) -> Source:
    return Source(
        f"{source.path}!/{path}",
        len(said),
        _Content(said),
        stored=f"{PIECE} in {source.stored}" if source.stored else PIECE,
        beginning=said,
        digest=hashlib.sha256(said).hexdigest(),
    )


def _inner(line: str) -> str:
    found = _DRESSED.match(line.rstrip("\r"))
    return found["inner"] if found is not None else line


def _quoted(lines: Sequence[str]) -> Iterator[tuple[_Name, int, int]]:
    """Yield the files in some lines: the name, the first line and the number of lines."""
    name: _Name | None = None
    owner, named_at = "", 0
    for at, line in enumerate(lines):
        told = heading(line).removeprefix("broker-")
        owner = told if _NUMBER.match(told) else owner
        if (found := _named(line, owner)) is not None:
            name, named_at = found, at
        elif name is not None and (count := _length(lines, at, name)):
            yield name, at, count
            name = None
        elif at - named_at > _NEAR:
            name = None


def _named(line: str, owner: str) -> _Name | None:
    """Return the file that a line names; of another partition's directory, by its path or in words."""
    found = _NAMED.search(line)
    if found is None or fence_of(line) is not None:
        return None
    rest = line[: found.start()] + " " + line[found.end() :]
    brokers = list(_BROKER.finditer(rest))
    folder = found["folder"] or ""
    if found["file"] == EPOCHS and _DIRECTORY.fullmatch(folder) is None:
        words = _BROKER.sub(" ", rest)
        folder = next((one[0] for one in _DIRECTORY.finditer(words)), "")
    elif found["file"] != EPOCHS:
        folder = ""
    return _Name(found["file"], folder, brokers[-1]["number"] if brokers else owner)


def _length(lines: Sequence[str], at: int, name: _Name) -> int:
    """Return the number of lines of a checkpoint file that begins at a line; 0 if none does."""
    if lines[at] != "0" or at + 1 >= len(lines) or not _NUMBER.match(lines[at + 1]):
        return 0
    announced, fields = int(lines[at + 1]), _FIELDS.get(name.file, _OTHERS)
    entries = 0
    for line in lines[at + 2 : at + 2 + announced]:
        parts = line.split()
        if len(parts) != fields or not all(_NUMBER.match(part[:9]) for part in parts[-2:]):
            break
        entries += 1
    whole_name = name.file != EPOCHS or name.folder
    return 2 + entries if entries and whole_name else 0


@dataclass(frozen=True, slots=True)
class _Content:
    data: bytes

    def __call__(self) -> BinaryIO:
        return io.BytesIO(self.data)
