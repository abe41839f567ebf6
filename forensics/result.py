"""What a scan comes to: the one thing that engines make and reports speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from forensics.case import quotes
from forensics.case.quotes import Place
from forensics.rules.finding import Evidence, Finding, Judgement, Severity, Verdict

if TYPE_CHECKING:
    from forensics.case import Case
    from forensics.replay.history import History, Ref


@dataclass(slots=True)
class Partition:
    """One incarnation of a partition with the answer of every rule.

    Attributes:
        history: what replay found.
        judgements: by rule id, in the order of the rules.
    """

    history: History
    judgements: dict[str, Judgement]

    @property
    def worst(self) -> int:
        """Rank of its worst finding; past the last severity when it has none."""
        ranks = [f.severity.rank for j in self.judgements.values() for f in j.findings]
        return min(ranks, default=len(Severity))

    def verdicts(self, verdict: Verdict) -> list[str]:
        """Rules that came to a verdict."""
        return [rule for rule, judgement in self.judgements.items() if judgement.verdict is verdict]


@dataclass(slots=True)
class Result:
    """A finished scan.

    Attributes:
        inputs: paths as the user gave them.
        case: what was taken in.
        partitions: every partition, worst first, then by name.
        findings: every finding with its evidence, worst first.
        quote: gives the text at places of the evidence, for reports that read it again.
    """

    inputs: tuple[str, ...]
    case: Case
    partitions: list[Partition]
    findings: list[Finding] = field(default_factory=list)
    quote: Callable[[Case, Iterable[Place]], dict[Place, str]] = quotes.quote

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding."""
        return self.findings[0].severity if self.findings else None


def finish(inputs: Sequence[str], case: Case, judged: Sequence[tuple[History, Sequence[Judgement]]]) -> Result:
    """Order everything and attach the evidence behind each fact."""
    findings = [finding for _, judgements in judged for judgement in judgements for finding in judgement.findings]
    evidence = _evidence(case, {ref for finding in findings for ref in finding.refs})
    partitions = []
    for history, judgements in judged:
        complete = {
            judgement.rule: replace(
                judgement, findings=tuple(_prove(finding, evidence) for finding in judgement.findings)
            )
            for judgement in judgements
        }
        partitions.append(Partition(history, complete))
    partitions.sort(key=lambda p: (p.worst, p.history.topic, p.history.partition, p.history.incarnation))
    whole = [f for p in partitions for j in p.judgements.values() for f in j.findings]
    return Result(tuple(inputs), case, partitions, sorted(whole, key=lambda finding: finding.order))


def _prove(finding: Finding, evidence: dict[Ref, Evidence]) -> Finding:
    return replace(finding, evidence=tuple(evidence[ref] for ref in finding.refs if ref in evidence))


def _evidence(case: Case, refs: set[Ref]) -> dict[Ref, Evidence]:
    rows = quotes.places(case, (ref.row for ref in refs if ref.row is not None))
    where: dict[Ref, Place] = {}
    for ref in refs:
        if ref.row is not None:
            if ref.row in rows:
                where[ref] = rows[ref.row]
        elif ref.source is not None:
            where[ref] = Place(ref.source, None, ref.byte)
    texts = quotes.quote(case, where.values())
    hashes = {source: _hash(case, source) for source in {place.source for place in where.values()}}
    return {
        ref: Evidence(case.path(p.source), hashes[p.source], p.line, p.byte, texts.get(p, ""), ref.note)
        for ref, p in where.items()
    }


def _hash(case: Case, source: int) -> str | None:
    try:
        return case.files[source].sha256()
    except OSError:
        return None
