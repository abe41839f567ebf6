"""Traces with a first line or another one that is damaged: the rest still counts, and the claim where it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from forensics.rules.wants import Question
from parsers.formats.trace_jsonl import is_trace
from tests.rules.traced import LEADS, Line, said, text

HEAD = {"kind": "trace", "cluster": "a", "replicas": [1, 2], "release": "3.9.1", "complete": True}
WHOLE = text([HEAD, *LEADS])
LATE = text([*LEADS, HEAD])
BYTES = ("segment-damage", "stale-directory", "checkpoint-contradiction")


@pytest.mark.parametrize(
    "content",
    [f"\n\n{WHOLE}", LATE, WHOLE.replace("trace/1", "trace\\/1"), WHOLE + WHOLE.replace('"a"', '"b"')],
    ids=["blank lines first", "the head is the last line", "an escaped slash", "two clusters"],
)
def test_rules_about_bytes_are_not_applicable_wherever_the_head_is(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(content)
    result = scan([str(tmp_path / "t.jsonl")])
    assert result.partitions
    for partition in result.partitions:
        assert {partition.judgements[rule].verdict for rule in BYTES} == {Verdict.NOT_APPLICABLE}
        assert partition.judgements["committed-data-lost"].verdict is Verdict.CLEAN
    assert result.case.notices.is_empty()


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("garbage", "no JSON object of a trace: the line is left out"),
        ('{"kind":"trace"}', 'a line without "schema": "forensics.trace/1"'),
    ],
    ids=["no JSON", "no schema"],
)
def test_a_damaged_first_line_is_a_notice_and_the_rest_counts(first: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(f"{first}\n{WHOLE}")
    result = scan([str(tmp_path / "t.jsonl")])
    (partition,) = result.partitions
    assert (partition.history.cluster, sorted(partition.history.replicas)) == ("a", [1, 2])
    assert result.case.notices.select("line", "reason").rows() == [(1, reason)]
    assert result.case.sources.height == 1


@pytest.mark.parametrize(
    "head",
    [b"", b"# a page\n\n" + WHOLE.encode(), 40 * b"one\n" + 3 * WHOLE.encode(), b"one\n" + WHOLE.encode()[:90]],
    ids=["empty", "few lines of a trace", "too many other lines", "no whole line"],
)
def test_near_misses_of_a_damaged_first_line(head: bytes) -> None:
    most = b"text\n" * 4
    assert not is_trace(head + most)


APPENDED = said(1, 1, "append", offset=0, leo=10)


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (APPENDED | {"detail": "acks=2"}, Verdict.CLEAN),
        (APPENDED | {"leader_epoch": None}, Verdict.CLEAN),
        (APPENDED | {"last_stable_offst": 3}, Verdict.CLEAN),
        ({**APPENDED, "topic": "pay", "time": "2025-12-31T00:00:00Z"}, Verdict.CLEAN),
        ({**APPENDED, "time": "2025-12-31T00:00:00Z"}, Verdict.CLEAN),
        (APPENDED | {"high_watermrk": 3}, Verdict.UNKNOWN),
        (APPENDED | {"offset": -1}, Verdict.UNKNOWN),
        (APPENDED | {"time": "yesterday"}, Verdict.UNKNOWN),
        (APPENDED | {"log_end_offset": (1 << 63) - 1}, Verdict.UNKNOWN),
        (APPENDED | {"isr": "99999999999", "message": "other"}, Verdict.UNKNOWN),
    ],
    ids=[
        "acks",
        "null",
        "a field of another kind, misspelt",
        "another partition earlier",
        "order",
        "a field of the kind, misspelt",
        "negative",
        "no time",
        "large",
        "large id",
    ],
)
def test_a_claim_fails_where_a_line_cannot_be_read(line: Line, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(text([HEAD, *LEADS, line]))
    result = scan([str(tmp_path / "t.jsonl")])
    assert result.case.notices.get_column("line").to_list() == [4]
    partition = next(one for one in result.partitions if one.history.facts.topic == "orders")
    answer = partition.judgements["leo-regression"]
    assert answer.verdict is verdict
    wanted = [Question.READABLE_TRACE] if verdict is Verdict.UNKNOWN else []
    assert [want.question for want in answer.missing] == wanted
