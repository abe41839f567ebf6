"""Complete traces in which a replica appends records of a leader epoch in which no line gives it a role.

A leader writes each offset of its epoch once. So no answer may take such records for others than those of that epoch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.rules.finding import Judgement, Verdict
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
DIVERGED = ("replica-divergence", "epoch-divergence")


def answers(folder: Path, lines: list[Line], replicas: tuple[int, ...] = (1, 2)) -> dict[str, Judgement]:
    return judged(folder, [HEAD | {"replicas": [*replicas]}, *lines])


def appends(second: int, broker: int, first: int, end: int, epoch: int, **more: Any) -> Line:
    return said(second, broker, "append", offset=first, leo=end, leader_epoch=epoch, **more)


def contradiction(found: dict[str, Judgement]) -> str:
    (gap,) = found["evidence-gap"].findings
    return gap.summary


NO_ROLE = [appends(1, 1, 0, 5, 1), said(2, 1, "hw", hw=5), appends(3, 2, 0, 5, 1), said(4, 2, "hw", hw=5)]
LATE_ROLE = [
    LEADS[0],
    appends(1, 1, 0, 5, 3),
    appends(2, 2, 0, 5, 3),
    said(3, 2, "become_follower", leader=1, leader_epoch=3, leo=5),
    said(4, 1, "hw", hw=5),
    said(5, 2, "hw", hw=5),
]
LATE_IN_LATER_EPOCH = [
    *LEADS,
    said(1, 3, "become_leader", leader_epoch=4, leo=0, isr="1,2,3"),
    appends(2, 3, 0, 5, 4),
    appends(3, 2, 0, 5, 4),
    said(4, 2, "become_follower", leader=3, leader_epoch=4, leo=5),
    said(5, 3, "hw", hw=5),
]
BEFORE_IT_IS_LED = [appends(0, 2, 0, 5, 3), said(1, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2"),
                    appends(2, 1, 0, 5, 3), said(3, 1, "hw", hw=5), said(4, 2, "hw", hw=5)]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (NO_ROLE, "line 2: broker 1 appends offsets 0 to 4; no line says whom it follows"),
        ([*LATE_ROLE[:3], *LATE_ROLE[4:]], "line 4: broker 2 appends records of leader epoch 3"),
        (LATE_ROLE, "line 4: broker 2 appends records of leader epoch 3; by the lines before, it has no role so far"),
        (LATE_IN_LATER_EPOCH, "line 6: broker 2 appends records of leader epoch 4; by the lines before, its last role"),
        (BEFORE_IT_IS_LED, "line 2: broker 2 appends records of leader epoch 3"),
    ],
)
def test_an_append_before_a_role_contradicts_the_claim_and_shows_no_divergence(
    lines: list[Line], says: str, tmp_path: Path
) -> None:
    found = answers(tmp_path, lines, (1, 2, 3))
    assert says in contradiction(found)
    for rule in (*DIVERGED, "committed-data-lost", "two-leaders-one-epoch"):
        assert found[rule].verdict is Verdict.UNKNOWN, rule


def test_near_miss_the_role_is_stated_before_the_append(tmp_path: Path) -> None:
    found = answers(tmp_path, [*LEADS, appends(1, 1, 0, 5, 3), appends(2, 2, 0, 5, 3), *LATE_ROLE[4:]])
    assert {one.verdict for one in found.values()} == {Verdict.CLEAN, Verdict.NOT_APPLICABLE}


def test_only_the_offsets_of_two_epochs_differ(tmp_path: Path) -> None:
    """Broker 2 has records of epoch 2 from offset 5 on; below, both have those of epoch 1."""
    lines = [
        appends(1, 1, 0, 10, 1),
        said(2, 1, "hw", hw=10),
        appends(3, 2, 0, 5, 1),
        appends(4, 2, 5, 10, 2),
        said(5, 2, "hw", hw=10),
    ]
    found = answers(tmp_path, lines)
    for rule in DIVERGED:
        assert [one.offsets for one in found[rule].findings] == [((5, 10),)], rule
    assert found["two-leaders-one-epoch"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("one", "two"), [("a", None), (None, "a"), ("a", "a")])
def test_a_checksum_on_one_side_is_no_difference(one: str | None, two: str | None, tmp_path: Path) -> None:
    marks = [{} if mark is None else {"checksum": mark} for mark in (one, two)]
    lines = [NO_ROLE[0] | marks[0], NO_ROLE[1], NO_ROLE[2] | marks[1], NO_ROLE[3]]
    found = answers(tmp_path, lines)
    assert not [finding for rule in DIVERGED for finding in found[rule].findings]


def test_two_checksums_are_a_difference(tmp_path: Path) -> None:
    lines = [NO_ROLE[0] | {"checksum": "a"}, NO_ROLE[1], NO_ROLE[2] | {"checksum": "b"}, NO_ROLE[3]]
    for rule in DIVERGED:
        assert [one.offsets for one in answers(tmp_path, lines)[rule].findings] == [((0, 5),)], rule


def test_a_record_of_an_earlier_epoch_is_that_of_its_leader(tmp_path: Path) -> None:
    """Broker 2 follows broker 3 in epoch 4, and states records that broker 1 wrote in epoch 3: those differ from
    the records of broker 3 alone.
    """
    lines = [
        *LEADS,
        appends(1, 1, 0, 5, 3),
        said(2, 3, "become_leader", leader_epoch=4, leo=0, isr="2,3"),
        said(2, 2, "become_follower", leader=3, leader_epoch=4, leo=0),
        appends(3, 3, 0, 5, 4),
        appends(4, 2, 0, 5, 3),
        said(5, 3, "hw", hw=5),
        said(6, 2, "hw", hw=5),
    ]
    found = answers(tmp_path, lines, (1, 2, 3))
    assert {one.replicas for one in found["replica-divergence"].findings} == {(2, 3)}
