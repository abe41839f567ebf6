"""Interface of what runs the tasks of a batch: processes of this machine, or Spark. Both give the same answers.

Work is a function of Arrow batches. It never writes a file of a table: rows flow from stage to stage, and the executor
stores what is to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from forensics.engines.stages.rows import Schema
from forensics.engines.stages.table import Rows, Table

Work = Callable[[Iterable[Any]], Iterator[Any]]
"""Arrow batches in, Arrow batches out. It travels to where the task runs, so it holds all that it needs."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Pieces of text.

    Attributes:
        pieces: those of each task; they reach the work as Arrow batches with one column ``piece``.
    """

    pieces: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Given:
    """Rows that are there already.

    Attributes:
        rows: of the stage's schema; no work is done with them.
    """

    rows: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Buckets:
    """Rows brought together by the number of their bucket: those of a bucket come one after another.

    Attributes:
        gather: stages that give rows with a column ``bucket``.
        count: how many buckets there are.
    """

    gather: Sequence[Stage]
    count: int


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows brought together by keys, in order.

    Attributes:
        gather: stages that give the rows.
        keys: columns; rows that have the same values in them come one after another.
        order: columns by which the rows of the same keys are in order, what is null last.
        tasks: how many tasks do the rest.
    """

    gather: Sequence[Stage]
    keys: Sequence[str]
    order: Sequence[str]
    tasks: int


Over = Tasks | Rows | Given | Buckets | Ordered


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that do the same work.

    Attributes:
        name: what it does, for people.
        over: what it is done with.
        work: what is done; nothing without it.
        schema: of the rows that it gives, in plain types. A column that the work leaves out is null.
    """

    name: str
    over: Over
    work: Work | None
    schema: Schema


class Executor(Protocol):
    """Runs tasks.

    All of these raise ``TaskFailed`` where the system refused what a task asked of it, as room on a disk.
    """

    @property
    def slots(self) -> int:
        """How many tasks run at the same time, about."""

    def run(self, stage: Stage) -> pl.DataFrame:
        """Return the rows that all tasks give, in any order."""

    def store(self, into: Table, *stages: Stage) -> None:
        """Store the rows that the tasks of some stages give, of which none waits for another.

        Args:
            into: a table that has none of the rows yet.
            stages: give rows of its columns. Without any row one file is written, which has the columns.
        """

    def summed(self, stages: Sequence[Stage], keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """Return one row for each value of the keys.

        Args:
            stages: give the rows.
            keys: columns; null is a value like any other.
            how: what becomes of each other column: ``sum``, ``bit_xor``, ``min``, ``max``.
        """

    def digested(self, rows: Rows, keys: Sequence[str]) -> pl.DataFrame:
        """Return how many stored rows have each value of the keys, and two sums of the hashes of these rows.

        The sums do not depend on the order of rows. They are compared with those of the same executor alone.

        Returns:
            The keys and ``n``, ``one``, ``two``.
        """

    def read(self, rows: Rows) -> pl.DataFrame:
        """Return stored rows, of which there are few, in any order."""

    def share(self) -> float:
        """Return which share of the tasks that run now is finished, from 0 to 1."""

    def check(self, table_format: str, probe: Path) -> None:
        """Make sure that tables can be written in a format.

        Args:
            table_format: as Spark names it.
            probe: a folder that does not exist, and may be written to.

        Raises:
            UnusableOutput: they cannot.
        """
