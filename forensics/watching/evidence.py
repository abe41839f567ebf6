"""The state of files: two equal states mean that nothing was written in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from parsers.walk import files

State = frozenset[tuple[str, int, int, int]]
"""Path, inode, size and time of change (nanoseconds) of each file."""


def state_of(paths: Sequence[str]) -> State:
    """Return the state of all files that a scan would read; what goes away meanwhile is left out."""
    return frozenset(found for path in paths for found in _below(path))


def _below(path: str) -> Iterator[tuple[str, int, int, int]]:
    with suppress(FileNotFoundError, PermissionError):  # of the path itself: the scan reports that
        for source in files([path]):
            if source.place is not None:
                yield from _one(source.place.file)


def _one(file: str) -> Iterator[tuple[str, int, int, int]]:
    with suppress(OSError):  # deleted or renamed since it was listed
        found = Path(file).stat()
        yield file, found.st_ino, found.st_size, found.st_mtime_ns
