"""Warnings of replication loggers whose wording no entry of the catalogue knows: counted, grouped, reported."""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.filled import filled
from parsers.schema import NOTICES, conform, empty
from parsers.text import frames
from parsers.text.frames import Frame
from parsers.text.replication_loggers import replicates

EXCERPT: Final = 200
_LEVELS: Final = ["WARN", "ERROR", "FATAL", "SEVERE"]
_WORDS: Final = 5
"""Number of words of a message, after its prefix, that distinguish its wording from others."""


def find(lines: pl.DataFrame, heads: pl.Series, known: pl.Series, frame: Frame) -> pl.DataFrame:
    """Events that are warnings or errors of a part that replicates.

    Args:
        lines: columns ``line`` and ``text``.
        heads: which of them begin an event.
        known: numbers of lines that a message of the catalogue claims.
        frame: the layout.

    Returns:
        Columns ``line``, ``text``, ``logger``, ``level`` and ``words``, the beginning of the message without names.
    """
    some = lines.select("line", "text").filter(heads & pl.col("text").str.contains_any(_LEVELS))
    if some.is_empty():
        return some.with_columns(pl.lit(None, pl.String).alias(name) for name in ("logger", "level", "words"))
    rows = frames.split(some.join(known.to_frame("line"), on="line", how="anti", maintain_order="left"), frame)
    rows = rows.filter(
        pl.col("level").is_in(_LEVELS).fill_null(False) & replicates(pl.col("logger"), pl.col("message"))
    )
    words = (
        pl.col("message")
        .str.replace(r"^\[[^\]]*\][,:]? ", "")
        .str.replace_all(r"[^ ]*[0-9/\\=][^ ]*", "_")
        .str.split(" ")
        .list.head(_WORDS)
        .list.join(" ")
    )
    return rows.select("line", "text", "logger", "level", words.alias("words"))


def notices(found: pl.DataFrame, per_text: int) -> pl.DataFrame:
    """One notice for each wording of each logger, at its first line.

    Args:
        found: as ``find`` gives it.
        per_text: line numbers of one text, where several are read together.
    """
    if found.is_empty():
        return empty(NOTICES)
    groups = found.group_by(pl.col("line") // per_text, "logger", "words", maintain_order=True).agg(
        pl.len().alias("count"), pl.col("line").first().alias("first"), pl.col("text", "level").first()
    )
    who = pl.when(pl.col("logger").is_null()).then(pl.lit("")).otherwise(filled(" of {}", "logger"))
    why = filled(
        "unknown wording: {} {} {}{}, not understood",
        "count",
        "level",
        pl.when(pl.col("count") == 1).then(pl.lit("line")).otherwise(pl.lit("lines like this")),
        who.fill_null(""),
    )
    return conform(
        groups.select(
            why.alias("reason"), pl.col("text").str.slice(0, EXCERPT).alias("excerpt"), pl.col("first").alias("line")
        ),
        NOTICES,
    )
