"""Each line of the JSON lines keeps its contract and says what the document says."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jsonschema import Draft202012Validator

from forensics.reports import json_report
from forensics.reports.jsonl import SCHEMA, line_schema, render
from forensics.result import Result

Scanned = Callable[[Path], Result]


def test_each_line_keeps_its_contract(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    rows = [json.loads(line) for line in render(result).splitlines()]
    validator = Draft202012Validator(line_schema())
    assert [error.message for row in rows for error in validator.iter_errors(row)] == []
    assert [row.pop("schema") for row in rows] == [SCHEMA] * len(result.findings)
    assert rows == json_report.document(result)["findings"]


def test_a_line_that_breaks_the_contract_is_refused(sample_traces: Path, scanned: Scanned) -> None:
    row = json.loads(render(scanned(sample_traces / "kip101-0.10.2.2")).splitlines()[0])
    validator = Draft202012Validator(line_schema())
    assert validator.is_valid(row)
    for broken in (row | {"schema": "forensics.finding/2"}, row | {"colour": 1}, row | {"rule": "data-gone"}):
        assert not validator.is_valid(broken)


def test_a_finding_is_one_line_whatever_is_in_it(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    odd = replace(result, findings=[replace(result.findings[0], summary="a\nb\u2028c")])
    text = render(odd)
    assert text.count("\n") == 1
    assert json.loads(text)["summary"] == "a\nb\u2028c"
