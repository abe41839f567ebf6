"""``python -m benchmarks.inferences``: what values and findings rest on is counted, and each inference has a row."""

from __future__ import annotations

import pytest

from benchmarks.inferences import drawn, main
from benchmarks.same.corpus import ROOT
from forensics.replay.inferences import INFERENCES, Inferred

LOST = str(ROOT / "sample_traces" / "kip101-0.10.2.2")


def test_values_and_findings_are_counted() -> None:
    counted = drawn([LOST])
    one = Inferred.READ_BACK_WAS_REACHED
    assert (counted.values[one], counted.clusters[one], counted.findings[one]) == (7, 1, 3)
    assert counted.values[Inferred.LEADER_LOG_GROWS] == 0


def test_each_inference_has_a_row_also_if_nothing_rests_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    main([LOST])
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == [one.id.value for one in INFERENCES]
