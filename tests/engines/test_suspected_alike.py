"""What is suspected, what failed and what was left behind is the same in a batch: it rests on more than one partition's
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.reports import json_report
from tests.engines.without_spark import run
from tests.incident import Incident
from tests.replay.test_dir_failures import alone
from tests.replay.test_live_dirs import two
from tests.rules.test_complaints import asked, consumed, out_of_range, said
from tests.rules.test_suspected import begun_twice


def complaint(tmp_path: Path) -> Incident:
    """A leader is asked for more than it has."""
    return said(tmp_path, asked(50), role="leader")


def reset(tmp_path: Path) -> Incident:
    """A consumer in a log of no broker."""
    return consumed(tmp_path, *out_of_range(42))


def left_behind(tmp_path: Path) -> Incident:
    """Two log directories with the same partitions."""
    return two(tmp_path, {"orders-0": 3, "pay-0": 0, "__own-0": 0}, {"orders-0": 0, "pay-0": 4, "__own-0": 1})


def again(tmp_path: Path) -> Incident:
    """An epoch that is begun twice."""
    return begun_twice(tmp_path, 30)


@pytest.mark.parametrize("story", [complaint, left_behind, again, alone])
def test_a_batch_finds_the_same(story: Callable[[Path], Incident], tmp_path: Path) -> None:
    incident = story(_made(tmp_path / "case"))
    found = run(str(incident.folder), tmp_path / "out")
    assert json_report.render(found) == json_report.render(incident.scan())
    assert any(finding.severity in ("critical", "error", "warning") for finding in found.findings)


def test_a_batch_hears_consumers_in_logs_of_no_broker(tmp_path: Path) -> None:
    incident = reset(_made(tmp_path / "case"))
    found = run(str(incident.folder), tmp_path / "out")
    assert [(one.fingerprint, one.evidence) for one in found.findings] == [
        (one.fingerprint, one.evidence) for one in incident.scan().findings
    ]
    assert any(finding.confidence == "suspected" for finding in found.findings)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
