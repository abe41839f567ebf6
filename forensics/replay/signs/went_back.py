"""Values that a witness states of one replica below earlier ones, with no line in between that explains it.

A trace need not claim to state each change. Without that claim a line in between may be missing, so a log end offset
below a high watermark stated before proves nothing. It suggests a loss, which ``suspicions`` reports.
The same holds for the entries of one leader-epoch-checkpoint: epochs and offsets rise along a log.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.log_numbers import LOG
from forensics.replay.facts.statement_lines import Key, StatementLine, statement_lines
from forensics.replay.signs.disagreement import Disagreement
from forensics.replay.signs.sign import Sign
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_STATES = (Kind.HW, Kind.LEO, Kind.LOG_END, Kind.APPEND)
"""Kinds of line of a trace that state a high watermark or a log end offset at that moment."""

_EXPLAINS = (
    Kind.PROCESS_START,
    Kind.CLEAN_RESTART,
    Kind.UNCLEAN_RESTART,
    Kind.LOG_LOADED,
    Kind.LOG_CREATED,
    Kind.LOG_DELETED,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.TRUNCATE,
    Kind.TRUNCATE_FULL,
    Kind.TRUNCATE_PLAN,
    Kind.CORRUPTION_CUT,
    Kind.HW_REGRESSED,
    Kind.LINES_MISSING,
)
"""Kinds of line that begin another process, role or log. Other rules and signs judge these."""

_ROLES = (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)

_ENTRIES = (Kind.EPOCH_ENTRY, Kind.EPOCH_ASSIGNED)


@dataclass(slots=True)
class _Known:
    """The highest values that one witness has stated of one replica, each with its line.

    Attributes:
        hw, leo: high watermark and log end offset since the last line that explains a lower one.
        leads: leader epoch in which the replica leads by its own last role, or None.
        role: highest leader epoch of its own roles.
        entries: epoch entries, each a leader epoch and its first offset.
        highest: the highest leader epoch and the highest offset of these.
        found: what went back, the first of each sign.
    """

    hw: tuple[int, int | None, Ref] | None = None
    leo: tuple[int, int | None, Ref] | None = None
    leads: int | None = None
    role: tuple[int, int | None, Ref] | None = None
    entries: list[tuple[int, int, Ref]] = field(default_factory=list)
    highest: tuple[int, int] = (-1, -1)
    found: dict[Sign, Disagreement] = field(default_factory=dict)

    def add(self, line: StatementLine) -> None:
        """Compare a line with those before, and store its values."""
        if line.kind in _ROLES and line.leader_epoch is not None:
            self._role(line, line.leader_epoch)
        if line.kind in _EXPLAINS:
            self._begin(line)
        elif line.kind in _ENTRIES:
            self._entry(line)
        else:
            self._values(line)

    def _role(self, line: StatementLine, epoch: int) -> None:
        """Compare a role with those before. A broker ignores a lower leader epoch (Partition.makeLeader), unless it
        was restarted. Epoch 0 is the first of a topic, whose log is empty. Lines without times may be in any order.
        """
        ref = Ref(row=line.row, note=f"{line.kind} in leader epoch {epoch}")
        known, leads = self.role, line.kind == Kind.BECOME_LEADER and (epoch > 0 or bool(line.leo))
        if known is not None and epoch < known[0] and leads and _later(known[1], line):
            self._note(Sign.LED_EARLIER_EPOCH, line, known, epoch, ref, epoch, known[0])
        if known is None or epoch > known[0]:
            self.role = epoch, line.time, ref

    def _begin(self, line: StatementLine) -> None:
        if line.kind == Kind.TRUNCATE and line.broker == line.replica and line.offset is not None:
            ref = Ref(row=line.row, note=f"truncated to {line.offset}")
            if self.hw is not None and line.offset < self.hw[0]:
                self._note(Sign.TRUNCATED_BELOW_STATED, line, self.hw, line.offset, ref)
        self._role_end(line)
        self.hw = self.leo = None
        self.entries.clear()
        self.leads = line.leader_epoch if line.kind == Kind.BECOME_LEADER and line.broker == line.replica else None
        if self.leads is not None and line.hw is not None:
            self.hw = line.hw, line.time, Ref(row=line.row, note=f"high watermark {line.hw}")
        if self.leads is not None and line.leo is not None:
            self.leo = line.leo, line.time, Ref(row=line.row, note=f"log end offset {line.leo}")

    def _role_end(self, line: StatementLine) -> None:
        """Compare the log end offset with which a follower begins with its own as leader: leaders only append."""
        stated = line.kind == Kind.BECOME_FOLLOWER and line.message == TRACE and line.broker == line.replica
        if not stated or self.leads is None or self.leo is None or line.leo is None or line.leo >= self.leo[0]:
            return
        ref = Ref(row=line.row, note=f"log end offset {line.leo}")
        self._note(Sign.LOG_END_FELL, line, self.leo, line.leo, ref)

    def _values(self, line: StatementLine) -> None:
        if line.leo is not None:
            self._log_end(line, line.leo)
        if line.hw is not None:
            self._high_watermark(line, line.hw)

    def _log_end(self, line: StatementLine, end: int) -> None:
        ref = Ref(row=line.row, note=f"log end offset {end}")
        if line.kind != Kind.APPEND:  # appends may be stated in another order than they were made in
            # A line that states a high watermark too, or one of the same moment, is judged by itself.
            earlier = self.hw if line.hw is None else None
            if earlier is not None and end < earlier[0] and line.time != earlier[1]:
                self._note(Sign.END_BELOW_HIGH_WATERMARK, line, earlier, end, ref)
            elif self.leo is not None and end < self.leo[0]:
                self._note(Sign.LOG_END_FELL, line, self.leo, end, ref)
        if self.leo is None or end > self.leo[0]:
            self.leo = end, line.time, ref

    def _high_watermark(self, line: StatementLine, value: int) -> None:
        ref = Ref(row=line.row, note=f"high watermark {value}")
        if self.leads is not None and self.hw is not None and value < self.hw[0]:
            self._note(Sign.HIGH_WATERMARK_FELL, line, self.hw, value, ref, self.leads, self.leads)
        if self.hw is None or value > self.hw[0]:
            self.hw = value, line.time, ref

    def _entry(self, line: StatementLine) -> None:
        epoch, offset = line.leader_epoch, line.offset
        if epoch is None or offset is None or Sign.EPOCH_ENTRIES_FALL in self.found:
            return
        ref = Ref(row=line.row, note=f"leader epoch {epoch} from offset {offset}")
        if epoch < self.highest[0] or offset < self.highest[1]:
            self._compare_entry(line, epoch, offset, ref)
        self.highest = max(self.highest[0], epoch), max(self.highest[1], offset)
        self.entries.append((epoch, offset, ref))

    def _compare_entry(self, line: StatementLine, epoch: int, offset: int, ref: Ref) -> None:
        """Compare an epoch entry with those before."""
        above = [one for one in self.entries if one[0] < epoch and one[1] > offset]
        below = [one for one in self.entries if one[0] > epoch and one[1] < offset]
        if above:
            since, start, earlier = max(above, key=lambda one: one[1])
            self._note(Sign.EPOCH_ENTRIES_FALL, line, (start, None, earlier), offset, ref, epoch, since)
        elif below:
            later, start, other = min(below, key=lambda one: one[1])
            self._note(Sign.EPOCH_ENTRIES_FALL, line, (offset, None, ref), start, other, later, epoch)

    def _note(
        self,
        sign: Sign,
        line: StatementLine,
        earlier: tuple[int, int | None, Ref],
        after: int,
        ref: Ref,
        epoch: int = -1,
        since: int = -1,
    ) -> None:
        before, _, first = earlier
        one = Disagreement(sign, line.replica, line.broker, epoch, since, before, after, line.time, (first, ref))
        self.found.setdefault(sign, one)


def _later(time: int | None, line: StatementLine) -> bool:
    return time is not None and line.time is not None and time <= line.time


def went_back(rows: pl.DataFrame) -> dict[Key, list[Disagreement]]:
    """Return values that went back, by incarnation of each partition that has any.

    Args:
        rows: observations of partitions, with ``broker``, ``row``, ``source``, ``incarnation`` and the number of their
            log.
    """
    kinds = [kind.value for kind in (*_STATES, *_EXPLAINS, *_ENTRIES)]
    traced = pl.col("kind").is_in(kinds) & (pl.col("message") == TRACE)
    wanted = rows.filter(traced | pl.col("row").is_in(_falling(rows).implode()))
    known: dict[tuple[Key, int, int, int, str], _Known] = {}
    for line in statement_lines(wanted):
        # The entries of a file are those of one moment; a trace states values in one file after another. Lines of two
        # messages, or of two files, may have another order than what they are about.
        place = line.key, line.broker, line.replica
        file = (-1, TRACE) if line.message == TRACE else (line.source, line.message)
        known.setdefault((*place, *file), _Known()).add(line)
    found: dict[Key, list[Disagreement]] = {}
    for (key, *_), one in sorted(known.items()):
        for back in one.found.values():
            found.setdefault(key, []).append(back)
    return found


def _falling(rows: pl.DataFrame) -> pl.Series:
    """Return the rows of logs and files with roles or epoch entries, where an epoch or an offset is below the last one.

    Each series is returned whole: the lines of one message in one file, about one replica.
    """
    series = [LOG, "replica", "source", "message"]
    entry, roles = pl.col("kind") == Kind.EPOCH_ENTRY.value, pl.col("kind").is_in([kind.value for kind in _ROLES])
    logged = rows.filter(
        pl.col("message") != TRACE,
        pl.col("leader_epoch").is_not_null(),
        roles | (entry & pl.col("offset").is_not_null()),
    ).select(
        "row", LOG, pl.coalesce("replica", "broker"), "source", "message", "leader_epoch",
        pl.when(entry).then("offset").alias("offset"),
    ).sort(*series, "row")  # fmt: skip
    same = pl.all_horizontal(pl.col(name) == pl.col(name).shift(1) for name in series)
    lower = pl.any_horizontal(pl.col(name) < pl.col(name).shift(1) for name in ("leader_epoch", "offset"))
    return logged.join(logged.filter(same & lower), on=series, how="semi").get_column("row")
