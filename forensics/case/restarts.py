"""Restarts of all brokers of a cluster within half a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from forensics.case.brokers import Broker
from forensics.case.case import Case
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC

SPAN: Final = 30_000_000
"""Longest time between the first and the last of the restarts, in microseconds."""
_MINUTE: Final = 60_000_000
MANY: Final = 2
"""Brokers from which on their restarts count."""


@dataclass(frozen=True, slots=True)
class Together:
    """Restarts of all brokers of a cluster.

    Attributes:
        brokers: their ids.
        first, last: when the first and the last of their processes began, microseconds since 1970 UTC.
        others: brokers of the cluster of which no line or file shows a replica; they do not count.
    """

    brokers: tuple[int, ...]
    first: int
    last: int
    others: tuple[int, ...] = ()


_OF_REPLICAS: Final = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER, Kind.LOG_LOADED, Kind.LOG_CREATED, Kind.LOG_DELETED)
"""Kinds of line that a broker logs about a replica of its own."""


def together(case: Case) -> list[Together]:
    """Return when all brokers of a cluster that have replicas restarted within half a minute, by their own lines.

    A broker without a replica counts where no broker has one by the evidence. The first start of a broker in the
    evidence is none: nothing shows that it ran before.

    Args:
        case: the evidence of one cluster.
    """
    brokers, others = _by_replicas(case)
    if len(brokers) < MANY or any(len(one.starts) < MANY for one in brokers):
        return []
    again = sorted((time, one.id) for one in brokers for time in sorted(one.starts)[1:])
    found: list[Together] = []
    for first, _ in again:
        one = _since(again, first, others)
        if len(one.brokers) < len(brokers):
            continue
        if not found or first > found[-1].last:
            found.append(one)
        elif one.last - one.first < found[-1].last - found[-1].first:
            found[-1] = one  # a broker restarted twice: the nearest of its starts counts
    return found


def controllers_too(case: Case, one: Together) -> list[int]:
    """Return the nodes of KRaft that are controllers alone and restarted within a minute of all brokers."""
    return sorted(
        node.id
        for node in case.brokers.values()
        if node.only_controls
        and any(one.first - _MINUTE <= time <= one.last + _MINUTE for time in sorted(node.starts)[1:])
    )


def apart(case: Case, found: Sequence[Together]) -> list[tuple[int, int]]:
    """Return the restarts of brokers that are none of all brokers together: time and broker, in the order of time."""
    together_ = {(one.first, one.last, broker) for one in found for broker in one.brokers}
    return sorted(
        (time, one.id)
        for one in case.brokers.values()
        if not one.only_controls
        for time in sorted(one.starts)[1:]
        if not any(first <= time <= last and one.id == broker for first, last, broker in together_)
    )


def _by_replicas(case: Case) -> tuple[list[Broker], tuple[int, ...]]:
    """Return the brokers of a cluster that have replicas, and the ids of the others; all of them if none has any."""
    brokers = [one for one in case.brokers.values() if not one.only_controls]
    kinds = pl.col("kind").is_in([kind.value for kind in _OF_REPLICAS])
    lines = case.observations.filter(kinds, pl.col("topic") != METADATA_TOPIC).get_column("broker")
    files = case.sources.filter(pl.col("topic") != METADATA_TOPIC, pl.col("base_offset").is_not_null())
    having = {*lines.drop_nulls().unique(), *files.get_column("broker").drop_nulls().unique()}
    mine = [one for one in brokers if one.id in having]
    if not mine:
        return brokers, ()
    return mine, tuple(sorted(one.id for one in brokers if one.id not in having))


def _since(again: Sequence[tuple[int, int]], first: int, others: tuple[int, ...]) -> Together:
    """Return the brokers that restarted from a moment on, until the longest time is over."""
    times: dict[int, int] = {}
    for time, broker in again:
        if first <= time <= first + SPAN:
            times.setdefault(broker, time)
    return Together(tuple(sorted(times)), first, max(times.values()), others)
