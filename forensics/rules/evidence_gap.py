"""Evidence that the questions about a partition need is missing."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.confidence import Bearers
from forensics.replay.coverage import Span
from forensics.replay.history import History
from forensics.rules.finding import HERE, Fact, Finding, Help, Judgement, Rule, Severity, Verdict, advised, place
from forensics.rules.story import missing_data, missing_logs, unstated_data
from forensics.rules.wording import want_texts

ID = "evidence-gap"

HELP = Help(
    finds=(
        """\
Brokers that are replicas of the partition but whose server.log, state-change.log or data directory
was not handed in, or not all of it: lines are missing in between, rotated away before, or end early.""",
    ),
    matters=(
        """\
A verdict is as good as its evidence. What is missing now can often still be collected; in a day it
is rotated away.""",
    ),
    evidence=(
        """\
The coverage of the case: which broker left which kind of file, for which time. What is absent cannot be
cited; cited is what names the broker as a replica, and what its files know beyond its lines.""",
    ),
    not_when=("Everything the rules asked for is there.",),
    versions=("All.",),
    to_do=("Collect what the finding lists, and scan again with all of it together.",),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """List what is missing."""
    files = unstated_data if case.traces_alone else missing_data
    missing = (*missing_logs(history), *files(history, case))
    if not missing:
        return Judgement(ID, Verdict.CLEAN)
    finding = Finding(
        rule=ID,
        severity=Severity.INFO,
        **place(history),
        replicas=tuple(sorted(history.members)),
        summary=f"not in the evidence: {'; '.join(want_texts(missing, history.name))}",
        facts=(*_named(history), *_further(history)),
        **advised(history.name, next_steps=(f"collect {item}" for item in want_texts(missing, HERE))),
    )
    return Judgement(ID, Verdict.VIOLATED, (finding,), missing)


def _named(history: History) -> list[Fact]:
    """Return the evidence that each broker with missing files is a replica: its last known role."""
    facts = []
    for broker in sorted(history.members):
        told = None if history.whole_with_files(broker) else _role(history, broker)
        if told is not None:
            facts.append(told)
    return facts


def _role(history: History, broker: int) -> Fact | None:
    for number, epoch in sorted(history.epochs.items(), reverse=True):
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
        disk = history.disks.get(broker)
        found = [] if disk is None else [*disk.refs.items(), *((epoch, ref) for epoch, _, ref in disk.entries)]
        if found:
            epoch, ref = max(found, key=lambda one: one[0])
            facts.append(Fact(f"has leader epoch {epoch} in its files", broker=broker, refs=(ref,)))
    return facts


RULE = Rule(
    id=ID,
    severity=Severity.INFO,
    judge=judge,
    summary="Evidence that the questions about a partition need is missing.",
    help=HELP,
    bearers=Bearers.ONE,
)
