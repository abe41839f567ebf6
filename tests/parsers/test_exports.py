"""What log stores export: JSON documents and tables say what the lines in them say. Lines may be missing there."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan
from forensics.result import Result
from parsers.text.exports import may_be_export

Entries = Iterable[tuple[str, str]]
"""Writer and line."""


def _json(entries: Entries, one: Callable[[str, str], object], around: Callable[[list[object]], object]) -> str:
    return json.dumps(around([one(writer, line) for writer, line in entries]), indent=1)


def _elastic(entries: Entries) -> str:
    return _json(
        entries,
        lambda writer, line: {"_source": {"message": line, "kubernetes": {"pod": {"name": writer}}}},
        lambda hits: {"took": 3, "hits": {"total": {"value": len(hits)}, "hits": hits}},
    )


def _cloudwatch(entries: Entries) -> str:
    return _json(
        entries, lambda writer, line: {"logStreamName": writer, "message": line}, lambda events: {"events": events}
    )


def _google(entries: Entries) -> str:
    return _json(
        entries, lambda writer, line: {"textPayload": line, "resource": {"labels": {"pod_name": writer}}}, list
    )


def _loki(entries: Entries) -> str:
    streams: dict[str, list[list[str]]] = {}
    for number, (writer, line) in enumerate(entries):
        streams.setdefault(writer, []).append([str(number), line])
    result = [{"stream": {"pod": writer}, "values": values} for writer, values in streams.items()]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": result}})


def _loki_by_line(entries: Entries) -> str:
    """Each printed line apart, as agents send them."""
    return _loki((writer, line) for writer, event in entries for line in event.split("\n"))


def _grafana(entries: Entries) -> str:
    labelled = ((line, json.dumps({"app": "kafka", "pod": writer})) for writer, line in entries)
    return _table(labelled, names=("Line", "labels"))


def _table(entries: Entries, *, names: tuple[str, str], separator: str = ",") -> str:
    out = io.StringIO()
    rows = csv.writer(out, delimiter=separator)
    rows.writerow(names)
    rows.writerows(entries)
    return out.getvalue()


FORMS: dict[str, Callable[[Entries], str]] = {
    "Elasticsearch": _elastic,
    "CloudWatch": _cloudwatch,
    "Google Cloud": _google,
    "Loki": _loki,
    "Loki, by line": _loki_by_line,
    "Grafana": _grafana,
    "Kibana": lambda entries: _table(entries, names=("host.name", "message")),
    "Splunk": lambda entries: _table(entries, names=("host", "_raw")),
    "Azure": lambda entries: _table(entries, names=("ContainerID", "LogEntry"), separator=";"),
}


def lines(trace: Path) -> list[tuple[str, str]]:
    """The events of all logs, each with its stack trace, by time."""
    found: list[tuple[str, str]] = []
    for log in sorted(trace.glob("broker-*/logs/*.log")):
        for line in log.read_text().splitlines():
            if line.startswith("[20") or not found:
                found.append((log.parent.parent.name, line))
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
    return sorted(found, key=lambda entry: entry[1][:25])


def verdicts(result: Result) -> dict[tuple[str, str], str]:
    return {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }


def headlines(result: Result) -> list[tuple[object, ...]]:
    """What is found, and how certain it is."""
    return [(one.rule, one.offsets, one.confidence) for one in result.findings]


def stated(result: Result) -> list[tuple[object, ...]]:
    """What the lines state, by broker and time."""
    columns = ("broker", "kind", "time", "topic", "partition", "offset", "leader_epoch", "hw", "leo", "isr")
    rows = result.case.observations.filter(pl.col("broker").is_not_null()).select(columns)
    return sorted(rows.rows(), key=repr)


@pytest.fixture(scope="module")
def whole(sample_traces: Path) -> Result:
    return scan([str(log) for log in sorted((sample_traces / "kip101-0.10.2.2").glob("broker-*/logs/*.log"))])


@pytest.mark.parametrize("form", FORMS)
def test_an_export_of_whole_logs_says_what_they_say(
    form: str, whole: Result, sample_traces: Path, tmp_path: Path
) -> None:
    path = tmp_path / "export.json"
    path.write_text(FORMS[form](lines(sample_traces / "kip101-0.10.2.2")))
    result = scan([str(path)])
    assert stated(result) == stated(whole)
    assert verdicts(result) == verdicts(whole)
    assert headlines(result) == headlines(whole)


def _page(entries: Entries, around: Callable[[list[object]], object]) -> str:
    return _json(entries, lambda writer, line: {"_source": {"message": line, "host": {"name": writer}}}, around)


FOUND: dict[str, Callable[[list[tuple[str, str]]], str]] = {
    "a partition": lambda entries: _elastic(entry for entry in entries if "orders" in entry[1]),
    "a level": lambda entries: _cloudwatch(entry for entry in entries if " INFO " not in entry[1]),
    "words": lambda entries: _google(
        entry for entry in entries if re.search("(?i)truncat|leader|replica|partition|fetch", entry[1])
    ),
    "the first of more": lambda entries: _page(
        entries, lambda hits: {"hits": {"total": {"value": len(hits) + 1, "relation": "eq"}, "hits": hits}}
    ),
    "at least so many": lambda entries: _page(
        entries, lambda hits: {"hits": {"total": {"value": len(hits), "relation": "gte"}, "hits": hits}}
    ),
    "the first page": lambda entries: _json(
        entries,
        lambda writer, line: {"logStreamName": writer, "message": line},
        lambda events: {"events": events, "nextToken": "x"},
    ),
}
"""What a search by something found, or the first part of that."""


@pytest.mark.parametrize("search", FOUND)
def test_an_export_that_lacks_lines_excludes_nothing(search: str, sample_traces: Path, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(FOUND[search](lines(sample_traces / "kip101-0.10.2.2")))
    found = verdicts(scan([str(path)]))
    losses = ("committed-data-lost", "truncation-below-committed", "unclean-election", "two-leaders-one-epoch")
    assert {found["orders-0", rule] for rule in losses} <= {"unknown", "violated"}


def test_what_a_search_found_excludes_nothing(sample_traces: Path, tmp_path: Path) -> None:
    """The lines of one broker, the newest first: no question about committed records is answered with no."""
    trace = sample_traces / "kip101-0.10.2.2"
    path = tmp_path / "found.json"
    path.write_text(_elastic([entry for entry in reversed(lines(trace)) if entry[0] == "broker-2"]))
    found = verdicts(scan([str(path)]))
    assert found["orders-0", "committed-data-lost"] == "unknown"
    assert found["orders-0", "truncation-below-committed"] != "clean"


@pytest.mark.parametrize(
    "text",
    [
        '{"message":"[2024-03-01 10:22:41,107] INFO x (a.B)"}\n{"message":"[2024-03-01 10:22:41,108] INFO y (a.B)"}\n',
        '{"version":1,"brokers":[{"broker":1,"logDirs":[]}]}',
        "[2024-03-01 10:22:41,107] INFO x, y (a.B)\n",
        "name,message\n",
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert not may_be_export(text.encode())
