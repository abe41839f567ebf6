"""One replica of a trace that is played, as its lines have stated it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import Range, intersect, merge
from forensics.replay.traces.epoch_entries import Entries
from forensics.replay.traces.least_high_watermarks import Least
from forensics.replay.traces.received import Received
from forensics.replay.traces.replica_log import Log, Piece, Writer


@dataclass(slots=True)
class Replica:
    """One replica as its lines have stated it so far.

    Attributes:
        ended: the line since which its log ends where it does.
        longest: the highest log end offset that it has had.
        known: its lines have stated with which log it began.
        epoch, leader, leads: its role; epoch -1 before its first one.
        led_by: the leader of its role, or of the role that it had before its process ended.
        took_up: log end offset as it took up its last role as leader, with the line.
        passed: offset up to which its records count as committed, while it leads.
        hw: last high watermark.
        own_hw, own_checkpoint: the last high watermark and the last checkpointed one, as far as they are about the
            records that its log has now.
        kept: the one that it may keep above its log since a truncation, up to 2.3; None once it has lowered it.
        had_hw: the last one that the replica itself stated, with the process and the line.
        checkpoint: last checkpointed high watermark with its line, of the present log.
        led_at: the last high watermark that it stated as leader, in this role or in those right before it.
        least: the least that its high watermark can be.
        reached: the least that it can be since the replica, as leader, stated it last; None for no line about it.
        began_at: log end offset as it began to follow in its last role.
        process: process of its last line; None before the first one.
        found_short: its log was found shorter while it leads, as far as its lines state.
        run: process in which it took up its last role as leader.
        received: the last high watermark that it received from its leader.
        deleted: offset up to which it deleted the beginning of its log, as retention does.
        asked: log end offsets since its last fetch, in its role: it may have asked from there on.
        leader_end: log end offset of its leader as its role began, or as it last asked where a leader epoch ends.
        reloaded: a process has loaded its log, and may have built its epoch entries from what was left of it.
        entries: its epoch entries.
        is_deleted: it was deleted on purpose, and has had no log since.
    """

    log: Log = field(default_factory=Log)
    ended: Ref = field(default_factory=Ref)
    longest: int = 0
    known: bool = False
    epoch: int = -1
    leader: int | None = None
    leads: bool = False
    led_by: int | None = None
    took_up: tuple[int, Ref] = (0, Ref())
    passed: int = 0
    hw: int = 0
    own_hw: int = 0
    own_checkpoint: int = 0
    kept: int | None = None
    had_hw: tuple[int, int, Ref] | None = None
    checkpoint: tuple[int, Ref] | None = None
    led_at: tuple[int, Ref] | None = None
    least: Least | None = None
    reached: int | None = None
    began_at: int = 0
    process: int | None = None
    found_short: bool = False
    run: int = -1
    received: Received | None = None
    deleted: int = 0
    asked: list[int] = field(default_factory=list)
    leader_end: int = 0
    reloaded: bool = False
    entries: Entries = field(default_factory=Entries)
    is_deleted: bool = False

    @property
    def leader_hw(self) -> int | None:
        """The least that its high watermark is while it leads; None if no line shows any."""
        known = self.least.value if self.least is not None else None
        return max((hw for hw in (known, self.reached) if hw is not None), default=None)

    def begins_to_follow(self, leader: int | None) -> None:
        """Note what a replica has as it begins to follow a leader, whose high watermark it may take over."""
        self.led_by, self.began_at, self.asked = leader, self.log.end, []
        if self.least is not None:
            self.least = self.least._replace(followed=True)

    def reset_log(self) -> None:
        """Begin with a new, empty log, or with none: nothing is known of the one before."""
        self.log, self.known, self.checkpoint, self.had_hw = Log(), True, None, None
        self.least, self.reached, self.deleted, self.is_deleted = None, None, 0, False

    def starts_lower(self, end: int) -> None:
        """Take back what it deleted from the beginning of its log above an offset: its log ends there now.

        A log that is truncated below its start begins at that offset (Log.truncateTo, 0.11 and later). It has
        deleted nothing above, and what it fetches there may be other records.
        """
        self.deleted, self.log.start = min(self.deleted, end), min(self.log.start, end)

    def ends_lower(self, end: int, *, lowered: bool) -> None:
        """Keep what is known of its high watermark within its log, which ends at an offset below the one before.

        Args:
            end: that offset.
            lowered: what made the log shorter lowers the high watermark, too. Else a leader still has the higher one.
        """
        self.starts_lower(end)
        known = self.leader_hw
        self.reached = known if known is None or not lowered else min(known, end)
        self.own_hw, self.own_checkpoint = min(self.own_hw, end), min(self.own_checkpoint, end)
        if self.had_hw is not None:
            self.had_hw = min(self.had_hw[0], end), *self.had_hw[1:]
        if self.least is not None:
            self.least = self.least._replace(value=min(self.least.value, end))


def holding(replicas: Mapping[int, Replica], pieces: Sequence[Piece]) -> dict[int, tuple[Range, ...]]:
    """Return which replicas have some records, with the offsets."""
    found: dict[int, tuple[Range, ...]] = {}
    for broker, replica in sorted(replicas.items()):
        own: dict[Writer, list[Range]] = {}
        for piece in replica.log.pieces:
            own.setdefault(piece.writer, []).append(piece[:2])
        held = merge(span for piece in pieces for span in intersect([piece[:2]], own.get(piece.writer, ())))
        if held:
            found[broker] = tuple(held)
    return found
