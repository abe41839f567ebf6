"""The same evidence handed in twice: counted once, and said so.

A log is told by its content alone: its times make it the only one of its kind. Data files of different brokers are
often equal byte by byte, so a folder of data counts as a copy only where it belongs to the same log directory (equal
``meta.properties``, which name the broker), lies at the same place in it, and holds the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import polars as pl

from parsers import take_text
from parsers.file_reading import FileReading, note
from parsers.sources import Source

COPY = "copy"


Head = Callable[[Source], bytes]
"""Gives the first bytes of a source, or what stands for them; nothing where it has none or they are no text."""


def copies(
    sources: Sequence[Source],
    *,
    head: Head | None = None,
    is_text: Callable[[Source, bytes], bool] = take_text.is_text,
) -> dict[int, int]:
    """Sources that say nothing new: their positions, and the position of the one that stands for each.

    Args:
        sources: all sources of the case.
        head: how to get at first bytes, where they were looked at before.
        is_text: how to tell a log, given source and head.
    """
    whole = [n for n, source in enumerate(sources) if not source.problem and not source.container]
    found = _folders(sources, whole)
    found |= _logs(sources, [n for n in whole if n not in found], head or _head, is_text)
    return found


def as_copy(of: Source) -> FileReading:
    """What is listed for a copy."""
    return FileReading(COPY, notices=note(f"the same bytes as {of.path}: counted once"))


def leave_dumps_of_segments(files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None]) -> None:
    """Where a segment is at hand, what kafka-dump-log printed of it adds nothing."""
    at_hand = {
        (broker, found.topic, found.partition)
        for (_, found), broker in zip(files, owner, strict=True)
        if found.format == "segment"
    }
    for (_, found), broker in zip(files, owner, strict=True):
        if found.format == "dump-log" and (broker, found.topic, found.partition) in at_hand:
            found.batches = found.batches.clear()
            found.directory_state = None
            said = note("the data directory of this partition is at hand: the dump of its segments is not used")
            found.notices = pl.concat([found.notices, said])


def _logs(
    sources: Sequence[Source], among: Sequence[int], head_of: Head, is_text: Callable[[Source, bytes], bool]
) -> dict[int, int]:
    by_head: dict[bytes, list[int]] = {}
    for number in among:
        source = sources[number]
        if source.parent.endswith("-checkpoint") or source.name.endswith((".properties", ".checkpoint")):
            continue
        head = head_of(source)
        if head and b"\0" not in head:
            by_head.setdefault(head, []).append(number)
    found: dict[int, int] = {}
    for head, numbers in by_head.items():
        if len(numbers) < 2 or not is_text(sources[numbers[0]], head):
            continue
        first: dict[str, int] = {}
        for number in numbers:
            digest = _digest(sources[number])
            if digest and first.setdefault(digest, number) != number:
                found[number] = first[digest]
    return found


def _folders(sources: Sequence[Source], among: Sequence[int]) -> dict[int, int]:
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
    found: dict[int, int] = {}
    for folders in same.values():
        first: dict[frozenset[tuple[str, str]], str] = {}
        for folder in folders if len(folders) > 1 else []:
            content = frozenset((sources[n].name, _digest(sources[n])) for n in inside[folder])
            original = first.setdefault(content, folder)
            if original != folder:
                names = {sources[n].name: n for n in inside[original]}
                found |= {n: names[sources[n].name] for n in inside[folder]}
    return found


def _head(source: Source) -> bytes:
    try:
        return source.head()
    except OSError:
        return b""


def _digest(source: Source) -> str:
    try:
        return source.sha256()
    except OSError:
        return ""
