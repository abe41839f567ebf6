"""Findings of what is suspected: the verdict is unknown, but a line or file itself speaks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forensics.replay.history import Confidence, History
from forensics.replay.lineage import intersect
from forensics.replay.log_dirs import Moved
from forensics.replay.suspicions import Sign, Suspicion, suspicions
from forensics.rules.finding import Fact, Finding, Judgement, Rule, Severity, Verdict, actions, epoch_text, place
from forensics.rules.wants import Want
from forensics.rules.wording import want_texts


@dataclass(frozen=True, slots=True)
class Suspect:
    """What a sign makes a rule suspect.

    Attributes:
        sign: the sign.
        rule: id of the rule.
        summary: one sentence, with the names of the suspicion's attributes in braces, ``span`` and ``role`` besides.
        shows: what the line says, in a few words.
        otherwise: what else could explain the line.
    """

    sign: Sign
    rule: str
    summary: str
    shows: str
    otherwise: tuple[str, ...]


REMADE = "the topic was deleted and created again in between, and no line at hand says so"

SUSPECTS: tuple[Suspect, ...] = (
    Suspect(
        Sign.EPOCH_BELOW_HIGH_WATERMARK,
        "committed-data-lost",
        "broker {replica} began to lead {role} at offset {first}, but broker {witness} had stated high watermark {end} "
        "before: committed offsets {span} may be lost",
        "broker {replica} begins to lead {role} at offset {first}",
        (REMADE, "the log directory was replaced or emptied on purpose"),
    ),
    Suspect(
        Sign.RECOVERY_TRUNCATED_LEADER,
        "committed-data-lost",
        "log recovery truncated the log of broker {replica} to offset {first}, and broker {replica} led {role} next: "
        "what it had committed from offset {first} on may be lost",
        "log recovery of broker {replica} truncates to offset {first}",
        ("nothing from that offset on had been committed",),
    ),
    Suspect(
        Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK,
        "truncation-below-committed",
        "broker {replica} truncated its log to {first}, below its own high watermark {end}: committed offsets {span} "
        "may be gone from it",
        "broker {replica} truncates to offset {first}",
        (
            "the high watermark was its leader's, taken over before the log was reconciled (KAFKA-14704)",
            "its leader's log was replaced by another of the same name",
        ),
    ),
)
"""Every suspicion that a finding may name, in the order in which they are shown."""


def with_suspected(history: History, judged: Sequence[Judgement], rules: Sequence[Rule]) -> list[Judgement]:
    """The judgements of a partition, with what is suspected where a verdict is unknown."""
    unknown = {one.rule for one in judged if one.verdict is Verdict.UNKNOWN}
    if unknown.isdisjoint(suspect.rule for suspect in SUSPECTS):
        return list(judged)
    found = suspicions(history)
    severities = {rule.id: rule.severity for rule in rules}
    return [
        replace(one, findings=(*one.findings, *_findings(history, one, found, severities[one.rule])))
        if one.rule in unknown
        else one
        for one in judged
    ]


def _findings(history: History, judgement: Judgement, found: Sequence[Suspicion], severity: Severity) -> list[Finding]:
    """What is suspected of one rule, each range once: the worst sign of a replica and an epoch counts."""
    known = [piece for finding in judgement.findings for piece in finding.offsets]
    result: list[Finding] = []
    for suspect in (suspect for suspect in SUSPECTS if suspect.rule == judgement.rule):
        for one in (one for one in found if one.sign is suspect.sign):
            if not intersect(one.offsets, known):
                result.append(_finding(history, suspect, one, severity, judgement.missing))
    return result


def _moved(one: Suspicion) -> tuple[str, ...]:
    """What the settings that a broker printed explain."""
    return (explained(one.replica, one.moved),) if one.moved is not None else ()


def explained(broker: int, moved: Moved) -> str:
    """That a broker used other directories than before."""
    return f"broker {broker} printed log.dirs {moved.now}, and {moved.before} before: its new log may have begun empty"


def look_in(history: History, broker: int, moved: Moved) -> str:
    """Where the records of a broker that changed its directories may still be."""
    return f"look for {history.name} in {moved.before} of broker {broker}: its records may still be there"


def _finding(
    history: History, suspect: Suspect, one: Suspicion, severity: Severity, missing: Sequence[Want]
) -> Finding:
    values = {
        "replica": one.replica,
        "witness": one.witness,
        "first": one.first,
        "end": one.end,
        "role": epoch_text(one.epoch),
        "span": f"[{one.first}, {one.end})",
    }
    hw, *later = one.refs
    facts = [Fact(suspect.shows.format_map(values), broker=one.replica, time=one.time, refs=tuple(later) or (hw,))]
    if one.end is not None:
        since = f" in {epoch_text(one.since)}" if one.since >= 0 else ""
        facts.insert(0, Fact(f"high watermark {one.end}{since}", broker=one.witness, refs=(hw,)))
    return Finding(
        rule=suspect.rule,
        severity=list(Severity)[min(severity.rank + 1, len(Severity) - 1)],
        confidence=Confidence.SUSPECTED,
        **place(history),
        replicas=(one.replica,),
        epochs=tuple(sorted({epoch for epoch in (one.since, one.epoch) if epoch >= 0})),
        offsets=one.offsets,
        records=None,
        summary=suspect.summary.format_map(values),
        facts=tuple(facts),
        before={"high_watermark": one.end} if one.end is not None else {},
        after={"log_end_offset": one.first},
        inferences=_moved(one),
        uncertain=tuple(f"it may be that {other}" for other in suspect.otherwise),
        cause="unknown",
        next_steps=actions(
            f"copy the directory {history.name} of every replica to another disk before any broker is started again",
            *((look_in(history, one.replica, one.moved),) if one.moved is not None else ()),
            *(f"collect {item}" for item in want_texts(missing[:3], history.name)),
        ),
        subject=suspect.sign.name,
    )
