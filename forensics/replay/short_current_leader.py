"""Committed records that the last leader came back without, while nobody has led without them yet.

As long as the ISR of the last leader names nobody else who has them, no clean election brings them back. Such evidence
is taken in the middle of an incident, when most can still be saved.
"""

from __future__ import annotations

from forensics.replay.committed import Loss, committed
from forensics.replay.deletions import kept
from forensics.replay.history import History, ShortenedLog
from forensics.replay.lineage import merge, subtract
from forensics.replay.surviving_copies import holders


def left_with_less(history: History) -> tuple[Loss, ShortenedLog] | None:
    """What was committed and lies in no log at hand in full any more, and how that of the last leader came back.

    Records that nobody in the ISR has count with those that nobody has at all: both go with the next clean election.
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
        return None  # somebody has each of them
    return Loss(tuple(ranges), epoch, proof.statements, held, epoch.lineage), shortened


def in_no_copy(history: History) -> list[tuple[int, int]]:
    """What the files of all replicas lack of what was committed in the log that the partition serves, by their own
    checkpoints: lost, unless the files were copied while their brokers ran.
    """
    epoch = history.current
    checkpoints = [r.checkpoint[0] for r in history.replicas.values() if r.checkpoint is not None and r.on_disk]
    ends = [replica.end for replica in history.replicas.values() if replica.end is not None]
    if epoch is None or history.epoch_rollbacks or not checkpoints or not ends or max(checkpoints) <= max(ends):
        return []
    proof = committed(history, epoch.lineage, max(ends), max(checkpoints))
    return kept(history, epoch.lineage, proof.ranges, epoch.epoch + 1)
