"""Without lines on a role of a replica the log is not known that its checkpoint is about: nothing was lost here."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict

DATA = Path(__file__).parent / "data"
GONE = (
    "broker-1/logs/server.log",
    "broker-3/logs/server.log",
    *(f"broker-{broker}/data/__cluster_metadata-0/00000000000000000000.log" for broker in (2, 3)),
    "broker-2/data/orders-eu-1/00000000000000000000.log",
    "broker-2/data/orders-eu-1/leader-epoch-checkpoint",
)


def left(case: str, place: Path, *, gone: tuple[str, ...] = (), until: bytes = b"\xff") -> Path:
    """The evidence of a recorded cluster without some files, and without log lines from a moment on."""
    with tarfile.open(DATA / f"{case}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    (folder,) = place.iterdir()
    for name in gone:
        (folder / name).unlink()
    for log in folder.glob("*/logs/*.log"):
        log.write_bytes(b"".join(line for line in log.read_bytes().splitlines(True) if line < until))
    return folder


@pytest.mark.parametrize(
    ("case", "gone", "until"),
    [
        pytest.param("healed-4.1.1", GONE, b"\xff", id="it led without a line"),
        pytest.param("jbodmid-1.1.1", (), b"[2026-11-23 23:36:20,575", id="its lines end before its next role"),
    ],
)
def test_no_loss_is_found_in_a_healthy_cluster(case: str, gone: tuple[str, ...], until: bytes, tmp_path: Path) -> None:
    partitions = scan([str(left(case, tmp_path, gone=gone, until=until))]).partitions
    verdicts = {partition.judgements["committed-data-lost"].verdict for partition in partitions}
    assert Verdict.UNKNOWN in verdicts
    assert Verdict.VIOLATED not in verdicts
