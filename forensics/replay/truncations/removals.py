"""Committed records that truncations removed, and what became of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from enum import StrEnum

from forensics.replay.committed.led_next import lost_as_leader
from forensics.replay.committed.lost_by import NOT_SHOWN, LostBy, Why, lost_by
from forensics.replay.committed.proof import (
    CommittedProof,
    Loss,
    committed,
    losses,
    possible_losses,
    stated_at_most,
    stated_by,
)
from forensics.replay.committed.short_current_leader import in_no_log
from forensics.replay.committed.surviving_copies import holders
from forensics.replay.coverage import Printed
from forensics.replay.facts.deletions import kept, log_start_at
from forensics.replay.high_watermarks.group_reads import read_before
from forensics.replay.history import History, HwSource, HwStatement, Truncation, TruncationReason
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import UNKNOWN, Lineage, Range, differences, intersect, merge, same, subtract
from forensics.replay.traces.results import TruncatedCommitted
from forensics.replay.truncations.safe_truncations import is_safe


@dataclass(frozen=True, slots=True)
class Removal:
    """Committed records that a truncation removed.

    Attributes:
        truncation: the truncation.
        ranges: offsets of the committed records; empty if none is known, or if their leader had deleted them before.
        statements: high watermarks that prove them committed, the strongest first.
        read_back_alone: some are known as committed only by a high watermark that the replica read back.
        decided: the evidence shows whether it removed committed records, by what is known of high watermarks.
    """

    truncation: Truncation
    ranges: tuple[Range, ...]
    statements: tuple[HwStatement, ...] = ()
    read_back_alone: bool = False
    decided: bool = True


class Fate(StrEnum):
    """The fate of committed records that a replica truncated."""

    LOST = "the partition has lost them"
    THERE_AGAIN = "the replica has them again"
    FETCHED_AGAIN = "its leader had them, and it fetched them again"
    LEADER_HAD = "its leader had them"
    KEPT = "the partition kept them"
    LEADER_HAD_THEN = "its leader had them then; whether the partition kept them is unknown"
    UNKNOWN = "whether the partition kept them is unknown"


SETTLED = frozenset({Fate.THERE_AGAIN, Fate.FETCHED_AGAIN, Fate.LEADER_HAD, Fate.KEPT})
"""The answers by which the partition has the records."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fate of committed records that a replica truncated, and the reason.

    Attributes:
        fate: of all of them; ``LOST`` if any are lost.
        lost: offsets of those that the partition has lost.
        loss: the loss of these, or None.
        why: why its leader lacked them, or why the replica truncated so far.
    """

    fate: Fate
    lost: tuple[Range, ...]
    loss: Loss | None
    why: Why


_UNKNOWN: Why = LostBy.UNKNOWN


def removals(history: History) -> list[Removal]:
    """Return what each truncation removed of committed records; of a complete trace, only what it states."""
    if history.played is not None:
        return [_stated(history, one) for one in history.played.truncated]
    return [_removal(history, truncation) for truncation in history.truncations]


def _stated(history: History, one: TruncatedCommitted) -> Removal:
    """Return what a truncation removed that a complete trace states."""
    known = next((t for t in history.truncations if _states(t, one)), None)
    truncation = one.truncation
    if known is not None:
        truncation = replace(truncation, reason=known.reason, refs=known.refs)
    return Removal(truncation, one.ranges, (stated_by(one.commit, truncation.lineage),))


def _states(truncation: Truncation, one: TruncatedCommitted) -> bool:
    """Return whether a line that a complete trace was played by is one of those that show a truncation."""
    return any(ref.row == one.row for ref in truncation.refs)


def _removal(history: History, truncation: Truncation) -> Removal:
    proof = _known_committed(history, truncation, truncation.epoch if truncation.epoch >= 0 else None)
    own = _below_own_hw(history, truncation)
    row = truncation.refs[0].row
    start = log_start_at(history.facts.log_starts, truncation.replica, row)  # it held nothing below
    held = [(start, max(start, truncation.end))]
    ranges = tuple(
        kept(history, truncation.lineage, intersect(merge([*proof.ranges, *own.ranges]), held), truncation.epoch)
    )
    if not ranges and (read := _read_before(history, truncation)).ranges:
        ranges = tuple(kept(history, truncation.lineage, intersect(read.ranges, held), truncation.epoch))
        return Removal(truncation, ranges, read.statements)
    if not ranges and (lost := lost_as_leader(history, truncation)).ranges:
        return Removal(truncation, lost.ranges, lost.statements)
    own_alone = bool(subtract(ranges, proof.ranges))
    read_back_alone = own_alone and truncation.own_hw is not None and truncation.own_hw.restored
    decided = bool(ranges or proof.ranges)
    return Removal(truncation, ranges, (*proof.statements, *own.statements), read_back_alone, decided)


def _read_before(history: History, truncation: Truncation) -> CommittedProof:
    """Return what a truncation removed of records that clients saw as committed.

    Only records count that the leader of its epoch lacks: no consumer can have read them
    first after that leader began.
    """
    epoch = history.epochs.get(truncation.epoch)
    if epoch is None or not epoch.lineage.entries or truncation.epoch in history.contested:
        return CommittedProof((), ())
    gone = differences(truncation.lineage, epoch.lineage, truncation.target, truncation.end)[0]
    ranges: list[Range] = []
    used: list[HwStatement] = []
    for statement in history.seen_by_clients:
        below = intersect(gone, [(0, statement.high_watermark)])
        if read_before(statement, epoch) and (read := same(truncation.lineage, statement.lineage, below)):
            ranges += read
            used.append(statement)
    return CommittedProof(tuple(merge(ranges)), tuple(used))


def _below_own_hw(history: History, truncation: Truncation) -> CommittedProof:
    """Return what a truncation removed below a high watermark that the same replica had stated before.

    A replica that was away while its topic was created again reads back the high watermark of another topic. A topic
    id rules that out. A trace that claims nothing may leave out the role in which a replica stated it. As a follower
    it may have adopted it from its leader before it truncated (KAFKA-14704).
    """
    own, coverage, replica = truncation.own_hw, history.coverage, truncation.replica
    if own is None or truncation.epoch in history.contested or (own.restored and history.topic_id is None):
        return CommittedProof((), ())
    if replica in coverage.unclaimed and not coverage.has(replica, Printed.ROLES):
        return CommittedProof((), ())
    first = (
        max(own.first, log_start_at(history.facts.log_starts, truncation.replica, own.ref.row)) if own.restored else 0
    )
    ranges = intersect([(truncation.target, own.end)], [(max(own.first, first), own.end)])
    statement = HwStatement(
        truncation.replica,
        UNKNOWN if own.restored else truncation.epoch,
        truncation.lineage,
        own.end,
        HwSource.READ_BACK if own.restored else HwSource.SAME_EPOCH,
        own.time,
        (own.ref,),
    )
    return CommittedProof(tuple(ranges), (statement,) if ranges else ())


def beyond_committed(history: History, truncation: Truncation) -> tuple[Range, ...]:
    """Return the truncated offsets that are not known to have been committed in an earlier leader epoch."""
    return tuple(subtract(_removed(history, truncation), _committed_part(history, truncation)))


def _removed(history: History, truncation: Truncation) -> list[Range]:
    """Return the offsets that a truncation removed, also those of a record batch that begins below its target.

    Where a complete trace shows the records, they are these.
    """
    by_row = history.played.removed if history.played is not None else {}
    rows = (ref.row for ref in truncation.refs if ref.row is not None)
    stated = next((by_row[row] for row in rows if row in by_row), None)
    return [(truncation.target, truncation.end)] if stated is None else [*stated.ranges]


def _committed_part(history: History, truncation: Truncation) -> tuple[Range, ...]:
    """Return what a truncation removed of committed records, as a leader's high watermarks or a trace show it."""
    if history.played is not None:
        stated = (one.ranges for one in history.played.truncated if _states(truncation, one))
        return tuple(merge(itertools.chain(*stated)))
    known = _known_committed(history, truncation, truncation.epoch)
    more = (_read_before(history, truncation), lost_as_leader(history, truncation))
    return tuple(merge([*known.ranges, *(piece for proof in more for piece in proof.ranges)]))


def _known_committed(history: History, truncation: Truncation, before: int | None) -> CommittedProof:
    """Return what a truncation removed below high watermarks that were reached in an epoch below ``before``."""
    return committed(
        history,
        truncation.lineage,
        truncation.target,
        truncation.end,
        replica=truncation.replica,
        before=before,
        row=truncation.refs[0].row,
    )


@dataclass(frozen=True, slots=True)
class OpenTruncation:
    """A truncation that may have removed committed records.

    Attributes:
        truncation: the truncation.
        before: leader epoch of the leader whose high watermark would decide; None if that leader is unknown.
    """

    truncation: Truncation
    before: Epoch | None

    @property
    def leader(self) -> int | None:
        """The broker that led it; None if it is unknown."""
        return self.before.leader if self.before is not None else None


def open_truncation(history: History, truncation: Truncation) -> OpenTruncation | None:
    """Return a truncation if it may have removed committed records; None if the protocol or a trace excludes it."""
    if history.played is not None:
        return None  # what it removed is known
    epoch = history.epochs.get(truncation.epoch)
    if epoch is None:
        return OpenTruncation(truncation, None)
    if _excluded(history, truncation):
        return None
    served = (one for one in reversed(history.epochs.before(truncation.epoch)) if one.leader_took_up)
    # One that was elected and fenced before it knew of it has committed nothing.
    before = next((one for one in served if one.leader not in (None, -1)), None)
    before = before or history.led_before(truncation.epoch) or epoch
    return OpenTruncation(truncation, before if before.leader is not None and before.leader >= 0 else None)


def _excluded(history: History, truncation: Truncation) -> bool:
    """Return whether a truncation cannot have removed committed records."""
    stated = stated_at_most(history, truncation.epoch)
    if is_safe(history, truncation) or (stated is not None and stated <= truncation.target):
        return True
    again, unknown = refetched(history, truncation, ((truncation.target, truncation.end),))
    unsettled = bool(history.epoch_rollbacks) or any(
        one.after.epoch <= truncation.epoch for one in possible_losses(history)
    )
    # Otherwise the leader that it followed had all committed records, and did not have these.
    return not (again or unknown or unsettled)


def outcome(history: History, removal: Removal) -> Outcome:
    """Return what became of the committed records that a truncation removed."""
    truncation, ranges = removal.truncation, removal.ranges
    lost = tuple(intersect(ranges, _gone(history, truncation)))
    loss = next((one for one in losses(history)[0] if lost and intersect(one.ranges, lost)), None)
    missed = subtract(ranges, refetched(history, truncation, ranges)[0])
    there = not lost and _there_again(history, truncation, ranges)
    settled = not (
        possible_losses(history)
        or history.epoch_rollbacks
        or _roles_open(history)  # a trace may leave out how they were lost
        or _beyond(history, truncation, missed)
        or subtract(intersect(ranges, _gone(history, truncation, perhaps=True)), lost)
    )
    fates = (
        (bool(lost), Fate.LOST),
        (there, Fate.THERE_AGAIN),
        (_leader_removed(history, ranges), Fate.UNKNOWN),
        (settled and not missed and _stated_again(history, truncation), Fate.FETCHED_AGAIN),
        (settled and not missed, Fate.LEADER_HAD),
        (settled, Fate.KEPT),
        (not missed, Fate.LEADER_HAD_THEN),
    )
    fate = next((answer for holds, answer in fates if holds), Fate.UNKNOWN)
    return Outcome(fate, lost, loss, _why(history, removal, lost, loss, leader_had=not missed))


def _roles_open(history: History) -> bool:
    """Return whether a trace claims nothing, or something and not the roles of its replica."""
    coverage = history.coverage
    partly = coverage.claimed_partly
    return bool(coverage.unclaimed) or any(not coverage.claims(broker, Printed.ROLES) for broker in partly)


def _leader_removed(history: History, ranges: tuple[Range, ...]) -> bool:
    """Return whether a leader truncated some of the offsets while it led, which the protocol knows no reason for."""
    return any(
        one.epoch in history.epochs
        and history.epochs[one.epoch].leader == one.replica
        and intersect(ranges, ((one.target, one.end),))
        for one in history.truncations
    )


def _beyond(history: History, truncation: Truncation, missed: list[Range]) -> list[Range]:
    """Return offsets that may be lost, among those that the leader of a truncation began without."""
    begun = history.epochs[truncation.epoch].begins.low if truncation.epoch in history.epochs else 0
    return intersect(intersect(missed, losses(history)[1]), [(begun, truncation.end)])


def _why(history: History, removal: Removal, lost: tuple[Range, ...], loss: Loss | None, *, leader_had: bool) -> Why:
    """Return why the records were removed: by the protocol, or because a leader lacked them."""
    truncation, since = removal.truncation, removal.statements[0].epoch
    if truncation.reason is TruncationReason.HIGH_WATERMARK:
        return LostBy.HW_TRUNCATION
    epoch, why = history.epochs.get(truncation.epoch), _UNKNOWN
    if epoch is not None and not leader_had:
        why = lost_by(history, epoch, removal.ranges[0][0], since)
    if why in NOT_SHOWN and loss is not None:  # its leader had followed one without them
        why = lost_by(history, loss.epoch, lost[0][0], since)
    return why


def _stated_again(history: History, truncation: Truncation) -> bool:
    """Return whether records that the leader of a truncation had were appended again.

    A trace that states each append may state none of them again.
    """
    stated = history.played.truncated if history.played is not None else ()
    return all(one.again for one in stated if one.row == truncation.refs[0].row)


def _there_again(history: History, truncation: Truncation, ranges: tuple[Range, ...]) -> bool:
    """Return whether the replica that truncated the records holds them again, in files of a later time.

    The files of the last leader must have the same records: the same epoch wrote them.
    """
    leader = history.current.leader if history.current is not None else None
    if leader is None or any(truncation.lineage.epoch_at(first) < 0 for first, _ in truncation.lineage.pieces(ranges)):
        return False
    held = holders(history, truncation.lineage, list(ranges))
    later = {
        broker: disk.lineage.entries[-1][0] for broker, disk in history.facts.disks.items() if disk.lineage.entries
    }
    return all(
        list(held.get(broker, ())) == list(ranges) and later.get(broker, UNKNOWN) >= truncation.epoch
        for broker in {truncation.replica, leader}
    )


def _gone(history: History, truncation: Truncation, *, perhaps: bool = False) -> list[Range]:
    """Return which records of the truncated log are lost: records of another log may be lost at the same offsets.

    Args:
        history, truncation: the partition, and the truncation.
        perhaps: also those that may be lost, as it is unknown in which leader epochs they were written.
    """
    nowhere = in_no_log(history)
    lost = [loss for loss in losses(history)[0] if loss.served_by is None]
    found: list[Range] = []
    for loss in (*lost, *((nowhere,) if nowhere is not None else ())):
        for span in loss.ranges:
            differ, unknown = differences(loss.lineage, truncation.lineage, *span)
            unlike = [] if perhaps else _not_alike(history, loss.lineage, truncation.lineage, unknown)
            found += subtract([span], [*differ, *unlike])
    return found


def _not_alike(history: History, one: Lineage, two: Lineage, unknown: list[Range]) -> list[Range]:
    """Return the offsets at which two logs may have different records, among those whose leader epochs are unknown.

    Records with which the replicas of a complete trace begin are taken as alike.
    """
    if history.played is None:
        return unknown
    return [part for part in two.pieces(one.pieces(unknown)) if one.epoch_at(part[0]) != two.epoch_at(part[0])]


def refetched(history: History, truncation: Truncation, ranges: tuple[Range, ...]) -> tuple[list[Range], list[Range]]:
    """Return the truncated records that the replica fetched again from its leader, and those that it may have
    fetched.
    """
    epoch = history.epochs.get(truncation.epoch)
    if epoch is None or not epoch.lineage.entries or epoch.leader == truncation.replica:
        return [], list(ranges)
    have: list[Range] = []
    unknown: list[Range] = []
    # The leader has records of older epochs only below the start offset of its own epoch.
    held = epoch.begins.low
    for first, stop in ranges:
        differ, unsure = differences(truncation.lineage, epoch.lineage, first, stop)
        there = subtract([(first, stop)], [*differ, *unsure])
        older = [(a, b) for a, b in there if truncation.lineage.epoch_at(a) != epoch.epoch]
        beyond = intersect(older, [(held, stop)]) if epoch.start is None else []
        unknown.extend([*unsure, *beyond])
        have.extend(subtract(there, [(held, stop)] if older else []))
    return merge(have), intersect(merge(unknown), list(ranges))
