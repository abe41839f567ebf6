"""What collectors put around the lines of a log: prefixes of container runtimes and syslog, objects of JSON.

A wrapping is taken off before a line's layout is told (``parsers.frames``), so that everything behind works on the line
that the broker printed. A collector's own time is kept where it names its zone: it tells the zone of the printed one.
A layout that is JSON itself has no line inside; it is written anew in the stock layout, with its time in UTC.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import polars as pl

from parsers import frames
from parsers.frames import Frame
from parsers.lines import Block
from parsers.schema import NOTICES, empty

_SAMPLE: Final = 500
_PIECES: Final = 1000  # of one line that are joined at most
_DEEPEST: Final = 2  # wrapped by the container runtime, then by a collector
_ZONED: Final = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
)


class Wrapping(Protocol):
    """One wrapping, ready to be taken off."""

    @property
    def name(self) -> str:
        """As shown in ``sources``."""

    def open(self, block: Block) -> Block:
        """The lines inside."""

    def unfinished(self, block: Block) -> int:
        """How many lines at the end are pieces of one that the next block goes on with."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """A wrapping that stands before each line.

    Attributes:
        name: as shown in ``sources``.
        pattern: the prefix, from the line's beginning; a group ``outer`` is its time, a group ``more`` is not empty
            where the line goes on in the next one.
    """

    name: str
    pattern: str

    def open(self, block: Block) -> Block:
        """The lines without the prefix; a line that lacks it is kept as it is."""
        rows = block.frame().drop("outer", strict=False)
        inner = pl.col("text").str.replace(self.pattern, "")
        outer = more = pl.lit(None, dtype=pl.String)
        if "?P<outer>" in self.pattern:
            outer = pl.col("text").str.extract_groups(self.pattern).struct.field("outer")
        if "?P<more>" in self.pattern:
            more = pl.col("text").str.extract_groups(self.pattern).struct.field("more")
        rows = rows.select("line", inner.alias("inner"), _time(outer).alias("outer"), (more != "").alias("more"))
        if rows.get_column("more").any():
            rows = _joined(rows)
        return _block(block, rows)

    def unfinished(self, block: Block) -> int:
        """How many lines at the end are pieces of one that the next block goes on with."""
        if "?P<more>" not in self.pattern:
            return 0
        last = block.lines.tail(_PIECES).to_frame("text")
        more = pl.col("text").str.extract_groups(self.pattern).struct.field("more")
        return _trailing(last.select((more != "").fill_null(False)).to_series())


PREFIXES: Final[tuple[Prefix, ...]] = (
    # 2024-03-01T10:22:41.107482915Z stdout F line: CRI, the files of Kubernetes
    Prefix("cri", rf"^(?P<outer>{_ZONED}) (?:stdout|stderr) (?:F|(?P<more>P)) "),
    # <30>1 2024-03-01T10:22:41.107+01:00 host kafka 123 - - line: syslog, RFC 5424
    Prefix("syslog", rf"^<[0-9]+>1 (?P<outer>{_ZONED}) \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) ?"),
    # 2024-03-01T10:22:41.107+0000 host kafka[123]: line: journalctl -o short-iso, rsyslog
    Prefix("journal-iso", rf"^(?P<outer>{_ZONED}) \S+ [^\s:\[]+(?:\[[0-9]+\])?: "),
    # Mar 01 10:22:41 host kafka[123]: line: journalctl, syslog of RFC 3164
    Prefix("journal", r"^(?:<[0-9]+>)?[A-Z][a-z]{2} [ 0-9][0-9] [0-9:.]{8,15} \S+ [^\s:\[]+(?:\[[0-9]+\])?: "),
    # 2024-03-01T10:22:41.107482915Z line: docker logs -t, kubectl logs --timestamps
    Prefix("timestamped", rf"^(?P<outer>{_ZONED}) "),
    # [pod/kafka-0/kafka] line: kubectl logs --prefix
    Prefix("kubectl", r"^\[pod/[^\]]+\] "),
    # kafka-1  | line: docker compose logs
    Prefix("compose", r"^[A-Za-z0-9][A-Za-z0-9_.-]* +\| "),
    # MESSAGE=line: journalctl -o export
    Prefix("journal-export", r"^MESSAGE="),
    # kafka-0 kafka line: stern
    Prefix("stern", r"^[a-z0-9][a-z0-9.-]* [a-z0-9][a-z0-9-]* "),
)
"""Prefixes, narrow ones first."""


@dataclass(frozen=True, slots=True)
class Json:
    """A line inside one member of a JSON object, or a layout that is JSON.

    Attributes:
        name: as shown in ``sources``.
        text: path of the line, or of the message.
        time: path of the time, or "".
        nanos: path of the nanoseconds of the second that ``time`` gives, or "".
        level, logger: paths, where the object is the layout itself; else "".
        pieces: a line end closes each line, and docker cuts a line of more than 16 KiB into several objects.
    """

    name: str
    text: str
    time: str = ""
    nanos: str = ""
    level: str = ""
    logger: str = ""
    pieces: bool = False

    def open(self, block: Block) -> Block:
        """The lines inside; a line that is no such object is kept as it is."""
        rows = block.frame().drop("outer", strict=False)
        rows = rows.with_columns(
            _path(self.text).alias("inner"),
            _time(_path(self.time), _path(self.nanos)).alias("outer"),
            _path(self.level).alias("level"),
            _path(self.logger).alias("logger"),
        )
        if self.level:
            rows = rows.with_columns(
                pl.when(pl.col("inner").is_not_null() & pl.col("outer").is_not_null())
                .then(
                    pl.format(
                        "[{}] {} {} ({})",
                        pl.col("outer").dt.strftime("%Y-%m-%d %H:%M:%S,%3f"),
                        pl.col("level").fill_null("INFO").str.to_uppercase(),
                        pl.col("inner"),
                        pl.col("logger").fill_null("unknown"),
                    )
                )
                .otherwise(pl.lit(None, dtype=pl.String))
                .alias("inner")
            )
        elif self.pieces:
            rows = rows.with_columns(pl.coalesce("inner", pl.col("text") + "\n").alias("inner"))
            rows = _joined(rows.with_columns((~pl.col("inner").str.ends_with("\n")).alias("more")))
        rows = rows.select("line", pl.coalesce("inner", "text").alias("inner"), "outer")
        rows = rows.with_columns(pl.col("inner").str.strip_chars_end("\r\n").str.split("\n"))
        return _block(block, rows.explode("inner", empty_as_null=True, keep_nulls=True))

    def unfinished(self, block: Block) -> int:
        """How many lines at the end are pieces of one that the next block goes on with."""
        if not self.pieces:
            return 0
        last = block.lines.tail(_PIECES).to_frame("text").select(_path(self.text).alias("inner"))
        return _trailing(last.select((~pl.col("inner").str.ends_with("\n")).fill_null(False)).to_series())


def _trailing(flags: pl.Series) -> int:
    return int(flags.reverse().cast(pl.Int8).cum_min().sum())


def choose(lines: pl.Series) -> tuple[tuple[Wrapping, ...], Frame | None]:
    """The wrappings around a source's lines, outermost first, and the layout inside; from its first lines."""
    frame, count = frames.fit(lines)
    if frame is frames.STOCK:
        return (), frame
    best: tuple[tuple[Wrapping, ...], Frame | None] = ((), frame)
    sample = lines.head(_SAMPLE)
    for wrappings, inner in _ways(_sample_block(sample), 0):
        found, fits = frames.fit(inner)
        if found is not None and fits > count:
            best, count = (wrappings, found), fits
    return best


def whole(blocks: Iterable[Block], wrappings: tuple[Wrapping, ...]) -> Iterator[Block]:
    """The blocks, cut so that no line whose pieces a wrapping joins goes on in the next block."""
    kept: Block | None = None
    for block in blocks:
        if kept is not None:
            lines = pl.concat([kept.lines, block.lines])
            block = Block(lines, kept.first_line, pl.concat([kept.notices, block.notices]))
            kept = None
        count = wrappings[0].unfinished(block) if wrappings else 0
        if count and count < _PIECES:
            at = block.lines.len() - count
            kept = Block(block.lines.slice(at), block.first_line + at, block.notices.clear())
            block = replace(block, lines=block.lines.slice(0, at))
        if block.lines.len():
            yield block
    if kept is not None:
        yield kept


def unwrap(block: Block, wrappings: tuple[Wrapping, ...]) -> Block:
    """The lines inside all wrappings."""
    for wrapping in wrappings:
        outer = block.outer
        block = wrapping.open(block)
        if block.outer is None and outer is not None and outer.len() == block.lines.len():
            block = replace(block, outer=outer)
    return block


def _ways(block: Block, depth: int) -> Iterator[tuple[tuple[Wrapping, ...], pl.Series]]:
    if depth == _DEEPEST or not block.lines.len():
        return
    for wrapping in _candidates(block.lines):
        inner = wrapping.open(block)
        yield (wrapping,), inner.lines
        for more, lines in _ways(inner, depth + 1):
            yield (wrapping, *more), lines


def _candidates(lines: pl.Series) -> Iterator[Wrapping]:
    for prefix in PREFIXES:
        if 2 * int(lines.str.contains(prefix.pattern).sum()) > lines.len() or (
            prefix.name == "journal-export" and lines.str.contains(prefix.pattern).any()
        ):
            yield prefix
    objects = [found for line in lines.head(100).to_list() if (found := _object(line)) is not None]
    if 2 * len(objects) > min(lines.len(), 100):
        yield from _json(objects)


def _object(line: str | None) -> dict[str, Any] | None:
    if not line or not line.startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_MESSAGES: Final = ("message", "msg", "log", "MESSAGE", "text", "textPayload", "line", "event.original", "log.message")
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
_LOGGERS: Final = ("logger", "loggerName", "logger_name", "log.logger", "class", "category", "name")


def _json(objects: list[dict[str, Any]]) -> Iterator[Json]:
    """The ways to read such objects; which one is right shows in the lines that come out."""
    leaves: dict[str, str] = {}  # dotted name -> path
    for one in objects[:20]:
        leaves |= _leaves(one)
    by_end: dict[str, str] = {}
    for dotted, path in sorted(leaves.items(), key=lambda item: (item[0].count("."), item[0])):
        for name in (*_MESSAGES, *_TIMES, *_LEVELS, *_LOGGERS):
            if dotted == name or dotted.endswith("." + name):
                by_end.setdefault(name, path)
    time = next((by_end[name] for name in _TIMES if name in by_end), "")
    nanos = next((path for dotted, path in leaves.items() if dotted.endswith("instant.nanoOfSecond")), "")
    level = next((by_end[name] for name in _LEVELS if name in by_end), "")
    logger = next((by_end[name] for name in _LOGGERS if name in by_end), "")
    for name in _MESSAGES:
        if name in by_end:
            pieces = any(_at(one, by_end[name]).endswith("\n") for one in objects)
            yield Json("json", by_end[name], time, nanos, pieces=pieces)
            if time and level:
                yield Json("json layout", by_end[name], time, nanos, level, logger)


def _leaves(found: dict[str, Any], dotted: str = "", path: str = "$", depth: int = 0) -> dict[str, str]:
    leaves: dict[str, str] = {}
    for key, value in found.items():
        if "'" in key or "\\" in key:
            continue  # cannot stand in a path
        name, place = f"{dotted}{key}", f"{path}['{key}']"
        if isinstance(value, dict) and depth < 4:
            leaves |= _leaves(value, f"{name}.", place, depth + 1)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
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


def _time(text: pl.Expr, nanos: pl.Expr | None = None) -> pl.Expr:
    """A collector's time as naive UTC: ISO 8601 with a zone, or a number since 1970 in the unit its size tells."""
    whole = text.str.extract(r"^([0-9]{10,19})(?:\.[0-9]+)?$")
    number = whole.cast(pl.Int64, strict=False)
    size = whole.str.len_bytes()
    micros: pl.Expr = (
        pl.when(size == 10)
        .then(number * 1_000_000)
        .when(size == 13)
        .then(number * 1000)
        .when(size == 16)
        .then(number)
        .when(size == 19)
        .then(number // 1000)
    )
    fraction = text.str.extract(r"^[0-9]{10}(\.[0-9]+)$").cast(pl.Float64, strict=False)
    micros = micros + (fraction.fill_null(0.0) * 1_000_000).round().cast(pl.Int64)
    if nanos is not None:
        micros = micros + (nanos.cast(pl.Int64, strict=False).fill_null(0) // 1000)
    iso = (
        text.str.replace(r"^(.{10})T", "$1 ")
        .str.replace(",", ".", literal=True)
        .str.replace(r" ?(?:Z|UTC)$", "+0000")
        .str.replace(r" ?([+-][0-9]{2}):?([0-9]{2})$", "$1$2")
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f%z", time_unit="us", time_zone="UTC", strict=False)
        .dt.replace_time_zone(None)
    )
    return pl.coalesce(iso, micros.cast(pl.Datetime("us")))


def _joined(rows: pl.DataFrame) -> pl.DataFrame:
    """Pieces of one line made whole; ``more`` says of a piece that another follows."""
    piece = (~pl.col("more").fill_null(False)).cum_sum().shift(1, fill_value=0).alias("_whole")
    return (
        rows.with_columns(piece)
        .group_by("_whole", maintain_order=True)
        .agg(
            pl.col("line").first(),
            pl.col("inner").fill_null("").str.join(""),
            pl.col("outer").first(),
            *([pl.col("text").first()] if "text" in rows.columns else []),
        )
    )


def _sample_block(lines: pl.Series) -> Block:
    return Block(lines, 1, empty(NOTICES))


def _block(outside: Block, rows: pl.DataFrame) -> Block:
    outer = rows.get_column("outer")
    return Block(
        rows.get_column("inner").fill_null("").alias("text"),
        outside.first_line,
        outside.notices,
        rows.get_column("line"),
        None if outer.null_count() == outer.len() else outer,
    )
