"""Replicas that still hold records that the partition no longer serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Copied, Disk, StaleDir
from forensics.replay.history import History, HwStatement, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Lineage, Range, intersect, merge, same, subtract
from forensics.replay.roles.steps import Step, StepKind


def holders(history: History, lineage: Lineage, ranges: list[Range]) -> dict[int, tuple[Range, ...]]:
    """Return replicas whose log has the same epochs at some offsets; a first segment still holds deleted records."""
    disks = history.facts.disks
    found: dict[int, tuple[Range, ...]] = {}
    for broker, replica in history.replicas.items():
        if replica.held_end is None:
            continue
        disk = disks.get(broker, Disk())
        there = intersect(ranges, [(min([replica.log_start, *disk.bases]), replica.held_end)])
        if kept := subtract(same(lineage, replica.lineage, there), disk.holes):
            found[broker] = tuple(kept)
    # A replica whose epochs fall along its log has unknown epochs. It may have the same batches as a replica that holds
    # the records.
    for broker, disk in sorted(disks.items()):
        if disk.falls and disk.cleaner_point is None and (kept := _like_others(history, broker, found)):
            found[broker] = tuple(subtract(kept, disk.holes))
    return dict(sorted(found.items()))


def last_had(history: History, lineage: Lineage, ranges: Sequence[Range]) -> dict[int, tuple[Range, ...]]:
    """Return replicas without files in the evidence that had records by their last lines, with the offsets.

    They may have truncated them since, as no line need show that any more.
    """
    found: dict[int, tuple[Range, ...]] = {}
    for broker, spans in sorted(history.role_spans.items()):
        replica, last = history.replicas.get(broker), spans[-1] if spans else None
        if last is None or last.replica_removed or last.dir_failed or (replica and replica.held_end is not None):
            continue
        least = min((step.target for step in last.steps), default=last.end_low)
        began, grew = min(last.start_low, least), (last.start_low, min(last.end_low, least))
        had = same(lineage, last.log_before, intersect(ranges, [(0, began)]))
        if had := merge([*had, *same(lineage, last.log, intersect(ranges, [grew]))]):
            found[broker] = tuple(had)
    return found


def _like_others(history: History, broker: int, held: Mapping[int, tuple[Range, ...]]) -> list[Range]:
    """Return what a replica holds of records, also by segments that are identical to those of others that hold them."""
    kept = list(held.get(broker, ()))
    for other in [one for one in held if one != broker]:
        kept += history.facts.identical_ranges(broker, other, subtract(list(held[other]), kept))
    return merge(kept)


def with_own(
    history: History,
    held: dict[int, tuple[Range, ...]],
    statements: Sequence[HwStatement],
    after: Epoch,
    ranges: list[Range],
) -> dict[int, tuple[Range, ...]]:
    """Add former leaders whose logs have no epochs to the replicas that hold the records.

    A leader holds the records below the high watermark that it stated, unless it truncated below since. Only offsets
    count at which its segments differ from those of the leader that lacked the records.

    Args:
        history: the partition.
        held: replicas that hold the records by the epochs of their logs.
        statements: statements that prove records committed.
        after: epoch of the leader that lacked the records.
        ranges: lost offsets.
    """
    found = dict(held)
    for statement in statements:
        broker, row = statement.replica, statement.refs[0].row if statement.refs else None
        epoch, disk = history.epochs.get(statement.epoch), history.facts.disks.get(statement.replica)
        if epoch is None or epoch.leader != broker or row is None or disk is None or disk.end is None:
            continue
        since = _since(history, broker, row)
        if after.leader is None or any(step.kind not in (StepKind.TRUNCATED, StepKind.LOADED) for step in since):
            continue
        if not history.coverage.has(broker, Printed.LOG, Span.WITHIN, Span.AFTER):
            continue  # it may have truncated these records and fetched others, and the line is missing
        end = min([disk.end, statement.high_watermark, *(step.target for step in since)])
        own = intersect(
            intersect(ranges, [(disk.log_start, end)]), history.facts.diverging_ranges(broker, after.leader)
        )
        if own:
            found[broker] = tuple(merge([*found.get(broker, ()), *own]))
    return dict(sorted(found.items()))


def may_still_hold(history: History, first: int, before: int) -> tuple[int, ...] | None:
    """Return the replicas that may still have records from an offset on that were written before a leader epoch.

    Not so a replica whose log ends there, or has records of that epoch or a later one there, and that has no other
    directory which may have them. A replica whose files are not in the evidence may have them. None if no replica is
    known.
    """
    known = _members(history)
    return tuple(sorted(broker for broker in known if _may_hold(history, broker, first, before))) if known else None


@once
def _members(history: History) -> frozenset[int]:
    return history.members


def _may_hold(history: History, broker: int, first: int, before: int) -> bool:
    disk, copy = history.facts.disks.get(broker), history.copies.get(broker)
    if disk is None or disk.end is None or disk.damage:
        return True
    if any(_left_may_hold(one, first, before) for one in disk.left_by_this_topic()):
        return True
    if disk.end <= first:
        return copy is None or copy.end is not True
    return disk.lineage.epoch_at(first) < before


def _left_may_hold(left: StaleDir, first: int, before: int) -> bool:
    """Return the same for another directory: a copy that was made earlier has what was in it then."""
    if left.copied is Copied.NO or left.end is None:
        return True
    return left.end > first and left.lineage.epoch_at(first) < before


def _since(history: History, broker: int, row: int) -> list[Step]:
    """Return what happened to a replica's log after one of its own lines."""
    steps = (step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps)
    return [step for step in steps if step.refs and (step.refs[0].row or 0) > row]


def needed_copies(holders: Mapping[int, tuple[Range, ...]]) -> tuple[int, ...]:
    """Return the copies that are the only ones with some of the records."""
    needed, covered = [], list[Range]()
    for broker, ranges in holders.items():
        if subtract(list(ranges), covered):
            needed.append(broker)
            covered = merge([*covered, *ranges])
    return tuple(needed)


def may_lack_segments(history: History, broker: int, ranges: Sequence[Range]) -> bool:
    """Return whether a replica may have records in segments that are missing from the copy of its directory."""
    copy, disk = history.copies.get(broker), history.facts.disks[broker]
    if copy is None or disk.end is None:
        return False
    gone = [*(disk.gaps if copy.inner is not True else ()), *([(0, disk.bases[0])] if copy.earlier else [])]
    return bool(intersect(ranges, [*gone, (disk.end, ranges[-1][1])] if copy.end is False else gone))
