"""Findings put together for a reader: incidents of one partition, their steps in time, and equal ones of many."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from forensics.case.order import METADATA_TOPIC
from forensics.replay.confidence import Confidence, decides
from forensics.reports.advice import advisers
from forensics.rules import RULES
from forensics.rules.committed_data_lost import ID as LOSS
from forensics.rules.finding import Evidence, Fact, Finding, States, brokers_text

ON_DISK = frozenset({"segment", "offset-checkpoint", "epoch-checkpoint", "meta-properties", "dump-log", "log-dirs"})
"""Formats of evidence that show what a replica has on disk when it is copied."""
_SECOND = 1_000_000
PAUSE = 15  # seconds without an incident after which the next one is told apart

ON_METADATA_DISK = ON_DISK | {"metadata-log"}
"""The same for the metadata log, whose segments show of a partition of a topic what its controller decided."""


@dataclass(slots=True)
class Incident:
    """Findings of one partition about one incident, the worst first."""

    lead: Finding
    others: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All of them."""
        return [self.lead, *self.others]

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is about the same incident: common offsets, or a common epoch if it names no
        offsets.
        """
        lead = self.lead
        # Each loss is an incident of its own: a reader of the first must not think that it is all.
        if incarnation_of(finding) != incarnation_of(lead) or finding.rule == lead.rule == LOSS:
            return False
        if not self._as_sure(finding):
            return False
        if finding.offsets and lead.offsets:
            return any(a < d and c < b for a, b in finding.offsets for c, d in lead.offsets)
        return bool(set(finding.epochs) & set(lead.epochs))

    def _as_sure(self, finding: Finding) -> bool:
        """Return whether a finding may be listed under what leads: a suspected one not under a surer one.

        Under a suspected loss come surer findings about the same replica, such as that its log became shorter.
        """
        doubted, leads = (one.confidence is Confidence.SUSPECTED for one in (finding, self.lead))
        same = self.lead.rule == LOSS and bool(set(finding.replicas) & set(self.lead.replicas))
        return doubted == leads or (leads and same)

    def nearness(self, finding: Finding) -> tuple[bool, int]:
        """How much a finding has in common with what leads: where two losses overlap it goes to its own."""
        return finding.offsets == self.lead.offsets, len(set(finding.epochs) & set(self.lead.epochs))

    @property
    def story(self) -> tuple[object, ...]:
        """Key that incidents share if the same happened on the same brokers, whatever the offsets and epochs are."""
        return (self.lead.cluster, self.lead.incarnation > 0, *(_kind(finding) for finding in self.findings))

    @property
    def near(self) -> tuple[object, ...]:
        """Key that incidents share which one story can stand for, with a table of what differs, if of one time.

        Where a copy is to be kept, all of them need the same advice: a step for one may undo what another still needs.
        Where a consumer group is to be set back, that is another one for each partition.
        """
        if any(finding.groups for finding in self.findings):
            return self.story
        lead, advising = self.lead, advisers(self.findings)
        told = (lead, *(one for one in advising if one != lead))
        kept = tuple(one.advice for one in told) if any(one.keep for one in self.findings) else ()
        return (lead.cluster, lead.incarnation > 0, *map(_outline, told), kept)

    @property
    def moment(self) -> int | None:
        """When it happened, microseconds since 1970 UTC: a leader began without what the lead is about, or a log became
        shorter, or else its last step was; None where no line shows it.
        """
        facts = [fact for fact in self.lead.facts if fact.time is not None and fact.states is not States.CONTEXT]
        for states in (States.EPOCH_START, States.TRUNCATION, States.LOG_END):
            if times := [fact.time for fact in facts if fact.states is states]:
                return times[-1]
        return facts[-1].time if facts else None


def _outline(finding: Finding) -> tuple[object, ...]:
    sure = decides(finding.confidence) and finding.cause is not None
    return (
        *(finding.rule, finding.severity, decides(finding.confidence), finding.cause, finding.subject),
        # A cause names what happened. Without one, or where something else may explain it, the steps do.
        () if sure else tuple(fact.states for fact in finding.facts if fact.states is not States.CONTEXT),
        () if finding.offsets or finding.open_from is not None else _isrs(finding),  # no table shows what differs
    )


def _isrs(finding: Finding) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return the ISRs and eligible leader replicas that the steps of a finding name, step by step."""
    return tuple(fact.isrs for fact in finding.facts if fact.isrs)


def _kind(finding: Finding) -> tuple[object, ...]:
    return (
        *(finding.rule, finding.severity, finding.confidence, finding.cause, finding.replicas, finding.weak),
        *(len(finding.doubts), finding.advice),
        tuple((fact.broker, fact.states) for fact in finding.facts),
        _isrs(finding),
        *(fact.text for fact in finding.facts if _is_note(fact)),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One fact of an incident.

    Attributes:
        fact: what happened.
        evidence: the places that show it.
        finding: the finding whose fact it is.
        on_disk: files show it, and no line with a time does.
        placed: sort key: its time, or where it belongs among the facts with a time.
    """

    fact: Fact
    evidence: tuple[Evidence, ...]
    finding: Finding
    on_disk: bool
    placed: tuple[int, int]

    @property
    def who(self) -> str:
        """Return the broker or the controller that it happened on, in words; "" for none."""
        return brokers_text([self.fact.broker], self.finding.controllers) if self.fact.broker is not None else ""

    @property
    def text(self) -> str:
        """Return the fact with whom it happened on."""
        return f"{self.who} {self.fact.text}".lstrip()


@dataclass(frozen=True, slots=True)
class Story:
    """The facts of an incident.

    Attributes:
        steps: what happened, in the order of time; what has no time comes last.
        notes: facts of no broker and no time, such as the settings of the topic.
    """

    steps: tuple[Step, ...]
    notes: tuple[Step, ...]


def incidents(findings: Iterable[Finding]) -> list[Incident]:
    """Findings put together to incidents, in the order of the worst of each."""
    ranks = {rule.id: number for number, rule in enumerate(RULES)}
    found: list[Incident] = []
    by_incarnation: dict[tuple[object, ...], list[Incident]] = {}
    for finding in sorted(findings, key=lambda f: (f.severity.rank, ranks[f.rule])):
        near = by_incarnation.setdefault(incarnation_of(finding), [])
        covering = [incident for incident in near if incident.covers(finding)]
        home = max(covering, key=lambda incident: incident.nearness(finding), default=None)
        if home is None:
            home = Incident(finding)
            near.append(home)
            found.append(home)
        else:
            home.others.append(finding)
    return found


def grouped(found: Iterable[Incident]) -> list[list[Incident]]:
    """Incidents with the same story together, in the order of the first of each."""
    groups: dict[tuple[object, ...], list[Incident]] = {}
    for incident in found:
        groups.setdefault(incident.story, []).append(incident)
    return list(groups.values())


def nearly(found: Iterable[Incident]) -> list[list[Incident]]:
    """Incidents that one story can stand for together: alike, and of one time.

    The gravest groups come first, and of those with one rule the earliest; within a group as they are given.
    """
    keys: dict[tuple[object, ...], list[Incident]] = {}
    for incident in found:
        keys.setdefault(incident.near, []).append(incident)
    ranks = {rule.id: number for number, rule in enumerate(RULES)}

    def order(group: Sequence[Incident]) -> tuple[int, int, bool, int]:
        lead, moment = group[0].lead, min((one.moment for one in group if one.moment is not None), default=None)
        return lead.severity.rank, ranks[lead.rule], moment is None, moment or 0

    return sorted(itertools.chain.from_iterable(map(_of_one_time, keys.values())), key=order)


def _of_one_time(alike: Sequence[Incident]) -> list[list[Incident]]:
    """Return incidents apart wherever none happened for ``PAUSE`` seconds: one outage after another."""
    times = sorted({one.moment for one in alike if one.moment is not None})
    starts = [now for before, now in itertools.pairwise(times) if now - before > PAUSE * _SECOND]
    groups: dict[int, list[Incident]] = {}
    for one in alike:
        groups.setdefault(bisect.bisect_right(starts, one.moment) if one.moment is not None else -1, []).append(one)
    return list(groups.values())


def seconds_apart(group: Sequence[Incident]) -> int:
    """Return by how many seconds at most the moment of an incident is apart from that of the first."""
    first, *others = (one.moment for one in group)
    if first is None:
        return 0
    return max((abs(other - first) // _SECOND for other in others if other is not None), default=0)


def incarnation_of(finding: Finding) -> tuple[object, ...]:
    """Key of the incarnation of a partition."""
    return (finding.cluster, finding.topic, finding.topic_id, finding.partition, finding.incarnation)


def story(findings: Sequence[Finding]) -> Story:
    """Return the facts of findings about one incident, each once, in the order of time.

    A fact of a further finding is left out if all of its evidence was shown with another fact of its broker.
    """
    steps: list[Step] = []
    shown: set[tuple[object, ...]] = set()
    cited: set[Evidence] = set()
    for step in itertools.chain.from_iterable(map(_steps, findings)):
        key = (step.fact.text, step.fact.broker, step.fact.time)
        repeated = step.finding is not findings[0] and bool(step.evidence) and cited.issuperset(step.evidence)
        if key not in shown and not repeated:
            steps.append(step)
        shown.add(key)
        cited.update(step.evidence)
    notes = tuple(one for one in steps if _is_note(one.fact))
    timed = sorted((one for one in steps if not _is_note(one.fact)), key=lambda one: (one.on_disk, one.placed))
    return Story(tuple(timed), notes)


def _steps(finding: Finding) -> list[Step]:
    """Return the facts of one finding with their evidence."""
    places = dict(zip(finding.refs, finding.evidence, strict=False))
    steps = []
    for place, fact in enumerate(finding.facts):
        evidence = tuple(places[ref] for ref in fact.refs if ref in places)
        files = ON_METADATA_DISK if finding.topic == METADATA_TOPIC else ON_DISK
        files_alone = bool(evidence) and all(one.artefact in files for one in evidence)
        steps.append(Step(fact, evidence, finding, files_alone and fact.time is None, _placed(finding.facts, place)))
    return steps


def _placed(facts: Sequence[Fact], place: int) -> tuple[int, int]:
    """Return where a fact is placed in time: at its own, else before the next fact with one, else after the last."""
    own = facts[place].time
    if own is not None:
        # Facts are in causal order. A line may state a little later what was before; both show the same second.
        sooner = [one.time for one in facts[place:] if one.time is not None and one.time < own]
        same = [time for time in sooner if time // _SECOND == own // _SECOND]
        return (min(same), -1) if same else (own, 0)
    after = [fact.time for fact in facts[place:] if fact.time is not None]
    if after:
        return after[0], -1
    return max((fact.time for fact in facts[:place] if fact.time is not None), default=0), 1


def _is_note(fact: Fact) -> bool:
    return fact.states is States.CONTEXT and fact.broker is None and fact.time is None
