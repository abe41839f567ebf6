"""Lines of a complete trace, as they are played one by one."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple

import polars as pl

from forensics.replay.facts.statement_lines import Key


class TraceLine(NamedTuple):
    """The columns of an observation that a trace is played by."""

    topic: str
    partition: int
    incarnation: int
    broker: int
    run: int
    replica: int | None
    row: int
    line: int | None
    time: int | None
    kind: str
    message: str
    leader: int | None
    leader_epoch: int | None
    offset: int | None
    hw: int | None
    leader_hw: int | None
    leo: int | None
    log_start: int | None
    checksum: str | None
    isr: str | None
    partition_epoch: int | None

    @property
    def key(self) -> Key:
        """The partition that it is about."""
        return self.topic, self.partition, self.incarnation


class OfBrokers(NamedTuple):
    """Facts about the brokers whose lines are played.

    Attributes:
        clean: brokers and processes that began after a clean stop.
        keep_hw: brokers of releases in which a truncation leaves the high watermark in memory.
        since: brokers of which a trace claims every change from some moment on, and not those before it.
    """

    clean: Set[tuple[int, int]] = frozenset()
    keep_hw: Set[int] = frozenset()
    since: Set[int] = frozenset()


def trace_lines(rows: pl.DataFrame) -> Iterator[TraceLine]:
    """Yield observations in the order of their times; those of the same time in the order of the trace."""
    values = rows.sort("row").with_columns(pl.col("time").cast(pl.Int64))
    values = values.with_columns(pl.col("time").forward_fill().over("broker").alias("_when"))
    return map(TraceLine._make, values.sort("_when", "source", "line").select(TraceLine._fields).iter_rows())
