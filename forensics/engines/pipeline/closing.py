"""The table of timelines: states that tasks found, and valid ones of the run before, with their ends.

The end of a process's last state depends on everything that its broker printed, which any new log changes. So the
states of a partition are computed when it is judged, and kept; their ends are computed in every run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from forensics.case.lives import by_cluster
from forensics.engines.pipeline.executor import Executor, Stage
from forensics.engines.stages.context import Context
from forensics.engines.stages.files import folder_of, grouped, put
from forensics.engines.stages.judging import KEY, STATES
from forensics.engines.stages.packing import packed
from forensics.engines.stages.work import WRITTEN, Close
from forensics.replay.timeline import spans

TIMELINE: Final = "timeline"
_BYTES: Final = 8
"""Bytes of a row in a file, about."""


@dataclass(frozen=True, slots=True)
class Closing:
    """Writes the table.

    Attributes:
        executor: runs the tasks.
        folder: of the tables.
    """

    executor: Executor
    folder: Path

    def __call__(
        self,
        context: Context,
        processes: pl.DataFrame,
        states: Sequence[Path],
        former: Sequence[Path],
        former_sources: pl.DataFrame,
        kept: pl.DataFrame,
    ) -> list[Path]:
        """Write the table.

        Args:
            context: what concerns many partitions.
            processes: rows of ``DIGESTS`` about processes.
            states: files of states that were found now.
            former: files of the table as the run before left it.
            former_sources: the table of sources as the run before left it.
            kept: the partitions, by ``KEY``, whose former states are still true.

        Returns:
            Its files.
        """
        tasks = []
        for is_former, files in ((False, states), (True, former if kept.height else ())):
            weighed = [(str(file), file.stat().st_size // _BYTES) for file in sorted(files)]
            tasks += [[json.dumps([is_former, paths])] for paths in grouped(weighed)]
        sources = by_cluster(context.sources, context.lives)
        clusters = sources.get_column("cluster").drop_nulls().n_unique()
        ends = packed(_ends(sources, processes, clusters))
        now = context.sources.select("path", pl.col("id").cast(pl.Int64).alias("now"))
        then = former_sources.select("path", pl.col("id").cast(pl.Int64).alias("then"))
        numbers = then.join(now, on="path").select("then", "now")
        folder = self.folder / TIMELINE
        work = Close(ends, clusters, packed(kept.select(KEY)), packed(numbers), str(folder))
        found = self.executor.run(Stage(tasks, work, WRITTEN)) if tasks else None
        if found is None or found.is_empty():
            path = folder / folder_of("in_cluster", "none") / "part-none.parquet"
            put(path, pl.DataFrame(schema=STATES))
            return [path]
        return [folder / name for name in found.get_column("name")]


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
