"""The source of DataFrames, and the functions of ``forensics.spark``."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from forensics import library
from forensics import spark as forensics
from forensics.case import Reading
from forensics.engines import local
from forensics.engines.spark.frames import collected
from forensics.engines.spark.session import session
from forensics.errors import UnreadableInput
from parsers import limits
from parsers.formats.request_log import MARK
from parsers.schema import Kind
from tests.cases.relaid import relaid
from tests.conftest import in_full
from tests.engines.conftest import Sessions
from tests.engines.without_spark import run
from tests.parsers.handing_over import stamped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

pytestmark = pytest.mark.spark


def test_the_tables_of_the_source(sessions: Sessions, sample_traces: Path) -> None:
    spark, sample = sessions("local[2]"), str(sample_traces / "bundle-unclean-2.8.2")
    case = local.take_in([sample])
    rows = forensics.read(spark, sample)
    held = rows.selectExpr("min(time)", "max(time)", "sum(hw)", "count(distinct path)", "count(*)").collect()[0]
    known = case.observations
    assert held[0].astimezone().timestamp() == known.get_column("time").min().timestamp()  # type: ignore[union-attr]
    assert held[1].astimezone().timestamp() == known.get_column("time").max().timestamp()  # type: ignore[union-attr]
    assert held[2] == known.get_column("hw").sum()
    assert held[3] == known.get_column("source").n_unique()
    assert held[4] == known.height
    checkpoints = forensics.read(spark, sample, table="checkpoints", topics=["ord*"], columns=["kind", "hw"])
    wanted = case.observations.filter((pl.col("kind") == Kind.HW_CHECKPOINT.value) & (pl.col("topic") == "orders"))
    found = checkpoints.filter("kind = 'hw_checkpoint'").select("hw").collect()
    assert sorted(row.hw for row in found) == sorted(wanted.get_column("hw").to_list())
    assert forensics.read(spark, sample, table="batches").count() == case.batches.height
    with pytest.raises(UnreadableInput, match="there is no table 'truths'"):
        forensics.read(spark, sample, table="truths")
    with pytest.raises(UnreadableInput, match="'Europe/Nowhere' is no time zone"):
        forensics.read(spark, sample, tz="Europe/Nowhere")
    with pytest.raises(Exception, match="there is no option 'tabel'; did you mean table"):
        spark.read.format("kafka-forensics").option("tabel", "batches").load(sample).count()


def test_what_is_not_wanted_is_left_out_at_the_source(sample_traces: Path) -> None:
    """Each filter keeps the rows that a filter of the whole table keeps, and only the columns that are asked for."""
    from forensics.engines.spark.datasource import OPTIONS, TABLES, Reader
    from forensics.engines.spark.wanted import FILTERS, Wanted

    path, schema = str(sample_traces / "unclean-0.10.2.2"), TABLES["observations"]

    def rows(**options: str) -> list[dict[str, object]]:
        reader = Reader(path, "observations", None, Wanted.of(options, schema))
        return [row for task in reader.partitions() for batch in reader.read(task) for row in batch.to_pylist()]

    every = rows()
    times = sorted(row["time"] for row in every if row["time"] is not None)  # type: ignore[type-var]
    middle = times[len(times) // 2]
    wanted = {
        "topics": ("ord*", lambda row: (row["topic"] or "").startswith("ord")),
        "partitions": ("0, 1", lambda row: row["partition"] in (0, 1)),
        "kinds": ("hw_checkpoint,truncate", lambda row: row["kind"] in ("hw_checkpoint", "truncate")),
        "brokers": ("2", lambda row: row["witness"] == 2),
        "since": (middle.isoformat(), lambda row: row["time"] is not None and row["time"] >= middle),  # type: ignore[attr-defined]
        "until": (middle.isoformat(), lambda row: row["time"] is not None and row["time"] <= middle),  # type: ignore[attr-defined]
    }
    assert list(wanted) == [one.option for one in FILTERS]
    for option, (value, keeps) in wanted.items():
        kept = [row for row in every if keeps(row)]
        assert 0 < len(kept) < len(every), option
        assert sorted(map(repr, rows(**{option: value}))) == sorted(map(repr, kept)), option
    some = rows(columns="hw, topic", kinds="hw_checkpoint", topics="orders")
    assert some
    assert {tuple(row) for row in some} == {("hw", "topic")}
    for option, value, said in (
        ("kinds", "hw_checkpont", "there is no kind 'hw_checkpont'; did you mean hw_checkpoint?"),
        ("partitions", "zero", "use numbers separated by commas"),
        ("since", "yesterday", "use a time in ISO 8601"),
        ("columns", "leader, hwm", "there is no column 'hwm'; there are path, topic"),
    ):
        assert option in OPTIONS
        with pytest.raises(UnreadableInput, match=said.replace("?", "[?]")):
            Wanted.of({option: value}, schema)


def test_an_archive_that_was_replaced(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """Workers outlive their tasks: what they know of an archive must not be what it was."""
    spark, path = sessions("local[2]"), tmp_path / "all.tar.gz"
    for name in ("kip101-0.10.2.2", "bitflip-1.1.1"):
        with tarfile.open(path, "w:gz") as archive:
            archive.add(sample_traces / name, name)
        wanted = local.take_in([str(path)]).observations.height
        assert forensics.read(spark, str(path)).count() == wanted


def test_damage_is_told(sample_traces: Path, tmp_path: Path) -> None:
    """The notices are those of a scan, also of archives, and of what is not read at all."""
    from forensics.engines.spark.datasource import Reader

    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(sample_traces / "kip101-0.10.2.2", "kip101")
    whole = (tmp_path / "all.tar.gz").read_bytes()
    (tmp_path / "all.tar.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "elsewhere").symlink_to(sample_traces)
    os.mkfifo(tmp_path / "pipe.log")
    case = local.take_in([str(tmp_path)])
    wanted = sorted(
        (case.path(source), reason) for source, reason in case.notices.select("source", "reason").iter_rows()
    )
    assert {path.rpartition("/")[2] for path, _ in wanted} >= {"all.tar.gz", "elsewhere", "pipe.log"}
    reader = Reader(str(tmp_path), "notices")
    rows = [row for task in reader.partitions() for batch in reader.read(task) for row in batch.to_pylist()]
    assert sorted((row["path"], row["reason"]) for row in rows) == wanted


@pytest.mark.parametrize(("sessions_after", "layout"), [(None, ""), (0, ""), (250, ""), (None, "zone")])
def test_a_large_log_is_read_by_ranges(
    sessions_after: int | None, layout: str, sample_traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are those of one reading, with the numbers of its lines; also where sessions or a second layout come."""
    from forensics.engines.spark import datasource
    from forensics.engines.stages import listing
    from parsers.text import broker_log, lines

    step = 8 << 10
    monkeypatch.setitem(limits._moved, "reordered", 0)  # the text below is there twice
    blocks = lines.blocks
    monkeypatch.setattr(lines, "blocks", lambda stream, **more: blocks(stream, **({"block_bytes": step} | more)))
    monkeypatch.setattr(broker_log, "STEP", step)
    monkeypatch.setattr(broker_log, "_SAMPLE_BYTES", step)
    monkeypatch.setattr(listing, "SPLIT", step)
    monkeypatch.setattr(datasource, "_TOGETHER", step)
    text = (sample_traces / "kip101-0.10.2.2" / "broker-1" / "logs" / "server.log").read_text().splitlines(True)
    if sessions_after is not None:
        asked = f"[2026-11-21 04:06:10,000] DEBUG {MARK}RequestHeader(apiKey=FETCH) (kafka.request.logger)\n"
        text[sessions_after:sessions_after] = [asked] * 2
    path = tmp_path / "server.log"
    whole_text = "".join(text) * 2
    path.write_text(relaid(whole_text, layout, "last half") if layout else whole_text)
    for table in ("observations", "notices"):
        reader = datasource.Reader(str(tmp_path), table)
        tasks = reader.partitions()
        whole = [piece for task in tasks for piece in task.pieces if '"range": null' in piece]  # type: ignore[attr-defined]
        assert (len(tasks) > 5, whole) == ((False, whole) if sessions_after == 0 else (True, []))
        found = [row for task in tasks for batch in reader.read(task) for row in batch.to_pylist()]
        monkeypatch.setattr(listing, "SPLIT", 1 << 30)
        (task,) = reader.partitions()
        wanted = [row for batch in reader.read(task) for row in batch.to_pylist()]
        monkeypatch.setattr(listing, "SPLIT", step)
        key = lambda row: (row["line"] or 0, str(row))  # noqa: E731
        assert sorted(found, key=key) == sorted(wanted, key=key)
        assert wanted or table == "notices"
        if table == "observations" and layout:
            assert len(wanted) == 2 * len({row["line"] for row in wanted if row["line"] <= whole_text.count("\n") // 2})


@in_full("zones are tried with a scan without it")
def test_what_a_collector_tells_of_a_zone(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """The data source reads a log in the zone that a scan reads it in, however it is cut into tasks."""
    spark = sessions("local[2]")
    log = sample_traces / "unclean-3.9.1" / "broker-1" / "logs" / "server.log"
    lines = log.read_text().splitlines()
    west = []  # the broker's clock is two hours ahead of UTC, the collector's times are not
    for time, text in stamped(lines):
        at = datetime.fromisoformat(time.replace("654321Z", "+00:00")) - timedelta(hours=2)
        west.append(f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}654321Z stdout F {text}")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "0.log").write_text("\n".join(west) + "\n")
    (tmp_path / "few.log").write_text("\n".join(west[1:4]) + "\n")
    for given in (None, "Asia/Tokyo"):
        case = local.take_in([str(tmp_path)], reading=Reading(given))
        rows = forensics.read(spark, str(tmp_path), tz=given).groupBy("path").agg({"time": "min"}).collect()
        first = case.observations.group_by("source").agg(pl.col("time").min()).iter_rows()
        wanted = {case.path(source): time.timestamp() for source, time in first}
        assert {row[0]: row[1].astimezone().timestamp() for row in rows} == wanted
        notices = forensics.read(spark, str(tmp_path), table="notices", tz=given).select("path", "reason").collect()
        known = case.notices.select("source", "reason").iter_rows()
        assert sorted((row[0], row[1]) for row in notices) == sorted((case.path(n), reason) for n, reason in known)
        assert any("collector" in row.reason for row in notices)


def test_lines_that_are_in_a_table_already(sessions: Sessions, sample_traces: Path) -> None:
    spark = sessions("local[2]")
    log = sample_traces / "unclean-3.9.1" / "broker-1" / "logs" / "server.log"
    lines = [("one.log", n, text) for n, text in enumerate(log.read_text().splitlines(), 1)]
    frame = spark.createDataFrame(lines, "file string, nr int, value string").coalesce(1)
    found = forensics.from_lines(frame, path="file", line="nr", text="value")
    known = local.read_files([str(log)])[0][1].observations
    got = sorted((row.line, row.kind, row.hw, row.leo) for row in found.select("line", "kind", "hw", "leo").collect())
    assert got == sorted(known.select("line", "kind", "hw", "leo").iter_rows())


def test_rows_of_a_dataframe_are_judged_like_a_frame(sessions: Sessions, sample_traces: Path) -> None:
    """The answers for whole rows, and for some of them."""
    spark, sample = sessions("local[2]"), str(sample_traces / "unclean-0.10.2.2")
    rows = forensics.read(spark, sample).persist()
    frame = collected(rows)
    key = ["cluster", "topic", "partition", "incarnation", "rule"]
    known, found = library.judge(frame, whole=True), forensics.judge(rows, whole=True)
    assert collected(found.verdicts).sort(key).equals(known.verdicts.sort(key))
    order = ["fingerprint", "summary"]
    assert collected(found.findings).drop("evidence").sort(order).equals(known.findings.drop("evidence").sort(order))
    states = collected(found.timeline)
    assert {1, 2, 3} <= {*states.get_column("replica").to_list()}
    assert not [name for name in states.columns if name.endswith(("row", "_at"))]
    some = forensics.judge(rows.filter("kind <> 'become_leader'"))
    less = library.judge(frame.filter(pl.col("kind") != "become_leader"))
    assert collected(some.verdicts).sort(key).equals(less.verdicts.sort(key))
    assert not less.verdicts.equals(known.verdicts)
    rows.unpersist()
    with pytest.raises(UnreadableInput, match="observations: the column line is missing"):
        forensics.judge(rows.drop("line"))


def test_lines_of_a_stream_are_judged_as_they_come(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    """Each micro-batch of lines adds observations, and the partitions that it is about are judged again."""
    spark, sample = sessions("local[2]"), sample_traces / "kip101-0.10.2.2"
    logs = sorted(sample.glob("broker-[123]/logs/*.log"))
    incoming, kept = tmp_path / "incoming", str(tmp_path / "observations")
    incoming.mkdir()
    answers: list[set[str]] = []

    def judged(lines: DataFrame, _: int) -> None:
        forensics.from_lines(lines.repartition("path")).write.mode("append").parquet(kept)
        found = forensics.judge(spark.read.parquet(kept), whole=True).findings
        answers.append({row.rule for row in found.select("rule").collect()})

    def arrives(part: int, names: Sequence[Path]) -> None:
        text = [
            {"path": str(log.relative_to(sample)), "line": number, "text": line}
            for log in names
            for number, line in enumerate(log.read_text().splitlines(), 1)
        ]
        (incoming / f"{part}.json").write_text("\n".join(map(json.dumps, text)))
        stream = spark.readStream.schema("path string, line bigint, text string").json(str(incoming))
        query = stream.writeStream.foreachBatch(judged).option("checkpointLocation", str(tmp_path / "checkpoint"))
        query.trigger(availableNow=True).start().awaitTermination()

    arrives(0, logs[:3])  # of broker 1 alone
    arrives(1, logs[3:])
    assert len(answers) == 2
    assert "committed-data-lost" not in answers[0]
    frame = collected(spark.read.parquet(kept))
    assert answers[1] == {*library.judge(frame, whole=True).findings.get_column("rule").to_list()}
    assert "truncation-below-committed" in answers[1]


@in_full("each of its steps is tried without it")
def test_the_notebook_runs(
    sessions: Sessions, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each cell of code, in order, as a reader would run it; the last one gives the figure."""
    sessions("local[2]")
    notebook = repository / "docs" / "notebooks" / "incident-on-spark.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell.get("outputs") for cell in cells)
    monkeypatch.chdir(notebook.parent)
    names: dict[str, Any] = {}
    for cell in code:
        exec(compile(cell.replace('"judged"', repr(str(tmp_path / "judged"))), notebook.name, "exec"), names)
    assert names["findings"].filter("rule = 'committed-data-lost'").count() == 1
    assert len(names["figure"].data) > 10


def test_a_table_without_rows(sessions: Sessions, sample_traces: Path, tmp_path: Path) -> None:
    sample = str(sample_traces / "kip101-0.10.2.2")
    assert run(sample, tmp_path / "out").case.notices.is_empty()
    notices = forensics.table(sessions("local[2]"), str(tmp_path / "out"), "notices")
    assert (notices.count(), "reason" in notices.columns) == (0, True)
    with pytest.raises(UnreadableInput, match="has no timelines; run forensics batch --timeline -o"):
        forensics.table(sessions("local[2]"), str(tmp_path / "out"), "timeline")


def test_workers_read_within_the_limits_that_were_moved(sessions: Sessions) -> None:
    spark = sessions("local[2]")

    def value(_: object) -> int:
        from parsers.limits import LINE

        return LINE.value

    with limits.moved({"line": 4096}):
        assert session(spark).sparkContext.parallelize([0], 1).map(value).collect() == [4096]
    assert session(spark).sparkContext.parallelize([0], 1).map(value).collect() == [limits.LINE.default]
