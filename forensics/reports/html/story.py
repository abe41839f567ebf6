"""The story of a finding: numbered facts with their evidence, what was inferred and ruled out, what stays open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forensics.case.quotes import LONGEST
from forensics.replay.confidence import Confidence, Weakness
from forensics.replay.lineage import size
from forensics.reports.html.wording import Namer, namer, number, offsets, plain, plural, sentence, shortener
from forensics.result import Partition, Result
from forensics.rules import RULES
from forensics.rules.causes import BY_ID, Cause
from forensics.rules.finding import Evidence, Fact, Finding, Severity, Verdict
from forensics.rules.wording import want_texts

STORIES, OPENED, PROOFS, QUIET = 24, 3, 6, 40
"""Findings described in full, of them not folded, pieces of evidence shown for a fact, and findings of severity info
listed.
"""

SAME = 1_000_000
"""Microseconds between the clocks of two brokers within which their order is unknown."""

_TITLES = {rule.id: rule.title for rule in RULES}


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
        lane: column of its broker in the rail, or -1.
        previous: column of the fact before, or -1.
        later: number of the last of the following facts that were printed before it, or 0: a broker may log only after
            a restart what it had reached long before.
    """

    number: int
    text: str
    broker: int | None
    time: int | None
    lane: int
    previous: int
    proofs: tuple[Proof, ...]
    more: int
    later: int


@dataclass(frozen=True, slots=True)
class Story:
    """One finding."""

    anchor: str
    rule: str
    title: str
    name: str
    panel: int
    tone: str
    severity: str
    confidence: str
    offsets: str
    count: str
    summary: str
    lanes: tuple[int, ...]
    steps: tuple[Step, ...]
    inferences: tuple[str, ...]
    ruled_out: tuple[str, ...]
    open: tuple[str, ...]
    cause: Cause | None
    unfolded: bool


@dataclass(frozen=True, slots=True)
class Stories:
    """All of them."""

    told: tuple[Story, ...]
    more: int
    quiet: tuple[tuple[str, str], ...]
    quiet_more: int


def stories(result: Result, number_of: dict[int, int]) -> Stories:
    """Describe the worst findings in full and list the information.

    Args:
        result: a finished scan.
        number_of: panel of each drawn partition, by its position in the result.
    """
    where = {
        (p.history.cluster, p.history.topic, p.history.partition, p.history.incarnation): (
            p,
            number_of.get(position, -1),
        )
        for position, p in enumerate(result.partitions)
    }
    loud = [f for f in result.findings if f.severity is not Severity.INFO]
    quiet = [f for f in result.findings if f.severity is Severity.INFO]
    # The same may have happened to many partitions: one of each kind of finding comes before the second of any.
    seen: dict[tuple[str, str | None], int] = {}
    turn = {}
    for finding in loud:
        kind = (finding.rule, finding.cause)
        turn[id(finding)] = seen[kind] = seen.get(kind, -1) + 1
    loud.sort(key=lambda finding: (finding.severity.rank, turn[id(finding)]))
    told = []
    called = namer([p.history.cluster for p in result.partitions])
    short = shortener(result.inputs)
    for position, finding in enumerate(loud[:STORIES]):
        partition, panel = where[finding.cluster, finding.topic, finding.partition, finding.incarnation]
        told.append(_story(finding, partition, panel, position, short, called))
    return Stories(
        tuple(told),
        max(len(loud) - STORIES, 0),
        tuple((called(f), plain(f.summary)) for f in quiet[:QUIET]),
        max(len(quiet) - QUIET, 0),
    )


def _why_inferred(finding: Finding) -> list[str]:
    """Why a finding is not proven, besides what its ``uncertain`` says."""
    if finding.confidence is not Confidence.INFERRED:
        return []
    return [one.value for one in finding.weak if one is not Weakness.ONE_BEARER]


def _story(
    finding: Finding, partition: Partition, panel: int, position: int, short: Callable[[str], str], called: Namer
) -> Story:
    evidence = dict(zip(finding.refs, finding.evidence, strict=False))
    lanes = tuple(sorted({fact.broker for fact in finding.facts if fact.broker is not None}))
    steps: list[Step] = []
    before = -1
    for place, fact in enumerate(finding.facts):
        proofs = [_proof(evidence[ref], short) for ref in dict.fromkeys(fact.refs) if ref in evidence]
        lane = lanes.index(fact.broker) if fact.broker is not None else -1
        steps.append(
            Step(
                len(steps) + 1,
                plain(fact.text),
                fact.broker,
                fact.time,
                lane,
                before,
                tuple(proofs[:PROOFS]),
                max(len(proofs) - PROOFS, 0),
                _later(finding.facts, place),
            )
        )
        before = lane if lane >= 0 else before
    judgement = partition.judgements[finding.rule]
    doubts = [*_why_inferred(finding), *finding.uncertain, *want_texts(judgement.missing, partition.history.name)]
    others = [
        rule
        for rule, other in partition.judgements.items()
        if other.verdict is Verdict.UNKNOWN and rule != finding.rule
    ]
    if others:
        doubts.append(f"not judged for lack of evidence: {', '.join(others)}")
    return Story(
        anchor=f"finding-{finding.fingerprint}",
        rule=finding.rule,
        title=_TITLES[finding.rule].capitalize(),
        name=called(finding),
        panel=panel,
        tone="bad" if finding.severity.rank <= Severity.ERROR.rank else "warn",
        severity=finding.severity.value,
        confidence=finding.confidence.value,
        offsets=offsets(finding.offsets),
        count=plural(size(finding.offsets), "offset") if finding.offsets else "",
        summary=sentence(plain(finding.summary) + (f" ({number(finding.count)} times)" if finding.count > 1 else "")),
        lanes=lanes,
        steps=tuple(steps),
        inferences=tuple(plain(text) for text in finding.inferences),
        ruled_out=tuple(plain(text) for text in finding.not_because),
        open=tuple(plain(text) for text in dict.fromkeys(doubts)),
        cause=BY_ID[finding.cause] if finding.cause is not None else None,
        unfolded=position < OPENED,
    )


def _later(facts: tuple[Fact, ...], place: int) -> int:
    time = facts[place].time
    if time is None:
        return 0
    after = enumerate(facts[place + 1 :], start=place + 2)
    return max((number for number, other in after if other.time is not None and other.time < time - SAME), default=0)


def _proof(evidence: Evidence, short: Callable[[str], str]) -> Proof:
    folder, slash, file = plain(short(evidence.path)).rpartition("/")
    if evidence.line is not None:
        place = f"line {number(evidence.line)}"
    elif evidence.byte is not None:
        place = f"byte {number(evidence.byte)}"
    else:
        place = ""
    cut = " …" if len(evidence.text) >= LONGEST else ""
    return Proof(folder + slash, file, place, plain(evidence.text) + cut, plain(evidence.note))
