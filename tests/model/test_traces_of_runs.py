"""Random runs judged from their traces alone, which leave nothing out: no answer may be wrong, and few are unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.model import PROTOCOLS
from tests.model.batches import QUESTIONS, compared, drawn

RUNS = 10
CUT, LOST, _FORKED = QUESTIONS
DECIDED = ("hw-above-leo", "epoch-divergence", "two-leaders-one-epoch", "hw-regression")
"""What a complete trace always decides."""


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_complete_traces_are_judged_rightly(number: int, tmp_path: Path) -> None:
    unknown = 0
    for seed in range(2_000 + number * RUNS, 2_000 + (number + 1) * RUNS):
        run = drawn(seed).play(PROTOCOLS[number])
        path = tmp_path / f"{seed}.jsonl"
        path.write_text(run.observations())
        (partition,) = scan([str(path)]).partitions
        truth = run.truth()
        answers = compared([partition.judgements], truth)
        assert not [answer.wrong for answer in answers if answer.wrong], seed
        unknown += sum("unknown" in answer.kind for answer in answers if answer.rule in (CUT, LOST))
        verdicts = {rule: partition.judgements[rule].verdict.value for rule in DECIDED}
        assert "unknown" not in verdicts.values(), (seed, verdicts)
        assert (verdicts["hw-above-leo"] == "violated") == bool(truth["expect"].get("hw_above_leo")), seed
        assert (verdicts["epoch-divergence"] == "violated") == truth["expect"]["diverged"], seed
        assert verdicts["two-leaders-one-epoch"] == "clean", seed
    assert unknown <= RUNS, f"{unknown} of {2 * RUNS} answers are unknown"
