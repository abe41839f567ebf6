"""Proof that records were committed, or that they were not.

A record is a pair (offset, leader epoch). A high watermark ``h`` stated by the leader of epoch ``e`` shows that records
``[0, h)`` of that leader's log are committed. It shows nothing about other records at the same offsets.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from forensics.replay.committed.all_committed import has_all_committed, in_isr
from forensics.replay.committed.statements_by_epoch import statements_by_epoch
from forensics.replay.committed.surviving_copies import holders, with_own
from forensics.replay.coverage import Printed
from forensics.replay.facts.deletions import kept
from forensics.replay.high_watermarks.group_reads import read_before
from forensics.replay.history import History, HwSource, HwStatement, Role, once
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.epoch_rollback import stepped_down
from forensics.replay.lineage import UNKNOWN, Lineage, Range, apart, differences, intersect, merge, same, subtract
from forensics.replay.roles.log_ends import ended_whole, log_end

if TYPE_CHECKING:
    from forensics.replay.traces.committed_records import Commit
    from forensics.replay.traces.results import LedWithout, Played, ServedAgain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CommittedProof:
    """Committed records, and the high watermark statements that prove it.

    Attributes:
        ranges: offsets whose records are known to have been committed.
        statements: statements that prove them, highest high watermark first.
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
    """Return the part of ``[first, end)`` in a log that is known to have been committed.

    Args:
        history: the partition.
        lineage: the log that holds the records.
        first: first offset.
        end: end offset, not included.
        replica: owner of the log; its own statements count even if their leader epochs are unknown.
        before: count only high watermarks reached in a leader epoch below this one.
        row: of the replica's statements about its own log, count only those up to this row.
    """
    if first >= end:
        return CommittedProof((), ())
    ranges: list[Range] = []
    used: list[HwStatement] = []
    contested, logged = history.contested, history.coverage.has(replica, Printed.LOG)  # each truncation
    # A follower may have adopted its leader's before it truncated (KAFKA-14704), and lines of its roles may be missing.
    adopted = not history.coverage.has(replica, Printed.ROLES)
    for statement in statements_by_epoch(history).about(replica if logged else None, first, before):
        own = logged and not (adopted and statement.how is HwSource.PRINTED) and _of_own_log(statement, replica, row)
        if not own and not _reached_before(statement, before):
            continue
        proven = _uncontested(lineage, _committed_by(statement, lineage, first, end, own=own), contested)
        if proven:
            ranges.extend(proven)
            used.append(statement)
    used.sort(key=_strength)
    return CommittedProof(tuple(merge(ranges)), tuple(used))


def _reached_before(statement: HwStatement, epoch: int | None) -> bool:
    """Return whether a high watermark is known to have been reached in an epoch below this one; None is above all."""
    return epoch is None or UNKNOWN < statement.epoch < epoch


def _committed_by(statement: HwStatement, lineage: Lineage, first: int, end: int, *, own: bool) -> list[Range]:
    """Return the part of ``[first, end)`` in a log that a statement shows to be committed.

    Args:
        statement: the high watermark.
        lineage: the log that holds the records.
        first: first offset.
        end: end offset, not included.
        own: the statement is about this very log, so the records are the same where their epochs are unknown.
    """
    below = [(first, min(end, statement.high_watermark))]
    if not own:
        return same(lineage, statement.lineage, below)
    return [piece for one in below for piece in subtract([one], differences(lineage, statement.lineage, *one)[0])]


def _uncontested(lineage: Lineage, ranges: list[Range], contested: frozenset[int]) -> list[Range]:
    """Return the parts of ranges that were not written in an epoch with two leaders."""
    if not contested:
        return ranges
    return [piece for piece in lineage.pieces(ranges) if lineage.epoch_at(piece[0]) not in contested]


def _of_own_log(statement: HwStatement, replica: int | None, row: int | None) -> bool:
    """Return whether a statement of unknown epoch is a replica's about its own log, made by a row if one is given."""
    if statement.epoch != UNKNOWN or statement.replica != replica or statement.how is HwSource.LEFT_BEHIND:
        return False
    return row is None or (bool(statement.refs) and (statement.refs[0].row or 0) <= row)


@dataclass(frozen=True, slots=True)
class Loss:
    """Committed records that are missing from the log of the partition's current leader.

    Attributes:
        ranges: their offsets.
        epoch: first leader epoch whose leader lacked them.
        statements: high watermarks that prove they were committed, highest first.
        holders: replicas that still hold all or some of them, with the offsets.
        lineage: the log they were in.
        while_leading: that leader had them, and its log became shorter in that role.
        became_leader: that leader began without them, whatever the order of the leader epochs is.
        served_by: since when the partition has them again, by a complete trace; None if it does not.
    """

    ranges: tuple[Range, ...]
    epoch: Epoch
    statements: tuple[HwStatement, ...]
    holders: dict[int, tuple[Range, ...]]
    lineage: Lineage
    while_leading: bool = False
    became_leader: bool = False
    served_by: ServedAgain | None = None


def _unless_played(
    by_trace: Callable[[History, Played], T],
) -> Callable[[Callable[[History], T]], Callable[[History], T]]:
    """Decorator: take the answer from a complete trace, where there is one.

    Args:
        by_trace: gives that answer.
    """

    def decorated(question: Callable[[History], T]) -> Callable[[History], T]:
        @functools.wraps(question)
        def asked(history: History) -> T:
            return question(history) if history.played is None else by_trace(history, history.played)

        return asked

    return decorated


def _led_without(history: History, one: LedWithout) -> Loss:
    """Return the loss that a complete trace states."""
    statements = tuple(stated_by(commit, one.lineage) for commit in one.commits)
    epoch = history.epochs.get(one.epoch)
    if epoch is None or epoch.leader != one.replica:  # an epoch with two leaders is kept under one of them
        begins = Interval.at(one.begins)
        epoch = Epoch(one.epoch, leader=one.replica, begins=begins, refs=[one.ref], leader_took_up=True)
    found = one.ranges, epoch, statements, dict(one.holders), one.lineage, one.while_leading
    return Loss(*found, became_leader=True, served_by=one.served_by)


def stated_by(commit: Commit, lineage: Lineage) -> HwStatement:
    """Return the statement of a leader in a complete trace.

    Args:
        commit: its high watermark.
        lineage: the log that holds the records in question.
    """
    how = HwSource.PRINTED_BY_LEADER
    refs = (commit.ref,)
    return HwStatement(commit.replica, commit.epoch, lineage, commit.high_watermark, how, commit.time, refs)


def _stated_losses(history: History, played: Played) -> tuple[list[Loss], list[Range]]:
    """Return the losses that a complete trace states. It leaves nothing open."""
    return [_led_without(history, one) for one in played.led_without], []


@once
@_unless_played(_stated_losses)
def losses(history: History) -> tuple[list[Loss], list[Range]]:
    """Return committed records that are gone from the partition, and offsets for which the evidence does not decide."""
    served = served_log(history)
    if served is None:
        return [], []
    gone = _Gone(history, served)
    for statement in sorted(history.statements, key=_strength):
        gone.compare(statement)
    for statement in history.seen_by_clients:
        gone.compare_read(statement)
    found = gone.losses()
    for left in stepped_down(history):
        after = Epoch(left.epoch, leader=left.successor, time=left.time, refs=list(left.refs), leader_took_up=True)
        given = {left.statement.replica: left.ranges}
        found.append(Loss(left.ranges, after, (left.statement,), given, left.statement.lineage))
    proven = [piece for loss in found for piece in loss.ranges]
    return found, subtract(gone.unclear, proven)


_Logs = list[tuple[list[Range], list[HwStatement]]]
"""Lost offsets with the statements about them, log by log."""


class _Gone:
    """Records of high watermark statements that the log the partition serves does not hold.

    Attributes:
        unclear: offsets for which the evidence does not decide.
    """

    def __init__(self, history: History, served: Lineage) -> None:
        self.history, self.served = history, served
        self.unclear: list[Range] = []
        # By the first epoch whose leader lacked them: lost offsets with the statements about them, log by log.
        self._by_epoch: dict[int, _Logs] = {}
        self._read: dict[int, _Logs] = {}  # the same of what only clients saw

    def compare(self, statement: HwStatement) -> None:
        """Compare the log of a statement with the one that is served."""
        history = self.history
        gone, unknown = differences(statement.lineage, self.served, 0, statement.high_watermark)
        self.unclear.extend(subtract(unknown, _checkpointed_as_served(history, statement)))
        if history.epoch_rollbacks:
            self.unclear.extend(gone)  # leader epochs do not show which of the two logs the partition kept
            return
        there = _served_all_the_same(history, statement.lineage, gone)
        self.unclear.extend(there)
        otherwise = merge(
            [
                *_served_otherwise(history, statement, self.served, unknown),
                *_served_by_later(statement, self.served, unknown),
            ]
        )
        for piece in statement.lineage.pieces([*subtract(gone, there), *otherwise]):
            self._take(statement, piece, otherwise)

    def _take(self, statement: HwStatement, piece: Range, otherwise: Sequence[Range]) -> None:
        """Take offsets that are served otherwise or not at all as lost; where an epoch had two leaders, as unclear."""
        history, contested = self.history, self.history.contested
        if statement.lineage.epoch_at(piece[0]) in contested:
            self.unclear.append(piece)
            return
        epoch = _first_without(history, statement, piece[0])
        if epoch is None and intersect([piece], otherwise):
            epoch = _written_again(history, statement, piece[0]) or history.current
        if epoch is None:
            return
        if epoch.epoch in contested or epoch.epoch in history.only_elected:
            self.unclear.append(piece)  # it is unknown which log the partition kept
        else:
            _add_to_its_log(self._by_epoch.setdefault(epoch.epoch, []), statement, piece)

    def compare_read(self, statement: HwStatement) -> None:
        """Compare the log that a client saw with the one that is served.

        A client sees what was committed, and states no bound from above. So it leaves nothing open.
        """
        history, contested = self.history, self.history.contested
        gone = differences(statement.lineage, self.served, 0, statement.high_watermark)[0]
        gone = subtract(gone, _served_all_the_same(history, statement.lineage, gone))
        for piece in statement.lineage.pieces(gone):
            epoch = _first_without(history, statement, piece[0])
            if epoch is None or not read_before(statement, epoch):
                continue
            if contested & {epoch.epoch, statement.lineage.epoch_at(piece[0])}:
                continue
            if epoch.epoch not in history.only_elected:
                _add_to_its_log(self._read.setdefault(epoch.epoch, []), statement, piece)

    def losses(self) -> list[Loss]:
        """Return what was lost, by epoch and log; last what only clients saw."""
        found: list[Loss] = []
        for by_epoch in (self._by_epoch, self._read):
            for number, logs in sorted(by_epoch.items()):
                for ranges, statements in logs:
                    found += self._loss(number, ranges, statements, found)
        return found

    def _loss(
        self, number: int, ranges: Sequence[Range], statements: Sequence[HwStatement], found: Sequence[Loss]
    ) -> list[Loss]:
        """Return the loss of offsets of one log, without what was deleted and what losses before are about."""
        history, lineage = self.history, statements[0].lineage
        whole = kept(history, lineage, ranges, number)
        for other in found:  # report records that both logs had only once
            whole = subtract(whole, same(other.lineage, lineage, intersect(whole, other.ranges)))
        if not whole:
            return []
        epoch = history.epochs[number]
        held = with_own(history, holders(history, lineage, whole), statements, epoch, whole)
        return [Loss(tuple(whole), epoch, tuple(statements), held, lineage)]


def _add_to_its_log(logs: _Logs, statement: HwStatement, piece: Range) -> None:
    """Add lost offsets and a statement to the entry of ``logs`` for the log that the statement is about, or a new one.

    A leader may lack records of two different logs, neither of which the partition kept.
    """
    for ranges, statements in logs:
        first = statements[0]  # the strongest
        end = min(first.high_watermark, statement.high_watermark)
        if not differences(first.lineage, statement.lineage, 0, end)[0]:
            ranges.append(piece)
            statements.append(statement)
            return
    logs.append(([piece], [statement]))


def _strength(statement: HwStatement) -> tuple[int, bool, int, int]:
    """Sort key of statements: the highest comes first, and one that a line states before one that is implied."""
    return -statement.high_watermark, statement.implied, statement.replica, statement.epoch


def unserved(history: History) -> Loss | None:
    """Return committed records inside a hole of the current leader's log.

    A hole is a gap between segments that already existed on the broker, or offsets that a segment skips although
    nothing was compacted.
    """
    current = history.current
    if current is None or current.leader is None or history.epoch_rollbacks:
        return None
    disk, copy = history.facts.disks.get(current.leader), history.copies.get(current.leader)
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
    """Return the log that the partition serves at the end of the evidence.

    That is the current leader's log, or the log read from the files of a later leader.
    """
    current = history.current
    logs = {b: replica.lineage for b, replica in history.replicas.items() if replica.on_disk}
    for broker, log in logs.items():
        # A leader writes the start of its epoch to the epoch file before it appends any record (Partition.makeLeader).
        noted = Lineage(tuple((number, start) for number, start, _ in history.facts.disks[broker].entries))
        if noted.entries and log.entries and noted.entries[-1][0] > log.entries[-1][0]:
            logs[broker] = log.splice(noted, noted.entries[-1][1])
    later = [(log.entries[-1][0], broker) for broker, log in logs.items() if log.entries]
    if later and (current is None or max(later)[0] > current.epoch):
        return logs[max(later)[1]]
    return current.lineage if current is not None else None


def _current_leader(history: History) -> int | None:
    """Return the leader of the last epoch that has one."""
    current = history.current
    return current.leader if current is not None else None


def _served_all_the_same(history: History, lineage: Lineage, gone: list[Range]) -> list[Range]:
    """Return offsets that the leader's log seems to lack, but whose records its segments hold.

    The leader's segments are identical there to those of a replica that has the records, so log lines are missing.
    Before message format v2, only log lines show the leader epoch of a record.
    """
    if not gone or (leader := _current_leader(history)) is None:
        return []
    held = holders(history, lineage, gone).items()
    return merge(piece for broker, kept in held for piece in history.facts.identical_ranges(broker, leader, kept))


def _checkpointed_as_served(history: History, statement: HwStatement) -> list[Range]:
    """Return the range below a checkpointed high watermark where the current leader's segments equal the replica's."""
    if statement.how is not HwSource.CHECKPOINT:
        return []
    leader, disk = _current_leader(history), history.facts.disks.get(statement.replica)
    if leader is None or disk is None or disk.end is None:
        return []
    below = [(0, min(statement.high_watermark, disk.end))]
    return below if leader == statement.replica else history.facts.identical_ranges(leader, statement.replica, below)


def _served_otherwise(history: History, statement: HwStatement, served: Lineage, unknown: list[Range]) -> list[Range]:
    """Return offsets where the leader's segments hold other records than the log of a statement.

    Only the offsets in ``unknown`` are considered: the leader epochs alone do not decide there. The other records are
    of the same epoch, or of a later one than the epoch in which the statement's records were committed.
    """
    if not unknown or (leader := _current_leader(history)) is None:
        return []
    lineage = statement.lineage
    dated = [piece for piece in lineage.pieces(unknown) if lineage.epoch_at(piece[0]) >= 0]
    held = holders(history, lineage, dated).items()
    found = [
        piece for broker, kept in held for piece in intersect(kept, history.facts.diverging_ranges(broker, leader))
    ]
    parted = min((first for first, _ in history.facts.diverging_ranges(statement.replica, leader)), default=None)
    if parted is not None and statement.epoch >= 0:
        pieces = served.pieces(intersect(unknown, [(parted, statement.high_watermark)]))
        found += [piece for piece in pieces if served.epoch_at(piece[0]) > statement.epoch]
    return merge(found)


def _served_by_later(statement: HwStatement, served: Lineage, unknown: list[Range]) -> list[Range]:
    """Return offsets that the partition serves with records of a later epoch than the one of a high watermark.

    Only the offsets in ``unknown`` are considered. In which epoch the committed records there were written is not
    known, but it was none after that of the high watermark. So they are not the ones that are served (KIP-101).
    """
    if statement.epoch < 0:
        return []
    return merge(
        piece
        for piece in served.pieces(statement.lineage.pieces(unknown))
        if statement.lineage.epoch_at(piece[0]) < 0 and served.epoch_at(piece[0]) > statement.epoch
    )


def _written_again(history: History, statement: HwStatement, offset: int) -> Epoch | None:
    """Return the first later leader epoch in whose log a leader wrote ``offset`` again, or None."""
    for epoch in history.epochs.after(statement.epoch) if statement.epoch >= 0 else ():
        led = epoch.leader_took_up and epoch.leader not in (None, -1)
        if led and epoch.lineage.epoch_at(offset) > statement.epoch:
            return epoch
    return None


def _first_without(history: History, statement: HwStatement, offset: int) -> Epoch | None:
    """Return the first later leader epoch whose leader did not have the record, or None."""
    mine = statement.lineage.epoch_at(offset)
    for epoch in history.epochs.after(max(statement.epoch, mine)):
        led = epoch.leader_took_up and epoch.leader not in (None, -1)
        if led and epoch.lineage.entries and apart(epoch.lineage.epoch_at(offset), mine):
            return epoch
    return None


@dataclass(frozen=True, slots=True)
class PossibleLoss:
    """Records that are gone and that may have been committed.

    Attributes:
        first: first offset.
        end: end offset, not included; None if the log end offset is unknown.
        before: they were written in this leader epoch or an earlier one.
        after: leader epoch whose leader lacked them.
    """

    first: int
    end: int | None
    before: Epoch
    after: Epoch


def _nothing_possible(history: History, played: Played) -> list[PossibleLoss]:
    """Return no leader change: a complete trace states all losses."""
    return []


@once
@_unless_played(_nothing_possible)
def possible_losses(history: History) -> list[PossibleLoss]:
    """Return leader changes at which committed records may have been lost, without a high watermark to prove it."""
    if history.epoch_rollbacks:
        return []  # leader epochs do not show the order of the leaders
    led = [e for e in history.taken_up if e.leader is None or (e.leader >= 0 and e.lineage.entries)]
    lost = [piece for loss in losses(history)[0] for piece in loss.ranges]
    found = (_possible_loss(history, before, after, lost) for before, after in itertools.pairwise(led))
    return [one for one in found if one is not None]


def _possible_loss(history: History, before: Epoch, after: Epoch, lost: Sequence[Range]) -> PossibleLoss | None:
    """Return what may be lost from one leader to the next, apart from what is proven to be; None for nothing."""
    if after.lineage is before.lineage or has_all_committed(history, before, after):
        return None
    first = _lacks_from(history, before, after)
    done = committed_at_most(history, before)
    if done is not None and done <= first:
        return None
    if after.start is None:
        return PossibleLoss(first, None, before, after)
    end = log_end(history, before.leader, before.epoch).high
    if end is None:
        return PossibleLoss(first, None, before, after)
    known = committed(history, before.lineage, first, end).ranges
    if end <= first or (known == ((first, end),) and not subtract(known, lost)):
        return None  # nothing is left, or all is proven: the committed-data-lost rule reports it
    return PossibleLoss(first, end, before, after)


def _lacks_from(history: History, before: Epoch, after: Epoch) -> int:
    """Return the first offset at which a leader may have lacked committed records of the log before.

    That is where its own log ended, or where it had other records. But while a member of the ISR has other records than
    its leader, it has not fetched (KIP-101), so nothing from there on was committed.
    """
    leader, end = after.leader, after.begins.low
    whole = leader is not None and history.coverage.whole(leader)
    if leader is not None and whole and not history.protocol.truncates_to_hw and in_isr(history, leader, before, after):
        return end
    differ = differences(before.lineage, after.lineage, 0, end)[0]
    return min((start for start, _ in differ), default=end)


def committed_at_most(history: History, epoch: Epoch) -> int | None:
    """Return an upper bound of what was committed when an epoch ended; None if unknown.

    A trace that claims to state each change of all replicas states each high watermark. Else the lines of the epoch's
    leader show it.
    """
    stated = stated_at_most(history, epoch.epoch)
    return stated if stated is not None else _by_next_role(history, epoch)


def _by_next_role(history: History, epoch: Epoch) -> int | None:
    """Return an upper bound of what was committed when an epoch ended, by its leader's lines; None if unknown.

    The high watermark at the start of the leader's next role is the last one of this epoch. Records committed in
    earlier epochs are below the start offset of this epoch. If that offset is unknown, the bound of the epoch before is
    used.
    """
    leader = epoch.leader
    if leader is None or not history.coverage.whole(leader):
        return None
    begun = _committed_before(history, epoch)
    if begun is None:
        return None
    spans = history.role_spans.get(leader, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == epoch.epoch]
    if not here or here[-1] + 1 >= len(spans) or epoch.other_leaders or not ended_whole(history, leader, here):
        return None
    now, after = spans[here[-1]], spans[here[-1] + 1]
    if now.role is not Role.LEADER or now.steps or after.run != now.run or after.start_hw is None:
        return None
    known = max(after.start_hw.value, *(s.value for s in (now.hw, now.start_hw) if s is not None), 0)
    return max(known, begun)


def _committed_before(history: History, epoch: Epoch) -> int | None:
    """Return an upper bound of what was committed before an epoch: its start, or the bound of the epoch before."""
    if epoch.start is not None:
        return epoch.start
    earlier = [one for one in history.taken_up if one.epoch < epoch.epoch]
    return _by_next_role(history, earlier[-1]) if earlier else None


def stated_at_most(history: History, epoch: int) -> int | None:
    """Return the highest high watermark up to the end of a leader epoch; None if some may not have been stated.

    None is missing where a trace claims to state each change of every replica: then nothing above was committed.
    """
    claimed = history.coverage.claimed  # asked first: the members are found in all epochs, and this is asked of each
    if not claimed or not history.members or not history.members <= claimed:
        return None
    return max((one.high_watermark for one in history.statements if one.epoch <= epoch), default=0)
