"""Truncations that can have removed nothing committed, though no line tells how long the log was before."""

from __future__ import annotations

from forensics.replay.committed import committed_at_most
from forensics.replay.crosscheck import may_have_left_isr
from forensics.replay.history import Epoch, History, Role, Truncation
from forensics.replay.steps import RoleSpan


def is_safe(history: History, truncation: Truncation) -> bool:
    """Whether all that was committed when a replica truncated its log lay below the target.

    What was committed before its epoch is known to lie below where the leader before says with which high watermark it
    gave way. In the epoch itself nothing more is committed before every member of the ISR has fetched from the new
    leader (Partition.makeLeader forgets what it knew of its followers, maybeIncrementLeaderHW counts the ISR), and a
    member fetches once it has truncated.
    """
    epoch = history.epochs.get(truncation.epoch)
    if (
        epoch is None
        or history.epoch_rollbacks
        or truncation.epoch in history.contested
        or not _counted(history, truncation, epoch)
    ):
        return False
    earlier = [
        e for n, e in sorted(history.epochs.items()) if n < truncation.epoch and e.leader is not None and e.leader >= 0
    ]
    if not earlier or earlier[-1].epoch in history.contested or not _first(history, truncation, epoch):
        return False
    most = committed_at_most(history, earlier[-1])
    return most is not None and most <= truncation.target


def _counted(history: History, truncation: Truncation, epoch: Epoch) -> bool:
    """Whether the leader of an epoch counted a replica in its ISR all along, as it says itself."""
    if not (epoch.isr_from_leader and epoch.isr_elected):
        return False
    counted = all(truncation.replica in isr for isr, _ in epoch.isr)
    return counted and not may_have_left_isr(history, epoch, truncation.replica)


def _first(history: History, truncation: Truncation, epoch: Epoch) -> bool:
    """Whether a replica truncated before it can have fetched anything from the leader of an epoch."""
    spans = history.role_spans.get(truncation.replica, [])
    here = [position for position, role_span in enumerate(spans) if role_span.epoch == truncation.epoch]
    if not here or not history.coverage.whole(truncation.replica):
        return False
    now = spans[here[0]]
    first = bool(now.steps) and now.steps[0].refs == truncation.refs and now.role is Role.FOLLOWER
    before: RoleSpan | None = spans[here[0] - 1] if here[0] else None
    # Whoever follows the same broker already fetches from it before it is told of the epoch.
    return first and before is not None and (before.run != now.run or before.leader != epoch.leader)
