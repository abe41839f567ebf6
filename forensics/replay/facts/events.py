"""Observations as replay reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from parsers.schema import Kind


class Event(NamedTuple):
    """A row of the case's observations, with the values that replay uses."""

    row: int
    time: int | None
    broker: int
    run: int
    kind: str
    message: str
    replica: int | None
    leader: int | None
    leader_epoch: int | None
    previous_epoch: int | None
    partition_epoch: int | None
    offset: int | None
    hw: int | None
    hw_before: int | None
    leader_hw: int | None
    leo: int | None
    log_start: int | None
    isr: str | None
    isr_before: str | None
    detail: str | None


COLUMNS = Event._fields
"""Columns of the observations that make an event, in order."""


def as_values(columns: Iterable[str]) -> list[pl.Expr]:
    """Return observation columns as Python values: times in microseconds since 1970 UTC."""
    return [pl.col(name).cast(pl.Int64) if name == "time" else pl.col(name) for name in columns]


PROGRESS = (
    Kind.APPEND,
    Kind.LEO,
    Kind.FETCH_REFUSED,
    Kind.FOLLOWER_FETCHED,
    Kind.LEADER_HW,
    Kind.ROLLED,
    Kind.PRODUCER_SNAPSHOT,
    Kind.HW,
    Kind.HW_HELD,
    Kind.PRODUCED,
    Kind.CONSUMED,
)
"""Kinds of observation that report progress: they change with every append or fetch."""
