"""Rows as read become rows of the case's tables: who states them, when, in which process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from forensics.case import Reading
from forensics.engines.spark.context import Context, Draft, busy, gaps, placed
from forensics.engines.spark.rows import RAW, batches, chunks, packed, plain, restored, unpacked
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS

_PLACES: Final = {"source": pl.Int32(), "path": pl.String(), "split": pl.Int32(), "seq": pl.Int64()}

TABLES: Final[dict[str, dict[str, pl.DataType]]] = {
    "observations": {
        **plain(OBSERVATIONS),
        "cluster": pl.String(),
        "broker": pl.Int32(),
        "run": pl.Int32(),
        "starts_run": pl.Boolean(),
        "ordered": pl.Int64(),  # time by which it is ordered: the greatest its file had printed so far
        "rank": pl.Int32(),  # which of two files comes first where both print one time
        **_PLACES,
    },
    "batches": {
        **plain(BATCHES),
        "cluster": pl.String(),
        "broker": pl.Int32(),
        "topic": pl.String(),
        "partition": pl.Int32(),
        **_PLACES,
    },
    "notices": {
        **plain(NOTICES),
        "cluster": pl.String(),
        "broker": pl.Int32(),
        "topic": pl.String(),
        "partition": pl.Int32(),
        **_PLACES,
    },
}
"""Columns of the written tables."""

BUSY: Final = {"_cluster": pl.Int32(), "broker": pl.Int32(), "gap": pl.Int64()}

_READ: Final = {"observations": ("when", *OBSERVATIONS), "batches": tuple(BATCHES), "notices": tuple(NOTICES)}


def columns(table: str) -> list[str]:
    """Columns of the raw rows that a table is made of."""
    return list(dict.fromkeys(["unit", "split", "seq", *_READ[table]]))


@dataclass(frozen=True, slots=True)
class Derive:
    """The work of a task that turns raw rows into rows of the tables.

    Everything it needs travels with it, packed.
    """

    reading: Reading
    attributes: bytes
    kept: bytes
    names: bytes
    starts: bytes

    @staticmethod
    def of(made: Draft | Context, starts: pl.DataFrame) -> Derive:
        """From what the driver knows."""
        return Derive(made.reading, packed(made.attributes), packed(made.kept), packed(made.names), packed(starts))

    def busy(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Between which lines of a start brokers did something, from raw observations."""
        attributes, kept, starts = (unpacked(table) for table in (self.attributes, self.kept, self.starts))
        found: list[pl.DataFrame] = []
        for rows in chunks(incoming):
            found.append(busy(self._placed(rows, attributes, kept), starts))
            found = [pl.concat(found).unique()]
        if found:
            yield from batches(found[0], BUSY)

    def observations(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of the table ``observations``, from raw ones."""
        attributes, kept, names, starts = (
            unpacked(table) for table in (self.attributes, self.kept, self.names, self.starts)
        )
        for rows in chunks(incoming):
            found = self._placed(rows, attributes, kept)
            found = (
                found.join(names.rename({"topic": "_name"}), on="topic_id", how="left", maintain_order="left")
                .with_columns(pl.coalesce("topic", "_name").alias("topic"))
                .drop("_name")
            )
            found = gaps(found, starts).rename({"gap": "run", "_when": "ordered", "_rank": "rank"})
            begins = starts.select("source", "split", "seq", pl.lit(True).alias("starts_run"))
            found = found.join(begins, on=["source", "split", "seq"], how="left", maintain_order="left")
            found = found.with_columns(pl.col("starts_run").fill_null(False))
            yield from batches(found, TABLES["observations"])

    def batches(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of the table ``batches``, from raw ones."""
        attributes = unpacked(self.attributes).filter("_rows", "_batches")
        for rows in chunks(incoming):
            found = rows.join(attributes, on=["unit", "split"], how="inner", maintain_order="left")
            found = found.rename({"_owner": "broker", "_topic": "topic", "_partition": "partition"})
            yield from batches(found, TABLES["batches"])

    def notices(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of the table ``notices``, from raw ones."""
        attributes = unpacked(self.attributes)
        for rows in chunks(incoming):
            found = rows.join(attributes, on=["unit", "split"], how="inner", maintain_order="left")
            found = found.with_columns(pl.col("line") + pl.col("_lines"))
            found = found.rename({"_owner": "broker", "_topic": "topic", "_partition": "partition"})
            yield from batches(found, TABLES["notices"])

    def _placed(self, rows: pl.DataFrame, attributes: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
        rows = restored(rows, OBSERVATIONS)
        found = placed(rows, attributes, self.reading)
        if found.get_column("_bytes").any():
            counts = found.filter("_bytes").join(kept, on=["unit", "byte"], how="semi", nulls_equal=True)
            found = pl.concat([found.filter(~pl.col("_bytes")), counts])
        return found


def busy_columns() -> list[str]:
    """Columns of the raw observations that tell whether a broker did something."""
    return [
        name
        for name in columns("observations")
        if name
        in {"unit", "split", "seq", "when", "topic", "witness", "replica", "kind", "message", "time", "line", "byte"}
    ]


__all__ = ["BUSY", "RAW", "TABLES", "Derive", "busy_columns", "columns"]
