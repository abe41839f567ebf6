"""SARIF 2.1.0 (OASIS, errata 01): for code hosts, editors and gates that read the results of checks.

A finding is a result of kind ``fail``. What a rule could not decide is one result of kind ``open`` a rule, whatever the
number of partitions: viewers list every result. Evidence with a line comes first, for viewers show the first location
alone; a place in a binary file is a byte offset. The story of a finding is a code flow with one thread a broker.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from forensics.outputs import as_json
from forensics.reports.json_report import EXAMPLES
from forensics.reports.remarks import added
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Evidence, Finding, Rule, Severity, Verdict
from forensics.rules.wording import want_texts
from forensics.version import __version__

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "forensicsFinding/v1"
NAMED = 20  # partitions that one open result names

LEVELS = {
    Severity.CRITICAL: "error",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def render(result: Result) -> str:
    """The log as indented JSON, ending with a line end."""
    return as_json(document(result), indent=1) + "\n"


def document(result: Result) -> dict[str, Any]:
    """The log as plain values."""
    rules = [rule for rule in RULES if rule.id not in result.changes.disabled]
    number = {rule.id: position for position, rule in enumerate(rules)}
    told = [*((finding, False) for finding in result.findings), *((finding, True) for finding in result.known)]
    files = _files(result, (finding for finding, _ in told))
    place = {path: position for position, path in enumerate(files)}
    return {
        "$schema": SCHEMA,
        "version": VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "forensics",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "artifacts": [_artifact(path, hashed) for path, hashed in files.items()],
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notifications(result)}],
                "results": [
                    *(_result(finding, number, place, result, known=known) for finding, known in told),
                    *_open(rules, result.partitions),
                ],
            }
        ],
    }


def uri(path: str) -> str:
    """A path as a reference by RFC 3986.

    >>> uri("broker 1/server.log"), uri("bundle.tar!data/orders-0")
    ('broker%201/server.log', 'bundle.tar!data/orders-0')
    """
    return quote(path, safe="/!")


def _files(result: Result, findings: Iterable[Finding]) -> dict[str, str | None]:
    cited = {evidence.path: evidence.sha256 for finding in findings for evidence in finding.evidence}
    cited.update({path: None for path in _noticed(result) if path not in cited})
    return dict(sorted(cited.items()))


def _noticed(result: Result) -> list[str]:
    return [result.case.path(source) for source in result.case.notices.head(EXAMPLES).get_column("source").to_list()]


def _artifact(path: str, hashed: str | None) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": {"uri": uri(path)}}
    return artifact | ({"hashes": {"sha-256": hashed}} if hashed is not None else {})


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.title},
        "help": {"text": rule.help.text},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(
    finding: Finding, number: dict[str, int], place: dict[str, int], result: Result, *, known: bool
) -> dict[str, Any]:
    # Some viewers show only the first place: a line is more useful than a byte.
    pieces = sorted(finding.evidence, key=lambda evidence: evidence.line is None)
    name = f"{finding.topic}-{finding.partition}"
    logical = {
        "name": name,
        "fullyQualifiedName": "/".join(part for part in (finding.cluster, name) if part),
        "kind": "resource",
    }
    first = _location(pieces[0], place) if pieces else {}
    cause = finding.known_cause
    said: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number[finding.rule],
        "kind": "fail",
        "level": LEVELS[finding.severity],
        "message": {"text": f"{name}: {finding.summary}"},
        "fingerprints": {FINGERPRINT: finding.fingerprint},
        "locations": [first | {"logicalLocations": [logical]}],
        "relatedLocations": [{"id": n, **_location(piece, place)} for n, piece in enumerate(pieces[1:], start=1)],
        "codeFlows": _flows(finding, place),
        "occurrenceCount": finding.count,
        "properties": {
            "severity": finding.severity.value,
            "confidence": finding.confidence.value,
            "topic": finding.topic,
            "partition": finding.partition,
            "replicas": list(finding.replicas),
            "epochs": list(finding.epochs),
            "offsets": [list(piece) for piece in finding.offsets],
            "cause": cause.id if cause is not None else None,
            "keep": finding.keep,
            "nextSteps": [step.sentence for step in finding.next_steps],
            "doNot": list(finding.do_not),
        },
    }
    if result.changes.baseline is not None:
        said["baselineState"] = "unchanged" if known else "new"
    if known:
        said["suppressions"] = [{"kind": "external", "justification": f"known: {result.changes.baseline}"}]
    return said


def _location(evidence: Evidence, place: dict[str, int]) -> dict[str, Any]:
    region: dict[str, Any]
    region = {"startLine": evidence.line} if evidence.line is not None else {"byteOffset": evidence.byte or 0}
    if evidence.text and evidence.line is not None:
        region["snippet"] = {"text": evidence.text}  # of a binary file a snippet would be its bytes
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri(evidence.path), "index": place[evidence.path]},
            "region": region,
        }
    }
    note = evidence.note or (evidence.text if evidence.line is None else "")
    return location | ({"message": {"text": note}} if note else {})


def _flows(finding: Finding, place: dict[str, int]) -> list[dict[str, Any]]:
    proof = dict(zip(finding.refs, finding.evidence, strict=False))
    threads: dict[str, list[dict[str, Any]]] = {}
    for order, fact in enumerate(finding.facts, start=1):
        piece = next((proof[ref] for ref in fact.refs if ref in proof), None)
        step: dict[str, Any] = {
            "location": (_location(piece, place) if piece is not None else {}) | {"message": {"text": fact.text}},
            "executionOrder": order,
        }
        if fact.time is not None:
            moment = datetime.fromtimestamp(fact.time / 1e6, UTC)
            step["executionTimeUtc"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        name = f"broker {fact.broker}" if fact.broker is not None else "cluster"
        threads.setdefault(name, []).append(step)
    if not threads:
        return []
    return [{"threadFlows": [{"id": name, "locations": steps} for name, steps in threads.items()]}]


def _open(rules: Iterable[Rule], partitions: list[Partition]) -> list[dict[str, Any]]:
    """Return undecided questions, one result per rule."""
    said = []
    for position, rule in enumerate(rules):
        unknown = [p for p in partitions if p.judgements[rule.id].verdict is Verdict.UNKNOWN]
        if not unknown:
            continue
        names = [p.history.name for p in unknown]
        every = (want_texts(p.judgements[rule.id].missing, p.history.name) for p in unknown)
        wishes = list(dict.fromkeys(itertools.chain.from_iterable(every)))
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        rest = f"; and {len(wishes) - NAMED:,} more" if len(wishes) > NAMED else ""
        said.append(
            {
                "ruleId": rule.id,
                "ruleIndex": position,
                "kind": "open",
                "level": "none",
                "message": {
                    "text": f"cannot be decided for {', '.join(names[:NAMED])}{more}. What would settle it: "
                    f"{'; '.join(wishes[:NAMED])}{rest}"
                },
            }
        )
    return said


def _notifications(result: Result) -> list[dict[str, Any]]:
    """The first of what is damaged or not understood, and how much more there is."""
    case = result.case
    said = []
    for row in case.notices.head(EXAMPLES).iter_rows(named=True):
        region: dict[str, Any] = {}
        if row["line"] is not None:
            region = {"region": {"startLine": row["line"]}}
        elif row["byte"] is not None:
            region = {"region": {"byteOffset": row["byte"]}}
        where = {"artifactLocation": {"uri": uri(case.path(row["source"]))}, **region}
        said.append(
            {"level": "warning", "message": {"text": row["reason"]}, "locations": [{"physicalLocation": where}]}
        )
    more = case.notices.height - EXAMPLES
    if more > 0:
        said.append({"level": "warning", "message": {"text": f"and {more:,} more: --format json counts them by file"}})
    said += [{"level": "note", "message": {"text": text}} for text in _changed(result)]
    return said


def _changed(result: Result) -> list[str]:
    changes = result.changes
    off = [f"rule not asked: {rule}" for rule in changes.disabled]
    return [*off, *added(result)] + ([f"configured by {changes.config}"] if changes.config is not None else [])
