"""Accuracy of the answers, partition by partition: recorded clusters with a truth about each of their partitions.

``truth.json`` has ``partitions``. For each ``topic-partition`` it has what to ``expect`` of the three questions (null:
not judged) and ``diverged_offsets``. It has the offsets that clients know to be lost (``lost_acked_all``,
``lost_read``; ``provable`` replaces both, as the least that can be proven). It also has those that may be lost besides
(``may_lost``, by default ``lost_acked_1``). ``unknowable`` lists the partitions whose evidence does not settle every
question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from forensics.engines.local import scan
from forensics.replay.lineage import Range, subtract
from forensics.result import Partition, Result
from forensics.rules.finding import Finding, Severity, Verdict

QUESTIONS = {
    # key of `expect`: the rule that answers it
    "truncated_below_hw": "truncation-below-committed",
    "lost_committed": "committed-data-lost",
    "diverged": "replica-divergence",
}
LOUD = (Severity.CRITICAL, Severity.ERROR)


class Outcome(StrEnum):
    """Relation of an answer to the truth. The wrong ones begin with "wrong"."""

    EXACT = "exact"
    AT_LEAST = "at least"  # a part of the loss is named, and the finding states that there may be more
    UNKNOWN = "unknown"
    UNKNOWABLE = "unknown, as the evidence leaves it"
    MISSED = "wrong: missed"
    OFFSETS = "wrong: offsets"
    ALARM = "wrong: alarm"


@dataclass(frozen=True)
class PartitionAnswer:
    """One question about one partition.

    Attributes:
        case, partition, question: the question.
        outcome: relation of the answer to the truth.
        found, wanted: offsets that were named, and those that had to be.
    """

    case: str
    partition: str
    question: str
    outcome: Outcome
    found: list[Range]
    wanted: list[Range]

    @property
    def wrong(self) -> bool:
        """True if the answer contradicts the truth."""
        return self.outcome.startswith("wrong")


def answers(case: Path, result: Result | None = None) -> list[PartitionAnswer]:
    """Scan one case, unless its result is given, and compare each partition with its truth."""
    truth = json.loads((case / "truth.json").read_text())
    return [*_answers(case.name, truth, result or scan([str(case)]))]


def _answers(case: str, truth: dict[str, Any], result: Result) -> Iterator[PartitionAnswer]:
    unknowable = truth.get("unknowable", [])
    for name, told in truth["partitions"].items():
        lives = [p for p in result.partitions if p.history.name == name]
        for question, rule in QUESTIONS.items():
            expected = told["expect"].get(question)
            if expected is None:
                continue
            outcome, found, wanted = _outcome(question, rule, expected, told, lives)
            if outcome is Outcome.UNKNOWN and (unknowable == "*" or name in unknowable):
                outcome = Outcome.UNKNOWABLE
            yield PartitionAnswer(case, name, question, outcome, found, wanted)
        if not any(told["expect"].values()):
            for finding in (f for life in lives for j in life.judgements.values() for f in j.findings):
                if finding.severity in LOUD and finding.rule not in told.get("allow", []):
                    yield PartitionAnswer(case, name, finding.rule, Outcome.ALARM, list(finding.offsets), [])


def _outcome(
    question: str, rule: str, expected: bool, told: dict[str, Any], lives: list[Partition]
) -> tuple[Outcome, list[Range], list[Range]]:
    judged = [life.judgements[rule] for life in lives]
    findings = [finding for judgement in judged for finding in judgement.findings]
    found = [piece for finding in findings for piece in finding.offsets]
    least, most = _bounds(question, told)
    verdicts = {judgement.verdict for judgement in judged}
    if Verdict.VIOLATED not in verdicts:
        if not expected and verdicts <= {Verdict.CLEAN}:
            return Outcome.EXACT, found, least
        missed = not verdicts or verdicts == {Verdict.CLEAN}
        return (Outcome.MISSED if missed else Outcome.UNKNOWN), found, least
    if not expected:
        return Outcome.ALARM, found, least
    if question == "truncated_below_hw" or not (subtract(least, found) or subtract(found, most)):
        return Outcome.EXACT, found, least
    hedged = any(_hedged(finding) for finding in findings)
    part = bool(found) and hedged and not subtract(found, most)
    return (Outcome.AT_LEAST if part else Outcome.OFFSETS), found, least


def _bounds(question: str, told: dict[str, Any]) -> tuple[list[Range], list[Range]]:
    """The offsets that have to be named, and those that may be."""

    def ranges(*keys: str) -> list[Range]:
        return [(int(first), int(end)) for key in keys for first, end in told.get(key, [])]

    if question == "diverged":
        return ranges("diverged_offsets"), ranges("diverged_offsets")
    least = ranges("provable") if "provable" in told else ranges("lost_acked_all", "lost_read")
    most = ranges("may_lost") if "may_lost" in told else ranges("lost_acked_all", "lost_acked_1", "lost_read")
    return least, [*least, *most]


def _hedged(finding: Finding) -> bool:
    """Return whether a finding states that there may be more."""
    return bool(finding.uncertain) or (finding.records is not None and finding.records[1] is None)
