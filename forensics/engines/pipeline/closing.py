"""The table of timelines: states that tasks found, and valid ones of the run before, with their ends.

The end of a process's last state depends on everything that its broker printed, which any new log changes. So the
states of a partition are computed when it is judged, and kept; their ends are computed in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from forensics.case.lives import by_cluster
from forensics.engines.pipeline.executor import Executor, Stage
from forensics.engines.stages.context import Context
from forensics.engines.stages.judging import KEY, STATES
from forensics.engines.stages.packing import packed
from forensics.engines.stages.table import Rows, Table
from forensics.engines.stages.work import TIMELINE as COLUMNS
from forensics.engines.stages.work import Close
from forensics.replay.timeline import spans

TIMELINE: Final = "timeline"
_WANTED: Final = (*KEY, "states")


def timeline(folder: Path) -> Table:
    """Return the table, in a folder."""
    times = [name for name, dtype in STATES.items() if isinstance(dtype, pl.Datetime)]
    return Table(folder / TIMELINE, COLUMNS, ("in_cluster",), tuple(times))


@dataclass(frozen=True, slots=True)
class Former:
    """Results of the run before, and which of them count.

    Attributes:
        judged: judged partitions.
        sources: the table of sources.
        kept: the partitions, by ``KEY``, whose states are still true.
    """

    judged: Table
    sources: pl.DataFrame
    kept: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Closing:
    """Writes the table.

    Attributes:
        executor: runs the tasks.
        into: where it is written.
    """

    executor: Executor
    into: Table

    def __call__(
        self, context: Context, processes: pl.DataFrame, judged: Sequence[Table], former: Former | None
    ) -> None:
        """Write the table.

        Args:
            context: what concerns many partitions.
            processes: rows of ``PROCESSES``.
            judged: partitions that were judged now, with their states.
            former: results of the run before; None where none of them counts.
        """
        sources = by_cluster(context.sources, context.lives)
        clusters = sources.get_column("cluster").drop_nulls().n_unique()
        ends = packed(_ends(sources, processes, clusters))
        stages = []
        if judged:
            stages.append(Stage("close timelines", Rows(judged, _WANTED), Close(ends, clusters), COLUMNS))
        if former is not None:
            now = context.sources.select("path", pl.col("id").cast(pl.Int64).alias("now"))
            then = former.sources.select("path", pl.col("id").cast(pl.Int64).alias("then"))
            numbers = then.join(now, on="path").select("then", "now")
            work = Close(ends, clusters, packed(former.kept.select(KEY)), packed(numbers))
            stages.append(Stage("close former timelines", Rows([former.judged], _WANTED), work, COLUMNS))
        self.executor.store(self.into, *stages)


def _ends(sources: pl.DataFrame, processes: pl.DataFrame, clusters: int) -> pl.DataFrame:
    """As ``spans`` gives it, with ``cluster``; that is null where there are not several."""
    times = [pl.from_epoch(name, "us").dt.replace_time_zone("UTC") for name in ("first", "last")]
    rows = processes.select("cluster", "broker", "run", *times, pl.col("ended") > 0)
    parts = []
    for name in sources.get_column("cluster").unique().to_list() if clusters > 1 else [None]:
        is_mine = pl.col("cluster").eq_missing(pl.lit(name, pl.String)) if clusters > 1 else pl.lit(True)
        mine = rows.filter(is_mine).group_by("broker", "run")
        found = mine.agg(pl.col("first").min(), pl.col("last").max(), pl.col("ended").any())
        parts.append(spans(found, sources.filter(is_mine)).with_columns(pl.lit(name, pl.String).alias("cluster")))
    return pl.concat(parts)
