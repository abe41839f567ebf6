"""The later leader epochs that a stated high watermark may be about.

A replica states a high watermark in a role that its lines show. But it may have received a later epoch without a line
on it, or been answered in one. Then the high watermark may be about the log of that epoch. The two logs agree below the
offset where that epoch began. From there on it is not known which of them the high watermark is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import NO_DISK
from forensics.replay.history import History, HwSource, HwStatement, Role
from forensics.replay.inferences import Inferred, joined
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import UNKNOWN
from forensics.replay.roles.log_ends import log_end
from forensics.replay.roles.steps import RoleSpan, StepKind


def attributed(history: History, statement: HwStatement, *, fenced: bool) -> HwStatement:
    """Return a high watermark statement with the log that it is about, as far as that is known.

    A follower that has not received a new epoch of the same leader nevertheless learns the high watermark of that
    epoch, because fetches carry no epoch before KIP-320. If it is certain that the statement is about a later epoch, it
    gets that one. If it may be about a later epoch, its log is unknown from where that epoch can have begun.

    Args:
        history: the partition, with every epoch.
        statement: with the epoch of the role in which its replica stated it.
        fenced: no leader answers the replica in another epoch than the one that it was given.
    """
    unseen = beyond_lines(history, statement)
    if unseen is not None:
        return _unknown_from(statement, unseen)
    epoch = history.epochs.get(statement.epoch)
    if epoch is None or epoch.leader in (None, statement.replica):
        return statement
    if (beyond := _beyond_its_leader(history, statement, epoch)) is not None:
        return _unknown_from(statement, beyond)
    if _parted_when_read_back(history, statement):
        return statement
    later, why = _fetched_ahead(history, statement), Inferred.RECORDS_OF_LATER_EPOCH
    if later is None:
        later, why = _answered_in(history, statement, epoch.leader), Inferred.ANSWERED_IN_NEXT_EPOCH
    if later is not None:
        by = joined(statement.by, (why,))
        moved = replace(statement, epoch=later.epoch, lineage=later.lineage, by=by)
        return attributed(history, moved, fenced=fenced)
    again = _of_its_leader(history, statement, epoch, fenced=fenced)
    return _unknown_from(statement, _start_below(again, statement.high_watermark))


def _beyond_its_leader(history: History, statement: HwStatement, epoch: Epoch) -> int | None:
    """Return the log end offset with which the leader of an epoch began its next role, if a process of another replica
    read back a higher high watermark. Nothing above it was committed in that epoch.

    Either lines of the leader are missing, or the process found another log than the one before had left: a directory
    of another broker, or of another time. A leader that leads on may have committed more in its next epoch.
    """
    if statement.how is not HwSource.READ_BACK or epoch.leader is None:
        return None
    spans = history.role_spans.get(epoch.leader, ())
    runs = {one.run for one in spans if one.epoch == epoch.epoch}
    for one, two in itertools.pairwise(spans):
        # A crash within the epoch may have taken the end of its log.
        continued = one.epoch == epoch.epoch and one.role is Role.LEADER and runs == {two.run} and not one.steps
        end = two.start_end if continued and two.role is not Role.LEADER else None
        if end is not None and end < statement.high_watermark:
            return end
    return None


def _unknown_from(statement: HwStatement, start: int | None) -> HwStatement:
    """Return a statement that may be about another log from an offset on; unchanged if that is None."""
    if start is None:
        return statement
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.known_below(start))


def _fetched_ahead(history: History, statement: HwStatement) -> Epoch | None:
    """Return the last epoch with records below a follower's high watermark, by its own lines.

    The follower received only an earlier epoch. None if there is no later one.
    """
    own = (t for t in history.role_spans.get(statement.replica, ()) if t.epoch == statement.epoch)
    begun = [number for t in own for number, start, _ in t.entries if start < statement.high_watermark]
    later = history.epochs.get(max(begun, default=UNKNOWN))
    return later if later is not None and later.epoch > statement.epoch and later.lineage.entries else None


def _answered_in(history: History, statement: HwStatement, leader: int | None) -> Epoch | None:
    """Return the next epoch of a leader's process, if the high watermark is above its start; None if not."""
    for one, two in itertools.pairwise(history.role_spans.get(leader if leader is not None else -1, ())):
        following = history.epochs.get(two.epoch)
        if one.epoch != statement.epoch or not _leads_on(one, two) or following is None:
            continue
        begun = following.start if following.leader == leader else None
        if begun is not None and statement.high_watermark > begun:
            return following
    return None


def _leads_on(one: RoleSpan, two: RoleSpan) -> bool:
    """Return whether one process led on in a later epoch, and nothing changed its log but appends."""
    leads = one.role is two.role is Role.LEADER and one.run == two.run
    return leads and one.epoch < two.epoch and not one.steps


def _parted_when_read_back(history: History, statement: HwStatement) -> bool:
    """Return whether the role in which a high watermark was read back truncated below it.

    Its leader's log had other records there (KIP-101). The high watermark is within the replica's own log, so it is
    about an earlier leader's log.
    """
    if not statement.earlier or history.protocol.truncates_to_hw:
        return False
    rows = {ref.row for ref in statement.refs}
    return any(
        step.kind is StepKind.TRUNCATED and step.target < statement.high_watermark
        for role_span in history.role_spans.get(statement.replica, ())
        if role_span.start_hw is not None and role_span.start_hw.ref.row in rows
        for step in role_span.steps[:1]
    )


def _of_its_leader(history: History, statement: HwStatement, epoch: Epoch, *, fenced: bool) -> list[Epoch]:
    """Return later epochs of the same leader that a follower did not receive, and may state the high watermark of.

    They are those before its next role. If lines of the leader are in the evidence, there are none in two cases: the
    high watermark was read back, or the replica's fetches are fenced.
    """
    later = history.epochs.after(epoch.epoch)
    if history.role_spans.get(epoch.leader if epoch.leader is not None else -1):
        if statement.earlier or fenced:
            return []
        roles = [one.epoch for one in history.role_spans.get(statement.replica, ()) if one.epoch > epoch.epoch]
        later = history.epochs.between(epoch.epoch, min(roles) + 1) if roles else later
    again = (one for one in later if one.leader == epoch.leader and one.leader_took_up)
    return _that_reached(history, again, statement.high_watermark)


def _that_reached(history: History, epochs: Iterable[Epoch], hw: int) -> list[Epoch]:
    """Return the epochs whose leader's log may have reached a high watermark. In the others it was not stated."""
    ends = ((one, log_end(history, one.leader, one.epoch).high) for one in epochs)
    return [one for one, end in ends if end is None or end >= hw]


def beyond_lines(history: History, statement: HwStatement) -> int | None:
    """Return the offset from which it is unknown which log a replica's last high watermark statement is about.

    That is the start of a later epoch, below the stated high watermark, that the replica's lines do not name. None if
    its lines reach the end of the evidence and it was in no later ISR.
    """
    unseen = _before_another_process(history, statement)
    start = unseen if unseen is not None else _unlike_its_leader(history, statement)
    if start is not None or statement.earlier:
        return start
    return _start_below(_maybe_begun_before(history, statement), statement.high_watermark)


def _maybe_begun_before(history: History, statement: HwStatement) -> list[Epoch]:
    """Return later epochs that a replica may have received, without a line on them, before it stated a high watermark.

    That is up to its next role if the line with which that role began may be missing. After its last role, it is every
    later epoch if its lines do not reach the end of the evidence, or if it was in one of their ISRs.
    """
    broker = statement.replica
    until = _maybe_begun(history, statement) if broker in history.coverage.unclaimed else None
    last = max((role_span.epoch for role_span in history.role_spans.get(broker, ())), default=UNKNOWN)
    if until is None and statement.epoch != last:
        return []
    later = [epoch for epoch in history.taken_up if epoch.epoch > statement.epoch]
    if until is not None:
        return [epoch for epoch in later if epoch.epoch <= until and not _begun_after(history, epoch, statement)]
    # A member of its ISR was given this epoch, so lines are missing.
    member = any(broker in isr for epoch in later for isr, _ in epoch.isr)
    return later if member or not history.coverage.has(broker, Printed.ROLES, Span.AFTER) else []


def _begun_after(history: History, epoch: Epoch, statement: HwStatement) -> bool:
    """Return whether the leader of an epoch states that it took it up after a high watermark was stated."""
    spans = history.role_spans.get(epoch.leader if epoch.leader is not None else -1, ())
    led = (one for one in spans if one.epoch == epoch.epoch and one.role is Role.LEADER and _states_its_start(one))
    begun = next((one.time for one in led), None)
    return begun is not None and statement.time is not None and begun > statement.time


def _states_its_start(role: RoleSpan) -> bool:
    """Return whether the first line on a role states a log end offset or a high watermark of its replica."""
    stated = {ref.row for ref in (role.start_ref, role.start_hw.ref if role.start_hw else None) if ref is not None}
    return not stated.isdisjoint(ref.row for ref in role.refs)


_LAST = 1 << 31
"""More than any leader epoch."""


def _maybe_begun(history: History, statement: HwStatement) -> int | None:
    """Return the next role of a replica if it may have begun before the replica stated a high watermark; or None.

    A trace that claims nothing may leave out the line with which a role begins. Then the first line on it is one that
    states no log end offset and no high watermark of its own, such as a request of the controller. Where a line of a
    role is known to be left out, any epoch before the next role counts.
    """
    for one, two in itertools.pairwise(history.role_spans.get(statement.replica, ())):
        if one.epoch == statement.epoch and not _states_its_start(two):
            return two.epoch
    if history.coverage.has(statement.replica, Printed.ROLES):
        return None
    later = (one.epoch for one in history.role_spans.get(statement.replica, ()) if one.epoch > statement.epoch)
    return min(later, default=_LAST) - 1


def _start_below(epochs: Iterable[Epoch], hw: int) -> int | None:
    """Return the least offset below a high watermark at which any of some epochs can have begun; None if none can."""
    return min((epoch.begins.low for epoch in epochs if epoch.begins.low < hw), default=None)


def _unlike_its_leader(history: History, statement: HwStatement) -> int | None:
    """Return where a checkpoint's replica and its leader have different segments, if the checkpoint is beyond the
    leader's log.

    None if the leader had a later role, or if the log end offset of its files reaches the checkpoint.
    """
    epoch = history.epochs.get(statement.epoch)
    leader = epoch.leader if epoch is not None else None
    if statement.how is not HwSource.CHECKPOINT or leader is None or leader == statement.replica:
        return None
    spans, end = history.role_spans.get(leader, ()), history.facts.disks.get(leader, NO_DISK).end
    if not spans or spans[-1].epoch != statement.epoch or spans[-1].steps:
        return None
    if end is None or end >= statement.high_watermark:
        return None  # a follower that kept its own tail learns its leader's high watermark nevertheless
    return min((start for start, _ in history.facts.diverging_ranges(statement.replica, leader)), default=None)


def _before_another_process(history: History, statement: HwStatement) -> int | None:
    """Return the start of an unseen epoch, for a replica that restarted after it stated a high watermark.

    The replica's next process was given a later epoch, and an epoch in between was elected with the replica in its ISR.
    The process that stated the high watermark was given that epoch too.
    """
    if history.protocol.truncates_to_hw or statement.earlier:
        return None
    pairs = itertools.pairwise(history.role_spans.get(statement.replica, ()))
    restarts = (pair for pair in pairs if pair[0].epoch == statement.epoch and pair[0].run != pair[1].run)
    given = itertools.chain.from_iterable(_given_between(history, *pair) for pair in restarts)
    return _start_below(given, statement.high_watermark)


def _given_between(history: History, one: RoleSpan, two: RoleSpan) -> Iterator[Epoch]:
    """Yield the epochs since a role, up to the next one, that were sent to the replica as an elected ISR member.

    Those that it led itself are left out: it has lines about them.
    """
    since = (epoch for epoch in history.taken_up if one.epoch < epoch.epoch <= two.epoch)
    return (epoch for epoch in since if epoch.leader != one.replica and epoch.elected_with(one.replica))


def next_start(history: History, broker: int, number: int, hw: int) -> int | None:
    """Return the least offset below a high watermark at which a later epoch can have begun; None if there is none.

    The epochs that count are those in which the replica may have reached the high watermark. If its files show the
    leader epochs of its log, there is none. Before message format v2 they do not.
    """
    disk = history.facts.disks.get(broker, NO_DISK)
    if disk.end is not None and disk.lineage.entries:
        return None
    later = [epoch for epoch in history.taken_up if epoch.epoch > number]
    later = [one for one in _that_reached(history, later, hw) if not _fetched_none(history, broker, hw, one)]
    return _start_below(later, hw)


def _fetched_none(history: History, broker: int, hw: int, epoch: Epoch) -> bool:
    """Return whether a replica fetched none of the records below its high watermark under a later leader.

    This holds if its records right below the high watermark differ from that leader's. Up to 0.10 a new follower first
    truncates its log to its own high watermark (ReplicaManager.makeFollowers), so it would have fetched all records
    between that and a higher one.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    ends = [history.facts.disks.get(one, NO_DISK).end or 0 for one in (broker, leader)]
    last = min(hw, ends[1]) - 1
    return ends[0] >= hw and any(first <= last < end for first, end in history.facts.diverging_ranges(broker, leader))
