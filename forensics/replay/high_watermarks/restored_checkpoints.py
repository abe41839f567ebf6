"""High watermarks that fell between two processes of a leader: the next one read a lower value than was written."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.coverage import Printed
from forensics.replay.history import History, HwStatement, Regression, RegressionKind, Role
from forensics.replay.roles.steps import RoleSpan, StepKind


def restored_checkpoints(history: History, brokers: Mapping[int, BrokerFacts]) -> list[Regression]:
    """Return high watermarks that a clean shutdown wrote and that were lower when they were read back.

    A leader's own high watermark never falls within its epoch, and it is at least the value that its followers received
    from it. A process that logged its shutdown stopped cleanly if the next one did not recover its log: then everything
    had been flushed. That no line shows a recovery proves something only if the broker's lines about its log are whole.
    Only of Kafka it is known that a clean stop writes the file (ReplicaManager.shutdown).
    """
    found = []
    for broker, spans in history.role_spans.items():
        if not history.coverage.has(broker, Printed.LOG) or brokers[broker].other_system:
            continue
        for one, two in itertools.pairwise(spans):
            written = _end_at_shutdown(history, broker, one)
            # If it continued in its epoch, a high watermark of that epoch may have been reached later.
            if written is None or two.start_hw is None or two.epoch == one.epoch:
                continue
            before, statement = _reached(history, one.epoch, written)
            if statement is not None and two.start_hw.value < before:
                after, refs = two.start_hw, (*statement.refs[:1], two.start_hw.ref)
                found.append(
                    Regression(broker, one.epoch, before, after.value, RegressionKind.CHECKPOINT, after.time, refs)
                )
    return found


def _end_at_shutdown(history: History, broker: int, role_span: RoleSpan) -> int | None:
    """Return the log end offset that the only leader of an epoch had as its process stopped cleanly.

    None if it did not lead alone, did not stop cleanly, or wrote nothing in that role.
    """
    if role_span.shut_down is None or role_span.role is not Role.LEADER or len(role_span.steps) != 1:
        return None
    if role_span.epoch in history.contested or history.epochs[role_span.epoch].leader != broker:
        return None
    [load] = role_span.steps
    loaded = load.kind is StepKind.LOADED and load.before is None
    grown = loaded and role_span.start_end is not None and load.target > role_span.start_end
    return load.target if grown else None


def _reached(history: History, epoch: int, end: int) -> tuple[int, HwStatement | None]:
    """Return the greatest high watermark within a log that lines or files state for an epoch, and the statement."""
    stated = [s for s in history.statements if s.epoch == epoch and not s.implied]
    return max(((min(s.high_watermark, end), s) for s in stated), key=lambda one: one[0], default=(0, None))
