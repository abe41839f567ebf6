"""Leader epochs that lines of a trace name, compared with the leaders that took them up.

A record is of the leader epoch in which a leader appended it. So in a trace that states each role of every replica, a
leader epoch without a leader has no record batch and no epoch entry. Records with which replicas begin may be of
earlier epochs than the trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.traces.replica_log import BEFORE, Log, Piece
from parsers.schema import Kind


class Named(NamedTuple):
    """A line that names the leader epoch of records.

    Attributes:
        line: the line.
        piece: the records.
        text: what the line does, in words.
    """

    line: TraceLine
    piece: Piece
    text: str


def epoch_ends(log: Log, epoch: int, at_least: int) -> tuple[int, int]:
    """Return the least and the greatest offset at which a leader may say that a leader epoch ends in its log.

    That is where the next epoch of its log begins, or its log end offset (LeaderEpochFileCache.endOffsetFor).

    Args:
        log: its log.
        epoch: the leader epoch.
        at_least: its log end offset as it was asked.
    """
    unknown = [piece for piece in log.pieces if piece.writer == BEFORE]
    later = next((piece.first for piece in log.pieces if piece.writer[0] > epoch), None)
    least = min(at_least, log.end) if later is None else later
    if later is not None and later <= log.start:
        return 0, log.start  # the beginning of the log was deleted, with where that epoch ended
    # Records with which it began may be of later epochs.
    return (min(least, unknown[0].first) if unknown else least), (log.end if later is None else later)


@dataclass(slots=True)
class LedEpochs:
    """The leader epochs of a partition as its lines have stated them so far.

    Attributes:
        leaders: brokers that led each epoch.
        named: lines that name the epoch of records which the leader of their replica does not have.
    """

    leaders: dict[int, set[int]] = field(default_factory=dict)
    named: list[Named] = field(default_factory=list)

    def led(self, epoch: int, broker: int) -> None:
        """Note that a broker leads an epoch."""
        self.leaders.setdefault(epoch, set()).add(broker)

    def contested(self, epoch: int) -> bool:
        """Return whether several brokers led an epoch: a broker of it may do what a follower does, too."""
        return len(self.leaders.get(epoch, ())) > 1

    def is_led_by(self, epoch: int, broker: int) -> bool:
        """Return whether a broker led an epoch."""
        return broker in self.leaders.get(epoch, ())

    @property
    def last_leaders(self) -> set[int]:
        """The brokers that took up the newest epoch."""
        return self.leaders.get(max(self.leaders, default=-1), set())

    def superseded(self, epoch: int) -> bool:
        """Return whether a later epoch is led, so that no replica follows the leader of this one any more."""
        return epoch < max(self.leaders, default=-1)

    def name(self, line: TraceLine, piece: Piece, text: str) -> None:
        """Note that a line names the epoch of records."""
        self.named.append(Named(line, piece, text))

    def by_one(self, epoch: int) -> bool:
        """Return whether one broker alone led an epoch: at one offset there is one record of it."""
        return len(self.leaders.get(epoch, ())) == 1

    def never_led(self, begun: Collection[int]) -> Iterator[Named]:
        """Yield the lines that name an epoch without a leader; none of a trace that states no leader.

        Args:
            begun: log end offsets with which replicas begin. Below the highest, records may be of leaders before the
                trace. An entry may be there as well, of an epoch without records.
        """
        first, until = min(self.leaders, default=0), max(begun, default=0)
        for one in self.named if self.leaders else ():
            epoch, has_records = one.piece.writer[0], one.line.kind == Kind.APPEND
            before = epoch < first and one.piece.first + has_records <= until
            if epoch not in self.leaders and not before:
                yield one
