"""A replica whose log was found shorter has the records again once a later leader with them let it into the ISR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.replay.committed.rejoined import has_fetched_again
from tests.incident import Incident


def expands(incident: Incident, at: float, out: str, into: str) -> None:
    """What a leader prints as it lets a follower into the ISR."""
    incident[2].says(
        at, f"INFO [Partition orders-0 broker=2] Expanding ISR from {out} to {into}. Leader: (highWatermark: 90, "
        "endOffset: 90). Out of sync replicas: (brokerId: 3, endOffset: 90). (kafka.cluster.Partition)"
    )  # fmt: skip


def crash(tmp_path: Path, *, joins: bool = True, outside: bool = False) -> Incident:
    """Broker 1 led epoch 0 to offset 80, which all had. It crashes, and its next process loads 50 as broker 2 leads."""
    incident = Incident(tmp_path)
    incident.begins(80)
    for node in incident.nodes.values():
        if node.number != 9:
            for path in sorted(node.data.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    if outside:
        incident[1].shrinks(9, "1,2,3", "1,3", 80, 80, "(brokerId: 2, endOffset: 60)")
    isr = [2] if outside else [2, 3]
    incident.elects(20, 1, 2, isr)
    incident[2].leads(20, 1, 80, 80, isr)
    incident[3].follows(20, 1, 2, 80, 80)
    incident[1].starts(30).loads(31, 50).follows(32, 1, 2, 50, 50)
    if joins:
        expands(incident, 40, "2,3", "2,3,1")
    return incident


def fetched_again(incident: Incident) -> list[bool]:
    history = incident.history()
    return [has_fetched_again(history, one) for one in history.shortened_logs if one.replica == 1]


def test_a_replica_that_the_next_leader_let_into_the_isr_has_the_records_again(tmp_path: Path) -> None:
    assert fetched_again(crash(tmp_path)) == [True]


def truncates_again(incident: Incident) -> None:
    incident.succeeds(50, 2, 3, 80)
    incident[1].follows(50, 2, 3, 90, 80)
    incident[1].cuts(51, 60)


def loses_it_again(incident: Incident) -> None:
    incident[1].starts(60).loads(61, 55)


def another_joins(incident: Incident) -> None:
    expands(incident, 40, "2", "2,3")


def shorter_leader_follows(incident: Incident) -> None:
    incident.succeeds(50, 2, 3, 60)


@pytest.mark.parametrize(
    ("joins", "outside", "then"),
    [
        pytest.param(False, False, None, id="no line shows that it caught up"),
        pytest.param(False, False, another_joins, id="another one did"),
        pytest.param(True, True, None, id="the leader came from outside the ISR"),
        pytest.param(True, False, truncates_again, id="it truncated again"),
        pytest.param(True, False, shorter_leader_follows, id="the next leader had less"),
        pytest.param(True, False, loses_it_again, id="it lost them again"),
    ],
)
def test_a_replica_may_still_lack_the_records(
    then: Callable[[Incident], None] | None, tmp_path: Path, *, joins: bool, outside: bool
) -> None:
    incident = crash(tmp_path, joins=joins, outside=outside)
    if then is not None:
        then(incident)
    found = fetched_again(incident)
    assert found
    assert not any(found[:1])
