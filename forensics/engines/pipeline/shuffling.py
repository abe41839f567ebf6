"""Rows of whole partitions brought together: many small ones packed, large ones row by row and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from forensics.engines.pipeline.executor import Buckets, Given, Ordered, Stage, Work
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.judging import BROUGHT, CARRIED, JUDGED, KEY, SORTED, brought, carried
from forensics.engines.stages.packing import packed
from forensics.engines.stages.rows import frame
from forensics.engines.stages.table import Rows, Table
from forensics.engines.stages.work import Bring, Carry, bundled

_TOGETHER: Final = 100_000
"""Rows of small partitions that one task judges, about."""
_LARGE: Final = 100_000
"""Rows of a partition beyond which the executor puts them in order, not the task that judges it."""


@dataclass(frozen=True, slots=True)
class Shuffling:
    """Brings rows together.

    Attributes:
        tables: the large tables, by name.
        sources: rows of the table of sources, in plain types.
    """

    tables: Mapping[str, Table]
    sources: pl.DataFrame

    def __call__(self, keys: pl.DataFrame, tasks: int | None, then: Callable[[bool], Work]) -> Iterator[Stage]:
        """Yield the stages that judge partitions.

        Args:
            keys: the partitions, and how many rows ``n`` each has.
            tasks: for small partitions; as many as the rows call for without it.
            then: gives the work for rows that are packed, or are not.
        """
        large, small = by_size(keys, tasks)
        if large.height:
            yield Stage("judge large partitions", self._carried(large), then(False), JUDGED)
        if small.height:
            yield Stage("judge partitions", self._brought(small), then(True), JUDGED)

    def _rows(self, name: str) -> Rows:
        return Rows([self.tables[name]], list(TABLES[name]))

    def _carried(self, keys: pl.DataFrame) -> Ordered:
        sources = self.sources.join(keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
        wanted = packed(keys.select(KEY))
        gather = [Stage(f"bring {name}", self._rows(name), Carry(name, wanted), CARRIED) for name in self.tables]
        gather.append(Stage("bring sources", Given(carried("sources", sources)), None, CARRIED))
        return Ordered(gather, KEY, SORTED, max(keys.height, 2))

    def _brought(self, buckets: pl.DataFrame) -> Buckets:
        wanted = packed(buckets)
        gather = [Stage(f"bring {name}", self._rows(name), Bring(name, wanted), BROUGHT) for name in self.tables]
        of_sources = {bucket: [part] for bucket, part in brought(carried("sources", self.sources), buckets)}
        if of_sources:
            gather.append(Stage("bring sources", Given(frame(list(bundled(of_sources)))), None, BROUGHT))
        return Buckets(gather, max(buckets.get_column("bucket").to_list()) + 1)


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
