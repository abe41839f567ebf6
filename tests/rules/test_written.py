"""When lost records were written: the span of time that owners of applications are told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest

from forensics.case import Case
from forensics.replay.committed.proof import losses
from forensics.replay.coverage import Coverage
from forensics.rules.written import _fenced, written_between
from tests.incident import Incident

STARTED = "At the later one, broker 1, which had led before, started again"


def told(incident: Incident) -> str:
    """The time in which the lost records were written, in words."""
    result = incident.scan()
    (loss, *_), _ = losses(incident.history())
    said = written_between(incident.history(), result.case, loss)
    assert said is not None
    return said.text


def outage(folder: Path, *, elected: float, again: float) -> Incident:
    """Broker 1 is killed and starts again; broker 2 leads without offsets 30 to 49."""
    incident = Incident(folder)
    incident.begins(50)
    incident[1].says(10, "INFO [Partition orders-0 broker=1] Expanding ISR from 1,2 to 1,2,3 (kafka.cluster.Partition)")
    incident[1].starts(again, killed=True)
    incident[1].loads(again + 1, 50)
    incident[2].segment([(0, 29, 0), (30, 39, 1)])
    incident[2].epochs((0, 0), (1, 30))
    incident.succeeds(elected, 1, 2, 30, 3)
    return incident


@pytest.mark.parametrize(("elected", "again", "started"), [(60, 40, True), (40, 60, False)])
def test_a_leader_that_started_again_wrote_no_more(elected: float, again: float, started: bool, tmp_path: Path) -> None:
    """Its process of that time has ended by then; when it ended is unknown."""
    said = told(outage(tmp_path, elected=elected, again=again))
    assert (STARTED in said) == started
    assert ("At the later one, broker 2 began leader epoch 1 without them" in said) != started


def test_a_leader_whose_lines_are_not_whole_may_have_written_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident = outage(tmp_path, elected=60, again=40)
    incident.scan()
    monkeypatch.setattr(Coverage, "throughout", lambda *_: False)
    assert STARTED not in told(incident)


@pytest.mark.parametrize(
    ("lines", "time"),
    [
        ([("broker_fenced", 1, 20), ("broker_fenced", 1, 40)], 20),  # a controller that was put back repeats it
        ([("broker_fenced", 1, 20), ("broker_unfenced", 1, 30), ("broker_fenced", 1, 40)], 40),
        ([("broker_fenced", 1, 20), ("broker_unfenced", 1, 30)], None),
        ([("broker_fenced", 1, 5), ("broker_fenced", 2, 20), ("broker_fenced", 1, 90)], None),
    ],
)
def test_the_first_end_of_a_session_for_good_counts(lines: list[tuple[str, int, int]], time: int | None) -> None:
    table = pl.DataFrame(lines, schema={"kind": pl.String, "replica": pl.Int32, "time": pl.Int64}, orient="row")
    case = cast(Case, SimpleNamespace(observations=table.with_columns(pl.col("time").cast(pl.Datetime("us", "UTC")))))
    assert _fenced(case, 1, (10, 90)) == time
