"""One archive, run after run: what is new is read, what is touched is judged, whatever was killed in between.

The tasks run in this process; that Spark runs them alike is shown in ``test_spark``.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.engines.pipeline.explaining import explained
from forensics.engines.pipeline.job import NOTHING_NEW, prepared
from forensics.engines.pipeline.stored import Stored
from forensics.engines.stages import listing, plan
from forensics.errors import NothingUnderstood
from forensics.reports import html, json_report, text
from tests.conftest import alike, in_full
from tests.engines.comparing import TEXTS, generation, same_tables, saved, tables_of, texts_of
from tests.engines.without_spark import Here, run


def same_as_scan(archive: Path, out: Path, scanned: Path) -> None:
    """Tables and texts are those of a scan."""
    saved(local.scan([str(archive)]), scanned)
    assert texts_of(out) == texts_of(scanned)
    same_tables(tables_of(out), tables_of(scanned))


def test_a_second_run_reads_and_judges_only_what_is_new(sample_traces: Path, tmp_path: Path) -> None:
    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "traps-0.10.2.2", archive)
    (out / "reads" / "000007" / "table=facts").mkdir(parents=True)
    (out / "reads" / "000007" / "table=facts" / "part-0.parquet").write_bytes(b"PAR1 half")

    def runs(**options: object) -> tuple[object, list[str]]:
        said: list[str] = []
        return run(str(archive), out, say=said.append, texts=TEXTS, timelines=True, **options), said

    first, said = runs()
    same_as_scan(archive, out, tmp_path / "scan-1")
    before = texts_of(out)
    states = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*")}
    again, said = runs()
    assert said == [NOTHING_NEW]
    assert json_report.render(again) == json_report.render(first)
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in out.rglob("*")} == states
    (generation(out) / "notices").rename(out / ".notices")  # what is not there any more is written again
    again, said = runs()
    assert any(line.startswith("judging 0 partitions of") for line in said)
    assert not any(line.startswith(("looking", "read ")) for line in said)
    assert json_report.render(again) == json_report.render(first)
    assert texts_of(out) == before
    shutil.rmtree(out / ".notices")
    said = runs(settings="others")[1]
    assert any(line.startswith("judging 0 partitions of") for line in said), "texts may be others"

    # Another partition's directory on one broker, then none again.
    source = next(path for path in sorted(archive.glob("broker-1/data/*-0")) if any(path.glob("*.log")))
    shutil.copytree(source, source.with_name("added-0"))
    after, said = runs()
    assert any(line.startswith("judging 1 partitions of") for line in said)
    assert json_report.render(after) == json_report.render(local.scan([str(archive)]))
    same_as_scan(archive, out, tmp_path / "scan-2")
    shutil.rmtree(source.with_name("added-0"))
    gone, _ = runs()
    assert json_report.render(gone) == json_report.render(first)
    page = html.render(Stored(out).result(whole=True))
    assert page == html.render(local.scan([str(archive)]))


def test_problems_that_lines_state_fail_a_batch_as_they_fail_a_scan(tmp_path: Path) -> None:
    """A failed disk is no finding of a partition."""
    archive, out = tmp_path / "archive", tmp_path / "out"
    (archive / "broker-1").mkdir(parents=True)
    lines = ["[2026-03-01 10:22:41,100] INFO [KafkaServer id=1] starting (kafka.server.KafkaServer)"] * 200
    stopped = "ERROR Shutdown broker because all log dirs in /srv/kafka/data have failed (kafka.log.LogManager)"
    log = "\n".join([*lines, f"[2026-03-01 10:22:42,100] {stopped}"]) + "\n"
    (archive / "broker-1" / "server.log").write_text(log, "utf-8")
    run(str(archive), out, texts=TEXTS)
    (found,), (scanned,) = Stored(out).problems(), local.scan([str(archive)]).problems
    assert (found.known.id, found.broker, found.count) == ("all-log-dirs-failed", 1, 1)
    assert (found.known, found.states, found.refs[1:]) == (scanned.known, scanned.states, scanned.refs[1:])


def test_logs_handed_in_again_after_they_grew(sample_traces: Path, tmp_path: Path) -> None:
    """The earlier copy alone, then the later one beside it, plain and in an archive: as a scan counts them."""
    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive / "later")
    for log in sorted(archive.rglob("logs/*.log")):
        lines = log.read_bytes().splitlines(keepends=True)
        copy = archive / "earlier" / log.relative_to(archive / "later")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(b"".join(lines[: len(lines) // 2 + 1]))
        (copy.parent / f"{log.name}.1.gz").write_bytes(gzip.compress(b"".join(lines[: len(lines) // 3 + 1])))
    (archive / "later").rename(tmp_path / "later")
    run(str(archive), out, texts=TEXTS)
    same_as_scan(archive, out, tmp_path / "scan-1")
    (tmp_path / "later").rename(archive / "later")
    run(str(archive), out, texts=TEXTS)
    same_as_scan(archive, out, tmp_path / "scan-2")
    formats = Stored(out).result().case.sources.get_column("format").to_list()
    assert formats.count("copy") == 2 * len(list(archive.glob("later/*/logs/*.log")))


@in_full("a second run is tried without it")
def test_what_was_moved_or_touched_is_not_read_again(sample_traces: Path, tmp_path: Path) -> None:
    archive, out = tmp_path / "archive", tmp_path / "out"
    brokers_alone = shutil.ignore_patterns("README.md", "truth.json")
    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive / "may", ignore=brokers_alone)
    shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "june", ignore=brokers_alone)
    shutil.make_archive(str(archive / "june"), "gztar", tmp_path / "june")
    run(str(archive), out, texts=TEXTS, timelines=True)
    for path in archive.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (archive / "may").rename(archive / "2026")
    (archive / "june.tar.gz").rename(archive / "2027.tar.gz")
    said: list[str] = []
    run(str(archive), out, say=said.append, texts=TEXTS, timelines=True)
    assert any(line.startswith("looking into") for line in said), "they are hashed"
    assert not any(line.startswith("read ") for line in said), "and known by their hashes"
    same_as_scan(archive, out, tmp_path / "scan")
    pages = [html.render(local.scan([str(archive)]))]
    shutil.rmtree(archive)  # a page then lacks only what it quotes beside its charts
    pages.append(html.render(Stored(out).result(whole=True)))
    hashes = [re.findall(r'class="sha"[^>]*>([^<]*)', page) for page in pages]
    assert hashes[0] == hashes[1]
    assert all(hashes[0])


@in_full("a run after the logs grew is tried without it")
def test_what_is_cited_is_cited_as_it_is_now(sample_traces: Path, tmp_path: Path) -> None:
    """Of a log that grew, or whose lines look another way, findings about partitions that nobody judged again."""
    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive)
    run(str(archive), out, texts=TEXTS)
    for number, change in enumerate(
        [
            lambda text: f"{text}[2026-12-31 23:59:58,000] INFO nothing of interest (kafka.Nothing)\n",
            lambda text: text.replace("] INFO ", "] INFO  ").replace(" (kafka.", "  (kafka."),
        ]
    ):
        before = texts_of(out)
        for path in archive.glob("broker-*/logs/server.log"):
            path.write_text(change(path.read_text()))
        said: list[str] = []
        run(str(archive), out, say=said.append, texts=TEXTS)
        assert any(line.startswith("judging 0 partitions of") for line in said)
        assert texts_of(out) != before
        same_as_scan(archive, out, tmp_path / f"scan-{number}")


def test_another_content_of_the_same_size_and_time(sample_traces: Path, tmp_path: Path) -> None:
    """Only --check-content sees it."""
    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive)
    run(str(archive), out, texts=TEXTS, timelines=True)
    before = texts_of(out)
    path = archive / "broker-1" / "data" / "replication-offset-checkpoint"
    time, old = path.stat(), path.read_text()
    words = old.split()
    path.write_text(old.replace(f"orders 0 {words[-1]}", f"orders 0 {10 ** len(words[-1]) - 1}"))
    assert (path.stat().st_size, path.read_text() == old) == (time.st_size, False)
    os.utime(path, ns=(time.st_atime_ns, time.st_mtime_ns))
    run(str(archive), out, texts=TEXTS, timelines=True)
    assert texts_of(out) == before
    said: list[str] = []
    run(str(archive), out, say=said.append, texts=TEXTS, timelines=True, check=True)
    assert any(line.startswith("read 0.0 of 0.0 MB") for line in said), "one small file"
    assert texts_of(out) != before
    same_as_scan(archive, out, tmp_path / "scan")


KILLED = """
import os, re, signal, sys
from pathlib import Path
import polars as pl
from tests.engines.comparing import TEXTS
from tests.engines.without_spark import run
archive, out, moment, how = sys.argv[1:]
def at(path):
    return re.search(moment, str(path)) is not None
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
replace, write = Path.replace, pl.DataFrame.write_parquet
def replacing(self, target):
    if at(target) and how == "before":
        kill()
    replace(self, target)
    if at(target) and how == "after":
        kill()
def writing(self, file, **options):
    write(self, file, **options)
    if at(file) and how == "half":
        os.truncate(file, os.path.getsize(file) // 2)
        kill()
Path.replace, pl.DataFrame.write_parquet = replacing, writing
run(archive, Path(out), texts=TEXTS, timelines=True, split=1)
"""
"""A batch that is killed when it is about to put a file in its place, has done so, or has written half of it."""

MOMENTS = [
    ("reads/[0-9]*/wave-00000/table=facts/", "half"),
    ("reads/[0-9]*[.][0-9]*[.]json", "before"),
    ("reads/[0-9]*[.][0-9]*[.]json", "after"),
    ("tables-000002/observations/", "after"),
    ("tables-000002/answers/", "half"),
    ("tables-000002/partitions/", "half"),
    ("tables-000002/findings[.]jsonl", "before"),
    ("manifest[.]json", "before"),
    ("manifest[.]json", "after"),
]


@in_full("a second run is tried without it")
def test_killed_at_any_point_the_next_run_ends_with_the_same(
    sample_traces: Path, tmp_path: Path, repository: Path
) -> None:
    """The second of two runs is killed again and again, by a signal that nothing can catch."""
    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive / "kip101")
    run(str(archive), out, texts=TEXTS, timelines=True)
    before = texts_of(out)
    shutil.copytree(sample_traces / "unclean-3.9.1", archive / "unclean")
    moments = [*alike(MOMENTS[:-1]), MOMENTS[-1]]  # the last one leaves a run that counts
    for moment, how in moments:
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(archive), str(out), moment, how],
            env={**os.environ, "PYTHONPATH": str(repository)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL, (moment, done.stderr[-2000:])
        counts = texts_of(out) != before
        assert counts == ((moment, how) == MOMENTS[-1]), "the run before counts until the manifest is replaced"
        Stored(out).result()
    assert [path.name for path in out.glob("tables-*")] == ["tables-000001", "tables-000002"]
    said: list[str] = []
    run(str(archive), out, say=said.append, texts=TEXTS, timelines=True, split=1)
    assert not any(line.startswith("read ") for line in said)
    assert [path.name for path in out.glob("tables-*")] == ["tables-000003"]
    same_as_scan(archive, out, tmp_path / "scan")


def test_odd_names_and_files_that_cannot_be_read(sample_traces: Path, tmp_path: Path) -> None:
    """Names of any bytes, links and pipes, files without a byte, and an output whose name looks like a pattern."""
    archive, out = tmp_path / "months [1]*", tmp_path / "out [2]*?"
    (archive / "nothing").mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(NothingUnderstood, match="the folder is empty"):
            run(str(archive), out)
        (archive / "nothing" / "server.log").touch()
        (archive / "nothing" / "empty.tar.gz").touch()
        with pytest.raises(NothingUnderstood, match="2 files"):
            run(str(archive), out)
        shutil.rmtree(archive / "nothing")
        (archive / "nothing").mkdir()
    assert not (out / "manifest.json").exists()

    shutil.copytree(sample_traces / "kip101-0.10.2.2", archive / "a\nb")
    log = next((archive / "a\nb").glob("broker-*/logs/server.log"))
    os.rename(log, os.fsencode(log.parent) + b"/server\xff\xfe.log")  # noqa: PTH104 - a name that is no text
    os.mkfifo(archive / "pipe.log")
    (archive / "link").symlink_to(sample_traces)
    (archive / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00half")
    expected = local.scan([str(archive)])
    assert any("\\xff" in path for path in expected.case.sources.get_column("path"))
    assert json_report.render(run(str(archive), out)) == json_report.render(expected)
    said: list[str] = []
    again = run(str(archive), out, say=said.append)
    assert not any(line.startswith(("looking", "read ")) for line in said)
    assert json_report.render(again) == json_report.render(expected)
    assert text.render(Stored(out).result(), width=100) == text.render(expected, width=100)


def test_the_plan_says_what_would_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "[2026-03-01 12:00:00,000] INFO Truncating log orders-0 to offset 5. (kafka.log.Log)\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "server.log").write_text(line * (2 * listing.SPLIT // len(line) + 1))
    monkeypatch.setattr(plan, "GIANT", 1)
    (tmp_path / "a" / "notes.txt").write_text("nothing\n")
    found = explained(Here(), prepared([str(tmp_path / "a")], str(tmp_path / "out")))
    assert found.splits == ((str(tmp_path / "a" / "server.log"), 2),)
    assert found.giants[0][2] == "not a plain log of lines"
    assert (found.files, found.new, found.known, found.tasks) == (2, 2, 0, 3)
    assert not (tmp_path / "out").exists()
    assert generation(tmp_path / "out") == tmp_path / "out"
