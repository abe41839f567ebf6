"""A log described by its leader epochs: which leader's role span wrote each offset.

Two logs hold the same record at an offset exactly if they give it the same epoch (KIP-101: one leader an epoch, and a
leader never rewrites an offset within it). This holds for message formats without epochs too, where the epoch comes
from the controller's lines instead of the batch header.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

Range = tuple[int, int]
"""Half-open range of offsets, ``[first, end)``."""

Entries = tuple[tuple[int, int], ...]
"""Leader epochs with the first offset that each wrote."""

_start = itemgetter(1)

UNKNOWN = -1
"""Epoch of records with an unknown leader epoch. It proves neither a difference nor an equality."""


def at_least(epoch: int) -> int:
    """Return the value for an unknown epoch that is this leader epoch or a later one.

    Such records differ from records of earlier epochs. All values below zero are unknown; ``UNKNOWN`` means epoch 0 or
    later.
    """
    return UNKNOWN - max(epoch, 0)


def apart(one: int, other: int) -> bool:
    """Return whether the epochs of two records show that the records are different."""
    if one >= 0 and other >= 0:
        return one != other
    low, high = sorted((one, other))
    return 0 <= high < UNKNOWN - low


@dataclass(frozen=True, slots=True)
class Lineage:
    """``((epoch, start offset), ...)``, starts strictly rising; each entry reaches to the start of the next.

    Attributes:
        entries: epochs with the first offset each wrote.
    """

    entries: Entries = ()

    def epoch_at(self, offset: int) -> int:
        """Epoch that wrote an offset; ``UNKNOWN`` before the first entry."""
        position = bisect_right(self.entries, offset, key=_start)
        return self.entries[position - 1][0] if position else UNKNOWN

    def oldest_from(self, offset: int) -> int:
        """The lowest epoch that any record from an offset on can be of."""
        found = [self.epoch_at(offset), *(epoch for epoch, start in self.entries if start > offset)]
        return min(epoch if epoch >= 0 else UNKNOWN - epoch for epoch in found)

    def truncated(self, end: int) -> Lineage:
        """The log after a truncation to ``end``: entries that start at or after it are gone."""
        if not self.entries or self.entries[-1][1] < end:
            return self
        return Lineage(self.entries[: bisect_left(self.entries, end, key=_start)])

    def begin(self, epoch: int, start: int) -> Lineage:
        """The log once a leader of ``epoch`` writes from ``start`` on."""
        kept = self.truncated(start)
        if kept.entries and kept.entries[-1][0] == epoch:
            return kept
        return Lineage((*kept.entries, (epoch, start)))

    def begin_below(self, epoch: int, start: int) -> Lineage:
        """The log if ``epoch`` begins at ``start``, and records of later epochs may be above."""
        later = (entry for entry in self.entries if entry[1] > start and not 0 <= entry[0] <= epoch)
        return Lineage((*self.begin(epoch, start).entries, *later))

    @classmethod
    def unknown(cls) -> Lineage:
        """Return a log of which nothing is known. Each is an object of its own: two of them need not be the same log
        (``differences``).
        """
        return cls().known_below(0)

    def known_below(self, start: int) -> Lineage:
        """Return the log with unknown leader epochs from ``start`` on."""
        return self.begin(UNKNOWN, start)

    def splice(self, other: Lineage, at: int) -> Lineage:
        """Return own records below ``at`` and the other log's from there on: the log of a follower that fetched from
        ``at``.
        """
        kept = self.truncated(at)
        epoch = other.epoch_at(at)
        entries = list(kept.entries)
        if not other.entries:
            return kept
        if at < other.entries[0][1]:
            epoch = UNKNOWN
        if not entries or entries[-1][0] != epoch:
            entries.append((epoch, at))
        for entry in other.entries:
            if entry[1] > at:
                entries.append(entry)
        return Lineage(tuple(entries))

    def without(self, holes: Iterable[Range]) -> Lineage:
        """Return the log with unknown epochs in ``holes``, where its records are not in the evidence."""
        entries, found, position = self.entries, list[tuple[int, int]](), 0
        for first, end in merge(holes):
            if not entries or end <= entries[0][1]:
                continue
            inside = bisect_left(entries, first, lo=position, key=_start)
            found += (*entries[position:inside], (UNKNOWN, first), (self.epoch_at(end), end))
            position = bisect_right(entries, end, lo=inside, key=_start)
        return Lineage((*found, *entries[position:]))

    def pieces(self, ranges: Iterable[Range]) -> list[Range]:
        """Ranges divided where an epoch begins, so that each piece was written in one."""
        starts = [start for _, start in self.entries]
        found: list[Range] = []
        for first, end in ranges:
            bounds = [first, *(start for start in starts if first < start < end), end]
            found.extend(itertools.pairwise(bounds))
        return found


MOST_UNNAMED = 1_000
"""Most epochs of one gap that are looked at one by one. No line names any of them, so the rest would add nothing."""


def gap(after: int, before: int) -> range:
    """Return the leader epochs between two that lines name, or the first of them where the gap is long.

    An epoch may be any number of 32 bits: other systems take a time or a view number for it.

    >>> gap(3, 6), len(gap(3, 2**31 - 1))
    (range(4, 6), 1000)
    """
    return range(after + 1, min(before, after + 1 + MOST_UNNAMED))


def differences(left: Lineage, right: Lineage, first: int, end: int) -> tuple[list[Range], list[Range]]:
    """Compare two logs within ``[first, end)``.

    Returns:
        Ranges that differ, and ranges where one side's epoch is unknown.
    """
    if left is right:
        return [], []  # the same log, even if little is known of it
    kept = _kept_in_common(left.entries, right.entries)
    entries = *left.entries[kept:], *right.entries[kept:]
    common = set(left.entries[kept:]) & set(right.entries[kept:])
    begun = left.entries[kept - 1][1] if kept else 0
    # An epoch has one leader with one log. If both logs have it from the same offset, they are equal below, even where
    # epochs are unknown.
    shared = max((start for epoch, start in common if epoch >= 0), default=begun)
    since = max(first, begun) if kept else first
    if since >= end:
        return [], []
    bounds = sorted({since, *(start for _, start in entries if since < start < end), end})
    differ: list[Range] = []
    unknown: list[Range] = []
    for start, stop in itertools.pairwise(bounds):
        a, b = left.epoch_at(start), right.epoch_at(start)
        if apart(a, b):
            differ.append((start, stop))
        elif min(a, b) < 0 and start >= shared:
            unknown.append((start, stop))
    return merge(differ), merge(unknown)


def _kept_in_common(left: Entries, right: Entries) -> int:
    """Return how many entries two logs begin with alike, up to the last one of these with a known epoch.

    Both logs are equal below the start of that one. Two copies of one log mostly differ at their end alone, and may
    have thousands of entries.
    """
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if left[low:middle] == right[low:middle] else (low, middle - 1)
    while low and left[low - 1][0] < 0:
        low -= 1
    return low


def same(left: Lineage, right: Lineage, ranges: Iterable[Range]) -> list[Range]:
    """Return the parts of some ranges for which two logs have the same known epochs."""
    kept: list[Range] = []
    for first, end in ranges:
        differ, unknown = differences(left, right, first, end)
        kept += subtract([(first, end)], [*differ, *unknown])
    return kept


def merge(ranges: Iterable[Range]) -> list[Range]:
    """Ranges in rising order, touching ones joined, empty ones left out.

    >>> merge([(5, 9), (0, 2), (2, 3), (4, 4)])
    [(0, 3), (5, 9)]
    """
    some = [one for one in ranges if one[0] < one[1]]
    if len(some) < 2:
        return some
    joined: list[Range] = []
    for start, end in sorted(some):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def intersect(left: Iterable[Range], right: Iterable[Range]) -> list[Range]:
    """Offsets that are in both, as ``merge`` returns them."""
    return [
        (max(start, c), min(end, d)) for (start, end), others in _beside(merge(left), merge(right)) for c, d in others
    ]


def subtract(left: Iterable[Range], right: Iterable[Range]) -> list[Range]:
    """Offsets that are in the left and not in the right, as ``merge`` returns them."""
    rest: list[Range] = []
    for (start, end), others in _beside(merge(left), merge(right)):
        for c, d in others:
            if start < c:
                rest.append((start, c))
            start = d
        if start < end:
            rest.append((start, end))
    return rest


def _beside(left: Sequence[Range], right: Sequence[Range]) -> Iterator[tuple[Range, Sequence[Range]]]:
    """Yield each of the left ranges with those of the right that have offsets of it; both are merged.

    Two copies may differ at thousands of places: each of them is looked at once.
    """
    first = 0
    for start, end in left:
        while first < len(right) and right[first][1] <= start:
            first += 1
        after = first
        while after < len(right) and right[after][0] < end:
            after += 1
        yield (start, end), right[first:after]
        first = max(first, after - 1)  # the last of them may reach into the next one


def size(ranges: Iterable[Range]) -> int:
    """How many offsets the ranges hold."""
    return sum(end - start for start, end in ranges)
