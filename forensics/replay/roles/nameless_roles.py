"""Roles that no line names with a leader epoch, as in server.log alone: replicas that truncated, and led soon after.

Up to 1.1 only state-change.log names leader epochs. But a broker prints in server.log to which offset it truncates as
a follower, and whom it fetches from. And only a leader changes the ISR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import TruncatedThenLed
from parsers.schema import Kind

_MINUTE: Final = 60_000_000
"""Microseconds. A member of the ISR fetches within replica.lag.time.max.ms, 10 or 30 s; so after a minute it had."""

_ISR: Final = frozenset({Kind.ISR_SHRINK, Kind.ISR_EXPAND, Kind.ISR_COMMIT})
_GROWN: Final = frozenset({Kind.ROLLED, Kind.PRODUCER_SNAPSHOT, Kind.APPEND, Kind.LEO})


@dataclass(frozen=True, slots=True)
class _Led:
    """A truncation of a follower, and the first line after it by which the same broker led."""

    cut: Event
    follows: Event
    isr: Event


def truncated_then_led(events: Mapping[int, Sequence[Event]]) -> list[TruncatedThenLed]:
    """Return the replicas that truncated and led within a minute, of which nothing shows that they fetched in between.

    Args:
        events: each broker's own lines about its replica, in its order.
    """
    found = []
    for broker, own in sorted(events.items()):
        for led in _led(broker, own):
            others = [one for other in events if other != broker for one in _removed(other, events[other], led)]
            if others and not _joined_again(events, led):
                found.append(max(others, key=lambda one: one.end))
    return found


def _led(broker: int, own: Sequence[Event]) -> Iterator[_Led]:
    """Yield the truncations of a follower after which it led within a minute, with nothing else in between."""
    cut = follows = None
    for event in own:
        if event.kind == Kind.TRUNCATE and event.offset:
            cut, follows = event, None
        elif event.kind == Kind.FETCHER_ADDED and event.leader not in (None, broker):
            follows = event
        elif cut is not None and follows is not None and event.kind in _ISR:
            if event.time is not None and cut.time is not None and 0 <= event.time - cut.time < _MINUTE:
                yield _Led(cut, follows, event)
            cut = None
        elif event.kind == Kind.LOG_LOADED or (cut is not None and _grew(event, cut.offset or 0)):
            cut = None


def _grew(event: Event, target: int) -> bool:
    return event.kind in _GROWN and max(event.offset or 0, event.leo or 0) > target


def _removed(other: int, own: Sequence[Event], led: _Led) -> Iterator[TruncatedThenLed]:
    """Yield what another replica removed as it followed the leader: records that the leader had truncated before.

    It read back no higher high watermark than that leader. Otherwise the leader had fetched them again by then.
    """
    loaded = cut = None
    target = led.cut.offset or 0
    for event in own:
        if event.kind == Kind.LOG_LOADED:
            loaded, cut = event, None
        elif event.kind == Kind.TRUNCATE:
            cut = event
        elif event.kind == Kind.FETCHER_ADDED and event.leader == led.isr.broker and loaded is not None:
            end = loaded.leo or 0
            if cut is not None and cut.offset is not None and cut.offset <= target < end and _is_later(cut, led.cut):
                refs = (
                    Ref(row=loaded.row, note=f"log end offset {end} when loaded"),
                    Ref(row=led.cut.row, note=f"truncated to {target}"),
                    Ref(row=led.follows.row, note=f"followed broker {led.follows.leader}"),
                    Ref(row=led.isr.row, note="changed the ISR, as a leader does"),
                    Ref(row=cut.row, note=f"truncated to {cut.offset}"),
                )
                yield TruncatedThenLed(led.isr.broker, target, other, end, led.isr.time, refs)
            loaded = None


def _is_later(one: Event, two: Event) -> bool:
    return one.time is not None and two.time is not None and one.time >= two.time


def _joined_again(events: Mapping[int, Sequence[Event]], led: _Led) -> bool:
    """Return whether a leader added the replica to the ISR between its truncation and its own leadership."""
    broker, since, until = led.cut.broker, led.cut.time or 0, led.isr.time or 0
    return any(
        event.kind in _ISR and since <= (event.time or 0) <= until and broker in (broker_set(event.isr) or ())
        for other, own in events.items()
        if other != broker
        for event in own
    )
