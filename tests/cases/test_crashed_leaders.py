"""Leaders that crashed: recovery that truncates, and an epoch that two processes of its leader served."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.incident import Incident

CORRUPT = (
    "WARN [LogLoader partition=orders-0, dir=/srv/kafka/broker-1/data] Corruption found in segment 0, truncating to "
    "offset {} (kafka.log.LogLoader)"
)


@pytest.mark.parametrize(("corrupt", "verdict"), [(True, "unknown"), (False, "clean")])
def test_what_recovery_truncated_may_have_been_committed(corrupt: bool, verdict: str, tmp_path: Path) -> None:
    """Broker 1 led alone. Its next process cut what it found corrupt, and all behind it: how much that was, and whether
    it was committed, no line says. A clean stop leaves nothing to cut.
    """
    incident = loaded(tmp_path, *([CORRUPT.format(24)] if corrupt else []))
    assert incident.verdict("committed-data-lost") == verdict


INVALID = (
    "WARN Found invalid messages in log segment /srv/kafka/broker-1/data/orders-0/{:020}.log at byte offset 2210: "
    "Record is corrupt (stored crc = 7, computed crc = 9). (kafka.log.LogSegment)"
)
RECOVERING = "INFO [Log partition=orders-0, dir=/d] Recovering unflushed segment {} (kafka.log.Log)"


def loaded(tmp_path: Path, *lines: str) -> Incident:
    """Broker 1 led alone and stopped. Its next process logs some lines, and loads a log that ends at 24."""
    incident = Incident(tmp_path)
    incident.begins(20)
    incident.elects(10, 1, 1, [1])
    incident[1].leads(10, 1, 20, 20, [1])
    incident[1].starts(30)
    for line in lines:
        incident[1].says(31, line)
    incident[1].loads(31, 24)
    incident.elects(32, 2, 1, [1])
    incident[1].leads(32, 2, 24, 20, [1])
    for broker in (2, 3):
        incident[broker].follows(40, 2, 1, 20, 20)
    for broker in (1, 2, 3):
        incident[broker].segment([(0, 19, 0), (20, 23, 1), (24, 29, 2)])
    return incident


def test_bytes_that_recovery_removed_beside_a_rebuilt_index_may_have_been_committed(tmp_path: Path) -> None:
    """The index does not fit, so the segment beside it is recovered first. What this removes is not there any more when
    the rest is recovered.
    """
    incident = loaded(tmp_path, INVALID.format(0), RECOVERING.format(0))
    (loss,) = incident.findings("committed-data-lost")
    assert (loss.confidence, loss.severity, loss.replicas) == ("suspected", "error", (1,))
    assert "from offset 24 on" in loss.summary


@pytest.mark.parametrize("lines", [[RECOVERING.format(0)], [INVALID.format(0), RECOVERING.format(12)]])
def test_corrupt_bytes_before_a_later_segment_are_not_the_end_of_a_log(lines: list[str], tmp_path: Path) -> None:
    incident = loaded(tmp_path, *lines)
    assert not incident.findings("committed-data-lost")
    assert incident.verdict("committed-data-lost") == "unknown"


def crashed_within(tmp_path: Path, *, read_back: int) -> Incident:
    """Broker 1 leads epoch 0, crashes, and its next process leads epoch 0 again before the controller names it leader
    of epoch 1. It came back without its last records; broker 2 has them, and truncates.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident[1].starts(30).says(31, CORRUPT.format(20)).loads(31, 20)
    incident[1].leads(32, 0, 20, 20, [1, 2, 3])
    incident.elects(33, 1, 1, [1])
    incident[1].leads(33, 1, 20, 20, [1])
    for broker in (2, 3):
        incident[broker].starts(40).loads(41, 26).follows(42, 1, 1, 26, read_back).cuts(43, 20)
    for broker in (1, 2, 3):
        incident[broker].segment([(0, 19, 0), (20, 29, 1)])
    return incident


def test_the_high_watermark_of_an_epochs_second_process_bounds_nothing_of_the_first(tmp_path: Path) -> None:
    assert crashed_within(tmp_path, read_back=20).verdict("committed-data-lost") == "unknown"


def test_a_high_watermark_read_back_above_a_truncation_is_of_the_epoch_before(tmp_path: Path) -> None:
    """Brokers 2 and 3 had read back 24 and truncated to 20: their leader had other records there, so the high watermark
    was reached in epoch 0, and [20, 24) is lost.
    """
    incident = crashed_within(tmp_path, read_back=24)
    assert [finding.offsets for finding in incident.findings("committed-data-lost")] == [((20, 24),)]
    cuts = incident.findings("truncation-below-committed")
    assert {(finding.replicas, finding.offsets) for finding in cuts} == {((2,), ((20, 24),)), ((3,), ((20, 24),))}


def killed_while_truncating(tmp_path: Path, *, found: int) -> Incident:
    """Broker 2 logs that it truncates to 20 to follow broker 3, and is killed. Its next process loads some log, and
    follows broker 1 without truncating. Broker 1 has its own offsets 20 to 22.
    """
    incident = Incident(tmp_path)
    for broker in (1, 2, 3):
        (incident[broker].folder / "server.properties").write_text(f"broker.id={broker}\n")
    incident.begins(20)
    incident.elects(10, 1, 3, [2, 3])
    incident[3].leads(10, 1, 20, 20, [2, 3])
    incident[2].follows(10, 1, 3, 23, 20).cuts(11, 20)
    incident.elects(12, 2, 3, [3])
    incident[3].leads(12, 2, 24, 20, [3])
    incident.elects(20, 3, 1, [1])
    incident[1].starts(18).says(18, RECOVERING.format(0)).loads(18, 23).leads(20, 3, 23, 20, [1])
    incident[2].starts(21).says(21, RECOVERING.format(0)).loads(21, found).follows(22, 3, 1, found, 20)
    incident[3].starts(23).says(23, RECOVERING.format(0)).loads(23, 29).follows(24, 3, 1, 29, 26).cuts(25, 20)
    for broker in (1, 2, 3):
        incident[broker].segment([(0, 22, 0), (23, 39, 3)])
        incident[broker].epochs((0, 0), (3, 23)).checkpoint(40)
    return incident


def test_a_process_that_is_killed_may_not_have_truncated_yet(tmp_path: Path) -> None:
    """The line is logged before anything is removed."""
    incident = killed_while_truncating(tmp_path, found=23)
    assert not incident.findings("evidence-gap")
    assert [loss.offsets for loss in incident.findings("committed-data-lost")] == [((20, 29),)]


def test_a_log_with_another_end_was_truncated(tmp_path: Path) -> None:
    """It had fetched four records of broker 3 then, so it had to truncate again to follow broker 1."""
    (gap,) = killed_while_truncating(tmp_path, found=24).findings("evidence-gap")
    assert "log lines are missing" in gap.summary
