"""The ISR and the last stable offset of a trace: members behind the high watermark, elections, transactions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence
from forensics.rules.finding import Judgement, Verdict
from tests.rules.request_lines import fetch_answered
from tests.rules.traced import LEADS, Line, judged, said

LOG_KINDS = ("log_created", "log_loaded", "append", "truncate", "hw")

BEHIND, UNCLEAN, STABLE = "hw-above-isr-member", "unclean-election", "lso-above-hw"


def head(**fields: Any) -> Line:
    return {"kind": "trace", "replicas": [1, 2], "cluster": "one", "release": "3.9.1", "complete": True, **fields}


def leads(second: float, witness: int, epoch: int, **values: Any) -> Line:
    return said(second, witness, "become_leader", leader_epoch=epoch, **values)


def follows(second: float, witness: int, leader: int, epoch: int, **values: Any) -> Line:
    return said(second, witness, "become_follower", leader=leader, leader_epoch=epoch, **values)


STORY = [
    head(),
    leads(0, 1, 3, leo=0, hw=0, isr="1,2"),
    follows(0, 2, 1, 3, leo=0, hw=0),
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=6),
]


def of(rule: str, found: dict[str, Judgement]) -> tuple[str, list[tuple[tuple[int, ...], Any]]]:
    return found[rule].verdict.value, [(one.replicas, one.offsets) for one in found[rule].findings]


def test_a_member_of_the_isr_is_behind_the_high_watermark(tmp_path: Path) -> None:
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=10)])
    assert of(BEHIND, found) == ("violated", [((1, 2), ((6, 10),))])


@pytest.mark.parametrize(
    "between",
    [
        [],  # the high watermark is that of the member
        [said(2.1, 1, "isr_shrink", isr="1", isr_before="1,2", hw=6, leo=10), said(2.2, 1, "isr_commit")],
        [said(2.1, 2, "append", offset=6, leo=10)],
    ],
)
def test_a_member_that_is_not_behind_is_clean(between: list[Line], tmp_path: Path) -> None:
    found = judged(tmp_path, [*STORY, *between, said(3, 1, "hw", hw=10 if between else 6)])
    assert of(BEHIND, found) == ("clean", [])


def test_a_smaller_isr_counts_when_it_is_committed(tmp_path: Path) -> None:
    shrinks = said(2.1, 1, "isr_shrink", isr="1", isr_before="1,2", leo=10)
    late = [*STORY, shrinks, said(3, 1, "hw", hw=10), said(4, 1, "isr_commit", isr="1")]
    assert of(BEHIND, judged(tmp_path / "late", late)) == ("violated", [((1, 2), ((6, 10),))])
    # Where a trace states no commits, the leader's change counts.
    assert of(BEHIND, judged(tmp_path / "none", [*STORY, shrinks, said(3, 1, "hw", hw=10)])) == ("clean", [])


def test_a_leader_from_outside_the_isr_is_unclean(tmp_path: Path) -> None:
    alone = [said(2.1, 1, "isr_shrink", isr="1", isr_before="1,2", leo=10), said(2.2, 1, "isr_commit", isr="1")]
    taken = [leads(5, 2, 4, leo=6, hw=0, isr="2"), follows(6, 1, 2, 4, leo=10, hw=10), said(6, 1, "truncate", offset=6)]
    found = judged(tmp_path / "outside", [*STORY, *alone, said(3, 1, "hw", hw=10), *taken])
    assert of(UNCLEAN, found) == ("violated", [((2,), ())])
    assert of("committed-data-lost", found)[0] == "violated"
    within = judged(tmp_path / "within", [*STORY, said(3, 1, "hw", hw=6), *taken])
    assert of(UNCLEAN, within) == ("clean", [])


def test_an_election_names_the_isr_that_it_makes(tmp_path: Path) -> None:
    """The controller's line and the leader's are about one election: the ISR before both of them counts."""
    elects = said(4.9, 9, "election", leader=2, leader_epoch=4, isr="2")
    taken = [elects, leads(5, 2, 4, leo=6, hw=0, isr="2"), follows(6, 1, 2, 4, leo=10, hw=6)]
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6), *taken, said(6, 1, "truncate", offset=6)])
    assert of(UNCLEAN, found) == ("clean", [])


def test_without_an_isr_both_rules_are_not_applicable(tmp_path: Path) -> None:
    lines = [{name: value for name, value in line.items() if name != "isr"} for line in STORY]
    found = judged(tmp_path, [*lines, said(3, 1, "hw", hw=10)])
    assert {found[rule].verdict for rule in (BEHIND, UNCLEAN)} == {Verdict.NOT_APPLICABLE}


def test_an_election_before_which_no_isr_is_stated_stays_open(tmp_path: Path) -> None:
    lines = [{name: value for name, value in line.items() if name != "isr"} for line in STORY]
    found = judged(tmp_path, [*lines, leads(5, 2, 4, leo=6, hw=0, isr="1,2"), follows(6, 1, 2, 4, leo=10, hw=0)])
    assert found[UNCLEAN].verdict is Verdict.UNKNOWN


# -- the last stable offset ------------------------------------------------------------------------


def stable(second: float, value: int, **values: Any) -> Line:
    return said(second, 1, "state", last_stable_offset=value, **values)


def test_a_last_stable_offset_above_the_high_watermark(tmp_path: Path) -> None:
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6), stable(4, 8)])
    assert of(STABLE, found) == ("violated", [((1,), ((6, 8),))])


def test_one_line_decides_without_a_claim(tmp_path: Path) -> None:
    found = judged(tmp_path, [head(complete=False), *STORY[1:], stable(4, 8, hw=6)])
    assert of(STABLE, found) == ("violated", [((1,), ((6, 8),))])
    two = judged(tmp_path / "two", [head(complete=False), *STORY[1:], said(3, 1, "hw", hw=6), stable(4, 8)])
    assert found[STABLE].verdict is Verdict.VIOLATED
    assert of(STABLE, two) == ("unknown", [])  # the high watermark may have risen between the two


def test_a_trace_that_contradicts_itself_claims_nothing_of_the_high_watermark(tmp_path: Path) -> None:
    """Appends at offsets 10 to 29 have no line, so that a line of the high watermark may be missing too."""
    lines = [*STORY, said(3, 1, "hw", hw=6), stable(4, 8), said(5, 1, "append", offset=30, leo=40)]
    assert of(STABLE, judged(tmp_path, lines)) == ("unknown", [])
    one = [*STORY, stable(4, 8, hw=6), said(5, 1, "append", offset=30, leo=40)]
    assert of(STABLE, judged(tmp_path / "one", one)) == ("violated", [((1,), ((6, 8),))])


def test_a_last_stable_offset_that_falls(tmp_path: Path) -> None:
    lines = [*STORY, said(3, 1, "hw", hw=6), stable(4, 5), stable(5, 3)]
    assert of(STABLE, judged(tmp_path / "whole", lines)) == ("violated", [((1,), ((3, 5),))])
    partly = [head(complete=False), *lines[1:]]
    answer = judged(tmp_path / "partly", partly)[STABLE]  # it may have restarted in between
    assert answer.verdict is Verdict.UNKNOWN
    assert [(one.offsets, one.confidence) for one in answer.findings] == [(((3, 5),), Confidence.SUSPECTED)]


def test_a_leader_that_is_made_one_again_keeps_its_last_stable_offset(tmp_path: Path) -> None:
    again = leads(4.5, 1, 3, leo=10, hw=6, isr="1,2")
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6), stable(4, 5), again, stable(5, 3)])
    assert of(STABLE, found) == ("violated", [((1,), ((3, 5),))])


@pytest.mark.parametrize(
    "begins",
    [
        [said(4.5, 1, "process_start"), leads(4.7, 1, 3, leo=10, hw=3, isr="1,2")],
        [said(4.5, 1, "process_start"), said(4.6, 1, "log_loaded", leo=10), leads(4.7, 1, 4, leo=10, hw=3, isr="1,2")],
        [leads(4.5, 1, 4, leo=10, hw=3, isr="1,2")],
    ],
)
def test_a_new_process_or_epoch_may_begin_lower(begins: list[Line], tmp_path: Path) -> None:
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6), stable(4, 5), *begins, stable(5, 3)])
    assert of(STABLE, found) == ("clean", [])


def test_an_open_transaction_holds_it_back(tmp_path: Path) -> None:
    found = judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6), stable(4, 2), stable(5, 2), stable(6, 6)])
    assert of(STABLE, found) == ("clean", [])


def test_it_is_not_applicable_where_no_line_states_it(tmp_path: Path, sample_traces: Path) -> None:
    assert judged(tmp_path, [*STORY, said(3, 1, "hw", hw=6)])[STABLE].verdict is Verdict.NOT_APPLICABLE
    (partition,) = scan([str(sample_traces / "crashscene-1.1.1")]).partitions
    assert partition.judgements[STABLE].verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(("value", "expected"), [(8, ("violated", [((1,), ((6, 8),))])), (4, ("unknown", []))])
def test_a_request_log_has_both_values(value: int, expected: object, tmp_path: Path) -> None:
    path = tmp_path / "broker-1" / "kafka-request.log"
    path.parent.mkdir()
    path.write_text(f"[2026-01-01 10:00:00,000] {fetch_answered(6, value)}\n")
    (partition,) = scan([str(tmp_path)]).partitions
    assert of(STABLE, partition.judgements) == expected


@pytest.mark.parametrize(("number", "in_order"), [(1, False), (5, True)])
def test_changes_whose_partition_epochs_fall_are_in_another_order(number: int, in_order: bool, tmp_path: Path) -> None:
    """Each change of leader or ISR raises the partition epoch. If it falls, the time of a line is wrong."""
    lines = [
        *LEADS,
        said(1, 1, "isr_shrink", isr="1"),
        said(2, 1, "isr_commit", isr="1", partition_epoch=3),
        said(3, 9, "election", leader=2, leader_epoch=4, isr="2", partition_epoch=number),
    ]
    whole = {"kind": "trace", "system": "kafka", "cluster": "one", "replicas": [1, 2], "complete": True}
    answers = judged(tmp_path, [whole, *lines])
    gaps = [gap.summary for gap in answers["evidence-gap"].findings]
    stated = "line 6: broker 9 states partition epoch 1, after 3 in the lines before"
    assert [stated in gap for gap in gaps] == ([] if in_order else [True])
    expected = Verdict.VIOLATED if in_order else Verdict.UNKNOWN
    assert answers["unclean-election"].verdict is expected


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (True, Verdict.CLEAN),
        ([{"kinds": ["become_leader", "become_follower", *LOG_KINDS]}], Verdict.UNKNOWN),
    ],
)
def test_a_claim_of_some_kinds_leaves_changes_of_the_isr_open(claim: object, verdict: Verdict, tmp_path: Path) -> None:
    """The ISR may have become smaller before broker 2 was elected."""
    whole = {"kind": "trace", "system": "kafka", "cluster": "one", "replicas": [1, 2], "complete": claim}
    lines = [
        *LEADS,
        said(1, 2, "become_leader", leader_epoch=4, leo=0, isr="2"),
        said(2, 1, "become_follower", leader=2, leader_epoch=4, leo=0),
    ]
    answers = judged(tmp_path, [whole, *lines])
    assert answers["unclean-election"].verdict is verdict
    assert answers["two-leaders-one-epoch"].verdict is Verdict.CLEAN  # the roles are claimed


# -- eligible leader replicas (KIP-966) -------------------------------------------------------------------------------


def left_alone(second_end: int, *, high_watermark: int, elected: bool, **fields: Any) -> list[Line]:
    """Broker 2 leaves the ISR; broker 1, alone in it, goes away; broker 2 leads from outside the ISR."""
    election = said(9, 9, "election", leader=2, leader_epoch=4, isr="2")
    return [
        head(**{"release": "4.1.1", **fields}),
        *STORY[1:4],
        said(2, 2, "append", offset=0, leo=second_end),
        said(4, 1, "isr_shrink", isr="1", isr_before="1,2"),
        said(5, 1, "isr_commit", isr="1"),
        said(6, 1, "hw", hw=high_watermark),
        *([election] if elected else []),
        leads(10, 2, 4, leo=second_end, hw=min(second_end, high_watermark), isr="2"),
    ]


MIN_ISR_1, MIN_ISR_2 = {"min.insync.replicas": "1"}, {"min.insync.replicas": "2"}


@pytest.mark.parametrize(
    ("story", "verdict"),
    [
        # A controller's line states an election that is not unclean: broker 2 was eligible, and has everything.
        (left_alone(10, high_watermark=10, elected=True, settings=MIN_ISR_2), "clean"),
        (left_alone(10, high_watermark=10, elected=True), "clean"),
        # No line says how it was elected.
        (left_alone(10, high_watermark=10, elected=False, settings=MIN_ISR_2), "unknown"),
        # An eligible leader replica has all committed records.
        (left_alone(6, high_watermark=10, elected=False), "violated"),
        (left_alone(6, high_watermark=10, elected=True), "violated"),
        # With min.insync.replicas 1 no replica becomes one while another is in the ISR.
        (left_alone(10, high_watermark=10, elected=False, settings=MIN_ISR_1), "violated"),
        (left_alone(10, high_watermark=10, elected=True, release="3.9.1"), "violated"),
    ],
)
def test_a_leader_from_outside_the_isr_may_be_an_eligible_replica(
    story: list[Line], verdict: str, tmp_path: Path
) -> None:
    assert judged(tmp_path, story)[UNCLEAN].verdict.value == verdict
