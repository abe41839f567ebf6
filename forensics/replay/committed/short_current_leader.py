"""Committed records that the last leader restarted without, or that no replica has, before any leader led without them.

If no other member of the last leader's ISR has them, no clean election restores them. Such evidence is collected during
an incident, when most records can still be saved.
"""

from __future__ import annotations

from forensics.replay.committed.proof import Loss, committed, stated_by
from forensics.replay.committed.surviving_copies import holders
from forensics.replay.facts.deletions import kept
from forensics.replay.history import History, ShortenedLog, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import merge, subtract


@once
def left_with_less(history: History) -> tuple[Loss, ShortenedLog] | None:
    """Return committed records that no copy in the evidence holds completely, and how the last leader's log was
    shortened.

    Records that no ISR member has count like records that no replica has: both are lost with the next clean election.
    """
    epoch = history.current
    if epoch is None or epoch.leader is None or history.epoch_rollbacks or epoch.epoch in history.contested:
        return None
    back = [s for s in history.shortened_logs if s.replica == epoch.leader and s.epoch >= epoch.epoch]
    if not back or epoch.last_isr is None:
        return None
    shortened = back[-1]
    proof = committed(history, epoch.lineage, shortened.target, shortened.end, replica=epoch.leader)
    ranges = kept(history, epoch.lineage, proof.ranges, epoch.epoch + 1)
    held = holders(history, epoch.lineage, ranges)
    for broker in epoch.last_isr & held.keys():
        ranges = subtract(ranges, held[broker])
    held = {broker: pieces for broker, pieces in holders(history, epoch.lineage, ranges).items() if pieces}
    if not subtract(ranges, merge(piece for pieces in held.values() for piece in pieces)):
        return None  # every record is in some copy
    return Loss(tuple(ranges), epoch, proof.statements, held, epoch.lineage), shortened


def in_no_copy(history: History) -> list[tuple[int, int]]:
    """Return committed records that the files of all replicas lack, by their own checkpoints.

    They are in the log that the partition serves. They are lost, unless the files were copied while the brokers ran.
    """
    epoch = history.current
    checkpoints = [r.checkpoint[0] for r in history.replicas.values() if r.checkpoint is not None and r.on_disk]
    ends = [replica.end for replica in history.replicas.values() if replica.end is not None]
    if epoch is None or history.epoch_rollbacks or not checkpoints or not ends or max(checkpoints) <= max(ends):
        return []
    proof = committed(history, epoch.lineage, max(ends), max(checkpoints))
    return kept(history, epoch.lineage, proof.ranges, epoch.epoch + 1)


@once
def in_no_log(history: History) -> Loss | None:
    """Return the committed records that no replica has at the end of a complete trace.

    The epoch is that of the high watermark: no leader began without them.
    """
    one = history.played.in_no_log if history.played is not None else None
    if one is None:
        return None
    first = one.commits[0]
    epoch = history.epochs.get(first.epoch) or Epoch(first.epoch, leader=first.replica)
    statements = tuple(stated_by(commit, one.lineage) for commit in one.commits)
    return Loss(one.ranges, epoch, statements, {}, one.lineage)
