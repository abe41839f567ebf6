"""The least that a replica's log held before something was removed from it, if no line of the replica states it.

A high watermark that was reached with the replica in the ISR is within its log (Partition.maybeIncrementLeaderHW). So
is what a follower fetched from it (KIP-101).
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from forensics.replay.coverage import Printed
from forensics.replay.high_watermarks.crosscheck import may_have_left_isr
from forensics.replay.history import History, HwStatement, Role, ShortenedLog, TruncationReason
from forensics.replay.inferences import Inferred, joined
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import differences
from forensics.replay.roles.log_ends import shortened_to
from forensics.replay.roles.steps import REMOVES, RoleSpan, StepKind

_epoch = itemgetter(0)


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment before something was removed from a replica's log.

    Attributes:
        broker: the replica.
        until: last epoch whose high watermarks count.
        row: row of the replica's own line at which the question arises; its later lines do not count.
        since_load: ignore what it held before its log was loaded: a load shows what there was.
        emptied: it restarted without any record.
    """

    broker: int
    until: int
    row: int | None
    since_load: bool = False
    emptied: bool = False


class HeldEnds:
    """Lower bounds of log ends, once every high watermark is known.

    Attributes:
        history: with its statements.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._contested = history.contested
        known = (one for one in history.statements if one.epoch >= 0 and one.epoch not in self._contested)
        self._highest_first = sorted(known, key=lambda one: -one.high_watermark)
        self._shortened: dict[int, list[tuple[int, bool, int, bool]]] = {}

    def by_high_watermarks(self, moment: Moment) -> Interval:
        """Return a lower bound of a log end by the high watermarks that were reached with the replica in the ISR.

        What was committed bounds no log if the order of epochs shows nothing, or if a trace states each change of the
        log.
        """
        return self.bounded(moment, self._highest_first)

    def by_others(self, moment: Moment) -> Interval:
        """Return the same bound by the high watermarks that other replicas state."""
        return self.bounded(moment, [one for one in self._highest_first if one.replica != moment.broker])

    def bounded(self, moment: Moment, highest_first: Sequence[HwStatement]) -> Interval:
        """Return the bound by the first statement that counts."""
        if self.history.epoch_rollbacks or self.history.coverage.claims(moment.broker, Printed.LOG):
            return Interval()
        removed = self._removed_before(moment)
        for statement in highest_first:
            low = statement.high_watermark
            if low <= 0:
                break
            if statement.epoch > moment.until or (removed is not None and removed < low):
                continue
            if self._counts(moment, statement) and not self._shortened_since(moment, statement):
                own = statement.replica == moment.broker
                why = Inferred.HW_WITHIN_LOG if own else Inferred.ISR_COVERS_HW
                return Interval(low, because=statement.refs, by=joined((why,), statement.by))
        return Interval()

    def by_fetches(self, shortened: ShortenedLog) -> tuple[Interval, int | None]:
        """Return how far a follower had fetched from the replica while it led the epoch, and which follower.

        A follower that reconciled by leader epochs has its leader's records (KIP-101).
        """
        history = self.history
        if history.protocol.truncates_to_hw or history.epoch_rollbacks or not self._led_alone(shortened):
            return Interval(), None
        found: tuple[Interval, int | None] = Interval(), None
        for broker, spans in sorted(history.role_spans.items()):
            if not history.coverage.whole(broker):
                continue
            for one, two in itertools.pairwise(spans):
                fetched = self._fetched(shortened, one, two)
                if fetched.low > found[0].low:
                    found = replace(fetched, by=(Inferred.LEADER_HAS_WHAT_WAS_FETCHED,)), broker
        return found

    def _led_alone(self, shortened: ShortenedLog) -> bool:
        """Return whether no other replica wrote to the epoch, and this one only before its log was found shorter."""
        spans, number = self.history.role_spans[shortened.replica], shortened.epoch
        led = sum(one.epoch == number and one.role is Role.LEADER for one in spans)
        return number not in self._contested and (led == 1 or (led > 1 and self.appended_nothing(shortened)))

    def appended_nothing(self, shortened: ShortenedLog) -> bool:
        """Return whether a leader that restarted began its next leader epoch with the log that it had loaded.

        So what a follower had beyond that, it had fetched before the restart, also if the leader led the epoch again.
        """
        after = next((one for one in self.history.epochs.after(shortened.epoch) if one.leader_took_up), None)
        if after is None or after.leader != shortened.replica or after.start != shortened.target:
            return False
        return not self.history.coverage.unnamed_between(shortened.epoch, after.epoch)

    def _fetched(self, shortened: ShortenedLog, one: RoleSpan, two: RoleSpan) -> Interval:
        """Return the log end offset that a follower reached in a role, if it fetched from this replica alone."""
        history, number = self.history, shortened.epoch
        if one.epoch != number or one.role is not Role.FOLLOWER or one.leader not in (None, shortened.replica):
            return Interval()
        if one.start_end is None or two.start_end is None or two.start_end <= one.start_end or _removes(one):
            return Interval()
        unseen, named = range(number + 1, two.epoch), history.epochs.between(number, two.epoch)
        took_up = any(epoch.leader_took_up for epoch in named)
        skipped = history.protocol.kraft and len(named) < len(unseen)  # brokers of KRaft may skip epochs
        if took_up or skipped or history.coverage.unnamed_between(number, two.epoch):
            return Interval()
        later = history.epochs.get(two.epoch)
        # It may have fetched in a later epoch of the same leader before it received that epoch.
        if later is None or (later.leader == shortened.replica and not _removed_what_is_missing(shortened, two)):
            return Interval()
        return Interval(two.start_end, because=(two.start_ref,) if two.start_ref is not None else ())

    def _removed_before(self, moment: Moment) -> int | None:
        """Return the lowest offset to which the replica truncated in the epoch to which it returned, before a load."""
        if moment.since_load:
            return None
        here = [
            role_span
            for role_span in self.history.role_spans.get(moment.broker, ())
            if role_span.epoch == moment.until + 1
        ]
        return shortened_to(self.history, here, until=moment.row or 0)

    def _counts(self, moment: Moment, statement: HwStatement) -> bool:
        """Return whether a high watermark was reached before a moment with the replica in the ISR."""
        if statement.replica == moment.broker:
            return statement.earlier or (statement.refs[0].row or 0) <= (moment.row or 0)
        epoch = self.history.epochs[statement.epoch]
        # A replica that joins the ISR has all records committed by then, and from then on the high watermark waits for
        # it. That it stayed is known only if the leader, which states this ISR, logs more later.
        own = statement.replica == epoch.leader and not moment.since_load
        members = [isr for isr, _ in epoch.isr][-1 if own else 0 :]
        if not epoch.isr_from_leader or not members or not all(moment.broker in isr for isr in members):
            return False
        if may_have_left_isr(self.history, epoch, moment.broker):
            return False
        return statement.replica == epoch.leader or not self._out_later(
            moment.broker, epoch, statement, emptied=moment.emptied
        )

    def _shortened_since(self, moment: Moment, statement: HwStatement) -> bool:
        """Return whether a truncation or a load removed what was below a high watermark, before a moment."""
        number = statement.epoch if statement.replica == moment.broker else self._reached_in(statement)
        shortest = self._shortest(moment.broker)
        first, end = bisect_left(shortest, number, key=_epoch), bisect_right(shortest, moment.until, key=_epoch)
        return any(
            lowest < statement.high_watermark
            and (number < epoch or loaded or over)
            and (moment.since_load or not loaded)
            for epoch, loaded, lowest, over in shortest[first:end]
        )

    def _reached_in(self, statement: HwStatement) -> int:
        """Return the leader epoch in which a high watermark was reached first.

        A leader begins with what it knew before, and as soon as it states that, the members of its ISR need not have
        fetched anything from it.
        """
        epoch = self.history.epochs[statement.epoch]
        low = statement.high_watermark
        led = self.history.role_spans.get(epoch.leader if epoch.leader is not None else -1, ())
        began = [t.start_hw for t in led if t.epoch == epoch.epoch and t.role is Role.LEADER]
        below = bool(began) and all(hw is not None and hw.value < low for hw in began)
        if below or (epoch.begins.high is not None and epoch.begins.high < low):
            return epoch.epoch
        reached = (
            one.epoch
            for one in self.history.statements
            if 0 <= one.epoch < epoch.epoch and one.high_watermark >= low
            if not differences(one.lineage, statement.lineage, 0, low)[0]
        )
        return min(reached, default=epoch.epoch)

    def _out_later(self, broker: int, epoch: Epoch, statement: HwStatement, *, emptied: bool) -> bool:
        """Return whether a follower may have received the high watermark of the leader's next epoch.

        The replica was not in the ISR of that epoch. A waiting fetch is answered in that epoch, before the follower
        receives it. That a replica had a log at all follows from what others received, unless they fetched records of
        the next epoch.
        """
        later = next(iter(self.history.epochs.after(epoch.epoch)), None)
        if later is None or self.history.coverage.unnamed_between(epoch.epoch, later.epoch):
            return False
        if later.leader != epoch.leader or all(broker in isr for isr, _ in later.isr):
            return False
        spans = self.history.role_spans.get(statement.replica, ())
        ends = [t.start_end for t in spans if t.epoch == later.epoch and t.start_end is not None]
        ahead = later.start is None or any(end > later.start for end in ends)
        return ahead or not emptied

    def _shortest(self, broker: int) -> list[tuple[int, bool, int, bool]]:
        """Return the lowest offset to which a replica's log was shortened in each of its role spans.

        Each entry: epoch, whether it is a load, lowest offset, and whether the replica was deleted with it and returned
        only in a later epoch. They are in the order of their epochs.

        The result is cached: a replica in a truncation loop has thousands of steps, and each of them needs it.
        """
        if broker not in self._shortened:
            spans = self.history.role_spans.get(broker, [])
            self._shortened[broker] = sorted(
                (
                    role_span.epoch,
                    loaded,
                    lowest,
                    role_span.replica_removed and (later is None or later.epoch > role_span.epoch),
                )
                for role_span, later in itertools.zip_longest(spans, spans[1:])
                for loaded in (True, False)
                if (lowest := self._lowest_of(role_span, loaded=loaded)) is not None
            )
        return self._shortened[broker]

    def _lowest_of(self, role_span: RoleSpan, *, loaded: bool) -> int | None:
        """Return the lowest offset to which a replica's log was shortened in a role: by loads, or else by removals."""
        if loaded:
            return min((step.target for step in role_span.loads), default=None)
        return shortened_to(self.history, [role_span])


def _removed_what_is_missing(shortened: ShortenedLog, follower: RoleSpan) -> bool:
    """Return whether a follower first truncated its log to exactly where its leader's log ended when it was loaded.

    What it removed was of an earlier leader epoch than the one in which its leader answered (KIP-101).
    """
    first = follower.steps[0] if follower.steps else None
    by_epoch = first is not None and first.reason is not TruncationReason.HIGH_WATERMARK
    return first is not None and by_epoch and first.kind is StepKind.TRUNCATED and first.target == shortened.target


def _removes(role_span: RoleSpan) -> bool:
    """Return whether something was removed from the replica's log in a role."""
    return any(step.kind in REMOVES for step in role_span.steps)
