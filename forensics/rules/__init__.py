"""From timelines to findings and verdicts: one invariant per file, all of them in one ordered tuple."""

from __future__ import annotations

from dataclasses import replace

from forensics.case import Case
from forensics.replay.history import History
from forensics.rules import (
    checkpoint_contradiction,
    committed_data_lost,
    epoch_divergence,
    evidence_gap,
    hw_above_isr_member,
    hw_above_leo,
    hw_regression,
    leo_regression,
    replica_divergence,
    segment_damage,
    stale_directory,
    truncation_below_committed,
    two_leaders_one_epoch,
    unclean_election,
    uncommitted_truncation,
)
from forensics.rules.finding import Judgement, Rule, Verdict, judgement
from forensics.rules.suspected import with_suspected
from forensics.rules.wants import Question, Reason, Shows, Want
from parsers.containment import Defect, contained

RULES: tuple[Rule, ...] = (
    # What an operator asks first: what is lost, what is forked, which replica truncated it.
    committed_data_lost.RULE,
    replica_divergence.RULE,
    truncation_below_committed.RULE,
    epoch_divergence.RULE,
    two_leaders_one_epoch.RULE,
    # Signs that may lead to a loss.
    hw_above_leo.RULE,
    leo_regression.RULE,
    hw_regression.RULE,
    hw_above_isr_member.RULE,
    unclean_election.RULE,
    # Problems on disk.
    checkpoint_contradiction.RULE,
    segment_damage.RULE,
    stale_directory.RULE,
    # Information.
    uncommitted_truncation.RULE,
    evidence_gap.RULE,
)
"""Every rule, in the order in which verdicts are shown."""

READ_AS = (
    "the evidence does not show release, inter-broker protocol and message format: 0.11 or later was assumed, where "
    "followers truncate by leader epoch"
)
"""Note of a finding if the evidence does not show which protocol the brokers followed (KIP-101)."""


def _judged(rule: Rule, history: History, case: Case) -> Judgement:
    unread = rule.about_files or (rule.about_records and history.played is None)
    if unread and case.traces_alone:
        return Judgement(rule.id, Verdict.NOT_APPLICABLE)
    found = contained(lambda: judged(rule, history, case))
    return not_judged(rule, found) if isinstance(found, Defect) else found


def judged(rule: Rule, history: History, case: Case) -> Judgement:
    """Return the answer of a rule. A complete trace decides it: nothing in its claim can be missing."""
    found = rule.judge(history, case)
    return found if history.played is None else judgement(rule.id, found.findings, ())


def not_judged(rule: Rule, defect: Defect) -> Judgement:
    """Return the answer of a rule where this program failed: unknown."""
    return judgement(rule.id, (), [Want(Question.PROGRAM_REPAIRED, because=Reason(Shows.FAILURE, text=str(defect)))])


def judgements(history: History, case: Case) -> list[Judgement]:
    """Return the answers of all rules for a partition."""
    judged = [_judged(rule, history, case) for rule in RULES]
    suspected = contained(lambda: with_suspected(history, judged, RULES))
    found = judged if isinstance(suspected, Defect) else suspected
    if history.protocol_known:
        return found
    return [
        replace(one, findings=tuple(replace(f, inferences=(*f.inferences, READ_AS)) for f in one.findings))
        if one.findings
        else one
        for one in found
    ]
