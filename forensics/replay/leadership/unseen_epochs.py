"""Leader epochs in which a replica may have had a role that no line of it names.

Between two of its roles it may have fetched or written records then. So from some offset on, the leader epochs of its
records are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.coverage import Doubt, Printed
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import isr_stated_by_leader
from forensics.replay.roles.steps import RoleSpan


def unknown_from(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """Return the offset from which records between two roles may be of another epoch than the earlier role's."""
    found = (passed_over(history, before, role_span), had_part(history, before, role_span))
    return min((offset for offset in found if offset is not None), default=None)


def passed_over(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """Return the offset from which the epochs of a replica's records are unknown, after epochs that its lines skip.

    Its process ran through these epochs, between two of its roles. Either it had a role in them, or it never received
    them. None if there is no such offset.
    """
    if before.run != role_span.run or before.epoch < 0 or before.loads:
        return None
    between = [
        epoch
        for epoch in history.epochs.between(before.epoch, role_span.epoch)
        if (epoch.leader is None or (epoch.leader_took_up and epoch.leader not in (-1, before.leader)))
    ]
    # The leader's own records are of its epoch. Of a follower, only the log at its start is known.
    known = before.end_low if before.role is Role.LEADER else before.start_low
    return min((max(known, epoch.start or 0) for epoch in between), default=None)


def had_part(history: History, before: RoleSpan, role_span: RoleSpan) -> int | None:
    """Return the same offset as ``passed_over``, for a replica that restarted between two roles.

    It may have had a role in an epoch in between if it was in the first ISR of that epoch, or if it led itself. An
    unknown ISR or leader counts too. So does a process in between that never logged that it loaded this log.
    """
    led: list[Epoch] = []
    for epoch in _since(history, before, role_span):
        low = _unknown_since(history, before, role_span, epoch)
        if low is not None:
            # It may have fetched the log that it restarted with since then, or since another leader began to write.
            return min([low, *(one.begins.low for one in led[:1])])
        if epoch.leader_took_up:
            led.append(epoch)
    unseen = role_span.run - before.run > max(1, len(before.loads))
    if unseen or any(_may_have_had_part(history, before, role_span, epoch) for epoch in led):
        return led[0].begins.low if led else None
    return None


def _unknown_since(history: History, before: RoleSpan, role_span: RoleSpan, epoch: Epoch) -> int | None:
    """Return the offset from which a replica's records are unknown because of an epoch; None if it is not.

    It may have had a role in it, and its own lines about that are missing, or those of all brokers. If only one epoch
    has no line, a leader that restarted may have been down in it.
    """
    if epoch.epoch in history.epochs:
        led_unseen = epoch.leader == before.replica and not epoch.leader_took_up
        return before.start_low if led_unseen and _may_have_led(history, before, role_span, epoch) else None
    down = before.role is Role.LEADER and epoch.epoch in history.coverage.unnamed
    return before.end_low if down else before.start_low


def _may_have_had_part(history: History, before: RoleSpan, role_span: RoleSpan, epoch: Epoch) -> bool:
    """Return whether a replica led in an epoch before its restart, or may have followed in it."""
    return epoch.leader == before.replica or _may_have_followed(history, before, role_span, epoch)


def _may_have_followed(history: History, before: RoleSpan, role_span: RoleSpan, epoch: Epoch) -> bool:
    """Return whether a replica may have followed in an epoch before its restart: as a member of its first ISR that was
    removed later, or without a line about it.
    """
    members = [isr for isr, _ in epoch.isr]
    out = epoch.epoch < role_span.epoch or any(before.replica not in isr for isr in members)
    return out and (not members or before.replica in members[0] or _joined_unseen(history, before, epoch))


def _joined_unseen(history: History, before: RoleSpan, epoch: Epoch) -> bool:
    """Return whether a replica may have joined the ISR of an epoch without a line about it: its own lines on that epoch
    may be missing, and the leader's lines are not all there.
    """
    stated = isr_stated_by_leader(history, epoch) or history.coverage.whole(epoch.leader)
    return not stated and _may_lack_lines(history, before, epoch)


def _since(history: History, before: RoleSpan, role_span: RoleSpan) -> Iterator[Epoch]:
    """Yield the epochs since one role of a replica in which it may have had another, before it had a later role.

    Epochs without a leader are left out, and the one of the later role if the replica leads in that.
    """
    leads = (before.replica, role_span.epoch)
    epochs = _between(history, before.epoch, role_span.epoch)
    return (epoch for epoch in epochs if epoch.leader != -1 and (epoch.leader, epoch.epoch) != leads)


def _between(history: History, first: int, last: int) -> Iterator[Epoch]:
    """Yield the epochs between two, the last one included; of one that no line names the leader is unknown.

    Skipped numbers do not count if a controller may have raised the epoch for each replica that it removed from the ISR
    (KafkaController.onReplicasBecomeOffline): it sends only the last of these.
    """
    before = history.epochs.get(first)
    for epoch in history.epochs.between(first, last + 1) if first >= 0 else ():
        since = before.epoch if before is not None else first
        taken = len((before.last_isr if before is not None else None) or ())
        unnamed = history.coverage.unnamed_between(since, epoch.epoch)
        yield from map(Epoch, unnamed or ([since + 1] if epoch.epoch - since - 1 > taken else ()))
        yield epoch
        before = epoch


def _may_lack_lines(history: History, before: RoleSpan, epoch: Epoch) -> bool:
    """Return whether lines on a later epoch may be missing of a process that has lines on one role.

    They may be missing if the coverage does not license silence about its roles. Two doubts count as well: the process
    may still have run when that epoch began, or its shutdown has no line.
    """
    coverage, replica, run = history.coverage, before.replica, before.run
    if not coverage.has(replica, Printed.ROLES):
        return True
    ran_on = coverage.in_doubt(Doubt.RAN_ON, epoch.epoch, replica, run)
    return ran_on or coverage.in_doubt(Doubt.STOP_UNSEEN, before.epoch, replica, run)


def _may_have_led(history: History, before: RoleSpan, role_span: RoleSpan, epoch: Epoch) -> bool:
    """Return whether a replica may have led an epoch between two of its roles that only others state.

    It may if lines of its process may be missing. It may also if the later role began with a high watermark above the
    offset at which another leader in between began.
    """
    if _may_lack_lines(history, before, epoch):
        return True
    starts = [
        other.start
        for number, other in history.epochs.items()
        if before.epoch < number < epoch.epoch and other.leader_took_up and other.leader != role_span.replica
    ]
    known = [start for start in starts if start is not None]
    return bool(known) and role_span.start_hw is not None and role_span.start_hw.value > min(known)
