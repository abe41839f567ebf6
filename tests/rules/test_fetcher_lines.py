"""A fetcher thread that ended is told of, with the partition that its exception names."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.reports.text import render
from tests.rules.shown_lines import event
from tests.rules.test_known_problems import ids, pasted

CAUSE = "org.apache.kafka.common.KafkaException: Error processing data for partition sales-7 offset 130"
ENDED = {
    "1.0": "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error due to",
    "0.11": "[ReplicaFetcherThread-0-2]: Error due to",
}


@pytest.mark.parametrize("name", ENDED)
def test_a_thread_that_ended_is_no_silence(name: str, tmp_path: Path) -> None:
    result = pasted(tmp_path, [event(ENDED[name], level="ERROR"), CAUSE])
    assert ids(result) == ["fetcher-stopped"] * 2
    assert [one.name for one in result.problems] == [None, "sales-7"]
    assert render(result).startswith("WARNING stated by a log line: Follower stopped fetching. ")


def test_a_copy_to_another_directory_that_ended_is_no_silence(tmp_path: Path) -> None:
    result = pasted(tmp_path, [event("[ReplicaAlterLogDirsThread-1]: Error due to", level="ERROR"), CAUSE])
    assert [(one.known.id, one.name) for one in result.problems] == [("fetcher-stopped", "sales-7")]


def test_the_cause_says_more_than_that_the_thread_ended(tmp_path: Path) -> None:
    why = (
        "Caused by: org.apache.kafka.common.errors.OffsetOutOfRangeException: Cannot increment the log start offset to "
        "150 of partition sales-7 since it is larger than the high watermark 131"
    )
    result = pasted(tmp_path, [event(ENDED["0.11"], level="ERROR"), CAUSE, why])
    assert ids(result) == ["log-start-above-high-watermark"]


def test_another_thread_that_ended_is_none(tmp_path: Path) -> None:
    line = event("[kafka-log-cleaner-thread-0]: Error due to", "kafka.log.LogCleaner", "ERROR")
    copied = event("[Log partition=sales-7, dir=/d] Truncating to offset 130", "kafka.log.Log")
    assert "fetcher-stopped" not in ids(pasted(tmp_path, [line, copied]))


REFUSED = event("[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error for partition sales-7 at offset 130")
FULL = "org.apache.kafka.common.errors.KafkaStorageException: Disk error when trying to access log file on the disk."


def test_the_exception_below_a_refused_fetch_names_the_error_of_the_leader(tmp_path: Path) -> None:
    """A moved leader has a branch of its own since 1.1 (AbstractFetcherThread.processFetchRequest)."""
    result = pasted(tmp_path, [REFUSED, FULL, REFUSED, FULL])
    assert ids(result) == ["leader-storage-error"]
    shown = render(result, width=200)
    assert shown.startswith("ERROR stated by a log line: Leader cannot read its log: storage error. Leader 2 answered ")
    assert "from offset 130 with KafkaStorageException" in shown


def test_an_exception_counts_for_the_line_above_it_alone(tmp_path: Path) -> None:
    other = REFUSED.replace("sales-7 at", "sales-8 at")
    result = pasted(tmp_path, [REFUSED, other, FULL])
    assert [(one.known.id, one.name) for one in result.problems] == [
        ("leader-storage-error", "sales-8"),
        ("leader-error-unnamed", "sales-7"),
    ]


def test_the_error_in_the_line_itself_counts_too(tmp_path: Path) -> None:
    error = "org.apache.kafka.common.errors.KafkaStorageException: Disk error"
    line = f"[ReplicaFetcherThread-0-2]: Error for partition [sales,7] to broker 2:{error}"
    assert ids(pasted(tmp_path, [event(line, level="ERROR")])) == ["leader-storage-error"]


IMPOSSIBLE = (
    "org.apache.kafka.common.errors.OffsetOutOfRangeException: Cannot increment the log start offset to "
    "8459296551737491457 of partition sales-7 since it is larger than the high watermark 131"
)
STOPPED = "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Unexpected error occurred while processing data for "


@pytest.mark.parametrize(("log_start", "suspects"), [("8459296551737491457", False), ("8459296", True)])
def test_a_log_start_that_no_log_reaches_is_no_high_watermark_that_went_back(
    log_start: str, *, suspects: bool, tmp_path: Path
) -> None:
    lines = [
        event(f"{STOPPED}partition sales-7 at offset 130", level="ERROR"),
        IMPOSSIBLE.replace("8459296551737491457", log_start),
    ]
    result = pasted(tmp_path, lines)
    assert any(one.rule == "hw-regression" for one in result.findings) is suspects
    assert ids(result) == ["log-start-above-high-watermark" if suspects else "log-start-impossible"]
