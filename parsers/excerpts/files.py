"""Files that people paste into a ticket: ``cat replication-offset-checkpoint``, and output of Kafka's commands.

A text has such a file where a line names the file and the lines below it are its content: the version, the number of
entries, the entries. The line, or a heading above it, may also name the broker and the directory. Each file becomes a
source of its own with the path that it had, so that it is read like any other of its name. The lines of output of
commands are one source together.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from parsers.excerpts import split
from parsers.excerpts.headings import heading
from parsers.excerpts.kinds import fence_of
from parsers.excerpts.pieces import CONTAINER, PIECE
from parsers.files.sources import HEAD_BYTES, Source
from parsers.formats import command_output, dump_log_text
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
_DESCRIBES: Final = re.compile(r"\bPartition: ?[0-9].*\bLeader: ")
"""In a line of ``kafka-topics --describe``, also in a damaged one."""
_PAYLOAD: Final = " payload: "
_FEW: Final = 100
"""Most lines beside the output of commands that may be an excerpt."""
_MARKED_DUMP: Final = re.compile(
    r"^(?P<mark>(?:[ \t]|>|&gt;)*)(?:Dumping \S|baseOffset: [0-9]|offset: [0-9]+ position: )"
)
"""Begins output of ``kafka-dump-log``, behind the marks of a quotation or a list."""


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
        said = _joined(lines[at : at + count])
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
    said = _only(lines, kept)
    return [_quoted_file(source, f"{command_output.NAME}.txt", said)]


def mixed(source: Source, data: bytes) -> Iterator[Source] | None:
    """Return the log lines of a text and the output of Kafka's commands in it; None without log lines and fences.

    Args:
        source: the text.
        data: all of its bytes.
    """
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    kept = command_output.own_lines([_inner(line) for line in lines])
    if not kept:
        return None
    rest = _only(lines, frozenset(range(1, len(lines) + 1)) - kept)
    if logs := _log_lines(source, rest):
        return itertools.chain((replace(source, container=CONTAINER),), logs, output(source, data))
    if not any(fence_of(line) is not None for line in lines):
        return None
    alike = frozenset(number for number, line in enumerate(lines, 1) if _DESCRIBES.search(line) is not None)
    return iter((_without_others(source, data, _only([_inner(line) for line in lines], kept | alike)),))


def around_dumps(source: Source, data: bytes) -> tuple[list[tuple[str, bytes]], list[Source]]:
    """Return the dumps of a text, each with its path, and the parts of the text around them.

    Lines behind the records of a dump are not of it: a fence, words, other commands. A record may have several lines.

    Args:
        source: the text.
        data: all of its bytes.
    """
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    mark = next((match["mark"] for match in map(_MARKED_DUMP.match, lines) if match is not None), "")
    inner = [line.rstrip("\r").removeprefix(mark) for line in lines]  # blanks of a dump count
    spans = _spans_of_dumps(inner)
    dumped = frozenset(number for span in spans for number in span)
    others = frozenset(range(1, len(lines) + 1)) - dumped
    if not spans or not any(inner[number - 1].strip() for number in others):
        return [], []
    rest = _only(lines, others)
    found = [(_dumped(inner[span[0] - 1]), _joined(inner[span[0] - 1 : span[-1]])) for span in spans]
    return found, [*_log_lines(source, rest), *output(source, rest)]


def _log_lines(source: Source, rest: bytes) -> list[Source]:
    """Return the stretches of log lines in what is left of a text, as files in it: a whole log if it has many."""
    few = rest.count(b"\n") - rest.count(b"\n\n") <= _FEW
    found = list(split.pieces(source, rest, mixed=few) or ())
    if not found and not few:
        stored = f"text in {source.stored}" if source.stored else "text"
        return [replace(_quoted_file(source, source.name, rest), stored=stored)]
    if len(found) == 1:
        return [replace(found[0], path=f"{source.path}!/{source.name}")]
    return [one for one in found if not one.container]


def _spans_of_dumps(lines: Sequence[str]) -> list[range]:
    """Return the numbers, from 1, of the lines of each dump: to its last record."""
    spans: list[range] = []
    begun = last = 0
    payload = False
    for number, line in enumerate(lines, 1):
        names = dump_log_text.DUMPING.match(line) is not None
        if names and begun:
            spans.append(range(begun, last + 1))
        if names or (not begun and dump_log_text.is_entry(line)):
            begun = last = number
        elif begun and dump_log_text.belongs(line):
            last, payload = number, _PAYLOAD in line
        elif begun and last == number - 1 and payload and line and fence_of(line) is None:
            last = number  # of the record
    return [*spans, range(begun, last + 1)] if begun else spans


def _dumped(line: str) -> str:
    """Return the path that the first line of a dump names; "" if it names none."""
    found = dump_log_text.DUMPING.match(line)
    return found["path"] if found is not None else ""


def _only(lines: Sequence[str], kept: frozenset[int]) -> bytes:
    """Return a text with some of its lines, by their numbers; the others are empty there."""
    return _joined([line if number in kept else "" for number, line in enumerate(lines, 1)])


def _joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _without_others(source: Source, data: bytes, said: bytes) -> Source:
    """Return a text without the lines that are not of it."""
    return Source(
        source.path,
        len(said),
        _Content(said),
        called=source.called,
        notes=source.notes,
        stored=source.stored,
        beginning=said[:HEAD_BYTES].lstrip(b"\n"),
        digest=hashlib.sha256(data).hexdigest(),
    )


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
