"""Decisions of a complete trace about one partition, as it is played line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.history import Regression, ShortenedLog, Truncation
from forensics.replay.lineage import Lineage, Range
from forensics.replay.traces.before_claims import TakenAsAlike
from forensics.replay.traces.broken_invariants import EpochsFall, EpochStarts, HwAboveLeo
from forensics.replay.traces.committed_records import Commit
from forensics.replay.traces.in_sync_replicas import InSync
from forensics.replay.traces.unlike_logs import Apart


class Contradiction(NamedTuple):
    """A line that contradicts those before it, or leaves open which records a replica has.

    Attributes:
        broker: broker id of its witness.
        text: in words, with the number of the line.
        time: microseconds since 1970 UTC, or None.
        ref: the line.
    """

    broker: int
    text: str
    time: int | None
    ref: Ref


class Removed(NamedTuple):
    """A truncation with the records that it removed.

    Attributes:
        truncation: the truncation.
        ranges: offsets of the records.
    """

    truncation: Truncation
    ranges: tuple[Range, ...]


class TruncatedCommitted(NamedTuple):
    """A truncation that removed committed records.

    Attributes:
        truncation: the truncation.
        ranges: offsets of the committed records among those removed.
        commit: the first high watermark that covered one of them.
        again: the replica has all of them at the end of the trace.
    """

    truncation: Truncation
    ranges: tuple[Range, ...]
    commit: Commit
    again: bool = False

    @property
    def row(self) -> int | None:
        """Row of its line."""
        return self.truncation.refs[0].row


class ServedAgain(NamedTuple):
    """Since when records are there again that a leader lacked.

    Attributes:
        epoch, leader: the first later leader epoch whose leader began with them, and that leader.
        holder: the last leader, if its log has them at the end of the trace.
    """

    epoch: int
    leader: int
    holder: int | None


@dataclass(frozen=True, slots=True)
class LedWithout:
    """A leader that began its epoch without committed records.

    Attributes:
        replica, epoch: the leader and its leader epoch.
        begins: its log end offset as it began.
        ref: the line in which it took its epoch up.
        ranges: offsets of the records.
        lineage: their leader epochs.
        commits: high watermarks that covered them, the highest first.
        holders: replicas that hold some of them at the end of the trace, with the offsets.
        while_leading: it had them, and its log became shorter in that role.
        served_by: since when the partition has them again; None if it does not.
    """

    replica: int
    epoch: int
    begins: int
    ref: Ref
    ranges: tuple[Range, ...]
    lineage: Lineage
    commits: tuple[Commit, ...]
    holders: Mapping[int, tuple[Range, ...]]
    while_leading: bool
    served_by: ServedAgain | None = None


@dataclass(frozen=True, slots=True)
class InNoLog:
    """Committed records that no replica has at the end of the trace, and that no leader began without.

    Attributes:
        ranges: offsets of the records.
        lineage: their leader epochs.
        commits: high watermarks that covered them, the highest first.
    """

    ranges: tuple[Range, ...]
    lineage: Lineage
    commits: tuple[Commit, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """Everything that a complete trace decides about one partition.

    Attributes:
        truncated: truncations of committed records.
        led_without: leaders without committed records.
        apart: replicas with different committed records at the end.
        above: the first high watermark of each replica that is above its log.
        fallen: high watermarks that fell: of a leader in its role, or below the checkpoint that a process read back.
        shortened: logs that were loaded, created or stated shorter than they had been.
        epoch_starts: leader epochs whose entry has another first offset than the records of the same log, or that two
            leaders begin at different offsets.
        isr: elections and high watermarks compared with the ISR; None if no line states an ISR.
        contradiction: the first line that contradicts others, if any. What is found counts, nothing else is decided.
        removed: what each truncation removed, by row of its line.
        in_no_log: committed records that no replica has at the end, besides those that leaders began without.
        falls: logs whose epoch entries give a higher offset an earlier leader epoch.
        below_alike: replicas with different records at the end, below records that both have, besides those that are
            ``apart``.
        held: by row of a line that states a shorter log, which replicas have at the end what it lacked, with the
            offsets.
        written_twice: leaders of one epoch that wrote different record batches at the same offsets, besides those that
            are ``apart``.
        taken_as_alike: replicas of which no line says whether records from before the claim are the same.
    """

    truncated: tuple[TruncatedCommitted, ...]
    led_without: tuple[LedWithout, ...]
    apart: tuple[Apart, ...]
    above: tuple[HwAboveLeo, ...]
    fallen: tuple[Regression, ...]
    shortened: tuple[ShortenedLog, ...]
    epoch_starts: tuple[EpochStarts, ...] = ()
    isr: InSync | None = None
    contradiction: Contradiction | None = None
    removed: Mapping[int, Removed] = field(default_factory=dict)
    in_no_log: InNoLog | None = None
    falls: tuple[EpochsFall, ...] = ()
    below_alike: tuple[Apart, ...] = ()
    held: Mapping[int, Mapping[int, tuple[Range, ...]]] = field(default_factory=dict)
    written_twice: tuple[Apart, ...] = ()
    taken_as_alike: tuple[TakenAsAlike, ...] = ()


NO_DECISION: Final = Played((), (), (), (), (), ())
"""No decision."""
