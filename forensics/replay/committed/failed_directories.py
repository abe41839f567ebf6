"""Logs in log directories that failed: the disk may still have records that no copy in the evidence has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.replay.history import History, Role
from forensics.replay.roles.steps import LogBefore, Step
from parsers.encodings.checkpoint_file import INT32_MAX, integer

_LAG, _LONGEST_LAG = "replica.lag.time.max.ms", 30_000
"""A setting of a leader, and its default since 2.5 in milliseconds: 10 s before (KIP-537)."""


def failed_directories(history: History) -> tuple[int, ...]:
    """Return brokers whose replica was created again after its log directory had failed: the old log may still be
    readable.
    """
    return tuple(
        broker
        for broker, spans in sorted(history.role_spans.items())
        if any(step.before is LogBefore.DIR_FAILED for role_span in spans for step in role_span.steps)
    )


@dataclass(frozen=True, slots=True)
class FailedLog:
    """The log of a replica in a log directory that failed; the replica was created again elsewhere, or in its place.

    Attributes:
        broker: broker id.
        epoch: leader epoch in which the replica was as its directory failed.
        end: log end offset that the log is known to have reached.
        log_dir: the directory, as its broker named it; None if the line names none.
        time: when it failed, microseconds since 1970 UTC, or None.
    """

    broker: int
    epoch: int
    end: int
    log_dir: str | None
    time: int | None


def failed_logs(history: History, case: Case, first: int) -> tuple[FailedLog, ...]:
    """Return the logs in failed directories that may have records from an offset on, the longest log first."""
    longest: dict[int, FailedLog] = {}
    for one, step in _every(history, case):
        before = longest.get(one.broker)
        if (before is None or before.end < one.end) and not _failed_before(history, case, one.epoch, step, first):
            longest[one.broker] = one
    return tuple(sorted(longest.values(), key=lambda one: (-one.end, one.broker)))


def failed_after_leading(history: History, case: Case, leader: int | None, epoch: int) -> FailedLog | None:
    """Return the log of a leader whose directory failed in that leader epoch or later, the first of them."""
    return next((one for one, _ in _every(history, case) if one.broker == leader and one.epoch >= epoch), None)


def _every(history: History, case: Case) -> Iterator[tuple[FailedLog, Step]]:
    """Yield each failed log, with the step that created the replica again; its last evidence is the failure."""
    for broker, spans in sorted(history.role_spans.items()):
        for role_span, step in ((one, step) for one in spans for step in one.steps):
            if step.before is LogBefore.DIR_FAILED:
                line = case.observations.filter(pl.col("row") == step.refs[-1].row).head(1)
                for log_dir, time in line.select("log_dir", pl.col("time").cast(pl.Int64)).iter_rows():
                    yield FailedLog(broker, role_span.epoch, step.known_end, log_dir, time), step


def _failed_before(history: History, case: Case, epoch: int, step: Step, first: int) -> bool:
    """Return whether a log directory had failed before its leader wrote the records from an offset on.

    Every member of the ISR has reached the leader's log end offset within ``replica.lag.time.max.ms``, and the leader
    checks that twice in that time (ReplicaManager.maybeShrinkIsr). So a later high watermark covers the log end offset
    of one and a half of that time before.
    """
    written = history.epochs.get(epoch)
    leader = written.leader if written is not None else None
    broker = case.brokers.get(leader) if leader is not None else None
    lag = integer(broker.settings.get(_LAG, ""), most=INT32_MAX) if broker is not None else None
    since = (step.time or 0) + (lag if lag is not None else _LONGEST_LAG) * 1500
    spans = history.role_spans.get(leader, ()) if leader is not None and step.time is not None else ()
    marks = (span.hw for span in spans if span.epoch == epoch and span.role is Role.LEADER)
    return any(
        mark is not None and mark.time is not None and mark.time >= since and mark.value <= first for mark in marks
    )
