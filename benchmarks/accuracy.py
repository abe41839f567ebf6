"""How right the rules are: every case with a known truth, question by question.

A case is a folder of evidence with a ``truth.json`` that says what clients saw: ``expect`` (was a replica truncated
below the committed offset, was committed data lost, did replicas diverge), ``lost_acked_all`` and ``diverged_offsets``
as half-open ranges. The tool itself never reads that file.

    python -m benchmarks.accuracy [FOLDER ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forensics.engines.local import scan
from forensics.replay.lineage import Range, merge
from forensics.result import Partition, Result
from forensics.rules.finding import Severity, Verdict

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = {
    # key of `expect`, rule that answers it, key of the offsets in the truth
    "truncated_below_hw": ("truncation-below-committed", None),
    "lost_committed": ("committed-data-lost", "lost_acked_all"),
    "diverged": ("replica-divergence", "diverged_offsets"),
}
LOUD = (Severity.CRITICAL, Severity.ERROR)


@dataclass
class Answer:
    """One case, judged.

    Attributes:
        case: its name.
        wrong: what does not agree with the truth, in words.
        unknown: questions answered ``unknown``.
        verdicts: rule to verdict, of the partition the truth speaks of.
        alarms: findings of severity error or critical where the truth knows of nothing.
    """

    case: str
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)


def cases(folders: list[Path]) -> Iterator[Path]:
    """Every folder with a truth, in order."""
    for folder in folders:
        yield from sorted(path.parent for path in folder.glob("*/truth.json"))


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
    for key, (rule, offsets_key) in QUESTIONS.items():
        judgement = partition.judgements[rule]
        given.verdicts[rule] = judgement.verdict
        expected = expect.get(key, False)
        if judgement.verdict is Verdict.UNKNOWN:
            given.unknown.append(rule)
        if expected is None:
            continue  # real and harmless: not judged
        serious = [f for f in judgement.findings if f.severity in LOUD] if not expected else judgement.findings
        if bool(serious) != bool(expected) and not (judgement.verdict is Verdict.UNKNOWN and not expected):
            given.wrong.append(f"{rule}: {judgement.verdict.value}, expected {'violated' if expected else 'clean'}")
        elif expected and offsets_key is not None:
            found = merge(piece for f in judgement.findings for piece in f.offsets)
            wanted: list[Range] = [(int(a), int(b)) for a, b in truth[offsets_key]]
            if found != wanted:
                given.wrong.append(f"{rule}: offsets {found}, expected {wanted}")
    if not any(expect.values()):
        given.alarms = [f"{f.rule} {f.topic}-{f.partition}: {f.summary}" for f in result.findings if f.severity in LOUD]
    return given


def find(result: Result, name: str) -> Partition | None:
    """The present life of a partition, by name."""
    for partition in result.partitions:
        if partition.history.name == name and partition.history.incarnation == 0:
            return partition
    return None


def main() -> int:
    """Print a table and what is wrong; exit code 1 if anything is."""
    folders = [Path(argument) for argument in sys.argv[1:]]
    if not folders:
        folders = [path for path in (ROOT.parent / "shared" / "evidence", ROOT / "sample_traces") if path.is_dir()]
    answers = [answer(case) for case in cases(folders)]
    letters = {Verdict.VIOLATED: "violated", Verdict.UNKNOWN: "unknown", Verdict.CLEAN: "clean"}
    print(f"{'case':36} {'truncated':10} {'lost':10} {'diverged':10} result")
    for given in answers:
        row = [letters[given.verdicts[rule]] if rule in given.verdicts else "-" for rule, _ in QUESTIONS.values()]
        problems = [*given.wrong, *(f"alarm: {alarm}" for alarm in given.alarms)]
        print(f"{given.case:36} {row[0]:10} {row[1]:10} {row[2]:10} {'; '.join(problems) or 'exact'}")
    wrong = sum(bool(given.wrong) for given in answers)
    alarms = sum(bool(given.alarms) for given in answers)
    unknown = sum(len(given.unknown) for given in answers)
    print(f"{len(answers)} cases: {wrong} wrong, {alarms} healthy with alarms, {unknown} answers unknown")
    return 1 if wrong or alarms or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
