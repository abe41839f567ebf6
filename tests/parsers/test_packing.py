"""Observations of small files are kept in one table for many files, and read as before."""

from __future__ import annotations

import polars as pl
from polars.testing import assert_frame_equal

from parsers.file_reading import FileReading, Packed, Packing
from parsers.reading import observations
from parsers.schema import OBSERVATIONS, Kind, empty


def reading(number: int, rows: int) -> FileReading:
    entries = [
        {"topic": f"a topic with a long name {number}", "kind": Kind.EPOCH_ENTRY, "leader_epoch": n, "offset": n * 10}
        for n in range(rows)
    ]
    return FileReading("epoch-checkpoint", observations(entries))


def test_packed_rows_are_those_of_each_file() -> None:
    counts = [n % 5 for n in range(1200)]
    made = [reading(number, rows) for number, rows in enumerate(counts)]
    before = [one.observations for one in made]
    packing = Packing()
    for one in made:
        packing.add(one)
    packing.finish()
    for one, rows, count in zip(made, before, counts, strict=True):
        assert one.observations.height == count
        assert_frame_equal(one.observations, rows)
    kept = [one.__dict__["_kept"] for one, count in zip(made, counts, strict=True) if count]
    assert all(isinstance(one, Packed) for one in kept)
    assert len({id(one.table) for one in kept}) == 2, "512 files to a table"


def test_tables_of_many_rows_and_none_are_kept_as_they_are() -> None:
    large, none = reading(1, 65), FileReading("irrelevant")
    table = large.observations
    packing = Packing()
    for one in (large, none):
        packing.add(one)
    packing.finish()
    assert large.observations is table
    assert none.observations is empty(OBSERVATIONS)


def test_observations_of_a_packed_file_can_be_replaced() -> None:
    one, other = reading(1, 2), reading(2, 3)
    packing = Packing()
    packing.add(one)
    packing.add(other)
    packing.finish()
    one.observations = one.observations.filter(pl.col("leader_epoch") == 1)
    assert one.observations.get_column("offset").to_list() == [10]
    assert other.observations.get_column("offset").to_list() == [0, 10, 20]
