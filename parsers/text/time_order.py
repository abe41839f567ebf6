"""Order of lines: whether the times in a text go back as no process prints them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import polars as pl

from parsers.text import wrappings
from parsers.text.frames import Frame
from parsers.text.wrappings import Wrapping

SAMPLE: Final = 500
"""Lines from the beginning of a text by which its order is decided: the same ones however it is read."""
REMARK: Final = "its lines are in another order than their times: read in the order of their times"

_FALL: Final = 1_000_000  # microseconds: threads of one broker print lines out of order by less
_OFTEN: Final = 4
_FALLS: Final = 2  # one is where two logs were joined
_BY_WORKERS: Final = 3
_MANY: Final = 8
_FEW: Final = 3  # times that go back by less, as threads may make them


def joined_out_of_order(steps: Sequence[int]) -> bool:
    """Return whether lines of an earlier time follow later ones: two logs were put below each other.

    Args:
        steps: microseconds from each line to the next.
    """
    return any(step < -_FALL for step in steps)


def out_of_order(steps: Sequence[int]) -> bool:
    """Return whether so many times go back that no process wrote the lines one after the other.

    That is so if times often go back by more than a second, or if they go back in most of the lines. It is so as well
    if both happen less often, but together, as where several workers handed on the lines of one log.

    Args:
        steps: microseconds from each line to the next.
    """
    moved = sum(step != 0 for step in steps)
    falls, back = sum(step < -_FALL for step in steps), sum(step < 0 for step in steps)
    by_workers = falls >= _BY_WORKERS and _MANY * back >= moved
    return (falls >= _FALLS and _OFTEN * falls >= moved) or (back > _FEW and 2 * back > moved) or by_workers


def is_shuffled(lines: pl.Series, around: tuple[Wrapping, ...], frame: Frame) -> bool:
    """Return whether a log's first lines are in no order that a process writes them in, such as in an export.

    Args:
        lines: of its beginning, at least ``SAMPLE`` of them or all.
        around, frame: its wrappings and layout.
    """
    block = wrappings.unwrap(wrappings.sample_block(lines.head(SAMPLE)), around)
    rows = block.lines.alias("text").to_frame().filter(pl.col("text").str.contains(frame.head))
    time = rows.select(frame.time.cast(pl.Int64)).to_series().drop_nulls().to_list()
    return len(time) >= _FEWEST and out_of_order([after - before for before, after in itertools.pairwise(time)])


_FEWEST: Final = 10
