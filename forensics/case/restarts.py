"""Restarts of all brokers of a cluster within half a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from forensics.case.case import Case

SPAN: Final = 30_000_000
"""Longest time between the first and the last of the restarts, in microseconds."""
MANY: Final = 2
"""Brokers from which on their restarts count."""


@dataclass(frozen=True, slots=True)
class Together:
    """Restarts of all brokers of a cluster.

    Attributes:
        brokers: their ids.
        first, last: when the first and the last of their processes began, microseconds since 1970 UTC.
    """

    brokers: tuple[int, ...]
    first: int
    last: int


def together(case: Case) -> list[Together]:
    """Return when all brokers of a cluster restarted within half a minute, by their own lines.

    The first start of a broker in the evidence is none: nothing shows that it ran before.

    Args:
        case: the evidence of one cluster.
    """
    brokers = [one for one in case.brokers.values() if not one.only_controls]
    if len(brokers) < MANY or any(len(one.starts) < MANY for one in brokers):
        return []
    again = sorted((time, one.id) for one in brokers for time in sorted(one.starts)[1:])
    found: list[Together] = []
    for first, _ in again:
        one = _since(again, first)
        if len(one.brokers) == len(brokers) and not (found and first <= found[-1].last):
            found.append(one)
    return found


def _since(again: Sequence[tuple[int, int]], first: int) -> Together:
    """Return the brokers that restarted from a moment on, until the longest time is over."""
    times: dict[int, int] = {}
    for time, broker in again:
        if first <= time <= first + SPAN:
            times.setdefault(broker, time)
    return Together(tuple(sorted(times)), first, max(times.values()))
