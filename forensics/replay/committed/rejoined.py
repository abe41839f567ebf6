"""Replicas that lost records at the end of their logs, and have again what was committed since they rejoined an ISR.

A follower joins the ISR once it has everything below its leader's high watermark (Partition.maybeExpandIsr). So it has
again what was committed before if the leader had all of that.

Since 2.0.1 and 2.1 its log must also have reached the start of the leader's epoch (Partition.isFollowerInSync,
KAFKA-7128). So it has again every record that such a leader's log had there.
"""

from __future__ import annotations

import itertools

from forensics.replay.committed.all_committed import has_all_committed, rejoined_isr
from forensics.replay.coverage import Printed, Span
from forensics.replay.history import History, Role, ShortenedLog
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.judged_elections import Elected, judged_elections
from forensics.replay.lineage import differences
from forensics.replay.omissions.last_leader import roles_not_seen
from forensics.replay.protocol import Answer

_OTHERS = (Elected.OUTSIDE_ISR, Elected.OUT_OF_ORDER)
"""Elections of leaders whose log may have another history."""


def has_committed_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica joined an ISR after its log was found shorter, and so has again what was committed.

    Every leader since must have had all records committed before. If one of them was elected from outside the ISR, or
    if the evidence does not decide, this is False. It is also False if a later change of the replica's log may have no
    line. If the replica's files are in the evidence, they decide and not its ISR: then this is False too.
    """
    broker, before = shortened.replica, history.epochs.get(shortened.epoch)
    if history.replicas[broker].on_disk or before is None or history.coverage.unnamed:
        return False
    if any(one.replica == broker and one.epoch > shortened.epoch for one in history.shortened_logs):
        return False
    if not history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER):
        return False
    later = [one for one in history.epochs.after(before.epoch) if one.leader not in (None, -1)]
    joined = any(_joined(broker, one) for one in later) or _rejoined_after_restart(history, shortened)
    return joined and all(has_all_committed(history, before, one) for one in later)


def has_fetched_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica joined the ISR of a later leader whose log had what its own lacked.

    It then has that again, whether it was committed or not. Each later leader must have begun with these records, and
    none may be known to come from outside the ISR: a log of another history may be as long. If the replica's files are
    in the evidence, they decide: then this is False.
    """
    before = history.epochs.get(shortened.epoch)
    if before is None or history.protocol.joins_below_epoch_start is not Answer.NO or history.epoch_rollbacks:
        return False
    if history.coverage.unnamed or not _shown_by_lines(history, shortened.replica) or _written_twice(history, before):
        return False
    judged = judged_elections(history, roles_not_seen(history))
    later = [(one, how) for one, how in judged if one.epoch > before.epoch]
    if any(how in _OTHERS for _, how in later) or not all(_had(history, one, shortened) for one, _ in later):
        return False
    since = _epochs_since(history, shortened)
    return any(one.epoch in since and _joined(shortened.replica, one) for one, _ in later) and not _changed_since(
        history, shortened
    )


def is_as_long_again(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica, once its log was found shorter, followed a leader until its log was as long again.

    Then it has again what its leader had there. Where no line names the leaders, more is not known. It must be seen to
    have followed first, and not to have led. What is stated last of its log's length counts.
    """
    spans, at = history.role_spans.get(shortened.replica, []), _found_in(history, shortened)
    if at is None or spans[at].role is not Role.FOLLOWER or _changed_since(history, shortened):
        return False
    begun = [span.start_end for span in spans[at + 1 :] if span.start_end is not None]
    return bool(begun) and begun[-1] >= shortened.end and all(span.role is not Role.LEADER for span in spans[at:])


def _shown_by_lines(history: History, broker: int) -> bool:
    """Return whether lines show each change of a replica's log, and no files of it are there to decide."""
    whole = history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER)
    return whole and not history.replicas[broker].on_disk


def _written_twice(history: History, until: Epoch) -> bool:
    """Return whether a leader may have restarted within an epoch and written other records there again."""
    for one in history.epochs.before(until.epoch + 1):
        if one.leader in (None, -1):
            continue
        runs = {span.run for span in history.role_spans.get(one.leader or 0, ()) if span.epoch == one.epoch}
        if len(runs) != 1 or one.other_leaders:
            return True
    return False


def _had(history: History, epoch: Epoch, shortened: ShortenedLog) -> bool:
    """Return whether a leader began with what a log lacked."""
    before = history.epochs[shortened.epoch]
    lineage = shortened.lineage if shortened.lineage.entries else before.lineage
    whole = history.coverage.has(epoch.leader, Printed.ROLES, Span.BEFORE, Span.WITHIN)  # what its log came from
    if not whole or epoch.epoch in history.contested or epoch.begins.low < shortened.end:
        return False
    return not any(differences(lineage, epoch.lineage, shortened.target, shortened.end))


def _found_in(history: History, shortened: ShortenedLog) -> int | None:
    """Return the number of the role span in which a log was found shorter, or None."""
    spans = history.role_spans.get(shortened.replica, [])
    return next((at for at, span in enumerate(spans) if any(step.refs == shortened.refs for step in span.steps)), None)


def _epochs_since(history: History, shortened: ShortenedLog) -> set[int]:
    """Return the epochs in which a replica had its first role after its log was found shorter."""
    spans, at = history.role_spans.get(shortened.replica, []), _found_in(history, shortened)
    return set() if at is None else {s.epoch for s in spans[at + 1 :]} - {s.epoch for s in spans[: at + 1]}


def _changed_since(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica's log became shorter than it was once more."""
    broker, row = shortened.replica, shortened.refs[0].row or 0
    others = (one for one in history.shortened_logs if one.replica == broker and one.refs != shortened.refs)
    removed = (one for one in (*history.truncations, *history.truncations_of_unknown_extent) if one.replica == broker)
    return any((one.refs[0].row or 0) > row for one in others) or any(
        one.target < shortened.end and not 0 <= one.epoch <= shortened.epoch for one in removed
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
