"""``snapback-4.0.0``: broker 1, stopped cleanly, started on a copy of its data directory from half a minute before.

From 4.0 on a broker prints no log end offset as it stops. Partitions with other replicas show what was lost: these
have a high watermark. ``one-0`` has none, and only the metadata log shows that its directory is an older one.
"""

from __future__ import annotations

from pathlib import Path

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence
from forensics.rules.committed_data_lost import ID as LOST
from tests.cases.test_recorded import unpacked


def test_a_partition_without_another_replica_is_suspected(tmp_path: Path) -> None:
    result = scan([str(unpacked("snapback-4.0.0", tmp_path))])
    found = {f"{one.topic}-{one.partition}": one for one in result.findings if one.rule == LOST}
    alone = found.pop("one-0")
    assert alone.confidence is Confidence.SUSPECTED
    assert any("till offset 104" in one.text for one in alone.evidence), "the metadata log ended before epoch 117"
    lost = {name: one.offsets for name, one in found.items() if one.confidence is not Confidence.SUSPECTED}
    assert lost == {
        **{f"duo-{number}": ((138, 516),) for number in range(3)},
        **{f"ord-{number}": ((first, end),) for number, first, end in ((0, 135, 516), (1, 135, 516))},
        **{f"ord-{number}": ((138, end),) for number, end in ((2, 516), (3, 519))},
    }
