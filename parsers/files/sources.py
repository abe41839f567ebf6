"""One file of the evidence, wherever its bytes are: on disk, in an archive, in a compressed file, on standard input."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from parsers.files.streams import Window

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD_BYTES = 4096


def _untouched(path: str, flags: int) -> int:
    """Open a file so that its access time, which is evidence too, stays; only its owner may (Linux, O_NOATIME)."""
    quiet = getattr(os, "O_NOATIME", 0)
    try:
        return os.open(path, flags | quiet)
    except PermissionError:
        return os.open(path, flags)


class Whole(io.FileIO):
    """A file on disk. If it became shorter since it was found, because a broker or a log rotation truncated it,
    ``problem`` is set.

    Attributes:
        problem: how much of it is gone, or "".
    """

    def __init__(self, path: str, size: int) -> None:
        super().__init__(path, opener=_untouched)
        self._size = size
        self.problem = ""

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        """Read into the buffer; 0 at the end."""
        count = super().readinto(buffer)
        if not count and (end := self.tell()) < self._size:
            self.problem = shrunk(self._size, end)
        return count

    def readall(self) -> bytes:
        """All that follows."""
        data = super().readall()
        if (end := self.tell()) < self._size:
            self.problem = shrunk(self._size, end)
        return data


def shrunk(before: int, now: int) -> str:
    """Return the notice about a file that became shorter while it was read."""
    return f"the file became shorter while it was read: {now:,} of {before:,} bytes were there; copy it and read again"


class Place(NamedTuple):
    """Position of uncompressed content in a file on disk.

    Attributes:
        file: path on disk.
        offset: first byte.
        size: bytes.
    """

    file: str
    offset: int
    size: int

    def open(self) -> BinaryIO:
        """The bytes, from the first on."""
        whole = Whole(self.file, self.offset + self.size)
        window = Window(io.BufferedReader(whole, 1 << 16), self.offset, self.size)
        return io.BufferedReader(window, 1 << 16)


def folder_of(path: str) -> str:
    """Return the folder of a path, as ``PurePosixPath(path).parent``: for each of many files that takes too long.

    >>> [folder_of(path) for path in ("a/b/c", "a", "/a", "a//b", "./a/b/")]
    ['a/b', '.', '/', 'a', 'a']
    """
    if _is_unusual(path):
        return str(PurePosixPath(path).parent)
    folder, slash, _ = path.rpartition("/")
    return folder or slash or "."


@functools.lru_cache(maxsize=1024)
def folders_of(folder: str) -> tuple[str, ...]:
    """Return a folder and all folders above it, the nearest first; cached, because many files share one.

    >>> folders_of("/a/b"), folders_of("a")
    (('/a/b', '/a', '/'), ('a', '.'))
    """
    found = [str(PurePosixPath(folder)) if _is_unusual(folder) else folder]
    while (above := folder_of(found[-1])) != found[-1]:
        found.append(above)
    return tuple(found)


def name_of(path: str) -> str:
    """Return the last part of a path, as ``PurePosixPath(path).name``.

    >>> [name_of(path) for path in ("a/b/c", "a", "/", "a/b/", ".")]
    ['c', 'a', '', 'b', '']
    """
    last = path.rpartition("/")[2]
    return last if last not in ("", ".") else PurePosixPath(path).name


_UNUSUAL: Final = re.compile(r"/(?:\.?(?:/|\Z))|\A\.(?:/|\Z)")
"""Parts of a path that ``PurePosixPath`` leaves out: empty ones, single dots, and a slash at the end."""


def _is_unusual(path: str) -> bool:
    """Return whether a path has such parts; few have what the expression would look for."""
    may_have = "//" in path or "/." in path or path[:1] == "." or path[-1:] == "/"
    return may_have and _UNUSUAL.search(path) is not None


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the evidence.

    Attributes:
        path: path to show, with "/" between parts, beginning as the user gave it; ``bundle.tar!/server.log`` in an
            archive.
        size: bytes of its content; for a compressed file, whose content size is unknown until it is read, bytes as
            stored.
        open: opens its content for reading from its start.
        problem: why it cannot be read, or "".
        called: its name without the ending of a compression; "" if that is the name in the path.
        container: what sort of archive it is, if its members are sources of their own; else "".
        notes: what was noticed before it is read.
        stored: how its content is stored, such as "gzip" or "tar in zstd"; "" for a plain file.
        place: where its content is on disk, or None.
        archive: compressed archive that can only be read forwards, in which it begins at ``offset``; else "".
        offset: see ``archive``; members of one archive are best read in this order.
        beginning: first bytes, if they are known.
        digest: SHA-256 of its content, if it is known.
        expanded: size of its content as a compressed file states it, unchecked; 0 if it states none.
        writer: who wrote all of its lines, as a collector's prefix names it; "" if none does. Where a prefix names
            several, each has a source that is called so.
    """

    path: str
    size: int
    open: Callable[[], BinaryIO]
    problem: str = ""
    called: str = ""
    container: str = ""
    notes: tuple[str, ...] = ()
    stored: str = ""
    place: Place | None = None
    archive: str = ""
    offset: int = 0
    beginning: bytes | None = None
    digest: str | None = None
    expanded: int = 0
    writer: str = ""

    @property
    def name(self) -> str:
        """File name, without the ending of a compression that is undone."""
        return self.called or name_of(self.path)

    @property
    def parent(self) -> str:
        """Name of its directory."""
        return name_of(self.folder)

    @property
    def folder(self) -> str:
        """Path of its directory; ``.`` for a path of one part."""
        return folder_of(self.path)

    def head(self) -> bytes:
        """Its first bytes.

        Raises:
            OSError: it cannot be read.
        """
        if self.beginning is not None:
            return self.beginning
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    def sha256(self) -> str:
        """Hash of its content, as far as it can be read.

        Raises:
            OSError: it cannot be read.
        """
        if self.digest is not None:
            return self.digest
        with self.open() as stream:
            digest = hashlib.sha256()
            while data := stream.read(1 << 20):
                digest.update(data)
        return digest.hexdigest()
