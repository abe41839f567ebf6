"""The frame that a logging layout puts around a message: time, level and logger.

Stock layout of every Kafka version: ``[%d] %p %m (%c)%n`` (config/log4j.properties, 0.8 to trunk), where the time is
printed in the JVM's zone without naming it.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True)
class Frame:
    """One layout.

    Attributes:
        name: as shown in ``sources``.
        head: pattern that the first physical line of an event fits, and no continuation line does.
        time: expression of the printed time, from column ``text``.
        time_format: how that time is written (chrono's directives).
        message: expression of level, message and logger, from column ``text``.
    """

    name: str
    head: str
    time: pl.Expr
    time_format: str
    message: pl.Expr


_TEXT = pl.col("text")

FRAMES: tuple[Frame, ...] = (
    # [2024-03-01 10:22:41,107] LEVEL message (logger): what every stock configuration prints
    Frame(
        name="log4j",
        head=r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] [A-Z]",
        time=_TEXT.str.slice(1, 23),
        time_format="%Y-%m-%d %H:%M:%S,%3f",
        message=_TEXT.str.slice(26),
    ),
    # 2024-03-01 10:22:41,107 LEVEL message (logger): the brackets left out
    Frame(
        name="log4j-bare",
        head=r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3} \[?[A-Z]",
        time=_TEXT.str.slice(0, 23),
        time_format="%Y-%m-%d %H:%M:%S,%3f",
        message=_TEXT.str.slice(24),
    ),
    # [2024-03-01 10:22:41.107] or 2024-03-01T10:22:41.107: a dot before the milliseconds
    Frame(
        name="log4j-dot",
        head=r"^\[[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z?\] [A-Z]",
        time=_TEXT.str.slice(1, 23).str.replace("T", " ", literal=True),
        time_format="%Y-%m-%d %H:%M:%S.%3f",
        message=_TEXT.str.slice(24).str.strip_chars_start("Z] "),
    ),
    # 2024-03-01T10:22:41.107Z LEVEL message
    Frame(
        name="iso-bare",
        head=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z? \[?[A-Z]",
        time=_TEXT.str.slice(0, 23).str.replace("T", " ", literal=True),
        time_format="%Y-%m-%d %H:%M:%S.%3f",
        message=_TEXT.str.slice(23).str.strip_chars_start("Z "),
    ),
)
"""Layouts, most usual first; a source has one, the first whose head fits most of its early lines."""

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def choose(lines: pl.Series) -> Frame | None:
    """The layout of a source, from its first lines; None where no line looks like the start of an event."""
    sample = lines.head(5000)
    best: Frame | None = None
    count = 0
    for frame in FRAMES:
        fits = int(sample.str.contains(frame.head).sum())
        if fits > count:
            best, count = frame, fits
    return best


def split(rows: pl.DataFrame, frame: Frame) -> pl.DataFrame:
    """Add ``time``, ``level``, ``message`` and ``logger`` to rows with a column ``text``.

    ``time`` is null where the printed time is not one; ``logger`` is null where a message goes on in further lines,
    because the layout prints it after the message.
    """
    return (
        rows.with_columns(
            frame.time.str.to_datetime(frame.time_format, time_unit="us", strict=False).alias("time"),
            frame.message.alias("_rest"),
        )
        .with_columns(
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
