"""Parquet files that tasks write and read by themselves: rows go from Polars to disk without a turn through the JVM.

What a task writes depends on what it was given alone, and so do the names of its files; each is put in place by a
rename. A task that runs twice, or in two places at once, leaves the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import uuid4

import polars as pl

ROWS: Final = 250_000
"""Rows of a file, and of a frame that is worked on at once, about."""

NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
"""Folder of rows that have no value in a column that folders are named after, as Spark calls it."""

_LONGEST: Final = 200
"""Bytes of a value in the name of a folder; file systems take 255 with the column's name."""
_ESCAPED: Final = frozenset("\"#%'*/:=?\\{[]^\x7f") | frozenset(map(chr, range(32)))


@dataclass(slots=True)
class Sink:
    """A table that grows file by file.

    Attributes:
        folder: of the table.
        stem: beginning of the files' names.
        by: columns that folders are named after, as Spark does; they are left out of the files.
        written: name below the folder and rows of each file.
    """

    folder: str
    stem: str
    by: tuple[str, ...] = ()
    written: list[tuple[str, int]] = field(default_factory=list)
    _held: list[pl.DataFrame] = field(default_factory=list)
    _count: int = 0
    _flushed: int = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Take rows."""
        for part in rows.iter_slices(ROWS):
            self._held.append(part)
            self._count += part.height
            if self._count >= ROWS:
                self._flush()

    def close(self) -> list[tuple[str, int]]:
        """Write what is left; gives all files."""
        self._flush()
        return self.written

    def _flush(self) -> None:
        if not self._count:
            return
        rows = pl.concat(self._held)
        self._held.clear()
        self._count = 0
        parts: dict[tuple[object, ...], pl.DataFrame] = {(): rows}
        if self.by:
            parts = rows.partition_by(self.by, as_dict=True, include_key=False, maintain_order=True)
        for values, part in parts.items():
            folders = [folder_of(name, value) for name, value in zip(self.by, values, strict=True)]
            name = "/".join([*folders, f"{self.stem}-{self._flushed:03}.parquet"])
            put(Path(self.folder, name), part)
            self.written.append((name, part.height))
        self._flushed += 1


def put(path: Path, rows: pl.DataFrame) -> None:
    """Write a file and put it in its place by a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    rows.write_parquet(beside, compression="zstd", compression_level=1)
    beside.replace(path)


def named_after(given: Iterable[str]) -> str:
    """Beginning of the names of what is made of the given texts."""
    digest = sha256()
    for text in given:
        digest.update(f"{len(text)}\0{text}".encode())
    return f"part-{digest.hexdigest()[:20]}"


def folder_of(column: str, value: object) -> str:
    """Folder of the rows that have a value in a column, as Spark names it."""
    return f"{column}={_escaped(value)}"


def _escaped(value: object) -> str:
    """A value as the name of a folder, as Spark writes it."""
    if value is None or value == "":
        return NO_VALUE
    name = "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in str(value))
    if len(name.encode()) <= _LONGEST:
        return name
    cut = name.encode()[: _LONGEST - 21].decode(errors="ignore")  # the rows have the whole of it
    return f"{cut}-{sha256(name.encode()).hexdigest()[:20]}"


def in_folder(value: str) -> str | None:
    """Return the value in the name of a folder, for rows that are read again; None if the name does not show it."""
    name = "".join(f"%{ord(c):02X}" if c in _ESCAPED else c for c in value)
    return value if value and len(name.encode()) <= _LONGEST else None


def frames(paths: Sequence[str], names: Sequence[str], *, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """Rows of files one after another, some files at a time: an expression costs the same for ten rows as for
    thousands.
    """
    held: list[pl.DataFrame] = []
    count = 0
    for path in paths:
        held.append(pl.read_parquet(path, columns=list(names), hive_partitioning=False, glob=False))
        count += held[-1].height
        if count >= rows:
            yield pl.concat(held)
            held, count = [], 0
    if held:
        yield pl.concat(held)


def grouped(files: Iterable[tuple[str, int]], *, rows: int = ROWS) -> list[list[str]]:
    """Paths of files in tasks of about as many rows.

    Args:
        files: path and rows of each.
        rows: of a task.
    """
    tasks: list[list[str]] = []
    count = 0
    for path, height in files:
        if not tasks or count + height > rows:
            tasks.append([])
            count = 0
        tasks[-1].append(path)
        count += height
    return tasks
