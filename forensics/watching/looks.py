"""One scan after another, as long as evidence changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forensics.errors import NothingUnderstood
from forensics.result import Result
from forensics.watching.evidence import State, state_of


@dataclass(frozen=True, slots=True)
class Look:
    """One scan of evidence that may be changing.

    Attributes:
        result: what was found; None if nothing in the evidence is a broker's yet.
        still: nothing was written while it was read.
        seconds: that it took.
    """

    result: Result | None
    still: bool
    seconds: float


def looks(
    paths: Sequence[str],
    scan: Callable[[], Result],
    *,
    every: float,
    until: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Look]:
    """Scan, and scan again whenever something was written since.

    At least half of the time is left to the brokers: the pause after a scan is as long as the scan was.

    Args:
        paths: evidence on disk.
        scan: one scan of it.
        every: least seconds between the ends of two scans.
        until: moment of ``clock`` after which no pause begins; None means never. Evidence that changed meanwhile is
            scanned once more.
        clock: gives seconds.
        sleep: waits for some seconds.
    """
    seen: State | None = None
    while True:
        state = state_of(paths)
        took = 0.0
        if state != seen:
            began = clock()
            result = _result(scan)
            took = clock() - began
            still = state == state_of(paths)
            seen = state if still else None
            yield Look(result, still, took)
        left = None if until is None else until - clock()
        if left is not None and left <= 0:
            return
        pause = max(every, took)
        sleep(pause if left is None else min(pause, left))


def _result(scan: Callable[[], Result]) -> Result | None:
    try:
        return scan()
    except NothingUnderstood:
        return None
