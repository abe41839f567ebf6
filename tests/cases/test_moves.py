"""Replicas that are moved between two log directories of a broker that is killed before the move is done, or before it
says so: healthy clusters, ``jbodmid-1.1.1`` and ``jbodmid-2.4.1``, of which the large segments are left out.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan, take_in
from forensics.replay.facts.log_dir_moves import without_copies
from parsers.schema import Kind
from tests.incident import Incident, wishes

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("case", ["jbodmid-1.1.1", "jbodmid-2.4.1"])
def test_a_move_that_was_not_told_to_its_end_is_no_loss(case: str) -> None:
    result = scan([str(DATA / f"{case}.tar.xz")])
    assert {finding.rule for finding in result.findings} == {"evidence-gap"}  # of the segments
    for partition in result.partitions:
        for rule in ("committed-data-lost", "leo-regression", "hw-regression"):
            assert partition.judgements[rule].verdict == "clean"
        assert not [one for judged in partition.judgements.values() for one in wishes(judged) if "damaged" in one]


def rows(case: str, broker: int) -> pl.DataFrame:
    found = take_in([str(DATA / f"{case}.tar.xz")]).observations
    mine = (pl.col("topic") == "orders") & (pl.col("partition") == 0) & (pl.col("broker") == broker)
    return found.filter(mine).sort("row")


@pytest.mark.parametrize(("case", "broker", "copies"), [("jbodmid-1.1.1", 1, 1), ("jbod-2.4.1-replication", 1, 1)])
def test_only_what_is_told_of_a_copy_is_left_out(case: str, broker: int, copies: int) -> None:
    whole = rows(case, broker)
    kept = without_copies(whole)
    left_out = whole.join(kept, on="row", how="anti")
    assert whole.filter(pl.col("kind") == Kind.LOG_COPIED.value).height >= copies
    loaded = left_out.filter(pl.col("kind") == Kind.LOG_LOADED.value)
    assert loaded.get_column("leo").to_list() == [0] * copies
    assert set(loaded.get_column("log_dir")).isdisjoint(
        kept.filter((pl.col("kind") == Kind.LOG_LOADED.value) & (pl.col("leo") == 0)).get_column("log_dir").head(1)
    )
    assert not left_out.filter(pl.col("kind").is_in([Kind.LEADER_AND_ISR.value, Kind.FETCHER_ADDED.value])).height


def test_a_copy_is_left_out_where_no_line_before_names_the_directory_of_the_log() -> None:
    whole = rows("jbodmid-1.1.1", 1)
    created = whole.filter(pl.col("kind") == Kind.LOG_LOADED.value, pl.col("log_dir").str.ends_with("data2"))
    late = whole.filter(pl.col("row") >= created.get_column("row").min())
    left_out = late.join(without_copies(late), on="row", how="anti")
    assert {Kind.LOG_LOADED.value, Kind.LOG_CREATED.value, Kind.HW_MISSING.value} <= {*left_out.get_column("kind")}
    # Near miss: the log itself is created, and the lines about a copy that came much later are missing.
    at = pl.when(pl.col("kind") == Kind.LOG_COPIED.value).then(pl.col("time") + pl.duration(minutes=1))
    assert without_copies(late.with_columns(at.otherwise("time").alias("time")).head(6)).height == 6


def test_without_a_word_of_a_copy_nothing_is_left_out() -> None:
    whole = rows("jbodmid-1.1.1", 1).filter(~pl.col("kind").is_in([Kind.LOG_COPIED.value, Kind.LOG_MOVED.value]))
    assert without_copies(whole).equals(whole)


LEFT, IN_USE = "/d/data", "/d/data2"


def loaded(folder: str, end: int) -> str:
    """A line of a broker up to 2.5."""
    found = f"Completed load of log with 1 segments, log start offset 0 and log end offset {end} in 1 ms"
    return f"INFO [Log partition=orders-0, dir={folder}] {found} (kafka.log.Log)"


BEGUN = (
    loaded(IN_USE, 80),
    loaded(LEFT, 0),
    (
        f"INFO Created log for partition orders-0 in {LEFT}/orders-0.{'0' * 32}-future with properties {{}} "
        "(kafka.log.LogManager)"
    ),
    (
        "INFO [ReplicaAlterLogDirsManager on broker 1] Added fetcher to broker BrokerEndPoint(id=1, host=h:-1) for "
        "partitions Map(orders-0 -> (offset=0, leaderEpoch=6)) (kafka.server.ReplicaAlterLogDirsManager)"
    ),
)
"""A copy of a log is begun."""
GOES_ON = (
    f"INFO [Log partition=orders-0, dir={LEFT}] Truncating to 40 has no effect as the largest offset in the log is 35 "
    "(kafka.log.Log)"
)


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        ([(LEFT, 36), (IN_USE, 75)], [80, 75]),
        ([(IN_USE, 75), (LEFT, 36)], [80, 75]),
        ([(LEFT, 79)], [80, 79, 36]),
    ],
)
def test_a_copy_that_a_process_left_behind_is_not_the_log(
    found: list[tuple[str, int]], ends: list[int], tmp_path: Path
) -> None:
    """Up to 2.5 the next process logs the length of both. Only if it finds one of them, the copy had become the log."""
    node = Incident(tmp_path, brokers=1)[1]
    for at, line in enumerate(BEGUN):
        node.says(10 + at, line)
    node.starts(20)
    for at, one in enumerate(found):
        node.says(21 + at, loaded(*one))
    node.says(30, GOES_ON)
    kept = without_copies(take_in([str(tmp_path)]).observations.sort("row"))
    stating = pl.col("kind").is_in([Kind.LOG_LOADED.value, Kind.TRUNCATE_NOOP.value])
    assert kept.filter(stating).get_column("leo").to_list() == ends
