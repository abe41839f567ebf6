"""A replica's log became shorter, and no truncation explains it."""

from __future__ import annotations

import itertools

from forensics.case import Case
from forensics.replay.committed.new_logs import begun_empty, replacements
from forensics.replay.committed.proof import losses, may_have_lost_tail, possible_losses, served_log
from forensics.replay.committed.rejoined import has_committed_again
from forensics.replay.committed.surviving_copies import holders
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.deletions import log_start_at
from forensics.replay.facts.log_dirs import Moved, moved_before
from forensics.replay.history import History, Role, ShortenedBy, ShortenedLog
from forensics.replay.leadership.elections import outside_isr
from forensics.replay.lineage import differences, subtract
from forensics.replay.roles.steps import REMOVES, LogBefore, StepKind
from forensics.replay.signs.stated import LogFell
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
    epoch_text,
    judgement,
    place,
)
from forensics.rules.story import (
    BOTH_LOGS,
    CAUSE_OF,
    held_texts,
    missing_logs,
    served_as,
    shortened_facts,
)
from forensics.rules.suspected import look_in
from forensics.rules.wants import Artefact, Question, Want, from_offset, of

ID = "leo-regression"

HELP = Help(
    finds=(
        """\
A broker loads or recovers a log with a lower log end offset than the replica is known to have
reached. Or it finds an empty log where there were records. In a trace, also a leader's log end
offset that falls while it leads. If the trace states each change, this holds for any replica.""",
    ),
    matters=(
        """\
This replica had acknowledged the records at the end of the log, as leader or as a member of the
ISR. If it becomes leader next, committed records are lost.""",
    ),
    evidence=(
        """\
Load lines (``Completed load of``), recovery lines (``Corruption found in segment``) and lines
about new logs show the log end offset now. The replica's own log lines show the one before. Or
a high watermark implies it, if the replica was in the ISR when it was reached.""",
        """\
Brokers before 2.2 log neither value in between at the default log level. There, a follower may
have restarted with a shorter log and left no trace.""",
    ),
    not_when=(
        """\
A truncation, a deletion of the topic or of the replica, a move to another directory or tiered
storage explains it.""",
        """\
A log directory failed, so the broker created the replica again in another directory, and the
replica has fetched everything again (KIP-112). A replica that has fetched the records again is
a warning.""",
    ),
    versions=(
        """\
All. If only the process is killed, nothing is lost: the operating system still writes the data.
A host without power loses what was not flushed. A clean stop flushes the log
(LogManager.shutdown), so a shorter log after a clean stop implies that another log replaced it.""",
    ),
    to_do=(
        """\
Check the host (power, kernel, disk, mounts) before you trust this replica again.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""

_EMPTY = (ShortenedBy.NEW_LOG, ShortenedBy.DIR_FAILURE)
"""Causes that leave an empty log."""

_HOW = {
    ShortenedBy.CLEAN_RESTART: "loaded",
    ShortenedBy.UNCLEAN_RESTART: "loaded",
    ShortenedBy.RECOVERY: "recovered",
    ShortenedBy.NEW_LOG: "created again",
    ShortenedBy.DIR_FAILURE: "created again",
    ShortenedBy.LATER_LOOK: "found",
    ShortenedBy.NO_LINE: "stated",
}


def judge(history: History, case: Case) -> Judgement:
    """Report each log that was found shorter."""
    findings = tuple(
        _finding(history, shortened)
        for shortened in history.shortened_logs
        if shortened.cause is not ShortenedBy.DIR_FAILURE
        or shortened.replica not in _whole(history, shortened)
        or not _measured(history, shortened)
    )
    findings += tuple(_fell(history, one) for one in history.stated.log_fell if not _is_told(history, one))
    missing = [*_replaced(history), *_begun_empty(history), *_unmeasured(history), *_flushed(history)]
    missing += missing_logs(history)
    return judgement(ID, findings, missing or _untold(history))


def _replaced(history: History) -> list[Want]:
    """Return a want for each log that was found empty, with an unknown log end offset before."""
    told = [shortened.refs for shortened in history.shortened_logs]
    return [
        Want(
            Question.HELD_BEFORE_NEW_LOG,
            (of([broker], Artefact.PARTITION_LOGGER), of([broker], Artefact.SEGMENTS)),
        )
        for broker in sorted(history.role_spans)
        if any(
            step.before is not LogBefore.DIR_FAILED and step.end is None and step.refs not in told
            for step in replacements(history, broker)
        )
    ]


def _begun_empty(history: History) -> list[Want]:
    """Return a want for each log that begins empty in a later epoch, while another replica has earlier records."""
    return [
        Want(Question.HELD_BEFORE_EPOCH, (of([one.replica], *BOTH_LOGS),), epochs=((one.epoch, None),))
        for one in begun_empty(history)
    ]


def _unmeasured(history: History) -> list[Want]:
    """Return a want for each log loaded after an unclean stop whose broker led next, with an unknown former end."""
    return [
        Want(
            Question.END_BEFORE_LEADING,
            (
                of([possible_loss.after.leader], Artefact.SEGMENTS),
                of([possible_loss.after.leader], Artefact.PARTITION_LOGGER),
            ),
            offsets=from_offset(possible_loss.after.start) if possible_loss.after.start is not None else (),
            epochs=((possible_loss.after.epoch, possible_loss.after.leader),),
        )
        for possible_loss in possible_losses(history)
        if possible_loss.after.leader is not None
        and (not outside_isr(history, possible_loss.after) or possible_loss.after.last_known)
        and may_have_lost_tail(history, possible_loss.after.leader, possible_loss.before, possible_loss.after)
    ]


def _flushed(history: History) -> list[Want]:
    """Return a want for each log that was loaded below its own recovery point without a logged removal."""
    found = []
    for broker, disk in sorted(history.facts.disks.items()):
        steps = [step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps]
        loads = [step for step in steps if step.kind is StepKind.LOADED]
        point = disk.recovery_point[0] if disk.recovery_point is not None else 0
        if not loads or disk.end is None or not loads[-1].target <= disk.end < point:
            continue  # it may have been flushed since
        if not any(step.kind in REMOVES and step.target < point for step in steps):
            ways = (of([broker], *BOTH_LOGS),)
            found.append(Want(Question.TAIL_REMOVED, ways, offsets=((loads[-1].target, point),)))
    return found


def _untold(history: History) -> list[Want]:
    """Return a want for leader epochs that no line names between two roles of a replica.

    The replica may have restarted in between with a shorter log.
    """
    found = []
    for broker, spans in sorted(history.role_spans.items()):
        for one, two in itertools.pairwise(spans):
            between = history.coverage.unnamed_between(one.epoch, two.epoch)
            if one.epoch >= 0 and between:
                epochs = tuple((number, None) for number in (one.epoch, *between, two.epoch))
                found.append(Want(Question.UNNAMED_EPOCHS, (of([broker], *BOTH_LOGS),), epochs=epochs))
    return found


def _check(shortened: ShortenedLog) -> str:
    if shortened.cause in _EMPTY:
        return (
            f"copy the partition's directory from a replica that still has the records before broker "
            f"{shortened.replica} leads, and {_host(shortened)}"
        )
    return _host(shortened)


def _never(shortened: ShortenedLog, others: tuple[int, ...]) -> str:
    if not others:
        return f"start broker {shortened.replica} first: it would lead without the records"
    return (
        f"let broker {shortened.replica} lead without the records, or start {brokers_text(others)} while it leads: its "
        "followers truncate them"
    )


def _host(shortened: ShortenedLog) -> str:
    if shortened.cause is ShortenedBy.DIR_FAILURE:
        broker = shortened.replica
        return f"find out whether broker {broker}'s failed log directory can be read, before its disk is discarded"
    if shortened.cause is ShortenedBy.NEW_LOG:
        return f"find out who wiped, replaced or unmounted the disk of broker {shortened.replica}"
    if shortened.cause is ShortenedBy.NO_LINE:
        return f"find out what removed the end of broker {shortened.replica}'s log, and why no line states it"
    if shortened.cause is ShortenedBy.CLEAN_RESTART:
        return (
            f"find out who restored, remounted or copied broker {shortened.replica}'s data directory while it was "
            "stopped: the clean stop had flushed its whole log"
        )
    return f"check broker {shortened.replica}'s host for a power failure, a kernel crash or a disk error at that time"


def _whole(history: History, shortened: ShortenedLog) -> tuple[int, ...]:
    """Return replicas that hold everything that its log lacked; the replica itself, if it has fetched it again.

    If it is settled that nothing was lost, records that no later leader had were never committed and do not count.
    """
    epoch = history.epochs.get(shortened.epoch)
    lineage = shortened.lineage if shortened.lineage.entries or epoch is None else epoch.lineage
    lost = [(shortened.target, shortened.end)]
    served = served_log(history)
    if _settled(history) and served is not None:
        lost = subtract(lost, differences(lineage, served, shortened.target, shortened.end)[0])
    held = {broker for broker, ranges in holders(history, lineage, lost).items() if list(ranges) == lost}
    if lost and not history.epoch_rollbacks and not losses(history)[0]:
        # If lines do not show the epochs of its log: a replica that never lost any record has all of them, and so has a
        # replica with identical segments.
        truncations = (*history.truncations, *history.truncations_of_unknown_extent)
        whole = (
            history.replicas.keys()
            - {s.replica for s in history.shortened_logs}
            - {truncation.replica for truncation in truncations}
        )
        held |= {b for b in history.replicas for o in whole - {b} if history.facts.identical_ranges(b, o, lost) == lost}
    return tuple(sorted(held))


def _settled(history: History) -> bool:
    """Return whether it is known that no committed records are gone."""
    return not history.epoch_rollbacks and not possible_losses(history) and not losses(history)[0]


def _measured(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a log is known to have had no committed records beyond its known end.

    Records of a leader beyond that lower bound may have been committed and lost.
    """
    followed = served_as(history, shortened.replica, shortened.epoch) is Role.FOLLOWER
    return _settled(history) or shortened.end_exact or followed


def _why(shortened: ShortenedLog, moved: Moved | None) -> str:
    """Return the reason why a log is shorter, in words."""
    if moved is not None:
        return f"log.dirs had changed from {moved.before} to {moved.now}"
    if shortened.dir_failed:
        return "its log directory had failed"
    return "its log directory held no log" if shortened.dir_empty else "no log line explains the difference"


def _finding(history: History, shortened: ShortenedLog) -> Finding:
    whole = _whole(history, shortened)
    back = has_committed_again(history, shortened)
    measured = _measured(history, shortened)
    again = shortened.replica in whole or back
    refetched = ". It fetched the records again later" if again else ""
    refetched = ". It rejoined the ISR later, so it has all committed records" if back else refetched
    refetched += "; whether it had more is unknown" if again and not measured else ""
    others = () if again else tuple(broker for broker in whole if broker != shortened.replica)
    how = _HOW[shortened.cause]
    kept = log_start_at(history.facts.log_starts, shortened.replica, shortened.refs[0].row)
    first = kept if 0 == shortened.target < kept < shortened.end else shortened.target
    moved = moved_before(history, shortened) if shortened.cause is ShortenedBy.NEW_LOG else None
    return Finding(
        rule=ID,
        severity=Severity.WARNING if again else Severity.ERROR,
        weak=weak_points(
            {
                Weakness.END_IMPLIED: shortened.implied,
                Weakness.LINES_BETWEEN: not history.coverage.whole(shortened.replica),
            }
        ),
        **place(history),
        replicas=(shortened.replica,),
        epochs=(shortened.epoch,) if shortened.epoch >= 0 else (),
        offsets=((first, shortened.end),),
        records=(shortened.end - first, shortened.end - first if shortened.end_exact else None),
        summary=(
            f"broker {shortened.replica}'s log was {how} with log end offset {shortened.target}; before, it was "
            f"{shortened.end}{'' if shortened.end_exact else ' or higher'}; {_why(shortened, moved)}"
            f"{refetched}"
        ),
        facts=shortened_facts(shortened),
        before={"log_end_offset": shortened.end},
        after={"log_end_offset": shortened.target},
        inferences=held_texts(shortened),
        rests_on=shortened.by,
        cause=CAUSE_OF[shortened.cause],
        **advised(
            history.name,
            keep=f"{brokers_text(others)}'s {'copy' if len(others) == 1 else 'copies'} of {HERE}" if others else None,
            next_steps=(
                _check(shortened) if others else _host(shortened),
                *((look_in(shortened.replica, moved),) if moved is not None else ()),
            ),
            do_not=(
                *((_never(shortened, others),) if shortened.cause in _EMPTY and not again else ()),
                *(
                    (f"format or discard the failed disk of broker {shortened.replica} before that",)
                    if shortened.cause is ShortenedBy.DIR_FAILURE
                    else ()
                ),
            ),
        ),
    )


def _is_told(history: History, fell: LogFell) -> bool:
    """Return whether a log that was found shorter explains that a leader's log end offset fell."""
    return any(one.replica == fell.replica and one.target <= fell.after for one in history.shortened_logs)


def _fell(history: History, fell: LogFell) -> Finding:
    broker = fell.replica
    earlier, later = fell.refs
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=() if fell.claimed else (Weakness.LINES_BETWEEN,),
        **place(history),
        replicas=(broker,),
        epochs=(fell.epoch,) if fell.epoch >= 0 else (),
        offsets=((fell.after, fell.before),),
        records=(fell.before - fell.after, None),
        summary=(
            f"broker {broker} was the leader in {epoch_text(fell.epoch)}, and its log end offset fell from "
            f"{fell.before} to {fell.after}. No log line explains it: a leader only appends"
            if fell.leads
            else f"the log end offset of broker {broker} fell from {fell.before} to {fell.after}. The trace claims to "
            "state each change in between, and none explains it"
        ),
        facts=(
            Fact(f"had log end offset {fell.before}", broker=broker, refs=(earlier,)),
            Fact(f"had log end offset {fell.after}", broker=broker, time=fell.time, refs=(later,)),
        ),
        before={"log_end_offset": fell.before},
        after={"log_end_offset": fell.after},
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(
                f"copy the directory {HERE} of every replica to another disk before any broker is started again",
            ),
        ),
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="log became shorter",
    summary="A replica's log became shorter, and no truncation explains it.",
    help=HELP,
)
