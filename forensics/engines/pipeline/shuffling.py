"""Rows of whole partitions brought together: many small ones packed, large ones row by row and in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from forensics.engines.pipeline.executor import Buckets, Ordered, Shuffle, Stage, Work
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.files import grouped
from forensics.engines.stages.judging import BROUGHT, CARRIED, KEY, SORTED, brought, carried
from forensics.engines.stages.packing import packed
from forensics.engines.stages.rows import frame
from forensics.engines.stages.work import Bring, Carry, bundled

_TOGETHER: Final = 100_000
"""Rows of small partitions that one task judges, about."""
_LARGE: Final = 100_000
"""Rows of a partition beyond which the executor puts them in order, not the task that judges it."""


@dataclass(frozen=True, slots=True)
class Shuffling:
    """Brings rows together.

    Attributes:
        folder: of the tables.
        sources: rows of the table of sources, in plain types.
        written: files of the other tables below the folder: ``name`` and rows ``n`` of each.
    """

    folder: Path
    sources: pl.DataFrame
    written: pl.DataFrame

    def __call__(self, keys: pl.DataFrame, tasks: int | None, then: Callable[[bool], Work]) -> Iterator[Shuffle]:
        """Yield the shuffles of partitions, and what is done with their rows.

        Args:
            keys: the partitions, and how many rows ``n`` each has.
            tasks: for small partitions; as many as the rows call for without it.
            then: gives the work for rows that are packed, or are not.
        """
        large, small = by_size(keys, tasks)
        if large.height:
            yield self._carried(large, then(False))
        if small.height:
            yield self._brought(small, then(True))

    def _tables(self) -> list[list[str]]:
        files = self.written.filter(pl.col("name").is_not_null()).sort("name").select("name", "n")
        tasks = []
        for name in TABLES:
            mine = files.filter(pl.col("name").str.starts_with(f"{name}/")).iter_rows()
            of_table = grouped((str(self.folder / file), rows) for file, rows in mine)
            tasks += [[json.dumps([name, paths])] for paths in of_table]
        return tasks

    def _carried(self, keys: pl.DataFrame, then: Work) -> Ordered:
        sources = self.sources.join(keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
        gather = Stage(self._tables(), Carry(packed(keys.select(KEY))), CARRIED)
        return Ordered(gather, carried("sources", sources), KEY, SORTED, max(keys.height, 2), then)

    def _brought(self, buckets: pl.DataFrame, then: Work) -> Buckets:
        gather = Stage(self._tables(), Bring(packed(buckets)), BROUGHT)
        of_sources = {bucket: [part] for bucket, part in brought(carried("sources", self.sources), buckets)}
        more = frame(list(bundled(of_sources))) if of_sources else pl.DataFrame(schema=BROUGHT)
        return Buckets(gather, more, max(buckets.get_column("bucket").to_list()) + 1, then)


def by_size(keys: pl.DataFrame, tasks: int | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Large partitions, and small ones with ``bucket``: those of one bucket are judged by one task.

    Args:
        keys: partitions, and how many rows ``n`` each has.
        tasks: how many buckets; as many as the rows call for without it.
    """
    large, small = keys.filter(pl.col("n") > _LARGE), keys.filter(pl.col("n") <= _LARGE)
    rows = int(small.get_column("n").sum())
    count = min(tasks or max(4, -(-rows // _TOGETHER)), small.height)
    before = pl.col("n").cum_sum() - pl.col("n")
    return large, small.select(*KEY, (before * count // max(rows, 1)).cast(pl.Int32).alias("bucket"))
