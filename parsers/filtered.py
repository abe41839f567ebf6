"""Some of a text's lines as a stream of their own."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import BinaryIO

from parsers import lines


class Filtered(io.RawIOBase):
    """A text, whole lines of which are changed or left out, as it is read."""

    def __init__(self, inner: BinaryIO, change: Callable[[bytes], bytes]) -> None:
        super().__init__()
        self._inner = inner
        self._change = change
        self._ready = memoryview(b"")
        self._rest = b""
        self._ended = False

    def readable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """Close the text as well."""
        self._inner.close()
        super().close()

    def readinto(self, buffer: object) -> int:
        """Fill a buffer; how many bytes of it, 0 at the end."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        while not self._ready and not self._ended:
            data = self._inner.read(1 << 20)
            self._ended = not data
            whole = self._rest + data
            end = len(whole) if self._ended or len(whole) > lines.MAX_LINE_BYTES else whole.rfind(b"\n") + 1
            self._rest = whole[end:]
            self._ready = memoryview(self._change(lines.plain(whole[:end])))
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
