"""High watermarks that fell between two processes of a leader: the next one read a lower value than was written."""

from __future__ import annotations

import itertools

from forensics.replay.history import History, Regression, RegressionKind, Role
from forensics.replay.roles.steps import StepKind


def restored_checkpoints(history: History) -> list[Regression]:
    """Return high watermarks that a clean shutdown wrote and that were lower when they were read back.

    A leader's own high watermark never falls within its epoch, and it is at least the value that its followers received
    from it. A shutdown was clean if the process logged that, or if the log needed no recovery: then everything had been
    flushed.
    """
    found = []
    for broker, spans in history.role_spans.items():
        for one, two in itertools.pairwise(spans):
            loads = [step for step in one.steps if step.kind is StepKind.LOADED and step.before is None]
            grown = one.start_end is not None and bool(loads) and loads[0].target > one.start_end
            if one.shut_down is None or one.role is not Role.LEADER or len(one.steps) != 1:
                continue
            if not grown or two.start_hw is None:
                continue
            if two.epoch == one.epoch:
                continue  # it continued in its epoch, so a high watermark of this epoch may have been reached later
            if one.epoch in history.contested or history.epochs[one.epoch].leader != broker:
                continue
            known = [
                (min(s.high_watermark, loads[0].target), s)
                for s in history.statements
                if s.epoch == one.epoch and not s.implied
            ]
            before, statement = max(known, key=lambda one: one[0], default=(0, None))
            if statement is None or two.start_hw.value >= before:
                continue
            refs = (*statement.refs[:1], two.start_hw.ref)
            found.append(
                Regression(
                    broker, one.epoch, before, two.start_hw.value, RegressionKind.CHECKPOINT, two.start_hw.time, refs
                )
            )
    return found
