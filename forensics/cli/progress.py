"""How far a scan is, in the last line of a terminal. A short scan shows nothing, and other outputs never do."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final, TextIO

from forensics.engines.local import Progress, Step
from forensics.rules.finding import Severity

_AFTER: Final = 1.0
"""Seconds before anything is shown."""
_EVERY: Final = 0.2
"""Seconds between two changes of the line."""
_CLEAR: Final = "\r\x1b[K"
_COUNTED: Final = (Severity.CRITICAL, Severity.ERROR, Severity.WARNING)


@contextlib.contextmanager
def shown(stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> Iterator[Progress | None]:
    """Yield what shows progress on standard error, or None if that is no terminal; clear the line at the end.

    If the user interrupts it, the last step is left there.

    Args:
        stream: in place of standard error.
        clock: gives seconds.
    """
    stream = stream if stream is not None else sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    line = _Line(stream, clock)
    try:
        yield line
    except KeyboardInterrupt:
        line.leave()
        raise
    finally:
        line.clear()


class _Line:
    """The line that shows it."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._judging_since = clock()
        self._judging = False
        self._due = self._began + _AFTER
        self._visible = False
        self._last: Step | None = None

    def __call__(self, step: Step) -> None:
        now, self._last = self._clock(), step
        if step.judging and not self._judging:
            self._judging, self._judging_since = True, now
        if now < self._due:
            return
        self._due, self._visible = now + _EVERY, True
        self._write(_CLEAR + text(step, now - (self._judging_since if step.judging else self._began)))

    def leave(self) -> None:
        """Show the last step for good, as far as there was one."""
        if self._last is not None:
            self._write(f"{_CLEAR}forensics: not complete: {text(self._last)}\n")
            self._visible = False

    def clear(self) -> None:
        """Remove the line."""
        if self._visible:
            self._write(_CLEAR)

    def _write(self, said: str) -> None:
        with contextlib.suppress(OSError):  # a terminal that is gone is no failure of the scan
            self._stream.write(said)
            self._stream.flush()


def text(step: Step, seconds: float = 0) -> str:
    """Return what is shown of a step.

    Args:
        step: how far the scan is.
        seconds: since it began to read, or to judge; 0 where only what is done is of interest.
    """
    if step.judging:
        left = _left(step.done, step.total, seconds)
        counts = [f"{step.findings[one]:,} {one.value}" for one in _COUNTED if step.findings.get(one)]
        counts = counts or ([f"{step.found:,}"] if step.found else [])
        found = f"; findings: {', '.join(counts)}" if counts else ""
        return f"judged {step.done:,} of {step.total:,} partitions{left}{found}"
    rate = f", {step.size / 1e6 / seconds:,.0f} MB/s" if seconds > 0 else ""
    read = f"{step.size / 1e6:,.1f} of {step.whole / 1e6:,.1f} MB"
    return f"read {step.done:,} of {step.total:,} files, {read}{rate}{_left(step.size, step.whole, seconds)}"


def _left(done: int, total: int, seconds: float) -> str:
    """Return how long the rest takes if it continues as before; nothing if that is unknown, or less than a second."""
    left = round(seconds * (total - done) / done) if done else 0
    return f", {left:,} s left" if left else ""
