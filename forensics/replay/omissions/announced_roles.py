"""Logs that end before all roles that they announce: a copy that broke off, a full disk, or a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

import polars as pl

from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from parsers.file_reading import roles_due
from parsers.text.broker_log import NAME as LOG

ROLES_ANNOUNCED = Omission(
    "roles-announced",
    Span.AFTER,
    "its state-change.log ends before it names {count} of the roles that it announces last",
    "ReplicaManager.applyDelta and becomeLeaderOrFollower print how many partitions get a role, then each of them",
    frozenset({Printed.ROLES}),
)
OMISSIONS = (ROLES_ANNOUNCED,)


def due(sources: pl.DataFrame) -> Mapping[int, int]:
    """Return for brokers whose log ends so, how many roles it does not name."""
    logs = sources.filter(
        pl.col("format") == LOG,
        pl.col("broker").is_not_null(),
        pl.col("roles_due").is_not_null() | (pl.col("roles_begun") > 0),
    )
    parts: dict[int, list[tuple[int, int | None]]] = {}
    for broker, begun, left in (
        logs.sort("first_time", "last_time", "id").select("broker", "roles_begun", "roles_due").iter_rows()
    ):
        parts.setdefault(broker, []).append((begun, left))
    ends = {broker: roles_due(found)[1] for broker, found in parts.items()}
    return {broker: left for broker, left in ends.items() if left}


def not_named(found: Mapping[int, int], replicas: Set[int]) -> Iterator[MissingLines]:
    """Yield the lines that are missing behind the last ones of these replicas, which may be about any of them."""
    for broker in sorted(found.keys() & replicas):
        yield ROLES_ANNOUNCED.of(broker, {"count": found[broker]})
