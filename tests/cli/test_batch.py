"""``forensics batch`` and ``forensics report`` where they cannot go on; what they come to is tested with the engine."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.case import Case
from forensics.engines import local
from forensics.engines.pipeline.output import Output
from forensics.replay.history import History
from forensics.reports import REPORTS
from forensics.result import Result
from tests.cli.conftest import Ran, Run
from tests.cli.test_hostile_names import HOSTILE, STEERS
from tests.conftest import alike, in_full
from tests.engines.without_spark import here


def ran(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """The installed program, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "forensics", *map(str, arguments)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_without_java_a_sentence_says_so(sample_traces: Path, tmp_path: Path) -> None:
    env = {"PATH": str(tmp_path), "JAVA_HOME": ""}
    done = ran("batch", sample_traces / "unclean-3.9.1", "-o", tmp_path / "out", **env)
    assert done.returncode == 2
    assert done.stderr.startswith("forensics: no Java found on the PATH, and JAVA_HOME is not set")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("version", "said"), alike([("11.0.2", "is Java 11: Spark needs 17"), ("1.8.0_392", "is Java 1:")])
)
def test_an_old_java_is_named(version: str, said: str, sample_traces: Path, tmp_path: Path) -> None:
    """In a process of its own: in this one a session may run already."""
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    done = ran("batch", sample_traces / "unclean-3.9.1", "-o", tmp_path / "out", JAVA_HOME=str(tmp_path))
    assert done.returncode == 2
    assert said in done.stderr


def test_without_pyspark_a_sentence_says_so(sample_traces: Path, tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("raise ImportError('not here')\n")
    sample = sample_traces / "unclean-3.9.1"
    done = ran("batch", sample, "-o", tmp_path / "out", PYTHONPATH=f"{tmp_path}{os.pathsep}{Path.cwd()}")
    assert done.returncode == 2
    assert "PySpark cannot be imported (not here); install it again: pip install 'pyspark>=4.0,<5'" in done.stderr


def test_a_setting_has_a_value(tmp_path: Path, run: Run) -> None:
    done = run("batch", tmp_path, "-o", tmp_path / "out", "--conf", "spark.executor.memory")
    assert done.code == 2
    assert "is not KEY=VALUE, as in spark.executor.memory=4g" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none", "-o", "out"), "none: no such file or directory; give a folder with logs or data of brokers"),
        (("full", "-o", "file/out"), "Not a directory; name a folder that can be written"),
        (("full", "-o", "full/out"), "lies in the archive full, and evidence is never written to; name a folder"),
        (("full", "-o", "."), "holds code.txt, which no batch wrote; name a new folder"),
        (("full", "-o", "s3://bucket/out"), "s3://bucket/out: not a path; mount it"),
        (("empty", "-o", "out"), "empty: the folder is empty; give a folder with logs or data directories of brokers"),
        (("full", "-o", "out", "--master", "locl[2]"), "'locl[2]' is no master; use one like local[*]"),
        (("full", "-o", "out", "--conf", "executor.cores=2"), "no setting of Spark, whose names begin with spark."),
        (("full", "-o", "out", "--py-files", "code.txt"), "'code.txt' is no Python code that Spark ships; give a .zip"),
    ],
)
def test_what_cannot_be_is_told_before_spark_is_looked_for(
    arguments: tuple[str, ...], said: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "server.log").write_text("nothing\n")
    (tmp_path / "empty").mkdir()
    for name in ("file", "code.txt"):
        (tmp_path / name).write_text("")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", "")
    done = run("batch", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_where_another_batch_is_at_work(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("nothing\n")
    with Output(tmp_path / "out").alone():
        done = ran("batch", tmp_path / "server.log", "-o", tmp_path / "out", PATH=str(tmp_path), JAVA_HOME="")
    assert (done.returncode, "another batch is at work in it; wait for its end" in done.stderr) == (2, True)


def test_a_report_needs_a_finished_batch(tmp_path: Path, run: Run) -> None:
    done = run("report", tmp_path / "none")
    assert (done.code, "no such folder; give one that `forensics batch -o` wrote" in done.err) == (2, True)
    done = run("report", tmp_path)
    assert (done.code, "no completed batch in this directory" in done.err) == (2, True)


class Tables:
    """The tables of a batch, as far as ``forensics report`` reads them."""

    found: Result

    def __init__(self, _folder: Path) -> None: ...

    def result(self, *, whole: bool) -> Result:
        return self.found


def test_a_report_is_not_written_over_evidence_and_names_a_failure(
    sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    case = Path(shutil.copytree(sample_traces / "unclean-0.10.2.2", tmp_path / "case"))
    log = case / "broker-1" / "logs" / "server.log"
    before = b"\n" + log.read_bytes()  # the beginning of a log is not recognised before anything is read
    log.write_bytes(before)
    Tables.found = local.scan([str(case)])
    monkeypatch.setattr("forensics.engines.pipeline.stored.Stored", Tables)
    assert run("report", tmp_path).code == 1
    (tmp_path / "link").hardlink_to(log)
    done = run("report", tmp_path, "-o", tmp_path / "link")
    assert (done.code, log.read_bytes()) == (2, before)
    assert "is part of the evidence, which is never written to" in done.err
    done = run("report", tmp_path, "-o", case / "broker-1" / "new")
    assert (done.code, (case / "broker-1" / "new").exists()) == (2, False)
    assert "which is never written to" in done.err

    def failing(_case: Case) -> list[History]:
        raise ZeroDivisionError("made by a test")

    monkeypatch.setattr("forensics.engines.local.histories", failing)
    Tables.found = local.scan([str(case)])
    done = run("report", tmp_path)
    assert (done.code, done.err.partition(";")[0]) == (3, "forensics: this program failed on 1 partition")


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tasks of a batch run in this process."""
    monkeypatch.setattr("forensics.engines.spark.session.session", lambda **_: None)
    with here():
        yield


def failing(*_: object) -> Any:
    raise ZeroDivisionError("made by a test")


def twice(run: Run, *arguments: object) -> list[Ran]:
    """A batch, and one that finds nothing new."""
    ran = [run("batch", *arguments) for _ in range(2)]
    assert "nothing is new" in ran[1].err
    return ran


@pytest.mark.usefixtures("without_spark")
def test_nothing_found_and_a_partition_not_judged_exits_with_3(
    sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setattr("forensics.engines.local.histories", failing)
    for done in twice(run, sample_traces / "unclean-0.10.2.2", "-o", tmp_path / "out"):
        assert (done.code, "findings: none" in done.out) == (3, True)
        assert "this program failed on 1 partition" in done.err


@pytest.mark.usefixtures("without_spark")
@pytest.mark.parametrize(("name", "code"), [("flap-3.9.1", 3), ("unclean-0.10.2.2", 1)])
def test_a_file_that_fails_is_named_and_hides_no_loss(
    name: str, code: int, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setattr("parsers.takers.data_files.read_meta_properties", failing)
    for done in twice(run, sample_traces / name, "-o", tmp_path / "out"):
        assert done.code == code, done
        assert re.search("this program failed on [0-9] files", done.err)
        assert "meta.properties (failed)" in done.out


@in_full("outputs of a scan are tried without it")
@pytest.mark.usefixtures("without_spark")
def test_no_output_of_a_batch_steers_who_looks_at_it(
    sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Names and lines of evidence that steer a terminal, turn the reading order or begin a formula."""
    monkeypatch.chdir(tmp_path)
    case = Path(f"=case{HOSTILE}")
    shutil.copytree(sample_traces / "kip101-0.10.2.2", case)
    for path in sorted(case.rglob("*"), reverse=True):
        if path.suffix == ".log" and path.parent.name == "logs":
            path.write_text(path.read_text().replace("orders", "-orders").replace(" (kafka.", f" {HOSTILE} (kafka."))
        elif path.is_file() and path.name.endswith("-checkpoint"):
            path.write_text(path.read_text().replace("orders", "-orders"))
        elif path.name == "orders-0":
            path.rename(path.with_name("-orders-0"))
    log = case / "broker-2" / "logs" / "server.log"
    log.rename(log.with_name(f"server.log.{HOSTILE}"))
    (case / f"=cmd{HOSTILE}.log").write_text(f"{HOSTILE}\n")
    out = tmp_path / f"out{HOSTILE}"
    asked = {
        "plan": ["batch", case, "-o", out, "--explain"],
        "batch": ["batch", case, "-o", out],
        "again": ["batch", case, "-o", out],
        **{one.name: ["report", out, "--format", one.name] for one in REPORTS},
        "timeline": ["timeline", out, "-p", "-orders-0", "--lines"],
        "no batch": ["report", tmp_path / HOSTILE],
        "no partition": ["timeline", out, "-p", HOSTILE],
    }
    ran = {what: run(*one) for what, one in asked.items()}
    assert {what: done.code for what, done in ran.items() if done.code > 1} == {"no batch": 2, "no partition": 2}
    said = {what: f"{done.out}{done.err}" for what, done in ran.items()}
    said |= {path.name: path.read_text() for path in out.rglob("*.json*")}
    assert {"findings.jsonl", "verdicts.jsonl", "manifest.json"} <= said.keys()
    plain = {what: re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL) for what, text in said.items()}
    assert {what: STEERS.findall(text) for what, text in plain.items() if STEERS.search(text)} == {}
    # OpenMetrics has neither paths nor lines.
    assert {"batch", "timeline", "findings.jsonl", *(one.name for one in REPORTS)} - {"openmetrics"} <= {
        what for what, text in plain.items() if "evil" in text
    }
    cells = [cell for row in csv.reader(io.StringIO(ran["timesketch"].out)) for cell in row]
    assert "'-orders" in cells
    assert any(cell.startswith("'=case") for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
