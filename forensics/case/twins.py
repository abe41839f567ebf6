"""Duplicate evidence: counted once, with a notice.

A log is identified by its content alone, because its times make it unique. If it was copied while its broker continued
to write, it is the beginning of the later copy and adds nothing. Data files of different brokers are often equal byte
by byte. So a folder of data counts as a copy only if it belongs to the same log directory: equal ``meta.properties``,
which name the broker. It must also have the same place in it and hold the same files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

import polars as pl

from forensics.case.owners import by_folder
from parsers.file_reading import FileReading, note
from parsers.files.sources import Source
from parsers.takers import log_files

COPY = "copy"
_BLOCK = 1 << 20

Opening = Callable[[Source], bytes]
"""Returns what logs with the same beginning have in common, or a key for it; empty for binary files."""


class Twin(NamedTuple):
    """The source that replaces a duplicate source.

    Attributes:
        of: position of the source that replaces it.
        part: it is only the beginning of that source.
    """

    of: int
    part: bool = False


def copies(
    sources: Sequence[Source],
    *,
    opening: Opening | None = None,
    is_log: Callable[[Source], bool] | None = None,
) -> dict[int, Twin]:
    """Return duplicate sources, by their positions.

    Args:
        sources: all sources of the case.
        opening: returns beginnings, if they were read before.
        is_log: recognises a log.
    """
    whole = [n for n, source in enumerate(sources) if not source.problem and not source.container]
    found = _folders(sources, whole)
    found |= _logs(sources, [n for n in whole if n not in found], opening or _opening, is_log or _is_log)
    return found


def as_copy(of: Source, twin: Twin) -> FileReading:
    """Return the contents that are listed for a copy."""
    if twin.part:
        return FileReading(COPY, notices=note(f"an earlier copy of {of.path}, which begins with it: counted once"))
    return FileReading(COPY, notices=note(f"the same bytes as {of.path}: counted once"))


def leave_dumps_of_segments(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> None:
    """Leave out the output of kafka-dump-log for segments that are in the evidence, in whatever folder.

    A dump of another cluster's broker of the same id is no copy.
    """
    places = [
        (name, broker, found.topic, found.partition)
        for (_, found), broker, name in zip(files, owner, cluster, strict=True)
    ]
    at_hand = {place for (_, found), place in zip(files, places, strict=True) if found.format == "segment"}
    for (_, found), place in zip(files, places, strict=True):
        if found.format == "dump-log" and place in at_hand:
            found.batches = found.batches.clear()
            found.directory_state = None
            said = note("the data directory of this partition is at hand: the dump of its segments is not used")
            found.notices = pl.concat([found.notices, said])


def _logs(
    sources: Sequence[Source], among: Sequence[int], opening: Opening, is_log: Callable[[Source], bool]
) -> dict[int, Twin]:
    alike: dict[bytes, list[int]] = {}
    for number in among:
        source = sources[number]
        if source.parent.endswith("-checkpoint") or source.name.endswith((".properties", ".checkpoint")):
            continue
        if key := opening(source):
            alike.setdefault(key, []).append(number)
    found: dict[int, Twin] = {}
    for numbers in alike.values():
        if len(numbers) > 1 and is_log(sources[numbers[0]]):
            found |= _stated_already(sources, numbers)
    return found


def _stated_already(sources: Sequence[Source], numbers: Sequence[int]) -> dict[int, Twin]:
    """Return, of files with the same beginning, those that equal another one or its beginning.

    Each file is read twice at most. Logs in folders of different brokers may begin with the same lines if they have
    only a few; neither is a copy then.
    """
    first: dict[tuple[int, str], int] = {}
    found: dict[int, Twin] = {}
    for number in numbers:
        if (content := _content(sources[number])) is not None:
            original = first.setdefault(content, number)
            if original != number:
                found[number] = Twin(original)
    left = sorted(first, reverse=True)  # the longest first: its beginning needs no other file
    whose = {n: by_folder([str(folder) for folder in PurePosixPath(sources[n].path).parents]) for n in first.values()}
    parts: dict[int, int] = {}
    for at, content in enumerate(left):
        number = first[content]
        shorter = [
            (length, digest)
            for length, digest in left[at + 1 :]
            if (other := first[length, digest]) not in parts
            and length < content[0]
            and (whose[other] == whose[number] or None in (whose[other], whose[number]))
        ]
        if number in parts or not shorter:
            continue
        begins = _beginnings(sources[number], [length for length, _ in shorter])
        parts |= {first[other]: number for other in shorter if begins.get(other[0]) == other[1]}
    found |= {part: Twin(of, part=True) for part, of in parts.items()}
    return {number: Twin(parts[t.of], part=True) if t.of in parts else t for number, t in found.items()}


def _content(source: Source) -> tuple[int, str] | None:
    """Length and hash of what is in a file; None where it cannot be read."""
    if source.digest is not None and (source.place is not None or source.archive):
        return source.size, source.digest
    digest, length = hashlib.sha256(), 0
    try:
        with source.open() as stream:
            while data := stream.read(_BLOCK):
                digest.update(data)
                length += len(data)
    except OSError:
        return None
    return length, digest.hexdigest()


def _beginnings(source: Source, lengths: Sequence[int]) -> dict[int, str]:
    """Hashes of the first so many bytes of a file, by how many."""
    found: dict[int, str] = {}
    digest, at = hashlib.sha256(), 0
    try:
        with source.open() as stream:
            for length in sorted(set(lengths)):
                while at < length and (data := stream.read(min(_BLOCK, length - at))):
                    digest.update(data)
                    at += len(data)
                if at == length:
                    found[length] = digest.hexdigest()
    except OSError:
        return found
    return found


def _folders(sources: Sequence[Source], among: Sequence[int]) -> dict[int, Twin]:
    inside: dict[str, list[int]] = {}
    roots: dict[str, str] = {}
    for number in among:
        folder = str(PurePosixPath(sources[number].path).parent)
        inside.setdefault(folder, []).append(number)
        if sources[number].name == "meta.properties":
            roots[folder] = _digest(sources[number])
    if len(set(roots.values())) == len(roots):
        return {}
    same: dict[tuple[str, str], list[str]] = {}
    for folder in inside:
        above = [folder, *[str(parent) for parent in PurePosixPath(folder).parents]]
        root = next((parent for parent in above if parent in roots), None)
        if root is not None and roots[root]:
            same.setdefault((roots[root], folder[len(root) :]), []).append(folder)
    found: dict[int, Twin] = {}
    for folders in same.values():
        first: dict[frozenset[tuple[str, str]], str] = {}
        for folder in folders if len(folders) > 1 else []:
            content = frozenset((sources[n].name, _digest(sources[n])) for n in inside[folder])
            original = first.setdefault(content, folder)
            if original != folder:
                names = {sources[n].name: n for n in inside[original]}
                found |= {n: Twin(names[sources[n].name]) for n in inside[folder]}
    return found


def _opening(source: Source) -> bytes:
    try:
        return log_files.opening(source.head())
    except OSError:
        return b""


def _is_log(source: Source) -> bool:
    return log_files.is_text(source, source.head())


def _digest(source: Source) -> str:
    try:
        return source.sha256()
    except OSError:
        return ""
