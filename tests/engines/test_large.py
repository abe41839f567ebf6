"""Scans whose rows wait on disk: the same answers as in memory, and nothing left behind."""

from __future__ import annotations

import errno
import gzip
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.case import Reading
from forensics.engines import large, local, processes, temporary, workers
from forensics.engines.local import Step
from forensics.engines.memory import OF_PROCESS, half_of_memory, is_large
from forensics.engines.pipeline import batch as pipeline
from forensics.engines.pipeline import shuffling
from forensics.engines.pipeline.executor import Given, Ordered, Stage, Tasks
from forensics.engines.processes import Processes
from forensics.engines.stages import files as files_
from forensics.engines.stages.rows import batches
from forensics.errors import NothingUnderstood, TaskFailed, UnreadableInput, UnusableOutput, UnwritableOutput
from forensics.reports import REPORTS
from forensics.result import Result
from parsers.files.sources import Source
from parsers.walk import walk
from tests.conftest import alike, in_full

MUCH = 1 << 40


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Temporary folders of their own, in which nothing may be left."""
    (mine := tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(mine))
    yield
    assert list(mine.iterdir()) == []


def reported(result: Result) -> dict[str, str]:
    """What each report shows that needs no rows."""
    return {one.name: "".join(one.pieces(result)) for one in REPORTS if not one.whole}


def test_it_is_the_same_in_memory_and_on_disk(some_sample: Path, scanned: Callable[[Path], Result]) -> None:
    assert reported(large.scan([str(some_sample)], jobs=1, memory=MUCH)) == reported(scanned(some_sample))


@pytest.mark.parametrize("jobs", alike([2, 5]))
def test_the_number_of_processes_does_not_matter(jobs: int, sample_traces: Path) -> None:
    paths = [str(sample_traces / "kip101-0.10.2.2"), str(sample_traces / "unclean-3.9.1")]
    found = large.scan(paths, jobs=jobs, memory=MUCH, topics=["ord*"])
    assert reported(found) == reported(local.scan(paths, topics=["ord*"]))


@pytest.mark.parametrize("rows", alike([3, 1 << 16]))
def test_large_partitions_are_put_in_order_by_themselves(
    rows: int, sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "_LARGE", 10)
    monkeypatch.setattr(processes, "_ROWS", rows)
    paths = [str(sample_traces / "kip101-0.10.2.2"), str(sample_traces / "flap-3.9.1")]
    how = Reading("Europe/Berlin", {1: 250_000})
    assert reported(large.scan(paths, reading=how, jobs=1, memory=MUCH)) == reported(local.scan(paths, reading=how))


@dataclass(frozen=True)
class Numbers:
    """Work that gives a row for each piece of a task."""

    schema: dict[str, pl.DataType]

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        for batch in incoming:
            rows = [json.loads(piece) for piece in batch.column("piece").to_pylist()]
            yield from batches(pl.DataFrame(rows, schema=self.schema, orient="row"), self.schema)


@dataclass(frozen=True)
class Joined:
    """Work that gives what it is given."""

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        yield from incoming


@given(
    tasks=st.lists(st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 9)), max_size=9), max_size=6),
    more=st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 9)), max_size=3),
)
def test_rows_of_the_same_keys_come_in_order(
    tasks: list[list[tuple[int, int | None]]], more: list[tuple[int, int | None]]
) -> None:
    schema: dict[str, pl.DataType] = {"key": pl.Int32(), "at": pl.Int32(), "n": pl.Int64()}
    count = itertools.count()
    rows = [[(key, at, next(count)) for key, at in task] for task in tasks]
    others = [(key, at, next(count)) for key, at in more]
    pieces = [[json.dumps(row) for row in task] for task in rows]
    gather = [
        Stage("gather", Tasks(pieces), Numbers(schema), schema),
        Stage("more", Given(pl.DataFrame(others, schema, orient="row")), None, schema),
    ]
    stage = Stage("join", Ordered(gather, ["key"], ["key", "at"], 1), Joined(), schema)
    with (
        tempfile.TemporaryDirectory() as folder,
        Processes(1, Path(folder)) as executor,
        patch.object(processes, "_ROWS", 2),
    ):
        found = executor.run(stage)
    assert sorted(found.rows(), key=repr) == sorted([*others, *(row for task in rows for row in task)], key=repr)
    for key in range(3):
        mine = found.filter(pl.col("key") == key).get_column("at").to_list()
        assert mine == sorted(mine, key=lambda at: (at is None, at))


def test_it_is_told_how_far_it_is(sample_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Step] = []
    monkeypatch.setattr("forensics.engines.pipeline.batch.SHOWN_EVERY", 0.001)
    large.scan([str(sample_traces / "kip101-0.10.2.2")], progress=steps.append, jobs=1, memory=MUCH)
    assert {(one.done, one.total, one.found) for one in steps if one.judging} == {(1, 1, 4)}
    read = [one for one in steps if not one.judging]
    assert read[-1].size == read[-1].whole > 0
    assert read[-1].done == read[-1].total == 37


def test_what_cannot_be_read_is_told_as_in_memory(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput):
        large.scan([str(tmp_path / "missing")], jobs=1, memory=MUCH)
    (tmp_path / "notes.txt").write_text("nothing of a broker\n")
    with pytest.raises(NothingUnderstood):
        large.scan([str(tmp_path / "notes.txt")], jobs=1, memory=MUCH)


def test_what_needs_more_memory_goes_to_disk(sample_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(sample_traces / "kip101-0.10.2.2")]
    asked: list[int] = []

    def scan(*given: object, jobs: int, memory: int, **more: object) -> Result:
        asked.append(memory)
        return large_scan(*given, jobs=jobs, memory=memory, **more)  # type: ignore[arg-type]

    large_scan = large.scan
    monkeypatch.setattr(large, "scan", scan)
    local.scan(paths)
    local.scan(paths, memory=half_of_memory())
    assert asked == []
    local.scan(paths, memory=1000, jobs=1)
    assert asked == [1000]


def test_compressed_evidence_is_taken_for_larger_than_it_is() -> None:
    def one(size: int, stored: str) -> Source:
        return Source("server.log", size, lambda: pytest.fail("opened"), stored=stored)

    assert not is_large([one(100, "")], 1000)
    assert is_large([one(100, "gzip")], 1000)


def test_a_gzip_states_how_large_its_content_is(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(b"[2026-03-01 12:00:00,000] INFO nothing (kafka.Nothing)\n" * 10_000))
    assert is_large(walk([str(path)]), 2_000_000)
    assert not is_large(walk([str(path)]), 3_000_000)
    path.write_bytes(b"\x1f\x8b\x08")
    assert not is_large(walk([str(path)]), 1_000)


@in_full("what memory allows is tried without it")
def test_processes_that_memory_does_not_allow_are_not_started(
    sample_traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(large, "Processes", lambda jobs, folder: asked.append(jobs) or Processes(1, folder))
    for memory in (1, 3 * OF_PROCESS, MUCH):
        large.scan([str(sample_traces / "flap-3.9.1")], jobs=4, memory=memory)
    assert asked == [1, 3, 4]


def test_a_full_disk_is_one_sentence(sample_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _rows: pl.DataFrame) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(files_, "put", full)
    with pytest.raises(TaskFailed, match="No space left on device; name a folder with more room: --tmp DIR"):
        large.scan([str(sample_traces / "flap-3.9.1")], jobs=1, memory=MUCH)


def test_a_full_disk_that_cuts_off_a_table_is_no_defect(sample_traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polars words it as damage of the format."""

    def failing(*_: object, **__: object) -> None:
        raise pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", failing)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 0))  # type: ignore[attr-defined]
    with pytest.raises(TaskFailed, match="No space left on device; name a folder with more room: --tmp DIR"):
        large.scan([str(sample_traces / "flap-3.9.1")], jobs=1, memory=MUCH)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnwritableOutput, match="--tmp DIR"), temporary.temporary(str(tmp_path / "missing")):
        pass


DIES = """
import os, sys
from pathlib import Path
from forensics.engines.stages import work
of = work.Read.__call__
def dies(self, incoming):
    beside = Path(os.environ["DIED"])
    if beside.stat().st_size < int(os.environ["OFTEN"]):
        with beside.open("a") as out:
            out.write("x")
        os._exit(9)
    return of(self, incoming)
work.Read.__call__ = dies
from forensics.engines.workers import serve
serve()
"""


@pytest.mark.parametrize("often", alike([1, 9]))
def test_a_task_on_which_a_process_ends_is_tried_once_more(
    often: int, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [str(sample_traces / "kip101-0.10.2.2")]
    (died := tmp_path / "died").write_text("")
    monkeypatch.setenv("DIED", str(died))
    monkeypatch.setenv("OFTEN", str(often))
    monkeypatch.setattr(workers, "_START", "import sys; sys.path[:] = {path!r}" + DIES)
    monkeypatch.setattr(workers.Workers, "ask", _without_this_process(workers.Workers.ask))
    monkeypatch.setattr(pipeline, "_TASKS_OF_SLOT", 0)  # one task reads all
    if often == 1:
        assert reported(large.scan(paths, jobs=2, memory=MUCH)) == reported(local.scan(paths))
    else:
        with pytest.raises(TaskFailed, match="ended with exit code 9; memory may be short: fewer --jobs need less"):
            large.scan(paths, jobs=2, memory=MUCH)
    assert died.stat().st_size == min(often, 2)


def _without_this_process(ask):  # type: ignore[no-untyped-def]
    return lambda self, work, loads, _here=None: ask(self, work, loads)


KILLED = """
import os, signal, sys, tempfile
from forensics.engines import large
from forensics.engines.pipeline.batch import Batch
tempfile.tempdir = sys.argv[2]
Batch.judge = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
large.scan([sys.argv[1]], jobs=2, memory=1 << 40)
"""


def test_what_a_killed_scan_left_is_removed_by_the_next_one(sample_traces: Path) -> None:
    path, mine = str(sample_traces / "flap-3.9.1"), Path(tempfile.gettempdir())
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(mine)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert list(mine.iterdir()) != []
    (others := mine / "forensics-scan-of-somebody").mkdir()
    large.scan([path], jobs=1, memory=MUCH)
    assert list(mine.iterdir()) == [others], "without a lock it may be one that begins"
    others.rmdir()


def test_evidence_is_not_written_to(tmp_path: Path) -> None:
    (folder := tmp_path / "evidence").mkdir()
    before = folder.stat().st_mtime_ns
    with (
        pytest.raises(UnusableOutput, match="evidence is never written to"),
        temporary.temporary(str(folder), [str(tmp_path / "evidence")]),
    ):
        pass
    assert folder.stat().st_mtime_ns == before


def test_a_folder_in_use_stays(tmp_path: Path) -> None:
    from forensics.engines.pipeline.output import Output

    with temporary.temporary() as folder, Output(folder).alone():
        assert not Output(folder).abandoned
        with temporary.temporary():
            assert folder.is_dir()
    assert not Output(tmp_path).abandoned
