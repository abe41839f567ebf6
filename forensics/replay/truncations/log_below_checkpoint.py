"""Logs that end below the high watermark in the checkpoint file beside them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from forensics.case import Case
from forensics.replay.committed.proof import committed
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History, Replica
from forensics.replay.leadership.elections import latest_isr_stated
from forensics.replay.lineage import UNKNOWN, Lineage, differences
from forensics.replay.roles.steps import StepKind
from forensics.replay.truncations.held_ends import HeldEnds, Moment

_WRITTEN = 5_000_000
"""Microseconds: the default of replica.high.watermark.checkpoint.interval.ms."""


@dataclass(frozen=True, slots=True)
class LogBelowCheckpoint:
    """A log that ends below its checkpointed high watermark.

    Attributes:
        replica: broker id.
        high_watermark: of the checkpoint file.
        end: log end offset of the segments.
        ref: the entry of the checkpoint file.
        holders: other replicas that have the records in between.
        stopped: lines show that the broker had stopped when its files were copied.
        proven: something else shows that any of the records in between were committed.
        reached: another file or a line of the broker shows that its log reached beyond its end. Without that, the
            checkpoint may be another broker's.
        ended: a producer snapshot shows that its log ended there too. Without that, the copy may lack the end of a
            segment: one that ends between two batches does not show it, nor does one without any.
    """

    replica: int
    high_watermark: int
    end: int
    ref: Ref
    holders: tuple[int, ...]
    stopped: bool
    proven: bool
    reached: bool
    ended: bool


def log_below_checkpoint(history: History, case: Case, broker: int) -> LogBelowCheckpoint | None:
    """Return a replica's log if it ends below its checkpointed high watermark, and no truncation explains that."""
    replica = history.replicas[broker]
    if replica.checkpoint is None or replica.end is None:
        return None
    high_watermark, ref = replica.checkpoint
    if high_watermark <= replica.end or _truncated_since(history, case, broker, high_watermark):
        return None
    proof = committed(history, replica.lineage, replica.end, high_watermark, replica=broker)
    others = (other for number, other in sorted(history.replicas.items()) if number != broker)
    return LogBelowCheckpoint(
        broker,
        high_watermark,
        replica.end,
        ref,
        tuple(other.broker for other in others if _holds(history, other, broker, replica.end, high_watermark)),
        is_stopped(history, broker),
        any(ref not in one.refs for one in proof.statements),
        _reached(history, broker, replica.end),
        _ended(history, broker, replica.end),
    )


def _reached(history: History, broker: int, end: int) -> bool:
    """Return whether anything but its checkpoint of high watermarks shows that a replica's log was once longer.

    A recovery point is at most the end of the log that was flushed, and an epoch begins within its log (LogManager,
    LeaderEpochFileCache). Lines of the broker state where its log ended, and those of its leader how far it fetched. A
    high watermark that another broker states is within the log of each replica of the ISR.
    """
    disk = history.facts.disks.get(broker)
    ends = [disk.recovery_point[0]] if disk is not None and disk.recovery_point is not None else []
    ends += [first for _, first, _ in disk.entries] if disk is not None else []
    for replica, spans in history.role_spans.items():
        ends += (one.end_low if replica == broker else one.followers.get(broker, 0) for one in spans)
    if max(ends, default=0) > end:
        return True
    last = max((epoch.epoch for epoch in history.epochs.values()), default=UNKNOWN)
    return HeldEnds(history).by_others(Moment(broker, last, None)).low > end


def _ended(history: History, broker: int, end: int) -> bool:
    """Return whether a producer snapshot is of the end of a log: a broker that stops writes one (ProducerStateManager).

    A line that states this end may be of a time before the log was longer.
    """
    disk = history.facts.disks.get(broker)
    return disk is not None and any(offset == end and name.endswith(".snapshot") for offset, name in disk.beside)


def copy_may_lack_end(history: History, broker: int) -> bool:
    """Return whether only the copy of a replica's directory may lack the end of its log.

    Other files show by themselves that it is whole; lines of the broker only if none is missing up to the copy.
    """
    copy = history.copies.get(broker)
    if copy is None:
        return False
    return not copy.end or (copy.end_by_lines and not history.coverage.has(broker, Printed.LOG, Span.AFTER))


def is_stopped(history: History, broker: int) -> bool:
    """Return whether lines show that a broker had stopped at the end: it shut down, or left the last ISR."""
    spans, epoch = history.role_spans.get(broker), history.current
    if spans and spans[-1].shut_down is not None and history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER):
        return True  # and no later line shows a start
    if epoch is None or epoch.last_isr is None:
        return False
    return broker not in epoch.last_isr & latest_isr_stated(history, epoch, epoch.last_isr)


def _truncated_since(history: History, case: Case, broker: int, high_watermark: int) -> bool:
    """Return whether the checkpoint may be older than a truncation right before the end of a replica's lines.

    A broker writes it every five seconds. Other rules judge that truncation.
    """
    steps = [step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps]
    last = steps[-1] if steps else None
    if last is None or last.kind not in (StepKind.TRUNCATED, StepKind.TRUNCATED_FULLY) or last.time is None:
        return False
    ends = case.sources.filter(pl.col("broker") == broker).get_column("last_time").cast(pl.Int64).max()
    return last.target < high_watermark and isinstance(ends, int) and ends - last.time < _WRITTEN


def _holds(history: History, other: Replica, broker: int, end: int, high_watermark: int) -> bool:
    """Return whether another replica has the records that a log lacks: its log is the same, and reaches as far."""
    if other.end is None or other.end < high_watermark:
        return False
    # If two logs differ already below an offset, the records above differ too.
    if any(first < end for first, _ in history.facts.diverging_ranges(broker, other.broker)):
        return False
    if differences(_log_by_lines(history, broker), other.lineage, end, high_watermark)[0]:
        return False
    return not _replaced(history, other.broker, end, high_watermark)


def _log_by_lines(history: History, broker: int) -> Lineage:
    """Return the last log of a replica by its lines."""
    spans = history.role_spans.get(broker)
    return spans[-1].log if spans and history.coverage.whole(broker, Span.BEFORE, Span.WITHIN) else Lineage()


def _replaced(history: History, broker: int, first: int, end: int) -> bool:
    """Return whether a replica may have truncated some of the offsets and fetched others, and no epochs show that.

    Only its lines show it if the leader epochs of its records are unknown, or if it truncates to its high watermark.
    """
    log = history.replicas[broker].lineage
    undated = any(log.epoch_at(piece[0]) < 0 for piece in log.pieces([(first, end)]))
    if not undated and not history.protocol.truncates_to_hw:
        return False
    if not history.coverage.throughout(broker) or history.coverage.unnamed:
        return True
    known = [one for one in history.truncations if one.end > first]
    truncations = (*known, *history.truncations_of_unknown_extent)
    return any(one.replica == broker and one.target < end for one in truncations)
