"""A leader lacked committed records, and a later one has them: what is over, since when, and what is lost still."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.rules.finding import Finding, Severity
from tests.rules.traced import Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
BEGUN = [
    said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1,2,3"),
    *(said(0, one, "become_follower", leader=1, leader_epoch=1, leo=0) for one in (2, 3)),
    said(1, 1, "append", offset=0, leo=10),
    said(1, 2, "append", offset=0, leo=8),
    said(1, 3, "append", offset=0, leo=4),
    said(2, 1, "hw", hw=10),
    said(3, 3, "become_leader", leader_epoch=2, leo=4, isr="3"),
]
"""Broker 3 leads in epoch 2 without offsets 4 to 9. Broker 1 has them, broker 2 has offsets 4 to 7."""

BACK = [*BEGUN, said(4, 1, "become_leader", leader_epoch=3, leo=10, isr="1")]
PARTLY = [*BEGUN, said(4, 2, "become_leader", leader_epoch=3, leo=8, isr="2")]
RESTARTED = [
    *BACK,
    said(5, 1, "process_start"),
    said(5, 1, "clean_restart"),
    said(5, 1, "log_loaded", leo=10),
    said(5, 1, "hw_loaded", hw=10),
]
FOLLOWS = [
    said(5, 1, "become_follower", leader=2, leader_epoch=3, leo=10),
    said(5, 1, "truncate", offset=8, leo=10),
]
LOST_TAIL = [
    *BACK,
    said(5, 1, "process_start"),
    said(5, 1, "unclean_restart"),
    said(5, 1, "log_loaded", leo=6),
    said(5, 1, "hw_loaded", hw=6),
]
ANEW = [*BACK, said(5, 2, "become_leader", leader_epoch=4, leo=8, isr="2")]


def losses(folder: Path, lines: list[Line]) -> tuple[Finding, ...]:
    return judged(folder, [HEAD | {"replicas": [1, 2, 3]}, *lines])["committed-data-lost"].findings


def told(tmp_path: Path, lines: list[Line]) -> list[tuple[Severity, tuple[tuple[int, int], ...], str]]:
    """Severity, offsets, and since when: "now" if the offsets are lost still."""
    found = losses(tmp_path, lines)
    return [
        (one.severity, one.offsets, one.summary.partition(", ")[0] if "until" in one.summary else "now")
        for one in found
    ]


@pytest.mark.parametrize(
    ("lines", "lost", "over"),
    [
        (BEGUN, [(4, 10)], {}),
        (BACK, [], {3: [(4, 10)]}),
        (RESTARTED, [], {3: [(4, 10)]}),
        # It follows a leader that has not taken its epoch up.
        ([*BACK, said(5, 1, "become_follower", leader=2, leader_epoch=4, leo=10)], [], {3: [(4, 10)]}),
        ([*RESTARTED, said(6, 1, "become_leader", leader_epoch=4, leo=10, isr="1")], [], {3: [(4, 10)]}),
        (PARTLY, [(8, 10)], {3: [(4, 8)]}),
        ([*PARTLY, *FOLLOWS], [(8, 10)], {3: [(4, 8)]}),
        # Each later leader has more of them.
        ([*PARTLY, said(5, 1, "become_leader", leader_epoch=4, leo=10, isr="1")], [], {3: [(4, 8)], 4: [(8, 10)]}),
        # It does not have all of them any more, and nobody leads.
        (LOST_TAIL, [(6, 10)], {3: [(4, 6)]}),
        # Retention deletes them after they were there again.
        ([*BACK, said(5, 1, "hw", hw=10), said(5, 1, "log_start", log_start=10)], [], {3: [(4, 10)]}),
    ],
)
def test_what_is_over_and_what_is_lost(
    lines: list[Line], lost: list[tuple[int, int]], over: dict[int, list[tuple[int, int]]], tmp_path: Path
) -> None:
    expected = [(Severity.CRITICAL, tuple(lost), "now")] if lost else []
    expected += [(Severity.WARNING, tuple(spans), f"until leader epoch {epoch}") for epoch, spans in over.items()]
    assert sorted(told(tmp_path, lines)) == sorted(expected)


def test_who_has_the_records_is_named(tmp_path: Path) -> None:
    """The last leader if it has them, else the one that had them."""
    follows = said(5, 2, "become_follower", leader=1, leader_epoch=3, leo=8)
    last = [*BACK, follows, said(5, 2, "append", offset=8, leo=10)]
    moved = [*last, said(6, 2, "become_leader", leader_epoch=4, leo=10, isr="1,2")]
    for lines, broker in ((last, 1), (moved, 2)):
        (finding,) = losses(tmp_path, lines)
        assert finding.summary.endswith(f"Broker {broker}, the last leader, has them")


def test_records_are_lost_once_more(tmp_path: Path) -> None:
    found = {one.offsets: one for one in losses(tmp_path, ANEW) if one.severity is Severity.WARNING}
    assert found[(4, 8),].summary.endswith("Broker 2, the last leader, has them")
    assert found[(8, 10),].summary.endswith("Broker 1 had them when it became leader")
    (lost,) = (one for one in losses(tmp_path, ANEW) if one.severity is Severity.CRITICAL)
    assert (lost.offsets, "broker 2 became leader (epoch 4)" in lost.summary) == (((8, 10),), True)
