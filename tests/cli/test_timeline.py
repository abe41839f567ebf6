"""``forensics timeline`` as a user meets it: the span of time, the steps of findings, lines for programs, the pager."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest

from forensics.case import Case
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.reports.timeline_steps import SCHEMA
from tests.cli.conftest import Run


@pytest.fixture
def case(sample_traces: Path) -> Path:
    return sample_traces / "kip101-0.10.2.2"


def rows(out: str) -> list[str]:
    """Times of the rows of a table."""
    return [line.split()[0] for line in out.splitlines() if line[:2].isdigit() and ":" in line[:3]]


def steps(out: str) -> list[str]:
    return [line.strip() for line in out.splitlines() if line.lstrip().startswith(">> step")]


def test_the_steps_are_those_of_the_scan_and_stand_behind_their_rows(run: Run, case: Path) -> None:
    ran = run("timeline", case, "-p", "orders-0")
    assert (ran.code, ran.err) == (0, "")
    found = steps(ran.out)
    assert [line.split(":")[0] for line in found] == [f">> step {number}" for number in range(1, 7)]
    assert found[1].startswith(">> step 2: broker 3 became leader (leader epoch 2) at offset 50, without offsets 50")
    lines = ran.out.splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.strip() == found[1])
    assert lines[at - 1].startswith("04:06:21.521")
    told = run("scan", case).out
    assert " 2  04:06:21  broker 3  became leader (leader epoch 2) at offset 50, without offsets 50 to 79" in told


def test_progress_is_shown_from_its_beginning_to_its_end(
    run: Run, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The followers had nothing when they began to fetch; lines of 07:50:59 state that they had fetched up to 19."""
    monkeypatch.setenv("COLUMNS", "200")
    out = run("timeline", sample_traces / "acks1-2.8.2", "-p", "orders-0").out
    (line,) = (one for one in out.splitlines() if one.startswith("07:50:51.141"))
    assert line.split(maxsplit=1)[1].split("  ")[0] == "LEO 0 \u2192 \u2265 19 (until 07:50:59.444)"


@pytest.mark.parametrize("finding", ["committed-data-lost", "replica-divergence", "c08d8dfc"])
def test_around_a_finding_only_its_time_is_shown(finding: str, run: Run, case: Path) -> None:
    whole, part = (run("timeline", case, "-p", "orders-0", *more).out for more in ([], ["--around", finding]))
    assert steps(part) == steps(whole)
    assert rows(part) == [time for time in rows(whole) if "04:06:11" <= time <= "04:06:42"]
    assert rows(part)[0] == "04:06:11.531"
    assert part.splitlines()[1] == "14 of 27 rows, in the time that was asked for"


def test_a_span_is_given_by_its_ends(run: Run, case: Path) -> None:
    some = run("timeline", case, "-p", "orders-0", "--from", "2026-11-21T04:06:12", "--to", "2026-11-21T04:06:22.6")
    assert rows(some.out) == ["04:06:21.521", "04:06:22.382", "04:06:22.539"]
    assert [line.split(":")[0] for line in steps(some.out)] == [">> step 2", ">> step 5", ">> step 6"]
    east = ["--tz", "+02:00", "--from", "2026-11-21T04:06:12", "--to", "2026-11-21T02:06:22.6Z"]
    assert rows(run("timeline", case, "-p", "orders-0", *east).out) == ["02:06:21.521", "02:06:22.382", "02:06:22.539"]


def test_a_finding_that_is_not_there_is_answered_with_those_that_are(run: Run, case: Path) -> None:
    ran = run("timeline", case, "-p", "orders-0", "--around", "unclean-election")
    assert (ran.code, ran.out) == (2, "")
    assert "--around: no finding unclean-election of this partition; there is committed-data-lost (" in ran.err


def test_a_state_is_a_line_of_json(run: Run, case: Path) -> None:
    ran = run("timeline", case, "-p", "orders-0", "--format", "jsonl")
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert {one["schema"] for one in found} == {SCHEMA}
    led = [one for one in found if (one["replica"], one["role"], one["leader_epoch"]) == (3, "leader", 2)]
    assert led[0]["from"] == "2026-11-21T04:06:21.521000Z"
    assert (led[0]["isr"], Path(led[0]["path"]).name, led[0]["line"]) == ([3], "state-change.log", 18)
    told = [(one["replica"], step["step"], step["rule"]) for one in found for step in one["steps"]]
    assert sorted(told) == [(n, s, "committed-data-lost") for n, s in ((1, 4), (2, 3), (3, 1), (3, 2))]
    assert {one["role"] for one in found if one["from"] is None} == {"on disk"}
    around = run("timeline", case, "-p", "orders-0", "--format", "jsonl", "--around", "committed-data-lost").out
    assert 0 < len(around.splitlines()) < len(found)


def test_several_clusters_are_named(run: Run, sample_traces: Path, case: Path) -> None:
    out = run("timeline", case, sample_traces / "flap-3.9.1", "-p", "orders-0").out
    titles = [line for line in out.splitlines() if line.startswith("orders-0")]
    assert len(titles) == 2
    assert all(line.startswith("orders-0 of cluster ") for line in titles)


@pytest.mark.parametrize(("terminal", "lines", "paged"), [(True, 10, True), (True, 200, False), (False, 10, False)])
def test_a_pager_opens_on_a_terminal_alone(
    *, terminal: bool, lines: int, paged: bool, run: Run, case: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setattr(click, "echo_via_pager", seen.append)
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: terminal, raising=False)
    ran = run("timeline", case, "-p", "orders-0")
    assert bool(seen) is paged
    assert bool(ran.out) is not paged
    assert "04:06:21.521" in (seen[0] if paged else ran.out)


def test_a_timeline_of_another_partition_is_shown_if_replay_fails_on_one(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def failing(case: Case) -> list[History]:
        found = histories(case)
        if any(one.name == "orders-1" for one in found):
            raise ZeroDivisionError("made by a test")
        return found

    case = sample_traces / "dirfail-3.9.1"
    shown = run("timeline", case, "-p", "orders-0")
    monkeypatch.setattr("forensics.cli.timeline.histories", failing)
    assert run("timeline", case, "-p", "orders-0") == shown
    failed = run("timeline", case, "-p", "orders-1")
    assert failed.code == 2
    assert failed.err.startswith("forensics: orders-1 cannot be replayed: a defect of this program at ")
