"""Logs that end below the high watermark in the checkpoint file beside them, and which replicas have the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import polars as pl
import pytest

from forensics.case.case import SOURCES, Case, Reading
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Copy, Disk, Ref
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.history import History, HwSource, HwStatement, Replica, Role
from forensics.replay.lineage import Lineage
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from forensics.replay.truncations.log_below_checkpoint import copy_may_lack_end, log_below_checkpoint
from tests.covering import whole, without

LINE, MARK = Ref(row=5), Ref(row=9)
LOG = Lineage(((0, 0),))
END_OF_LINES = 60_000_000
"""Microseconds since 1970 of the last line of broker 1."""


def case() -> Case:
    last = datetime.fromtimestamp(END_OF_LINES / 1_000_000, UTC)
    sources = pl.DataFrame(
        [{"broker": 1, "last_time": last}], schema={"broker": pl.Int32(), "last_time": SOURCES["last_time"]}
    )
    nothing = pl.DataFrame()
    return Case(sources, nothing, nothing, nothing, {}, Reading())


def history() -> History:
    """Broker 1's log ends at 70, below its checkpointed high watermark of 80. Broker 2 has the same log up to 100."""
    files = {broker: Disk(lineage=LOG, end=end) for broker, end in ((1, 70), (2, 100))}
    found = History(PartitionFacts("orders", 0, disks=files, compared=frozenset({(1, 2)})), coverage=whole(1, 2))
    found.replicas = {
        1: Replica(1, lineage=LOG, end=70, on_disk=True, checkpoint=(80, MARK)),
        2: Replica(2, lineage=LOG, end=100, on_disk=True),
    }
    found.role_spans = {1: [RoleSpan(1, 0, 1, Role.FOLLOWER, leader=2, refs=[LINE], log=LOG)]}
    return found


def reaches(found: History) -> None:
    found.replicas[1].end = 80


def no_checkpoint(found: History) -> None:
    found.replicas[1].checkpoint = None


def truncated_just_now(found: History) -> None:
    last = Step(StepKind.TRUNCATED, 70, 90, 90, None, END_OF_LINES - 4_999_999, (LINE,))
    found.role_spans[1][0].steps = [last]


@pytest.mark.parametrize("happens", [reaches, no_checkpoint, truncated_just_now])
def test_a_log_that_reaches_its_checkpoint_or_was_truncated_since_lacks_nothing(
    happens: Callable[[History], None],
) -> None:
    found = history()
    below = log_below_checkpoint(found, case(), 1)
    assert below is not None
    assert (below.high_watermark, below.end, below.ref, below.holders) == (80, 70, MARK, (2,))
    happens(found)
    assert log_below_checkpoint(found, case(), 1) is None


def test_a_truncation_before_the_checkpoint_was_written_explains_nothing() -> None:
    found = history()
    truncated_just_now(found)
    step = found.role_spans[1][0].steps[0]
    found.role_spans[1][0].steps = [replace(step, time=END_OF_LINES - 5_000_000)]
    assert log_below_checkpoint(found, case(), 1) is not None
    found.role_spans[1][0].steps = [replace(step, target=80)]
    assert log_below_checkpoint(found, case(), 1) is not None


def shorter(found: History) -> None:
    found.replicas[2].end = 79


def forked(found: History) -> None:
    batches = [(60, 69, None), (60, 69, None)]
    found.facts = replace(found.facts, forks=(Fork(1, 2, ((60, 70),), LINE, LINE, *batches),))


def of_another_epoch(found: History) -> None:
    found.replicas[2].lineage = Lineage(((0, 0), (1, 75)))


def of_unknown_epochs(found: History) -> None:
    """No epoch shows whether it replaced the records, and not all of its lines are there."""
    found.replicas[2].lineage = Lineage()
    found.coverage = without(found.coverage, 2, Printed.LOG)


@pytest.mark.parametrize("happens", [shorter, forked, of_another_epoch, of_unknown_epochs])
def test_a_replica_holds_the_records_if_its_log_is_the_same_and_reaches_as_far(
    happens: Callable[[History], None],
) -> None:
    found = history()
    happens(found)
    below = log_below_checkpoint(found, case(), 1)
    assert below is not None
    assert below.holders == ()


def test_another_statement_proves_that_the_records_were_committed() -> None:
    found = history()
    below = log_below_checkpoint(found, case(), 1)
    assert below is not None
    assert (below.proven, below.stopped) == (False, False)
    found.statements = [HwStatement(2, 0, LOG, 75, HwSource.PRINTED_BY_LEADER, None, (LINE,))]
    found.role_spans[1] = [replace(found.role_spans[1][0], shut_down=80)]
    found.replicas[1].lineage = LOG
    found.answers.clear()
    below = log_below_checkpoint(found, case(), 1)
    assert below is not None
    assert (below.proven, below.stopped) == (True, True)


@pytest.mark.parametrize(
    ("copy", "may_lack"),
    [
        (None, False),
        (Copy(True, "", None, ""), False),
        (Copy(None, "", None, ""), True),
        (Copy(True, "", None, "", end_by_lines=True), False),
    ],
)
def test_a_copy_may_lack_the_end_unless_files_or_complete_lines_show_that_it_is_whole(
    copy: Copy | None, *, may_lack: bool
) -> None:
    found = history()
    found.copies = {1: copy} if copy is not None else {}
    assert copy_may_lack_end(found, 1) is may_lack
    found.coverage = without(found.coverage, 1, Printed.LOG)
    assert copy_may_lack_end(found, 1) is (may_lack or (copy is not None and copy.end_by_lines))
