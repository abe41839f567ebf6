"""What readers of small files hand back, and how they collect it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from parsers.schema import NOTICES, OBSERVATIONS, DamageKind, empty

EXCERPT = 200
"""Characters of the source that a notice quotes at most."""


class Reading(NamedTuple):
    """What one file says.

    Attributes:
        observations: rows of ``OBSERVATIONS``, in the order of the file.
        notices: rows of ``NOTICES``, in the order of the file.
    """

    observations: pl.DataFrame
    notices: pl.DataFrame


class Notices:
    """Collects what is damaged or not understood while a file is read."""

    def __init__(self) -> None:
        self._rows: list[tuple[str | None, str, str, int | None, int | None]] = []

    def add(
        self,
        reason: str,
        *,
        kind: DamageKind | None = None,
        excerpt: str = "",
        line: int | None = None,
        byte: int | None = None,
    ) -> None:
        """Note one thing; ``line`` is 1-based (text), ``byte`` 0-based (binary), ``kind`` of damage in a segment."""
        self._rows.append((kind, reason, excerpt[:EXCERPT], line, byte))

    def __len__(self) -> int:
        return len(self._rows)

    def frame(self) -> pl.DataFrame:
        """The notices as a table, ordered by place."""
        if not self._rows:
            return empty(NOTICES)
        frame = pl.DataFrame(self._rows, schema=NOTICES, orient="row")
        return frame.sort(["line", "byte"], nulls_last=False, maintain_order=True)


def observations(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """The rows as a table of ``OBSERVATIONS``; columns a row does not name are null."""
    return pl.DataFrame(list(rows), schema=OBSERVATIONS) if rows else empty(OBSERVATIONS)
