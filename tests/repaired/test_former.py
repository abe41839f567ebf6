"""Reading an earlier scan: what is none is one sentence, whatever its structure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forensics.errors import BadBaseline
from forensics.repaired.former import former_scan

FINDING = {"fingerprint": "a", "severity": "error", "partition": 3}
SOURCE = {"path": "broker-1/server.log", "broker": 1, "bytes": 9}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", [json.dumps({"findings": [FINDING], "sources": [SOURCE]}), json.dumps(FINDING)])
def test_an_earlier_scan_is_read_as_each_shell_writes_it(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(text, encoding=encoding)
    assert [(one.fingerprint, one.partition) for one in former_scan(str(path)).findings] == [("a", 3)]


@pytest.mark.parametrize(
    "document",
    [
        [],
        3,
        "a",
        {},
        {"findings": [], "tuning": [1]},
        {"findings": [], "tuning": {"known": None, "x": 1}, "sources": [1]},
        {"findings": [], "tuning": {"known": 1}},
        {"findings": [], "tuning": "known"},
        {"findings": [], "sources": 1},
        {"findings": [], "sources": [{**SOURCE, "bytes": float("inf")}]},
        {"findings": [], "sources": [{**SOURCE, "bytes": None}]},
        {"findings": [{**FINDING, "evidence": [1]}], "sources": [SOURCE]},
        {"findings": [{**FINDING, "partition": float("inf")}]},
        {"findings": [{**FINDING, "offsets": 1}]},
        {"findings": [{**FINDING, "severity": []}]},
        {**FINDING, "partition": float("nan")},
        {**FINDING, "replicas": [None]},
    ],
    ids=json.dumps,
)
def test_what_is_no_earlier_scan_is_one_sentence(document: object, tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(json.dumps(document))
    with pytest.raises(BadBaseline, match=r"before\.json"):
        former_scan(str(path))


def test_a_number_too_large_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "before.jsonl"
    path.write_text('{"fingerprint": "a", "severity": "error", "partition": 1e400}\n')
    with pytest.raises(BadBaseline, match=r"before\.jsonl:1: not JSON \(1e400 is no number\)"):
        former_scan(str(path))
