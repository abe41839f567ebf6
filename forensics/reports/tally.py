"""How many rules found what: the one place where reports count rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from forensics.case import Case, Origin
from forensics.replay.confidence import Confidence
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Judgement, Rule, Severity, Verdict
from forensics.rules.of_quorum import NOT_ASKED


def asked(result: Result) -> list[Rule]:
    """Return the rules that are not switched off."""
    return [rule for rule in RULES if rule.id not in result.changes.disabled]


def not_applicable(result: Result) -> list[Rule]:
    """Return the rules that are not applicable to any partition."""
    return [rule for rule in asked(result) if _verdicts(result, rule) == {Verdict.NOT_APPLICABLE}]


def why_not_applicable(result: Result, rule: Rule) -> str:
    """Return why a rule is not applicable to any partition."""
    of_quorum = all(one.history.quorum is not None for one in result.partitions)
    return NOT_ASKED if of_quorum and result.case.origin is Origin.FILES else rule.not_applicable


def without_violation(result: Result, partitions: Sequence[Partition] | None = None) -> list[Rule]:
    """Return the rules that found no violation and left nothing unknown, in any partition that they apply to.

    Args:
        result: a finished scan.
        partitions: those that count; default: all.
    """
    return [
        rule
        for rule in asked(result)
        if (found := _verdicts(result, rule, partitions)) <= {Verdict.CLEAN, Verdict.NOT_APPLICABLE}
        and Verdict.CLEAN in found
    ]


def unanswered(result: Result) -> list[Rule]:
    """Return the rules whose answer is unknown for at least one partition."""
    return [rule for rule in asked(result) if Verdict.UNKNOWN in _verdicts(result, rule)]


def _verdicts(result: Result, rule: Rule, partitions: Sequence[Partition] | None = None) -> set[Verdict]:
    places = [same.first for same in result.same_answers] if partitions is None else partitions
    judged = (partition.judgements.get(rule.id) for partition in places)
    return {judgement.verdict for judgement in judged if judgement is not None}


class Places(NamedTuple):
    """Rules with the same verdict in the same partitions.

    Attributes:
        rules: in the order of the rules.
        partitions: where they have it.
    """

    rules: list[Rule]
    partitions: Sequence[Partition]


def by_places(result: Result, rules: Sequence[Rule], verdict: Verdict, *, mild: bool | None = None) -> list[Places]:
    """Return the rules that have a verdict somewhere, those with it in the same partitions together.

    Args:
        result: a finished scan.
        rules: those that are asked about.
        verdict: the verdict.
        mild: whether the findings are warnings; None for whatever they are.
    """
    found: dict[int, Places] = {}
    for rule in rules:
        places = result.having(partial(_has, rule=rule.id, verdict=verdict, mild=mild))
        if places:
            found.setdefault(id(places), Places([], places)).rules.append(rule)
    return list(found.values())


def _has(partition: Partition, *, rule: str, verdict: Verdict, mild: bool | None) -> bool:
    answer = partition.judgements[rule]
    return answer.verdict is verdict and mild in (None, _only_warns(answer))


def _only_warns(answer: Judgement) -> bool:
    """Return whether no finding of a rule in a partition is worse than a warning."""
    return all(finding.severity.rank >= Severity.WARNING.rank for finding in answer.findings)


def suspected(result: Result, rule: Rule) -> Sequence[Partition]:
    """Return the partitions where a rule has no answer, and suspects something."""
    return result.having(partial(_is_suspected, rule=rule.id))


def _is_suspected(partition: Partition, *, rule: str) -> bool:
    answer = partition.judgements[rule]
    return answer.verdict is Verdict.UNKNOWN and any(f.confidence is Confidence.SUSPECTED for f in answer.findings)


def without_replica(case: Case, partitions: Iterable[Partition]) -> set[int]:
    """Return the brokers of a cluster, controllers alone left out, that have no replica of any of its partitions."""
    brokers = {one.id for one in case.everyone if not one.only_controls}
    members = {broker for one in partitions for broker in one.history.members}
    return brokers - members if members else set()
