"""The stories of a scan: each incident once with its steps in time, equal ones of many partitions together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forensics.case.quotes import LONGEST
from forensics.replay.confidence import Confidence, Weakness, decides
from forensics.reports import incidents
from forensics.reports.groups import alike, only_some, same_elsewhere
from forensics.reports.html.wording import (
    Anchorer,
    Namer,
    anchorer,
    namer,
    number,
    offsets,
    open_offsets,
    plain,
    sentence,
    shortener,
)
from forensics.reports.titles import first_names, how_many
from forensics.result import Partition, Result
from forensics.rules import rule_of
from forensics.rules.causes import Cause
from forensics.rules.finding import Evidence, Finding, Severity, Verdict, brokers_text
from forensics.rules.wants import Want
from forensics.rules.wording import OF_COMMITS, want_texts

TALES, OPENED, PROOFS, QUIET, ALIKE, APART, ALSO = 40, 1, 6, 40, 500, 12, 6
"""Stories written, of them not folded, pieces of evidence shown for a step, findings of severity info listed, and
partitions listed to which the same happened. Of these, those with other steps whose steps are written, and how many
names of partitions such steps have.
"""


Partitions = Mapping[tuple[object, ...], Partition]
"""Partitions by ``incidents.incarnation_of`` of their findings."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A place in the evidence and its text."""

    folder: str
    file: str
    place: str
    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Step:
    """One fact.

    Attributes:
        number: 1 for the first; 0 for a note, which happened at no time.
        anchor: id of its element.
        text: what happened.
        broker, time: where and when; time in microseconds since 1970 UTC, or None.
        who: the broker or the controller, in words.
        lane: column of its broker in the rail, or -1.
        previous: column of the step before, or -1.
        proofs: the evidence; ``more`` is how many pieces are left out.
        on_disk: files show it, as they were when they were copied.
    """

    number: int
    anchor: str
    text: str
    broker: int | None
    who: str
    time: int | None
    lane: int
    previous: int
    proofs: tuple[Proof, ...]
    more: int
    on_disk: bool


@dataclass(frozen=True, slots=True)
class Told:
    """One finding of a story; ``phrase`` is its title within a sentence, ``brokers`` whom it concerns.

    With ``maybe_false`` the evidence leaves open whether it is a false alarm.
    """

    anchor: str
    title: str
    phrase: str
    brokers: str
    rule: str
    tone: str
    severity: str
    confidence: str
    offsets: str
    summary: str
    inferences: tuple[str, ...]
    ruled_out: tuple[str, ...]
    maybe_false: bool
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Alike:
    """A partition with the same story: its name, the anchors of its partition and of its findings.

    Attributes:
        cells: its row of the table of what differs, without its name.
        own: its steps differ, so they are told apart and its findings have their anchors there.
    """

    name: str
    partition: str
    findings: tuple[str, ...]
    offsets: str
    first: int | None
    last: int | None
    cells: tuple[str, ...] = ()
    own: bool = False


@dataclass(frozen=True, slots=True)
class Tale:
    """One incident.

    Attributes:
        name, partition: the partition and its anchor.
        findings: the worst one first; it gives the story its title.
        nodes: the lanes are of brokers and controllers.
        notes: facts of no broker and no time, such as settings.
        others: further partitions with the same story; ``more`` is how many are not listed.
        same: how far it is the same for them, as a sentence.
        columns: of the table of what differs, without the name of a partition; none where nothing does.
        cells: its own row of that table.
        only: sentences about what was found in some of the partitions alone.
        apart: those of them whose steps differ, with these.
    """

    name: str
    partition: str
    tone: str
    findings: tuple[Told, ...]
    count: str
    lanes: tuple[int, ...]
    nodes: bool
    steps: tuple[Step, ...]
    notes: tuple[Step, ...]
    cause: Cause | None
    others: tuple[Alike, ...]
    more: int
    unfolded: bool
    same: str = ""
    columns: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    apart: tuple[Tale, ...] = ()


@dataclass(frozen=True, slots=True)
class Stories:
    """All of them.

    Attributes:
        told: the stories.
        more: how many incidents are not written.
        quiet: name and sentence of the findings of severity info; ``quiet_more`` is how many are left out.
    """

    told: tuple[Tale, ...]
    more: int
    quiet: tuple[tuple[str, str, str], ...]
    quiet_more: int


def stories(result: Result) -> Stories:
    """Return every incident once, the worst first, with the partitions to which the same happened."""
    loud = [f for f in result.findings if f.severity is not Severity.INFO]
    quiet = [f for f in result.findings if f.severity is Severity.INFO]
    groups = incidents.nearly(incidents.incidents(loud))
    teller = _Teller(result)
    return Stories(
        tuple(teller.outage(group, unfolded=place < OPENED) for place, group in enumerate(groups[:TALES])),
        sum(len(group) for group in groups[TALES:]),
        tuple((finding_anchor(f), teller.called(f), sentence(plain(f.summary))) for f in quiet[:QUIET]),
        max(len(quiet) - QUIET, 0),
    )


def tone_of(finding: Finding) -> str:
    """Return "bad", which is red, for an error or worse that is more than suspected; else "warn"."""
    return "bad" if finding.severity.rank <= Severity.ERROR.rank and decides(finding.confidence) else "warn"


def finding_anchor(finding: Finding) -> str:
    """Id of the element that is about a finding."""
    return f"finding-{finding.fingerprint}"


def steps_of(found: Sequence[Finding]) -> tuple[incidents.Step, ...]:
    """Steps of an incident in the order in which the page numbers them."""
    return incidents.story(found).steps


def step_anchor(lead: Finding, place: int) -> str:
    """Id of the element of a step, by the finding that leads its story and its number there."""
    return f"step-{lead.fingerprint}-{place}"


@dataclass
class _Teller:
    result: Result
    called: Namer = field(init=False)
    anchor: Anchorer = field(init=False)
    short: Callable[[str], str] = field(init=False)
    partitions: Partitions = field(init=False)

    def __post_init__(self) -> None:
        clusters = [p.history.cluster for p in self.result.partitions]
        self.called, self.anchor = namer(clusters), anchorer(clusters)
        self.short = shortener(self.result.inputs)
        self.partitions = {
            (h.cluster, h.topic, h.topic_id, h.partition, h.incarnation): p
            for p in self.result.partitions
            for h in [p.history]
        }

    def outage(self, group: Sequence[incidents.Incident], *, unfolded: bool) -> Tale:
        """Return one story for partitions to which the same happened, with the steps of those that differ in them."""
        same, *apart = incidents.grouped(group)
        own = {id(one) for some in apart[:APART] for one in some[:1]}
        rows = alike(group[: ALIKE + 1])
        cells: list[tuple[str, ...]] = [row[1:] for row in rows[1:]] if rows else [()] * len(group)
        others = [
            replace(self._alike(one), cells=row, own=id(one) in own)
            for one, row in zip(group[1 : ALIKE + 1], cells[1:], strict=False)
        ]
        return replace(
            self.tale(same, unfolded=unfolded),
            others=tuple(others),
            more=max(len(group) - 1 - ALIKE, 0),
            same=plain(same_elsewhere(group)),
            columns=rows[0][1:] if rows else (),
            cells=cells[0],
            only=tuple(sentence(plain(text)) for text in only_some(group)),
            apart=tuple(self._apart(some) for some in apart[:APART]),
        )

    def _apart(self, group: Sequence[incidents.Incident]) -> Tale:
        """Return the steps of partitions within the story of others, whose table has them."""
        names = [self.called(one.lead) for one in group[1:]]
        same = f"These are also the steps of {first_names(names, ALSO)}." if names else ""
        return replace(self.tale(group, unfolded=False), others=(), more=0, same=same)

    def tale(self, group: Sequence[incidents.Incident], *, unfolded: bool) -> Tale:
        first, *others = group
        lead, found = first.lead, incidents.story(first.findings)
        lanes = tuple(sorted({one.fact.broker for one in found.steps if one.fact.broker is not None}))
        return Tale(
            self.called(lead),
            self.anchor(lead),
            tone_of(lead),
            tuple(self._told(finding) for finding in first.findings),
            how_many(lead) if lead.offsets else "",
            lanes,
            bool(lead.controllers),
            self._steps(lead, found.steps, lanes),
            tuple(self._step(lead, 0, one, lanes, -1) for one in found.notes),
            lead.known_cause,
            tuple(self._alike(one) for one in others[:ALIKE]),
            max(len(others) - ALIKE, 0),
            unfolded,
        )

    def _steps(self, lead: Finding, found: Sequence[incidents.Step], lanes: tuple[int, ...]) -> tuple[Step, ...]:
        steps: list[Step] = []
        before = -1
        for place, one in enumerate(found, start=1):
            steps.append(self._step(lead, place, one, lanes, before))
            before = steps[-1].lane if steps[-1].lane >= 0 else before
        return tuple(steps)

    def _step(self, lead: Finding, place: int, one: incidents.Step, lanes: tuple[int, ...], previous: int) -> Step:
        proofs = [_proof(piece, self.short) for piece in dict.fromkeys(one.evidence)]
        broker = one.fact.broker
        return Step(
            place,
            step_anchor(lead, place) if place else "",
            plain(one.fact.text),
            broker,
            one.who,
            one.fact.time,
            lanes.index(broker) if broker is not None and broker in lanes else -1,
            previous,
            tuple(proofs[:PROOFS]),
            max(len(proofs) - PROOFS, 0),
            one.on_disk,
        )

    def _told(self, finding: Finding) -> Told:
        times = f" ({number(finding.count)} times)" if finding.count > 1 else ""
        rule = rule_of(finding.rule)
        return Told(
            finding_anchor(finding),
            rule.label if decides(finding.confidence) else f"Suspected: {rule.phrase}",
            rule.phrase,
            brokers_text(finding.replicas, finding.controllers) if finding.replicas else "",
            finding.rule,
            tone_of(finding),
            finding.severity.value,
            finding.confidence.value,
            offsets(finding.offsets) or open_offsets(finding),
            sentence(plain(finding.summary) + times),
            tuple(map(plain, dict.fromkeys((*finding.inferences, *_why_inferred(finding), *finding.unproven)))),
            tuple(plain(text) for text in _no_false_alarm(finding)),
            Weakness.MAYBE_RUNNING in finding.weak,
            tuple(plain(text) for text in dict.fromkeys(self._doubts(finding))),
        )

    def _doubts(self, finding: Finding) -> list[str]:
        partition = self.partitions[incidents.incarnation_of(finding)]
        missing = [want for want in partition.judgements[finding.rule].missing if not _answers(finding, want)]
        doubts = [*finding.uncertain, *want_texts(missing, partition.history.name)]
        others = [
            rule
            for rule, other in partition.judgements.items()
            if other.verdict is Verdict.UNKNOWN and rule != finding.rule
        ]
        if others:
            doubts.append(f"these rules are unknown for this partition too: {', '.join(others)}")
        return doubts

    def _alike(self, one: incidents.Incident) -> Alike:
        spans = [finding.span for finding in one.findings]
        return Alike(
            self.called(one.lead),
            self.anchor(one.lead),
            tuple(finding_anchor(finding) for finding in one.findings),
            offsets(one.lead.offsets) or open_offsets(one.lead),
            min((first for first, _ in spans if first is not None), default=None),
            max((last for _, last in spans if last is not None), default=None),
        )


def _why_inferred(finding: Finding) -> list[str]:
    """Why a finding is not proven, besides what its ``uncertain`` says."""
    if finding.confidence is not Confidence.INFERRED:
        return []
    return [one.value for one in finding.weak if one not in (Weakness.ONE_BEARER, Weakness.MAYBE_RUNNING)]


def _no_false_alarm(finding: Finding) -> list[str]:
    """Return why a finding is no false alarm; if a copy of a running broker can look alike, that it may be one."""
    if Weakness.MAYBE_RUNNING not in finding.weak:
        return list(finding.not_because)
    only = "It is a false alarm only if the broker ran while its files were copied, which the evidence leaves open"
    return [". ".join([*finding.not_because, only])]


def _answers(finding: Finding, want: Want) -> bool:
    """Return whether a finding that is more than suspected answers what a leader had committed from an offset on.

    What it leaves open, how far more was committed, is among its own doubts.
    """
    first = min((start for start, _ in want.offsets), default=None)
    if first is None or want.question not in OF_COMMITS or not decides(finding.confidence):
        return False
    began = max((epoch for epoch, _ in want.epochs), default=None)
    of_one_leader = began == max(finding.epochs, default=None)
    return of_one_leader and any(start <= first < end for start, end in finding.offsets)


def _proof(evidence: Evidence, short: Callable[[str], str]) -> Proof:
    folder, slash, file = plain(short(evidence.path)).rpartition("/")
    if evidence.line is not None:
        place = f"line {evidence.line}"
    elif evidence.byte is not None:
        place = f"byte {evidence.byte}"
    else:
        place = ""
    cut = " …" if len(evidence.text) >= LONGEST else ""
    return Proof(folder + slash, file, place, plain(evidence.text) + cut, plain(evidence.note))
