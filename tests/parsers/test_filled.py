"""Texts with values of columns in them, also in columns that filtering left empty chunks in."""

from __future__ import annotations

import polars as pl
import pytest

from parsers.filled import filled
from parsers.text import frames


def chunked(*values: str) -> pl.DataFrame:
    """A column of one chunk a value, of which every second chunk was emptied."""
    parts = [part for value in values for part in (pl.Series("text", [value]), pl.Series("text", [""]))]
    column = pl.concat(parts, rechunk=False)
    return column.filter(column != "").to_frame()


def test_each_brace_is_a_value() -> None:
    rows = pl.DataFrame({"a": [1, None], "b": ["x", "y"], "c": [True, False]})
    found = rows.select(filled("<{}-{}>{}{}", "a", "b", 7, pl.col("c")).alias("text"))
    assert found["text"].to_list() == ["<1-x>7true", None]


def test_a_column_with_empty_chunks_is_read() -> None:
    rows = chunked("x", "y", "z")
    assert 0 in rows["text"].chunk_lengths()
    assert rows.select(filled("a {}", "text").alias("text"))["text"].to_list() == ["a x", "a y", "a z"]


def test_as_many_values_as_braces() -> None:
    with pytest.raises(ValueError, match="1 values"):
        filled("{}{}", "a")


@pytest.mark.parametrize(
    "date",
    [
        "2026-11-21 04:08:05,943",
        "21 Nov 2026 04:08:05,943",
        "21/Nov/2026:04:08:05.943",
        "21.11.2026 04:08:05,943",
        "20261121T040805,943",
        "11/21/2026 04:08:05,943",
        "21 Nov 2026 04:08:05,943 +0100",
        "1795233285943",
    ],
)
@pytest.mark.parametrize(
    "line", ["{} INFO kafka.log.LogManager: Loading logs.", "[{}] INFO Loading logs. (kafka.log.Log)"]
)
def test_every_way_of_writing_a_time_is_read_in_a_column_with_empty_chunks(line: str, date: str) -> None:
    texts = [line.format(date)] * 3
    frame = frames.choose(pl.Series(texts))
    assert frame is not None
    rows = chunked(*texts)
    assert rows.select(frame.time.alias("time"))["time"].null_count() == 0
    assert frames.split(rows, frame)["message"].to_list() == ["Loading logs."] * 3
