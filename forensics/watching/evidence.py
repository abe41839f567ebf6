"""The state of files: two equal states mean that nothing was written in between."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

State = frozenset[tuple[str, int, int, int]]
"""Path, inode, size and time of change (nanoseconds) of each file."""


def state_of(paths: Sequence[str]) -> State:
    """Return the state of all files of the paths and below them; files that go away meanwhile are left out."""
    return frozenset(found for path in paths for found in _below(path))


def _below(path: str) -> Iterator[tuple[str, int, int, int]]:
    if not Path(path).is_dir():
        yield from _one(path)
        return
    for folder, names, files in os.walk(path):
        names.sort()
        for name in files:
            yield from _one(f"{folder}/{name}")


def _one(path: str) -> Iterator[tuple[str, int, int, int]]:
    try:
        found = Path(path).stat()
    except OSError:  # deleted or renamed since it was listed
        return
    if stat.S_ISREG(found.st_mode):
        yield path, found.st_ino, found.st_size, found.st_mtime_ns
