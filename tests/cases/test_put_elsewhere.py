"""Directories that were moved by hand, and logs that were made anew behind the last leadership.

``mvdir-2.8.2``: partitions of broker 1 moved by hand to its other log directory while it was stopped; healthy.
``lonewiped-4.0.0``: broker 1, alone in every ISR, comes back on an empty disk and is not elected.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.history import HwSource
from tests.cases.test_recorded import LOSS, unpacked
from tests.incident import wishes


def test_a_directory_moved_by_hand_is_a_warning_that_says_so(tmp_path: Path) -> None:
    result = scan([str(unpacked("mvdir-2.8.2", tmp_path))])
    assert {(f.rule, f.severity, f.cause) for f in result.findings if f.rule != "evidence-gap"} == {
        ("hw-regression", "warning", "manual-edit")
    }
    first = next(f for f in result.findings if (f.rule, f.topic, f.partition) == ("hw-regression", "orders", 0))
    assert "with its log in another directory" in first.summary
    assert first.facts[0].text == "its log is in /srv/kafka/broker-1/data2, and was in /srv/kafka/broker-1/data"


def test_what_the_last_leader_had_committed_alone_is_unknown_once_its_disk_is_empty(tmp_path: Path) -> None:
    result = scan([str(unpacked("lonewiped-4.0.0", tmp_path))])
    verdicts = {one.history.name: one.judgements[LOSS].verdict for one in result.partitions}
    assert verdicts == {"orders-0": "unknown", "pay-0": "unknown", "solo-0": "unknown", "safe-0": "clean"}
    (solo,) = (one for one in result.partitions if one.history.name == "solo-0")
    assert solo.judgements["leo-regression"].verdict == "unknown"
    assert any("created again" in wish for wish in wishes(solo.judgements[LOSS]))


def test_an_empty_leader_is_not_clean_without_the_lines_of_its_roles(tmp_path: Path) -> None:
    """Followers' fetchers name broker 1 as leader, its files are empty, and the followers state 10 offsets."""
    folder = unpacked("lonewiped-4.0.0", tmp_path)
    for log in folder.glob("broker-*/logs/state-change.log"):
        log.unlink()
    (orders,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    assert orders.judgements[LOSS].verdict == "unknown"
    (wish,) = wishes(orders.judgements[LOSS])
    assert wish.endswith("how far broker 1 (leader of epoch 0) had committed before its log was created again")


@pytest.mark.parametrize(("same", "counts"), [(True, True), (False, False)])
def test_a_directory_of_another_topic_of_the_name_tells_nothing_of_this_one(
    same: bool, counts: bool, sample_traces: Path, tmp_path: Path
) -> None:
    """A topic that is deleted and made again has another id (KIP-516): its old directory is not of its records."""
    shutil.copytree(sample_traces / "oldcopies-3.9.1", tmp_path / "evidence")
    left = next((tmp_path / "evidence").glob("broker-2/*2/orders-0"))
    if not same:
        (left / "partition.metadata").write_text("version: 0\ntopic_id: 8kxbPVz3SZmX1PRku-RYPQ")
    (left.parent / "replication-offset-checkpoint").write_text("0\n1\norders 0 5\n")
    (partition,) = (p for p in scan([str(tmp_path)]).partitions if p.history.name == "orders-0")
    disk = partition.history.facts.disks[2]
    assert len(disk.stale) == 1
    assert bool(disk.left_by_this_topic()) == counts
    assert any(statement.how is HwSource.LEFT_BEHIND for statement in partition.history.statements) == counts
    assert partition.judgements["stale-directory"].findings
