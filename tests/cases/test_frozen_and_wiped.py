"""A broker that is frozen beyond its session never gets what its controller sent meanwhile (``chaos101-0.10.2.2``), and
one that was wiped has all again once its leader lets it in (``chaos108-4.0.0``).
"""

from __future__ import annotations

import shutil
from pathlib import Path

from forensics.engines.local import scan
from tests.cases.test_recorded import LOSS, unpacked, without

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


def test_who_was_let_into_the_isr_again_after_each_restart_has_what_was_committed(tmp_path: Path) -> None:
    """Broker 1 is killed twice in epoch 0 and its disk wiped in between; each time leader 3 lets it in again."""
    folder = unpacked("chaos108-4.0.0", tmp_path)
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-2")
    assert partition.judgements[LOSS].verdict == "clean"
    assert {finding.severity for finding in partition.judgements["leo-regression"].findings} == {"warning"}
    shutil.rmtree(folder / "broker-3" / "logs")  # what the leader says of the ISR
    shutil.rmtree(folder / "broker-100")
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-2")
    assert partition.judgements[LOSS].verdict == "unknown"


def test_a_former_leader_whose_lines_are_missing_may_have_committed_more(tmp_path: Path) -> None:
    """Broker 1 led epoch 2 before broker 2 led. Where its log ended is in no line and no other broker's."""
    folder = unpacked(CASE, tmp_path)
    shutil.rmtree(folder / "broker-3" / "logs")
    without(folder, "23:52:09,98", "23:52:15,4415", "broker-1")
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "pay-1")
    (loss,) = partition.judgements[LOSS].findings
    assert (loss.offsets, loss.records) == (((76, 77),), (1, None))
    assert all(words in loss.uncertain[0] for words in ("broker 1", "leader of epoch 2", "beyond offset 76"))
