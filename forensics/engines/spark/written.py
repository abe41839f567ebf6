"""A table that a batch wrote, as a DataFrame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from forensics.engines.pipeline.closing import TIMELINE
from forensics.engines.pipeline.output import Output
from forensics.engines.spark.frames import as_path, written_types
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.deriving import table as large
from forensics.engines.stages.table import in_cluster
from forensics.errors import UnreadableInput

if TYPE_CHECKING:
    from forensics.engines.spark.frames import DataFrame, SparkSession

_SMALL: Final = ("sources", TIMELINE, "findings", "verdicts")
"""Tables that are Parquet whatever the format of the others."""


def table(spark: SparkSession, folder: str, name: str, cluster: str | None) -> DataFrame:
    """See ``forensics.spark.table``."""
    from pyspark.sql import functions as F

    if name not in (*TABLES, *_SMALL):
        raise UnreadableInput(f"there is no table {name!r}; use one of {', '.join((*TABLES, *_SMALL))}")
    output = Output(Path(folder).absolute())
    manifest = output.open()
    if name == TIMELINE and not manifest.get("timelines"):
        raise UnreadableInput(f"{folder}: has no timelines; run forensics batch --timeline -o {folder}")
    kind = "parquet" if name in _SMALL else manifest["tables"]
    place = output.tables(manifest["generation"])
    reader = spark.read.format(kind)
    if name in TABLES and kind == "parquet":
        # Nothing has to be guessed from the names of folders.
        reader = reader.schema(written_types(large(name, place)))
    rows = reader.load(as_path(place / name))
    if cluster is None:
        return rows
    if name in (*TABLES, TIMELINE):
        rows = rows.filter(F.col("in_cluster") == in_cluster(cluster))
    return rows.filter(F.col("cluster") == cluster)
