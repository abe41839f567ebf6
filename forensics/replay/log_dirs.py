"""Brokers whose setting ``log.dirs`` changed: what they had is still in the former directory, as they left it."""

from __future__ import annotations

from typing import NamedTuple

from forensics.replay.history import History, ShortenedLog


class Moved(NamedTuple):
    """A broker that began to use another ``log.dirs``.

    Attributes:
        before: what it had used.
        now: what it used from then on.
    """

    before: str
    now: str


def moved(history: History, broker: int, earlier: int | None, later: int | None) -> Moved | None:
    """Whether ``log.dirs`` of a broker was another at an earlier moment than at a later one, by what it printed.

    Args:
        history: with the ``log.dirs`` that its brokers printed.
        broker: broker id.
        earlier, later: microseconds since 1970 UTC; where one is unknown, nothing is known.
    """
    if earlier is None or later is None:
        return None
    told = history.log_dirs.get(broker, ())
    before = [dirs for time, dirs in told if time <= earlier]
    now = [dirs for time, dirs in told if time <= later]
    return Moved(before[-1], now[-1]) if before and before[-1] != now[-1] else None


def moved_before(history: History, shortened: ShortenedLog) -> Moved | None:
    """Whether ``log.dirs`` of a broker changed after its last role began and before its log came back shorter."""
    if shortened.time is None:
        return None
    begins = (role_span.time for role_span in history.role_spans.get(shortened.replica, ()))
    last = max((begin for begin in begins if begin is not None and begin < shortened.time), default=None)
    return moved(history, shortened.replica, last, shortened.time)
