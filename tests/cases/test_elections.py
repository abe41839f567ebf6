"""Unclean elections that one missing file must not hide, nor take the blame for a loss away from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition
from forensics.rules.finding import Verdict


def without(case: Path, room: Path, *patterns: str) -> Partition:
    """The partition of a case, judged without the files that fit a pattern."""
    shutil.copytree(case, room / case.name)
    for pattern in ("truth.json", *patterns):
        for path in sorted((room / case.name).glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (found,) = (p for p in scan([str(room / case.name)]).partitions if p.history.name == "orders-0")
    return found


@pytest.mark.parametrize("name", ["unclean-1.1.1-replication", "unclean-2.8.2"])
def test_the_isr_after_an_election_does_not_clean_it(name: str, evidence: Path, tmp_path: Path) -> None:
    """Without its own state-change.log the leader's first word is of the ISR that it grew to."""
    found = without(evidence / name, tmp_path, "broker-2/logs/state-change.log")
    (finding,) = found.judgements["unclean-election"].findings
    assert (finding.replicas, finding.epochs) == ((2,), (4,))
    (loss,) = found.judgements["committed-data-lost"].findings
    assert loss.cause == "unclean-election"
    assert all("ISR [1,2" not in fact.text for fact in loss.facts)


def test_a_reassignment_without_lines_of_its_controller_is_no_unclean_election(
    sample_traces: Path, tmp_path: Path
) -> None:
    """The change that ends it adds a replica to the ISR and elects it (PartitionChangeBuilder); no line names KRaft."""
    for broker in (1, 3):
        name = f"broker-{broker}"
        shutil.copytree(sample_traces / "reassigned-3.9.1" / name / "logs", tmp_path / name / "logs")
    (partition,) = (one for one in scan([str(tmp_path)]).partitions if one.history.topic == "orders")
    assert not partition.history.protocol.kraft
    assert partition.history.protocol.maybe_kraft
    assert partition.judgements["unclean-election"].verdict is Verdict.UNKNOWN


def test_lines_of_two_clusters_in_one_text_are_no_proof_of_two_leaders(sample_traces: Path, tmp_path: Path) -> None:
    """Broker 1 of the one names broker 3 in epoch 2, and broker 1 of the other names broker 2."""
    chosen = (("kip101-0.10.2.2", "leaderEpoch=2"), ("unclean-3.9.1", "epoch 2"))
    lines = [
        line
        for name, words in chosen
        for line in (sample_traces / name / "broker-1" / "logs" / "state-change.log").read_text().splitlines()
        if words in line and "orders" in line
    ]
    text = tmp_path / "pasted.txt"
    text.write_text("What I see:\n\n" + "\n".join(lines) + "\n\nAny idea?\n")
    (partition,) = scan([str(text)]).partitions
    assert len(partition.history.epochs[2].other_leaders) == 1
    assert partition.history.epochs[2].two_by_one == {1}
    judgement = partition.judgements["two-leaders-one-epoch"]
    assert judgement.verdict is Verdict.UNKNOWN
    assert all("two clusters" in doubt for finding in judgement.findings for doubt in finding.uncertain)
