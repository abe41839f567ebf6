"""OffsetsForLeaderEpoch as each version answers it, and what a follower does with the answer."""

from __future__ import annotations

import pytest

from forensics.model import EVERY, PROTOCOLS, VARIANTS, Protocol
from forensics.model.cluster import Cluster
from forensics.model.protocol import (
    EPOCH,
    EPOCH_279,
    EPOCH_279_2_0,
    FETCH,
    Cut,
    EpochEnd,
    EpochQuestion,
    answer,
    cut_by_answer,
    diverges,
    named,
    question,
)
from forensics.model.state import EpochCache
from forensics.model.trace import Trace

CACHE = EpochCache([(2, 10), (4, 20), (5, 30)])


UNKNOWN = EpochEnd(-1, -1)


@pytest.mark.parametrize(
    ("asked", "up_to_1_1", "of_2_0_0", "later"),
    [
        (5, EpochEnd(-1, 42), EpochEnd(5, 42), EpochEnd(5, 42)),  # the newest: the log end
        (4, EpochEnd(-1, 30), EpochEnd(4, 30), EpochEnd(4, 30)),
        (3, EpochEnd(-1, 20), EpochEnd(2, 20), EpochEnd(2, 20)),  # never seen here: the largest below, where it ended
        (2, EpochEnd(-1, 20), EpochEnd(2, 20), EpochEnd(2, 20)),
        (1, UNKNOWN, UNKNOWN, EpochEnd(1, 10)),  # older than the cache (since KAFKA-7415: where it begins)
        (0, UNKNOWN, UNKNOWN, EpochEnd(0, 10)),
        (6, UNKNOWN, UNKNOWN, UNKNOWN),  # newer than any the leader knows
        (-1, UNKNOWN, UNKNOWN, UNKNOWN),  # a follower without epochs
    ],
)
def test_answers(asked: int, up_to_1_1: EpochEnd, of_2_0_0: EpochEnd, later: EpochEnd) -> None:
    """``LeaderEpochFileCache.endOffsetFor`` of 0.11.0.3 and 1.1.1, of 2.0.0, and of 2.0.1, 2.8.2 and 3.9."""
    for protocol in EVERY:
        if protocol.epochs:
            expected = {"epoch": up_to_1_1, "epoch-279-2.0": of_2_0_0}.get(protocol.name, later)
            assert answer(protocol, CACHE, asked, 42) == expected, protocol.name


ASKED = {
    "epoch": EpochQuestion(0, 5, None, None),
    "epoch-279-2.0": EpochQuestion(1, 5, None, None),
    "epoch-279": EpochQuestion(3, 5, 7, 2),  # 2.8.2 with the protocol of 2.6
    "fetch-14704": EpochQuestion(4, 5, 7, 2),
    "fetch": EpochQuestion(4, 5, 7, 2),
}


@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
def test_questions(protocol: Protocol) -> None:
    """Follower 2, told of leader epoch 7, whose newest own epoch is 5: OffsetForLeaderEpochRequest.json by version."""
    assert question(protocol, CACHE, 7, 2) == ASKED.get(protocol.name)
    without = question(protocol, EpochCache(), 7, 2)
    asks = protocol.name in ("epoch", "epoch-279-2.0")  # the others cut to their HW at once
    assert (without is not None) == asks
    if without is not None:
        assert without.leader_epoch == -1


def exchange(protocol: Protocol) -> list[tuple[int, int, int]]:
    """Questions and answers of a follower that has epochs its leader never had: asked, epoch and end heard."""
    from forensics.model import scenario

    run = scenario("fast-failover").run(protocol)
    heard = [event.facts for event in run.cluster.trace if event.kind == "hears_epoch" and event.broker == 2]
    return [(facts["asked"], facts["epoch"], facts["end"]) for facts in heard if facts["asked"] >= 0]


@pytest.mark.parametrize(
    ("name", "said"), [("epoch", [(1, -1, 12)]), ("epoch-279-2.0", [(1, 0, 12)]), ("epoch-279", [(1, 0, 12)])]
)
def test_an_exchange(name: str, said: list[tuple[int, int, int]]) -> None:
    assert exchange(named(name)) == said


@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
@pytest.mark.parametrize(("known", "error"), [(3, ""), (2, "FENCED_LEADER_EPOCH"), (4, "UNKNOWN_LEADER_EPOCH")])
def test_an_epoch_that_is_not_the_leaders_own_is_refused_from_2_1(protocol: Protocol, known: int, error: str) -> None:
    """Leader 1 is in epoch 3; follower 2 takes it for another one. Up to 2.0 nobody looks."""
    if protocol.truncates_by not in ("epoch", "epoch-279"):
        return
    cluster = Cluster(protocol, (1, 2), trace=Trace())
    cluster.create_topic()
    cluster.produce(1)
    cluster.catch_up()
    leader, follower = cluster.replica(1), cluster.replica(2)
    leader.leader_epoch, follower.leader_epoch, follower.truncating = 3, known, True
    answered = cluster.ask_epoch(2)
    refused = [event.facts["error"] for event in cluster.trace if event.kind == "epoch_refused"]
    assert (answered, refused) == ((False, [error]) if error and protocol.fences_stale_epochs else (True, []))


def test_an_empty_cache_knows_nothing() -> None:
    assert answer(EPOCH_279, EpochCache(), 0, 10) == EpochEnd(-1, -1)


def test_kip_101_cuts_to_the_answer_alone() -> None:
    assert cut_by_answer(EPOCH, EpochCache([(0, 0), (1, 10)]), EpochEnd(-1, 12), leo=15, hw=10) == Cut(
        12, True, "epoch"
    )


def test_kip_279_takes_its_own_end_of_that_epoch_too() -> None:
    own = EpochCache([(0, 0), (1, 10)])
    assert cut_by_answer(EPOCH_279, own, EpochEnd(0, 12), leo=15, hw=10) == Cut(10, True, "epoch")


def test_an_answer_below_everything_the_follower_tracks_is_taken_as_it_is() -> None:
    """In 2.0.0 the follower's own cache says nothing of an epoch older than it; later versions: where it begins."""
    own = EpochCache([(3, 10)])
    assert cut_by_answer(EPOCH_279_2_0, own, EpochEnd(2, 8), leo=15, hw=5) == Cut(8, True, "epoch")
    assert cut_by_answer(EPOCH_279, own, EpochEnd(2, 8), leo=15, hw=5) == Cut(8, True, "epoch")
    assert cut_by_answer(EPOCH_279, own, EpochEnd(2, 12), leo=15, hw=5) == Cut(10, True, "epoch")


def test_kip_279_asks_again_about_an_epoch_it_never_had() -> None:
    own = EpochCache([(0, 0), (3, 10)])
    assert cut_by_answer(EPOCH_279, own, EpochEnd(2, 14), leo=15, hw=5) == Cut(10, False, "unknown-epoch")


def test_without_an_answer_the_hw_decides() -> None:
    for protocol in (EPOCH, EPOCH_279_2_0, EPOCH_279):
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
    from forensics.model.random_runs import Op, play

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
