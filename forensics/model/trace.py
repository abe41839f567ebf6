"""Events of a run, one per state change, with the logical time and the state of the replica afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

START = datetime(2024, 3, 1, 10, 0, 0, tzinfo=UTC)
"""Logical millisecond 0."""


def moment(at: int) -> datetime:
    """The wall-clock time that stands for a logical millisecond."""
    return START + timedelta(milliseconds=at)


def epoch_ms(at: int) -> int:
    """The same as milliseconds since 1970, as record time stamps want it."""
    return int(START.timestamp()) * 1000 + at


class Event(NamedTuple):
    """One state change.

    ``broker`` is the one it happened on; None for what clients or the operator did. ``state`` is the broker's replica
    after the event: role, leader_epoch, log_end_offset, high_watermark and, for a leader, isr; empty where it has none.
    """

    at: int
    broker: int | None
    kind: str
    facts: dict[str, Any]
    state: dict[str, Any]


class Trace:
    """The events of a run in order. A switched-off trace drops them: random runs by the thousand need no story."""

    def __init__(self, *, on: bool = True) -> None:
        self.on = on
        self.events: list[Event] = []

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def add(self, event: Event) -> None:
        """Appends one event."""
        self.events.append(event)


def to_jsonl(events: Iterable[Event]) -> str:
    """One observation a line, keys in a fixed order, times in UTC to the millisecond."""
    lines = []
    for number, event in enumerate(events):
        row = {
            "n": number,
            "time": moment(event.at).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "broker": event.broker,
            "kind": event.kind,
            **event.facts,
            **({"state": event.state} if event.state else {}),
        }
        lines.append(json.dumps(row, separators=(",", ":"), ensure_ascii=False))
    return "".join(line + "\n" for line in lines)
