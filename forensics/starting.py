"""Signals that ask this process to end: its exit codes, and the end of it before anything was begun.

Half a second goes by until a command has loaded what it needs. A signal in that time ends the process with one
sentence, as later on. This module loads nothing that takes time.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

TYPE_CHECKING = False  # the module typing takes longer to load than the rest

if TYPE_CHECKING:
    from types import FrameType
    from typing import Final, NoReturn

HUNG_UP: Final = 129
"""128 + SIGHUP."""
INTERRUPTED: Final = 130
"""128 + SIGINT."""
TERMINATED: Final = 143
"""128 + SIGTERM."""

ENDS: Final = {
    signal.SIGINT: (INTERRUPTED, "interrupted"),
    signal.SIGTERM: (TERMINATED, "terminated"),
    **({signal.SIGHUP: (HUNG_UP, "the terminal was closed")} if hasattr(signal, "SIGHUP") else {}),
}
"""Signals that ask a process to end: its exit code, and why it ended."""


def heeded() -> list[signal.Signals]:
    """Return those that this process heeds: ``nohup`` and shells have some of them ignored."""
    return [number for number in ENDS if signal.getsignal(number) is not signal.SIG_IGN]


def end_at_once() -> None:
    """End this process as soon as it is asked to: nothing was begun."""
    for number in heeded():
        signal.signal(number, _ended)


def end(code: int, why: str) -> NoReturn:
    """End at once: threads that are reading a large file would be waited for."""
    said = f"forensics: {why}; files that were to be written are as they were before\n"
    with suppress(OSError):  # of a terminal that was closed
        os.write(2, said.encode())
    os._exit(code)


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    end(*ENDS[signal.Signals(number)])
