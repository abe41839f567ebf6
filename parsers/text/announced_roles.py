"""Roles that a broker's log announces: how many of the last ones have no line before the log ends.

A broker states how many partitions get a role next, and then one line for each of them.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.encodings.checkpoint_file import integer
from parsers.file_reading import FileReading
from parsers.schema import Kind

_ROLE_LINES: Final = ("S-01", "S-05", "S-08", "S-22", "W-04")
"""Messages of which each announced role has one: it is taken up, skipped, refused, or cannot be."""


def note_announced(part: FileReading) -> None:
    """Note how many roles are due at the end of a part of a log, and how many it shows before it announces any."""
    kind, message = pl.col("kind"), pl.col("message")
    announced = kind == Kind.ROLES_ANNOUNCED.value
    rows = part.observations.lazy().filter(announced | message.is_in(_ROLE_LINES))
    told = rows.select("line", "detail", announced.alias("announced")).unique("line", maintain_order=True).collect()
    for detail, announces in told.select("detail", "announced").iter_rows():
        if announces:
            part.roles_due = integer(detail)
        elif part.roles_due is None:
            part.roles_begun += 1
        else:
            part.roles_due = max(part.roles_due - 1, 0)
