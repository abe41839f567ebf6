"""From timelines to findings and verdicts: one invariant per file, all of them in one ordered tuple."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from forensics.case import Case, Origin
from forensics.replay.history import History
from forensics.replay.traces.results import Played
from forensics.rules import (
    added,
    checkpoint_contradiction,
    committed_data_lost,
    epoch_divergence,
    evidence_gap,
    hw_above_isr_member,
    hw_above_leo,
    hw_regression,
    leo_regression,
    lso_above_hw,
    of_quorum,
    replica_divergence,
    segment_damage,
    stale_directory,
    truncation_below_committed,
    two_leaders_one_epoch,
    unclean_election,
    uncommitted_truncation,
)
from forensics.rules.finding import Judgement, Rule, Verdict, judgement
from forensics.rules.story import contradicted, from_before
from forensics.rules.suspected import with_suspected
from forensics.rules.wants import Artefact, Question, Reason, Shows, Want, anywhere, of_evidence
from parsers.containment import Defect, contained
from parsers.plugins import Group, Table

BUILT_IN: tuple[Rule, ...] = (
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
    lso_above_hw.RULE,
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
"""The rules of this program, in the order in which verdicts are shown."""

RULES: Table[Rule] = Table(BUILT_IN, Group.RULES, name=lambda one: one.id, admit=added.admitted)
"""Every rule: those of plugins come last."""


def ranks() -> dict[str, int]:
    """Return the place of each rule in the order, by its id."""
    return {rule.id: place for place, rule in enumerate(RULES)}


def rule_of(name: str) -> Rule:
    """Return the rule with an id."""
    return next(rule for rule in RULES if rule.id == name)


READ_AS = (
    "the evidence does not show release, inter-broker protocol and message format: 0.11 or later was assumed, where "
    "followers truncate by leader epoch"
)
"""Note of a finding if the evidence does not show which protocol the brokers followed (KIP-101)."""

READ_AS_OTHER = 'the first line names no "protocol": it was assumed that followers truncate by leader epoch'
"""The same for a trace of another system than Kafka."""


def _judged(rule: Rule, history: History, case: Case) -> Judgement:
    played = history.played
    stated = history.facts.appends_stated or played is not None
    unread = rule.about_files or (rule.about_records and not stated)
    no_isr = rule.about_isr and played is not None and played.isr is None
    if (unread and case.traces_alone) or no_isr:
        return Judgement(rule.id, Verdict.NOT_APPLICABLE)
    found = contained(lambda: _answer(rule, history, case))
    return _for_origin(not_judged(rule, found) if isinstance(found, Defect) else found, history.origin)


def _for_origin(found: Judgement, origin: Origin) -> Judgement:
    """Return an answer that asks for what the kind of evidence has."""
    if all(want.origin is origin for want in found.missing):  # as with logs and files
        return found
    return replace(found, missing=of_evidence(found.missing, origin))


def judged(rule: Rule, history: History, case: Case) -> Judgement:
    """Return the answer of a rule. A complete trace decides it, unless it is about files: nothing else can lack."""
    if history.doubted is not None:
        return _in_doubt(rule, history, case, history.doubted)
    found = rule.judge(history, case)
    decided = history.played is None or found.verdict is Verdict.NOT_APPLICABLE
    if decided:
        return found
    missing = found.missing if rule.about_isr or rule.about_files else ()
    return judgement(rule.id, found.findings, (*missing, *(from_before(history) if rule.id in _BY_LOGS else ())))


def _in_doubt(rule: Rule, history: History, case: Case, doubted: Played) -> Judgement:
    """Return the answer about a trace that contradicts itself: what its lines show, and nothing from silence.

    What it showed up to the contradiction counts too.
    """
    found = rule.judge(history, case)
    if not found.findings and rule.id in _BY_RECORDS:
        played = replace(history, played=doubted, answers={})
        found = judgement(rule.id, rule.judge(played, case).findings, found.missing)
    if found.verdict is Verdict.NOT_APPLICABLE or found.findings:
        return found
    return judgement(rule.id, (), [*contradicted(history), *(() if case.traces_alone else found.missing)])


def not_judged(rule: Rule, defect: Defect) -> Judgement:
    """Return the answer of a rule where this program failed: unknown."""
    return judgement(rule.id, (), [Want(Question.PROGRAM_REPAIRED, because=Reason(Shows.FAILURE, text=str(defect)))])


_BY_RECORDS = frozenset(
    {committed_data_lost.ID, truncation_below_committed.ID, epoch_divergence.ID, replica_divergence.ID}
)
"""Rules that a complete trace answers by its records."""


_BY_LOGS = frozenset({committed_data_lost.ID, epoch_divergence.ID, replica_divergence.ID})
"""Rules that compare what replicas hold, also from before the claim of a trace."""


class Shared:
    """Answers for partitions of one case, of which equal ones are in memory once.

    Attributes:
        alike: by ``History.alike``, what gives the answers for a partition.
    """

    def __init__(self) -> None:
        self.alike: dict[tuple[str, int], Alike] = {}
        self._once: dict[Judgement, Judgement] = {}

    def once(self, answers: Iterable[Judgement]) -> list[Judgement]:
        """Return answers; partitions without findings mostly have equal ones."""
        return [one if one.findings else self._once.setdefault(one, one) for one in answers]


class Alike:
    """The answers of the rules for one partition, given again for others of which no more is known."""

    def __init__(self, answers: Sequence[Judgement]) -> None:
        """Keep the answers; those with findings name the partition."""
        self._answers = answers
        self._elsewhere: dict[str, Callable[[History], Judgement]] = {}
        self._asked: list[Rule] = [*RULES.added]  # the answers of plugins may depend on more
        named = {one.rule: one for one in answers if one.findings}
        for rule in BUILT_IN:
            if rule.id in named:
                if rule.elsewhere is None:
                    self._asked.append(rule)
                else:
                    self._elsewhere[rule.id] = rule.elsewhere(named[rule.id])

    def of(self, history: History, case: Case) -> list[Judgement]:
        """Return the answers for another partition."""
        again = {name: answer(history) for name, answer in self._elsewhere.items()}
        asked = [_judged(rule, history, case) for rule in self._asked]
        again |= {one.rule: one for one in _with_assumption(history, asked)}
        return [again.get(one.rule, one) for one in self._answers]


def judgements(history: History, case: Case, shared: Shared | None = None) -> list[Judgement]:
    """Return the answers of all rules for a partition.

    Args:
        history: the partition.
        case: its cluster's case.
        shared: answers for partitions of the same case, read and added to. Of partitions that are alike, the rules that
            find nothing are asked once.
    """
    found = _judgements(history, case, shared)
    history.answers.clear()  # no report asks for them, and of very many partitions they take a tenth of the memory
    return found


def _judgements(history: History, case: Case, shared: Shared | None) -> list[Judgement]:
    if others := _in_its_directory(history, case):
        judged = _suspecting(history, case, _asked(history, case))
        return [_for_origin(_without_own_records(answer, others), history.origin) for answer in judged]
    shared = shared if shared is not None else Shared()
    if history.alike in shared.alike:
        return shared.alike[history.alike].of(history, case)
    judged = _asked(history, case)
    suspected = shared.once(_suspecting(history, case, judged))
    answers = _with_assumption(history, suspected)
    if history.alike is not None and suspected == judged:  # a suspicion is no rule's own answer
        shared.alike[history.alike] = Alike(answers)
    return answers


def _asked(history: History, case: Case) -> list[Judgement]:
    return [_judged(rule, history, case) for rule in RULES]


def _answer(rule: Rule, history: History, case: Case) -> Judgement:
    """Return the answer of a rule; about the metadata log each rule is asked something else."""
    if history.quorum is not None:
        return of_quorum.judged(history, case, history.quorum, rule)
    return judged(rule, history, case)


_OF_ROLES = frozenset({two_leaders_one_epoch.ID, unclean_election.ID, stale_directory.ID, evidence_gap.ID})
"""Rules that do not ask what a log holds."""


def _in_its_directory(history: History, case: Case) -> dict[int, tuple[str, ...]]:
    """Return the brokers on which other partitions have the same directory, and these partitions."""
    shared = {broker.id: broker.shared.get(history.name) for broker in case.sharing}
    return {broker: others for broker, others in shared.items() if others}


def _without_own_records(answer: Judgement, others: Mapping[int, tuple[str, ...]]) -> Judgement:
    """Return the answer of a rule for a partition that shares a directory: nothing about its log is known.

    Lines about it may be about the other's records. A finding would be as wrong as a clean verdict.
    """
    if answer.rule in _OF_ROLES or answer.verdict is Verdict.NOT_APPLICABLE:
        return answer
    names = " and ".join(sorted({name for found in others.values() for name in found}))
    ways = (anywhere(Artefact.CLIENTS),)
    because = Reason(Shows.SHARED, text=names)
    return judgement(answer.rule, (), [Want(Question.OWN_RECORDS, ways, tuple(sorted(others)), because=because)])


def _suspecting(history: History, case: Case, judged: list[Judgement]) -> list[Judgement]:
    """Return the answers with what lines suggest. Of the metadata log they suggest nothing: signs are about an ISR."""
    if history.quorum is not None:
        return judged
    suspected = contained(lambda: with_suspected(history, case, judged, RULES))
    return judged if isinstance(suspected, Defect) else suspected


def _with_assumption(history: History, found: list[Judgement]) -> list[Judgement]:
    """Add to findings that the protocol was assumed, if the evidence does not show it."""
    if history.protocol.truncation_known:
        return found
    assumption = READ_AS if history.origin.of_kafka else READ_AS_OTHER

    def assuming(one: Judgement) -> Judgement:
        findings = tuple(replace(f, inferences=(*f.inferences, assumption)) for f in one.findings)
        return Judgement(one.rule, one.verdict, findings, one.missing)

    return [assuming(one) if one.findings else one for one in found]
