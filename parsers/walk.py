"""The files of the given paths, in a fixed order: archives are opened in place, nothing is written or locked."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from parsers import limits
from parsers.containers import Memory, expand
from parsers.containment import Defect, each
from parsers.files import remote
from parsers.files.sources import Place, Source, Whole

STDIN = "-"


def walk(paths: Sequence[str]) -> Iterator[Source]:
    """Yield every file below the paths, members of archives included, in the order of their names.

    The order in which the paths are given does not count, and files given one by one come as those of their folder.
    Links are followed only if the user named one. ``-`` is standard input, kept in memory in its compressed or plain
    form. Beyond 1 GiB the rest is left out and a note reports that.

    Raises:
        FileNotFoundError: a path does not exist.
        PermissionError: a folder above a path is closed to this user.
    """
    memory = Memory()
    for source in files(paths):
        for found in each(expand(source, memory)):
            yield replace(source, problem=f"cannot be looked into: {found}") if isinstance(found, Defect) else found


def in_reading_order(sources: Sequence[Source]) -> list[int]:
    """Positions of the sources in the order in which they are cheapest to read: a compressed archive's as stored."""
    first: dict[str, int] = {}
    for number, source in enumerate(sources):
        first.setdefault(source.archive, number)

    def order(number: int) -> tuple[int, int]:
        source = sources[number]
        return (first[source.archive], source.offset) if source.archive else (number, 0)

    return sorted(range(len(sources)), key=order)


def files(paths: Sequence[str]) -> Iterator[Source]:
    """Yield every file below the paths, none of them opened; order, links and errors as for ``walk``."""
    seen: set[str] = set()
    roots = [os.path.realpath(given) for given in paths if given != STDIN and not remote.is_remote(given)]
    for given in sorted(paths, key=_place):
        if given == STDIN:
            yield _standard_input()
        elif remote.is_remote(given):
            yield from remote.files(given)
        elif not given:  # Path would take it for this folder
            raise FileNotFoundError("an empty path")
        elif not _exists(Path(given)):
            raise FileNotFoundError(given)
        elif Path(given).is_dir():
            yield from _below(given, roots, seen)
        else:
            yield from _one(given, _shown(given), os.path.realpath(given), seen)


def _place(given: str) -> tuple[tuple[bool, str], ...]:
    """Return what puts given paths in the order in which one folder above them would be walked."""
    *folders, name = Path(given).parts or ("",)
    return *((True, folder) for folder in folders), (_is_directory(given), name)


def _is_directory(given: str) -> bool:
    """Return whether a path leads to a folder; one that cannot be reached or asked about does not."""
    try:
        return Path(given).is_dir()
    except (OSError, ValueError):
        return False


def _below(given: str, roots: list[str], seen: set[str]) -> Iterator[Source]:
    """Yield every file below a folder that the user named.

    Args:
        given: the folder.
        roots: real paths of all that the user named.
        seen: real paths of the files found before; those found here are added.
    """
    root, prefix = Path(given), PurePosixPath(_shown(given))
    closed: list[OSError] = []
    real_root = os.path.realpath(root).rstrip("/")
    for directory, files, linked in _folders(str(root), closed):
        yield from _all_closed(closed, root, prefix)
        inside = Path(directory).relative_to(root).as_posix()
        folder = prefix / _shown(inside)
        real = real_root if inside == "." else f"{real_root}/{inside}"  # no link is followed below the root
        for name in sorted(linked.union(files)):
            path, shown = f"{directory}/{name}", f"{folder}/{_shown(name)}"
            yield from _link(path, shown, roots) if name in linked else _one(path, shown, f"{real}/{name}", seen)
    yield from _all_closed(closed, root, prefix)


def _folders(root: str, closed: list[OSError]) -> Iterator[tuple[str, list[str], set[str]]]:
    """Yield a folder and all below it, with the names of its files and of the links in it.

    ``os.walk`` of Python 3.11 calls itself for each folder within another, so that evidence could end it with a
    thousand of them. A linked folder is not walked into, but is reported if it leads out of the walked folders.

    Args:
        root: the folder.
        closed: errors of folders that cannot be listed are added.
    """
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        names, files, linked = list[str](), list[str](), set[str]()
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if _is_link(entry):
                        linked.add(entry.name)
                    else:
                        (names if _is_folder(entry) else files).append(entry.name)
        except OSError as error:
            closed.append(error)
            continue
        yield directory, files, linked
        waiting += (f"{directory.rstrip('/')}/{name}" for name in sorted(names, reverse=True))


def _is_link(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink()
    except OSError:  # longer than a path may be: reported when it is looked at
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _all_closed(closed: list[OSError], root: Path, prefix: PurePosixPath) -> Iterator[Source]:
    """Yield the folders that could not be listed, and empty the list of their errors."""
    while closed:
        yield _closed(closed.pop(), root, prefix)


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except PermissionError:
        raise
    except (OSError, ValueError):  # longer than a path may be; a NUL in it
        return False
    return True


def _closed(error: OSError, root: Path, prefix: PurePosixPath) -> Source:
    """A folder whose files cannot be listed."""
    folder = Path(error.filename or root)
    shown = prefix / _shown(folder.relative_to(root).as_posix()) if folder != root else prefix
    return _left_out(str(shown), f"a folder that cannot be listed: {error.strerror}")


def _shown(path: str) -> str:
    # A file name may be any bytes, but no report can hold what is not text.
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _link(path: str, shown: str, roots: list[str]) -> Iterator[Source]:
    target = os.path.realpath(path)
    if not any(target == root or target.startswith(root.rstrip("/") + "/") for root in roots):
        yield _left_out(shown, "a link that leads elsewhere, not followed; give its target as well")


def _left_out(shown: str, problem: str) -> Source:
    """Return a source that nothing opens: a pipe would wait for its writer, and a link leads out of the evidence."""

    def refused() -> BinaryIO:
        raise OSError(errno.EINVAL, problem, shown)

    return Source(shown, 0, refused, problem)


def _one(path: str, shown: str, real: str, seen: set[str]) -> Iterator[Source]:
    if real in seen:
        return
    seen.add(real)
    try:
        state = os.stat(path)  # noqa: PTH116 - there may be hundreds of thousands, and a Path takes longer than this
    except OSError as error:
        yield _left_out(shown, f"cannot be read: {error.strerror}")
        return
    if not stat.S_ISREG(state.st_mode):
        yield _left_out(shown, "not a regular file")
        return
    problem = "" if os.access(real, os.R_OK) else "cannot be read: permission denied"
    size = state.st_size
    yield Source(shown, size, lambda: io.BufferedReader(Whole(real, size)), problem, place=Place(real, 0, size))


def _standard_input() -> Source:
    most = limits.STDIN.value
    try:
        data = sys.stdin.buffer.read(most)
    except OSError as error:  # closed by the caller, for example
        return Source(STDIN, 0, io.BytesIO, f"cannot be read: {error.strerror}")
    notes: tuple[str, ...] = ()
    if len(data) == most and sys.stdin.buffer.read(1):
        notes = (limits.STDIN.told("only the first {} of standard input is used"),)
    return Source(STDIN, len(data), lambda: io.BytesIO(data), notes=notes)
