"""Interface of what runs the tasks of a batch: processes of this machine, or Spark. Both give the same answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from forensics.engines.stages.rows import Schema

Work = Callable[[Iterable[Any]], Iterator[Any]]
"""Arrow batches in, Arrow batches out. It travels to where the task runs, so it holds all that it needs."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Tasks that do the same work.

    Attributes:
        tasks: the pieces of each task; they reach the work as Arrow batches with one column ``piece``.
        work: what is done with them.
        schema: of the rows that it gives, in plain types.
    """

    tasks: Sequence[Sequence[str]]
    work: Work
    schema: Schema


@dataclass(frozen=True, slots=True)
class Buckets:
    """A shuffle of rows by the number of their bucket.

    Attributes:
        gather: gives rows with a column ``bucket``.
        more: further rows, which no task gives.
        count: how many buckets there are.
        then: what is done with the rows of some buckets, each bucket's one after another.
    """

    gather: Stage
    more: pl.DataFrame
    count: int
    then: Work


@dataclass(frozen=True, slots=True)
class Ordered:
    """A shuffle of rows by keys, in order.

    Attributes:
        gather: gives the rows.
        more: further rows, which no task gives.
        keys: columns; rows that have the same values in them come one after another.
        order: columns by which the rows of the same keys are in order, what is null last.
        tasks: how many tasks do the rest.
        then: what is done with them.
    """

    gather: Stage
    more: pl.DataFrame
    keys: Sequence[str]
    order: Sequence[str]
    tasks: int
    then: Work


Shuffle = Buckets | Ordered


class Executor(Protocol):
    """Runs tasks.

    All of these raise ``TaskFailed`` where the system refused what a task asked of it, as room on a disk.
    """

    def run(self, stage: Stage) -> pl.DataFrame:
        """Return the rows that all tasks give, in any order."""

    def summed(self, stage: Stage, keys: Sequence[str], how: dict[str, str]) -> pl.DataFrame:
        """Return one row for each value of the keys.

        Args:
            stage: gives the rows.
            keys: columns; null is a value like any other.
            how: what becomes of each other column: ``sum``, ``bit_xor``, ``min``, ``max``.
        """

    def shuffled(self, shuffles: Sequence[Shuffle], schema: Schema) -> pl.DataFrame:
        """Return the rows that the work after some shuffles gives, in any order; none waits for another.

        Args:
            shuffles: of rows.
            schema: of the rows that are given.
        """

    def check(self, table_format: str, probe: Path) -> None:
        """Make sure that tables can be written in a format.

        Args:
            table_format: as Spark names it.
            probe: a folder that does not exist, and may be written to.

        Raises:
            UnusableOutput: they cannot.
        """

    def convert(self, table_format: str, name: str, source: Path, target: Path) -> None:
        """Write a table in another format.

        Args:
            table_format: as Spark names it.
            name: of the table.
            source: folder of its Parquet files.
            target: where it is written.
        """
