"""Suspicions of one rule, each range of offsets once: several signs may be about the same records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from forensics.replay.lineage import Range, merge
from forensics.replay.signs.sign import Sign, Suspicion


def each_once(found: Iterable[Suspicion], known: Iterable[Range]) -> list[Suspicion]:
    """Return the suspicions that say more than those before them.

    Args:
        found: suspicions, in the order of their importance.
        known: offsets of findings, of which nothing needs to be suspected.
    """
    findings, taken, kept = Cover(known), _Taken(), []
    for one in found:
        if not any(findings.meets(piece) for piece in one.offsets) and not taken.covers(one):
            taken.add(one)
            kept.append(one)
    return kept


class _Taken:
    """Offsets of the suspicions that were taken. Leaders that began too low are a separate loss each."""

    __slots__ = ("_begun", "_open", "_others", "_taken")

    def __init__(self) -> None:
        self._taken = Cover()
        self._others = Cover()  # without those of leaders that began too low
        self._begun: dict[int, Cover] = {}
        self._open: set[tuple[int | None, int, int]] = set()

    def add(self, one: Suspicion) -> None:
        """Take a suspicion."""
        self._open.add((one.replica, one.epoch, one.first))
        covers = [self._taken, self._begun.setdefault(one.epoch, Cover()) if _began_low(one) else self._others]
        for piece in one.offsets:
            for cover in covers:
                cover.add(piece)

    def covers(self, one: Suspicion) -> bool:
        """Return whether another sign, or another line of the same sign, covers these offsets already."""
        if one.end is None:
            return (one.replica, one.epoch, one.first) in self._open
        if not one.offsets:
            return False
        if not _began_low(one):
            return all(self._taken.holds(piece) for piece in one.offsets)
        both = (self._others, self._begun.get(one.epoch, Cover()))
        return all(Cover(part for cover in both for part in cover.within(piece)).holds(piece) for piece in one.offsets)


def _began_low(one: Suspicion) -> bool:
    return one.sign is Sign.EPOCH_BELOW_HIGH_WATERMARK


class Cover:
    """Ranges of offsets to which more are added; what is asked of them takes logarithmic time.

    >>> cover = Cover([(0, 5), (7, 9)])
    >>> cover.add((5, 6))
    >>> cover.holds((1, 6)), cover.holds((5, 8)), cover.meets((6, 7)), cover.within((4, 8))
    (True, False, False, [(4, 6), (7, 8)])
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        joined = merge(ranges)
        self._starts = [start for start, _ in joined]
        self._ends = [end for _, end in joined]

    def add(self, one: Range) -> None:
        """Add a range; touching ones are joined."""
        start, end = one
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def within(self, one: Range) -> list[Range]:
        """Return the parts of a range that are in it, in order."""
        first, last = bisect_right(self._ends, one[0]), bisect_left(self._starts, one[1])
        parts = zip(self._starts[first:last], self._ends[first:last], strict=True)
        return [(max(start, one[0]), min(end, one[1])) for start, end in parts]

    def meets(self, one: Range) -> bool:
        """Return whether any offset of a range is in it."""
        return one[0] < one[1] and bisect_right(self._ends, one[0]) < bisect_left(self._starts, one[1])

    def holds(self, one: Range) -> bool:
        """Return whether each offset of a range is in it; so is an empty range."""
        at = bisect_right(self._starts, one[0]) - 1
        return one[0] >= one[1] or (at >= 0 and self._ends[at] >= one[1])
