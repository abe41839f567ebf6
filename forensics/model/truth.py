"""The truth about the records of a run, kept beside the brokers by an observer who sees everything.

A record is *committed* once a leader's high watermark has passed it. The three questions are then plain set questions;
no log line, checkpoint or epoch is consulted.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from forensics.model.state import Batch, Log, Record, Replica


def ranges(offsets: Iterable[int]) -> list[list[int]]:
    """Sorted offsets as half-open ranges, ``[[first, after last], ...]``."""
    found: list[list[int]] = []
    for offset in sorted(set(offsets)):
        if found and found[-1][1] == offset:
            found[-1][1] = offset + 1
        else:
            found.append([offset, offset + 1])
    return found


@dataclass(frozen=True, slots=True)
class Cutting:
    """A truncation that removed committed records."""

    at: int
    broker: int
    to: int
    end: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """A leader that began its epoch without committed records.

    Attributes:
        again: of those with which a later leader began its epoch, that leader epoch and its leader.
    """

    at: int
    broker: int
    epoch: int
    start: int
    clean: bool
    records: tuple[Record, ...]
    again: dict[Record, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Witness:
    """Everything the observer remembers."""

    committed: dict[Record, None] = field(default_factory=dict)
    cuttings: list[Cutting] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    acked: list[Batch] = field(default_factory=list)
    newest: int = -1
    last_leader: int | None = None

    def hw_passed(self, log: Log, low: int, high: int) -> None:
        """A leader's HW went from ``low`` to ``high``: the records between are committed."""
        if high > low:
            for record in log.records(max(low, 0), high):
                self.committed[record] = None

    def truncated(self, at: int, broker: int, to: int, end: int, removed: list[Batch]) -> None:
        """A replica truncated its log."""
        gone = tuple(
            record
            for batch in removed
            for record in (Record(o, batch.epoch, v) for o, v in enumerate(batch.values, batch.base))
            if record in self.committed
        )
        if gone:
            self.cuttings.append(Cutting(at, broker, to, end, gone))

    def leads(self, at: int, replica: Replica, *, clean: bool) -> None:
        """A replica became leader of an epoch with the log it has.

        One that takes its epoch up after a later one was led loses nothing: no replica follows it any more.
        """
        log = replica.log
        if replica.leader_epoch >= self.newest:
            self.newest, self.last_leader = replica.leader_epoch, replica.broker
            self._has_again(replica)
            known = {record for loss in self.losses for record in loss.records if record not in loss.again}
            missing = tuple(record for record in self.committed if not log.has(record) and record not in known)
            if missing:
                self.losses.append(Loss(at, replica.broker, replica.leader_epoch, log.end, clean, missing))
        self.hw_passed(log, 0, replica.hw)

    def _has_again(self, replica: Replica) -> None:
        """Note what a leader has of the records that a leader before it lacked."""
        for loss in self.losses:
            for record in loss.records:
                if replica.log.has(record):
                    loss.again.setdefault(record, (replica.leader_epoch, replica.broker))

    def over(self, loss: Loss, last: Log | None) -> dict[Record, tuple[int, int]]:
        """Return the records of a loss that is over, with the leader epoch since which they are there, and its leader.

        Those that the last leader has lost since then, without a later loss that names them, are not among them.

        Args:
            loss: the loss.
            last: log of the last leader at the end.
        """
        later = {record for one in self.losses[self.losses.index(loss) + 1 :] for record in one.records}
        return {
            record: since
            for record, since in loss.again.items()
            if record in later or (last is not None and last.has(record))
        }

    def lost(self) -> set[Record]:
        """Committed records that some leader began its epoch without."""
        return {record for loss in self.losses for record in loss.records}


def diverged(replicas: Iterable[tuple[Log, int]], committed: Container[Record] = ()) -> list[int]:
    """Return offsets at which replicas hold different records that both count as committed. Each replica is a log and
    its HW.

    A record counts if it is below its replica's HW or was committed before: a HW may be forgotten in a crash.
    """
    seen: dict[int, set[tuple[int, str]]] = {}
    for log, hw in replicas:
        for record in log.records():
            if record.offset < hw or record in committed:
                seen.setdefault(record.offset, set()).add((record.epoch, record.value))
    return sorted(offset for offset, versions in seen.items() if len(versions) > 1)


def holes(log: Log) -> list[int]:
    """Return the offsets a log skips: a truncation inside a batch removes all of it, yet the log continues at the
    target.
    """
    found: list[int] = []
    expected = 0
    for batch in log.batches:
        found += range(expected, batch.base)
        expected = batch.end
    return [*found, *range(expected, log.end)]


def unlike(logs: Iterable[Log]) -> list[int]:
    """Offsets at which any two logs differ, committed or not: what a comparison of dumps shows."""
    seen: dict[int, set[str]] = {}
    for log in logs:
        for record in log.records():
            seen.setdefault(record.offset, set()).add(record.value)
    return sorted(offset for offset, values in seen.items() if len(values) > 1)


def in_no_log(committed: Iterable[Record], logs: Collection[Log]) -> list[int]:
    """Return offsets of committed records that no replica has, whether or not anybody has led without them."""
    return sorted({record.offset for record in committed if not any(log.has(record) for log in logs)})


def lost_acked(acked: Iterable[Batch], final: Log) -> list[int]:
    """Offsets of acknowledged records that the final log no longer holds."""
    return sorted(
        offset
        for batch in acked
        for offset, value in enumerate(batch.values, batch.base)
        if not final.has(Record(offset, batch.epoch, value))
    )


def as_json(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without Python's own types, for ``truth.json``."""
    return {key: (sorted(value) if isinstance(value, set | frozenset) else value) for key, value in facts.items()}
