"""``import forensics``: frames, figures and reports of a scan, and judging rows that were read before."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import forensics
from forensics import tables
from forensics.engines import local
from tests.conftest import EVERYTHING, ROOT
from tools.samples import unpacked

SAMPLES = unpacked()
KIP101 = SAMPLES / "kip101-0.10.2.2"


@pytest.fixture(scope="module")
def lost() -> forensics.Scan:
    return forensics.scan(KIP101)


def test_every_name_is_there_and_nothing_slow_is_imported_for_it() -> None:
    for name in forensics.__all__:
        assert getattr(forensics, name) is not None
    assert {*forensics.__all__} <= {*dir(forensics)}
    with pytest.raises(AttributeError, match="no attribute 'scann'"):
        _ = forensics.scann  # type: ignore[attr-defined]
    slow = "('polars', 'plotly', 'click', 'pyspark', 'pyarrow')"
    code = f"import sys, forensics; print([one for one in {slow} if one in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == "[]\n"


def test_frames_are_the_tables_that_a_scan_saves(lost: forensics.Scan, tmp_path: Path) -> None:
    lost.save(tmp_path / "tables")
    for table in tables.TABLES:
        assert lost.table(table.name).equals(pl.read_parquet(tmp_path / "tables" / f"{table.name}.parquet"))
    for name in ("sources", "observations", "batches", "notices", "findings", "verdicts"):
        assert getattr(lost, name).equals(lost.table(name))
    timeline = pl.read_parquet(tmp_path / "tables" / "timeline.parquet")
    assert lost.timeline("orders-0").select(timeline.columns).height == timeline.height
    with pytest.raises(forensics.ForensicsError, match="no table x; there is sources"):
        lost.table("x")


def test_reports_are_those_of_the_command(lost: forensics.Scan) -> None:
    assert lost.answer.startswith("VIOLATED in 1 of 1 partition: committed-data-lost")
    assert lost.worst == "critical"
    document = lost.json()
    assert document["schema"] == "forensics.scan/1"
    assert len(document["findings"]) == lost.findings.height
    assert lost.report("markdown").startswith("#") or "committed-data-lost" in lost.report("markdown")
    with pytest.raises(forensics.ForensicsError, match="no report pdf; there is text"):
        lost.report("pdf")


def test_a_notebook_shows_the_answer_and_no_markup_of_the_evidence(lost: forensics.Scan) -> None:
    page = lost._repr_html_()
    assert lost.answer in page
    assert page.count("<tr>") == 1 + lost.findings.height
    assert "<script" not in page


def test_a_figure_has_times_and_colours(lost: forensics.Scan) -> None:
    figure = lost.figure("orders-0")
    spec = figure.to_json()
    assert "var(--" not in spec
    first, last = (lost.observations.get_column("time").drop_nulls().dt.epoch("ms").sort()[at] for at in (0, -1))
    places = [x for trace in figure.data for x in trace.x if x is not None]
    assert first - 1000 <= min(places) <= max(places) <= last + 30_000
    with pytest.raises(forensics.ForensicsError, match="no partition orders-9 in the evidence; there is orders-0"):
        lost.figure("orders-9")


def test_options_of_a_scan_are_those_of_the_command() -> None:
    ahead = forensics.scan(KIP101, skew={1: timedelta(seconds=2)}, tz="Europe/Berlin").observations
    plain = forensics.scan(str(KIP101)).observations
    moved = (ahead.get_column("time") - plain.get_column("time")).drop_nulls()
    of_broker = ahead.filter(pl.col("time").is_not_null()).get_column("broker") == 1
    assert moved.filter(of_broker).unique().to_list() == [timedelta(hours=-1, seconds=2)]
    assert moved.filter(~of_broker).unique().to_list() == [timedelta(hours=-1)]
    none = forensics.scan([KIP101], topics=["payments*"])
    assert none.partitions == []


def test_words_are_explained() -> None:
    assert forensics.explain("isr").startswith("The in-sync replicas")
    assert forensics.explain("committed-data-lost").startswith("The log of the partition")
    with pytest.raises(forensics.ForensicsError, match="no rule x; there is"):
        forensics.explain("x")


@pytest.mark.parametrize(
    ("paths", "cause"),
    [(None, "None is no path"), ([], "no path was given"), (5, "5 is no path"), ([KIP101, None], "None is no path")],
)
def test_what_is_no_path_is_called_so(paths: Any, cause: str) -> None:
    with pytest.raises(forensics.ForensicsError, match=f"^{cause}; name files, folders or archives of evidence"):
        forensics.scan(paths)


# -- rows that were read before ----------------------------------------------------------------------------------------


def told(scan: forensics.Scan) -> dict[tuple[Any, ...], str]:
    """The verdicts, but for that about the evidence itself."""
    rows = scan.verdicts.filter(pl.col("rule") != "evidence-gap")
    return {
        tuple(row[:-1]): row[-1] for row in rows.select("topic", "partition", "incarnation", "rule", "verdict").rows()
    }


def test_replay_is_a_name_of_judge_before_and_after_a_scan() -> None:
    code = f"""
import forensics
replay = forensics.replay
rows = forensics.scan({str(KIP101)!r}).observations
import forensics.replay.history
print({{use(rows).answer for use in (replay, forensics.replay, forensics.judge)}} == {{forensics.judge(rows).answer}})
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.stdout == "True\n", ran.stderr


@pytest.mark.parametrize(
    ("made", "then"),
    [
        (lambda rows: rows.lazy(), "a LazyFrame is no polars.DataFrame; call collect()"),
        (lambda rows: rows.to_arrow(), "a Table is no polars.DataFrame; convert it with polars.from_arrow"),
        (lambda rows: None, "a NoneType is no polars.DataFrame; give the frame of a scan"),
    ],
)
def test_what_is_no_frame_is_called_so(lost: forensics.Scan, made: Any, then: str) -> None:
    with pytest.raises(forensics.ForensicsError, match=f"^observations: {re.escape(then)}"):
        forensics.judge(made(lost.observations))
    with pytest.raises(forensics.ForensicsError, match=r"^batches: a LazyFrame"):
        forensics.judge(lost.observations, lost.batches.lazy())  # type: ignore[arg-type]


def test_findings_of_rows_name_the_hashes_and_quote_what_is_still_there(tmp_path: Path) -> None:
    shutil.copytree(KIP101, tmp_path / "evidence")
    scan = forensics.scan(tmp_path / "evidence")
    frames = scan.observations, scan.batches, scan.notices, scan.sources
    assert forensics.judge(*frames, whole=True).findings["evidence"].equals(scan.findings["evidence"])
    log = tmp_path / "evidence" / "broker-1" / "logs" / "server.log"
    log.write_bytes(log.read_bytes().replace(b"INFO Truncating", b"INFO truncating"))
    again = forensics.judge(*frames, whole=True).findings["evidence"].explode().struct.unnest()
    assert again["sha256"].null_count() == 0
    of_log = pl.col("path").str.ends_with("broker-1/logs/server.log")
    assert set(again.filter(of_log)["text"]) == {""}
    assert "" not in again.filter(~of_log)["text"]


def test_whole_rows_are_judged_like_the_files(some_sample: Path) -> None:
    scan = forensics.scan(some_sample)
    again = forensics.judge(scan.observations, scan.batches, scan.notices, scan.sources, whole=True)
    had, found = told(scan), told(again)
    assert found.keys() == had.keys()
    # Ids and settings are in no frame, so it may know less: of which directory a checkpoint is.
    other = {key for key in had if had[key] != found[key]}
    assert {(key[-1], found[key]) for key in other} <= {("checkpoint-contradiction", "unknown")}


@pytest.mark.parametrize("seed", range(8 if EVERYTHING else 2))
def test_rows_left_out_never_make_an_answer_wrong(some_sample: Path, seed: int) -> None:
    scan = forensics.scan(some_sample)
    chosen = random.Random(seed)
    rows = scan.observations.sample(fraction=chosen.choice((0.3, 0.6, 0.9)), seed=seed)
    with_batches = (scan.batches, scan.notices, scan.sources) if seed % 2 else ()
    had, found = told(scan), told(forensics.judge(rows, *with_batches))
    wrong = {
        key: (had[key], found[key])
        for key in found.keys() & had.keys()
        if {had[key], found[key]} == {"clean", "violated"}
    }
    assert wrong == {}


def test_rows_of_other_types_and_orders_are_the_same_rows(lost: forensics.Scan) -> None:
    rows = lost.observations.join(lost.sources.select(pl.col("id").alias("source"), "path"), on="source")
    expected = told(forensics.judge(rows, whole=True))
    micros = rows.with_columns(pl.col("time").dt.epoch("us"), pl.col("kind").cast(pl.String)).drop(
        "source", "broker", "run"
    )
    assert told(forensics.judge(micros.sample(fraction=1, shuffle=True, seed=1), whole=True)) == expected
    zoned = rows.with_columns(pl.col("time").dt.convert_time_zone("Asia/Tokyo"))
    assert told(forensics.judge(zoned, whole=True)) == expected


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        (["kind"], "observations: the column kind is missing"),
        (["line"], "observations: the column line is missing"),
        (["source"], "observations: no column path names the file"),
    ],
)
def test_a_column_that_is_needed_is_named(lost: forensics.Scan, drop: list[str], said: str) -> None:
    with pytest.raises(forensics.ForensicsError, match=said):
        forensics.judge(lost.observations.drop(drop))


def test_batches_need_their_damage_and_their_place(lost: forensics.Scan) -> None:
    with pytest.raises(forensics.ForensicsError, match="notices are missing"):
        forensics.judge(lost.observations, lost.batches)
    with pytest.raises(forensics.ForensicsError, match="batches: no column path names the file of a row"):
        forensics.judge(lost.observations, lost.batches, lost.notices)


def test_without_a_loss_there_is_nothing_to_salvage() -> None:
    scan = forensics.Scan(local.scan([str(SAMPLES / "txn-4.1.1")]))
    with pytest.raises(forensics.ForensicsError, match="no finding of lost, forked or missing records"):
        scan.salvage("orders-0")
    with pytest.raises(forensics.ForensicsError, match="is no partition"):
        scan.salvage("orders")
    assert scan.salvage("orders-0", [(0, 10)])["sides"][0]["records"] == 9
