"""Lines about a log directory as a whole, each of which is about every replica in it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import polars as pl

from forensics.case import Case
from forensics.replay.facts.events import COLUMNS, Event, as_values
from forensics.replay.facts.log_dir_moves import Homes
from parsers.details import ALL_DIRS_FAILED
from parsers.schema import Kind

DirectoryLines = dict[int, list[tuple[Event, str]]]
"""By broker, in its order: the lines, and the directory; "" for a line that names none."""


def by_broker(rows: pl.DataFrame) -> DirectoryLines:
    """Return observations of known processes of brokers, each with the directory that it names."""
    rows = rows.filter(pl.col("broker").is_not_null() & pl.col("run").is_not_null()).sort("row")
    found: DirectoryLines = {}
    for log_dir, *values in rows.select("log_dir", *as_values(COLUMNS)).iter_rows():
        event = Event._make(values)
        found.setdefault(event.broker, []).append((event, _plain(log_dir or "")))
    return found


def with_directory_lines(
    place: tuple[str, int, int], events: Mapping[int, Sequence[Event]], lines: DirectoryLines, homes: Homes, case: Case
) -> dict[int, list[Event]]:
    """Add to each replica's events the lines about its log directory.

    Args:
        place: topic, partition and incarnation.
        events: of the partition, by broker.
        lines: about directories: failed, empty, or older than their broker had left them.
        homes: for each replica, the log directory that its broker named.
        case: with the settings that brokers printed.
    """
    found = {}
    for broker in sorted(events.keys() & lines.keys()):
        # A line that names the replica is better evidence.
        named = {event.run for event in events[broker] if event.kind == Kind.DIR_FAILED}
        reported = [one for one in lines[broker] if one[0].kind != Kind.DIR_FAILED or one[0].run not in named]
        if its := _of_replica(reported, homes.get((*place, broker), ()), case.brokers[broker].log_dirs):
            found[broker] = list(heapq.merge(events[broker], its))
    return found


def _of_replica(
    lines: Sequence[tuple[Event, str]], homes: Sequence[tuple[int, int, str]], settings: Sequence[tuple[int, str]]
) -> list[Event]:
    """Return the lines about the directory that held a replica.

    Args:
        lines: about directories of its broker.
        homes: process, row and log directory, for each change that its broker logged.
        settings: time and value of each ``log.dirs`` printed. A broker with one directory has all replicas in it.
    """
    return [event for event, log_dir in lines if _held_it(event, log_dir, _home(event, homes, settings))]


def _held_it(event: Event, log_dir: str, home: str | None) -> bool:
    """Return whether a directory held a replica: it is its home, or no line names that and all failed."""
    return log_dir == home if home is not None else ALL_DIRS_FAILED in (event.detail or "")


def _home(event: Event, homes: Sequence[tuple[int, int, str]], settings: Sequence[tuple[int, str]]) -> str | None:
    before = [log_dir for _, row, log_dir in homes if row <= event.row]
    if before:
        return _plain(before[-1])
    dirs = [dirs for time, dirs in settings if event.time is not None and time <= event.time]
    return _plain(dirs[-1]) if dirs and "," not in dirs[-1] else None


def _plain(log_dir: str) -> str:
    """Return a directory with slashes and without trailing separators, so that Windows paths compare equal."""
    return log_dir.strip().replace("\\", "/").rstrip("/")
