"""The CSV of findings: a row for each, with the columns of the table, and no formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from forensics.reports.findings_csv import render
from forensics.result import Result
from forensics.tables import FINDING_ROWS

Scanned = Callable[[Path], Result]


def rows_of(result: Result) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(result))))


def test_each_finding_is_a_row(sample: Path, scanned: Scanned) -> None:
    result = scanned(sample)
    rows = rows_of(result)
    assert [(row["fingerprint"], row["rule"], row["confidence"], row["summary"]) for row in rows] == [
        (one.fingerprint, one.rule, one.confidence.value, one.summary) for one in result.findings
    ]
    assert render(result).splitlines()[0] == ",".join(FINDING_ROWS)


def test_values_of_a_loss(sample_traces: Path, scanned: Scanned) -> None:
    row = rows_of(scanned(sample_traces / "kip101-0.10.2.2"))[0]
    assert (row["topic"], row["partition"], row["offsets"], row["records_min"]) == ("orders", "0", "50..80", "30")
    assert row["severity"] == "critical"
    assert row["from"].endswith("+00:00")
    first, *more = row["evidence"].split("; ")
    assert first.rpartition(":")[0].endswith(".log")
    assert more
    assert row["known"] == "False"
    assert not any("{" in cell or "[" in cell[:1] for cell in row.values())  # nothing is left as Python writes it


def test_no_cell_begins_a_formula_and_what_a_baseline_hides_is_marked(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    first, *others = result.findings
    marked = replace(result, findings=[replace(first, topic="=1+1", summary="@SUM(1)")], known=others)
    rows = rows_of(marked)
    assert (rows[0]["topic"], rows[0]["summary"]) == ("'=1+1", "'@SUM(1)")
    assert [row["known"] for row in rows] == ["False", *["True"] * len(others)]
