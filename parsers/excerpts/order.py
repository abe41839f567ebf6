"""Order of lines: whether the times in a text go back as no process prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_FALL: Final = 1_000_000  # microseconds: threads of one broker print lines out of order by less
_OFTEN: Final = 4
_FALLS: Final = 2  # one is where two logs were joined
_FEW: Final = 3  # times that go back by less, as threads may make them


def joined_out_of_order(steps: Sequence[int]) -> bool:
    """Return whether lines of an earlier time follow later ones: two logs were put below each other.

    Args:
        steps: microseconds from each line to the next.
    """
    return any(step < -_FALL for step in steps)


def out_of_order(steps: Sequence[int]) -> bool:
    """Return whether so many times go back that no process wrote the lines one after the other.

    That is so if times go back by more than a second, or in most of the lines.

    Args:
        steps: microseconds from each line to the next.
    """
    moved = sum(step != 0 for step in steps)
    falls, back = sum(step < -_FALL for step in steps), sum(step < 0 for step in steps)
    return (falls >= _FALLS and _OFTEN * falls >= moved) or (back > _FEW and 2 * back > moved)
