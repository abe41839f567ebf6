"""SARIF: what is written keeps the standard's shape, and says what the scan says."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from forensics.engines.local import scan
from forensics.repaired.former import FormerFinding
from forensics.reports.sarif import FINGERPRINT, SCHEMA, render, uri
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Finding, Verdict
from forensics.tuning import Tuning, tune

Scanned = Callable[[Path], Result]
Log = dict[str, Any]

# -- the part of SARIF 2.1.0 that is used, narrower than the standard: a property that is not listed is a mistake ------


def thing(required: str, optional: str = "", **properties: object) -> dict[str, Any]:
    """An object with exactly these properties."""
    assert {*required.split(), *optional.split()} == set(properties)
    return {
        "type": "object",
        "required": required.split(),
        "additionalProperties": False,
        "properties": {name.replace("S_", "$"): value for name, value in properties.items()},
    }


def many(items: object, at_least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": at_least}


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
LINE = {"type": "integer", "minimum": 1}
URI = {"type": "string", "pattern": r"^(?:[A-Za-z0-9._~!$&'()*+,;=@/-]|%[0-9A-F]{2})+$"}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
MESSAGE = thing("text", text=TEXT)
REGION = thing("", "startLine byteOffset snippet", startLine=LINE, byteOffset=COUNT, snippet=MESSAGE) | {
    "minProperties": 1
}
PHYSICAL = thing(
    "artifactLocation",
    "region",
    artifactLocation=thing("uri", "index", uri=URI, index=COUNT),
    region=REGION,
)
LOCATION = thing(
    "",
    "id physicalLocation logicalLocations message",
    id=LINE,
    physicalLocation=PHYSICAL,
    logicalLocations=many(thing("name fullyQualifiedName kind", name=TEXT, fullyQualifiedName=TEXT, kind=TEXT), 1),
    message=MESSAGE,
)
STEP = thing(
    "location executionOrder",
    "executionTimeUtc",
    location=LOCATION,
    executionOrder=LINE,
    executionTimeUtc={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
)
RESULT = thing(
    "ruleId ruleIndex kind level message",
    "fingerprints locations relatedLocations codeFlows occurrenceCount properties baselineState suppressions",
    ruleId={"enum": [rule.id for rule in RULES]},
    ruleIndex=COUNT,
    kind={"enum": ["fail", "open"]},
    level=LEVEL,
    message=MESSAGE,
    fingerprints={"type": "object", "additionalProperties": TEXT, "minProperties": 1},
    locations=many(LOCATION, 1),
    relatedLocations=many(LOCATION),
    codeFlows=many(thing("threadFlows", threadFlows=many(thing("id locations", id=TEXT, locations=many(STEP, 1)), 1))),
    occurrenceCount=LINE,
    properties={"type": "object"},
    baselineState={"enum": ["new", "unchanged"]},
    suppressions=many(thing("kind justification", kind={"const": "external"}, justification=TEXT), 1),
) | {"if": {"properties": {"kind": {"const": "open"}}}, "then": {"properties": {"level": {"const": "none"}}}}
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
RUN = thing(
    "tool columnKind artifacts invocations results",
    tool=thing(
        "driver",
        driver=thing(
            "name version semanticVersion rules",
            name=TEXT,
            version=TEXT,
            semanticVersion=TEXT,
            rules=many(
                thing(
                    "id shortDescription fullDescription help defaultConfiguration",
                    id=TEXT,
                    shortDescription=MESSAGE,
                    fullDescription=MESSAGE,
                    help=MESSAGE,
                    defaultConfiguration=thing("level", level=LEVEL),
                )
            )
            | {"uniqueItems": True},
        ),
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    artifacts=many(
        thing(
            "location",
            "hashes",
            location=thing("uri", uri=URI),
            hashes={
                "type": "object",
                "required": ["sha-256"],
                "properties": {"sha-256": HASH},
                "additionalProperties": False,
            },
        )
    )
    | {"uniqueItems": True},
    invocations=many(
        thing(
            "executionSuccessful toolExecutionNotifications",
            executionSuccessful={"const": True},
            toolExecutionNotifications=many(
                thing("level message", "locations", level=LEVEL, message=MESSAGE, locations=many(LOCATION, 1))
            ),
        ),
        1,
    ),
    results=many(RESULT),
)
LOG = thing("S_schema version runs", S_schema=TEXT, version={"const": "2.1.0"}, runs=many(RUN, 1))
LOG["required"] = ["$schema", "version", "runs"]


STANDARD: Log = json.loads((Path(__file__).parent / "oasis" / "sarif-schema-2.1.0.json").read_text("utf-8"))
"""The schema of OASIS (oasis/NOTICE.md)."""


def complaints(log: Log) -> list[str]:
    """What is wrong by the schema of the standard, and by the narrower one."""
    both = (Draft4Validator(STANDARD), Draft202012Validator(LOG))
    return [f"{error.json_path}: {error.message:.200}" for one in both for error in one.iter_errors(log)]


def log_of(result: Result) -> Log:
    return dict(json.loads(render(result)))


def results(log: Log, kind: str) -> list[dict[str, Any]]:
    return [one for one in log["runs"][0]["results"] if one["kind"] == kind]


# -- every case ------------------------------------------------------------------------------------


def test_the_log_has_the_shape_of_the_standard(trace: Path, scanned: Scanned) -> None:
    assert complaints(log_of(scanned(trace))) == []


def test_the_log_says_what_the_scan_says(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    log = log_of(result)
    fails = results(log, "fail")
    assert [one["fingerprints"][FINGERPRINT] for one in fails] == [f.fingerprint for f in result.findings]
    unknown = {rule.id for rule in RULES for p in result.partitions if p.judgements[rule.id].verdict is Verdict.UNKNOWN}
    assert {one["ruleId"] for one in results(log, "open")} == unknown
    assert len(results(log, "open")) == len(unknown)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    for one in log["runs"][0]["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]


def places(value: object) -> list[dict[str, Any]]:
    """Every place in a file within a part of a log."""
    if isinstance(value, list):
        return [found for item in value for found in places(item)]
    if not isinstance(value, dict):
        return []
    own = [value["physicalLocation"]] if "physicalLocation" in value else []
    return own + [found for item in value.values() for found in places(item)]


def test_each_place_is_a_file_that_was_read(trace: Path, scanned: Scanned) -> None:
    result = scanned(trace)
    log = log_of(result)
    artifacts = log["runs"][0]["artifacts"]
    for place in places(log["runs"][0]["results"]):
        location = place["artifactLocation"]
        artifact = artifacts[location["index"]]
        assert artifact["location"]["uri"] == location["uri"]
        assert unquote(location["uri"]) in result.case.paths
        assert "sha-256" in artifact["hashes"]


def test_a_line_is_shown_before_a_byte(sample_traces: Path, scanned: Scanned) -> None:
    fails = results(log_of(scanned(sample_traces / "kip101-0.10.2.2")), "fail")
    with_lines = [one for one in fails if "startLine" in json.dumps(one)]
    assert with_lines
    for one in with_lines:
        assert "startLine" in one["locations"][0]["physicalLocation"]["region"]


# -- what it says ----------------------------------------------------------------------------------


def test_a_loss_is_told(sample_traces: Path, scanned: Scanned) -> None:
    lost = results(log_of(scanned(sample_traces / "kip101-0.10.2.2")), "fail")[0]
    assert (lost["ruleId"], lost["level"]) == ("committed-data-lost", "error")
    assert lost["message"]["text"].startswith("orders-0: the partition lost committed offsets 50 to 79 (30 records)")
    assert lost["properties"]["offsets"] == [[50, 80]]
    assert lost["locations"][0]["logicalLocations"][0]["name"] == "orders-0"
    (flow,) = lost["codeFlows"]
    assert {"broker 1", "broker 2", "broker 3"} <= {thread["id"] for thread in flow["threadFlows"]}
    steps = [step for thread in flow["threadFlows"] for step in thread["locations"]]
    assert sorted(step["executionOrder"] for step in steps) == list(range(1, len(steps) + 1))


def test_what_is_known_is_suppressed_and_what_is_new_is_marked(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    known = tuple(FormerFinding(one.fingerprint, one.severity) for one in result.findings[1:])
    log = log_of(tune(result, Tuning(baseline="known.json", known=known)))
    assert complaints(log) == []
    fails = results(log, "fail")
    assert [one["baselineState"] for one in fails] == ["new"] + ["unchanged"] * len(known)
    assert ["suppressions" in one for one in fails] == [False] + [True] * len(known)
    assert "baselineState" not in results(log_of(result), "fail")[0]


def test_a_rule_that_is_off_is_not_in_it(sample_traces: Path, scanned: Scanned) -> None:
    log = log_of(tune(scanned(sample_traces / "txn-4.1.1"), Tuning(disabled=frozenset({"hw-above-isr-member"}))))
    assert complaints(log) == []
    assert "hw-above-isr-member" not in {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    (notified,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notified["message"]["text"] == "rule not asked: hw-above-isr-member"


def test_damage_is_notified(sample_traces: Path, tmp_path: Path) -> None:
    folder = tmp_path / "with blanks #1"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", folder)
    torn = folder / "broker-2" / "data" / "replication-offset-checkpoint"
    torn.chmod(0o644)
    torn.write_bytes(b"0\n1\nord")
    log = log_of(scan([str(folder)]))
    assert complaints(log) == []
    notified = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    uris = {where["artifactLocation"]["uri"] for where in places(notified)}
    assert uri(str(torn)) in uris
    assert "%20" in uri(str(torn))
    assert "%23" in uri(str(torn))


def test_a_finding_without_evidence_still_has_a_place(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    bare: Finding = replace(result.findings[0], evidence=(), facts=())
    log = log_of(replace(result, findings=[bare]))
    assert complaints(log) == []
    assert results(log, "fail")[0]["locations"][0]["logicalLocations"][0]["name"] == "orders-0"


# -- it can fail -----------------------------------------------------------------------------------


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "a level that is none": lambda one: one.update(level="fatal"),
    "an unknown property": lambda one: one.update(colour="red"),
    "no message": lambda one: one.pop("message"),
    "a place without a file": lambda one: one["locations"][0]["physicalLocation"].pop("artifactLocation"),
    "line 0": lambda one: one["locations"][0]["physicalLocation"]["region"].update(startLine=0),
    "a path that is no reference": lambda one: one["locations"][0]["physicalLocation"]["artifactLocation"].update(
        uri="a b"
    ),
    "open with a level": lambda one: one.update(kind="open"),
    "a time without a zone": lambda one: one["codeFlows"][0]["threadFlows"][0]["locations"][0].update(
        executionTimeUtc="2026-11-21T04:06:36.540"
    ),
}


def test_the_schema_is_the_one_that_the_log_names() -> None:
    Draft4Validator.check_schema(STANDARD)
    assert STANDARD["id"] == SCHEMA


def test_the_schema_of_the_standard_refuses_what_it_does_not_know(sample_traces: Path, scanned: Scanned) -> None:
    log = log_of(scanned(sample_traces / "kip101-0.10.2.2"))
    log["runs"][0]["results"][0]["level"] = "fatal"
    del log["runs"][0]["tool"]["driver"]["name"]
    refused = [error.json_path for error in Draft4Validator(STANDARD).iter_errors(log)]
    assert sorted(refused) == ["$.runs[0].results[0].level", "$.runs[0].tool.driver"]


@pytest.mark.parametrize("name", BROKEN)
def test_a_log_of_another_shape_is_refused(name: str, sample_traces: Path, scanned: Scanned) -> None:
    log = log_of(scanned(sample_traces / "kip101-0.10.2.2"))
    assert complaints(log) == []
    broken = copy.deepcopy(log)
    BROKEN[name](broken["runs"][0]["results"][0])
    assert complaints(broken) != []
