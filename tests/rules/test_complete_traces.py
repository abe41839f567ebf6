"""A trace that claims to state each change: an absent line proves something there, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.reports.collecting import commands, wanted
from forensics.rules.finding import Verdict
from forensics.rules.wants import Question
from forensics.rules.wording import want_text
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
        said(5, 1, "append", offset=10, leo=12),
        said(5, 2, "append", offset=10, leo=12),
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
    assert (places[True], places[False] > 0) == (0, True)


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
    assert any(reason.startswith('"complete" ') for reason in reasons)


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


@pytest.mark.parametrize(
    ("line", "broker", "after"),
    [
        (said(5, 1, "leo", leo=7), 1, 7),
        (said(5, 2, "leo", leo=7), 2, 7),
        (said(5, 2, "state", leo=7), 2, 7),
        (said(5, 2, "become_follower", leader=1, leader_epoch=3, leo=7), 2, 7),
        (said(5, 2, "append", offset=5, leo=8), 2, 8),
    ],
    ids=["leader", "follower", "state", "role", "append"],
)
def test_a_log_that_ends_lower_without_a_line_is_a_regression(
    line: Line, broker: int, after: int, tmp_path: Path
) -> None:
    answers = judged(tmp_path, [head(), *LEADS, *HEALTHY[2:4], line])
    (finding,) = answers["leo-regression"].findings
    assert (finding.replicas, finding.offsets, finding.confidence.value) == ((broker,), ((after, 10),), "proven")
    assert finding.before == {"log_end_offset": 10}
    found = {rule for rule, answer in answers.items() if answer.verdict is Verdict.VIOLATED}
    assert found == {"leo-regression"}
    assert {answer.verdict for answer in answers.values()} == {
        Verdict.VIOLATED,
        Verdict.CLEAN,
        Verdict.NOT_APPLICABLE,
    }


def test_a_leader_whose_log_ends_lower_has_lost_what_was_committed(tmp_path: Path) -> None:
    answers = judged(tmp_path, [head(), *HEALTHY, said(5, 1, "leo", leo=7)])
    (loss,) = answers["committed-data-lost"].findings
    assert (loss.offsets, loss.replicas) == (((7, 10),), (2,))
    assert "became shorter while it led" in loss.summary


CONTRADICTIONS = {
    "gap": ([said(5, 2, "append", offset=14, leo=20)], "appends from offset 14 on"),
    "end": ([said(5, 2, "leo", leo=20)], "states log end offset 20"),
    "ahead": ([said(5, 2, "append", offset=10, leo=15)], "broker 1, its leader, has none there"),
    "again": ([said(5, 1, "append", offset=5, leo=10)], "appends from offset 5 on"),
    "epoch": ([said(5, 1, "append", offset=10, leo=15, leader_epoch=9)], "appends records of leader epoch 9"),
    "role": ([said(5, 2, "become_leader", leader_epoch=2, leo=10)], "takes a role in leader epoch 2"),
    "truncation": ([said(5, 2, "truncate", offset=10, leo=12)], "truncates from 12 to 10"),
    "entry": ([said(5, 2, "epoch_entry", leader_epoch=2, offset=4)], "has an entry of leader epoch 2"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_nothing_is_clean_in_a_trace_that_contradicts_itself(name: str, tmp_path: Path) -> None:
    lines, text_of = CONTRADICTIONS[name]
    answers = judged(tmp_path, [head(), *HEALTHY, *lines])
    decided = {rule: answer.verdict for rule, answer in answers.items() if answer.verdict is not Verdict.UNKNOWN}
    assert decided.pop("evidence-gap") is Verdict.VIOLATED
    assert {*decided.values()} == {Verdict.NOT_APPLICABLE}
    (gap,) = answers["evidence-gap"].findings
    (fact,) = [one for one in gap.facts if text_of in one.text]
    assert fact.text.startswith(f"line {2 + len(HEALTHY)}: broker ")
    (evidence,) = [one for one in gap.evidence if text_of in one.note]
    assert evidence.line == 2 + len(HEALTHY)
    for answer in answers.values():
        if answer.verdict is Verdict.UNKNOWN:
            assert answer.missing[0].question is Question.CONSISTENT_TRACE, answer.rule


def test_what_contradictory_lines_show_counts(tmp_path: Path) -> None:
    """No broker led epoch 6, but both replicas state a high watermark above its records."""
    lines = [
        said(5, 2, "append", offset=10, leo=15, leader_epoch=6),
        said(5, 1, "append", offset=10, leo=15),
        said(6, 1, "hw", hw=15),
        said(6, 2, "hw", hw=15),
    ]
    answers = judged(tmp_path, [head(), *HEALTHY, *lines])
    for rule in ("replica-divergence", "epoch-divergence"):
        (finding,) = answers[rule].findings
        assert (finding.offsets, finding.epochs, finding.confidence.value) == (((10, 15),), (3, 6), "proven"), rule
    assert answers["committed-data-lost"].verdict is Verdict.UNKNOWN


def test_records_over_those_of_another_epoch_are_a_fork(tmp_path: Path) -> None:
    over = [said(5, 2, "append", offset=6, leo=10, leader_epoch=2), said(6, 2, "hw", hw=10)]
    answers = judged(tmp_path, [head(), *HEALTHY, *over])
    assert {finding.offsets for finding in answers["epoch-divergence"].findings} == {((6, 10),)}
    assert [finding.offsets for finding in answers["leo-regression"].findings] == [((6, 10),)]


BEGUN = [
    *(said(0, one, "log_loaded", leo=100, log_start=20) for one in (1, 2)),
    *(said(0, one, "hw_loaded", hw=100) for one in (1, 2)),
    said(1, 1, "become_leader", leader_epoch=5, leo=100, hw=100, isr="1,2"),
    said(1, 2, "become_follower", leader=1, leader_epoch=5, leo=100, hw=100),
]
"""Two replicas that begin with the records 20 to 99."""


@pytest.mark.parametrize(
    ("lines", "violated"),
    [
        ([], {}),
        ([said(2, 1, "append", offset=100, leo=110), said(2, 2, "append", offset=100, leo=110)], {}),
        ([said(2, 1, "hw", hw=90)], {"hw-regression": ()}),
        (
            [said(2, 2, "truncate", offset=70)],
            {"truncation-below-committed": ((70, 100),), "hw-above-isr-member": ((70, 100),)},
        ),
        (
            [said(2, 2, "process_start"), said(2, 2, "log_loaded", leo=88)],
            {"leo-regression": ((88, 100),), "hw-above-isr-member": ((88, 100),)},
        ),
        (
            [
                said(2, 2, "truncate", offset=80),
                said(3, 2, "become_leader", leader_epoch=6, leo=80, hw=80, isr="2"),
                said(4, 1, "become_follower", leader=2, leader_epoch=6, leo=100),
            ],
            {
                "truncation-below-committed": ((80, 100),),
                "hw-above-isr-member": ((80, 100),),
                "committed-data-lost": ((80, 100),),
            },
        ),
    ],
    ids=["healthy", "more", "hw", "truncation", "restart", "loss"],
)
def test_a_trace_that_begins_with_records_is_decided(
    lines: list[Line], violated: dict[str, Any], tmp_path: Path
) -> None:
    answers = judged(tmp_path, [head(), *BEGUN, *lines])
    found = {rule: answer.findings[0].offsets for rule, answer in answers.items() if answer.findings}
    assert found == violated
    assert Verdict.UNKNOWN not in {answer.verdict for answer in answers.values()}


def test_what_was_committed_before_the_trace_can_be_lost(tmp_path: Path) -> None:
    """Broker 1 has read back that offsets below 100 are committed; broker 2 leads without the last 20."""
    lines = [
        said(0, 1, "log_loaded", leo=100),
        said(0, 1, "hw_loaded", hw=100),
        said(0, 2, "log_loaded", leo=80),
        said(0, 2, "hw_loaded", hw=80),
        said(1, 2, "become_leader", leader_epoch=6, leo=80, hw=80, isr="2"),
        said(2, 1, "become_follower", leader=2, leader_epoch=6, leo=100),
    ]
    (loss,) = judged(tmp_path, [head(), *lines])["committed-data-lost"].findings
    assert loss.offsets == ((80, 100),)


def test_an_entry_of_an_epoch_and_its_records_begin_at_one_offset(tmp_path: Path) -> None:
    same, other = (said(5, 2, "epoch_entry", leader_epoch=3, offset=at) for at in (0, 3))
    assert verdicts(tmp_path, [head(), *HEALTHY, same])["epoch-divergence"] is Verdict.CLEAN
    (finding,) = judged(tmp_path, [head(), *HEALTHY, other])["epoch-divergence"].findings
    assert (finding.offsets, finding.epochs) == (((0, 3),), (3,))


def test_an_entry_that_was_built_after_a_restart_may_begin_later(tmp_path: Path) -> None:
    again = [
        said(5, 2, "process_start"),
        said(5, 2, "unclean_restart"),
        said(5, 2, "log_loaded", leo=10),
        said(5, 2, "epoch_entry", leader_epoch=3, offset=3),
    ]
    assert verdicts(tmp_path, [head(), *HEALTHY, *again])["epoch-divergence"] is Verdict.CLEAN


@pytest.mark.parametrize("again", [False, True])
def test_what_was_truncated_is_fetched_again_only_if_a_line_says_so(again: bool, tmp_path: Path) -> None:
    lines = [*HEALTHY, said(5, 2, "truncate", offset=6), *([said(6, 2, "append", offset=6, leo=10)] if again else [])]
    (finding,) = judged(tmp_path, [head(), *lines])["truncation-below-committed"].findings
    assert finding.summary.endswith("broker 1 still had them, and they were fetched again") == again
    assert "broker 1 still had them" in finding.summary


def test_the_first_line_counts_as_one(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text(text([head(settings={"min.insync.replicas": 2}), *HEALTHY]))
    sources = scan([str(tmp_path)]).case.sources
    assert sources.select("lines", "relevant", "understood").rows() == [(7, 7, 7)]


@pytest.mark.parametrize("said", [{"system": "etcd"}, {"system": "kafka", "release": "3.9.1"}, {}])
def test_where_traces_alone_are_the_evidence_lines_of_a_trace_would_answer(
    said: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "trace.jsonl").write_text(text([{"kind": "trace", "replicas": [1, 2], **said}, *HEALTHY]))
    result = scan([str(tmp_path)])
    asked = {want_text(one.want, "orders-0") for one in wanted(result)}
    kinds = "become_leader, become_follower, append, truncate and hw"
    lacking = f'every line of broker 1 of the kinds {kinds}, and "complete" in the first line for them'
    assert f"{lacking}: its trace does not claim to state each change" in asked
    assert [one for one in asked if re.search(r"server\.log|checkpoint|segment|director|kafka", one)] == []
    assert commands(result, wanted(result)) == []


def test_a_member_of_the_isr_has_the_records_with_which_it_begins(tmp_path: Path) -> None:
    """The leader states its high watermark before the other replica states what it holds."""
    lines = [
        said(0, 1, "become_leader", leader_epoch=5, leo=100, hw=100, isr="1,2"),
        said(1, 2, "become_follower", leader=1, leader_epoch=5, leo=100, hw=100),
    ]
    assert verdicts(tmp_path, [head(), *lines])["hw-above-isr-member"] is Verdict.CLEAN
    behind = [lines[0], lines[1] | {"leo": 90, "hw": 90}]
    (finding,) = judged(tmp_path, [head(), *behind])["hw-above-isr-member"].findings
    assert finding.offsets == ((90, 100),)


def test_a_line_about_a_process_may_name_a_partition(tmp_path: Path) -> None:
    """A program adds topic and partition to each line. Broker 2 was killed, so that it did not stop cleanly."""
    back = [
        said(5, 2, "process_start"),
        said(5, 2, "unclean_restart"),
        said(6, 2, "log_loaded", leo=6),
        said(7, 2, "become_follower", leader=1, leader_epoch=3, leo=6),
    ]
    (found,) = judged(tmp_path / "with", [head(), *HEALTHY, *back])["leo-regression"].findings
    bare = [{name: value for name, value in line.items() if name not in ("topic", "partition")} for line in back[:2]]
    (same,) = judged(tmp_path / "without", [head(), *HEALTHY, *bare, *back[2:]])["leo-regression"].findings
    assert (found.summary, found.cause) == (same.summary, same.cause)
    assert found.cause == "unflushed-tail"


def entries(*of: tuple[int, int, int]) -> list[Line]:
    """Both replicas begin with 10 committed records; then they state epoch entries: witness, leader epoch, offset."""
    held = [said(0, broker, "log_loaded", leo=10) for broker in (1, 2)]
    marks = [said(1, broker, "hw", hw=10) for broker in (1, 2)]
    return [*held, *marks, *(said(2, one, "epoch_entry", leader_epoch=epoch, offset=start) for one, epoch, start in of)]


@pytest.mark.parametrize(
    ("of", "epochs", "offsets"),
    [
        ([(1, 1, 0), (1, 3, 5), (2, 1, 0), (2, 2, 5)], (2, 3), ((5, 10),)),
        ([(1, 2, 0), (2, 3, 0)], (2, 3), ((0, 10),)),
        ([(1, 1, 0), (1, 2, 4), (2, 3, 2)], (1, 3), ((2, 10),)),
        ([(1, 1, 0), (2, 1, 0), (2, 3, 5)], (1, 3), ((5, 10),)),  # each entry of broker 1 would be stated
        ([(1, 1, 0), (1, 2, 3), (1, 3, 5), (2, 1, 0), (2, 3, 5)], (1, 2), ((3, 5),)),
        ([(1, 1, 0), (1, 2, 5), (2, 1, 0), (2, 2, 7)], (1, 2), ((5, 7),)),
    ],
)
def test_epoch_entries_show_that_lineages_disagree(
    of: list[tuple[int, int, int]], epochs: tuple[int, int], offsets: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    answers = judged(tmp_path, [head(), *entries(*of)])
    found = [one for one in answers["epoch-divergence"].findings if one.subject == "lines"]
    assert [(one.offsets, one.epochs, one.replicas) for one in found] == [(offsets, epochs, (1, 2))]
    (apart,) = answers["replica-divergence"].findings
    assert apart.offsets == offsets


@pytest.mark.parametrize(
    "of",
    [
        [(1, 1, 0), (1, 3, 5), (2, 1, 0), (2, 3, 5)],
        [(2, 1, 0), (2, 3, 5)],  # broker 1 states none
        [(1, 1, 0), (1, 3, 5), (2, 3, 7)],  # retention removed the first entries of broker 2
        [(1, 1, 0), (1, 2, 5), (1, 3, 5), (2, 1, 0), (2, 3, 5)],  # epoch 2 has no record
        [(1, 3, 10), (2, 2, 10)],  # nor have these
    ],
)
def test_epoch_entries_that_can_be_of_one_lineage_do_not_disagree(
    of: list[tuple[int, int, int]], tmp_path: Path
) -> None:
    answers = judged(tmp_path, [head(), *entries(*of)])
    assert answers["epoch-divergence"].verdict is Verdict.CLEAN
    assert answers["replica-divergence"].verdict is Verdict.CLEAN


def test_a_leader_without_records_that_only_entries_tell_apart_has_lost_them(tmp_path: Path) -> None:
    """A high watermark that a process reads back covers the records of its own log, whatever is stated of these later.

    The leader keeps its log, so broker 2 alone has the records of epoch 2.
    """
    roles = [
        said(3, 1, "become_leader", leader_epoch=4, leo=10, hw=10),
        said(3, 2, "become_follower", leader_epoch=4, leader=1, leo=10, hw=10),
    ]
    told = entries((1, 1, 0), (1, 3, 5), (2, 1, 0), (2, 2, 5))
    for lines in (
        [*told, *roles],
        [*told[:4], *roles, *(line | {"time": said(4, 1, "hw")["time"]} for line in told[4:])],
    ):
        (lost,) = judged(tmp_path, [head(), *lines])["committed-data-lost"].findings
        assert (lost.offsets, lost.epochs) == (((5, 10),), (2, 4))
        assert "Broker 2 still has them" in lost.summary


def test_a_replica_whose_lineage_is_not_stated_leaves_open_which_records_it_has(tmp_path: Path) -> None:
    told = [said(0, 3, "log_loaded", leo=10), *entries((1, 1, 0), (1, 3, 5), (2, 1, 0), (2, 2, 5))]
    answers = judged(tmp_path, [head(replicas=[1, 2, 3]), *told])
    (found,) = answers["epoch-divergence"].findings
    assert (found.replicas, found.offsets) == ((1, 2), ((5, 10),))
    assert answers["committed-data-lost"].verdict is Verdict.UNKNOWN
    assert "broker 3 has offset 5" in answers["evidence-gap"].findings[0].facts[0].text


def test_entries_that_a_process_states_replace_those_before(tmp_path: Path) -> None:
    """A process that was killed may have lost its epoch file: its entries then begin with what it recovered."""
    told = entries((1, 1, 0), (1, 3, 5), (2, 1, 0), (2, 3, 5))
    back = [
        said(4, 2, "process_start"),
        said(5, 2, "log_loaded", leo=10),
        said(6, 2, "epoch_entry", leader_epoch=3, offset=7),
    ]
    assert judged(tmp_path, [head(), *told, *back])["replica-divergence"].verdict is Verdict.CLEAN


def test_a_follower_states_the_epochs_of_records_with_which_its_leader_began(tmp_path: Path) -> None:
    leader = [
        said(0, 1, "log_loaded", leo=10),
        said(0, 1, "epoch_entry", leader_epoch=2, offset=0),
        said(1, 1, "become_leader", leader_epoch=3, leo=10, hw=10),
        said(1, 2, "become_follower", leader_epoch=3, leader=1, leo=0),
    ]
    for epoch, verdict in ((2, Verdict.CLEAN), (1, Verdict.UNKNOWN)):
        fetched = said(2, 2, "append", offset=0, leo=10, leader_epoch=epoch)
        assert judged(tmp_path, [head(), *leader, fetched])["truncation-below-committed"].verdict is verdict


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("hw-regression", [said(5, 2, "hw_checkpoint", hw=10), said(6, 2, "process_start"), said(7, 2, "hw_missing")]),
        ("hw-regression", [said(5, 1, "hw", hw=8)]),
        ("leo-regression", [said(5, 2, "leo", leo=7)]),
        ("leo-regression", [said(5, 2, "append", offset=4, leo=6, leader_epoch=4)]),
    ],
)
def test_a_claimed_replica_is_judged_by_itself(rule: str, lines: list[Line], tmp_path: Path) -> None:
    """The trace claims nothing of the other one, so that the partition is not played."""
    (broker,) = {line["witness"] for line in lines}
    answers = judged(tmp_path / "it", [head(complete=[broker]), *HEALTHY, *lines])
    assert [one.replicas for one in answers[rule].findings] == [(broker,)]
    assert answers[rule].verdict is Verdict.VIOLATED
    other = judged(tmp_path / "other", [head(complete=[3 - broker]), *HEALTHY, *lines])
    assert other[rule].verdict is Verdict.UNKNOWN


def test_a_claimed_replica_that_contradicts_itself_shows_nothing_alone(tmp_path: Path) -> None:
    gap = [said(4, 2, "append", offset=14, leo=16)]
    lines = [said(5, 2, "hw_checkpoint", hw=10), *gap, said(6, 2, "process_start"), said(7, 2, "hw_missing")]
    assert judged(tmp_path, [head(complete=[2]), *HEALTHY, *lines])["hw-regression"].verdict is Verdict.UNKNOWN


NODES = """get /brokers/topics/orders/partitions/0/state
{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":3,"isr":[1,2]}
"""
STARTED = "[2026-01-01 10:00:00,000] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)\n"


@pytest.mark.parametrize(
    ("name", "beside", "verdict"),
    [
        ("zookeeper.txt", NODES, Verdict.NOT_APPLICABLE),
        ("server.properties", "broker.id=1\nmin.insync.replicas=1\n", Verdict.NOT_APPLICABLE),
        ("broker-1/server.log", STARTED, Verdict.UNKNOWN),
    ],
)
def test_no_rule_about_files_is_clean_beside_a_complete_trace(
    name: str, beside: str, verdict: Verdict, tmp_path: Path
) -> None:
    """Neither the trace nor what is beside it shows a byte of a segment or a directory."""
    (tmp_path / "trace.jsonl").write_text(text([head(), *HEALTHY]))
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(beside)
    (partition,) = scan([str(tmp_path)]).partitions
    assert {partition.judgements[rule].verdict for rule in BYTES} == {verdict}
    assert partition.judgements["committed-data-lost"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    "line",
    [
        said(6, 1, "consumed", offset=11),
        said(6, 1, "produced", offset=10, hw=12, detail="acks=all"),
    ],
)
def test_what_clients_saw_is_compared_with_members_of_the_isr(line: Line, tmp_path: Path) -> None:
    """The high watermark of the leader was at least 12, and broker 2, which is in the ISR, has 10 records."""
    grown = [*HEALTHY, said(5, 1, "append", offset=10, leo=12)]
    (found,) = judged(tmp_path / "behind", [head(), *grown, line])["hw-above-isr-member"].findings
    assert found.offsets == ((10, 12),)
    level = [*grown, said(5.5, 2, "append", offset=10, leo=12), line]
    assert judged(tmp_path / "level", [head(), *level])["hw-above-isr-member"].verdict is Verdict.CLEAN
    less = [said(6, 1, "produced", offset=11, detail="acks=1"), said(6, 2, "consumed", offset=9)]
    assert judged(tmp_path / "less", [head(), *grown, *less])["hw-above-isr-member"].verdict is Verdict.CLEAN
