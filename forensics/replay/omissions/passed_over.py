"""Leader epochs that no line names, between two epochs for which a running broker has lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.history import History
from forensics.replay.leadership.epochs import at_once
from forensics.replay.roles.steps import RoleSpan, StepKind

EPOCH_PASSED_OVER = Omission(
    "epoch-passed-over",
    Span.WITHIN,
    "its lines go from leader epoch {before} to {after}, but no line names epoch {epoch}",
    "controllers with ZooKeeper send LeaderAndIsr of each epoch to every live replica (ControllerBrokerRequestBatch)",
)

OMISSIONS = (EPOCH_PASSED_OVER,)
"""Evidence in the numbers of leader epochs that lines of a running broker are missing."""


def passed_over(history: History) -> Iterator[MissingLines]:
    """Yield replicas with lines of one process about epochs before and after one that no line names.

    The process received that epoch too, because controllers with ZooKeeper send it to every live replica. Several
    epochs come in one request if they remove several replicas from the ISR of a live leader
    (KafkaController.onReplicasBecomeOffline). The request itself is printed at TRACE only.
    """
    for broker, spans in history.role_spans.items():
        found = (one for pair in itertools.pairwise(spans) if (one := _between(history, broker, *pair)) is not None)
        yield from itertools.islice(found, 1)


def _between(history: History, broker: int, one: RoleSpan, two: RoleSpan) -> MissingLines | None:
    """Return the missing lines between two adjacent roles of a replica, or None."""
    between = history.coverage.unnamed_between(one.epoch, two.epoch)
    if not between or one.epoch < 0 or one.run != two.run or not two.refs:
        return None
    if any(step.kind is StepKind.DELETED for step in one.steps):
        return None
    before, after = history.epochs[one.epoch], history.epochs[two.epoch]
    if not (before.by_request and after.by_request) or at_once(before, after):
        return None
    values = {"before": one.epoch, "after": two.epoch}
    return replace(EPOCH_PASSED_OVER.of(broker, values, ref=two.refs[0], epoch=between[0]), placed=True)
