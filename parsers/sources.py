"""The files that were handed over: found in a fixed order, opened read-only, told apart later by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the evidence.

    Attributes:
        path: path to show, with "/" between parts, beginning as the user gave it.
        size: bytes.
        open: opens it for reading from its start.
        problem: why it cannot be read, or "".
    """

    path: str
    size: int
    open: Callable[[], BinaryIO]
    problem: str = ""

    @property
    def name(self) -> str:
        """File name."""
        return PurePosixPath(self.path).name

    @property
    def parent(self) -> str:
        """Name of the directory it lies in."""
        return PurePosixPath(self.path).parent.name

    def head(self) -> bytes:
        """Its first bytes.

        Raises:
            OSError: it cannot be read.
        """
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    def sha256(self) -> str:
        """Hash of its content.

        Raises:
            OSError: it cannot be read.
        """
        with self.open() as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def _opener(path: str) -> Callable[[], BinaryIO]:
    return lambda: open(path, "rb")


def walk(paths: Sequence[str]) -> Iterator[Source]:
    """Every regular file below the paths, in the order of the paths and of their names.

    Links are followed only where the user named one; nothing is written and nothing is locked.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    seen: set[str] = set()
    for given in paths:
        root = Path(given)
        if not root.exists():
            raise FileNotFoundError(given)
        if not root.is_dir():
            yield from _one(root, given, seen)
            continue
        for directory, names, files in os.walk(root, onerror=None):
            names.sort()
            for name in sorted(files):
                path = Path(directory) / name
                if path.is_symlink():
                    continue
                shown = PurePosixPath(given.rstrip("/") or "/") / path.relative_to(root).as_posix()
                yield from _one(path, str(shown), seen)


def _one(path: Path, shown: str, seen: set[str]) -> Iterator[Source]:
    real = os.path.realpath(path)
    if real in seen:
        return
    seen.add(real)
    try:
        state = path.stat()
    except OSError as error:
        yield Source(shown, 0, _opener(real), f"cannot be read: {error.strerror}")
        return
    if not path.is_file():
        yield Source(shown, 0, _opener(real), "not a regular file")
        return
    problem = "" if os.access(real, os.R_OK) else "cannot be read: permission denied"
    yield Source(shown, state.st_size, _opener(real), problem)
