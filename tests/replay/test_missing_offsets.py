"""Offsets at which a replica has no records, by what a trace states of its log."""

from __future__ import annotations

import polars as pl

from forensics.replay.traces.missing_offsets import without_records
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import OBSERVATIONS, Kind

PLACE = ("orders", 0, 0)


def rows() -> pl.DataFrame:
    """Broker 1 appends two batches, and truncates to an offset within the second one."""
    lines = [
        {"kind": Kind.APPEND.value, "offset": 0, "leo": 10, "leader_epoch": 0, "checksum": "a"},
        {"kind": Kind.APPEND.value, "offset": 10, "leo": 20, "leader_epoch": 0, "checksum": "b"},
        {"kind": Kind.TRUNCATE.value, "offset": 15},
    ]
    schema = {
        "row": pl.UInt32(),
        "incarnation": pl.Int32(),
        "broker": pl.Int32(),
        "run": pl.Int32(),
        "source": pl.UInt32(),
    } | OBSERVATIONS
    of = {"topic": "orders", "partition": 0, "incarnation": 0, "broker": 1, "run": 0, "source": 1, "message": TRACE}
    return pl.DataFrame(
        [dict.fromkeys(schema) | of | {"row": at, "line": at} | line for at, line in enumerate(lines)], schema=schema
    )


def test_a_truncation_within_a_batch_leaves_offsets_without_records() -> None:
    assert without_records(rows(), frozenset({1})) == {PLACE: {1: ((10, 15),)}}


def test_that_follows_only_where_the_claim_of_the_trace_counts() -> None:
    assert without_records(rows(), frozenset()) == {}
    assert without_records(rows(), frozenset({1}), frozenset({PLACE})) == {}
