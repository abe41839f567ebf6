"""Contents of an archive, before anything is parsed: files as stored, then what is inside each of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from parsers.containers import expand
from parsers.files import remote
from parsers.files.sources import Place, Source
from parsers.formats.request_log import MARK as REQUEST
from parsers.read import TAKERS
from parsers.takers.log_files import opening
from parsers.text import broker_log
from parsers.walk import files

SPLIT: Final = 64 << 20
"""Bytes of a read task, about; a multiple of what a text is read by."""


@dataclass(frozen=True, slots=True)
class File:
    """One file of the archive.

    Attributes:
        path: as shown.
        real: path or URL where it is opened; "" if that is impossible.
        size: bytes.
        changed: nanoseconds since 1970 at which it was last written; at a URL another number after a change.
        problem: why it cannot be read, or "".
    """

    path: str
    real: str
    size: int
    changed: int
    problem: str = ""

    def source(self) -> Source:
        """To be read."""
        here = self.real and not self.problem and not remote.is_remote(self.real)
        place = Place(self.real, 0, self.size) if here else None
        return Source(self.path, self.size, opener(self.real), self.problem, place=place)


@dataclass(frozen=True, slots=True)
class Look:
    """One source: a file, or a member of one.

    Attributes:
        file: path of the file it is, or is in.
        index: position in it.
        path, size, problem, called, container, notes, stored, place, archive, offset, digest, writer: as of ``Source``.
        opening: hash of what logs with the same beginning have in common; "" where it is no text.
        splits: whether it may be read by ranges of its bytes.
    """

    file: str
    index: int
    path: str
    size: int
    problem: str
    called: str
    container: str
    notes: tuple[str, ...]
    stored: str
    place: Place | None
    archive: str
    offset: int
    digest: str | None
    writer: str
    opening: str
    splits: bool

    def row(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @staticmethod
    def of(row: dict[str, Any]) -> Look:
        """From plain values."""
        place = row["place"]
        return Look(**{**row, "notes": tuple(row["notes"]), "place": None if place is None else Place(*place)})

    def source(self, open_: Callable[[], BinaryIO] | None = None) -> Source:
        """To be read; without ``open_`` only where it has a place of its own."""
        return Source(
            self.path,
            self.size,
            open_ or (self.place.open if self.place is not None else opener("")),
            self.problem,
            self.called,
            self.container,
            self.notes,
            self.stored,
            self.place,
            self.archive,
            self.offset,
            digest=self.digest,
            writer=self.writer,
        )


@dataclass(slots=True)
class Listing:
    """Contents of the archive, and where its rows are.

    Attributes:
        files: files as stored.
        digests: hash of each.
        looks: sources in each.
        units: unit of each source.
    """

    files: list[File]
    digests: list[str | None]
    looks: list[list[Look]]
    units: list[list[int]] = field(default_factory=list)

    @property
    def flat(self) -> list[Look]:
        """All sources in order."""
        return [look for looks in self.looks for look in looks]

    @property
    def flat_units(self) -> list[int]:
        """Unit of each source in order."""
        return [unit for units in self.units for unit in units]


def opener(real: str) -> Callable[[], BinaryIO]:
    """Opens a file by its path or URL."""
    return remote.opener(real) if remote.is_remote(real) else lambda: Path(real).open("rb")


def state_of(file: File) -> tuple[int, ...]:
    """Return a key of a file's state that changes if the file is replaced, its size first; at a URL as it was
    listed.
    """
    if remote.is_remote(file.real):
        return file.size, file.changed
    found = Path(file.real).stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def listed(paths: Sequence[str]) -> list[File]:
    """Every file below the paths; none is opened.

    Raises:
        FileNotFoundError: a path does not exist.
        RemotePath: a URL cannot be reached.
    """
    found = []
    urls = [path for path in paths if remote.is_remote(path)]
    for source in files(paths):
        real = source.place.file if source.place is not None else ""
        changed = Path(real).stat().st_mtime_ns if real else 0
        url = next((url for given in urls if (url := remote.address(given, source.path)) is not None), None)
        if source.place is None and not source.problem and url is not None:
            real = url
            changed = int(hashlib.sha256(remote.state(real)[1].encode()).hexdigest()[:15], 16)
        found.append(File(source.path, real, source.size, changed, source.problem))
    return found


def hashed(file: File) -> str | None:
    """Hash of a file's bytes; None where they cannot be read."""
    return None if file.problem else _hashed(file.source())


def _hashed(source: Source) -> str | None:
    try:
        return source.sha256()
    except OSError:
        return None


def looked(file: File, digest: str | None) -> Iterator[Look]:
    """The sources in a file, in the order of a walk."""
    whole = file.source()
    for index, source in enumerate(expand(whole)):
        plain = source.place is not None and source.place == whole.place and not source.container
        if digest is not None and (plain or (source.container and source.digest is None)):
            source = replace(source, digest=digest if plain else _hashed(source))
        yield Look(
            file.path,
            index,
            source.path,
            source.size,
            source.problem,
            source.called,
            source.container,
            source.notes,
            source.stored,
            source.place,
            source.archive,
            source.offset,
            source.digest,
            source.writer,
            *_seen(source),
        )


def _seen(source: Source) -> tuple[str, bool]:
    if source.problem or source.container:
        return "", False
    try:
        head = source.head()
    except OSError:
        return "", False
    splits = False
    if source.place is not None and source.size >= 2 * SPLIT and REQUEST.encode() not in head:
        taker = next((taker for taker in TAKERS if taker.claims(source, head)), None)
        splits = taker is not None and taker.format == broker_log.NAME
    begins = opening(head)
    return (hashlib.sha256(begins).hexdigest() if begins else ""), splits
