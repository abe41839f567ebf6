"""Whether what a replica states of committed records is borne out by its own files, and by what others tell."""

from __future__ import annotations

import itertools
from dataclasses import replace

from forensics.replay.history import Damage, Disk, Epoch, History, Shrunk, Statement
from forensics.replay.leading import NO_DISK, REMOVES
from forensics.replay.lineage import UNKNOWN, Lineage, differences


def borne_out(history: History, statement: Statement) -> Statement:
    """Who states a high watermark held the records below it. Where its files hold others and no line tells that it
    was cut since, lines are missing, and it may speak of the log that the files show.
    """
    disk = history.disks.get(statement.replica, NO_DISK)
    if disk.end is None or not disk.lineage.entries or history.protocol == "hw" or history.backwards:
        return statement
    first, end = disk.log_start, min(statement.high_watermark, disk.end)
    differ = differences(statement.lineage, disk.lineage, first, end)[0] if first < end else []
    if not differ or _removed(history, statement, differ[0][0]):
        return statement
    at = differ[0][0]
    if any(statement.replica in (f.left, f.right) and f.ranges[0][0] <= at for f in history.forks):
        return statement  # a follower that kept a tail of its own learns its leader's high watermark all the same
    why = f"its files hold other records from offset {at} on than its lines lead to"
    history.gaps.setdefault(statement.replica, Damage(why, statement.refs[0]))
    replica = history.replicas[statement.replica]
    replica.server_log = replica.state_log = False
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.cut(at).begin(UNKNOWN, at))


def misled(history: History, shrunk: Shrunk, row: int | None) -> bool:
    """Whether lines on a log that came back shorter are missing: known gaps, or what it came back with is on the disk
    of other epochs than its lines lead to. It was cut in between and fetched again, of which no line tells.
    """
    if shrunk.replica in history.gaps:
        return True
    disk = history.disks.get(shrunk.replica, NO_DISK)
    if disk.end is None or not disk.lineage.entries or history.protocol == "hw" or history.backwards:
        return False
    first, end = disk.log_start, min(shrunk.target, disk.end)
    differ = differences(shrunk.lineage, disk.lineage, first, end)[0] if first < end else []
    if not differ or _cut_since(history, shrunk.replica, differ[0][0], row):
        return False
    why = f"its files hold other records from offset {differ[0][0]} on than its lines lead to"
    history.gaps[shrunk.replica] = Damage(why, shrunk.refs[0])
    replica = history.replicas[shrunk.replica]
    replica.server_log = replica.state_log = False
    return True


def beyond_lines(history: History, statement: Statement) -> int | None:
    """Where an epoch that a replica's lines do not tell of began below what it stated last: of which of the two logs it
    speaks is not known. None where its lines go on to the end, and it was in no later ISR.
    """
    broker = statement.replica
    unheard = _before_another_process(history, statement)
    if unheard is not None:
        return unheard
    told = max((tenure.epoch for tenure in history.tenures.get(broker, ())), default=UNKNOWN)
    if statement.epoch != told or statement.earlier:
        return None
    later = [e for n, e in sorted(history.epochs.items()) if n > told and e.served]
    # Whoever was in its ISR was told of it: lines are missing.
    untold = any(broker in isr for e in later for isr, _ in e.isr)
    if not untold and broker not in history.uncovered:
        return None
    starts = (e.start if e.start is not None else e.start_low for e in later)
    return next((start for start in starts if start < statement.high_watermark), None)


def _removed(history: History, statement: Statement, at: int) -> bool:
    """Whether a line tells that a replica lost what it had from an offset on, after it stated a high watermark."""
    if not statement.refs or statement.refs[0].row is None or statement.how == "in the checkpoint file":
        return False
    return _cut_since(history, statement.replica, at, statement.refs[0].row)


def _before_another_process(history: History, statement: Statement) -> int | None:
    """The same of a replica whose next process was told of an epoch into whose ISR it had been elected before: the one
    that speaks had been told of it too.
    """
    if history.protocol == "hw" or statement.earlier:
        return None
    for one, two in itertools.pairwise(history.tenures.get(statement.replica, ())):
        if one.epoch != statement.epoch or two.run == one.run or two.epoch <= one.epoch:
            continue
        for number, epoch in sorted(history.epochs.items()):
            start = epoch.start if epoch.start is not None else epoch.start_low
            led = epoch.leader == statement.replica  # that the next process tells itself
            if led or not one.epoch < number <= two.epoch or not epoch.served or start >= statement.high_watermark:
                continue
            if epoch.isr_elected and statement.replica in (epoch.first_isr or ()):
                return start
    return None


def _cut_since(history: History, broker: int, at: int, row: int | None) -> bool:
    """Whether a line from a row of a replica on tells that what it had from an offset on went."""
    return any(
        step.target <= at and (step.what in REMOVES or step.what == "loaded") and (step.refs[-1].row or 0) >= (row or 0)
        for tenure in history.tenures.get(broker, ())
        for step in tenure.steps
        if step.what != "gap"
    )


def left_unseen(history: History, epoch: Epoch, broker: int) -> bool:
    """Whether others tell that a replica left a leader's ISR, in its epoch or in a later one that it led, of which the
    leader's own lines tell nothing; or the next epoch is one that nobody names, with whatever ISR.
    """
    after = sorted(number for number, one in history.epochs.items() if number > epoch.epoch and one.named)
    if after and after[0] > epoch.epoch + 1:
        return True
    if any(broker not in isr for isr in epoch.told - {isr for isr, _ in epoch.isr}):
        return True
    own = {tenure.epoch for tenure in history.tenures.get(epoch.leader if epoch.leader is not None else -1, ())}
    for number in after:
        later = history.epochs[number]
        if later.leader != epoch.leader:
            return False
        if number not in own and any(broker not in isr for isr, _ in later.isr):
            return True
    return False


def next_start(history: History, number: int, hw: int, disk: Disk) -> int | None:
    """Where the first later leader began that did so below a high watermark; None where a replica's files tell which
    epochs its log is of (before message format v2 they do not).
    """
    if disk.end is not None and disk.lineage.entries:
        return None
    later = (e for n, e in sorted(history.epochs.items()) if n > number and e.served)
    starts = (e.start if e.start is not None else e.start_low for e in later)
    return next((start for start in starts if start < hw), None)


def agreed(log: Lineage, other: Lineage, end: int) -> Lineage:
    """A log as far as another one gives the same epochs; from there on it is not known."""
    differ, unknown = differences(log, other, 0, end)
    first = min((start for start, _ in (*differ, *unknown)), default=end)
    return log.cut(first).begin(UNKNOWN, first) if first < end else log
