"""Why a leader lacked records that were committed, and why two logs parted: the first reason that the evidence shows.

``REASONS`` lists the reasons in the order in which they count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.committed.all_committed import may_have_lost_tail
from forensics.replay.committed.new_logs import replacements
from forensics.replay.committed.proof import losses
from forensics.replay.history import History, Role, ShortenedBy, Truncation, TruncationReason
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import last_with_isr, outside_isr, was_last_member
from forensics.replay.lineage import Range, intersect
from forensics.replay.protocol import Answer
from forensics.replay.roles.steps import REMOVES, RoleSpan, StepKind


class LostBy(StrEnum):
    """Why a leader lacked records, if its log was not found shorter (``ShortenedBy``)."""

    HW_TRUNCATION = "truncated to its own high watermark"
    UNCLEAN_ELECTION = "elected from outside the ISR"
    FORCED_ELECTION = "elected from outside the ISR by a command"
    LAGGING_ISR_MEMBER = "in the ISR without the records"
    VOTERS = "voters lost their copies"
    EPOCHS_PUT_BACK = "leader epochs went back"
    UNKNOWN = "not shown"


Why = LostBy | ShortenedBy
"""A reason: an event at which a log became shorter, or another one."""

NOT_SHOWN: frozenset[Why] = frozenset({LostBy.UNKNOWN, ShortenedBy.NO_LINE})
"""The answers that name no reason."""


@dataclass(frozen=True, slots=True)
class Lack:
    """A record that a leader lacked.

    Attributes:
        epoch: epoch of the leader.
        offset: the record, the first that it lacked.
        since: epoch in which the record was written or committed.
    """

    epoch: Epoch
    offset: int
    since: int

    @property
    def leader(self) -> int | None:
        """The leader that lacked it, or None if unknown."""
        return self.epoch.leader

    def led_between(self, epoch: int) -> bool:
        """Return whether an epoch is one in which the record was there, before the leader led without it."""
        return self.since <= epoch < self.epoch.epoch


def lost_by(history: History, epoch: Epoch, offset: int, since: int) -> Why:
    """Return why the leader of an epoch lacked records from an offset on.

    Args:
        history: the partition.
        epoch: the epoch.
        offset: first record it lacked.
        since: epoch in which the record was written or committed.
    """
    lack = Lack(epoch, offset, since)
    found = (reason(history, lack) for reason in REASONS)
    return next((why for why in found if why is not None), LostBy.UNKNOWN)


def forked_by(history: History, ranges: tuple[Range, ...]) -> Why:
    """Return what removed one side of a fork, or why the leader began to write where the logs part."""
    loss = next((one for one in losses(history)[0] if intersect(one.ranges, ranges)), None)
    if loss is not None:
        return lost_by(history, loss.epoch, loss.ranges[0][0], loss.statements[0].epoch)
    if history.epoch_rollbacks:
        return LostBy.EPOCHS_PUT_BACK
    first = ranges[0][0]
    outside = [e for e in history.epochs.values() if outside_isr(history, e) and not was_last_member(history.epochs, e)]
    if outside:
        return next((elected_by(epoch) for epoch in outside if epoch.start == first), LostBy.UNKNOWN)
    removed = any(one.reason is TruncationReason.HIGH_WATERMARK and _removed(one, first) for one in history.truncations)
    return LostBy.HW_TRUNCATION if removed and history.protocol.truncates_to_hw else LostBy.UNKNOWN


def ended_by(history: History, broker: int, end: int) -> Why:
    """Return why the log of a replica ends on disk at an offset although it had more.

    The last event after which the log was shorter is the best evidence. But a log that has grown since it was found
    empty may lack its end for another reason. Otherwise, everything below its recovery point had been flushed, so a
    crash cannot lose it, and another log replaced it.
    """
    steps = [step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps]
    back = [step for step in steps if step.kind in (StepKind.LOADED, StepKind.RECOVERY_TRUNCATED, StepKind.CREATED)]
    if back and back[-1] in replacements(history, broker):
        return ShortenedBy.NEW_LOG if end <= back[-1].target else LostBy.UNKNOWN
    point = history.facts.disks[broker].recovery_point
    flushed = point is not None and point[0] > end
    return ShortenedBy.CLEAN_RESTART if flushed else ShortenedBy.UNCLEAN_RESTART


def elected_by(epoch: Epoch) -> LostBy:
    """Return why a replica from outside the ISR was elected."""
    return LostBy.FORCED_ELECTION if epoch.forced else LostBy.UNCLEAN_ELECTION


def truncated_before(history: History, epoch: Epoch, offset: int, since: int) -> list[Truncation]:
    """Return truncations by which the leader of an epoch removed a record before it led without it.

    Within the epoch that wrote the record a follower removes it when it returns and truncates to its own high watermark
    (before 0.11, KIP-101), and may fetch it again. Other truncations of that epoch reconcile it with who wrote it.

    Args:
        history: the partition.
        epoch: the epoch.
        offset: the record.
        since: epoch in which the record was written or committed.
    """

    def counts(one: Truncation) -> bool:
        if one.epoch == since:
            return one.reason is TruncationReason.HIGH_WATERMARK and one.lineage.epoch_at(offset) == since
        return since < one.epoch <= epoch.epoch

    own = (one for one in history.truncations if one.replica == epoch.leader and _removed(one, offset))
    return [one for one in own if counts(one)]


def _removed(truncation: Truncation, offset: int) -> bool:
    return truncation.target <= offset < truncation.end


def _voters_lost(history: History, lack: Lack) -> Why | None:
    """Voters of the metadata log lost what they had, so that a majority elected a leader without the record."""
    return LostBy.VOTERS if history.quorum is not None and history.quorum.shortened else None


def _found_shorter(history: History, lack: Lack) -> Why | None:
    """Its log was found shorter, without the record."""
    return next(
        (
            one.cause
            for one in history.shortened_logs
            if one.replica == lack.leader and lack.led_between(one.epoch) and one.target <= lack.offset < one.end
        ),
        None,
    )


def _truncated(history: History, lack: Lack) -> Why | None:
    """It truncated the record: to its own high watermark, or to follow a leader that lacked the record as well."""
    for truncation in truncated_before(history, lack.epoch, lack.offset, lack.since):
        if truncation.reason is TruncationReason.HIGH_WATERMARK:
            return LostBy.HW_TRUNCATION
        followed = history.epochs.get(truncation.epoch)
        if followed is not None and followed.leader != lack.leader:
            return lost_by(history, followed, lack.offset, lack.since)
    return None


def _elected_from_outside(history: History, lack: Lack) -> Why | None:
    """It was elected from outside the ISR.

    The leader that wrote the record had it, and so had the last member of the ISR (KIP-966), elected from the ISR or
    not. If it restarted without the record, there is another reason, which the evidence does not show.
    """
    isr = history.played.isr if history.played is not None else None
    outside = lack.epoch.epoch in isr.outside if isr is not None else outside_isr(history, lack.epoch)
    if not outside:
        return None
    written = history.epochs.get(lack.since)
    had = written is not None and written.leader == lack.leader
    return LostBy.UNKNOWN if had or was_last_member(history.epochs, lack.epoch) else elected_by(lack.epoch)


def _kept_own_tail(history: History, lack: Lack) -> Why | None:
    """As a follower it kept a tail of its own, which no offset distinguishes from its leader's (KIP-101)."""
    here = [(lack.offset, lack.offset + 1)]
    forked = any(lack.leader in (one.left, one.right) and intersect(one.ranges, here) for one in history.facts.forks)
    if not forked or not history.protocol.truncates_to_hw or lack.leader is None or not _all_named(history, lack):
        return None
    if not any(_kept_tail(one, lack) for one in history.role_spans.get(lack.leader, ())):
        return None
    if not history.coverage.throughout(lack.leader):
        return None
    written = history.epochs.get(lack.since)
    unseen = written is not None and may_have_lost_tail(history, lack.leader, written, lack.epoch)
    return None if unseen else LostBy.HW_TRUNCATION


def _kept_tail(role_span: RoleSpan, lack: Lack) -> bool:
    """Return whether a follower had more in its log than it fetched in a role, and truncated none of it.

    A follower only removes what is above its own high watermark (ReplicaManager.makeFollowers).
    """
    least = min([role_span.start_low, *(step.target for step in role_span.steps if step.kind in REMOVES)])
    return role_span.role is Role.FOLLOWER and lack.led_between(role_span.epoch) and least > lack.offset


def _all_named(history: History, lack: Lack) -> bool:
    """Return whether lines name each epoch from the one of the record on: in others anything may have happened.

    A controller's own change of the ISR has an epoch too.
    """
    return all(history.epochs.get(number) is not None for number in range(lack.since, lack.epoch.epoch))


def _lagged(history: History, lack: Lack) -> Why | None:
    """It was in the ISR without ever having the record.

    Either the former leader states how far behind it was, or nothing in its own log can have removed the record.
    """
    if not _all_named(history, lack):
        return None
    return LostBy.LAGGING_ISR_MEMBER if _stated_behind(history, lack) or _never_had(history, lack) else None


def _stated_behind(history: History, lack: Lack) -> bool:
    """Return whether a leader states that a member of its ISR had less than its high watermark, without the record."""
    return any(
        one.replica == lack.leader and one.end <= lack.offset < one.high_watermark for one in history.members_behind
    )


def _never_had(history: History, lack: Lack) -> bool:
    """Return whether a member of the ISR cannot have had the record: its complete lines show no loss of it."""
    leader = lack.leader
    if (
        leader is None
        or history.protocol.joins_below_epoch_start is not Answer.YES
        or not history.coverage.throughout(leader)
    ):
        return False
    before = last_with_isr(history, lack.epoch)
    if before is None or not (before.isr_from_leader or before.isr_from_others):
        return False
    return leader in (before.last_isr or ()) and _nothing_removed(history, leader, lack)


def _nothing_removed(history: History, leader: int, lack: Lack) -> bool:
    """Return whether one process of a replica saw the record being written and removed nothing since."""
    # A truncation that removed nothing may leave no record of that.
    unknown = (one for one in history.truncations_of_unknown_extent if one.replica == leader)
    if any(lack.since <= one.epoch <= lack.epoch.epoch for one in unknown):
        return False
    spans = [one for one in history.role_spans.get(leader, ()) if lack.led_between(one.epoch)]
    there = bool(spans) and spans[0].epoch == lack.since
    return there and not any(one.steps for one in spans) and len({one.run for one in spans}) == 1


def _epochs_put_back(history: History, lack: Lack) -> Why | None:
    """Leader epochs went back: which leader had the record is unknown."""
    return LostBy.EPOCHS_PUT_BACK if history.epoch_rollbacks else None


REASONS: tuple[Callable[[History, Lack], Why | None], ...] = (
    _voters_lost,
    _found_shorter,
    _truncated,
    _elected_from_outside,
    _kept_own_tail,
    _lagged,
    _epochs_put_back,
)
"""The reasons in the order in which they count; each gives None where it does not apply."""
