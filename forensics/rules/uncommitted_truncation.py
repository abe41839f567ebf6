"""A replica removed records that had not been committed.

## What it finds
A truncation whose removed records are in no log that is known to be committed: what only an old
leader had.

## Why it matters
Kafka promises nothing for such records, but producers with acks=0 or acks=1 may have been told that
they were written.

## Evidence
The same as for ``truncation-below-committed``.

## Not a finding when
A removed record was committed (the other rule reports it), or the cut removed nothing.

## Versions
All; normal after each failover of a leader under load.

## What to do
Nothing, unless producers with acks=1 rely on these records: use acks=all.
"""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.committed import committed
from forensics.replay.history import Confidence, Cut, History
from forensics.replay.lineage import Range, size, subtract
from forensics.rules.finding import (
    Finding,
    Judgement,
    Rule,
    Severity,
    count_text,
    epoch_text,
    judgement,
    place,
    span_text,
)
from forensics.rules.story import cut_fact, doubt_of, missing_logs, repeats_facts, times_told, unmeasured
from forensics.rules.wants import Want

ID = "uncommitted-truncation"


def judge(history: History, case: Case) -> Judgement:
    """Look at what each cut removed beyond what is known to be committed."""
    findings = []
    open_: list[Want] = []
    for cut in history.cuts:
        row = cut.refs[0].row
        proof = committed(history, cut.lineage, cut.target, cut.end, replica=cut.replica, before=cut.epoch, row=row)
        rest = subtract([(cut.target, cut.end)], proof.ranges)
        doubt = doubt_of(history, cut) if rest else None
        if doubt is not None:
            open_.append(doubt)
        elif rest:
            findings.append(_finding(history, cut, tuple(rest)))
    return judgement(ID, findings, [*open_, *unmeasured(history), *missing_logs(history, case)])


def _finding(history: History, cut: Cut, ranges: tuple[Range, ...]) -> Finding:
    least = size(ranges)
    what = f"offsets {span_text(ranges)} ({count_text(ranges)})"
    uncertain: tuple[str, ...] = ()
    if not cut.end_exact:
        what = f"offsets from {ranges[0][0]} on ({least:,} or more)"
        uncertain = (f"how far broker {cut.replica}'s log had reached: no line says",)
    return Finding(
        rule=ID,
        severity=Severity.INFO,
        confidence=Confidence.PROVEN,
        **place(history),
        replicas=(cut.replica,),
        epochs=(cut.epoch,) if cut.epoch >= 0 else (),
        offsets=ranges,
        records=(least, least if cut.end_exact else None),
        summary=(
            f"broker {cut.replica} cut {what} from its log in {epoch_text(cut.epoch)}; nothing shows that they were "
            "committed"
        ),
        facts=(cut_fact(cut), *repeats_facts(history, cut)),
        before={"log_end_offset": cut.end} if cut.end_exact else {},
        after={"log_end_offset": cut.target},
        uncertain=uncertain,
        cause="acks1-failover",
        count=times_told(history, cut),
    )


RULE = Rule(ID, Severity.INFO, "UNCOMMITTED TAIL CUT", judge, __doc__ or "")
