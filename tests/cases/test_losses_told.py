"""How a loss is told: how much more may be lost than is proven, which copy is to be kept, and what is none."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan

DATA = Path(__file__).parent / "data"
LOSS = "committed-data-lost"


def test_more_may_be_lost_than_the_last_high_watermark_shows() -> None:
    """Both brokers came back with [51, 60), of which no checkpoint tells: all of it was acknowledged."""
    found = [f for f in scan([str(DATA / "rackloss-2.5.1.tar.xz")]).findings if f.rule == LOSS]
    assert {finding.records for finding in found} == {(21, None)}
    for finding in found:
        assert "(21 records, perhaps to offset 59)" in finding.summary
        assert "beyond offset 50" in finding.uncertain[0]


def test_the_copy_of_a_leader_that_is_down_is_the_one_to_keep() -> None:
    (loss,) = (f for f in scan([str(DATA / "heldcopy-0.10.2.2.tar.xz")]).findings if f.rule == LOSS)
    assert loss.replicas == (1,)
    assert loss.keep is not None
    assert loss.keep.startswith("broker 1's copy of orders-0. It is the only one")
    assert any("restart or wipe broker 1" in never for never in loss.do_not)


def test_of_two_copies_the_one_with_all_the_lost_records_is_to_be_kept() -> None:
    (loss,) = (f for f in scan([str(DATA / "heldtwo-0.10.2.2.tar.xz")]).findings if f.rule == LOSS)
    assert loss.summary.endswith(". Broker 1 still has them, broker 2 has also offsets 18 to 22.")
    assert loss.keep == "broker 1's copy of orders-0 (broker 2 has a part of the records)"


def test_who_led_before_epochs_holds_what_it_did_not_cut() -> None:
    """Broker 2 cut its log to 162, the log end of its new leader, and fetched on: what is below is still its own."""
    (loss,) = (f for f in scan([str(DATA / "chaos51-0.10.2.2.tar.xz")]).findings if (f.rule, f.partition) == (LOSS, 0))
    assert loss.offsets == ((150, 186),)
    assert loss.summary.endswith(". Broker 2 still has only offsets 150 to 161 of them.")
    assert loss.keep == "broker 2's copy of orders-0. It is the only one with offsets 150 to 161 of the lost records"


def test_who_has_all_but_an_uncommitted_tail_has_all_again() -> None:
    """Broker 2's disk was replaced in a rolling restart. It had led with [305, 310), which its successor never had."""
    found = [f for f in scan([str(DATA / "wiperoll-1.1.1.tar.xz")]).findings if f.rule == "leo-regression"]
    assert [f.severity.value for f in found] == ["warning"] * 3
    assert {f.offsets for f in found} == {((0, 305),), ((0, 310),)}
    assert not any(f.do_not for f in found)


@pytest.mark.parametrize(
    ("gone", "most"),
    [(("broker-3/logs",), 20), (("broker-1/data",), 20), (("broker-1/data", "broker-1/logs"), None)],
)
def test_more_may_be_lost_with_the_disk_of_who_led(
    gone: tuple[str, ...], most: int | None, sample_traces: Path, tmp_path: Path
) -> None:
    """Broker 1 led alone: what of its log is not at hand may have been committed. Of another's it says nothing.

    Its own line says how long its log was when it loaded it again, which its files no longer show: it truncated it.
    """
    shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "evidence")
    for folder in gone:
        shutil.rmtree(tmp_path / "evidence" / folder)
    found = [f for f in scan([str(tmp_path / "evidence")]).findings if f.rule == LOSS and f.confidence != "suspected"]
    assert [(loss.offsets, loss.records) for loss in found] == ([] if most is None else [(((30, 50),), (20, most))])


def test_a_wiped_replica_that_has_all_again_is_a_warning_whatever_tells_it() -> None:
    """No state-change.log tells of which epochs the logs are, but the segments are alike."""
    found = [f for f in scan([str(DATA / "healed-4.1.1.tar.xz")]).findings if f.rule == "leo-regression"]
    assert found
    assert {(f.severity.value, f.replicas, f.cause) for f in found} == {("warning", (3,), "wiped-disk")}
    assert all("or higher" in f.summary and not f.do_not for f in found)


def test_a_wiped_replica_that_a_leader_let_into_the_isr_again_is_a_warning(tmp_path: Path) -> None:
    """No data tells that broker 1 has the records of orders-eu again; those of the others it has not."""
    with tarfile.open(DATA / "wipelead-3.9.1.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for folder in tmp_path.glob("*/broker-*/data"):
        shutil.rmtree(folder)
    found = {f.topic: f for f in scan([str(tmp_path)]).findings if f.rule == "leo-regression"}
    assert {topic: f.severity.value for topic, f in found.items()} == {
        "orders-eu": "warning", "audit_log": "error", "payments.eu-west_1": "error"
    }  # fmt: skip
    assert "It rejoined the ISR later" in found["orders-eu"].summary


def test_a_group_begins_again_at_the_lowest_offset_of_all_losses() -> None:
    """``backforth-1.0.2`` lost records twice. A group has one position: the last of two commands would count."""
    result = scan([str(DATA / "backforth-1.0.2.tar.xz")])
    found = [one for one in result.findings if one.rule == LOSS and one.partition == 0]
    assert [(one.offsets, one.reset_to) for one in found] == [(((16, 25),), 16), (((26, 33),), 16)]
    commands = {step.command for one in found for step in one.next_steps if step.command is not None}
    assert len([command for command in commands if "--to-offset 16 " in command]) == 1
    assert not [command for command in commands if "--to-offset 26 " in command]
