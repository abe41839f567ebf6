"""A trace that claims to state each change: an absent line proves something there, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.replay.steps import StepKind
from forensics.rules.finding import Verdict
from tests.rules.traced import LEADS, Line, judged, said, text

ASKED = (
    "committed-data-lost",
    "epoch-divergence",
    "hw-above-isr-member",
    "hw-above-leo",
    "hw-regression",
    "leo-regression",
    "truncation-below-committed",
    "two-leaders-one-epoch",
)
BYTES = ("replica-divergence", "segment-damage", "stale-directory", "checkpoint-contradiction")

HEALTHY = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10, leo=10),
    said(4, 2, "hw", hw=10, leo=10),
]


def head(**fields: Any) -> Line:
    return {"kind": "trace", "replicas": [1, 2], "cluster": "one", "release": "3.9.1", "complete": True, **fields}


def verdicts(folder: Path, lines: list[Line]) -> dict[str, Verdict]:
    return {rule: answer.verdict for rule, answer in judged(folder, lines).items()}


def test_a_healthy_trace_that_states_everything_is_clean(tmp_path: Path) -> None:
    found = verdicts(tmp_path, [head(), *HEALTHY])
    assert {rule: found[rule] for rule in ASKED} == dict.fromkeys(ASKED, Verdict.CLEAN)
    assert {found[rule] for rule in BYTES} == {Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize("claim", [False, [1], [2]])
def test_outside_of_the_claim_silence_is_no_proof(claim: object, tmp_path: Path) -> None:
    found = verdicts(tmp_path, [head(complete=claim), *HEALTHY])
    assert {rule: found[rule] for rule in ASKED} == dict.fromkeys(ASKED, Verdict.UNKNOWN)


def test_a_claim_does_not_hold_where_a_line_could_not_be_read(tmp_path: Path) -> None:
    bad = said(5, 2, "truncate", ofset=3)
    assert Verdict.CLEAN not in {verdicts(tmp_path, [head(), *HEALTHY, bad])[rule] for rule in ASKED}


def test_a_replica_that_only_others_name_is_not_claimed(tmp_path: Path) -> None:
    lines = [said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2,3"), *HEALTHY[1:]]
    found = verdicts(tmp_path, [head(), *lines])
    assert {found["hw-above-leo"], found["epoch-divergence"]} == {Verdict.UNKNOWN}


def test_a_value_holds_until_the_next_one_is_stated(tmp_path: Path) -> None:
    """Five seconds lie between the two lines: only the claim says that nothing was appended in between."""
    lines = [*LEADS, said(1, 1, "append", offset=0, leo=10), said(6, 1, "hw", hw=15)]
    (finding,) = judged(tmp_path, [head(), *lines])["hw-above-leo"].findings
    assert (finding.replicas, finding.offsets) == ((1,), ((10, 15),))
    assert verdicts(tmp_path, [head(complete=False), *lines])["hw-above-leo"] is Verdict.UNKNOWN


def test_logs_of_two_lineages_below_both_high_watermarks(tmp_path: Path) -> None:
    """Both truncated to their own high watermarks, and both had been told that offset 1 is committed (KIP-101)."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=0, leo=0, isr="1,2"),
        said(0, 2, "become_follower", leader=1, leader_epoch=0, leo=0),
        said(1, 1, "append", offset=0, leo=2),
        said(2, 1, "hw", hw=2),
        said(3, 2, "append", offset=0, leo=1),
        said(4, 2, "become_leader", leader_epoch=1, leo=1, isr="2"),
        said(5, 2, "append", offset=1, leo=2),
        said(6, 2, "hw", hw=2),
        said(7, 1, "become_follower", leader=2, leader_epoch=1, leo=2, hw=2),
    ]
    answers = judged(tmp_path, [head(release="0.10.2.2"), *lines])
    (finding,) = answers["epoch-divergence"].findings
    assert (finding.replicas, finding.epochs, finding.offsets) == ((1, 2), (0, 1), ((1, 2),))
    (loss,) = answers["committed-data-lost"].findings
    assert loss.offsets == ((1, 2),)


def test_a_leader_may_not_fall_below_the_high_watermark_that_it_began_with(tmp_path: Path) -> None:
    """A complete trace states no restart between the two, so one and the same leader stated both."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=3, leo=100, hw=100, isr="1"),
        said(5, 1, "hw", hw=60),
    ]
    answer = judged(tmp_path, [head(replicas=[1]), *lines])["hw-regression"]
    assert [(one.before, one.after) for one in answer.findings] == [({"high_watermark": 100}, {"high_watermark": 60})]
    unclaimed = judged(tmp_path, [head(replicas=[1], complete=False), *lines])["hw-regression"]
    assert unclaimed.verdict is Verdict.UNKNOWN


def test_no_omission_counts_inside_of_a_claim(tmp_path: Path) -> None:
    """Broker 2 is in the ISR of epochs 3 and 5 and states no role in epoch 4, in which broker 1 has it in the ISR."""
    lines = [
        *HEALTHY,
        said(5, 1, "become_leader", leader_epoch=4, leo=10, isr="1,2"),
        said(6, 1, "hw", hw=12, leo=12),
        said(7, 1, "become_leader", leader_epoch=5, leo=12, isr="1,2"),
        said(8, 2, "become_follower", leader=1, leader_epoch=5, leo=12),
    ]
    steps = {}
    for complete in (True, False):
        (tmp_path / "trace.jsonl").write_text(text([head(complete=complete), *lines]))
        history = scan([str(tmp_path)]).partitions[0].history
        steps[complete] = [step.kind for span in history.role_spans[2] for step in span.steps]
        assert history.coverage.throughout(2) == complete
    assert steps == {True: [], False: [StepKind.UNKNOWN_CHANGE]}
