"""Offsets at which a replica has no records, by what a trace states of its log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import TraceLine, trace_lines
from forensics.replay.lineage import Range, intersect, merge
from forensics.replay.traces.replica_log import Log, Piece
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_CHANGES: Final = (Kind.APPEND, Kind.TRUNCATE, Kind.LOG_LOADED, Kind.TRUNCATE_FULL, Kind.LOG_CREATED)
"""Kinds that change which record batches a log has."""


def without_records(
    rows: pl.DataFrame, complete: frozenset[int], doubted: frozenset[Key] = frozenset()
) -> dict[Key, dict[int, tuple[Range, ...]]]:
    """Return offsets below the log end offset at which a replica has no records, by incarnation of each partition.

    A truncation to an offset within a record batch removes the whole batch; the log continues at that offset
    (FileRecords.truncateTo).

    Args:
        rows: observations of partitions, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their replicas, by the claim of their trace.
        doubted: incarnations about which a trace contradicts itself, so that its claim does not count.
    """
    own = pl.col("broker").is_in([*complete]) & (pl.col("message") == TRACE)
    changes = rows.filter(pl.col("kind").is_in([kind.value for kind in _CHANGES]) & own)
    logs: dict[tuple[Key, int], _Holes] = {}
    for line in trace_lines(changes) if complete else ():
        if line.key not in doubted:
            logs.setdefault((line.key, line.broker), _Holes()).take(line)
    found: dict[Key, dict[int, tuple[Range, ...]]] = {}
    for (key, broker), one in logs.items():
        if one.holes:
            found.setdefault(key, {})[broker] = tuple(merge(one.holes))
    return found


@dataclass(slots=True)
class _Holes:
    """The record batches of one log, and the offsets below its end at which a truncation left none."""

    log: Log = field(default_factory=Log)
    holes: list[Range] = field(default_factory=list)

    def take(self, line: TraceLine) -> None:
        if line.kind == Kind.APPEND:
            if line.checksum is not None and line.offset is not None and line.leo is not None:
                writer = line.leader_epoch or 0, line.checksum
                self.log.append(Piece(line.offset, line.leo, writer, whole=True), Ref())
            return
        to = (line.leo if line.kind == Kind.LOG_LOADED else line.offset) or 0
        removed = self.log.truncate(to)
        self.holes = intersect(self.holes, [(0, to)]) + [(piece.first, to) for piece in removed if piece.first < to]
