"""Different records of two replicas at offsets that were committed in both of their logs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.case import Origin
from forensics.replay.committed.proof import PossibleLoss, committed, possible_losses
from forensics.replay.confidence import Weakness
from forensics.replay.facts.directory import NO_DISK, Disk, Ref
from forensics.replay.facts.partition_facts import Fork, ForkPart
from forensics.replay.history import History, HwSource, HwStatement, Replica
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.epoch_file import refuted_entry
from forensics.replay.lineage import Range, apart, intersect, subtract
from forensics.replay.roles.steps import REMOVES, RoleSpan, StepKind
from forensics.replay.traces.unlike_logs import Apart
from parsers.schema import DamageKind


@dataclass(frozen=True, slots=True)
class WeighedFork:
    """A difference between two replicas, and what is known of the high watermarks of both.

    Attributes:
        fork: the difference.
        committed: the offsets of it below both high watermarks.
        without_hw: replicas of which no high watermark is known; then ``committed`` is empty.
        maybe_higher: replicas whose high watermark may have been higher, so that more of it was committed.
    """

    fork: Fork
    committed: tuple[Range, ...]
    without_hw: tuple[int, ...] = ()
    maybe_higher: tuple[int, ...] = ()

    @property
    def rest(self) -> list[Range]:
        """The offsets that are not known to be committed in both logs."""
        return subtract(self.fork.ranges, self.committed)


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two groups of replicas with different committed records at the same offsets.

    Attributes:
        ranges: the offsets.
        forks: the differences between a replica of one group and one of the other.
        sides: the brokers of either group.
    """

    ranges: tuple[Range, ...]
    forks: tuple[Fork, ...]
    sides: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers of both groups."""
        return tuple(sorted(itertools.chain(*self.sides)))

    def first_batch(self, broker: int) -> tuple[tuple[int, int, int | None], Ref]:
        """Return the first differing batch of a broker (base offset, last offset, leader epoch), and where it is."""
        fork = next(one for one in self.forks if broker in (one.left, one.right))
        return (fork.left_batch, fork.left_ref) if broker == fork.left else (fork.right_batch, fork.right_ref)


def doubts(history: History, forks: Sequence[Fork]) -> dict[Weakness, bool]:
    """Return what may be weak about a conclusion that rests on differences between segments."""
    return {
        Weakness.DAMAGED: is_maybe_replaced(history, forks),
        Weakness.STRANGERS: have_nothing_in_common(forks),
        Weakness.OTHERWISE_EXPLAINED: bool(seem_deleted(history, forks)),
        Weakness.MAYBE_DELETED: bool(may_have_deleted(history, forks)),
    }


def seem_deleted(history: History, forks: Iterable[Fork]) -> tuple[int, ...]:
    """Return the replicas that seem to have deleted their records of a difference from the start of their log.

    The epoch file of such a replica names none of their leader epochs (LeaderEpochFileCache.truncateFromStart), though
    its segment still holds them (DeleteRecords). The file may also have been lost before. A log that begins there
    states its log start offset in a line, so a replica with all of its lines did not delete them.
    """
    found = (broker for fork in forks for broker in fork.brokers if _seems_deleted(history, broker, fork.ranges[-1][1]))
    return tuple(sorted({*found}))


def _seems_deleted(history: History, broker: int, end: int) -> bool:
    entries = history.facts.disks.get(broker, NO_DISK).entries
    named = min((start for _, start, _ in entries), default=0)
    return bool(entries) and named >= end and not history.coverage.whole(broker)


def may_have_deleted(history: History, forks: Iterable[Fork]) -> tuple[int, ...]:
    """Return the replicas of which neither lines nor an epoch file exclude that they deleted records of a difference.

    A release that truncates to the high watermark deletes whole segments only: it has no DeleteRecords (KIP-107). A
    trace states appends, and holds no records that are deleted.
    """
    if history.protocol.truncates_to_hw or history.origin is not Origin.FILES:
        return ()
    brokers = {broker for fork in forks for broker in fork.brokers}
    return tuple(broker for broker in sorted(brokers) if _may_have_deleted(history, broker))


def _may_have_deleted(history: History, broker: int) -> bool:
    return not history.facts.disks.get(broker, NO_DISK).entries and not history.coverage.whole(broker)


def have_nothing_in_common(forks: Iterable[Fork]) -> bool:
    """Return whether two replicas have no batch in common, so that one may be the log of another partition."""
    return any(fork.strangers for fork in forks)


def is_maybe_replaced(history: History, forks: Iterable[Fork]) -> bool:
    """Return whether bytes of one file may have been replaced, so that replication may not have forked the records.

    A batch with a right checksum may be at a place where its broker did not write it. Then it contradicts its
    neighbours (no checksum covers base offsets), the epoch file beside it, or the protocol. The leader of an epoch
    writes each offset once, and gives each batch one offset. That does not hold where an epoch was given out twice.
    """
    return any(_is_contradicted(history, fork) for fork in forks)


def _is_contradicted(history: History, fork: Fork) -> bool:
    disks = [history.facts.disks[broker] for broker in fork.brokers if broker in history.facts.disks]
    if any(_contradicts_itself(disk) for disk in disks):
        return True
    once = not history.epoch_rollbacks and not history.contested
    return once and (fork.within_one_epoch or fork.moved or _begins_with_no_epoch(history, fork))


def _begins_with_no_epoch(history: History, fork: Fork) -> bool:
    """Return whether records of formats v0 and v1 differ, and from no offset at which a leader is known to have begun
    without what another replica had there.

    Their batches state no leader epoch, so that nothing in a log shows that its broker got them from a leader. By
    replication, two logs part where a leader began below the end of another log.
    """
    if not fork.undated:
        return False
    begin = max((history.facts.disks[one].log_start for one in fork.brokers if one in history.facts.disks), default=0)
    return not any(_parted_at(history, first, at_begin=first <= begin) for first, _ in fork.ranges)


def _parted_at(history: History, offset: int, *, at_begin: bool) -> bool:
    """Return whether lines show that a leader began at an offset, or that a later leader's log ended there.

    What a replica has above its truncation is its leader's, as long as it follows.

    Args:
        history: the partition.
        offset: where two logs part.
        at_begin: one of them begins there. Leaders begin at offset 0 without any records too, as a topic is new, and
            the first bytes of another file would pass for a fork. So what another replica had before counts then.
    """
    spans = [span for own in history.role_spans.values() for span in own]
    begun = [one.epoch for one in history.epochs.values() if one.start == offset and not _shown_by_batch(one)]
    if not at_begin:
        return bool(begun) or any(_truncated_and_led(own, offset) for own in history.role_spans.values())
    had = min((span.epoch for span in spans if span.end_low > offset), default=None)
    return had is not None and any(epoch > had for epoch in begun)


def _truncated_and_led(own: Sequence[RoleSpan], offset: int) -> bool:
    """Return whether a replica truncated its log to an offset, and led in one of its later roles."""
    removed = (any(step.kind in REMOVES and step.target == offset for step in span.steps) for span in own)
    first = next((place for place, is_so in enumerate(removed) if is_so), len(own))
    return any(span.role == "leader" for span in own[first + 1 :])


def _shown_by_batch(epoch: Epoch) -> bool:
    """Return whether only a batch shows where a leader epoch began: the first one in which two copies differ."""
    because = epoch.begins.because
    return bool(because) and not epoch.begins.by and all(ref.row is None for ref in because)


_NOT_ITS_OWN = (DamageKind.BAD_CRC, DamageKind.LONE_EPOCH, DamageKind.MISPLACED)
"""Damage that shows batches which the broker cannot have written where they are."""


def _contradicts_itself(disk: Disk) -> bool:
    """Return whether the files of a replica show by themselves that bytes of its segments are not what it wrote.

    Leader epochs that fall along a log are KIP-279 up to 1.1, or a block of another file: one log does not show which.
    """
    bad = any(one.kind in _NOT_ITS_OWN for one in disk.damage)
    return bad or disk.garbled or bool(disk.falls) or refuted_entry(disk) is not None


def weighed_forks(history: History) -> list[WeighedFork]:
    """Return each difference between the segments of two replicas with what is known of both high watermarks."""
    return [_weighed(history, fork) for fork in history.facts.forks]


def _weighed(history: History, fork: Fork) -> WeighedFork:
    bounds = {broker: committed_up_to(history, broker) for broker in (fork.left, fork.right)}
    unknown = tuple(broker for broker, bound in bounds.items() if bound is None)
    if unknown:
        return WeighedFork(fork, (), unknown)
    known = {broker: bound for broker, bound in bounds.items() if bound is not None}
    inside = tuple(intersect(fork.ranges, [(0, min(known.values()))]))
    return WeighedFork(fork, inside, (), tuple(_maybe_higher(history, fork, known, inside)))


def _maybe_higher(history: History, fork: Fork, bounds: Mapping[int, int], inside: Sequence[Range]) -> dict[int, None]:
    """Return the replicas whose high watermark may have been higher than their bound, within a difference."""
    low = [broker for broker, bound in bounds.items() if bound < fork.ranges[-1][1]]
    unsure = dict.fromkeys(broker for broker in low if history.replicas[broker].checkpoint is None)
    if history.current is not None and subtract(intersect(fork.ranges, [(0, max(bounds.values()))]), inside):
        # Records that the last leader wrote since its checkpoint, up to 5 s ago, may be committed too.
        unsure.update(dict.fromkeys(broker for broker in low if broker == history.current.leader))
    return unsure


def possibly_committed(history: History, weighed: WeighedFork) -> PossibleLoss | None:
    """Return the first leader change at which records of a difference were replaced that may have been committed.

    Returns:
        A leader that had one side's records, and the leader after it; None for none. The records may be older than that
        leader's epoch: it commits all that is below its high watermark. Batches without a leader epoch (message
        formats v0 and v1) may be of any.
    """
    return next((one for one in possible_losses(history) if _may_be_of(weighed, one)), None)


def _may_be_of(weighed: WeighedFork, loss: PossibleLoss) -> bool:
    """Return whether the log of the leader before a change may have had records of one side."""
    fork, lineage = weighed.fork, loss.before.lineage
    pieces = lineage.pieces(span for span in weighed.rest if loss.end is None or span[0] < loss.end)
    had = {loss.before.epoch, *(lineage.epoch_at(first) for first, _ in pieces if loss.end is None or first < loss.end)}
    epochs = [epoch for _, _, epoch in (fork.left_batch, fork.right_batch)]
    return bool(pieces) and any(
        epoch is None or (epoch <= loss.before.epoch and not all(apart(epoch, one) for one in had)) for epoch in epochs
    )


def divergences(history: History, weighed: Iterable[WeighedFork]) -> list[Divergence]:
    """Return the different committed records of two groups of replicas, by files or by a complete trace.

    If there are more than two logs at some offsets, each difference between two replicas is separate.

    Args:
        history: the partition.
        weighed: the differences between its segments, as ``weighed_forks`` returns them.
    """
    if history.played is not None:
        stated = [(one.ranges, _stated(one)) for one in history.played.apart]
        return _grouped(stated, lambda ranges, forks: _on_one_side(forks))
    found = [(one.committed, one.fork) for one in weighed if one.committed]
    return _grouped(found, lambda ranges, forks: _differ_on_one_side(history, ranges, forks))


def suspected_divergences(
    history: History, weighed: Iterable[WeighedFork], part: Callable[[Fork], ForkPart | None]
) -> list[Divergence]:
    """Return the differences that are no legal tail of one log, at offsets that are not known to be committed.

    Args:
        history: the partition.
        weighed: the differences between its segments, as ``weighed_forks`` returns them.
        part: returns the part of a difference that is to be looked at.
    """
    parts = ((one, some) for one in weighed if (some := part(one.fork)) is not None)
    found = [(tuple(intersect(some.ranges, one.rest)), one.fork.at(some)) for one, some in parts]
    return _grouped(
        [(ranges, one) for ranges, one in found if ranges],
        lambda ranges, forks: _differ_on_one_side(history, ranges, forks),
    )


def _stated(apart: Apart) -> Fork:
    """Return the difference that a complete trace states, as one between segments."""
    left, right = ((p.first, p.end - 1, p.writer[0]) for p in (apart.left_piece, apart.right_piece))
    return Fork(apart.left, apart.right, apart.ranges, apart.left_ref, apart.right_ref, left, right)


def _grouped(
    found: Iterable[tuple[tuple[Range, ...], Fork]], three_logs: Callable[[tuple[Range, ...], Sequence[Fork]], bool]
) -> list[Divergence]:
    """Group differences at equal offsets.

    Args:
        found: the committed offsets of each difference, and the difference.
        three_logs: returns whether the differences at some offsets are between more than two logs.
    """
    groups: dict[tuple[Range, ...], list[Fork]] = {}
    for ranges, fork in found:
        groups.setdefault(ranges, []).append(fork)
    return [
        _divergence(ranges, alike)
        for ranges, forks in sorted(groups.items(), key=lambda group: group[0])
        for alike in ([[fork] for fork in forks] if three_logs(ranges, forks) else [forks])
    ]


def _divergence(ranges: tuple[Range, ...], forks: Sequence[Fork]) -> Divergence:
    sides = _sides(forks)
    one, other = (tuple(sorted(broker for broker, side in sides.items() if side == which)) for which in (0, 1))
    return Divergence(ranges, tuple(forks), (one, other))


def _on_one_side(forks: Sequence[Fork]) -> bool:
    """Return whether one of some differences is between two brokers of one side."""
    sides = _sides(forks)
    return any(sides[fork.left] == sides[fork.right] for fork in forks)


def _differ_on_one_side(history: History, ranges: tuple[Range, ...], forks: Sequence[Fork]) -> bool:
    """Return whether two brokers of one side have different records at any of the offsets."""
    sides = _sides(forks)
    alike = ((one, two) for one, two in itertools.combinations(sorted(sides), 2) if sides[one] == sides[two])
    return any(intersect(history.facts.diverging_ranges(one, two), ranges) for one, two in alike)


def _sides(forks: Iterable[Fork]) -> dict[int, int]:
    """Two-colour the brokers: those on one side of every difference, and those on the other."""
    sides: dict[int, int] = {}
    for fork in forks:
        if fork.left in sides:
            sides.setdefault(fork.right, 1 - sides[fork.left])
        elif fork.right in sides:
            sides[fork.left] = 1 - sides[fork.right]
        else:
            sides[fork.left], sides[fork.right] = 0, 1
    return sides


def committed_up_to(history: History, broker: int) -> int | None:
    """Return how far a replica's records are known to be committed, or None.

    The bound is its own high watermark, or that of another replica with the same records (a follower's own is one fetch
    behind).
    """
    own, replica = _high_watermark(history, broker), history.replicas[broker]
    bounds = [*([own] if own is not None else []), *_of_equal_logs(history, broker)]
    if bounds and replica.end is not None and not history.protocol.truncates_to_hw:
        bounds += _without_it(history, replica, replica.end)
    return max(bounds, default=None)


def _of_equal_logs(history: History, broker: int) -> Iterator[int]:
    """Yield the high watermarks of other replicas, as far as their segments hold the same records."""
    end = history.replicas[broker].end
    for pair in sorted(history.facts.compared):
        if end is None or broker not in pair:
            continue
        other = next(one for one in pair if one != broker)
        theirs, until = _high_watermark(history, other), history.replicas[other].end
        if theirs is not None and until is not None:
            apart = (first for first, _ in history.facts.diverging_ranges(*pair))
            yield min(theirs, end, until, *apart)  # beyond its end nothing was compared


def _without_it(history: History, replica: Replica, end: int) -> list[int]:
    """Return how far a leader committed records without a replica that holds the records of that log."""
    proven = committed(history, replica.lineage, replica.log_start, end).ranges
    return [stop for first, stop in proven[:1] if first == replica.log_start]


def _high_watermark(history: History, broker: int) -> int | None:
    """Return the replica's high watermark: its checkpoint, or the highest it stated of the log that it has."""
    replica = history.replicas[broker]
    stated = [_of_what_is_left(history, s) for s in history.statements if s.replica == broker]
    if replica.checkpoint is not None:
        stated.append(replica.checkpoint[0])
    return max(stated, default=None)


def _of_what_is_left(history: History, statement: HwStatement) -> int:
    """Return a replica's high watermark, within what its next processes found.

    A process begins with the high watermark of the checkpoint file, and with no higher one than its log has records.
    """
    if not statement.refs or statement.how is HwSource.CHECKPOINT:
        return statement.high_watermark
    row = statement.refs[0].row or 0
    later = (value for at, value in _found_by_processes(history.role_spans.get(statement.replica, ())) if at > row)
    return min((statement.high_watermark, *later))


def _found_by_processes(spans: Sequence[RoleSpan]) -> Iterator[tuple[int, int]]:
    """Yield each log end offset and high watermark with which a process of a replica began, with its row."""
    for one, two in itertools.zip_longest(spans, spans[1:]):
        for step in one.steps:
            if step.kind in (StepKind.LOADED, StepKind.CREATED):
                yield step.refs[0].row or 0, step.target
        if two is not None and two.run != one.run and two.start_hw is not None:
            yield two.start_hw.ref.row or 0, two.start_hw.value
