"""A broker loads directories that were set aside, ``-delete`` and ``-stray``, beside the topic's present log."""

from __future__ import annotations

import polars as pl

from forensics.replay.facts.log_numbers import numbered
from forensics.replay.facts.removed_logs import without_removed_logs
from parsers.schema import Kind

LOADER = [Kind.RECOVERY, Kind.MESSAGE_FORMAT, Kind.PRODUCER_SNAPSHOT]
REMOVED, LOADED, FOLLOWER = Kind.REMOVED_LOG_LOADED, Kind.LOG_LOADED, Kind.BECOME_FOLLOWER


def left(kinds: list[Kind], runs: list[int] | None = None, partitions: list[int] | None = None) -> list[int]:
    """Return the rows that are left of a broker's lines."""
    count = len(kinds)
    rows = pl.DataFrame(
        {
            "topic": ["orders"] * count,
            "partition": partitions or [0] * count,
            "broker": [1] * count,
            "row": range(count),
            "run": runs or [1] * count,
            "kind": [kind.value for kind in kinds],
        }
    )
    rows = rows.sort("topic", "partition", "broker", "row")
    return without_removed_logs(numbered(rows, ("topic", "partition", "broker"))).get_column("row").to_list()


def test_lines_about_a_removed_log_are_not_about_the_present_one() -> None:
    assert left([*LOADER, REMOVED, *LOADER, LOADED, FOLLOWER]) == [4, 5, 6, 7, 8]
    assert left([*LOADER, LOADED, *LOADER, REMOVED, FOLLOWER]) == [0, 1, 2, 3, 8]


def test_a_corrupt_batch_is_kept_whichever_log_it_is_in() -> None:
    assert left([Kind.RECOVERY, Kind.CORRUPTION_CUT, REMOVED, FOLLOWER]) == [1, 3]


def test_lines_of_another_process_or_partition_are_kept() -> None:
    assert left([Kind.RECOVERY, Kind.RECOVERY, REMOVED], runs=[1, 2, 2]) == [0]
    assert left([Kind.RECOVERY, Kind.RECOVERY, REMOVED], partitions=[0, 1, 1]) == [0]


def test_nothing_is_removed_without_such_a_line() -> None:
    assert left([*LOADER, LOADED, *LOADER]) == [*range(7)]
