"""What each protocol promises, on thousands of random schedules; counter-examples where it promises too much."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import find, given, settings
from hypothesis.errors import NoSuchExample

from forensics.model import PROTOCOLS, Protocol, scenario
from forensics.model.cluster import Cluster
from forensics.model.protocol import EPOCH, EPOCH_279, FETCH, HW, named
from forensics.model.random_runs import (
    AT_ONCE,
    CHANGING,
    CRUEL,
    GENTLE,
    OPEN_ENDED,
    OPERATIONS,
    READ_BY_OLD,
    RESTORED,
    RUINOUS,
    SCRAPED,
    SWAPPED,
    Op,
    broken_promises,
    play,
    random_cluster,
    schedule,
    settle,
)
from tests.conftest import EVERYTHING

RUNS = 3_000 if EVERYTHING else 250
ALL_FIXED = replace(
    EPOCH,
    truncates_by="epoch-279",
    asks_by=1,
    epoch_entry="becoming-leader",
    skips_same_leader=False,
    joins_below_epoch_start=False,
    fences_stale_epochs=True,
)
"""KIP-101's protocol with every later repair: what is wrong with it is these, and nothing else."""


def first_broken(protocol: Protocol, runs: int = RUNS) -> tuple[int, list[str]] | None:
    for seed in range(runs):
        if broken := broken_promises(random_cluster(protocol, seed, 60, GENTLE, unclean=False)):
            return seed, broken
    return None


@pytest.mark.parametrize(
    "protocol",
    [EPOCH_279, FETCH, named("fetch-14704"), ALL_FIXED],
    ids=["epoch-279", "fetch", "fetch-14704", "repaired"],
)
def test_committed_records_survive_clean_elections(protocol: Protocol) -> None:
    assert first_broken(protocol) is None


@pytest.mark.parametrize("protocol", [HW, EPOCH], ids=lambda p: p.name)
def test_older_protocols_break_their_word(protocol: Protocol) -> None:
    assert first_broken(protocol) is not None


@pytest.mark.parametrize("weights", [CRUEL, RUINOUS], ids=["cruel", "ruinous"])
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_no_schedule_breaks_the_machine(protocol: Protocol, weights: dict[str, int]) -> None:
    """Cruel faults: whatever is lost, offsets stay in order, an ISR holds its leader, epochs only rise."""
    for seed in range(400 if EVERYTHING else 100):
        cluster = random_cluster(protocol, seed, 60, weights)
        for node in cluster.brokers.values():
            log = node.replica.log
            assert [b.base for b in log.batches] == sorted({b.base for b in log.batches})
            assert all(a.end <= b.base for a, b in zip(log.batches, log.batches[1:], strict=False))
            assert (
                all(a.epoch <= b.epoch for a, b in zip(log.batches, log.batches[1:], strict=False))
                or not protocol.epochs
            )
            epochs = node.replica.epochs.entries
            assert epochs == sorted(epochs)
            if node.replica.role == "leader":
                assert node.id in node.replica.isr
        state = cluster.controller.state
        assert state is not None
        assert state.leader == -1 or state.leader in state.isr


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_a_follower_never_counts_on_more_than_it_has(protocol: Protocol) -> None:
    """A leader's HW is at most the LEO it knows of every ISR member, after every single step."""
    for seed in range(60):
        cluster = Cluster(protocol, (1, 2, 3), min_isr=1, unclean=False)
        cluster.create_topic()
        for op in schedule(seed, 60, weights=GENTLE):
            before = {b: n.replica.hw for b, n in cluster.brokers.items() if n.replica.role == "leader"}
            epochs = {b: n.replica.leader_epoch for b, n in cluster.brokers.items()}
            play(cluster, [op])
            for broker, node in cluster.brokers.items():
                replica = node.replica
                if replica.role != "leader":
                    continue
                assert replica.hw <= replica.log.end
                if broker in before and epochs[broker] == replica.leader_epoch:
                    assert replica.hw >= before[broker], "a leader's HW fell within an epoch"


@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p.epochs], ids=lambda p: p.name)
def test_open_transactions_hold_the_last_stable_offset_back(protocol: Protocol) -> None:
    """It never passes the HW nor the first record of an open transaction, and falls behind the HW in some runs."""
    behind = 0
    for seed in range(60):
        cluster = Cluster(protocol, (1, 2, 3), min_isr=1, unclean=False)
        cluster.create_topic()
        for op in schedule(seed, 60, weights=OPEN_ENDED):
            play(cluster, [op])
            for node in cluster.brokers.values():
                replica = node.replica
                if node.up and replica.role:
                    assert replica.last_stable() <= max(replica.hw, 0)
                    behind += replica.last_stable() < replica.hw
    assert behind > 0


def test_the_same_seed_plays_the_same_run() -> None:
    assert schedule(7, 50) == schedule(7, 50)
    assert schedule(7, 50) != schedule(8, 50)
    one, two = (random_cluster(EPOCH_279, 11, 60) for _ in range(2))
    assert [n.replica for n in one.brokers.values()] == [n.replica for n in two.brokers.values()] or [
        (n.replica.log.batches, n.replica.hw, n.replica.epochs.entries) for n in one.brokers.values()
    ] == [(n.replica.log.batches, n.replica.hw, n.replica.epochs.entries) for n in two.brokers.values()]


# Thirty operations, most of which shrink to nothing.
MOVES = [Op("nothing"), Op("produce", 1)]
MOVES += [
    Op(name, broker) for name in ("fetch", "send-fetch", "prefer", "crash", "notice", "restart") for broker in (1, 2)
]
OPS = st.lists(st.sampled_from(MOVES), min_size=30, max_size=30).map(
    lambda ops: [op for op in ops if op.name != "nothing"]
)


def clean_loss(ops: list[Op], protocol: Protocol) -> bool:
    cluster = Cluster(protocol, (1, 2), min_isr=1, unclean=False)
    cluster.create_topic()
    play(cluster, ops)
    return any(loss.clean for loss in cluster.witness.losses)


def test_the_smallest_loss_under_the_old_protocol() -> None:
    """Hypothesis finds it by itself: a record committed on both sides, a follower that has not received that high
    watermark, and changes of leader, with a crash or without: each follower truncates.
    """
    smallest = find(
        OPS, lambda ops: clean_loss(ops, HW), settings=settings(max_examples=20_000, derandomize=True, database=None)
    )
    assert len(smallest) <= 7
    names = [op.name for op in smallest]
    assert names[0] == "produce"
    assert {"fetch", "send-fetch", "prefer"} <= set(names)
    for repaired in (EPOCH, EPOCH_279, FETCH):
        assert not clean_loss(smallest, repaired)


def test_the_same_search_finds_nothing_once_the_protocol_is_repaired() -> None:
    """So the counter-example is the old protocol's, and the search would tell if it were no longer there."""
    with pytest.raises(NoSuchExample):
        find(
            OPS,
            lambda ops: clean_loss(ops, ALL_FIXED),
            settings=settings(max_examples=1_000, derandomize=True, database=None),
        )


@settings(max_examples=150)
@given(
    st.lists(
        st.builds(
            Op,
            st.sampled_from(sorted(GENTLE)),
            st.sampled_from([1, 2, 3]),
            st.sampled_from([1, 2, 3]),
            st.integers(0, 7),
        ),
        min_size=50,
        max_size=50,
    )
)
def test_no_loss_is_found_under_epochs(ops: list[Op]) -> None:
    for protocol in (EPOCH_279, FETCH):
        cluster = Cluster(protocol, (1, 2, 3), min_isr=1, unclean=False)
        cluster.create_topic()
        play(cluster, ops)
        settle(cluster)
        assert broken_promises(cluster) == []


def test_weights_name_operations() -> None:
    assert {*RUINOUS, *OPEN_ENDED, *SWAPPED, *READ_BY_OLD, *CHANGING, *AT_ONCE, *SCRAPED} == set(OPERATIONS)
    assert set(GENTLE) < set(CRUEL) < set(RUINOUS)
    assert set(CRUEL) < set(RESTORED) < set(SWAPPED)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_unclean_election_is_told_from_a_clean_one(protocol: Protocol) -> None:
    losses = scenario("unclean-election").run(protocol).truth()["losses"]
    assert losses
    assert not any(loss["clean"] for loss in losses)
    assert all(loss["clean"] for loss in scenario("power-loss").run(protocol).truth()["losses"])
