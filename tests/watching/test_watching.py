"""Evidence that grows: what is certain is told once, and nothing that a moment of writing alone shows."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forensics import scan as scanned
from forensics.cli.watch import watch as command
from forensics.replay.confidence import Weakness
from forensics.rules.finding import Finding, Severity
from forensics.watching.certain import Certain
from forensics.watching.evidence import state_of
from forensics.watching.looks import Look, looks

CASE = "kip101-0.10.2.2"


def found(rule: str = "committed-data-lost", first: int = 50, end: int = 80, **other: Any) -> Finding:
    given: dict[str, Any] = {"severity": Severity.CRITICAL, "replicas": (1,), **other}
    return Finding(rule, topic="orders", partition=0, summary="records are lost", offsets=((first, end),), **given)


# -- what is certain ---------------------------------------------------------------------------------------------------


def test_what_is_found_while_nothing_is_written_is_told_at_once_and_once() -> None:
    certain, one = Certain(), found()
    assert certain.new([one], still=True) == [one]
    assert certain.new([one], still=True) == []
    assert certain.reported == (one,)


def test_what_is_found_while_files_are_written_is_told_if_the_next_scan_has_it_too() -> None:
    certain, one, passing = Certain(), found(), found("hw-above-leo")
    assert certain.new([one, passing], still=False) == []
    assert certain.new([one], still=False) == [one]
    assert certain.new([one, passing], still=False) == []
    assert certain.new([passing], still=False) == [passing]


def test_the_same_incident_with_more_lines_is_not_told_again() -> None:
    certain = Certain()
    certain.new([found(replicas=(1, 2))], still=True)
    assert certain.new([found(first=60)], still=True) == []
    more, elsewhere, worse = found(end=90), found(replicas=(3,)), found("hw-above-leo")
    assert certain.new([more], still=True) == [more]
    assert certain.new([elsewhere], still=True) == [elsewhere]
    assert certain.new([worse], still=True) == [worse]


def test_what_became_worse_is_told_again() -> None:
    certain, mild = Certain(), found(severity=Severity.WARNING)
    certain.new([mild], still=True)
    assert certain.new([found()], still=True) == [found()]


def test_suspicions_and_information_are_not_told() -> None:
    suspected, info = found(weak=(Weakness.OTHERWISE_EXPLAINED,)), found(severity=Severity.INFO)
    assert Certain().new([suspected, info], still=True) == []
    assert Certain(suspected=True).new([suspected, info], still=True) == [suspected]


def test_what_a_baseline_has_is_not_told() -> None:
    one = found()
    assert Certain([(one.fingerprint, Severity.CRITICAL)]).new([one], still=True) == []
    assert Certain([(one.fingerprint, Severity.WARNING)]).new([one], still=True) == [one]


# -- when to look ------------------------------------------------------------------------------------------------------


class Clock:
    """Time passes only while something sleeps, or as a scan says."""

    def __init__(self, steps: Sequence[Callable[[], None]]) -> None:
        self.now = 0.0
        self.steps = iter(steps)
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        next(self.steps, lambda: None)()


def test_it_scans_again_only_if_something_was_written(tmp_path: Path, sample_traces: Path) -> None:
    result = scanned(sample_traces / "written" / "healthy").result
    file = tmp_path / "server.log"
    file.write_text("one\n")
    clock = Clock([lambda: None, lambda: None, lambda: file.write_text("one\ntwo\n") and None])
    seen = list(looks([str(tmp_path)], lambda: result, every=10, until=50, clock=clock, sleep=clock.sleep))
    assert [look.still for look in seen] == [True, True]
    assert clock.pauses == [10] * 5


def test_what_is_written_during_a_scan_is_seen(tmp_path: Path, sample_traces: Path) -> None:
    result = scanned(sample_traces / "written" / "healthy").result
    file = tmp_path / "server.log"
    file.write_text("")
    clock = Clock([])

    def scan() -> Any:
        clock.now += 25
        if clock.now < 60:
            file.write_text(file.read_text() + "more\n")
        return result

    seen = list(looks([str(tmp_path)], scan, every=10, until=200, clock=clock, sleep=clock.sleep))
    assert [look.still for look in seen] == [False, True]
    assert clock.pauses[0] == 25, "half of the time is left to the brokers"


def test_a_folder_without_evidence_is_waited_for(tmp_path: Path, sample_traces: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing yet\n")
    trace = next((sample_traces / "written" / "hw-above-leo").glob("*.jsonl"))
    clock = Clock([lambda: shutil.copy(trace, tmp_path) and None])
    seen = list(
        looks([str(tmp_path)], lambda: scanned(tmp_path).result, every=1, until=3, clock=clock, sleep=clock.sleep)
    )
    assert [look.result is None for look in seen] == [True, False]


def test_the_state_is_of_all_files_and_of_their_writing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    one = tmp_path / "a" / "one.log"
    one.write_text("1")
    before = state_of([str(tmp_path)])
    assert before == state_of([str(tmp_path)])
    os.utime(one, ns=(1, 1))
    touched = state_of([str(tmp_path)])
    one.rename(tmp_path / "a" / "one.log.1")
    assert len({before, touched, state_of([str(tmp_path)])}) == 3
    assert state_of([str(tmp_path / "gone")]) == frozenset()


# -- a story that is still going on ------------------------------------------------------------------------------------


def grown(case: Path, folder: Path) -> Iterator[str]:
    """Write the evidence of a case as it came to be: in four steps, with a log that is rotated, and one cut short."""
    logs = sorted(path for path in case.rglob("*.log*") if path.parent.name == "logs")
    cuts = ("04:06:05", "04:06:15", "04:06:30", "99")
    for step, cut in enumerate(cuts):
        for log in logs:
            kept = [
                line
                for line in log.read_text().splitlines(keepends=True)
                if line[12:20] < cut or not line.startswith("[2026")
            ]
            target = folder / log.relative_to(case)
            target.parent.mkdir(parents=True, exist_ok=True)
            if step == 2 and log.name == "server.log":
                target.rename(target.with_name("server.log.1"))
                old = target.with_name("server.log.1").read_text()
                target.write_text("".join(kept)[len(old) :])
            elif step == 3 and log.name == "server.log":
                old = target.with_name("server.log.1").read_text()
                target.write_text("".join(kept)[len(old) :])
            else:
                target.write_text("".join(kept))
        if step == 3:
            for data in case.glob("broker-*/data"):
                shutil.copytree(data, folder / data.relative_to(case))
        yield cut


def test_a_loss_is_told_while_the_story_goes_on(sample_traces: Path, tmp_path: Path) -> None:
    certain, told = Certain(), []
    for _ in grown(sample_traces / CASE, tmp_path):
        result = scanned(tmp_path).result
        told.append([one.rule for one in certain.new(result.findings, still=True)])
    assert told[:2] == [[], []]
    assert "committed-data-lost" in [rule for step in told for rule in step]
    assert len([one for one in certain.reported if one.rule == "replica-divergence"]) == 1, "told once"


# -- the command -------------------------------------------------------------------------------------------------------


def watch(*arguments: object) -> tuple[int, str, str]:
    ran = CliRunner().invoke(
        command, [*map(str, arguments), "--for", "50ms", "--every", "20ms"], env={"COLUMNS": "120"}
    )
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.output
    return ran.exit_code, ran.stdout, ran.stderr


def test_the_command_tells_each_finding_and_ends_as_a_scan_does(sample_traces: Path) -> None:
    code, out, err = watch(sample_traces / CASE)
    assert code == 1
    assert "4 findings new" in out
    assert out.count("COMMITTED DATA LOST") == 1
    assert "after the last line that shows it" in out
    assert "4 findings reported" in err
    assert watch(sample_traces / "written" / "healthy")[:2] == (0, "")


def test_for_programs_each_finding_is_a_line(sample_traces: Path) -> None:
    code, out, _ = watch(sample_traces / CASE, "--format", "jsonl", "--fail-on", "never")
    assert code == 0
    assert [json.loads(line)["schema"] for line in out.splitlines()] == ["forensics.finding/1"] * 4


def test_a_command_gets_each_finding(sample_traces: Path, tmp_path: Path) -> None:
    script = tmp_path / "notify"
    script.write_text('#!/bin/sh\necho "$FORENSICS_FINDING_RULE $FORENSICS_FINDING_PARTITION" >> "$1"\ncat >> "$1"\n')
    script.chmod(0o755)
    watch(sample_traces / CASE, "--exec", f"'{script}' {tmp_path / 'seen'}")
    lines = (tmp_path / "seen").read_text().splitlines()
    assert lines[0] == "committed-data-lost orders-0"
    assert json.loads(lines[1])["rule"] == "committed-data-lost"
    assert len(lines) == 8


@pytest.mark.parametrize(("shell", "said"), [("/no/such/shell", "No such file"), ("/bin/false", "exit code 1")])
def test_a_command_that_fails_is_told_and_the_watch_goes_on(
    shell: str, said: str, sample_traces: Path, tmp_path: Path
) -> None:
    script = tmp_path / "notify"
    script.write_text(f"#!{shell}\n")
    script.chmod(0o755)
    code, out, err = watch(sample_traces / CASE, "--exec", str(script))
    assert code == 1
    assert out.count("COMMITTED DATA LOST") == 1
    assert err.count(said) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-"], "only files on this machine can be watched"),
        (["s3://bucket/logs"], "only files on this machine can be watched"),
        ([".", "--every", "soon"], "is no amount of time"),
        ([".", "--exec", ""], "names no command"),
        ([".", "--exec", "'open"], "No closing quotation"),
        ([".", "--exec", "no-such-command x"], "no-such-command: no such command, or it is not executable"),
        ([".", "--exec", "/dev/null"], "/dev/null: no such command, or it is not executable"),
    ],
)
def test_what_cannot_be_watched_is_refused(arguments: list[str], said: str) -> None:
    ran = CliRunner().invoke(command, arguments)
    assert ran.exit_code != 0
    assert said in ran.output + str(ran.exception)


def test_a_look_without_a_result_tells_nothing(sample_traces: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    assert watch(tmp_path) == (0, "", "forensics: 0 findings reported\n")
    assert Look(None, still=True, seconds=0).result is None
