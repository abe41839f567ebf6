"""Every recorded cluster: what the rules answer is what clients saw, offsets included."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy import LOUD, QUESTIONS, answer, find
from forensics.replay.lineage import merge
from forensics.result import Result
from forensics.rules.finding import Verdict

Scanned = Callable[[Path], Result]


def truth_of(trace: Path) -> dict[str, Any]:
    return dict(json.loads((trace / "truth.json").read_text(encoding="utf-8")))


def test_the_answers_are_what_clients_saw(trace: Path, scanned: Scanned) -> None:
    given = answer(trace, scanned(trace))
    assert given.wrong == []
    assert given.alarms == []
    assert given.verdicts.keys() == {rule for rule, _ in QUESTIONS.values()}


def test_the_samples_leave_no_question_open(sample: Path, scanned: Scanned) -> None:
    assert answer(sample, scanned(sample)).unknown == []


def test_logs_end_where_they_were_seen_to_end(trace: Path, scanned: Scanned) -> None:
    truth = truth_of(trace)
    partition = find(scanned(trace), truth["topic"])
    assert partition is not None
    seen = truth.get("replica_ends", {})
    ends = {broker: partition.history.replicas[int(broker)].end for broker in seen}
    assert ends == seen


def test_other_partitions_are_judged_for_themselves(trace: Path, scanned: Scanned) -> None:
    """Where a topic lost records, a neighbour that lost none must stay clean."""
    for other in truth_of(trace).get("other_partitions", []):
        partition = find(scanned(trace), other["topic"])
        assert partition is not None, other["topic"]
        for rule, ranges in (
            ("committed-data-lost", other["lost_acked_all"]),
            ("replica-divergence", other["diverged_offsets"]),
        ):
            found = merge(piece for f in partition.judgements[rule].findings for piece in f.offsets)
            assert found == [tuple(piece) for piece in ranges], f"{other['topic']} {rule}"


def test_hw_above_leo_where_a_dead_replica_lacks_what_it_promised(trace: Path, scanned: Scanned) -> None:
    truth = truth_of(trace)
    expected = truth["expect"].get("hw_above_leo", False)
    partition = find(scanned(trace), truth["topic"])
    assert partition is not None
    loud = [f for f in partition.judgements["hw-above-leo"].findings if f.severity in LOUD]
    assert bool(loud) == expected


# -- the comparison can fail -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"expect": {"truncated_below_hw": False, "lost_committed": True, "diverged": True}},
            "truncation-below-committed",
        ),
        ({"expect": {"truncated_below_hw": True, "lost_committed": False, "diverged": True}}, "committed-data-lost"),
        ({"lost_acked_all": [[50, 79]]}, "committed-data-lost"),
        ({"diverged_offsets": [[49, 80]]}, "replica-divergence"),
        ({"topic": "orders-7"}, "orders-7"),
    ],
)
def test_another_truth_is_contradicted(
    change: dict[str, Any], complaint: str, sample_traces: Path, scanned: Scanned, tmp_path: Path
) -> None:
    sample = sample_traces / "kip101-0.10.2.2"
    (tmp_path / "truth.json").write_text(json.dumps(truth_of(sample) | change), encoding="utf-8")
    (wrong,) = answer(tmp_path, scanned(sample)).wrong
    assert complaint in wrong


def test_an_alarm_over_a_healthy_cluster_is_counted(sample_traces: Path, scanned: Scanned, tmp_path: Path) -> None:
    healthy = {"expect": dict.fromkeys(QUESTIONS, False), "topic": "orders-0"}
    (tmp_path / "truth.json").write_text(json.dumps(healthy), encoding="utf-8")
    given = answer(tmp_path, scanned(sample_traces / "crashscene-1.1.1"))
    assert given.wrong == []
    (alarm,) = given.alarms
    assert "hw-above-leo" in alarm


def test_the_truth_is_never_read(sample_traces: Path, tmp_path: Path, scanned: Scanned) -> None:
    """Without truth.json and README.md, and under another name, the answers are the same."""
    sample = sample_traces / "kip101-0.10.2.2"
    case = tmp_path / "x"
    shutil.copytree(sample, case, ignore=shutil.ignore_patterns("truth.json", "README.md"))
    there, here = scanned(sample), scanned(case)
    assert [f.fingerprint for f in here.findings] == [f.fingerprint for f in there.findings]
    assert [f.summary for f in here.findings] == [f.summary for f in there.findings]
    assert [[p.judgements[r].verdict for r in p.judgements] for p in here.partitions] == [
        [p.judgements[r].verdict for r in p.judgements] for p in there.partitions
    ]
    assert any(p.judgements["committed-data-lost"].verdict is Verdict.VIOLATED for p in here.partitions)
