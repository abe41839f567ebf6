"""Statements of rows: the broker that made each, their order, and the process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import polars as pl

from forensics.case.metadata import FORMATS as METADATA_FORMATS
from parsers.file_reading import UTC, FileReading
from parsers.files.sources import Source
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC

__all__ = [
    "METADATA_TOPIC",
    "ORDER",
    "between",
    "cluster_numbers",
    "does_something",
    "in_order",
    "is_fixed",
    "known_zone",
    "latest",
    "moment",
    "ranks",
    "repeated",
    "to_utc",
    "utc",
    "with_runs",
    "witnessed",
    "zone_info",
]

ORDER = ("_cluster", "broker", "_when", "_rank", "source", "line", "byte")
"""Columns by which observations are ordered, nulls last; rows that are equal in all keep the order of their file."""

_OFFSET: Final = re.compile(r"UTC([+-])([0-9]{2}):([0-9]{2})")
_GIVEN: Final = re.compile(r"(?:UTC)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?")  # as people write an offset
_EASTERNMOST: Final = timedelta(hours=14)
_FALL: Final = timedelta(minutes=1)  # threads of one broker, and clocks set right, fall back by less

# Within one millisecond a role change is received (state-change.log) before the log layer acts on it (server.log).
FIRST: Final = "state-change"
_AFTER: Final = 1 << 24
_TURN: Final = re.compile(r"[-._]?[0-9]+")  # difference between the names of a rotated log's files: a date, an index


def ranks(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> list[int]:
    """Return the rank of each file among files that print the same time; unrelated files do not change it.

    Of a rotated log the file that begins earlier comes first, whatever its name. The one that ends in ``.1`` is the
    latest with log4j 1, and the oldest with log4j 2 unless configured otherwise (``fileIndex``).
    """
    logs: dict[tuple[str | None, int | None, str, str], list[tuple[int, int, int]]] = {}
    for number, (source, found) in enumerate(files):
        if found.first_time is not None and found.last_time is not None:
            folder = source.path.rpartition("/")[0] if owner[number] is None else ""
            log = cluster[number], owner[number], folder, _TURN.sub("", source.name)
            logs.setdefault(log, []).append((found.first_time, found.last_time, number))
    turn = {number: place for parts in logs.values() for place, (_, _, number) in enumerate(sorted(parts))}
    return [
        (0 if FIRST in source.name else _AFTER) + min(turn.get(number, 0), _AFTER - 1)
        for number, (source, _) in enumerate(files)
    ]


def cluster_numbers(clusters: Sequence[str | None]) -> dict[str | None, int]:
    """A number for each cluster: brokers of different clusters share ids, but neither order nor runs."""
    return {name: at for at, name in enumerate(sorted(set(clusters), key=lambda name: (name is None, name)))}


def is_fixed(zone: str) -> bool:
    """Return whether a zone has a fixed offset from UTC."""
    return zone == UTC or _OFFSET.fullmatch(zone) is not None


def known_zone(text: str) -> str:
    """Return a zone as ``utc`` reads it: a name of the time zone database, or an offset such as ``+02:00``.

    Raises:
        ValueError: there is no such zone.

    >>> known_zone("+2"), known_zone("-0330"), known_zone("Europe/Berlin")
    ('UTC+02:00', 'UTC-03:30', 'Europe/Berlin')
    """
    given = _GIVEN.fullmatch(text)
    name = f"UTC{given[1]}{int(given[2]):02}:{given[3] or '00'}" if given else text
    try:
        far = abs(zone_info(name).utcoffset(None) or timedelta())
        if not given:  # some files of the system are zones to the standard library only
            pl.Series([None], dtype=pl.Datetime).dt.replace_time_zone(name)
    except (ZoneInfoNotFoundError, OSError, ValueError, pl.exceptions.ComputeError) as error:
        raise ValueError(f"no zone is {name!r}: {error}") from None
    if far > _EASTERNMOST or (given and int(given[3] or 0) > 59):
        raise ValueError(f"no zone is {name}")
    return name


def zone_info(zone: str) -> tzinfo:
    """Return a zone for times of the standard library.

    Args:
        zone: a name of the time zone database, or an offset like ``UTC+02:00``.

    Raises:
        ZoneInfoNotFoundError: there is no zone of this name.
    """
    if offset := _OFFSET.fullmatch(zone):
        return timezone(int(f"{offset[1]}1") * timedelta(hours=int(offset[2]), minutes=int(offset[3])))
    return ZoneInfo(zone)


def moment(time: datetime | None, zone: str | None) -> int | None:
    """Return a time as microseconds since 1970 UTC; one without a zone is in the given one, else in UTC."""
    if time is None:
        return None
    known = time if time.tzinfo is not None else time.replace(tzinfo=zone_info(zone or UTC))
    return round((known - datetime(1970, 1, 1, tzinfo=zone_info(UTC))) / timedelta(microseconds=1))


def utc(time: pl.Expr, zone: str, *, later: pl.Expr | None = None) -> pl.Expr:
    """Return a printed time as UTC; null if the zone has no such time.

    Args:
        time: naive.
        zone: a name of the time zone database, or an offset like ``UTC+02:00``.
        later: for a time that the zone has twice, when clocks go back: whether it is the second one.
    """
    if offset := _OFFSET.fullmatch(zone):
        minutes = int(f"{offset[1]}1") * (60 * int(offset[2]) + int(offset[3]))
        return (time - pl.duration(minutes=minutes)).dt.replace_time_zone(UTC)
    ZoneInfo(zone)  # an unknown zone fails here, by name
    first: pl.Expr | str = "earliest"
    if later is not None:
        first = pl.when(later).then(pl.lit("latest")).otherwise(pl.lit("earliest"))
    return time.dt.replace_time_zone(zone, ambiguous=first, non_existent="null").dt.convert_time_zone(UTC)  # type: ignore[arg-type]


def repeated(time: pl.Expr, zone: str) -> pl.Expr:
    """Return whether the zone has a printed time twice; never of a fixed offset."""
    if is_fixed(zone):
        return pl.lit(False)
    second = time.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null").dt.convert_time_zone(UTC)
    return (utc(time, zone) != second).fill_null(False)


def to_utc(frame: pl.DataFrame, zone: str) -> pl.DataFrame:
    """Return the frame with its printed ``time`` as UTC; rows in the order of one file.

    A time that the zone has twice is the earlier one until the file's times fall back within that hour.
    """
    time = pl.col("time")
    if is_fixed(zone) or not frame.select(repeated(time, zone).any()).item():
        return frame.with_columns(utc(time, zone))
    day, twice = time.dt.date(), pl.when(repeated(time, zone)).then(time)
    fallen = (twice.cum_max().over(day) - twice > _FALL).fill_null(False).cast(pl.Int8).cum_max().over(day)
    return frame.with_columns(utc(time, zone, later=fallen == 1))


def between(time: pl.Expr) -> pl.Expr:
    """Return times in which a line without one has that of the line before it."""
    return time.fill_null(strategy="forward").fill_null(strategy="backward")


def latest(time: pl.Expr) -> pl.Expr:
    """Return times that never fall within a file, even if its clock goes back or a line has no time."""
    return between(time).cum_max()


def witnessed(rows: pl.DataFrame, skew: Mapping[int, int]) -> pl.DataFrame:
    """Add ``broker``, which states the row, and shift its time by that broker's skew.

    A record of the metadata log is about other brokers, but a setting in it is that of the broker it names. A trace
    names the broker of each line.

    Args:
        rows: observations with ``_owner`` (broker of the file) and ``_trace`` (the file is one).
        skew: microseconds to add to a broker's times.
    """
    settings = pl.col("kind") == Kind.BROKER_CONFIG.value
    rows = rows.with_columns(
        pl.when(pl.col("message").is_in(METADATA_FORMATS) & ~pl.col("_trace"))
        .then(pl.when(settings).then(pl.col("replica")).otherwise(pl.col("_owner")))
        .otherwise(pl.coalesce("witness", "_owner"))
        .alias("broker")
    )
    for broker, shift in sorted(skew.items()):
        rows = rows.with_columns(
            pl.when(pl.col("broker") == broker)
            .then(pl.col("time") + pl.duration(microseconds=shift))
            .otherwise(pl.col("time"))
            .alias("time")
        )
    return rows


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as they happened, broker by broker."""
    return rows.sort(*ORDER, nulls_last=True, maintain_order=True)


def with_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``starts_run`` and ``run``, the process of the broker, to rows in order.

    Several lines report one start: a new run begins only after the one before has done something. A line that another
    file of the broker has as well, at the same time, begins none.
    """
    mine = ["_cluster", "broker"]
    rows = rows.with_columns(_first_of_start(rows, mine).alias("_starting"))
    work = does_something().cum_sum().over(mine)
    seen = pl.when("_starting").then(work).otherwise(None).forward_fill().shift(1).over(mine)
    begins = pl.col("_starting") & ((seen != work) | seen.is_null())
    rows = rows.with_columns(begins.fill_null(False).alias("starts_run")).drop("_starting")
    return rows.with_columns(pl.col("starts_run").cast(pl.Int32).cum_sum().over(mine).alias("run"))


def _first_of_start(rows: pl.DataFrame, mine: Sequence[str]) -> pl.Series:
    """Return which rows report the start of a process, and no row before does so by the same message and time.

    Args:
        rows: in order.
        mine: columns of the broker.
    """
    starting = rows.select(pl.col("kind") == Kind.PROCESS_START.value).to_series().fill_null(False)
    starts = rows.with_row_index("_at").filter(starting, pl.col("time").is_not_null())
    again = starts.filter(~pl.struct(*mine, "message", "time").is_first_distinct()).get_column("_at")
    return starting & ~pl.int_range(rows.height, dtype=pl.UInt32, eager=True).is_in(again.implode())


def does_something() -> pl.Expr:
    """Filter for lines about a partition; the metadata quorum's own log does not count, it is loaded before a process
    starts.
    """
    return (pl.col("topic") != METADATA_TOPIC).fill_null(False) & pl.col("line").is_not_null()
