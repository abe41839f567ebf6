"""Standard input, output and error of this process where its caller closed them (``forensics scan DIR >&-``).

Python has None in place of such a stream. The next file that is opened would get its number, so that whatever is
written to it by number would be written into that file.
"""

from __future__ import annotations

import os
import sys
from typing import Final, TextIO

_USE: Final = (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)
"""How the null device is opened in place of each: reading the first and writing to the second fails, so that a command
that needs them ends with an error. Messages to the third are lost, as the caller wants."""


def hold() -> None:
    """Open what is closed of the three, so that the numbers are taken and the streams are there."""
    for number, use in enumerate(_USE):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, use)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
    sys.stdin = sys.stdin if sys.stdin is not None else _stream(0, "r")
    sys.stdout = sys.stdout if sys.stdout is not None else _stream(1, "w")
    sys.stderr = sys.stderr if sys.stderr is not None else _stream(2, "w")


def _stream(number: int, mode: str) -> TextIO:
    return open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # type: ignore[return-value]
