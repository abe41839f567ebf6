"""Lines of a trace that disagree with others, without a claim: a verdict stays unknown, and the lines are suspected."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Finding, Verdict
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "cluster": "one", "replicas": [1, 2, 3]}

LED = said(0, 1, "become_leader", leader_epoch=1, isr="1,2")
SHRUNK = [*LEADS, said(1, 1, "isr_shrink", isr="1", isr_before="1,2")]
READ = [said(0, 1, "hw_checkpoint", hw=10), said(1, 1, "process_start")]


def suspected(folder: Path, rule: str, lines: list[Line]) -> list[Finding]:
    answer = judged(folder, [HEAD, *lines])[rule]
    assert answer.verdict is Verdict.UNKNOWN
    assert {one.confidence.value for one in answer.findings} <= {"suspected"}
    return list(answer.findings)


@pytest.mark.parametrize(
    ("rule", "lines", "says"),
    [
        (
            "two-leaders-one-epoch",
            [said(0, 9, "election", leader=1, leader_epoch=4), said(1, 8, "election", leader=2, leader_epoch=4)],
            "leader epoch 4 was given to two leaders: broker 1, and broker 2",
        ),
        (
            "two-leaders-one-epoch",
            [said(0, 9, "election", leader=1, leader_epoch=4), said(1, 2, "become_leader", leader_epoch=4)],
            "leader epoch 4 was given to two leaders: broker 1, and broker 2",
        ),
        (
            "hw-above-isr-member",
            [LED, said(1, 1, "hw", hw=10), said(2, 1, "remote_leo", replica=2, leo=4)],
            "broker 1, the leader (leader epoch 1), had high watermark 10, and then stated that the log of broker 2, ",
        ),
        (
            "hw-above-isr-member",
            [
                said(0, 1, "state", hw=10, isr="1,2", leader_epoch=1),
                said(2, 1, "remote_leo", replica=2, leo=4),
            ],
            "broker 1, the leader (leader epoch 1), had high watermark 10, and then stated that the log of broker 2, ",
        ),
        (
            "replica-divergence",
            [
                *(said(at, at, "append", offset=0, leo=9, leader_epoch=3, checksum=f"of {at}") for at in (1, 2)),
                said(3, 1, "hw", hw=5),
            ],
            "broker 1 and broker 2 appended record batches with two checksums at offsets 0 to 4 in leader epoch 3",
        ),
        (
            "hw-regression",
            [*READ, said(1, 1, "log_loaded", leo=12), said(2, 1, "hw_loaded", hw=4)],
            "broker 1 read back high watermark 4; its checkpoint file had had 10",
        ),
        (
            "leo-regression",
            [*LEADS, said(1, 2, "leo", leo=10), said(2, 2, "leo", leo=8)],
            "the log of broker 2 ended at 10, and later at 8; no line shows what removed offsets 8 to 9",
        ),
        (
            "unclean-election",
            [*SHRUNK, said(2, 2, "become_leader", leader_epoch=4)],
            "broker 2 became leader (leader epoch 4), but the last ISR that broker 1 stated before was [1]: it may",
        ),
        (
            "unclean-election",
            [*SHRUNK, said(2, 9, "election", leader=2, leader_epoch=4)],
            "broker 2 became leader (leader epoch 4), but the last ISR that broker 1 stated before was [1]: it may",
        ),
    ],
)
def test_lines_that_disagree_are_suspected(rule: str, lines: list[Line], says: str, tmp_path: Path) -> None:
    (finding,) = suspected(tmp_path, rule, lines)
    assert finding.summary.startswith(says)
    assert len({ref.row for ref in finding.refs}) == 2


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        (
            "two-leaders-one-epoch",
            [said(0, 9, "election", leader=1, leader_epoch=4), said(1, 8, "election", leader=1, leader_epoch=4)],
        ),
        (
            "hw-above-isr-member",
            [LED, said(1, 1, "remote_leo", replica=2, leo=4), said(2, 1, "hw", hw=10)],
        ),
        (
            "hw-above-isr-member",
            [
                LED,
                said(1, 1, "isr_shrink", isr="1"),
                said(2, 1, "hw", hw=10),
                said(3, 1, "remote_leo", replica=2, leo=4),
            ],
        ),
        (
            "replica-divergence",
            [said(at, at, "append", offset=0, leo=9, leader_epoch=3, checksum=f"of {at}") for at in (1, 2)],
        ),
        ("hw-regression", [*READ, said(1, 1, "log_loaded", leo=4), said(2, 1, "hw_loaded", hw=4)]),
        ("hw-regression", [READ[0], said(0, 1, "truncate", offset=4), READ[1], said(2, 1, "hw_loaded", hw=4)]),
        (
            "leo-regression",
            [*LEADS, said(1, 2, "leo", leo=10), said(1, 2, "truncate", offset=8), said(2, 2, "leo", leo=8)],
        ),
        ("unclean-election", [*SHRUNK, said(2, 1, "become_leader", leader_epoch=4)]),
        (
            "unclean-election",
            [*SHRUNK, said(2, 1, "isr_expand", isr="1,2"), said(3, 2, "become_leader", leader_epoch=4)],
        ),
        ("unclean-election", [*SHRUNK, said(2, 2, "become_leader", leader_epoch=6)]),
    ],
    ids=[
        *(
            "elected twice alike",
            "fetched since",
            "not in the ISR",
            "not committed",
            "a shorter log",
            "truncated",
            "truncated by a line",
        ),
        *("from the ISR", "the ISR grew again", "leaders in between"),
    ],
)
def test_lines_that_look_alike_and_agree(rule: str, lines: list[Line], tmp_path: Path) -> None:
    assert suspected(tmp_path, rule, lines) == []
