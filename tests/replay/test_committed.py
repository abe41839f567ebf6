"""The committed bound: a record is an offset and the epoch that wrote it, and a high watermark speaks of one log."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.replay.committed.proof import _served_by_later
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import maybe_eligible, outside_isr
from forensics.replay.lineage import UNKNOWN, Lineage, Range, merge
from forensics.rules.finding import Finding, Severity
from tests.incident import Incident


@pytest.fixture
def incident(tmp_path: Path) -> Incident:
    """Brokers 1, 2 and 3 with [0, 100) of epoch 0, all committed; broker 1 leads."""
    made = Incident(tmp_path)
    made.begins(100)
    return made


def returns(incident: Incident, at: int, broker: int, *, epoch: int, leader: int, end: int, hw: int, to: int) -> None:
    """A broker starts again with its log as it was, and cuts it to where its leader's begins to differ."""
    node = incident[broker].starts(at).loads(at, end).follows(at + 1, epoch, leader, end, hw)
    if to < end:
        node.cuts(at + 1, to)


def leave(
    incident: Incident, high_watermark: int, *spans: tuple[int, int, int], on: tuple[int, ...] = (1, 2, 3)
) -> None:
    """What is on the disks in the end."""
    starts = {epoch: base for base, _, epoch in reversed(spans)}
    for broker in on:
        incident[broker].segment(spans)
        incident[broker].epochs(*sorted(starts.items())).checkpoint(high_watermark)


def lost(incident: Incident) -> list[Range]:
    return merge(piece for finding in incident.findings("committed-data-lost") for piece in finding.offsets)


def one(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


# -- how much was committed ------------------------------------------------------------------------


@pytest.mark.parametrize("high_watermark", [60, 61, 80, 100])
def test_only_what_was_below_the_high_watermark_is_lost(high_watermark: int, incident: Incident) -> None:
    incident.succeeds(20, 1, 2, 60, 3)
    returns(incident, 40, 1, epoch=1, leader=2, end=100, hw=high_watermark, to=60)
    leave(incident, 80, (0, 59, 0), (60, 79, 1))
    assert lost(incident) == ([(60, high_watermark)] if high_watermark > 60 else [])
    uncommitted = merge(p for f in incident.findings("uncommitted-truncation") for p in f.offsets)
    assert uncommitted == ([(high_watermark, 100)] if high_watermark < 100 else [])


def test_a_later_high_watermark_at_the_same_offsets_speaks_of_other_records(incident: Incident) -> None:
    """Broker 1's tail was never committed; the cluster's high watermark has passed its offsets since, in epoch 1."""
    incident.succeeds(20, 1, 2, 60, 3)
    incident[2].shrinks(30, "2,3", "2", 150, 150, "(brokerId: 3, endOffset: 150)")
    returns(incident, 40, 1, epoch=1, leader=2, end=100, hw=60, to=60)
    leave(incident, 150, (0, 59, 0), (60, 149, 1))
    assert lost(incident) == []
    assert incident.findings("truncation-below-committed") == []
    assert incident.verdict("committed-data-lost") == "clean"


def test_a_high_watermark_of_the_new_epoch_commits_the_old_records_below_its_start(incident: Incident) -> None:
    """Nobody printed a high watermark of epoch 0 above 60; that of epoch 1 proves the records before it."""
    incident.succeeds(20, 1, 2, 100, 1, 3)
    incident[2].shrinks(25, "2,1,3", "2", 120, 120, "(brokerId: 1, endOffset: 120)(brokerId: 3, endOffset: 120)")
    incident[3].starts(28).loads(28, 90)
    incident.succeeds(30, 2, 3, 90)
    for broker in (1, 2):
        incident[broker].follows(31, 2, 3, 120, 120).cuts(31, 90)
    leave(incident, 90, (0, 89, 0), (90, 94, 2))
    assert (90, 100) in [(a, min(b, 100)) for a, b in lost(incident)]


# -- where it went ---------------------------------------------------------------------------------


def test_a_copy_that_never_heard_of_the_new_leader_is_the_one_to_keep(incident: Incident) -> None:
    incident.succeeds(20, 1, 2, 60)
    incident[1].shrinks(10, "1,2,3", "1,3", 100, 100, "(brokerId: 2, endOffset: 60)")
    leave(incident, 80, (0, 59, 0), (60, 79, 1), on=(2,))
    leave(incident, 100, (0, 99, 0), on=(1, 3))
    finding = one(incident.findings("committed-data-lost"))
    assert finding.offsets == ((60, 100),)
    assert finding.replicas == (1, 3)
    assert finding.keep is not None
    assert finding.keep.startswith("broker 1's copy of orders-0")
    assert "broker 3" in finding.keep


def test_the_next_step_fits_a_path_with_blanks(tmp_path: Path) -> None:
    incident = Incident(tmp_path / "of monday")
    incident.begins(100)
    incident.succeeds(20, 1, 2, 60)
    incident[1].shrinks(10, "1,2,3", "1,3", 100, 100, "(brokerId: 2, endOffset: 60)")
    leave(incident, 80, (0, 59, 0), (60, 79, 1), on=(2,))
    leave(incident, 100, (0, 99, 0), on=(1,))
    copy, salvage, *_ = one(incident.findings("committed-data-lost")).next_steps
    assert f"'{tmp_path}/of monday/broker-1/data/orders-0'" in copy.text
    assert salvage.command == f"forensics salvage '{tmp_path}/of monday' -p orders-0 -o recovered/orders-0"


def old_machine(incident: Incident, *spans: tuple[int, int, int], hw: int | None = None) -> None:
    """What the machine left that had broker 1's id before."""
    left = incident[1].segment(spans, directory="old")
    shutil.copy(incident[1].data / "meta.properties", left.parents[1] / "meta.properties")
    if hw is not None:
        (left.parents[1] / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {hw}\n")


def test_the_directory_that_knows_the_later_epoch_is_live_and_what_was_left_behind_is_kept(incident: Incident) -> None:
    """The log of the machine that had broker 1's id before is longer than what it is now, and holds what is lost."""
    incident.succeeds(20, 1, 2, 60, 3)
    returns(incident, 40, 1, epoch=1, leader=2, end=100, hw=100, to=60)
    leave(incident, 80, (0, 59, 0), (60, 79, 1))
    old_machine(incident, (0, 99, 0))
    finding = one(incident.findings("committed-data-lost"))
    assert (finding.offsets, finding.replicas) == (((60, 100),), ())
    assert finding.keep is not None
    assert "broker-1/old/orders-0 of broker 1 (log end offset 100)" in finding.keep
    assert finding.summary.endswith(
        "No live copy in the evidence still has them. A directory that broker 1 no longer uses has them."
    )
    assert "old/orders-0" in finding.next_steps[0].text
    assert finding.do_not[0].endswith("broker-1/old/orders-0 of broker 1 (log end offset 100): it has the last copy")
    truncation = one(incident.findings("truncation-below-committed"))
    assert truncation.next_steps[0].text.endswith("it names the copy to keep")
    assert finding.next_steps[1].command == f"forensics salvage {incident.folder} -p orders-0 -o recovered/orders-0"
    stale = one(incident.findings("stale-directory"))
    assert "broker-1/data/orders-0 (log end offset 80) was read as the live one" in stale.summary
    assert not stale.uncertain


@pytest.mark.parametrize(
    ("kept", "held"), [((0, 79, 0), "offsets 60 to 79"), ((70, 99, 0), "offsets 70 to 99"), ((0, 39, 0), None)]
)
def test_what_was_left_behind_may_hold_a_part_of_it_or_nothing(
    kept: tuple[int, int, int], held: str | None, incident: Incident
) -> None:
    incident.succeeds(20, 1, 2, 60, 3)
    returns(incident, 40, 1, epoch=1, leader=2, end=100, hw=100, to=60)
    leave(incident, 80, (0, 59, 0), (60, 79, 1))
    old_machine(incident, kept)
    finding = one(incident.findings("committed-data-lost"))
    said = f"that broker 1 no longer uses has {held}." if held else "No replica in the evidence still has them."
    assert finding.summary.endswith(said)
    assert (finding.keep is not None) == (held is not None)


@pytest.mark.parametrize(("hw", "gone"), [(60, []), (90, [(60, 90)]), (100, [(60, 100)]), (120, [(60, 100)])])
def test_the_checkpoint_beside_what_was_left_behind_says_how_much_of_it_was_committed(
    hw: int, gone: list[tuple[int, int]], incident: Incident
) -> None:
    """Of what that log lacks itself the checkpoint proves nothing."""
    incident.succeeds(20, 1, 2, 60, 3)
    leave(incident, 80, (0, 59, 0), (60, 79, 1), on=(1, 2, 3))
    old_machine(incident, (0, 99, 0), hw=hw)
    assert lost(incident) == gone


@pytest.mark.parametrize("epoch", [0, 1])
def test_of_two_directories_that_know_the_same_epochs_the_live_one_is_not_known(epoch: int, incident: Incident) -> None:
    leave(incident, 100, (0, 99, 1), on=(1, 2, 3))
    old_machine(incident, (0, 19, epoch))
    stale = one(incident.findings("stale-directory"))
    assert "broker-1/data/orders-0 (log end offset 100) was read as the live one" in stale.summary
    assert bool(stale.uncertain) == (epoch == 1)
    assert bool(stale.inferences) == (epoch == 0)


def test_an_earlier_life_with_an_id_keeps_its_fingerprint() -> None:
    made = {"rule": "x", "severity": Severity.ERROR, "topic": "orders"}
    prints = [
        Finding(**made, partition=0, summary="", topic_id=name, incarnation=life).fingerprint
        for name, life in (("one", 0), ("one", 1), (None, 0), (None, 1))
    ]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_a_member_of_the_isr_that_lagged_is_the_cause(incident: Incident) -> None:
    """The leader asks to take broker 3 out of the ISR, too late: it is elected from there."""
    incident[1].shrinks(5, "1,2,3", "1,2", 100, 100, "(brokerId: 3, endOffset: 90)")
    incident.succeeds(20, 1, 3, 90, 2)
    leave(incident, 95, (0, 89, 0), (90, 94, 1), on=(2, 3))
    finding = one(incident.findings("committed-data-lost"))
    assert finding.offsets == ((90, 100),)
    assert finding.cause == "lagging-isr-member"


@pytest.mark.parametrize(("begun", "verdict"), [(60, "unknown"), (100, "clean")])
def test_to_2_0_the_isr_may_let_in_who_lacks_what_was_committed(begun: int, verdict: str, tmp_path: Path) -> None:
    """Broker 3 entered the ISR of a leader whose high watermark still trailed, and was elected from it (KAFKA-7128)."""
    incident = Incident(tmp_path, brokers=4)
    incident.begins(100)
    incident[1].shrinks(5, "1,2,3,4", "1,2,4", 60, 60, "(brokerId: 3, endOffset: 50)")
    incident.elects(20, 1, 2, [2, 4])
    incident[2].leads(20, 1, 100, 60, [2, 4])
    incident[3].follows(20, 1, 2, 60, 60)
    incident[2].says(
        21,
        "INFO [Partition orders-0 broker=2] Expanding ISR from 2,4 to 2,4,3. Leader: (highWatermark: 60, endOffset: "
        "100) (kafka.cluster.Partition)",
    )
    incident[2].shrunk += 1  # one more change of the ISR
    incident.elects(30, 2, 3, [3, 4])
    incident[3].leads(30, 2, begun, 60, [3, 4])
    for broker in (1, 2, 4):
        incident[broker].follows(31, 2, 3, 100, 60)
        if begun < 100:
            incident[broker].cuts(31, begun)
    leave(incident, 60, (0, begun - 1, 0), (begun, 109, 2), on=(1, 2, 3, 4))
    for log in tmp_path.glob("*/logs/*"):
        # to 2.6 a fetcher names the high watermark of its log, not the end
        log.write_text(log.read_text().replace("version: 2.8.2", "version: 1.1.1").replace(",2,100))", ",2,60))"))
    assert incident.verdict("committed-data-lost") == verdict
    assert incident.verdict("truncation-below-committed") == verdict
    assert any(
        "broker 2 (leader of epoch 1) had committed" in wish for wish in incident.missing("committed-data-lost")
    ) == (verdict == "unknown")


def test_the_epoch_that_lost_it_is_named(incident: Incident) -> None:
    """Epoch 1 began at 100 and kept all; epoch 2 began at 70."""
    incident.succeeds(20, 1, 2, 100, 1, 3)
    incident.succeeds(30, 2, 3, 70)
    returns(incident, 40, 1, epoch=2, leader=3, end=100, hw=100, to=70)
    returns(incident, 40, 2, epoch=2, leader=3, end=100, hw=100, to=70)
    leave(incident, 75, (0, 69, 0), (70, 74, 2))
    finding = one(incident.findings("committed-data-lost"))
    assert finding.offsets == ((70, 100),)
    assert 2 in finding.epochs
    assert finding.after == {"log_end_offset": 70}


def test_two_losses_are_two_findings(incident: Incident) -> None:
    incident.succeeds(20, 1, 2, 80, 3)
    returns(incident, 25, 1, epoch=1, leader=2, end=100, hw=100, to=80)
    incident[2].shrinks(28, "2,3,1", "2,1", 120, 120, "(brokerId: 3, endOffset: 90)")
    incident.succeeds(30, 2, 3, 90)
    returns(incident, 40, 1, epoch=2, leader=3, end=120, hw=120, to=90)
    returns(incident, 40, 2, epoch=2, leader=3, end=120, hw=120, to=90)
    leave(incident, 95, (0, 79, 0), (80, 89, 1), (90, 94, 2))
    found = {finding.offsets for finding in incident.findings("committed-data-lost")}
    assert found == {((80, 100),), ((90, 120),)}


def test_what_the_leader_still_had_was_only_fetched_again(incident: Incident) -> None:
    """A follower cuts committed records that its leader has: it could not have been elected safely, no more."""
    incident.succeeds(20, 1, 2, 100, 1, 3)
    incident[3].starts(40).loads(40, 100).follows(41, 1, 2, 100, 100).cuts(41, 90)
    leave(incident, 110, (0, 99, 0), (100, 109, 1))
    finding = one(incident.findings("truncation-below-committed"))
    assert (finding.replicas, finding.offsets, finding.severity.value) == ((3,), ((90, 100),), "warning")
    assert lost(incident) == []


def test_an_old_leader_that_leads_again_takes_the_new_records_away(incident: Incident) -> None:
    """[60, 80) of epoch 1 is gone once broker 1 leads again with its own [60, 100) of epoch 0."""
    incident.succeeds(20, 1, 2, 60, 3)
    incident[2].shrinks(25, "2,3", "2", 80, 80, "(brokerId: 3, endOffset: 80)")
    incident[1].starts(30).loads(30, 100)
    incident.elects(31, 2, 1, [1])
    incident[1].leads(31, 2, 100, 100, [1])
    returns(incident, 40, 2, epoch=2, leader=1, end=80, hw=80, to=60)
    returns(incident, 40, 3, epoch=2, leader=1, end=80, hw=80, to=60)
    leave(incident, 105, (0, 99, 0), (100, 104, 2))
    assert lost(incident) == [(60, 80)]
    finding = one(incident.findings("committed-data-lost"))
    assert 1 in finding.epochs


# -- epochs that went back ------------------------------------------------------------------------


def restored_checkpoints(incident: Incident, *, committed: int) -> None:
    """Broker 2 leads epoch 5 alone; then epochs are handed out from 3 on again, to broker 1, whom broker 2 follows."""
    incident.elects(20, 5, 2, [2])
    incident[2].leads(20, 5, 100, 100, [2])
    incident[1].starts(40).loads(40, 100).leads(41, 3, 100, 100, [1])
    incident[2].starts(60).loads(60, 110).follows(61, 3, 1, 110, committed)
    leave(incident, 120, (0, 99, 0), (100, 119, 3), on=(1,))
    leave(incident, 110, (0, 99, 0), (100, 109, 5), on=(2,))
    leave(incident, 100, (0, 99, 0), on=(3,))


@pytest.mark.parametrize("committed", [100, 104, 110])
def test_a_leader_that_follows_a_lower_epoch_later_has_lost_what_it_had_committed(
    committed: int, incident: Incident
) -> None:
    restored_checkpoints(incident, committed=committed)
    assert lost(incident) == ([(100, committed)] if committed > 100 else [])
    assert incident.verdict("committed-data-lost") == ("violated" if committed > 100 else "unknown")
    for finding in incident.findings("committed-data-lost"):
        assert finding.replicas == (2,)
        assert finding.uncertain
        assert finding.keep == "broker 2's copy of orders-0. It is the only one with the lost records"


def test_a_state_handed_out_twice_says_nothing_of_who_came_last(incident: Incident) -> None:
    """Broker 2's later lines are missing: only the controllers' words contradict each other."""
    incident.succeeds(20, 2, 2, 100)
    incident[1].starts(40).loads(40, 100)
    incident.elects(41, 2, 1, [1])
    incident[1].leads(41, 3, 100, 100, [1])
    leave(incident, 120, (0, 99, 0), (100, 119, 3), on=(1,))
    leave(incident, 110, (0, 99, 0), (100, 109, 2), on=(2,))
    assert incident.verdict("committed-data-lost") == "unknown"
    (missing,) = [m for m in incident.missing("committed-data-lost") if "were used again" in m]
    assert "leader epoch 2 was used twice, with leader 2 and with leader 1" in missing
    assert incident.verdict("unclean-election") == "unknown"


@pytest.mark.parametrize("emptied", [1, 2])
def test_an_epoch_written_without_a_leader_has_none(emptied: int, incident: Incident) -> None:
    """Of broker 1 nothing is left: broker 9 took its epoch for one without a leader, broker 3 followed it in that."""
    shutil.rmtree(incident[1].data.parent)
    incident[9].says(
        20,
        f"INFO [Controller id=9 epoch=1] Partition orders-0 state changed to (Leader:-1,ISR:2,LeaderEpoch:{emptied},"
        f"ZkVersion:{emptied},ControllerEpoch:1) after removing replica 1 from the ISR as part of transition to "
        "OfflineReplica (state.change.logger)",
        log="state-change",
    )
    incident.elects(21, 3, 2, [2])
    incident[2].leads(21, 3, 100, 100, [2])
    incident[3].starts(60).loads(60, 100).follows(61, 2, 1, 100, 100)
    leave(incident, 115, (0, 99, 0), (100, 114, 3), on=(2,))
    leave(incident, 114, (0, 99, 0), (100, 113, 2), on=(3,))
    # Told of an epoch below, the leader of epoch 2 came after it, and what it had committed is lost.
    assert incident.verdict("committed-data-lost") == ("unknown" if emptied == 2 else "violated")
    backwards = [m for m in incident.missing("committed-data-lost") if "were used again" in m]
    assert ["leader epoch 2 was used twice, with leader 1 and with no leader" in m for m in backwards] == (
        [True] if emptied == 2 else []
    )


@pytest.mark.parametrize("first", [90, 100])
def test_records_of_an_epoch_below_its_leaders_start_are_another_leaders(first: int, incident: Incident) -> None:
    """Nothing of broker 3 but its files: it led an epoch of the same number."""
    incident.succeeds(20, 1, 2, 100, 1)
    leave(incident, 120, (0, 99, 0), (100, 119, 1), on=(1, 2))
    leave(incident, 120, (0, first - 1, 0), (first, 119, 1), on=(3,))
    assert incident.verdict("committed-data-lost") == "unknown"
    assert any("were used again" in missing for missing in incident.missing("committed-data-lost")) == (first < 100)


def test_damage_in_the_leaders_log_is_not_called_clean(incident: Incident) -> None:
    path = incident[1].segment([(0, 39, 0), (40, 99, 0)])
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert incident.verdict("segment-damage") == "violated"
    assert incident.verdict("committed-data-lost") == "unknown"


# -- an empty ISR ---------------------------------------------------------------------------------


def after_an_empty_isr(*, by_request: bool = False, elected: bool = False) -> tuple[History, Epoch]:
    """Broker 2 leads alone in epoch 2, after an epoch without a leader and without an ISR."""
    history = History(PartitionFacts("orders", 0))
    nobody = (frozenset[int](), Ref(row=1))
    history.epochs[1] = Epoch(1, leader=-1, isr=[nobody], isr_from_others=True, by_request=by_request)
    history.epochs[2] = Epoch(2, leader=2, isr=[(frozenset({2}), Ref(row=2))], elected=elected)
    return history, history.epochs[2]


@pytest.mark.parametrize("leader", [1, 2, None])
def test_with_zookeeper_only_the_last_member_is_elected_cleanly_from_an_empty_isr(leader: int | None) -> None:
    """That is the leader before, where one is told: it was alone in the ISR once it was taken out of it."""
    history, epoch = after_an_empty_isr(by_request=True)
    if leader is not None:
        history.epochs[0] = Epoch(0, leader=leader, leader_took_up=True)
    assert outside_isr(history, epoch) is (leader == 1)
    assert not maybe_eligible(history, epoch)


def test_an_eligible_leader_replica_needs_the_word_of_who_elected_it() -> None:
    told, silent = after_an_empty_isr(elected=True), after_an_empty_isr()
    assert not outside_isr(*told)
    assert not maybe_eligible(*told)
    assert not outside_isr(*silent)
    assert maybe_eligible(*silent)


# -- what cannot be said ---------------------------------------------------------------------------


def test_without_a_word_of_the_old_leader_nothing_is_called_clean(incident: Incident) -> None:
    """Broker 2 leads alone from 60 on: how far broker 1 had committed, and with whom, only broker 1 or 9 could tell."""
    incident.succeeds(20, 1, 2, 60)
    leave(incident, 80, (0, 59, 0), (60, 79, 1), on=(2, 3))
    shutil.rmtree(incident[1].folder)
    shutil.rmtree(incident[9].folder)
    assert incident.verdict("committed-data-lost") == "unknown"


def test_a_successor_from_the_isr_had_all_that_was_committed(incident: Incident) -> None:
    """The same, but the old leader's ISR is known, and its successor was in it."""
    incident.succeeds(20, 1, 2, 60)
    leave(incident, 80, (0, 59, 0), (60, 79, 1), on=(2,))
    leave(incident, 60, (0, 59, 0), on=(3,))
    shutil.rmtree(incident[1].data)
    assert incident.verdict("committed-data-lost") == "clean"


@pytest.mark.parametrize(
    ("to", "why", "verdict"),
    [
        (
            100,
            "leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=100)",
            "clean",
        ),
        (100, "local high watermark 100", "unknown"),
        (
            98,
            "leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=98)",
            "unknown",
        ),
    ],
)
def test_a_member_that_truncated_what_its_leader_lacked_has_all_that_this_leader_committed(
    to: int, why: str, verdict: str, incident: Incident
) -> None:
    """Broker 2 had 3 records more than broker 3, which led next with it, and leads after broker 3."""
    plan = (
        f"INFO [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition {incident.partition} with "
        f"TruncationState(offset={to}, completed=true) due to {why} (kafka.server.ReplicaFetcherThread)"
    )
    incident.elects(20, 1, 3, [2, 3])
    incident[3].leads(20, 1, 100, 100, [2, 3])
    incident[2].follows(20, 1, 3, 103, 100).says(21, plan).cuts(21, to)
    incident.elects(40, 2, 2, [2])
    incident[2].leads(40, 2, 150, 150, [2])
    incident[1].starts(50).loads(50, 103).follows(51, 2, 2, 103, 100).cuts(52, 100)
    leave(incident, 160, (0, 99, 0), (100, 149, 1), (150, 159, 2), on=(1, 2))
    shutil.rmtree(incident[3].data)
    assert incident.verdict("committed-data-lost") == verdict


def test_no_partition_is_clean_by_its_segments_alone(incident: Incident) -> None:
    for node in incident.nodes.values():
        for log in (node.folder / "logs").iterdir():
            log.unlink()
        (node.data / "replication-offset-checkpoint").unlink(missing_ok=True)
    assert incident.verdict("committed-data-lost") == "unknown"
    assert incident.verdict("truncation-below-committed") == "unknown"


def test_no_leader_commits_records_of_a_later_epoch() -> None:
    """Epoch 6 committed all below 885. Which epoch wrote 723 to 785 is unknown; epoch 8 wrote what is served there."""
    log, served = Lineage(((0, 0), (UNKNOWN, 723), (6, 786))), Lineage(((0, 0), (8, 723), (9, 1000)))
    stated = HwStatement(2, 6, log, 885, HwSource.ALONE_IN_ISR, None, ())
    assert _served_by_later(stated, served, [(723, 786)]) == [(723, 786)]
    for epoch in (8, UNKNOWN):
        assert _served_by_later(replace(stated, epoch=epoch), served, [(723, 786)]) == []
    assert _served_by_later(stated, Lineage(((0, 0), (UNKNOWN, 723))), [(723, 786)]) == []
