"""One file of the evidence, wherever its bytes lie: on disk, in an archive, in a compressed file, on standard input."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from parsers.streams import Window

HEAD_BYTES = 4096


class Place(NamedTuple):
    """Where content lies uncompressed in a file on disk.

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
        window = Window(Path(self.file).open("rb"), self.offset, self.size)  # noqa: SIM115 - the caller closes it
        return io.BufferedReader(window, 1 << 16)


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the evidence.

    Attributes:
        path: path to show, with "/" between parts, beginning as the user gave it; ``bundle.tar!/server.log`` in an
            archive.
        size: bytes of its content; of a compressed file, whose content is not known until it is read, bytes as stored.
        open: opens its content for reading from its start.
        problem: why it cannot be read, or "".
        called: its name without the ending of a compression; "" where that is the name in the path.
        container: what sort of archive it is, where its members are sources of their own; else "".
        notes: what was seen of it before it is read.
        stored: how its content is stored, such as "gzip" or "tar in zstd"; "" for a plain file.
        place: where its content lies on disk, or None.
        archive: compressed archive that can only be read forwards, in which it begins at ``offset``; else "".
        offset: see ``archive``; members of one archive are best read in this order.
        beginning: first bytes, where they are at hand.
        digest: SHA-256 of its content, where it is known.
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

    @property
    def name(self) -> str:
        """File name, without the ending of a compression that is undone."""
        return self.called or PurePosixPath(self.path).name

    @property
    def parent(self) -> str:
        """Name of the directory it lies in."""
        return PurePosixPath(self.path).parent.name

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
