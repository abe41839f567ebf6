"""A trace that claims to state each change: an absent line proves something there, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from parsers.formats.trace_kinds import OF_KIND
from parsers.read import read
from tests.parsers.handing_over import source
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
BYTES = ("segment-damage", "stale-directory", "checkpoint-contradiction")

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
    assert found["replica-divergence"] is Verdict.CLEAN
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
    places = {}
    for complete in (True, False):
        (tmp_path / "trace.jsonl").write_text(text([head(complete=complete), *lines]))
        history = scan([str(tmp_path)]).partitions[0].history
        assert [step for span in history.role_spans[2] for step in span.steps] == []
        places[complete] = len(history.coverage.places.get(2, ()))
        assert history.coverage.throughout(2) == complete
    assert places == {True: 0, False: 1}


SHORT = "2026-01-01T10:00:01Z"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ([{"replicas": [1, 2]}], Verdict.CLEAN),
        ([1, {"replicas": [2], "kinds": [kind.value for kind in OF_KIND]}], Verdict.CLEAN),
        ([{"kinds": ["become_leader", "become_follower"]}], Verdict.UNKNOWN),
        ([{"kinds": ["hw"]}], Verdict.UNKNOWN),
        ([{"from": SHORT}], Verdict.UNKNOWN),
        ([{"to": SHORT}], Verdict.UNKNOWN),
    ],
    ids=["all replicas", "one by its kinds", "roles alone", "no changes of the log", "lines before", "lines after"],
)
def test_a_claim_is_about_replicas_kinds_and_a_span(claim: object, verdict: Verdict, tmp_path: Path) -> None:
    found = verdicts(tmp_path, [head(complete=claim), *HEALTHY])
    assert found["truncation-below-committed"] is verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ([{"kinds": ["become_leader", "become_follower"]}], Verdict.CLEAN),
        ([{"from": "2026-01-01T09:00:00Z", "to": "2026-01-01T11:00:00Z"}], Verdict.CLEAN),
        (False, Verdict.UNKNOWN),
    ],
    ids=["roles", "a span with all lines", "nothing"],
)
def test_within_a_claim_silence_is_proof(claim: object, verdict: Verdict, tmp_path: Path) -> None:
    """Each change of a role is stated, so no epoch had two leaders. What lines may lack of the log does not matter."""
    assert verdicts(tmp_path, [head(complete=claim), *HEALTHY])["two-leaders-one-epoch"] is verdict


@pytest.mark.parametrize(
    "claim",
    [[{"replica": [1]}], [{"kinds": ["apend"]}], [{"from": "yesterday"}], [{"replicas": [-1]}], [1.5], {"replicas": 1}],
)
def test_a_claim_that_cannot_be_read_is_a_notice(claim: object, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text([head(complete=claim), *HEALTHY]))
    reasons = read(source(path.read_bytes(), "trace.jsonl")).notices.get_column("reason").to_list()
    assert any(reason.startswith('"complete" is not what it should be') for reason in reasons)


STATES = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10, leader_epoch=3, checksum="a", detail="acks=all"),
    said(2, 2, "follower_fetched", leo=0, leader=1, leader_epoch=3, leader_hw=0),
    said(2, 2, "append", offset=0, leo=10, leader_epoch=3, checksum="a"),
    said(3, 1, "state", leo=10, hw=10, lso=10, log_start=0, leader_epoch=3, isr="1,2"),
    said(3, 1, "produced", offset=0, hw=10, detail="acks=all"),
    said(4, 1, "consumed", offset=9, leader_epoch=3),
    said(4, 2, "leader_hw", leader_hw=10, hw=10),
]


def test_states_fetches_and_what_clients_saw_are_lines_of_a_trace(tmp_path: Path) -> None:
    found = verdicts(tmp_path, [head(), *STATES])
    assert {rule: found[rule] for rule in ASKED} == dict.fromkeys(ASKED, Verdict.CLEAN)


def test_a_state_with_a_high_watermark_above_the_log_end_is_a_violation(tmp_path: Path) -> None:
    """By itself: the trace claims nothing."""
    state = said(5, 2, "state", hw=15, leo=10)
    assert verdicts(tmp_path, [head(complete=False), *LEADS, state])["hw-above-leo"] is Verdict.VIOLATED


def test_what_a_consumer_read_was_committed(tmp_path: Path) -> None:
    """The trace claims nothing; broker 2 leads without the records."""
    read_first = [*STATES[:3], said(4, 1, "consumed", offset=9), said(5, 2, "become_leader", leader_epoch=4, leo=0)]
    lost = judged(tmp_path, [head(), *read_first])["committed-data-lost"]
    assert [finding.offsets for finding in lost.findings] == [((0, 10),)]


def test_a_truncation_within_a_record_batch_removes_all_of_it(tmp_path: Path) -> None:
    batch = {"offset": 0, "leo": 10, "leader_epoch": 3}
    lines = [
        *LEADS,
        said(1, 1, "append", **batch, checksum="a"),
        said(1, 2, "append", **batch, checksum="a"),
        said(2, 1, "hw", hw=10),
        said(3, 2, "truncate", offset=5, leo=10),
    ]
    for whole, first in ((True, 0), (False, 5)):
        told = [{name: value for name, value in line.items() if whole or name != "checksum"} for line in lines]
        (finding,) = judged(tmp_path, [head(), *told])["truncation-below-committed"].findings
        assert finding.offsets == ((first, 10),)


def test_two_leaders_of_one_epoch_that_both_write_hold_different_records(tmp_path: Path) -> None:
    lines = [
        *LEADS,
        said(1, 1, "append", offset=0, leo=4),
        said(1, 1, "hw", hw=4),
        said(2, 2, "become_leader", leader_epoch=3, leo=0, isr="2"),
        said(3, 2, "append", offset=0, leo=4),
        said(3, 2, "hw", hw=4),
    ]
    found = judged(tmp_path, [head(), *lines])
    assert found["two-leaders-one-epoch"].verdict is Verdict.VIOLATED
    (finding,) = found["replica-divergence"].findings
    assert finding.offsets == ((0, 4),)


def test_a_log_that_is_removed_whole_loses_what_was_committed(tmp_path: Path) -> None:
    wiped = [
        said(5, 1, "process_start"),
        said(5, 1, "log_created"),
        said(6, 1, "become_leader", leader_epoch=4, leo=0, isr="1"),
        said(7, 2, "become_follower", leader=1, leader_epoch=4, leo=10),
        said(8, 2, "truncate_full", offset=0),
    ]
    found = judged(tmp_path, [head(), *HEALTHY, *wiped])
    for rule in ("committed-data-lost", "truncation-below-committed"):
        assert [finding.offsets for finding in found[rule].findings] == [((0, 10),)], rule


def test_what_the_leader_deleted_from_the_beginning_is_not_lost(tmp_path: Path) -> None:
    deleted = [said(5, 1, "log_start", log_start=10), said(6, 2, "truncate_full", offset=10)]
    found = judged(tmp_path, [head(), *HEALTHY, *deleted])
    assert found["truncation-below-committed"].verdict is Verdict.CLEAN
