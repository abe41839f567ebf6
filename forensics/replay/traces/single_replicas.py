"""Replicas of which a trace claims every change, where it does not claim that of the other replicas.

Such a replica is played alone. What its own lines decide counts: a log that became shorter, and a high watermark that
fell in its role or below its own checkpoint. The records that a follower appends are not compared with its leader's.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import polars as pl

from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import OfBrokers, TraceLine, trace_lines
from forensics.replay.history import Regression, ShortenedLog
from forensics.replay.traces.broken_invariants import HwAboveLeo
from forensics.replay.traces.committed_records import Commit
from forensics.replay.traces.high_watermarks import ABOUT_HW
from forensics.replay.traces.player import ABOUT_LOGS, NotPlayed, Player
from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import Piece
from forensics.replay.traces.results import Contradiction


@dataclass(frozen=True, slots=True)
class Alone:
    """Decisions about some replicas of a partition, each by its own lines.

    Attributes:
        above: the first high watermark of each replica that is above its log.
        fallen: high watermarks that fell.
        shortened: logs that became shorter.
        contradiction: the first line that contradicts those of its replica before, if any.
    """

    above: tuple[HwAboveLeo, ...] = ()
    fallen: tuple[Regression, ...] = ()
    shortened: tuple[ShortenedLog, ...] = ()
    contradiction: Contradiction | None = None


class _Player(Player):
    """Plays the lines of one replica."""

    def _fetched(self, replica: Replica, first: int, end: int, line: TraceLine) -> list[Piece]:
        epoch = line.leader_epoch if line.leader_epoch is not None else -1
        batch = line.checksum if line.leader_epoch is not None else None
        return [Piece(first, end, (epoch, batch or ""), whole=batch is not None)]

    def _led_without(
        self, broker: int, replica: Replica, *, while_leading: bool = False, alone: Commit | None = None
    ) -> None:
        """Find nothing: what was committed is not known."""


def play_alone(rows: pl.DataFrame, complete: frozenset[int], brokers: OfBrokers, played: Set[Key]) -> dict[Key, Alone]:
    """Return what claimed replicas decide by themselves, by incarnation of each partition that is not played.

    Args:
        rows, complete, brokers: as ``play`` takes them.
        played: the partitions that are played.
    """
    if not complete:
        return {}
    about = pl.col("kind").is_in([*ABOUT_LOGS, *ABOUT_HW]) & pl.col("broker").is_in([*complete])
    lines: dict[tuple[Key, int], list[TraceLine]] = {}
    for line in trace_lines(rows.filter(about)):
        if line.key not in played:
            lines.setdefault((line.key, line.broker), []).append(line)
    found: dict[Key, Alone] = {}
    for (key, _), own in lines.items():
        one = _alone(own, brokers)
        before = found.get(key, Alone())
        found[key] = Alone(
            (*before.above, *one.above),
            (*before.fallen, *one.fallen),
            (*before.shortened, *one.shortened),
            before.contradiction or one.contradiction,
        )
    return found


def _alone(own: list[TraceLine], brokers: OfBrokers) -> Alone:
    """Return what the lines of one replica decide; nothing else if they contradict themselves, or run backwards."""
    rows = [line.row for line in own]
    player = _Player({}, brokers)
    try:
        for line in own:
            player.take(line)
    except NotPlayed:
        return Alone()
    if rows != sorted(rows):
        return Alone()
    if player.contradiction is not None:
        return Alone(contradiction=player.contradiction)
    return Alone(tuple(player.above.values()), tuple(player.fallen), tuple(player.shortened))
