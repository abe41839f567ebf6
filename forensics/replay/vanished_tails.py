"""Replicas that may have lost committed records without any line about it."""

from __future__ import annotations

from forensics.replay.committed import doubts
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
        for broker, disk in history.disks.items():
            spans = history.tenures.get(broker, [])
            served = any(
                broker in isr for n, epoch in history.epochs.items() if n <= doubt.before.epoch for isr, _ in epoch.isr
            )
            told = any(step.kind in (*REMOVES, StepKind.LOADED) for tenure in spans for step in tenure.steps)
            silent = bool(spans) and max(tenure.epoch for tenure in spans) < doubt.after.epoch
            if served and silent and not told and disk.end is not None and disk.end <= doubt.first:
                found.setdefault(broker, doubt.first)
    return found
