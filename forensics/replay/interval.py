"""A value of which only bounds may be known, with the evidence for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forensics.replay.facts.directory import Ref
from forensics.replay.inferences import Inferred


@dataclass(frozen=True, slots=True)
class Interval:
    """An offset of which bounds are known.

    Attributes:
        low: the least that it can be.
        high: the most that it can be, or None if nothing bounds it.
        because: the lines and files that show the bounds.
        by: inferences by which the protocol implies a bound that no line and no file states.
    """

    low: int = 0
    high: int | None = None
    because: tuple[Ref, ...] = ()
    by: tuple[Inferred, ...] = ()

    @classmethod
    def at(cls, value: int, *because: Ref | None, by: tuple[Inferred, ...] = ()) -> Interval:
        """Return the interval of a value that is known exactly.

        >>> Interval.at(50).exact, Interval(50).exact
        (50, None)
        """
        return cls(value, value, tuple(ref for ref in because if ref is not None), by)

    @property
    def exact(self) -> int | None:
        """The value if the bounds leave but one, else None."""
        return self.low if self.low == self.high else None

    @property
    def is_exact(self) -> bool:
        """Return whether the bounds leave but one value."""
        return self.low == self.high

    @property
    def implied(self) -> bool:
        """Return whether no line or file states the value: the protocol implies it."""
        return bool(self.by)

    def at_least(self, low: int) -> Interval:
        """Return the interval with a lower bound besides its own."""
        return replace(self, low=low) if low > self.low else self

    def at_most(self, high: int, *because: Ref) -> Interval:
        """Return the interval with an upper bound, and what shows it, besides its own."""
        if self.high is not None and self.high <= high:
            return self
        return replace(self, high=high, because=(*self.because, *because))
