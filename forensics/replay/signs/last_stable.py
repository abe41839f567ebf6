"""Last stable offsets that are above the high watermark, or that fall while one process leads.

The last stable offset is the first offset of an undecided transaction, else the high watermark (KIP-98). A broker takes
the lower of the two (``Log.fetchLastStableOffsetMetadata``, from 2.4 on in ``UnifiedLog``), so it is never above the
high watermark. While a process leads in one epoch it only rises: a new transaction begins at the end of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import as_values
from forensics.replay.facts.statement_lines import Key
from forensics.replay.traces.high_watermarks import ABOUT_HW, AT_LEAST, MAY_RAISE
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_ENDS_ROLE: Final = (Kind.PROCESS_START, Kind.LOG_LOADED, Kind.LOG_CREATED, Kind.BECOME_FOLLOWER, Kind.BECOME_LEADER)
"""Kinds after which an earlier value is of another process, role or log."""


@dataclass(frozen=True, slots=True)
class UnstableOffset:
    """A last stable offset that breaks an invariant.

    Attributes:
        replica: broker id.
        epoch: leader epoch of its role, or -1.
        fell: it fell; else it is above the high watermark.
        before: the last stable offset before it, or the high watermark below it.
        value: the last stable offset.
        time: microseconds since 1970 UTC, or None.
        refs: the lines.
    """

    replica: int
    epoch: int
    fell: bool
    before: int
    value: int
    time: int | None
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class LastStable:
    """Statements about the last stable offset of one partition.

    Attributes:
        stated: any line states one.
        above: the first of each replica that is above the high watermark.
        fell: the first of each replica that fell. It counts only if no line of the replica is missing.
        maybe_fell: the same by lines of a request log, which may have another order than the reads.
    """

    stated: bool = False
    above: tuple[UnstableOffset, ...] = ()
    fell: tuple[UnstableOffset, ...] = ()
    maybe_fell: tuple[UnstableOffset, ...] = ()


NOT_STATED: Final = LastStable()


class _Line(NamedTuple):
    topic: str
    partition: int
    incarnation: int
    broker: int
    run: int
    replica: int
    row: int
    time: int | None
    kind: str
    message: str
    leader_epoch: int | None
    hw: int | None
    lso: int | None


@dataclass(slots=True)
class _Known:
    """One replica as its lines have stated it so far.

    Attributes:
        exact: they state every change, so a high watermark holds until the next one.
        epoch: leader epoch of its role, -1 before the first one.
        leads: it leads, by its last role.
        run: process of its last line that may begin a role.
        hw, lso: last values, each with its line.
        above, fell, maybe_fell: the first violations.
    """

    exact: bool
    epoch: int = -1
    leads: bool = False
    run: int = -1
    hw: tuple[int, Ref] | None = None
    lso: tuple[int, Ref] | None = None
    above: UnstableOffset | None = None
    fell: UnstableOffset | None = None
    maybe_fell: UnstableOffset | None = None

    def take(self, line: _Line) -> None:
        """Take one line."""
        if line.kind in _ENDS_ROLE:
            self._begin(line)
        if not self.exact:
            self.hw = None
        if line.hw is not None and line.kind != Kind.HW_CHECKPOINT:
            self.hw = line.hw, Ref(row=line.row, note=f"high watermark {line.hw}")
        elif line.kind in MAY_RAISE:
            self.hw = None
        if line.lso is not None:
            ref = Ref(row=line.row, note=f"last stable offset {line.lso}")
            self._compare(line, line.lso, ref)
            if self.leads:
                self._follow(line, line.lso, ref)
        if line.kind in AT_LEAST:
            self.hw = None

    def _begin(self, line: _Line) -> None:
        """Begin a role, a process or a log."""
        leads = line.kind == Kind.BECOME_LEADER
        if not (leads and self.leads and (line.run, line.leader_epoch) == (self.run, self.epoch)):
            self.hw = self.lso = None
        # A broker may log that it created the log after the role for which it did.
        self.leads, self.run = leads or (self.leads and line.kind == Kind.LOG_CREATED), line.run
        self.epoch = self.epoch if line.leader_epoch is None else line.leader_epoch

    def _compare(self, line: _Line, value: int, ref: Ref) -> None:
        """Compare the last stable offset with the high watermark."""
        if self.hw is not None and value > self.hw[0] and self.above is None:
            refs = (self.hw[1], ref) if self.hw[1].row != line.row else (ref,)
            self.above = UnstableOffset(line.replica, self.epoch, False, self.hw[0], value, line.time, refs)

    def _follow(self, line: _Line, value: int, ref: Ref) -> None:
        """Compare the last stable offset of a leader with the one before."""
        if self.lso is not None and value < self.lso[0]:
            refs = (self.lso[1], ref)
            fell = UnstableOffset(line.replica, self.epoch, True, self.lso[0], value, line.time, refs)
            if line.message == TRACE:
                self.fell = self.fell or fell
            else:
                self.maybe_fell = self.maybe_fell or fell
        self.lso = value, ref


@dataclass(slots=True)
class _Partition:
    replicas: dict[int, _Known] = field(default_factory=dict)


def last_stable(rows: pl.DataFrame, complete: frozenset[int], doubted: frozenset[Key]) -> dict[Key, LastStable]:
    """Return statements about last stable offsets, by incarnation of each partition that has any.

    Args:
        rows: observations of partitions in order, with ``broker``, ``row`` and ``incarnation``.
        complete: brokers that state every change of their replicas, by the claim of their trace.
        doubted: incarnations about which a trace contradicts itself, so that its claim does not count.
    """
    place = ["topic", "partition", "incarnation"]
    stating = rows.filter(pl.col("lso").is_not_null())
    if stating.is_empty():
        return {}
    kinds = [*_ENDS_ROLE, *ABOUT_HW]
    wanted = rows.join(stating.select(place).unique(), on=place, how="semi").filter(
        pl.col("kind").is_in(kinds) | pl.col("lso").is_not_null()
    )
    found: dict[Key, _Partition] = {}
    for line in _lines(wanted):
        if line.replica == line.broker:
            key = line.topic, line.partition, line.incarnation
            replicas = found.setdefault(key, _Partition()).replicas
            replicas.setdefault(line.broker, _Known(line.broker in complete and key not in doubted)).take(line)
    return {key: _result(one) for key, one in found.items()}


def _lines(rows: pl.DataFrame) -> Iterator[_Line]:
    values = rows.with_columns(pl.coalesce("replica", "broker").alias("replica")).sort("row")
    return map(_Line._make, values.select(*as_values(_Line._fields)).iter_rows())


def _result(partition: _Partition) -> LastStable:
    known = [one for _, one in sorted(partition.replicas.items())]
    above = tuple(one.above for one in known if one.above is not None)
    fell = tuple(one.fell for one in known if one.fell is not None)
    return LastStable(True, above, fell, tuple(one.maybe_fell for one in known if one.maybe_fell is not None))
