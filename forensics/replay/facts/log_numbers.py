"""Numbers for logs in frames: comparing one number is faster than comparing a topic, a partition and a broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

LOG: Final = "_log"
"""Column with a number for each log: topic, partition, incarnation and broker. The numbers rise in this order."""

_OF_LOG: Final = ("topic", "partition", "incarnation", "broker")


def numbered(rows: pl.DataFrame, place: Sequence[str] = _OF_LOG, name: str = LOG) -> pl.DataFrame:
    """Return rows, in the order given, with a number for each combination of values of some columns.

    Args:
        rows: rows with these columns.
        place: the columns. The numbers rise in their order.
        name: the column of the numbers.
    """
    places = rows.select(place).unique().sort(place).with_row_index(name)
    return rows.join(places, on=place, how="left", maintain_order="left", nulls_equal=True)
