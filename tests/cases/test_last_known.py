"""A power cut of all brokers, twice, of which logs alone are left.

With eligible leader replicas (KIP-966) the last one in the ISR leads again, which controllers from 4.1 on call an
unclean election. On one topic of three it had lost its end.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Result
from tests.incident import Incident

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def result() -> Result:
    return scan([str(DATA / "allkill-4.1.1.tar.xz")])


def test_the_last_member_of_the_isr_is_no_leader_from_outside(result: Result) -> None:
    found = [finding for finding in result.findings if finding.rule == "unclean-election"]
    assert len(found) == 6
    assert {finding.severity.value for finding in found} == {"warning"}
    assert all("the ISR was empty, and it was the last known leader" in finding.summary for finding in found)


def test_how_long_its_log_was_is_said_and_not_asked_for(result: Result) -> None:
    """Its lines state the log end offset with which it returned and its high watermark, so nobody has to compare them.

    ``audit_log-0`` returned with less than it had: that is a finding of its own.
    """
    found = [finding for finding in result.findings if finding.rule == "unclean-election"]
    said = {f"{f.topic}-{f.partition}": [one.text for one in f.facts if "loaded its log" in one.text] for f in found}
    assert said["payments.eu-west_1-0"] == [
        "loaded its log with log end offset 29; the highest high watermark in its lines until then is 29"
    ]
    assert not any("compare the log end offset" in step.text for one in found for step in one.next_steps)


def test_what_it_lost_is_told_with_its_cause(result: Result) -> None:
    loud = {
        (f.rule, f.topic, f.offsets, f.replicas, f.cause)
        for f in result.findings
        if f.severity.value in ("critical", "error")
    }
    tail = "unflushed-tail"
    assert loud == {
        ("committed-data-lost", "audit_log", ((38, 46),), (), tail),
        ("truncation-below-committed", "audit_log", ((38, 46),), (3,), tail),
        ("leo-regression", "audit_log", ((38, 46),), (1,), tail),
    }


@pytest.mark.parametrize("topic", ["orders-eu", "payments.eu-west_1"])
def test_how_far_the_others_reached_is_open(topic: str, result: Result) -> None:
    (partition,) = (one for one in result.partitions if one.history.topic == topic)
    for rule in ("committed-data-lost", "leo-regression"):
        assert partition.judgements[rule].verdict.value == "unknown"


def test_who_was_not_the_last_in_the_isr_comes_from_outside(tmp_path: Path) -> None:
    """The same lines, but for whom they name as the last one: an election that somebody allowed or asked for."""
    with tarfile.open(DATA / "allkill-4.1.1.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    log = tmp_path / "allkill-4.1.1" / "broker-100" / "logs" / "controller.log"
    log.write_text(log.read_text().replace("lastKnownElr=[1]", "lastKnownElr=[2]").replace("Elr: [1]", "Elr: [2]"))
    found = [f for f in scan([str(tmp_path)]).findings if f.rule == "unclean-election"]
    assert sorted((f.severity.value, f.replicas) for f in found) == [("error", (1,))] * 3 + [("warning", (3,))] * 3


def test_with_eligible_leader_replicas_an_election_may_be_forced_too() -> None:
    """Broker 1, the last in the ISR, is gone for good; a command had broker 2 elected, which no setting allowed."""
    result = scan([str(DATA / "lastcopy-4.1.1.tar.xz")])
    assert {f.cause for f in result.findings if f.rule == "unclean-election"} == {"forced-election"}
    losses = [f for f in result.findings if f.rule == "committed-data-lost"]
    assert {(f.topic, f.cause) for f in losses} == {(f.topic, "forced-election") for f in losses}
    assert losses


def test_what_others_remove_for_the_last_known_leader_may_have_been_committed() -> None:
    """All hosts lose power, and parts of the logs. By what clients saw, offsets 192 to 194 of orders-1, 192 to 197 of
    audit-1 and 177 to 185 of click-2 are lost, and of orders-3 nothing that was removed had been committed.
    """
    result = scan([str(DATA / "rackloss-4.1.1.tar.xz")])
    losses = [f for f in result.findings if f.rule == "committed-data-lost"]
    assert {(f"{f.topic}-{f.partition}", f.offsets, f.severity.value) for f in losses} == {
        ("orders-1", ((192, 195),), "warning"),
        ("orders-3", ((195, 198),), "warning"),
        ("audit-1", ((192, 198),), "warning"),
        ("click-2", ((177, 186),), "error"),
    }
    assert {f.confidence.value for f in losses} == {"suspected"}


CHANGED = (
    "INFO [QuorumController id=9] UNCLEAN partition change for orders-0 with topic ID Zx1yQ2w3R4e5T6y7U8i9Oa: isr: [] "
    "-> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, {}partitionEpoch: 2 "
    "-> 3 (org.apache.kafka.controller.ReplicationControlManager)"
)
SKIPPING = "INFO Skipping recovery for all logs in /d since clean shutdown file was found (kafka.log.LogManager)"


@pytest.mark.parametrize(("known", "verdict"), [("lastKnownElr: [1] -> [], ", "unknown"), ("", "clean")])
def test_a_stop_that_the_controller_took_for_unclean_may_have_lost_records(
    known: str, verdict: str, tmp_path: Path
) -> None:
    """The directory of the only replica was put back from a copy with the file that a clean stop leaves."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1].creates(1).leads(1, 0, 0, 0, [1]).starts(20).says(21, SKIPPING).loads(22, 50)
    incident[9].says(24, CHANGED.format(known), log="controller")
    node.leads(25, 2, 50, 50, [1]).segment([(0, 49, 0), (50, 59, 2)])
    node.epochs((0, 0), (2, 50)).checkpoint(60)
    assert incident.verdict("committed-data-lost") == verdict
