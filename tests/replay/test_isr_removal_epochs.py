"""Epochs in which a controller took dead replicas out of the ISR, and that it sent to nobody."""

from __future__ import annotations

import polars as pl
import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.isr_removal_epochs import accounted, removals

GONE, SENT = "replica_state", "metadata_cached"


def said(*lines: tuple[int, str, int | None, int | None, int | None]) -> pl.DataFrame:
    """Lines of a controller: process, kind, replica, leader, leader epoch."""
    run, kind, replica, leader, epoch = zip(*lines, strict=True)
    count = len(lines)
    return pl.DataFrame(
        {
            "topic": ["orders"] * count,
            "partition": [0] * count,
            "incarnation": [0] * count,
            "broker": [9] * count,
            "run": run,
            "row": range(count),
            "kind": kind,
            "detail": ["OfflineReplica" if one == GONE else None for one in kind],
            "replica": pl.Series(replica, dtype=pl.Int32),
            "leader": pl.Series(leader, dtype=pl.Int32),
            "leader_epoch": pl.Series(epoch, dtype=pl.Int32),
        }
    )


GONE_ALL = [(1, GONE, number, None, None) for number in (2, 1, 3)]


@pytest.mark.parametrize(
    ("lines", "taken"),
    [
        ([(1, SENT, None, 3, 0), *GONE_ALL, (1, SENT, None, -1, 3)], {1, 2, 3}),
        ([*GONE_ALL[:1], (1, SENT, None, 3, 1), *GONE_ALL[1:], (1, SENT, None, -1, 3)], {1, 3}),  # one was sent
        ([*GONE_ALL, (2, SENT, None, -1, 3)], set()),  # another process tells of the epoch
    ],
)
def test_who_had_gone_since_the_controller_last_spoke(
    lines: list[tuple[int, str, int | None, int | None, int | None]], taken: set[int]
) -> None:
    assert removals(said(*lines)) == {("orders", 0, 0): {3: frozenset(taken)}}


def test_who_was_the_controller_before_hears_of_the_epoch_too() -> None:
    told = said(*GONE_ALL, (1, SENT, None, -1, 3))
    before = said((1, GONE, 3, None, None), (2, SENT, None, -1, 3)).with_columns(broker=pl.lit(2, pl.Int64))
    assert removals(pl.concat([before, told])) == {("orders", 0, 0): {3: frozenset({1, 2, 3})}}


@pytest.mark.parametrize(
    ("removed", "leader", "last", "whole"),
    [
        ({1, 2, 3}, -1, 3, True),
        ({1, 2, 3}, -1, 4, False),  # and one epoch more, in which another may have led
        ({1, 2}, -1, 3, False),
        ({1, 2, 7}, -1, 3, False),  # who was in no ISR takes no epoch
        ({1, 2, 3}, 2, 3, False),
    ],
)
def test_each_epoch_is_that_of_a_replica(removed: set[int], leader: int, last: int, *, whole: bool) -> None:
    before = Epoch(0, leader=3, isr=[(frozenset({1, 2, 3}), Ref(row=1))])
    assert accounted(before, Epoch(last, leader=leader), {last: frozenset(removed)}) is whole
