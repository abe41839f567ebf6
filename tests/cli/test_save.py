"""``forensics scan --save``: tables beside the answer, and nothing of the user's written over."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl

from tests.cli.conftest import Run

LOSS = "kip101-0.10.2.2"


def test_the_command_saves_and_saves_again(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    for _ in range(2):
        ran = run("scan", sample_traces / LOSS, "--save", tmp_path / "out", "--format", "json")
        assert ran.code == 1
        assert pl.read_parquet(tmp_path / "out" / "findings.parquet").height == len(ran.document["findings"])


def test_nothing_else_is_written_over(run: Run, sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / LOSS, tmp_path / "evidence")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    ran = run("scan", tmp_path / "evidence", "--save", tmp_path / "evidence" / "broker-1")
    assert ran.code == 2
    assert "which is no table of a scan" in ran.err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
