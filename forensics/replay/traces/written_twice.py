"""Leader epochs that two brokers lead, in a trace that is played: what each of them wrote there.

One broker leads an epoch, and it writes each offset of it once (KIP-101). Two leaders of an epoch may both keep to that
and still contradict each other: their logs begin the epoch at different offsets, or have different record batches of it
at one offset.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import merge
from forensics.replay.traces.broken_invariants import EpochStarts
from forensics.replay.traces.replica_log import BEFORE, Log, Piece, unlike
from forensics.replay.traces.unlike_logs import Apart


@dataclass(slots=True)
class Contested:
    """Records that the leaders of such epochs have written so far.

    Attributes:
        leaders: brokers that lead each epoch in any line of the trace.
        starts: by epoch and leader, where its log begins the epoch, and the line that appended there.
        batches: by epoch and leader, the record batches that it wrote whose checksum is known, each with its line.
    """

    leaders: Mapping[int, set[int]]
    starts: dict[int, dict[int, tuple[int, Ref]]] = field(default_factory=dict)
    batches: dict[int, dict[int, dict[Piece, Ref]]] = field(default_factory=dict)

    def writes(self, broker: int, log: Log, piece: Piece, ref: Ref) -> None:
        """Note what a leader appends.

        Args:
            broker: the leader.
            log: its log before.
            piece, ref: the records, and the line.
        """
        epoch = piece.writer[0]
        if len(self.leaders.get(epoch, ())) < 2:
            return
        own = next((one for one in log.pieces if one.writer[0] == epoch and one.first < piece.first), None)
        start = (piece.first, ref) if own is None else (own.first, log.refs.get(own.writer, ref))
        if own is None or own.writer[1] != BEFORE[1]:
            self.starts.setdefault(epoch, {}).setdefault(broker, start)
        if piece.whole:
            self.batches.setdefault(epoch, {}).setdefault(broker, {})[piece] = ref

    def two_starts(self, known: Collection[int]) -> Iterator[EpochStarts]:
        """Yield the epochs that their leaders begin at different offsets; none of those that are known."""
        for epoch, starts in sorted(self.starts.items()):
            found = {first: (first, broker, ref) for broker, (first, ref) in sorted(starts.items(), reverse=True)}
            if len(found) > 1 and epoch not in known:
                yield EpochStarts(epoch, tuple(one for _, one in sorted(found.items())))

    def written_twice(self, apart: Collection[Apart]) -> Iterator[Apart]:
        """Yield the pairs of leaders that wrote different record batches of one epoch at one offset.

        Args:
            apart: pairs of replicas whose records differ; these are left out.
        """
        pairs = {(one.left, one.right) for one in apart}
        for _, batches in sorted(self.batches.items()):
            for left, right in combinations(sorted(batches), 2):
                found = [*unlike(sorted(batches[left]), sorted(batches[right]))]
                if found and (left, right) not in pairs:
                    pairs.add((left, right))
                    _, mine, its = min(found, key=lambda one: one[0])
                    ranges = tuple(merge(span for span, *_ in found))
                    yield Apart(left, right, ranges, mine, its, batches[left][mine], batches[right][its])
