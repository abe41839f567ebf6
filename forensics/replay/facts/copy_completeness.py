"""Completeness of a copied replica directory: does it hold all segment files, by the broker's log lines?

A segment file that was left out of a copy looks like one that a disk lost. The broker's own log lines decide: the line
that reports how many segment files it loaded, and the lines about segments that it rolled since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forensics.replay.coverage import Coverage, Printed
from forensics.replay.facts.directory import Copy, Disk
from forensics.replay.facts.events import Event
from parsers.details import MOVED, segments
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import DamageKind, Kind


@dataclass(slots=True)
class _SegmentFiles:
    """The segment files that a broker has, by its own log lines.

    Attributes:
        known: it created its log, or loaded it and counted the segment files.
        loaded: log start offset, log end offset and number of files when it loaded the log; None if not counted.
        rolled: base offsets of the segments that it rolled since, in order.
        blind: it rolled segments without logging their base offset (up to 0.11).
        thinned: files were removed since, by retention or compaction.
    """

    known: bool = False
    loaded: tuple[int, int, int] | None = None
    rolled: list[int] = field(default_factory=list)
    blind: bool = False
    thinned: bool = False

    @property
    def counts_all(self) -> bool:
        """Return whether its lines name every segment file that it began since it created or loaded its log."""
        return self.known and not self.blind

    def take(self, event: Event) -> None:
        """Add one more line of the broker."""
        if (take := _CHANGES.get(event.kind)) is not None:
            take(self, event)

    def _created(self, _: Event) -> None:
        self._restart(0)

    def _loaded(self, event: Event) -> None:
        if event.leo == 0 and event.detail != MOVED:
            self._restart(0)
        elif event.leo is not None:
            self._restart(None)
            count = segments(event.detail)
            self.known = count is not None
            self.loaded = (event.log_start or 0, event.leo, count) if count is not None else None

    def _deleted(self, _: Event) -> None:
        self._restart(None)
        self.known = False

    def _emptied(self, event: Event) -> None:
        if event.offset is not None:
            self._restart(event.offset)

    def _reset(self, event: Event) -> None:
        if event.log_start is not None and (event.offset or 0) < event.log_start:
            self._restart(event.log_start)

    def _truncated(self, event: Event) -> None:
        if event.offset is not None:
            self.rolled = [base for base in self.rolled if base <= event.offset]
            self.thinned = True  # unknown how many of the loaded files were removed

    def _rolled(self, event: Event) -> None:
        if event.offset is None:
            self.blind = True
        else:
            self.rolled.append(event.offset)

    def _restart(self, start: int | None) -> None:
        self.known, self.loaded, self.rolled = True, None, [] if start is None else [start]
        self.blind = self.thinned = False


_CHANGES: Final[Mapping[str, Callable[[_SegmentFiles, Event], None]]] = {
    Kind.LOG_CREATED: _SegmentFiles._created,
    Kind.LOG_LOADED: _SegmentFiles._loaded,
    Kind.LOG_DELETED: _SegmentFiles._deleted,
    Kind.TRUNCATE_FULL: _SegmentFiles._emptied,
    Kind.FETCH_RESET: _SegmentFiles._reset,
    Kind.TRUNCATE: _SegmentFiles._truncated,
    Kind.CORRUPTION_CUT: _SegmentFiles._truncated,
    Kind.ROLLED: _SegmentFiles._rolled,
}
"""Lines that change which segment files a broker has."""


def copies(events: Mapping[int, Sequence[Event]], disks: Mapping[int, Disk], coverage: Coverage) -> dict[int, Copy]:
    """Return what is known about the completeness of each replica's copied directory.

    Args:
        events: each broker's own lines about its replica, in their order.
        disks: each broker's files.
        coverage: which of their lines are in the evidence.
    """
    found = {}
    for broker, disk in sorted(disks.items()):
        if disk.bases and disk.end is not None:
            own = events.get(broker, ())
            sure = coverage.has(broker, Printed.LOG)
            found[broker] = _copy(disk, own, [d for b, d in disks.items() if b != broker], sure=sure)
    return found


def _copy(disk: Disk, own: Sequence[Event], others: Sequence[Disk], *, sure: bool) -> Copy:
    files = _SegmentFiles()
    for event in own:
        files.take(event)
    if own and own[-1].message == TRACE:
        sure = False  # a trace does not report files
    inner, inner_why = _inner(disk, files, sure=sure)
    end, end_why = _end(disk, files, others, sure=sure)
    by_lines = end is True and sure and files.counts_all
    return Copy(end, end_why, inner, inner_why, _earlier(disk), end_by_lines=by_lines)


def _end(disk: Disk, files: _SegmentFiles, others: Sequence[Disk], *, sure: bool) -> tuple[bool | None, str]:
    """Return whether the last segment in the evidence is the broker's last segment, and the reason."""
    assert disk.end is not None
    rolled = [base for base in files.rolled if base >= disk.end and base not in disk.bases]
    if rolled:
        return False, f"its log says that a segment began at offset {rolled[-1]}"
    if sure and files.loaded is not None and not disk.gaps and _counted(disk, files) < files.loaded[2]:
        return False, _few(disk, files)
    if sure and files.counts_all:
        return True, ""
    beside = [(base, name) for base, name in disk.beside if base >= disk.end]
    if beside:
        return False, f"{beside[-1][1]} is there without its segment"
    point = disk.recovery_point
    if point is not None and point[0] > disk.end:
        return False, f"its recovery point is {point[0]}"
    if _torn(disk) or any(_spans(other, disk.end) for other in others):
        return True, ""
    return None, "no line and no other replica shows where its last segment began"


def _torn(disk: Disk) -> bool:
    """Return whether the last segment ends within a batch or in zeros: only the one in use does."""
    return any(damage.kind in (DamageKind.TORN_TAIL, DamageKind.ZERO_TAIL) for damage in disk.damage)


def _earlier(disk: Disk) -> str:
    """Return evidence of segments before the first one in the copy; empty if there is none.

    A broker that deletes a segment deletes its indexes too. It also moves the first entry of the epoch file forward
    (LeaderEpochFileCache.truncateFromStart).
    """
    first = disk.bases[0]
    beside = [name for base, name in disk.beside if base < first and name.endswith("index")]
    if beside:
        return f"{beside[0]} is there without its segment"
    began = min((start for _, start, _ in disk.entries), default=first)
    moved = disk.log_start_checkpoint[0] if disk.log_start_checkpoint is not None else 0
    if began < first > max(moved, disk.local_start):
        return f"its leader-epoch-checkpoint begins at offset {began}, the segments at {first}"
    return ""


def _spans(disk: Disk, offset: int) -> bool:
    """Return whether a replica's segment covers an offset, so that no other segment begins there."""
    return disk.end is not None and disk.end > offset and offset not in disk.bases


def _inner(disk: Disk, files: _SegmentFiles, *, sure: bool) -> tuple[bool | None, str]:
    """Return whether a gap between segments already existed on the broker, and the reason."""
    if not disk.gaps:
        return True, ""
    end = disk.gaps[-1][1]
    rolled = [base for base in files.rolled if any(a <= base < b for a, b in disk.gaps)]
    if rolled:
        return False, f"its log says that a segment began at offset {rolled[0]}, and not that it went"
    if sure and files.loaded is not None and not files.thinned:
        start, leo, count = files.loaded
        here = _counted(disk, files)
        if end > leo or disk.log_start > start:
            return None, ""  # that count excludes later segments, and retention may have removed some
        if here == count:
            return True, f"it loaded its log from {count} segment files, and as many are here"
        if here < count:
            return False, _few(disk, files)
    return None, ""


def _counted(disk: Disk, files: _SegmentFiles) -> int:
    """Return how many of the segment files in the evidence belong to those counted when the log was loaded."""
    assert files.loaded is not None
    start, end, _ = files.loaded
    return sum(start <= base <= end or base == disk.bases[0] for base in disk.bases if base not in files.rolled)


def _few(disk: Disk, files: _SegmentFiles) -> str:
    assert files.loaded is not None
    _, end, count = files.loaded
    return f"it loaded its log up to offset {end} from {count} segment files, {_counted(disk, files)} of which are here"
