"""``forensics simulate``, as users call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from forensics.cli.simulate import simulate
from forensics.engines.local import scan
from forensics.errors import UnwritableOutput
from forensics.model import PROTOCOLS, SCENARIOS, VARIANTS, scenario


def call(*arguments: object) -> Result:
    return CliRunner().invoke(simulate, [str(argument) for argument in arguments])


def verdicts(path: Path) -> dict[str, str]:
    (partition,) = scan([str(path)]).partitions
    return {rule: judgement.verdict.value for rule, judgement in partition.judgements.items()}


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("arguments", [[], ["--list"], ["fork", "--list"]])
def test_list(arguments: list[str]) -> None:
    lines = call(*arguments).output.splitlines()
    assert [line.split()[0] for line in lines] == [story.name for story in SCENARIOS]
    assert all(story.summary in line for story, line in zip(SCENARIOS, lines, strict=True))


@pytest.mark.parametrize("protocol", [p.name for p in (*PROTOCOLS, *VARIANTS)])
def test_evidence_trace_and_truth(protocol: str, tmp_path: Path) -> None:
    result = call("power-loss", "--protocol", protocol, "-o", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert "lost_committed yes" in result.output
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    assert (truth["protocol"], truth["lost_committed_offsets"]) == (protocol, [[10, 15]])
    assert (tmp_path / "run" / "trace.jsonl").stat().st_size > 1000
    assert (tmp_path / "run" / "broker-1" / "data" / "orders-0" / "00000000000000000000.log").stat().st_size > 0
    assert verdicts(tmp_path / "run")["committed-data-lost"] == "violated"


def test_a_scan_looks_at_neither_the_events_nor_the_truth(tmp_path: Path) -> None:
    call("failover-truncation", "--protocol", "hw", "-o", tmp_path / "run")
    with_both = scan([str(tmp_path / "run")])
    kinds = {Path(path).name: kind for path, kind in with_both.case.sources.select("path", "format").iter_rows()}
    assert (kinds["trace.jsonl"], kinds["truth.json"]) == ("unknown", "unknown")
    before = verdicts(tmp_path / "run")
    (tmp_path / "run" / "trace.jsonl").unlink()
    (tmp_path / "run" / "truth.json").unlink()
    assert verdicts(tmp_path / "run") == before


def test_seed_steps_and_logging(tmp_path: Path) -> None:
    for name, *options in (
        ("one", "--seed", 4),
        ("same", "--seed", 4),
        ("other", "--seed", 5),
        ("short", "--seed", 4, "--steps", 10),
        ("loud", "--seed", 4, "--logging", "replication"),
    ):
        assert call("random", "--protocol", "fetch", "-o", tmp_path / name, *options).exit_code == 0
    assert below(tmp_path / "one") == below(tmp_path / "same") != below(tmp_path / "other")
    events = {name: (tmp_path / name / "trace.jsonl").read_text().count("\n") for name in ("one", "short")}
    assert events["short"] < events["one"]
    log = Path("broker-1") / "logs" / "server.log"
    assert (tmp_path / "one" / log).stat().st_size < (tmp_path / "loud" / log).stat().st_size


def test_a_story_stops_after_its_steps(tmp_path: Path) -> None:
    call("two-replicas", "--protocol", "epoch", "--steps", 3, "-o", tmp_path / "run")
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    assert truth["replica_hws"] == {"1": 0, "2": 0}
    assert truth["replica_ends"] == scenario("two-replicas").run("epoch", steps=3).truth()["replica_ends"]


def test_what_if_puts_the_protocols_side_by_side() -> None:
    lines = call("loss", "--what-if").output.splitlines()
    assert [line.split()[0] for line in lines[2:]] == [p.name for p in PROTOCOLS]
    assert "[1, 2)" in lines[2]
    assert not any("[1, 2)" in line for line in lines[3:])
    assert "[1, 2)" not in call("loss", "--what-if", "--steps", 2).output


@pytest.mark.parametrize("protocol", ["hw", "epoch", "fetch"])
def test_a_trace_of_everything_is_judged_alone(protocol: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    result = call("failover-truncation", "--protocol", protocol, "-o", tmp_path / "run", "--trace", file)
    assert result.exit_code == 0, result.output
    expected = "violated" if protocol == "hw" else "clean"
    given = verdicts(file)
    assert (given["committed-data-lost"], given["truncation-below-committed"]) == (expected, expected)
    assert given["replica-divergence"] == "unknown"  # no bytes to compare


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    result = call("fork", "--protocol", "hw", "-o", tmp_path)
    assert result.exit_code == 2
    assert "not empty" in result.output
    assert below(tmp_path) == {"kept.txt": b"mine"}
    result = call("fork", "--protocol", "hw", "-o", tmp_path / "run", "--trace", tmp_path / "kept.txt")
    assert result.exit_code == 2
    result = call("fork", "--protocol", "hw", "-o", tmp_path / "run", "--trace", tmp_path / "run" / "all.jsonl")
    assert result.exit_code == 2
    assert below(tmp_path) == {"kept.txt": b"mine"}


def test_wrong_use_is_told(tmp_path: Path) -> None:
    for arguments, told in (
        (["no-such-story"], "two-replicas"),
        (["fork"], "--protocol and -o"),
        (["fork", "--protocol", "raft", "-o", tmp_path], "epoch-279"),
        (["fork", "--protocol", "hw", "-o", tmp_path, "--steps", "0"], "x>=1"),
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert told in result.output


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = call("fork", "--protocol", "hw", "-o", tmp_path / "file" / "run")
    assert isinstance(result.exception, UnwritableOutput)
    assert "file" in str(result.exception)
