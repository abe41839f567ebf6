"""Directories that are not live, of an old machine or an older copy, and what their logs prove."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.replay.facts.directory import StaleDir
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.lineage import UNKNOWN, Lineage, Range, intersect, same, size, subtract


def left_statements(history: History) -> list[HwStatement]:
    """Return the high watermarks in checkpoint files beside stale directories, about the logs in these.

    A topic that was deleted and created again may have left the log of another incarnation.
    """
    found = []
    for broker, disk in sorted(history.facts.disks.items()):
        for left in disk.left_by_this_topic():
            if left.checkpoint is None or not left.lineage.entries or left.end is None or history.facts.lives > 1:
                continue
            high_watermark, ref = left.checkpoint
            log = left.lineage if high_watermark <= left.end else left.lineage.known_below(left.end)
            found.append(
                HwStatement(
                    replica=broker,
                    epoch=UNKNOWN,
                    lineage=log,
                    high_watermark=high_watermark,
                    how=HwSource.LEFT_BEHIND,
                    time=None,
                    refs=(ref,),
                    earlier=True,
                )
            )
    return found


def reaching(history: History, ranges: Sequence[Range]) -> list[tuple[int, StaleDir]]:
    """Return stale directories whose logs end beyond the first of some offsets."""
    return [
        (broker, left)
        for broker, disk in sorted(history.facts.disks.items())
        for left in disk.left_by_this_topic()
        if left.end is not None and left.end > ranges[0][0]
    ]


def left_behind(history: History, lineage: Lineage, ranges: Sequence[Range]) -> list[tuple[int, StaleDir, list[Range]]]:
    """Return stale directories that hold some of a log's records: broker, directory and offsets.

    The one with the most records comes first. A directory that adds nothing to those before it is left out.
    """
    held = [
        (broker, left, same(lineage, left.lineage, intersect(ranges, [(left.log_start, left.end or 0)])))
        for broker, left in reaching(history, ranges)
    ]
    found: list[tuple[int, StaleDir, list[Range]]] = []
    rest = list(ranges)
    for broker, left, kept in sorted(held, key=lambda one: -size(one[2])):
        if intersect(kept, rest):
            found.append((broker, left, kept))
            rest = subtract(rest, kept)
    return found
