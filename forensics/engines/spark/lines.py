"""Observations from lines of logs that are rows of a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics.case.order import utc
from forensics.engines.spark.frames import mapped
from forensics.engines.stages.rows import batches, chunks, plain
from parsers.file_reading import UTC
from parsers.schema import NOTICES, OBSERVATIONS, empty
from parsers.text import wrappings
from parsers.text.layouts import Layouts
from parsers.text.lines import Block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = {"path": pl.String(), **plain(OBSERVATIONS)}


def observations(lines: DataFrame, zone: str) -> DataFrame:
    """Observations from columns path, line and text."""
    from pyspark.sql import functions as F

    found = mapped(lines.select("path", "line", "text"), Extract(zone), COLUMNS)
    return found.withColumn("time", F.timestamp_micros("time"))


@dataclass(frozen=True, slots=True)
class Extract:
    """The work of a task.

    Attributes:
        zone: zone of printed times that name none.
    """

    zone: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Observations of the lines, file by file."""
        for rows in chunks(incoming):
            for (path,), mine in rows.drop_nulls().sort("path", "line").group_by(["path"], maintain_order=True):
                around, frame = wrappings.choose(mine.get_column("text"))
                if frame is None:
                    continue
                block = Block(mine.get_column("text"), 1, empty(NOTICES), mine.get_column("line"))
                known = Layouts(around, frame)
                portions = known.portions(block)
                zone = UTC if known.utc else self.zone
                found = pl.concat([portion.found.observations for portion in portions]).sort(
                    "line", maintain_order=True
                )
                found = found.with_columns(utc(pl.col("time"), zone))
                yield from batches(found.with_columns(pl.lit(str(path)).alias("path")), COLUMNS)
