"""A trace answers by itself what the logs of the brokers would have answered."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner

from forensics.case.coverage import coverage
from forensics.cli import cli
from forensics.engines.local import scan, take_in
from forensics.model import Run, scenario
from forensics.result import Result
from forensics.rules import RULES as EVERY_RULE
from forensics.rules.finding import Verdict
from parsers.formats.trace_jsonl import SCHEMA, json_schema
from tests.conftest import EVERYTHING

VALIDATOR = jsonschema.Draft202012Validator(json_schema())
RULES = ("truncation-below-committed", "committed-data-lost")


def answers(path: Path) -> dict[str, tuple[str, set[int]]]:
    """Rule -> the verdict on the only partition, and the offsets of its findings."""
    (partition,) = scan([str(path)]).partitions
    return {
        rule: (
            partition.judgements[rule].verdict.value,
            {o for f in partition.judgements[rule].findings for first, end in f.offsets for o in range(first, end)},
        )
        for rule in RULES
    }


def truth(run: Run) -> dict[str, tuple[str, set[int]]]:
    told = run.truth()
    cut = [span for cutting in told["truncations"] for span in cutting["committed_offsets"]]
    asked = {
        "truncation-below-committed": (told["expect"]["truncated_below_hw"], cut),
        "committed-data-lost": (told["expect"]["lost_committed"], told["lost_committed_offsets"]),
    }
    return {
        rule: ("violated" if yes else "clean", {o for first, end in spans for o in range(first, end)})
        for rule, (yes, spans) in asked.items()
    }


@pytest.mark.parametrize(
    ("story", "protocol"),
    [("loss", "hw"), ("loss", "epoch"), ("failover-truncation", "hw"), ("unclean-election", "fetch"), ("fork", "hw")],
)
def test_a_trace_alone_answers(story: str, protocol: str, tmp_path: Path) -> None:
    run = scenario(story).run(protocol)
    path = tmp_path / "anything.jsonl"
    path.write_text(run.observations())
    assert answers(path) == truth(run)


def lines(path: Path, told: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps({"schema": SCHEMA, **line}) + "\n" for line in told))
    return path


def at(second: int, witness: int) -> dict[str, Any]:
    return {"time": f"2026-01-01T10:00:{second:02}Z", "witness": witness}


def test_another_systems_trace_with_the_least_that_the_rules_need(tmp_path: Path) -> None:
    """What the documentation asks for at least is enough: starts, leader epochs, reconciliations, high watermarks."""
    place = {"topic": "ledger", "partition": 0}
    told: list[dict[str, Any]] = [
        {**at(0, 1), "kind": "process_start"},
        {**at(1, 1), "kind": "become_leader", "leader_epoch": 4, "log_end_offset": 0, **place},
        {**at(9, 1), "kind": "hw", "high_watermark": 30, **place},
        {**at(0, 2), "kind": "process_start"},
        {**at(2, 2), "kind": "become_follower", "leader": 1, "leader_epoch": 4, "log_end_offset": 0, **place},
        {**at(8, 2), "kind": "leo", "log_end_offset": 30, **place},
        {**at(10, 2), "kind": "process_start"},
        {**at(10, 2), "kind": "log_loaded", "log_end_offset": 30, **place},
        {**at(11, 2), "kind": "become_follower", "leader": 1, "leader_epoch": 5, **place},
        {**at(11, 2), "kind": "truncate", "offset": 20, **place},
        {**at(12, 2), "kind": "become_leader", "leader_epoch": 6, "log_end_offset": 20, **place},
    ]  # fmt: skip
    path = lines(tmp_path / "ledger.jsonl", told)
    for line in path.read_text().splitlines():
        VALIDATOR.validate(json.loads(line))
    assert answers(path) == {rule: ("violated", set(range(20, 30))) for rule in RULES}
    # Without the high watermark nobody can say whether the ten records were committed.
    assert {v for v, _ in answers(lines(tmp_path / "less.jsonl", told[:2] + told[3:])).values()} <= {"unknown", "clean"}


def test_the_examples_of_the_page_are_decided(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs" / "trace-format.md").read_text(encoding="utf-8")
    found = []
    for number, example in enumerate(re.findall(r"```json\n(.*?)```", page, re.DOTALL)):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(example)
        (partition,) = scan([str(path)]).partitions
        verdicts = {rule: judgement.verdict for rule, judgement in partition.judgements.items()}
        assert Verdict.UNKNOWN not in verdicts.values(), verdicts
        found.append({rule for rule, verdict in verdicts.items() if verdict is Verdict.VIOLATED})
    assert found == [set(), set(RULES)]
    assert answers(path) == {rule: ("violated", set(range(6))) for rule in RULES}


def test_the_program_of_the_page_runs(repository: Path, tmp_path: Path) -> None:
    """The recipe is what the page says: complete, without a notice, and with the answers that it names."""
    page = (repository / "docs" / "trace-format.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    path = tmp_path / "orders.jsonl"
    for line in path.read_text("utf-8").splitlines():
        VALIDATOR.validate(json.loads(line))
    result = scan([str(path)])
    assert result.case.notices.is_empty()
    (partition,) = result.partitions
    assert not partition.verdicts(Verdict.UNKNOWN)
    assert partition.verdicts(Verdict.VIOLATED) == [*reversed(RULES), "unclean-election"]
    assert answers(path) == {rule: ("violated", set(range(6, 10))) for rule in RULES}


def test_the_change_that_the_page_proposes_is_found(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs" / "trace-format.md").read_text(encoding="utf-8")
    example = re.findall(r"```json\n(.*?)```", page, re.DOTALL)[0]
    path = tmp_path / "orders.jsonl"
    path.write_text(example.replace('"high_watermark":10}', '"high_watermark":15}'))
    (partition,) = scan([str(path)]).partitions
    assert "hw-above-leo" in partition.verdicts(Verdict.VIOLATED)


def test_each_witness_of_a_trace_is_a_broker_of_the_case(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(scenario("loss").run("hw").observations())
    case = take_in([str(path)])
    assert case.sources["broker"].to_list() == [None]
    assert set(case.brokers) == {1, 2, 9}
    covered = coverage(case)
    assert covered["broker"].to_list() == [1, 2, 9]
    assert set(covered["kind"]) == {"trace"}
    times = case.observations.group_by("broker").agg(pl.col("time").max()).sort("broker")["time"].to_list()
    assert covered["last_time"].to_list() == times


# -- traces written from real evidence -------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["kip101-0.10.2.2", "unclean-3.9.1", *(["zombie-1.1.1", "kip101-2.8.2-ibp0.10.2"] if EVERYTHING else [])]
)
def test_a_trace_of_real_logs_says_what_the_logs_say(
    name: str, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [str(path) for path in sorted((sample_traces / name).glob("broker-*/logs"))]
    path = tmp_path / "case.jsonl"
    case = take_in(logs)
    monkeypatch.setattr("forensics.engines.local.take_in", lambda paths, **_: case)  # read for the command and the scan
    result = CliRunner().invoke(cli, ["trace", *logs, "-o", str(path)], catch_exceptions=False)
    assert result.exit_code == 0
    for line in path.read_text().splitlines()[:400]:
        VALIDATOR.validate(json.loads(line))
    plain = scan(logs)
    monkeypatch.undo()
    traced = scan([str(path)])
    assert sum(len(p.judgements) for p in plain.partitions) > 0
    unread = [rule.id for rule in EVERY_RULE if rule.about_files or rule.about_records]
    about_files = dict.fromkeys(unread, Verdict.NOT_APPLICABLE.value)
    assert told(traced) == {
        (name, rule): about_files.get(rule, verdict) for (name, rule), verdict in told(plain).items()
    }
    assert sorted(f.fingerprint for f in traced.findings) == sorted(f.fingerprint for f in plain.findings)


def told(result: Result) -> dict[tuple[str, str], str]:
    return {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }


def test_a_trace_of_one_partition_leaves_the_others_out(sample_traces: Path) -> None:
    result = CliRunner().invoke(
        cli, ["trace", str(sample_traces / "traps-0.10.2.2"), "-p", "purged-0"], catch_exceptions=False
    )
    partitions = {(line.get("topic"), line.get("partition")) for line in map(json.loads, result.output.splitlines())}
    assert partitions == {(None, None), ("purged", 0)}


def test_simulate_writes_a_trace_that_answers(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    command = ["simulate", "loss", "--protocol", "hw", "-o", str(tmp_path / "evidence"), "--trace", str(path)]
    assert CliRunner().invoke(cli, command, catch_exceptions=False).exit_code == 0
    assert answers(path) == truth(scenario("loss").run("hw"))
    command[5] = str(tmp_path / "again")
    assert CliRunner().invoke(cli, command).exit_code == 2  # nothing is written over


@pytest.mark.parametrize("dated", [False, True], ids=["no times", "equal times"])
def test_a_trace_of_a_trace_keeps_the_order_of_its_lines(dated: bool, tmp_path: Path) -> None:
    """Where times are equal or absent, that order says what happened first: here broker 2 leads before 1 follows."""
    time = {"time": "2026-01-01T10:00:00Z"} if dated else {}
    stated = [
        (2, "become_leader", {"leader_epoch": 1, "log_end_offset": 0}),
        (1, "become_follower", {"leader_epoch": 1, "leader": 2, "log_end_offset": 0}),
        (2, "append", {"offset": 0, "log_end_offset": 10}),
        (1, "append", {"offset": 0, "log_end_offset": 10}),
    ]
    place = {"topic": "orders", "partition": 0}
    told = [{**time, "witness": witness, "kind": kind, **place, **values} for witness, kind, values in stated]
    path = lines(tmp_path / "t.jsonl", told)
    printed = CliRunner().invoke(cli, ["trace", str(path)]).stdout
    written = [json.loads(line) for line in printed.splitlines()]
    again = [(one["witness"], one["kind"]) for one in written if one.get("topic") == "orders"]
    assert again == [(witness, kind) for witness, kind, _ in stated]


def test_the_trace_of_a_trace_without_a_claim_can_be_read_whole(tmp_path: Path) -> None:
    """Its first line names a cluster and no replica."""
    place = {"topic": "orders", "partition": 0, "witness": 1}
    rows = [
        {"kind": "trace", "system": "kafka", "cluster": "c1"},
        {"time": "2026-01-01T10:00:00Z", **place, "kind": "state", "high_watermark": 15, "log_end_offset": 10},
    ]
    path = lines(tmp_path / "t.jsonl", rows)
    again = tmp_path / "again.jsonl"
    assert CliRunner().invoke(cli, ["trace", str(path), "-o", str(again)]).exit_code == 0
    assert take_in([str(again)]).notices.is_empty()
    assert {json.loads(line).get("cluster") for line in again.read_text().splitlines()} == {"c1", None}
