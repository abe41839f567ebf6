"""Replay concludes nothing from an absent line and finds afterwards that such lines are missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import read_files
from forensics.replay import reconstruct
from forensics.replay.coverage import Coverage, Printed, Span
from forensics.replay.history import History
from tests.cases.test_cut_kinds import judged
from tests.cases.test_cut_lines import Files

Granted = list[tuple[int | None, Printed, tuple[Span, ...]]]


@pytest.fixture
def granted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[History, Granted]]:
    """Each pass of replay, and what the coverage granted in it after the leader epochs were collected."""
    passes: list[tuple[History, Granted]] = []
    has, collect = Coverage.has, reconstruct._Pass._collect_epochs

    def collected(self: reconstruct._Pass) -> None:
        collect(self)
        passes.append((self.history, []))

    def asked(self: Coverage, replica: int | None, what: Printed, *spans: Span) -> bool:
        answer = has(self, replica, what, *spans)
        if answer and passes:
            passes[-1][1].append((replica, what, spans))
        return answer

    monkeypatch.setattr(reconstruct._Pass, "_collect_epochs", collected)
    monkeypatch.setattr(Coverage, "has", asked)
    return passes


def without(files: Files, broker: str, share: float, *, begin: bool) -> Files:
    """The evidence without the first or the last part of one broker's log lines."""
    own = [reading.format == "broker-log" and f"/{broker}/" in source.path for source, reading in files]
    times = [t for (_, one), is_own in zip(files, own, strict=True) if is_own for t in one.observations["time"]]
    known = sorted(time for time in times if time is not None)
    at = known[int(share * len(known))]
    kept = (pl.col("time") >= at if begin else pl.col("time") < at).fill_null(value=True)
    return [
        (source, replace(one, observations=one.observations.filter(kept)) if is_own else one)
        for (source, one), is_own in zip(files, own, strict=True)
    ]


@pytest.mark.parametrize(
    ("broker", "share", "begin"), [("broker-1", 0.8, True), ("broker-2", 0.4, True), ("broker-2", 0.6, False)]
)
def test_what_replay_asked_of_the_coverage_holds_of_the_final_one(
    broker: str, share: float, begin: bool, sample_traces: Path, granted: list[tuple[History, Granted]]
) -> None:
    files = read_files([str(sample_traces / "zkback-2.8.2")])
    result = judged(without(files, broker, share, begin=begin))
    asked = {id(history): {*answers} for history, answers in granted}
    for partition in result.partitions:
        answers = asked[id(partition.history)]
        assert answers
        assert [one for one in answers if not partition.history.coverage.has(one[0], one[1], *one[2])] == []
