"""Replicas that lost records at the end of their logs, and have again what was committed since they rejoined an ISR.

A follower joins the ISR once it has everything below its leader's high watermark (Partition.maybeExpandIsr). So it has
again what was committed before if the leader had all of that. Since 2.0.1 and 2.1 its log must also have reached the
start of the leader's epoch (KAFKA-7128). So it has again every record that the leader's log had there.
"""

from __future__ import annotations

import itertools

from forensics.replay.committed.proof import has_all_committed, rejoined_isr
from forensics.replay.coverage import Printed, Span
from forensics.replay.history import Epoch, History, ShortenedLog
from forensics.replay.leadership.elections import elected_isr
from forensics.replay.lineage import Lineage, differences
from forensics.replay.protocol import Answer


def has_committed_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica joined an ISR after its log was found shorter, and so has again what was committed.

    Every leader since must have had all records committed before. If one of them was elected from outside the ISR, or
    if the evidence does not decide, this is False. It is also False if a later change of the replica's log may have no
    line. If the replica's files are in the evidence, they decide and not its ISR: then this is False too.
    """
    broker, before = shortened.replica, history.epochs.get(shortened.epoch)
    if before is None or history.coverage.unnamed or not _by_lines(history, broker):
        return False
    if any(one.replica == broker and one.epoch > shortened.epoch for one in history.shortened_logs):
        return False
    later = [one for number, one in history.epochs.items() if number > before.epoch and one.leader not in (None, -1)]
    joined = any(_joined(broker, one) for one in later) or _rejoined_after_restart(history, shortened)
    return joined and all(has_all_committed(history, before, one) for one in later)


def has_fetched_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica joined the ISR of a later leader whose log had what its own lacked.

    It then had that too, whether it was committed or not. What another log has at the same offsets does not count. The
    replica's files decide where they are in the evidence, and a later change of its log may take the records again.
    """
    broker, known = shortened.replica, history.epochs.get(shortened.epoch)
    lineage = shortened.lineage if shortened.lineage.entries or known is None else known.lineage
    spans = history.role_spans.get(broker, [])
    at = next((at for at, span in enumerate(spans) if any(step.refs == shortened.refs for step in span.steps)), None)
    if at is None or history.epoch_rollbacks or not _by_lines(history, broker):
        return False
    later = {span.epoch for span in spans[at + 1 :]} - {span.epoch for span in spans[: at + 1]}
    joined = (one for number, one in history.epochs.items() if number in later and _joined(broker, one))
    return any(_had(history, one, lineage, shortened) and not _shorter_since(history, shortened, one) for one in joined)


def _by_lines(history: History, broker: int) -> bool:
    """Return whether the lines of a replica show each change of its log, and no files of it are there to decide."""
    whole = history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER)
    return whole and not history.replicas[broker].on_disk


def _had(history: History, epoch: Epoch, lineage: Lineage, shortened: ShortenedLog) -> bool:
    """Return whether a leader began with what a log lacked, and added no replica to the ISR without it."""
    isr = elected_isr(history, epoch) or frozenset()
    late = history.joins_below_epoch_start is not Answer.NO and isr != {epoch.leader}
    if late or epoch.epoch in history.contested or epoch.begins.low < shortened.end:
        return False
    return not any(differences(lineage, epoch.lineage, shortened.target, shortened.end))


def _shorter_since(history: History, shortened: ShortenedLog, epoch: Epoch) -> bool:
    """Return whether a replica's log may have lost the same records again since it joined the ISR in an epoch."""
    broker, row = shortened.replica, shortened.refs[0].row or 0
    others = (one for one in history.shortened_logs if one.replica == broker and one.refs != shortened.refs)
    removed = (one for one in (*history.truncations, *history.truncations_of_unknown_extent) if one.replica == broker)
    again = sum(span.epoch == epoch.epoch for span in history.role_spans[broker]) > 1
    first = epoch.epoch if again else epoch.epoch + 1
    return any((one.refs[0].row or 0) > row for one in others) or any(
        one.target < shortened.end and (one.epoch >= first or one.epoch < 0) for one in removed
    )


def _joined(broker: int, epoch: Epoch) -> bool:
    """Return whether a leader states that it added a replica to the ISR."""
    isrs = [isr for isr, _ in epoch.isr] if epoch.isr_from_leader else []
    return any(broker not in out and broker in into for out, into in itertools.pairwise(isrs))


def _rejoined_after_restart(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica rejoined the ISR after the restart at which its log was found shorter."""
    spans, last = history.role_spans.get(shortened.replica, []), history.current
    found = [at for at, span in enumerate(spans) if any(step.refs == shortened.refs for step in span.steps)]
    return bool(found) and last is not None and rejoined_isr(history, spans, found[-1], last)
