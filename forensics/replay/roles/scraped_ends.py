"""Lower bounds of log ends by what the exporters of brokers printed (``kafka.log:type=Log,name=LogEndOffset``).

The gauge is the log end offset of the broker's own replica. A value is of the scrape or before, by the clock of the
server that scrapes: see ``high_watermarks.scraped``. A log only grows until a line shows that something was removed
from it. So lines divide the time of a replica into stretches, and these are all stretches of which a value can be:

* They overlap with the time of the scrape, give or take ``CLOCKS_APART``, and ``OLDEST`` longer before.
* The log was no longer than the value as they began, and no shorter as they ended.
* Values of one series are in order by one clock. If a lower value follows, something was removed in between.

A value counts if nothing was removed between the stretches of which it can be. No value of a partition counts if one
of them can be of no stretch: it is about another topic or cluster. Nor does one that can be of a deleted topic.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from forensics.replay.facts.scrapes import CLOCKS_APART, OLDEST, EndSeries, ScrapedEnd
from forensics.replay.history import History, Role
from forensics.replay.inferences import Inferred
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch
from forensics.replay.roles.steps import RoleSpan, Step, StepKind


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which nothing was removed from a replica's log, within one role.

    Attributes:
        role: place of the role among those of the replica.
        removals: how often something may have been removed before.
        begin, end: microseconds since 1970 UTC by the clock of the broker; None before and after its lines.
        low: the least that the log end offset was as it began.
        high: the most that it was as it ended, or None.
        removal: row of the line that shows what was removed at its end; None if it ends with the role.
    """

    role: int
    removals: int
    begin: int | None
    end: int | None
    low: int
    high: int | None
    removal: int | None

    def can_have(self, value: ScrapedEnd) -> bool:
        """Return whether a value can be of this time."""
        if self.end is not None and self.end < value.time - CLOCKS_APART - OLDEST:
            return False
        if self.begin is not None and self.begin > value.time + CLOCKS_APART:
            return False
        return self.low <= value.end and (self.high is None or value.end <= self.high)


@dataclass(frozen=True, slots=True)
class Placed:
    """A value, and the last stretch of which it can be; nothing was removed between the first of them and this one."""

    value: ScrapedEnd
    last: Stretch


class ScrapedEnds:
    """Log end offsets of a partition's replicas as exporters printed them.

    Attributes:
        history: with its epochs and role spans.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self._placed: dict[int, list[Placed]] | None = None
        self._found: dict[int, list[Stretch]] = {}

    def before_removal(self, broker: int, row: int | None) -> Interval:
        """Return a lower bound of a log end before something was removed, by the row of the line that shows that."""
        of_row = (one for one in self._of(broker) if row is not None and self._removal_behind(broker, one) == row)
        most = max(of_row, key=lambda one: one.value.end, default=None)
        if most is None:
            return Interval()
        low = min(most.value.end, self._within_epoch(broker, most.last))
        return Interval(low, because=(most.value.ref,), by=(Inferred.SCRAPED_LOG_END,)) if low > 0 else Interval()

    def by_end_of(self, role_span: RoleSpan) -> ScrapedEnd | None:
        """Return the highest log end offset that a replica had by the end of a role, before anything was removed."""
        spans = self.history.role_spans.get(role_span.replica, ())
        at = next((position for position, one in enumerate(spans) if one is role_span), None)
        here = [one for one in self._stretches(role_span.replica) if one.role == at][:1]
        values = (
            one.value
            for one in self._of(role_span.replica)
            for stretch in here
            if one.last.role <= stretch.role and one.last.removals == stretch.removals
        )
        return max(values, key=lambda one: one.end, default=None)

    def _of(self, broker: int) -> Sequence[Placed]:
        """Return the values of a broker that count."""
        if self._placed is None:
            self._placed = self._place_all() if self._is_in_order() else {}
        return self._placed.get(broker, ())

    def _is_in_order(self) -> bool:
        """Return whether there are values, and leader epochs order what happened."""
        history = self.history
        return bool(history.facts.scraped_ends) and not (
            history.epoch_rollbacks or history.contested or history.coverage.unnamed
        )

    def _place_all(self) -> dict[int, list[Placed]]:
        """Return the values that count by broker; none if one of them can be of no time of its replica."""
        first = next(iter(self.history.epochs.values()), None)
        if first is None or first.time is None:
            return {}
        found: dict[int, list[Placed]] = {}
        for broker, of_broker in self.history.facts.scraped_ends.items():
            stretches = self._stretches(broker)
            placed = self._place(of_broker, stretches, first) if stretches else []
            if not all(there for _, there in placed):
                return {}
            found[broker] = [Placed(value, there[-1]) for value, there in placed if _is_certain(there)]
        return found

    def _place(
        self, of_broker: Sequence[EndSeries], stretches: Sequence[Stretch], first: Epoch
    ) -> list[tuple[ScrapedEnd, list[Stretch]]]:
        """Return each value of a broker that cannot be of a topic that was deleted before the first epoch."""
        known = (tuple(v for v in one if not is_before(self.history, v.time - OLDEST, first)) for one in of_broker)
        return [one for series in known for one in _placed(series, stretches)]

    def _stretches(self, broker: int) -> list[Stretch]:
        """Return the stretches of a replica in order; none if lines of it may be missing, or if they have no times."""
        if broker not in self._found:  # asked for each value
            self._found[broker] = self._divide(broker)
        return self._found[broker]

    def _divide(self, broker: int) -> list[Stretch]:
        spans = self.history.role_spans.get(broker, ())
        if not spans or not self.history.coverage.whole(broker):
            return []
        found = [*_divided(spans)]
        times = [time for one in found for time in (one.begin, one.end) if time is not None]
        known = all(one.end is not None for one in found[:-1])
        repeated = any(step.repeats for one in spans for step in one.steps)
        return found if known and times == sorted(times) and not repeated else []

    def _removal_behind(self, broker: int, placed: Placed) -> int | None:
        """Return the row of the line that shows the first removal after a value."""
        here = (one for one in self._stretches(broker) if one.removals == placed.last.removals)
        return next((one.removal for one in here if one.removal is not None), None)

    def _within_epoch(self, broker: int, stretch: Stretch) -> int:
        """Return the offset up to which a replica's log is known to be of the epochs of its roles.

        A follower may fetch records of its leader's next epoch before it receives that epoch.
        """
        role_span = self.history.role_spans[broker][stretch.role]
        if role_span.role is Role.LEADER:
            return _ANY
        if role_span.role is not Role.FOLLOWER or role_span.leader is None:
            return 0
        later = next(iter(self.history.epochs.after(role_span.epoch)), None)
        return _ANY if later is None or later.leader not in (None, role_span.leader) else later.begins.low


_ANY: Final = 1 << 62


def is_before(history: History, time: int, first: Epoch) -> bool:
    """Return whether a scrape of a time may be older than the first leader epoch that is known.

    Then it may be of a topic that was deleted. If lines of all replicas are complete before, they would show that.
    """
    assert first.time is not None
    if time >= first.time + CLOCKS_APART:
        return False
    coverage = history.coverage
    witnessed = first.epoch == 0 and all(coverage.throughout(one) for one in history.members)
    return not witnessed or time < first.time - CLOCKS_APART


def _divided(spans: Sequence[RoleSpan]) -> Iterator[Stretch]:
    """Yield the stretches of a replica in order."""
    removals, begin, low = 0, None, 0
    for role, (one, after) in enumerate(itertools.zip_longest(spans, spans[1:])):
        for step in one.steps:
            yield Stretch(role, removals, begin, step.time, low, _most_before(step), step.refs[0].row)
            removals, begin, low = removals + 1, step.time, step.target
        if after is None:
            yield Stretch(role, removals, begin, None, low, None, None)
            return
        # No load line: the next process began with another, empty log.
        emptied = after.run != one.run and not one.steps
        yield Stretch(role, removals, begin, after.time, low, None if emptied else after.start_end, None)
        removals, begin, low = removals + emptied, after.time, after.start_low


def _most_before(step: Step) -> int | None:
    """Return the most that a log end offset was before a change.

    A load does not show it: before 2.2 no line shows that a log was found shorter after a crash.
    """
    return None if step.kind is StepKind.LOADED else step.end


def _placed(series: EndSeries, stretches: Sequence[Stretch]) -> Iterator[tuple[ScrapedEnd, list[Stretch]]]:
    """Yield each value of a series with the stretches of which it can be."""
    later: list[tuple[int, int]] = []  # values after it, and how much may have been removed before each at most
    for value in reversed(series):
        fallen = [removals for end, removals in later if end < value.end]
        until = min(fallen, default=_ANY)
        there = [one for one in stretches if one.removals < until and one.can_have(value)]
        yield value, there
        if there:
            later = _with_later(later, value.end, there[-1].removals)


def _is_certain(there: Sequence[Stretch]) -> bool:
    """Return whether nothing was removed between the stretches of which a value can be."""
    return there[0].removals == there[-1].removals


def _with_later(later: Sequence[tuple[int, int]], end: int, removals: int) -> list[tuple[int, int]]:
    """Return later values with one more, without those that show no more than this one."""
    return [*(one for one in later if one[0] < end or one[1] < removals), (end, removals)]
