"""Logs that were found shorter: which replicas hold what they lacked, and whether they have it again."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.committed.all_committed import may_have_lost_tail
from forensics.replay.committed.proof import losses, possible_losses, served_log
from forensics.replay.committed.rejoined import has_committed_again, has_fetched_again, is_as_long_again
from forensics.replay.committed.surviving_copies import holders
from forensics.replay.facts.deletions import log_start_at
from forensics.replay.history import History, Role, ShortenedLog
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import outside_isr
from forensics.replay.lineage import Range, differences, subtract
from forensics.replay.roles.steps import REMOVES, StepKind


class Regained(StrEnum):
    """How a replica has again the records that its log lacked."""

    NOT = "not shown"
    FETCHED = "fetched from a leader"
    REJOINED = "rejoined an ISR, so it has all committed records"
    AS_LONG = "followed a leader until its log was as long again"


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The records that a shorter log lacked, as far as they are known.

    Attributes:
        shortened: the log that was found shorter.
        first: first offset that it lacked.
        holders: replicas that hold everything that it lacked; the replica itself, if it has fetched it again.
        regained: whether the replica has it again.
        measured: it is known to have had no committed records beyond its known end.
        stated_twice: a line on a later role states that the log begins there too. A new log that no such line confirms
            rests on the order of two files of its broker, hence on their clocks.
    """

    shortened: ShortenedLog
    first: int
    holders: tuple[int, ...]
    regained: Regained
    measured: bool
    stated_twice: bool

    @property
    def others(self) -> tuple[int, ...]:
        """Other replicas that hold what the log lacked, as long as the replica does not have it again."""
        if self.regained is not Regained.NOT:
            return ()
        return tuple(broker for broker in self.holders if broker != self.shortened.replica)

    @property
    def whole_again(self) -> bool:
        """The replica has again everything that its log can have had."""
        return self.measured and self.shortened.replica in self.holders


def aftermath(history: History, shortened: ShortenedLog) -> Aftermath:
    """Return what is known of the records that a shorter log lacked."""
    if history.quorum is not None and history.quorum.sole_voter is not None:
        return Aftermath(  # no other node has a log from which it could fetch: what it has now is new
            shortened, shortened.target, (), Regained.NOT, _measured(history, shortened), stated_twice=False
        )
    whole = _holders(history, shortened)
    if shortened.replica not in whole and has_fetched_again(history, shortened):
        whole = tuple(sorted({*whole, shortened.replica}))
    regained = Regained.FETCHED if shortened.replica in whole else Regained.NOT
    if has_committed_again(history, shortened):
        regained = Regained.REJOINED
    elif regained is Regained.NOT and is_as_long_again(history, shortened):
        regained = Regained.AS_LONG
    start = log_start_at(history.facts.log_starts, shortened.replica, shortened.refs[0].row)
    first = start if 0 == shortened.target < start < shortened.end else shortened.target
    return Aftermath(
        shortened, first, whole, regained, _measured(history, shortened), _is_stated_twice(history, shortened)
    )


def _is_stated_twice(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a role that follows states the log end offset that was found, in its own line.

    A broker takes a role as soon as it has created the log for it (``Partition.makeLeader``, ``makeFollower``), so the
    line on the role follows the one on the new log. A line on a new log that comes after the role for which the log
    was made has the time of another clock, or is repeated.
    """
    known_before = max((ref.row for ref in shortened.before.because if ref.row is not None), default=None)
    found = shortened.refs[0].row
    since = min((row for row in (found, known_before) if row is not None), default=0)
    return any(
        role_span.start_end == shortened.target and role_span.states_own_start and (role_span.refs[0].row or 0) >= since
        for role_span in history.role_spans.get(shortened.replica, ())
    )


def _holders(history: History, shortened: ShortenedLog) -> tuple[int, ...]:
    """Return replicas that hold everything that a log lacked; the replica itself, if it has fetched it again.

    If it is settled that nothing was lost, records that no later leader had were never committed and do not count.
    """
    epoch = history.epochs.get(shortened.epoch)
    lineage = shortened.lineage if shortened.lineage.entries or epoch is None else epoch.lineage
    lacked = [(shortened.target, shortened.end)]
    served = served_log(history)
    if _settled(history) and served is not None:
        lacked = subtract(lacked, differences(lineage, served, shortened.target, shortened.end)[0])
    played = history.played.held.get(shortened.refs[-1].row or 0) if history.played is not None else None
    if played is not None:
        return tuple(sorted(broker for broker, ranges in played.items() if lacked and not subtract(lacked, ranges)))
    held = {broker for broker, ranges in holders(history, lineage, lacked).items() if list(ranges) == lacked}
    if lacked and not history.epoch_rollbacks and not losses(history)[0]:
        held |= _like_a_whole_log(history, lacked)
    return tuple(sorted(held))


def _like_a_whole_log(history: History, ranges: list[Range]) -> set[int]:
    """Return replicas with segments that are identical to those of a replica that never lost any record.

    They hold the records even if lines do not show the epochs of their logs.
    """
    truncations = (*history.truncations, *history.truncations_of_unknown_extent)
    removed = {one.replica for one in truncations} | {one.replica for one in history.shortened_logs}
    pairs = ((broker, other) for broker in history.replicas for other in history.replicas.keys() - removed - {broker})
    return {broker for broker, other in pairs if history.facts.identical_ranges(broker, other, ranges) == ranges}


def _settled(history: History) -> bool:
    """Return whether it is known that no committed records are gone."""
    return not history.epoch_rollbacks and not possible_losses(history) and not losses(history)[0]


def _measured(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a log is known to have had no committed records beyond its known end.

    Records of a leader beyond that lower bound may have been committed and lost.
    """
    roles = (one.role for one in history.role_spans.get(shortened.replica, ()) if one.epoch == shortened.epoch)
    return _settled(history) or shortened.before.is_exact or next(roles, None) is Role.FOLLOWER


def unmeasured_leaders(history: History) -> list[Epoch]:
    """Return epochs of leaders that loaded their log after an unclean stop, with an unknown former end.

    They led next, and committed records may have been lost at that change.
    """
    return [
        one.after
        for one in possible_losses(history)
        if one.after.leader is not None
        and (not outside_isr(history, one.after) or one.after.last_known)
        and may_have_lost_tail(history, one.after.leader, one.before, one.after)
    ]


@dataclass(frozen=True, slots=True)
class FlushedTail:
    """Flushed records at the end of a log that was loaded without them, and no line shows what removed them.

    Attributes:
        replica: broker id.
        ranges: their offsets: from the log end offset of the load to the recovery point.
    """

    replica: int
    ranges: tuple[Range, ...]


def flushed_tails(history: History) -> list[FlushedTail]:
    """Return the logs that were loaded below their own recovery point without a logged removal."""
    found = []
    for broker, disk in sorted(history.facts.disks.items()):
        steps = [step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps]
        loads = [step for step in steps if step.kind is StepKind.LOADED]
        point = disk.recovery_point[0] if disk.recovery_point is not None else 0
        if not loads or disk.end is None or not loads[-1].target <= disk.end < point:
            continue  # it may have been flushed since
        if not any(step.kind in REMOVES and step.target < point for step in steps):
            found.append(FlushedTail(broker, ((loads[-1].target, point),)))
    return found


def unnamed_between_roles(history: History) -> list[tuple[int, tuple[int, ...]]]:
    """Return replicas with leader epochs that no line names between two of their roles: the epochs of these two roles
    and those in between. The replica may have restarted in between with a shorter log.
    """
    return [
        (broker, (one.epoch, *between, two.epoch))
        for broker, spans in sorted(history.role_spans.items())
        for one, two in itertools.pairwise(spans)
        if one.epoch >= 0 and (between := history.coverage.unnamed_between(one.epoch, two.epoch))
    ]
