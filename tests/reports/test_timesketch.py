"""The CSV for timelines: the columns an importer needs, one row a fact, every time in UTC."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from forensics.reports.timesketch import COLUMNS, FACT, START, UNDATED, render
from forensics.result import Result

Scanned = Callable[[Path], Result]


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(result))))


def test_an_importer_finds_what_it_needs(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    text = render(result)
    assert text.startswith("message,datetime,timestamp_desc,")
    rows = rows_of(result)
    assert text.count("\n") == len(rows) + 1
    last = None
    for row in rows:
        assert list(row) == list(COLUMNS)
        assert row["message"]
        assert row["timestamp_desc"] in (FACT, START, UNDATED)
        time = datetime.fromisoformat(row["datetime"])
        assert time.utcoffset() == timedelta(0)
        assert round(time.timestamp() * 1e6) == int(row["timestamp"])
        assert last is None or int(row["timestamp"]) >= last
        last = int(row["timestamp"])


def test_every_fact_of_every_finding_is_a_row(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    rows = [row for row in rows_of(result) if row["timestamp_desc"] != START]
    facts = [(finding.fingerprint, fact) for finding in result.findings for fact in finding.facts]
    assert len(rows) == len(facts)
    for fingerprint, fact in facts:
        same = [row for row in rows if row["fingerprint"] == fingerprint and row["message"].endswith(fact.text)]
        wanted = UNDATED if fact.time is None else FACT
        assert any(row["timestamp_desc"] == wanted for row in same)
        if fact.time is not None:
            assert str(fact.time) in {row["timestamp"] for row in same}


def test_a_fact_names_its_proof(sample_traces: Path, scanned: Scanned) -> None:
    rows = rows_of(scanned(sample_traces / "kip101-0.10.2.2"))
    cut = next(row for row in rows if "truncated its log from 80 to 50" in row["message"])
    assert (cut["broker"], cut["topic"], cut["partition"]) == ("2", "orders", "0")
    assert cut["path"].endswith("broker-2/logs/server.log")
    assert cut["line"] == "414"
    assert "Truncating log orders-0 to offset 50" in cut["text"]
    assert len(cut["sha256"]) == 64


def test_a_row_is_one_line_whatever_is_in_it(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    first = result.findings[0]
    odd = replace(first, facts=(replace(first.facts[0], text='a\n"b",c\x1b[2J'),))
    text = render(replace(result, findings=[odd]))
    (row,) = [line for line in text.splitlines() if "orders-0" in line]
    assert "\x1b" not in text
    assert '""b"",c' in row
