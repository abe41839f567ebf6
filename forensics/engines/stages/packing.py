"""Frames as bytes, on their way to another process."""

from __future__ import annotations

import io
from typing import Literal

import polars as pl


def packed(table: pl.DataFrame, compression: Literal["zstd", "lz4", "uncompressed"] = "zstd") -> bytes:
    """Return a frame as bytes."""
    out = io.BytesIO()
    table.write_ipc(out, compression=compression)
    return out.getvalue()


def unpacked(data: bytes) -> pl.DataFrame:
    """Return a frame that was ``packed``."""
    return pl.read_ipc(io.BytesIO(data))
