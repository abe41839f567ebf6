"""Damaged files in the folder of a batch: one sentence with the next step, instead of an error of whatever read them.

The manifest has a hash of itself and of the small tables, which is checked before anything is read. The other tables
may be larger than the memory, so they are looked at only after a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import TypeVar

import polars as pl

from forensics.engines.pipeline.output import MANIFEST, READS, Output
from forensics.errors import ForensicsError, UnusableOutput, UnwritableOutput
from forensics.named_files import no_file
from parsers.containment import Contained, Defect, contained

T = TypeVar("T")


def reading(output: Output, work: Callable[[], T]) -> T:
    """Return the result of work that reads the folder of a batch.

    Args:
        output: the folder.
        work: what to do.

    Raises:
        UnusableOutput: the work failed, and a file in the folder is damaged.
        UnwritableOutput: there is no room for what it writes.
        Contained: it failed, and no file is damaged.
        ForensicsError: as the work raises it.
    """
    found = contained(lambda: _with_room(output, work), expected=(ForensicsError,))
    if isinstance(found, Defect):
        refuse_damaged(output)
        raise Contained(found)
    return found


def _with_room(output: Output, work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        raise UnwritableOutput(
            f"{output.folder}: {error.strerror}; name a folder that can be written, with room in it"
        ) from None


def refuse_damaged(output: Output) -> None:
    """Look at all files of the last completed run and of what was read for it.

    Raises:
        UnusableOutput: one of them cannot be read.
    """
    manifest = output.manifest()
    tables = output.tables(manifest["generation"]).rglob("*.parquet") if manifest is not None else ()
    _refuse(tables, f"delete {output.folder / MANIFEST}", "what was read is not read again")
    reads = (path for run in output.kept_runs() for wave in output.waves(run) for path in wave.rglob("*.parquet"))
    _refuse(reads, f"delete {output.folder / READS}", "everything is read again")


def refuse_no_files(output: Output, files: Iterable[Path]) -> None:
    """Make sure that tables are files: reading a pipe may wait for ever.

    Raises:
        UnusableOutput: one is not.
    """
    for path in files:
        if why := no_file(path):
            raise UnusableOutput(
                f"{path}: {why}; delete {output.folder / MANIFEST} and run forensics batch into the folder again"
            )


def _refuse(files: Iterable[Path], step: str, then: str) -> None:
    for path in sorted(files):
        if path.name.startswith((".", "_")):
            continue
        if no_file(path) or isinstance(contained(lambda: _read(path)), Defect):  # noqa: B023
            raise UnusableOutput(f"{path}: is damaged; {step} and run forensics batch into the folder again: {then}")


def _read(path: Path) -> None:
    """Read each column of a file by itself, as a file may be large."""
    for name in pl.read_parquet_schema(path):
        pl.read_parquet(path, columns=[name], hive_partitioning=False, glob=False)
