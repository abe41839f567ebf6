"""Replicas that may have lost committed records without any line about it."""

from __future__ import annotations

from forensics.replay.committed.proof import PossibleLoss, possible_losses
from forensics.replay.history import History
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
    earlier = (epoch for number, epoch in history.epochs.items() if number <= possible_loss.before.epoch)
    return any(broker in isr for epoch in earlier for isr, _ in epoch.isr)
