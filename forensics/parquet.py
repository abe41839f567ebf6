"""Writing of Parquet files, with a full disk named as such."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

_LITTLE: Final = 1 << 20
"""Bytes free on a disk that was full as a file was written."""


def write(frame: pl.DataFrame, path: Path, *, level: int | None = None, said: Mapping[str, str] | None = None) -> None:
    """Write a frame.

    Args:
        frame: its rows.
        path: the file.
        level: of the compression; None for what Polars chooses.
        said: what the file states of itself, by name.

    Raises:
        OSError: it cannot be written.
    """
    try:
        metadata = dict(said) if said is not None else None
        frame.write_parquet(path, compression="zstd", compression_level=level, metadata=metadata)
    except pl.exceptions.ComputeError as error:  # Polars reports a full disk as damage of the format
        if shutil.disk_usage(path.parent).free < _LITTLE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        with path.open("ab") as file:  # the system states by itself why no more can be written, such as a quota
            file.write(bytes(_LITTLE))
        raise OSError(errno.EIO, str(error)) from None
