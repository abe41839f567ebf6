"""Lines of logfmt, ``ts=... level=info logger=... msg="..."``: each as a JSON object, which then is read as any other.

Grafana's agents and Vector write it. A quoted value is escaped as in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from parsers.text.lines import Block
from parsers.text.unwrapping import inside

QUOTED: Final = r"\"(?:[^\"\\\n]|\\.)*\""
"""A quoted value."""

_PAIR: Final = rf"[A-Za-z_@][\w.@-]*=(?:{QUOTED}|[^\" \n]*)"
BEFORE: Final = rf"^(?:{_PAIR} +)*?"
"""Pairs before another one."""

KEY: Final = rf"{BEFORE}(?:msg|message)="
"""All of a line before its message."""

MESSAGE: Final = rf"{KEY}({QUOTED}|[^\" \n]*)(?: |$)"
_MEMBERS: Final[tuple[tuple[str, str], ...]] = (
    ("ts", rf"{BEFORE}(?:ts|time|timestamp)=\"?([0-9][0-9TZ:.,+ -]*)\"?(?: |$)"),
    ("level", rf"{BEFORE}(?:level|lvl|severity)=\"?([A-Za-z]+)\"?(?: |$)"),
    ("logger", rf"{BEFORE}(?:logger|logger_name|class)=\"?([\w.$]*)\"?(?: |$)"),
)
"""Names of members with the pattern of their values, by the names that ``parsers.text.json_wrapping`` knows."""


@dataclass(frozen=True, slots=True)
class Logfmt:
    """Pairs of names and values, one event a line."""

    name: str = "logfmt"

    def open(self, block: Block) -> Block:
        """Each line as an object; a line that has no message is kept as it is."""
        text = pl.col("text")
        message = text.str.extract(MESSAGE)
        quoted = (
            pl.when(message.str.starts_with('"'))
            .then(message)
            .otherwise(pl.concat_str(pl.lit('"'), message, pl.lit('"')))
        )
        members = [
            pl.concat_str(pl.lit(f',"{name}":"'), text.str.extract(pattern), pl.lit('"')).fill_null("")
            for name, pattern in _MEMBERS
        ]
        found = pl.concat_str(pl.lit('{"message":'), quoted, *members, pl.lit("}"))
        rows = block.frame().drop("outer", strict=False)
        none = pl.lit(None, dtype=pl.Datetime("us")).alias("outer")
        return inside(block, rows.select("line", pl.coalesce(found, text).alias("inner"), none))

    def unfinished(self, block: Block) -> int:
        """Return how many lines at the end are pieces of one that continues in the next block: none."""
        return 0


def written(lines: pl.Series) -> bool:
    """Return whether most lines are logfmt with a message."""
    return 2 * int(lines.str.contains(MESSAGE).sum()) > lines.len()
