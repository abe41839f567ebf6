"""A batch answers about traces as a scan does: which cluster each is of, and whether what it claims counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports import json_report
from tests.cases.test_traces_of_evidence import written
from tests.engines.without_spark import run
from tests.rules.traced import LEADS, Line, said, text

WHOLE = {"kind": "trace", "replicas": [1, 2], "release": "3.9.1", "complete": True}
HEALTHY = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10),
]
OTHER = [
    said(0, 2, "become_leader", leader_epoch=3, leo=0, isr="1,2"),
    said(0, 1, "become_follower", leader=2, leader_epoch=3, leo=0),
]


def head(**fields: object) -> Line:
    return {**WHOLE, **fields}


def of(broker: int) -> list[Line]:
    return [line for line in HEALTHY if line["witness"] == broker]


CASES: dict[str, dict[str, list[Line]]] = {
    "whole": {"t.jsonl": [head(cluster="a"), *HEALTHY]},
    "a time that runs backwards": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(2, 1, "hw", hw=10)]},
    "a line that is wrong": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(5, 1, "hw")]},
    "a contradiction": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(5, 2, "append", offset=14, leo=20)]},
    "a log that falls": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(5, 2, "leo", leo=7)]},
    "records before": {"t.jsonl": [head(cluster="a"), said(0, 1, "log_loaded", leo=9), said(1, 1, "hw", hw=9)]},
    "a trace for each broker": {f"{one}/t.jsonl": [head(cluster="a", complete=[one]), *of(one)] for one in (1, 2)},
    "one for each broker, without a cluster": {f"{one}/t.jsonl": [head(complete=[one]), *of(one)] for one in (1, 2)},
    "two clusters in one file": {"t.jsonl": [head(cluster="a"), *HEALTHY, head(cluster="b"), *OTHER]},
    "two clusters, one named": {"one/t.jsonl": [head(cluster="a"), *HEALTHY], "two/t.jsonl": [head(), *OTHER]},
    "two clusters in files": {"one.jsonl": [head(), *HEALTHY], "two.jsonl": [head(), *OTHER]},
    "a controller's own trace": {
        **{f"{one}.jsonl": [head(cluster="a", complete=[one]), *of(one)] for one in (1, 2)},
        "c.jsonl": [
            {"kind": "trace", "release": "3.9.1", "cluster": "a"},
            said(0, 9, "election", leader=1, leader_epoch=3, isr="1,2"),
        ],
    },
    "a broker that is listed alone": {
        "t.jsonl": [head(cluster="a", replicas=[1, 2, 3], complete=[1, 2]), *HEALTHY],
    },
    "a line that counts": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(5, 1, "leo", leo=10) | {"hw": None}]},
    "a large number": {"t.jsonl": [head(cluster="a"), *HEALTHY, said(5, 1, "hw", hw=(1 << 63) - 1)]},
    "a state alone": {"t.jsonl": [said(5, 1, "state", last_stable_offset=9)]},
    "two clusters in folders": {"one/t.jsonl": [head(), *HEALTHY], "two/t.jsonl": [head(), *OTHER]},
}


@pytest.mark.parametrize("name", CASES)
def test_a_batch_answers_as_a_scan(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    for path, lines in CASES[name].items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(lines))
    expected, found = scan([str(folder)]), run(str(folder), tmp_path / "out")
    assert json_report.render(found) == json_report.render(expected)


def test_two_traces_of_the_same_evidence_overlap(sample_traces: Path, tmp_path: Path) -> None:
    """Each broker's lines follow those of another in the file, so that times fall back from one to the next."""
    folder = tmp_path / "case"
    for name, options in (("all", []), ("one", ["-p", "purged-0"])):
        written(sample_traces / "traps-0.10.2.2", folder / f"{name}.jsonl", *options)
    expected, found = scan([str(folder)]), run(str(folder), tmp_path / "out")
    assert json_report.render(found) == json_report.render(expected)
