"""The classic loss of KIP-101 in its three forms: the follower's own truncation is its cause, and is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.model import scenario
from forensics.rules.finding import Finding


def lost(paths: list[Path]) -> Finding:
    (partition,) = scan([str(path) for path in paths]).partitions
    (finding,) = partition.judgements["committed-data-lost"].findings
    return finding


def assert_told(finding: Finding) -> None:
    assert (finding.cause, finding.offsets) == ("hw-truncation", ((1, 2),))
    words = "truncated its log from 2 to 1, its own high watermark"
    own = [fact for fact in finding.facts if fact.broker == 1 and words in fact.text]
    assert len(own) == 1


@pytest.mark.parametrize("logging", ["default", "replication"])
def test_the_follower_that_led_had_cut_the_record_in_the_epoch_that_wrote_it(logging: str, tmp_path: Path) -> None:
    scenario("loss").run("hw").write(tmp_path, logging)  # type: ignore[arg-type]
    assert_told(lost(sorted(tmp_path.glob("broker-*"))))


def test_a_trace_tells_it_too(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(scenario("loss").run("hw").observations())
    assert_told(lost([trace]))


def test_with_leader_epochs_nothing_is_lost(tmp_path: Path) -> None:
    """The near miss: the same schedule with a follower that asks where its leader's epoch ends."""
    scenario("loss").run("epoch").write(tmp_path, "default")
    (partition,) = scan([str(path) for path in sorted(tmp_path.glob("broker-*"))]).partitions
    assert partition.judgements["committed-data-lost"].findings == ()
