"""The Spark engine gives the answers of a scan, byte by byte, wherever it runs.

What a batch comes to run after run, and with odd files, is tested without Spark: ``test_spark_runs``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import polars as pl
import pytest

from forensics import spark as forensics
from forensics.case import Reading
from forensics.engines import local
from forensics.engines.spark.executor import SparkExecutor
from forensics.engines.stages.deriving import TABLES
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline as replay
from forensics.reports import json_report, text, timeline_text
from forensics.result import Result
from forensics.rules.finding import place
from tests.conftest import EVERYTHING, in_full
from tests.engines.comparing import TEXTS, same_tables, saved, tables_of, texts_of
from tests.engines.conftest import QUIET, Cluster, Sessions, code_of

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory, sample_traces: Path) -> Path:
    """Three clusters: a KRaft one, one without leader epochs, one as compressed archives; in odd folders."""
    folder = tmp_path_factory.mktemp("archive") / "months [1]*"
    for name in ("unclean-3.9.1", "kip101-0.10.2.2", "bundle-unclean-2.8.2"):
        shutil.copytree(sample_traces / name, folder / "a\nb" / name)
    log = next(folder.glob("*/kip101-0.10.2.2/broker-1/logs/server.log"))
    (log.parent / "server.log.bak").write_bytes(log.read_bytes()[:10_000])  # copied while the broker went on
    log = next(folder.glob("*/kip101-0.10.2.2/broker-2/logs/server.log"))
    with log.open("a") as out:  # a clock that was far ahead
        out.write("[2999-03-01 10:22:42,100] INFO Truncating log other-0 to offset 5. (kafka.log.Log)\n")
    log = next(folder.glob("*/unclean-3.9.1/broker-*/logs/server.log"))
    os.rename(log, os.fsencode(log.parent) + b"/server\xff\xfe.log")  # noqa: PTH104 - a name that is no text
    return folder


@pytest.fixture(scope="module")
def expected(archive: Path) -> Result:
    return local.scan([str(archive)])


@pytest.fixture(scope="module")
def tables_expected(expected: Result, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    return tables_of(saved(expected, tmp_path_factory.mktemp("scan") / "tables"))


@dataclass(frozen=True)
class Engine:
    """One way to judge an archive.

    Attributes:
        run: judges it, and writes all tables into a folder.
        waves: in how many what it read is kept; 0 where it keeps nothing.
    """

    run: Callable[[Path, Path], object]
    waves: int = 1


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders in which a batch over the archive came to its end, by the name of the engine."""
    return {}


@pytest.fixture(
    params=[
        "local",
        # Before the session that all later tests share. What is its own in local[1], the test of Connect does too.
        *(["cluster", "local[1]"] if EVERYTHING else []),
        "local[2]",
    ]
)
def engine(request: pytest.FixtureRequest, sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Judges an archive in one way; on two cores and on the cluster in odd numbers of tasks."""
    from forensics.engines.pipeline import batch as engine
    from forensics.engines.pipeline.batch import Options, batch

    if request.param == "local":
        return Engine(lambda archive, out: saved(local.scan([str(archive)]), out), waves=0)
    if request.param == "cluster":
        return Engine(lambda archive, out: _on_cluster(request, sessions, archive, out))
    odd = request.param == "local[2]"
    if odd:
        monkeypatch.setattr(engine, "_WAVE", 1)  # what was read is kept task by task
        monkeypatch.setattr(engine, "_TASKS_OF_SLOT", 0)  # of which there are as few as may be
    options = Options(texts=TEXTS, timelines=True, partitions=3 if odd else None, split=32 << 20)
    run = lambda archive, out: batch(SparkExecutor(sessions(request.param)), [str(archive)], str(out), options)  # noqa: E731
    return Engine(run, waves=2 if odd else 1)


def _on_cluster(request: pytest.FixtureRequest, sessions: Sessions, archive: Path, out: Path) -> None:
    """On a master and two workers, with the code shipped; one worker is killed while partitions are judged."""
    from forensics.engines.pipeline.batch import Options, batch

    cluster: Cluster = request.getfixturevalue("cluster")
    code: Path = request.getfixturevalue("code")
    spark = sessions(cluster.url, spark__executor__memory="512m")
    spark.addArtifacts(str(code), pyfile=True)
    assert all(f"/{code.name}/forensics/" in path for path in code_of(spark))
    killed = threading.Event()

    def say(said: str) -> None:
        if said.startswith("judging") and not killed.is_set():
            killed.set()
            threading.Timer(0.3, cluster.kill, [0]).start()

    batch(SparkExecutor(spark), [str(archive)], str(out), Options(texts=TEXTS, timelines=True, partitions=5), say)
    assert cluster.workers[0].poll() is not None
    assert cluster.workers[1].poll() is None


def test_every_engine_gives_the_same(
    engine: Engine,
    archive: Path,
    expected: Result,
    tables_expected: dict[str, pl.DataFrame],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
    finished: dict[str, Path],
) -> None:
    out = tmp_path_factory.mktemp("judged") / "out [1]*?"
    engine.run(archive, out)
    finished[request.node.callspec.params["engine"]] = out
    assert texts_of(out) == {
        name: "".join(text for _, text in sorted(lines(expected))) for name, lines in TEXTS.items()
    }
    same_tables(tables_of(out), tables_expected)
    assert len(list((out / "reads").glob("*.json"))) == engine.waves


@pytest.fixture
def judged(finished: dict[str, Path], archive: Path, sessions: Sessions, tmp_path: Path) -> Path:
    """What a batch over the archive wrote: that of the test above, where it ran."""
    from forensics.engines.pipeline.batch import Options, batch

    if "local[2]" not in finished:
        batch(
            SparkExecutor(sessions("local[2]")),
            [str(archive)],
            str(tmp_path / "out"),
            Options(texts=TEXTS, timelines=True),
        )
        finished["local[2]"] = tmp_path / "out"
    return finished["local[2]"]


def test_reports_from_tables_are_those_of_a_scan(judged: Path, expected: Result) -> None:
    from forensics.engines.pipeline.stored import Stored

    stored = Stored(judged)
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


def test_tables_are_read_as_dataframes(
    judged: Path, expected: Result, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    spark, out = sessions("local[2]"), str(judged)
    written = tables_of(judged)
    named = [forensics.table(spark, out, name).selectExpr(f"'{name}' AS name") for name in written]
    counted = reduce(lambda one, other: one.unionAll(other), named).groupBy("name").count().collect()
    counts = {row["name"]: row["count"] for row in counted}
    assert {name: counts.get(name, 0) for name in written} == {name: rows.height for name, rows in written.items()}
    clusters = expected.case.sources.get_column("cluster").drop_nulls().unique().sort()
    rows = forensics.table(spark, out, "observations", cluster=clusters[0])
    rows.explain()
    assert "PartitionFilters: []" not in capsys.readouterr().out, "folders of other clusters are not read"
    of_one = expected.case.part_of(clusters[0]).observations
    assert 0 < rows.count() == of_one.height < expected.case.observations.height
    for name in TABLES:  # for whoever reads the files themselves
        (folder,) = judged.glob(f"tables-*/{name}")
        files = list(folder.rglob("*.parquet"))
        assert set(TABLES[name]) < set(pl.scan_parquet(files, hive_partitioning=True, glob=False).collect_schema())


def test_the_three_checks_are_views_for_sql(judged: Path, expected: Result, sessions: Sessions) -> None:
    """Each verdict of their rules, each range of offsets of their findings, and no bound taken for a value."""
    from forensics.engines.spark.views import CHECKS, STATES

    spark = sessions("local[2]")
    assert forensics.views(spark, str(judged)) == (*(one.view for one in CHECKS), STATES)
    verdicts: set[str] = set()
    for check in CHECKS:
        asked = f"SELECT topic, partition, rule, verdict, first_offset, end_offset FROM {check.view}"
        rows = spark.sql(asked).collect()
        wanted = []
        for one in expected.partitions:
            for judgement in one.judgements.values():
                if judgement.rule in check.rules:
                    ranges = [span for finding in judgement.findings for span in finding.offsets or [(None, None)]]
                    place = (one.history.topic, one.history.partition, judgement.rule, judgement.verdict.value)
                    wanted += [(*place, *span) for span in ranges or [(None, None)]]
        assert sorted(map(tuple, rows), key=repr) == sorted(wanted, key=repr)
        verdicts |= {row["verdict"] for row in rows}
    assert verdicts >= {"violated", "clean"}
    states = spark.table(STATES).toArrow().to_pylist()
    timeline = forensics.table(spark, str(judged), "timeline").toArrow().to_pylist()
    key = lambda row: repr((row["topic"], row["partition"], row["replica"], row["from"], row["to"], row["role"]))  # noqa: E731
    shown = [("high_watermark", "log_end_low", "log_end_high")]
    for state, row in zip(sorted(states, key=key), sorted(timeline, key=key), strict=True):
        assert state["log_end_high"] == (row["log_end_offset"] if row["log_end_exact"] else None)
        assert state["high_watermark"] == (row["high_watermark"] if row["high_watermark_exact"] else None)
        assert state["log_end_low"] == row["log_end_offset"]
        shown.append(tuple(state[name] for name in shown[0]))
    assert any(high is None and low is not None for _, low, high in shown[1:]), "a bound"
    assert any(high is not None for _, _, high in shown[1:]), "a value"


KILLED = """
import json, os, signal, sys, threading
from forensics.engines.pipeline.batch import batch
from forensics.engines.spark.executor import SparkExecutor
from forensics.engines.spark.session import session
def say(said):
    if said.startswith("judging"):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
spark = session(master="local[2]", conf=json.loads(sys.argv[3]))
batch(SparkExecutor(spark), [sys.argv[1]], sys.argv[2], None, say)
"""
"""A batch that is killed while it replays."""


@pytest.mark.skipif(not EVERYTHING, reason="with CI=1: a batch that is killed while it writes is tried without it")
def test_after_a_kill_the_next_run_goes_on(
    sessions: Sessions, sample_traces: Path, tmp_path: Path, repository: Path
) -> None:
    """The driver is killed in the middle of a job: its JVM and workers are then on their own."""
    from forensics.engines.pipeline.batch import Options, batch

    archive, out = tmp_path / "archive", tmp_path / "out"
    shutil.copytree(sample_traces / "traps-0.10.2.2", archive)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(archive), str(out), json.dumps(QUIET)],
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not (out / "manifest.json").exists()
    assert list((out / "tables-000001" / "observations").rglob("*.parquet")), "in the middle of it"

    source = next(path for path in sorted(archive.glob("broker-1/data/*-0")) if any(path.glob("*.log")))
    for added in (None, "added-0"):
        said: list[str] = []
        if added:
            shutil.copytree(source, source.with_name(added))
        batch(
            SparkExecutor(sessions("local[2]")),
            [str(archive)],
            str(out),
            Options(texts=TEXTS, timelines=True),
            said.append,
        )
        expected = local.scan([str(archive)])
        same_tables(tables_of(out), tables_of(saved(expected, tmp_path / f"scan-{added}")))
        if not added:
            assert [line for line in said if line.startswith("read ")] == [], "what the killed run had read counts"
    assert any(line.startswith("judging 1 partitions of") for line in said)


@in_full("one format is read without it")
def test_another_format_of_an_archive_at_a_url(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """Workers open files by their URLs, in a zone, with skew and within a window as in a scan."""
    from forensics.engines.pipeline.batch import Options, batch
    from forensics.engines.pipeline.stored import Stored
    from forensics.errors import UnusableOutput

    spark = sessions("local[2]")
    sample = (sample_traces / "powerloss-0.11.0.3").absolute().as_uri()
    reading = Reading("Europe/Berlin", {1: 250_000, 2: -1_000_000})
    times = local.take_in([sample], reading=reading).observations.get_column("time").drop_nulls().cast(pl.Int64)
    reading = Reading(reading.zone, reading.skew, int(times.quantile(0.2) or 0), int(times.quantile(0.9) or 0))
    expected = local.scan([sample], reading=reading, topics=["ord*"])
    assert expected.case.notices.get_column("reason").str.contains("outside of the time span").any()
    options = Options(reading=reading, topics=("ord*",), texts=TEXTS, timelines=True, format="orc")
    batch(SparkExecutor(spark), [sample], str(tmp_path / "orc"), options)
    assert texts_of(tmp_path / "orc") == {
        name: "".join(text for _, text in sorted(lines(expected))) for name, lines in TEXTS.items()
    }
    assert forensics.table(spark, str(tmp_path / "orc"), "observations").count() == expected.case.observations.height
    with pytest.raises(UnusableOutput, match="orc"):
        Stored(tmp_path / "orc").result()
    said: list[str] = []
    with pytest.raises(UnusableOutput, match="--table-format delta: this session cannot write it"):
        batch(SparkExecutor(spark), [sample], str(tmp_path / "delta"), Options(format="delta"), said.append)
    assert said == [], "before anything is read"
