"""What healthy clusters do that looks wrong, as in the list of oddities: no rule may speak of a fault."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Severity, Verdict
from tests.incident import Incident

FIRST_HW = (
    "INFO [Partition orders-0 broker={}] Log loaded for partition orders-0 with initial high watermark {} "
    "(kafka.cluster.Partition)"
)
FELL = (
    "WARN [Log partition=orders-0, dir=/d] Non-monotonic update of high watermark from (offset=104 segment=[0:900]) "
    "to (offset=100 segment=[0:800]) (kafka.log.Log)"
)
FAILED = (
    "WARN [ReplicaManager broker=2] Broker 2 stopped fetcher for partitions orders-0 and stopped moving logs for "
    "partitions  because they are in the failed log directory /d. (kafka.server.ReplicaManager)"
)
MIXED = "INFO Kafka version: 3.4.1 (org.apache.kafka.common.utils.AppInfoParser)"


def retention_on_one_broker(incident: Incident) -> None:
    incident.begins(100)
    (incident[2].data / "orders-0" / f"{0:020}.log").unlink()
    incident[2].segment([(60, 99, 0)], base=60)
    incident[2].epochs((0, 60)).checkpoint(60, "log-start")


def high_watermark_below_the_log_start(incident: Incident) -> None:
    """To 2.3, after segments were deleted on a replica that had just come back."""
    retention_on_one_broker(incident)
    incident[2].checkpoint(40)


def follower_behind(incident: Incident) -> None:
    incident.begins(100)
    incident[3].segment([(0, 89, 0)])
    incident[3].checkpoint(85)


def epoch_without_records(incident: Incident) -> None:
    same_leader_again(incident)
    incident[1].epochs((0, 0), (1, 100))


def same_leader_again(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(20, 1, 1, [1, 2, 3])
    incident[1].leads(20, 1, 100, 100, [1, 2, 3])
    for number in (2, 3):
        incident[number].follows(20, 1, 1, 100, 100)


def controlled_shutdown(incident: Incident) -> None:
    incident.begins(100)
    incident.elects(20, 1, 2, [2, 3])
    incident[2].leads(20, 1, 100, 100, [2, 3])
    incident[3].follows(20, 1, 2, 100, 100)
    incident[1].follows(20, 1, 2, 100, 100)


def compacted(incident: Incident) -> None:
    incident.begins(100)
    incident[2].segment([(0, 29, 0), (50, 99, 0)])
    incident[2].checkpoint(50, "cleaner")


def segments_apart_after_compaction(incident: Incident) -> None:
    incident.begins(100)
    incident[2].segment([(0, 19, 0)])
    incident[2].segment([(50, 99, 0)], base=50)
    incident[2].checkpoint(50, "cleaner")


def clocks_apart(incident: Incident) -> None:
    """Broker 2 leads next; its clock is an hour slow."""
    incident.begins(100)
    incident.elects(4000, 1, 2, [1, 2, 3])
    incident[2].leads(400, 1, 100, 100, [1, 2, 3])
    incident[1].follows(4000, 1, 2, 104, 100).cuts(4000, 100)
    incident[3].follows(4001, 1, 2, 100, 100)


def told_again(incident: Incident) -> None:
    """2.6 to 3.2 repeat the line for the same epoch."""
    incident.begins(100)
    incident[1].leads(5, 0, 0, 0, [1, 2, 3])


def rolling_upgrade(incident: Incident) -> None:
    """Broker 3 comes back with a later release than the others have."""
    incident.begins(100)
    incident.elects(20, 1, 1, [1, 2])
    incident[1].leads(20, 1, 100, 100, [1, 2])
    incident[2].follows(20, 1, 1, 100, 100)
    incident[3].starts(30).says(30, MIXED).loads(31, 100).follows(32, 1, 1, 100, 100)


def leader_on_the_last_segment_only(incident: Incident) -> None:
    """A producer snapshot taken at a clean stop bears the log's end in its name, and no segment begins there."""
    incident.begins(100)
    (incident[2].data / "orders-0" / f"{100:020}.snapshot").write_bytes(b"")


def initial_values(incident: Incident) -> None:
    """A new process begins with epoch -1 and, until it has read its checkpoint, with high watermark 0."""
    incident.begins(100)
    node = incident[2]
    node.says(1.5, FIRST_HW.format(2, 0))
    incident.elects(15, 1, 1, [1, 3])
    incident[1].leads(15, 1, 100, 100, [1, 3])
    incident[3].follows(15, 1, 1, 100, 100)
    node.starts(20).loads(20, 100).says(21, FIRST_HW.format(2, 100)).follows(21.5, 1, 1, 100, 100)


def another_epoch_before(incident: Incident) -> None:
    """The process had been told of an epoch, and no line says so."""
    initial_values(incident)
    node = incident[2]
    node.epoch = 3
    node.follows(50, 4, 1, 100, 100)


def diverging(incident: Incident, *, committed: int) -> None:
    """Broker 1 led to 104; broker 2 takes over at 100 and goes on to 120, which broker 1 hears before it truncates.

    ``committed`` is the high watermark with which broker 1 had led.
    """
    incident.begins(100)
    incident[1].segment([(0, 99, 0), (100, 119, 1)])
    incident.elects(20, 1, 2, [2, 3])
    incident[2].leads(20, 1, 100, 100, [2, 3])
    incident[3].follows(20, 1, 2, 100, 100)
    incident[1].starts(40).loads(40, 104).says(40.5, FIRST_HW.format(1, committed)).follows(41, 1, 2, 104, committed)
    incident[1].says(41.2, "TRACE [Log partition=orders-0, dir=/d] Setting high watermark (offset=104 segment=[0:900]) "
                     "(kafka.log.Log)").cuts(41.3, 100).says(41.3, FELL)  # fmt: skip
    for number in (1, 2, 3):
        incident[number].segment([(0, 99, 0), (100, 119, 1)])
        incident[number].checkpoint(120).epochs((0, 0), (1, 100))


def high_watermark_taken_before_the_cut(incident: Incident) -> None:
    """KAFKA-14704: 2.8.0 to 3.3.2, and 3.4.0."""
    diverging(incident, committed=100)


def high_watermark_of_its_own_before_the_cut(incident: Incident) -> None:
    diverging(incident, committed=104)


def leader_goes_back(incident: Incident) -> None:
    incident.begins(100)
    incident[1].says(30, FELL)


def out_of_step(incident: Incident, *, by: float, committed: int = 100) -> None:
    """Lines of one change in two files, printed before or after it by two threads; the server's come ``by`` later."""
    incident.begins(100)
    incident.elects(20, 1, 2, [2, 3])
    incident[2].leads(20, 1, 100, 100, [2, 3])
    incident[3].follows(20, 1, 2, 100, 100)
    incident[1].follows(20, 1, 2, 104, committed).cuts(20 + by, 100)
    incident[2].says(20 + by, "INFO [Partition orders-0 broker=2] Expanding ISR from 2,3 to 2,3,1. Leader: "
                     "(highWatermark: 100, endOffset: 100) (kafka.cluster.Partition)")  # fmt: skip
    for number in (1, 2, 3):
        incident[number].epochs((0, 0), (1, 100))


def server_lines_first(incident: Incident) -> None:
    out_of_step(incident, by=-0.002)


def server_lines_last(incident: Incident) -> None:
    out_of_step(incident, by=0.002)


def committed_and_server_lines_first(incident: Incident) -> None:
    out_of_step(incident, by=-0.002, committed=104)


ODDITIES: dict[str, Callable[[Incident], None]] = {
    "1 high watermark below the log start": high_watermark_below_the_log_start,
    "2 log starts differ": retention_on_one_broker,
    "3 and 5 a follower behind its leader": follower_behind,
    "4 an epoch without records": epoch_without_records,
    "7 the same leader in the next epoch": same_leader_again,
    "9 offsets that compaction removed": compacted,
    "9 segments that compaction emptied": segments_apart_after_compaction,
    "12 controlled shutdown": controlled_shutdown,
    "17 clocks apart": clocks_apart,
    "18 a cut told before the role that called for it": server_lines_first,
    "18 a cut told after it": server_lines_last,
    "19 initial values of a new process": initial_values,
    "20 a line told again": told_again,
    "21 a high watermark taken over before the cut": high_watermark_taken_before_the_cut,
    "a rolling upgrade": rolling_upgrade,
    "a snapshot at the end": leader_on_the_last_segment_only,
}


@pytest.mark.parametrize("oddity", ODDITIES)
def test_no_rule_takes_it_for_a_fault(oddity: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    ODDITIES[oddity](incident)
    found = [f for f in incident.scan().findings if f.severity is not Severity.INFO]
    assert [f.summary for f in found if f.rule != "evidence-gap"] == []


COUNTERPARTS: dict[str, tuple[Callable[[Incident], None], str]] = {
    "18 the same lines, of records that were committed": (
        committed_and_server_lines_first,
        "truncation-below-committed",
    ),
    "19 an epoch that is no initial value": (another_epoch_before, "evidence-gap"),
    "21 a high watermark of its own": (high_watermark_of_its_own_before_the_cut, "committed-data-lost"),
    "21 the high watermark of a leader": (leader_goes_back, "hw-regression"),
}
"""The same without what makes it legal, and the rule that must speak then."""


@pytest.mark.parametrize("what", COUNTERPARTS)
def test_without_its_reason_it_is_found(what: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    make, rule = COUNTERPARTS[what]
    make(incident)
    assert incident.verdict(rule) == "violated"


SAMPLES = {  # where a recorded cluster did it
    "8 and 13 moved away and back, deleted and made again": "traps-0.10.2.2",
    "16 a leader that had not heard of its successor": "zombie-1.1.1",
    "6 in and out of the ISR": "flap-3.9.1",
    "9 control records of transactions": "txn-4.1.1",
    "10 a replica made anew after its log directory failed": "dirfail-3.9.1",
    "13 a partition with one replica moved": "reassigned-3.9.1",
    "15 a leader from the eligible leader replicas": "elr-4.1.1",
}


@pytest.mark.parametrize("what", SAMPLES)
def test_no_rule_takes_a_recorded_one_for_a_fault(what: str, sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / SAMPLES[what], tmp_path / "evidence")
    for partition in scan([str(tmp_path)]).partitions:
        for judgement in partition.judgements.values():
            assert all(f.severity in (Severity.INFO, Severity.WARNING) for f in judgement.findings)
            assert judgement.verdict is not Verdict.VIOLATED or judgement.findings


SAID_UNCLEAN = (
    "[2026-11-22 10:17:59,000] INFO [QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID "
    "a1HR-deaSAyN1A9yxOyFuw: isr: [] -> [2], leader: -1 -> 2, {}leaderEpoch: 1 -> 2, elr: [1, 2] -> [1], lastKnownElr: "
    "[1] -> [], partitionEpoch: 3 -> 4 (org.apache.kafka.controller.ReplicationControlManager)\n"
)


@pytest.mark.parametrize(
    ("recovery", "verdict"),
    [("", Verdict.CLEAN), ("leaderRecoveryState: RECOVERED -> RECOVERING, ", Verdict.VIOLATED)],
)
def test_15_what_the_controller_calls_unclean_may_be_safe(
    recovery: str, verdict: Verdict, sample_traces: Path, tmp_path: Path
) -> None:
    """3.7 to 3.9 print it of eligible leader replicas too; an unclean leader is marked as recovering."""
    shutil.copytree(sample_traces / "elr-4.1.1", tmp_path / "evidence")
    for folder in tmp_path.glob("*/*/data/__cluster_metadata-0"):
        shutil.rmtree(folder)
    with (tmp_path / "evidence" / "broker-100" / "logs" / "controller.log").open("a") as stream:
        stream.write(SAID_UNCLEAN.format(recovery))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements["unclean-election"].verdict is verdict


SAID_CLEAN = (
    "[2026-11-22 10:17:59,000] DEBUG [QuorumController id=100] partition change for orders-0 with topic ID "
    "a1HR-deaSAyN1A9yxOyFuw: isr: [2] -> [3], leader: 2 -> 3, leaderEpoch: 4 -> 5, {}partitionEpoch: 8 -> 9 "
    "(org.apache.kafka.controller.ReplicationControlManager)\n"
)


@pytest.mark.parametrize(("eligible", "verdict"), [("elr: [3] -> [2], ", Verdict.UNKNOWN), ("", Verdict.VIOLATED)])
def test_15_a_leader_from_outside_the_isr_was_in_the_elr(eligible: str, verdict: Verdict, tmp_path: Path) -> None:
    """4.x controllers elect it as soon as its leader is fenced, and log that at DEBUG."""
    (tmp_path / "controller.log").write_text(SAID_CLEAN.format(eligible))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements["unclean-election"].verdict is verdict


@pytest.mark.parametrize("left_out", ["", "broker-*/data/__cluster_metadata-0", "broker-100"])
def test_14_a_leader_that_is_marked_as_recovered_was_elected_once(
    left_out: str, sample_traces: Path, tmp_path: Path
) -> None:
    """It marks itself at once, alone in the ISR, which is another change of the partition's state."""
    shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "evidence")
    for folder in (tmp_path / "evidence").glob(left_out) if left_out else ():
        shutil.rmtree(folder)
    result = scan([str(tmp_path)])
    (partition,) = result.partitions
    if not left_out:
        told = result.case.observations.filter(pl.col("detail").str.contains("recovered"))
        assert told["leader_epoch"].unique().to_list() == [2]
    assert any("RECOVERING" in line for line in _state_changes(tmp_path / "evidence" / "broker-2"))
    (finding,) = partition.judgements["unclean-election"].findings
    assert (finding.replicas, finding.epochs, finding.count) == ((2,), (2,), 1)


def _state_changes(broker: Path) -> list[str]:
    return (broker / "logs" / "state-change.log").read_text("utf-8").splitlines()


def directory_fails(incident: Incident, *, leads: bool, told: bool = True) -> None:
    """Broker 2 is started again without its failed directory, and makes its replica anew in another (KIP-112)."""
    incident.begins(100)
    node = incident[2].starts(10).loads(10, 100).follows(10.5, 0, 1, 100, 100)
    if told:
        node.says(
            30, "WARN [ReplicaManager broker=2] Stopping serving replicas in dir /d (kafka.server.ReplicaManager)"
        )
        node.says(30, FAILED)
    incident.elects(31, 1, 1, [1, 3])
    incident[1].leads(31, 1, 100, 100, [1, 3])
    incident[3].follows(31, 1, 1, 100, 100)
    node.starts(40).says(
        41,
        "INFO Created log for partition orders-0 in /e/orders-0 with properties {} (kafka.log.LogManager)",
    )
    if leads:
        incident.elects(41.5, 2, 2, [2])
        node.leads(41.5, 2, 0, 0, [2])
        for number in (1, 3):
            incident[number].follows(42, 2, 2, 100, 100).cuts(42, 0)
        for number in (1, 2, 3):
            incident[number].segment([(0, 9, 2)])
            incident[number].checkpoint(10).epochs((2, 0))
    else:
        node.follows(41.5, 1, 1, 0, 0)


def test_10_a_replica_made_anew_after_its_directory_failed_is_no_fault(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    directory_fails(incident, leads=False)
    result = incident.scan()
    assert list(result.findings) == []
    assert incident.verdict("leo-regression") == "clean"


def test_10_a_replica_made_anew_for_no_known_reason_is_told_though_it_has_caught_up(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    directory_fails(incident, leads=False, told=False)
    (finding,) = incident.scan().findings
    assert (finding.rule, finding.severity, finding.offsets) == ("leo-regression", Severity.WARNING, ((0, 100),))


def test_10_if_it_leads_before_it_caught_up_the_records_are_lost(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    directory_fails(incident, leads=True)
    (finding,) = incident.findings("committed-data-lost")
    assert finding.offsets == ((0, 100),)
    assert finding.next_steps[0].text == (
        "find the old log directory /d of broker 2 (it failed at 12:00:30 UTC): it had all of these records"
    )
    assert finding.do_not[0] == "format, repair or discard the disk of the old log directory /d of broker 2"
    (shorter,) = incident.findings("leo-regression")
    assert "its log directory had failed" in shorter.summary
    assert incident.verdict("unclean-election") == "violated"


WITHOUT = "INFO [Controller 9]: New leader and ISR for partition [orders,0] is {} (kafka.controller.KafkaController)"
CACHED = (
    "TRACE Broker 9 cached leader info (LeaderAndIsrInfo:(Leader:{},ISR:{},LeaderEpoch:{},ControllerEpoch:1),"
    "ReplicationFactor:2),AllReplicas:1,2) for partition orders-0 in response to UpdateMetadata request sent by "
    "controller 9 epoch 1 with correlation id 4 (state.change.logger)"
)
WARNED = (
    "WARN [OfflinePartitionLeaderSelector]: No broker in ISR is alive for [orders,0]. Elect leader {0} from live "
    "brokers {0}. There's potential data loss. (kafka.controller.OfflinePartitionLeaderSelector)"
)
SELECTED = (
    'INFO [OfflinePartitionLeaderSelector]: Selected new leader and ISR {{"leader":{0},"leader_epoch":3,"isr":[{0}]}} '
    "for offline partition [orders,0] (kafka.controller.OfflinePartitionLeaderSelector)"
)


@pytest.mark.parametrize("elected", [1, 2])
def test_a_controller_that_empties_the_isr_warns_of_its_last_member_too(elected: int, tmp_path: Path) -> None:
    """To 1.0, with unclean elections on: broker 2 went, then broker 1, alone in the ISR; who comes first leads."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(100)
    incident[1].leads(10, 1, 100, 100, [1])
    controller = incident[9]
    for at, number, leader, isr in ((10, 1, 1, "1"), (20, 2, -1, "")):
        state = f'{{"leader":{leader},"leader_epoch":{number},"isr":[{isr}]}}'
        controller.says(at, WITHOUT.format(state), log="controller")
        controller.says(at, CACHED.format(leader, isr, number), log="state-change")
    controller.says(30, WARNED.format(elected), log="controller")
    controller.says(30, SELECTED.format(elected), log="controller")
    incident[elected].starts(29).loads(29, 100).leads(30, 3, 100, 100, [elected])
    assert incident.verdict("unclean-election") == ("clean" if elected == 1 else "violated")
