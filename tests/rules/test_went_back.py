"""Values that a witness states below earlier ones: suspected where nothing explains it, and what looks alike is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.confidence import Confidence
from forensics.rules.finding import Finding, Severity, Verdict
from tests.rules.traced import LEADS, Line, judged, said

FOLLOWS = said(0, 1, "become_follower", leader=2, leader_epoch=5, leo=20, hw=10)
LED = said(0, 1, "become_leader", leader_epoch=3, leo=20, hw=10)


def suspected(tmp_path: Path, lines: list[Line]) -> dict[str, tuple[Finding, ...]]:
    """Suspicions by rule; there is no other finding that is more than good to know."""
    answers = judged(tmp_path, lines)
    found = {
        rule: worse
        for rule, one in answers.items()
        if (worse := tuple(finding for finding in one.findings if finding.severity is not Severity.INFO))
    }
    assert {answers[rule].verdict for rule in found} <= {Verdict.UNKNOWN}
    assert {one.confidence for findings in found.values() for one in findings} <= {Confidence.SUSPECTED}
    return found


@pytest.mark.parametrize(
    ("lines", "rule", "offsets"),
    [
        ([LED, said(1, 1, "hw", hw=20), said(2, 1, "hw", hw=12)], "hw-regression", ((12, 20),)),
        ([LED, said(1, 1, "hw", hw=8)], "hw-regression", ((8, 10),)),
        ([said(0, 1, "hw", hw=15), said(1, 1, "leo", leo=10)], "truncation-below-committed", ((10, 15),)),
        ([FOLLOWS, said(1, 1, "hw", hw=15), said(2, 1, "log_end", leo=11)], "truncation-below-committed", ((11, 15),)),
        ([said(0, 1, "leo", leo=20), said(1, 1, "leo", leo=14)], "leo-regression", ((14, 20),)),
        (
            [said(0, 1, "hw", hw=15), said(1, 1, "process_start"), said(2, 1, "leo", leo=10)],
            "truncation-below-committed",
            ((10, 15),),
        ),
        (
            [
                said(0, 1, "epoch_entry", leader_epoch=3, offset=50),
                said(1, 1, "epoch_entry", leader_epoch=4, offset=30),
            ],
            "epoch-divergence",
            ((30, 50),),
        ),
        ([FOLLOWS, said(1, 1, "become_leader", leader_epoch=4, leo=20, hw=10)], "epoch-divergence", ()),
    ],
    ids=[
        "high watermark",
        "below its start",
        "log end",
        "log end at last",
        "log end alone",
        "restarted",
        "entries",
        "role",
    ],
)
def test_a_value_that_went_back_is_suspected(
    lines: list[Line], rule: str, offsets: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    found = suspected(tmp_path, lines)
    assert [*found] == [rule]
    (finding,) = found[rule]
    assert (finding.replicas, finding.offsets) == ((1,), offsets)
    assert finding.uncertain
    assert finding.evidence


@pytest.mark.parametrize(
    "lines",
    [
        [LED, said(1, 1, "hw", hw=20), said(2, 1, "hw", hw=20)],
        [LED, said(1, 1, "hw", hw=20), said(2, 2, "become_leader", leader_epoch=4, leo=25), said(3, 2, "hw", hw=12)],
        [FOLLOWS, said(1, 1, "hw", hw=15), said(2, 1, "hw", hw=12)],
        [said(0, 1, "hw", hw=15), said(1, 2, "leo", leo=10)],
        [said(0, 1, "leo", leo=20, hw=10), said(1, 1, "truncate", offset=10), said(2, 1, "leo", leo=10)],
        [said(0, 1, "hw", hw=15), said(1, 1, "process_start"), said(2, 1, "hw", hw=12)],
        [FOLLOWS, said(1, 1, "leo", leo=20), said(1.5, 1, "truncate", offset=14), said(2, 1, "leo", leo=14)],
        [said(0, 1, "append", offset=10, leo=20), said(1, 1, "append", offset=5, leo=10)],
        [LED,
            said(1, 1, "epoch_entry", leader_epoch=3, offset=50), said(2, 1, "epoch_entry", leader_epoch=4, offset=50)],
        [LED,
            said(1, 1, "epoch_entry", leader_epoch=3, offset=50), said(2, 2, "epoch_entry", leader_epoch=4, offset=30)],
        [
            said(0, 1, "epoch_assigned", leader_epoch=3, offset=50),
            said(1, 1, "truncate", offset=30),
            said(2, 1, "epoch_assigned", leader_epoch=4, offset=30),
        ],
        [*LEADS, said(1, 1, "become_leader", leader_epoch=4, leo=20), said(2, 2, "become_leader", leader_epoch=5)],
    ],
    ids=[
        "the same again", "another leader", "a follower's", "another replica's", "truncated", "another process",
        "a follower truncates", "appends in another order", "no record in an epoch", "another replica's entries",
        "truncated, then another epoch", "epochs rise",
    ],
)  # fmt: skip
def test_a_lower_value_that_something_explains_is_not_suspected(lines: list[Line], tmp_path: Path) -> None:
    assert suspected(tmp_path, lines) == {}
