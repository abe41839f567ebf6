"""Records that a leader removed from the beginning of its log: by retention, or as a client asked (DeleteRecords)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from forensics.case.speakers import OF_ITSELF
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.history import Deletion, History, Role, TruncationReason
from forensics.replay.lineage import Lineage, Range, intersect, same, subtract
from parsers.details import EPOCH_REWRITTEN
from parsers.schema import Kind

Starts = dict[tuple[str, int, int], list[tuple[int, int, int]]]


def log_starts(rows: pl.DataFrame) -> Starts:
    """Return the log start offsets that brokers log, by partition and incarnation: broker, row and log start offset.

    Args:
        rows: observations with ``incarnation``.
    """
    stated = rows.filter(
        pl.col("kind") == Kind.LOG_START.value,
        pl.col("detail").ne_missing(EPOCH_REWRITTEN),
        pl.col("log_start").is_not_null(),
        OF_ITSELF,
    )
    return _by_partition(stated)


def _by_partition(stated: pl.DataFrame) -> Starts:
    found: Starts = {}
    stated = stated.sort("topic", "partition", "incarnation", "broker", "row")
    for *place, broker, row, start in stated.select(
        "topic", "partition", "incarnation", "broker", "row", "log_start"
    ).iter_rows():
        topic, partition, incarnation = place
        found.setdefault((topic, partition, incarnation), []).append((broker, row, start))
    return found


def stated_starts(rows: pl.DataFrame) -> Starts:
    """Return ``log_starts`` and also the start offsets that brokers log when they load a log."""
    lines = pl.col("kind").is_in([Kind.LOG_START.value, Kind.LOG_LOADED.value])
    return _by_partition(rows.filter(lines, pl.col("log_start").is_not_null(), OF_ITSELF))


def log_start_at(starts: Sequence[tuple[int, int, int]], broker: int, row: int | None) -> int:
    """The greatest log start offset that a broker had logged of its replica before a line; 0 where it had logged none.

    A broker that is killed may read back an older start: it writes ``log-start-offset-checkpoint`` once a minute
    (LogManager, log.flush.start.offset.checkpoint.interval.ms). What had been deleted was not lost then.

    Args:
        starts: broker, row and log start offset.
        broker: broker id.
        row: row number of a line.
    """
    return max((start for of, at, start in starts if of == broker and row is not None and at < row), default=0)


def deletions(history: History, starts: Sequence[tuple[int, int, int]]) -> list[Deletion]:
    """Return what leaders removed from the start of their logs, the highest log start offset of each epoch."""
    found: dict[int, Deletion] = {}
    for broker, row, start in starts:
        spans = [t for t in history.role_spans.get(broker, ()) if t.refs and (t.refs[0].row or 0) <= row]
        if not spans or spans[-1].role is not Role.LEADER or spans[-1].epoch not in history.epochs:
            continue
        number = spans[-1].epoch
        epoch = history.epochs[number]
        if epoch.leader == broker and (number not in found or found[number].log_start < start):
            found[number] = Deletion(broker, number, start, Ref(row=row, note=f"log start offset {start}"))
    return [found[number] for number in sorted(found)]


def deleted(history: History, lineage: Lineage, ranges: Iterable[Range], before: int) -> list[Range]:
    """Return which of a log's records a leader had legitimately removed before an epoch began."""
    gone: list[Range] = []
    for deletion in history.deletions:
        if deletion.epoch < before:
            below = intersect(ranges, [(0, deletion.log_start)])
            gone += same(history.epochs[deletion.epoch].lineage, lineage, below)
    return gone


def kept(history: History, lineage: Lineage, ranges: Iterable[Range], before: int) -> list[Range]:
    """Return the records that no leader had removed before an epoch began."""
    ranges = list(ranges)
    return subtract(ranges, deleted(history, lineage, ranges, before))


def may_be_deleted(history: History, lineage: Lineage, ranges: Sequence[Range], before: int) -> bool:
    """Return whether records may have been deleted from the start of a log before an epoch.

    That is so if lines of a leader are missing that would state it.

    Retention and DeleteRecords move the log start offset of the leader (UnifiedLog.maybeIncrementLogStartOffset). Only
    its ``server.log`` states that. Its files may not: a leader that is killed may read back an older start.

    Args:
        history: the partition.
        lineage: the log that held the records.
        ranges: their offsets, in order.
        before: the leader epoch.
    """
    if not ranges:
        return False
    first = lineage.epoch_at(ranges[0][0])
    led = ((one.leader, one.epoch) for one in history.epochs.between(first - 1, before))
    return any(leader is None or (leader >= 0 and not _covers(history, leader, number)) for leader, number in led)


def seems_emptied(history: History, replica: int, since: int, ranges: Sequence[Range]) -> bool:
    """Return whether a replica seems to have deleted records with all of its log, before it followed another leader.

    A follower whose log has leader epochs truncates by them, and learns so where its leader's log ends (KIP-101). It
    truncates to its leader's end only if it has none (AbstractFetcherThread.fetchOffsetAndTruncate), as after its log
    start offset was moved to its end (LeaderEpochFileCache.truncateFromStart). Or the file of its epochs was lost.

    Args:
        history: the partition.
        replica: the replica that held the records.
        since: leader epoch of its new leader, or an earlier one.
        ranges: the offsets, in order.
    """
    return not history.protocol.truncates_to_hw and any(
        one.replica == replica
        and one.reason is TruncationReason.LEADER_END_OFFSET
        and one.epoch >= since
        and ranges[0][0] < one.end
        for one in history.truncations
    )


def _covers(history: History, leader: int, number: int) -> bool:
    """Return whether an absent line proves that the leader of an epoch removed nothing from the start of its log."""
    roles = [role_span.epoch for role_span in history.role_spans.get(leader, ()) if role_span.epoch >= 0]
    asked = [Span.WITHIN]
    if number <= min(roles, default=number):
        asked.append(Span.BEFORE)
    if number >= max(roles, default=number):
        asked.append(Span.AFTER)
    return history.coverage.has(leader, Printed.LOG, *asked)
