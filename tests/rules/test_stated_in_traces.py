"""What a witness states of one replica decides by itself, whatever else is missing; and what looks like it does not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Verdict
from tests.rules.traced import LEADS, Line, judged, said

ABOVE, EPOCHS = "hw-above-leo", "epoch-divergence"
OLD: Line = {"kind": "trace", "release": "2.3.1"}
NEW: Line = {"kind": "trace", "release": "2.4.0"}
FOLLOWS = said(0, 1, "become_follower", leader=2, leader_epoch=3, leo=10, hw=15)


@pytest.mark.parametrize(
    ("lines", "replica"),
    [
        ([*LEADS, said(5, 1, "leo", leo=10, hw=15)], 1),
        ([*LEADS, said(5, 1, "hw", leo=10, hw=15)], 1),
        ([*LEADS, said(5, 2, "leo", leo=10, hw=15)], 2),
        ([said(5, 2, "append", offset=9, leo=10, hw=15)], 2),
        ([said(5, 9, "leo", replica=2, leo=10, hw=15)], 2),
        ([*LEADS, said(5, 1, "leo", leo=10), said(5, 1, "hw", hw=15)], 1),
        ([*LEADS, said(5, 1, "hw", hw=15), said(5, 1, "leo", leo=10)], 1),
        ([said(0, 1, "become_leader", leader_epoch=3, leo=10, hw=15, isr="1,2")], 1),
        ([FOLLOWS], 1),
        ([said(5, 1, "log_loaded", leo=10), said(5, 1, "hw_loaded", hw=15)], 1),
        # The log has grown again since it was truncated, so what was in memory is gone (up to 2.3).
        ([OLD, said(4, 2, "truncate", offset=8), said(5, 2, "leo", leo=9), said(5, 2, "leo", leo=10, hw=15)], 2),
        ([NEW, said(4, 2, "truncate", offset=10), said(5, 2, "leo", leo=10, hw=15)], 2),
        ([said(4, 2, "truncate", offset=10), said(5, 2, "hw", leo=10, hw=15)], 2),
    ],
    ids=[
        "leader", "leader, kind hw", "follower", "append", "somebody else says it", "two lines", "two lines, turned",
        "as leader", "as follower", "as loaded", "after a truncation and more records",
        "after a truncation, 2.4", "after a truncation, no release",
    ],
)  # fmt: skip
def test_high_watermark_above_log_end(lines: list[Line], replica: int, tmp_path: Path) -> None:
    answer = judged(tmp_path, lines)[ABOVE]
    assert answer.verdict is Verdict.VIOLATED
    (finding,) = answer.findings
    assert (finding.replicas, finding.offsets, finding.confidence) == ((replica,), ((10, 15),), Confidence.PROVEN)
    assert finding.before | finding.after == {"high_watermark": 15, "log_end_offset": 10}
    assert finding.evidence


def test_a_checkpoint_above_a_later_log_end_shows_nothing_without_a_claim(tmp_path: Path) -> None:
    """Between the two the log may have been truncated, and the line of that may be missing."""
    lines = [*LEADS, said(5, 1, "hw_checkpoint", hw=15), said(7, 1, "leo", leo=10)]
    assert judged(tmp_path, lines)[ABOVE].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "lines",
    [
        [said(5, 1, "hw", hw=0), said(5, 1, "append", offset=0, leo=15), said(5, 1, "hw", hw=15)],
        [said(5, 1, "leo", leo=10), said(5, 1, "hw", hw=15), said(5, 1, "leo", leo=15)],
        [said(5, 1, "leo", leo=10), said(5.001, 1, "hw", hw=15)],
        [said(5, 1, "append", offset=0, leo=10), said(5, 1, "hw", hw=15)],
        [said(5, 1, "leo", leo=15, hw=15)],
        [OLD, said(4, 2, "leo", leo=15), said(5, 2, "truncate", offset=10), said(5, 2, "leo", leo=10, hw=15)],
        [said(4, 2, "hw", hw=15), said(5, 2, "truncate", offset=10), said(6, 2, "leo", leo=10)],
        [said(4, 2, "hw_checkpoint", hw=15), said(5, 2, "truncate", offset=10), said(6, 2, "leo", leo=10)],
        [said(5, 1, "leo", leo=10), said(5, 2, "hw", hw=15)],
        [said(5, 1, "remote_leo", replica=2, leo=10), said(5, 1, "hw", hw=15)],
        [
            OLD,
            said(4, 2, "truncate", offset=10),
            said(5, 2, "become_leader", leader_epoch=4, leo=10, hw=15, isr="2"),
        ],
    ],
    ids=[
        "append between", "more at the same moment", "another moment", "an append may be missing", "equal",
        "kept in memory after a truncation", "truncated, then stated", "truncated since the checkpoint",
        "two replicas", "a follower as its leader knows it", "kept in memory as leader",
    ],
)  # fmt: skip
def test_near_misses_of_a_high_watermark_above_log_end(lines: list[Line], tmp_path: Path) -> None:
    assert judged(tmp_path, [*LEADS, *lines])[ABOVE].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("kind", ["epoch_entry", "epoch_assigned"])
@pytest.mark.parametrize("other", [1, 2], ids=["one witness", "two witnesses"])
def test_one_epoch_with_two_starts(kind: str, other: int, tmp_path: Path) -> None:
    lines = [*LEADS, said(5, 1, kind, leader_epoch=3, offset=10), said(6, other, kind, leader_epoch=3, offset=4)]
    answer = judged(tmp_path, lines)[EPOCHS]
    assert answer.verdict is Verdict.VIOLATED
    (finding,) = answer.findings
    assert (finding.epochs, finding.offsets) == ((3,), ((4, 10),))
    assert (finding.replicas, finding.confidence) == (tuple(sorted({1, other})), Confidence.PROVEN)


@pytest.mark.parametrize(
    "lines",
    [
        [said(5, 1, "epoch_entry", leader_epoch=3, offset=4), said(6, 2, "epoch_entry", leader_epoch=3, offset=4)],
        [said(5, 1, "epoch_entry", leader_epoch=3, offset=4), said(6, 1, "epoch_entry", leader_epoch=4, offset=10)],
        [
            said(4, 2, "log_start", log_start=10),
            said(5, 1, "epoch_entry", leader_epoch=3, offset=4),
            said(6, 2, "epoch_entry", leader_epoch=3, offset=10),
        ],
        [
            said(4, 1, "epoch_assigned", leader_epoch=3, offset=4),
            said(5, 1, "log_loaded", leo=10),
            said(6, 1, "epoch_entry", leader_epoch=3, offset=8),
            said(6, 1, "epoch_entry", leader_epoch=4, offset=10),
        ],
        [
            said(4, 2, "compacted", offset=9),
            said(5, 1, "epoch_entry", leader_epoch=3, offset=4),
            said(6, 2, "epoch_entry", leader_epoch=3, offset=10),
        ],
        [
            said(4, 1, "epoch_assigned", leader_epoch=3, offset=0),
            said(5, 2, "truncate_full", offset=50),
            said(6, 2, "epoch_assigned", leader_epoch=3, offset=50),
        ],
        [
            said(4, 1, "epoch_assigned", leader_epoch=3, offset=0),
            said(5, 2, "log_created"),
            said(6, 2, "append", offset=50, leo=60),
            said(7, 2, "epoch_assigned", leader_epoch=3, offset=50),
        ],
        [
            said(4, 1, "epoch_entry", leader_epoch=3, offset=8),
            said(5, 2, "state", log_start=10),
            said(6, 2, "epoch_entry", leader_epoch=3, offset=10),
        ],
    ],
    ids=[
        "equal", "two epochs", "the beginning was removed", "rebuilt by recovery", "compacted",
        "replica added after retention", "the same, without a truncation", "the state has a log start offset",
    ],
)  # fmt: skip
def test_near_misses_of_one_epoch_with_two_starts(lines: list[Line], tmp_path: Path) -> None:
    assert judged(tmp_path, [*LEADS, *lines])[EPOCHS].verdict is Verdict.UNKNOWN


# -- a truncation below a high watermark of the same role --------------------------------------------------------------

CUT = "truncation-below-committed"


@pytest.mark.parametrize(
    ("lines", "replica"),
    [
        ([said(4, 2, "append", offset=0, leo=20), said(5, 2, "hw", hw=15), said(6, 2, "truncate", offset=10)], 2),
        ([said(4, 2, "leo", leo=20), said(5, 2, "hw", hw=15), said(6, 2, "truncate", offset=10)], 2),
        ([said(4, 1, "append", offset=0, leo=20), said(5, 1, "hw", hw=15), said(6, 1, "truncate", offset=10)], 1),
        (
            [
                said(4, 2, "append", offset=0, leo=20),
                said(5, 2, "hw", hw=15),
                said(6, 2, "truncate", offset=17),
                said(7, 2, "truncate", offset=10),
            ],
            2,
        ),
    ],
    ids=["follower", "follower, states alone", "leader", "in two steps"],
)
def test_truncation_below_a_high_watermark_of_the_same_epoch(lines: list[Line], replica: int, tmp_path: Path) -> None:
    answer = judged(tmp_path, [*LEADS, *lines])[CUT]
    assert answer.verdict is Verdict.VIOLATED
    (finding,) = answer.findings
    assert (finding.replicas, finding.offsets, finding.confidence) == ((replica,), ((10, 15),), Confidence.PROVEN)


LATER = said(6, 2, "become_follower", leader=1, leader_epoch=4, leo=15)


@pytest.mark.parametrize(
    "lines",
    [
        # The high watermark is its leader's, taken over before the log is reconciled (KAFKA-14704).
        [LATER, said(6, 2, "hw", hw=15), said(7, 2, "truncate", offset=10)],
        # What it removes it had before its leader sent anything: a high watermark does not speak of that.
        [LATER, said(7, 2, "append", offset=15, leo=16), said(8, 2, "hw", hw=15), said(9, 2, "truncate", offset=10)],
        [said(4, 2, "append", offset=0, leo=20), said(5, 2, "hw", hw=15), said(6, 2, "truncate", offset=15)],
        [said(4, 2, "append", offset=0, leo=20), said(5, 2, "truncate", offset=10), said(6, 2, "hw", hw=15)],
        [said(4, 2, "append", offset=0, leo=20), said(5, 1, "leo", leo=20), said(6, 2, "truncate", offset=10)],
    ],
    ids=["not reconciled", "older records", "down to it", "before it", "no high watermark"],
)
def test_near_misses_of_a_truncation_in_the_same_epoch(lines: list[Line], tmp_path: Path) -> None:
    assert judged(tmp_path, [*LEADS, *lines])[CUT].verdict is Verdict.UNKNOWN


# -- two leaders of one epoch ------------------------------------------------------------------------------------------

TWO = "two-leaders-one-epoch"
WRITES = said(4, 1, "append", offset=0, leo=20)


@pytest.mark.parametrize(
    "lines",
    [
        [WRITES, said(5, 2, "become_leader", leader_epoch=3, leo=0), said(6, 2, "append", offset=0, leo=8)],
        [WRITES, said(5, 1, "become_follower", leader=2, leader_epoch=3, leo=20)],
    ],
    ids=["follows, then leads", "leads, then follows"],
)
def test_one_broker_names_two_leaders_of_one_epoch(lines: list[Line], tmp_path: Path) -> None:
    answer = judged(tmp_path, [*LEADS, *lines])[TWO]
    assert answer.verdict is Verdict.VIOLATED
    (finding,) = answer.findings
    assert (finding.replicas, finding.epochs, finding.confidence) == ((1, 2), (3,), Confidence.PROVEN)


@pytest.mark.parametrize(
    "lines",
    [
        [WRITES, said(5, 2, "become_leader", leader_epoch=4, leo=0), said(6, 2, "append", offset=0, leo=8)],
        [WRITES, said(5, 2, "become_follower", leader=1, leader_epoch=3, leo=0)],
        [WRITES, said(5, 2, "become_follower", leader=-1, leader_epoch=3, leo=0)],
        [WRITES, said(5, 2, "become_leader", leader_epoch=2, leo=0)],
    ],
    ids=["in the next epoch", "the same leader again", "no leader", "a stale request"],
)
def test_near_misses_of_two_leaders(lines: list[Line], tmp_path: Path) -> None:
    assert judged(tmp_path, [*LEADS, *lines])[TWO].verdict is Verdict.UNKNOWN


def test_rules_about_files_are_not_asked_of_a_trace(sample_traces: Path, scanned: Callable[[Path], Result]) -> None:
    """A complete trace of a healthy partition leaves no question open, and asks for no file."""
    (partition,) = scanned(sample_traces / "written" / "healthy").partitions
    silent = [rule.id for rule in RULES if rule.about_files or rule.id == "lso-above-hw"]
    assert partition.verdicts(Verdict.NOT_APPLICABLE) == silent
    assert partition.verdicts(Verdict.CLEAN) == [rule.id for rule in RULES if rule.id not in silent]


def test_files_beside_a_trace_are_asked_for(sample_traces: Path, tmp_path: Path) -> None:
    """As soon as one file of a broker is there, its other files may be too."""
    trace = (sample_traces / "written" / "healthy" / "trace.jsonl").read_text()
    cluster = json.loads(trace.splitlines()[0])["cluster"]
    (tmp_path / "trace.jsonl").write_text(trace)
    shutil.copytree(sample_traces / "rotated-2.8.2" / "broker-1" / "data", tmp_path / "broker-1" / "data")
    (tmp_path / "broker-1" / "data" / "meta.properties").write_text(f"version=1\nbroker.id=1\ncluster.id={cluster}\n")
    found = scan([str(tmp_path)]).partitions
    assert len(found) > 1
    assert {rule for one in found for rule in one.verdicts(Verdict.NOT_APPLICABLE)} == {"lso-above-hw"}


@pytest.mark.parametrize(
    "between",
    [
        [],
        [said(5, 1, "follower_fetched", leader=2, leader_epoch=4, leo=60)],
        [{"time": "2026-01-01T10:00:05Z", "witness": 1, "kind": "process_start"}],
        [said(5, 2, "become_leader", leader_epoch=4, leo=45, isr="2")],
    ],
    ids=["nothing between", "it fetched as a follower", "another process", "another leader"],
)
def test_a_log_end_of_a_leader_that_falls_is_suspected_without_a_claim(between: list[Line], tmp_path: Path) -> None:
    """A leader only appends, but the line of a truncation or of another role may be missing."""
    lead = said(0, 1, "become_leader", leader_epoch=3, leo=60, hw=40, isr="1,2")
    answer = judged(tmp_path, [lead, *between, said(6, 1, "leo", leo=45)])["leo-regression"]
    assert answer.verdict is Verdict.UNKNOWN
    (finding,) = answer.findings
    assert (finding.replicas, finding.offsets, finding.confidence) == ((1,), ((45, 60),), Confidence.SUSPECTED)


def test_near_misses_of_a_log_end_of_a_leader_that_falls(tmp_path: Path) -> None:
    """A new role, an append or a truncation explains it."""
    lead = said(0, 1, "become_leader", leader_epoch=3, leo=50, hw=40, isr="1,2")
    near = {
        "grows": [lead, said(5, 1, "leo", leo=60), said(6, 1, "leo", leo=60)],
        "follower": [FOLLOWS, said(5, 1, "leo", leo=60), said(5, 1, "truncate", offset=45), said(6, 1, "leo", leo=45)],
        "role": [lead, said(5, 1, "leo", leo=60), said(6, 1, "become_leader", leader_epoch=4, leo=45, isr="1")],
        "order": [lead, said(5, 1, "append", offset=55, leo=60), said(6, 1, "append", offset=50, leo=55)],
        "other": [lead, said(5, 1, "leo", leo=60), said(6, 1, "leo", replica=2, leo=45)],
    }
    for name, lines in near.items():
        assert judged(tmp_path, lines)["leo-regression"].findings == (), name


# -- lines that a trace without a claim may leave out ------------------------------------------------------------------

_FOLLOWED = [
    said(0, 1, "become_leader", leader_epoch=0, leo=0, hw=0, isr="1,2"),
    said(1, 2, "become_follower", leader=1, leader_epoch=0, leo=0, hw=0),
    said(2, 1, "become_follower", leader=2, leader_epoch=1, leo=11, hw=0),
    said(3, 1, "truncate", offset=0),
    said(4, 2, "hw", hw=6),
]


@pytest.mark.parametrize(
    "last",
    [
        said(5, 1, "become_follower", leader=2, leader_epoch=1, leo=6, hw=6),
        said(5, 2, "leader_and_isr", leader=2, leader_epoch=1, isr="1,2"),
    ],
    ids=["stated twice in one role", "before the only line on the next role"],
)
def test_a_high_watermark_is_not_put_into_an_older_epoch(last: Line, tmp_path: Path) -> None:
    """Broker 2 led in epoch 1 when it stated it, so it is about the records of that epoch."""
    answer = judged(tmp_path, [*_FOLLOWED, last])[CUT]
    assert (answer.verdict, answer.findings) == (Verdict.UNKNOWN, ())


@pytest.mark.parametrize("kind", ["become_leader", "leader_and_isr"])
def test_one_stated_election_does_not_show_all_of_them(kind: str, tmp_path: Path) -> None:
    """A trace that claims nothing may leave the next election out."""
    lines = [
        said(0, 9, "partition_created", leader=1, leader_epoch=0, isr="1,2"),
        said(1, 1, "append", offset=3, leo=4, leader_epoch=0),
        said(2, 2, kind, leader=2, leader_epoch=1, isr="1,2"),
    ]
    answer = judged(tmp_path, lines)["unclean-election"]
    assert answer.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "lines",
    [
        [said(0, 1, "state", last_stable_offset=9), said(1, 1, "state", last_stable_offset=5)],
        [said(0, 1, "log_start", log_start_offset=10), said(1, 1, "epoch_entry", leader_epoch=3, offset=10)],
        [said(0, 1, "log_end", log_start_offset=10, leo=30)],
    ],
    ids=["last stable offset", "log start offset", "log end offset"],
)
def test_each_partition_of_a_trace_is_judged(lines: list[Line], tmp_path: Path) -> None:
    answers = judged(tmp_path, lines)
    assert answers["committed-data-lost"].verdict is Verdict.UNKNOWN
    assert not any(answer.findings for rule, answer in answers.items() if rule != "evidence-gap")
