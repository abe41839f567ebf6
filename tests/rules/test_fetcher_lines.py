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
