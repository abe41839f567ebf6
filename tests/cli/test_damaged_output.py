"""Damaged files in the folder of a batch: report, timeline and the next batch name the file and the next step."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.pipeline.output import Output
from forensics.errors import UnusableOutput
from forensics.result import Result
from tests.cli.conftest import Run
from tests.engines import without_spark


@pytest.fixture(scope="module")
def judged(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judged")
    without_spark.run(str(sample_traces / "unclean-0.10.2.2"), out)
    return out


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(judged, tmp_path / "judged"))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def _zeroed(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


HOW: list[Callable[[Path], None]] = [_cut, _zeroed, _emptied, Path.unlink]
MANIFESTS = {
    "deep": "[" * 100_000,
    "cut": '{"format": "forensics.batch/1", "gene',
    "almost empty": '{"format": "forensics.batch/1"}',
    "of a list": "[]",
    "binary": "\0\1\2",
}


def _asked(command: str, folder: Path, sample_traces: Path) -> list[object]:
    return {
        "report": ["report", folder],
        "page": ["report", folder, "--format", "html", "-o", folder.parent / "page.html"],
        "timeline": ["timeline", folder, "-p", "orders-0"],
        "batch": ["batch", sample_traces / "unclean-0.10.2.2", "-o", folder, "-q"],
    }[command]


@pytest.mark.parametrize("command", ["report", "page", "timeline"])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["files", "sources", "partitions", "observations", "batches", "notices"])
def test_a_damaged_table_is_named(
    name: str, how: Callable[[Path], None], command: str, folder: Path, sample_traces: Path, run: Run
) -> None:
    (generation,) = folder.glob("tables-*")
    files = sorted(path for path in (generation / name).rglob("*.parquet"))
    for path in files:
        how(path)
    ran = run(*_asked(command, folder, sample_traces))
    if ran.code in (0, 1):  # it does not need this table, or a table without this file is one
        assert name in ("observations", "batches", "notices")
        return
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{files[0]}: is damaged; delete {folder}/manifest.json and run forensics batch" in ran.err


@pytest.mark.parametrize("command", ["report", "timeline", "batch"])
@pytest.mark.parametrize("how", MANIFESTS)
def test_a_damaged_manifest_is_named(how: str, command: str, folder: Path, sample_traces: Path, run: Run) -> None:
    (folder / "manifest.json").write_text(MANIFESTS[how])
    ran = run(*_asked(command, folder, sample_traces))
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert "defect" not in ran.err
    assert f"{folder}/manifest.json: is" in ran.err


def test_one_changed_number_of_a_manifest_is_seen(folder: Path, run: Run) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"generation": 1', '"generation": 2'))
    assert f"{path}: is damaged; delete it and run forensics batch" in run("report", folder).err


@pytest.mark.parametrize("place", ["tables", "reads", "notes of reads", "manifest"])
def test_the_next_batch_names_it_or_does_without(place: str, folder: Path, sample_traces: Path) -> None:
    wanted = {
        "tables": "tables-*/**/*.parquet",
        "reads": "reads/**/*.parquet",
        "notes of reads": "reads/*.json",
        "manifest": "manifest.json",
    }

    def again() -> Result:
        return without_spark.run(str(sample_traces / "unclean-0.10.2.2"), folder, topics=("orders*",))

    for path in folder.glob(wanted[place]):
        _zeroed(path)
    if place != "notes of reads":  # what they are about is read again without them
        step = folder / "reads" if place == "reads" else folder / "manifest.json"
        said = "it" if place == "manifest" else re.escape(str(step))
        with pytest.raises(UnusableOutput, match=f"is damaged; delete {said} and run forensics batch into the folder"):
            again()
        step.unlink() if step.is_file() else shutil.rmtree(step)
    assert [one.rule for one in again().findings]
    assert Output(folder).open()["topics"] == ["orders*"]


@pytest.mark.parametrize("name", ["partitions", "observations"])
def test_a_pipe_in_place_of_a_table_is_not_waited_for(name: str, folder: Path, run: Run) -> None:
    (generation,) = folder.glob("tables-*")
    path = next((generation / name).rglob("*.parquet"))
    path.unlink()
    os.mkfifo(path)
    ran = run("report", folder)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{path}: is " in ran.err
