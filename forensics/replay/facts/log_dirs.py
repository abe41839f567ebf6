"""Brokers whose setting ``log.dirs`` changed: their former logs are still in the former directory."""

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
    """Return the change of a broker's ``log.dirs`` between two moments, by what it printed; None without change.

    Args:
        history: with the ``log.dirs`` that its brokers printed.
        broker: broker id.
        earlier, later: microseconds since 1970 UTC; if one is None, the result is None.
    """
    if earlier is None or later is None:
        return None
    named = history.facts.log_dirs.get(broker, ())
    before = [dirs for time, dirs in named if time <= earlier]
    now = [dirs for time, dirs in named if time <= later]
    return Moved(before[-1], now[-1]) if before and before[-1] != now[-1] else None


def moved_before(history: History, shortened: ShortenedLog) -> Moved | None:
    """Return the change of a broker's ``log.dirs`` after its last role began and before its log was found shorter."""
    if shortened.time is None:
        return None
    begins = (role_span.time for role_span in history.role_spans.get(shortened.replica, ()))
    last = max((begin for begin in begins if begin is not None and begin < shortened.time), default=None)
    return moved(history, shortened.replica, last, shortened.time)


def moved_until(history: History, broker: int, time: int | None) -> Moved | None:
    """Return the last change of a broker's ``log.dirs`` up to a moment, by what it printed; None without change."""
    named = [dirs for at, dirs in history.facts.log_dirs.get(broker, ()) if time is not None and at <= time]
    return Moved(named[-2], named[-1]) if len(named) > 1 and named[-2] != named[-1] else None
