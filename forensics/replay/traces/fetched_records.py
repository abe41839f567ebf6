"""The records that a follower of a trace appends: those of its leader at these offsets, unless they can be no such."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.lineage import intersect, merge
from forensics.replay.traces.epoch_entries import Beginning
from forensics.replay.traces.leader_epochs import LedEpochs
from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import BEFORE, Piece, Undecided, Writer, of_append
from forensics.replay.traces.written_records import Written


@dataclass(slots=True)
class Fetched:
    """The appends of followers so far.

    Attributes:
        replicas: all replicas by broker id.
        beginnings: the records with which they began.
        written: the records that leaders wrote.
        epochs: the leader epochs.
        contradicts: notes what contradicts the lines before; None is nothing.
        checksums: of record batches of which their leader states none, by writer and offsets.
        unlike_leader: appends of other records than those of the leader.
    """

    replicas: Mapping[int, Replica]
    beginnings: Mapping[int, Beginning]
    written: Written
    epochs: LedEpochs
    contradicts: Callable[[TraceLine, str | None], None]
    checksums: dict[tuple[Writer, int, int], str] = field(default_factory=dict)
    unlike_leader: list[tuple[TraceLine, Piece, str]] = field(default_factory=list)

    def records(self, replica: Replica, first: int, end: int, line: TraceLine) -> list[Piece]:
        """Return the records of a follower's append: those that its leader has there, unless they can be no such."""
        epoch, batches = line.leader_epoch, self._of_leader(replica, first, end)
        found = [piece._replace(first=max(piece.first, first), end=min(piece.end, end)) for piece in batches]
        whole = [(first, end)] == merge(piece[:2] for piece in found)
        of_epoch = whole and all(epoch in (None, one.writer[0]) or self._may_be(replica, one, epoch) for one in found)
        if of_epoch:
            return self._checked(found, batches, line)
        lacks = "none of that leader epoch there" if whole else "none there"
        leader = f"broker {replica.leader}, its leader, has {lacks}"
        text = f"appends offsets {first} to {end - 1}; "
        text += leader if replica.leader is not None else "no line says whom it follows"
        if epoch is None or (line.checksum is None and self._leader_may_have(replica, found, epoch)):
            raise Undecided(text)
        if epoch > replica.epoch and epoch in self.written.leaders:
            self._before_role(replica, line, epoch)
        own = of_append(first, end, epoch, line.checksum, line.row)
        if replica.epoch < 0 and any(one.writer == BEFORE for one in self._of_all(first, end)):
            raise Undecided(text)  # others may have begun with these records
        if replica.epoch >= 0:  # else it may follow a leader from before the trace
            self.epochs.name(line, own, f"appends records of leader epoch {epoch}")
        if line.checksum is None:
            self.unlike_leader.append((line, own, text))  # in any case these are other records than those of its leader
        return self._of_epoch(own, line)

    def _before_role(self, replica: Replica, line: TraceLine, epoch: int) -> None:
        """A replica appends records of a leader epoch that is led, before it takes a role in it.

        Raises:
            Undecided: without a checksum, these can be any records of that epoch.
        """
        role = f"its last role is of leader epoch {replica.epoch}" if replica.epoch >= 0 else "it has no role so far"
        text = f"appends records of leader epoch {epoch}; by the lines before, {role}"
        if line.checksum is None:
            raise Undecided(text)
        self.contradicts(line, text)

    def _of_epoch(self, own: Piece, line: TraceLine) -> list[Piece]:
        """Return the records of an append that are not its leader's: those that others have of the same leader epoch.

        Args:
            own: the records, as if no other replica had them.
            line: the line.
        """
        batches = self.written.of(own)
        found = self.written.completed(own)
        known = [(own.first, own.end)] == merge(piece[:2] for piece in batches)
        return found if line.checksum is None or not known else self._checked(found, batches, line)

    @staticmethod
    def _leader_may_have(replica: Replica, found: Sequence[Piece], epoch: int) -> bool:
        """Return whether records of a leader epoch may be among those that a leader has."""
        return epoch == replica.epoch or any(epoch == piece.writer[0] for piece in found)

    def _checked(self, found: list[Piece], batches: Sequence[Piece], line: TraceLine) -> list[Piece]:
        """Return the records of a follower's append, which are of the leader epochs of its leader's: by checksum.

        Where the leader states none, the first follower that does names the checksum of its record batch.

        Args:
            found: the records of its leader there.
            batches: its leader's record batches that have them.
            line: the line.
        """
        first, end = found[0].first, found[-1].end
        whole = [piece for piece in batches if piece.whole]
        if line.checksum is None:
            return found
        if not whole:
            known = self.checksums.setdefault((found[0].writer, first, end), line.checksum)
        elif len(batches) == 1 and batches[0][:2] == (first, end):
            known = batches[0].writer[1]
        else:
            self.contradicts(
                line,
                f"appends offsets {first} to {end - 1} as one record batch; its leader has other batches there",
            )
            return found
        if known == line.checksum:
            return found
        epoch = line.leader_epoch if line.leader_epoch is not None else found[0].writer[0]
        own = of_append(first, end, epoch, line.checksum, line.row)
        text = f"appends offsets {first} to {end - 1}; its leader has another record batch of that leader epoch there"
        self.unlike_leader.append((line, own, text))
        return [own]

    def _may_be(self, replica: Replica, piece: Piece, epoch: int) -> bool:
        """Return whether records with which the leader of a replica began can be of a leader epoch."""
        begun = self.beginnings.get(replica.leader) if replica.leader is not None else None
        others = begun.pieces if begun is not None else ()
        return piece.writer == BEFORE and not any(
            one.writer[0] != epoch and intersect([one[:2]], [piece[:2]]) for one, _ in others
        )

    def _of_leader(self, replica: Replica, first: int, end: int) -> list[Piece]:
        """Return the pieces of its leader's log that have any records of a follower at some offsets."""
        leader = self.replicas.get(replica.leader) if replica.leader is not None else None
        return [] if leader is None else [*leader.log.overlapping(first, end)][::-1]

    def _of_all(self, first: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of all logs that have any of some offsets."""
        return chain.from_iterable(one.log.overlapping(first, end) for one in self.replicas.values())
