"""Things in an order of their own that are found by leader epoch, such as the role spans of a replica."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class ByEpoch(Generic[T]):
    """Things in an order of their own, by leader epoch. Leader epochs need not rise in that order.

    Attributes:
        things: all of them, in their order.
        epochs: their leader epochs, in rising order.
    """

    def __init__(self, things: Sequence[T], epoch_of: Callable[[T], int | None]) -> None:
        """Take things, and what returns the leader epoch of each; one without an epoch is found by none."""
        self.things = things
        places: dict[int, list[int]] = {}
        for place, one in enumerate(things):
            if (epoch := epoch_of(one)) is not None:
                places.setdefault(epoch, []).append(place)
        self._places = places
        self.epochs = sorted(places)
        self._last = [*itertools.accumulate((places[epoch][-1] for epoch in self.epochs), max)]
        self._first = [*itertools.accumulate((places[epoch][0] for epoch in reversed(self.epochs)), min)][::-1]

    def of(self, epoch: int) -> Sequence[T]:
        """Return those of a leader epoch, in their order."""
        return [self.things[place] for place in self._places.get(epoch, ())]

    def last_before(self, epoch: int) -> T | None:
        """Return the last one of a lower leader epoch, or None."""
        at = bisect_left(self.epochs, epoch)
        return self.things[self._last[at - 1]] if at else None

    def first_from(self, epoch: int) -> T | None:
        """Return the first one of a leader epoch or a later one, or None."""
        at = bisect_left(self.epochs, epoch)
        return self.things[self._first[at]] if at < len(self.epochs) else None
