"""Columns of JSON as structs, where a damaged line must not cost the others."""

from __future__ import annotations

import polars as pl


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
