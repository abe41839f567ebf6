"""Results of readers of small files, and how they collect them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from parsers.schema import LEAST, NOTICES, OBSERVATIONS, DamageKind, empty

EXCERPT = 200
"""Characters of the source that a notice quotes at most."""


class Reading(NamedTuple):
    """Contents of one file.

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
    """Return the rows as a table of ``OBSERVATIONS``; columns a row does not name are null.

    A number that its column cannot hold becomes the column's least number, which ``parsers.admission`` rejects.
    """
    if not rows:
        return empty(OBSERVATIONS)
    try:
        return pl.DataFrame(list(rows), schema=OBSERVATIONS)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        return pl.DataFrame([_fitting(row) for row in rows], schema=OBSERVATIONS)


def _fitting(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: least if least is not None and isinstance(value, int) and not least <= value < -least else value
        for name, value in row.items()
        for least in (LEAST.get(name),)
    }
