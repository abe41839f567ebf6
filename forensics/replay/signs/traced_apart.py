"""Lines of a trace that disagree with others: about elections, the ISR, its members and checkpointed high watermarks.

A trace need not claim to state each change. Without that claim a line in between may be missing, so they prove nothing.
Rules decide about a trace that claims it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import broker_set
from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import TraceLine, trace_lines
from forensics.replay.signs.disagreement import Disagreement
from forensics.replay.signs.sign import Sign
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


class _Chosen(NamedTuple):
    """The first line that states the leader of an epoch.

    Attributes:
        leader: broker id.
        elected: a controller states it.
        time, ref: of the line.
    """

    leader: int
    elected: bool
    time: int | None
    ref: Ref


@dataclass(slots=True)
class _Replica:
    """One replica by its own lines so far.

    Attributes:
        epoch: leader epoch in which it leads, or -1.
        hw: highest high watermark that it stated in that role, with the line.
        checkpoint: its last checkpointed high watermark since its log was shortened, with the line.
        loaded: log end offset that its process found, or None.
    """

    epoch: int = -1
    hw: tuple[int, Ref] | None = None
    checkpoint: tuple[int, Ref] | None = None
    loaded: int | None = None


@dataclass(slots=True)
class _Partition:
    """The lines of one partition so far.

    Attributes:
        replicas: by broker.
        chosen: leader by epoch.
        isr: by leader epoch, the last ISR that its leader stated, with its line.
        found: disagreements, by what they are about.
    """

    replicas: dict[int, _Replica] = field(default_factory=dict)
    chosen: dict[int, _Chosen] = field(default_factory=dict)
    isr: dict[int, tuple[frozenset[int], Ref]] = field(default_factory=dict)
    found: dict[tuple[Sign, int, int], Disagreement] = field(default_factory=dict)

    def take(self, line: TraceLine) -> None:
        """Take one line."""
        replica = self.replicas.setdefault(line.broker, _Replica())
        handler = _HANDLERS.get(line.kind)
        if handler is not None:
            handler(self, replica, line)
        if replica.epoch < 0 and line.isr is not None and line.kind in _MOMENTS and line.leader_epoch is not None:
            replica.epoch = line.leader_epoch  # a leader alone states the ISR
        if replica.epoch < 0 or line.replica not in (None, line.broker):
            return
        if line.isr is not None and (isr := broker_set(line.isr)) is not None:
            self.isr[replica.epoch] = isr, Ref(row=line.row, note=f"ISR {line.isr}")
        if line.kind in _STATE_HW and line.hw is not None and line.hw >= (replica.hw or (0,))[0]:
            replica.hw = line.hw, Ref(row=line.row, note=f"high watermark {line.hw}")

    def _leads(self, replica: _Replica, line: TraceLine) -> None:
        replica.epoch, replica.hw = (line.leader_epoch if line.leader_epoch is not None else -1), None
        self._choose(line.broker, line, elected=False)

    def _ends_role(self, replica: _Replica, _: TraceLine) -> None:
        replica.epoch, replica.hw, replica.loaded = -1, None, None

    def _elects(self, _: _Replica, line: TraceLine) -> None:
        if line.leader is not None and line.leader >= 0:
            self._choose(line.leader, line, elected=True)

    def _choose(self, leader: int, line: TraceLine, *, elected: bool) -> None:
        """Note the leader of an epoch. That two take it up is decided by the lines of their roles alone."""
        epoch = line.leader_epoch
        if epoch is None:
            return
        ref = Ref(row=line.row, note=f"leader epoch {epoch}: broker {leader}")
        known = self.chosen.setdefault(epoch, _Chosen(leader, elected, line.time, ref))
        if known.leader != leader and (known.elected or elected):
            self._note(Sign.ELECTED_TWICE, line, leader, known.leader, (epoch, epoch), refs=(known.ref, ref))

    def _believes(self, replica: _Replica, line: TraceLine) -> None:
        """A leader states how long the log of a follower is, which has all below a high watermark stated before."""
        member, end, known = line.replica, line.leo, self.isr.get(replica.epoch)
        if replica.hw is None or known is None or member is None or end is None:
            return
        if member in known[0] and member != line.broker and end < replica.hw[0]:
            ref = Ref(row=line.row, note=f"log end offset of broker {member} {end}")
            refs, values = (replica.hw[1], ref), (replica.hw[0], end)
            self._note(
                Sign.MEMBER_BELOW_HIGH_WATERMARK, line, member, line.broker, (replica.epoch,) * 2, values, refs=refs
            )

    def _writes(self, replica: _Replica, line: TraceLine) -> None:
        if line.hw is not None:
            replica.checkpoint = line.hw, Ref(row=line.row, note=f"high watermark {line.hw} in the checkpoint")

    def _loads(self, replica: _Replica, line: TraceLine) -> None:
        self._ends_role(replica, line)
        replica.loaded = line.leo

    def _shortens(self, replica: _Replica, _: TraceLine) -> None:
        replica.checkpoint = None

    def _reads_back(self, replica: _Replica, line: TraceLine) -> None:
        known, value = replica.checkpoint, line.hw
        if known is None or value is None:
            return
        had = known[0] if replica.loaded is None else min(known[0], replica.loaded)
        if value < had:
            ref = Ref(row=line.row, note=f"read back {value}")
            self._note(
                Sign.READ_BACK_LESS, line, line.broker, line.broker, (-1, -1), (had, value), refs=(known[1], ref)
            )

    def _note(
        self,
        sign: Sign,
        line: TraceLine,
        replica: int,
        witness: int,
        epochs: tuple[int, int],
        values: tuple[int, int] = (0, 0),
        *,
        refs: tuple[Ref, Ref],
    ) -> None:
        one = Disagreement(sign, replica, witness, *epochs, *values, line.time, refs)
        self.found.setdefault((sign, replica, epochs[0]), one)

    def result(self) -> list[Disagreement]:
        """Return what disagrees."""
        return [*self.found.values(), *self._from_outside()]

    def _from_outside(self) -> Iterator[Disagreement]:
        """Yield leaders that are not in the last ISR that the leader of the epoch right before stated."""
        for epoch, one in sorted(self.chosen.items()):
            before, last = self.chosen.get(epoch - 1), self.isr.get(epoch - 1)
            if before is None or last is None or one.leader in last[0]:
                continue
            outside, refs = Sign.LED_FROM_OUTSIDE_ISR, (last[1], one.ref)
            yield Disagreement(outside, one.leader, before.leader, epoch, epoch - 1, 0, 0, one.time, refs, last[0])


_STATE_HW: Final = frozenset((Kind.BECOME_LEADER, Kind.HW, Kind.LEO, Kind.APPEND, Kind.ISR_SHRINK, Kind.ISR_EXPAND))
"""Kinds of line in which a leader states its own high watermark."""

_MOMENTS: Final = (Kind.HW, Kind.LEO, Kind.STATE)
"""Kinds of line that state values at one moment."""

_HANDLERS: Final[dict[str, Callable[[_Partition, _Replica, TraceLine], None]]] = {
    Kind.BECOME_LEADER: _Partition._leads,
    Kind.BECOME_FOLLOWER: _Partition._ends_role,
    Kind.PROCESS_START: _Partition._ends_role,
    Kind.LOG_LOADED: _Partition._loads,
    Kind.ELECTION: _Partition._elects,
    Kind.UNCLEAN_ELECTION: _Partition._elects,
    Kind.REMOTE_LEO: _Partition._believes,
    Kind.HW_CHECKPOINT: _Partition._writes,
    Kind.TRUNCATE: _Partition._shortens,
    Kind.TRUNCATE_FULL: _Partition._shortens,
    Kind.LOG_CREATED: _Partition._shortens,
    Kind.HW_LOADED: _Partition._reads_back,
}

_READ: Final = tuple(
    Kind(kind).value for kind in (*_HANDLERS, *sorted(_STATE_HW), Kind.ISR_COMMIT, Kind.ISR_REJECTED, Kind.STATE)
)


def traced_apart(rows: pl.DataFrame) -> dict[Key, list[Disagreement]]:
    """Return lines of traces that disagree, by incarnation of each partition that has any.

    Args:
        rows: observations of partitions, with ``broker``, ``row``, ``source`` and ``incarnation``.
    """
    stated = rows.filter(pl.col("kind").is_in(_READ) & (pl.col("message") == TRACE))
    found: dict[Key, _Partition] = {}
    for line in trace_lines(stated) if stated.height else ():
        found.setdefault(line.key, _Partition()).take(line)
    results = ((key, one.result()) for key, one in found.items())
    return {key: one for key, one in results if one}
