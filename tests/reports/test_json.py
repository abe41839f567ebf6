"""The JSON document keeps its contract, and what it refers to exists."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from forensics.case.coverage import KINDS
from forensics.case.twins import COPY
from forensics.engines.local import scan
from forensics.reports.json_report import EXAMPLES, _partition, render, schema
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.causes import CAUSES
from forensics.rules.finding import Severity, Verdict
from parsers import read

Scanned = Callable[[Path], Result]
Document = dict[str, Any]


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def complaints(document: Document) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator().iter_errors(document)]


@pytest.fixture(scope="module")
def lost(sample_traces: Path, scanned: Scanned) -> Document:
    return dict(json.loads(render(scanned(sample_traces / "kip101-0.10.2.2"))))


# -- every case ------------------------------------------------------------------------------------


def test_the_document_keeps_its_contract(trace: Path, scanned: Scanned) -> None:
    text = render(scanned(trace))
    assert text.endswith("}\n")
    assert complaints(json.loads(text)) == []


def test_partitions_with_the_same_answers_have_names_and_fingerprints_of_their_own(tmp_path: Path) -> None:
    checkpoint = tmp_path / "broker-1" / "data" / "replication-offset-checkpoint"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_text("0\n5\n" + "".join(f"topic{number} 0 {number}\n" for number in range(5)))
    result = scan([str(tmp_path)])
    assert [len(same.places) for same in result.same_answers] == [1, 4]  # the high watermark 0 has an answer of its own
    found = json.loads(render(result))["partitions"]
    assert found == [_partition(one) for one in result.partitions]
    assert len({one["verdicts"]["evidence-gap"]["findings"][0] for one in found}) == 5


def test_what_a_document_refers_to_is_in_it(trace: Path, scanned: Scanned) -> None:
    document = json.loads(render(scanned(trace)))
    paths = {source["path"] for source in document["sources"]}
    prints = {finding["fingerprint"] for finding in document["findings"]}
    verdicts = [judged for partition in document["partitions"] for judged in partition["verdicts"].values()]
    named = [fingerprint for judged in verdicts for fingerprint in judged["findings"]]
    assert sorted(named) == sorted(finding["fingerprint"] for finding in document["findings"])
    assert len(prints) == len(named)
    for partition in document["partitions"]:
        assert list(partition["verdicts"]) == [rule.id for rule in RULES]
    for finding in document["findings"]:
        assert {evidence["path"] for evidence in finding["evidence"]} <= paths
        assert all(0 <= place < len(finding["evidence"]) for fact in finding["facts"] for place in fact["evidence"])
        assert all(first < end for first, end in finding["offsets"])
        if finding["records"]:
            least, most = finding["records"]["min"], finding["records"]["max"]
            assert most is None or least <= most  # null: more may be lost than the evidence shows
        times = [finding["time"]["from"], finding["time"]["to"]]
        assert (times[0] is None) == (times[1] is None)
        assert times[0] is None or times[0] <= times[1]
    assert set(document["notices"]["by_source"]) <= paths
    assert document["notices"]["count"] == sum(document["notices"]["by_source"].values())
    assert document["notices"]["count"] == sum(source["notices"] for source in document["sources"])
    assert len(document["notices"]["examples"]) == min(document["notices"]["count"], EXAMPLES)


# -- the schema knows what the code knows ----------------------------------------------------------


def enum(name: str) -> list[str]:
    return list(schema()["$defs"][name]["enum"])


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_schema_lists_what_the_registries_list() -> None:
    """What is new belongs into ``forensics/reports/scan.schema.json`` too: it is part of the contract."""
    assert enum("rule") == [rule.id for rule in RULES]
    assert enum("cause_id") == [cause.id for cause in CAUSES]
    assert enum("severity") == [severity.value for severity in Severity]
    assert set(enum("verdict")) == {verdict.value for verdict in Verdict}
    taken = [taker.format for taker in read.TAKERS]
    assert sorted(enum("format")) == sorted({*taken, read.UNKNOWN, read.UNREADABLE, read.FAILED, read.IRRELEVANT, COPY})
    kinds = schema()["$defs"]["coverage"]["properties"]["kind"]["anyOf"][1]["enum"]
    assert kinds == [label for label, _ in KINDS] + ["log"]


def objects(node: object, path: str = "$") -> list[tuple[str, dict[str, Any]]]:
    """Every schema of an object within a schema."""
    if isinstance(node, list):
        return [found for number, item in enumerate(node) for found in objects(item, f"{path}[{number}]")]
    if not isinstance(node, dict):
        return []
    own = [(path, node)] if node.get("type") == "object" else []
    return own + [found for key, item in node.items() for found in objects(item, f"{path}.{key}")]


def test_the_schema_lets_nothing_else_in() -> None:
    found = objects(schema())
    assert len(found) > 12
    for path, node in found:
        assert "additionalProperties" in node, path
        if "properties" in node:
            assert node["additionalProperties"] is False, path
            assert sorted(node["required"]) == sorted(node["properties"]), path


# -- it can fail -----------------------------------------------------------------------------------


def drop(document: Document, *path: str | int) -> None:
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]


def put(value: object, *path: str | int) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        holder: Any = document
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value

    return change


CLEAN = {"verdict": "clean", "missing": [], "findings": []}
NOWHERE = {"path": "server.log", "sha256": None, "line": None, "byte": None, "text": "", "note": ""}

BROKEN: dict[str, Callable[[Document], None]] = {
    "a missing part": lambda d: drop(d, "coverage"),
    "a missing key of a finding": lambda d: drop(d, "findings", 0, "severity"),
    "a new key": put(1, "findings", 0, "colour"),
    "a new key at the top": put([], "errors"),
    "another contract": put("forensics.scan/2", "schema"),
    "an unknown rule": put("data-gone", "findings", 0, "rule"),
    "an unknown rule among the verdicts": put(CLEAN, "partitions", 0, "verdicts", "data-gone"),
    "an unknown severity": put("fatal", "findings", 0, "severity"),
    "a verdict of a fourth kind": put("maybe", "partitions", 0, "verdicts", "segment-damage", "verdict"),
    "violated without a finding": put([], "partitions", 0, "verdicts", "committed-data-lost", "findings"),
    "unknown without a wish": put("unknown", "partitions", 0, "verdicts", "two-leaders-one-epoch", "verdict"),
    "clean with a wish": put(["more"], "partitions", 0, "verdicts", "two-leaders-one-epoch", "missing"),
    "a range of one": put([[50]], "findings", 0, "offsets"),
    "offsets as text": put([["50", "80"]], "findings", 0, "offsets"),
    "an offset below zero": put([[-1, 80]], "findings", 0, "offsets"),
    "a time without a zone": put("2026-11-21T04:06:36.540", "findings", 0, "time", "from"),
    "evidence from nowhere": put(NOWHERE, "findings", 0, "evidence", 0),
    "a line before the first": put(0, "findings", 0, "evidence", 0, "line"),
    "a hash that is none": put("abc", "findings", 0, "evidence", 0, "sha256"),
    "a broker below zero": put(-1, "findings", 0, "facts", 0, "broker"),
    "an unknown cause": put("bad luck", "findings", 0, "cause", "id"),
    "an unknown format": put("pcap", "sources", 0, "format"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_document_that_breaks_the_contract_is_refused(name: str, lost: Document) -> None:
    document = copy.deepcopy(lost)
    BROKEN[name](document)
    assert document != lost
    assert complaints(document) != []


# -- what it says ----------------------------------------------------------------------------------


def test_the_document_says_what_was_lost(lost: Document) -> None:
    finding = lost["findings"][0]
    assert finding["rule"] == "committed-data-lost"
    assert finding["severity"] == "critical"
    assert (finding["topic"], finding["partition"]) == ("orders", 0)
    assert finding["offsets"] == [[50, 80]]
    assert finding["records"] == {"min": 30, "max": 30}
    assert finding["cause"]["id"] == "hw-truncation"
    assert "KIP-101" in finding["cause"]["reference"]
    assert finding["keep"].startswith("broker 1's copy")
    (partition,) = lost["partitions"]
    assert partition["protocol"] == "hw"
    assert partition["verdicts"]["committed-data-lost"]["verdict"] == "violated"
    assert {replica["broker"]: replica["log_end_offset"] for replica in partition["replicas"]} == {1: 95, 2: 95, 3: 95}


def test_copies_and_damage_are_within_the_contract(sample_traces: Path, tmp_path: Path) -> None:
    """A case with what a tidy one lacks: a copy, junk, a torn file, a file of another kind, notices."""
    shutil.copytree(sample_traces / "crashscene-1.1.1", tmp_path / "evidence")
    shutil.copytree(sample_traces / "crashscene-1.1.1" / "broker-1" / "logs", tmp_path / "evidence" / "again")
    (tmp_path / "evidence" / "again" / "server.log.9").write_bytes(bytes(range(256)) * 8)
    torn = tmp_path / "evidence" / "broker-2" / "data" / "replication-offset-checkpoint"
    torn.chmod(0o644)
    torn.write_bytes(b"0\n1\nord")
    document = json.loads(render(scan([str(tmp_path)])))
    assert complaints(document) == []
    assert {"copy", "unknown"} <= {source["format"] for source in document["sources"]}
    assert document["notices"]["count"] >= 3


def test_text_that_is_not_ascii_stays_readable(sample_traces: Path, scanned: Scanned) -> None:
    assert "\\u" not in render(scanned(sample_traces / "txn-4.1.1"))
