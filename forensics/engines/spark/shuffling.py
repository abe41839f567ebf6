"""Rows of whole partitions brought together: many small ones packed, large ones row by row and in order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from forensics.engines.spark import frames
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.files import grouped
from forensics.engines.stages.judging import BROUGHT, CARRIED, KEY, SORTED, brought, carried
from forensics.engines.stages.packing import packed
from forensics.engines.stages.rows import frame
from forensics.engines.stages.work import Bring, Carry, bundled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TOGETHER: Final = 250_000
"""Rows of small partitions that one task judges, about."""
_LARGE: Final = 100_000
"""Rows of a partition beyond which Spark puts them in order, not the task that judges it."""


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Brings rows together.

    Attributes:
        spark: the session.
        folder: of the tables.
        sources: rows of the table of sources, in plain types.
        written: files of the other tables below the folder: ``name`` and rows ``n`` of each.
    """

    spark: SparkSession
    folder: Path
    sources: pl.DataFrame
    written: pl.DataFrame

    def __call__(self, keys: pl.DataFrame, tasks: int | None) -> Iterator[tuple[bool, DataFrame]]:
        """Rows of partitions, and whether they are packed.

        Args:
            keys: the partitions, and how many rows ``n`` each has.
            tasks: for small partitions; as many as the rows call for without it.
        """
        large, small = by_size(keys, tasks)
        if large.height:
            yield False, self._carried(large)
        if small.height:
            yield True, self._brought(small)

    def _tables(self) -> DataFrame:
        files = self.written.filter(pl.col("name").is_not_null()).sort("name").select("name", "n")
        tasks = []
        for name in TABLES:
            mine = files.filter(pl.col("name").str.starts_with(f"{name}/")).iter_rows()
            of_table = grouped((str(self.folder / file), rows) for file, rows in mine)
            tasks += [[json.dumps([name, paths])] for paths in of_table]
        return frames.in_tasks(self.spark, tasks)

    def _carried(self, keys: pl.DataFrame) -> DataFrame:
        sources = self.sources.join(keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
        found = frames.mapped(self._tables(), Carry(packed(keys.select(KEY))), CARRIED)
        found = frames.union([found, frames.made(self.spark, carried("sources", sources), CARRIED)])
        return frames.in_order(found, KEY, SORTED, max(keys.height, 2))

    def _brought(self, buckets: pl.DataFrame) -> DataFrame:
        found = frames.mapped(self._tables(), Bring(packed(buckets)), BROUGHT)
        of_sources = {bucket: [part] for bucket, part in brought(carried("sources", self.sources), buckets)}
        if of_sources:
            found = frames.union([found, frames.made(self.spark, frame(list(bundled(of_sources))), BROUGHT)])
        return frames.in_buckets(found, "bucket", max(buckets.get_column("bucket").to_list()) + 1)


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
