"""Logs and high watermarks from before the moment from which a trace claims to be complete: no line shows them.

The cluster may be running then. The records from before are taken as alike on all replicas as the trace is played; what
would rest on that alone is left open.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.trace_lines import TraceLine
from forensics.replay.lineage import Range, intersect, merge, subtract
from forensics.replay.traces.committed_records import Commit
from forensics.replay.traces.epoch_entries import Beginning
from forensics.replay.traces.replica import Replica
from forensics.replay.traces.replica_log import BEFORE, Piece, Undecided
from parsers.schema import Kind


def first_end(line: TraceLine, since: Collection[int]) -> int:
    """Return the log end offset with which a replica begins: 0 if its first line states none.

    Args:
        line: the first line about its log.
        since: brokers of which a trace claims something from a moment on.

    Raises:
        Undecided: the log is from before that moment, so it may have records.
    """
    if line.leo is None and line.broker in since:
        raise Undecided('states no log end offset; its log may have records from before the "from" of the claim')
    return line.leo or 0


_UNSTATED = 'no line states its log end offset, and its log may have records from before the "from" of the claim'


def follows_unstated(leader: int) -> str:
    """Return what a follower leaves open whose leader states nothing of its log."""
    return f"follows broker {leader}; {_UNSTATED}"


def has_unstated(member: int) -> str:
    """Return what a line leaves open if a member of the ISR states nothing of its log."""
    return f"states this while broker {member} is in the ISR; {_UNSTATED}"


def begun_with(
    line: TraceLine, begun: Range, replicas: Mapping[int, Replica]
) -> tuple[list[tuple[Piece, Ref]], str | None]:
    """Return the records with which a replica begins, and what leaves open whether they were there before the trace.

    Another replica may have appended some of these offsets before: it may have fetched them before its first line, and
    they are taken as alike.

    Args:
        line: the first line about its log. A log that a process loads is from before that process.
        begun: offsets of its records.
        replicas: all replicas, as the lines so far state them.
    """
    first, end = begun
    stated = Ref(row=line.row, note=f"log end offset {end}")
    for broker, one in sorted(replicas.items()) if line.kind != Kind.LOG_LOADED else ():
        found = [piece for piece in one.log.within(first, end) if piece.writer[1] != BEFORE[1]][::-1]
        if found:
            at, last = found[0].first, found[-1].end
            text = f"begins with offsets {at} to {last - 1}, which broker {broker} appended before; no line says "
            own = [Piece(*span, BEFORE, whole=False) for span in ((first, at), (last, end)) if span[0] < span[1]]
            alike = sorted([*own, *found], key=lambda piece: piece.first)
            return [(piece, stated) for piece in alike], f"{text}whether these are the same records"
    return [(Piece(first, end, BEFORE, whole=False), stated)], None


def below_early_hw(pieces: Iterable[Piece], *, own: bool) -> tuple[list[Piece], str | None]:
    """Return what a high watermark covers that a replica states before its first role, and what it leaves open.

    It may have come from a leader before the trace. Where the epoch entries of replicas give their records different
    leader epochs, no line says whose records are committed.

    Args:
        pieces: the records of the replica below it.
        own: they are the replica's own in any case: a consumer read them there, or the trace claims the time before.
    """
    found = [*pieces]
    apart = merge(piece[:2] for piece in found if piece.writer[1] == BEFORE[1] and piece.writer != BEFORE)
    if own or not apart:
        return found, None
    text = f"states a high watermark above offset {apart[0][0]} before its first role; replicas have different records "
    alike = [piece for piece in found if piece.writer[1] != BEFORE[1] or piece.writer == BEFORE]
    return alike, f"{text}there, and no line says which of them are committed"


@dataclass(slots=True)
class Early:
    """Records below high watermarks that replicas stated before their first role, from before the claim.

    They may have been committed in any leader epoch up to that of the first role. A leader of an earlier epoch may
    state its role as the claim begins. It need not have had them.
    """

    found: dict[int, list[tuple[Sequence[Piece], Commit]]] = field(default_factory=dict)

    def add(self, pieces: Sequence[Piece], commit: Commit) -> None:
        """Keep records until the role of their replica is known."""
        self.found.setdefault(commit.replica, []).append((pieces, commit))

    def of_role(self, broker: int, epoch: int) -> list[tuple[Sequence[Piece], Commit]]:
        """Return those of a replica whose first role begins."""
        return [(pieces, commit._replace(epoch=epoch)) for pieces, commit in self.found.pop(broker, ())]

    def without_role(self) -> list[tuple[Sequence[Piece], Commit]]:
        """Return those of replicas without a role."""
        return [one for found in self.found.values() for one in found]


def of_removed(
    removed: Iterable[Piece], committed: Iterable[Range], own_hw: int, replicas: Iterable[Replica]
) -> str | None:
    """Return what leaves open which records from before the claim were committed, where they are truncated.

    No replica has stated a high watermark so far, or only the log of another replica has them as committed.

    Args:
        removed: the records.
        committed: offsets of those that count as committed.
        own_hw: the last high watermark of the replica itself, which is about its own records.
        replicas: all replicas.
    """
    before = merge(piece[:2] for piece in removed if piece.writer == BEFORE)
    said = 'truncates records from before the "from" of the claim'
    if before and all(one.had_hw is None for one in replicas):
        return f"{said}; no line states a high watermark so far"
    if subtract(intersect(before, committed), [(0, own_hw)]):
        return f"{said}; no line says whether they are those that are committed on other replicas"
    return None


class TakenAsAlike(NamedTuple):
    """Two replicas with records from before a claim at the same offsets, at the end of the trace.

    Attributes:
        left, right: broker ids.
        ranges: the offsets, without those to which the epoch entries of both give the same leader epoch.
    """

    left: int
    right: int
    ranges: tuple[Range, ...]


def taken_as_alike(
    replicas: Mapping[int, Replica], beginnings: Mapping[int, Beginning], since: Collection[int]
) -> Iterator[TakenAsAlike]:
    """Yield the pairs of replicas of which no line says whether records from before the claim are the same.

    Args:
        replicas: by broker id, at the end of the trace.
        beginnings: what they began with, as their epoch entries describe it.
        since: brokers of which a trace claims something from a moment on.
    """
    for left, right in combinations(sorted(beginnings), 2):
        if since and {left, right} & {*since}:
            both = intersect(_from_before(replicas[left]), _from_before(replicas[right]))
            open_ = subtract(both, _same_epochs(beginnings[left], beginnings[right]))
            if open_:
                yield TakenAsAlike(left, right, tuple(open_))


def _from_before(replica: Replica) -> list[Range]:
    """Return the offsets of records that a replica has from before the trace, and whose leader epoch does not count."""
    return merge(piece[:2] for piece in replica.log.pieces if piece.writer == BEFORE)


def _same_epochs(one: Beginning, two: Beginning) -> list[Range]:
    """Return the offsets to which the epoch entries of two replicas give the same leader epoch."""
    return merge(
        span
        for left, _ in one.pieces
        for right, _ in two.pieces
        if left.writer == right.writer
        for span in intersect([left[:2]], [right[:2]])
    )
