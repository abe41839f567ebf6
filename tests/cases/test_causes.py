"""What a finding names as its cause is in the evidence; where it is not, the cause is unknown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


def causes(case: Path, room: Path, *left_out: str) -> dict[str, set[str | None]]:
    """Of the findings of each rule, without the files that fit a pattern."""
    shutil.copytree(case, room / case.name)
    for pattern in ("truth.json", *left_out):
        for path in sorted((room / case.name).glob(pattern)):
            path.unlink()
    (found,) = (p for p in scan([str(room / case.name)]).partitions if p.history.name == "orders-0")
    return {rule: {f.cause for f in j.findings} for rule, j in found.judgements.items() if j.findings}


def test_an_unclean_election_where_logs_part_is_the_cause(tmp_path: Path) -> None:
    found = causes(SAMPLES / "unclean-0.10.2.2", tmp_path, "broker-1/logs/server.log")
    assert found["replica-divergence"] == {"unclean-election"}


def test_an_old_version_alone_is_no_cause(evidence: Path, tmp_path: Path) -> None:
    """Broker 2 lost power; no line that is left tells how it came back, nor of a truncation."""
    found = causes(evidence / "powerloss-0.10.2.2", tmp_path, "broker-2/logs/server.log")
    assert found["committed-data-lost"] == found["replica-divergence"] == {"unknown"}


@pytest.mark.parametrize("name", ["unclean-0.10.2.2", "kip101-0.10.2.2"])
def test_segments_alone_show_no_cause(name: str, tmp_path: Path) -> None:
    assert causes(SAMPLES / name, tmp_path, "*/logs/*")["replica-divergence"] == {"unknown"}
