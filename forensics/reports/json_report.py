"""The JSON contract ``forensics.scan/1``: everything in a result, for programs. Its schema is beside this file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import resources
from typing import Any, Final

from forensics.case.brokers import Broker
from forensics.case.coverage import coverage
from forensics.outputs import Alike, Named, members_as_json, place
from forensics.repaired.former import FormerFinding
from forensics.repaired.since import Repair
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import UNKNOWN
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Evidence, Finding, Judgement
from forensics.rules.stated_problems import Problem
from forensics.rules.wording import want_texts
from forensics.version import __version__
from parsers.read import TAKERS

SCHEMA = "forensics.scan/1"
EXAMPLES = 20


def render(result: Result) -> str:
    """The document as indented JSON, ending with a line end."""
    return "".join(pieces(result))


def pieces(result: Result) -> Iterator[str]:
    """Pieces of the same text: with a hundred thousand partitions it is larger than all else."""
    yield from members_as_json(_members(result))
    yield "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, with the ids of rules and formats of plugins."""
    text = resources.files("forensics.reports").joinpath("scan.schema.json").read_text("utf-8")
    found = dict(json.loads(text))
    found["$defs"]["rule"]["enum"] += [rule.id for rule in RULES.added]
    found["$defs"]["format"]["enum"] += [taker.format for taker in TAKERS.added]
    return found


def document(result: Result) -> dict[str, Any]:
    """The document as plain values."""
    return dict(json.loads(render(result)))


def _members(result: Result) -> Iterator[tuple[str, object]]:
    """Yield the members of the document in their order, the long lists among them as iterators."""
    case = result.case
    yield "schema", SCHEMA
    yield "tool", {"name": "forensics", "version": __version__}
    yield "redacted", result.redacted
    yield "inputs", list(result.inputs)
    yield "time_zone", case.reading.assumed
    yield "skew_us", {str(broker): shift for broker, shift in sorted(case.reading.skew.items())}
    yield "brokers", map(_broker, case.everyone)
    yield "sources", map(_source, case.sources.iter_rows(named=True))
    yield "coverage", map(_coverage, coverage(case).iter_rows(named=True))
    yield "partitions", _partitions(result)
    yield "findings", map(finding_document, result.findings)
    yield "problems", map(problem_document, result.problems)
    yield "notices", _notices(result)
    yield "tuning", _tuning(result)
    yield "repair", _repair(result.repair)
    yield "clocks", map(_clock, case.skew.iter_rows(named=True))
    yield "plugins", [asdict(plugin) for plugin in result.plugins]


def _broker(broker: Broker) -> dict[str, Any]:
    return {
        "id": broker.id,
        "cluster": broker.cluster,
        "version": broker.version,
        "settings": broker.own_settings,
        "starts": [iso(time) for time in broker.starts],
    }


def _coverage(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "first_time": _iso(row["first_time"]), "last_time": _iso(row["last_time"])}


def _clock(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "cluster": row["cluster"],
        "broker": row["broker"],
        "reference": row["reference"],
        "ahead_us": row["estimate"],
        "low_us": row["low"],
        "high_us": row["high"],
        "pairs": row["pairs"],
        "consistent": row["consistent"],
    }


def iso(time: int | None) -> str | None:
    """Microseconds since 1970 UTC as ISO 8601, or None."""
    return None if time is None else _iso(datetime.fromtimestamp(time / 1e6, UTC))


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _source(row: dict[str, Any]) -> dict[str, Any]:
    keys = ("path", "broker", "cluster", "format", "frame", "bytes", "sha256", "lines", "events", "relevant")
    return {
        **{key: row[key] for key in keys},
        "understood": row["understood"],
        "notices": row["notices"],
        "first_time": _iso(row["first_time"]),
        "last_time": _iso(row["last_time"]),
    }


_MOST_ALIKE: Final = 4096
"""Partitions with the same answers whose text is kept, so that it need not be made for each of them."""


def _partitions(result: Result) -> Iterator[dict[str, Any]]:
    """Yield each partition; the answers of most of many differ in the partition and in the fingerprints alone."""
    groups = [0] * len(result.partitions)
    for number, same in enumerate(result.same_answers):
        for at in same.places:
            groups[at] = number
    known: dict[int, Alike] = {}
    for one, group in zip(result.partitions, groups, strict=True):
        if group not in known:
            if len(known) == _MOST_ALIKE:
                known.clear()
            known[group] = _answers_alike(one)
        yield {**_without_verdicts(one), "verdicts": Named(known[group], [one.history.name, *_fingerprints(one)])}


def _fingerprints(partition: Partition) -> Iterator[str]:
    return (finding.fingerprint for answer in partition.judgements.values() for finding in answer.findings)


def _answers_alike(partition: Partition) -> Alike:
    """Return the answers of all partitions with the same answers, with places for their names and fingerprints."""
    count = itertools.count(1)
    return Alike(
        {
            rule: _verdict(answer, place(0), [place(next(count)) for _ in answer.findings])
            for rule, answer in partition.judgements.items()
        }
    )


def _verdict(judgement: Judgement, name: str, fingerprints: list[str]) -> dict[str, Any]:
    return {
        "verdict": judgement.verdict.value,
        "missing": list(want_texts(judgement.missing, name)),
        "findings": fingerprints,
    }


def _partition(partition: Partition) -> dict[str, Any]:
    """Return one partition with its verdicts, as ``make same`` compares it."""
    name = partition.history.name
    verdicts = {
        rule: _verdict(answer, name, [finding.fingerprint for finding in answer.findings])
        for rule, answer in partition.judgements.items()
    }
    return {**_without_verdicts(partition), "verdicts": verdicts}


def _without_verdicts(partition: Partition) -> dict[str, Any]:
    history = partition.history
    return {
        "cluster": history.cluster,
        "topic": history.topic,
        "topic_id": history.topic_id,
        "partition": history.partition,
        "incarnation": history.incarnation,
        "protocol": history.protocol.truncates_to.value,
        "epochs": [
            {
                "epoch": e.epoch,
                "leader": e.leader,
                "start": e.start,
                "isr": sorted(e.first_isr) if e.first_isr else None,
            }
            for e in sorted((*history.epochs.values(), *map(Epoch, history.coverage.unnamed)), key=lambda e: e.epoch)
        ],
        "replicas": [_replica(history, broker) for broker in sorted(history.replicas)],
    }


def _replica(history: History, broker: int) -> dict[str, Any]:
    replica = history.replicas[broker]
    return {
        "broker": broker,
        "log_start_offset": replica.log_start,
        "log_end_offset": replica.end,
        "high_watermark_checkpoint": replica.checkpoint[0] if replica.checkpoint else None,
        "lineage": [[max(epoch, UNKNOWN), start] for epoch, start in replica.lineage.entries],
        "directory": replica.directory,
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding as plain values."""
    first, last = finding.span
    cause = finding.known_cause
    positions = {ref: number for number, ref in enumerate(finding.refs)}
    return {
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "weak": [one.value for one in finding.weak],
        "cluster": finding.cluster,
        "topic": finding.topic,
        "topic_id": finding.topic_id,
        "partition": finding.partition,
        "incarnation": finding.incarnation,
        "replicas": list(finding.replicas),
        "epochs": list(finding.epochs),
        "offsets": [list(piece) for piece in finding.offsets],
        "records": {"min": finding.records[0], "max": finding.records[1]} if finding.records else None,
        "time": {"from": iso(first), "to": iso(last)},
        "summary": finding.summary,
        "before": finding.before,
        "after": finding.after,
        "facts": [
            {
                "text": fact.text,
                "broker": fact.broker,
                "time": iso(fact.time),
                "evidence": [positions[ref] for ref in dict.fromkeys(fact.refs)],
            }
            for fact in finding.facts
        ],
        "inferences": list(finding.inferences),
        "rests_on": [one.value for one in finding.rests_on],
        "uncertain": list(finding.doubts),
        "not_because": list(finding.not_because),
        "cause": None
        if cause is None
        else {
            "id": cause.id,
            "text": cause.text,
            "reference": cause.reference,
            "versions": cause.versions,
            "prevention": cause.prevention,
        },
        "keep": finding.keep,
        "next_steps": [step.sentence for step in finding.next_steps],
        "do_not": list(finding.do_not),
        "groups": [{"group": one.group, "position": one.position, "restart": one.restart} for one in finding.groups],
        "count": finding.count,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
    }


def problem_document(problem: Problem) -> dict[str, Any]:
    """One known problem at one place as plain values."""
    known = problem.known
    return {
        "id": known.id,
        "severity": known.severity.value,
        "title": known.title,
        "states": problem.states,
        "means": problem.means,
        "records": known.records.value,
        "issues": list(known.issues),
        "broker": problem.broker,
        "topic": problem.topic,
        "partition": problem.partition,
        "offsets": [list(piece) for piece in problem.offsets],
        "values": problem.values,
        "count": problem.count,
        "time": iso(problem.time),
        "next_steps": list(problem.fetch),
        "do_not": list(problem.do_not),
        "evidence": [_evidence(evidence) for evidence in problem.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "path": evidence.path,
        "sha256": evidence.sha256,
        "line": evidence.line,
        "byte": evidence.byte,
        "text": evidence.text,
        "note": evidence.note,
    }


def _tuning(result: Result) -> dict[str, Any]:
    changes = result.changes
    return {
        "config": changes.config,
        "severities": {rule: severity.value for rule, severity in changes.severities.items()},
        "disabled": list(changes.disabled),
        "topics": list(changes.topics),
        "skip_topics": list(changes.skipped_topics),
        "baseline": changes.baseline,
        "known": [{**_in_short(one), "summary": one.summary} for one in result.known],
        "gone": changes.gone,
    }


def _in_short(one: Finding | FormerFinding) -> dict[str, Any]:
    """Return which finding it is, without what it says."""
    return {
        "fingerprint": one.fingerprint,
        "rule": one.rule,
        "severity": one.severity.value,
        "cluster": one.cluster,
        "topic": one.topic,
        "partition": one.partition,
        "offsets": [list(piece) for piece in one.offsets],
    }


def _repair(repair: Repair | None) -> dict[str, Any] | None:
    if repair is None:
        return None
    return {
        "safe": repair.met.value,
        "since": [{**_in_short(one.former), "outcome": one.outcome.value} for one in repair.since],
        "partitions": [
            {
                "cluster": one.cluster,
                "topic": one.topic,
                "partition": one.partition,
                "safe": one.met.value,
                "conditions": [
                    {
                        "id": point.condition.id,
                        "text": point.condition.text,
                        "met": point.met.value,
                        "because": point.text,
                        "evidence": [_evidence(piece) for piece in point.evidence],
                    }
                    for point in one.points
                ],
            }
            for one in repair.partitions
        ],
    }


def _notices(result: Result) -> dict[str, Any]:
    case = result.case
    notices = case.notices
    examples = notices.head(EXAMPLES)
    return {
        "count": notices.height,
        "by_source": {
            case.path(source): count for source, count in notices.group_by("source").len().sort("source").iter_rows()
        },
        "examples": [
            {
                "path": case.path(row["source"]),
                "line": row["line"],
                "byte": row["byte"],
                "reason": row["reason"],
                "excerpt": row["excerpt"],
            }
            for row in examples.iter_rows(named=True)
        ],
    }
