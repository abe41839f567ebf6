"""High watermarks that lines print, and which of them were printed before a leader began."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.facts.printed_hws import PrintedHw
from forensics.replay.highest_until import HighestUntil
from forensics.replay.history import History, Role, once
from forensics.replay.roles.steps import RoleSpan
from forensics.replay.signs.truncation_signs import printed
from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class HighestPrinted:
    """The highest high watermarks that lines print.

    Attributes:
        by_epoch: up to each leader epoch, by lines that state one.
        by_row: up to each row of a broker's own lines, by lines that state no epoch.
        by_time: up to each time, microseconds since 1970 UTC, by the same lines of any broker.
    """

    by_epoch: HighestUntil
    by_row: Mapping[int, HighestUntil]
    by_time: HighestUntil

    def before(self, role_span: RoleSpan, began: PrintedHw | None) -> int:
        """Return a value that nothing exceeds of what was printed before a leader began with a line; -1 for nothing."""
        found = self.by_epoch.until(role_span.epoch)
        if began is None:
            return found
        own = self.by_row.get(role_span.replica)
        by_row = own.until(began.row) if own is not None else -1
        return max(found, by_row, self.by_time.until(began.time) if began.time is not None else -1)


@once
def highest_printed(history: History) -> HighestPrinted:
    """Return how high the lines of a partition print its high watermark."""
    lines = printed(history)
    undated = [(one, value) for one, value in lines if one.leader_epoch is None]
    by_row: dict[int, list[tuple[int, int]]] = {}
    for one, value in undated:
        by_row.setdefault(one.broker, []).append((one.row, value))
    return HighestPrinted(
        HighestUntil((one.leader_epoch, value) for one, value in lines if one.leader_epoch is not None),
        {broker: HighestUntil(values) for broker, values in by_row.items()},
        HighestUntil((one.time, value) for one, value in undated if one.time is not None),
    )


def printed_above(history: History, offset: int, until: int) -> Iterator[tuple[PrintedHw, int]]:
    """Yield lines that print a high watermark above an offset, in no later leader epoch, the highest first."""
    for known, value in _highest_printed_first(history):
        if value <= offset:
            return
        if known.leader_epoch is None or known.leader_epoch <= until:
            yield known, value


@once
def _highest_printed_first(history: History) -> Sequence[tuple[PrintedHw, int]]:
    """Return lines that print a high watermark, each with its value, the highest first."""
    return sorted(printed(history), key=lambda one: -one[1])


@once
def first_lines(history: History) -> dict[tuple[int, int | None], PrintedHw]:
    """Return the first line of each leader in each of its epochs: a role may be named by several lines."""
    lines = (one for one in reversed(history.facts.printed_hws) if one.kind == Kind.BECOME_LEADER)
    return {(one.broker, one.leader_epoch): one for one in lines}


def printed_before(known: PrintedHw, role_span: RoleSpan, led: Mapping[tuple[int, int | None], PrintedHw]) -> bool:
    """Return whether a high watermark was printed before a leader began.

    The order comes from the leader epoch, if the line states one: a follower reached the high watermark with which it
    enters an epoch in the epoch that it was in before. Otherwise it comes from the order of one broker's lines, unless
    their times contradict it because somebody pasted two logs below each other. Or it comes from the times of lines in
    one text: clocks of lines in different files may differ.
    """
    if known.leader_epoch is not None:
        was = known.previous if known.kind == Kind.BECOME_FOLLOWER and known.previous is not None else -1
        entered = 0 <= was < known.leader_epoch and known.leader in (None, role_span.replica)
        by_another = known.broker != role_span.replica and known.leader_epoch == role_span.epoch
        return known.leader_epoch < role_span.epoch or (entered and by_another)
    began = led.get((role_span.replica, role_span.epoch))
    if began is None or role_span.epoch == 0:
        return False  # epoch 0 is the first of a topic: what was printed before is about another one of its name
    both = known.time is not None and began.time is not None
    if known.broker == role_span.replica:
        return known.row < began.row and not (both and (known.time or 0) > (began.time or 0))
    return both and (known.time or 0) < (began.time or 0) and known.text == began.text


def answered_ahead(history: History, known: PrintedHw, role_span: RoleSpan) -> bool:
    """Return whether a follower may have reached the high watermark with which it enters an epoch in that very epoch.

    The process of the leader led before too, so it answered fetches until the follower received the epoch.
    """
    if known.kind != Kind.BECOME_FOLLOWER or known.leader_epoch != role_span.epoch:
        return False
    spans = history.role_spans.get(role_span.replica, ())
    before = next((one for one in reversed(spans) if one.epoch < role_span.epoch), None)
    if before is None or before.role is not Role.LEADER:
        return False
    return before.run == role_span.run and not before.loads
