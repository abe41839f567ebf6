"""Changes of the ISR that partition epochs (zkVersion) count, and that no line of the leader shows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch

ISR_CHANGE_NOT_STATED = Omission(
    "isr-change-not-stated",
    Span.WITHIN,
    "the partition epoch rose from {first} to {last} in leader epoch {epoch}, but its lines show {shown} of these "
    "changes of the ISR",
    "Partition.updateIsr: with ZooKeeper only the leader changes the state within its epoch, and it logs each change",
    frozenset((Printed.LOG,)),
)

OMISSIONS = (ISR_CHANGE_NOT_STATED,)
"""Evidence in the numbers of partition epochs that lines of a leader are missing."""


def isr_changes_not_stated(history: History) -> Iterator[MissingLines]:
    """Yield leaders that changed the ISR within one leader epoch more often than their lines show.

    Each change of a partition's state raises the partition epoch by one. With ZooKeeper, controllers raise the leader
    epoch with each of theirs. With KRaft they may not (KAFKA-15021), so their changes look like those of the leader:
    ``doubts`` counts those.
    """
    if history.protocol.maybe_kraft:
        return
    for epoch in history.epochs.values():
        found = _of_epoch(history, epoch)
        if found is not None:
            yield found


def _of_epoch(history: History, epoch: Epoch) -> MissingLines | None:
    numbers = history.states.of(epoch.epoch)
    leader = epoch.leader
    if leader is None or leader < 0 or epoch.other_leaders or not epoch.isr_from_leader or not numbers:
        return None
    if not history.coverage.are_about(leader, Printed.LOG):
        return None  # the whole file is not there
    shown = sum(one != two for (one, _), (two, _) in itertools.pairwise(epoch.isr))
    skipped, (first, last) = _skipped(history, epoch.epoch), (numbers[0], numbers[-1])
    if skipped is None and last - first <= shown:
        return None
    if skipped is not None:
        first, last, shown = *skipped, 1
    values = {"first": first, "last": last, "shown": shown}
    return ISR_CHANGE_NOT_STATED.of(leader, values, ref=epoch.isr[-1][1], epoch=epoch.epoch)


def _skipped(history: History, epoch: int) -> tuple[int, int] | None:
    """Return two partition epochs that a leader committed one after the other and that are not adjacent, or None.

    A partition is created with partition epoch 0 in leader epoch 0.
    """
    numbers = sorted({*history.isr_commits.get(epoch, ()), *([0] if epoch == 0 else [])})
    apart = ((one, two) for one, two in itertools.pairwise(numbers) if two - one > 1)
    return next(apart, None)
