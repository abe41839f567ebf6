"""Type of an entry of ``known_problems``, and conditions on the values of a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from forensics.replay.facts.isr import broker_set
from forensics.rules.finding import Severity
from parsers.details import assigned
from parsers.schema import Kind

Row = Mapping[str, Any]
"""One observation: columns of ``OBSERVATIONS``, ``broker``, and ``shares``: partitions that have the same directory."""


class Records(StrEnum):
    """Meaning of a line for records."""

    AT_STAKE = "records may be lost"
    UNREADABLE = "records cannot be read"
    NOTHING_LOST = "no record is lost by this"
    UNKNOWN = "unknown from this line alone"

    @property
    def meaning(self) -> str:
        """The same as a sentence."""
        return _MEANINGS.get(self, self.value)


_MEANINGS = {
    Records.UNKNOWN: "whether records are lost does not follow from this line alone",
    Records.UNREADABLE: "these records cannot be read while the damaged bytes are there",
}


@dataclass(frozen=True, slots=True)
class KnownProblem:
    """A kind of line, what it states and what it means.

    Attributes:
        id: its name in JSON.
        title: a few words, as in a headline.
        severity: error (a broker, a partition or a copy needs attention), warning, or info (routine).
        kinds: observations that it may recognise.
        states: one sentence on what the line states, with ``{who}``, ``{where}``, ``{leader}``, ``{stake}`` and column
            names as placeholders.
        records: what that means for records.
        means: the meaning, in one to three sentences.
        fetch: the next steps, the most useful first.
        unless_named: steps before these, unless the line names the exception that is its cause.
        do_not: what would destroy records or their last copy.
        issues: Kafka issues with the releases that are affected or fixed, where known.
        when: whether an observation has the values; None for all.
        stake: columns with the first and the end of the offsets at stake.
        always: report it for whole directories too. If replay judges a kind by itself, only excerpts report it.
        unjudged: report it for brokers of which no line states a role too: replay cannot judge their replicas.
        beside: problems of the same replica that say more of it. If one of them is reported, this one is not.
        leads: of severity info, but not routine: the line needs an explanation.
        of_directory: it is about a log directory of a broker, whichever partitions its lines name.
        part_of: problems of which this is a step. If one of them is reported for the same broker, this one is not.
    """

    id: str
    title: str
    severity: Severity
    kinds: tuple[Kind, ...]
    states: str
    records: Records
    means: str
    fetch: tuple[str, ...]
    unless_named: tuple[str, ...] = ()
    do_not: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    when: Callable[[Row], bool] | None = None
    stake: tuple[str, str] | None = None
    always: bool = False
    unjudged: bool = False
    part_of: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    leads: bool = False
    of_directory: bool = False

    @property
    def routine(self) -> bool:
        """Return whether it is reported in one line, and never as the headline."""
        return self.severity is Severity.INFO and not self.leads

    def recognises(self, row: Row) -> bool:
        """Return whether an observation is of this problem."""
        return row["kind"] in self.kinds and (self.when is None or self.when(row))


# -- conditions on the values of a line -------------------------------------------------------------------------------


def detail_is(*values: str) -> Callable[[Row], bool]:
    """A test whether the detail of a line is one of some values of ``parsers.details``."""
    return lambda row: row["detail"] in values


def detail_is_not(*values: str) -> Callable[[Row], bool]:
    """A test whether the detail of a line is none of some values of ``parsers.details``."""
    return lambda row: row["detail"] not in values


def no_detail(row: Row) -> bool:
    """Return whether all that a line states has a column of its own."""
    return row["detail"] is None


def shares_directory(row: Row) -> bool:
    """Return whether a log is opened in the directory of another one."""
    return row["shares"] is not None


def less(one: str, two: str) -> Callable[[Row], bool]:
    """Return a condition: the value of a column is known to be less than that of another."""
    return lambda row: row[one] is not None and row[two] is not None and row[one] < row[two]


def without(column: str) -> Callable[[Row], bool]:
    """Return a condition: a column has no value."""
    return lambda row: row[column] is None


def zero(*columns: str) -> Callable[[Row], bool]:
    """Return a condition: the values of columns are 0."""
    return lambda row: all(row[column] == 0 for column in columns)


def in_range(row: Row) -> bool:
    """Return whether the printed range contains the requested offset."""
    return not less("offset", "log_start")(row) and not less("leo", "offset")(row)


def in_temporary(row: Row) -> bool:
    """Return whether a log directory is where the operating system deletes files; macOS has its own in /private."""
    folders = PurePosixPath(row["log_dir"] or "").parts[1:-1]
    return folders[:1] == ("tmp",) or folders[:2] in (("private", "tmp"), ("var", "tmp"))


def one_of_several(row: Row) -> bool:
    """Return whether an ISR has one member, of several replicas."""
    isr, before = broker_set(row["isr"]), broker_set(row["isr_before"]) or assigned(row["detail"])
    return isr is not None and len(isr) == 1 < len(before)


def led_from_isr(row: Row) -> bool:
    """Return whether an elected leader is in an ISR of several: an unclean election leaves the leader alone in it."""
    isr = broker_set(row["isr"])
    return isr is not None and len(isr) > 1 and row["leader"] in isr


def has_leader(row: Row) -> bool:
    """Return whether a line names a leader."""
    return row["leader"] is not None


def first_epoch(row: Row) -> bool:
    """Return whether a leader begins leader epoch 0 at offset 0."""
    return bool(row["leader_epoch"] == 0 and row["leo"] == 0)


def above_zero(row: Row) -> bool:
    """Return whether a truncation leaves anything of a log."""
    return row["offset"] is not None and row["offset"] > 0
