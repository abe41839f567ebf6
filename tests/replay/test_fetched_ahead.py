"""A follower that fetches from the same leader in its next epoch, before it receives that epoch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.incident import Incident


@pytest.mark.parametrize("restarts", [True, False])
def test_what_a_follower_fetched_ahead_is_of_the_next_epoch_however_that_ended(restarts: bool, tmp_path: Path) -> None:
    """Broker 1 leads epochs 0 and 1. Broker 2 receives epoch 1 when it has fetched 11 records of it. Then broker 1 is
    killed or stops to lead, and follows broker 2.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident.elects(10, 1, 1, [1, 2])
    incident[1].leads(10, 1, 20, 20, [1, 2])
    incident[2].follows(11, 1, 1, 31, 20)
    incident.elects(20, 2, 2, [2])
    incident[2].leads(20, 2, 40, 40, [2])
    if restarts:
        incident[1].starts(29).loads(29, 40)
    incident[1].follows(30, 2, 2, 40, 40)
    incident.elects(40, 3, 1, [1])
    incident[1].leads(40, 3, 50, 50, [1])
    incident[2].follows(41, 3, 1, 50, 50)
    for broker in (1, 2):
        incident[broker].segment([(40, 49, 2), (50, 59, 3)], base=40)
        (incident[broker].folder / "data" / "orders-0" / f"{0:020}.log").unlink()  # retention removed it
        incident[broker].epochs((2, 40), (3, 50)).checkpoint(60)
    log = incident.history().epochs[2].lineage
    assert [log.epoch_at(offset) for offset in (19, 20, 30, 31, 40)] == [0, 1, 1, 1, 2]
    assert not incident.findings("committed-data-lost")
