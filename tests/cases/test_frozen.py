"""A broker that is frozen beyond its session never gets what its controller sent meanwhile: ``chaos101-0.10.2.2``."""

from __future__ import annotations

from pathlib import Path

from forensics.engines.local import scan
from tests.cases.test_recorded import LOSS, unpacked

CASE = "chaos101-0.10.2.2"


def test_who_was_taken_for_dead_lacks_no_lines(tmp_path: Path) -> None:
    """Broker 2 is frozen while epoch 1 begins, in whose ISR it is; epoch 2 begins without it, and in epoch 3 it leads
    alone: what it took then is lost when broker 1 is elected from outside the ISR.
    """
    result = scan([str(unpacked(CASE, tmp_path))])
    assert "evidence-gap" not in {finding.rule for finding in result.findings}
    (partition,) = (one for one in result.partitions if one.history.name == "pay-0")
    (loss,) = partition.judgements[LOSS].findings
    assert (loss.offsets, loss.cause) == (((58, 73),), "unclean-election")
