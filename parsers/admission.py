"""Check of all readers' results against the schema, before anything else sees them.

Readers bound the values that they read if they know the format. This check applies to all of them. The tables have
exactly the columns and types of the schema, and every number is one that Kafka can have written. A row with another
number, with a time that no clock has, or with a topic whose name is too long, is left out, with a notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import polars as pl

from parsers import limits
from parsers.encodings.checkpoint_file import INT32_MAX, INT64_MAX, integer
from parsers.file_reading import FileReading, note
from parsers.filled import filled
from parsers.schema import BATCHES, LEAST, NOTICES, OBSERVATIONS, empty

_SCHEMAS: Final = tuple((schema, list(schema), list(schema.values())) for schema in (OBSERVATIONS, BATCHES, NOTICES))
_SHOWN: Final = 40


class Bound(NamedTuple):
    """The least and the greatest value of a column."""

    least: int
    most: int


_BROKER: Final = Bound(-1, INT32_MAX)  # -1 if a request or a tool names no broker
_LEADER: Final = Bound(-3, INT32_MAX)  # -1 none, -2 being deleted (LeaderAndIsr), -3 no change
_EPOCH: Final = Bound(-1, INT32_MAX)  # -1 unknown (RecordBatch.NO_PARTITION_LEADER_EPOCH)
_OFFSET: Final = Bound(-2, INT64_MAX - 1)  # -1 unknown, -2 the earliest; an end must fit behind the last

BOUNDS: Final[Mapping[str, Bound]] = {
    "partition": Bound(-1, INT32_MAX),
    "replica": _BROKER,
    "witness": _BROKER,
    "leader": _LEADER,
    "leader_epoch": _EPOCH,
    "previous_epoch": _EPOCH,
    "partition_epoch": Bound(-1, INT32_MAX),
    "offset": _OFFSET,
    "hw": _OFFSET,
    "hw_before": _OFFSET,
    "leader_hw": _OFFSET,
    "leo": _OFFSET,
    "log_start": _OFFSET,
}
"""Bounds of the columns of observations; a column that is not named has those of its type."""


_TIME: Final = pl.col("time").cast(pl.Int64)
_TIMES: Final = Bound(-62_104_000_000_000_000, 253_370_000_000_000_000)
"""Microseconds since 1970: about the years 2 to 9998, so that any zone and any skew leave a time that can be shown."""

_BROKERS: Final = r"^(?:[0-9]{1,10}(?:,[0-9]{1,10})*)?$"
"""Broker ids joined by ",", or none."""


def admitted(reading: FileReading) -> FileReading:
    """The reading with tables that satisfy their schemas; what is left out for that is noted.

    Raises:
        TypeError: a table has other columns or types than its schema: a defect of the reader.
    """
    tables = (reading.observations, reading.batches, reading.notices)
    for table, (schema, names, types) in zip(tables, _SCHEMAS, strict=True):
        if table is empty(schema):
            continue
        # two lists of both are compared in a fifth of the time that two schemas take
        if table.columns != names or table.dtypes != types:
            wrong = set(table.schema.items()) ^ set(schema.items())
            raise TypeError(f"a table of {reading.format} has other columns than its schema: {sorted(wrong, key=str)}")
    if reading.observations.height and not _within(reading.observations):
        _bound(reading)
    reading.first_time, reading.last_time = _time(reading.first_time), _time(reading.last_time)
    reading.notices = counted(reading.notices)
    for key in ("broker.id", "node.id"):
        value = reading.properties.get(key, "").strip()
        if value.isdigit() and integer(value, most=INT32_MAX) is None:
            del reading.properties[key]
            reading.notices = pl.concat(
                [reading.notices, note(f"{key} is no id that a broker can have", excerpt=value)]
            )
    return reading


def counted(notices: pl.DataFrame) -> pl.DataFrame:
    """Return the notices of one file; many of them that differ only in numbers become one, with their count.

    Damage in segments is not counted together: each piece has its place in the log.
    """
    if notices.is_empty():
        return notices
    longest = notices.get_column("reason").str.len_chars().max()
    if isinstance(longest, int) and longest > (most := limits.REASON.value):
        shortened = filled(f"{{}}… ({limits.REASON.moves})", pl.col("reason").str.slice(0, most))
        reason = pl.when(pl.col("reason").str.len_chars() > most).then(shortened).otherwise("reason")
        notices = notices.with_columns(reason.alias("reason"))
    if notices.height <= (most := limits.ALIKE.value):
        return notices
    alike = pl.when(pl.col("kind").is_null()).then(pl.col("reason").str.replace_all("[0-9]+", "0"))
    several = pl.len().over("_alike")
    rows = notices.with_row_index("_row").with_columns(alike.fill_null(pl.col("_row").cast(pl.String)).alias("_alike"))
    many = rows.with_columns(several.alias("_many"), pl.col("_row").rank("ordinal").over("_alike").alias("_rank"))
    told = filled(f"{{}} ({{}} like this in the file, this is the first; {limits.ALIKE.moves})", "reason", "_many")
    kept = many.filter((pl.col("_many") <= most) | (pl.col("_rank") == 1))
    reason = pl.when(pl.col("_many") > most).then(told).otherwise("reason").alias("reason")
    return kept.sort("_row").with_columns(reason).select(NOTICES.keys())


def _time(when: int | None) -> int | None:
    """Return a time; None for one that no clock has. The lines that state it are noted where they matter."""
    return when if when is not None and _TIMES.least <= when <= _TIMES.most else None


def _within(rows: pl.DataFrame) -> bool:
    """Return whether all numbers are within their bounds, as almost always: this costs a fiftieth of a full check."""
    for name, bound in BOUNDS.items():
        column = rows.get_column(name)
        least, most = column.min(), column.max()
        if least is not None and not bound.least <= least <= most <= bound.most:  # type: ignore[operator]
            return False
    first, last, longest = rows.select(
        _TIME.min().alias("first"), _TIME.max().alias("last"), pl.col("topic").str.len_chars().max()
    ).row(0)
    if longest is not None and longest > limits.TOPIC.value:
        return False
    if first is not None and not _TIMES.least <= first <= last <= _TIMES.most:
        return False
    said = [name for name in _LISTS if rows.get_column(name).null_count() < rows.height]
    return not (said and any(rows.select_seq(_no_brokers(name).any() for name in said).row(0)))


def _bound(reading: FileReading) -> None:
    """Leave out observations with a number that Kafka cannot have written."""
    rows = reading.observations
    outside = [(~pl.col(name).is_between(*bound)).fill_null(value=False).alias(name) for name, bound in BOUNDS.items()]
    outside.append((~_TIME.is_between(*_TIMES)).fill_null(value=False).alias("time"))
    outside.append((pl.col("topic").str.len_chars() > limits.TOPIC.value).fill_null(value=False).alias("topic"))
    marks = rows.select(*outside, **{name: _no_brokers(name) for name in _LISTS})
    wrong = marks.select(pl.any_horizontal(pl.all())).to_series()
    said = [_notice(rows.filter(marks[name]), name) for name in marks.columns if marks[name].any()]
    reading.observations = rows.filter(~wrong)
    reading.unread += int(wrong.sum())
    reading.notices = pl.concat([reading.notices, *said])


def _too_many(name: str) -> pl.Expr:
    """Return whether a list of broker ids is longer than any that a reader expects."""
    return pl.col(name).str.count_matches(",", literal=True) >= limits.BROKERS.value


def _no_brokers(name: str) -> pl.Expr:
    """Return whether a list of broker ids is too long, or holds impossible ids."""
    ids = pl.when(~_too_many(name)).then(pl.col(name)).str.split(",")
    above = ids.list.eval(pl.element().cast(pl.Int64, strict=False) > INT32_MAX).list.any()
    return (_too_many(name) | ~pl.col(name).str.contains(_BROKERS) | above).fill_null(value=False)


_LISTS: Final = ("isr", "isr_before")
"""Columns with lists of broker ids."""


def _notice(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """One notice for all rows that are left out for one column, at the place of the first."""
    value, line, byte = rows.select(pl.col(name).cast(pl.String) if name == "time" else name, "line", "byte").row(0)
    count = f"{rows.height:,} statements are" if rows.height > 1 else "1 statement is"
    shown = "a number that is far too large" if value == LEAST.get(name) else str(value)[:_SHOWN]
    if name == "topic":
        shown = f"a name of {len(value):,} characters"
    reason = f"{count} left out: {shown} is no {name.replace('_', ' ')} that can be"
    limit = limits.TOPIC if name == "topic" else limits.BROKERS
    if name == "topic" or (name in _LISTS and value.count(",") >= limit.value):
        reason = limit.told(f"{reason}, as more than {{}} are too many")
    return pl.DataFrame([(None, reason, "", line, byte)], schema=NOTICES, orient="row")
