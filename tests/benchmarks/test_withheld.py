"""``make withheld``: evidence is withheld in each way, and an answer that the whole evidence denies is reported."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.same.corpus import Files, recorded
from benchmarks.same.cuts import Evidence
from benchmarks.withheld import trial
from benchmarks.withheld.__main__ import main
from benchmarks.withheld.edits import Edit, edited
from benchmarks.withheld.trial import Place, drawn, fewest, wrong
from benchmarks.withheld.ways import WAYS
from forensics.replay.confidence import Confidence
from forensics.rules.finding import Finding, Judgement, Severity, Verdict, judgement
from forensics.rules.wants import Artefact, Question, Want, anywhere

LOST = "committed-data-lost"
PLACE = Place("c", "orders", 0, 0, LOST)
OPEN = judgement(LOST, [], [Want(Question.ANY_FILES, (anywhere(Artefact.DATA_DIRECTORY),))])
CLEAN = judgement(LOST, [], [])


def lost(first: int, end: int) -> Judgement:
    """A loss of some offsets."""
    return judgement(LOST, [Finding(LOST, Severity.CRITICAL, "orders", 0, "lost", offsets=((first, end),))], [])


@pytest.mark.parametrize("way", WAYS)
def test_each_way_changes_evidence_and_is_drawn_again_by_its_seed(way: str) -> None:
    (case,) = [one for one in recorded() if one.name == "sample_traces/flap-3.9.1"]
    files = case.files()
    left = [edited(files, WAYS[way](Evidence(files), Random(seed))) for seed in range(4)]
    assert any(one != files for one in left)
    again = [edited(files, WAYS[way](Evidence(files), Random(seed))) for seed in range(4)]
    assert again == left
    assert [edit.text for edit in drawn(files, "a:1", [way])[1]] == [
        edit.text for edit in drawn(files, "a:1", [way])[1]
    ]


@pytest.mark.parametrize(
    ("whole", "part", "kinds"),
    [
        (CLEAN, lost(5, 9), ["FALSE"]),
        (lost(5, 9), CLEAN, ["MISS"]),
        (lost(5, 9), lost(5, 12), ["BEYOND"]),
        (lost(5, 9), lost(6, 7), []),
        (lost(5, 9), OPEN, []),
        (OPEN, lost(5, 9), ["decided"]),
        (OPEN, CLEAN, ["cleared"]),
        (CLEAN, OPEN, []),
    ],
)
def test_an_answer_is_wrong_if_the_whole_evidence_denies_it(
    whole: Judgement, part: Judgement, kinds: list[str]
) -> None:
    assert whole.verdict in Verdict
    assert [one.kind for one in wrong({PLACE: whole}, {PLACE: part})] == kinds
    # Without a file that names the cluster, it is still compared with the same partition.
    assert [one.kind for one in wrong({PLACE: whole}, {PLACE._replace(cluster=None): part})] == kinds


def test_what_is_only_suspected_is_no_answer() -> None:
    finding = Finding(LOST, Severity.ERROR, "orders", 0, "lost", offsets=((5, 9),), unproven=("one file",))
    assert finding.confidence is not Confidence.SUSPECTED
    assert [one.kind for one in wrong({PLACE: CLEAN}, {PLACE: judgement(LOST, [finding], [])})] == ["FALSE"]


def test_changes_that_are_not_needed_are_left_out() -> None:
    edits = [Edit(str(number), lambda files: files) for number in range(20)]
    least = fewest(edits, lambda some: {"3", "17"} <= {edit.text for edit in some})
    assert [edit.text for edit in least] == ["3", "17"]


def test_a_wrong_answer_is_printed_once_with_what_shows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def answers(files: Files, folder: Path) -> trial.Answers:
        return {PLACE: CLEAN if "broker-1/logs/server.log" in files else lost(5, 9)}

    monkeypatch.setattr("benchmarks.withheld.__main__.answers", answers)
    given = ["--case", "kip101-0.10.2.2", "--way", "one_broker_alone", "--trials", "9", "--keep", str(tmp_path)]
    assert main(given) == 1
    printed = capsys.readouterr().out
    assert printed.count("FALSE") == 2  # once with what shows it, once in the counts
    assert "    - broker-1/logs/server.log\n" in printed
    (kept,) = tmp_path.iterdir()
    assert not (kept / "broker-1/logs/server.log").exists()
    assert (kept / "broker-2/logs/server.log").exists()


def test_a_sample_is_answered_alike_with_less_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--case", "kip101-0.10.2.2", "--trials", "2", "--seed", "3"]) == 0
    assert "2 trials" in capsys.readouterr().out
