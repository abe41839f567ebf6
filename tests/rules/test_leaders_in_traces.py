"""Who leads in a complete trace, and how high its high watermark is, also where optional fields are left out.

A high watermark is compared with the ISR, and with what the same replica had before.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from forensics.rules.finding import Judgement, Verdict
from parsers.formats.trace_kinds import CLAIMED_BY
from tests.rules.traced import Line, judged, said

HEAD: Line = {
    "kind": "trace",
    "system": "kafka",
    "protocol": "epoch",
    "cluster": "one",
    "replicas": [1, 2],
    "complete": True,
}
HEALTHY = [
    said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1,2"),
    said(0, 2, "become_follower", leader=1, leader_epoch=1, leo=0, hw=0),
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10),
    said(4, 2, "leader_hw", leader_hw=10, hw=10),
]
BEHIND, UNCLEAN, FELL, SHORTER = "hw-above-isr-member", "unclean-election", "hw-regression", "leo-regression"


def leads(second: float, broker: int, epoch: int, **values: object) -> Line:
    return said(second, broker, "become_leader", leader_epoch=epoch, leo=10, **values)


def follows(second: float, broker: int, leader: int, epoch: int) -> Line:
    return said(second, broker, "become_follower", leader=leader, leader_epoch=epoch, leo=10)


def restarts(second: float, broker: int, how: str, *lines: Line) -> list[Line]:
    """A new process; lines about processes name no partition."""
    begins = [said(second, broker, "process_start"), said(second, broker, how)]
    return [*({name: one[name] for name in ("time", "witness", "kind")} for one in begins), *lines]


def of(folder: Path, lines: list[Line]) -> dict[str, Judgement]:
    return judged(folder, [HEAD, *lines])


def offsets(answers: dict[str, Judgement], rule: str) -> list[tuple[tuple[int, int], ...]]:
    return [finding.offsets for finding in answers[rule].findings]


def values(answers: dict[str, Judgement]) -> list[tuple[int, int]]:
    """The high watermark before and after, of each that fell."""
    fallen = answers[FELL].findings
    return [(int(one.before["high_watermark"]), int(one.after["high_watermark"])) for one in fallen]  # type: ignore[call-overload]


# -- the ISR -----------------------------------------------------------------------------------------------------------

ALONE = [leads(7, 2, 2, hw=10, isr="2"), said(8, 2, "append", offset=10, leo=12), said(9, 2, "hw", hw=12)]


@pytest.mark.parametrize("kind", ["election", "unclean_election"])
def test_an_election_without_its_isr_leaves_that_of_the_role(kind: str, tmp_path: Path) -> None:
    answers = of(tmp_path, [*HEALTHY, said(6, 9, kind, leader=2, leader_epoch=2), *ALONE])
    assert answers[BEHIND].verdict is Verdict.CLEAN


def test_near_miss_an_election_that_states_an_isr(tmp_path: Path) -> None:
    answers = of(tmp_path, [*HEALTHY, said(6, 9, "election", leader=2, leader_epoch=2, isr="1,2"), *ALONE])
    assert offsets(answers, BEHIND) == [((10, 12),)]


def test_an_election_without_its_isr_is_judged_by_that_of_the_role_before(tmp_path: Path) -> None:
    elections = [
        said(second, 9, "election", leader=one, leader_epoch=epoch) for second, one, epoch in ((6, 2, 2), (10, 1, 3))
    ]
    answers = of(tmp_path, [*HEALTHY, elections[0], *ALONE, elections[1], leads(11, 1, 3, isr="1")])
    assert answers[UNCLEAN].verdict is Verdict.VIOLATED


@pytest.mark.parametrize("fields", [{}, {"isr": "2"}])
def test_who_is_elected_from_outside_is_alone_in_the_isr(fields: Line, tmp_path: Path) -> None:
    """A leader that was elected uncleanly, and then the one before: it is outside of the ISR as well."""
    shrinks = [said(5, 1, "isr_shrink", isr="1", isr_before="1,2"), said(5.1, 1, "isr_commit", isr="1")]
    second = leads(7, 2, 2, hw=10, **fields)
    answers = of(tmp_path, [*HEALTHY, *shrinks, second, follows(7, 1, 2, 2), leads(9, 1, 3, isr="1")])
    assert sorted(one.replicas for one in answers[UNCLEAN].findings) == [(1,), (2,)]


def test_a_leader_that_is_made_one_again_states_the_isr_anew(tmp_path: Path) -> None:
    later = [follows(7, 2, 1, 1), said(8, 1, "append", offset=10, leo=11), said(9, 1, "hw", hw=11)]
    assert of(tmp_path / "smaller", [*HEALTHY, leads(6, 1, 1, isr="1"), *later])[BEHIND].verdict is Verdict.CLEAN
    assert offsets(of(tmp_path / "same", [*HEALTHY, leads(6, 1, 1, isr="1,2"), *later]), BEHIND) == [((10, 11),)]


def test_the_isr_of_a_role_shows_what_no_other_log_held(tmp_path: Path) -> None:
    """Broker 1 is outside the ISR of epoch 1, as its leader alone states. So its log never had two records."""
    empty = {"log_end_offset": 0}
    loads = [said(7, 1, "log_loaded", leo=0), said(8, 1, "hw_missing"), follows(9, 1, 2, 1) | empty]
    lines = [
        said(0, 9, "partition_created", leader=1, leader_epoch=0, isr="1,2"),
        said(1, 1, "become_leader", leader_epoch=0, leo=0, hw=0),
        said(2, 2, "become_follower", leader=1, leader_epoch=0, leo=0, hw=0),
        said(3, 9, "partition_changed", leader=2, leader_epoch=1, isr_before="1,2"),
        leads(4, 2, 1, isr="2") | empty,
        *restarts(6, 1, "unclean_restart", *loads),
        said(10, 2, "append", offset=0, leo=2),
        said(11, 2, "hw", hw=2),
        leads(12, 2, 1) | {"log_end_offset": 2},
        *restarts(13, 1, "unclean_restart", said(14, 1, "log_loaded", leo=0), said(15, 1, "hw_missing")),
    ]
    assert of(tmp_path, lines)[SHORTER].verdict is Verdict.CLEAN


# -- the high watermark of a leader ------------------------------------------------------------------------------------

SHORT = [
    said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1"),
    said(0, 2, "become_follower", leader=1, leader_epoch=1, leo=0),
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=5),
    said(3, 1, "hw", hw=10),
]
LARGER = [said(8, 1, "isr_expand", isr="1,2", isr_before="1"), said(9, 1, "isr_commit", isr="1,2")]


@pytest.mark.parametrize("role", [[], [leads(6, 1, 2, isr="1")], [leads(6, 1, 2, isr="1", hw=10)]])
def test_a_leader_that_leads_on_has_the_high_watermark_that_it_had(role: list[Line], tmp_path: Path) -> None:
    assert offsets(of(tmp_path, [*SHORT, *role, *LARGER]), BEHIND) == [((5, 10),)]


def test_near_miss_a_process_may_have_read_back_less(tmp_path: Path) -> None:
    again = restarts(5, 1, "unclean_restart", said(5.5, 1, "log_loaded", leo=10), leads(6, 1, 2, isr="1"))
    assert of(tmp_path, [*SHORT, *again, *LARGER])[BEHIND].verdict is Verdict.CLEAN


def test_a_follower_that_leads_has_the_high_watermark_that_it_received(tmp_path: Path) -> None:
    head = HEAD | {"replicas": [1, 2, 3]}
    third = [said(4, 3, "become_follower", leader=1, leader_epoch=1, leo=0), said(5, 3, "append", offset=0, leo=5)]
    larger = [said(8, 2, "isr_expand", isr="2,3", isr_before="2"), said(9, 2, "isr_commit", isr="2,3")]
    answers = judged(tmp_path, [head, *HEALTHY, *third, leads(6, 2, 2, isr="2"), *larger])
    assert offsets(answers, BEHIND) == [((5, 10),)]


@pytest.mark.parametrize("hw", [10, 13])
def test_the_high_watermark_of_a_leader_counts_as_its_follower_receives_it(hw: int, tmp_path: Path) -> None:
    later = [said(5, 1, "append", offset=10, leo=13), said(6, 2, "leader_hw", leader_hw=hw, hw=10)]
    answers = of(tmp_path, [*HEALTHY, *later, leads(7, 2, 2, isr="2")])
    assert offsets(answers, BEHIND) == ([((10, 13),)] if hw > 10 else [])


def test_whose_process_ended_leads_no_more(tmp_path: Path) -> None:
    """Broker 1 reads back 5. Broker 2 lost the end of its log, which another rule tells."""
    loads = [said(6, 1, "log_loaded", leo=10), said(7, 1, "hw_loaded", hw=5)]
    second = [said(9, 2, "log_loaded", leo=8), said(10, 2, "hw_loaded", hw=5)]
    ended = [*restarts(5, 1, "unclean_restart", *loads), *restarts(8, 2, "unclean_restart", *second)]
    answers = of(tmp_path / "ended", [*HEALTHY, *ended])
    assert (answers[BEHIND].verdict, answers[SHORTER].verdict) == (Verdict.CLEAN, Verdict.VIOLATED)
    leading = [*HEALTHY, *restarts(8, 2, "unclean_restart", *second)]
    assert offsets(of(tmp_path / "leading", leading), BEHIND) == [((8, 10),)]


# -- high watermarks that fall -----------------------------------------------------------------------------------------

LOADED = [said(6, 1, "log_loaded", leo=10), said(7, 1, "hw_loaded", hw=10)]


@pytest.mark.parametrize(
    "lines",
    [
        # It begins with 10 and leads, without a role in between in which it could take over a lower one.
        restarts(5, 1, "clean_restart", *LOADED, leads(8, 1, 2, isr="1,2"), said(9, 1, "hw", hw=4)),
        restarts(5, 1, "unclean_restart", *LOADED, leads(8, 1, 2, isr="1,2", hw=4)),
        # A clean stop writes the file, so it has 10; no line states what was read back.
        restarts(5, 1, "clean_restart", leads(8, 1, 2, isr="1,2", hw=4)),
        restarts(5, 1, "clean_restart", follows(8, 1, 2, 2) | {"hw": 4}),
        restarts(5, 1, "clean_restart", LOADED[0], leads(8, 1, 2, isr="1,2"), said(9, 1, "hw", hw=4)),
        # A follower that received 10 takes its leader's epoch up.
        [leads(8, 2, 2, isr="1,2", hw=4)],
        # A leader has 4 as it begins to follow.
        [leads(8, 2, 2, isr="1,2", hw=10), follows(9, 1, 2, 2) | {"hw": 4}],
    ],
)
def test_a_high_watermark_below_that_of_the_same_process(lines: list[Line], tmp_path: Path) -> None:
    assert values(of(tmp_path, [*HEALTHY, *lines])) == [(10, 4)]


@pytest.mark.parametrize(
    "lines",
    [
        restarts(5, 1, "clean_restart", *LOADED, leads(8, 1, 2, isr="1,2"), said(9, 1, "hw", hw=10)),
        # The checkpoint of a process that was killed is older than its high watermark.
        restarts(5, 1, "unclean_restart", leads(8, 1, 2, isr="1,2", hw=4)),
        restarts(5, 1, "unclean_restart", LOADED[0], said(7, 1, "hw_loaded", hw=4), leads(8, 1, 2, isr="1,2", hw=4)),
        # It followed in between, and took over the high watermark of its leader.
        restarts(
            *(5, 1, "unclean_restart", *LOADED, leads(7.5, 2, 2, isr="1,2", hw=10)),
            *(follows(8, 1, 2, 2), leads(9, 1, 3, isr="1,2", hw=4)),
        ),
        # Its log is shorter than the high watermark in its checkpoint file, since the process before.
        [
            said(4.5, 1, "hw_checkpoint", hw=10),
            *restarts(5, 1, "unclean_restart", said(5.1, 1, "log_loaded", leo=4), said(5.2, 1, "hw_loaded", hw=4)),
            *restarts(6, 1, "unclean_restart", said(6.1, 1, "log_loaded", leo=4), said(6.2, 1, "hw_loaded", hw=4)),
        ],
        # It truncated its log.
        [said(8, 2, "truncate", offset=4), leads(9, 2, 2, isr="2", hw=4) | {"log_end_offset": 4}],
    ],
)
def test_near_misses_of_a_high_watermark_below_that_of_the_process(lines: list[Line], tmp_path: Path) -> None:
    assert of(tmp_path, [*HEALTHY, *lines])[FELL].verdict is not Verdict.VIOLATED


def test_a_process_that_was_killed_begins_below_its_checkpoint_file(tmp_path: Path) -> None:
    """The words name the file, and no clean stop."""
    killed = restarts(6, 1, "unclean_restart", said(6, 1, "log_loaded", leo=10), said(7, 1, "hw_loaded", hw=2))
    (finding,) = of(tmp_path, [*HEALTHY, said(5, 1, "hw_checkpoint", hw=10), *killed])[FELL].findings
    assert finding.summary == "broker 1 restarted with high watermark 2; its checkpoint file had 10"


@pytest.mark.parametrize("line", [said(4, 2, "leader_hw", leader_hw=10, hw=10), said(4, 2, "hw", hw=10)])
def test_a_follower_keeps_what_it_received_in_its_role(line: Line, tmp_path: Path) -> None:
    (finding,) = of(tmp_path, [*HEALTHY[:-1], line, said(5, 2, "hw", hw=7)])[FELL].findings
    assert (finding.replicas, finding.before, finding.after) == ((2,), {"high_watermark": 10}, {"high_watermark": 7})
    assert "a follower, fell from 10 to 7 within leader epoch 1" in finding.summary


@pytest.mark.parametrize(
    "lines",
    [
        # At the begin of a role it takes over the one of its leader.
        [leads(5, 1, 2, isr="1,2", hw=10), follows(6, 2, 1, 2), said(7, 2, "hw", hw=7)],
        # Its log is truncated.
        [said(5, 2, "truncate", offset=7), said(6, 2, "hw", hw=7)],
        restarts(5, 2, "unclean_restart", said(6, 2, "log_loaded", leo=10), said(7, 2, "hw_loaded", hw=7)),
    ],
)
def test_near_misses_of_a_follower_whose_high_watermark_falls(lines: list[Line], tmp_path: Path) -> None:
    assert of(tmp_path, [*HEALTHY, *lines])[FELL].verdict is not Verdict.VIOLATED


# -- requests ----------------------------------------------------------------------------------------------------------


def asks(second: float, epoch: int, end: int) -> Line:
    return said(second, 2, "follower_fetched", leader=1, leader_epoch=epoch, leo=end, leader_hw=10)


@pytest.mark.parametrize(
    ("epoch", "lines"),
    [
        (1, restarts(5, 2, "clean_restart", said(6, 2, "log_loaded", leo=10), said(7, 2, "hw_loaded", hw=10))),
        (1, [follows(7, 2, 1, 1)]),
        (2, [leads(6, 1, 2, isr="1,2", hw=10), follows(7, 2, 1, 2)]),
    ],
    ids=["process", "role", "leader epoch"],
)
def test_a_request_of_a_new_role_is_no_late_one_of_the_role_before(
    epoch: int, lines: list[Line], tmp_path: Path
) -> None:
    roles = [] if epoch == 2 or lines[0]["kind"] == "become_follower" else [follows(8, 2, 1, 1)]
    assert offsets(of(tmp_path / "from 0", [*HEALTHY, *lines, *roles, asks(9, epoch, 0)]), SHORTER) == [((0, 10),)]
    assert of(tmp_path / "from 10", [*HEALTHY, *lines, *roles, asks(9, epoch, 10)])[SHORTER].verdict is Verdict.CLEAN


def test_near_miss_a_request_whose_line_comes_after_the_answer(tmp_path: Path) -> None:
    assert of(tmp_path, [*HEALTHY, asks(9, 1, 0)])[SHORTER].verdict is Verdict.CLEAN


# -- a follower's own high watermark -----------------------------------------------------------------------------------


def test_a_high_watermark_that_is_read_back_above_the_log(tmp_path: Path) -> None:
    """That of the leader has not reached it either, and broker 2's own two lines decide."""
    reads = [said(6, 2, "log_loaded", leo=10), said(7, 2, "hw_loaded", hw=13)]
    answers = of(tmp_path, [*HEALTHY, *restarts(5, 2, "clean_restart", *reads)])
    assert offsets(answers, "hw-above-leo") == [((10, 13),)]


# -- records of members of the ISR -------------------------------------------------------------------------------------


def forked(*between: Line) -> list[Line]:
    """Broker 2 leads epoch 2 without offsets 3 and 4 of broker 1, which follows it."""
    return [
        said(0, 1, "become_leader", leader_epoch=1, leo=0, hw=0, isr="1,2"),
        said(0, 2, "become_follower", leader=1, leader_epoch=1, leo=0, hw=0),
        said(1, 1, "append", offset=0, leo=5),
        said(2, 2, "append", offset=0, leo=3),
        said(3, 1, "hw", hw=3),
        said(4, 2, "become_leader", leader_epoch=2, leo=3, hw=3, isr="1,2"),
        said(5, 2, "append", offset=3, leo=5),
        said(6, 1, "become_follower", leader=2, leader_epoch=2, leo=5, hw=3),
        *between,
        said(8, 2, "append", offset=5, leo=7),
        said(9, 1, "append", offset=5 if not between else 3, leo=7),
        said(10, 2, "hw", hw=7),
    ]


def test_records_below_one_that_both_logs_have_differ(tmp_path: Path) -> None:
    answers = of(tmp_path, forked())
    assert offsets(answers, "epoch-divergence") == [((3, 5),)]
    assert answers["replica-divergence"].verdict is Verdict.CLEAN  # broker 1 has not heard that they are committed


def test_near_miss_the_follower_truncates_first(tmp_path: Path) -> None:
    answers = of(tmp_path, forked(said(7, 1, "truncate", offset=3)))
    assert answers["epoch-divergence"].verdict is Verdict.CLEAN


def test_near_miss_records_that_differ_at_the_end_of_a_log(tmp_path: Path) -> None:
    """Broker 1 has not fetched anything since, so it may truncate them as it does."""
    answers = of(tmp_path, forked()[:-2])
    assert answers["epoch-divergence"].verdict is Verdict.CLEAN


@pytest.mark.parametrize(("kind", "field"), [("leo", "leo"), ("log_end", "leo"), ("truncate", "offset")])
def test_a_leader_whose_log_is_shorter_without_a_reason_keeps_its_high_watermark(
    kind: str, field: str, tmp_path: Path
) -> None:
    """A truncation lowers it. Where no line shows one, the member that is shorter later is still below it."""
    lines = [said(5, 1, kind, **{field: 7}), said(6, 2, kind, **{field: 7})]
    assert offsets(of(tmp_path, [*HEALTHY, *lines]), BEHIND) == ([((7, 10),)] if kind != "truncate" else [])


def split(*isr_of_second: str, checksums: tuple[str, str] | None = None) -> list[Line]:
    """Broker 2 follows and then leads the same epoch; broker 1 continues to lead it. Both write from offset 10 on."""
    stated = {"isr": isr_of_second[0]} if isr_of_second else {}
    one, two = ({"checksum": one} for one in checksums) if checksums else ({}, {})
    return [
        *HEALTHY,
        leads(5, 2, 1, hw=10, **stated),
        said(6, 2, "append", offset=10, leo=12, **two),
        said(7, 2, "hw", hw=12),
        said(8, 1, "append", offset=10, leo=12, **one),
    ]


def test_each_of_two_leaders_of_one_epoch_has_its_own_isr(tmp_path: Path) -> None:
    assert of(tmp_path, split("2"))[BEHIND].verdict is Verdict.CLEAN, "only the other leader has broker 1 in its ISR"
    (finding,) = of(tmp_path, split("1,2"))[BEHIND].findings
    assert finding.summary.startswith("broker 2, the leader, had high watermark 12")
    alone = [*split("2"), said(9, 1, "hw", hw=12)]
    assert of(tmp_path, alone)[BEHIND].verdict is Verdict.CLEAN, "broker 2 has offsets 10 and 11"
    above = [*split("2"), said(9, 1, "append", offset=12, leo=14), said(10, 1, "hw", hw=14)]
    (finding,) = of(tmp_path, above)[BEHIND].findings
    assert finding.summary.startswith("broker 1, the leader, had high watermark 14")
    shrunk = [*above[:-1], said(9, 1, "isr_shrink", isr="1"), above[-1]]
    assert of(tmp_path, shrunk)[BEHIND].verdict is Verdict.CLEAN, "broker 1 has removed broker 2"
    committed = [*shrunk[:-1], said(9.5, 1, "isr_commit"), shrunk[-1]]
    assert of(tmp_path, committed)[BEHIND].verdict is Verdict.CLEAN
    proposed = [*shrunk, said(11, 1, "isr_commit")]
    (finding,) = of(tmp_path, proposed)[BEHIND].findings
    assert finding.summary.startswith("broker 1, the leader, had high watermark 14"), "not committed until then"


def test_two_leaders_that_begin_to_write_an_epoch_at_different_offsets_contradict_each_other(tmp_path: Path) -> None:
    lines = [
        *HEALTHY,
        said(5, 1, "append", offset=10, leo=13),
        leads(6, 2, 2, hw=10, isr="2"),
        said(7, 1, "become_leader", leader_epoch=2, leo=13, hw=10, isr="1,2"),
        said(8, 2, "append", offset=10, leo=12),
        said(9, 1, "append", offset=13, leo=14),
    ]
    found = of(tmp_path, lines)
    assert offsets(found, "epoch-divergence") == [((10, 13),)]
    assert found["two-leaders-one-epoch"].verdict is Verdict.VIOLATED
    assert offsets(of(tmp_path, lines[:-1]), "epoch-divergence") == [], "broker 1 wrote nothing in it"
    followed = [*lines[:-1], said(9, 1, "hw", hw=10)]
    assert offsets(of(tmp_path, followed), "epoch-divergence") == []


def test_two_record_batches_of_one_epoch_at_one_offset_contradict_each_other(tmp_path: Path) -> None:
    found = of(tmp_path, split("2", checksums=("x", "y")))
    assert offsets(found, "epoch-divergence") == [((10, 12),)]
    for alike in (split("2", checksums=("x", "x")), split("2")):
        assert of(tmp_path, alike)["epoch-divergence"].verdict is Verdict.CLEAN


HALF: list[Line] = [{**HEAD, "complete": [{"kinds": list(itertools.chain(*CLAIMED_BY.values()))}]}, *HEALTHY]


@pytest.mark.parametrize("rule", [BEHIND, UNCLEAN, FELL])
def test_what_other_kinds_state_is_open_where_a_trace_claims_some_kinds(rule: str, tmp_path: Path) -> None:
    found = judged(tmp_path, HALF)
    assert found[rule].verdict is Verdict.UNKNOWN
    assert found["two-leaders-one-epoch"].verdict is Verdict.CLEAN


def test_a_log_that_a_trace_claims_is_bounded_by_no_high_watermark(tmp_path: Path) -> None:
    """Broker 2 never fetched; the ISR, of which the trace claims nothing, may have lost it before offsets 0 to 4."""
    lines = [
        HALF[0],
        *HEALTHY[:2],
        said(1, 1, "append", offset=0, leo=5),
        said(2, 1, "hw", hw=5),
        said(3, 2, "become_leader", leader_epoch=2, leo=0, hw=0, isr="2"),
        said(4, 1, "become_follower", leader=2, leader_epoch=2, leo=5, hw=5),
        said(5, 2, "log_loaded", leo=0),
    ]
    assert judged(tmp_path, lines)[SHORTER].findings == ()


@pytest.mark.parametrize("start", [True, False])
def test_a_process_without_a_role_writes_no_high_watermark_of_the_partition(start: bool, tmp_path: Path) -> None:
    """Its file names replicas that have one (ReplicaManager.allPartitions); the start of the next may be left out."""
    process = {name: value for name, value in said(7, 2, "process_start").items() if name not in ("topic", "partition")}
    lines = [
        *HALF,
        {**process, "time": said(6, 2, "hw")["time"]},
        said(6, 2, "log_loaded", leo=10),
        {**process, "kind": "shutdown_begin", "time": said(20, 2, "hw")["time"]},
        *([{**process, "time": said(21, 2, "hw")["time"]}] if start else []),
        said(21, 2, "log_loaded", leo=10),
        said(21, 2, "hw_missing"),
    ]
    assert judged(tmp_path, lines)[FELL].findings == ()


def begun(first: int, second: int) -> list[Line]:
    """Both brokers begin with committed records, and broker 2 leads; nothing states the ISR before."""
    ends = {1: first, 2: second}
    loaded = [line for broker, end in ends.items()
              for line in (said(0, broker, "log_loaded", leo=end), said(0, broker, "hw_loaded", hw=end))]  # fmt: skip
    role = said(2, 1, "become_follower", leader=2, leader_epoch=3, leo=first)
    return [*loaded, said(1, 2, "become_leader", leader_epoch=3, leo=second, isr="2"), role]


@pytest.mark.parametrize(("first", "verdict"), [(10, Verdict.UNKNOWN), (8, Verdict.CLEAN), (7, Verdict.CLEAN)])
def test_a_first_leader_with_fewer_records_than_another_replica_may_be_from_outside_the_isr(
    first: int, verdict: Verdict, tmp_path: Path
) -> None:
    assert of(tmp_path, begun(first, 8))[UNCLEAN].verdict is verdict


def test_a_loss_in_an_epoch_with_two_leaders_is_whole_in_a_complete_trace(tmp_path: Path) -> None:
    lines = [
        *HEALTHY,
        *(leads(5, broker, 2, hw=10, isr="1,2") for broker in (1, 2)),
        said(6, 1, "append", offset=10, leo=12),
        said(7, 1, "isr_shrink", isr="1"),
        said(8, 1, "hw", hw=12),
        leads(9, 2, 3, hw=10, isr="2"),
    ]
    (finding,) = of(tmp_path, lines)["committed-data-lost"].findings
    assert (finding.offsets, finding.records) == (((10, 12),), (2, 2))


@pytest.mark.parametrize("broker", [1, 3])
def test_a_leader_that_gives_way_to_another_one_of_its_epoch_leaves_what_that_one_lacks(
    broker: int, tmp_path: Path
) -> None:
    """Broker 1 has committed offset 10. A follower that changes sides loses nothing: broker 1 still leads."""
    lines = [
        *HEALTHY,
        said(4, 3, "become_follower", leader=1, leader_epoch=1, leo=0, hw=0),
        leads(5, 1, 2, hw=10, isr="1"),
        leads(5, 2, 2, hw=10, isr="2"),
        said(6, 1, "append", offset=10, leo=11),
        said(7, 1, "hw", hw=11),
        said(8, broker, "become_follower", leader=2, leader_epoch=2, leo=11 if broker == 1 else 0),
    ]
    found = judged(tmp_path, [{**HEAD, "replicas": [1, 2, 3]}, *lines])
    assert offsets(found, "committed-data-lost") == ([((10, 11),)] if broker == 1 else [])


@pytest.mark.parametrize(
    ("kept", "hw", "lost"), [([], 12, [((10, 12),)]), ([], 10, []), ([12], 10, [((10, 12),)]), ([10], 10, [])]
)
def test_records_that_were_gone_before_the_trace_are_lost_to_its_first_leader(
    kept: list[int], hw: int, lost: list[object], tmp_path: Path
) -> None:
    """A host lost power: the checkpoint file kept high watermark 12, and the log has 10 records."""
    lines = [
        *(said(0, 1, "hw_checkpoint", hw=one) for one in kept),
        said(0, 1, "log_loaded", leo=10),
        said(0, 1, "hw_loaded", hw=hw),
        said(0, 2, "log_loaded", leo=10),
        leads(1, 1, 3, hw=10, isr="1"),
        follows(2, 2, 1, 3),
        said(3, 1, "append", offset=10, leo=15),
    ]
    assert offsets(of(tmp_path, lines), "committed-data-lost") == lost


@pytest.mark.parametrize(("hw", "lost"), [(12, [((10, 12),)]), (10, [])])
def test_records_below_the_high_watermark_of_a_first_role_are_lost_if_no_log_has_them(
    hw: int, lost: list[object], tmp_path: Path
) -> None:
    lines = [
        *(said(0, broker, "log_loaded", leo=10) for broker in (1, 2)),
        leads(1, 1, 3, hw=8, isr="1,2"),
        follows(2, 2, 1, 3) | {"leo": 10, "hw": hw},
    ]
    assert offsets(of(tmp_path, lines), "committed-data-lost") == lost


@pytest.mark.parametrize("later", [[], [leads(8, 2, 3, hw=10, isr="2")]])
@pytest.mark.parametrize(("isr", "outside"), [("2", True), ("1,2", False)])
def test_a_leader_that_only_a_follower_names_was_elected_too(
    isr: str, outside: bool, later: list[Line], tmp_path: Path
) -> None:
    """Broker 1 dies before it takes its epoch up, or the trace ends before. Its election may have shrunk the ISR."""
    lines = [
        *(said(0, broker, "become_follower", leader=2, leader_epoch=1, leo=0) for broker in (1, 3)),
        leads(1, 2, 1, hw=0, isr="1,2") | {"leo": 0},
        said(2, 2, "append", offset=0, leo=10),
        *([said(3, 1, "append", offset=0, leo=10)] if not outside else []),
        said(4, 2, "isr_shrink", isr=isr),
        said(5, 2, "hw", hw=10),
        follows(6, 2, 1, 2),
        *later,
    ]
    found = judged(tmp_path, [{**HEAD, "replicas": [1, 2, 3]}, *lines])[UNCLEAN]
    assert [one.epochs[0] for one in found.findings][:1] == ([2] if outside else [])
    assert found.verdict is (Verdict.VIOLATED if outside else Verdict.UNKNOWN if later else Verdict.CLEAN)
