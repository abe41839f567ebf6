"""Did a leader have what was committed before it led? Kafka guarantees it if the log of the leader lost nothing."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import le
from typing import TYPE_CHECKING

from forensics.replay.coverage import Span
from forensics.replay.history import History, Role, Truncation, TruncationReason, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import (
    elected_isr,
    elected_with_others,
    from_eligible,
    isr_before,
    isr_known_to_end,
    latest_isr_stated,
    outside_isr,
)
from forensics.replay.lineage import UNKNOWN
from forensics.replay.protocol import Answer
from forensics.replay.quorum.voting import has_all
from forensics.replay.roles.log_ends import log_end, may_have_lost_end
from forensics.replay.roles.steps import StepKind

if TYPE_CHECKING:
    from forensics.replay.roles.steps import RoleSpan


def has_all_committed(history: History, before: Epoch, after: Epoch) -> bool | None:
    """Return whether the leader of a later epoch had every record committed in an earlier one.

    True if the protocol guarantees it: the broker led or was in the ISR, and nothing can have shortened its log since.
    None if the evidence does not decide.
    """
    known, pair = _known_to_have(history), (before.epoch, after.epoch)
    if pair not in known:
        known[pair] = _has_all_committed(history, before, after)
    return known[pair]


@once
def _known_to_have(history: History) -> dict[tuple[int, int], bool | None]:
    """Return the answers of ``has_all_committed`` so far, by leader epochs: signs and rules ask for the same ones."""
    return {}


def _has_all_committed(history: History, before: Epoch, after: Epoch) -> bool | None:
    if history.quorum is not None:
        return has_all(history, history.quorum, before, after)
    leader = after.leader
    if leader is None or not _kept_its_log(history, leader, before, after):
        return None
    if leader == before.leader:
        return True
    if outside_isr(history, after) or _joined_early(history, leader, before, after):
        return None
    if in_isr(history, leader, before, after):
        return True
    return True if after.safe or from_eligible(history, after) or elected_with_others(history, after) else None


def in_isr(history: History, broker: int, before: Epoch, after: Epoch) -> bool:
    """Return whether a broker was in the ISR as one epoch ended, or as the leader of a later one was elected."""
    members = before.last_isr if isr_known_to_end(history, before) else None
    return broker in (members or ()) or broker in (isr_before(history, after) or ())


def _kept_its_log(history: History, broker: int, before: Epoch, after: Epoch) -> bool:
    """Return whether the lines of a broker, which are whole, show that its log lost nothing between two epochs."""
    own = history.replicas.get(broker)
    if own is None or not history.coverage.whole(broker) or _shortened(history, broker, before.epoch, after.epoch):
        return False
    roles = [role_span.epoch for role_span in history.role_spans.get(broker, ()) if role_span.epoch >= 0]
    created = own.starts_empty and history.coverage.whole(broker, Span.BEFORE)
    if not created and min(roles, default=UNKNOWN) > before.epoch:
        return False  # its log lines begin later, or with another log than it had
    return not may_have_lost_tail(history, broker, before, after)


def _joined_early(history: History, broker: int, before: Epoch, after: Epoch) -> bool:
    """Return whether a replica may have joined the ISR, and been elected, without records committed before.

    Up to 2.0.0 a leader adds a follower to the ISR once the follower reaches the leader's high watermark, which lags
    after an election. Later releases also require the start offset of the leader's epoch (KAFKA-7128). A replica that
    was in the ISR at the election has all records committed before. So has a replica that joined a leader elected with
    an ISR of itself alone.
    """
    if history.protocol.joins_below_epoch_start is Answer.NO:
        return False
    for epoch in reversed([one for one in history.taken_up if one.epoch <= before.epoch]):
        isr = elected_isr(history, epoch) or frozenset()
        if epoch.leader == broker or isr == {epoch.leader} or _reached_start(history, broker, epoch, after):
            return False
        if broker not in isr:
            return True
    return False


def _reached_start(history: History, broker: int, epoch: Epoch, after: Epoch) -> bool:
    """Return whether the log of a later leader is known to have reached the start offset of an epoch, in that epoch or
    until it led.
    """
    since = (one for one in history.role_spans.get(broker, ()) if epoch.epoch <= one.epoch < after.epoch)
    reached = max([after.begins.low, *(role_span.end_low for role_span in since)])
    return epoch.start is not None and reached >= epoch.start


def may_have_lost_tail(history: History, leader: int, before: Epoch, after: Epoch) -> bool:
    """Return whether the end of the leader's log may be gone without a trace.

    This is possible if the leader restarted after an unclean stop, with an older directory, or with an empty log. It is
    excluded if a log line shows the log end offset before, or if no more can have been committed than the log it found.
    """
    spans = history.role_spans.get(leader, [])
    turns = _epochs_in_turn(history).get(leader, _NO_TURNS)
    since = [at for at in turns.between(before.epoch, after.epoch) if max(turns.epochs[at : at + 2]) >= before.epoch]
    at_risk = [at for at in since if not _over(spans, at, before) and not rejoined_isr(history, spans, at, before)]
    ends = [end for at in at_risk for end in _ends_found_short(spans[at], led=leader == before.leader)]
    ends += [end for at in at_risk if (end := _end_without_load(spans, at)) is not None]
    return any(not _bounded(history, leader, before, after, end) for end in ends)


@dataclass(frozen=True, slots=True)
class _Turns:
    """The leader epochs of a replica's role spans, in their order.

    Attributes:
        epochs: of each.
        rising: whether none is below the one before, as almost always.
    """

    epochs: Sequence[int]
    rising: bool = True

    def between(self, before: int, after: int) -> Iterable[int]:
        """Return the positions of those below an epoch, from the last one on that may have ended in an earlier one."""
        if not self.rising:
            return [at for at, epoch in enumerate(self.epochs) if epoch < after]
        return range(max(bisect_left(self.epochs, before) - 1, 0), bisect_left(self.epochs, after))


_NO_TURNS = _Turns(())


@once
def _epochs_in_turn(history: History) -> dict[int, _Turns]:
    """Return the leader epochs of the role spans of each broker."""
    found = {broker: [one.epoch for one in spans] for broker, spans in history.role_spans.items()}
    return {broker: _Turns(own, all(map(le, own, own[1:]))) for broker, own in found.items()}


def _ends_found_short(role_span: RoleSpan, *, led: bool) -> list[int]:
    """Return log end offsets found in a role after a crash, or in an older directory, where no line shows the one
    before.

    Args:
        role_span: the role.
        led: the replica led: then a new log in place of its own is as bad.
    """
    return [
        step.target
        for step in role_span.steps
        if (may_have_lost_end(step) or (led and step.kind is StepKind.CREATED)) and step.end is None
    ]


def _end_without_load(spans: Sequence[RoleSpan], at: int) -> int | None:
    """Return the log end offset with which a process began its first role, where no line shows that it loaded the log.

    A process that continues with an existing log loads it. Without a load line it began with another, empty log.
    """
    if at + 1 >= len(spans) or spans[at].run == spans[at + 1].run or spans[at].epoch < 0:
        return None
    known = any(
        step.kind in (StepKind.LOADED, StepKind.RECOVERY_TRUNCATED, StepKind.DELETED)
        or (step.kind is StepKind.CREATED and step.end is not None)
        for step in spans[at].steps
    )
    return None if known else spans[at + 1].start_end or 0


def rejoined_isr(history: History, spans: Sequence[RoleSpan], at: int, before: Epoch) -> bool:
    """Return whether a restarted replica joined the leader's ISR again, so that it has all records committed since.

    A KRaft controller fences the old process of a broker before it registers a new one
    (ClusterControlManager.registerBroker). A fenced broker leaves every ISR that has another member.
    """
    one, two = spans[at], spans[at + 1] if at + 1 < len(spans) else None
    if not history.protocol.kraft or two is None or two.run == one.run or two.role is not Role.FOLLOWER:
        return False
    epoch = history.epochs.get(two.epoch)
    if epoch is None or epoch.leader in (None, -1) or epoch.epoch > before.epoch:
        return False
    inside = [one.replica in isr for isr, _ in epoch.isr]
    return any(not out and back for out, back in itertools.pairwise(inside)) and inside[-1]


def _over(spans: Sequence[RoleSpan], at: int, epoch: Epoch) -> bool:
    """Return whether a role span, with the load that follows it, ended before anything was committed in ``epoch``.

    If the replica received the epoch late, it may have lost the end of its log after records were committed. This
    matters only for members of the epoch's first ISR, because they stay in the ISR while they lack those records.
    """
    one, two = spans[at], spans[at + 1] if at + 1 < len(spans) else None
    if one.epoch >= epoch.epoch or two is None or two.epoch < epoch.epoch:
        return one.epoch < epoch.epoch
    return two.epoch == epoch.epoch and one.replica not in (epoch.first_isr or ())


def _bounded(history: History, leader: int, epoch: Epoch, after: Epoch, end: int) -> bool:
    """Return whether another ISR member held at most ``end`` when the epoch ended, so that no more was committed.

    The member must have stayed in the ISR as long as the leader may have led.
    """
    last = epoch.last_isr
    if last is None or not isr_known_to_end(history, epoch):
        return False
    stayed = (last & latest_isr_stated(history, epoch, last)) - {leader}
    for later in history.epochs.between(epoch.epoch, after.epoch):
        if later.leader == leader:
            stayed = stayed.intersection(*(isr for isr, _ in later.isr))
    bounds = (log_end(history, broker, epoch.epoch).high for broker in stayed)
    return any(bound is not None and bound <= end for bound in bounds)


def _shortened(history: History, broker: int, after: int, until: int) -> bool:
    """Return whether a replica's log lost records at its end between two leader epochs, or may have."""
    return _truncated(history, broker, after, until) or _found_shorter(history, broker, after, until)


def _truncated(history: History, broker: int, after: int, until: int) -> bool:
    """Return whether a replica truncated its log between two leader epochs.

    A follower that truncated when it began to follow the earlier epoch fetched those records again before it rejoined
    the ISR. A member of that epoch's first ISR is an exception: it stays in the ISR while it lacks what it truncated
    (KIP-101). But what it truncates by leader epoch, at or above the offset at which its leader began, that one lacks.
    """
    epoch = history.epochs.get(after)
    stayed = epoch is not None and broker in (epoch.first_isr or ())
    first = after if stayed else after + 1
    truncations = itertools.chain(history.truncations, history.truncations_of_unknown_extent)
    return any(
        one.replica == broker and first <= one.epoch <= until and not (one.epoch == after and _of_none(one, epoch))
        for one in truncations
    )


def _of_none(one: Truncation, epoch: Epoch | None) -> bool:
    """Return whether a truncation removed nothing that the leader of its epoch had (KIP-101, KIP-279)."""
    start = epoch.start if epoch is not None else None
    return start is not None and one.reason is TruncationReason.LEADER_EPOCH and one.target >= start


def _found_shorter(history: History, broker: int, after: int, until: int) -> bool:
    """Return whether a replica's log was found shorter between two leader epochs, and may have been so as it led."""
    spans = history.role_spans.get(broker, [])
    last = until - 1 if _led_whole(spans, until) else until
    found = {one.epoch for one in history.shortened_logs if one.replica == broker and one.epoch <= last}
    return any(_may_lack_since(history, spans, number, after) for number in found)


def _may_lack_since(history: History, spans: Sequence[RoleSpan], number: int, after: int) -> bool:
    """Return whether a log that was found shorter after a role may lack what was committed in an epoch or later.

    Not if that was over before anything was committed in the epoch, nor if the replica rejoined the ISR after it.

    Args:
        history: the partition.
        spans: role spans of the replica.
        number: leader epoch of the role.
        after: the epoch in which records were committed.
    """
    epoch = history.epochs.get(after)
    if epoch is None:
        return number >= after
    late = any(one.epoch == number and not _over(spans, at, epoch) for at, one in enumerate(spans))
    return (number >= after or late) and not _always_let_in_again(history, spans, number, epoch)


def _led_whole(spans: Sequence[RoleSpan], number: int) -> bool:
    """Return whether a replica had one role in an epoch, as leader, with nothing but loads of its log at the end.

    If the log was found shorter by these, it was complete when the role began.
    """
    here = [one for one in spans if one.epoch == number]
    if len(here) != 1 or here[0].role is not Role.LEADER:
        return False
    return len(here[0].loads) == len(here[0].steps)


def _always_let_in_again(history: History, spans: Sequence[RoleSpan], number: int, before: Epoch) -> bool:
    """Return whether a replica rejoined the ISR of an epoch after every restart in that epoch."""
    ended = [at for at, one in enumerate(spans[:-1]) if one.epoch == number and spans[at + 1].run != one.run]
    if not ended or not all(rejoined_isr(history, spans, at, before) for at in ended):
        return False
    if {spans[at + 1].epoch for at in ended} != {number}:
        return False
    inside = [spans[ended[0]].replica in isr for isr, _ in history.epochs[number].isr]
    return sum(not out and back for out, back in itertools.pairwise(inside)) >= len(ended)
