"""Faults to files and links, and what brokers of each generation make of them."""

from __future__ import annotations

import pytest

from forensics.model import EVERY, PROTOCOLS, Protocol, Run, Scenario, faults
from forensics.model.cluster import Cluster
from forensics.model.evidence import files, log_lines
from forensics.model.run import Stage
from forensics.model.state import CHECKPOINTS, Checkpoint
from forensics.model.trace import Trace


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
    faults.lose_checkpoint(cluster, 3)
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
    assert not faults.lose_checkpoint(cluster, 1)
    assert not faults.notice(cluster, 1)
    assert not faults.heal_link(cluster, 1, 2)
    assert faults.crash(cluster, 1)
    assert not faults.crash(cluster, 1)
    assert not faults.power_loss(cluster, 1)
    assert not faults.stop(cluster, 1)
    assert not faults.pause(cluster, 1)


# -- checkpoints ------------------------------------------------------------------------------------------------------

FILES = tuple(CHECKPOINTS)


def down_with_files(protocol: Protocol) -> Cluster:
    """A third replica that stopped cleanly after two leaders, with everything on disk."""
    cluster = cluster_with(protocol)
    faults.prefer(cluster, 2)
    cluster.produce(2)
    cluster.catch_up()
    for broker in cluster.assigned:
        cluster.checkpoint(broker)
    faults.stop(cluster, 3)
    return cluster


def whole_again(cluster: Cluster) -> bool:
    """Whether the third replica has all records, and nothing committed is lost."""
    records = [list(cluster.replica(broker).log.records()) for broker in (2, 3)]
    return records[0] == records[1] and len(records[0]) == 7 and not cluster.witness.losses


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_a_lost_checkpoint_is_taken_for_empty(protocol: Protocol, file: Checkpoint) -> None:
    cluster = down_with_files(protocol)
    written = file in ("hw", "recovery_point") or protocol.epochs
    assert faults.lose_checkpoint(cluster, 3, file) == written
    if not written:
        return
    assert content(cluster, 3, file) is None
    assert faults.restart(cluster, 3)
    follower = cluster.replica(3)
    assert follower.hw == (0 if file == "hw" else 7)
    assert follower.epochs.entries == ([] if file == "epochs" or not protocol.epochs else [(0, 0), (1, 5)])
    cluster.catch_up()
    assert whole_again(cluster)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_unreadable_checkpoint_keeps_a_broker_from_serving_or_is_ignored(
    protocol: Protocol, file: Checkpoint
) -> None:
    cluster = down_with_files(protocol)
    if not faults.garble_checkpoint(cluster, 3, file):
        assert not protocol.epochs
        return
    assert content(cluster, 3, file) == bytes(16)
    up = faults.restart(cluster, 3)
    replica = cluster.replica(3)
    if file in ("recovery_point", "log_start"):
        assert (up, replica.hw, replica.log.end) == (True, 7, 7)
    elif file == "epochs":
        assert not up, "its log cannot be loaded"
    else:
        assert cluster.brokers[3].up == (protocol.name == "hw"), "a failed directory ends it from 1.0 on"
        assert replica.role == ""
    for _ in range(2):  # it does not heal by itself
        faults.crash(cluster, 3)
        faults.notice(cluster, 3)
        cluster.restart(3)
    if file in ("hw", "epochs"):
        assert cluster.replica(3).role == ""
        faults.crash(cluster, 3)
        faults.notice(cluster, 3)
        assert faults.lose_checkpoint(cluster, 3, file)
        assert faults.restart(cluster, 3)
    cluster.catch_up()
    assert whole_again(cluster)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_older_hw_is_where_the_old_protocol_cuts(protocol: Protocol) -> None:
    cluster = down_with_files(protocol)
    assert cluster.replica(3).disk.hw == 7
    assert faults.restore_checkpoint(cluster, 3, "hw")
    assert content(cluster, 3, "hw") == b"0\n1\norders 0 5\n"
    faults.restart(cluster, 3)
    follower = cluster.replica(3)
    assert follower.hw == 5
    assert follower.log.end == (5 if protocol.name == "hw" else 7)
    cluster.catch_up()
    assert whole_again(cluster)


@pytest.mark.parametrize("protocol", [p for p in PROTOCOLS if p.epochs], ids=lambda p: p.name)
def test_an_older_epoch_checkpoint_is_completed_by_recovery_only(protocol: Protocol) -> None:
    for clean, found in ((True, [(0, 0)]), (False, [(0, 0), (1, 5)])):
        cluster = down_with_files(protocol)
        faults.restart(cluster, 3)
        cluster.catch_up()
        (faults.stop if clean else faults.crash)(cluster, 3)
        faults.notice(cluster, 3)
        assert faults.restore_checkpoint(cluster, 3, "epochs")
        assert faults.restore_checkpoint(cluster, 3, "recovery_point") or clean
        faults.restart(cluster, 3)
        assert cluster.replica(3).epochs.entries == found
        cluster.catch_up()
        assert whole_again(cluster)


def test_what_a_broker_says_of_an_unreadable_checkpoint() -> None:
    """Each version in its own words; an empty cache or a HW of 0 that nobody mentioned would be another story."""

    def told(protocol: Protocol, file: Checkpoint) -> str:
        def tell(stage: Stage) -> None:
            cluster = stage.cast(1, 2, 3)
            cluster.produce(5)
            cluster.catch_up()
            faults.crash(cluster, 3)
            faults.notice(cluster, 3)
            faults.garble_checkpoint(cluster, 3, file)
            faults.restart(cluster, 3)
            stage.note("a checkpoint is unreadable")

        lines = log_lines(Scenario("unreadable", "", tell).run(protocol), "default")
        return "\n".join(line for (broker, _), text in lines.items() if broker == 3 for line in text)

    for protocol in PROTOCOLS:
        assert "recovery-point-offset-checkpoint file of directory" in told(protocol, "recovery_point")
        if protocol.epochs:
            assert "log-start-offset-checkpoint file of directory" in told(protocol, "log_start")
            assert "Fatal error during" in told(protocol, "epochs")
            assert "Shutdown broker because all log dirs in" in told(protocol, "hw")
        else:
            assert "Error on broker 3 while processing LeaderAndIsr request" in told(protocol, "hw")


def content(cluster: Cluster, broker: int, file: Checkpoint) -> bytes | None:
    """The file as it would be collected now."""
    run = Run("files", cluster.protocol, 0, (), cluster)
    ending = CHECKPOINTS[file]
    found = [data for path, data in files(run, "default").items() if path.startswith(f"broker-{broker}/data/")
             and path.endswith(ending)]  # fmt: skip
    return found[0] if found else None


@pytest.mark.parametrize("unclean", [False, True])
@pytest.mark.parametrize("protocol", EVERY, ids=lambda p: p.name)
def test_the_last_member_of_the_isr_stays_unless_anybody_may_lead(protocol: Protocol, unclean: bool) -> None:
    """0.10.2.2, KafkaController.removeReplicaFromIsr: it is kept only where unclean elections are off."""
    cluster = Cluster(protocol, (1, 2), min_isr=1, unclean=unclean, trace=Trace())
    cluster.create_topic()
    cluster.controller.broker_failed(2)
    cluster.controller.broker_failed(1)
    state = cluster.controller.state
    assert state is not None
    emptied = protocol.name == "hw" and unclean
    assert (state.leader, state.isr) == (-1, () if emptied else (1,))
    retained = [e.facts["retained"] for e in cluster.trace if e.kind == "isr_without"]
    assert retained == ([] if protocol.kraft else [False, not emptied])


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_older_directory_on_a_follower_is_filled_by_its_leader(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    assert faults.back_up(cluster, 3)
    cluster.produce(3)
    cluster.catch_up()
    assert not faults.put_back(cluster, 3), "it runs"
    faults.stop(cluster, 3)
    assert faults.put_back(cluster, 3)
    assert cluster.replica(3).log.end == 5
    faults.restart(cluster, 3)
    cluster.catch_up()
    assert cluster.replica(3).log.end == 8
    assert not cluster.witness.losses


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.name)
def test_an_older_directory_on_a_leader_loses_what_was_committed_since(protocol: Protocol) -> None:
    cluster = cluster_with(protocol)
    faults.back_up(cluster, 1)
    cluster.produce(3)
    cluster.catch_up()
    for broker in (2, 3, 1):
        faults.stop(cluster, broker)
    faults.put_back(cluster, 1)
    faults.restart(cluster, 1)
    for broker in (2, 3):
        faults.restart(cluster, broker)
    cluster.catch_up()
    assert [loss.broker for loss in cluster.witness.losses] == [1]
    ends = [cluster.replica(broker).log.end for broker in (1, 2, 3)]
    assert ends == ([5, 8, 8] if protocol.truncates_by == "hw" else [5, 5, 5]), "up to 0.10 a follower ends instead"


def test_directories_of_two_brokers_are_exchanged_while_both_are_down() -> None:
    """Broker 3 stops before the last records. Then it has them, and broker 2 fetches them again from its leader."""
    cluster = cluster_with(PROTOCOLS[-1])
    faults.stop(cluster, 3)
    faults.notice(cluster, 3)
    cluster.produce(3)
    cluster.catch_up()
    assert not faults.swap_directories(cluster, 2, 3), "broker 2 runs"
    assert not faults.swap_directories(cluster, 3, 3)
    faults.stop(cluster, 2)
    assert faults.swap_directories(cluster, 2, 3)
    assert [cluster.replica(broker).log.end for broker in (1, 2, 3)] == [8, 5, 8]
    for broker in (2, 3):
        faults.restart(cluster, broker)
    cluster.catch_up()
    assert [cluster.replica(broker).log.end for broker in (1, 2, 3)] == [8, 8, 8]
    assert not cluster.witness.losses


def test_a_copy_is_not_changed_by_what_the_broker_writes_later() -> None:
    cluster = cluster_with(PROTOCOLS[-1])
    faults.back_up(cluster, 2)
    for _ in range(2):
        cluster.produce(3)
        cluster.catch_up()
        faults.stop(cluster, 2)
        faults.put_back(cluster, 2)
        assert cluster.replica(2).log.end == 5
        faults.restart(cluster, 2)
        cluster.catch_up()


def test_a_follower_truncates_to_where_its_own_epoch_file_says_that_an_epoch_ends() -> None:
    """The leader's answer is higher: the follower takes the lower of the two (KIP-279)."""
    ends = {}
    for lies in (False, True):
        cluster = cluster_with(next(protocol for protocol in PROTOCOLS if protocol.name == "epoch-279"))
        faults.prefer(cluster, 3)
        cluster.produce(2, "1")
        faults.crash(cluster, 3)
        if lies:
            assert faults.lie_about_epochs(cluster, 3, 3)
        faults.notice(cluster, 3)
        faults.restart(cluster, 3)
        cluster.ask_epoch(3)
        ends[lies] = cluster.replica(3).log.end
    assert ends == {False: 5, True: 2}
