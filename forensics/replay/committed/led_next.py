"""Members of the ISR that truncated to their own high watermark as followers, and led next (KIP-101).

The high watermark of a follower is behind that of its leader by one fetch. What it truncates may be committed, and it
is lost if the leader fails before the follower has fetched it again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from forensics.replay.committed.lost_by import LostBy, lost_by, truncated_before
from forensics.replay.committed.proof import CommittedProof, losses
from forensics.replay.history import History, Truncation, TruncationReason, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Range, intersect, merge, same

_MINUTE: Final = 60_000_000
"""Microseconds. A member of the ISR fetches within replica.lag.time.max.ms, 10 or 30 s; so after a minute it had."""


def led_next(history: History, one: Truncation) -> Epoch | None:
    """Return the leader epoch that a replica led next, if it truncated to its own high watermark as a member of the
    ISR.

    None otherwise, or if a leader in between may be missing.
    """
    if one.reason is not TruncationReason.HIGH_WATERMARK:
        return None
    return led_after(history, one.replica, one.epoch, one.time)


def led_after(history: History, replica: int, epoch: int, time: int | None) -> Epoch | None:
    """Return the leader epoch that a replica led next after it truncated in another one as a member of the ISR.

    Args:
        history: the partition.
        replica: broker id.
        epoch: leader epoch in which it truncated.
        time: when it truncated, in microseconds since 1970 UTC, or None.
    """
    led = _taken_up(history)
    at = bisect_right(led, epoch, key=lambda one: one.epoch)
    after = led[at] if at < len(led) else None
    if after is None or after.leader != replica or not _stayed_in_isr(history.epochs.get(epoch), replica):
        return None
    return after if time is None or after.time is None or after.time - time < _MINUTE else None


@once
def _taken_up(history: History) -> Sequence[Epoch]:
    return history.taken_up


def lost_as_leader(history: History, one: Truncation) -> CommittedProof:
    """Return what a truncation removed of records that the partition lost as the replica led next.

    The ISR had the replica throughout, so that the records were committed before it truncated: after that only records
    are committed that it has fetched again, and nothing else shows how it lost them.
    """
    ranges: list[Range] = []
    proof: CommittedProof = CommittedProof((), ())
    after = led_next(history, one)
    for loss in losses(history)[0] if after is not None else ():
        if loss.epoch is not after or loss.while_leading or not loss.statements:
            continue
        offset, since = loss.ranges[0][0], loss.statements[0].epoch
        cuts = truncated_before(history, loss.epoch, offset, since)
        if cuts[-1:] == [one] and lost_by(history, loss.epoch, offset, since) is LostBy.HW_TRUNCATION:
            ranges += same(one.lineage, loss.lineage, intersect(loss.ranges, [(one.target, one.end)]))
            proof = CommittedProof(tuple(merge(ranges)), (*proof.statements, *loss.statements))
    return proof


def _stayed_in_isr(epoch: Epoch | None, replica: int) -> bool:
    """Return whether each ISR that is known of an epoch has a replica, which followed another one in it."""
    if epoch is None or epoch.leader in (None, -1, replica):
        return False
    return bool(epoch.isr) and all(replica in isr for isr, _ in epoch.isr)
