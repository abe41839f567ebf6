"""The Spark engine gives the answers of a scan, byte by byte, wherever it runs and however often it is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forensics import tables
from forensics.case import Case
from forensics.engines import local
from forensics.engines.spark.output import Output
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline as replay
from forensics.reports import html, json_report, jsonl, text, timeline_text
from forensics.result import Result
from forensics.rules.finding import place
from tests.engines.conftest import Cluster, Sessions

pytestmark = pytest.mark.spark

Batch = Callable[..., Result]
WHOLE: dict[str, Callable[[Result], str]] = {
    "findings.jsonl": jsonl.render,
    "verdicts.jsonl": lambda result: "".join(json.dumps(row) + "\n" for row in tables.verdict_rows(result)),
}
TEXTS: dict[str, Callable[[Result], Iterable[tuple[tuple[object, ...], str]]]] = {
    "findings.jsonl": lambda result: ((one.order, jsonl.line(one)) for one in result.findings),
    "verdicts.jsonl": lambda result: (
        (one.order, "".join(json.dumps(row) + "\n" for row in tables.verdicts_of(one))) for one in result.partitions
    ),
}
"""The same, as parts of a batch give them."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, sample_traces: Path) -> Path:
    """Three clusters: a KRaft one, one without leader epochs, one as compressed archives."""
    folder = tmp_path_factory.mktemp("archive") / "months"
    for name in ("unclean-3.9.1", "kip101-0.10.2.2", "bundle-unclean-2.8.2"):
        shutil.copytree(sample_traces / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def expected(archive: Path) -> Result:
    return local.scan([str(archive)])


@dataclass(frozen=True)
class Engine:
    """One way to run a batch.

    Attributes:
        run: runs it over an archive into a folder.
        waves: in how many what it read is kept.
        told: whether all that is told from its tables is compared too; the tables of all ways are the same.
    """

    run: Callable[[Path, Path], None]
    waves: int = 1
    told: bool = False


@pytest.fixture(params=["local", "local[1]", "local[2] in 3 parts", "cluster"])
def engine(request: pytest.FixtureRequest, sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Runs a batch over an archive into a folder."""
    from forensics.engines.spark import batch as engine
    from forensics.engines.spark.batch import Options, batch

    if request.param == "local":
        return Engine(lambda archive, out: _saved(local.scan([str(archive)]), out))
    if request.param == "cluster":
        return Engine(lambda archive, out: _on_cluster(request, sessions, archive, out))
    master, _, more = request.param.partition(" ")
    if more:
        monkeypatch.setattr(engine, "_WAVE", 1)  # what was read is kept task by task
    options = Options(texts=TEXTS, partitions=3 if more else None, split=32 << 20)
    run = lambda archive, out: batch(sessions(master), [str(archive)], str(out), options) and None  # noqa: E731
    return Engine(run, waves=2 if more else 1, told=bool(more))


def _saved(result: Result, out: Path) -> None:
    """A scan, for the same questions."""
    out.mkdir()
    for name, render in WHOLE.items():
        (out / name).write_text(render(result), "utf-8")


def _on_cluster(request: pytest.FixtureRequest, sessions: Sessions, archive: Path, out: Path) -> None:
    """On a master and two workers, with the code shipped; one worker is killed while partitions are judged."""
    from forensics.engines.spark.batch import Options, batch

    cluster: Cluster = request.getfixturevalue("cluster")
    code: Path = request.getfixturevalue("code")
    spark = sessions(cluster.url, spark__executor__memory="512m")
    spark.addArtifacts(str(code), pyfile=True)
    assert all(f"/{code.name}/forensics/" in path for path in _code_of(spark))
    killed = threading.Event()

    def say(said: str) -> None:
        if said.startswith("judging") and not killed.is_set():
            killed.set()
            threading.Timer(0.3, cluster.kill, [0]).start()

    batch(spark, [str(archive)], str(out), Options(texts=TEXTS, partitions=5), say)
    assert cluster.workers[0].poll() is not None
    assert cluster.workers[1].poll() is None


def _code_of(spark: object) -> set[str]:
    """Where workers import our code from."""
    import pyarrow as pa

    def where(incoming):  # type: ignore[no-untyped-def]
        import forensics

        for _ in incoming:
            pass
        yield pa.record_batch({"path": [str(forensics.__file__)]})

    rows = spark.range(0, 4, 1, 4).mapInArrow(where, "path string").collect()  # type: ignore[attr-defined]
    return {row["path"] for row in rows}


def generation(out: Path) -> Path:
    """The tables that count."""
    return out / f"tables-{json.loads((out / 'manifest.json').read_text())['generation']:06}"


def same_tables(output: Output, expected: Result, folder: Path) -> None:
    """Findings and verdicts have the bytes that those of a scan would have."""
    for table in tables.TABLES:
        if table.name in ("findings", "verdicts"):
            rows = table.rows(expected).select(pl.col(name).cast(dtype) for name, dtype in table.schema.items())
            Output(folder / "same").write_table(1, table.name, rows)
            written, wanted = (whose.files_of(1, table.name) for whose in (output, Output(folder / "same")))
            assert [path.read_bytes() for path in written] == [path.read_bytes() for path in wanted]


def same_case(one: Case, two: Case) -> None:
    """Both have the same tables."""
    for name in ("sources", "observations", "batches", "notices"):
        assert_frame_equal(getattr(one, name), getattr(two, name))
    assert one.everyone == two.everyone


def test_every_engine_gives_the_same(engine: Engine, archive: Path, expected: Result, tmp_path: Path) -> None:
    from forensics.engines.spark.stored import Stored

    out = tmp_path / "out"
    engine.run(archive, out)
    folder = generation(out) if (out / "manifest.json").exists() else out
    for name, render in WHOLE.items():
        assert (folder / name).read_text("utf-8") == render(expected)
    if folder == out:
        return
    assert len(list((out / "reads").glob("*.json"))) == engine.waves
    same_tables(Output(out), expected, tmp_path)
    stored = Stored(out)
    same_case(stored.case(), expected.case)
    if not engine.told:
        return
    assert json_report.render(stored.result()) == json_report.render(expected)
    assert text.render(stored.result(), width=100) == text.render(expected, width=100)
    for history in (history for part in expected.case.parts for history in histories(part)):
        case = stored.case(history.name)
        (mine,) = (one for part in case.parts for one in histories(part) if place(one) == place(history))
        shown, wanted = (
            timeline_text.render(whose, one, replay(whose, one), width=100, cite=True)
            for whose, one in ((case, mine), (expected.case, history))
        )
        assert shown == wanted


# -- one archive, run after run ---------------------------------------------------------------------------------------


@pytest.fixture
def run(sessions: Sessions, tmp_path: Path) -> Callable[..., tuple[Result, list[str]]]:
    """Runs a batch into one folder again and again; gives what it came to and what it said."""
    from forensics.engines.spark.batch import Options, batch

    def runs(archive: Path, killed_at: str = "") -> tuple[Result, list[str]]:
        told: list[str] = []

        def say(said: str) -> None:
            told.append(said)
            if killed_at and said.startswith(killed_at):
                raise KeyboardInterrupt

        return batch(sessions("local[2]"), [str(archive)], str(tmp_path / "out"), Options(texts=TEXTS), say), told

    return runs


KILLED = """
import os, signal, sys, threading
from forensics.engines.spark.batch import batch
from forensics.engines.spark.session import session
def say(said):
    if said.startswith("judging"):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
spark = session(master="local[2]", conf={"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3"})
batch(spark, [sys.argv[1]], sys.argv[2], None, say)
"""
"""A batch that is killed while it replays."""


def test_a_second_run_reads_and_judges_only_what_is_new(
    run: Callable[..., tuple[Result, list[str]]], sample_traces: Path, tmp_path: Path, repository: Path
) -> None:
    from forensics.engines.spark.stored import Stored

    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "traps-0.10.2.2", archive)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(archive), str(out)],
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not (out / "manifest.json").exists()
    assert list((out / "tables-000001" / "observations").rglob("*.parquet")), "in the middle of it"
    (out / "reads" / "000007" / "table=facts").mkdir(parents=True)
    (out / "reads" / "000007" / "table=facts" / "part-0.parquet").write_bytes(b"PAR1 half")

    first, said = run(archive)
    assert [line for line in said if line.startswith("read ")] == [], "what the killed run had read counts"
    assert json_report.render(first) == json_report.render(local.scan([str(archive)]))
    before = {path: path.read_bytes() for path in generation(out).rglob("*.jsonl")}
    again, said = run(archive)
    assert any(line.startswith("judging 0 partitions of") for line in said)
    assert not any(line.startswith(("looking", "read ")) for line in said)
    assert json_report.render(again) == json_report.render(first)
    assert {path.name: data for path, data in before.items()} == {
        path.name: path.read_bytes() for path in generation(out).rglob("*.jsonl")
    }

    # Another partition's directory on one broker, and a killed run over it: what counted before still does.
    source = next(path for path in sorted(archive.glob("broker-1/data/*-0")) if any(path.glob("*.log")))
    shutil.copytree(source, source.with_name("added-0"))
    with pytest.raises(KeyboardInterrupt):
        run(archive, killed_at="judging")
    assert json_report.render(Stored(out).result()) == json_report.render(first)
    after, said = run(archive)
    assert any(line.startswith("judging 1 partitions of") for line in said)
    assert json_report.render(after) == json_report.render(local.scan([str(archive)]))
    same_case(Stored(out).case(), local.take_in([str(archive)]))
    shutil.rmtree(source.with_name("added-0"))
    gone, _ = run(archive)
    assert json_report.render(gone) == json_report.render(first)
    page = html.render(Stored(out).result(whole=True))
    assert page == html.render(local.scan([str(archive)]))


def test_odd_names_and_files_that_cannot_be_read(
    run: Callable[..., tuple[Result, list[str]]], sample_traces: Path, tmp_path: Path
) -> None:
    """Names of any bytes, links and pipes, files without a byte, and an output whose name looks like a pattern."""
    from forensics.engines.spark.stored import Stored
    from forensics.errors import NothingUnderstood

    archive, out = tmp_path / "months [1]*", tmp_path / "out"
    (archive / "nothing").mkdir(parents=True)
    for _ in range(2):
        with pytest.raises(NothingUnderstood, match="0 files"):
            run(archive)
        (archive / "nothing" / "server.log").touch()
        (archive / "nothing" / "empty.tar.gz").touch()
        with pytest.raises(NothingUnderstood, match="2 files"):
            run(archive)
        shutil.rmtree(archive / "nothing")
        (archive / "nothing").mkdir()
    assert not (out / "manifest.json").exists()

    shutil.copytree(sample_traces / "unclean-3.9.1", archive / "a\nb")
    log = next((archive / "a\nb").glob("broker-*/logs/server.log"))
    os.rename(log, os.fsencode(log.parent) + b"/server\xff\xfe.log")  # noqa: PTH104 - a name that is no text
    os.mkfifo(archive / "pipe.log")
    (archive / "link").symlink_to(sample_traces)
    (archive / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08\x00half")
    expected = local.scan([str(archive)])
    assert any("\\xff" in path for path in expected.case.sources.get_column("path"))
    found, said = run(archive)
    assert json_report.render(found) == json_report.render(expected)
    again, said = run(archive)
    assert not any(line.startswith(("looking", "read ")) for line in said)
    assert json_report.render(again) == json_report.render(expected)
    assert text.render(Stored(out).result(), width=100) == text.render(expected, width=100)


def test_other_formats_and_choices(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """Zone and skew as in a scan; the large tables in a format that Spark has."""
    from forensics.case import Reading
    from forensics.engines.spark.batch import Options, batch
    from forensics.engines.spark.stored import Stored
    from forensics.errors import UnusableOutput

    sample = str(sample_traces / "powerloss-0.11.0.3")
    reading = Reading("Europe/Berlin", {1: 250_000, 2: -1_000_000})
    options = Options(reading=reading, topics=("ord*",))
    result = batch(sessions("local[2]"), [sample], str(tmp_path / "out"), options)
    assert json_report.render(result) == json_report.render(local.scan([sample], reading=reading, topics=["ord*"]))
    batch(sessions("local[2]"), [sample], str(tmp_path / "orc"), Options(format="orc"))
    assert list((tmp_path / "orc").rglob("*.orc"))
    with pytest.raises(UnusableOutput, match="orc"):
        Stored(tmp_path / "orc").result()
    said: list[str] = []
    with pytest.raises(UnusableOutput, match="--table-format delta: this session cannot write it"):
        batch(sessions("local[2]"), [sample], str(tmp_path / "delta"), Options(format="delta"), said.append)
    assert said == [], "before anything is read"


def test_a_window_over_an_archive_at_a_url(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """Workers open the files by their URLs."""
    from forensics.case import Reading
    from forensics.engines.spark.batch import Options, batch

    sample = (sample_traces / "unclean-3.9.1").absolute().as_uri()
    times = local.take_in([sample]).observations.get_column("time").drop_nulls().cast(pl.Int64)
    reading = Reading(since=int(times.quantile(0.4) or 0), until=int(times.quantile(0.9) or 0))
    expected = local.scan([sample], reading=reading)
    found = batch(sessions("local[2]"), [sample], str(tmp_path / "out"), Options(reading=reading))
    assert json_report.render(found) == json_report.render(expected)
    assert expected.case.notices.get_column("reason").str.contains("outside of the time span").any()


def test_the_plan_says_what_would_be_read(sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forensics.engines.spark import listing, plan
    from forensics.engines.spark.batch import Options
    from forensics.engines.spark.explaining import explained

    line = "[2026-03-01 12:00:00,000] INFO Truncating log orders-0 to offset 5. (kafka.log.Log)\n"
    (tmp_path / "a").mkdir()
    with (tmp_path / "a" / "server.log").open("w") as out:
        out.truncate(0)
        out.write(line * (2 * listing.SPLIT // len(line) + 1))
    monkeypatch.setattr(plan, "GIANT", 1)
    (tmp_path / "a" / "notes.txt").write_text("nothing\n")
    found = explained(sessions("local[2]"), [str(tmp_path / "a")], str(tmp_path / "out"), Options())
    assert found.splits == ((str(tmp_path / "a" / "server.log"), 2),)
    assert found.giants[0][2] == "not a plain log of lines"
    assert (found.files, found.new, found.known, found.tasks) == (2, 2, 0, 3)
    assert not (tmp_path / "out").exists()
