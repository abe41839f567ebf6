"""From rows as read to rows of the case's tables: witness, time and process of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from forensics.case import Reading
from forensics.case.case import in_window
from forensics.case.lives import clustered
from forensics.case.topics import takes_name
from forensics.engines.stages.context import SURVEY, Context, Draft, busy, gaps, placed
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.rows import narrowed, plain, restored
from forensics.engines.stages.table import PARQUET, Table, in_cluster
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
    lives: bytes
    clusters: dict[str | None, int]

    @staticmethod
    def of(made: Draft | Context, starts: pl.DataFrame) -> Derive:
        """From what the driver knows."""
        tables = (made.attributes, made.kept, made.names, starts, made.lives)
        attributes, kept, names, begins, lives = map(packed, tables)
        return Derive(made.reading, attributes, kept, names, begins, lives, made.clusters)

    @property
    def several(self) -> bool:
        """Return whether any log has lines of several clusters."""
        return unpacked(self.lives).height > 0

    def table(self, name: str, incoming: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Rows of a table, from raw ones."""
        work = {"observations": self._observations, "batches": self._batches, "notices": self._notices}[name]
        for rows in work(incoming):
            yield narrowed(rows, TABLES[name])

    def survey(self, incoming: Iterable[pl.DataFrame]) -> pl.DataFrame:
        """Return facts about all raw observations that are needed before they are written; schema ``SURVEY``."""
        attributes, kept, starts = (unpacked(table) for table in (self.attributes, self.kept, self.starts))
        keep = in_window(self.reading)
        found = pl.DataFrame(schema=SURVEY)
        for rows in incoming:
            mine = self._placed(rows, attributes, kept)
            more = []
            if keep is not None:
                more.append(mine.filter(~keep).group_by("source").agg(pl.len().alias("left")))
                mine = mine.filter(keep)
            if keep is not None or self.several:
                lines = mine.filter(pl.col("line").is_not_null())
                more.append(lines.select("source", "_cluster", "broker", "message").unique())
            more.append(busy(mine, starts))
            found = pl.concat([found, *[narrowed(part, SURVEY) for part in more]])
            # One row for each fact, however many rows state it.
            found = found.group_by([name for name in SURVEY if name != "left"]).agg(pl.col("left").sum())
            found = found.select(pl.col(name) if name != "left" else _or_null("left") for name in SURVEY)
        return found

    def _observations(self, incoming: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        attributes, kept, names, starts = (
            unpacked(table) for table in (self.attributes, self.kept, self.names, self.starts)
        )
        keep = in_window(self.reading)
        for rows in incoming:
            found = self._placed(rows, attributes, kept)
            if keep is not None:
                found = found.filter(keep)
            found = (
                found.join(names.rename({"topic": "_name"}), on="topic_id", how="left", maintain_order="left")
                .with_columns(pl.when(takes_name()).then("_name").otherwise("topic").alias("topic"))
                .drop("_name")
            )
            found = gaps(found, starts).rename({"gap": "run", "_when": "ordered", "_rank": "rank"})
            begins = starts.select("source", "split", "seq", pl.lit(True).alias("starts_run"))
            found = found.join(begins, on=["source", "split", "seq"], how="left", maintain_order="left")
            yield found.with_columns(pl.col("starts_run").fill_null(False))

    def _batches(self, incoming: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        attributes = unpacked(self.attributes).filter("_rows", "_batches")
        for rows in incoming:
            found = rows.join(attributes, on=["unit", "split"], how="inner", maintain_order="left")
            yield found.rename({"_owner": "broker", "_topic": "topic", "_partition": "partition"})

    def _notices(self, incoming: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        attributes = unpacked(self.attributes)
        for rows in incoming:
            found = rows.join(attributes, on=["unit", "split"], how="inner", maintain_order="left")
            found = found.with_columns(pl.col("line") + pl.col("_lines"))
            yield found.rename({"_owner": "broker", "_topic": "topic", "_partition": "partition"})

    def _placed(self, rows: pl.DataFrame, attributes: pl.DataFrame, kept: pl.DataFrame) -> pl.DataFrame:
        rows = restored(rows, OBSERVATIONS)
        found = placed(rows, attributes, self.reading)
        if self.several:
            found = clustered(found, unpacked(self.lives), self.clusters)
        if found.get_column("_bytes").any():
            counts = found.filter("_bytes").join(kept, on=["unit", "byte"], how="semi", nulls_equal=True)
            found = pl.concat([found.filter(~pl.col("_bytes")), counts])
        return found


def _or_null(name: str) -> pl.Expr:
    return pl.when(pl.col(name) > 0).then(pl.col(name)).alias(name)


def survey_columns() -> list[str]:
    """Columns of the raw observations that ``survey`` looks at."""
    return [
        name
        for name in columns("observations")
        if name
        in {"unit", "split", "seq", "when", "topic", "witness", "replica", "kind", "message", "time", "line", "byte"}
    ]


def in_folders(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of a table with the columns that name folders.

    The cluster is in the rows as well, because a folder name loses some characters.
    """
    names = {name: in_cluster(name) for name in rows.get_column("cluster").unique().to_list()}
    named = pl.col("cluster").replace_strict(names, return_dtype=pl.String).alias("in_cluster")
    rows = rows.with_columns(named)
    if name != "observations":
        return rows
    return rows.with_columns((pl.from_epoch("time", "us").dt.date().cast(pl.Int32)).alias("date"))


def folders(name: str) -> tuple[str, ...]:
    """Columns that the folders of a table are named after."""
    return ("in_cluster", "date") if name == "observations" else ("in_cluster",)


def written(name: str) -> dict[str, pl.DataType]:
    """Columns of a table as it is written, in plain types; those that folders are named after last."""
    types: dict[str, pl.DataType] = {"in_cluster": pl.String(), "date": pl.Int32()}
    return {**TABLES[name], **{by: types[by] for by in folders(name)}}


def table(name: str, folder: Path, format_: str = PARQUET) -> Table:
    """One of the written tables in a folder."""
    observed = name == "observations"
    times, dates = (("time", "ordered"), ("date",)) if observed else ((), ())
    return Table(folder / name, written(name), folders(name), times, dates, format_)


def digest_columns(schema: Iterable[str]) -> list[str]:
    """Return the columns that answers depend on: not the numbers that a source has in this run, but its path."""
    return [name for name in schema if name not in ("id", "source", "notices")]


def digested(rows: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    """How many rows there are of each partition, and two sums of their hashes that do not depend on their order."""
    sums = [rows.hash_rows(seed).reinterpret(signed=True).alias(name) for seed, name in ((1, "one"), (2, "two"))]
    found = rows.select(key).with_columns(sums).group_by(key, maintain_order=True)
    return found.agg(pl.len().cast(pl.Int64).alias("n"), pl.col("one").bitwise_xor(), pl.col("two").bitwise_xor())


def about_partitions() -> pl.Expr:
    """Filter for rows about a partition; the metadata log is one."""
    return pl.col("topic").is_not_null()
