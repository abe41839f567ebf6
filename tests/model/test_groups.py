"""Consumer groups of the model, and what their positions decide: never wrong, and more than without them."""

from __future__ import annotations

import io
from functools import cache

import pytest

from benchmarks.groups import LOSS, STEPS, whole, without
from forensics.model.cluster import Cluster
from forensics.model.groups import offsets_segment
from forensics.model.protocol import named
from forensics.model.random_runs import READ, READ_BY_OLD
from parsers.files.sources import Source
from parsers.read import read
from tests.conftest import EVERYTHING
from tests.model import batches
from tests.model.batches import Answer

SEEDS = (*range(7000, 7030),) if EVERYTHING else (7004, 7005, 7008, 7011, 7020, 7029)


@cache
def answered(protocol: str, *, groups: bool) -> dict[int, list[Answer]]:
    """The answers for each run, by its seed."""
    schedules = [batches.drawn(seed, STEPS, READ, settled=seed % 2 == 0) for seed in SEEDS]
    found = batches.answers(schedules, protocol, "default", whole if groups else without)
    return dict(zip(SEEDS, found, strict=True))


@pytest.mark.parametrize("protocol", ["fetch", "epoch-279-2.0"])
def test_no_answer_is_wrong(protocol: str) -> None:
    """Before 2.1 commits state no epoch: they change no answer."""
    found = answered(protocol, groups=True)
    assert [(seed, one.wrong) for seed, answers in found.items() for one in answers if one.wrong] == []
    if protocol != "fetch":
        assert found == answered(protocol, groups=False)


@pytest.mark.parametrize("seed", [7004, 7008, 7020])
def test_groups_decide_what_was_unknown(seed: int) -> None:
    before, after = (
        next(one for one in answered("fetch", groups=groups)[seed] if one.rule == LOSS) for groups in (False, True)
    )
    assert before.kind == "unknown, violated"
    assert after.verdict == "violated"
    assert after.named


def test_a_client_that_states_a_wrong_epoch_makes_no_answer_wrong() -> None:
    """In each of these runs its commits seem to show a loss, if the time of a commit does not count."""
    seeds = (8004, 8005, *range(8020, 8040)) if EVERYTHING else (8004, 8005, 8034, 8036)
    schedules = [batches.drawn(seed, STEPS, READ_BY_OLD, settled=seed % 2 == 0) for seed in seeds]
    found = batches.answers(schedules, "epoch-279", "default")
    assert [one.wrong for answers in found for one in answers if one.wrong] == []


def played(protocol: str) -> Cluster:
    cluster = Cluster(named(protocol), (1, 2), topic="orders")
    cluster.create_topic()
    cluster.produce(3)
    cluster.fetch(2, rounds=3)
    return cluster


def test_a_group_reads_below_the_high_watermark_and_commits_what_it_read() -> None:
    cluster = played("fetch")
    cluster.produce(2)  # above the high watermark: no follower has them yet
    assert cluster.groups.read(cluster, "slow", 2) == 2
    assert cluster.groups.read(cluster, "billing") == 3
    assert cluster.groups.read(cluster, "billing") == 0
    cluster.groups.set_by_hand(cluster, "slow", 40)
    assert cluster.groups.read(cluster, "slow") == 0  # beyond the end: set to the end
    assert [one[:3] for one in cluster.groups.commits] == [
        ("slow", 2, 0),
        ("billing", 3, 0),
        ("slow", 40, -1),
        ("slow", 3, -1),
    ]


@pytest.mark.parametrize(("protocol", "epoch"), [("hw", None), ("epoch", None), ("fetch", 0)])
def test_the_segment_of_a_run_is_read_as_what_was_committed(protocol: str, epoch: int | None) -> None:
    cluster = played(protocol)
    cluster.groups.read(cluster, "slow", 2)
    cluster.groups.read(cluster, "billing")
    data = offsets_segment(cluster.groups.commits, "orders", 0, cluster.protocol)
    reading = read(Source("__consumer_offsets-0/00000000000000000000.log", len(data), lambda: io.BytesIO(data)))
    assert reading.notices.is_empty()
    rows = reading.observations.select("topic", "partition", "detail", "offset", "leader_epoch").rows()
    assert rows == [("orders", 0, "slow", 2, epoch), ("orders", 0, "billing", 3, epoch)]
