"""The layout that logging puts around a message: time, level and logger.

Default layout of every Kafka version: ``[%d] %p %m (%c)%n`` (config/log4j.properties, 0.8 to trunk), with the time in
the JVM's zone and without its name. Others are built from two tables: dates (``parsers.text.dates``), arrangements.
Each converts the rest of a line into the default arrangement, so that readers of messages know only one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from parsers.text.dates import CLOCK_ONLY, DATES, Date


@dataclass(frozen=True, slots=True)
class Frame:
    """One layout.

    Attributes:
        name: as shown in ``sources``.
        head: pattern that the first physical line of an event fits, and no continuation line does.
        sign: pattern that distinguishes the layout from others; lines that begin a longer message need not fit.
        time: expression of the printed time, from column ``text``, as naive microseconds.
        rest: expression of level, message and logger in the stock arrangement, from column ``text``.
        utc: the time names its zone, and is converted to UTC.
        remark: notice for a file that has it.
    """

    name: str
    head: str
    sign: str
    time: pl.Expr
    rest: pl.Expr
    utc: bool = False
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One order of date, level, thread, logger and message.

    Attributes:
        name: part of the frame's name.
        lead: pattern before the date, without groups.
        pattern: pattern after the date, as far as it distinguishes this arrangement from others; without groups.
        groups: the same, to the end of the line, with groups ``message`` and perhaps ``level`` and ``logger``.
        stock: replacement; the level of ``lead`` is ``$lead``.
        head: pattern after the date in every event, without groups.
    """

    name: str
    lead: str
    pattern: str
    groups: str
    stock: str
    head: str


LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

_TEXT: Final = pl.col("text")
_LEVEL: Final = r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\]?"
_KEPT_LEVEL: Final = r"\[?(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL|SEVERE)(?:ING)?\]?"
LOGGER: Final = r"[A-Za-z_][A-Za-z0-9_]*(?:[.][A-Za-z0-9_$]+)+"
_SHORT: Final = r"[A-Za-z_][A-Za-z0-9_.$]*"
_AT_LINE: Final = r":(?:[0-9]+|\?)"
_THREAD: Final = r"\[(?:[0-9]{1,4}|[^\]=0-9][^\]=]*)?\]"  # a date in brackets is none
THREAD: Final = r"\[(?:[0-9]{1,4}|[^\]=0-9 ][^\]= ]*|[^\]=0-9][^\]=]* [^\]=]*[^\]=0-9 ][^\]=]*)?\]"
"""A thread behind the level. Kafka's own prefixes have the same place; those of KRaft up to 3.4 end in a number alone:
``[Controller 100]``.
"""
_AFTER_LEVEL: Final = rf" +(?:\[[^\]]*\] +)?{_LEVEL} "
_STOCK_ORDER: Final = "$level $message ($logger)"

STOCK: Final = Frame(
    # [2024-03-01 10:22:41,107] LEVEL message (logger): what every stock configuration prints
    name="log4j",
    head=r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] +[A-Z]",
    sign=r"^\[[0-9]{4}-.* \([A-Za-z_][A-Za-z0-9_.$]*\)$",
    time=_TEXT.str.slice(1, 23).str.to_datetime("%Y-%m-%d %H:%M:%S,%3f", time_unit="us", strict=False),
    rest=_TEXT.str.slice(25).str.strip_chars_start(" "),
)
MUTE: Final = replace(STOCK)
"""The default layout if few events end with their logger: then a missing logger does not show an incomplete line."""
_THREADED: Final = rf"^\[[^\]]*\] +{_LEVEL} +{THREAD} [^ ]"
"""The stock layout with the thread behind the level. A message may begin with a bracket too, but rarely all do, and
those of Kafka name their replica with a "=" in it."""
_ON_BROKER: Final = (
    rf"^\[[^\]]*\] +{_LEVEL} +\[(?:[A-Za-z ]+ on broker [0-9]+|LeaderEpochCache [^\] ]+|KafkaApi-[0-9]+)\] "
)
"""A message of a manager of fetchers, a leader epoch cache or KafkaApis, whose prefixes have no "=": a few lines may
all be of that kind.
"""

ARRANGEMENTS: Final[tuple[Arrangement, ...]] = (
    # Narrow ones first: the last takes any message.
    # INFO message (logger) [thread]: Strimzi
    Arrangement(
        "thread last",
        "",
        rf" +{_LEVEL} .* \({LOGGER}\) \[[^\]]+\]$",
        rf" +{_KEPT_LEVEL} +(?P<message>.*) \((?P<logger>{LOGGER})\) \[[^\]]+\]$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # INFO logger: message
    Arrangement(
        "logger first",
        "",
        rf" +{_LEVEL} +\[?{LOGGER}\]?(?: \([^)]*\))?(?::| -)? ",
        rf" +{_KEPT_LEVEL} +\[?(?P<logger>{LOGGER})\]?(?: \([^)]*\))?(?::| -)? +(?P<message>.*)$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # [thread] INFO logger - message, INFO [thread] logger - message
    Arrangement(
        "thread and logger first",
        "",
        rf" +(?:\[[^\]]*\] +{_LEVEL}|{_LEVEL} +\[[^\]]*\]) +\[?{LOGGER}\]?(?::| --?)? ",
        rf" +(?:\[[^\]]*\] +)?{_KEPT_LEVEL} +(?:\[[^\]]*\] +)?\[?(?P<logger>{LOGGER})\]?(?::| --?)? +(?P<message>.*)$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # INFO Logger:66 - message, [thread] INFO Logger - message: log4j's %c{1}, with or without %L
    Arrangement(
        "short logger first",
        "",
        rf" +(?:\[[^\]]*\] +)?{_LEVEL} +(?:\[[^\]]*\] +)?{_SHORT}(?:{_AT_LINE}(?::| --?)?| --?) ",
        rf" +(?:\[[^\]]*\] +)?{_KEPT_LEVEL} +(?:\[[^\]]*\] +)?(?P<logger>{_SHORT})(?:{_AT_LINE}(?::| --?)?| --?) +"
        r"(?P<message>.*)$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # INFO [Logger] [thread] [service] [context] message: log4j's %c{1} in brackets, as LinkedIn's brokers print it
    Arrangement(
        "short logger and thread in brackets",
        "",
        rf" +{_LEVEL} +\[{_SHORT}\] \[[^\]]*\] \[[^\]]*\] \[[^\]]*\] ",
        rf" +{_KEPT_LEVEL} +\[(?P<logger>{_SHORT})\] \[[^\]]*\] \[[^\]]*\] \[[^\]]*\] +(?P<message>.*)$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # INFO 1 --- [thread] logger : message: Spring
    Arrangement(
        "process and thread first",
        "",
        rf" +{_LEVEL} +[0-9]+ --- (?:\[[^\]]*\] +)+{LOGGER} +: ",
        rf" +{_KEPT_LEVEL} +[0-9]+ --- (?:\[[^\]]*\] +)+(?P<logger>{LOGGER}) +: (?P<message>.*)$",
        _STOCK_ORDER,
        _AFTER_LEVEL,
    ),
    # | INFO | thread | logger | message
    Arrangement(
        "bars",
        "",
        rf" *\| *{_LEVEL} *\|(?:[^|]*\|)? *{LOGGER} *\| ",
        rf" *\| *{_KEPT_LEVEL} *\|(?:[^|]*\|)? *(?P<logger>{LOGGER}) *\| +(?P<message>.*)$",
        _STOCK_ORDER,
        rf" *\| *{_LEVEL} *\| ",
    ),
    # [INFO] date [thread] logger method - message: Confluent's images; INFO [date] message (logger)
    Arrangement(
        "level and thread first",
        rf"{_LEVEL} +",
        rf" +{_THREAD} +{LOGGER}(?: [A-Za-z0-9_$<>]+)?(?::| --?) ",
        rf" +{_THREAD} +(?P<logger>{LOGGER})(?: [A-Za-z0-9_$<>]+)?(?::| --?) +(?P<message>.*)$",
        "$lead $message ($logger)",
        " ",
    ),
    Arrangement("level first", rf"{_LEVEL} +", " ", r" +(?P<message>.*)$", "$lead $message", " "),
    # INFO [thread] message (logger)
    Arrangement(
        "thread second",
        "",
        rf" +{_LEVEL} +{THREAD} [^ ].* \({LOGGER}\)$",
        rf" +{_KEPT_LEVEL} +{THREAD} +(?P<message>.*)$",
        "$level $message",
        _AFTER_LEVEL,
    ),
    # INFO message
    Arrangement(
        "bare",
        "",
        rf" +(?:{_THREAD} +)?{_LEVEL} ",
        rf" +(?:{_THREAD} +)?{_KEPT_LEVEL} +(?P<message>.*)$",
        "$level $message",
        _AFTER_LEVEL,
    ),
)
_BY_MESSAGE: Final = frozenset(("thread second",))
"""Arrangements that also fit lines whose message begins with a bracket."""
_WIDE: Final = frozenset(("level first", "thread second", "bare"))
"""Arrangements that take any message."""


@functools.cache
def _build(date: Date, arrangement: Arrangement) -> Frame:
    lead = arrangement.lead
    marked = rf"(?:\[{date.pattern}\]|{date.pattern})"
    begin = rf"^{lead}{marked}"
    kept = rf"^{_KEPT_LEVEL.replace('?P<level>', '?P<lead>')} +{marked}" if lead else begin
    names = [name for name in (date.name, arrangement.name) if name]
    return Frame(
        name=", ".join(names),
        head=begin + arrangement.head,
        sign=begin + arrangement.pattern,
        time=date.read(_TEXT.str.extract(rf"^{lead}\[?({date.pattern})")),
        # A first line of several does not fit the whole pattern: then the date alone is taken off.
        rest=_TEXT.str.replace(kept + arrangement.groups, arrangement.stock).str.replace(
            kept + " +", "$lead " if lead else ""
        ),
        utc=date.zoned,
        remark=date.remark,
    )


def choose(lines: pl.Series) -> Frame | None:
    """The layout of a source, from its first lines; None where no line looks like the start of an event."""
    return fit(lines)[0]


def fit(lines: pl.Series) -> tuple[Frame | None, int]:
    """The layout, and how many of the lines begin an event of it."""
    sample = lines.head(5000)
    stock = sample.filter(sample.str.contains(STOCK.head))
    behind, on_broker = lines_with(stock, [_THREADED, _ON_BROKER])
    threaded = stock.len() and behind - on_broker >= _NEARLY_ALL * stock.len()
    if stock.len() and not threaded and 10 * int(stock.str.contains(STOCK.sign).sum()) >= stock.len():
        return STOCK, stock.len()
    best, count, narrow = _best(sample.head(500))
    if threaded or count > stock.len() or not stock.len():
        return best, count
    # The default head without its end fits any message: incomplete messages, or only messages of several lines.
    return (best, stock.len()) if narrow and count >= _NEARLY_ALL * stock.len() else (MUTE, stock.len())


def _best(sample: pl.Series) -> tuple[Frame | None, int, bool]:
    """Return the layout whose events most lines begin, how many do, and whether its arrangement is narrow."""
    events = sample.filter(sample.str.contains(_EVENT))
    dates = _dates(events)
    frames = [(arrangement, _build(date, arrangement)) for arrangement in ARRANGEMENTS for date in dates]
    signs = lines_with(events, [frame.sign for _, frame in frames])
    best: Frame | None = None
    count, narrow = 0, False
    for (arrangement, frame), fits in zip(frames, signs, strict=True):
        if arrangement.name in _BY_MESSAGE and fits < _NEARLY_ALL * lines_with(events, [frame.head])[0]:
            continue
        if fits > 2 * count:  # a wide arrangement also fits what a narrow one tells apart
            best, count, narrow = frame, fits, arrangement.name not in _WIDE
    return best, count, narrow


def _dates(events: pl.Series) -> list[Date]:
    """Ways of writing a time that a line begins with."""
    begin = rf"^(?:{_LEVEL} +)?\[?"
    written = lines_with(events, [begin + date.pattern for date in DATES])
    told = lines_with(events, [begin + (date.tells or date.pattern) for date in DATES])
    return [date for date, some, telling in zip(DATES, written, told, strict=True) if some and telling]


def lines_with(lines: pl.Series, patterns: Sequence[str]) -> tuple[int, ...]:
    """How many of the lines each pattern is found in; of a few lines far cheaper at once than one by one."""
    if lines.is_empty() or not patterns:
        return (0,) * len(patterns)
    return lines.to_frame("text").select_seq(_counted(tuple(patterns))).row(0)


@functools.lru_cache(maxsize=256)
def _counted(patterns: tuple[str, ...]) -> list[pl.Expr]:
    """How many lines each pattern is found in; made once for those that are asked for of every file."""
    return [_TEXT.str.contains(pattern).sum().alias(str(number)) for number, pattern in enumerate(patterns)]


_LAST: Final = r" \(([A-Za-z_][A-Za-z0-9_.$]*)(?::[0-9]+)?\)$"
_EVENT: Final = rf"^(?:{_LEVEL} +)?\[?[0-9]{{1,4}}"
_NEARLY_ALL: Final = 0.9
_CLOCK_ONLY: Final = rf"^\[?{CLOCK_ONLY}\]? +(?:\[[^\]]*\] +)?{_LEVEL} "


def undated(lines: pl.Series) -> bool:
    """Return whether the lines print only the time of day."""
    sample = lines.head(500)
    return 2 * int(sample.str.contains(_CLOCK_ONLY).sum()) > sample.len()


def split(rows: pl.DataFrame, frame: Frame) -> pl.DataFrame:
    """Add ``time``, ``level``, ``message`` and ``logger`` to rows with a column ``text``.

    ``time`` is null if the printed time is invalid. ``logger`` is null if a message continues in further lines, because
    the layout prints it after the message.
    """
    rows = rows.with_columns(frame.time.alias("time"), frame.rest.alias("_rest"))
    return (
        rows.with_columns(
            pl.col("_rest").str.extract(r"^\[?([A-Z]+)\]?").alias("level"),
            pl.col("_rest").str.tail(160).str.extract(_LAST).alias("logger"),
        )
        .with_columns(
            pl.when(pl.col("logger").is_not_null())
            .then(pl.col("_rest").str.replace(_LAST, ""))
            .otherwise(pl.col("_rest"))
            .str.replace(r"^\[?[A-Z]+\]? +", "")
            .alias("message")
        )
        .drop("_rest")
    )
