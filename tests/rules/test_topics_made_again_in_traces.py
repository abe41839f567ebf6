"""Complete traces of a topic that was deleted and created again, and of one whose leader epochs were used again."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition
from forensics.rules.finding import Verdict
from tests.rules.traced import Line, said, text

HEAD: Line = {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True}
FIRST, SECOND = {"topic_id": "A" * 22}, {"topic_id": "B" * 22}
OLD = [
    said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1,2"),
    said(0, 2, "become_follower", leader=1, leader_epoch=1, leo=0, hw=0),
    said(1, 1, "append", offset=0, leo=10),
    said(1, 2, "append", offset=0, leo=10),
    said(2, 1, "hw", hw=10),
]
CREATED = [said(3, one, "log_created") for one in (1, 2)]
LEADS = said(4, 1, "become_leader", leader_epoch=0, isr="1,2")
FOLLOWS = said(4, 2, "become_follower", leader=1, leader_epoch=0)
EMPTY = [one | {"log_end_offset": 0} for one in (LEADS, FOLLOWS)]
NEW = [
    said(5, 1, "append", offset=0, leo=3),
    said(5, 2, "append", offset=0, leo=3),
    said(6, 1, "hw", hw=3),
]
OF_CONTROLLER = said(3, 9, "partition_created", leader=1, leader_epoch=0, isr="1,2")


def partitions(folder: Path, lines: list[Line]) -> list[Partition]:
    path = folder / "trace.jsonl"
    path.write_text(text([HEAD | {"replicas": [1, 2]}, *lines]))
    return scan([str(path)]).partitions


def verdicts(folder: Path, lines: list[Line]) -> dict[int, set[Verdict]]:
    """The verdicts on each incarnation of the topic, the present one as 0."""
    return {
        one.history.incarnation: {each.verdict for each in one.judgements.values()} - {Verdict.NOT_APPLICABLE}
        for one in partitions(folder, lines)
    }


@pytest.mark.parametrize(
    "lines",
    [
        [*OLD, *CREATED, *EMPTY, *NEW],
        [*OLD, *CREATED, LEADS, FOLLOWS, *NEW],
        [*OLD, *EMPTY, *NEW],
        [*OLD, OF_CONTROLLER, *CREATED, *EMPTY, *NEW],
        [*OLD, *(said(3, one, "log_loaded", leo=0) for one in (1, 2)), *EMPTY, *NEW],
        # Broker 2 follows the new topic's leader when that has written already.
        [*OLD, CREATED[0], EMPTY[0], NEW[0], said(5, 2, "log_created"), said(5, 2, "become_follower", leader=1,
         leader_epoch=0, leo=0), *NEW[1:]],
        # Only one of them has begun the new topic.
        [*OLD, EMPTY[0], NEW[0]],
        # Roles name the topic id, and the new logs come before them.
        [*(one | FIRST for one in OLD[:2]), *OLD[2:], *CREATED, *(one | SECOND for one in EMPTY), *NEW],
    ],
)  # fmt: skip
def test_a_topic_that_is_created_again_loses_nothing(lines: list[Line], tmp_path: Path) -> None:
    assert verdicts(tmp_path, lines) == {0: {Verdict.CLEAN}, 1: {Verdict.CLEAN}}


@pytest.mark.parametrize("epoch", [0, 4])
def test_a_leader_epoch_is_used_again(epoch: int, tmp_path: Path) -> None:
    """The log is not empty: it is the same topic, whatever the epoch. Nothing is clean, and no loss is excluded."""
    lines = [
        *OLD,
        said(3, 1, "become_leader", leader_epoch=5, leo=10, isr="1,2"),
        said(3, 2, "become_follower", leader=1, leader_epoch=5, leo=10),
        said(4, 2, "truncate", offset=2),
        said(5, 2, "become_leader", leader_epoch=epoch, leo=2, isr="2"),
        said(5, 1, "become_follower", leader=2, leader_epoch=epoch, leo=10),
        said(6, 1, "truncate", offset=2),
    ]
    (partition,) = partitions(tmp_path, lines)
    assert not partition.verdicts(Verdict.CLEAN)
    assert "truncation-below-committed" in partition.verdicts(Verdict.VIOLATED)
    suspected = [one.summary for each in partition.judgements.values() for one in each.findings]
    assert any("leader epochs went back" in one for one in suspected)
    assert "uncommitted-truncation" not in partition.verdicts(Verdict.VIOLATED)


def test_near_miss_records_in_the_new_log_before_its_first_role(tmp_path: Path) -> None:
    """The log is not empty when the role begins: a leader epoch of the same topic was used again."""
    written = [said(4, one, "append", offset=0, leo=3) for one in (1, 2)]
    (partition,) = partitions(tmp_path, [*OLD, *CREATED, *written, LEADS, FOLLOWS])
    assert partition.history.incarnation == 0


def test_near_miss_a_new_log_in_the_same_topic(tmp_path: Path) -> None:
    """A disk was lost: the next role is in a higher leader epoch."""
    lines = [
        *OLD,
        said(3, 1, "process_start"),
        said(3, 1, "log_created"),
        said(4, 2, "become_leader", leader_epoch=2, leo=10, isr="2"),
        said(4, 1, "become_follower", leader=2, leader_epoch=2, leo=0),
    ]
    found = verdicts(tmp_path, lines)
    assert found.keys() == {0}
    assert Verdict.VIOLATED in found[0]
