"""Random runs judged from their traces alone: whole ones, and ones with lines dropped and the claim narrowed."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.traces import WHOLE, Told, compare
from forensics.model import PROTOCOLS

RUNS = 10
ALWAYS = {"hw-above-leo", "two-leaders-one-epoch"}
"""Rules that a whole trace always decides."""

MISSED = {"hw-regression"}
"""A checkpointed high watermark that is lost in an unclean stop, within ten seconds of the start, is not noticed."""


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_traces_are_judged_rightly(number: int) -> None:
    found = compare(PROTOCOLS[number], range(2_000 + number * RUNS, 2_000 + (number + 1) * RUNS))
    assert {one.rule for told in found.values() for one in told if one.kind == "wrong"} <= MISSED
    open_still = Counter[str]()
    for one, count in found[WHOLE].items():
        if one.kind not in ("right", "wrong"):
            open_still[one.rule] += count
    assert not ALWAYS & open_still.keys()
    assert open_still.total() <= 3, open_still
    assert Told("committed-data-lost", "right") in found[WHOLE]
