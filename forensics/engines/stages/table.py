"""Tables that tasks store and read again: columns, types and folders, whatever writes the files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

import polars as pl

from forensics.engines.stages.rows import Schema, narrowed

PARQUET: Final = "parquet"
PART: Final = "table"
"""Column that says which kind of rows a row is of, where rows of several are stored together."""

_LONGEST: Final = 200
"""Bytes of a value in the name of a folder; file systems take 255 with the column's name."""
_ESCAPED: Final = frozenset("\"#%'*/:=?\\{[]^\x7f") | frozenset(map(chr, range(32)))
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
"""Folder of rows that have no value in a column that folders are named after, as Spark calls it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a folder.

    Attributes:
        folder: where it is.
        schema: its columns in plain types, those that folders are named after among them.
        by: columns that folders are named after, as Spark does; the files are without them.
        times: columns that are microseconds since 1970 UTC on the way, and timestamps in the files.
        dates: columns that are days since 1970 on the way, and dates in the files.
        format: of the files, as Spark names it.
    """

    folder: Path
    schema: Schema
    by: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    format: str = PARQUET

    def files(self) -> list[Path]:
        """Return its files, in the order of their names."""
        return sorted(path for path in self.folder.rglob("*.parquet") if not path.name.startswith((".", "_")))

    def typed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return plain rows as they are in the files."""
        there = rows.columns
        times = [pl.from_epoch(name, "us").dt.replace_time_zone("UTC") for name in self.times if name in there]
        dates = [pl.from_epoch(name, "d") for name in self.dates if name in there]
        return rows.with_columns(*times, *dates)


@dataclass(frozen=True, slots=True)
class Rows:
    """Stored rows.

    Attributes:
        tables: with the same columns.
        columns: those that are wanted.
        part: only rows with this value in the column ``PART``.
        where: only rows with one of the values in a column.
    """

    tables: Sequence[Table]
    columns: Sequence[str]
    part: str | None = None
    where: tuple[str, Collection[str]] | None = None

    @property
    def schema(self) -> Schema:
        """Return the wanted columns in plain types."""
        return {name: self.tables[0].schema[name] for name in self.columns} if self.tables else {}

    def folders(self) -> list[Path]:
        """Return the folders that hold them; of the part that is wanted, where there is one."""
        if self.part is None:
            return [table.folder for table in self.tables]
        places = [table.folder / folder_of(PART, self.part) for table in self.tables]
        return [place for place in places if place.is_dir()]

    def files(self) -> list[Path]:
        """Return the files that hold them, of Parquet tables."""
        return [path for place in self.folders() for path in Table(place, {}).files()]

    def read(self, path: Path) -> pl.DataFrame:
        """Return the rows of one of the files, in plain types."""
        wanted = list(self.columns)
        if self.where is not None:
            wanted = list(dict.fromkeys([*wanted, self.where[0]]))
        rows = pl.read_parquet(path, columns=wanted, hive_partitioning=False, glob=False)
        if self.where is not None:
            rows = rows.filter(pl.col(self.where[0]).is_in(sorted(self.where[1])))
        return narrowed(rows, self.schema)


def folder_of(column: str, value: object) -> str:
    """Return the folder of the rows that have a value in a column, as Spark names it."""
    return f"{column}={escaped(value) if value is not None and value != '' else _NO_VALUE}"


def escaped(value: object) -> str:
    """Return a value as it is in the name of a folder, as Spark writes it."""
    return "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in str(value))


def shortened(value: str) -> str:
    """Return a value whose folder's name a file system takes: itself, or its beginning and a hash of the whole."""
    if is_whole(value):
        return value
    cut = value.encode()[: (_LONGEST - 21) // 3].decode(errors="ignore")  # each byte may be escaped by three
    return f"{cut}-{sha256(value.encode()).hexdigest()[:20]}"


def in_cluster(cluster: str | None) -> str:
    """Return the value by which the folder of a cluster's rows is named."""
    return "none" if cluster is None else shortened(cluster)


def is_whole(value: str) -> bool:
    """Return whether the name of a folder shows the whole value."""
    return len(escaped(value).encode()) <= _LONGEST
