"""Thinning: what a finding cites stays, extremes stay, order stays."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forensics.reports.html.thinning import thin

ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 10**12)), st.booleans(), st.integers(0, 9)), min_size=0, max_size=400
)


def frame(rows: list[tuple[int | None, bool, int]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "at": list(range(len(rows))),
            "value": [value for value, _, _ in rows],
            "keep": [keep and lot == 0 for _, keep, lot in rows],
            "change": [lot <= 1 for _, _, lot in rows],
        },
        schema={"at": pl.Int64, "value": pl.Int64, "keep": pl.Boolean, "change": pl.Boolean},
    )


@given(ROWS, st.integers(8, 120))
def test_nothing_that_matters_is_dropped(rows: list[tuple[int | None, bool, int]], budget: int) -> None:
    whole = frame(rows)
    fewer = thin(whole, budget, values=("value",), keep="keep", changes="change")
    kept = set(fewer["at"])
    assert fewer["at"].to_list() == sorted(kept), "in order, none twice"
    assert set(whole.filter(pl.col("keep"))["at"]) <= kept
    cited = whole.filter(pl.col("keep")).height
    assert fewer.height <= cited + budget + 8
    if whole.height <= budget:
        assert fewer.equals(whole)
    for part in (whole.filter(~pl.col("keep") & pl.col("change")), whole.filter(~pl.col("keep") & ~pl.col("change"))):
        values = part["value"].drop_nulls()
        if values.len():
            left = set(fewer.filter(pl.col("at").is_in(part["at"].implode()))["value"].drop_nulls())
            assert {values.min(), values.max()} <= left


def test_a_single_spike_survives() -> None:
    rows: list[tuple[int | None, bool, int]] = [(100, False, 5)] * 5_000
    rows[2_345] = (7, False, 5)
    fewer = thin(frame(rows), 50, values=("value",), keep="keep", changes="change")
    assert 7 in fewer["value"].to_list()
    assert fewer.height <= 60
