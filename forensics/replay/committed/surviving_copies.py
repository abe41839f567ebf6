"""Replicas that still hold records that the partition no longer serves."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.replay.history import Epoch, History, HwStatement
from forensics.replay.lineage import Lineage, Range, intersect, merge, same, subtract
from forensics.replay.roles.steps import Step, StepKind


def holders(history: History, lineage: Lineage, ranges: list[Range]) -> dict[int, tuple[Range, ...]]:
    """Return replicas whose log has the same epochs at some offsets; a first segment still holds deleted records."""
    found: dict[int, tuple[Range, ...]] = {}
    for broker, replica in sorted(history.replicas.items()):
        if replica.held_end is None:
            continue
        bases = history.facts.disks[broker].bases if broker in history.facts.disks else ()
        kept = same(lineage, replica.lineage, intersect(ranges, [(min([replica.log_start, *bases]), replica.held_end)]))
        kept = subtract(kept, history.facts.disks[broker].holes if broker in history.facts.disks else ())
        if kept:
            found[broker] = tuple(kept)
    # A replica whose epochs fall along its log has unknown epochs. It may have the same batches as a replica that holds
    # the records.
    for broker, disk in sorted(history.facts.disks.items()):
        if disk.falls and disk.cleaner_point is None:
            kept = list(found.get(broker, ()))
            for other in [one for one in found if one != broker]:
                kept += history.facts.identical_ranges(broker, other, subtract(list(found[other]), kept))
            if kept:
                found[broker] = tuple(subtract(merge(kept), disk.holes))
    return dict(sorted(found.items()))


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
        end = min([disk.end, statement.high_watermark, *(step.target for step in since)])
        own = intersect(
            intersect(ranges, [(disk.log_start, end)]), history.facts.diverging_ranges(broker, after.leader)
        )
        if own:
            found[broker] = tuple(merge([*found.get(broker, ()), *own]))
    return dict(sorted(found.items()))


def _since(history: History, broker: int, row: int) -> list[Step]:
    """Return what happened to a replica's log after one of its own lines."""
    steps = (step for role_span in history.role_spans.get(broker, ()) for step in role_span.steps)
    return [step for step in steps if step.refs and (step.refs[0].row or 0) > row]
