"""Random runs judged from their traces alone: whole ones, and ones with lines dropped and the claim narrowed."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.traces import WHOLE, Told, compare
from forensics.model import PROTOCOLS

RUNS = 10
ALWAYS = {"hw-above-leo", "epoch-divergence", "two-leaders-one-epoch", "hw-regression"}
"""Rules that a whole trace always decides."""

MISSED = {"hw-regression"}
"""A checkpointed high watermark that is lost in an unclean stop, within ten seconds of the start, is not noticed."""


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_traces_are_judged_rightly(number: int) -> None:
    found = compare(PROTOCOLS[number], range(2_000 + number * RUNS, 2_000 + (number + 1) * RUNS))
    assert {one.rule for told in found.values() for one in told if one.kind == "wrong"} == set()
    assert {one.rule for told in found.values() for one in told if one.kind == "missed"} <= MISSED
    open_still = Counter[str]()
    for one, count in found[WHOLE].items():
        if one.kind in ("unknown", "in part"):
            open_still[one.rule] += count
    assert not ALWAYS & open_still.keys()
    assert open_still.total() <= 3, open_still
    assert Told("committed-data-lost", "right") in found[WHOLE]


def test_a_log_that_a_trace_states_is_as_long_as_stated() -> None:
    """A replica in the ISR returned in the same epoch and truncated, so it no longer held what had been committed."""
    (protocol,) = (one for one in PROTOCOLS if one.name == "hw")
    found = compare(protocol, range(305, 306))[WHOLE]
    assert not [one for one in found if one.kind in ("missed", "wrong")]
