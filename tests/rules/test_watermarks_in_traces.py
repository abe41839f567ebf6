"""Every line of a complete trace that states a high watermark says what is committed, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.replay.traces.high_watermarks import STATING, Field, Whose
from forensics.rules.finding import Judgement, Severity, Verdict
from parsers.formats.trace_kinds import COLUMN_OF, OF_KIND, STATEMENTS
from parsers.schema import Kind
from tests.rules.traced import LEADS, Line, judged, said

HEAD: Line = {"kind": "trace", "system": "kafka", "cluster": "one", "replicas": [1, 2], "complete": True}
LOST = "committed-data-lost"
TRUNCATED = "truncation-below-committed"
BEHIND = "hw-above-isr-member"


def leads(second: float, broker: int, epoch: int, end: int, hw: int | None = 0, isr: str = "1,2") -> Line:
    stated = {"leader_epoch": epoch, "leo": end, "isr": isr} | ({"hw": hw} if hw is not None else {})
    return said(second, broker, "become_leader", **stated)


def follows(second: float, broker: int, leader: int, epoch: int, end: int, hw: int | None = 0) -> Line:
    stated = {"leader": leader, "leader_epoch": epoch, "leo": end} | ({"hw": hw} if hw is not None else {})
    return said(second, broker, "become_follower", **stated)


BEGIN = [leads(0, 1, 1, 0), follows(0, 2, 1, 1, 0)]


def appended(second: float, one: int, two: int) -> list[Line]:
    """Both logs, as far as each reaches."""
    return [said(second, 1, "append", offset=0, leo=one), said(second, 2, "append", offset=0, leo=two)]


def failover(second: float, end: int, to: int, hw: int | None) -> list[Line]:
    """Broker 2 is elected with a shorter log, and broker 1 follows it."""
    return [
        leads(second, 2, 2, to, to, "2"),
        follows(second + 1, 1, 2, 2, end, hw),
        said(second + 2, 1, "truncate", offset=to),
    ]


def ranges(answers: dict[str, Judgement], rule: str) -> list[tuple[tuple[int, int], ...]]:
    return [finding.offsets for finding in answers[rule].findings]


def violated(answers: dict[str, Judgement]) -> set[str]:
    return {rule for rule, answer in answers.items() if answer.verdict is Verdict.VIOLATED}


def test_the_table_names_every_field_that_states_a_high_watermark() -> None:
    """A consumer's offset is one below the least that the high watermark can be; the reader fills it in."""
    names = ("high_watermark", "leader_high_watermark")
    fields = {(one.kind, COLUMN_OF[name]) for one in STATEMENTS for name in names if name in (*one.needs, *one.may)} | {
        (Kind.CONSUMED, "hw")
    }
    assert {(one.kind, one.column) for one in STATING if one.kind in OF_KIND} == fields


STATED: dict[tuple[Kind, str], list[Line]] = {
    (Kind.BECOME_LEADER, "hw"): [leads(4, 1, 1, 10, 10)],
    (Kind.BECOME_FOLLOWER, "hw"): [],
    (Kind.HW, "hw"): [said(4, 1, "hw", hw=10)],
    (Kind.LEO, "hw"): [said(4, 1, "leo", leo=10, hw=10)],
    (Kind.STATE, "hw"): [said(4, 1, "state", hw=10)],
    (Kind.APPEND, "hw"): [said(4, 1, "append", offset=10, leo=11, hw=10), said(5, 1, "truncate", offset=10)],
    (Kind.ISR_SHRINK, "hw"): [said(4, 1, "isr_shrink", isr="1", isr_before="1,2", leo=10, hw=10)],
    (Kind.ISR_EXPAND, "hw"): [said(4, 1, "isr_expand", isr="1,2", isr_before="1", leo=10, hw=10)],
    (Kind.LEADER_HW, "leader_hw"): [said(4, 2, "leader_hw", leader_hw=10, hw=6)],
    (Kind.LEADER_HW, "hw"): [said(4, 2, "leader_hw", leader_hw=6, hw=10)],
    (Kind.FOLLOWER_FETCHED, "leader_hw"): [
        said(4, 2, "follower_fetched", leader=1, leader_epoch=1, leader_hw=10, leo=6)
    ],
    (Kind.HW_LOADED, "hw"): [
        said(4, 1, "process_start"),
        said(4, 1, "unclean_restart"),
        said(4, 1, "log_loaded", leo=10),
        said(4, 1, "hw_loaded", hw=10),
    ],
    (Kind.HW_CHECKPOINT, "hw"): [said(4, 1, "hw_checkpoint", hw=10)],
    (Kind.PRODUCED, "hw"): [said(4, 1, "produced", offset=6, hw=10, detail="acks=all")],
    (Kind.CONSUMED, "hw"): [said(4, 1, "consumed", offset=9)],
}
"""By kind and column: lines in which nothing else says that the records below offset 10 are committed."""


@pytest.mark.parametrize("field", [one for one in STATING if one.kind in OF_KIND], ids=lambda one: "-".join(one[:2]))
def test_any_stated_high_watermark_shows_what_is_committed(field: Field, tmp_path: Path) -> None:
    kept = 10 if field.kind is Kind.BECOME_FOLLOWER else 6
    lines = [HEAD, *BEGIN, *appended(1, 10, 6), *STATED[field.kind, field.column], *failover(6, 10, 6, kept)]
    answers = judged(tmp_path, lines)
    assert (ranges(answers, LOST), ranges(answers, TRUNCATED)) == ([((6, 10),)], [((6, 10),)])
    above = field.kind is Kind.APPEND  # one more record, which was not committed
    assert ("uncommitted-truncation" in violated(answers)) == above


def test_without_a_high_watermark_the_same_records_are_not_committed(tmp_path: Path) -> None:
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 6), *failover(6, 10, 6, 6)])
    assert violated(answers) == {"uncommitted-truncation"}


@pytest.mark.parametrize("stated", ["hw", "hw_checkpoint"])
def test_a_follower_that_truncates_below_its_own_high_watermark(stated: str, tmp_path: Path) -> None:
    lines = [*appended(1, 10, 10), said(2, 2, stated, hw=10), said(3, 2, "truncate", offset=6)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert ranges(answers, TRUNCATED) == [((6, 10),)]


def test_what_a_follower_kept_of_an_earlier_role_says_nothing_of_its_new_leader(tmp_path: Path) -> None:
    """Broker 2 has other records at offsets 6 to 9, which are not committed when it truncates them."""
    lines = [
        *appended(1, 10, 6),
        said(2, 1, "hw", hw=10),
        leads(3, 2, 2, 6, 6, "2"),
        said(4, 2, "append", offset=6, leo=10),
        follows(5, 1, 2, 2, 10, 10),
        said(6, 1, "truncate", offset=6),
        said(7, 1, "hw", hw=10),
        said(8, 2, "truncate", offset=6),
    ]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert {one.replicas for one in answers[TRUNCATED].findings} == {(1,)}
    assert ranges(answers, LOST) == [((6, 10),)]


@pytest.mark.parametrize(("end", "again"), [(15, [15]), (20, [20]), (20, [])], ids=["same", "later", "standing"])
def test_records_below_a_high_watermark_that_was_too_high(end: int, again: list[int], tmp_path: Path) -> None:
    lines = [
        *appended(1, 10, 10),
        said(2, 1, "hw", hw=15),
        said(3, 1, "append", offset=10, leo=end),
        *(said(4, 1, "hw", hw=hw) for hw in again),
        *failover(6, end, 10, None),
    ]
    lost = [((10, max([15, *again])),)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert (ranges(answers, LOST), ranges(answers, TRUNCATED)) == (lost, lost)


def test_a_consumer_may_read_from_a_follower(tmp_path: Path) -> None:
    cut = [said(5, broker, "truncate", offset=6) for broker in (2, 1)]
    lines = [*appended(1, 10, 10), said(4, 2, "consumed", offset=9, leader_epoch=1), *cut]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert violated(answers) == {LOST, TRUNCATED}
    assert ranges(answers, LOST) == [((6, 10),)]


def test_what_acks_all_acknowledges_is_committed(tmp_path: Path) -> None:
    """The line states the first record alone, and no high watermark. A member of the ISR did not have that record."""
    acked = [said(3, 1, "append", offset=6, leo=7), said(4, 1, "produced", offset=6, detail="acks=all")]
    answers = judged(
        tmp_path, [HEAD, *BEGIN, *appended(1, 6, 6), said(2, 1, "hw", hw=6), *acked, *failover(6, 7, 6, 6)]
    )
    assert violated(answers) == {LOST, TRUNCATED, BEHIND}
    assert ranges(answers, LOST) == [((6, 7),)]


OBSERVED = [
    *BEGIN,
    *appended(1, 10, 6),
    said(2, 1, "hw", hw=10),
    said(3, 1, "process_start"),
    said(3, 1, "clean_restart"),
    said(3, 1, "log_loaded", leo=10),
    *failover(6, 10, 6, 6),
]


def test_one_witness_may_write_the_lines_of_all_replicas(tmp_path: Path) -> None:
    own = judged(tmp_path / "own", [HEAD, *OBSERVED])
    by_one = [one | {"witness": 99, "replica": one["witness"]} for one in OBSERVED]
    observed = judged(tmp_path / "observed", [HEAD, *by_one])
    assert ranges(own, LOST) == ranges(observed, LOST) == [((6, 10),)]
    assert {rule: answer.verdict for rule, answer in own.items()} == {
        rule: answer.verdict for rule, answer in observed.items()
    }


def test_a_leader_may_state_what_a_follower_did(tmp_path: Path) -> None:
    """The belief of a leader about the log of its follower is none of these lines."""
    told = [said(4, 1, "remote_leo", replica=2, leo=3), said(5, 1, "truncate", replica=2, offset=5)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), said(3, 1, "hw", hw=10), *told])
    assert [(one.replicas, one.offsets) for one in answers[TRUNCATED].findings] == [((2,), ((5, 10),))]
    assert violated(answers) == {TRUNCATED, BEHIND}


def test_a_leader_that_removes_its_whole_log_has_lost_what_was_committed(tmp_path: Path) -> None:
    lines = [*appended(1, 10, 10), said(4, 1, "hw", hw=10), said(5, 1, "truncate_full", offset=0)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert (ranges(answers, LOST), ranges(answers, TRUNCATED)) == ([((0, 10),)], [((0, 10),)])


@pytest.mark.parametrize("theirs", ["a", "b"])
def test_a_follower_states_a_checksum_and_no_leader_epoch(theirs: str, tmp_path: Path) -> None:
    lines = [
        said(1, 1, "append", offset=0, leo=10, checksum="a"),
        said(2, 2, "append", offset=0, leo=10, checksum=theirs),
        *(said(3, broker, "hw", hw=10) for broker in (1, 2)),
    ]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert ranges(answers, "replica-divergence") == ([] if theirs == "a" else [((0, 10),)])
    assert violated(answers) == (set() if theirs == "a" else {"replica-divergence", "epoch-divergence"})


@pytest.mark.parametrize(("start", "back", "falls"), [("clean", 4, True), ("unclean", 4, False), ("clean", 10, False)])
def test_a_clean_stop_writes_the_high_watermark(start: str, back: int, falls: bool, tmp_path: Path) -> None:
    lines = [
        *appended(1, 10, 10),
        *(said(3, broker, "hw", hw=10) for broker in (1, 2)),
        said(4, 1, "process_start"),
        said(4, 1, f"{start}_restart"),
        said(4, 1, "log_loaded", leo=10),
        said(4, 1, "hw_loaded", hw=back),
        leads(5, 1, 2, 10, back),
        follows(6, 2, 1, 2, 10, 10),
    ]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert violated(answers) == ({"hw-regression"} if falls else set())


@pytest.mark.parametrize(("asked", "lower"), [(7, True), (0, False), (10, False)])
def test_a_fetch_asks_from_the_end_of_the_log(asked: int, lower: bool, tmp_path: Path) -> None:
    """The line of a fetch round may come after the append of what it brought."""
    fetched = said(5, 2, "follower_fetched", leo=asked, leader=1, leader_epoch=1, leader_hw=10)
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), said(4, 1, "hw", hw=10), fetched])
    assert violated(answers) == ({"leo-regression", BEHIND} if lower else set())
    assert ranges(answers, "leo-regression") == ([((asked, 10),)] if lower else [])


DELETED: dict[str, list[Line]] = {
    "log_start": [said(5, 2, "log_start", log_start=8)],
    "log_end": [said(5, 2, "log_end", leo=10, log_start=8)],
    "state": [said(5, 2, "state", leo=10, log_start=8)],
    "state alone": [said(5, 2, "state", log_start=8)],
    "restart": [said(5, 2, "process_start"), said(5, 2, "log_loaded", leo=10, log_start=8)],
}


@pytest.mark.parametrize("name", DELETED)
def test_each_replica_deletes_the_beginning_of_its_log(name: str, tmp_path: Path) -> None:
    later = [*DELETED[name], leads(6, 2, 2, 10, 10), follows(7, 1, 2, 2, 10, 10)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), said(4, 1, "hw", hw=10), *later])
    assert violated(answers) == set()
    assert answers[LOST].verdict is Verdict.CLEAN


def test_a_log_that_begins_anew_above_that_of_its_leader_lacks_the_records(tmp_path: Path) -> None:
    later = [
        said(5, 2, "truncate_full", offset=8),
        said(5, 2, "append", offset=8, leo=10),
        said(5, 2, "state", leo=10, log_start=8),
        leads(6, 2, 2, 10, 10),
        follows(7, 1, 2, 2, 10, 10),
    ]
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), said(4, 1, "hw", hw=10), *later])
    assert ranges(answers, LOST) == [((0, 8),)]


def test_a_leader_may_state_that_it_has_deleted_in_any_line(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        leads(0, 1, 7, 100, 100, "1"),
        said(1, 1, "state", leo=100, log_start=50, hw=100),
        follows(2, 2, 1, 7, 0),
        said(3, 2, "truncate_full", offset=50),
        said(4, 2, "append", offset=50, leo=100),
        said(5, 1, "isr_expand", isr="1,2"),
        said(6, 1, "isr_commit", isr="1,2"),
        leads(7, 2, 8, 100, 100),
        follows(8, 1, 2, 8, 100, 100),
    ]
    assert violated(judged(tmp_path, [HEAD, *lines])) == set()


def test_no_kind_is_of_an_unknown_column() -> None:
    assert {one.column for one in STATING} == {"hw", "leader_hw"}
    assert {one.whose for one in STATING} == {*Whose}


SMALLER = [
    *appended(1, 10, 6),
    said(2, 1, "isr_shrink", isr="1", isr_before="1,2"),
    said(2, 1, "isr_commit", isr="1"),
    said(3, 1, "hw", hw=10),
]


@pytest.mark.parametrize(("reached", "behind"), [(6, True), (10, False)])
def test_a_replica_that_joins_the_isr_has_what_is_committed(reached: int, behind: bool, tmp_path: Path) -> None:
    """The leader states no high watermark after the change."""
    caught_up = [said(4, 2, "append", offset=6, leo=10)] if reached > 6 else []
    joins = [said(5, 1, "isr_expand", isr="1,2", isr_before="1"), said(6, 1, "isr_commit", isr="1,2")]
    answers = judged(tmp_path, [HEAD, *BEGIN, *SMALLER, *caught_up, *joins])
    assert violated(answers) == ({BEHIND} if behind else set())
    assert ranges(answers, BEHIND) == ([((6, 10),)] if behind else [])
    assert [one.summary for one in answers[BEHIND].findings] == (
        ["broker 1, the leader, had high watermark 10, above the log end offset 6 of broker 2. Broker 2 was in the ISR"]
        if behind
        else []
    )


@pytest.mark.parametrize("removed", [False, True])
def test_a_member_of_the_isr_that_truncates_is_behind(removed: bool, tmp_path: Path) -> None:
    out = [said(4, 1, "isr_shrink", isr="1", isr_before="1,2"), said(4, 1, "isr_commit", isr="1")] if removed else []
    cut = said(5, 2, "truncate", offset=6)
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), said(3, 1, "hw", hw=10), *out, cut])
    assert violated(answers) == ({TRUNCATED} if removed else {TRUNCATED, BEHIND})


SHRINKS = [said(3, 1, "hw", hw=10), said(4, 1, "isr_shrink", isr="1", isr_before="1,2")]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (said(5, 1, "isr_rejected"), {LOST, TRUNCATED, BEHIND}),
        (said(5, 1, "isr_commit", isr="1"), {LOST, TRUNCATED, "unclean-election"}),
    ],
    ids=["refused", "committed"],
)
def test_an_isr_that_was_refused_is_as_it_was_before(answer: Line, found: set[str], tmp_path: Path) -> None:
    """Broker 2 lacks two committed records, and is elected next: from the ISR, unless the leader could shrink it."""
    more = [said(6, 1, "append", offset=10, leo=12), said(7, 1, "hw", hw=12)]
    answers = judged(tmp_path, [HEAD, *BEGIN, *appended(1, 10, 10), *SHRINKS, answer, *more, *failover(8, 12, 10, 12)])
    assert violated(answers) == found
    assert ranges(answers, LOST) == [((10, 12),)]


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (said(4, 2, "leader_hw", leader_hw=10, hw=10), Verdict.CLEAN),
        (said(4, 2, "leader_hw", leader_hw=10), Verdict.CLEAN),
        (said(4, 2, "follower_fetched", leader=1, leader_epoch=1, leader_hw=10, leo=10), Verdict.CLEAN),
        (said(4, 2, "hw_checkpoint", hw=10), Verdict.CLEAN),
        (said(4, 2, "hw", hw=10), Verdict.CLEAN),
        (said(4, 2, "hw", hw=6), Verdict.VIOLATED),
        (said(4, 2, "leader_hw", leader_hw=10, hw=6), Verdict.VIOLATED),
    ],
)
def test_a_last_stable_offset_is_compared_with_the_last_high_watermark(
    line: Line, verdict: Verdict, tmp_path: Path
) -> None:
    lines = [*BEGIN, *appended(1, 10, 10), said(3, 1, "hw", hw=10), line, said(5, 2, "state", lso=8)]
    assert judged(tmp_path, [HEAD, *lines])["lso-above-hw"].verdict is verdict


def test_what_a_leader_truncated_itself_was_not_kept_by_it(tmp_path: Path) -> None:
    """Both replicas truncate. Without a claim another replica may have the records, so their loss is not decided."""
    both = [said(3, 1, "hw", hw=10), said(4, 2, "hw", hw=10), said(5, 1, "truncate", offset=6)]
    lines = [*BEGIN, *appended(1, 10, 10), *both, said(6, 2, "truncate", offset=6)]
    findings = judged(tmp_path, lines)[TRUNCATED].findings
    assert {(one.replicas, one.severity) for one in findings} == {((1,), Severity.ERROR), ((2,), Severity.ERROR)}
    assert all("whether the partition kept them is unknown" in one.summary for one in findings)


WHOLE = [
    {"kind": "trace", "system": "kafka", "protocol": "epoch", "cluster": "one", "complete": True, "replicas": [1, 2]},
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 2, "leader_hw", leader_hw=10, hw=10),
]
"""The follower alone states high watermarks."""


def test_a_leader_whose_high_watermark_falls_as_its_follower_receives_it(tmp_path: Path) -> None:
    answers = judged(tmp_path, [*WHOLE, said(4, 2, "leader_hw", leader_hw=7, hw=7)])
    (finding,) = answers["hw-regression"].findings
    assert (finding.replicas, finding.before, finding.after) == ((1,), {"high_watermark": 10}, {"high_watermark": 7})


def test_a_leader_that_did_not_fall_contradicts_its_follower(tmp_path: Path) -> None:
    lines = [*WHOLE, said(3, 1, "hw", hw=10), said(4, 2, "leader_hw", leader_hw=7, hw=7)]
    answers = judged(tmp_path, lines)
    assert Verdict.CLEAN not in {one.verdict for one in answers.values()}
    (gap,) = answers["evidence-gap"].findings
    assert "line 8: broker 2 received high watermark 7 of broker 1, its leader, after 10" in gap.summary


@pytest.mark.parametrize(
    "lines",
    [
        [said(4, 2, "leader_hw", leader_hw=10, hw=10)],
        # Another role of the leader, and of the follower: the next leader may know less.
        [
            said(4, 1, "become_leader", leader_epoch=4, leo=10, hw=7, isr="1,2"),
            said(5, 2, "become_follower", leader=1, leader_epoch=4, leo=10),
            said(6, 2, "leader_hw", leader_hw=7, hw=7),
        ],
    ],
)
def test_near_misses_of_a_fall_that_a_follower_receives(lines: list[Line], tmp_path: Path) -> None:
    assert judged(tmp_path, [*WHOLE, *lines])["hw-regression"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    "line", [said(4, 2, "leader_hw", leader_hw=15, hw=15), said(4, 2, "hw_checkpoint", hw=15), said(4, 2, "hw", hw=15)]
)
def test_a_follower_s_own_high_watermark_above_its_log_is_one_in_any_kind_of_line(line: Line, tmp_path: Path) -> None:
    (finding,) = judged(tmp_path, [*WHOLE, line])["hw-above-leo"].findings
    assert (finding.replicas, finding.offsets) == ((2,), ((10, 15),))


def test_near_miss_a_checkpoint_from_before_the_trace(tmp_path: Path) -> None:
    """The file may still have the high watermark of a longer log, which the trace does not show."""
    lines = [*WHOLE[:3], said(3, 2, "log_loaded", leo=6), said(4, 2, "hw_checkpoint", hw=10)]
    assert not judged(tmp_path, lines)["hw-above-leo"].findings


def test_a_leader_that_leads_on_keeps_its_high_watermark(tmp_path: Path) -> None:
    lines = [*WHOLE[:-1], said(3, 1, "hw", hw=10)]
    again = said(4, 1, "become_leader", leader_epoch=4, leo=10, hw=4, isr="1,2")
    (finding,) = judged(tmp_path, [*lines, again])["hw-regression"].findings
    assert finding.summary == "the high watermark of broker 1 fell from 10 to 4 as it led on, in leader epoch 4"


@pytest.mark.parametrize(
    "between",
    [
        [said(3.5, 1, "process_start"), said(3.6, 1, "log_loaded", leo=10)],  # it reads its checkpoint, which is older
        [said(3.5, 2, "become_leader", leader_epoch=4, leo=10, hw=4, isr="1,2"),
         said(3.6, 1, "become_follower", leader=2, leader_epoch=4, leo=10)],
    ],
)  # fmt: skip
def test_near_misses_of_a_leader_that_leads_on(between: list[Line], tmp_path: Path) -> None:
    again = said(4, 1, "become_leader", leader_epoch=5, leo=10, hw=4, isr="1,2")
    answers = judged(tmp_path, [*WHOLE[:-1], said(3, 1, "hw", hw=10), *between, again])
    assert answers["hw-regression"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(("system", "falls"), [("kafka", True), ("mylog", False)])
def test_only_of_kafka_it_is_known_that_a_clean_stop_stores_the_high_watermark(
    system: str, falls: bool, tmp_path: Path
) -> None:
    """The other system never wrote a checkpoint: it learns from its leader what is committed."""
    lines = [
        *appended(1, 3, 3),
        said(2, 1, "hw", hw=3),
        said(3, 1, "shutdown_begin"),
        said(4, 1, "process_start"),
        said(4, 1, "clean_restart"),
        said(4, 1, "log_loaded", leo=3),
        said(4, 1, "hw_missing"),
        leads(5, 2, 2, 3),
        follows(6, 1, 2, 2, 3, 0),
    ]
    assert ("hw-regression" in violated(judged(tmp_path, [HEAD | {"system": system}, *BEGIN, *lines]))) is falls


@pytest.mark.parametrize("lost", [0, 1])
def test_what_a_leader_lost_before_it_led_on_in_its_epoch_was_not_committed(lost: int, tmp_path: Path) -> None:
    """Where a broker may start before its session ends, it leads on, and writes other records at these offsets."""
    lines = [
        said(1, 1, "append", offset=0, leo=2),
        said(2, 1, "process_start"),
        said(2, 1, "unclean_restart"),
        said(2, 1, "log_loaded", leo=lost),
        said(2, 1, "hw_missing"),
        leads(3, 1, 1, lost),
        said(4, 1, "append", offset=lost, leo=3),
        said(5, 2, "append", offset=0, leo=3),
        *(said(6, broker, "hw", hw=3) for broker in (1, 2)),
        leads(7, 1, 2, 3, 3),
        follows(8, 2, 1, 2, 3, 3),
    ]
    assert violated(judged(tmp_path, [HEAD, *BEGIN, *lines])) == {"leo-regression"}


def test_an_epoch_of_a_leader_that_lost_its_end_has_one_start(tmp_path: Path) -> None:
    """It took the epoch up at 5, lost two records that were not committed, and leads on from 3."""
    lines = [
        *appended(1, 5, 3),
        said(2, 1, "hw", hw=3),
        leads(3, 1, 2, 5, 3),
        said(3, 1, "epoch_entry", leader_epoch=2, offset=5),
        said(4, 1, "process_start"),
        said(4, 1, "unclean_restart"),
        said(4, 1, "log_loaded", leo=3),
        leads(5, 1, 2, 3, 3),
        said(5, 1, "epoch_entry", leader_epoch=2, offset=3),
        follows(6, 2, 1, 2, 3, 3),
    ]
    assert violated(judged(tmp_path, [HEAD, *BEGIN, *lines])) == {"leo-regression"}


@pytest.mark.parametrize("between", [[], [follows(3, 1, 2, 1, 10, None)]])
@pytest.mark.parametrize(
    "read", [[said(0, 1, "hw_loaded", hw=8)], [said(0, 1, "hw_loaded", hw=4), said(3.5, 1, "hw", hw=8)]]
)
def test_a_leader_has_what_it_read_back_also_after_it_followed(
    read: list[Line], between: list[Line], tmp_path: Path
) -> None:
    lines = [
        said(0, 1, "log_loaded", leo=10),
        said(0, 2, "log_loaded", leo=5),
        *read[:1],
        *between,
        *read[1:],
        leads(4, 1, 2, 10, None),
        said(5, 1, "hw", hw=7),
    ]
    assert {"hw-regression", BEHIND} <= violated(judged(tmp_path, [HEAD, *lines]))


@pytest.mark.parametrize(("kept", "falls"), [(2, True), (0, False)])
def test_a_high_watermark_that_was_read_back_was_kept(kept: int, falls: bool, tmp_path: Path) -> None:
    """No line states that the checkpoint file was written."""
    lines = [
        said(0, 1, "log_loaded", leo=3),
        said(0, 1, "hw_loaded", hw=kept),
        leads(1, 1, 1, 3, kept, "1"),
        said(2, 1, "process_start"),
        said(2, 1, "unclean_restart"),
        said(2, 1, "log_loaded", leo=3),
        said(2, 1, "hw_missing"),
        leads(3, 1, 2, 3, 0, "1"),
    ]
    assert ("hw-regression" in violated(judged(tmp_path, [HEAD, *lines]))) is falls


def test_a_log_that_is_truncated_below_its_start_has_not_deleted_what_it_had_there(tmp_path: Path) -> None:
    """Broker 2 leads without four committed records, and writes others at two of these offsets."""
    lines = [
        *appended(1, 4, 4),
        *(said(2, broker, "hw", hw=4) for broker in (1, 2)),
        said(3, 2, "log_start", log_start=4),
        said(4, 2, "truncate", offset=0),
        leads(5, 2, 2, 0, 0, "2"),
        said(6, 2, "append", offset=0, leo=2),
        follows(7, 1, 2, 2, 4, 4),
        said(8, 1, "truncate", offset=0),
    ]
    answers = judged(tmp_path, [HEAD, *BEGIN, *lines])
    assert ranges(answers, LOST) == ranges(answers, TRUNCATED) == [((0, 4),)]
