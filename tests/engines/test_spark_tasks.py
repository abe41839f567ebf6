"""What the tasks of a batch come to, whatever is done where: run here one after another, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines import local
from forensics.reports import json_report
from tests.engines.without_spark import run


def test_the_tasks_give_what_a_scan_gives(sample: Path, tmp_path: Path) -> None:
    assert json_report.render(run(str(sample), tmp_path)) == json_report.render(local.scan([str(sample)]))


@pytest.mark.parametrize("parts", [1, 5])
def test_small_tasks_and_thinned_partitions_change_nothing(parts: int, evidence: Path, tmp_path: Path) -> None:
    path = str(evidence / "powerloss-3.9.1-replication")
    found = run(path, tmp_path, split=1, parts=parts, together=60)
    assert json_report.render(found) == json_report.render(local.scan([path]))


@pytest.mark.parametrize("mixed", [False, True])
def test_one_log_of_several_brokers(mixed: bool, sample_traces: Path, tmp_path: Path) -> None:
    logs = sorted((sample_traces / "unclean-3.9.1").glob("broker-*/logs/server.log"))
    lines = [line for log in logs for line in log.read_text().splitlines(True)]
    if mixed:
        lines.sort(key=lambda line: line[:25])
    (tmp_path / "server.log").write_text("".join(lines))
    path = str(tmp_path / "server.log")
    assert json_report.render(run(path, tmp_path / "out")) == json_report.render(local.scan([path]))
