"""Log directories that failed (KIP-112): such a line names the directory, and holds for every replica in it.

Brokers list the replicas of a directory that fails while they serve it. Of one that fails as they start, or that held
no replica yet, they name the directory alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import polars as pl

from forensics.case import Case
from forensics.replay.events import COLUMNS, Event, as_values
from forensics.replay.log_dir_moves import Homes
from parsers.details import ALL_DIRS_FAILED
from parsers.schema import Kind

Failures = dict[int, list[tuple[Event, str]]]
"""By broker, in its order: the line, and the directory that failed."""


def told() -> pl.Expr:
    """Rows about a log directory that failed, and all that is in it."""
    return (pl.col("kind") == Kind.DIR_FAILED.value) & pl.col("topic").is_null() & pl.col("log_dir").is_not_null()


def failures(case: Case) -> Failures:
    """What each broker says of directories that failed."""
    rows = case.observations.filter(told() & pl.col("broker").is_not_null() & pl.col("run").is_not_null()).sort("row")
    found: Failures = {}
    for log_dir, *values in rows.select("log_dir", *as_values(COLUMNS)).iter_rows():
        event = Event._make(values)
        found.setdefault(event.broker, []).append((event, _plain(log_dir)))
    return found


def with_failures(
    place: tuple[str, int, int], events: Mapping[int, Sequence[Event]], failed: Failures, homes: Homes, case: Case
) -> dict[int, list[Event]]:
    """The events of replicas with the failures of their directories, of those that had any.

    Args:
        place: topic, partition and incarnation.
        events: of the partition, by broker.
        failed: what brokers say.
        homes: of each replica, where its broker said the log to be.
        case: with the settings that brokers printed.
    """
    named = {broker: {e.run for e in own if e.kind == Kind.DIR_FAILED} for broker, own in events.items()}
    # A line that names the replica says it better.
    failed = {
        broker: [one for one in told if one[0].run not in named.get(broker, ())] for broker, told in failed.items()
    }
    return {
        broker: list(heapq.merge(events[broker], gone))
        for broker in sorted(events.keys() & failed.keys())
        if (gone := _of_replica(failed[broker], homes.get((*place, broker), ()), case.brokers[broker].log_dirs))
    }


def _of_replica(
    failed: Sequence[tuple[Event, str]], homes: Sequence[tuple[int, int, str]], settings: Sequence[tuple[int, str]]
) -> list[Event]:
    """The failures of the directory in which a replica was.

    Args:
        failed: what its broker says.
        homes: process, row and directory in which its broker said the log to be, where that changed.
        settings: when the broker printed which ``log.dirs``: of a broker with one directory all replicas are in that.
    """
    return [event for event, log_dir in failed if _held_it(event, log_dir, _home(event, homes, settings))]


def _held_it(event: Event, log_dir: str, home: str | None) -> bool:
    """Whether a directory that failed held a replica: its home, or any where nothing tells which that is and all
    directories of the broker failed.
    """
    return log_dir == home if home is not None else ALL_DIRS_FAILED in (event.detail or "")


def _home(event: Event, homes: Sequence[tuple[int, int, str]], settings: Sequence[tuple[int, str]]) -> str | None:
    before = [log_dir for _, row, log_dir in homes if row <= event.row]
    if before:
        return _plain(before[-1])
    dirs = [dirs for time, dirs in settings if event.time is not None and time <= event.time]
    return _plain(dirs[-1]) if dirs and "," not in dirs[-1] else None


def _plain(log_dir: str) -> str:
    """A directory without separators at its end; on Windows settings may have slashes for backslashes."""
    return log_dir.strip().replace("\\", "/").rstrip("/")
