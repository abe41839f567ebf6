"""A process that recovers nothing has the whole log of the process before only if that stopped by its own lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.incident import Incident

LOST = "committed-data-lost"
BEFORE = "broker 1's log end offset before it restarted and led epoch 1 (it was 10 after that)"


@pytest.mark.parametrize("killed", [False, True])
def test_a_process_that_was_killed_may_have_left_another_directory(*, killed: bool, tmp_path: Path) -> None:
    """A copy that a clean stop had left has a marker, so that the next process recovers nothing of it."""
    incident = Incident(tmp_path, brokers=1)
    incident.begins(10)
    incident[1].starts(30, killed=killed).loads(31, 10)
    incident.succeeds(32, 1, 1, 10)
    incident[1].segment([(0, 9, 0)])
    assert incident.verdict(LOST) == ("unknown" if killed else "clean")
    assert [wish.partition(":")[0] for wish in incident.missing("leo-regression")] == ([BEFORE] if killed else [])


def test_a_process_without_a_role_before_has_left_what_it_found(tmp_path: Path) -> None:
    """It may have ended before it opened the log."""
    incident = Incident(tmp_path, brokers=1)
    incident.begins(10)
    incident[1].starts(30)
    incident[1].starts(40, killed=True).loads(41, 10)
    incident.succeeds(42, 1, 1, 10)
    assert incident.verdict(LOST) == "clean"
