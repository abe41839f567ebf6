"""A replica whose log was found shorter has the records again once a later leader let it into the ISR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.rules.finding import Finding
from tests.incident import Incident

SHORTER = "leo-regression"


def expands(incident: Incident, at: float, out: str, into: str) -> None:
    """What a leader prints as it lets a follower into the ISR."""
    incident[2].says(
        at, f"INFO [Partition orders-0 broker=2] Expanding ISR from {out} to {into}. Leader: (highWatermark: 90, "
        "endOffset: 90). Out of sync replicas: (brokerId: 3, endOffset: 90). (kafka.cluster.Partition)"
    )  # fmt: skip


def crash(tmp_path: Path, start: int = 80, *, joins: bool = True) -> Incident:
    """Broker 1 led epoch 0 to offset 80, which all had. It crashes, and its next process loads 50 as broker 2 leads."""
    incident = Incident(tmp_path)
    incident.begins(80)
    for node in incident.nodes.values():
        if node.number != 9:
            for path in sorted(node.data.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()
    incident[1].shrinks(9, "1,2,3", "1,3", 80, 80, "(brokerId: 2, endOffset: 80)")  # so 2 may lack what came later
    incident.elects(20, 1, 2, [2])
    incident[2].leads(20, 1, start, start, [2])
    incident[3].follows(20, 1, 2, start, start)
    incident[1].starts(30).loads(31, 50).follows(32, 1, 2, 50, 50)
    if joins:
        expands(incident, 40, "2", "2,1")
    return incident


def shorter(incident: Incident) -> Finding:
    (found,) = incident.findings(SHORTER)
    assert found.replicas == (1,)
    return found


def test_a_replica_that_the_next_leader_let_into_the_isr_has_the_records_again(tmp_path: Path) -> None:
    found = shorter(crash(tmp_path))
    assert found.severity.value == "warning"
    assert "It fetched the records again later" in found.summary
    assert found.offsets == ((50, 80),)


def truncates_again(incident: Incident) -> None:
    incident.succeeds(50, 2, 3, 80)
    incident[1].follows(50, 2, 3, 90, 80)
    incident[1].cuts(51, 60)


def loses_it_again(incident: Incident) -> None:
    incident[1].starts(60).loads(61, 55)


def is_silent(incident: Incident) -> None:
    expands(incident, 40, "2", "2,3")


@pytest.mark.parametrize(
    ("start", "joins", "then"),
    [
        (80, False, None),  # nobody says that it caught up
        (80, False, is_silent),  # another one did
        (70, True, None),  # the leader began without some of them
        (80, True, truncates_again),
    ],
)
def test_a_replica_may_lack_the_records_still(
    start: int, then: Callable[[Incident], None] | None, tmp_path: Path, *, joins: bool
) -> None:
    incident = crash(tmp_path, start, joins=joins)
    if then is not None:
        then(incident)
    assert "fetched the records again" not in shorter(incident).summary


def test_of_two_crashes_the_first_does_not_count_as_undone(tmp_path: Path) -> None:
    incident = crash(tmp_path)
    loses_it_again(incident)
    assert all("fetched the records again" not in one.summary for one in incident.findings(SHORTER))
