"""Logs in log directories that failed: the disk may still have records that no copy in the evidence has."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.history import History, Role
from forensics.replay.roles.steps import LogBefore, Step
from parsers.encodings.checkpoint_file import INT32_MAX, integer

_LAG, _LONGEST_LAG = "replica.lag.time.max.ms", 30_000
"""A setting of a leader, and its default since 2.5 in milliseconds: 10 s before (KIP-537)."""


def failed_directories(history: History) -> tuple[int, ...]:
    """Return brokers whose replica was created again after its log directory had failed: the old log may still be
    readable.
    """
    return tuple(
        broker
        for broker, spans in sorted(history.role_spans.items())
        if any(step.before is LogBefore.DIR_FAILED for role_span in spans for step in role_span.steps)
    )


def failed_logs(history: History, case: Case, first: int) -> dict[int, int]:
    """Return brokers whose failed log directory may have records from an offset on, the longest log first.

    The value is the log end offset that the log there is known to have reached.
    """
    found: dict[int, int] = {}
    for broker, spans in sorted(history.role_spans.items()):
        for role_span, step in ((one, step) for one in spans for step in one.steps):
            if step.before is LogBefore.DIR_FAILED and not _failed_before(history, case, role_span.epoch, step, first):
                found[broker] = max(found.get(broker, 0), step.known_end)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _failed_before(history: History, case: Case, epoch: int, step: Step, first: int) -> bool:
    """Return whether a log directory had failed before its leader wrote the records from an offset on.

    Every member of the ISR has reached the leader's log end offset within ``replica.lag.time.max.ms``, and the leader
    checks that twice in that time (ReplicaManager.maybeShrinkIsr). So a later high watermark covers the log end offset
    of one and a half of that time before.
    """
    written = history.epochs.get(epoch)
    leader = written.leader if written is not None else None
    broker = case.brokers.get(leader) if leader is not None else None
    lag = integer(broker.settings.get(_LAG, ""), most=INT32_MAX) if broker is not None else None
    since = (step.time or 0) + (lag if lag is not None else _LONGEST_LAG) * 1500
    spans = history.role_spans.get(leader, ()) if leader is not None and step.time is not None else ()
    marks = (span.hw for span in spans if span.epoch == epoch and span.role is Role.LEADER)
    return any(
        mark is not None and mark.time is not None and mark.time >= since and mark.value <= first for mark in marks
    )
