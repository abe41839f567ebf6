"""Faults to files and links, and what brokers of each generation make of them."""

from __future__ import annotations

import pytest

from forensics.model import PROTOCOLS, Protocol, faults
from forensics.model.cluster import Cluster


def cluster_with(protocol: Protocol, records: int = 5) -> Cluster:
    """Three replicas that hold the same committed records, with their HW on disk."""
    cluster = Cluster(protocol, (1, 2, 3), min_isr=1, unclean=False)
    cluster.create_topic()
    cluster.produce(records)
    cluster.catch_up()
    for broker in cluster.assigned:
        cluster.checkpoint(broker)
    return cluster


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_a_follower_without_its_hw_checkpoint_starts_from_0(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    faults.stop(cluster, 3)
    faults.lose_hw_checkpoint(cluster, 3)
    faults.restart(cluster, 3)
    follower = cluster.replica(3)
    assert follower.hw == 0
    assert follower.log.end == (0 if protocol.truncates_by == "hw" else 5), "only the old protocol cuts to it"
    cluster.catch_up()
    assert (follower.log.end, follower.hw) == (5, 5)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_a_damaged_epoch_checkpoint_heals(protocol: Protocol) -> None:
    """The cache is read from a file that lost its entries; what it cannot tell, the leader or the HW decides."""
    cluster = cluster_with(protocol)
    faults.prefer(cluster, 2)
    cluster.produce(2)
    cluster.catch_up()
    faults.stop(cluster, 3)
    faults.damage_epochs(cluster, 3, keep=0)
    faults.restart(cluster, 3)
    cluster.catch_up()
    logs = [node.replica.log for node in cluster.brokers.values()]
    assert [list(log.records()) for log in logs] == [list(logs[0].records())] * 3
    assert not cluster.witness.losses


def test_a_slow_follower_leaves_the_isr_and_comes_back() -> None:
    for protocol in PROTOCOLS:
        cluster = cluster_with(protocol)
        faults.pause(cluster, 3)
        cluster.produce(1)
        cluster.wait(cluster.lag_ms * 2)
        leader = cluster.replica(1)
        assert leader.isr == (1, 2), protocol.name
        faults.resume(cluster, 3)
        faults.reconnect(cluster, 3)
        cluster.catch_up()
        assert set(leader.isr) == {1, 2, 3}, protocol.name


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_a_cut_link_stops_fetching_until_it_heals(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    faults.cut_link(cluster, 1, 3)
    cluster.produce(2)
    cluster.catch_up()
    assert [cluster.replica(broker).log.end for broker in (1, 2, 3)] == [7, 7, 5]
    faults.heal_link(cluster, 1, 3)
    cluster.catch_up()
    assert cluster.replica(3).log.end == 7


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_another_controller_has_a_higher_epoch_and_the_same_mind(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    before = cluster.controller.state
    faults.controller_failover(cluster)
    assert (cluster.controller.state, cluster.controller.epoch) == (before, 2)
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    leader = cluster.leader()
    assert leader is not None
    assert leader.broker == 2


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_power_loss_takes_what_a_crash_leaves(protocol: Protocol) -> None:
    crashed, dark = cluster_with(protocol), cluster_with(protocol)
    crashed.flush(3)
    dark.flush(3)
    crashed.produce(2)
    crashed.catch_up()
    dark.produce(2)
    dark.catch_up()
    faults.crash(crashed, 3)
    faults.power_loss(dark, 3)
    assert (crashed.replica(3).log.end, dark.replica(3).log.end) == (7, 5)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_empty_disk_is_filled_again(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    faults.stop(cluster, 3)
    faults.wipe(cluster, 3)
    assert cluster.replica(3).log.end == 0
    faults.restart(cluster, 3)
    cluster.catch_up()
    assert (cluster.replica(3).log.end, cluster.replica(3).hw) == (5, 5)


def test_a_fault_that_makes_no_sense_does_nothing() -> None:
    cluster = cluster_with(PROTOCOLS[0])
    assert not faults.restart(cluster, 1)
    assert not faults.resume(cluster, 1)
    assert not faults.wipe(cluster, 1)
    assert not faults.lose_hw_checkpoint(cluster, 1)
    assert not faults.notice(cluster, 1)
    assert not faults.heal_link(cluster, 1, 2)
    assert faults.crash(cluster, 1)
    assert not faults.crash(cluster, 1)
    assert not faults.power_loss(cluster, 1)
    assert not faults.stop(cluster, 1)
    assert not faults.pause(cluster, 1)
