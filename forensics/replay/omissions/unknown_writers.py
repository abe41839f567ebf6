"""Records that no known leader can have written: a leader that no line names wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.coverage import MissingLines, Omission, Span
from forensics.replay.facts.partition_facts import Fork
from forensics.replay.history import History

ONE_LEADER_WROTE_TWICE = Omission(
    "one-leader-wrote-twice",
    Span.AFTER,
    "brokers {left} and {right} hold different records at {first}, but only one leader is known",
    "a leader writes an offset once, unless it loses it while it leads (Log.append)",
)
UNKNOWN_WRITER = Omission(
    "unknown-writer",
    Span.AFTER,
    "no known leader wrote what broker {broker} holds at offset {first}",
    "leaders alone write; a record stays in the log of its writer until something shortens that (ReplicaManager)",
)

OMISSIONS = (ONE_LEADER_WROTE_TWICE, UNKNOWN_WRITER)
"""Evidence in diverging copies of leaders that no line names."""


def unknown_writers(history: History) -> Iterator[MissingLines]:
    """Yield replicas whose files hold records that no known leader wrote, and their offsets.

    Before message format v2 no record states its leader epoch. A leader wrote it nevertheless, and the record stays in
    that leader's log until something shortens the log. If all epochs from the first on are known, the missing leader
    came after them.
    """
    numbers = [number for number, epoch in history.epochs.items() if epoch.leader is not None]
    if history.epoch_rollbacks or history.contested or numbers != list(range(len(history.epochs))) or not numbers:
        return
    leaders = {e.leader for e in history.epochs.values() if e.leader is not None and e.leader >= 0}
    may_lose = len(numbers) == 1 and leaders.isdisjoint(history.coverage.whole_replicas())
    for fork in history.facts.forks:
        if may_lose and not _dated(fork):
            values = {"left": fork.left, "right": fork.right, "first": fork.ranges[0][0]}
            yield from (ONE_LEADER_WROTE_TWICE.of(broker, values) for broker in (fork.left, fork.right))
        yield from _unwritten(history, fork, leaders)


def _unwritten(history: History, fork: Fork, leaders: set[int]) -> Iterator[MissingLines]:
    """Yield the sides of a fork that none of some leaders can have written."""
    first = fork.ranges[0][0]
    for broker, batch in ((fork.left, fork.left_batch), (fork.right, fork.right_batch)):
        written = any(_may_have_written(history, leader, broker, first) for leader in leaders)
        if not written and not _has_epoch(batch):
            yield UNKNOWN_WRITER.of(broker, {"broker": broker, "first": first})


def _dated(fork: Fork) -> bool:
    """Return whether a batch on either side of a fork states its leader epoch."""
    return _has_epoch(fork.left_batch) or _has_epoch(fork.right_batch)


def _has_epoch(batch: tuple[int, int, int | None]) -> bool:
    return batch[2] is not None and batch[2] >= 0


def _may_have_written(history: History, leader: int, broker: int, offset: int) -> bool:
    """Return whether a replica's records at an offset may be those that another one wrote there as leader."""
    own = history.replicas.get(leader)
    pair = (min(leader, broker), max(leader, broker))
    if leader == broker or own is None or own.end is None or own.end <= offset or pair not in history.facts.compared:
        return True
    if not any(first <= offset < end for first, end in history.facts.diverging_ranges(leader, broker)):
        return True
    if not history.coverage.whole(leader):
        return True  # unknown what happened to its log
    spans = history.role_spans.get(leader, [])
    steps = [step for role_span in spans for step in role_span.steps]
    reopened = len({role_span.run for role_span in spans}) > 1 and not steps
    return reopened or any(step.target <= offset for step in steps)  # other records followed
