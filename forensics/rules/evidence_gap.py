"""Evidence that the rules need for a partition is missing."""

from __future__ import annotations

import functools
from collections.abc import Callable

from forensics.case import Case
from forensics.replay.bare import made_like
from forensics.replay.confidence import Bearers
from forensics.replay.coverage import Span
from forensics.replay.history import History
from forensics.rules.finding import (
    HERE,
    Advice,
    Advised,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    Verdict,
    place,
)
from forensics.rules.story import contradicted, missing_data, missing_logs, unstated_data
from forensics.rules.wants import Want, of_evidence
from forensics.rules.wording import want_texts

ID = "evidence-gap"

HELP = Help(
    finds=(
        """\
A broker has a replica of the partition, but the evidence lacks its server.log, its
state-change.log or its data directory, or parts of these. Log lines are missing in between,
were rotated away, or end early. Or a trace that claims to state each change contradicts itself.""",
    ),
    matters=(
        """\
An answer is only as good as its evidence. You can often still collect today what is missing.
Tomorrow log rotation may have removed it.""",
    ),
    evidence=(
        """\
The list of files in the evidence: which broker left which kind of file, for which time. A
missing file cannot be cited. The finding cites what names the broker as a replica, and what its
files show beyond its log lines.""",
    ),
    not_when=(
        """\
The evidence has everything that the rules asked for.""",
    ),
    versions=(
        """\
All.""",
    ),
    to_do=(
        """\
Collect what the finding lists, and scan all of it together again.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """List what is missing."""
    files = unstated_data if case.traces_alone else missing_data
    contradictions = contradicted(history)
    if contradictions and case.traces_alone:  # without them the trace would state everything
        missing = of_evidence(contradictions, history.origin)
    else:
        found = (*contradictions, *missing_logs(history), *files(history, case))
        missing = of_evidence(found, history.origin)
    if not missing:
        return Judgement(ID, Verdict.CLEAN)
    finding = Finding(
        rule=ID,
        severity=Severity.INFO,
        **place(history),
        replicas=tuple(sorted(history.members)),
        facts=(*_contradiction(history), *_named(history), *_further(history)),
        **_said(missing)(history.name),
    )
    return Judgement(ID, Verdict.VIOLATED, (finding,), missing)


class _Said(Advised):
    """The fields of a finding whose texts name the partition."""

    summary: str


@functools.lru_cache(maxsize=256)
def _said(missing: tuple[Want, ...]) -> Callable[[str], _Said]:
    """Return what gives the texts of the finding for the name of a partition; cached, as many lack the same."""
    wanted = want_texts(missing, HERE)
    general = f"not in the evidence: {'; '.join(wanted)}"
    advice = Advice(next_steps=(f"collect {item}" for item in wanted))
    return lambda name: _Said(**advice.of(name), summary=general.replace(HERE, name))


def elsewhere(found: Judgement) -> Callable[[History], Judgement]:
    """Return what gives the same answer for other partitions, of which checkpoints alone are in the evidence.

    No line names a replica of these, so the finding cites nothing.
    """
    said = _said(found.missing)
    made = [made_like(one) for one in found.findings]

    def of(history: History) -> Judgement:
        where, texts = place(history), said(history.name)
        return Judgement(found.rule, found.verdict, tuple(one(**where, **texts) for one in made), found.missing)

    return of


def _contradiction(history: History) -> list[Fact]:
    """Return the line with which a trace contradicts itself."""
    found = history.doubted.contradiction if history.doubted is not None else None
    return [] if found is None else [Fact(found.text, broker=found.broker, time=found.time, refs=(found.ref,))]


def _named(history: History) -> list[Fact]:
    """Return the evidence that each broker with missing files is a replica: its last known role."""
    facts = []
    for broker in sorted(history.members):
        fact = None if history.whole_with_files(broker) else _role(history, broker)
        if fact is not None:
            facts.append(fact)
    return facts


def _role(history: History, broker: int) -> Fact | None:
    for epoch in reversed(history.epochs.naming.get(broker, ())):
        number = epoch.epoch
        if epoch.leader == broker and epoch.refs:
            return Fact(f"broker {broker} was leader in epoch {number}", refs=(epoch.refs[0],))
        for isr, ref in reversed(epoch.isr):
            if broker in isr:
                return Fact(f"broker {broker} was in the ISR in leader epoch {number}", refs=(ref,))
    for role_span in reversed(history.role_spans.get(broker, [])):
        if role_span.refs:
            return Fact(
                f"broker {broker} was {role_span.role} in leader epoch {role_span.epoch}", refs=(role_span.refs[0],)
            )
    return None


def _further(history: History) -> list[Fact]:
    """Return evidence that lines are missing: lines that begin too late, and files with later epochs than the lines."""
    facts = []
    within = history.coverage.shown_missing(Span.WITHIN)
    for broker, one in within.items():
        facts.append(Fact(one.text, broker=broker, refs=(one.ref,) if one.ref is not None else ()))
    for broker in sorted(history.coverage.shown_missing(Span.BEFORE).keys() - within.keys()):
        for first in [role_span for role_span in history.role_spans[broker] if role_span.epoch >= 0][:1]:
            text = f"has log lines only from leader epoch {first.epoch} on"
            facts.append(Fact(text, broker=broker, time=first.time, refs=tuple(first.refs[:1])))
    for broker in history.coverage.shown_missing(Span.AFTER):
        disk = history.facts.disks.get(broker)
        found = [] if disk is None else [*disk.refs.items(), *((epoch, ref) for epoch, _, ref in disk.entries)]
        if found:
            epoch, ref = max(found, key=lambda one: one[0])
            facts.append(Fact(f"has leader epoch {epoch} in its files", broker=broker, refs=(ref,)))
    return facts


RULE = Rule(
    id=ID,
    severity=Severity.INFO,
    judge=judge,
    summary="Evidence that the rules need for a partition is missing.",
    help=HELP,
    bearers=Bearers.ONE,
    elsewhere=elsewhere,
)
