"""Traces of evidence from which lines without a topic were filtered out: no line shows that a broker started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.rules.finding import Verdict
from tests.rules.traced import Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "cluster": "c", "replicas": [1, 2, 3], "files": True}
FRESH = {"partition_epoch": 0, "high_watermark": 0, "leo": 0}


def follows(second: float, witness: int, epoch: int, **values: Any) -> Line:
    fields = {"message": "S-05", "leader": 1, "leader_epoch": epoch, "previous_epoch": epoch, **FRESH, **values}
    return said(second, witness, "become_follower", **fields)


def leads(second: float, epoch: int, isr: str) -> Line:
    stated = {"message": "S-01", "leader_epoch": epoch, "previous_epoch": epoch - 1, "isr": isr, **FRESH}
    return said(second, 1, "become_leader", **stated)


def fetches(second: float, witness: int) -> Line:
    return said(second, witness, "fetcher_added", message="FM-2", leader=1, leader_epoch=0, offset=0)


def lines(back: Line) -> list[Line]:
    return [
        leads(0, 0, "1,2,3"),
        back,
        follows(37, 1, 1, leader=-1, partition_epoch=4),
        leads(38, 2, "1") | {"partition_epoch": 5},
        said(39, 1, "fetcher_removed", message="FM-5"),
        follows(0, 2, 0),
        fetches(0.1, 2),
        said(0, 2, "log_created", message="M-08"),
        said(0, 3, "log_created", message="M-08"),
        follows(0.1, 3, 0),
        fetches(0.2, 3),
        follows(39, 3, 2, partition_epoch=6),
    ]


@pytest.mark.parametrize(
    ("message", "verdict"),
    [("L-05", Verdict.UNKNOWN), ("M-08", Verdict.CLEAN)],
    ids=["loaded by a process that no line shows", "created by the process that leads"],
)
def test_a_log_that_was_loaded_after_a_role_is_of_another_process(
    message: str, verdict: Verdict, tmp_path: Path
) -> None:
    """LogManager.loadLogs prints this line before a broker takes up a role, so its leader had the log before."""
    loaded = said(36, 1, "log_loaded", message="L-05", leo=0, log_start=0, detail="1")
    back = loaded if message == "L-05" else said(0.1, 1, "log_created", message="M-08")
    assert judged(tmp_path, [HEAD, *lines(back)])["committed-data-lost"].verdict is verdict
