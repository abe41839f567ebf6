"""Signs of what replicas removed to follow a leader that an unclean election chose."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from forensics.replay.facts.deletions import log_start_at
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History, Truncation
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import isr_before
from forensics.replay.signs.isr_signs import plans_of_last_isr
from forensics.replay.signs.led_after_truncating import end_may_be_gone
from forensics.replay.signs.sign import Sign, Suspicion


def last_isr_truncated(history: History) -> Iterator[Suspicion]:
    """Yield members of the last ISR that truncated to follow a leader elected from outside it (KIP-106).

    Everything committed is in the log of each ISR member, so what one removes then may have been committed. If a high
    watermark above the target is known, that decides.
    """
    unclean = (epoch for epoch in history.epochs.values() if epoch.unclean and not epoch.safe)
    for epoch in (epoch for epoch in unclean if epoch.leader is not None):
        isr = isr_before(history, epoch) or frozenset()
        for one in _removed_by(history, epoch, isr if epoch.leader not in isr else ()):
            yield _removed(Sign.LAST_ISR_TRUNCATED, history, epoch, one)
        yield from _planned_by_last_isr(history, epoch)


def _planned_by_last_isr(history: History, epoch: Epoch) -> Iterator[Suspicion]:
    """Yield the same of members of the last ISR of which lines state the plan alone."""
    for plan in plans_of_last_isr(history, epoch):
        refs = (*epoch.unclean[:1], Ref(row=plan.row, note=f"truncates to {plan.offset}"))
        yield Suspicion(
            Sign.LAST_ISR_TRUNCATED, plan.broker, epoch.leader, epoch.epoch, -1, plan.offset or 0, None, plan.time,
            refs, target=plan.offset,
        )  # fmt: skip


def truncated_for_last_known(history: History) -> Iterator[Suspicion]:
    """Yield replicas that truncated to follow the last known leader, elected from an empty ISR after it had stopped
    uncleanly (KIP-966).

    An unclean stop takes the end of a log. So what another replica removes may have been committed, if that one was in
    the ISR when records were written last.
    """
    elected = [epoch for epoch in history.epochs.values() if epoch.last_known and not epoch.safe]
    for epoch in elected:
        served = next((one for one in reversed(history.epochs.before(epoch.epoch)) if one.leader_took_up), None)
        members = (served.last_isr if served is not None else None) or frozenset()
        removed = _removed_by(history, epoch, members - {epoch.leader})
        if removed:  # what is committed each of them had
            least = min(removed, key=lambda one: (one.before.exact or math.inf, one.replica))
            yield _removed(Sign.TRUNCATED_FOR_LAST_KNOWN, history, epoch, least)


def _removed_by(history: History, epoch: Epoch, members: Collection[int | None]) -> list[Truncation]:
    """Return truncations of some replicas that follow an epoch's leader, if no known high watermark judges them."""
    removed = (*history.truncations, *history.truncations_of_unknown_extent)
    highest = max((one.high_watermark for one in history.statements if one.epoch < epoch.epoch), default=0)
    found = [one for one in removed if one.replica in members and _follows(one, epoch) and highest <= one.target]
    return [one for one in found if one.before.exact is None or _first_removed(history, one) < one.before.exact]


def _removed(sign: Sign, history: History, epoch: Epoch, one: Truncation) -> Suspicion:
    return Suspicion(
        sign, one.replica, epoch.leader, epoch.epoch, -1, _first_removed(history, one), one.before.exact, one.time,
        (*epoch.unclean[:1], *one.refs), target=one.target,
        more=one.before.exact is not None and end_may_be_gone(history, one.replica, one.before.exact, one.refs[0]),
    )  # fmt: skip


def _first_removed(history: History, truncation: Truncation) -> int:
    """Return the first offset that a truncation removed: others had been deleted from the start, as retention does."""
    deleted = max((deletion.log_start for deletion in history.deletions), default=0)
    start = log_start_at(history.facts.log_starts, truncation.replica, truncation.refs[0].row)
    return max(truncation.target, deleted, start)


def _follows(truncation: Truncation, epoch: Epoch) -> bool:
    """Return whether a replica truncated as follower of an epoch's leader; by time if no line names its role."""
    if truncation.epoch >= 0:
        return truncation.epoch == epoch.epoch
    later = (truncation.time or 0) > (epoch.time or 0) > 0
    return later and truncation.leader in (None, epoch.leader)
