"""Parquet files that processes of this machine write: rows go from Polars to disk.

Each file is put in its place by a rename. A task that runs twice leaves the same files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from uuid import uuid4

import polars as pl

from forensics import parquet
from forensics.engines.stages.table import Table, folder_of

ROWS: Final = 250_000
"""Rows of a file, and of a frame that is worked on at once, about."""


@dataclass(slots=True)
class Sink:
    """A table that grows file by file.

    Attributes:
        table: where it is, and of which types.
        stem: beginning of the files' names.
        rows: how many it took.
    """

    table: Table
    stem: str
    rows: int = 0
    _held: dict[tuple[str, ...], list[pl.DataFrame]] = field(default_factory=dict)
    _count: int = 0
    _flushed: int = 0

    def add(self, rows: pl.DataFrame) -> None:
        """Take rows in plain types. Columns may be missing; those of a file are the same."""
        for part in rows.iter_slices(ROWS):
            self._held.setdefault(tuple(part.columns), []).append(part)
            self._count += part.height
            self.rows += part.height
            if self._count >= ROWS:
                self._flush()

    def close(self) -> int:
        """Write what is left; return how many rows there are."""
        self._flush()
        return self.rows

    def _flush(self) -> None:
        for held in self._held.values():
            rows = self.table.typed(pl.concat(held))
            parts: dict[tuple[object, ...], pl.DataFrame] = {(): rows}
            if self.table.by:
                parts = rows.partition_by(self.table.by, as_dict=True, include_key=False, maintain_order=True)
            for values, part in parts.items():
                folders = [folder_of(name, value) for name, value in zip(self.table.by, values, strict=True)]
                put(self.table.folder.joinpath(*folders, f"{self.stem}-{self._flushed:03}.parquet"), part)
            self._flushed += 1
        self._held.clear()
        self._count = 0


def put(path: Path, rows: pl.DataFrame) -> None:
    """Write a file and put it in its place by a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    parquet.write(rows, beside, level=1)
    beside.replace(path)


def put_nothing(table: Table) -> None:
    """Write a file without rows, so that a table has its columns."""
    put(table.folder / "part-none.parquet", table.typed(pl.DataFrame(schema=dict(table.schema))))


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
