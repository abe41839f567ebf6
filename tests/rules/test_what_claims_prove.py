"""What a claim proves of a replica without lines, of a line without a time, and where a line is about another claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from forensics.rules.wants import Question
from tests.rules.traced import LEADS, Line, judged, said, text

HEALTHY = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10),
    said(4, 2, "hw", hw=10),
]


def head(**fields: Any) -> Line:
    return {"kind": "trace", "replicas": [1, 2], "cluster": "one", "release": "3.9.1", "complete": True, **fields}


def contradictions(folder: Path, lines: list[Line]) -> list[str]:
    found = judged(folder, lines)["evidence-gap"].findings
    return [fact.text for one in found for fact in one.facts if fact.text.startswith("line ")]


def without_time(line: Line) -> Line:
    return {name: value for name, value in line.items() if name != "time"}


# -- replicas ----------------------------------------------------------------------------------------------------------


def test_a_claimed_replica_without_lines_has_an_empty_log(tmp_path: Path) -> None:
    """Broker 2 is in the ISR and states nothing: it has none of what its leader has committed."""
    alone = [line for line in HEALTHY if line["witness"] == 1]
    answers = judged(tmp_path / "claimed", [head(), *alone])
    (behind,) = answers["hw-above-isr-member"].findings
    assert (behind.replicas, behind.offsets) == ((1, 2), ((0, 10),))
    assert answers["committed-data-lost"].verdict is Verdict.CLEAN
    unclaimed = judged(tmp_path / "unclaimed", [head(complete=[1]), *alone])
    assert unclaimed["hw-above-isr-member"].verdict is Verdict.UNKNOWN


def test_a_follower_that_alone_is_claimed_does_not_contradict_its_leader(tmp_path: Path) -> None:
    """Its leader is not claimed, so that nothing is known of the records that it fetched."""
    own = [line for line in HEALTHY if line["witness"] == 2]
    for name, fields in (("named", {"replicas": [1, 2]}), ("not", {"replicas": [2]})):
        lines = [head(complete=[2], **fields), *own]
        assert contradictions(tmp_path / name, lines) == []
        assert judged(tmp_path / name, lines)["leo-regression"].verdict is Verdict.UNKNOWN


def test_a_leader_epoch_that_no_role_has_is_a_contradiction(tmp_path: Path) -> None:
    same, other = (said(5, 1, "state", leader_epoch=epoch) for epoch in (3, 7))
    assert contradictions(tmp_path / "same", [head(), *HEALTHY, same]) == []
    (found,) = contradictions(tmp_path / "other", [head(), *HEALTHY, other])
    assert "broker 1 states leader epoch 7; its last role is of leader epoch 3" in found


# -- spans -------------------------------------------------------------------------------------------------------------

AHEAD = [
    *LEADS,
    said(3, 1, "append", offset=0, leo=20),
    said(4, 2, "append", offset=0, leo=10),
    said(5, 1, "hw", hw=20),
]
"""The high watermark of broker 1 is above all that is stated of broker 2."""


def test_a_span_ends_for_a_replica_that_has_no_line_behind_it(tmp_path: Path) -> None:
    """Broker 2 may have fetched the rest in a line after the span: that it has none there is what is not claimed."""
    until: Any = {"replicas": [2], "to": "2026-01-01T10:00:04.500Z"}
    found = {
        name: judged(tmp_path / name, [head(complete=claim), *AHEAD])["hw-above-isr-member"].verdict
        for name, claim in (
            ("whole", True),
            ("ends", [until, 1]),
            ("later", [{**until, "to": "2026-01-01T10:00:05Z"}, 1]),
        )
    }
    assert found == {"whole": Verdict.VIOLATED, "ends": Verdict.UNKNOWN, "later": Verdict.VIOLATED}


def test_what_a_span_leaves_out_is_never_clean(tmp_path: Path) -> None:
    """Broker 2 truncated committed records before its span begins, in lines that were dropped."""
    cut = [said(5, 2, "truncate", offset=4), said(6, 2, "append", offset=4, leo=10)]
    after = [said(7, 1, "append", offset=10, leo=12), said(8, 2, "append", offset=10, leo=12), said(9, 1, "hw", hw=12)]
    whole = judged(tmp_path / "whole", [head(), *HEALTHY, *cut, *after])["truncation-below-committed"]
    assert whole.findings[0].offsets == ((4, 10),)
    since: Any = {"replicas": [2], "from": "2026-01-01T10:00:07.500Z"}
    kept = [line for line in HEALTHY if line["witness"] == 1]
    part = judged(tmp_path / "part", [head(complete=[since, 1]), *kept, *after])
    assert part["truncation-below-committed"].verdict is Verdict.UNKNOWN


# -- times -------------------------------------------------------------------------------------------------------------


MIDWAY = [
    said(0, 1, "become_leader", leader_epoch=5, leo=9, isr="1,2"),
    said(0, 2, "become_follower", leader=1, leader_epoch=5, leo=9),
    said(1, 2, "truncate", offset=3),
    said(2, 2, "append", offset=3, leo=9),
]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([*LEADS[1:], {name: value for name, value in MIDWAY[0].items() if name != "leo"}], "no log end offset"),
        (MIDWAY, "no line states a high watermark so far"),
        ([MIDWAY[0] | {"hw": 3}, *MIDWAY[1:]], None),
    ],
)
def test_a_claim_from_a_moment_on_says_nothing_of_the_time_before(
    lines: list[Line], says: str | None, tmp_path: Path
) -> None:
    """How long the logs were, and how far they were committed, has to be stated."""
    since = [{"from": "2026-01-01T10:00:00Z"}]
    told = contradictions(tmp_path / "since", [head(complete=since, protocol="epoch"), *lines])
    assert [says in one for one in told] == ([True] if says else [])
    assert contradictions(tmp_path / "whole", [head(protocol="epoch"), *lines]) == []


FROM = [{"replicas": [1, 2, 3], "from": "2026-01-01T10:00:00Z"}]
RUNNING = [
    said(0, 2, "state", leo=40, hw=40),
    said(1, 2, "become_leader", leader_epoch=1, isr="2,3"),
    said(2, 3, "state", leo=40, hw=40),
    said(3, 3, "become_follower", leader=2, leader_epoch=1),
]


def back_with(hw: int) -> list[Line]:
    """Broker 1 comes back with more than the leader, and truncates to its own high watermark."""
    return [
        said(5, 1, "log_loaded", leo=42),
        said(6, 1, "hw_loaded", hw=hw),
        said(7, 1, "become_follower", leader=2, leader_epoch=1, leo=42, hw=hw),
        said(8, 1, "truncate", offset=30),
        said(9, 1, "append", offset=30, leo=40),
    ]


def test_records_from_before_a_claim_are_not_known_as_those_of_others(tmp_path: Path) -> None:
    """What a returning broker truncates may be a tail that nobody fetched (acks=1)."""
    told = contradictions(tmp_path / "tail", [head(replicas=[1, 2, 3], complete=FROM), *RUNNING, *back_with(30)])
    assert ["committed on other replicas" in one for one in told] == [True]
    verdicts = judged(tmp_path / "tail", [head(replicas=[1, 2, 3], complete=FROM), *RUNNING, *back_with(30)])
    assert verdicts["truncation-below-committed"].verdict is Verdict.UNKNOWN
    assert not verdicts["truncation-below-committed"].findings
    # Its own high watermark is about its own records.
    own = judged(tmp_path / "own", [head(replicas=[1, 2, 3], complete=FROM), *RUNNING, *back_with(40)])
    assert own["truncation-below-committed"].findings[0].offsets == ((30, 40),)


@pytest.mark.parametrize("complete", [True, FROM])
def test_what_others_appended_before_the_first_line_of_a_replica_is_no_divergence(
    complete: object, tmp_path: Path
) -> None:
    lines = [
        said(0, 2, "state", leo=50),
        said(1, 2, "append", offset=50, leo=60, leader_epoch=2),
        said(2, 2, "hw", hw=60),
        said(3, 3, "state", leo=60, hw=60),
    ]
    verdicts = judged(tmp_path, [head(replicas=[2, 3], complete=complete), *lines])
    for rule in ("replica-divergence", "epoch-divergence"):
        assert (verdicts[rule].verdict, verdicts[rule].findings) == (Verdict.UNKNOWN, ()), rule


def beginning_late(*entries: Line) -> list[Line]:
    """Two replicas that agree, one of which led on as the trace began, with some statements about their logs."""
    return [
        said(0, 1, "state", leo=50, hw=50),
        said(0, 2, "state", leo=50, hw=50),
        *entries,
        said(1, 1, "become_leader", leader_epoch=2, isr="1,2"),
        said(1, 2, "become_follower", leader=1, leader_epoch=2),
        said(2, 1, "append", offset=50, leo=60),
        said(3, 2, "append", offset=50, leo=60),
        said(4, 1, "hw", hw=60),
    ]


@pytest.mark.parametrize(("role", "verdict"), [({}, Verdict.CLEAN), ({"offset": 60}, Verdict.VIOLATED)])
def test_an_epoch_may_have_begun_before_the_trace(role: Line, verdict: Verdict, tmp_path: Path) -> None:
    """Its role is stated again as the trace begins; but an entry above its records is not so."""
    entry = said(5, 1, "epoch_entry", leader_epoch=2, offset=role.get("offset", 30))
    assert judged(tmp_path, [head(complete=True), *beginning_late(), entry])["epoch-divergence"].verdict is verdict


ABOUT_ALL_RECORDS = ("committed-data-lost", "replica-divergence", "epoch-divergence")
SAME, OTHER = ((1, 0, 0), (1, 2, 30)), ((2, 0, 0), (2, 2, 30))
PART, LATER = ((1, 2, 30),), ((2, 2, 30),)


@pytest.mark.parametrize(
    ("entries", "open_"),
    [((), (0, 50)), (SAME, (0, 50)), ((*SAME, *OTHER), None), ((*PART, *OTHER), (0, 30)), ((*PART, *LATER), (0, 30))],
    ids=["none", "of one replica", "of both", "of a part in one", "of a part in both"],
)
def test_records_from_before_a_claim_are_the_same_if_epoch_entries_say_so(
    entries: tuple[tuple[int, int, int], ...], open_: tuple[int, int] | None, tmp_path: Path
) -> None:
    """A fork that was there before differs in no line that follows."""
    logs = (said(0, broker, "epoch_entry", leader_epoch=epoch, offset=offset) for broker, epoch, offset in entries)
    lines = beginning_late(*logs)
    since = [{"replicas": [1, 2], "from": "2026-01-01T10:00:00Z"}]
    verdicts = judged(tmp_path, [head(complete=since), *lines])
    for rule in ABOUT_ALL_RECORDS:
        assert verdicts[rule].verdict is (Verdict.UNKNOWN if open_ else Verdict.CLEAN), rule
        asked = [(want.question, want.offsets, want.brokers) for want in verdicts[rule].missing]
        assert asked == ([(Question.EPOCHS_OF_RECORDS, (open_,), (1, 2))] if open_ else []), rule
    assert verdicts["truncation-below-committed"].verdict is Verdict.CLEAN
    assert verdicts["leo-regression"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [
                said(0, 2, "state", leo=50, hw=50),
                said(1, 2, "become_follower", leader=1, leader_epoch=2),
                said(3, 2, "leader_hw", leader_hw=50, hw=50),
            ],
            "broker 2 follows broker 1",
        ),
        (
            [
                said(0, 2, "state", leo=50, hw=50),
                said(1, 2, "become_leader", leader_epoch=2, isr="1,2"),
                said(2, 2, "hw", hw=50),
            ],
            "broker 2 states this while broker 1 is in the ISR",
        ),
    ],
    ids=["of a leader", "of a member of the ISR"],
)
def test_a_log_from_before_a_claim_that_no_line_states_is_not_empty(
    lines: list[Line], says: str, tmp_path: Path
) -> None:
    since = [{"replicas": [1, 2], "from": "2026-01-01T10:00:00Z"}]
    told = contradictions(tmp_path / "since", [head(complete=since), *lines])
    assert [says in one for one in told] == [True]
    verdicts = judged(tmp_path / "since", [head(complete=since), *lines])
    assert verdicts["hw-above-isr-member"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("epoch", "verdict"), [(0, Verdict.UNKNOWN), (3, Verdict.VIOLATED)])
def test_an_old_leader_may_lack_what_was_committed_after_it(epoch: int, verdict: Verdict, tmp_path: Path) -> None:
    """Broker 1 still leads an earlier epoch as the claim begins. A leader of a later epoch should have the records."""
    lines = [
        said(0, 1, "state", leo=9, hw=0),
        said(0, 2, "state", leo=11, hw=11),
        said(1, 1, "become_leader", leader_epoch=epoch),
        said(2, 2, "become_leader", leader_epoch=1, isr="2"),
    ]
    since = [{"replicas": [1, 2], "from": "2026-01-01T10:00:00Z"}]
    verdicts = judged(tmp_path, [head(complete=since), *lines])
    assert verdicts["committed-data-lost"].verdict is verdict
    assert [one.offsets for one in verdicts["committed-data-lost"].findings] == ([((9, 11),)] if epoch else [])


def test_one_replica_is_like_itself_before_a_claim(tmp_path: Path) -> None:
    lines = [
        said(0, 1, "state", leo=50, hw=50),
        said(1, 1, "become_leader", leader_epoch=2, isr="1"),
        said(2, 1, "append", offset=50, leo=60),
        said(4, 1, "hw", hw=60),
    ]
    since = [{"replicas": [1], "from": "2026-01-01T10:00:00Z"}]
    verdicts = judged(tmp_path, [head(replicas=[1], complete=since), *lines])
    assert {verdicts[rule].verdict for rule in ABOUT_ALL_RECORDS} == {Verdict.CLEAN}


def test_a_high_watermark_before_the_first_role_may_be_about_the_records_of_another(tmp_path: Path) -> None:
    entries = [
        said(at, broker, "epoch_entry", leader_epoch=epoch, offset=offset)
        for at, (broker, epoch, offset) in enumerate([(1, 0, 0), (1, 2, 12), (2, 0, 0), (2, 1, 10), (2, 2, 12)], 4)
    ]
    lines = [
        said(0, 1, "state", leo=17, hw=17),
        said(1, 2, "state", leo=17, hw=17),
        said(2, 1, "become_leader", leader_epoch=2, isr="1,2"),
        said(3, 2, "become_follower", leader=1, leader_epoch=2),
        *entries,
    ]
    since = [{"replicas": [1, 2], "from": "2026-01-01T10:00:00Z"}]
    verdicts = judged(tmp_path, [head(complete=since, release="1.1.1"), *lines])
    assert verdicts["committed-data-lost"].verdict is Verdict.UNKNOWN
    assert verdicts["epoch-divergence"].verdict is Verdict.VIOLATED


def test_lines_without_any_time_are_in_the_order_of_their_file(tmp_path: Path) -> None:
    lines = [head(), *map(without_time, HEALTHY)]
    assert judged(tmp_path / "sound", lines)["hw-above-isr-member"].verdict is Verdict.CLEAN
    early = [*lines[:4], lines[5], lines[4], lines[6]]
    assert judged(tmp_path / "early", early)["hw-above-isr-member"].verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("at", "verdict"), [(1, Verdict.CLEAN), (4, Verdict.UNKNOWN), (5, Verdict.CLEAN)])
def test_a_line_without_a_time_happened_between_those_of_its_witness(at: int, verdict: Verdict, tmp_path: Path) -> None:
    """Only that of the leader's high watermark may have happened before broker 2 had the records, or after that."""
    lines = [head(), *HEALTHY]
    lines[at + 1] = without_time(lines[at + 1])
    assert judged(tmp_path, lines)["hw-above-isr-member"].verdict is verdict


# -- restarts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stop", "verdict"), [("clean_restart", Verdict.VIOLATED), ("unclean_restart", Verdict.CLEAN)])
@pytest.mark.parametrize("broker", [1, 2])
def test_a_clean_stop_writes_the_high_watermark(broker: int, stop: str, verdict: Verdict, tmp_path: Path) -> None:
    """A process that was killed may have had no time to write it."""
    back = [said(5, broker, "process_start"), said(5, broker, stop), said(6, broker, "log_loaded", leo=10)]
    answers = judged(tmp_path, [head(), *HEALTHY, *back, said(7, broker, "hw_missing")])
    assert answers["hw-regression"].verdict is verdict
    for found in answers["hw-regression"].findings:
        assert (found.replicas, found.before) == ((broker,), {"high_watermark": 10})


# -- without a claim ---------------------------------------------------------------------------------------------------

FOLLOWS = said(7, 1, "become_follower", leader_epoch=4, leader=2, leo=10, hw=10)


@pytest.mark.parametrize(
    ("later", "had"),
    [
        ([], "offsets 6 to 9"),
        ([FOLLOWS], "offsets 6 to 9"),
        ([said(7, 1, "process_start"), said(8, 1, "log_loaded", leo=8)], "offsets 6 to 7"),
        ([FOLLOWS, said(8, 1, "truncate", offset=6, leo=10)], None),
    ],
)
def test_a_replica_that_last_stated_lost_records_is_named(later: list[Line], had: str | None, tmp_path: Path) -> None:
    """Broker 2 is elected with six of ten committed records. The trace claims nothing."""
    lines = [
        *LEADS,
        said(1, 1, "append", offset=0, leo=10, leader_epoch=3),
        said(2, 2, "append", offset=0, leo=6, leader_epoch=3),
        said(3, 1, "isr_shrink", isr="1", isr_before="1,2"),
        said(4, 1, "hw", hw=10),
        said(5, 2, "become_leader", leader_epoch=4, leo=6, hw=6, isr="2"),
        said(6, 2, "append", offset=6, leo=8, leader_epoch=4),
    ]
    (lost,) = judged(tmp_path, [head(complete=False), *lines, *later])["committed-data-lost"].findings
    assert lost.offsets == ((6, 10),)
    if had is None:
        assert "No replica in the evidence still has them" in lost.summary
        assert lost.keep is None
        return
    assert "by its last lines broker 1 had" in lost.summary
    assert lost.keep is not None
    assert lost.keep.startswith("the copy of orders-0 on broker 1: ")
    assert had.removeprefix("offsets 6 to 9") in lost.keep
    assert str(lost.next_steps[0].text) == "stop broker 1 and copy its directory orders-0 to another disk"
    assert lost.do_not[0].startswith("restart or wipe broker 1, or move orders-0 to another broker")


def test_a_truncation_after_a_reset_removes_no_record_that_was_and_was_not_committed(tmp_path: Path) -> None:
    """Broker 2 comes back empty and is elected; broker 1 fetches from beyond its log, and truncates."""
    lines = [
        said(5, 2, "process_start"),
        said(6, 2, "log_created"),
        said(7, 2, "become_leader", leader_epoch=4, leo=0, isr="2"),
        said(8, 2, "append", offset=0, leo=2),
        said(9, 1, "become_follower", leader_epoch=4, leader=2, leo=10, hw=10),
        said(9, 1, "fetch_reset", leader=2, offset=10, leo=2),
        said(9, 1, "truncate", offset=2),
    ]
    answers = judged(tmp_path, [head(), *HEALTHY, *lines])
    assert [(one.replicas, one.offsets) for one in answers["truncation-below-committed"].findings] == [
        ((1,), ((2, 10),))
    ]
    assert answers["uncommitted-truncation"].verdict is Verdict.CLEAN


BOTH_COMMITTED = [said(3, 1, "hw", hw=10), said(3, 2, "hw", hw=10)]


@pytest.mark.parametrize(
    ("epochs", "offsets"), [((2, 3), ((5, 10),)), ((3, 3), ()), ((3, None), ((5, 10),))], ids=["two", "one", "lacking"]
)
def test_epoch_entries_of_two_lineages_are_suspected(
    epochs: tuple[int, int | None], offsets: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    """An entry may be missing without the claim, so this is no proof."""
    told = [said(1, broker, "epoch_entry", leader_epoch=1, offset=0) for broker in (1, 2)]
    told += [
        said(2, broker, "epoch_entry", leader_epoch=epoch, offset=5)
        for broker, epoch in zip((1, 2), epochs, strict=True)
        if epoch is not None
    ]
    answer = judged(tmp_path, [head(complete=False), *told, *BOTH_COMMITTED])["epoch-divergence"]
    assert answer.verdict is Verdict.UNKNOWN
    assert [one.offsets for one in answer.findings] == [offsets] * bool(offsets)
    assert {one.confidence for one in answer.findings} <= {"suspected"}


@pytest.mark.parametrize(("other", "end", "found"), [("b", 10, 1), ("a", 10, 0), (None, 10, 0), ("b", 8, 0)])
def test_batches_of_one_epoch_with_two_checksums_are_suspected(
    other: str | None, end: int, found: int, tmp_path: Path
) -> None:
    """Only the checksums of the same offsets can be compared."""
    told = [said(1, 1, "append", offset=0, leo=10, leader_epoch=3, checksum="a")]
    told += [said(2, 2, "append", offset=0, leo=end, leader_epoch=3, **({"checksum": other} if other else {}))]
    answers = judged(tmp_path, [head(complete=False), *told, *BOTH_COMMITTED])
    assert [one.offsets for one in answers["replica-divergence"].findings] == [((0, 10),)] * found
    assert answers["epoch-divergence"].findings == ()


# -- leaders -----------------------------------------------------------------------------------------------------------

NEXT = [said(5, 2, "become_leader", leader_epoch=4, leo=10, hw=10, isr="2"), said(5, 1, "append", offset=10, leo=14)]


def test_what_a_leader_commits_after_its_successor_began_is_lost(tmp_path: Path) -> None:
    """Broker 1 does not know of the next leader epoch, and commits what it truncates later."""
    ends = [
        said(7, 1, "become_follower", leader_epoch=4, leader=2, leo=14, hw=10),
        said(8, 1, "truncate", offset=10),
    ]
    alone = said(4, 1, "isr_shrink", isr="1", isr_before="1,2")
    answers = judged(tmp_path / "yes", [head(), *HEALTHY, alone, *NEXT, said(6, 1, "hw", hw=14), *ends])
    for rule in ("committed-data-lost", "truncation-below-committed"):
        assert [one.offsets for one in answers[rule].findings] == [((10, 14),)]
    (cut,) = answers["truncation-below-committed"].findings
    assert cut.summary.endswith("the partition has lost them")
    answers = judged(tmp_path / "no", [head(), *HEALTHY, alone, *NEXT, *ends])
    assert answers["committed-data-lost"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(("value", "told"), [(10, 0), (15, 1)])
def test_a_follower_that_learns_more_than_its_leader_has_contradicts_it(value: int, told: int, tmp_path: Path) -> None:
    heard = said(5, 2, "leader_hw", leader_hw=value, hw=10)
    found = contradictions(tmp_path, [head(), *HEALTHY, heard])
    assert len(found) == told
    assert all("states high watermark 15 of its leader, broker 1" in text for text in found)


def test_a_loss_by_a_leader_from_outside_the_isr_has_that_cause(tmp_path: Path) -> None:
    """With KRaft lines of brokers alone do not show it, but a complete trace states each ISR."""
    lines = [
        said(5, 1, "isr_shrink", isr="1", isr_before="1,2"),
        said(5, 1, "isr_commit"),
        said(6, 1, "append", offset=10, leo=14),
        said(7, 1, "hw", hw=14),
        said(8, 2, "become_leader", leader_epoch=4, leo=10, hw=10, isr="2"),
    ]
    (lost,) = judged(tmp_path, [head(), *HEALTHY, *lines])["committed-data-lost"].findings
    assert (lost.offsets, lost.cause) == (((10, 14),), "unclean-election")


@pytest.mark.parametrize(
    ("between", "end", "found"),
    [
        ([], 6, 1),
        ([], 10, 0),
        ([said(6, 1, "truncate", offset=6, leo=10)], 6, 0),
    ],
)
def test_a_leader_that_takes_up_its_next_role_with_less_is_suspected(
    between: list[Line], end: int, found: int, tmp_path: Path
) -> None:
    """A leader only appends. Of a truncation other rules decide."""
    lines = [*HEALTHY, *between, said(7, 1, "become_follower", leader_epoch=4, leader=2, leo=end, hw=6)]
    suspected = judged(tmp_path, [head(complete=False), *lines])["leo-regression"].findings
    assert [one.offsets for one in suspected if one.confidence == "suspected"] == [((6, 10),)] * found


AWAY = [
    said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1,2"),
    said(0, 2, "become_follower", leader_epoch=1, leader=1, leo=0, hw=0),
    said(1, 1, "append", offset=0, leo=20),
    said(1, 2, "append", offset=0, leo=10),
    said(2, 1, "hw", hw=5),
    said(3, 2, "become_leader", leader_epoch=2, leo=10, hw=5, isr="2"),
    said(4, 2, "append", offset=10, leo=18),
    said(5, 2, "hw", hw=18),
]
"""Broker 2 takes over from broker 1, and commits eight records of its own."""


@pytest.mark.parametrize(
    "later",
    [
        [said(7, 1, "truncate", offset=10), said(8, 1, "append", offset=10, leo=18), said(9, 1, "hw", hw=18)],
        [said(7, 1, "truncate", offset=10), said(9, 1, "hw", hw=18)],
        [said(9, 1, "hw", hw=18)],
        [said(6, 1, "hw", hw=15, leo=20), said(7, 1, "truncate", offset=10)],
    ],
)
def test_a_line_that_is_dropped_does_not_make_a_failover_a_loss(later: list[Line], tmp_path: Path) -> None:
    """Broker 1 followed broker 2, and no line states it: the high watermark is of the records of leader epoch 2."""
    answers = judged(tmp_path, [{"kind": "trace", "replicas": [1, 2], "release": "3.1.0"}, *AWAY, *later])
    for rule in ("committed-data-lost", "truncation-below-committed", "replica-divergence"):
        assert answers[rule].verdict is Verdict.UNKNOWN, rule
    wanted = said(6, 1, "become_follower", leader_epoch=2, leader=2, leo=20, hw=5)
    answers = judged(tmp_path, [head(), *AWAY, wanted, *later])
    assert answers["committed-data-lost"].verdict is Verdict.CLEAN


def test_a_high_watermark_that_was_stated_before_the_next_leader_is_of_the_leader_that_states_it(
    tmp_path: Path,
) -> None:
    lines = [*AWAY[:4], said(2, 1, "hw", hw=18), *AWAY[5:]]
    (lost,) = judged(tmp_path, [{"kind": "trace", "replicas": [1, 2]}, *lines])["committed-data-lost"].findings
    assert lost.offsets == ((10, 18),)


@pytest.mark.parametrize("between", [[], [{"time": "2026-01-01T10:00:02Z", "witness": 2, "kind": "process_start"}]])
def test_an_old_checkpoint_is_not_compared_with_a_later_log_end_offset(between: list[Line], tmp_path: Path) -> None:
    """The log may have been created again in between: without a claim no line need say so."""
    lines = [said(1, 2, "hw_checkpoint", hw=13), *between, said(4, 2, "isr_expand", isr="1,2", leo=0, hw=0)]
    answer = judged(tmp_path, [{"kind": "trace", "replicas": [1, 2]}, *lines])["hw-above-leo"]
    assert answer.verdict is Verdict.UNKNOWN


# -- lines that cannot be ----------------------------------------------------------------------------------------------

AGAIN = [
    said(5, 1, "become_leader", leader_epoch=4, leo=10, hw=10, isr="1,2"),
    said(5, 2, "become_follower", leader_epoch=4, leader=1, leo=10, hw=10),
]


@pytest.mark.parametrize(
    ("later", "text"),
    [
        (
            [*AGAIN, said(6, 2, "become_follower", leader_epoch=3, leader=7, leo=10, hw=10)],
            "line 10: broker 2 takes a role in leader epoch 3 after one in leader epoch 4",
        ),
        (
            [said(5, 1, "follower_fetched", leader=2, leader_epoch=3, leo=10)],
            "line 8: broker 1 asks a leader as a follower does; it leads in leader epoch 3",
        ),
        (
            [said(5, 2, "epoch_request", leader=7, leader_epoch=3)],
            "line 8: broker 2 asks broker 7; in leader epoch 3 it follows broker 1",
        ),
        (
            [said(5, 2, "follower_fetched", leader_epoch=4, leo=10)],
            "line 8: broker 2 fetches in leader epoch 4; its last role is of leader epoch 3",
        ),
        (
            [said(5, 1, "log_start", log_start=12)],
            "line 8: broker 1 states log start offset 12; by the lines before, its log ends at 10",
        ),
        (
            [said(5, 1, "log_start", log_start=7), said(6, 1, "log_start", log_start=3)],
            "line 9: broker 1 states log start offset 3; by the lines before, its log starts at 7",
        ),
        (
            [said(5, 1, "append", offset=10, leo=20), said(6, 1, "log_start", log_start=12)],
            "line 9: broker 1 states log start offset 12; by the lines before, its high watermark is 10",
        ),
        (
            [said(5, 1, "remote_leo", replica=2, leo=12)],
            "line 8: broker 1 states that the log of broker 2 ends at 12; by its own lines, it never ended above 10",
        ),
    ],
)
def test_a_line_that_cannot_be_is_named_and_nothing_is_clean(later: list[Line], text: str, tmp_path: Path) -> None:
    lines = [head(), *HEALTHY, *later]
    assert contradictions(tmp_path, lines) == [text]
    assert Verdict.CLEAN not in {one.verdict for rule, one in judged(tmp_path, lines).items() if rule != "evidence-gap"}


@pytest.mark.parametrize(
    "later",
    [
        [said(5, 2, "follower_fetched", leader=1, leader_epoch=3, leo=10)],
        [said(5, 1, "log_start", log_start=7), said(6, 1, "log_start", log_start=7)],
        [said(5, 1, "log_start", log_start=10), said(5, 2, "log_start", log_start=10)],
        [said(5, 1, "remote_leo", replica=2, leo=10)],
        [
            said(5, 2, "log_start", log_start=7),
            said(6, 2, "process_start"),
            said(6, 2, "unclean_restart"),
            said(7, 2, "log_loaded", leo=10),
            said(8, 2, "log_start", log_start=3),
        ],
    ],
)
def test_near_misses_of_lines_that_cannot_be(later: list[Line], tmp_path: Path) -> None:
    answers = judged(tmp_path, [head(), *HEALTHY, *later])
    assert answers["evidence-gap"].findings == ()
    assert answers["committed-data-lost"].verdict is Verdict.CLEAN


@pytest.mark.parametrize("second", [False, [1]], ids=["nothing", "one replica"])
@pytest.mark.parametrize("files", [1, 2])
def test_a_claim_is_about_the_lines_of_its_own_trace(second: Any, files: int, tmp_path: Path) -> None:
    """The second trace leaves out that broker 2 appended what its leader committed."""
    later = [
        said(50, 1, "append", offset=10, leo=20),
        said(51, 1, "hw", hw=20),
        said(52, 2, "become_leader", leader_epoch=4, isr="2"),
    ]
    whole = [text([head(), *HEALTHY]), text([head(complete=second), *later])]
    for number, content in enumerate(whole if files == 2 else ["".join(whole)]):
        (tmp_path / f"{'ab'[number]}.jsonl").write_text(content)
    (partition,) = scan([str(tmp_path)]).partitions
    for rule in ("committed-data-lost", "hw-above-isr-member"):
        assert partition.judgements[rule].verdict is Verdict.UNKNOWN, rule


def test_an_append_that_is_left_out_does_not_make_an_election_a_loss(tmp_path: Path) -> None:
    """Where the log of broker 2 ended as it was elected, only an absent line would show."""
    lines = [*HEALTHY, said(5, 1, "append", offset=10, leo=20), said(6, 1, "hw", hw=20)]
    elected = said(7, 2, "become_leader", leader_epoch=4, isr="2")
    for fields in ({}, {"release": "3.9.1"}, {"complete": [{"from": HEALTHY[0]["time"], "to": HEALTHY[-1]["time"]}]}):
        first = {"kind": "trace", "replicas": [1, 2], **fields}
        assert judged(tmp_path, [first, *lines, elected])["committed-data-lost"].verdict is Verdict.UNKNOWN
    (lost,) = judged(tmp_path, [{"kind": "trace", "replicas": [1, 2]}, *lines, elected | {"leo": 10}])[
        "committed-data-lost"
    ].findings
    assert lost.offsets == ((10, 20),)


@pytest.mark.parametrize(
    "lines",
    [
        # Broker 1 followed broker 2 in between, and returns with another log.
        [
            said(0, 1, "become_leader", leader_epoch=0, leo=0, hw=0, isr="1,2,3"),
            said(1, 1, "leo", leo=5),
            said(2, 2, "become_leader", leader_epoch=1),
            said(2, 3, "become_follower", leader_epoch=1, leo=0),
            said(3, 1, "become_leader", leader_epoch=2, leo=4, hw=2),
            said(4, 3, "become_follower", leader_epoch=2, leo=2, hw=2),
        ],
        # Broker 1 follows broker 2, asks from offset 0, and no line says that it truncated.
        [
            said(0, 1, "become_leader", leader_epoch=0, leo=0, hw=0, isr="1,2"),
            said(1, 1, "append", offset=0, leo=5),
            said(2, 1, "become_follower", leader_epoch=1, leo=5),
            said(2, 2, "become_leader", leader_epoch=1, leo=0, hw=0),
            said(3, 2, "append", offset=0, leo=2),
            said(3, 1, "follower_fetched", leo=0),
            said(4, 1, "follower_fetched", leo=2),
            said(5, 2, "hw", hw=2),
            said(6, 1, "become_leader", leader_epoch=2, leo=4, hw=2),
        ],
        # Broker 2 leads in leader epoch 1, and no line of its own says so: its high watermark is of that epoch.
        [
            said(0, 1, "become_leader", leader_epoch=0, leo=0, hw=0, isr="1,2"),
            said(0, 2, "become_follower", leader=1, leader_epoch=0, leo=0, hw=0),
            said(1, 1, "append", offset=0, leo=5),
            said(2, 1, "become_follower", leader=2, leader_epoch=1, leo=5),
            said(2, 1, "truncate", offset=0),
            said(3, 2, "append", offset=1, leo=2, leader_epoch=1),
            said(4, 2, "hw", hw=2),
        ],
    ],
)
def test_lines_that_are_dropped_are_no_proof_before_leader_epochs(lines: list[Line], tmp_path: Path) -> None:
    first = {"kind": "trace", "system": "a model", "release": "0.10.2.2", "replicas": [1, 2, 3]}
    answers = judged(tmp_path, [first, *lines])
    for rule in ("committed-data-lost", "truncation-below-committed"):
        assert answers[rule].verdict is Verdict.UNKNOWN, rule


def test_a_second_leader_of_an_epoch_that_also_fetches_is_a_finding(tmp_path: Path) -> None:
    second = [said(5, 2, "become_leader", leader_epoch=3, leo=10), said(6, 2, "follower_fetched", leo=10)]
    answer = judged(tmp_path, [head(), *HEALTHY, *second])["two-leaders-one-epoch"]
    assert answer.verdict is Verdict.VIOLATED


# -- leaders and in-sync replicas --------------------------------------------------------------------------------------


def test_a_leader_of_a_superseded_epoch_loses_nothing(tmp_path: Path) -> None:
    """Broker 3 was paused, and takes up leader epoch 4 when broker 2 leads in leader epoch 5 with all records."""
    late = said(9, 3, "become_leader", leader_epoch=4, leo=6, hw=6, isr="3")
    lines = [
        *HEALTHY,
        said(0, 3, "become_follower", leader=1, leader_epoch=3, leo=0),
        said(2, 3, "append", offset=0, leo=6),
        said(5, 2, "become_leader", leader_epoch=5, leo=10, hw=10, isr="1,2"),
        said(6, 1, "become_follower", leader=2, leader_epoch=5, leo=10, hw=10),
    ]
    answers = judged(tmp_path / "late", [head(replicas=[1, 2, 3]), *lines, late])
    assert answers["committed-data-lost"].verdict is Verdict.CLEAN
    newest = late | {"leader_epoch": 6}
    (lost,) = judged(tmp_path / "newest", [head(replicas=[1, 2, 3]), *lines, newest])["committed-data-lost"].findings
    assert lost.offsets == ((6, 10),)


@pytest.mark.parametrize(("outcome", "verdict"), [("isr_rejected", Verdict.CLEAN), (None, Verdict.VIOLATED)])
def test_an_isr_that_was_refused_never_counted(outcome: str | None, verdict: Verdict, tmp_path: Path) -> None:
    lines = [
        *HEALTHY,
        said(0, 3, "become_follower", leader=1, leader_epoch=3, leo=0),
        said(2, 3, "append", offset=0, leo=8),
        said(5, 1, "isr_expand", isr="1,2,3", isr_before="1,2"),
        *([said(6, 1, outcome)] if outcome else []),
    ]
    answers = judged(tmp_path, [head(replicas=[1, 2, 3]), *lines])
    assert answers["hw-above-isr-member"].verdict is verdict


@pytest.mark.parametrize(("system", "verdict"), [("etcd", Verdict.CLEAN), ("kafka", Verdict.VIOLATED)])
def test_only_kafka_stores_the_high_watermark_as_it_stops(system: str, verdict: Verdict, tmp_path: Path) -> None:
    """The commit index of Raft is kept in memory alone."""
    back = [said(5, 2, "process_start"), said(5, 2, "clean_restart"), said(6, 2, "log_loaded", leo=10)]
    first = {"kind": "trace", "system": system, "protocol": "epoch", "replicas": [1, 2], "complete": True}
    lines = [line if line["kind"] != "hw" else {**line, "hw": 10} for line in HEALTHY]
    answers = judged(tmp_path, [first, *lines, *back, said(7, 2, "hw_loaded", hw=0)])
    assert answers["hw-regression"].verdict is verdict


@pytest.mark.parametrize(("complete", "verdict"), [(True, Verdict.VIOLATED), (False, Verdict.UNKNOWN)])
def test_epoch_entries_of_one_replica_may_be_of_two_processes_without_a_claim(
    complete: bool, verdict: Verdict, tmp_path: Path
) -> None:
    """A process that lost its epoch file builds it again from the records that are left."""
    entries = [said(5, 1, "epoch_entry", leader_epoch=3, offset=0), said(6, 1, "epoch_entry", leader_epoch=3, offset=1)]
    answers = judged(tmp_path, [head(complete=complete), *HEALTHY, *entries])
    assert answers["epoch-divergence"].verdict is verdict


# -- values that were not read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{"high_watermrk": 15}, {"hwm": 7, "highWatermark": 15}, {"isr_": "1"}])
def test_a_misspelt_field_may_state_a_value(values: Line, tmp_path: Path) -> None:
    answers = judged(tmp_path, [head(), *HEALTHY, said(5, 2, "state", log_end_offset=10, **values)])
    assert answers["hw-above-leo"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("values", [{"host": "b2"}, {"partition_epochs": 4}, {"offsets": 3}])
def test_a_field_that_the_kind_does_not_have_hides_nothing(values: Line, tmp_path: Path) -> None:
    answers = judged(tmp_path, [head(), *HEALTHY, said(5, 2, "state", log_end_offset=10, **values)])
    assert answers["hw-above-leo"].verdict is Verdict.CLEAN


# -- witnesses that hold no replica ------------------------------------------------------------------------------------


def test_a_controller_that_commits_an_isr_holds_no_replica(tmp_path: Path) -> None:
    commits = [said(5, 9, "isr_commit", isr="1"), said(6, 1, "append", offset=10, leo=12), said(7, 1, "hw", hw=12)]
    answers = judged(tmp_path, [head(), *HEALTHY, *commits])
    assert answers["hw-above-isr-member"].verdict is Verdict.CLEAN
    assert answers["evidence-gap"].verdict is Verdict.CLEAN
