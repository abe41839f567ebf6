"""Contents of a file of a bundle until they are packed: a tar states the size of a file before its content.

The disk may be full on which they wait, or onto which the bundle is written. Neither is a failure to read the evidence:
no file may be left out for it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Final

from forensics.errors import UnwritableOutput

_IN_MEMORY: Final = 8 << 20


class Waiting(SpooledTemporaryFile[bytes]):
    """Bytes in memory, or from 8 MiB on in the temporary folder.

    Its methods raise ``UnwritableOutput`` if that cannot be written.
    """

    def __init__(self) -> None:
        super().__init__(_IN_MEMORY)

    def write(self, data: Any) -> int:
        """Write bytes."""
        with _refused():
            return super().write(data)

    def seek(self, *args: int) -> int:
        """Move; what waits in a buffer is written first."""
        with _refused():
            return super().seek(*args)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove it; that a buffer cannot be written any more was reported before."""
        with contextlib.suppress(OSError):
            super().__exit__(kind, error, trace)


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnwritableOutput(
            f"temporary folder{_folder()}: {error.strerror or error}; make room there, or set TMPDIR to a folder with "
            "room; no bundle was written"
        ) from None


def _folder() -> str:
    try:
        return f" {tempfile.gettempdir()}"
    except OSError:  # there is none that can be written
        return ""


class Target:
    """The bundle as a stream.

    Args:
        stream: the open file.
        name: of the bundle, for errors.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, data: Any) -> int:
        """Write bytes.

        Raises:
            UnwritableOutput: they cannot be written.
        """
        try:
            return self._stream.write(data)
        except OSError as error:
            raise UnwritableOutput(
                f"{self._name}: {error.strerror or error}; name a file on a disk with room; no bundle was written"
            ) from None

    def flush(self) -> None:
        """Do nothing: closing the file writes the rest."""
