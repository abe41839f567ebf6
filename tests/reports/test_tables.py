"""The tables that ``--save`` writes: their types are pinned, their rows are what the scan says, their bytes repeat."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet
import pytest

from forensics.engines.local import scan
from forensics.errors import UnwritableOutput
from forensics.repaired.former import FormerFinding
from forensics.reports import json_report
from forensics.reports.redaction import redact
from forensics.result import Result
from forensics.tables import FORMAT, TABLES, save
from forensics.tuning import Tuning, tune
from forensics.version import __version__

Scanned = Callable[[Path], Result]
LOSS = "kip101-0.10.2.2"

# What each table had when this format was given its number. A change of a type breaks whoever reads the files.
COLUMNS = {
    "sources": "id:i64 path:str broker:i32 cluster:str format:str topic:str partition:i32 directory_state:str "
    "bytes:i64 sha256:str first_time:datetime[μs, UTC] last_time:datetime[μs, UTC] lines:i64 events:i64 relevant:i64 "
    "understood:i64 notices:i64 base_offset:i64 log_end:i64 magic:i8 frame:str zone:str",
    "observations": "row:i64 topic:str partition:i32 topic_id:str replica:i32 witness:i32 kind:str message:str "
    "time:datetime[μs, UTC] leader:i32 leader_epoch:i32 previous_epoch:i32 partition_epoch:i32 offset:i64 hw:i64 "
    "hw_before:i64 leader_hw:i64 leo:i64 log_start:i64 lso:i64 isr:str isr_before:str log_dir:str checksum:str "
    "detail:str line:i64 byte:i64 source:i64 broker:i32 run:i32 starts_run:bool",
    "batches": "byte:i64 size:i64 base_offset:i64 last_offset:i64 leader_epoch:i32 magic:i8 crc:i64 crc_ok:bool "
    "records:i32 codec:i8 timestamp_type:i8 transactional:bool control:bool producer_id:i64 producer_epoch:i16 "
    "base_sequence:i32 max_timestamp:i64 source:i64 broker:i32 topic:str partition:i32",
    "notices": "reason:str excerpt:str line:i64 byte:i64 source:i64",
    "timeline": "cluster:str topic:str topic_id:str partition:i32 incarnation:i32 replica:i32 run:i32 "
    "from:datetime[μs, UTC] to:datetime[μs, UTC] role:str leader:i32 leader_epoch:i32 log_end_offset:i64 "
    "high_watermark:i64 log_start_offset:i64 isr:str confidence:str log_end_exact:bool high_watermark_exact:bool "
    "event:str row:i64 role_row:i64 log_end_offset_row:i64 high_watermark_row:i64 log_start_offset_row:i64 "
    "isr_row:i64",
    "findings": "fingerprint:str rule:str severity:str confidence:str cluster:str topic:str topic_id:str partition:i32 "
    "incarnation:i32 replicas:list[i32] epochs:list[i32] offsets:list[struct[2]] records_min:i64 records_max:i64 "
    "from:datetime[μs, UTC] to:datetime[μs, UTC] summary:str before:list[struct[2]] after:list[struct[2]] "
    "facts:list[struct[4]] inferences:list[str] uncertain:list[str] not_because:list[str] cause:str reference:str "
    "keep:str next_steps:list[str] do_not:list[str] count:i64 evidence:list[struct[6]] known:bool",
    "verdicts": "cluster:str topic:str topic_id:str partition:i32 incarnation:i32 rule:str verdict:str "
    "missing:list[str] findings:list[str]",
}


def columns(schema: dict[str, pl.DataType]) -> str:
    return " ".join(f"{name}:{pl.Series(dtype=dtype).dtype._string_repr()}" for name, dtype in schema.items())


def read(folder: Path) -> dict[str, pl.DataFrame]:
    return {table.name: pl.read_parquet(folder / f"{table.name}.parquet") for table in TABLES}


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


# -- types -----------------------------------------------------------------------------------------


def test_no_column_of_the_format_is_gone_or_of_another_type() -> None:
    assert [table.name for table in TABLES] == list(COLUMNS)
    for table in TABLES:
        now = columns(table.schema).replace("datetime[μs, UTC]", "datetime").split()
        once = COLUMNS[table.name].replace("datetime[μs, UTC]", "datetime").split()
        assert [column for column in once if column not in now] == [], f"{table.name}: give {FORMAT} a new number"


def test_files_have_the_types_of_their_tables(trace: Path, scanned: Scanned, tmp_path: Path) -> None:
    paths = save(scanned(trace), tmp_path / "out")
    assert [path.name for path in paths] == [f"{table.name}.parquet" for table in TABLES]
    for table, frame in zip(TABLES, read(tmp_path / "out").values(), strict=True):
        assert dict(frame.schema) == {name: pl.Series(dtype=t).dtype for name, t in table.schema.items()}, table.name
        found = pyarrow.parquet.read_metadata(tmp_path / "out" / f"{table.name}.parquet").metadata
        said = {key.decode(): value.decode() for key, value in found.items() if key.startswith(b"forensics.")}
        assert said == {
            "forensics.format": FORMAT,
            "forensics.table": table.name,
            "forensics.version": __version__,
        }


def test_other_readers_read_them(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    save(scanned(sample_traces / LOSS), tmp_path)
    found = pyarrow.parquet.read_table(tmp_path / "findings.parquet").to_pylist()
    assert found[0]["offsets"] == [{"first": 50, "end": 80}]
    assert found[0]["evidence"][0]["path"].endswith("server.log")


# -- rows ------------------------------------------------------------------------------------------


def test_rows_say_what_the_document_says(trace: Path, scanned: Scanned, tmp_path: Path) -> None:
    result = scanned(trace)
    save(result, tmp_path)
    tables, document = read(tmp_path), json_report.document(result)
    assert tables["findings"].get_column("fingerprint").to_list() == [f["fingerprint"] for f in document["findings"]]
    assert tables["sources"].get_column("path").to_list() == [s["path"] for s in document["sources"]]
    assert tables["sources"].get_column("sha256").null_count() == 0
    assert tables["notices"].height == document["notices"]["count"]
    verdicts = {
        (p["topic"], p["partition"], p["incarnation"], rule, judged["verdict"], tuple(judged["findings"]))
        for p in document["partitions"]
        for rule, judged in p["verdicts"].items()
    }
    saved = tables["verdicts"].select("topic", "partition", "incarnation", "rule", "verdict", "findings")
    assert {(*row[:-1], tuple(row[-1])) for row in saved.iter_rows()} == verdicts
    for finding, row in zip(result.findings, tables["findings"].iter_rows(named=True), strict=True):
        assert [fact["text"] for fact in row["facts"]] == [fact.text for fact in finding.facts]
        assert all(place < len(row["evidence"]) for fact in row["facts"] for place in fact["evidence"])


def test_rows_refer_to_rows(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    save(scanned(sample_traces / LOSS), tmp_path)
    tables = read(tmp_path)
    ids = tables["sources"].select(pl.col("id").alias("source"))
    for name in ("observations", "batches", "notices"):
        assert tables[name].join(ids, on="source", how="anti").is_empty()
    rows = tables["observations"].select("row")
    assert tables["timeline"].drop_nulls("row").join(rows, on="row", how="anti").is_empty()
    led = tables["timeline"].filter(pl.col("role") == "leader")
    assert set(led.get_column("leader_epoch")) >= {0, 2}


def test_what_is_known_is_marked(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    result = scanned(sample_traces / LOSS)
    known = tuple(FormerFinding(one.fingerprint, one.severity) for one in result.findings[1:])
    save(tune(result, Tuning(known=known, baseline="x")), tmp_path)
    found = read(tmp_path)["findings"]
    assert found.get_column("known").to_list() == [False] + [True] * len(known)


def test_names_are_taken_out(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    save(redact(scanned(sample_traces / LOSS)), tmp_path)
    for name, frame in read(tmp_path).items():
        assert "orders" not in json.dumps(frame.to_dicts(), default=str), name


# -- bytes -----------------------------------------------------------------------------------------


def test_the_same_evidence_gives_the_same_bytes(sample_traces: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(scan([str(sample_traces / "txn-4.1.1")]), tmp_path / name)
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")


# -- folders -----------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made_is_named(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableOutput, match="file"):
        save(scanned(sample_traces / LOSS), tmp_path / "file" / "out")


def test_a_result_without_anything_is_saved(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    result = replace(scanned(sample_traces / LOSS), partitions=[], findings=[])
    save(result, tmp_path)
    assert read(tmp_path)["verdicts"].is_empty()
    assert read(tmp_path)["timeline"].is_empty()
