"""Logs whose lines are in no order of time, as an export of a search engine gives them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines import large, local
from forensics.reports import json_report
from forensics.result import Result
from parsers import limits
from parsers.text import time_order

HEALTHY = ("reassigned-3.9.1", "traps-0.10.2.2", "rotated-2.8.2")


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short texts are read as excerpts, and those of a few megabytes are put in order before they are read."""
    monkeypatch.setitem(limits._moved, "excerpt", 0)
    monkeypatch.setitem(limits._moved, "reordered", 0)


def events(log: Path) -> list[str]:
    """The events of a log, each with the lines that continue it."""
    found: list[str] = []
    for line in log.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("[2") or not found:
            found.append(line)
        else:
            found[-1] += line
    return found


def shuffled(case: Path, folder: Path, order: Callable[[list[str]], None]) -> str:
    """The logs of a case, one file a broker, in another order; no data directory."""
    for broker in sorted(case.glob("broker-*")):
        (folder / broker.name).mkdir(parents=True)
        logs = [path for path in sorted(broker.rglob("*.log*")) if path.parent.name == "logs"]
        lines = sorted(line for log in logs for line in events(log))
        order(lines)
        (folder / broker.name / "kafka.log").write_text("".join(lines), encoding="utf-8")
    return str(folder)


def by_chance(lines: list[str]) -> None:
    """Shuffle the lines."""
    random.Random(7).shuffle(lines)


def by_workers(lines: list[str]) -> None:
    """Move lines by a few places, as where several workers hand on a log."""
    moved = random.Random(7)
    places = {number: number + moved.uniform(0, 4) for number in range(len(lines))}
    lines[:] = [lines[number] for number in sorted(places, key=places.__getitem__)]


def alarms(result: Result) -> list[str]:
    """Findings of severity error or critical."""
    found = json_report.document(result)["findings"]
    return [f"{one['rule']} {one['partition']}" for one in found if one["severity"] in ("error", "critical")]


@pytest.mark.parametrize(
    "order", [by_chance, list.reverse, by_workers], ids=["by chance", "latest first", "by workers"]
)
@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_happened_in_lines_in_any_order(
    name: str, order: Callable[[list[str]], None], sample_traces: Path, tmp_path: Path
) -> None:
    result = local.scan([shuffled(sample_traces / name, tmp_path / "case", order)])
    assert alarms(result) == []
    assert any(one["reason"] == time_order.REMARK for one in json_report.document(result)["notices"]["examples"])
    spans = result.case.sources.filter(result.case.sources["format"] == "broker-log")
    assert (spans["first_time"] < spans["last_time"]).all()


@pytest.mark.parametrize(("name", "lost"), [("unclean-3.9.1", [30, 50]), ("unclean-0.10.2.2", [56, 70])])
def test_a_loss_is_seen_and_its_steps_are_in_order(
    name: str, lost: list[int], sample_traces: Path, tmp_path: Path
) -> None:
    result = local.scan([shuffled(sample_traces / name, tmp_path / "case", by_chance)])
    found = [one for one in json_report.document(result)["findings"] if one["rule"] == "committed-data-lost"]
    assert [(one["offsets"], one["confidence"]) for one in found] == [([lost], "suspected")]
    times = [step["time"] for step in found[0]["facts"] if step["time"]]
    assert times == sorted(times)
    # Lines may be missing in an export, so that nothing is clean.
    verdicts = json_report.document(result)["partitions"][0]["verdicts"].values()
    assert {one["verdict"] for one in verdicts} == {"violated", "unknown", "not applicable"}


def test_it_is_the_same_on_disk(sample_traces: Path, tmp_path: Path) -> None:
    folder = shuffled(sample_traces / "unclean-3.9.1", tmp_path / "case", by_chance)
    on_disk, in_memory = large.scan([folder], jobs=1, memory=1 << 40), local.scan([folder])
    assert json_report.document(on_disk) == json_report.document(in_memory)
