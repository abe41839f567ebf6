"""CSV for Timesketch and other timelines: one row per dated fact, with the columns that Timesketch needs first.

Its importer needs ``message``, ``datetime`` (ISO 8601, UTC) and ``timestamp_desc``. ``timestamp`` is the same time in
microseconds, and the rest are extra columns to filter by. Facts from files have no time of their own: they are at the
end of the evidence, and their ``timestamp_desc`` states that.
"""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from forensics.outputs import no_formula, plain
from forensics.result import Result
from forensics.rules.finding import Evidence, Fact, Finding

COLUMNS = (
    "message",
    "datetime",
    "timestamp_desc",
    "timestamp",
    "broker",
    "topic",
    "partition",
    "rule",
    "severity",
    "confidence",
    "fingerprint",
    "cluster",
    "path",
    "line",
    "byte",
    "sha256",
    "text",
)
FACT = "Replication event"
START = "Broker start"
UNDATED = "Not dated, placed at the end of the evidence"

Row = dict[str, object]


def render(result: Result) -> str:
    """The table, its header first, by time."""
    end = _end(result)
    rows = [*_starts(result), *_facts(result, end)]
    rows.sort(key=lambda row: int(str(row["timestamp"])))  # stable: facts of one moment stay in causal order
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in r.items()} for r in rows)
    return stream.getvalue()


def _cell(value: object) -> object:
    """Return a cell that a spreadsheet reads as text, whatever the evidence contains."""
    return no_formula(plain(value)) if isinstance(value, str) else value


def _at(time: int, what: str) -> Row:
    moment = datetime.fromtimestamp(time // 1_000_000, UTC).replace(microsecond=time % 1_000_000)
    return {"datetime": moment.isoformat(timespec="microseconds"), "timestamp_desc": what, "timestamp": time}


def _end(result: Result) -> int:
    last = result.case.sources.get_column("last_time").max()
    return round(last.timestamp() * 1e6) if isinstance(last, datetime) else 0


def _starts(result: Result) -> list[Row]:
    return [
        {
            "message": f"broker {broker.id} starts{f', Kafka {broker.version}' if broker.version else ''}",
            **_at(time, START),
            "broker": broker.id,
            "cluster": broker.cluster or "",
        }
        for broker in result.case.brokers.values()
        for time in broker.starts
    ]


def _facts(result: Result, end: int) -> list[Row]:
    """Return a row for each fact of each finding; ``end`` is the time of those without one."""
    rows: list[Row] = []
    for finding in result.findings:
        proof = dict(zip(finding.refs, finding.evidence, strict=False))
        for fact in finding.facts:
            piece = next((proof[ref] for ref in fact.refs if ref in proof), None)
            when = _at(end, UNDATED) if fact.time is None else _at(fact.time, FACT)
            rows.append({**_stated(finding, fact), **when, **(_proof(piece) if piece is not None else {})})
    return rows


def _stated(finding: Finding, fact: Fact) -> Row:
    """Return the columns that state a fact, without its time and its evidence."""
    who = f"broker {fact.broker}: " if fact.broker is not None else ""
    return {
        "message": f"{finding.topic}-{finding.partition} {who}{fact.text}",
        "broker": "" if fact.broker is None else fact.broker,
        "topic": finding.topic,
        "partition": finding.partition,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "fingerprint": finding.fingerprint,
        "cluster": finding.cluster or "",
    }


def _proof(piece: Evidence) -> Row:
    return {
        "path": piece.path,
        "line": "" if piece.line is None else piece.line,
        "byte": "" if piece.byte is None else piece.byte,
        "sha256": piece.sha256 or "",
        "text": piece.text,
    }
