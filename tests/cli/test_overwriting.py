"""An output replaces no file of a broker, no input of its command and no other output; its own former one it does."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from forensics.errors import UnwritableOutput
from forensics.overwriting import replaceable
from forensics.reports import REPORTS
from tests.cli.conftest import Run

CASE = "kip101-0.10.2.2"


@pytest.fixture
def evidence(sample_traces: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_traces / CASE, tmp_path / "evidence"))


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_the_file_on_standard_input_is_evidence(
    option: str, evidence: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = next(evidence.rglob("server.log"))
    before = log.read_bytes()
    kept = os.dup(0)
    try:
        with log.open("rb") as file:
            os.dup2(file.fileno(), 0)
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
            ran = run("scan", "-", option, log)
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert (ran.code, log.read_bytes() == before) == (2, True)
    assert f"{log} is standard input, which this command reads" in ran.err


def test_a_log_beside_the_one_that_is_read_stays(evidence: Path, run: Run) -> None:
    """Only one log was named as evidence, or the folder of another broker."""
    logs = sorted(evidence.rglob("*.log"))
    before = [log.read_bytes() for log in logs]
    for log in logs:
        others = [one for one in logs if one.parent != log.parent]
        ran = run("scan", others[0], "-o", log)
        assert (ran.code, "which is never written to" in ran.err) == (2, True), log
    assert [log.read_bytes() for log in logs] == before


@pytest.mark.parametrize("recorded", ["unclean-3.9.1", "kip101-0.10.2.2", "unclean-0.10.2.2"])
def test_each_file_of_a_broker_is_kept(recorded: str, sample_traces: Path) -> None:
    names = ("server.log", "state-change.log", "leader-epoch-checkpoint", "meta.properties")
    found = [path for path in (sample_traces / recorded).rglob("*") if path.is_file() and path.stat().st_size]
    of_brokers = [path for path in found if path.name in names or (path.suffix == ".log" and path.stem.isdigit())]
    assert len(of_brokers) > 5
    for path in of_brokers:
        with pytest.raises(UnwritableOutput, match="never written to"):
            replaceable([str(path)])


@pytest.mark.parametrize("format_name", [report.name for report in REPORTS])
def test_an_output_replaces_what_the_same_command_wrote(
    format_name: str, evidence: Path, tmp_path: Path, run: Run
) -> None:
    for command in (["scan", evidence, "--format", format_name], ["trace", evidence]):
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        codes = [run(*command, "-o", output).code for _ in range(2)]
        assert codes[0] == codes[1] != 2


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_an_earlier_scan_that_is_read_stays(option: str, evidence: Path, tmp_path: Path, run: Run) -> None:
    before = tmp_path / "before.json"
    run("scan", evidence, "--format", "json", "-o", before)
    text = before.read_text()
    ran = run("scan", evidence, "--baseline", before, option, before)
    assert (ran.code, before.read_text()) == (2, text)
    assert "which this command reads" in ran.err
    assert json.loads(text)["findings"]


def test_two_outputs_are_two_files(evidence: Path, tmp_path: Path, run: Run) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "same")
    for other in ("same", "link", "./same"):
        ran = run("scan", evidence, "-o", tmp_path / "same", "--report", f"{tmp_path}/{other}")
        assert (ran.code, "two outputs of this command" in ran.err) == (2, True)
    assert not (tmp_path / "same").exists()


def test_records_are_no_report_of_themselves(tmp_path: Path, run: Run) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text("{}\n")
    ran = run("produce", records, "--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--report", records)
    assert (ran.code, records.read_text()) == (2, "{}\n")
    assert "which this command reads" in ran.err
