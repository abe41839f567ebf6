"""Truncations that cannot have removed committed records, although the log end offset before is unknown."""

from __future__ import annotations

from forensics.replay.committed.proof import committed_at_most
from forensics.replay.high_watermarks.crosscheck import may_have_left_isr
from forensics.replay.history import History, Role, Truncation
from forensics.replay.leader_epochs import Epoch
from forensics.replay.roles.steps import RoleSpan


def is_safe(history: History, truncation: Truncation) -> bool:
    """Return whether all records committed before a replica truncated were below the truncation's target.

    Records committed in earlier epochs are below the high watermark with which the former leader stepped down. In the
    epoch itself nothing more is committed before every member of the ISR has fetched from the new leader. See
    Partition.makeLeader, which resets the followers' state, and maybeIncrementLeaderHW. A member fetches
    only after it has truncated.
    """
    epoch = history.epochs.get(truncation.epoch)
    if (
        epoch is None
        or history.epoch_rollbacks
        or truncation.epoch in history.contested
        or not _counted(history, truncation, epoch)
    ):
        return False
    before = history.led_before(truncation.epoch)
    if before is None or before.epoch in history.contested or not _first(history, truncation, epoch):
        return False
    if history.coverage.unnamed_between(before.epoch, truncation.epoch):
        return False  # a leader that no line names may have committed more
    most = committed_at_most(history, before)
    return most is not None and most <= truncation.target


def _counted(history: History, truncation: Truncation, epoch: Epoch) -> bool:
    """Return whether the leader of an epoch counted a replica in its ISR all along, by its own lines."""
    if not (epoch.isr_from_leader and epoch.isr_elected):
        return False
    counted = all(truncation.replica in isr for isr, _ in epoch.isr)
    return counted and not may_have_left_isr(history, epoch, truncation.replica)


def _first(history: History, truncation: Truncation, epoch: Epoch) -> bool:
    """Return whether a replica truncated before it can have fetched anything from an epoch's leader."""
    spans = history.role_spans.get(truncation.replica, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == truncation.epoch]
    if not here or not history.coverage.whole(truncation.replica):
        return False
    now = spans[here[0]]
    first = bool(now.steps) and now.steps[0].refs == truncation.refs and now.role is Role.FOLLOWER
    before: RoleSpan | None = spans[here[0] - 1] if here[0] else None
    # A follower of the same broker already fetches from it before it receives the epoch.
    return first and before is not None and (before.run != now.run or before.leader != epoch.leader)
