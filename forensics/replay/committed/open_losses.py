"""Records that may be lost besides those that are proven to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from forensics.replay.committed.all_committed import may_have_lost_tail
from forensics.replay.committed.proof import Loss, PossibleLoss, losses, possible_losses
from forensics.replay.coverage import Span
from forensics.replay.history import History, Truncation
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Range, subtract
from forensics.replay.roles.steps import StepKind


class Unbounded(Enum):
    """The reason for which a leader may have committed more than is known."""

    NO_FILES = "no log of it is in the evidence"
    CREATED = "it began with an empty log later"
    SHORTENED = "its log lost its end"
    HAD_MORE = "its log had more records"
    NO_LINES = "its lines begin after it led"


@dataclass(frozen=True, slots=True)
class MoreLost:
    """Records that may be lost besides the records of one loss.

    Attributes:
        unordered: leader epochs do not show the order of the leaders, so nothing below is known.
        beyond: epoch whose leader may have committed more, behind the lost records; None if there is none.
        why: the reason for which its leader may have.
        truncated: offsets behind the lost records that this leader truncated later.
        end: offset below which all is that this leader may have committed, if that is known.
        below: offsets before the lost records that the leader without them may have lacked too.
        later: a later change of leader at which records may have been lost, or None.
        unflushed: the leader without the records loaded its log after an unclean stop, without a trace of its end.
    """

    unordered: bool = False
    beyond: Epoch | None = None
    why: Unbounded | None = None
    truncated: tuple[Range, ...] = ()
    end: int | None = None
    below: tuple[Range, ...] = ()
    later: PossibleLoss | None = None
    unflushed: bool = False

    @property
    def any_near(self) -> bool:
        """More records may be gone with the lost ones, so that these are the least."""
        return self.unordered or self.beyond is not None or bool(self.below)


def more_lost(history: History, loss: Loss) -> MoreLost:
    """Return what may be lost besides the records of one loss; nothing where a complete trace decides that."""
    if history.played is not None:
        return MoreLost()
    later = next((one for one in possible_losses(history) if one.after.epoch > loss.epoch.epoch), None)
    unflushed = _may_be_unflushed(history, loss)
    if history.epoch_rollbacks or history.contested:
        return MoreLost(unordered=True, later=later, unflushed=unflushed)
    beyond, why = next(_beyond(history, loss), (None, None))
    last = loss.ranges[-1][1]
    removed = _truncated_later(history, beyond, last) if beyond is not None else []
    return MoreLost(
        beyond=beyond,
        why=why,
        truncated=((last, max(one.end for one in removed)),) if removed else (),
        end=_all_known([one.before.exact for one in removed]) if why is Unbounded.HAD_MORE else None,
        below=_below(history, loss),
        later=later,
        unflushed=unflushed,
    )


def may_have_committed_unseen(history: History) -> bool:
    """Return whether records may have been committed and lost although no high watermark is known."""
    return not history.statements and not _never_written(history) and not _covered_since_creation(history)


def _never_written(history: History) -> bool:
    """Return whether every replica's log is empty and none ever lost anything: there was nothing to commit."""
    replicas = [r for b, r in history.replicas.items() if r.directory is not None or history.role_spans.get(b)]
    if not replicas or history.truncations or history.truncations_of_unknown_extent or history.shortened_logs:
        return False
    empty = all(replica.on_disk and replica.end == 0 and replica.log_start == 0 for replica in replicas)
    return empty and not any(role_span.end_low for spans in history.role_spans.values() for role_span in spans)


def _covered_since_creation(history: History) -> bool:
    """Return whether every replica's lines are complete since its log was created, up to the copy of the evidence.

    Then leader changes show what may be lost, even without a high watermark.
    """
    own = {broker: history.replicas.get(broker) for broker in history.members}
    return bool(own) and all(
        replica is not None and replica.starts_empty and history.coverage.throughout(broker)
        for broker, replica in own.items()
    )


def _beyond(history: History, loss: Loss) -> Iterator[tuple[Epoch, Unbounded]]:
    """Yield epochs whose leaders may have committed records behind the lost ones, and why."""
    end = loss.ranges[-1][1]
    for one in possible_losses(history):
        near = one.after.epoch <= loss.epoch.epoch and (one.end is None or one.end > end)
        why = _end_gone(history, one) or (Unbounded.HAD_MORE if _had_more(history, one, loss) else None)
        if near and why is not None:
            yield one.before, why
    last = history.epochs.get(loss.lineage.epoch_at(end - 1))
    if last is not None and not history.coverage.whole(last.leader, Span.BEFORE):
        yield last, Unbounded.NO_LINES


def _end_gone(history: History, possible_loss: PossibleLoss) -> Unbounded | None:
    """Return how a leader lost the end of its log, or that no file shows it: it may have committed more. Else None."""
    leader = possible_loss.before.leader
    if leader is None or not history.coverage.whole(leader):
        return Unbounded.NO_FILES
    if not history.replicas[leader].on_disk and not _end_stated(history, leader, possible_loss.before.epoch):
        return Unbounded.NO_FILES
    span = range(possible_loss.before.epoch, possible_loss.after.epoch + 1)
    if any(s.replica == leader and s.epoch in span for s in history.shortened_logs):
        return Unbounded.SHORTENED
    made = any(
        role_span.epoch in span and step.kind is StepKind.CREATED
        for role_span in history.role_spans.get(leader, ())
        for step in role_span.steps
    )
    return Unbounded.CREATED if made else None


def _end_stated(history: History, broker: int, epoch: int) -> bool:
    """Return whether a line of a replica states how long its log was after an epoch, as the next process loaded it."""
    spans = history.role_spans.get(broker, ())
    last = next((one for one in reversed(spans) if one.epoch == epoch), None)
    return last is not None and bool(last.loads)


def _had_more(history: History, possible_loss: PossibleLoss, loss: Loss) -> bool:
    """Return whether the leader that wrote the last lost record had more in its log, of unknown fate.

    The log end offset after a restart counts too.
    """
    epoch, end = possible_loss.before, loss.ranges[-1][1]
    if epoch.leader is None or epoch.epoch != loss.lineage.epoch_at(end - 1):
        return False
    spans = [role_span for role_span in history.role_spans.get(epoch.leader, ()) if role_span.epoch == epoch.epoch]
    loads = [step.target for role_span in spans for step in role_span.steps[:1] if step.kind is StepKind.LOADED]
    had = max([possible_loss.end or 0, *loads, *(role_span.end_low for role_span in spans)])
    proven = [piece for other in losses(history)[0] for piece in other.ranges]
    return bool(subtract([(end, had)], proven))


def _truncated_later(history: History, epoch: Epoch, end: int) -> list[Truncation]:
    """Return the truncations by which the leader of an epoch removed offsets from ``end`` on in a later one."""
    return [
        one
        for one in history.truncations
        if one.replica == epoch.leader and one.epoch > epoch.epoch and one.target <= end < one.end
    ]


def _all_known(ends: Sequence[int | None]) -> int | None:
    """Return the last of some log ends, if each of them is known exactly."""
    known = [one for one in ends if one is not None]
    return max(known, default=None) if len(known) == len(ends) else None


def _below(history: History, loss: Loss) -> tuple[Range, ...]:
    """Return the undecided offsets right before the lost ones, if a leader's start may have been below them."""
    adjacent = tuple(piece for piece in losses(history)[1] if piece[1] == loss.ranges[0][0])
    return adjacent if adjacent and _began_unseen(history, loss) else ()


def _began_unseen(history: History, loss: Loss) -> bool:
    """Return whether the start of the leader that lacked the records, or of another one before it, is unknown."""
    between = history.epochs.between(loss.statements[0].epoch, loss.epoch.epoch)
    others = [e for e in between if e.leader_took_up and e.leader not in (None, -1, loss.epoch.leader)]
    return any(epoch.start is None for epoch in (loss.epoch, *others))


def _may_be_unflushed(history: History, loss: Loss) -> bool:
    """Return whether the leader's log was loaded after an unclean stop, and may have lost its end."""
    leader, written = loss.epoch.leader, history.epochs.get(loss.statements[0].epoch)
    return leader is not None and written is not None and may_have_lost_tail(history, leader, written, loss.epoch)
