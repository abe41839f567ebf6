"""What healthy clusters do that looks wrong, as in the list of oddities: no rule may speak of a fault."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Severity, Verdict
from tests.incident import Incident

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
    "20 a line told again": told_again,
    "a rolling upgrade": rolling_upgrade,
    "a snapshot at the end": leader_on_the_last_segment_only,
}


@pytest.mark.parametrize("oddity", ODDITIES)
def test_no_rule_takes_it_for_a_fault(oddity: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    ODDITIES[oddity](incident)
    found = [f for f in incident.scan().findings if f.severity is not Severity.INFO]
    assert [f.summary for f in found if f.rule != "evidence-gap"] == []


SAMPLES = {  # where a recorded cluster did it
    "8 and 13 moved away and back, deleted and made again": "traps-0.10.2.2",
    "16 a leader that had not heard of its successor": "zombie-1.1.1",
    "6 in and out of the ISR": "flap-3.9.1",
    "9 control records of transactions": "txn-4.1.1",
}


@pytest.mark.parametrize("what", SAMPLES)
def test_no_rule_takes_a_recorded_one_for_a_fault(what: str, sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / SAMPLES[what], tmp_path / "evidence")
    for partition in scan([str(tmp_path)]).partitions:
        for judgement in partition.judgements.values():
            assert all(f.severity in (Severity.INFO, Severity.WARNING) for f in judgement.findings)
            assert judgement.verdict is not Verdict.VIOLATED or judgement.findings
