"""Evidence stored elsewhere: ``s3://bucket/incident``, ``memory://``, every protocol that fsspec knows. Only ever read.

fsspec, and what it needs for each protocol, comes with an extra. Without it a remote path is an error that names the
extra.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Final

from parsers.errors import RemotePath
from parsers.files.sources import Source

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_URL = re.compile(r"([a-z][a-z0-9+.-]+)(?:::|://)", re.IGNORECASE)


def is_remote(path: str) -> bool:
    """Return whether a path names its protocol; ``file://`` counts as remote, a drive letter or ``a:b`` do not."""
    return _URL.match(path) is not None


def files(url: str) -> Iterator[Source]:
    """Every file at or below a URL, in the order of the names; none of them is opened.

    Raises:
        RemotePath: fsspec or what it needs is not installed, or the place cannot be reached.
        FileNotFoundError: there is nothing at the URL.
    """
    system, root = _reached(url)
    try:
        if system.isfile(root):
            yield _source(system, root, url, system.info(root))
            return
        if not system.exists(root):
            raise FileNotFoundError(url)
        chain = url[: url.index("://") + 3] + url.partition("://")[2].partition("::")[0]
        prefix = PurePosixPath(chain.rstrip("/"))
        start = root.rstrip("/")
        for folder, folders, found in system.walk(root, detail=True):
            for names in (folders, found):
                ordered = sorted(names.items())
                names.clear()
                names.update(ordered)
            for name, facts in found.items():
                path = facts.get("name") or f"{folder}/{name}"
                shown = prefix / f"{folder}/{name}".removeprefix(start).lstrip("/")
                yield _source(system, path, str(shown).replace(":/", "://", 1), facts)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise RemotePath(f"{url} cannot be read: {error}") from None


def address(given: str, shown: str) -> str | None:
    """Return the URL of a file, of a chained one with all that follows; None if the file is elsewhere.

    Args:
        given: the URL that was given.
        shown: path of the file's source.
    """
    if shown == given:
        return given
    scheme, _, rest = given.partition("://")
    path, mark, tail = rest.partition("::")
    head = f"{scheme}://{path}".rstrip("/")
    prefix = _shown(head)
    return head + shown[len(prefix) :] + mark + tail if shown.startswith(f"{prefix}/") else None


def _shown(url: str) -> str:
    return str(PurePosixPath(url)).replace(":/", "://", 1)


def opener(url: str) -> Callable[[], BinaryIO]:
    """Opens the file at a URL; it is reached when it is opened, so this may travel to another process."""
    return _Opener(url)


def state(url: str) -> tuple[int, str]:
    """Return the size of the file at a URL, and a text that changes when the file changes, as far as fsspec can see.

    Raises:
        RemotePath: it cannot be reached.
        FileNotFoundError: there is nothing at the URL.
    """
    system, path = _reached(url)
    try:
        size = system.info(path).get("size")
        return (size if isinstance(size, int) else 0), str(system.ukey(path))
    except (OSError, ValueError, NotImplementedError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise RemotePath(f"{url} cannot be read: {error}") from None


@dataclass(frozen=True, slots=True)
class _Opener:
    url: str

    def __call__(self) -> BinaryIO:
        try:
            system, path = _reached(self.url)
        except RemotePath as error:
            raise OSError(str(error)) from None
        return _opener(system, path)()


_NEEDS: Final = {
    **dict.fromkeys(("s3", "s3a"), "install forensics[s3]"),
    **dict.fromkeys(("gs", "gcs"), "install gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "install adlfs"),
    "hdfs": "pyarrow needs Hadoop's libhdfs here, with JAVA_HOME, HADOOP_HOME and CLASSPATH set",
}
"""Package that fsspec needs for a protocol."""


def _next_step(url: str, error: Exception) -> str:
    found = _URL.match(url)
    scheme = found[1].lower() if found is not None else ""
    if scheme in _NEEDS and not (isinstance(error, OSError) and scheme != "hdfs"):
        return f"{_NEEDS[scheme]}; what Hadoop's own configuration knows is not used"
    if isinstance(error, OSError):
        return "look at the address, and at the credentials that fsspec uses"
    return "only what fsspec knows is opened, not what Hadoop's own configuration knows: mount it, or copy it"


def _reached(url: str) -> tuple[AbstractFileSystem, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise RemotePath(f"{url} is not a local path; to read it, install forensics[remote]") from None
    try:
        system, root = url_to_fs(url)
    except FileNotFoundError:
        raise FileNotFoundError(url) from None
    except (ImportError, OSError, ValueError) as error:
        raise RemotePath(f"{url} cannot be reached: {error}; {_next_step(url, error)}") from None
    return system, str(root)


def _source(system: AbstractFileSystem, path: str, shown: str, facts: dict[str, object]) -> Source:
    size = facts.get("size")
    return Source(shown, size if isinstance(size, int) else 0, _opener(system, path))


def _opener(system: AbstractFileSystem, path: str) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        stream: BinaryIO = system.open(path, "rb")
        return stream

    return opened
