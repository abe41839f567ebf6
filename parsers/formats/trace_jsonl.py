"""Traces: one observation a line as a JSON object, so that any system with high watermarks and epochs can be judged.

``docs/trace-format.md`` says it in full, ``trace.schema.json`` beside this module is its JSON Schema. A line carries
the columns of ``OBSERVATIONS`` that it has a value for, ``"schema": "forensics.trace/1"``, and its time in UTC.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final, NamedTuple

import polars as pl

from parsers.json_lines import decode
from parsers.reading import EXCERPT
from parsers.schema import NOTICES, OBSERVATIONS, Kind, conform, empty

NAME: Final = "trace"
SCHEMA: Final = "forensics.trace/1"

FIELDS: Final = tuple(name for name in OBSERVATIONS if name not in ("line", "byte"))
"""Columns that a line may carry. Where it stands is told by its own line in the trace."""

_KINDS: Final = frozenset(kind.value for kind in Kind)
_SHAPE: Final = pl.Struct(
    {
        "schema": pl.String(),
        **{name: pl.Int64() if OBSERVATIONS[name].is_integer() else pl.String() for name in FIELDS},
    }
)


class Trace(NamedTuple):
    """Some lines of a trace.

    Attributes:
        observations: rows of ``OBSERVATIONS``, times naive UTC.
        notices: rows of ``NOTICES``.
    """

    observations: pl.DataFrame
    notices: pl.DataFrame


def is_trace(head: bytes) -> bool:
    """Whether a file's first line says that it is one."""
    line = head.lstrip(b"\xef\xbb\xbf \r\n").split(b"\n", 1)[0]
    return line.startswith(b"{") and SCHEMA.encode() in line


def read_trace(lines: pl.DataFrame) -> Trace:
    """Read some lines of a file that ``is_trace``.

    Args:
        lines: columns line and text.
    """
    rows = lines.select(pl.col("line").cast(pl.Int64), "text").filter(pl.col("text").str.strip_chars() != "")
    found, broken = decode(rows, "text", _SHAPE)
    found = found.unnest("found")
    ours = pl.col("schema").eq_missing(pl.lit(SCHEMA))
    known = pl.col("kind").is_in(list(_KINDS)).fill_null(False)
    time = (
        pl.col("time")
        .str.replace("T", " ", literal=True)
        .str.replace(r"Z$", "+00:00")
        .str.to_datetime("%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", time_zone="UTC", strict=False)
        .dt.replace_time_zone(None)
        .alias("_time")
    )
    good = found.filter(ours & known).with_columns(time)
    undated = good.filter(pl.col("time").is_not_null() & pl.col("_time").is_null())
    fitting = _fitting()
    notices = [
        _notes(broken, "no JSON object of a trace: not one, or a field of another type"),
        _notes(found.filter(~ours), f'a line without "schema": "{SCHEMA}"'),
        _notes(found.filter(ours & ~known), "an unknown kind"),
        _notes(undated, "a time that is not ISO 8601 with a zone"),
        _notes(good.filter(~fitting), "a number beyond its column"),
    ]
    good = good.filter(fitting).drop("time").rename({"_time": "time"})
    good = good.with_columns(pl.col("message").fill_null(NAME), pl.col("kind").cast(OBSERVATIONS["kind"]))
    return Trace(conform(good, OBSERVATIONS), pl.concat(notices).sort("line", maintain_order=True))


def _fitting() -> pl.Expr:
    small = [name for name in FIELDS if OBSERVATIONS[name] == pl.Int32]
    fits = [pl.col(name).is_between(-(1 << 31), (1 << 31) - 1).fill_null(True) for name in small]
    return pl.all_horizontal(fits)


def _notes(rows: pl.DataFrame, reason: str) -> pl.DataFrame:
    if rows.is_empty():
        return empty(NOTICES)
    found = rows.select(
        pl.lit(reason).alias("reason"),
        pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        pl.col("line"),
    )
    return conform(found, NOTICES)


def write_trace(observations: pl.DataFrame) -> Iterator[str]:
    """Lines of a trace, without line ends.

    Args:
        observations: rows of ``OBSERVATIONS``; a column ``broker``, where there is one, names the witness of rows that
            name none. Times are in UTC.
    """
    rows = observations
    if "broker" in rows.columns:
        rows = rows.with_columns(pl.coalesce("witness", "broker").alias("witness"))
    time = pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
    for row in rows.select(*FIELDS).with_columns(time, pl.col("kind").cast(pl.String)).iter_rows(named=True):
        kept = {name: value for name, value in row.items() if value is not None}
        yield json.dumps({"schema": SCHEMA, **kept}, ensure_ascii=False, separators=(",", ":"))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a line, as it is shipped."""
    found: dict[str, Any] = json.loads(files("parsers.formats").joinpath("trace.schema.json").read_text("utf-8"))
    return found
