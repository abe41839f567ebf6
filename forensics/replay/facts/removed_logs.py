"""Logs that a broker loads although they were removed: directories whose names end in ``-delete`` or ``-stray``.

A topic may have been created again since. The loader prints lines about either log in the same words, with the
partition alone. Only the last one names the directory (``LogManager.loadLog``).
"""

from __future__ import annotations

from typing import Final

import polars as pl

from forensics.replay.facts.log_numbers import LOG
from parsers.schema import Kind

_LOADING: Final = (Kind.RECOVERY.value, Kind.MESSAGE_FORMAT.value, Kind.PRODUCER_SNAPSHOT.value)
"""Kinds of line about a log that is being loaded, without its directory."""


def without_removed_logs(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove rows about the loading of a removed log: those since the load before, up to the one that names it.

    If a broker loads both logs at once, in two threads, some of the rows may be about the present log. What its own
    last line states is kept.

    Args:
        rows: observations of partitions, with a number for each broker's log (``LOG``), in order.
    """
    kind = pl.col("kind")
    removed = kind == Kind.REMOVED_LOG_LOADED.value
    if not rows.select(removed.any()).item():
        return rows
    load = pl.when(removed).then(True).when(kind == Kind.LOG_LOADED.value).then(False).otherwise(None)
    of_removed = load.backward_fill().over(LOG, "run").fill_null(False)
    return rows.filter(~(removed | (kind.is_in(_LOADING) & of_removed)))
