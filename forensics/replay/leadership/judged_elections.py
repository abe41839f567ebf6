"""Elections from the ISR or from outside it: the first answer of an ordered table that the evidence gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import (
    elected_with_others,
    from_isr,
    isr_before,
    isr_changes_complete,
    last_with_isr,
    latest_isr_stated,
    maybe_eligible,
    outside_isr,
    states_isr_changes,
    was_last_member,
)


class Elected(StrEnum):
    """How a leader was elected, as far as the evidence shows it."""

    OUT_OF_ORDER = "leader epochs went back, so the ISR before the election is unknown"
    OUTSIDE_ISR = "from outside the ISR"
    MAYBE_ELIGIBLE = "perhaps from the eligible leader replicas"
    UNKNOWN = "the ISR before the election is unknown"
    IN_SYNC = "from the ISR, or as the first leader"


@dataclass(frozen=True, slots=True)
class Election:
    """The election of one leader.

    Attributes:
        epoch: its leader epoch.
        before: the epoch of the last known leader before, or None.
        unseen: replicas whose own lines on their roles are not all in the evidence.
    """

    epoch: Epoch
    before: Epoch | None
    unseen: Sequence[int]


@dataclass(frozen=True, slots=True)
class LastIsr:
    """The last ISR that is known before an election.

    Attributes:
        isr: its members, or None if no ISR is known.
        epoch: the last epoch before of which any ISR is known, or None.
        of_epoch: it is the last ISR of this epoch that any line states. Otherwise only the partition epoch shows it,
            and it is unknown who led then.
    """

    isr: frozenset[int] | None
    epoch: Epoch | None
    of_epoch: bool


def leaders(history: History) -> list[Epoch]:
    """Return the epochs with a known leader, in order."""
    return [epoch for epoch in history.epochs.values() if epoch.leader is not None and epoch.leader >= 0]


def judged_elections(history: History, unseen: Sequence[int]) -> list[tuple[Epoch, Elected]]:
    """Return each epoch with a known leader, and how its leader was elected.

    Args:
        history: the partition.
        unseen: replicas whose own lines on their roles are not all in the evidence.
    """
    led = leaders(history)
    elections = (Election(epoch, before, unseen) for before, epoch in itertools.pairwise([None, *led]) if epoch)
    return [(one.epoch, elected(history, one)) for one in elections]


def elected(history: History, election: Election) -> Elected:
    """Return how a leader was elected."""
    return next((answer for applies, answer in ANSWERS if applies(history, election)), Elected.IN_SYNC)


def last_isr(history: History, epoch: Epoch) -> LastIsr:
    """Return the last ISR that is known before an election."""
    isr, last = isr_before(history, epoch) or None, last_with_isr(history, epoch)
    if last is not None and isr in (None, last.last_isr):
        return LastIsr(isr or latest_isr_stated(history, last, last.last_isr or frozenset()), last, of_epoch=True)
    return LastIsr(isr, last, of_epoch=False)


def is_last_member_again(history: History, epoch: Epoch) -> bool:
    """Return whether a controller by itself elected the last member of the ISR after it had left the ISR (KIP-966)."""
    return not epoch.by_request and not epoch.asked and bool(was_last_member(history.epochs, epoch))


@dataclass(frozen=True, slots=True)
class LoadedAgain:
    """The log with which a broker returned before it was elected, and what its replica had stated before that.

    Attributes:
        end: log end offset with which the broker loaded its log.
        high_watermark: the highest high watermark that the replica had stated before, or read back after the load.
        time: of the load, microseconds since 1970 UTC, or None.
        refs: the line of the load, and that of the high watermark.
    """

    end: int
    high_watermark: int
    time: int | None
    refs: tuple[Ref, ...]


def loaded_again(history: History, epoch: Epoch) -> LoadedAgain | None:
    """Return with which log the leader of an epoch had returned; None if its lines do not state that.

    They state a high watermark of it too. A shorter log than its high watermark is among ``shortened_logs``.
    """
    if epoch.leader is None or not history.coverage.whole(epoch.leader):
        return None
    before = [one for one in history.role_spans.get(epoch.leader, ()) if one.epoch < epoch.epoch]
    loads = [step for one in before for step in one.loads]
    marks = [mark for one in before for mark in (one.start_hw, one.hw) if mark is not None]
    if not loads or not marks:
        return None
    load, mark = loads[-1], max(marks, key=lambda one: one.value)
    return LoadedAgain(load.target, mark.value, load.time, (*load.refs, mark.ref))


def _out_of_order(history: History, election: Election) -> bool:
    return bool(history.epoch_rollbacks) and not election.epoch.unclean


def _isr_unknown(history: History, election: Election) -> bool:
    """Return whether the ISR before an election is unknown, so that nothing can be concluded."""
    epoch = election.epoch
    if epoch.epoch == 0 or epoch.unclean or epoch.safe or elected_with_others(history, epoch):
        return False
    last = isr_before(history, epoch)
    if last is None:
        return not _unchanged_since_last_leader(history, election)
    # If a controller up to 1.0 has emptied the ISR, earlier epochs are needed to know its last member.
    emptied = not last and epoch.epoch - 1 in history.epochs and history.epochs[epoch.epoch - 1].by_request
    return emptied and was_last_member(history.epochs, epoch) is None


def _unchanged_since_last_leader(history: History, election: Election) -> bool:
    """Return whether the last ISR of the last known leader is the one before an election."""
    epoch, before = election.epoch, election.before
    if before is None or not isr_changes_complete(history, epoch):
        return False
    if before.leader in history.replicas and not states_isr_changes(history, before.leader):
        return False  # there a leader logs each change of the ISR (Partition.shrinkIsr, expandIsr)
    if not election.unseen:
        return True  # every replica's roles are known, and every leader's ISR
    # Without a leader the ISR stays as it is.
    between = (history.epochs.get(number) for number in range(before.epoch + 1, epoch.epoch))
    led_next = all(one is not None and one.leader == -1 for one in between)
    return led_next and before.isr_from_leader and before.leader not in election.unseen


def _from_outside(history: History, election: Election) -> bool:
    epoch, isr = election.epoch, isr_before(history, election.epoch)
    in_sync = isr is not None and epoch.leader in isr and not epoch.unclean
    return not in_sync and outside_isr(history, epoch)


def _is_first(history: History, election: Election) -> bool:
    return election.before is None


def _maybe_eligible(history: History, election: Election) -> bool:
    return maybe_eligible(history, election.epoch)


def _not_shown_in_sync(history: History, election: Election) -> bool:
    """Return whether the leader changed and nothing shows that the new one was in the ISR."""
    changed = election.before is None or election.epoch.leader != election.before.leader
    return changed and not from_isr(history, election.epoch)


ANSWERS: tuple[tuple[Callable[[History, Election], bool], Elected], ...] = (
    (_out_of_order, Elected.OUT_OF_ORDER),
    (_isr_unknown, Elected.UNKNOWN),
    (_from_outside, Elected.OUTSIDE_ISR),
    (_is_first, Elected.IN_SYNC),
    (_maybe_eligible, Elected.MAYBE_ELIGIBLE),
    (_not_shown_in_sync, Elected.UNKNOWN),
)
"""When which answer holds; the first one counts."""
