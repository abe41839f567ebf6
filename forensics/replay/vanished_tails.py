"""Replicas that may have lost committed records without any line about it."""

from __future__ import annotations

from forensics.replay.committed import PossibleLoss, possible_losses
from forensics.replay.history import History
from forensics.replay.steps import REMOVES, StepKind


def vanished_tails(history: History) -> dict[int, int]:
    """Replicas that may have held committed records from an offset on, and do not hold them now: broker id to offset.

    They were in the ISR, so they had what was committed then. From the offset on it is not known whether committed
    records are gone. Their files do not reach beyond it, and their lines end before and say of no truncation. If they
    lost any, the lines on that are missing.
    """
    found: dict[int, int] = {}
    for possible_loss in possible_losses(history):
        for broker in history.disks:
            if _may_have_lost(history, broker, possible_loss):
                found.setdefault(broker, possible_loss.first)
    return found


def _may_have_lost(history: History, broker: int, possible_loss: PossibleLoss) -> bool:
    """Whether a replica that was in the ISR ends below what is in doubt, and its lines end before and say no loss."""
    spans, end = history.role_spans.get(broker, []), history.disks[broker].end
    if (
        not spans
        or end is None
        or end > possible_loss.first
        or max(role_span.epoch for role_span in spans) >= possible_loss.after.epoch
    ):
        return False
    if any(step.kind in (*REMOVES, StepKind.LOADED) for role_span in spans for step in role_span.steps):
        return False
    earlier = (epoch for number, epoch in history.epochs.items() if number <= possible_loss.before.epoch)
    return any(broker in isr for epoch in earlier for isr, _ in epoch.isr)
