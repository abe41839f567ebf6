"""Duplicate evidence: counted once, with a notice.

A log is identified by its content alone, because its times make it unique; so is a trace. If it was copied while its
broker continued to write, it is the beginning of the later copy and adds nothing. Data files of different brokers are
often equal byte by byte. So a folder of data counts as a copy only if it belongs to the same log directory: equal
``meta.properties``, which name the broker. It must also have the same place in it and hold the same files. A file of a
broker in a trace counts once if two traces of one cluster state the same of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import polars as pl

from forensics.case.log_endings import Endings
from forensics.case.owners import by_folder
from parsers.file_reading import FileReading, note
from parsers.files.sources import Source, folders_of
from parsers.formats.log_directory import DELETED_SEGMENT, DELETED_SEGMENTS, split_segment_file
from parsers.takers import log_files, trace_files

COPY = "copy"
_SEGMENTS = ("segment", DELETED_SEGMENT)
_BLOCK = 1 << 20
_FEW = 64
"""Files that begin alike. So many are compared each with each; more, as a hostile archive has, by their endings."""

T = TypeVar("T")

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
    first_lines: Opening | None = None,
    is_log: Callable[[Source], bool] | None = None,
) -> dict[int, Twin]:
    """Return duplicate sources, by their positions.

    Args:
        sources: all sources of the case.
        opening: returns beginnings, if they were read before.
        first_lines: returns those of the parts of a text, as ``parsers.takers.log_files.opening`` does.
        is_log: recognises a log.
    """
    whole = [n for n, source in enumerate(sources) if not source.problem and not source.container]
    begins, known = _if_readable(opening or _opening, b""), _if_readable(is_log or _is_log, False)
    found = _files_of_traces(sources, whole, _if_readable(first_lines or _opening, b""))
    found |= _folders(sources, [n for n in whole if n not in found])
    found |= _logs(sources, [n for n in whole if n not in found], begins, known)
    return found


def _if_readable(ask: Callable[[Source], T], otherwise: T) -> Callable[[Source], T]:
    """Return a function that asks about a source; a file may have gone since it was listed."""

    def asked(source: Source) -> T:
        try:
            return ask(source)
        except OSError:
            return otherwise

    return asked


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
        (name, broker, found.topic, found.partition, found.directory_state == DELETED_SEGMENTS)
        for (_, found), broker, name in zip(files, owner, cluster, strict=True)
    ]
    at_hand = {place for (_, found), place in zip(files, places, strict=True) if found.format in _SEGMENTS}
    for (_, found), place in zip(files, places, strict=True):
        if found.format == "dump-log" and place in at_hand:
            found.batches = found.batches.clear()
            found.directory_state = None
            said = note("the data directory of this partition is in the evidence: the dump of its segments is not used")
            found.notices = pl.concat([found.notices, said])


def _files_of_traces(sources: Sequence[Source], among: Sequence[int], opening: Opening) -> dict[int, Twin]:
    """Return files of brokers in traces that state what another file of the same path and cluster does."""
    alike: dict[str, list[int]] = {}
    clusters: dict[str, str] = {}
    for number in among:
        begin = opening(sources[number])
        if trace_files.begins_file(begin):
            alike.setdefault(trace_files.path_of(begin.partition(b"\n")[0]), []).append(number)
        elif (cluster := trace_files.cluster_of(begin)) is not None:
            clusters[sources[number].folder] = cluster
    first: dict[tuple[str, str, str], int] = {}
    found: dict[int, Twin] = {}
    for path, number in ((path, n) for path, numbers in alike.items() if len(numbers) > 1 for n in numbers):
        trace = sources[number].path.removesuffix(f"/{path}")
        content = _statements(sources[number])
        original = first.setdefault((path, clusters.get(trace, trace), content), number) if content else number
        if original != number:
            found[number] = Twin(original)
    return found


def _statements(source: Source) -> str:
    """Return a hash of what a part of a trace states, whatever the order of its fields is; "" if it cannot be read."""
    digest = hashlib.sha256()
    try:
        with source.open() as stream:
            while line := stream.readline():
                digest.update(trace_files.canonical(line))
    except OSError:
        return ""
    return digest.hexdigest()


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
    equal: dict[int, int] = {}
    for number in numbers:
        if (content := _content(sources[number])) is not None:
            original = first.setdefault(content, number)
            if original != number:
                equal[number] = original
    parts = _beginnings_of_others(sources, first)
    found = {number: Twin(parts.get(of, of), part=of in parts) for number, of in equal.items()}
    return found | {number: Twin(parts.get(of, of), part=True) for number, of in parts.items()}


def _beginnings_of_others(sources: Sequence[Source], first: dict[tuple[int, str], int]) -> dict[int, int]:
    """Return the files that are only the beginning of another one, each with that other file.

    Args:
        sources: all sources of the case.
        first: different files by length and hash of their content.
    """
    left = sorted(first, reverse=True)  # the longest first: its beginning needs no other file
    whose = {n: by_folder(folders_of(sources[n].folder)) for n in first.values()}
    endings = Endings.of(sources, first) if len(first) > _FEW else None
    parts: dict[int, int] = {}
    for at, content in enumerate(left):
        number = first[content]
        if number in parts:
            continue
        others = left[at + 1 :] if endings is None else endings.within(sources[number])
        shorter = {
            other: first[other]
            for other in others
            if other[0] < content[0] and first[other] not in parts and _may_agree(whose[first[other]], whose[number])
        }
        found = _that_begin(sources[number], shorter) if endings is None else shorter.values()
        parts |= dict.fromkeys(found, number)
    return parts


def _that_begin(source: Source, shorter: dict[tuple[int, str], int]) -> list[int]:
    """Return which shorter files are the beginning of a source; they are given by length and hash of their content."""
    begins = _beginnings(source, [length for length, _ in shorter]) if shorter else {}
    return [part for (length, digest), part in shorter.items() if begins.get(length) == digest]


def _may_agree(one: int | None, two: int | None) -> bool:
    """Return whether two brokers may be the same; None is an unknown one."""
    return one is None or two is None or one == two


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
    """Return the duplicate sources of folders that are copies: at the same place in equal log directories."""
    inside: dict[str, list[int]] = {}
    for number in among:
        inside.setdefault(sources[number].folder, []).append(number)
    roots = {
        folder: _digest(sources[number])
        for folder, numbers in inside.items()
        for number in numbers
        if sources[number].name == "meta.properties"
    }
    if len(set(roots.values())) == len(roots):
        return {}
    same: dict[tuple[str, str], list[str]] = {}
    for folder in inside:
        if (place := _place_in_directory(folder, roots)) is not None:
            same.setdefault(place, []).append(folder)
    found: dict[int, Twin] = {}
    for folders in same.values():
        if len(folders) > 1:
            found |= _equal_folders(sources, {folder: inside[folder] for folder in folders})
    return found


def _place_in_directory(folder: str, roots: dict[str, str]) -> tuple[str, str] | None:
    """Return the identity of a folder's log directory and its path in it; None outside of one that can be read.

    Args:
        folder: path of the folder.
        roots: hash of the ``meta.properties`` of each log directory, "" for one that cannot be read.
    """
    root = next((parent for parent in folders_of(folder) if parent in roots), None)
    return (roots[root], folder[len(root) :]) if root is not None and roots[root] else None


def _equal_folders(sources: Sequence[Source], inside: dict[str, list[int]]) -> dict[int, Twin]:
    """Return the files of each folder that holds the same files as one before it.

    Args:
        sources: all sources of the case.
        inside: positions of the files in each folder.
    """
    first: dict[frozenset[tuple[str, str]], list[int]] = {}
    found: dict[int, Twin] = {}
    for numbers in inside.values():
        content = frozenset((sources[n].name, _digest(sources[n])) for n in numbers if not _is_deleted(sources[n]))
        original = first.setdefault(content, numbers)
        if original is not numbers:
            names = {sources[n].name: n for n in original}
            found |= {n: Twin(names[name]) for n in numbers if (name := sources[n].name) in names}
    return found


def _is_deleted(source: Source) -> bool:
    """Return whether a broker is about to remove a file, which a later copy of its folder lacks."""
    file = split_segment_file(source.name)
    return file is not None and file.mark == "deleted"


def _opening(source: Source) -> bytes:
    return log_files.opening(source.head())


def _is_log(source: Source) -> bool:
    return log_files.is_log(source, source.head())


def _digest(source: Source) -> str:
    try:
        return source.sha256()
    except OSError:
        return ""
