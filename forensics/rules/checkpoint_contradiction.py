"""Checkpoint files contradict the log beside them."""

from __future__ import annotations

from enum import StrEnum

from forensics.case import Case
from forensics.replay.confidence import Bearers
from forensics.replay.facts.directory import Disk, Pointer
from forensics.replay.history import History
from forensics.rules.causes import CauseId
from forensics.rules.finding import HERE, Fact, Finding, Help, Judgement, Rule, Severity, advised, judgement, place
from forensics.rules.story import checkpoint_at_hand, flushed_cause, missing_data
from forensics.rules.wants import Artefact, Question, Want, anywhere, of

ID = "checkpoint-contradiction"

HELP = Help(
    finds=(
        """\
A recovery point, a log start offset or a cleaner offset is beyond the log end offset of the
replica.""",
    ),
    matters=(
        """\
Such a file belongs to another state of the log: a restored backup, a log that lost its end, or
a directory that was put together by hand. If the recovery point is beyond the log end offset,
the broker skips a recovery that it needs.""",
    ),
    evidence=(
        """\
The checkpoint files of a log directory, and the segments in it. If
``recovery-point-offset-checkpoint`` is missing or incomplete, the answer is unknown.""",
    ),
    not_when=(
        """\
The high watermark is above the log end offset: ``hw-above-leo`` reports that. Up to 2.3, a high
watermark may stay below the log start offset after delete-records. A checkpoint is older than
the log: brokers write each one every few seconds to a minute.""",
    ),
    versions=(
        """\
All.""",
    ),
    to_do=(
        """\
Find out where the directory comes from before you start a broker on it.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
"""Every broker has this file in every log directory, in all versions. The other two exist only if their feature is
used.
"""


def judge(history: History, case: Case) -> Judgement:
    """Compare each checkpoint with the segments beside it."""
    findings = []
    unread = []
    compared = False
    for broker, disk in sorted(history.facts.disks.items()):
        if disk.end is None:
            continue
        compared = True
        findings += [_finding(history, broker, disk, name, pointer) for name, pointer in _beyond(disk)]
        if not checkpoint_at_hand(history, case, broker, RECOVERY_POINTS):
            unread.append(Want(Question.CHECKPOINT, (of([broker], Artefact.RECOVERY_CHECKPOINT),)))
    missing = [*missing_data(history, case), *unread]
    if not compared and not missing:
        missing.append(Want(Question.CHECKPOINT_AND_LOG, (anywhere(Artefact.CHECKPOINTS, Artefact.SEGMENTS),)))
    return judgement(ID, findings, missing)


class _Named(StrEnum):
    """The offsets that checkpoint files state of a log, as JSON names them."""

    RECOVERY_POINT = "recovery_point"
    LOG_START_OFFSET = "log_start_offset"
    CLEANER_OFFSET = "cleaner_offset"


_TEXT = {
    _Named.RECOVERY_POINT: "recovery point",
    _Named.LOG_START_OFFSET: "log start offset",
    _Named.CLEANER_OFFSET: "cleaner offset",
}


def _beyond(disk: Disk) -> list[tuple[_Named, Pointer]]:
    named = (
        (_Named.RECOVERY_POINT, disk.recovery_point),
        (_Named.LOG_START_OFFSET, disk.log_start_checkpoint),
        (_Named.CLEANER_OFFSET, disk.cleaner_point),
    )
    return [(name, pointer) for name, pointer in named if pointer is not None and pointer[0] > (disk.end or 0)]


def _finding(history: History, broker: int, disk: Disk, name: _Named, pointer: Pointer) -> Finding:
    (value, ref), text = pointer, _TEXT[name]
    refs = (ref,) if disk.end_ref is None else (ref, disk.end_ref)
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        **place(history),
        replicas=(broker,),
        subject=text,
        summary=f"broker {broker}'s {text} {value} is above its log end offset, {disk.end}",
        facts=(Fact(f"has {text} {value} and log end offset {disk.end}", broker=broker, refs=refs),),
        before={name.value: value},
        after={"log_end_offset": disk.end or 0},
        **advised(
            history.name,
            next_steps=(
                f"copy broker {broker}'s directory of {HERE} and its checkpoint files before it is started again",
            ),
        ),
        cause=flushed_cause(history, broker, disk.end or 0) if name is _Named.RECOVERY_POINT else CauseId.UNKNOWN,
    )


RULE = Rule(
    id=ID,
    severity=Severity.WARNING,
    judge=judge,
    summary="Checkpoint files contradict the log beside them.",
    help=HELP,
    bearers=Bearers.ONE,
    about_files=True,
)
