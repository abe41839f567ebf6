"""Replicas that may have lost committed records without any line about it."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.committed.proof import Loss, PossibleLoss, losses, possible_losses
from forensics.replay.history import History
from forensics.replay.lineage import Range
from forensics.replay.roles.steps import REMOVES, StepKind


def vanished_tails(history: History) -> dict[int, int]:
    """Return replicas that may have held committed records from an offset on and lack them now: broker id to offset.

    They were in the ISR, so they had all records committed then. From the offset on it is unknown whether committed
    records are lost. Their files do not reach beyond it, and their lines end earlier without a truncation. If they lost
    any records, the lines about that are missing.
    """
    found: dict[int, int] = {}
    for possible_loss in possible_losses(history):
        for broker in history.facts.disks:
            if _may_have_lost(history, broker, possible_loss):
                found.setdefault(broker, possible_loss.first)
    return found


def _may_have_lost(history: History, broker: int, possible_loss: PossibleLoss) -> bool:
    """Return whether a former ISR member ends below the doubtful offsets, and its lines end earlier without a loss."""
    spans, end = history.role_spans.get(broker, []), history.facts.disks[broker].end
    if (
        not spans
        or end is None
        or end > possible_loss.first
        or max(role_span.epoch for role_span in spans) >= possible_loss.after.epoch
    ):
        return False
    if any(step.kind in (*REMOVES, StepKind.LOADED) for role_span in spans for step in role_span.steps):
        return False
    earlier = history.epochs.before(possible_loss.before.epoch + 1)
    return any(broker in isr for epoch in earlier for isr, _ in epoch.isr)


@dataclass(frozen=True, slots=True)
class GoneUnseen:
    """Lost records that a replica once held, and that it may have truncated: no line shows how they went.

    Attributes:
        replica: broker id.
        ranges: their offsets.
    """

    replica: int
    ranges: tuple[Range, ...]


def gone_unseen(history: History) -> list[GoneUnseen]:
    """Return lost records of replicas whose files are missing, and whose lines show no loss of them.

    Nothing shows such a replica with records of the leader that lacked them, or of a later one. With such records it
    has reconciled with that leader, and its lines show how.
    """
    return [
        GoneUnseen(broker, loss.ranges)
        for loss in losses(history)[0]
        for broker in sorted({one.replica for one in loss.statements} - {loss.epoch.leader, *loss.holders})
        if _never_reconciled(history, broker, loss.epoch.epoch) and not _is_removed(history, broker, loss)
    ]


def _never_reconciled(history: History, broker: int, epoch: int) -> bool:
    """Return whether a replica without files in the evidence is not shown with records of an epoch or a later one."""
    replica = history.replicas.get(broker)
    if replica is None or replica.on_disk:
        return False
    return not replica.lineage.entries or replica.lineage.entries[-1][0] < epoch


def _is_removed(history: History, broker: int, loss: Loss) -> bool:
    """Return whether a truncation or a shorter log of a replica explains that it does not have lost records."""
    truncations = (*history.truncations, *history.truncations_of_unknown_extent)
    targets = [one.target for one in truncations if one.replica == broker]
    targets += [one.target for one in history.shortened_logs if one.replica == broker]
    return any(target < loss.ranges[-1][1] for target in targets)
