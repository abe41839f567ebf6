"""Lines of JSON: how one is written, and columns of them as structs, where a damaged one must not cost the others."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import polars as pl

STEERING: Final = r"\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
"""Characters beyond ASCII that steer a terminal, turn the reading order, are invisible, or are no text, for ``re``."""
_STEERS: Final = re.compile(f"[{STEERING}]")


def escaped(text: str) -> str:
    """Return JSON in which no character steers a terminal; they occur only in strings."""
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def encode(content: dict[str, Any]) -> str:
    r"""Return an object as JSON without blanks, with the characters escaped that steer a terminal.

    >>> print(encode({"topic": "a\x9b\u202eb\xe9", "partition": 0}))
    {"topic":"a\u009b\u202ebé","partition":0}
    """
    return escaped(json.dumps(content, ensure_ascii=False, separators=(",", ":")))


def decode(rows: pl.DataFrame, column: str, shape: pl.Struct, into: str = "found") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Decode a column.

    Args:
        rows: any frame with the column.
        column: JSON objects as text.
        shape: their fields; what an object has beyond them is left out, what it lacks is null.
        into: name of the column of structs.

    Returns:
        The rows that are such objects, with the new column, and the rows that are not; both in the order given.
    """
    is_object = pl.col(column).str.json_path_match("$").str.starts_with("{").fill_null(False)
    numbered = rows.with_row_index("_place")
    whole = numbered.filter(is_object)
    bad = [numbered.filter(~is_object)]
    good: list[pl.DataFrame] = []
    waiting = [whole] if whole.height else []
    while waiting:
        part = waiting.pop()
        try:
            good.append(part.with_columns(pl.col(column).str.json_decode(shape).alias(into)))
        except pl.exceptions.PolarsError:
            # A field of another type than expected: found by halves.
            if part.height == 1:
                bad.append(part)
            else:
                half = part.height // 2
                waiting += [part.slice(half), part.slice(0, half)]
    found = pl.concat(good) if good else whole.with_columns(pl.lit(None, dtype=shape).alias(into))
    return found.sort("_place").drop("_place"), pl.concat(bad).sort("_place").drop("_place")
