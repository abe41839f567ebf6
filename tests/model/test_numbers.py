"""The two-replica walk-through and the three-replica exercise, number by number."""

from __future__ import annotations

import pytest

from forensics.model import PROTOCOLS, Protocol, scenario
from forensics.model.run import Step

EVERY = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)


def marks(step: Step) -> dict[int, tuple[int, int | None]]:
    return {replica.broker: (replica.log_end_offset, replica.high_watermark) for replica in step.replicas}


@EVERY
def test_one_record_takes_two_rounds(protocol: Protocol) -> None:
    """Leader LEO, remote LEO, leader HW, follower LEO, follower HW after each step."""
    run = scenario("two-replicas").run(protocol)
    seen = [
        (
            leader.log_end_offset,
            leader.remote_leo[2],
            leader.high_watermark,
            follower.log_end_offset,
            follower.high_watermark,
        )
        for leader, follower in (step.replicas for step in run.steps)
    ]
    assert seen == [
        (0, 0, 0, 0, 0),
        (1, 0, 0, 0, 0),
        (1, 0, 0, 1, 0),
        (1, 1, 1, 1, 0),
        (1, 1, 1, 1, 1),
        (1, 1, 1, 1, 1),
    ]
    assert {replica.checkpointed_hw for replica in run.steps[-1].replicas} == {1}


@EVERY
def test_followers_learn_the_hw_in_the_order_of_fetching(protocol: Protocol) -> None:
    run = scenario("three-replicas").run(protocol)
    assert [marks(step) for step in run.steps] == [
        {1: (0, 0), 2: (0, 0), 3: (0, 0)},
        {1: (1, 0), 2: (0, 0), 3: (0, 0)},
        {1: (1, 0), 2: (1, 0), 3: (0, 0)},
        {1: (1, 0), 2: (1, 0), 3: (0, 0)},
        {1: (1, 0), 2: (1, 0), 3: (1, 0)},
        {1: (1, 1), 2: (1, 0), 3: (1, 1)},
        {1: (1, 1), 2: (1, 1), 3: (1, 1)},
        {1: (1, 1), 2: (1, 1), 3: (1, 1)},
    ]
    assert [step.replicas[0].remote_leo for step in run.steps[1:6]] == [
        {2: 0, 3: 0},
        {2: 0, 3: 0},
        {2: 1, 3: 0},
        {2: 1, 3: 0},
        {2: 1, 3: 1},
    ]


@EVERY
def test_with_f2_out_of_the_isr_f1_alone_commits(protocol: Protocol) -> None:
    """With F2 out of the ISR and not caught up, the leader's HW is 1 as soon as F1 fetched at 1."""
    from forensics.model import faults
    from forensics.model.cluster import Cluster

    cluster = Cluster(protocol, (1, 2, 3))
    cluster.create_topic()
    cluster.produce(1)
    cluster.fetch(2, rounds=2)
    faults.pause(cluster, 3)
    faults.shrink_isr(cluster)
    leader = cluster.replica(1)
    if 2 not in leader.isr:  # a follower that has everything stays in the ISR only since 2.0
        cluster.fetch(2)
    assert 3 not in leader.isr
    cluster.produce(1)
    cluster.fetch(2)
    assert leader.hw == 1
    cluster.send_fetch(2)
    assert leader.hw == 2
    assert leader.remote[3].leo == 0


@EVERY
def test_loss_by_hw_truncation_step_by_step(protocol: Protocol) -> None:
    """Story 1: under the old protocol m2 is on no replica; under epochs A cuts nothing and leads epoch 1 from 2."""
    run = scenario("loss").run(protocol)
    both, _, back, leads, returned, _ = run.steps[1:]
    assert marks(both) == {2: (2, 2), 1: (2, 1)}
    a = {replica.broker: replica for replica in leads.replicas}[1]
    if protocol.name == "hw":
        assert marks(back)[1] == (1, 1)
        assert (a.role, a.log_end_offset) == ("leader", 1)
        assert {replica.values for replica in returned.replicas} == {("m1",)}
    else:
        assert marks(back)[1] == (2, 1)
        assert (a.role, a.log_end_offset, a.leader_epoch) == ("leader", 2, 1)
        assert {replica.values for replica in returned.replicas} == {("m1", "m2")}
        final = {replica.broker: replica for replica in run.steps[-1].replicas}
        assert final[1].epochs == ((0, 0), (1, 2))


@EVERY
def test_fork_step_by_step(protocol: Protocol) -> None:
    """Story 2: m2 and m3 at offset 1 for good, or, under epochs, A hears 1 and cuts m2: no fork, but m2 is lost."""
    run = scenario("fork").run(protocol)
    taken, returned = run.steps[4], run.steps[5]
    assert marks(taken)[2] == (2, 2)
    b = {replica.broker: replica for replica in taken.replicas}[2]
    assert b.values == ("m1", "m3")
    if protocol.epochs:
        assert b.epochs == ((0, 0), (1, 1))
    a = {replica.broker: replica for replica in returned.replicas}[1]
    assert a.values == (("m1", "m2") if protocol.name == "hw" else ("m1", "m3"))
    assert (a.log_end_offset, a.high_watermark) == (2, 2)


def test_the_last_stable_offset_waits_for_a_committed_marker() -> None:
    run = scenario("open-transaction").run("fetch", steps=4)
    replica = run.cluster.replica(1)
    assert (replica.hw, replica.last_stable()) == (7, 7)
    for steps, hw, stable in ((1, 3, 3), (2, 6, 3), (3, 6, 3)):
        replica = scenario("open-transaction").run("fetch", steps=steps).cluster.replica(1)
        assert (replica.hw, replica.last_stable()) == (hw, stable)


@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p.epochs], ids=lambda p: p.name)
def test_what_consumers_are_handed(protocol: Protocol) -> None:
    """Markers (at 6 and 9) are handed to nobody; who reads committed data gets nothing of the aborted transaction."""
    run = scenario("open-transaction").run(protocol)
    assert [record.offset for record in run.cluster.consume()] == [0, 1, 2, 3, 4, 5, 7, 8]
    assert [record.offset for record in run.cluster.consume(committed=True)] == [0, 1, 2, 3, 4, 5]
    assert run.truth()["readable"] == 8


@pytest.mark.parametrize(
    ("steps", "plain", "committed"),
    [
        (1, [0, 1, 2], [0, 1, 2]),
        (2, [0, 1, 2, 3, 4, 5], [0, 1, 2]),  # open: the plain record behind it waits too
        (3, [0, 1, 2, 3, 4, 5], [0, 1, 2]),  # its marker is appended, but not committed
        (4, [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_read_committed_stops_at_the_last_stable_offset(steps: int, plain: list[int], committed: list[int]) -> None:
    cluster = scenario("open-transaction").run("fetch", steps=steps).cluster
    assert [record.offset for record in cluster.consume()] == plain
    assert [record.offset for record in cluster.consume(committed=True)] == committed


def test_consumers_read_from_leaders_only() -> None:
    cluster = scenario("two-replicas").run("fetch").cluster
    assert [record.value for record in cluster.consume(from_broker=1)] == ["m1"]
    assert cluster.consume(from_broker=2) == []


@pytest.mark.parametrize(("acks", "as_written"), [("0", "0"), ("1", "1"), ("all", "all"), ("-1", "all"), (-1, "all")])
def test_acks_as_kafka_takes_them(acks: str | int, as_written: str) -> None:
    cluster = scenario("two-replicas").run("fetch", steps=1).cluster
    (batch,) = cluster.produce(1, acks)
    assert batch.acks == as_written
    acknowledged = [b.base for b in cluster.witness.acked]
    assert acknowledged == ([0] if acks == "1" else [])
    cluster.catch_up()
    assert [b.base for b in cluster.witness.acked] == ([] if acks == "0" else [0])


@pytest.mark.parametrize("acks", ["2", 2, "-2", "every", ""])
def test_acks_that_no_broker_takes(acks: str | int) -> None:
    cluster = scenario("two-replicas").run("fetch", steps=1).cluster
    with pytest.raises(ValueError, match="there are 0, 1 and all"):
        cluster.produce(1, acks)
    assert cluster.replica(1).log.end == 0


def test_steps_limits_a_story() -> None:
    assert len(scenario("loss").run("hw", steps=3).steps) == 3
