"""Observations as replay reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import polars as pl

from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages.logs import LOG_OF, Log
from parsers.schema import Kind

T = TypeVar("T")


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


_KINDS: Final = tuple(kind.value for kind in Kind)
"""Values of the column ``kind``, each one object for all events."""


def tuples(rows: pl.DataFrame, made: Callable[[Iterable[Any]], T], columns: Iterable[str]) -> list[T]:
    """Return a value for each row, made of the values of some columns; times as ``as_values`` gives them."""
    if rows.is_empty():
        return []
    values = [
        [_KINDS[at] for at in column.to_physical().to_list()] if column.name == "kind" else column.to_list()
        for column in rows.select(as_values(columns)).iter_columns()
    ]
    return list(map(made, zip(*values, strict=True)))


def events(rows: pl.DataFrame) -> list[Event]:
    """Return observations as events, in order."""
    return tuples(rows, Event._make, COLUMNS)


def in_groups(
    rows: pl.DataFrame, place: Sequence[str], made: Callable[[pl.DataFrame], list[T]]
) -> dict[tuple[Any, ...], list[T]]:
    """Return a value for each row, by the values of some columns.

    Args:
        rows: observations; rows that are equal in these columns are adjacent.
        place: the columns.
        made: makes the values of all rows.
    """
    if rows.is_empty():
        return {}
    values = made(rows)
    found: dict[tuple[Any, ...], list[T]] = {}
    first = 0
    for *key, count in rows.group_by(place, maintain_order=True).len().iter_rows():
        found[tuple(key)] = values[first : first + count]
        first += count
    return found


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


class StatedEnd(NamedTuple):
    """How a line about progress states the log end offset.

    Attributes:
        column: the column of the observation that has it.
        least: the log reaches at least that far. Otherwise it ended there.
    """

    column: str
    least: bool


LOG_ENDS: Final[Mapping[str, StatedEnd]] = {
    Kind.APPEND: StatedEnd("leo", least=False),
    Kind.LEO: StatedEnd("leo", least=False),
    Kind.FETCH_REFUSED: StatedEnd("leo", least=False),
    Kind.LEADER_HW: StatedEnd("leo", least=True),
    Kind.FOLLOWER_FETCHED: StatedEnd("leo", least=True),
    Kind.ROLLED: StatedEnd("offset", least=True),
    Kind.PRODUCER_SNAPSHOT: StatedEnd("offset", least=True),
}
"""Kinds of observation that report progress of a log: what they state of its end."""


def stated_end(event: Event) -> int | None:
    """Return the log end offset that a line about progress states, or the least that it can be."""
    found: int | None = getattr(event, LOG_ENDS[event.kind].column)
    return found


_OF_BROKER = frozenset(
    (Kind.PROCESS_STARTED, Kind.SHUTDOWN_BEGIN, Kind.SHUTDOWN_COMPLETE, Kind.DIR_FAILED, Kind.DIR_EMPTY)
)
"""Kinds of lines about a broker or a directory, which are lines of each of its replicas too."""


def has_server_log(own: Iterable[Event]) -> bool:
    """Return whether a line of server.log is about the replica itself; a trace has what both files have."""
    return any(
        event.kind not in _OF_BROKER and (event.message == TRACE or LOG_OF.get(event.message) is Log.SERVER)
        for event in own
    )
