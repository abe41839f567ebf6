"""Complete traces at whose end no replica has some committed records, and no leader took up an epoch since."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Judgement, Severity, Verdict
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
ALONE = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(1, 2, "append", offset=0, leo=10),
    said(2, 1, "isr_shrink", isr="1"),
    said(2, 1, "isr_commit", isr="1"),
    said(3, 1, "append", offset=10, leo=15),
    said(4, 1, "hw", hw=15),
]
"""Broker 1 is alone in the ISR and commits offsets 10 to 14, which broker 2 lacks."""

FOLLOWS = said(5, 1, "become_follower", leader=2, leader_epoch=4, leo=15)
TRUNCATES = said(6, 1, "truncate", offset=10, leo=15)


def answers(folder: Path, lines: list[Line]) -> dict[str, Judgement]:
    return judged(folder, [HEAD | {"replicas": [1, 2]}, *lines])


@pytest.mark.parametrize(
    ("lines", "offsets"),
    [
        ([FOLLOWS, TRUNCATES], ((10, 15),)),
        ([said(5, 1, "process_start"), said(6, 1, "log_created")], ((10, 15),)),
        ([said(5, one, kind) for one in (1, 2) for kind in ("process_start", "log_created")], ((0, 15),)),
    ],
)
def test_what_no_log_has_is_lost(lines: list[Line], offsets: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    """Whoever leads next cannot have the records. The line in which a leader takes its epoch up is not needed."""
    found = answers(tmp_path, [*ALONE, *lines])
    (finding,) = found["committed-data-lost"].findings
    assert finding.offsets == offsets
    assert "no replica in the evidence still has them" in finding.summary.casefold()
    assert len(finding.facts) > 1  # what was committed, and how each copy went
    for one in found["truncation-below-committed"].findings:
        assert "the partition has lost them" in one.summary


def test_near_miss_one_log_still_has_them(tmp_path: Path) -> None:
    """Broker 1 follows broker 2, and has not truncated: broker 2 has not taken the epoch up."""
    assert answers(tmp_path, [*ALONE, FOLLOWS])["committed-data-lost"].verdict is Verdict.CLEAN


def test_near_miss_they_were_deleted_from_the_beginning(tmp_path: Path) -> None:
    lines = [said(5, one, "log_start", log_start=10) for one in (1, 2)]
    created = [said(6, 2, "process_start"), said(6, 2, "log_created")]
    assert answers(tmp_path, [*ALONE, *lines, *created])["committed-data-lost"].verdict is Verdict.CLEAN


def test_a_leader_that_began_without_them_is_named_alone(tmp_path: Path) -> None:
    leads = said(7, 2, "become_leader", leader_epoch=4, leo=10, isr="2")
    (finding,) = answers(tmp_path, [*ALONE, FOLLOWS, TRUNCATES, leads])["committed-data-lost"].findings
    assert "broker 2 became leader (epoch 4)" in finding.summary


BACK = [
    *ALONE[:-2],
    said(3, 1, "hw", hw=10),
    said(4, 2, "process_start"),
    said(4, 2, "log_created"),
    said(5, 2, "become_leader", leader_epoch=4, leo=0, isr="2"),
    said(6, 2, "append", offset=0, leo=3),
    said(7, 1, "become_leader", leader_epoch=5, leo=10, hw=10, isr="1"),
    said(8, 2, "become_follower", leader=1, leader_epoch=5, leo=3),
    said(9, 2, "truncate", offset=0, leo=3),
    said(9, 2, "append", offset=0, leo=10),
]
"""Broker 2 leads in epoch 4 without offsets 0 to 9. Broker 1 has them, and leads again."""


@pytest.mark.parametrize(("lines", "severity"), [(BACK, Severity.WARNING), (BACK[:-4], Severity.CRITICAL)])
def test_a_loss_is_over_if_the_last_leader_has_the_records(
    lines: list[Line], severity: Severity, tmp_path: Path
) -> None:
    (finding,) = answers(tmp_path, lines)["committed-data-lost"].findings
    assert (finding.severity, finding.offsets) == (severity, ((0, 10),))
    over = severity is Severity.WARNING
    assert ("broker 1, the last leader, has them" in finding.summary.casefold()) == over
    assert any("stop broker 1" in step.text for step in finding.next_steps) != over


def test_lost_records_of_a_leader_epoch_that_no_line_takes_up(tmp_path: Path) -> None:
    """They are from before the trace: the epoch entries of two replicas state different leader epochs for them."""
    lines = [
        *(said(0, one, "log_loaded", leo=10) for one in (1, 2)),
        *(said(1, one, "epoch_entry", leader_epoch=one, offset=0) for one in (1, 2)),
        said(2, 1, "hw_loaded", hw=10),
        said(4, 2, "become_leader", leader_epoch=4, leo=10, isr="2"),
    ]
    (finding,) = answers(tmp_path, lines)["committed-data-lost"].findings
    assert (finding.offsets, finding.epochs) == (((0, 10),), (1, 4))
