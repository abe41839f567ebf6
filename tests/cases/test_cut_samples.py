"""Recorded clusters without some of their files: what is still found is true, and what is clean was so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Finding, Judgement, Verdict
from tests.cases.test_recorded import unpacked

ALONE = b"[2026-11-21 04:06:22", b"[2026-11-21 04:06:33"  # broker 3 leads, and broker 1 is not in the ISR
LOSS, CUT, SHORTER = "committed-data-lost", "truncation-below-committed", "leo-regression"


def judged(sample: Path, folder: Path, gone: str, partition: str = "orders-0") -> dict[str, Judgement]:
    """The answers about a partition; ``gone`` is a pattern of what is taken away."""
    evidence = Path(shutil.copytree(sample, folder / "evidence"))
    paths = list(evidence.glob(gone))
    assert paths
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (found,) = (one for one in scan([str(evidence)]).partitions if one.history.name == partition)
    return found.judgements


def in_short(finding: Finding) -> tuple[object, ...]:
    return finding.severity.value, finding.confidence.value, finding.offsets, finding.cause


@pytest.mark.parametrize(
    ("name", "gone", "rule", "expected"),
    [
        # Broker 1 comes back on an empty disk and leads: 33 offsets are lost.
        ("emptydisk-3.9.1", "broker-1/logs", LOSS, ("critical", "inferred", ((0, 33),), "unknown")),
        ("emptydisk-3.9.1", "broker-1/logs", CUT, ("critical", "inferred", ((0, 33),), "unknown")),
        ("emptydisk-3.9.1", "*/data*/__cluster_metadata-0", SHORTER, ("error", "inferred", ((0, 33),), "wiped-disk")),
        ("emptydisk-3.9.1", "*/data*/__cluster_metadata-0", LOSS, ("critical", "inferred", ((0, 33),), "wiped-disk")),
        ("emptydisk-3.9.1", "*/logs/state-change.log", CUT, ("error", "inferred", ((0, 33),), "unknown")),
        # Broker 2 comes back with an older copy of its log.
        ("oldlog-2.8.2", "*/logs/state-change.log", SHORTER, ("warning", "inferred", ((18, 32),), "stale-directory")),
        # Each follower truncates to its high watermark; 18 offsets are lost.
        (
            "kip101-2.8.2-ibp0.10.2",
            "broker-3/logs/state-change.log",
            CUT,
            ("critical", "inferred", ((30, 48),), "hw-truncation"),
        ),
        # Broker 2 is elected from outside the ISR: offsets 42 to 69 are lost, of which its log lacks those from 56 on.
        ("unclean-0.10.2.2", "*/logs/state-change.log", LOSS, ("error", "suspected", ((56, 70),), "unknown")),
    ],
)
def test_what_is_found_with_less_evidence_is_what_happened(
    name: str, gone: str, rule: str, expected: tuple[object, ...], sample_traces: Path, tmp_path: Path
) -> None:
    found = judged(sample_traces / name, tmp_path, gone)[rule]
    assert expected in [in_short(finding) for finding in found.findings]


@pytest.mark.parametrize(
    ("name", "gone", "partition"),
    [
        # A silent broker's log is of no other epoch where the lines of all others name one epoch to their end.
        ("reassigned-3.9.1", "broker-1/logs", "orders-0"),
        ("txn-4.1.1", "broker-3/logs", "__transaction_state-0"),
        ("frozenctl-2.8.2", "*/logs/state-change.log", "orders-0"),  # a fetcher's line names the leader
    ],
)
def test_a_loss_is_excluded_without_the_lines_of_one_broker_or_kind(
    name: str, gone: str, partition: str, sample_traces: Path, tmp_path: Path
) -> None:
    assert judged(sample_traces / name, tmp_path, gone, partition)[LOSS].verdict.value == "clean"


@pytest.mark.parametrize("gone", ["*/logs/server.log", "broker-2/logs/server.log"])
def test_a_role_in_a_higher_epoch_is_of_the_topic_before(gone: str, tmp_path: Path) -> None:
    """``orders`` is deleted and created again; broker 2 followed in epoch 1 closer in time to the second topic's id.

    Leader 1 led epoch 1 of the first topic, leader 2 that of the second one.
    """
    folder = unpacked("delwhiledown-3.3.2", tmp_path)
    for log in folder.glob(gone):
        log.unlink()
    lives = [one for one in scan([str(folder)]).partitions if one.history.name == "orders-0"]
    assert len(lives) == 2
    leaders = [{number: epoch.leader for number, epoch in one.history.epochs.items()} for one in lives]
    assert leaders == [{0: 1, 1: 2}, {0: 1, 1: 1}]
    assert [one.judgements["two-leaders-one-epoch"].findings for one in lives] == [(), ()]


def test_an_election_is_from_outside_the_isr_without_the_line_that_numbers_it(
    sample_traces: Path, tmp_path: Path
) -> None:
    """The controller's lines about epoch 4 are missing: only the leader's request for another ISR names its number."""
    log = (
        Path(shutil.copytree(sample_traces / "dirlead-2.8.2", tmp_path / "evidence")) / "broker-9/logs/state-change.log"
    )
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:64] + lines[98:]))
    (found,) = (one for one in scan([str(tmp_path)]).partitions if one.history.name == "orders-0")
    assert [finding.epochs for finding in found.judgements["unclean-election"].findings] == [(4,)]


def test_a_replica_is_known_by_a_checkpoint_alone(sample_traces: Path, tmp_path: Path) -> None:
    """Broker 1's checkpoint names the partition; its lines, its segments, and all lines of when it was in the ISR are
    missing.
    """
    evidence = Path(shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "evidence"))
    shutil.rmtree(evidence / "broker-1/data/orders-0")
    for log in evidence.glob("*/logs/*.log"):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if ALONE[0] < line < ALONE[1] and "broker-1" not in log.parts))
    (found,) = scan([str(evidence)]).partitions
    assert found.history.members == {1, 2, 3}
    assert found.judgements["replica-divergence"].verdict is Verdict.UNKNOWN


def test_the_directory_of_another_topic_id_is_of_another_topic(sample_traces: Path, tmp_path: Path) -> None:
    """A broker that was down as the topic was deleted and created again still has the directory of the deleted one."""
    evidence = Path(shutil.copytree(sample_traces / "flap-3.9.1", tmp_path / "evidence"))
    shutil.rmtree(evidence / "broker-2/logs")
    shutil.rmtree(evidence / "broker-2/data/orders-0")
    shutil.copytree(sample_traces / "unclean-3.9.1/broker-1/data/orders-0", evidence / "broker-2/data/orders-0")
    present, deleted = (one for one in scan([str(evidence)]).partitions if one.history.name == "orders-0")
    assert [one.history.incarnation for one in (present, deleted)] == [0, 1]
    assert [sorted(one.history.facts.disks) for one in (present, deleted)] == [[1, 3], [2]]
    assert present.history.topic_id != deleted.history.topic_id
    for one in (present, deleted):
        assert not [finding for judged in one.judgements.values() for finding in judged.findings if finding.offsets]
    assert present.judgements["replica-divergence"].verdict is Verdict.UNKNOWN  # broker 2's present copy is not there
