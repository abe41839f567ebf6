"""A time that runs backwards within one witness: the line counts, and costs only what depends on its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.replay.traces.line_orders import orders
from forensics.rules.finding import Verdict
from tests.rules.traced import Line, judged, said, text

HEAD: Line = {"kind": "trace", "cluster": "c", "replicas": [1, 2], "complete": True}

HEALTHY = [
    said(0, 1, "become_leader", leader_epoch=3, leo=0, isr="1,2"),
    said(0, 2, "become_follower", leader=1, leader_epoch=3, leo=0),
    said(10, 1, "append", offset=0, leo=10),
    said(20, 2, "append", offset=0, leo=10),
    said(30, 1, "hw", hw=10),
    said(40, 2, "hw", hw=10),
]


def at(second: float, line: Line) -> Line:
    return line | {"time": said(second, 1, "hw")["time"]}


def verdicts(folder: Path, lines: list[Line], **fields: Any) -> set[Verdict]:
    """The verdicts of the rules that a trace can answer."""
    answers = judged(folder, [HEAD | fields, *lines])
    return {one.verdict for rule, one in answers.items() if rule != "evidence-gap"} - {Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize(
    "lines",
    [
        [*HEALTHY, said(5, 1, "hw", hw=10)],
        [
            *HEALTHY,
            said(5, 1, "hw", hw=10),
            said(50, 1, "hw", hw=10),
            said(7, 2, "hw", hw=10),
            said(56, 2, "hw", hw=10),
        ],
        [at(9, HEALTHY[0]), HEALTHY[1], at(8, HEALTHY[2]), *HEALTHY[3:]],  # either of the two times may be wrong
    ],
)
def test_a_line_whose_place_does_not_matter_costs_nothing(lines: list[Line], tmp_path: Path) -> None:
    assert verdicts(tmp_path, lines) == {Verdict.CLEAN}


def test_the_notice_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text([HEAD, *HEALTHY, said(5, 1, "hw", hw=10)]))
    (notice,) = scan([str(path)]).case.notices.select("line", "reason").rows()
    assert notice == (8, '"time" runs backwards: lines of one witness must be in the order of their times')


def test_lines_of_one_witness_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    (fall,) = judged(tmp_path, [HEAD, *HEALTHY, said(25, 1, "hw", hw=8)])["hw-regression"].findings
    assert (fall.before, fall.after) == ({"high_watermark": 10}, {"high_watermark": 8})


def test_a_place_that_decides_is_unknown(tmp_path: Path) -> None:
    behind = [
        *HEALTHY,
        said(50, 1, "append", offset=10, leo=15),
        said(12, 1, "hw", hw=15),
        said(56, 2, "append", offset=10, leo=15),
        said(58, 1, "hw", hw=15),
    ]
    answers = judged(tmp_path, [HEAD, *behind])
    assert answers["hw-above-isr-member"].verdict is Verdict.UNKNOWN
    (want, *_) = answers["committed-data-lost"].missing
    assert want.because is not None
    assert want.because.text.startswith("line 9: the time of broker 1 runs backwards")


def test_lines_in_another_order_than_their_times_show_nothing_wrong(tmp_path: Path) -> None:
    """Several threads of one process may write lines whose times are right."""
    swapped = [*HEALTHY[:2], HEALTHY[4], HEALTHY[3], HEALTHY[2], HEALTHY[5]]
    assert verdicts(tmp_path, swapped) == {Verdict.UNKNOWN}


def test_what_each_order_shows_counts(tmp_path: Path) -> None:
    """Broker 2 leads without four committed records, wherever the last line of broker 2 belongs."""
    lines = [
        *HEALTHY[:2],
        said(1, 1, "append", offset=0, leo=10),
        said(2, 2, "append", offset=0, leo=6),
        said(3, 1, "isr_shrink", isr="1"),
        said(4, 1, "hw", hw=10),
        said(8, 2, "become_leader", leader_epoch=4, leo=6, isr="2"),
        said(9, 1, "become_follower", leader=2, leader_epoch=4, leo=10),
        said(10, 1, "truncate", offset=6),
        said(11, 2, "leo", leo=6),
        said(7, 2, "leo", leo=6),
        said(12, 2, "leo", leo=6),
    ]
    (loss,) = judged(tmp_path, [HEAD, *lines])["committed-data-lost"].findings
    assert loss.offsets == ((6, 10),)


def test_other_partitions_keep_the_claim(tmp_path: Path) -> None:
    other = [line | {"topic": "payments"} for line in HEALTHY]
    path = tmp_path / "trace.jsonl"
    behind = [
        said(50, 1, "append", offset=10, leo=15),
        said(12, 1, "hw", hw=15),
        said(56, 2, "append", offset=10, leo=15),
    ]
    path.write_text(text([HEAD, *HEALTHY, *behind, said(58, 1, "hw", hw=15), *other]))
    found = {one.history.topic: one.judgements["committed-data-lost"].verdict for one in scan([str(path)]).partitions}
    assert found == {"orders": Verdict.UNKNOWN, "payments": Verdict.CLEAN}


def test_one_observer_whose_lines_of_two_replicas_run_backwards_claims_nothing(tmp_path: Path) -> None:
    """Only the lines of one replica have an order of their own, besides that of their times."""
    seen = [line | {"witness": 9, "replica": line["witness"]} for line in HEALTHY]
    assert verdicts(tmp_path / "in order", seen) == {Verdict.CLEAN}
    assert Verdict.UNKNOWN in verdicts(tmp_path / "not", [*seen[:4], seen[5], seen[4]])


def test_a_claim_of_a_part_does_not_count_there(tmp_path: Path) -> None:
    """A part cannot be played in each order."""
    complete = [{"replicas": [1, 2], "kinds": ["become_leader", "become_follower"]}]
    assert Verdict.CLEAN in verdicts(tmp_path / "sound", HEALTHY, complete=complete)
    assert verdicts(tmp_path / "not", [*HEALTHY, said(5, 1, "hw", hw=10)], complete=complete) == {Verdict.UNKNOWN}


def test_very_many_orders_are_not_tried(tmp_path: Path) -> None:
    lines = [*HEALTHY, *(said(45 + n, 2, "hw", hw=10) for n in range(9)), said(58, 1, "hw", hw=10)]
    back = [said(41, 1, "hw", hw=10), said(59, 1, "hw", hw=10)]
    assert verdicts(tmp_path / "few", [*lines, *back]) == {Verdict.CLEAN}
    many = [said(29 - n, 1, "hw", hw=10) for n in range(4)]
    assert verdicts(tmp_path / "many", [*lines[:-1], *many, back[-1]]) == {Verdict.UNKNOWN}
    assert orders([]) == [[]]
