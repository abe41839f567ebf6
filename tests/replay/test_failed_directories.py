"""Logs in failed log directories, and copies that are needed: which may still have lost records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from forensics.case import Case
from forensics.replay.committed.failed_directories import FailedLog, failed_directories, failed_logs
from forensics.replay.committed.surviving_copies import may_lack_segments, needed_copies
from forensics.replay.facts.directory import Copy, Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.roles.steps import LogBefore, RoleSpan, Sample, Step, StepKind

SECOND = 1_000_000


def case(**settings: str) -> Case:
    """A case of which only the settings of the leader, broker 1, matter, and the line of the failure."""
    failed = pl.DataFrame({"row": [5], "log_dir": ["/data2"], "time": [10 * SECOND]})
    return cast("Case", SimpleNamespace(brokers={1: SimpleNamespace(settings=settings)}, observations=failed))


def history(*, hw: int, after: int) -> History:
    """Broker 2's directory failed with log end offset 50; broker 1, its leader, stated a high watermark later.

    Args:
        hw: the high watermark.
        after: seconds after the failure.
    """
    found = History(PartitionFacts("orders", 0))
    failed = Step(StepKind.CREATED, 0, 50, 50, None, 10 * SECOND, (Ref(row=5),), before=LogBefore.DIR_FAILED)
    stated = Sample(hw, Ref(row=9), (10 + after) * SECOND)
    found.role_spans = {
        1: [RoleSpan(1, 0, 0, Role.LEADER, 1, hw=stated)],
        2: [RoleSpan(2, 0, 0, Role.FOLLOWER, 1, steps=[failed])],
    }
    found.epochs = LeaderEpochs({0: Epoch(0, leader=1)})
    return found


def test_a_failed_directory_may_have_what_was_written_before_it_failed() -> None:
    found = history(hw=40, after=60)
    assert failed_directories(found) == (2,)
    log = FailedLog(2, 0, 50, "/data2", 10 * SECOND)
    assert failed_logs(found, case(), 30) == (log,)  # the leader had passed offset 30 by then
    assert failed_logs(found, case(), 40) == ()  # all below 40 was committed a minute later, so 40 was written after


@pytest.mark.parametrize(("after", "lag", "has"), [(44, None, True), (46, None, False), (14, "9000", False)])
def test_a_leader_has_committed_what_it_had_within_one_and_a_half_lags(after: int, lag: str | None, has: bool) -> None:
    settings = {"replica.lag.time.max.ms": lag} if lag is not None else {}
    assert bool(failed_logs(history(hw=40, after=after), case(**settings), 40)) is has


def test_a_copy_is_needed_if_no_other_one_has_the_same_records() -> None:
    assert needed_copies({1: ((0, 50),), 2: ((0, 50),), 3: ((40, 60),)}) == (1, 3)


def test_a_copy_may_lack_the_segments_that_hold_records() -> None:
    found = History(PartitionFacts("orders", 0, disks={1: Disk(end=50, bases=(20,), gaps=((30, 35),))}))
    assert not may_lack_segments(found, 1, [(60, 70)])
    found.copies = {1: Copy(True, "", None, "")}
    assert may_lack_segments(found, 1, [(32, 33)])
    assert not may_lack_segments(found, 1, [(0, 10), (60, 70)])
    found.copies = {1: Copy(False, "", True, "", earlier="its log starts at 0")}
    assert not may_lack_segments(found, 1, [(32, 33)])  # these offsets are in no segment of the broker either
    assert may_lack_segments(found, 1, [(0, 10)])
    assert may_lack_segments(found, 1, [(60, 70)])
