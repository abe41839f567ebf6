"""A volume was detached while a replica was on it."""

from __future__ import annotations

from forensics.plugins import (
    Artefact,
    Case,
    Fact,
    Finding,
    Help,
    History,
    Judgement,
    Line,
    Question,
    Rule,
    Severity,
    Want,
    advised,
    judgement,
    lines_of,
    of,
    place,
)

ID = "acme-volume-detached"

HELP = Help(
    finds=("A volume of ACME's storage was detached while a replica of the partition was on it.",),
    matters=("Records that the broker had not flushed are not on the volume when it is attached again.",),
    evidence=("The lines `ACME volume ... detached` of the broker, and the file acme-volumes in its log directory.",),
    not_when=("The replica had been moved from the volume before. Then acme-volumes names another volume.",),
    versions=("ACME 3.0 and later.",),
    to_do=("Attach the volume to another host, read-only, and copy the log directory from it.",),
)


def judge(history: History, case: Case) -> Judgement:
    """Report each broker of which a line or the file says so; unknown where a replica's broker has no file."""
    lines = lines_of(history, case, "ACME-01", "acme-volumes")
    detached = [line for line in lines if (line.detail or "").endswith(" detached")]
    listed = {line.broker for line in lines if line.message == "acme-volumes"}
    brokers = sorted({line.broker for line in detached if line.broker is not None})
    missing = [
        Want(Question.ITS_FILES, (of([broker], Artefact.LOG_DIRECTORY),), replicas=(broker,))
        for broker in sorted(history.replicas)
        if broker not in listed
    ]
    found = [_finding(history, broker, [line for line in detached if line.broker == broker]) for broker in brokers]
    return judgement(ID, found, missing)


def _finding(history: History, broker: int, lines: list[Line]) -> Finding:
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        **place(history),
        replicas=(broker,),
        summary=f"a volume of broker {broker} was detached under its replica of {history.name}",
        facts=tuple(Fact(f"stated: {line.detail}", broker=broker, time=line.time, refs=(line.ref,)) for line in lines),
        **advised(history.name, next_steps=(f"attach the volume of broker {broker} read-only, and copy from it",)),
    )


RULE = Rule(
    id=ID,
    severity=Severity.WARNING,
    judge=judge,
    summary="A volume was detached while a replica was on it.",
    help=HELP,
)
