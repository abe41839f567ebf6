"""Evidence that the questions about a partition need is missing.

## What it finds
Brokers that are replicas of the partition but whose server.log, state-change.log or data directory
was not handed in.

## Why it matters
A verdict is as good as its evidence. What is missing now can often still be collected; in a day it
is rotated away.

## Evidence
The coverage of the case: which broker left which kind of file, for which time.

## Not a finding when
Everything the rules asked for is there.

## Versions
All.

## What to do
Collect what the finding lists, and scan again with all of it together.
"""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.history import Confidence, History
from forensics.rules.finding import Finding, Judgement, Rule, Severity, Verdict, place
from forensics.rules.story import members, missing_data, missing_logs

ID = "evidence-gap"


def judge(history: History, case: Case) -> Judgement:
    """List what is missing."""
    missing = (*missing_logs(history, case), *missing_data(history, case))
    if not missing:
        return Judgement(ID, Verdict.CLEAN)
    finding = Finding(
        rule=ID,
        severity=Severity.INFO,
        confidence=Confidence.PROVEN,
        **place(history),
        replicas=tuple(sorted(members(history, case))),
        summary=f"not in the evidence: {'; '.join(missing)}",
        next_steps=tuple(f"collect {item}" for item in missing),
    )
    return Judgement(ID, Verdict.VIOLATED, (finding,), missing)


RULE = Rule(ID, Severity.INFO, "EVIDENCE MISSING", judge, __doc__ or "")
