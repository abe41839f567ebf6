"""``forensics inspect`` as a user meets it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import google_crc32c
import pytest
from click.testing import CliRunner, Result

from forensics.cli import cli
from tests.cli.conftest import Run
from tests.conftest import evidence_root


def run(*arguments: str | Path, code: int = 0, **more: object) -> Result:
    result = CliRunner().invoke(cli, ["inspect", *map(str, arguments)], **more)  # type: ignore[arg-type]
    assert result.exit_code == code, result.output
    return result


def test_a_checkpoint_is_spelled_out(sample_traces: Path) -> None:
    path = sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "orders-0" / "leader-epoch-checkpoint"
    lines = run(path).output.splitlines()
    assert lines[0] == str(path)
    assert lines[1].startswith("  epoch-checkpoint (leader epochs of one replica), ")
    assert "  partition orders-0" in lines
    assert "          line 3  epoch_entry topic=orders partition=0 leader_epoch=0 offset=0" in lines


def test_a_segment_shows_its_epochs(sample_traces: Path) -> None:
    (path,) = (sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "orders-0").glob("*.log")
    output = run(path).output
    assert "leader epochs 0 from offset 0, 2 from offset 30" in output
    assert "offsets from 0, log end offset 45, 45 batches" in output


def test_record_batches_are_listed_and_damage_shows_both_checksums(sample_traces: Path) -> None:
    (path,) = (sample_traces / "bitflip-1.1.1" / "broker-3" / "data" / "orders-0").glob("*.log")
    output = run(path, "--records", "3").output
    assert "  4 of 50 record batches" in output
    rows = [line.split() for line in output.splitlines() if line.endswith(("2026-11-21 08:33:05.495", "08:33:05.974"))]
    assert rows[0][:6] == ["0", "0", "1", "0", "129", "88093a4e"]
    assert rows[1][:7] == ["3,225", "25", "1", "0", "129", "df1025f6", "WRONG"]
    data = path.read_bytes()[3225 : 3225 + 129]
    computed = google_crc32c.value(data[21:])
    assert f"byte 3225: bad CRC: offset 25, stored CRC df1025f6, computed {computed:08x}: " in output
    assert "46 more; --records 50 shows all" in output
    assert "record batches" not in run(path).output.splitlines()[4]


def test_a_log_in_an_archive_says_its_layout_and_times(sample_traces: Path, tmp_path: Path) -> None:
    log = (sample_traces / "kip101-0.10.2.2" / "broker-1" / "logs" / "server.log").read_bytes()
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(log))
    output = run(tmp_path / "server.log.gz", "--rows", "2").output
    assert "bytes, gzip\n" in output
    assert "layout log4j; times without a zone" in output
    assert re.search(r"more; --rows [0-9]+ shows all", output)


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("call me\n")
    (tmp_path / "server.log").write_text("\x1b[31mnothing\n")
    output = run(tmp_path).output
    assert "unknown (format not recognised)" in output
    assert "named like a broker's file" in output
    assert "\x1b" not in output


def test_coverage_counts_and_can_fail(tmp_path: Path) -> None:
    good = (
        "[2024-03-01 10:22:41,107] INFO [Partition t-0 broker=1] Shrinking ISR from 1,2 to 1 (kafka.cluster.Partition)"
    )
    strange = "[2024-03-01 10:22:41,108] INFO [Partition t-0 broker=1] Shrinking ISR somehow (kafka.cluster.Partition)"
    other = "[2024-03-01 10:22:41,109] INFO Some words (kafka.Some)"
    (tmp_path / "server.log").write_text("\n".join([good, good, strange, other]) + "\n")
    line, total = run("--coverage", tmp_path).output.splitlines()[1:]
    of_bytes = [str(2 * len(good) + 2), str(len(other) + 1), "0", str(len(strange) + 1)]
    path = str(tmp_path / "server.log")
    assert line.split() == ["4", "3", "2", "66.66", "%", "1", *of_bytes, "broker-log", path]
    assert total.split()[:5] == ["4", "3", "2", "66.66", "%"]
    run("--coverage", "--at-least", "66", tmp_path)
    run("--coverage", "--at-least", "99.9", tmp_path, code=1)


def test_coverage_for_programs(sample_traces: Path) -> None:
    folder = sample_traces / "unclean-3.9.1"
    told = json.loads(run("--coverage", "--format", "json", folder).output)
    assert told["schema"] == "forensics.coverage/1"
    files = {file["path"]: file for file in told["files"]}
    assert files.keys() == {str(path) for path in folder.rglob("*") if path.is_file()}
    for path, file in files.items():
        assert list(file["bytes"]) == ["understood", "irrelevant", "damaged", "unknown"]
        assert sum(file["bytes"].values()) == Path(path).stat().st_size, path
    log = files[str(folder / "broker-1" / "logs" / "server.log")]
    assert (log["format"], log["relevant"], log["understood"]) == ("broker-log", 87, 87)
    assert log["bytes"]["understood"] > log["bytes"]["irrelevant"] > 0 == log["bytes"]["unknown"]
    run("--format", "json", folder, code=2)


def test_standard_input(sample_traces: Path) -> None:
    log = (sample_traces / "kip101-0.10.2.2" / "broker-1" / "logs" / "server.log").read_bytes()
    assert run("-", "--rows", "0", input=gzip.compress(log)).output.startswith("-\n  broker-log (")


def test_every_recorded_case_is_understood(evidence_case: Path) -> None:
    assert evidence_root() is not None
    run("--coverage", "--at-least", "99.9", evidence_case)


def test_every_sample_is_understood(some_sample: Path) -> None:
    run("--coverage", "--at-least", "99.9", some_sample)


def test_a_path_that_does_not_exist() -> None:
    result = CliRunner().invoke(cli, ["inspect", "no/such"])
    assert isinstance(result.exception, Exception)
    assert "no such file" in str(result.exception)


@pytest.mark.parametrize("arguments", [[], ["--rows", "-1", "."], ["--at-least", "101", "."]])
def test_usage(arguments: list[str]) -> None:
    run(*arguments, code=2)


def test_a_share_that_is_no_number(run: Run, sample_traces: Path) -> None:
    ran = run("inspect", sample_traces / "flap-3.9.1", "--coverage", "--at-least", "nan")
    assert (ran.code, ran.out) == (2, "")
    assert "nan is not in the range 0<=x<=100" in ran.err
