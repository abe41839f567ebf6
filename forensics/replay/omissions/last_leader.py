"""The last leader that the evidence names: is it the last one that the partition had?"""

from __future__ import annotations

from forensics.replay.coverage import MissingLines, Printed, Span
from forensics.replay.history import History
from forensics.replay.omissions import controllers, unknown_writers


def last_leader(history: History, with_data: frozenset[int]) -> int | None:
    """Return the leader whose log the partition serves at the end of the evidence; None if it is unknown.

    A leader that truncated in a role that no line names did not lead to the end.

    Args:
        history: the partition.
        with_data: brokers with a data directory in the evidence.
    """
    current = history.current
    if current is None or current.other_leaders or history.epoch_rollbacks:
        return None
    truncations = (*history.truncations, *history.truncations_of_unknown_extent)
    if any(one.replica == current.leader and one.epoch < 0 for one in truncations):
        return None
    return current.leader if _is_last(history, with_data, current.leader) else None


def _is_last(history: History, with_data: frozenset[int], leader: int | None) -> bool:
    """Return whether no leader can have followed the last one that the evidence names.

    Either the roles of every replica are in the evidence to the end, or the controllers' elections are.
    """
    if led_unnamed(history):
        return False
    return not roles_not_seen(history) or elections_complete(history, leader, maybe_controllers(history, with_data))


def roles_not_seen(history: History) -> list[int]:
    """Return replicas whose own lines on their roles are not in the evidence, or not all of them."""
    waiting = _waiting(history)
    return sorted(
        broker
        for broker in history.members
        if broker in waiting or not history.coverage.has(broker, Printed.ROLES, *Span)
    )


def _waiting(history: History) -> frozenset[int]:
    """Return replicas that start while the partition has no leader: the next one is elected after all these lines."""
    last = history.epochs.get(max(history.epochs, default=-1))
    return history.facts.starting if last is not None and last.leader == -1 else frozenset()


def led_unnamed(history: History) -> dict[int, MissingLines]:
    """Return the replicas whose records show a last leader that no line names, and what shows it."""
    return history.coverage.shown_missing_by(*unknown_writers.OMISSIONS)


def maybe_controllers(history: History, with_data: frozenset[int]) -> list[int]:
    """Return replicas whose brokers are not in the evidence at all, and may have been the next controller.

    With ZooKeeper any broker is one, once the one before has died. Where the data of a broker is there, its files know
    each epoch that it led in.
    """
    if history.protocol.kraft:
        return []
    return sorted(b for b in history.members - with_data if history.coverage.is_silent(b))


def elections_complete(history: History, leader: int | None, electors: list[int]) -> bool:
    """Return whether lines of controllers name each leader up to the end of the evidence.

    Controllers log no lines of a replica, so the coverage does not say where theirs end. They count to the end only if
    the last leader's own lines do.

    Args:
        history: the partition.
        leader: the last leader that the evidence names.
        electors: brokers without any evidence that may have been the next controller.
    """
    lacking = history.coverage.shown_missing_by(*controllers.OMISSIONS) or _waiting(history)
    if not history.coverage.elections or electors or lacking or _ends_open(history):
        return False
    return history.coverage.has(leader, Printed.ROLES, Span.AFTER)


def _ends_open(history: History) -> bool:
    """Return whether lines of a replica's last role are missing, and no later epoch is known.

    The controller's lines may end there too.
    """
    latest = max({*history.epochs, *history.states.leader_epochs})
    last = history.epochs.get(latest)
    ends = (spans[-1] for spans in history.role_spans.values() if spans)
    return any(
        history.coverage.missing_in(end.replica, end.epoch, end.run, since=end.last_change)
        for end in ends
        if end.epoch >= latest or (last is not None and last.leader == end.replica)
    )
