"""How many rules found what: the one place where reports count rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forensics.case import Case, Origin
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.finding import Rule, Verdict
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
    places = result.partitions if partitions is None else partitions
    judged = (partition.judgements.get(rule.id) for partition in places)
    return {judgement.verdict for judgement in judged if judgement is not None}


def without_replica(case: Case, partitions: Iterable[Partition]) -> set[int]:
    """Return the brokers of a cluster, controllers alone left out, that have no replica of any of its partitions."""
    brokers = {one.id for one in case.everyone if not one.only_controls}
    members = {broker for one in partitions for broker in one.history.members}
    return brokers - members if members else set()
