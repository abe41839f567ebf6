"""Quotes of long lines: the beginning, and whole clauses around the values that matter."""

from __future__ import annotations

import pytest

from forensics.reports.elision import GAP, ROWS, elided

ID = "Some(MoIALtVkSpW9nMxz1Lvblw)"
FOLLOWER = (
    "INFO [Broker id=1] Follower audit-2 starts at leader epoch 2 from offset 210 with partition epoch 4 and high "
    "watermark 204. Current leader is 2. Previous leader Some(2) and previous leader epoch was 2. (state.change.logger)"
)
LEADER = (
    f"INFO [Broker id=2] Leader audit-2 with topic id {ID} starts at leader epoch 2 from offset 201 with partition "
    "epoch 3, high watermark 159, ISR [2], adding replicas [] and removing replicas [] . Previous leader Some(-1) and "
    "previous leader epoch was 1. (state.change.logger)"
)
REQUEST = (
    "TRACE [Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders', "
    "partitionIndex=0, controllerEpoch=1, leader=2, leaderEpoch=3, isr=[2], zkVersion=3, replicas=[1, 2], "
    "addingReplicas=[], removingReplicas=[], isNew=false) correlation id 3 from controller 9 epoch 1 "
    "(state.change.logger)"
)
UNCLEAN = (
    "INFO Setting new leader for topicId 9waBZNuXT-uVmnw-5GhUQA, partition 0 to 2 using an unclean election. Previous "
    "partition: PartitionRegistration(replicas=[1, 2, 3], directories=[b5NtqaYtCxunSJTZ45gLOQ], isr=[], elr=[1]"
)
AT_THE_END = f"INFO [Broker id=1] {'state of one of many things, ' * 12}truncated orders-0 at last to offset 4711"
WIDTH = 82


@pytest.mark.parametrize(
    ("line", "values", "whole"),
    [
        (FOLLOWER, (201, 204), "from offset 210 with partition epoch 4 and high watermark 204."),
        (
            LEADER,
            (201, 204),
            "leader epoch 2 from offset 201 with partition epoch 3, high watermark 159, ISR [2]",
        ),
        (REQUEST, (10, 15, 3), "controllerEpoch=1, leader=2, leaderEpoch=3, isr=[2]"),
        (UNCLEAN, (2,), "partition 0 to 2 using an unclean election."),
        (AT_THE_END, (4711,), "truncated orders-0 at last to offset 4711"),
    ],
    ids=["follower", "leader", "request", "unclean", "at the end"],
)
def test_the_clause_around_a_value_is_whole(line: str, values: tuple[int, ...], whole: str) -> None:
    rows = elided(line, values, WIDTH, "audit-2")
    text = " ".join(rows)
    assert whole in text
    assert text.count(GAP.strip()) <= 2 + text.count("topicId …"), "one gap, and the end"
    assert text.startswith(line[:20])
    assert len(rows) <= ROWS
    assert max(map(len, rows)) <= WIDTH


def test_a_line_that_fits_but_for_its_logger_is_one_row() -> None:
    fencing = "INFO [QuorumController id=100] Fencing broker 1 because its session has timed out."
    line = f"{fencing} (org.apache.kafka.controller.ReplicationControlManager)"
    assert elided(line, (201,), 100) == [f"{fencing} …"]
    assert elided(fencing, (201,), 100) == [fencing]


@pytest.mark.parametrize("width", [20, 44, 82, 150])
@pytest.mark.parametrize("line", [FOLLOWER, LEADER, REQUEST, "x" * 400, "{" + '"end":15,' * 90 + "}", ""])
def test_no_row_is_too_wide(line: str, width: int) -> None:
    rows = elided(line, (15,), width)
    assert max(map(len, rows)) <= width
    assert len(rows) <= ROWS
