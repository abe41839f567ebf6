"""Lines inside JSON objects, as collectors write them, and layouts that are JSON themselves.

A layout that is JSON has no line inside; it is rewritten in the default layout, with its time in UTC if it names its
zone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from parsers.filled import filled
from parsers.text.dates import DATES, Date
from parsers.text.lines import Block, plain
from parsers.text.unwrapping import MOST_PIECES, added, inside, joined, trailing


@dataclass(frozen=True, slots=True)
class Json:
    """A line inside one member of a JSON object, or a layout that is JSON.

    Attributes:
        name: as shown in ``sources``.
        text: path of the line, or of the message.
        time: path of the time, or "".
        nanos: path of the nanoseconds of the second in ``time``, or "".
        level, logger: paths, if the object is the layout itself; else "".
        date: how the layout writes its time; None for one in UTC that collectors write too.
        pieces: a line end closes each line, and docker splits a line of more than 16 KiB into several objects.
    """

    name: str
    text: str
    time: str = ""
    nanos: str = ""
    level: str = ""
    logger: str = ""
    date: Date | None = None
    pieces: bool = False

    @property
    def dated(self) -> bool:
        """True if the lines inside are rewritten with times in UTC."""
        return bool(self.level) and (self.date is None or self.date.zoned)

    def open(self, block: Block) -> Block:
        """The lines inside; a line that is no such object is kept as it is."""
        rows = block.frame().drop("outer", strict=False)
        time = added(_path(self.time), _path(self.nanos)) if self.date is None else self.date.read(_path(self.time))
        rows = rows.with_columns(
            _path(self.text).alias("inner"),
            time.alias("outer"),
            _path(self.level).alias("level"),
            _path(self.logger).alias("logger"),
        )
        if self.text.endswith("['MESSAGE']"):
            rows = _from_bytes(rows)
        if self.level:
            rows = rows.with_columns(
                pl.when(pl.col("inner").is_not_null() & pl.col("outer").is_not_null())
                .then(
                    filled(
                        "[{}] {} {} ({})",
                        pl.col("outer").dt.strftime("%Y-%m-%d %H:%M:%S,%3f"),
                        pl.col("level").replace(_SEVERITIES).fill_null("INFO").str.to_uppercase(),
                        pl.col("inner"),
                        pl.col("logger").fill_null("unknown"),
                    )
                )
                .otherwise(pl.lit(None, dtype=pl.String))
                .alias("inner")
            )
        elif self.pieces:
            rows = rows.with_columns(pl.coalesce("inner", pl.col("text") + "\n").alias("inner"))
            rows = joined(rows.with_columns((~pl.col("inner").str.ends_with("\n")).alias("more")))
        rows = rows.select("line", pl.coalesce("inner", "text").alias("inner"), "outer")
        rows = rows.with_columns(pl.col("inner").str.strip_chars_end("\r\n").str.split("\n"))
        if self.level and not self.dated:
            rows = rows.with_columns(pl.lit(None, dtype=pl.Datetime("us")).alias("outer"))
        return inside(block, rows.explode("inner", empty_as_null=True, keep_nulls=True))

    def unfinished(self, block: Block) -> int:
        """Return how many lines at the end are pieces of one that continues in the next block."""
        if not self.pieces:
            return 0
        last = block.lines.tail(MOST_PIECES).to_frame("text").select(_path(self.text).alias("inner"))
        return trailing(last.select((~pl.col("inner").str.ends_with("\n")).fill_null(False)).to_series())


@dataclass(frozen=True, slots=True)
class Pretty:
    """JSON objects of many lines each, converted to one line each; ``inside`` is their content.

    Attributes:
        indent: text before the brace that opens an object and the one that closes it.
    """

    indent: str
    name: str = "indented"

    def open(self, block: Block) -> Block:
        """The objects, a line each; a line that is in none is kept as it is."""
        rows = block.frame().drop("outer", strict=False)
        text = pl.col("text").str.strip_chars("\t\r\n ")
        rows = rows.with_columns(self._more().alias("more"), text.alias("inner"))
        within = pl.col("more") | pl.col("more").shift(1, fill_value=False)
        kept = pl.when(within).then("inner").otherwise("text").alias("inner")
        rows = joined(rows.with_columns(kept, pl.lit(None, dtype=pl.Datetime("us")).alias("outer")))
        return inside(block, rows.with_columns(pl.col("inner").str.replace(r"^(\{.*\}),$", "$1")))

    def unfinished(self, block: Block) -> int:
        """Return how many lines at the end are of an object that continues in the next block."""
        last = block.lines.tail(MOST_PIECES).to_frame("text")
        return trailing(last.select(self._more()).to_series())

    def _more(self) -> pl.Expr:
        """Return whether a line's object continues in the next line."""
        opens = pl.col("text").str.contains(rf"^{self.indent}\{{\s*$")
        closes = pl.col("text").str.contains(rf"^{self.indent}\}},?\s*$")
        return pl.when(opens).then(True).when(closes).then(False).forward_fill().fill_null(False)


def indented(lines: pl.Series) -> Pretty | None:
    """How objects of many lines are set off, from a text's first lines; None where there are none."""
    opening = lines.filter(lines.str.contains(r"^[ \t]*\{\s*$"))
    if not opening.len():
        return None
    indents = opening.str.extract(r"^([ \t]*)\{")
    return Pretty(str(indents.gather([int(indents.str.len_bytes().arg_min() or 0)])[0]))


_MESSAGES: Final = (
    "message",
    "msg",
    "log",
    "MESSAGE",
    "text",
    "textPayload",
    "line",
    "event.original",
    "log.message",
    "full_message",
    "short_message",
    "body",
    "_raw",
)
_TIMES: Final = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "timeMillis",
    "__REALTIME_TIMESTAMP",
    "instant.epochSecond",
    "date",
)
_LEVELS: Final = ("level", "log.level", "severity", "loglevel", "levelname")
_LOGGERS: Final = ("logger", "loggerName", "logger_name", "log.logger", "_logger", "class", "category", "name")
_SEVERITIES: Final = {
    **dict.fromkeys(("0", "1", "2"), "FATAL"),
    "3": "ERROR",
    "4": "WARN",
    **dict.fromkeys(("5", "6"), "INFO"),
    "7": "DEBUG",
}
"""Of syslog, which GELF uses."""
_LINE: Final = re.compile(r".{0,80}?[0-9]{2}:[0-9]{2}:[0-9]{2}.{0,80}?\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
"""How a message begins that is a line of another layout: with its own time and level."""


def ways(lines: list[str | None]) -> Iterator[Json]:
    """Yield the ways to read a text's first lines as JSON objects; the lines that come out show which one is right."""
    objects = _objects(lines)
    leaves = {dotted: path for one in objects[:20] for dotted, path in _leaves(one).items()}
    known = _known_members(leaves)
    time, level, logger = (_first_of(names, known) for names in (_TIMES, _LEVELS, _LOGGERS))
    nanos = _nanos(leaves)
    for message in (known[name] for name in _MESSAGES if name in known):
        texts = [_at(one, message) for one in objects]
        yield Json("json", message, time, nanos, pieces=any(text.endswith("\n") for text in texts))
        if time and level and not any(map(_LINE.match, texts)):
            date = _date([_at(one, time) for one in objects])
            yield Json("json layout", message, time, nanos, level, logger, date)


def _objects(lines: list[str | None]) -> list[dict[str, Any]]:
    """Return the JSON objects among some lines; none if most lines are something else."""
    found = [one for line in lines if (one := _object(line)) is not None]
    return found if 2 * len(found) > sum(bool(line) for line in lines) else []


def _known_members(leaves: dict[str, str]) -> dict[str, str]:
    """Return the path of each member that collectors and layouts use, by its name: the least nested one of that name.

    Args:
        leaves: paths by dotted name.
    """
    found: dict[str, str] = {}
    for dotted, path in sorted(leaves.items(), key=lambda item: (item[0].count("."), item[0])):
        for name in (*_MESSAGES, *_TIMES, *_LEVELS, *_LOGGERS):
            if dotted == name or dotted.endswith("." + name):
                found.setdefault(name, path)
    return found


def _nanos(leaves: dict[str, str]) -> str:
    """Return the path of the nanoseconds that log4j2's JSON writes beside the seconds, or ""."""
    return next((path for dotted, path in leaves.items() if dotted.endswith("instant.nanoOfSecond")), "")


def _first_of(names: Sequence[str], known: dict[str, str]) -> str:
    """Return the path of the first of the names that is known, or ""."""
    return next((known[name] for name in names if name in known), "")


def _date(times: list[str]) -> Date | None:
    """How a layout writes its time, where collectors do not write it so."""
    shown = [time for time in times if time]
    known = [date for date in DATES if not date.tells or any(re.match(date.tells, time) for time in shown)]
    for date in known:
        if not date.zoned and 2 * sum(re.fullmatch(date.pattern, time) is not None for time in shown) > len(shown):
            return date
    if not shown or any(re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", time) for time in shown):
        return None
    return next((date for date in known if all(re.fullmatch(date.pattern, time) for time in shown)), None)


def _object(line: str | None) -> dict[str, Any] | None:
    if not line or not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _leaves(found: dict[str, Any], dotted: str = "", path: str = "$", depth: int = 0) -> dict[str, str]:
    leaves: dict[str, str] = {}
    for key, value in found.items():
        if "'" in key or "\\" in key:
            continue  # not possible in a path
        name, place = f"{dotted}{key}", f"{path}['{key}']"
        if isinstance(value, dict) and depth < 4:
            leaves |= _leaves(value, f"{name}.", place, depth + 1)
        elif (isinstance(value, str | int | float) and not isinstance(value, bool)) or (
            key == "MESSAGE" and isinstance(value, list)
        ):
            leaves[name] = place
    return leaves


def _at(found: dict[str, Any], path: str) -> str:
    """The text at a path made by ``_leaves``; "" where there is none."""
    value: Any = found
    for key in path.removeprefix("$['").removesuffix("']").split("']['"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _path(path: str) -> pl.Expr:
    return pl.col("text").str.json_path_match(path) if path else pl.lit(None, dtype=pl.String)


def _from_bytes(rows: pl.DataFrame) -> pl.DataFrame:
    """Lines with unprintable characters, such as colours, which journalctl writes as the numbers of their bytes."""
    numbers = pl.col("inner").str.contains(r"^\[[0-9]{1,3}(?:, ?[0-9]{1,3})*\]$").fill_null(False)
    if not rows.select(numbers.any()).item():
        return rows
    text = pl.col("inner").map_elements(_text, return_dtype=pl.String)
    return rows.with_columns(pl.when(numbers).then(text).otherwise("inner").alias("inner"))


def _text(numbers: str) -> str:
    codes = [int(number) for number in re.findall("[0-9]+", numbers)]
    if not numbers.startswith("[") or max(codes, default=256) > 255:
        return numbers
    return plain(bytes(codes)).decode("utf-8", "replace")
