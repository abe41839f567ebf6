"""Power is cut to all hosts of a cluster with KRaft and min.insync.replicas=1, and parts of the logs are gone.

By what clients saw, orders-0 lost offsets 126 to 164, orders-1 174 to 182, orders-2 120 to 152, audit-2 168 to 185 and
audit-3 147 to 161. Of click-0 and click-3 only records were removed that had not been committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Result

DATA = Path(__file__).parent / "data"
LOSS = "committed-data-lost"


@pytest.fixture(scope="module")
def result() -> Result:
    return scan([str(DATA / "rackloss-3.3.2.tar.xz")])


def test_a_follower_that_came_back_with_less_than_all_others_is_suspected(result: Result) -> None:
    """It led next, and the others removed what they had beyond it."""
    found = {(f"{f.topic}-{f.partition}", f.offsets, f.confidence.value) for f in result.findings if f.rule == LOSS}
    assert found == {
        ("orders-0", ((126, 159),), "inferred"),
        ("orders-1", ((174, 183),), "suspected"),
        ("audit-2", ((168, 174),), "suspected"),
        ("audit-3", ((147, 162),), "inferred"),
    }


def test_where_another_member_had_no_more_nothing_is_suspected(result: Result) -> None:
    """One broker removed records that the other members of the ISR did not have: a leader's tail, as after any stop."""
    for name in ("click-0", "click-3"):
        (partition,) = (one for one in result.partitions if one.history.name == name)
        assert partition.judgements[LOSS].verdict.value == "unknown"
        assert not partition.judgements[LOSS].findings
