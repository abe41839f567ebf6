"""Some of a text's lines as a stream of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from parsers import limits
from parsers.files.streams import Rewritten
from parsers.text import lines


class Filtered(Rewritten):
    """A text, whole lines of which are changed or left out, as it is read."""

    def __init__(self, inner: BinaryIO, change: Callable[[bytes], bytes]) -> None:
        super().__init__(inner)
        self._change = change
        self._rest = b""

    def _more(self) -> bytes:
        data = self._stored.read(1 << 20)
        self._ended = not data
        whole = self._rest + data
        end = len(whole) if self._ended or len(whole) > limits.LINE.value else whole.rfind(b"\n") + 1
        self._rest = whole[end:]
        return self._change(lines.plain(whole[:end]))
