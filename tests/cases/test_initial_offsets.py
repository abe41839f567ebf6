"""Where real followers began to fetch, against the table of what releases do.

Brokers since 2.4 log both the log end offset and the high watermark with which a follower starts, so the offset of
``Added fetcher`` tells which of the two it is.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import take_in
from forensics.replay.protocol import Answer, of
from parsers.schema import Kind

DATA = Path(__file__).parent / "data"


def started(path: Path) -> list[tuple[Answer, str]]:
    """Of each fetcher that was added where a follower's two offsets differ: whether it starts at the high watermark by
    the table, and which one it started at.
    """
    case = take_in([str(path)])
    rows = case.observations.filter(pl.col("topic").is_not_null() & pl.col("broker").is_not_null())
    place = ["broker", "topic", "partition", "run", "leader_epoch"]
    roles = rows.filter(pl.col("kind") == Kind.BECOME_FOLLOWER.value, pl.col("leo") != pl.col("hw"))
    added = rows.filter(pl.col("kind") == Kind.FETCHER_ADDED.value, pl.col("offset").is_not_null())
    both = added.select(*place, "offset").join(roles.select(*place, "leo", "hw").unique(place), on=place)
    return [
        (of(case.brokers[broker]).starts_fetching_at_hw, {leo: "leo", hw: "hw"}.get(offset, "neither"))
        for broker, leo, hw, offset in both.select("broker", "leo", "hw", "offset").iter_rows()
    ]


@pytest.mark.parametrize("name", ["jbod-2.6.3", "compacted-2.7.2", "kip101-2.8.2-ibp0.10.2"])
def test_at_the_high_watermark_up_to_2_7_and_with_an_older_protocol(name: str, sample_traces: Path) -> None:
    """2.7 and an inter-broker protocol before 2.7 were taken to be undecided before."""
    archive = DATA / f"{name}.tar.xz"
    assert {*started(archive if archive.exists() else sample_traces / name)} == {(Answer.YES, "hw")}


@pytest.mark.parametrize("name", ["mvdir-2.8.2", "moved-2.8.2"])
def test_at_the_log_end_since_2_8(name: str) -> None:
    assert {*started(DATA / f"{name}.tar.xz")} == {(Answer.NO, "leo")}
