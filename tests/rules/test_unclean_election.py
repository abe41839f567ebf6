"""Elections from outside the ISR, by the lines that state one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Finding

MARKED = b"was marked as RECOVERING"


def found(folder: Path) -> list[Finding]:
    return [finding for finding in scan([str(folder)]).findings if finding.rule == "unclean-election"]


@pytest.mark.parametrize("marked", [True, False])
def test_the_leader_states_it_where_no_controller_does(marked: bool, sample_traces: Path, tmp_path: Path) -> None:
    """The operator has the brokers' logs, and nothing of the controllers or of the metadata log."""
    folder = Path(shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "case"))
    shutil.rmtree(folder / "broker-100")
    for data in folder.glob("broker-*/data"):
        shutil.rmtree(data)
    if not marked:
        log = folder / "broker-2" / "logs" / "state-change.log"
        log.write_bytes(b"".join(line for line in log.read_bytes().splitlines(keepends=True) if MARKED not in line))
    findings = found(folder)
    assert len(findings) == marked
    for finding in findings:
        assert "was marked as recovering from an unclean election" in [fact.text for fact in finding.facts]
        assert finding.epochs == (2,)
