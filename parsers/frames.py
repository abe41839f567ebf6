"""The frame that a logging layout puts around a message: time, level and logger.

Stock layout of every Kafka version: ``[%d] %p %m (%c)%n`` (config/log4j.properties, 0.8 to trunk), where the time is
printed in the JVM's zone without naming it. Others are built from two tables, of dates and of arrangements; each turns
the rest of a line into the stock arrangement, so that what reads messages knows one only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl


@dataclass(frozen=True, slots=True)
class Frame:
    """One layout.

    Attributes:
        name: as shown in ``sources``.
        head: pattern that the first physical line of an event fits, and no continuation line does.
        sign: pattern that tells the layout from others; lines that begin a longer message need not fit.
        time: expression of the printed time, from column ``text``, as naive microseconds.
        rest: expression of level, message and logger in the stock arrangement, from column ``text``.
        utc: the time names its zone, and is given in UTC.
    """

    name: str
    head: str
    sign: str
    time: pl.Expr
    rest: pl.Expr
    utc: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    """One way of writing a time.

    Attributes:
        name: part of the frame's name.
        pattern: what it looks like.
        format: chrono's directives, after a comma before the fraction became a dot and "T" a blank.
        zoned: ends in its zone.
    """

    name: str
    pattern: str
    format: str
    zoned: bool = False


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One order of level, thread, logger and message behind the date.

    Attributes:
        name: part of the frame's name.
        bracketed: whether the date stands in brackets.
        pattern: what follows the date, as far as it tells this arrangement from others; without groups.
        groups: the same, to the end of the line, with groups ``level``, ``message`` and perhaps ``logger``.
        stock: what to put in its place.
    """

    name: str
    bracketed: bool
    pattern: str
    groups: str
    stock: str


LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

_TEXT: Final = pl.col("text")
_LEVEL: Final = r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\]?"
_KEPT_LEVEL: Final = r"\[?(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE)(?:ING)?\]?"
_LOGGER: Final = r"[A-Za-z_][A-Za-z0-9_]*(?:[.][A-Za-z0-9_$]+)+"
_SECONDS: Final = r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}"
_ZONE: Final = r"(?: ?Z| ?[+-][0-9]{2}:?[0-9]{2}| UTC| GMT)"

STOCK: Final = Frame(
    # [2024-03-01 10:22:41,107] LEVEL message (logger): what every stock configuration prints
    name="log4j",
    head=r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] [A-Z]",
    sign=r"^\[[0-9]{4}-.* \([A-Za-z_][A-Za-z0-9_.$]*\)$",
    time=_TEXT.str.slice(1, 23).str.to_datetime("%Y-%m-%d %H:%M:%S,%3f", time_unit="us", strict=False),
    rest=_TEXT.str.slice(26),
)

DATES: Final[tuple[Date, ...]] = (
    Date("", _SECONDS + r"(?:[.,][0-9]{1,9})?", "%Y-%m-%d %H:%M:%S%.f"),  # 2024-03-01 10:22:41.107, ISO 8601
    Date("zone", _SECONDS + r"(?:[.,][0-9]{1,9})?" + _ZONE, "%Y-%m-%d %H:%M:%S%.f%z", zoned=True),
    # 01 Mar 2024 10:22:41,107: log4j's DATE
    Date(
        "day first", r"[0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]{3}", "%d %b %Y %H:%M:%S%.f"
    ),
    Date("milliseconds", r"[0-9]{13}", "", zoned=True),  # since 1970, UTC by definition
)

ARRANGEMENTS: Final[tuple[Arrangement, ...]] = (
    # Narrow ones first: the last two take any message.
    # INFO message (logger) [thread]: Strimzi
    Arrangement(
        "thread last",
        False,
        rf" {_LEVEL} .* \({_LOGGER}\) \[[^\]]+\]$",
        rf" +{_KEPT_LEVEL} +(?P<message>.*) \((?P<logger>{_LOGGER})\) \[[^\]]+\]$",
        "$level $message ($logger)",
    ),
    # INFO logger: message
    Arrangement(
        "logger first",
        False,
        rf" {_LEVEL} +\[?{_LOGGER}\]?(?: \([^)]*\))?(?::| -)? ",
        rf" +{_KEPT_LEVEL} +\[?(?P<logger>{_LOGGER})\]?(?: \([^)]*\))?(?::| -)? +(?P<message>.*)$",
        "$level $message ($logger)",
    ),
    # [thread] INFO logger - message, INFO [thread] logger - message
    Arrangement(
        "thread and logger first",
        False,
        rf" (?:\[[^\]]*\] +{_LEVEL}|{_LEVEL} +\[[^\]]*\]) +\[?{_LOGGER}\]?(?::| -)? ",
        rf" +(?:\[[^\]]*\] +)?{_KEPT_LEVEL} +(?:\[[^\]]*\] +)?\[?(?P<logger>{_LOGGER})\]?(?::| -)? +(?P<message>.*)$",
        "$level $message ($logger)",
    ),
    Arrangement("bare", False, rf" {_LEVEL} ", rf" +{_KEPT_LEVEL} +(?P<message>.*)$", "$level $message"),
    Arrangement("bracketed", True, rf" {_LEVEL} ", rf" +{_KEPT_LEVEL} +(?P<message>.*)$", "$level $message"),
)


def _time(date: Date, bracketed: bool) -> pl.Expr:
    found = _TEXT.str.extract(rf"^\[?({date.pattern})")
    if not date.format:
        return pl.from_epoch(found.cast(pl.Int64, strict=False), time_unit="ms").cast(pl.Datetime("us"))
    found = found.str.replace(",", ".", literal=True)
    if date.name == "":
        found = found.str.replace("T", " ", literal=True).str.replace_all("/", "-", literal=True)
    if not date.zoned:
        return found.str.to_datetime(date.format, time_unit="us", strict=False)
    found = (
        found.str.replace(r"^(.{10})T", "$1 ")
        .str.replace_all("/", "-", literal=True)
        .str.replace(r" ?(?:Z|UTC|GMT)$", "+0000")
        .str.replace(r" ?([+-][0-9]{2}):?([0-9]{2})$", "$1$2")
    )
    zoned = found.str.to_datetime(date.format, time_unit="us", time_zone="UTC", strict=False)
    return zoned.dt.replace_time_zone(None)


def _build(date: Date, arrangement: Arrangement) -> Frame:
    bracketed = arrangement.bracketed
    begin = rf"^\[{date.pattern}\]" if bracketed else rf"^{date.pattern}"
    names = [name for name in (date.name, arrangement.name) if name]
    return Frame(
        name=", ".join(names),
        head=begin + rf" (?:\[[^\]]*\] +)?{_LEVEL} ",
        sign=begin + arrangement.pattern,
        time=_time(date, bracketed),
        # A first line of several does not fit the whole pattern: then the date alone is taken off.
        rest=_TEXT.str.replace(begin + arrangement.groups, arrangement.stock).str.replace(begin + " +", ""),
        utc=date.zoned,
    )


FRAMES: Final[tuple[Frame, ...]] = (
    STOCK,
    *(_build(date, arrangement) for arrangement in ARRANGEMENTS for date in DATES),
)
"""Layouts; a source has one, the narrowest that most of its early lines fit."""


def choose(lines: pl.Series) -> Frame | None:
    """The layout of a source, from its first lines; None where no line looks like the start of an event."""
    return fit(lines)[0]


def fit(lines: pl.Series) -> tuple[Frame | None, int]:
    """The layout, and how many of the lines begin an event of it."""
    sample = lines.head(5000)
    stock = sample.filter(sample.str.contains(STOCK.head))
    if stock.len() and 10 * int(stock.str.contains(STOCK.sign).sum()) >= stock.len():
        return STOCK, stock.len()
    sample = sample.head(500)
    best: Frame | None = None
    count = 0
    for frame in FRAMES[1:]:
        fits = int(sample.str.contains(frame.sign).sum())
        if fits > 2 * count:  # a wide arrangement also fits what a narrow one tells apart
            best, count = frame, fits
    # The stock head without its end takes any message: messages that were cut, or all of more than one line.
    return (best, count) if count > stock.len() or not stock.len() else (STOCK, stock.len())


def split(rows: pl.DataFrame, frame: Frame) -> pl.DataFrame:
    """Add ``time``, ``level``, ``message`` and ``logger`` to rows with a column ``text``.

    ``time`` is null where the printed time is not one. Where rows have a column ``outer``, a time that a collector
    added in UTC, the printed time is moved to UTC by the whole quarters of an hour between them. ``logger`` is null
    where a message goes on in further lines, because the layout prints it after the message.
    """
    rows = rows.with_columns(frame.time.alias("time"), frame.rest.alias("_rest"))
    if "outer" in rows.columns and not frame.utc:
        apart = (pl.col("time") - pl.col("outer")).dt.total_seconds()
        quarters = (apart / 900).round().cast(pl.Int64)
        rows = rows.with_columns((pl.col("time") - pl.duration(minutes=15 * quarters.fill_null(0))).alias("time"))
    return (
        rows.with_columns(
            pl.col("_rest").str.extract(r"^\[?([A-Z]+)\]?").alias("level"),
            pl.col("_rest").str.tail(160).str.extract(r" \(([A-Za-z_][A-Za-z0-9_.$]*)\)$").alias("logger"),
        )
        .with_columns(
            pl.when(pl.col("logger").is_not_null())
            .then(pl.col("_rest").str.head(-(pl.col("logger").str.len_chars().cast(pl.Int64) + 3)))
            .otherwise(pl.col("_rest"))
            .str.replace(r"^\[?[A-Z]+\]? +", "")
            .alias("message")
        )
        .drop("_rest")
    )
