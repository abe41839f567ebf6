"""The high watermark of a replica is above the end of its own log."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.replay.committed.proof import committed
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.leadership.elections import latest_isr_stated
from forensics.replay.lineage import Lineage, differences
from forensics.replay.roles.steps import StepKind
from forensics.replay.signs.stated import HwAboveLeo
from forensics.rules.causes import CauseId
from forensics.rules.finding import (
    HERE,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    brokers_text,
    judgement,
    offsets_text,
    place,
)
from forensics.rules.story import all_claimed, checkpoint_at_hand, flushed_cause, unstated_data
from forensics.rules.wants import Artefact, Question, Want, anywhere, copy_lacks, from_offset, of

ID = "hw-above-leo"

HELP = Help(
    finds=(
        """\
A checkpointed high watermark is greater than the log end offset in the same replica's segments.
The end of the log is missing, and the missing records were committed.""",
        """\
Or a log line states both values at one moment, with the high watermark above the log end
offset. In a trace, two lines of one moment count too.""",
    ),
    matters=(
        """\
Kafka flushes the high watermark file to disk, but not every record. After a power failure, a
replica can restart without the end of its log. If it becomes leader, committed records are
lost. Before a restart you can still choose another replica.""",
    ),
    evidence=(
        """\
``replication-offset-checkpoint`` of the log directory, and the record batches in the same
directory. If this file is missing or incomplete, the answer is unknown.""",
        """\
The answer is also unknown if a segment file may be missing from the copy. This is the case if
log lines, an index or a recovery point show a later segment.""",
        """\
A trace is testimony: a statement about one replica at one moment decides by itself. If the
trace claims to state every change of a replica, a value holds until the next one.""",
    ),
    not_when=(
        """\
Up to 2.3, the high watermark stays in memory after a truncation until the next fetch. A trace
that names such a version is not read in between.""",
        """\
A copy of a running broker's directory can hold a checkpoint that is newer than the copied
segment; the finding states that. In a copy of a stopped broker, the checkpoint is at most as
new as the segments.""",
        """\
The broker's log lines end within five seconds of a truncation below the checkpoint: the file is
from before the truncation.""",
    ),
    versions=(
        """\
All. From 2.4 on, a broker lowers the high watermark to the log end offset when it loads a log.
So only the files of a stopped broker show it, before it restarts.""",
    ),
    to_do=(
        """\
Do not start this replica first. Start a replica that has the records, and let it become leader.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""
_WRITTEN = 5_000_000
"""Microseconds: the default of replica.high.watermark.checkpoint.interval.ms."""
HIGH_WATERMARKS = "replication-offset-checkpoint"


def judge(history: History, case: Case) -> Judgement:
    """Compare checkpoint and segments of each replica, and take what witnesses state of it."""
    compared = [_compare(history, case, broker) for broker in sorted(history.replicas)]
    findings = [one.finding for one in compared if one.finding is not None]
    told = {broker for finding in findings for broker in finding.replicas}
    findings += [_stated(history, one) for one in history.stated.hw_above_leo if one.replica not in told]
    missing = [*unstated_data(history, case), *(one.unread for one in compared if one.unread is not None)]
    if not any(one.both for one in compared) and not missing and not all_claimed(history):
        missing.append(Want(Question.CHECKPOINT_AND_LOG, (anywhere(Artefact.HW_CHECKPOINT, Artefact.SEGMENTS),)))
    return judgement(ID, findings, missing)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Checkpoint and segments of one replica.

    Attributes:
        both: whether both are in the evidence.
        finding: what they show.
        unread: the files without which they cannot be compared.
    """

    both: bool
    finding: Finding | None = None
    unread: Want | None = None


def _compare(history: History, case: Case, broker: int) -> _Comparison:
    replica = history.replicas[broker]
    if replica.checkpoint is None or replica.end is None:
        # A file that is whole and lacks the partition was written before it had a high watermark.
        lacking = replica.end is not None and not checkpoint_at_hand(history, case, broker, HIGH_WATERMARKS)
        wanted = Want(Question.CHECKPOINT, (of([broker], Artefact.HW_CHECKPOINT),)) if lacking else None
        return _Comparison(both=False, unread=wanted)
    high_watermark, ref = replica.checkpoint
    if high_watermark <= replica.end or _cut_since(history, case, broker, high_watermark):
        return _Comparison(both=True)
    partial = _partial(history, broker)
    found = _finding(history, broker, high_watermark, ref) if partial is None else None
    return _Comparison(both=True, finding=found, unread=partial)


def _partial(history: History, broker: int) -> Want | None:
    """Return what would show whether only the copy lacks the end of a replica's log; None if it does not."""
    copy = history.copies.get(broker)
    # Other files show by themselves that it is whole; its lines only if none is missing up to the copy.
    if copy is None or (copy.end and (not copy.end_by_lines or history.coverage.has(broker, Printed.LOG, Span.AFTER))):
        return None
    end = history.replicas[broker].end
    return Want(
        Question.LATER_SEGMENTS,
        (of([broker], Artefact.LISTING), of([broker], Artefact.SERVER_LOG)),
        offsets=from_offset(end if end is not None else 0),
        because=copy_lacks(copy.end_why),
    )


def _cut_since(history: History, case: Case, broker: int, high_watermark: int) -> bool:
    """Return whether the checkpoint may be older than a truncation right before the end of a replica's lines.

    A broker writes it every five seconds. Other rules judge that truncation.
    """
    steps = [step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps]
    last = steps[-1] if steps else None
    if (
        last is None
        or last.kind not in (StepKind.TRUNCATED, StepKind.TRUNCATED_FULLY)
        or last.target >= high_watermark
        or last.time is None
    ):
        return False
    ends = case.sources.filter(pl.col("broker") == broker).get_column("last_time").cast(pl.Int64).max()
    return isinstance(ends, int) and ends - last.time < _WRITTEN


def _stopped(history: History, broker: int) -> bool:
    """Return whether lines show that a broker had stopped at the end: it shut down, or left the last ISR."""
    spans, epoch = history.role_spans.get(broker), history.current
    if spans and spans[-1].shut_down is not None and history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER):
        return True  # and no later line shows a start
    if epoch is None or epoch.last_isr is None:
        return False
    return broker not in epoch.last_isr & latest_isr_stated(history, epoch, epoch.last_isr)


def _replaced(history: History, broker: int, first: int, end: int) -> bool:
    """Return whether a replica may have truncated some of the offsets and fetched others, and no epochs show that.

    Only its lines show it if the leader epochs of its records are unknown, or if it truncates to its high watermark.
    """
    log = history.replicas[broker].lineage
    undated = any(log.epoch_at(piece[0]) < 0 for piece in log.pieces([(first, end)]))
    if not undated and not history.truncates_to_hw:
        return False
    if not history.coverage.throughout(broker) or history.coverage.unnamed:
        return True
    return any(
        truncation.replica == broker and truncation.target < end and truncation.end > first
        for truncation in history.truncations
    ) or any(
        truncation.replica == broker and truncation.target < end for truncation in history.truncations_of_unknown_extent
    )


def _led_to(history: History, broker: int) -> Lineage:
    """Return the last log of a replica by its lines."""
    spans = history.role_spans.get(broker)
    return spans[-1].log if spans and history.coverage.whole(broker, Span.BEFORE, Span.WITHIN) else Lineage()


def _parted(history: History, broker: int, other: int, end: int) -> bool:
    """Return whether two logs differ already below an offset, so that the records above differ too."""
    return any(first < end for first, _ in history.facts.diverging_ranges(broker, other))


def _stated(history: History, above: HwAboveLeo) -> Finding:
    """Return a finding for both values as one witness states them."""
    high_watermark, end = above.high_watermark, above.end
    whose = "" if above.witness == above.replica else f" (logged by broker {above.witness})"
    unsure = "no missing line shows a truncation between the two values"
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=weak_points({Weakness.LINES_BETWEEN: above.later}),
        **place(history),
        replicas=(above.replica,),
        epochs=(above.epoch,) if above.epoch >= 0 else (),
        offsets=((end, high_watermark),),
        records=(high_watermark - end, high_watermark - end),
        summary=(
            f"broker {above.replica} had high watermark {high_watermark} and log end offset {end}{whose}: it lacked "
            f"committed {offsets_text([(end, high_watermark)])}"
        ),
        facts=tuple(
            Fact(f"stated {ref.note}", broker=above.witness, time=above.time, refs=(ref,)) for ref in above.refs
        ),
        before={"high_watermark": high_watermark},
        after={"log_end_offset": end},
        inferences=(unsure,) if above.later else (),
        not_because=(
            "no truncation was logged just before. Up to 2.3 the high watermark in memory stays above a truncated log",
        ),
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(
                f"copy the directory {HERE} of every replica to another disk before any broker is started again",
            ),
            do_not=(f"let broker {above.replica} lead before you know that another replica has the records",),
        ),
    )


def _finding(history: History, broker: int, high_watermark: int, ref: Ref) -> Finding:
    replica = history.replicas[broker]
    end = replica.end
    assert end is not None
    whole = tuple(
        other
        for other, r in sorted(history.replicas.items())
        if other != broker
        and r.end is not None
        and r.end >= high_watermark
        and not _parted(history, broker, other, end)
        and not differences(_led_to(history, broker), r.lineage, end, high_watermark)[0]
        and not _replaced(history, other, end, high_watermark)
    )
    stopped = _stopped(history, broker)
    disk = history.facts.disks.get(broker)
    proof = committed(history, replica.lineage, end, high_watermark, replica=broker)
    unsure = "" if stopped else f"if broker {broker} was stopped while its files were copied, "
    facts = [
        Fact(f"has high watermark {high_watermark} in its checkpoint file", broker=broker, refs=(ref,)),
        Fact(f"has log end offset {end}", broker=broker, refs=tuple(replica.end_refs)),
    ]
    facts += [
        Fact(
            f"has log end offset {history.replicas[other].end}, so it has the records",
            broker=other,
            refs=tuple(history.replicas[other].end_refs),
        )
        for other in whole
    ]
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=weak_points(
            {
                Weakness.NOT_KNOWN_AS_COMMITTED: not proof.ranges,
                Weakness.MAYBE_RUNNING: not stopped,
                Weakness.DAMAGED: disk is not None and disk.garbled,
                Weakness.TORN: disk is not None and disk.torn,
            }
        ),
        **place(history),
        replicas=(broker,),
        epochs=tuple(e.epoch for e in [history.current] if e is not None),
        offsets=((end, high_watermark),),
        records=(high_watermark - end, high_watermark - end),
        summary=(
            f"broker {broker} lacks committed {offsets_text([(end, high_watermark)])}: its checkpointed high "
            f"watermark is {high_watermark}, above the end of its log, {end}"
            + (f". {brokers_text(whole).capitalize()} still {_have(whole)} them" if whole else "")
        ),
        facts=tuple(facts),
        before={"high_watermark": high_watermark},
        after={"log_end_offset": end},
        inferences=(
            *(() if proof.ranges else ("the checkpoint belongs to the log beside it",)),
            *(() if stopped else ("the broker was stopped while its directory was copied. If not, copy it again",)),
        ),
        not_because=("the segments were read to their end, and none is missing",),
        cause=flushed_cause(history, broker, end),
        **advised(
            history.name,
            keep=f"{brokers_text(whole)}'s copy of {HERE}" if whole else None,
            next_steps=(
                *(
                    (
                        (
                            f"{unsure}start {brokers_text(whole)} before broker {broker} and let "
                            f"{'it' if len(whole) == 1 else 'one of them'} lead"
                        ),
                    )
                    if whole
                    else (f"{unsure}look for another copy of {HERE} before broker {broker} is started",)
                ),
            ),
            do_not=(f"start broker {broker} first{_if_stopped(broker, stopped)}: it would lead without the records",),
        ),
    )


def _have(brokers: tuple[int, ...]) -> str:
    return "has" if len(brokers) == 1 else "have"


def _if_stopped(broker: int, stopped: bool) -> str:
    """Return the condition of an advice, where it is not known whether a broker ran while its files were copied."""
    return "" if stopped else f" (if broker {broker} was stopped while its files were copied)"


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="high watermark above log end",
    summary="The high watermark of a replica is above the end of its own log.",
    help=HELP,
)
