"""The work of a task that judges rows of many partitions: rows of observations in, rows of one table out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from forensics import tables
from forensics.case.frames import case_of
from forensics.engines import local
from forensics.engines.stages.packing import unpacked
from forensics.engines.stages.rows import batches, frame
from forensics.result import Result, finish

_GIVEN: Final = ("findings", "verdicts", "timeline")
_OF_ONE_CASE: Final = ("row", "at")
"""Ends of the names of columns that hold numbers of one case: each task has its own."""

TABLES: Final[Mapping[str, tuple[dict[str, pl.DataType], Callable[[Result], pl.DataFrame]]]] = MappingProxyType(
    {
        table.name: (
            {name: of for name, of in table.schema.items() if name.rpartition("_")[2] not in _OF_ONE_CASE},
            table.rows,
        )
        for table in tables.TABLES
        if table.name in _GIVEN
    }
)
"""Columns of each table, and what makes it of a finished scan."""


@dataclass(frozen=True, slots=True)
class JudgeRows:
    """The work of a task.

    Attributes:
        table: name of the table that it gives.
        shared: rows about whole brokers, ``packed``, which belong to the rows of every task.
        whole: each file is complete.
    """

    table: str
    shared: bytes
    whole: bool

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of the table for the partitions of a task."""
        arrived = [batch for batch in incoming if batch.num_rows]
        if not arrived:
            return
        case = case_of(pl.concat([frame(arrived), unpacked(self.shared)], how="vertical_relaxed"), whole=self.whole)
        schema, made = TABLES[self.table]
        with local.no_cycles():
            found = made(finish((), case, local.judged(case)))
        yield from batches(found, schema)
