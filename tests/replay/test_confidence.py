"""What makes a conclusion proven, and what bears a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.replay.confidence import Bearer, Weakness, weighed
from forensics.replay.history import Confidence
from forensics.result import Result

Scanned = Callable[[Path], Result]


@pytest.mark.parametrize("weakness", Weakness)
def test_one_weakness_is_enough(weakness: Weakness) -> None:
    sound = dict.fromkeys(Weakness, False)
    assert weighed(sound) is Confidence.PROVEN
    assert weighed({**sound, weakness: True}) is Confidence.INFERRED
    assert weighed({}) is Confidence.PROVEN


def test_a_finding_knows_what_bears_it(sample_traces: Path, scanned: Scanned) -> None:
    folder = sample_traces / "kip101-0.10.2.2"
    fork = next(finding for finding in scanned(folder).findings if finding.rule == "replica-divergence")
    file = "data/orders-0/00000000000000000000.log"
    assert fork.bearers == tuple(Bearer(b, "segment", str(folder / f"broker-{b}" / file)) for b in (1, 2, 3))


def test_every_proven_loss_has_two_bearers(sample_traces: Path, scanned: Scanned) -> None:
    """Of the samples; nothing demands it yet."""
    losses = [
        finding
        for folder in sorted(path.parent for path in sample_traces.glob("*/truth.json"))
        for finding in scanned(folder).findings
        if finding.rule == "committed-data-lost" and finding.confidence is Confidence.PROVEN
    ]
    assert losses
    assert all(len(finding.bearers) >= 2 for finding in losses)
