"""The times of one log file are moved: its order with the broker's other log is wrong, and that proves nothing.

A log shipper that reads one file in another time zone does this to a healthy cluster.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence, Weakness
from forensics.rules.finding import Finding, Severity

SAMPLES = Path(__file__).parents[2] / "sample_traces"
TIME = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", re.MULTILINE)
FORMAT = "%Y-%m-%d %H:%M:%S"


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster whose replicas were moved between brokers, without a loss."""
    folder = tmp_path_factory.mktemp("reassigned")
    with tarfile.open(SAMPLES / "reassigned-3.9.1.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def moved(healthy: Path, request: pytest.FixtureRequest) -> Iterator[list[Finding]]:
    """Findings of errors after the times of one server.log were moved by seconds, in its second half or as a whole."""
    seconds, whole = request.param
    (log,) = healthy.rglob("broker-1/logs/server.log")
    before = log.read_bytes()
    half = before.index(b"\n", len(before) // 2) + 1

    def later(found: re.Match[bytes]) -> bytes:
        time = datetime.strptime(found[1].decode(), FORMAT).replace(tzinfo=UTC) + timedelta(seconds=seconds)
        return b"[" + time.strftime(FORMAT).encode()

    log.write_bytes(TIME.sub(later, before) if whole else before[:half] + TIME.sub(later, before[half:]))
    yield [one for one in scan([str(healthy)]).findings if one.severity in (Severity.CRITICAL, Severity.ERROR)]
    log.write_bytes(before)


@pytest.mark.parametrize("moved", [(10, True), (60, False), (43_200, False)], indirect=True)
def test_a_new_log_after_its_role_is_not_proven(moved: list[Finding]) -> None:
    (found,) = moved
    assert found.rule == "leo-regression"
    assert Weakness.ORDER_BY_CLOCK in found.weak
    assert found.confidence is Confidence.INFERRED


def test_without_the_move_nothing_is_found(healthy: Path) -> None:
    assert [one.rule for one in scan([str(healthy)]).findings if one.severity is not Severity.INFO] == []
