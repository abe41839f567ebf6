"""The committed bound: which records are known to have been committed, and which can be known not to have been.

A record is (offset, leader epoch). A high watermark ``h`` that came from the leader of epoch ``e`` says that
the records ``[0, h)`` of that leader's log are committed; it says nothing of other records at the same offsets.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from forensics.replay.coverage import Printed
from forensics.replay.deletions import kept
from forensics.replay.elections import elected_isr, elected_with_others, from_eligible, latest_isr_stated, outside_isr
from forensics.replay.epoch_rollback import stepped_down
from forensics.replay.history import Epoch, History, HwSource, HwStatement, Replica, Role, Truncation
from forensics.replay.lineage import UNKNOWN, Lineage, Range, apart, differences, intersect, merge, same, subtract
from forensics.replay.protocol import Answer
from forensics.replay.steps import LogBefore, StepKind
from forensics.replay.surviving_copies import holders, with_own

if TYPE_CHECKING:
    from forensics.replay.steps import RoleSpan, Step

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CommittedProof:
    """Committed records and the statement that proves most of them.

    Attributes:
        ranges: offsets whose records are known to have been committed.
        statements: statements that prove them, the farthest-reaching first.
    """

    ranges: tuple[Range, ...]
    statements: tuple[HwStatement, ...]


def committed(
    history: History,
    lineage: Lineage,
    first: int,
    end: int,
    *,
    replica: int | None = None,
    before: int | None = None,
    row: int | None = None,
) -> CommittedProof:
    """Which records ``[first, end)`` of a log are known to have been committed.

    Args:
        history: the partition.
        lineage: the log they are in.
        first: first offset.
        end: end offset, not included.
        replica: whose log it is; its own statements hold for it even where its epochs are not known.
        before: count only high watermarks reached in an epoch below this one.
        row: of the replica's own words on its own log, count only those up to this row.
    """
    ranges: list[Range] = []
    used: list[HwStatement] = []
    contested, truncations_told = history.contested, history.coverage.has(replica, Printed.LOG)
    for statement in history.statements:
        own = statement.epoch == UNKNOWN and statement.replica == replica and truncations_told
        own = own and statement.how is not HwSource.LEFT_BEHIND
        own = own and (row is None or (bool(statement.refs) and (statement.refs[0].row or 0) <= row))
        if before is not None and (statement.epoch >= before or (statement.epoch == UNKNOWN and not own)):
            continue
        stop = min(end, statement.high_watermark)
        if stop <= first:
            continue
        differ, unknown = differences(lineage, statement.lineage, first, stop)
        if own:
            unknown = []
        same = subtract([(first, stop)], [*differ, *unknown])
        if contested:
            same = [(a, b) for a, b in lineage.pieces(same) if lineage.epoch_at(a) not in contested]
        if same:
            ranges.extend(same)
            used.append(statement)
    used.sort(key=_strength)
    return CommittedProof(tuple(merge(ranges)), tuple(used))


@dataclass(frozen=True, slots=True)
class Loss:
    """Committed records that are not in the log of the partition's current leader.

    Attributes:
        ranges: their offsets.
        epoch: first epoch whose leader lacked them.
        statements: high watermarks that prove they were committed, the farthest-reaching first.
        holders: replicas that still hold all or some of them, with the offsets.
        lineage: the log they were in.
    """

    ranges: tuple[Range, ...]
    epoch: Epoch
    statements: tuple[HwStatement, ...]
    holders: dict[int, tuple[Range, ...]]
    lineage: Lineage


def _once(question: Callable[[History], T]) -> Callable[[History], T]:
    """Several rules ask the same of one history: answer it once."""

    @functools.wraps(question)
    def asked(history: History) -> T:
        if question.__name__ not in history.answers:
            history.answers[question.__name__] = question(history)
        return cast("T", history.answers[question.__name__])

    return asked


@_once
def losses(history: History) -> tuple[list[Loss], list[Range]]:
    """Committed records that are gone from the partition, and offsets where the evidence cannot tell."""
    served = served_log(history)
    if served is None:
        return [], []
    by_epoch: dict[int, list[tuple[list[Range], list[HwStatement]]]] = {}
    unclear: list[Range] = []
    contested = history.contested
    for statement in sorted(history.statements, key=_strength):
        gone, unknown = differences(statement.lineage, served, 0, statement.high_watermark)
        unclear.extend(subtract(unknown, _checkpointed_as_served(history, statement)))
        if history.epoch_rollbacks:
            unclear.extend(gone)  # which of the two logs the partition went on with is not told by epochs
            continue
        there = _served_all_the_same(history, statement.lineage, gone)
        unclear.extend(there)
        otherwise = _served_otherwise(history, statement, served, unknown)
        for piece in statement.lineage.pieces([*subtract(gone, there), *otherwise]):
            if statement.lineage.epoch_at(piece[0]) in contested:
                unclear.append(piece)
                continue
            epoch = _first_without(history, statement, piece[0])
            if epoch is None and intersect([piece], otherwise):
                epoch = _written_again(history, statement, piece[0]) or history.current
            if epoch is not None and epoch.epoch in contested:
                unclear.append(piece)  # which of its two leaders the partition went on with is not told by epochs
            elif epoch is not None:
                ranges, statements = _group_of_one_log(by_epoch.setdefault(epoch.epoch, []), statement)
                ranges.append(piece)
                statements.append(statement)
    found: list[Loss] = []
    for number, (ranges, statements) in ((n, one) for n, logs in sorted(by_epoch.items()) for one in logs):
        lineage = statements[0].lineage
        whole = kept(history, lineage, ranges, number)
        for other in found:  # what both logs had is told once
            whole = subtract(whole, same(other.lineage, lineage, intersect(whole, other.ranges)))
        if not whole:
            continue
        epoch = history.epochs[number]
        held = with_own(history, holders(history, lineage, whole), statements, epoch, whole)
        found.append(Loss(tuple(whole), epoch, tuple(statements), held, lineage))
    for left in stepped_down(history):
        after = Epoch(left.epoch, leader=left.successor, time=left.time, refs=list(left.refs), leader_took_up=True)
        given = {left.statement.replica: left.ranges}
        found.append(Loss(left.ranges, after, (left.statement,), given, left.statement.lineage))
    proven = [piece for loss in found for piece in loss.ranges]
    return found, subtract(unclear, proven)


def _group_of_one_log(
    logs: list[tuple[list[Range], list[HwStatement]]], statement: HwStatement
) -> tuple[list[Range], list[HwStatement]]:
    """What is gone of the log that a statement is about: a leader may lack records of two, of which neither went on."""
    for ranges, statements in logs:
        first = statements[0]  # the strongest
        end = min(first.high_watermark, statement.high_watermark)
        if not differences(first.lineage, statement.lineage, 0, end)[0]:
            return ranges, statements
    logs.append(([], []))
    return logs[-1]


def _strength(statement: HwStatement) -> tuple[int, bool, int, int]:
    """Which of several statements is told first: the highest, one that a line states before one that is implied."""
    return -statement.high_watermark, statement.implied, statement.replica, statement.epoch


def unserved(history: History) -> Loss | None:
    """Committed records that the current leader has no segment for, between others, as its broker itself saw it; or
    that a segment of it skips where nothing was compacted.
    """
    current = history.current
    if current is None or current.leader is None or history.epoch_rollbacks:
        return None
    disk, copy = history.disks.get(current.leader), history.copies.get(current.leader)
    if disk is None or copy is None:
        return None
    gaps = [*(disk.gaps if copy.inner is True else ()), *disk.lacking]
    found: list[Range] = []
    statements: list[HwStatement] = []
    for first, end in gaps:
        proof = committed(history, current.lineage, max(first, disk.log_start), end, replica=current.leader)
        found.extend(proof.ranges)
        statements.extend(proof.statements)
    if not found:
        return None
    statements.sort(key=_strength)
    ranges = merge(found)
    return Loss(tuple(ranges), current, tuple(statements), holders(history, current.lineage, ranges), current.lineage)


def served_log(history: History) -> Lineage | None:
    """The log that the partition serves at the end of the evidence: its current leader's, or a later one's files."""
    current = history.current
    logs = {b: replica.lineage for b, replica in history.replicas.items() if replica.on_disk}
    for broker, log in logs.items():
        # A leader writes down where its epoch begins before it has any record of it (Partition.makeLeader).
        noted = Lineage(tuple((number, start) for number, start, _ in history.disks[broker].entries))
        if noted.entries and log.entries and noted.entries[-1][0] > log.entries[-1][0]:
            logs[broker] = log.splice(noted, noted.entries[-1][1])
    later = [(log.entries[-1][0], broker) for broker, log in logs.items() if log.entries]
    if later and (current is None or max(later)[0] > current.epoch):
        return logs[max(later)[1]]
    return current.lineage if current is not None else None


def _served_all_the_same(history: History, lineage: Lineage, gone: list[Range]) -> list[Range]:
    """What of some offsets a leader's log should not have, and its segments hold as a copy does that should: lines are
    missing. Before message format v2 lines alone tell of which epoch a record is.
    """
    leader = history.current.leader if history.current is not None else None
    if not gone or leader is None:
        return []
    held = holders(history, lineage, gone).items()
    return merge(piece for broker, kept in held for piece in history.identical_ranges(broker, leader, kept))


def _checkpointed_as_served(history: History, statement: HwStatement) -> list[Range]:
    """What of the log that a checkpoint speaks of, whoever wrote it, the current leader serves by the files of both."""
    leader = history.current.leader if history.current is not None else None
    disk = history.disks.get(statement.replica)
    if statement.how is not HwSource.CHECKPOINT or leader is None or disk is None or disk.end is None:
        return []
    below = [(0, min(statement.high_watermark, disk.end))]
    return below if leader == statement.replica else history.identical_ranges(leader, statement.replica, below)


def _served_otherwise(history: History, statement: HwStatement, served: Lineage, unknown: list[Range]) -> list[Range]:
    """Of offsets at which a log's records are not dated, or those that a leader serves, where its segments hold other
    records than a copy of that log: of the same epoch, or of one later than that in which they were committed.
    """
    leader = history.current.leader if history.current is not None else None
    if not unknown or leader is None:
        return []
    lineage = statement.lineage
    dated = [piece for piece in lineage.pieces(unknown) if lineage.epoch_at(piece[0]) >= 0]
    held = holders(history, lineage, dated).items()
    found = [piece for broker, kept in held for piece in intersect(kept, history.diverging_ranges(broker, leader))]
    parted = min((first for first, _ in history.diverging_ranges(statement.replica, leader)), default=None)
    if parted is not None and statement.epoch >= 0:
        pieces = served.pieces(intersect(unknown, [(parted, statement.high_watermark)]))
        found += [piece for piece in pieces if served.epoch_at(piece[0]) > statement.epoch]
    return merge(found)


def _written_again(history: History, statement: HwStatement, offset: int) -> Epoch | None:
    """The first epoch later than that of a statement in whose leader's log an offset was written later too."""
    for number, epoch in sorted(history.epochs.items()):
        led = epoch.leader_took_up and epoch.leader is not None and epoch.leader >= 0
        if number > statement.epoch >= 0 and led and epoch.lineage.epoch_at(offset) > statement.epoch:
            return epoch
    return None


def _first_without(history: History, statement: HwStatement, offset: int) -> Epoch | None:
    """The first later epoch whose leader did not have the record."""
    for number in sorted(history.epochs):
        epoch = history.epochs[number]
        mine = statement.lineage.epoch_at(offset)
        if number <= max(statement.epoch, mine) or not epoch.leader_took_up or epoch.leader is None or epoch.leader < 0:
            continue
        if not epoch.lineage.entries:
            continue
        if apart(epoch.lineage.epoch_at(offset), mine):
            return epoch
    return None


def has_all_committed(history: History, before: Epoch, after: Epoch) -> bool | None:
    """Whether the leader of a later epoch had every record committed in an earlier one.

    True where the protocol says so: it led or was in the ISR, and nothing can have shortened its log since. None
    where the evidence does not tell.
    """
    leader = after.leader
    if leader is None or _shortened(history, leader, before.epoch, after.epoch):
        return None
    own = history.replicas.get(leader)
    if own is None or not history.coverage.whole(leader):
        return None  # what happened to its log in between is not in the evidence
    roles = [role_span.epoch for role_span in history.role_spans.get(leader, ()) if role_span.epoch >= 0]
    if not own.starts_empty and min(roles, default=UNKNOWN) > before.epoch:
        return None  # its lines begin later
    if may_have_lost_tail(history, leader, before, after):
        return None
    if leader == before.leader:
        return True
    if outside_isr(history, after) or _joined_early(history, leader, before, after):
        return None
    last = before.last_isr
    if last is not None and leader in last and (before.isr_from_leader or before.isr_from_others):
        return True
    if after.safe or from_eligible(history, after):
        return True
    return True if elected_with_others(history, after) else None


def _joined_early(history: History, broker: int, before: Epoch, after: Epoch) -> bool:
    """Whether a replica may have entered the ISR, and been elected from it, without what was committed before.

    Up to 2.0.0 a leader lets a follower into the ISR that has reached its high watermark, which trails after an
    election. Later it requires the start of its leader epoch too (KAFKA-7128). A replica that was in the ISR at the
    election has what was committed before. So has one that joined a leader which was elected alone.
    """
    if history.joins_below_epoch_start is Answer.NO:
        return False
    own = [role_span for role_span in history.role_spans.get(broker, ()) if role_span.epoch < after.epoch]
    begun = after.start if after.start is not None else after.start_low
    for number, epoch in sorted(history.epochs.items(), reverse=True):
        if number > before.epoch or not epoch.leader_took_up:
            continue
        isr = elected_isr(history, epoch)
        if epoch.leader == broker or (isr is not None and isr == {epoch.leader}):
            return False
        had = max([begun, *(role_span.end_low for role_span in own if role_span.epoch >= number)])
        if epoch.start is not None and had >= epoch.start:
            return False
        if isr is None or broker not in isr:
            return True
    return False


def may_have_lost_tail(history: History, leader: int, before: Epoch, after: Epoch) -> bool:
    """Whether the end of the leader's log may be gone without a trace: it came back from an unclean stop, or empty, and
    nothing tells how long its log had been, nor that no more was committed than it came back with.
    """
    spans = history.role_spans.get(leader, [])
    within = {at for at, one in enumerate(spans) if one.epoch < after.epoch and not _over(spans, at, before)}
    within = {at for at in within if not rejoined_isr(history, spans, at, before)}
    for at in sorted(within):
        for step in spans[at].steps:
            replaced = step.kind is StepKind.CREATED and leader == before.leader
            if not (_after_crash(step) or replaced) or step.end is not None:
                continue
            if not _bounded(history, leader, before, after, step.target):
                return True
    for at, (one, two) in enumerate(itertools.pairwise(spans)):
        new = one.run != two.run and one.epoch >= 0 and at in within
        # A process that goes on with a log has loaded it: without a load it began with another, empty one.
        known = any(
            step.kind in (StepKind.LOADED, StepKind.RECOVERY_TRUNCATED, StepKind.DELETED)
            or (step.kind is StepKind.CREATED and step.end is not None)
            for step in one.steps
        )
        unloaded = new and not known
        if unloaded and not _bounded(history, leader, before, after, two.start_end or 0):
            return True
    return False


def rejoined_isr(history: History, spans: Sequence[RoleSpan], at: int, before: Epoch) -> bool:
    """Whether a replica that came back to a leader entered the ISR after that, and so has all that is committed since.

    A KRaft controller registers no new process of a broker before it has fenced the old one
    (ClusterControlManager.registerBroker), and who is fenced leaves every ISR that has another member.
    """
    one, two = spans[at], spans[at + 1] if at + 1 < len(spans) else None
    if not history.kraft or two is None or two.run == one.run or two.role is not Role.FOLLOWER:
        return False
    epoch = history.epochs.get(two.epoch)
    if epoch is None or epoch.leader in (None, -1) or epoch.epoch > before.epoch:
        return False
    inside = [one.replica in isr for isr, _ in epoch.isr]
    return any(not out and back for out, back in itertools.pairwise(inside)) and inside[-1]


def _over(spans: Sequence[RoleSpan], at: int, epoch: Epoch) -> bool:
    """Whether a replica's role spans up to an epoch were over before anything was committed in it.

    The last load is part of them, and the replica has no part in the epoch. A replica that learns of the epoch late may
    have lost the end of its log meanwhile; one in the epoch's first ISR stays there while it lacks what it lost.
    """
    one, two = spans[at], spans[at + 1] if at + 1 < len(spans) else None
    if one.epoch >= epoch.epoch or two is None or two.epoch < epoch.epoch:
        return one.epoch < epoch.epoch
    return two.epoch == epoch.epoch and one.replica not in (epoch.first_isr or ())


def _bounded(history: History, leader: int, epoch: Epoch, after: Epoch, end: int) -> bool:
    """Whether another ISR member held no more than ``end`` when the epoch was over, so that no more was committed; and
    stayed in the ISR as long as the leader may have led.
    """
    last = epoch.last_isr
    if last is None or not (epoch.isr_from_leader or epoch.isr_from_others):
        return False
    stayed = (last & latest_isr_stated(history, epoch, last)) - {leader}
    for number, later in history.epochs.items():
        if epoch.epoch < number < after.epoch and later.leader == leader:
            stayed = stayed.intersection(*(isr for isr, _ in later.isr))
    bounds = [at_most(history, broker, epoch.epoch) for broker in sorted(stayed)]
    return any(bound is not None and bound <= end for bound in bounds)


def _shortened(history: History, broker: int | None, after: int, until: int) -> bool:
    """Whether a replica's log lost records at its end between two epochs, or may have.

    What a follower cut when it began to follow the earlier epoch it fetched again before it came back into the ISR;
    but a member of that epoch's first ISR stays in it while it lacks what it cut (KIP-101).
    """
    truncations = (*history.truncations, *history.truncations_of_unknown_extent)
    epoch = history.epochs.get(after)
    stayed = epoch is not None and epoch.first_isr is not None and broker in epoch.first_isr
    first = after if stayed else after + 1
    spans = history.role_spans.get(broker, []) if broker is not None else []
    late = {t.epoch for at, t in enumerate(spans) if epoch is not None and not _over(spans, at, epoch)}
    # A log that came back shorter once its leader's last role in an epoch was over had been whole when that began.
    here = [t for t in spans if t.epoch == until]
    whole = [t for t in here if t.role is Role.LEADER and all(step.kind is StepKind.LOADED for step in t.steps)]
    last = until - 1 if len(here) == len(whole) == 1 else until
    whole_again = {t.epoch for t in spans if epoch is not None and _always_let_in_again(history, spans, t.epoch, epoch)}
    return any(c.replica == broker and first <= c.epoch <= until for c in truncations) or any(
        s.replica == broker and s.epoch <= last and (after <= s.epoch or s.epoch in late) and s.epoch not in whole_again
        for s in history.shortened_logs
    )


def _always_let_in_again(history: History, spans: Sequence[RoleSpan], number: int, before: Epoch) -> bool:
    """Whether a replica entered the ISR of an epoch again after each of its processes that ended in it."""
    ended = [at for at, one in enumerate(spans[:-1]) if one.epoch == number and spans[at + 1].run != one.run]
    if not ended or not all(rejoined_isr(history, spans, at, before) for at in ended):
        return False
    if {spans[at + 1].epoch for at in ended} != {number}:
        return False
    inside = [spans[ended[0]].replica in isr for isr, _ in history.epochs[number].isr]
    return sum(not out and back for out, back in itertools.pairwise(inside)) >= len(ended)


@dataclass(frozen=True, slots=True)
class PossibleLoss:
    """Records that are gone and of which it cannot be said whether they were committed.

    Attributes:
        ranges: their offsets; an end of None where it is not known how far the log reached.
        before: epoch they were written in or before.
        after: epoch whose leader lacked them.
    """

    first: int
    end: int | None
    before: Epoch
    after: Epoch


@_once
def possible_losses(history: History) -> list[PossibleLoss]:
    """Changes of leader at which committed records may have gone though no high watermark proves it."""
    if history.epoch_rollbacks:
        return []  # which leader came before which is not told by their epochs
    led = [
        e
        for _, e in sorted(history.epochs.items())
        if e.leader_took_up and (e.leader is None or (e.leader >= 0 and e.lineage.entries))
    ]
    found = []
    lost = [piece for loss in losses(history)[0] for piece in loss.ranges]
    for before, after in itertools.pairwise(led):
        if after.lineage is before.lineage or has_all_committed(history, before, after):
            continue
        done = committed_at_most(history, before)
        if done is not None and done <= (after.start if after.start is not None else after.start_low):
            continue
        if after.start is None:
            found.append(PossibleLoss(after.start_low, None, before, after))
            continue
        end = reached(history, before)
        if end is None:
            end = at_most(history, before.leader, before.epoch)
        if end is not None and end <= after.start:
            continue
        known = committed(history, before.lineage, after.start, end if end is not None else after.start)
        if end is not None and known.ranges == ((after.start, end),) and not subtract(known.ranges, lost):
            continue  # all of it proven: the rule on loss has it
        found.append(PossibleLoss(after.start, end, before, after))
    return found


def reached(history: History, epoch: Epoch) -> int | None:
    """Log end offset the leader of an epoch reached in it, where something gives it exactly; None otherwise.

    What it came back with after an unclean stop does not: the end of its log may be gone.
    """
    if epoch.leader is None:
        return None
    spans = history.role_spans.get(epoch.leader, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == epoch.epoch]
    if not here:
        return None
    replica = history.replicas.get(epoch.leader)
    if replica is None or not history.coverage.whole(epoch.leader):
        return None  # it may have been loaded or cut, or have followed, unseen
    if not _ended_whole(spans, here):
        return None
    for step in spans[here[-1]].steps:
        return step.target if step.found_all else step.end
    if here[-1] + 1 < len(spans):
        after = spans[here[-1] + 1]
        # A process that goes on with a log has loaded it: without a load it began with another, empty one.
        return after.start_end if after.run == spans[here[-1]].run else None
    return _copied_end(history, replica)


def at_most(history: History, broker: int | None, epoch: int) -> int | None:
    """The most a replica's log can have held when an epoch was over; None where nothing gives it.

    A log only grows until a line tells of a removal, so the next exact end bounds it.
    """
    replica = history.replicas.get(broker) if broker is not None else None
    if broker is None or replica is None or not history.coverage.whole(broker):
        return None
    spans = history.role_spans.get(broker, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == epoch]
    if not here or not _ended_whole(spans, here):
        return None
    for position in range(here[-1], len(spans)):
        one = spans[position]
        if position > here[-1] and one.start_end is not None:
            return one.start_end
        for step in one.steps[:1]:
            return step.target if step.found_all else step.end
        if position + 1 < len(spans) and spans[position + 1].run != one.run:
            return None  # without a load the next process began with another, empty log
    return _copied_end(history, replica)


def _after_crash(step: Step) -> bool:
    """Whether a process found its log as a crash had left it. What recovery finds corrupt it truncates, with all that
    follows (LogLoader.recoverSegment).
    """
    unclean = step.kind is StepKind.LOADED and step.before is LogBefore.UNCLEAN_STOP
    return unclean or step.kind is StepKind.RECOVERY_TRUNCATED


def _ended_whole(spans: Sequence[RoleSpan], here: Sequence[int]) -> bool:
    """Whether each process but the last that served an epoch left its whole log to the next one.

    A leader may crash and come back within its epoch, before its ZooKeeper session ends. What its next process finds
    says nothing of what the one before had.

    Args:
        spans: of one replica.
        here: positions of those in the epoch.
    """
    ended = [one for one, two in itertools.pairwise(here) if spans[one].run != spans[two].run]
    return all(bool(spans[one].steps) and spans[one].steps[0].found_all for one in ended)


def _copied_end(history: History, replica: Replica) -> int | None:
    """Log end offset of a replica by its files; None where its last segment is known to be missing among them."""
    copy = history.copies.get(replica.broker)
    return replica.end if copy is None or copy.end is not False else None


def committed_at_most(history: History, epoch: Epoch) -> int | None:
    """The most that can have been committed when an epoch was over, as its leader knew it; None where it does not say.

    The high watermark with which a leader goes on in its next role is the one it led with to the last. What was
    committed before its epoch lies below the offset at which that began; where that is not known, the leader before
    may tell.
    """
    leader = epoch.leader
    if leader is None or not history.coverage.whole(leader):
        return None
    earlier = [e for n, e in sorted(history.epochs.items()) if n < epoch.epoch and e.leader_took_up]
    begun = epoch.start if epoch.start is not None else committed_at_most(history, earlier[-1]) if earlier else None
    if begun is None:
        return None
    spans = history.role_spans.get(leader, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == epoch.epoch]
    if not here or here[-1] + 1 >= len(spans) or epoch.other_leaders or not _ended_whole(spans, here):
        return None
    now, after = spans[here[-1]], spans[here[-1] + 1]
    if now.role is not Role.LEADER or now.steps or after.run != now.run or after.start_hw is None:
        return None
    known = max(after.start_hw.value, *(s.value for s in (now.hw, now.start_hw) if s is not None), 0)
    return max(known, begun)


def refetched(history: History, truncation: Truncation, ranges: tuple[Range, ...]) -> tuple[list[Range], list[Range]]:
    """Which of a cut's records the leader it followed still had, so that they were fetched again; and those unknown."""
    epoch = history.epochs.get(truncation.epoch)
    if epoch is None or not epoch.lineage.entries or epoch.leader == truncation.replica:
        return [], list(ranges)
    have: list[Range] = []
    unknown: list[Range] = []
    # Older records are in the leader's log only below the offset at which it began its own epoch.
    held = epoch.start if epoch.start is not None else epoch.start_low
    for first, stop in ranges:
        differ, unsure = differences(truncation.lineage, epoch.lineage, first, stop)
        there = subtract([(first, stop)], [*differ, *unsure])
        older = [(a, b) for a, b in there if truncation.lineage.epoch_at(a) != epoch.epoch]
        beyond = intersect(older, [(held, stop)]) if epoch.start is None else []
        unknown.extend([*unsure, *beyond])
        have.extend(subtract(there, [(held, stop)] if older else []))
    return merge(have), intersect(merge(unknown), list(ranges))
