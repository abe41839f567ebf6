"""The high watermark of a replica is above the end of its own log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History
from forensics.replay.lineage import size
from forensics.replay.traces.broken_invariants import HwAboveLeo
from forensics.replay.truncations.log_below_checkpoint import (
    LogBelowCheckpoint,
    copy_may_lack_end,
    log_below_checkpoint,
)
from forensics.rules.causes import CauseId
from forensics.rules.copying import copy_all, describe, elect_unclean, look_for_others
from forensics.rules.finding import (
    HERE,
    Action,
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
from forensics.rules.rescue import salvage
from forensics.rules.story import all_claimed, checkpoint_at_hand, flushed_cause, replicas_not_named, unstated_data
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
In a trace, one line that states both values of a replica at one moment is enough. If the trace
claims to state every change of a replica, a value holds until the next one.""",
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
A copy may lack the end of a segment. The finding is inferred, unless a producer snapshot shows that
the log ended there.""",
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
Copy the directories of the replicas first. Then start a replica that has the records. Wait until
``kafka-topics.sh --describe`` prints it after "Isr:" and "Leader:". Start this replica after that.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""
HIGH_WATERMARKS = "replication-offset-checkpoint"


def judge(history: History, case: Case) -> Judgement:
    """Compare checkpoint and segments of each replica, and take what witnesses state of it."""
    compared = [_compare(history, case, broker) for broker in sorted(history.replicas)]
    findings = [one.finding for one in compared if one.finding is not None]
    known = {broker for finding in findings for broker in finding.replicas}
    findings += [_stated(history, one) for one in history.stated.hw_above_leo if one.replica not in known]
    missing = [*unstated_data(history, case), *(one.unread for one in compared if one.unread is not None)]
    return judgement(ID, findings, missing if missing or all_claimed(history) else _of_others(history, compared))


def _of_others(history: History, compared: Sequence[_Comparison]) -> list[Want]:
    """Return what would show the log of a replica that nothing in the evidence names."""
    if not any(one.both for one in compared):
        return [Want(Question.CHECKPOINT_AND_LOG, (anywhere(Artefact.HW_CHECKPOINT, Artefact.SEGMENTS),))]
    return replicas_not_named(history)


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
    below = log_below_checkpoint(history, case, broker)
    if below is None:
        return _Comparison(both=True)
    if copy_may_lack_end(history, broker):
        return _Comparison(both=True, unread=_later_segments(history, below))
    return _Comparison(both=True, finding=_finding(history, case, below))


def _later_segments(history: History, below: LogBelowCheckpoint) -> Want:
    """Return what would show whether only the copy lacks the end of a replica's log."""
    return Want(
        Question.LATER_SEGMENTS,
        (of([below.replica], Artefact.LISTING), of([below.replica], Artefact.SERVER_LOG)),
        offsets=from_offset(below.end),
        because=copy_lacks(history.copies[below.replica].end_why),
    )


_NOT_TRUNCATED: Mapping[bool, str] = MappingProxyType(
    {
        True: (
            "no truncation was logged just before. Up to 2.3 the high watermark in memory stays above a truncated log"
        ),
        False: "no line states a truncation just before",
    }
)
"""The reason why the high watermark is not one that was kept after a truncation: in Kafka, and in another system."""


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
        not_because=(_NOT_TRUNCATED[history.origin.of_kafka],),
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(copy_all(history.origin),),
            do_not=(f"let broker {above.replica} lead before you know that another replica has the records",),
        ),
    )


def _facts(history: History, below: LogBelowCheckpoint) -> list[Fact]:
    """Return the checkpoint, the end of the log, and the ends of the logs that have the records."""
    broker, ends = below.replica, {other: history.replicas[other] for other in (below.replica, *below.holders)}
    mark = f"has high watermark {below.high_watermark} in its checkpoint file"
    return [
        Fact(mark, broker=broker, refs=(below.ref,)),
        *(
            Fact(
                f"has log end offset {one.end}{'' if other == broker else ', so it has the records'}",
                broker=other,
                refs=tuple(one.end_refs),
            )
            for other, one in ends.items()
        ),
    ]


def _first_steps(history: History, case: Case, below: LogBelowCheckpoint) -> tuple[str | Action, ...]:
    """Return what to do first: copy what is there, then let a replica lead that has the records."""
    broker, whole = below.replica, below.holders
    both = brokers_text(tuple(sorted((broker, *whole))))
    copied = (
        f"copy the directory {HERE} of {both} to another disk, with the files *-checkpoint from the folder above it. "
        f"Stop broker {broker} for that, if it runs, and leave it stopped"
    )
    ran = (
        f"if broker {broker} ran while this evidence was copied, scan the new copy. If this finding is not in it, it "
        "was a false alarm: the checkpoint had been copied later than the segments. Then start the broker as usual"
    )
    unsure = () if below.stopped else (ran,)
    if not whole:
        lost = offsets_text([(below.end, below.high_watermark)])
        accept = f"the last resort, once everything is copied: start broker {broker} without them. This gives up {lost}"
        force = "if no replica can lead then, let one lead by an unclean election. What only others have is lost too"
        return (
            *(copied, *unsure, look_for_others(f" before broker {broker} is started")),
            accept,
            *elect_unclean(history, case, force),
        )
    one = brokers_text(whole) if len(whole) == 1 else f"one of {brokers_text(whole)}"
    again = (
        f"either get the records out of the copy, start broker {broker}, and write them again: forensics produce "
        "writes them to a new topic (forensics explain salvage). They get new offsets, and consumers read them late:"
    )
    return (
        copied,
        *unsure,
        f"start {one}, if it is stopped, while broker {broker} stays stopped",
        describe(history, case, f"look at the line of {HERE}, where HOST is a broker that runs{_last_isr(history)}"),
        f'if it has {one} after "Isr:", wait until it has it after "Leader:" too, and start broker {broker} then',
        f"if it has not, leave broker {broker} stopped. Two ways are left, each with a price",
        salvage(history, whole, again),
        *elect_unclean(
            history,
            case,
            f"or let {one} lead by an unclean election, while broker {broker} is stopped. What was written after {one} "
            "left the ISR is lost then",
        ),
    )


def _last_isr(history: History) -> str:
    """Return the last ISR that the evidence shows, in words; "" for none."""
    last = history.current.last_isr if history.current is not None else None
    return f". The last ISR in this evidence is {isr_text(last)}" if last else ""


_ASSUMED: tuple[tuple[Callable[[LogBelowCheckpoint], bool], str], ...] = (
    (lambda below: not (below.proven and below.reached), "the checkpoint belongs to the log beside it"),
    (
        lambda below: not below.stopped,
        "this assumes that the broker was stopped while its directory was copied",
    ),
)
"""Assumptions on which a finding rests, and when."""


def _finding(history: History, case: Case, below: LogBelowCheckpoint) -> Finding:
    broker, whole, lacking = below.replica, below.holders, (below.end, below.high_watermark)
    disk = history.facts.disks.get(broker)
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=weak_points(
            {
                Weakness.NOT_KNOWN_AS_COMMITTED: not below.proven,
                Weakness.ONE_BEARER: not below.reached,
                Weakness.MAYBE_RUNNING: not below.stopped,
                Weakness.DAMAGED: disk is not None and disk.garbled,
                Weakness.TORN: disk is not None and disk.torn,
                Weakness.END_BY_SEGMENT: not (below.ended or (disk is not None and disk.torn)),
            }
        ),
        **place(history),
        replicas=(broker,),
        epochs=tuple(e.epoch for e in [history.current] if e is not None),
        offsets=(lacking,),
        records=(size([lacking]), size([lacking])),
        summary=(
            f"broker {broker} lacks committed {offsets_text([lacking])}: its checkpointed high watermark is "
            f"{below.high_watermark}, above the end of its log, {below.end}"
            + (f". {brokers_text(whole).capitalize()} still {_have(whole)} them" if whole else "")
        ),
        facts=tuple(_facts(history, below)),
        before={"high_watermark": below.high_watermark},
        after={"log_end_offset": below.end},
        inferences=tuple(text for holds, text in _ASSUMED if holds(below)),
        not_because=("the segments were read to their end, and none is missing",),
        cause=flushed_cause(history, broker, below.end),
        **advised(
            history.name,
            keep=f"{brokers_text(whole)}'s copy of {HERE}" if whole else None,
            next_steps=_first_steps(history, case, below),
            do_not=(f"start broker {broker} first: it may lead without the records",),
            lost=(lacking,),
        ),
    )


def _have(brokers: tuple[int, ...]) -> str:
    return "has" if len(brokers) == 1 else "have"


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="high watermark above log end",
    summary="The high watermark of a replica is above the end of its own log.",
    help=HELP,
)
