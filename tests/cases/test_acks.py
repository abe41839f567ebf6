"""A real loss (Kafka 3.9.1) of which no high watermark tells, only what the leader answered its producers.

The leader was alone in the ISR when it took [30, 50) with acks=all and [50, 55) with acks=1, and was killed before its
high watermark was checkpointed or asked for; then a replica from outside the ISR was elected.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.reports import text
from forensics.reports.html.overview import settings
from forensics.result import Result
from forensics.rules.finding import Finding, Verdict

CASE = Path(__file__).parent / "data" / "acks-3.9.1.tar.xz"
LOSS = ("committed-data-lost", "truncation-below-committed")
Change = Callable[[str], str]


def losses(result: Result) -> list[Finding]:
    return [finding for finding in result.findings if finding.rule in LOSS]


def changed(folder: Path, change: Change) -> Result:
    """The case with other request logs."""
    with tarfile.open(CASE) as archive:
        archive.extractall(folder, filter="data")
    for log in folder.rglob("kafka-request.log"):
        log.write_text("".join(change(line) for line in log.read_text().splitlines(keepends=True)))
    return local.scan([str(folder)])


def test_acknowledged_records_are_known_to_have_been_committed() -> None:
    result = local.scan([str(CASE)])
    found = losses(result)
    assert sorted(finding.rule for finding in found) == sorted(LOSS)
    for finding in found:
        assert (finding.partition, finding.offsets) == (0, ((30, 50),))
        assert finding.topic == "orders"
        assert finding.confidence == "inferred"  # one broker's request log alone states it
        assert any("kafka-request.log" in evidence.path for evidence in finding.evidence)
    acknowledged = (
        "acknowledged offset 49 (leader epoch 0) to a producer with acks=all: the high watermark was above it"
    )
    assert acknowledged in [fact.text for fact in found[0].facts]


ANSWER = re.compile(r'"response":\{"responses".*?\]\}\],"throttleTimeMs":0\}')
NEAR: dict[str, Change] = {
    "acks=1": lambda line: line.replace('"acks":-1', '"acks":1'),
    "acks=0": lambda line: ANSWER.sub('"response":""', line.replace('"acks":-1', '"acks":0')),
    "errors": lambda line: line.replace('"errorCode":0,"baseOffset"', '"errorCode":20,"baseOffset"'),
    "no offsets": lambda line: re.sub('"baseOffset":[0-9]+', '"baseOffset":-1', line),
    "no such requests": lambda line: "" if '"PRODUCE"' in line else line,
}


@pytest.mark.parametrize("near", NEAR)
def test_what_was_not_acknowledged_so_bounds_nothing(near: str, tmp_path: Path) -> None:
    """What is left is a suspicion: a member of the ISR truncated its log to follow a leader from outside it."""
    result = changed(tmp_path, NEAR[near])
    assert {finding.confidence.value for finding in losses(result)} <= {"suspected"}
    orders = next(p for p in result.partitions if p.history.topic == "orders")
    assert set(LOSS) <= set(orders.verdicts(Verdict.UNKNOWN))


def test_a_broker_that_follows_bounds_nothing(tmp_path: Path) -> None:
    """What a broker prints of producers while it follows is not its own high watermark: the request came too late."""
    late = "2026-11-21 20:29:45,000"

    def change(line: str) -> str:
        moved = re.search('"PRODUCE".*"baseOffset":(?:4[0-9]|5[0-9])', line)
        return re.sub(r"^\[[^]]*\]", f"[{late}]", line) if moved else line

    result = changed(tmp_path, change)
    assert {finding.offsets for finding in losses(result)} == {((30, 40),)}


def test_reports_say_which_acknowledgements_were_asked_for() -> None:
    result = local.scan([str(CASE)])
    said = " ".join(text.render(result).split())
    assert "producers asked for acks=all (orders, other), acks=1 (orders), acks=0 (other)" in said
    acks = next(setting for setting in settings(result) if setting.name == "acks of producers")
    assert acks.values == (
        ("all", "for orders, other, refused at times"),
        ("1", "for orders"),
        ("0", "for other"),
    )


def test_a_request_log_without_producers_says_that_it_is_not_known(tmp_path: Path) -> None:
    result = changed(tmp_path, NEAR["no such requests"])
    assert "producers asked" not in text.render(result)
    acks = next(setting for setting in settings(result) if setting.name == "acks of producers")
    assert [value for value, _ in acks.values] == ["not seen"]
