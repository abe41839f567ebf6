"""Texts with values of columns in them."""

from __future__ import annotations

import itertools

import polars as pl


def filled(template: str, *values: str | int | pl.Expr) -> pl.Expr:
    """Return a text with a value at each ``{}`` of a template; null where a value is null.

    ``pl.format`` does the same and is not used: Polars 2.1 panics in it if a column has an empty chunk between others,
    which filtering leaves behind.

    Args:
        template: the text.
        values: a name of a column or an expression for each ``{}``.
    """
    texts = template.split("{}")
    if len(texts) != len(values) + 1:
        raise ValueError(f"{len(values)} values for {template!r}")
    parts = itertools.zip_longest((pl.lit(text) for text in texts), values)
    return pl.concat_str([part for pair in parts for part in pair if part is not None])
