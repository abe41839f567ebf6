"""What can be written is what the documentation says can be written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from forensics.reports import REPORTS, Report
from forensics.reports.redaction import redact
from forensics.result import Result
from forensics.rules.finding import Action
from forensics.tables import FORMAT, TABLES

Scanned = Callable[[Path], Result]


def first_cells(text: str, heading: str) -> list[str]:
    """The first column of the first table after a heading."""
    part = text.partition(heading)[2]
    return re.findall(r"^\| `([a-z]+)` \|", part.partition("\n## ")[0], re.MULTILINE)


def test_every_format_and_table_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "outputs.md").read_text("utf-8")
    assert sorted(first_cells(text, "# What a scan writes")) == sorted(report.name for report in REPORTS)
    assert first_cells(text, "## Tables") == [table.name for table in TABLES]
    assert FORMAT in text


def test_the_default_comes_first() -> None:
    assert REPORTS[0].name == "text"
    assert len({report.name for report in REPORTS}) == len(REPORTS)
    assert all(report.what for report in REPORTS)


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_no_format_tells_a_redacted_name(report: Report, sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    assert "orders" in report.render(result)
    told = report.render(redact(result))
    for name in ("orders", "kip101-0.10.2.2", str(sample_traces)):
        assert name not in told


def test_every_text_of_a_finding_is_redacted(sample_traces: Path, scanned: Scanned) -> None:
    """Whatever field a finding has or gets: a text in it may name a topic."""
    result = scanned(sample_traces / "kip101-0.10.2.2")
    first = result.findings[0]
    kept = {"rule", "cause", "cluster", "topic_id", "topic", "origin"}
    filled: dict[str, Any] = {}
    for field in fields(first):
        value = getattr(first, field.name)
        if field.name in kept or field.name in ("severity", "weak", "facts", "evidence", "before", "after"):
            continue
        if isinstance(value, str) or (value is None and "str" in str(field.type)):
            filled[field.name] = "of orders-0"
        elif field.name == "next_steps":
            filled[field.name] = (Action("of orders-0:", "cd orders-0"),)
        elif isinstance(value, tuple) and "str" in str(field.type):
            filled[field.name] = ("of orders-0",)
    assert {"summary", "keep", "inferences", "uncertain", "not_because", "next_steps", "do_not"} <= set(filled)
    told = replace(result, findings=[replace(first, **filled)], partitions=[], known=[])
    (redacted,) = redact(told).findings
    for name in filled:
        assert "orders" not in str(getattr(redacted, name)), name
