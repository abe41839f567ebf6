"""OffsetsForLeaderEpoch as each version answers it, and what a follower does with the answer."""

from __future__ import annotations

import pytest

from forensics.model import PROTOCOLS, VARIANTS
from forensics.model.protocol import EPOCH, EPOCH_279, FETCH, Cut, EpochEnd, answer, cut_by_answer, diverges, named
from forensics.model.state import EpochCache

CACHE = EpochCache([(2, 10), (4, 20), (5, 30)])


@pytest.mark.parametrize(
    ("asked", "up_to_1_1", "since_2_0"),
    [
        (5, EpochEnd(-1, 42), EpochEnd(5, 42)),  # the newest: the log end
        (4, EpochEnd(-1, 30), EpochEnd(4, 30)),
        (3, EpochEnd(-1, 20), EpochEnd(2, 20)),  # never seen here: the largest below, and where it ended
        (2, EpochEnd(-1, 20), EpochEnd(2, 20)),
        (1, EpochEnd(-1, -1), EpochEnd(1, 10)),  # older than the cache
        (6, EpochEnd(-1, -1), EpochEnd(-1, -1)),  # newer than the cache
        (-1, EpochEnd(-1, -1), EpochEnd(-1, -1)),  # a follower without epochs
    ],
)
def test_answers(asked: int, up_to_1_1: EpochEnd, since_2_0: EpochEnd) -> None:
    assert answer(EPOCH, CACHE, asked, 42) == up_to_1_1
    assert answer(EPOCH_279, CACHE, asked, 42) == since_2_0
    assert answer(FETCH, CACHE, asked, 42) == since_2_0


def test_an_empty_cache_knows_nothing() -> None:
    assert answer(EPOCH_279, EpochCache(), 0, 10) == EpochEnd(-1, -1)


def test_kip_101_cuts_to_the_answer_alone() -> None:
    assert cut_by_answer(EPOCH, EpochCache([(0, 0), (1, 10)]), EpochEnd(-1, 12), leo=15, hw=10) == Cut(
        12, True, "epoch"
    )


def test_kip_279_takes_its_own_end_of_that_epoch_too() -> None:
    own = EpochCache([(0, 0), (1, 10)])
    assert cut_by_answer(EPOCH_279, own, EpochEnd(0, 12), leo=15, hw=10) == Cut(10, True, "epoch")


def test_kip_279_asks_again_about_an_epoch_it_never_had() -> None:
    own = EpochCache([(0, 0), (3, 10)])
    assert cut_by_answer(EPOCH_279, own, EpochEnd(2, 14), leo=15, hw=5) == Cut(10, False, "unknown-epoch")


def test_without_an_answer_the_hw_decides() -> None:
    for protocol in (EPOCH, EPOCH_279):
        assert cut_by_answer(protocol, CACHE, EpochEnd(-1, -1), leo=42, hw=33) == Cut(33, True, "unknown")


def test_a_fetch_diverges_below_the_fetch_offset_or_in_an_unknown_epoch() -> None:
    assert diverges(FETCH, CACHE, 42, fetch_offset=42, last_epoch=5) is None
    assert diverges(FETCH, CACHE, 42, fetch_offset=33, last_epoch=4) == EpochEnd(4, 30)
    assert diverges(FETCH, CACHE, 42, fetch_offset=15, last_epoch=3) == EpochEnd(2, 20)
    assert diverges(EPOCH_279, CACHE, 42, fetch_offset=33, last_epoch=4) is None
    with pytest.raises(LookupError):
        diverges(FETCH, CACHE, 42, fetch_offset=33, last_epoch=6)


def test_assignments_replace_contradicted_entries_only_since_2_0() -> None:
    cache = EpochCache([(0, 0), (1, 10)])
    assert cache.assign(2, 10, replaces=True) == [(1, 10)]
    assert cache.entries == [(0, 0), (2, 10)]
    old = EpochCache([(0, 0), (1, 10)])
    assert old.assign(2, 10, replaces=False) == []
    assert old.entries == [(0, 0), (1, 10), (2, 10)]
    assert old.assign(2, 12, replaces=False) is None
    assert old.assign(3, 5, replaces=False) is None


def test_the_table_differs_in_every_row() -> None:
    assert [p.name for p in PROTOCOLS] == ["hw", "epoch", "epoch-279", "fetch"]
    assert len({p.truncates_by for p in PROTOCOLS}) == 4
    assert named("fetch-14704") in VARIANTS


def test_hw_adopted_before_the_cut_is_said_aloud() -> None:
    """KAFKA-14704: the follower's HW first covers records of its own tail that were never committed."""
    from forensics.model.cluster import Cluster
    from forensics.model.random_runs import Op, play
    from forensics.model.trace import Trace

    def highest(protocol: str) -> int:
        cluster = Cluster(named(protocol), (1, 2, 3), min_isr=1, unclean=False, trace=Trace())
        cluster.create_topic()
        cluster.produce(4)
        cluster.catch_up()
        cluster.produce(3, acks="1")  # a tail nobody has
        play(cluster, [Op("crash", 1), Op("notice", 1)])
        cluster.produce(6)
        cluster.catch_up()
        play(cluster, [Op("restart", 1)])
        cluster.catch_up()
        return max(e.state["high_watermark"] for e in cluster.trace if e.kind in ("cut", "diverges") and e.broker == 1)

    assert highest("fetch-14704") == 7
    assert highest("fetch") <= 4
