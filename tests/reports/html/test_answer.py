"""The answer at the top of the page, where a trace has no records to compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports.html.answer import answer
from forensics.result import Partition, Result
from forensics.rules.finding import Verdict


def without_forks(sample_traces: Path) -> Result:
    """A healthy trace whose records are not compared, as those that claim nothing."""
    result = scan([str(sample_traces / "written" / "healthy")])
    (partition,) = result.partitions
    judged = partition.judgements["replica-divergence"]
    partition.judgements["replica-divergence"] = replace(judged, verdict=Verdict.NOT_APPLICABLE)
    return result


def test_the_records_of_a_complete_trace_are_compared(sample_traces: Path) -> None:
    told = answer(scan([str(sample_traces / "written" / "healthy")]), {})
    assert told.headline == "No committed data was lost or forked"
    assert "no two replicas hold different records at one committed offset" in told.lead


def test_a_healthy_trace_is_clean_by_its_leader_epochs(sample_traces: Path) -> None:
    told = answer(without_forks(sample_traces), {})
    assert told.headline == "No committed data was lost or forked"
    assert "no two replicas hold different leader epochs at one committed offset" in told.lead


def test_of_a_trace_whose_epochs_are_unknown_no_fork_is_ruled_out(sample_traces: Path) -> None:
    result = without_forks(sample_traces)
    (partition,) = result.partitions
    judged = partition.judgements["epoch-divergence"]
    partition.judgements["epoch-divergence"] = replace(judged, verdict=Verdict.UNKNOWN)
    told = answer(result, {})
    assert told.headline == "A fork cannot be ruled out in orders-0"
    assert told.tiles[0].what == "of 1 partition unknown"


def test_no_partition_is_compared_with_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many that are open, each would be compared with each, down to its last event."""
    folder = tmp_path / "broker-1" / "data"
    folder.mkdir(parents=True)
    (folder / "replication-offset-checkpoint").write_text("0\n3\na 0 1\nb 0 1\nc 0 1\n")
    result = scan([str(tmp_path)])
    monkeypatch.setattr(Partition, "__eq__", lambda *_: pytest.fail("two partitions were compared"))
    told = answer(result, {})
    assert told.headline == "Loss cannot be ruled out in 3 of 3 partitions"
    assert "Whether data was lost or forked is unknown for all 3 partitions." in told.lead


def test_of_files_the_records_are_compared(sample_traces: Path) -> None:
    told = answer(scan([str(sample_traces / "rotated-2.8.2")]), {})
    assert "leader epochs at one committed offset" not in told.lead
