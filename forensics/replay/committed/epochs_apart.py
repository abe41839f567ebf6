"""Different leader epochs of two replicas at offsets below both high watermarks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from forensics.replay.facts.partition_facts import Fork
from forensics.replay.history import History, ShortenedBy
from forensics.replay.lineage import Range, differences, subtract


@dataclass(frozen=True, slots=True)
class EpochsApart:
    """Two replicas whose complete traces give offsets different leader epochs, or may do so.

    Attributes:
        replicas: broker ids.
        ranges: offsets with different leader epochs.
        undecided: offsets with an unknown leader epoch in one of the logs, if none differ.
    """

    replicas: tuple[int, int]
    ranges: tuple[Range, ...]
    undecided: tuple[Range, ...] = ()


def apart_by_lines(history: History) -> list[EpochsApart]:
    """Return the pairs of replicas whose lines imply different leader epochs, or do not exclude them.

    Only traces that claim to state every change of both replicas imply what a log holds.
    """
    claimed = sorted(history.coverage.claimed & history.replicas.keys())
    found = (_compared(history, one, two) for one, two in itertools.combinations(claimed, 2))
    return [one for one in found if one.ranges or one.undecided]


def _compared(history: History, one: int, two: int) -> EpochsApart:
    logs = [history.replicas[broker].lineage for broker in (one, two)]
    end = min(_committed_end(history, broker) for broker in (one, two))
    differ, unknown = differences(logs[0], logs[1], 0, end)
    lacking = [span for broker in (one, two) for span in history.facts.without_records.get(broker, ())]
    ranges = tuple(subtract(differ, lacking))
    return EpochsApart((one, two), ranges, () if ranges else tuple(unknown))


def _committed_end(history: History, broker: int) -> int:
    """Return the high watermark with which the lines of a replica end, within its log as it was found last."""
    looks = (one for one in history.shortened_logs if one.cause in (ShortenedBy.LATER_LOOK, ShortenedBy.DIR_FAILURE))
    return min([_high_watermark(history, broker), *(one.target for one in looks if one.replica == broker)])


def _high_watermark(history: History, broker: int) -> int:
    """Return the high watermark with which the lines of a replica end, within its log."""
    for role_span in reversed(history.role_spans.get(broker, ())):
        stated = [sample.value for sample in (role_span.hw, role_span.start_hw) if sample is not None]
        if stated:
            return min([max(stated), *(step.target for step in role_span.steps)])
    return 0


@dataclass(frozen=True, slots=True)
class BatchesApart:
    """A difference between segments whose first batches have two leader epochs.

    Attributes:
        fork: the difference.
        epochs: leader epoch of the first differing batch of either side.
        committed: it begins below the checkpointed high watermark of both replicas.
        unchecked: replicas without a checkpointed high watermark.
    """

    fork: Fork
    epochs: tuple[int, int]
    committed: bool
    unchecked: tuple[int, ...]


def apart_by_batches(history: History) -> list[BatchesApart]:
    """Return the differences between segments that begin with batches of two leader epochs."""
    found = []
    for fork in history.facts.forks:
        one, two = fork.left_batch[2], fork.right_batch[2]
        if one is None or two is None or one == two:
            continue
        marks = {broker: history.replicas[broker].checkpoint for broker in (fork.left, fork.right)}
        known = [mark[0] for mark in marks.values() if mark is not None]
        unchecked = tuple(broker for broker, mark in marks.items() if mark is None)
        committed = not unchecked and fork.ranges[0][0] < min(known)
        found.append(BatchesApart(fork, (one, two), committed, unchecked))
    return found
