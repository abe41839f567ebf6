"""``elrkill-4.1.1``: broker 3 stops cleanly, broker 2 is killed, and broker 1 writes on alone until it is killed too.

All that a leader alone in the ISR writes is committed. It is lost when broker 2 leads again.
"""

from __future__ import annotations

from pathlib import Path

from forensics.engines.local import scan
from forensics.rules.committed_data_lost import ID as LOST
from tests.cases.test_recorded import unpacked

SECOND = 900
"""All that is lost below this offset is lost in the first outage."""


def test_a_follower_that_shut_down_holds_no_high_watermark_back(tmp_path: Path) -> None:
    """It is no member of the ISR, and the leader knows that it cannot become one (Partition, isReplicaIsrEligible)."""
    result = scan([str(unpacked("elrkill-4.1.1", tmp_path))])
    lost = [one for one in result.findings if one.rule == LOST and one.topic == "low" and one.offsets[0][1] < SECOND]
    assert sorted((one.partition, one.offsets) for one in lost) == [
        (0, ((234, 330),)),
        (1, ((231, 330),)),
        (3, ((234, 330),)),
    ]
