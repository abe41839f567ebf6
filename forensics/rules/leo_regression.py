"""A replica's log came back shorter than it was, and no truncation explains it.

## What it finds
A log end offset at load, or after log recovery, below one that the replica is known to have
reached, or an empty log in the place of one that had records.

## Why it matters
The end of a log lost this way was acknowledged by this replica: as leader or as a member of the
ISR. If the replica is elected next, committed records go.

## Evidence
Load lines (``Completed load of``), recovery lines (``Corruption found in segment``), lines of new
logs; the log end offset before, from its own lines, or from a high watermark reached while the
replica was in the ISR. Brokers before 2.2 print neither in between at stock logging, so a follower
that came back shorter may leave no trace there.

## Not a finding when
A truncation, a deletion of the topic or of the replica, a move to another directory or tiered
storage explains it. Nor when its log directory had failed, so that the replica was made anew in
another, and it has fetched everything again (KIP-112).

A replica that has fetched the records again since is told as a warning.

## Versions
All. A process killed alone loses nothing: the operating system still has its pages. A host that
loses power does. A clean stop flushes the log (LogManager.shutdown), so a log that is shorter after
one was replaced by another.

## What to do
Look at the host (power, kernel, disk, mounts) before trusting the replica again.
"""

from __future__ import annotations

import itertools

from forensics.case import Case
from forensics.replay.committed import doubts, let_in_again, losses, lost_unseen, served_log
from forensics.replay.elections import outside_isr
from forensics.replay.history import Confidence, History, Role, ShortenedBy, Shrunk
from forensics.replay.holding import holders
from forensics.replay.lineage import differences, subtract
from forensics.replay.log_dirs import Moved, moved_before
from forensics.replay.steps import REMOVES, LogBefore, StepKind
from forensics.rules.finding import Finding, Judgement, Rule, Severity, actions, brokers_text, judgement, place
from forensics.rules.story import BOTH_LOGS, SHRUNK_BY, had_part, missing_logs, replacements, served_as, shrunk_fact
from forensics.rules.suspected import look_in
from forensics.rules.wants import Artefact, Question, Want, from_offset, of

ID = "leo-regression"

_EMPTY = (ShortenedBy.NEW_LOG, ShortenedBy.DIR_FAILURE)
"""Causes that leave an empty log."""

_HOW = {
    ShortenedBy.CLEAN_RESTART: "loaded",
    ShortenedBy.UNCLEAN_RESTART: "loaded",
    ShortenedBy.RECOVERY: "recovered",
    ShortenedBy.NEW_LOG: "created anew",
    ShortenedBy.DIR_FAILURE: "created anew",
}


def judge(history: History, case: Case) -> Judgement:
    """Report each log that came back shorter."""
    findings = tuple(
        _finding(history, shrunk)
        for shrunk in history.shrunk
        if shrunk.cause is not ShortenedBy.DIR_FAILURE or shrunk.replica not in _whole(history, shrunk)
    )
    missing = [*_replaced(history), *_made_anew(history), *_unmeasured(history), *_flushed(history)]
    missing += missing_logs(history, case)
    return judgement(ID, findings, missing or _untold(history))


def _replaced(history: History) -> list[Want]:
    """Logs that came back empty, of which nothing tells how long they had been."""
    told = [shrunk.refs for shrunk in history.shrunk]
    return [
        Want(
            Question.HELD_BEFORE_NEW_LOG,
            (of([broker], Artefact.PARTITION_LOGGER), of([broker], Artefact.SEGMENTS)),
        )
        for broker in sorted(history.tenures)
        if any(
            step.before is not LogBefore.DIR_FAILED and step.end is None and step.refs not in told
            for step in replacements(history, broker)
        )
    ]


def _made_anew(history: History) -> list[Want]:
    """Logs that begin empty in a later epoch, with a leader or with who was in the ISR before, while another replica
    has records from before.
    """
    found = []
    for broker, spans in sorted(history.tenures.items()):
        first = next((tenure for tenure in spans if tenure.epoch >= 0), None)
        if first is None or first.epoch == 0 or first.start_end != 0:
            continue
        if first.role is not Role.LEADER and not had_part(history, broker, first.epoch):
            continue
        earlier = any(
            tenure.epoch < first.epoch and tenure.end_low > 0 and other != broker
            for other, others in history.tenures.items()
            for tenure in others
        )
        if earlier and history.replicas[broker].starts_empty:
            ways = (of([broker], *BOTH_LOGS),)
            found.append(Want(Question.HELD_BEFORE_EPOCH, ways, epochs=((first.epoch, None),)))
    return found


def _unmeasured(history: History) -> list[Want]:
    """Logs that came back from an unclean stop and led next, with nothing that tells how long they had been."""
    return [
        Want(
            Question.END_BEFORE_LEADING,
            (
                of([doubt.after.leader], Artefact.SEGMENTS),
                of([doubt.after.leader], Artefact.PARTITION_LOGGER),
            ),
            offsets=from_offset(doubt.after.start) if doubt.after.start is not None else (),
            epochs=((doubt.after.epoch, doubt.after.leader),),
        )
        for doubt in doubts(history)
        if doubt.after.leader is not None
        and (not outside_isr(history, doubt.after) or doubt.after.last_known)
        and lost_unseen(history, doubt.after.leader, doubt.before, doubt.after)
    ]


def _flushed(history: History) -> list[Want]:
    """Logs that were loaded below their own recovery point, with no line that tells what removed the rest."""
    found = []
    for broker, disk in sorted(history.disks.items()):
        steps = [step for tenure in history.tenures.get(broker, ()) for step in tenure.steps]
        loads = [step for step in steps if step.kind is StepKind.LOADED]
        point = disk.recovery_point[0] if disk.recovery_point is not None else 0
        if not loads or disk.end is None or not loads[-1].target <= disk.end < point:
            continue  # it may have been flushed since
        if not any(step.kind in REMOVES and step.target < point for step in steps):
            ways = (of([broker], *BOTH_LOGS),)
            found.append(Want(Question.TAIL_REMOVED, ways, offsets=((loads[-1].target, point),)))
    return found


def _untold(history: History) -> list[Want]:
    """Leader epochs that nobody names: a replica that serves before and after them may have stopped in between, and
    come back with less.
    """
    unnamed = sorted(history.coverage.unnamed)
    found = []
    for broker, spans in sorted(history.tenures.items()):
        for one, two in itertools.pairwise(spans):
            between = [number for number in unnamed if one.epoch < number < two.epoch]
            if one.epoch >= 0 and between:
                epochs = tuple((number, None) for number in (one.epoch, *between, two.epoch))
                found.append(Want(Question.UNNAMED_EPOCHS, (of([broker], *BOTH_LOGS),), epochs=epochs))
    return found


def _check(shrunk: Shrunk) -> str:
    if shrunk.cause in _EMPTY:
        return (
            f"copy the partition's directory from a replica that still has the records before broker {shrunk.replica} "
            f"leads, and {_host(shrunk)}"
        )
    return _host(shrunk)


def _never(shrunk: Shrunk, others: tuple[int, ...]) -> str:
    if not others:
        return f"do not start broker {shrunk.replica} first: it would lead without the records"
    return (
        f"do not let broker {shrunk.replica} lead without the records, and do not start {brokers_text(others)} while "
        "it does: who follows it removes them"
    )


def _host(shrunk: Shrunk) -> str:
    if shrunk.cause is ShortenedBy.DIR_FAILURE:
        return (
            f"find out whether broker {shrunk.replica}'s failed log directory can be read again, before its disk goes"
        )
    if shrunk.cause is ShortenedBy.NEW_LOG:
        return f"find out who wiped, replaced or unmounted the disk of broker {shrunk.replica}"
    if shrunk.cause is ShortenedBy.CLEAN_RESTART:
        return (
            f"find out who restored, remounted or copied broker {shrunk.replica}'s data directory while it was "
            "stopped: a clean stop had flushed all of its log"
        )
    return f"check broker {shrunk.replica}'s host for a power failure, a kernel crash or a disk error at that time"


def _whole(history: History, shrunk: Shrunk) -> tuple[int, ...]:
    """Replicas that hold all that its log had lacked, itself where it has fetched it again. What no later leader had,
    where it is settled that nothing was lost, was never committed and need not be held.
    """
    epoch = history.epochs.get(shrunk.epoch)
    lineage = shrunk.lineage if shrunk.lineage.entries or epoch is None else epoch.lineage
    lost = [(shrunk.target, shrunk.end)]
    served = served_log(history)
    if _settled(history) and served is not None:
        lost = subtract(lost, differences(lineage, served, shrunk.target, shrunk.end)[0])
    held = {broker for broker, ranges in holders(history, lineage, lost).items() if list(ranges) == lost}
    if lost and not history.backwards and not losses(history)[0]:
        # Where lines do not tell of which epochs its log was, who never lost any has all of it, and who is like it.
        cuts = (*history.cuts, *history.unmeasured)
        whole = history.replicas.keys() - {s.replica for s in history.shrunk} - {cut.replica for cut in cuts}
        held |= {b for b in history.replicas for o in whole - {b} if history.alike(b, o, lost) == lost}
    return tuple(sorted(held))


def _in_isr_again(history: History, shrunk: Shrunk) -> bool:
    """Whether a replica whose files are not at hand entered an ISR again after its log had come back."""
    broker = shrunk.replica
    if history.replicas[broker].on_disk or any(s.replica == broker and s.epoch > shrunk.epoch for s in history.shrunk):
        return False
    sets = [[isr for isr, _ in epoch.isr] for n, epoch in history.epochs.items() if n > shrunk.epoch and epoch.isr_own]
    if any(broker not in out and broker in into for one in sets for out, into in itertools.pairwise(one)):
        return True
    spans, last = history.tenures.get(broker, []), history.current
    came = [at for at, tenure in enumerate(spans) if any(step.refs == shrunk.refs for step in tenure.steps)]
    return bool(came) and last is not None and let_in_again(history, spans, came[-1], last)


def _settled(history: History) -> bool:
    """Whether it is known that no committed records are gone."""
    return not history.backwards and not doubts(history) and not losses(history)[0]


def _why(shrunk: Shrunk, moved: Moved | None) -> str:
    """What explains that a log is shorter, in words."""
    if moved is not None:
        return f"log.dirs had changed from {moved.before} to {moved.now}"
    failed = shrunk.cause is ShortenedBy.DIR_FAILURE
    return "its log directory had failed" if failed else "nothing explains the difference"


def _finding(history: History, shrunk: Shrunk) -> Finding:
    inferences: tuple[str, ...] = ()
    if shrunk.confidence is Confidence.INFERRED:
        inferences = (
            f"broker {shrunk.replica} held everything below {shrunk.end}: "
            + (
                f"broker {shrunk.fetched_by} had fetched that from it"
                if shrunk.fetched_by is not None
                else "that was committed with it in the ISR"
            ),
        )
    whole = _whole(history, shrunk)
    back = _in_isr_again(history, shrunk)
    # What a leader had beyond the least that is known of its log may have been committed, and gone.
    followed = served_as(history, shrunk.replica, shrunk.epoch) is Role.FOLLOWER
    measured = _settled(history) or shrunk.end_exact or followed
    again = shrunk.replica in whole or back
    refetched = "; it has fetched the records again since" if again else ""
    refetched = "; it has entered the ISR again since, and so has what was committed" if back else refetched
    refetched += ", and whether it had more is not known" if again and not measured else ""
    others = () if again else tuple(broker for broker in whole if broker != shrunk.replica)
    how = _HOW[shrunk.cause]
    moved = moved_before(history, shrunk) if shrunk.cause is ShortenedBy.NEW_LOG else None
    return Finding(
        rule=ID,
        severity=Severity.WARNING if again else Severity.ERROR,
        confidence=shrunk.confidence,
        **place(history),
        replicas=(shrunk.replica,),
        epochs=(shrunk.epoch,) if shrunk.epoch >= 0 else (),
        offsets=((shrunk.target, shrunk.end),),
        records=(shrunk.end - shrunk.target, shrunk.end - shrunk.target if shrunk.end_exact else None),
        summary=(
            f"broker {shrunk.replica}'s log was {how} with log end offset {shrunk.target}; it had "
            f"reached {shrunk.end}{'' if shrunk.end_exact else ' at least'}, "
            f"and {_why(shrunk, moved)}{refetched}"
        ),
        facts=(shrunk_fact(shrunk),),
        before={"log_end_offset": shrunk.end},
        after={"log_end_offset": shrunk.target},
        inferences=inferences,
        cause=SHRUNK_BY[shrunk.cause],
        keep=f"{brokers_text(others)}'s {'copy' if len(others) == 1 else 'copies'} of {history.name}"
        if others
        else None,
        next_steps=actions(
            _check(shrunk) if others else _host(shrunk),
            *((look_in(history, shrunk.replica, moved),) if moved is not None else ()),
        ),
        do_not=(_never(shrunk, others),) if shrunk.cause in _EMPTY and not again else (),
    )


RULE = Rule(ID, Severity.ERROR, "LOG CAME BACK SHORTER", judge, __doc__ or "")
