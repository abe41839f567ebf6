"""Complete traces with a log that ends lower than before: what its leader lacks, and who has the records at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Severity, Verdict
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {
    "kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "replicas": [1, 2], "complete": True
}  # fmt: skip
HEALTHY = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(1, 2, "append", offset=0, leo=10),
    said(2, 1, "hw", hw=10),
    said(3, 2, "leader_hw", leader_hw=10, hw=10),
]
FOUND = said(4, 1, "log_end", leo=7)
ASKS = said(4, 2, "follower_fetched", leader=1, leader_epoch=3, leo=7, leader_hw=10)
LOST, ABOVE, SHORTER = "committed-data-lost", "hw-above-leo", "leo-regression"


def violated(folder: Path, lines: list[Line]) -> dict[str, tuple[tuple[int, int], ...]]:
    """The offsets of these three rules, where they find any."""
    answers = judged(folder, [HEAD, *HEALTHY, *lines])
    return {rule: one.offsets for rule in (LOST, ABOVE, SHORTER) for one in answers[rule].findings}


@pytest.mark.parametrize(
    "lines",
    [
        [said(4, 1, "state", leo=7)],
        [FOUND, said(5, 1, "append", offset=7, leo=9)],
        [FOUND, said(5, 1, "hw", hw=10)],
        [FOUND, said(5, 1, "leo", leo=7)],
    ],
)
def test_a_leader_goes_on_with_a_shorter_log(lines: list[Line], tmp_path: Path) -> None:
    assert violated(tmp_path, lines)[LOST] == ((7, 10),)


@pytest.mark.parametrize("lines", [[FOUND], [FOUND, said(5, 1, "process_start"), said(5, 1, "log_loaded", leo=7)]])
def test_near_miss_its_process_may_have_ended(lines: list[Line], tmp_path: Path) -> None:
    """Broker 2 has the records, and may lead with them."""
    assert violated(tmp_path, lines) == {SHORTER: ((7, 10),)}


def test_a_follower_asks_from_below_its_high_watermark(tmp_path: Path) -> None:
    assert violated(tmp_path, [ASKS]) == {ABOVE: ((7, 10),), SHORTER: ((7, 10),)}
    role = said(4, 2, "become_follower", leader=1, leader_epoch=3, leo=7)
    assert violated(tmp_path, [role]) == {ABOVE: ((7, 10),), SHORTER: ((7, 10),)}


@pytest.mark.parametrize(
    "lines",
    [
        [said(4, 2, "log_end", leo=7)],
        [said(4, 2, "process_start"), said(4, 2, "unclean_restart"), said(4, 2, "log_loaded", leo=7)],
        [said(4, 2, "truncate", offset=7)],
    ],
)
def test_near_miss_the_high_watermark_need_not_be_kept(lines: list[Line], tmp_path: Path) -> None:
    assert ABOVE not in violated(tmp_path, lines)


@pytest.mark.parametrize("line", [ASKS, said(4, 2, "log_end", leo=7), said(4, 2, "leo", leo=7)])
@pytest.mark.parametrize("again", [False, True])
def test_what_a_log_lacked_is_there_again_only_if_it_was_appended(line: Line, again: bool, tmp_path: Path) -> None:
    more = [said(5, 2, "append", offset=7, leo=10)] if again else []
    (finding,) = judged(tmp_path, [HEAD, *HEALTHY, line, *more])[SHORTER].findings
    assert ("It fetched the records again later" in finding.summary) == again
    assert finding.severity is (Severity.WARNING if again else Severity.ERROR)


def test_neither_replica_has_them_again(tmp_path: Path) -> None:
    answers = judged(tmp_path, [HEAD, *HEALTHY, *(said(4, one, "log_end", leo=7) for one in (1, 2))])
    assert answers[LOST].verdict is Verdict.VIOLATED
    assert not any("again" in one.summary for one in answers[SHORTER].findings)


def test_a_replica_that_is_deleted_on_purpose_has_no_shorter_log(tmp_path: Path) -> None:
    """As after a reassignment, and it may come back with a new log; or as the topic is deleted, on every broker."""
    left = [said(4, 1, "isr_shrink", isr="1"), said(5, 2, "log_deleted")]
    back = [
        *(said(6, 2, "log_created"), said(6, 2, "become_follower", leader=1, leader_epoch=4, leo=0)),
        *(said(6, 1, "become_leader", leader_epoch=4, leo=10, hw=10, isr="1"), said(7, 2, "append", offset=0, leo=10)),
    ]
    topic = [said(5, 2, "log_deleted"), said(6, 1, "log_deleted")]
    for lines in (left, [*left, *back], topic):
        answers = judged(tmp_path, [HEAD, *HEALTHY, *lines])
        assert {rule for rule, one in answers.items() if one.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)} == set()
    gone = violated(tmp_path, [*left, said(8, 1, "process_start"), said(8, 1, "log_created")])
    assert gone == {LOST: ((0, 10),), SHORTER: ((0, 10),)}
