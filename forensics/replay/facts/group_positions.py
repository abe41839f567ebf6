"""Positions that consumer groups committed, from every copy of ``__consumer_offsets`` in the evidence.

Exporters of metrics print such positions too, without leader epochs. They count where the evidence has no commit of the
group, and by the clock of the server that scraped them.

Replicas of one partition of ``__consumer_offsets`` hold the same commits: each is one statement, with several bearers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from forensics.replay.facts.directory import Ref
from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class GroupPosition:
    """One position that a group committed.

    Attributes:
        group: the group.
        position: offset of the next record that it reads.
        epoch: leader epoch of the last record that was read before, as the client states it; None if it states none.
        time: of the commit, microseconds since 1970 UTC, or None. It is by the clock of the broker that is the group's
            coordinator. Versions 0 and 1 of the request, which releases up to 3.x accept, let a client state another.
        refs: the commit, in each copy that holds it.
        scraped: an exporter printed it, so it was committed at that time or before.
    """

    group: str
    position: int
    epoch: int | None
    time: int | None
    refs: tuple[Ref, ...]
    scraped: bool = False


Key = tuple[str, int]
"""Topic and partition."""


def group_positions(rows: pl.DataFrame) -> dict[Key, tuple[GroupPosition, ...]]:
    """Return the positions that groups committed in each partition, by group and in the order of the commits.

    What was committed before a tombstone does not count. Kafka writes one when a topic is deleted, so what follows is
    about the topic that has the name now (GroupCoordinator.handleDeletedPartitions, KAFKA-2000). Nor does a position
    count if a later commit of the group states a lower one in the same leader epoch or an earlier one. Somebody set it
    back then, or the topic was created again.

    Args:
        rows: observations of a case.
    """
    kinds = [Kind.GROUP_COMMITTED.value, Kind.GROUP_SCRAPED.value]
    rows = rows.filter(pl.col("kind").is_in(kinds), pl.all_horizontal(pl.col(*_PLACE).is_not_null()))
    if rows.is_empty():
        return {}
    of_exporter = pl.col("kind") == Kind.GROUP_SCRAPED.value
    committed, scraped = rows.filter(~of_exporter), rows.filter(of_exporter)
    found = _committed(committed)
    for place, positions in _scraped(scraped.join(committed, on=_PLACE, how="anti")).items():
        found[place] = (*found.get(place, ()), *positions)
    return found


def _scraped(rows: pl.DataFrame) -> dict[Key, tuple[GroupPosition, ...]]:
    """Return the positions that exporters printed, by group and in the order of their times."""
    rows = rows.filter(pl.col("offset").is_not_null(), pl.col("time").is_not_null()).sort(*_PLACE, "time", "row")
    found: dict[Key, list[GroupPosition]] = {}
    for topic, partition, group, position, time, row in rows.select(
        *_PLACE, "offset", pl.col("time").cast(pl.Int64), "row"
    ).iter_rows():
        ref = Ref(row=row, note=f"position {position}")
        found.setdefault((topic, partition), []).append(GroupPosition(group, position, None, time, (ref,), True))
    return {place: tuple(positions) for place, positions in found.items()}


def _committed(rows: pl.DataFrame) -> dict[Key, tuple[GroupPosition, ...]]:
    """Return the positions that copies of ``__consumer_offsets`` hold, by group and in the order of the commits."""
    # A group has one partition of __consumer_offsets, whose replicas hold the same records at the same offsets.
    rows = rows.sort(*_PLACE, "leo", "row", nulls_last=False)
    columns = rows.select("row", "offset", "leader_epoch", pl.col("time").cast(pl.Int64))
    found: dict[Key, tuple[GroupPosition, ...]] = {}
    first = 0
    for topic, partition, group, count in rows.group_by(_PLACE, maintain_order=True).len().iter_rows():
        commits = columns.slice(first, count).iter_rows()
        first += count
        if positions := _not_set_back(_since_removed(group, commits)):
            found[topic, partition] = (*found.get((topic, partition), ()), *positions)
    return found


_PLACE = ("topic", "partition", "detail")


def _since_removed(
    group: str, commits: Iterable[tuple[int, int | None, int | None, int | None]]
) -> list[GroupPosition]:
    """Return the positions that a group committed since its last tombstone, each once.

    Args:
        group: the group.
        commits: row, position, leader epoch and time of each commit, in the order of the log.
    """
    found: dict[tuple[int, int | None, int | None], GroupPosition] = {}
    for row, position, epoch, time in commits:
        if position is None:
            found.clear()
            continue
        ref = Ref(row=row, note=f"position {position}")
        known = found.get((position, epoch, time))
        refs = (*known.refs, ref) if known is not None else (ref,)
        found[position, epoch, time] = GroupPosition(group, position, epoch, time, refs)
    return [*found.values()]


def _not_set_back(positions: list[GroupPosition]) -> list[GroupPosition]:
    """Return the positions of one group that no later commit contradicts."""
    kept: list[GroupPosition] = []
    lowest: dict[int, int] = {}  # by leader epoch, the lowest position that a later commit states
    for one in reversed(positions):
        epoch = one.epoch
        if epoch is not None:
            if any(number <= epoch and position < one.position for number, position in lowest.items()):
                continue
            lowest[epoch] = min(one.position, lowest.get(epoch, one.position))
        kept.append(one)
    return kept[::-1]
