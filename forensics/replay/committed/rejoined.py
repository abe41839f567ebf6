"""Replicas that lost records at the end of their logs, and have again what was committed since they rejoined an ISR.

A follower joins the ISR once it has everything below its leader's high watermark (Partition.maybeExpandIsr). So it has
again what was committed before if the leader had all of that.
"""

from __future__ import annotations

import itertools

from forensics.replay.committed.proof import has_all_committed, rejoined_isr
from forensics.replay.coverage import Printed, Span
from forensics.replay.history import Epoch, History, ShortenedLog


def has_committed_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica joined an ISR after its log was found shorter, and so has again what was committed.

    Every leader since must have had all records committed before. If one of them was elected from outside the ISR, or
    if the evidence does not decide, this is False. It is also False if a later change of the replica's log may have no
    line. If the replica's files are in the evidence, they decide and not its ISR: then this is False too.
    """
    broker, before = shortened.replica, history.epochs.get(shortened.epoch)
    if history.replicas[broker].on_disk or before is None or history.coverage.unnamed:
        return False
    if any(one.replica == broker and one.epoch > shortened.epoch for one in history.shortened_logs):
        return False
    if not history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER):
        return False
    later = [one for number, one in history.epochs.items() if number > before.epoch and one.leader not in (None, -1)]
    joined = any(_joined(broker, one) for one in later) or _rejoined_after_restart(history, shortened)
    return joined and all(has_all_committed(history, before, one) for one in later)


def _joined(broker: int, epoch: Epoch) -> bool:
    """Return whether a leader states that it added a replica to the ISR."""
    isrs = [isr for isr, _ in epoch.isr] if epoch.isr_from_leader else []
    return any(broker not in out and broker in into for out, into in itertools.pairwise(isrs))


def _rejoined_after_restart(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica rejoined the ISR after the restart at which its log was found shorter."""
    spans, last = history.role_spans.get(shortened.replica, []), history.current
    found = [at for at, span in enumerate(spans) if any(step.refs == shortened.refs for step in span.steps)]
    return bool(found) and last is not None and rejoined_isr(history, spans, found[-1], last)
