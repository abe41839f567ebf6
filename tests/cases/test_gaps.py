"""Logs with gaps: a follower of a release before KIP-279 truncated into the middle of a batch.

In ``gaps-1.1.1`` broker 2 had offsets 30 to 32 as its last ones when it stopped. Broker 1 led next, without them, and
wrote one larger batch from offset 30 on. Then broker 2 was elected from outside the ISR. Broker 1 truncated to 33,
where broker 2's next leader epoch began. The batch was removed as a whole, and broker 1 continued at 33. It led last.
By what clients saw, records of both logs are lost. All lines of all brokers are there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Partition, Result
from forensics.rules.finding import Finding

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def result() -> Result:
    return scan([str(DATA / "gaps-1.1.1.tar.xz")])


def partition(result: Result, name: str) -> Partition:
    return next(one for one in result.partitions if one.history.name == name)


def losses(result: Result, name: str) -> list[Finding]:
    return list(partition(result, name).judgements["committed-data-lost"].findings)


@pytest.mark.parametrize("name", ["cart-1", "sess-1"])
def test_records_in_a_gap_of_the_leaders_log_are_lost_and_others_have_them(result: Result, name: str) -> None:
    found = {(loss.offsets, loss.replicas) for loss in losses(result, name) if 0 in loss.epochs}
    holders = (2, 3) if name == "cart-1" else (2,)
    assert found == {(((30, 33),), holders)}


@pytest.mark.parametrize("name", ["cart-1", "sess-0", "sess-1"])
def test_a_gap_does_not_show_that_lines_are_missing(result: Result, name: str) -> None:
    """Followers kept what their leader had not: they only asked it about their last leader epoch."""
    judged = partition(result, name).judgements
    assert not judged["evidence-gap"].findings
    assert judged["two-leaders-one-epoch"].verdict.value == "clean"


def test_the_batch_behind_a_gap_is_not_damaged(result: Result) -> None:
    """It is the last one of broker 1's log of sess-1."""
    judged = partition(result, "sess-1").judgements
    assert judged["hw-above-leo"].verdict.value == "clean"
    (damage,) = judged["segment-damage"].findings
    assert "a batch ends at 30, the next in its file begins at 33" in damage.summary
