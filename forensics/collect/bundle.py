"""A bundle of evidence: the files of a host in a tar, without the users' records, and a manifest of what was taken.

A file that a broker writes while it is read is packed as long as it was at first. Segments are packed as their batch
headers (``headers``), settings without passwords, and texts without those that their lines have (``secrets``). The
manifest has the hash of each original file, the host's clock and its time zone, which no log states.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import socket
import tarfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, cast

from forensics.collect import headers, redacting, secrets, settings
from forensics.collect.choosing import NOT_RECOGNISED, Form, form_of
from forensics.collect.redacting import Names
from forensics.collect.waiting import Target, Waiting
from forensics.errors import UnreadableInput, UnusableOutput
from forensics.outputs import as_json, beside, writable
from forensics.version import __version__
from parsers.files.sources import Source
from parsers.walk import files

SCHEMA: Final = "forensics.collect/1"
MANIFEST: Final = "collected.json"
_STEP: Final = 1 << 20
_RELEASE: Final = re.compile(r"\bKafka version ?: ([0-9]{1,3}(?:\.[0-9]{1,3}){1,3})(?![0-9])")


@dataclass(frozen=True, slots=True)
class Taken:
    """A file of the host, and what became of it.

    Attributes:
        path: of the file.
        name: in the bundle; "" if it was left out.
        form: in which it was packed.
        what: its format, or why it was left out.
        size: bytes of the original.
        modified: time of its last change, seconds since 1970 UTC; None where it is unknown.
        sha256: of the original, as far as it was read; None if it was left out, or if secrets in its lines were masked:
            against it a guess could be tried.
        packed: bytes in the bundle.
        secrets: how many were masked in its lines.
        releases: of Kafka, which its lines state.
    """

    path: str
    name: str
    form: Form
    what: str
    size: int
    modified: float | None
    sha256: str | None = None
    packed: int = 0
    secrets: int = 0
    releases: frozenset[str] = frozenset()


def collect(
    paths: Sequence[str],
    target: Path,
    *,
    with_segments: bool = False,
    metadata: bool = True,
    names: Names | None = None,
) -> list[Taken]:
    """Pack the evidence below some paths, and return each file.

    Args:
        paths: folders and files of a host.
        target: the bundle; its ending says how it is compressed: .tar, .tar.gz or .tar.zst.
        with_segments: pack the users' records, too.
        metadata: pack the metadata log of KRaft, which has dynamic settings and SCRAM credentials in it.
        names: replaces names in everything that is packed; None to pack them as they are.

    Raises:
        UnreadableInput: a path does not exist, or nothing below the paths is evidence.
        UnusableOutput: the bundle is there already, or has another ending.
        UnwritableOutput: it cannot be written.
    """
    _check(target)
    found: list[Taken] = []
    with beside([target]) as (part,), _tar(part, target.name) as tar:
        if names is not None:
            for source in _listed(paths):
                _learn(source, names, metadata=metadata)
        stated: list[str] = []
        for source in _listed(paths):
            found.append(_packed(tar, source, with_segments=with_segments, metadata=metadata, names=names))
            if names is not None and redacting.is_stated(source, found[-1].form, found[-1].what):
                stated.append(source.path)
        if names is not None and stated:
            _add_statements(tar, names, stated)
        if not any(one.name for one in found):
            raise UnreadableInput(_nothing(paths, found))
        text = as_json(document(found, paths, names), indent=1) + "\n"
        _add(tar, MANIFEST, io.BytesIO(text.encode()), len(text.encode()), time.time())
    return found


def _nothing(paths: Sequence[str], found: Sequence[Taken]) -> str:
    """Return why nothing was packed."""
    reasons = [f"{one.path}: {one.what}" for one in found if one.what != NOT_RECOGNISED]
    why = f" ({', '.join(reasons[:3])})" if reasons else ""
    return f"nothing below {', '.join(paths)} is evidence{why}; name data directories and logs"


def _check(target: Path) -> None:
    if not target.name.endswith(tuple(_WRITERS)):
        raise UnusableOutput(f"{target}: name it .tar, .tar.gz or .tar.zst, as it is to be compressed")
    if target.exists():
        raise UnusableOutput(f"{target}: is there already; name a new file: nothing is ever written over")
    writable(str(target))


def _listed(paths: Sequence[str]) -> Iterator[Source]:
    try:
        yield from files(paths)
    except FileNotFoundError as error:
        raise UnreadableInput(f"{error.args[0]}: no such file or folder") from None


@contextlib.contextmanager
def _plain(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    yield stream


@contextlib.contextmanager
def _gzip(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    import gzip

    with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as compressed:
        yield cast(IO[bytes], compressed)


@contextlib.contextmanager
def _zstd(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    import zstandard

    with zstandard.ZstdCompressor().stream_writer(stream, closefd=False) as compressed:
        yield compressed


_WRITERS: Final = {".tar": _plain, ".tar.gz": _gzip, ".tgz": _gzip, ".tar.zst": _zstd}


@contextlib.contextmanager
def _tar(part: Path, name: str) -> Iterator[tarfile.TarFile]:
    writer = next(make for ending, make in _WRITERS.items() if name.endswith(ending))
    with (
        part.open("wb") as stream,
        writer(cast(IO[bytes], Target(stream, name))) as out,
        tarfile.open(fileobj=out, mode="w|") as tar,
    ):
        yield tar


def _learn(source: Source, names: Names, *, metadata: bool) -> None:
    """Look at a file for names; one that cannot be read is named as left out later."""
    with contextlib.suppress(OSError):
        redacting.learn(source, *form_of(source, with_segments=False, metadata=metadata), names)


def _packed(tar: tarfile.TarFile, source: Source, *, with_segments: bool, metadata: bool, names: Names | None) -> Taken:
    """Pack one file; a file that cannot be read is named as left out."""
    path = source.path if names is None else names.member(source.path)
    try:
        # The path that is shown may not be that on disk: names may be any bytes.
        real = source.place.file if source.place is not None else source.path
        modified: float | None = Path(real).stat().st_mtime
        form, what = form_of(source, with_segments=with_segments, metadata=metadata)
        ending = headers.ENDING if form is Form.HEADERS else ""
        lines: Iterable[str] | None = None
        hidden, releases = 0, set[str]()
        if names is None and _has_lines(form, what):
            hidden = secrets.count(_noting(redacting.texts(source), releases))
        if hidden:
            form, lines = Form.MASKED, secrets.without(redacting.texts(source))
        if names is not None:
            made = redacting.redacted(source, form, what, names)
            form, what, ending = made.form, made.what, made.ending
            lines = _noting(made.lines, releases) if made.lines is not None else None
        if form is Form.LEFT_OUT:
            return Taken(path, "", form, what, source.size, modified)
        if form is Form.STATEMENTS:
            return Taken(path, redacting.STATEMENTS, form, what, source.size, modified)
        with Waiting() as content:
            sha256 = _written(source, form, lines, content)
            size = content.tell()
            content.seek(0)
            name = _name(path) + ending
            _add(tar, name, content, size, modified)
    except OSError as error:
        why = error.strerror or ("cannot be read" if names is not None else str(error))
        return Taken(path, "", Form.LEFT_OUT, why, source.size, None)
    known = None if hidden else sha256
    return Taken(path, name, form, what, source.size, modified, known, size, hidden, frozenset(releases))


def _noting(lines: Iterable[str], releases: set[str]) -> Iterator[str]:
    """Yield lines, and note which releases of Kafka they state (``AppInfoParser``, 0.10.2 to 4.1)."""
    for line in lines:
        if "Kafka version" in line and (found := _RELEASE.search(line)) is not None:
            releases.add(found[1])
        yield line


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def _has_lines(form: Form, what: str) -> bool:
    """Return whether a file is a text whose lines anybody may have written."""
    return form is Form.WHOLE and redacting.is_text(what)


def _add_statements(tar: tarfile.TarFile, names: Names, paths: Iterable[str]) -> None:
    """Pack what some files show as one trace: some of them are read together."""
    with Waiting() as content:
        redacting.write(names.statements(paths), content)
        size = content.tell()
        content.seek(0)
        _add(tar, redacting.STATEMENTS, content, size, time.time())


def _written(source: Source, form: Form, lines: Iterable[str] | None, into: IO[bytes]) -> str:
    """Write the content of a file, and leave the stream at its end; return the hash for the manifest."""
    if lines is None:
        return _CONTENT[form](source, into)
    redacting.write(lines, into)
    size, sha256 = into.tell(), redacting.digest(into)
    into.seek(size)
    return sha256


def _name(path: str) -> str:
    """Return the name of a file in the bundle: its path, without what would lead out of a folder."""
    parts = [part for part in Path(path).parts if part not in ("/", "..", ".")]
    return "/".join(parts)


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes], size: int, modified: float | None) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, int(modified or 0), 0o644
    tar.addfile(entry, content)


def _whole(source: Source, into: IO[bytes]) -> str:
    """Write the bytes that a file had when it was found; return the hash of what was read."""
    digest, left = hashlib.sha256(), source.size
    with source.open() as stream:
        while left > 0 and (data := stream.read(min(_STEP, left))):
            digest.update(data)
            into.write(data)
            left -= len(data)
    return digest.hexdigest()


def _headers(source: Source, into: IO[bytes]) -> str:
    for line in headers.lines(source):
        into.write(line.encode())
    return source.sha256()


def _masked(source: Source, into: IO[bytes]) -> str:
    with source.open() as stream:
        data = stream.read(source.size)
    into.write(settings.masked(data))
    return hashlib.sha256(data).hexdigest()


_CONTENT: Final = {Form.WHOLE: _whole, Form.HEADERS: _headers, Form.MASKED: _masked}
"""Writes a file in a form, and returns the hash of the original."""


def document(found: Iterable[Taken], paths: Sequence[str], names: Names | None = None) -> dict[str, Any]:
    """The contract ``forensics.collect/1`` as plain values."""
    now, files = datetime.now(UTC), list(found)
    return {
        "schema": SCHEMA,
        "tool": {"name": "forensics", "version": __version__},
        "host": {
            "name": socket.gethostname() if names is None else None,
            "time": now.isoformat(timespec="milliseconds"),
            "zone": os.environ.get("TZ") or time.strftime("%z"),
        },
        "kafka": sorted({release for one in files for release in one.releases}, key=_numbers),
        "redacted": names is not None,
        "paths": list(paths) if names is None else [names.member(path) for path in paths],
        "files": [
            {
                "path": one.path,
                "name": one.name or None,
                "form": one.form,
                "what": one.what,
                "size": one.size,
                "modified": None if one.modified is None else _iso(one.modified),
                "sha256": one.sha256,
                "packed": one.packed,
                "secrets": one.secrets,
            }
            for one in files
        ],
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
