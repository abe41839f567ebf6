"""Acknowledgement levels (acks) that producers requested, by the request logs."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from forensics.case.case import Case
from parsers.schema import Kind

_ORDER = {"all": 0, "1": 1, "0": 2}


class Asked(NamedTuple):
    """One level of acknowledgement.

    Attributes:
        acks: "all", "1" or "0", or a number that old clients sent.
        topics: topics for which it was requested, by name; empty if the log names none (Kafka 0.11).
        refused: whether some of these requests were answered with an error.
    """

    acks: str
    topics: tuple[str, ...]
    refused: bool


def asked(case: Case) -> list[Asked]:
    """Return the levels that producers requested, the strongest first; empty without a request log."""
    rows = case.observations.filter(pl.col("kind") == Kind.PRODUCED.value)
    found = (
        rows.select(
            pl.col("detail").str.extract(r"^acks=(-?[a-z0-9]+)").alias("acks"),
            "topic",
            pl.col("detail").str.contains(" error ", literal=True).alias("refused"),
        )
        .drop_nulls("acks")
        .group_by("acks")
        .agg(pl.col("topic").drop_nulls().unique().sort(), pl.col("refused").any())
    )
    levels = [Asked(acks, tuple(topics), refused) for acks, topics, refused in found.iter_rows()]
    return sorted(levels, key=lambda level: (_ORDER.get(level.acks, 3), level.acks))
