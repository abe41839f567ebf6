"""JSON lines: one finding a line, worst first, each by itself. For tools that read streams, and for baselines.

A line is a finding as ``forensics.scan/1`` has it, with the key ``schema`` before it.
"""

from __future__ import annotations

from typing import Any

from forensics.outputs import as_json
from forensics.reports.json_report import finding_document, schema
from forensics.result import Result
from forensics.rules.finding import Finding

SCHEMA = "forensics.finding/1"


def render(result: Result) -> str:
    """A line for each finding; nothing where nothing was found."""
    return "".join(line(finding, redacted=result.redacted) for finding in result.findings)


def line(finding: Finding, *, redacted: bool = False) -> str:
    """The line of a finding, with a mark if names are pseudonyms."""
    mark = {"redacted": True} if redacted else {}
    return as_json({"schema": SCHEMA, **mark, **finding_document(finding)}) + "\n"


def line_schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    whole = schema()
    finding = whole["$defs"].pop("finding")
    return {
        "$schema": whole["$schema"],
        "$id": "urn:forensics:finding:1",
        "title": SCHEMA,
        **finding,
        "required": ["schema", *finding["required"]],
        "properties": {"schema": {"const": SCHEMA}, "redacted": {"const": True}, **finding["properties"]},
        "$defs": whole["$defs"],
    }
