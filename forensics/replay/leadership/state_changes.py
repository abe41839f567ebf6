"""Changes of a partition's leader and ISR, and which brokers were gone then: why a broker was electable.

Nothing is concluded from these. They are for a reader who asks why the ISR had become so small.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.facts.lines_of_brokers import sees_broker_session
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.epochs import ELECTS
from parsers.details import eligible
from parsers.schema import ROLES, Kind

_SECOND = 1_000_000
_BEFORE, _AFTER = 30 * _SECOND, _SECOND
"""How long before and after a change its controller logs that a broker is gone, if the change is because of that."""
_BACK = 2 * _SECOND
"""How long before an election its controller logs that a broker returned, if the election is because of that."""
_CHAIN = 6
"""Changes of one chain that are shown, the last ones."""


class SessionLine(NamedTuple):
    """A line of a controller that a broker is gone, or that it is there again.

    Attributes:
        time: microseconds since 1970 UTC.
        row: of the line.
        broker: broker id.
        gone: its session ended; else another began.
    """

    time: int
    row: int
    broker: int
    gone: bool = True


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A change of the leader or the ISR.

    Attributes:
        epoch: leader epoch from then on.
        number: partition epoch from then on; None where the line states none.
        leader: leader from then on; -1 for none, None if the line states none.
        isr: the ISR from then on; None if no line states it.
        before: the ISR before; None if unknown.
        time: when, microseconds since 1970 UTC, or None.
        ref: the line or record.
        by_leader: the leader that changed its ISR; None for a controller.
        elects: it began the leader epoch.
        led: leader before; -1 for none, None if unknown.
        eligible: the eligible leader replicas from then on (KIP-966), where the record states them.
        gone: brokers that its controller had just found to be gone, among those that it removed or that had led.
        gone_refs: the lines of the controller that show this. A line is of the first change that it explains.
        back: the line of its controller that the elected broker had just returned, where no broker had led.
    """

    epoch: int
    number: int | None
    leader: int | None
    isr: frozenset[int] | None
    before: frozenset[int] | None
    time: int | None
    ref: Ref
    by_leader: int | None = None
    elects: bool = False
    led: int | None = None
    eligible: frozenset[int] = frozenset()
    gone: tuple[int, ...] = ()
    gone_refs: tuple[Ref, ...] = ()
    back: Ref | None = None

    @property
    def removed(self) -> frozenset[int]:
        """The replicas that left the ISR."""
        return (self.before or frozenset()) - (self.isr if self.isr is not None else self.before or frozenset())

    @property
    def grew(self) -> bool:
        """Return whether a replica joined the ISR, without an election."""
        return not self.elects and bool((self.isr or frozenset()) - (self.before or frozenset()))


def broker_sessions(observations: pl.DataFrame) -> dict[int, tuple[SessionLine, ...]]:
    """Return the lines of controllers about brokers' sessions, in order, by controller: the first of several.

    A line of a log counts before a record of the metadata log, because a reader can read it.
    """
    found: dict[int, list[SessionLine]] = {}
    rows = observations.filter(sees_broker_session(), pl.col("time").is_not_null(), pl.col("replica").is_not_null())
    rows = rows.sort(pl.col("line").is_null(), "row").select(
        "broker", pl.col("time").cast(pl.Int64), "row", "replica", pl.col("kind") == Kind.BROKER_FENCED.value
    )
    last: dict[tuple[int, int, bool], list[int]] = {}
    for controller, time, row, broker, gone in rows.iter_rows():
        known = last.setdefault((controller, broker, gone), [])
        if all(abs(time - one) > _AFTER for one in known[-2:]):
            found.setdefault(controller, []).append(SessionLine(time, row, broker, gone))
        known.append(time)
    return {controller: tuple(sorted(lines)) for controller, lines in found.items()}


def state_changes(
    cluster: Iterable[Event], events: Mapping[int, Sequence[Event]], sessions: Mapping[int, Sequence[SessionLine]]
) -> tuple[StateChanged, ...]:
    """Return the changes of a partition's leader and ISR that lines or records state, in order.

    Args:
        cluster: statements of controllers about the partition.
        events: each broker's own events about its replica, in its order.
        sessions: the lines of each controller about brokers' sessions.
    """
    by_leaders = {(one.epoch, one.isr): one for own in events.values() for one in _shrinks(own)}
    found: list[StateChanged] = []
    for one, controller in _by_controllers(cluster):
        own = None if one.elects else by_leaders.pop((one.epoch, one.isr), None)
        lines = sessions.get(controller, ())
        found.append(_with_back(_with_gone(one, lines), lines) if own is None else replace(own, number=one.number))
    return tuple(_once(sorted((*found, *by_leaders.values()), key=_order)))


def fenced_to_end(
    changes: Sequence[StateChanged], sessions: Mapping[int, Sequence[SessionLine]]
) -> dict[int, frozenset[int]]:
    """Return by leader epoch the brokers that a controller fenced and took out of the ISR, until the next epoch began.

    Where a change of the partition's state is missing, or no later epoch shows how long they were fenced, none count.

    Args:
        changes: of the partition, in order.
        sessions: the lines of each controller about brokers' sessions.
    """
    back = [line for lines in sessions.values() for line in lines if not line.gone]
    by_epoch = [list(same) for _, same in itertools.groupby(changes, key=lambda one: one.epoch)]
    return {one[0].epoch: _fenced_until(one, two[0], back) for one, two in itertools.pairwise(by_epoch)}


def _fenced_until(within: Sequence[StateChanged], after: StateChanged, back: Iterable[SessionLine]) -> frozenset[int]:
    """Return the brokers that were fenced as they left the ISR in an epoch, and still when the next one began.

    Args:
        within: the changes of the epoch.
        after: the first change of the next one.
        back: the lines of controllers about brokers that are there again.
    """
    numbers = [change.number for change in (*within, after) if change.number is not None]
    complete = len(numbers) > len(within) and numbers[-1] - numbers[0] == len(within)
    if not complete or after.time is None:
        return frozenset()
    since = {broker: change.time for change in within if change.time is not None for broker in change.gone}
    again = {line.broker for line in back if since.get(line.broker, line.time) < line.time <= after.time}
    return frozenset(since.keys() - again - (within[-1].isr or frozenset()))


def chain(changes: Sequence[StateChanged], since: int, elected: Epoch) -> Sequence[StateChanged]:
    """Return the changes that led to an election, its own last: since the ISR last grew, and the last few of many.

    Args:
        changes: of the partition, in order.
        since: leader epoch in which they begin at the earliest. Its own election counts if it left the leader, and made
            the ISR smaller.
        elected: the epoch of the election.
    """
    upto = [
        one
        for one in changes
        if (since < one.epoch < elected.epoch)
        or (one.epoch == since < elected.epoch and (not one.elects or (one.removed and one.led == one.leader)))
        or (one.epoch == elected.epoch and one.elects and (one.led != one.leader or one.removed))
    ]
    grown = max((at for at, one in enumerate(upto) if one.grew or one.before is None), default=-1)
    return upto[grown + 1 :][-_CHAIN:]


def _by_controllers(cluster: Iterable[Event]) -> Iterator[tuple[StateChanged, int]]:
    """Yield the changes that controllers state, with the controller; none of the eligible leader replicas alone."""
    for event, last in _with_last(list(cluster)):
        before = broker_set(event.isr_before) if event.isr_before is not None else last.isr
        isr = broker_set(event.isr) if event.isr is not None else before
        leader = event.leader if event.leader is not None else last.leader
        if leader == last.leader and isr == before and isr is not None:
            continue
        epoch = event.leader_epoch or 0
        ref = Ref(row=event.row, note=f"state of the partition at leader epoch {epoch}")
        elr = broker_set(eligible(event.detail)) or frozenset()
        change = StateChanged(
            epoch, event.partition_epoch, leader, isr, before, event.time, ref, led=last.leader, eligible=elr
        )
        yield replace(change, elects=event.leader is not None), event.broker


class _State(NamedTuple):
    """Leader and ISR at a partition epoch; None where nothing states it."""

    leader: int | None = None
    isr: frozenset[int] | None = None


def _with_last(cluster: Sequence[Event]) -> Iterator[tuple[Event, _State]]:
    """Yield what controllers state of each partition epoch, with the state before.

    Leaders change the ISR in between, and where no broker can lead, no line of an election states that. But requests
    and caches of that partition epoch do.
    """
    stated = {
        one.partition_epoch: _State(one.leader, broker_set(one.isr))
        for one in cluster
        if one.isr is not None and one.leader is not None
    }
    last = _State()
    for event in _numbered(cluster):
        last = stated.get((event.partition_epoch or 0) - 1, last)
        yield event, last
        isr = broker_set(event.isr if event.isr is not None else event.isr_before)
        leader = event.leader if event.leader is not None else last.leader
        last = _State(leader, isr if isr is not None else last.isr)


def _numbered(cluster: Iterable[Event]) -> Iterator[Event]:
    """Yield what controllers state of each partition epoch, once and in order."""
    states = sorted(
        (one for one in cluster if one.kind in ELECTS and one.partition_epoch is not None and one.partition_epoch >= 0),
        key=lambda one: (one.leader_epoch or 0, one.partition_epoch or 0, one.row),
    )
    for _, same in itertools.groupby(states, key=lambda one: one.partition_epoch):
        yield next(same)


def _shrinks(own: Iterable[Event]) -> Iterator[StateChanged]:
    """Yield the changes by which a leader made its ISR smaller, as far as it does not log that they were rejected."""
    epoch: int | None = None
    asked: StateChanged | None = None
    for event in own:
        if event.kind in ROLES and event.leader_epoch is not None:
            epoch = event.leader_epoch
        elif event.kind in (Kind.ISR_SHRINK, Kind.ISR_EXPAND, Kind.ISR_COMMIT, Kind.ISR_REJECTED):
            if asked is not None and event.kind != Kind.ISR_REJECTED:
                yield asked
            asked = _asked(event, epoch) if event.kind == Kind.ISR_SHRINK and epoch is not None else None
    if asked is not None:
        yield asked


def _asked(event: Event, epoch: int) -> StateChanged | None:
    before, isr = broker_set(event.isr_before), broker_set(event.isr)
    if before is None or isr is None or not before - isr:
        return None
    ref = Ref(row=event.row, note="the leader shrinks its ISR")
    return StateChanged(epoch, None, event.broker, isr, before, event.time, ref, by_leader=event.broker)


def _around(lines: Sequence[SessionLine], time: int, before: int) -> Sequence[SessionLine]:
    """Return the lines, which are in the order of time, from so long before a time to a second after it."""
    first, after = (bisect_left(lines, SessionLine(at, 0, 0, gone=False)) for at in (time - before, time + _AFTER + 1))
    return lines[first:after]


def _with_gone(one: StateChanged, lines: Sequence[SessionLine]) -> StateChanged:
    """Return a controller's change with the brokers that it had just found to be gone.

    Args:
        one: the change.
        lines: the lines of its controller about brokers' sessions, by time; there may be thousands.
    """
    lost = one.removed | ({one.led} if one.elects and one.led not in (None, -1, one.leader) else set[int | None]())
    if one.time is None or not lost:
        return one
    near: dict[int, int] = {}
    for line in _around(lines, one.time, _BEFORE):
        if line.gone and line.broker in lost:
            near[line.broker] = line.row
        elif line.time <= one.time:
            near.pop(line.broker, None)  # it was there again
    refs = tuple(Ref(row=near[who], note=f"broker {who} is gone") for who in sorted(near))
    return replace(one, gone=tuple(sorted(near)), gone_refs=refs)


def _with_back(one: StateChanged, lines: Sequence[SessionLine]) -> StateChanged:
    """Return an election after which a broker leads again, with the line that the elected broker had just returned."""
    if one.time is None or not one.elects or one.led != -1 or one.leader in (None, -1):
        return one
    mine = [line for line in _around(lines, one.time, _BACK) if line.broker == one.leader]
    if not mine or mine[-1].gone:
        return one
    return replace(one, back=Ref(row=mine[-1].row, note=f"broker {one.leader} is back"))


def _once(changes: Iterable[StateChanged]) -> Iterator[StateChanged]:
    """Yield changes, each line that a broker is gone with the first of them that it explains."""
    cited: set[int | None] = set()
    for one in changes:
        new = [(who, ref) for who, ref in zip(one.gone, one.gone_refs, strict=True) if ref.row not in cited]
        cited.update(ref.row for _, ref in new)
        yield replace(one, gone=tuple(who for who, _ in new), gone_refs=tuple(ref for _, ref in new))


def _order(one: StateChanged) -> tuple[int, bool, int, int]:
    """Return the sort key: an epoch begins with its election; a line without a partition epoch comes last."""
    number = one.number if one.number is not None else 2**31
    return (one.epoch, not one.elects, number, one.ref.row or 0)
