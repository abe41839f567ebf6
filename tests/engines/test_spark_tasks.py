"""What the tasks of a batch come to, whatever is done where: run here one after another, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.case import Reading
from forensics.engines import local
from forensics.reports import json_report
from tests.case.test_zones import BERLIN, EAST, PUT_BACK, cri, filebeat, taken
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


def test_zones_are_those_of_a_scan(sample_traces: Path, tmp_path: Path) -> None:
    """A broker whose collector tells its zone, one whose lines were taken late, and some that tell nothing."""
    late = filebeat(lambda time, number: time.replace(hour=20))
    ways = {"broker-1": (EAST, cri), "broker-2": (EAST, late)}
    copy = str(taken(sample_traces / "unclean-3.9.1", tmp_path, lambda broker, _: ways.get(broker, (EAST, None))))
    for number, reading in enumerate((Reading(), Reading("Europe/Berlin"))):
        found = run(copy, tmp_path / f"out-{number}", reading=reading)
        assert json_report.render(found) == json_report.render(local.scan([copy], reading=reading))


@pytest.mark.parametrize("joined", [False, True])
def test_an_hour_that_is_there_twice(joined: bool, sample_traces: Path, tmp_path: Path) -> None:
    copy = taken(sample_traces / "kip101-0.10.2.2", tmp_path, lambda *_: (BERLIN, None), PUT_BACK)
    path, reading = str(copy), Reading("Europe/Berlin")
    if joined:
        logs = sorted(copy.glob("broker-*/logs/server.log"))
        path = str(tmp_path / "all.log")
        Path(path).write_text("".join(log.read_text() for log in logs))
    found = run(path, tmp_path / "out", reading=reading)
    assert json_report.render(found) == json_report.render(local.scan([path], reading=reading))


def test_what_grep_printed(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    out = [
        f"{log.relative_to(trace)}:{number}:{line}\n"
        for log in sorted(trace.glob("broker-*/logs/*.log"))
        for number, line in enumerate(log.read_text().splitlines(), start=1)
        if "server" not in log.name or "orders" in line
    ]
    path = str(tmp_path / "found.txt")
    Path(path).write_text("".join(out))
    assert json_report.render(run(path, tmp_path / "out")) == json_report.render(local.scan([path]))
