"""Logs that are moved between two directories of one broker (KIP-113), and the copy before it is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.log_numbers import LOG
from forensics.replay.history import Regression, RegressionKind
from parsers.details import MOVED
from parsers.schema import Kind

_OF_COPIES: Final = (Kind.LOG_COPIED.value, Kind.LOG_MOVED.value)
"""Kinds of line that show that a copy exists, or that it replaced the log."""

_BEGINS: Final = (Kind.MESSAGE_FORMAT.value, Kind.LOG_LOADED.value)
"""Kinds of the first line that a broker logs about a copy that it creates."""

_NAMELESS: Final = (
    Kind.LOG_CREATED.value,
    Kind.HW_MISSING.value,
    Kind.HW_LOADED.value,
    Kind.EPOCH_ASSIGNED.value,
    Kind.ROLLED.value,
    Kind.PRODUCER_SNAPSHOT.value,
)
"""Kinds of line about a copy that look like those about the log, because they name no directory."""

_CREATES: Final = (Kind.LOG_CREATED.value, Kind.HW_MISSING.value, Kind.HW_LOADED.value)
"""Those of them that a broker logs when it creates a log or a copy."""

_AT_ONCE: Final = timedelta(seconds=10)
"""A broker adds the fetcher of a copy as soon as it has created the copy (ReplicaManager.alterReplicaLogDirs)."""

_KEY: Final = ("topic", "partition", "broker")
_HOME: Final = ("topic", "partition", "incarnation", "broker")
_READ: Final = ("row", "run", "kind", "leo", "hw", "log_dir", "detail", "time")


def without_copies(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove rows about a copy that was not in use.

    Up to 2.5 most lines about the copy name the replica like those about its log, with another directory at most
    (``LogManager.getOrCreateLog`` with ``isFuture``, ``Log``). Three lines show that it is a copy: when its fetcher is
    added (``ReplicaAlterLogDirsManager``), from 2.4 on when it is created (its directory ends in ``-future``), and when
    it replaces the log (``LogManager.replaceCurrentWithFutureLog``). A process that ends before that leaves the copy
    behind. The next one loads it beside the log, and logs its length in the same words.

    Args:
        rows: observations of partitions, sorted by topic, partition, broker and row.
    """
    of_copies = rows.filter(pl.col("kind").is_in(_OF_COPIES))
    if of_copies.is_empty():
        return rows
    about = rows.filter(pl.col("kind").is_in([*_OF_COPIES, *_BEGINS, *_NAMELESS]) | pl.col("log_dir").is_not_null())
    about = about.join(of_copies.select(_KEY).unique(), on=_KEY, how="semi", maintain_order="left")
    dropped: list[int] = []
    for _, events in about.select(*_KEY, *_READ).group_by(_KEY, maintain_order=True):
        dropped += _of_copies(events)
    return rows.filter(~pl.col("row").is_in(dropped)) if dropped else rows


def _of_copies(events: pl.DataFrame) -> list[int]:
    """Return rows about copies, for one replica."""
    copy = _Copy()
    for line in events.select(_READ).iter_rows():
        copy.take(_Line(*line))
    return copy.found


class _Line(NamedTuple):
    """Values read of a line: columns ``_READ``."""

    row: int
    run: int | None
    kind: str
    leo: int | None
    hw: int | None
    log_dir: str | None
    detail: str | None
    time: datetime | None

    @property
    def loads(self) -> bool:
        return self.kind == Kind.LOG_LOADED.value

    @property
    def copies(self) -> bool:
        return self.kind == Kind.LOG_COPIED.value

    @property
    def moves(self) -> bool:
        """Return whether it shows that the copy replaced the log."""
        return self.kind == Kind.LOG_MOVED.value or (self.loads and self.detail == MOVED)

    @property
    def lacks_checkpoint(self) -> bool:
        return self.kind == Kind.HW_MISSING.value or (self.kind == Kind.HW_LOADED.value and self.hw == 0)


@dataclass(slots=True)
class _Copy:
    """A replica's log and a copy of it, as far as its lines have shown them.

    Attributes:
        found: rows about copies.
        supposed: rows of a copy, if a later line confirms it.
        in_use: the log's directory.
        other: the copy's directory, or the one of the only log named so far.
        confirmed: whether a line shows that ``other`` is a copy.
        begun: a former process began the copy; this one lacks a checkpoint of the copy, or of a log just moved.
        since: time of the first line that names ``other``.
        run: process of the last line.
        left: directory of a copy that a former process left behind, or None.
        held: rows of this process that name ``left``, until it loads the log itself from another directory. If it never
            does, the copy had replaced the log.
        loaded: this process has loaded the log itself.
    """

    found: list[int] = field(default_factory=list)
    supposed: list[int] = field(default_factory=list)
    in_use: str | None = None
    other: str | None = None
    confirmed: bool = False
    begun: bool = False
    since: datetime | None = None
    run: int | None = None
    left: str | None = None
    held: list[int] = field(default_factory=list)
    loaded: bool = False

    def take(self, line: _Line) -> None:
        """Take in the next line, of whichever process."""
        if line.run is not None and line.run != self.run:
            self._restart(line.run)
        if self.left is None or line.moves or line.log_dir != self.left:
            self._note_load(line)
            self.read(line)
        elif self.loaded:
            self.found.append(line.row)
        else:
            self.held.append(line.row)

    def _restart(self, run: int) -> None:
        """A new process. It finds the log, and the copy that a former one had begun, unless that had replaced it."""
        if self.held and self.left is not None:
            self._use(self.left)
            self.begun, self.left = False, None
        if self.confirmed and self.in_use is not None and self.other is not None:
            self.left, self.begun, self.confirmed = self.other, True, False
            self.other, self.supposed = None, []
        self.run, self.held, self.loaded = run, [], False

    def _note_load(self, line: _Line) -> None:
        """Note that this process has loaded the log itself, so that what it loaded from ``left`` is the copy."""
        if self.left is not None and line.loads and line.leo != 0 and line.log_dir == self.in_use:
            self.found += self.held
            self.held, self.loaded = [], True

    def read(self, line: _Line) -> None:
        """Take in the next line."""
        if self.in_use is None and self.other is not None and not self._may_be_of_copy(line):
            self._use(self.other)  # the first one logged is the log itself
        if line.copies:
            self.confirmed = self.other is not None
        elif line.moves:
            self.found += self.supposed
            self._use(line.log_dir or self.other or self.left or self.in_use)
            self.confirmed = self.begun = False
            self.left = None
        elif self.begun and line.lacks_checkpoint:
            self.found.append(line.row)
        elif line.loads and line.leo != 0:
            self.begun = self.begun or self.confirmed
            self._use(line.log_dir or self.in_use)
            self.confirmed = False
        else:
            self._suppose(line)
        if self.confirmed:
            self.found += self.supposed
            self.supposed = []

    def _may_be_of_copy(self, line: _Line) -> bool:
        """Return whether a line may be about the only log named so far, and that log may be a copy."""
        if line.copies:
            return self.since is None or line.time is None or line.time - self.since <= _AT_ONCE
        return line.log_dir == self.other or (line.log_dir is None and line.kind in _CREATES)

    def _use(self, log_dir: str | None) -> None:
        self.in_use, self.other, self.supposed = log_dir, None, []

    def _suppose(self, line: _Line) -> None:
        """Take in a line that may be about the copy."""
        nameless = line.log_dir is None and line.kind in _NAMELESS
        if self.other is not None and (line.log_dir == self.other or nameless):
            self.supposed.append(line.row)
        elif self.other is None and line.kind in _BEGINS and line.log_dir not in (None, self.in_use):
            # Without a line about the log itself: if the next line confirms it.
            self.other, self.supposed, self.since = line.log_dir, [line.row], line.time
        elif line.loads and not self.confirmed:
            self._use(line.log_dir or self.in_use)


Homes = dict[tuple[str, int, int, int], list[tuple[int, int, str]]]


def homes(rows: pl.DataFrame) -> Homes:
    """Return the log directory of each replica, by its broker's lines: process, row and directory of each change.

    Args:
        rows: observations with the number of their log, those of each log in order, without those of copies.
    """
    named = rows.filter(pl.col("log_dir").is_not_null(), pl.col("run").is_not_null()).sort(LOG, maintain_order=True)
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in (LOG, "log_dir"))
    named = named.filter(~same.fill_null(False))
    found: Homes = {}
    for topic, partition, incarnation, broker, run, row, log_dir in named.select(
        *_HOME, "run", "row", "log_dir"
    ).iter_rows():
        found.setdefault((topic, partition, incarnation, broker), []).append((run, row, log_dir))
    return found


def carried(regression: Regression, homes: Sequence[tuple[int, int, str]]) -> Regression:
    """Explain a missing high watermark by a move of the log to another directory since the broker's last process.

    The checkpoint file of the new directory never contained the partition.
    """
    at = regression.refs[0].row
    if regression.kind is not RegressionKind.CHECKPOINT or regression.after or at is None:
        return regression
    before = [one for one in homes if one[1] <= at]
    if len(before) < 2 or before[-1][0] == before[-2][0]:
        return regression
    (_, _, one), (_, row, other) = before[-2:]
    ref = Ref(row=row, note=f"its log is in {other}, and was in {one}")
    return replace(regression, kind=RegressionKind.MOVED, refs=(*regression.refs, ref))
