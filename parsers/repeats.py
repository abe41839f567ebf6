"""Lines that stand in a log twice, as those who ship logs and promise to deliver at least once leave them.

A broker prints no event twice with the same time and the same values. What says again, further down, what was said
before happened once: told twice it would look like a second start, a second truncation or another log.
"""

from __future__ import annotations

import polars as pl

from parsers.file_reading import FileReading, note
from parsers.schema import OBSERVATIONS

_SAID = [name for name in OBSERVATIONS if name not in ("line", "byte")]


def once(reading: FileReading) -> FileReading:
    """The reading without statements that stand in it again further down, with a notice that counts them.

    Only where time has gone back does a repeat count as one: within a millisecond a broker may say a thing twice.
    """
    rows = reading.observations
    if rows.height < _FEW:
        return reading
    time = pl.col("time")
    back = (time < time.cum_max().shift(1)).fill_null(value=False)
    if not rows.select(back.any()).item():
        return reading
    again = (
        rows.lazy()
        .select(
            first=pl.struct(_SAID).is_first_distinct() | time.is_null() | pl.col("line").is_null(),
            back=back,
        )
        # A block that stands there again begins where time goes back; its end may be as late as what came before.
        .select(~pl.col("first") & ((pl.col("back") & ~pl.col("first")).cum_sum() > 0))
        .collect()
        .to_series()
    )
    if not again.any():
        return reading
    lines = rows.filter(again).get_column("line")
    reading.observations = rows.filter(~again)
    said = f"{len(lines):,} statements stand here again, with the times they had before: each counts once"
    reading.notices = pl.concat([reading.notices, note(said, line=lines[0])])
    return reading


_FEW = 2
