"""Whether what a replica states of committed records is borne out by its own files, and by what others tell."""

from __future__ import annotations

import itertools
from dataclasses import replace

from forensics.replay.committed import at_most
from forensics.replay.directory import Damage, Ref
from forensics.replay.history import CHECKPOINT, Epoch, History, Shrunk, Statement
from forensics.replay.leading import NO_DISK
from forensics.replay.lineage import UNKNOWN, Lineage, differences, same
from forensics.replay.removals import accounted
from forensics.replay.steps import REMOVES, StepKind, Tenure


def borne_out(history: History, statement: Statement) -> Statement:
    """Who states a high watermark held the records below it. Where its files hold others and no line tells that it
    was cut since, lines are missing, and it may speak of the log that the files show.
    """
    at = _parts_from_files(history, statement.replica, statement.lineage, statement.high_watermark)
    if at is None or _removed(history, statement, at):
        return statement
    if any(statement.replica in (f.left, f.right) and f.ranges[0][0] <= at for f in history.forks):
        return statement  # a follower that kept a tail of its own learns its leader's high watermark all the same
    _unlike_its_files(history, statement.replica, at, statement.refs[0])
    if at == history.disks[statement.replica].log_start:
        # Nothing bears out what its lines say of the records below: they may part from its log there already.
        at = max((start for _, start in statement.lineage.entries if start <= at), default=0)
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.cut(at).begin(UNKNOWN, at))


def misled(history: History, shrunk: Shrunk, row: int | None) -> bool:
    """Whether lines on a log that came back shorter are missing: known gaps, or what it came back with is on the disk
    of other epochs than its lines lead to. It was cut in between and fetched again, of which no line tells.
    """
    later = [tenure.epoch for tenure in history.tenures[shrunk.replica] if tenure.epoch > shrunk.epoch]
    between = [
        epoch for number, epoch in history.epochs.items() if shrunk.epoch < number < min(later, default=number + 1)
    ]
    if shrunk.replica in history.gaps or not all(epoch.named for epoch in between):
        return True  # of an epoch that nobody names no replica's lines are there
    at = _parts_from_files(history, shrunk.replica, shrunk.lineage, shrunk.target)
    if at is None or _cut_since(history, shrunk.replica, at, row):
        return False
    _unlike_its_files(history, shrunk.replica, at, shrunk.refs[0])
    return True


def _parts_from_files(history: History, broker: int, log: Lineage, end: int) -> int | None:
    """The first offset below an end where a replica's files hold another record than its lines lead to."""
    disk = history.disks.get(broker, NO_DISK)
    if disk.end is None or not disk.lineage.entries or history.protocol == "hw" or history.backwards:
        return None
    first, last = disk.log_start, min(end, disk.end)
    differ = differences(log, disk.lineage, first, last)[0] if first < last else []
    return differ[0][0] if differ else None


def _unlike_its_files(history: History, broker: int, at: int, ref: Ref) -> None:
    """Notes that lines of a replica are missing, since its files hold what they do not lead to."""
    _lines_missing(history, broker, f"its files hold other records from offset {at} on than its lines lead to", ref)


def _lines_missing(history: History, broker: int, why: str, ref: Ref) -> None:
    """Notes that lines of a replica are missing."""
    history.gaps.setdefault(broker, Damage(why, ref))
    replica = history.replicas[broker]
    replica.server_log = replica.state_log = False


def as_it_was(log: Lineage, leaders: Lineage, target: int, end: int) -> Lineage:
    """A follower's log before a truncation by leader epoch: what agrees with its leader's from the target on is not
    what it had, since it is cut where the two differ and not before (KIP-101, OffsetsForLeaderEpoch).
    """
    return log.cut(target).begin(UNKNOWN, target) if same(log, leaders, [(target, end)]) else log


def cut_untold(history: History, tenure: Tenure, log: Lineage, leaders: Lineage, *, fenced: bool = False) -> int | None:
    """To what a follower that fetched from its leader had to cut its log before, where no line tells that it did; None
    where it had not to. It asks where its last leader epoch ends there, and cuts its log to that (KIP-101); from 2.0 on
    the leader answers with the last epoch of its own that is no later, and what is of later ones goes (KIP-279).

    Args:
        history: the partition; that lines are missing is noted there.
        tenure: the follower's.
        log: its log as it came.
        leaders: its leader's.
        fenced: both are of 2.5 or later, where nobody fetches in an epoch that it was not told of.
    """
    end, last = tenure.start_end, log.entries[-1][0] if log.entries else UNKNOWN
    if history.protocol == "hw" or not history.protocol_told or end is None or last < 0:
        return None
    if any(epoch < 0 for epoch, _ in leaders.entries) or not history.replicas[tenure.replica].server_log:
        return None
    answer = next((start for epoch, start in leaders.entries if epoch > last), None)
    if answer is None or leaders.entries[0][0] > last:
        return None  # of an epoch before its own first one a leader to 1.1 knows no end
    if fenced:
        known = max(epoch for epoch, _ in leaders.entries if epoch <= last)
        answer = min([answer, *(start for epoch, start in log.entries if epoch > known)])
    if answer >= end:
        return None
    why = f"its leader's log had another epoch from offset {answer} on, and its own of {end} was not cut"
    _lines_missing(history, tenure.replica, why, tenure.refs[0])
    if leaders.epoch_at(answer) < log.epoch_at(answer) and tenure.leader in history.replicas:
        why = f"from offset {answer} on its log seems to be of an older epoch than its follower's, which was not cut"
        _lines_missing(history, tenure.leader, why, tenure.refs[0])
    return answer


def beyond_lines(history: History, statement: Statement) -> int | None:
    """Where an epoch that a replica's lines do not tell of began below what it stated last: of which of the two logs it
    speaks is not known. None where its lines go on to the end, and it was in no later ISR.
    """
    broker = statement.replica
    unheard = _before_another_process(history, statement)
    if unheard is not None:
        return unheard
    other = _unlike_its_leader(history, statement)
    if other is not None:
        return other
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


def _unlike_its_leader(history: History, statement: Statement) -> int | None:
    """The same of a checkpoint beyond the log end of the leader whose log it would speak of, from where their segments
    differ, though nothing tells of a later role of that leader.
    """
    epoch = history.epochs.get(statement.epoch)
    leader = epoch.leader if epoch is not None else None
    if statement.how != CHECKPOINT or leader is None or leader == statement.replica:
        return None
    spans, end = history.tenures.get(leader, ()), history.disks.get(leader, NO_DISK).end
    if not spans or spans[-1].epoch != statement.epoch or spans[-1].steps:
        return None
    if end is None or end >= statement.high_watermark:
        return None  # who kept a tail of its own learns its leader's high watermark all the same
    return min((start for start, _ in history.parted(statement.replica, leader)), default=None)


def _removed(history: History, statement: Statement, at: int) -> bool:
    """Whether a line tells that a replica lost what it had from an offset on, after it stated a high watermark."""
    if not statement.refs or statement.refs[0].row is None or statement.how == CHECKPOINT:
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
        step.target <= at
        and (step.kind in REMOVES or step.kind is StepKind.LOADED)
        and (step.refs[-1].row or 0) >= (row or 0)
        for tenure in history.tenures.get(broker, ())
        for step in tenure.steps
        if step.kind is not StepKind.LINES_MISSING
    )


def left_unseen(history: History, epoch: Epoch, broker: int) -> bool:
    """Whether others tell that a replica left a leader's ISR, in its epoch or in a later one that it led, of which the
    leader's own lines tell nothing; or the next epoch is one that nobody names, with whatever ISR. Who is elected next
    as the last one in the ISR was in it to the end, in whatever epochs.
    """
    led = (one for n, one in sorted(history.epochs.items()) if n > epoch.epoch and one.leader not in (None, -1))
    if (follows := next(led, None)) is not None and follows.last_known and follows.leader == broker:
        return False
    after = sorted(number for number, one in history.epochs.items() if number > epoch.epoch and one.named)
    if after and after[0] > epoch.epoch + 1 and not accounted(epoch, history.epochs[after[0]], history.removed):
        return True
    if any(broker not in isr for isr in epoch.told - {isr for isr, _ in epoch.isr}):
        return True
    last = max((number for number, (of, _) in history.states.items() if of == epoch.epoch), default=None)
    isr = history.states[last][1] if last is not None else None
    if isr is not None and broker not in isr and broker in epoch.isr[-1][0]:
        return True
    own = {tenure.epoch for tenure in history.tenures.get(epoch.leader if epoch.leader is not None else -1, ())}
    for number in after:
        later = history.epochs[number]
        if history.kraft and later.leader == -1:
            # It may have left as its process ended; but where changes are untold, it may have done so long before.
            then = max((state for state, (of, _) in history.states.items() if of == number), default=None)
            untold = last is not None and then is not None and any(n not in history.states for n in range(last, then))
            isr = history.states[then][1] if then is not None else None
            return untold and (isr is None or broker not in isr)
        if later.leader != epoch.leader:
            return False
        if number not in own and (not later.isr or any(broker not in isr for isr, _ in later.isr)):
            return True
    return False


def next_start(history: History, broker: int, number: int, hw: int) -> int | None:
    """Where the first later leader began that did so below a high watermark, and under which a replica may have reached
    it; None where its files tell which epochs its log is of (before message format v2 they do not).
    """
    disk = history.disks.get(broker, NO_DISK)
    if disk.end is not None and disk.lineage.entries:
        return None
    later = [e for n, e in sorted(history.epochs.items()) if n > number and e.served]
    later = [e for e in later if (end := at_most(history, e.leader, e.epoch)) is None or end >= hw]
    starts = (
        e.start if e.start is not None else e.start_low for e in later if not _fetched_none(history, broker, hw, e)
    )
    return next((start for start in starts if start < hw), None)


def _fetched_none(history: History, broker: int, hw: int, epoch: Epoch) -> bool:
    """Whether a replica that holds other records than a later leader right below its high watermark did not reach it
    under that leader: a follower first cuts its log to its own high watermark (ReplicaManager.makeFollowers to 0.10),
    so all between that and a higher one it fetched.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    ends = [history.disks.get(one, NO_DISK).end or 0 for one in (broker, leader)]
    last = min(hw, ends[1]) - 1
    return ends[0] >= hw and any(first <= last < end for first, end in history.parted(broker, leader))


def agreed(log: Lineage, other: Lineage, end: int) -> Lineage:
    """A log as far as another one gives the same epochs; from there on it is not known."""
    differ, unknown = differences(log, other, 0, end)
    first = min((start for start, _ in (*differ, *unknown)), default=end)
    return log.cut(first).begin(UNKNOWN, first) if first < end else log
