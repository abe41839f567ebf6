"""A trace of a system that is not Kafka: no answer names a file, a tool, a setting or a release of Kafka."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.case import Origin
from forensics.engines.local import scan
from forensics.reports.html.missing import missing
from forensics.reports.json_report import document
from forensics.rules import RULES, trace_wording
from forensics.rules.causes import OF_OTHER, CauseId
from forensics.rules.wants import Artefact, Question
from forensics.rules.wording import SENTENCES
from parsers.formats.trace_kinds import OF_KIND
from tests.rules.traced import Line, said, text

OF_KAFKA = re.compile(
    r"kafka|\bKIP-|server\.log|state-change|controller's log|checkpoint|segment|director|\.snapshot|log\.dirs"
    r"|message\.format|inter\.broker"
    r"|min\.insync|unclean\.leader|acks=|\b[0-4]\.[0-9]{1,2}\b|zookeeper|metadata log|forensics salvage",
    re.IGNORECASE,
)
"""Words for what only Kafka has."""

NOT_WORDS = ("path", "rule", "text", "fingerprint", "sha256", "verdicts", "cause_id", "id")
"""Fields of a report that quote the evidence, or name a rule."""

LOSS: list[Line] = [
    said(0, 1, "become_leader", leader_epoch=2, leo=0, hw=0),
    said(0, 2, "become_follower", leader=1, leader_epoch=2, leo=0, hw=0),
    said(0, 3, "become_follower", leader=1, leader_epoch=2, leo=0, hw=0),
    said(1, 1, "append", offset=0, leo=6),
    said(2, 2, "append", offset=0, leo=6),
    said(3, 1, "hw", hw=6),
    said(4, 1, "hw", hw=5),
    said(5, 1, "state", hw=9, leo=6),
    said(6, 1, "state", hw=6, lso=8),
    said(7, 2, "process_start"),
    said(7, 2, "unclean_restart"),
    said(7, 2, "log_loaded", leo=5),
    said(8, 3, "become_leader", leader_epoch=3, leo=0, hw=0),
    said(9, 2, "become_follower", leader=3, leader_epoch=3, leo=5, hw=5),
    said(10, 2, "truncate", offset=0),
    said(11, 3, "append", offset=0, leo=3),
    said(12, 3, "hw", hw=3),
    said(13, 1, "become_leader", leader_epoch=3, leo=6, hw=6),
    said(14, 1, "epoch_entry", leader_epoch=2, offset=1),
]
"""Lines that break each rule that a trace can break."""


def words(value: Any, name: str = "") -> Iterator[str]:
    """The texts of a report, without those that quote the evidence."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from () if key in NOT_WORDS else words(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner, name)
    elif isinstance(value, str):
        yield value


def found(folder: Path, first: Line, lines: list[Line]) -> tuple[Origin, set[str], list[str]]:
    """The origin of the evidence of a trace, the rules with findings, and all texts that name what only Kafka has."""
    path = folder / "trace.jsonl"
    path.write_text(text([{"kind": "trace", **first}, *lines]))
    result = scan([str(path)])
    told = document(result)
    texts = [*words(told["findings"]), *(name for broker in told["brokers"] for name in broker["settings"])]
    texts += [one for part in result.partitions for one in _missing(told, part.history.name)]
    rules = {finding["rule"] for finding in told["findings"]}
    return result.case.origin, rules, [one for one in texts if OF_KAFKA.search(one)]


def _missing(told: dict[str, Any], _name: str) -> Iterator[str]:
    for partition in told["partitions"]:
        for verdict in partition["verdicts"].values():
            yield from verdict["missing"]


@pytest.mark.parametrize("claims", [True, [1], False])
@pytest.mark.parametrize("protocol", [{"protocol": "epoch"}, {"protocol": "hw"}, {}])
def test_nothing_of_kafka_is_named(claims: Any, protocol: dict[str, str], tmp_path: Path) -> None:
    first = {"system": "etcd", "replicas": [1, 2, 3], "complete": claims, **protocol}
    origin, rules, of_kafka = found(tmp_path, first, LOSS)
    assert origin is Origin.OTHER_SYSTEM
    assert {"committed-data-lost", "two-leaders-one-epoch", "hw-above-leo", "lso-above-hw"} <= rules
    assert of_kafka == []


def test_records_that_were_never_committed_are_told_without_producers_of_kafka(tmp_path: Path) -> None:
    lines = [
        *LOSS[:5],
        said(3, 1, "hw", hw=6),
        said(4, 1, "append", offset=6, leo=8),
        said(8, 2, "become_leader", leader_epoch=3, leo=6, hw=6),
        said(9, 1, "become_follower", leader=2, leader_epoch=3, leo=8, hw=6),
        said(10, 1, "truncate", offset=6),
    ]
    _, rules, of_kafka = found(tmp_path, {"system": "etcd", "replicas": [1, 2, 3], "complete": True}, lines)
    assert ("uncommitted-truncation" in rules, of_kafka) == (True, [])


@pytest.mark.parametrize("named", [{"system": "kafka"}, {"system": "etcd", "release": "3.9.1"}, {}])
def test_a_trace_of_kafka_is_answered_with_what_kafka_has(named: dict[str, str], tmp_path: Path) -> None:
    first = {"replicas": [1, 2, 3], "complete": True, **named}
    origin, _, of_kafka = found(tmp_path, first, LOSS)
    assert origin is Origin.TRACE
    assert any("forensics salvage" in one for one in of_kafka)


def test_beside_logs_of_brokers_a_trace_of_another_system_changes_no_words(sample_traces: Path, tmp_path: Path) -> None:
    folder = sample_traces / "written" / "raft-terms"
    result = scan([str(folder), str(sample_traces / "kip101-0.10.2.2")])
    assert {part.origin for part in result.case.parts} == {Origin.FILES, Origin.OTHER_SYSTEM}


def test_every_question_has_words_for_a_trace_or_is_about_files() -> None:
    assert {*trace_wording.SENTENCES} | trace_wording.OF_FILES == {*Question} == {*SENTENCES}
    assert not trace_wording.OF_FILES & trace_wording.SENTENCES.keys()
    assert [one for one in trace_wording.SENTENCES.values() if OF_KAFKA.search(one)] == []


def test_every_cause_has_words_for_another_system() -> None:
    assert {*OF_OTHER} == {*CauseId}
    assert [one for one in OF_OTHER.values() if OF_KAFKA.search(json.dumps([one.text, one.prevention]))] == []
    assert len(RULES) == 16


def test_every_artefact_is_known_by_kinds_of_line_or_by_people() -> None:
    people = {Artefact.CLIENTS, Artefact.GROUP_POSITIONS, Artefact.OPERATORS, Artefact.SETTINGS}
    assert {one for one in Artefact if not trace_wording.kinds_text([one])} == people
    kinds = {kind for one in Artefact for kind in re.findall(r"[a-z_]+", trace_wording.kinds_text([one]))}
    assert kinds - {"lines", "of", "kind", "and"} <= {kind.value for kind in OF_KIND}


def test_the_table_of_the_page_asks_for_lines(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text([{"kind": "trace", "system": "etcd", "replicas": [1, 2, 3]}, *LOSS]))
    rows = missing(scan([str(path)])).rows
    assert rows
    texts = [part.replace("hw_checkpoint", "") for row in rows for part in (row.files, row.instead)]
    assert [one for one in texts if OF_KAFKA.search(one)] == []
    assert any("lines of kind append" in one for one in texts)
