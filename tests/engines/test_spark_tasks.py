"""What the tasks of a batch come to, whatever is done where: run here one after another, without Spark."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import fsspec
import polars as pl
import pytest

from forensics.case import Reading
from forensics.engines import local
from forensics.engines.pipeline.stored import Stored
from forensics.engines.stages.listing import listed
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline
from forensics.reports import json_report, timeline_text
from forensics.result import Result
from parsers.files import remote
from tests.case.test_zones import BERLIN, EAST, PUT_BACK, cri, filebeat, taken
from tests.conftest import alike, in_full
from tests.engines.without_spark import run


def test_the_tasks_give_what_a_scan_gives(some_sample: Path, scanned: Callable[[Path], Result], tmp_path: Path) -> None:
    assert json_report.render(run(str(some_sample), tmp_path)) == json_report.render(scanned(some_sample))


@pytest.mark.parametrize("parts", [1, 5])
def test_small_tasks_and_thinned_partitions_change_nothing(parts: int, evidence: Path, tmp_path: Path) -> None:
    path = str(evidence / "powerloss-3.9.1-replication")
    found = run(path, tmp_path, split=1, partitions=parts, together=60)
    assert json_report.render(found) == json_report.render(local.scan([path]))


def test_a_timeline_from_tables_knows_when_processes_ended(sample_traces: Path, tmp_path: Path) -> None:
    """What a broker said last before it was killed may be about another partition."""
    copy = tmp_path / "kip101"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", copy)
    case = local.take_in([str(copy)])
    begun = case.observations.filter(pl.col("starts_run") & (pl.col("run") > 1))
    for source, line, time in begun.select("source", "line", "time").iter_rows():
        path = Path(case.path(source))
        lines = path.read_text().splitlines(keepends=True)
        said = f"[{time - timedelta(milliseconds=3):%Y-%m-%d %H:%M:%S,%f}"[:-3]
        lines.insert(line - 1, f"{said}] INFO Truncating log other-0 to offset 5. (kafka.log.Log)\n")
        path.write_text("".join(lines))
    run(str(copy), tmp_path / "out")
    expected = local.take_in([str(copy)])
    mine = Stored(tmp_path / "out").case("orders-0")
    shown = []
    for whose in (mine, expected):
        (history,) = (one for one in histories(whose) if one.name == "orders-0")
        shown.append(timeline_text.render(whose, history, timeline(whose, history), width=120, cite=True))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("mixed", [False, True])
def test_one_log_of_several_brokers(mixed: bool, sample_traces: Path, tmp_path: Path) -> None:
    logs = sorted((sample_traces / "unclean-3.9.1").glob("broker-*/logs/server.log"))
    lines = [line for log in logs for line in log.read_text().splitlines(True)]
    if mixed:
        lines.sort(key=lambda line: line[:25])
    (tmp_path / "server.log").write_text("".join(lines))
    path = str(tmp_path / "server.log")
    assert json_report.render(run(path, tmp_path / "out")) == json_report.render(local.scan([path]))


@in_full("zones are tried with a scan without it")
def test_zones_are_those_of_a_scan(sample_traces: Path, tmp_path: Path) -> None:
    """A broker whose collector tells its zone, one whose lines were taken late, and some that tell nothing."""
    late = filebeat(lambda time, number: time.replace(hour=20))
    ways = {"broker-1": (EAST, cri), "broker-2": (EAST, late)}
    copy = str(taken(sample_traces / "unclean-3.9.1", tmp_path, lambda broker, _: ways.get(broker, (EAST, None))))
    for number, reading in enumerate((Reading(), Reading("Europe/Berlin"))):
        found = run(copy, tmp_path / f"out-{number}", reading=reading)
        assert json_report.render(found) == json_report.render(local.scan([copy], reading=reading))


@pytest.mark.parametrize("joined", [False, True])
def test_an_hour_that_is_there_twice(joined: bool, sample_traces: Path, tmp_path: Path) -> None:
    copy = taken(sample_traces / "kip101-0.10.2.2", tmp_path, lambda *_: (BERLIN, None), PUT_BACK)
    path, reading = str(copy), Reading("Europe/Berlin")
    if joined:
        logs = sorted(copy.glob("broker-*/logs/server.log"))
        path = str(tmp_path / "all.log")
        Path(path).write_text("".join(log.read_text() for log in logs))
    found = run(path, tmp_path / "out", reading=reading)
    assert json_report.render(found) == json_report.render(local.scan([path], reading=reading))


def test_what_grep_printed(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    out = [
        f"{log.relative_to(trace)}:{number}:{line}\n"
        for log in sorted(trace.glob("broker-*/logs/*.log"))
        for number, line in enumerate(log.read_text().splitlines(), start=1)
        if "server" not in log.name or "orders" in line
    ]
    path = str(tmp_path / "found.txt")
    Path(path).write_text("".join(out))
    assert json_report.render(run(path, tmp_path / "out")) == json_report.render(local.scan([path]))


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    alike(
        [
            ("kip101-0.10.2.2", 0.3, 0.8),
            ("kip101-0.10.2.2", 0.5, None),
            ("kip101-0.10.2.2", None, 0.4),
            ("unclean-3.9.1", 0.5, None),
            ("bundle-unclean-2.8.2", 0.3, 0.8),
            ("unclean-3.9.1", None, 0.4),
        ]
    ),
)
def test_a_window_leaves_out_what_a_scan_leaves_out(
    name: str, begin: float | None, end: float | None, sample_traces: Path, tmp_path: Path
) -> None:
    path = str(sample_traces / name)
    times = local.take_in([path]).observations.filter(pl.col("line").is_not_null()).get_column("time").drop_nulls()
    first, last = times.cast(pl.Int64).min(), times.cast(pl.Int64).max()
    assert isinstance(first, int)
    assert isinstance(last, int)
    since, until = (None if part is None else round(first + part * (last - first)) for part in (begin, end))
    reading = Reading(skew={1: 1_500_000}, since=since, until=until)
    expected = local.scan([path], reading=reading)
    assert any("outside of the time span" in reason for reason in expected.case.notices.get_column("reason"))
    assert json_report.render(run(path, tmp_path, reading=reading)) == json_report.render(expected)


def test_a_joined_log_whose_first_lines_name_no_broker(sample_traces: Path, tmp_path: Path) -> None:
    """Three logs one after another: whose the first lines of each are is known from later ones."""
    logs = sorted((sample_traces / "unclean-3.9.1").glob("broker-*/logs/server.log"))
    assert len(logs) > 2
    (tmp_path / "all").mkdir()
    whole = tmp_path / "all" / "kafka.log"
    whole.write_bytes(b"".join(log.read_bytes() for log in logs))
    expected = local.scan([str(whole.parent)])
    filled = expected.case.observations
    assert filled.filter(pl.col("broker").is_not_null() & pl.col("line").is_between(1, 40)).height
    assert filled.get_column("broker").n_unique() >= 3
    for split in (1, 64 << 20):
        found = run(str(whole.parent), tmp_path / f"out-{split}", split=split)
        assert json_report.render(found) == json_report.render(expected)


def test_an_archive_at_a_url_is_read_where_it_lies(sample_traces: Path, tmp_path: Path) -> None:
    """Folders, plain files and compressed archives, as fsspec gives them."""
    memory = fsspec.filesystem("memory")
    memory.put(str(sample_traces / "bundle-unclean-2.8.2"), "/months/bundle", recursive=True)
    memory.put(str(sample_traces / "kip101-0.10.2.2"), "/months/kip101", recursive=True)
    try:
        expected = local.scan(["memory://months"])
        assert expected.findings
        assert json_report.render(run("memory://months", tmp_path)) == json_report.render(expected)
        before = listed(["memory://months"])
        with memory.open("/months/kip101/broker-1/logs/server.log", "ab") as out:
            out.write(b"more")
        after = listed(["memory://months"])
        changed = [new.path for old, new in zip(before, after, strict=True) if old != new]
        assert changed == ["memory://months/kip101/broker-1/logs/server.log"]
    finally:
        memory.rm("/months", recursive=True)


@pytest.mark.parametrize(
    ("given", "shown", "expected"),
    [
        ("memory://", "memory://a/b.log", "memory://a/b.log"),
        ("s3://bucket/months/", "s3://bucket/months/b.log", "s3://bucket/months/b.log"),
        ("file:///tmp/x", "file://tmp/x/y/z.log", "file:///tmp/x/y/z.log"),
        ("file:///tmp/x.log", "file:///tmp/x.log", "file:///tmp/x.log"),
        ("zip://logs::s3://bucket/a.zip", "zip://logs/server.log", "zip://logs/server.log::s3://bucket/a.zip"),
        ("s3://bucket/months", "s3://bucket/other/b.log", None),
    ],
)
def test_where_a_worker_finds_a_file(given: str, shown: str, expected: str | None) -> None:
    assert remote.address(given, shown) == expected
