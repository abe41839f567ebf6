"""Replicas that may have lost committed records without any line about it."""

from __future__ import annotations

from forensics.replay.committed import Doubt, doubts
from forensics.replay.history import History
from forensics.replay.steps import REMOVES, StepKind


def vanished_tails(history: History) -> dict[int, int]:
    """Replicas that may have held committed records from an offset on, and do not hold them now: broker id to offset.

    They were in the ISR, so they had what was committed then. From the offset on it is not known whether committed
    records are gone. Their files do not reach beyond it, and their lines end before and say of no truncation. If they
    lost any, the lines on that are missing.
    """
    found: dict[int, int] = {}
    for doubt in doubts(history):
        for broker in history.disks:
            if _may_have_lost(history, broker, doubt):
                found.setdefault(broker, doubt.first)
    return found


def _may_have_lost(history: History, broker: int, doubt: Doubt) -> bool:
    """Whether a replica that was in the ISR ends below what is in doubt, and its lines end before and say no loss."""
    spans, end = history.tenures.get(broker, []), history.disks[broker].end
    if not spans or end is None or end > doubt.first or max(tenure.epoch for tenure in spans) >= doubt.after.epoch:
        return False
    if any(step.kind in (*REMOVES, StepKind.LOADED) for tenure in spans for step in tenure.steps):
        return False
    earlier = (epoch for number, epoch in history.epochs.items() if number <= doubt.before.epoch)
    return any(broker in isr for epoch in earlier for isr, _ in epoch.isr)
