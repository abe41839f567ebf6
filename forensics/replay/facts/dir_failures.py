"""Log directories that failed (KIP-112), or had no log as a process started: a line about every replica in one.

If a directory fails while the broker runs, the broker also lists its replicas. If it fails at startup, or holds no
replica, the broker names the directory alone.
"""

from __future__ import annotations

import polars as pl

from forensics.case import Case
from forensics.replay.facts.directory_lines import DirectoryLines, by_broker
from parsers.schema import Kind


def of_directory() -> pl.Expr:
    """Filter for rows that report a log directory that failed or was empty."""
    kinds = [Kind.DIR_FAILED.value, Kind.DIR_EMPTY.value]
    return pl.col("kind").is_in(kinds) & pl.col("topic").is_null() & pl.col("log_dir").is_not_null()


def failures(case: Case) -> DirectoryLines:
    """Return the directories that each broker reports as failed or empty."""
    return by_broker(case.observations.filter(of_directory()))
