"""Records that a leader had as its role ended, and that no high watermark had covered by then.

A follower may state a high watermark of that role later, and so show that they were committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import Log, Piece


@dataclass(slots=True)
class LeftOpen:
    """These records, by leader and leader epoch."""

    found: dict[tuple[int, int], Log] = field(default_factory=dict)

    def role_ends(self, broker: int, replica: Replica) -> None:
        """Keep what a leader leaves open."""
        left = self.found.setdefault((broker, replica.epoch), Log())
        left.truncate(replica.passed)
        left.pieces += [*replica.log.within(replica.passed, replica.log.end)][::-1]

    def appends(self, broker: int, epoch: int, first: int) -> None:
        """Forget what a leader had from an offset on: it lost that, and leads on in its epoch with other records."""
        if (broker, epoch) in self.found:
            self.found[broker, epoch].truncate(first)

    def below(self, leader: int, epoch: int, high_watermark: int) -> Iterator[Piece]:
        """Yield what a leader left open below a high watermark of its role."""
        left = self.found.get((leader, epoch), Log())
        return (one._replace(end=min(one.end, high_watermark)) for one in left.pieces)
