"""A segment is damaged: wrong checksums, gaps, overlaps or impossible lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forensics.case import Case
from forensics.replay.confidence import Bearers, Weakness, weak_points
from forensics.replay.facts.compaction import NOT_CLEANED
from forensics.replay.facts.directory import Damage
from forensics.replay.history import History
from forensics.rules.causes import CauseId
from forensics.rules.copying import describe, elect_unclean, look_for_others
from forensics.rules.finding import (
    HERE,
    NUMBER,
    TOPIC,
    Action,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    Verdict,
    advised,
    any_of,
    brokers_text,
    place,
)
from forensics.rules.story import earlier_segments, maybe_cleaned, missing_data
from forensics.rules.wants import Artefact, Question, Want, anywhere, copy_lacks, of, offsets_of
from parsers.schema import DamageKind

ID = "segment-damage"

HELP = Help(
    finds=(
        """\
A record batch has a wrong checksum or an impossible header. Offsets fall or are missing. A
segment does not continue where the one before it ends. As information only: the end of the last
segment is incomplete or filled with zeros.""",
    ),
    matters=(
        """\
Consumers fail at a damaged batch, and followers stop there. Kafka cannot read what follows an
unreadable place.""",
    ),
    evidence=(
        """\
The segment files, the header and checksum of each batch, and the base offsets in the file
names.""",
        """\
If a segment is missing between others, either the broker's disk or the copy lacks it. The
broker's own line about the number of segments it loaded shows which. Without that line the
answer is unknown.""",
        """\
If a segment skips offsets, a log cleaner may have removed them. The settings with which the log
was created and the brokers' ``cleaner-offset-checkpoint`` show whether it could. Without these
the answer is unknown.""",
    ),
    not_when=(
        """\
The end of the last segment is incomplete or filled with zeros (information only): a crash, a
preallocated file, or a copy of a running broker. Offsets are missing in a compacted log.""",
    ),
    versions=(
        """\
All.""",
    ),
    to_do=(
        """\
Do not let a damaged replica become leader, and do not copy files between brokers. If another
replica without damage leads, let the broker fetch the partition again. ``forensics scan`` prints
the steps.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""
SHOWN = 5
_ENDS = (DamageKind.TORN_TAIL, DamageKind.ZERO_TAIL)
"""Damage that a crash, a preallocated file or a copy of a running broker leaves."""
_SUBJECTS = {Severity.ERROR: "damage", Severity.WARNING: "gap", Severity.INFO: "end"}
"""The subject of a finding of each severity, in the order reported."""


def judge(history: History, case: Case) -> Judgement:
    """Report each damaged replica once, and harmless ends separately."""
    cleaned = maybe_cleaned(history, history.facts.disks)
    damage = {broker: _by_severity(history, broker) for broker in sorted(history.facts.disks)}
    findings = [
        _finding(history, case, broker, places, severity)
        for broker, found in damage.items()
        for severity, places in found.items()
        if places and not (severity is Severity.WARNING and cleaned)
    ]
    wishes = [want for broker, found in damage.items() for want in _missing_segments(history, broker, found)]
    missing = [*missing_data(history, case), *wishes, *cleaned]
    if not missing and not any(disk.end is not None for disk in history.facts.disks.values()):
        missing.append(Want(Question.ANY_SEGMENTS, (anywhere(Artefact.SEGMENTS),)))
    violated = any(f.severity is Severity.ERROR for f in findings)
    verdict = Verdict.VIOLATED if violated else Verdict.UNKNOWN if missing else Verdict.CLEAN
    return Judgement(ID, verdict, tuple(findings), tuple(dict.fromkeys(missing)))


def _by_severity(history: History, broker: int) -> dict[Severity, list[Damage]]:
    """Return the damage of a replica by severity, in the order reported.

    A gap between segments is a warning if only the copy may lack the segment.
    """
    found: dict[Severity, list[Damage]] = {severity: [] for severity in _SUBJECTS}
    gaps = Severity.ERROR if _its_own(history, broker) else Severity.WARNING
    milder = {**dict.fromkeys(_ENDS, Severity.INFO), DamageKind.GAP: gaps}
    for damage in history.facts.disks[broker].damage:
        found[milder.get(damage.kind, Severity.ERROR)].append(damage)
    return found


def _missing_segments(history: History, broker: int, damage: Mapping[Severity, list[Damage]]) -> list[Want]:
    """Return what would show whether segments of a replica are missing on the broker or only in the copy."""
    return [*([_listing(history, broker)] if damage[Severity.WARNING] else []), *earlier_segments(history, broker)]


def _its_own(history: History, broker: int) -> bool:
    """Return whether a gap between segments was on the broker itself, and not only in the copy."""
    copy = history.copies.get(broker)
    return copy is not None and copy.inner is True


def _listing(history: History, broker: int) -> Want:
    """Return what would show whether a segment is missing on the broker or only in the copy."""
    copy = history.copies.get(broker)
    return Want(
        Question.MISSING_SEGMENTS,
        (of([broker], Artefact.LISTING), of([broker], Artefact.SEGMENTS)),
        offsets=offsets_of(history.facts.disks[broker].gaps),
        because=copy_lacks(copy.inner_why) if copy is not None else None,
    )


def _finding(history: History, case: Case, broker: int, damage: list[Damage], severity: Severity) -> Finding:
    whole = _undamaged(history, broker) if severity is not Severity.INFO else ()
    parted = severity is Severity.WARNING
    copy = history.copies.get(broker)
    lost = severity is Severity.ERROR and copy is not None and any(d.kind is DamageKind.GAP for d in damage)
    skips = any(d.kind is DamageKind.SKIPPED for d in damage)
    more = f", and {len(damage) - 1:,} more" if len(damage) > 1 else ""
    return Finding(
        rule=ID,
        severity=severity,
        weak=weak_points({Weakness.MAYBE_NOT_COPIED: parted}),
        **place(history),
        replicas=(broker,),
        subject=_SUBJECTS[severity],
        summary=f"broker {broker} has damaged segments: {damage[0].text}{more}",
        facts=tuple(Fact(d.text, broker=broker, refs=(d.ref,)) for d in damage[:SHOWN]),
        inferences=(f"every segment file of {history.name} on broker {broker} was collected",) if parted else (),
        uncertain=(
            (f"only the copy may lack a segment file: check whether broker {broker}'s directory has it",)
            if parted
            else ()
        ),
        not_because=(
            *((NOT_CLEANED,) if skips else ()),
            *(
                (f"no segment file was left out of the copy: {copy.inner_why}",)
                if lost and copy and copy.inner_why
                else ()
            ),
        ),
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            keep=_kept(broker, whole) if whole else None,
            next_steps=(*(_first_steps(history, case, broker, whole) if severity is Severity.ERROR else ()),),
            do_not=(
                f"let broker {broker} lead {HERE} while its segments are damaged",
                f"delete or move {HERE} on {brokers_text(whole)}: the only good copy of these records may be there",
            )
            if whole
            else (),
        ),
        count=len(damage),
    )


def _kept(broker: int, whole: Sequence[int]) -> str:
    """Return which copies to keep: those that can stand for the damaged one."""
    copies, their = ("copy", "its") if len(whole) == 1 else ("copies", "their")
    return (
        f"the {copies} of {HERE} on {brokers_text(whole)}: {their} segments have no damage and reach as far as broker "
        f"{broker}'s"
    )


def _first_steps(history: History, case: Case, broker: int, whole: Sequence[int]) -> tuple[str | Action, ...]:
    """Return what to do first about damage: a broker whose damage others do not have can be stopped and repaired."""
    copy = f"copy broker {broker}'s directory {HERE} to another disk. The broker may run meanwhile"
    compare = f"compare the copies, where PATH is the evidence: forensics compare PATH -p {HERE}"
    if not whole:
        return (
            copy,
            compare,
            look_for_others(""),
            (
                "the last resort: give up the damaged records, and set consumers to a position behind them. What can "
                "still be read of the copy, forensics salvage gets out"
            ),
        )
    some = f"broker {any_of(whole)}"
    none = f"{some} is not" if len(whole) == 1 else f"none of {brokers_text(whole)} is"
    alike = f'. Continue if it prints "no difference" for {brokers_text(whole)}' if len(whole) > 1 else ""
    line = f'"Topic: {TOPIC} Partition: {NUMBER}"'
    return (
        copy,
        f"{compare}{alike}",
        describe(history, case, f'check that {some} is after "Isr:" in the line {line} (HOST: a running broker)'),
        (
            f'stop broker {broker} (a partition with it alone after "Isr:" has no leader then), and check that {some} '
            'is after "Leader:" in that line now'
        ),
        *elect_unclean(
            history,
            case,
            f'only if {none} after "Isr:" and no broker leads, the last resort is an unclean election, while broker '
            f"{broker} is stopped. First copy everything. What only broker {broker} had is lost then",
        ),
        (
            f"move the directory {HERE}, and each other one that is damaged on broker {broker}, out of its log "
            f"directory. Then start broker {broker}: it fetches all their records again from the leader"
        ),
        (
            f'wait until that line has broker {broker} after "Isr:", and keep the moved directory until then. If it '
            f"does not come, look for errors about {HERE} in server.log of broker {broker}"
        ),
    )


def _undamaged(history: History, broker: int) -> tuple[int, ...]:
    """Other replicas whose segments are whole and reach as far."""
    end = history.facts.disks[broker].end
    return tuple(
        other
        for other, disk in sorted(history.facts.disks.items())
        if other != broker and disk.end is not None and not disk.damage and (end is None or disk.end >= end)
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    summary="A segment is damaged: wrong checksums, gaps, overlaps or impossible lengths.",
    help=HELP,
    bearers=Bearers.ONE,
    about_files=True,
)
