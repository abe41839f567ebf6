"""The batches of a replica compared with its own leader-epoch-checkpoint."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.lineage import UNKNOWN, Lineage


@dataclass(frozen=True, slots=True)
class RefutedEntry:
    """An offset to which the batches and the epoch file of a replica give different leader epochs.

    Attributes:
        offset: the first such offset.
        epoch: its leader epoch by the batches.
        noted: its leader epoch by the file.
        refs: batch with which that epoch begins, and the entry of the file.
    """

    offset: int
    epoch: int
    noted: int
    refs: tuple[Ref, ...]


def first_fall(log: Lineage) -> int | None:
    """Return the first offset at which leader epochs fall, or None."""
    return next((start for (before, _), (epoch, start) in itertools.pairwise(log.entries) if 0 <= epoch < before), None)


def refuted_entry(disk: Disk) -> RefutedEntry | None:
    """Return the first offset whose batch contradicts its replica's epoch file, or None.

    Behind a fall of epochs they differ anyway: the file accepts no epoch below its last one
    (LeaderEpochFileCache.assign).
    """
    noted = _noted(disk)
    for offset in _comparable(disk, noted):
        epoch, given = disk.stated.epoch_at(offset), noted.epoch_at(offset)
        if epoch != given and UNKNOWN not in (epoch, given):
            entry = next((ref for number, at, ref in disk.entries if number == given and at <= offset), None)
            refs = tuple(ref for ref in (disk.refs.get(epoch), entry) if ref is not None)
            return RefutedEntry(offset, epoch, given, refs)
    return None


def _noted(disk: Disk) -> Lineage:
    """Return the log of a replica by its epoch file, with unknown epochs behind the entries if its end is missing."""
    entries = [(start, epoch) for epoch, start, _ in disk.entries if disk.end is not None and start < disk.end]
    if not entries:
        return Lineage()
    noted = tuple((epoch, start) for start, epoch in sorted(entries, key=lambda entry: entry[0]))
    return Lineage((*noted, *([(UNKNOWN, noted[-1][1] + 1)] if disk.entries_cut else [])))


def _comparable(disk: Disk, noted: Lineage) -> list[int]:
    """Return the offsets with which an epoch begins, by batches or by the file, and for which there are both."""
    if disk.end is None or not disk.stated.entries or not noted.entries:
        return []
    fall = first_fall(disk.stated)
    end = min(disk.end, fall) if fall is not None else disk.end
    starts = {start for _, start in disk.stated.entries} | {max(start, disk.log_start) for _, start in noted.entries}
    here = (offset for offset in sorted(starts) if disk.log_start <= offset < end)
    return [offset for offset in here if not any(first <= offset < stop for first, stop in disk.holes)]
