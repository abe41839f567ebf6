"""The greatest of some values up to a leader epoch, a row or a time: what was stated before, at the most."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable


class HighestUntil:
    """The greatest of some values up to each leader epoch, row or time."""

    def __init__(self, values: Iterable[tuple[int, int]]) -> None:
        """Take leader epochs, rows or times, each with a value; the least for what is known of none."""
        known = sorted(values)
        self._keys = [key for key, _ in known]
        self._highest = [*itertools.accumulate((value for _, value in known), max)]

    def until(self, key: int) -> int:
        """Return the greatest value up to a key, which counts; -1 if there is none.

        >>> [HighestUntil([(2, 7), (1, 9), (-1, 4)]).until(epoch) for epoch in (-2, 0, 1, 5)]
        [-1, 4, 9, 9]
        """
        at = bisect_right(self._keys, key)
        return self._highest[at - 1] if at else -1
