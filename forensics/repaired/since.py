"""The outcome of each finding of an earlier scan, and whether producers can go back to their partitions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

from forensics.repaired.conditions import CONDITIONS, Answer, Condition, Known, Met
from forensics.repaired.former import FormerFinding
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.lineage import intersect, merge
from forensics.rules.finding import Evidence, Finding, Judgement, Severity, Verdict
from forensics.rules.replica_divergence import ID as DIVERGENCE


class Judged(Protocol):
    """A partition with the answer of every rule, as a result has it."""

    history: History
    judgements: dict[str, Judgement]


class Outcome(StrEnum):
    """The outcome of an earlier finding."""

    REMAINS = "still found"  # the same finding
    CHANGED = "found otherwise"  # its rule is violated there by another finding
    GONE = "gone"  # its rule finds no violation there any more
    OPEN = "not shown"  # the evidence cannot answer its rule, or nothing in it is about the partition


@dataclass(frozen=True, slots=True)
class Since:
    """One earlier finding, and what became of it."""

    former: FormerFinding
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Point:
    """One condition in one partition.

    Attributes:
        condition: which.
        met: whether it holds.
        text: why.
        evidence: what shows it.
    """

    condition: Condition
    met: Met
    text: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """The conditions of one partition, in their order; none if nothing in the evidence is about it, and those that need
    no copy if there is none.
    """

    cluster: str | None
    topic: str
    partition: int
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"

    @property
    def met(self) -> Met:
        """The conditions together: yes if all hold, no if one does not, else unknown."""
        return _together([point.met for point in self.points] or [Met.UNKNOWN])


@dataclass(frozen=True, slots=True)
class Repair:
    """The state after a repair.

    Attributes:
        baseline: file with the earlier findings.
        since: each of them above information, by place.
        partitions: the partitions that they are about, or where something critical is new, by name; none if both are of
            different clusters.
        clusters: ids of the clusters of the earlier scan and of the evidence, if they have none in common.
    """

    baseline: str
    since: tuple[Since, ...]
    partitions: tuple[Checked, ...]
    clusters: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    @property
    def met(self) -> Met:
        """Return whether producers can go back to all partitions."""
        if self.clusters is not None:
            return Met.UNKNOWN
        return _together([one.met for one in self.partitions])

    def outcomes(self, outcome: Outcome) -> int:
        """Return how many earlier findings had an outcome."""
        return sum(one.outcome is outcome for one in self.since)


def _together(every: Iterable[Met]) -> Met:
    found = set(every)
    return next((one for one in (Met.NO, Met.UNKNOWN) if one in found), Met.YES)


def since(
    baseline: str,
    former: Sequence[FormerFinding],
    partitions: Sequence[Judged],
    new: Sequence[Finding],
    evidence_of: Callable[[set[Ref]], Mapping[Ref, Evidence]],
    *,
    changed: bool | None = None,
) -> Repair:
    """Hold a scan against the findings of an earlier one.

    Args:
        baseline: file that these findings come from.
        former: these findings.
        partitions: what the scan found.
        new: its findings that are not among them.
        evidence_of: returns what is at places of the evidence.
        changed: whether the evidence has a file that the earlier scan did not read as it is now; None if unknown.
    """
    loud = [one for one in former if one.severity is not Severity.INFO]
    alarms = [one for one in new if one.severity is not Severity.INFO and not _continues(one, loud)]
    there = sorted((one for one in partitions if not one.history.incarnation), key=_place)
    know = partial(_known, former=loud, new=alarms, changed=changed)
    checked = [*_checked(_asked(there, loud, alarms), know, evidence_of), *_absent(loud, there)]
    fingerprints = {f.fingerprint for one in partitions for j in one.judgements.values() for f in j.findings}
    return Repair(
        baseline,
        tuple(Since(one, _outcome(one, fingerprints, there)) for one in loud),
        tuple(sorted(checked, key=lambda one: (one.cluster or "", one.topic, one.partition))),
    )


def _asked(there: Iterable[Judged], former: Iterable[FormerFinding], new: Iterable[Finding]) -> list[Judged]:
    """Return the partitions with an earlier finding, or with a new one that is critical."""
    critical = (one for one in new if one.severity is Severity.CRITICAL)
    told: tuple[FormerFinding | Finding, ...] = (*former, *critical)
    return [one for one in there if any(_is_of(one, finding) for finding in told)]


def _continues(one: Finding, former: Iterable[FormerFinding]) -> bool:
    """Return whether an earlier finding of the same rule in the same partition is about some of the same offsets.

    More evidence of the same incident may name other replicas or offsets, which are part of a fingerprint.
    """
    return any(
        was.rule == one.rule
        and _same_place(was, one)
        and (was.offsets == one.offsets or bool(intersect(was.offsets, one.offsets)))
        for was in former
    )


def _absent(former: Iterable[FormerFinding], there: Sequence[Judged]) -> list[Checked]:
    """Return the partitions of earlier findings of which nothing is in the evidence."""
    places = {
        (one.cluster, one.topic, one.partition)
        for one in former
        if one.topic is not None and one.partition is not None and not any(_is_of(other, one) for other in there)
    }
    return [Checked(cluster, topic, partition, points=()) for cluster, topic, partition in places]


def _checked(
    asked: Sequence[Judged],
    known: Callable[[Judged], Known],
    evidence_of: Callable[[set[Ref]], Mapping[Ref, Evidence]],
) -> list[Checked]:
    """Ask each condition of some partitions."""
    answers = [(one, _answers(one, known(one))) for one in asked]
    evidence = evidence_of({ref for _, found in answers for _, answer in found for ref in answer.refs})
    return [
        Checked(
            one.history.cluster,
            one.history.topic,
            one.history.partition,
            tuple(
                Point(condition, answer.met, answer.text, tuple(evidence[r] for r in answer.refs if r in evidence))
                for condition, answer in found
            ),
        )
        for one, found in answers
    ]


def _known(one: Judged, former: Iterable[FormerFinding], new: Iterable[Finding], *, changed: bool | None) -> Known:
    """Return what both scans know of a partition."""
    replicas = (replica for was in former if _is_of(one, was) for replica in was.replicas)
    return Known(tuple(found for found in new if _is_of(one, found)), frozenset(replicas), changed)


def _answers(one: Judged, known: Known) -> list[tuple[Condition, Answer]]:
    """Ask each condition of one partition."""
    asked = ((condition, condition.ask(one.history, known)) for condition in CONDITIONS)
    return [(condition, answer) for condition, answer in asked if answer is not None]


def _place(one: Judged) -> tuple[str, str, int]:
    return (one.history.cluster or "", one.history.topic, one.history.partition)


def _is_of(partition: Judged, finding: FormerFinding | Finding) -> bool:
    """Return whether a finding is about a partition."""
    return _same_place(finding, partition.history)


def _same_place(was: FormerFinding | Finding, one: Finding | History) -> bool:
    """Return whether two are about one partition; a cluster without an id may be any."""
    if (was.topic, was.partition) != (one.topic, one.partition):
        return False
    return len({was.cluster, one.cluster} - {None}) < 2


def _outcome(former: FormerFinding, fingerprints: set[str], there: Iterable[Judged]) -> Outcome:
    if former.fingerprint in fingerprints:
        return Outcome.REMAINS
    mine = [one for one in there if _is_of(one, former)]
    verdicts = {judgement.verdict for one in mine if (judgement := one.judgements.get(former.rule or "")) is not None}
    if Verdict.VIOLATED in verdicts:
        return Outcome.CHANGED
    gone = verdicts == {Verdict.CLEAN} or any(_equal_again(one, former) for one in mine)
    return Outcome.GONE if gone else Outcome.OPEN


def _equal_again(one: Judged, former: FormerFinding) -> bool:
    """Return whether an earlier finding was that replicas differ, and they hold the same batches at its offsets now.

    The rule itself stays open where no line names the replicas of the partition: another one may differ.
    """
    if former.rule != DIVERGENCE or len(former.replicas) < 2 or not former.offsets:
        return False
    pairs = itertools.combinations(sorted(former.replicas), 2)
    asked = merge(former.offsets)
    return all(one.history.facts.identical_ranges(*pair, asked) == asked for pair in pairs)
