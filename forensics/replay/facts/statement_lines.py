"""Lines that state a value of one replica, as ``stated`` and ``went_back`` read them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from forensics.replay.facts.events import as_values

Key = tuple[str, int, int]
"""Topic, partition, incarnation."""


class StatementLine(NamedTuple):
    """The columns of an observation that states a value of a replica; without a replica it is the witness's own."""

    topic: str
    partition: int
    incarnation: int
    broker: int
    replica: int
    run: int | None
    row: int
    source: int
    time: int | None
    kind: str
    message: str
    leader_epoch: int | None
    offset: int | None
    hw: int | None
    leo: int | None
    log_start: int | None
    checksum: str | None

    @property
    def key(self) -> Key:
        """The partition that it is about."""
        return self.topic, self.partition, self.incarnation


def statement_lines(rows: pl.DataFrame) -> Iterator[StatementLine]:
    """Yield observations of partitions in their order.

    Args:
        rows: observations with ``broker``, ``row``, ``source`` and ``incarnation``.
    """
    values = rows.with_columns(pl.coalesce("replica", "broker").alias("replica")).sort("row")
    return map(StatementLine._make, values.select(*as_values(StatementLine._fields)).iter_rows())
