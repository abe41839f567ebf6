"""Accuracy of the rules: every case with a known truth, question by question.

A case is a folder of evidence with a ``truth.json`` that states what clients saw. ``expect`` has the three questions
(was a replica truncated below the committed offset, was committed data lost, did replicas diverge). ``lost_acked_all``
and ``diverged_offsets`` are half-open ranges, and ``rules`` has every rule that must find something. If a truth has no
``rules``, the fault decides which rules besides those of ``expect`` must find something. If the fault is not listed
here, these rules are not judged. The tool itself never reads that file.

    python -m benchmarks.accuracy [FOLDER ...]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import partitions
from forensics.engines.local import scan
from forensics.replay.lineage import Range, merge
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Severity, Verdict
from tools.samples import unpacked

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = {
    # key of `expect`, rule that answers it, key of the offsets in the truth
    "truncated_below_hw": ("truncation-below-committed", None),
    "lost_committed": ("committed-data-lost", "lost_acked_all"),
    "diverged": ("replica-divergence", "diverged_offsets"),
}
FAULTS: dict[str, tuple[str, ...]] = {
    # what was done, and which rule sees it beside what `expect` asks
    "acks1": ("uncommitted-truncation",),
    "codecs": (),
    "crashscene": ("hw-above-leo",),
    "kip101": (),
    "powerloss": ("leo-regression",),
    "rolling": (),
    "traps": (),
    "unclean": ("unclean-election",),
}
LOUD = (Severity.CRITICAL, Severity.ERROR)


@dataclass
class Answer:
    """One case, judged.

    Attributes:
        case: its name.
        wrong: contradictions to the truth, in words.
        unknown: questions answered ``unknown``.
        verdicts: rule to verdict, of the partition in the truth.
        alarms: findings of severity error or critical if the truth has none.
        must: rule to whether it must find something; a rule that is not judged is not in it.
        spoke: rule to its verdict, of every rule.
        exact: rule to whether its offsets are those of the truth, if the truth has some.
    """

    case: str
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)
    must: dict[str, bool] = field(default_factory=dict)
    spoke: dict[str, Verdict] = field(default_factory=dict)
    exact: dict[str, bool] = field(default_factory=dict)


def cases(folders: list[Path], *, by_partition: bool = False) -> Iterator[Path]:
    """Every folder with a truth, in order: of one partition, or of each."""
    for folder in folders:
        for truth in sorted(folder.glob("*/truth.json")):
            if ("partitions" in json.loads(truth.read_text())) == by_partition:
                yield truth.parent


def answer(case: Path, result: Result | None = None) -> Answer:
    """Scan one case, unless its result is given, and compare it with its truth."""
    truth = json.loads((case / "truth.json").read_text())
    result = result or scan([str(case)])
    given = Answer(case.name)
    partition = find(result, truth["topic"])
    if partition is None:
        given.wrong.append(f"{truth['topic']} is not in the result")
        return given
    expect = truth.get("expect", {})
    given.spoke = {rule: judgement.verdict for rule, judgement in partition.judgements.items()}
    given.must = _must(truth)
    for key, (rule, offsets_key) in QUESTIONS.items():
        judgement = partition.judgements[rule]
        given.verdicts[rule] = judgement.verdict
        expected = expect.get(key, False)
        if expected is None:
            continue  # real and harmless, or not decidable from the files: not judged
        if judgement.verdict is Verdict.UNKNOWN:
            given.unknown.append(rule)
        serious = [f for f in judgement.findings if f.severity in LOUD] if not expected else judgement.findings
        if bool(serious) != bool(expected) and not (judgement.verdict is Verdict.UNKNOWN and not expected):
            given.wrong.append(f"{rule}: {judgement.verdict.value}, expected {'violated' if expected else 'clean'}")
        elif expected and offsets_key is not None:
            found = merge(piece for f in judgement.findings for piece in f.offsets)
            wanted: list[Range] = [(int(a), int(b)) for a, b in truth[offsets_key]]
            given.exact[rule] = found == wanted
            if found != wanted:
                given.wrong.append(f"{rule}: offsets {found}, expected {wanted}")
    asked = {rule for rule, _ in QUESTIONS.values()}
    for rule, must in given.must.items():
        verdict = given.spoke[rule]
        if (
            rule not in asked
            and (verdict is Verdict.VIOLATED) != must
            and not (verdict is Verdict.UNKNOWN and not must)
        ):
            given.wrong.append(f"{rule}: {verdict.value}, expected {'violated' if must else 'clean'}")
    if not any(expect.values()) and not any(given.must.values()):
        given.alarms = [f"{f.rule} {f.topic}-{f.partition}: {f.summary}" for f in result.findings if f.severity in LOUD]
    return given


def _must(truth: dict[str, Any]) -> dict[str, bool]:
    """Return which rules must find something and which must not, if the case defines it."""
    expect = truth.get("expect", {})
    asked = {rule: expect.get(key, False) for key, (rule, _) in QUESTIONS.items()}
    must = {rule: bool(expected) for rule, expected in asked.items() if expected is not None}
    listed = truth.get("rules", FAULTS.get(truth.get("scenario", "").partition("-")[0]))
    if listed is not None:
        must |= {rule.id: rule.id in listed for rule in RULES if rule.id not in asked and rule.id != "evidence-gap"}
    return must


@dataclass
class Score:
    """How often a rule was right: counts of cases."""

    rule: str
    hits: int = 0
    missed: int = 0
    false: int = 0
    unknown: int = 0
    exact: int = 0
    bounded: int = 0

    @property
    def precision(self) -> float | None:
        """The share of its findings that are true; None where it found nothing."""
        return self.hits / (self.hits + self.false) if self.hits + self.false else None

    @property
    def recall(self) -> float | None:
        """The share of what there was that it found; None where there was nothing."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else None


def scores(answers: list[Answer]) -> list[Score]:
    """Precision and recall by rule, over the cases in which it is judged."""
    found = []
    for rule in RULES:
        score = Score(rule.id)
        for given in answers:
            verdict, must = given.spoke.get(rule.id), given.must.get(rule.id)
            if must is None or verdict is None:
                continue
            spoke = verdict is Verdict.VIOLATED
            score.hits += must and spoke
            score.missed += must and not spoke
            score.false += spoke and not must
            score.unknown += verdict is Verdict.UNKNOWN
            score.bounded += rule.id in given.exact
            score.exact += given.exact.get(rule.id, False)
        found.append(score)
    return found


def find(result: Result, name: str) -> Partition | None:
    """Return the present incarnation of a partition, by name."""
    for partition in result.partitions:
        if partition.history.name == name and partition.history.incarnation == 0:
            return partition
    return None


def main() -> int:
    """Print a table and what is wrong; exit code 1 if anything is."""
    folders = [Path(argument) for argument in sys.argv[1:]]
    if not folders:
        shared = ROOT.parent / "shared"
        places = (shared / "evidence", unpacked(), shared / "incidents")
        folders = [path for path in places if path.is_dir()]
    answers = [answer(case) for case in cases(folders)]
    each = [one for case in cases(folders, by_partition=True) for one in partitions.answers(case)]
    letters = {Verdict.VIOLATED: "violated", Verdict.UNKNOWN: "unknown", Verdict.CLEAN: "clean"}
    print(f"{'case':36} {'truncated':10} {'lost':10} {'diverged':10} result")
    for given in answers:
        row = [letters[given.verdicts[rule]] if rule in given.verdicts else "-" for rule, _ in QUESTIONS.values()]
        problems = [*given.wrong, *(f"alarm: {alarm}" for alarm in given.alarms)]
        print(f"{given.case:36} {row[0]:10} {row[1]:10} {row[2]:10} {'; '.join(problems) or 'exact'}")
    print(
        f"\n{'rule':27} {'precision':>9} {'recall':>7} {'hits':>5} {'missed':>6} {'false':>6} {'unknown':>8}"
        "  exact offsets"
    )
    for score in scores(answers):
        exact = f"{score.exact} of {score.bounded}" if score.bounded else "-"
        print(
            f"{score.rule:27} {_share(score.precision):>9} {_share(score.recall):>7} {score.hits:5} {score.missed:6} "
            f"{score.false:6} {score.unknown:8}  {exact}"
        )
    print()
    wrong = sum(bool(given.wrong) for given in answers)
    alarms = sum(bool(given.alarms) for given in answers)
    unknown = sum(len(given.unknown) for given in answers)
    print(f"{len(answers)} cases: {wrong} wrong, {alarms} healthy with alarms, {unknown} answers unknown")
    _show(each)
    return 1 if wrong or alarms or any(one.wrong for one in each) or not (answers or each) else 0


def _show(each: list[partitions.PartitionAnswer]) -> None:
    """Print inexact answers for clusters with a truth about every partition, and the number of each outcome."""
    if not each:
        return
    print()
    for one in each:
        if one.outcome not in (partitions.Outcome.EXACT, partitions.Outcome.UNKNOWABLE):
            name = f"{one.case} {one.partition}"
            print(f"{name:36} {one.question:20} {one.outcome}: {one.found}, truth {one.wanted}")
    counts = Counter(one.outcome for one in each)
    places = {(one.case, one.partition) for one in each}
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in partitions.Outcome if counts[outcome])
    print(f"{len(places)} partitions, {len(each)} answers: {told}")


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.2f}"


if __name__ == "__main__":
    sys.exit(main())
