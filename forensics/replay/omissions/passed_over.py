"""Leader epochs that nothing names, between two of which a live broker has lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.epochs import at_once
from forensics.replay.history import History
from forensics.replay.steps import StepKind

EPOCH_PASSED_OVER = Omission(
    "epoch-passed-over",
    Span.WITHIN,
    "they go on from leader epoch {before} to {after}, and nothing names epoch {epoch}",
    "controllers with ZooKeeper send LeaderAndIsr of each epoch to every live replica (ControllerBrokerRequestBatch)",
)

OMISSIONS = (EPOCH_PASSED_OVER,)
"""What the numbers of leader epochs show of a live broker's lines."""


def passed_over(history: History) -> Iterator[MissingLines]:
    """Replicas of which one process has lines on leader epochs before and after one that nothing names: it was told of
    that one too, as controllers with ZooKeeper tell every live replica.

    Several epochs come in one request where they take several replicas from the ISR of a leader that lives on
    (KafkaController.onReplicasBecomeOffline). The request itself is printed at TRACE alone.
    """
    for broker, spans in history.tenures.items():
        for one, two in itertools.pairwise(spans):
            between = [number for number in sorted(history.coverage.unnamed) if one.epoch < number < two.epoch]
            gone = any(step.kind is StepKind.DELETED for step in one.steps)
            if not between or one.epoch < 0 or one.run != two.run or gone or not two.refs:
                continue
            before, after = history.epochs[one.epoch], history.epochs[two.epoch]
            if before.by_request and after.by_request and not at_once(before, after):
                yield EPOCH_PASSED_OVER.of(
                    broker, {"before": one.epoch, "after": two.epoch}, ref=two.refs[0], epoch=between[0]
                )
                break
