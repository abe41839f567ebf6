"""Recorded clusters whose truth speaks of each partition: no answer is wrong, and what was known stays known."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.partitions import Outcome, answers
from tests.conftest import ROOT

INCIDENTS = ROOT.parent / "shared" / "incidents"
ABSENT = pytest.mark.skip(reason="no recorded incidents: ../shared/incidents is absent")

# What is answered with less than the truth: how many answers of each case. They may only become fewer.
LESS: dict[str, dict[Outcome, int]] = {
    "jbod-3.9.1": {Outcome.AT_LEAST: 3},
    "rackloss-3.9.1": {Outcome.AT_LEAST: 1},
    # Two processes of one leader served one epoch, and the second found a log that recovery had to check.
    "rackloss-calm-0.11.0.3": {Outcome.UNKNOWN: 2},
}
CASES = sorted(path.parent.name for path in INCIDENTS.glob("*/truth.json"))


@pytest.mark.parametrize("name", CASES or [pytest.param("absent", marks=ABSENT)])
def test_no_answer_about_a_partition_is_wrong(name: str) -> None:
    given = answers(Path(INCIDENTS, name))
    assert [one for one in given if one.wrong] == []
    counts = Counter(one.outcome for one in given if one.outcome in (Outcome.AT_LEAST, Outcome.UNKNOWN))
    assert dict(counts) == LESS.get(name, {})
