"""Directories of a replica that may be copies of its live one, made at another time.

An operator who collects files in several steps, or adds a snapshot, has a partition's directory of one broker more than
once. That is no sign of a second live directory.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from forensics.case import Case
from forensics.replay.facts.directory import Copied
from forensics.replay.facts.live_dirs import PLACE

Directory = tuple[str, int, int, str]
"""Topic, partition, broker, and the path of the log directory in the evidence."""

_WITH_ID = "directory.id"
_DIRECTORY = [*PLACE, "root"]
_SAME = [*PLACE, "base_offset", "last_offset", "leader_epoch", "crc"]


def copied(case: Case, live: pl.DataFrame, others: pl.DataFrame, batches: pl.DataFrame) -> Mapping[Directory, Copied]:
    """Return the directories that are or may be copies of the live one.

    Log directories with one directory id (KIP-858) are one directory. Before there were ids, two that were first used
    in the same second have equal ``meta.properties``, so the names of their folders have to be equal too. If one of
    two has no such file, a directory may be a copy if the live one has each of its batches.

    Args:
        case: the evidence.
        live: files of the live directories, with ``root``.
        others: files of the other directories, with ``root``.
        batches: sound batches of the evidence.
    """
    if others.is_empty():
        return {}
    rows = (
        others.select(_DIRECTORY)
        .unique()
        .join(live.select(*PLACE, pl.col("root").alias("_live")).unique(), on=PLACE, how="left", maintain_order="left")
    )
    within = _within(live, others, batches)
    return {
        (topic, partition, broker, root): _one_directory(
            case, broker, root, of_live, within=(topic, partition, broker, root) in within
        )
        for topic, partition, broker, root, of_live in rows.sort(_DIRECTORY).iter_rows()
    }


def _one_directory(case: Case, broker: int, root: str, live: str | None, *, within: bool) -> Copied:
    """Return whether two log directories of a broker are one, by their identities, else by the batches in them."""
    known = case.brokers[broker].directories if broker in case.brokers else {}
    left, right = (known[one].settings if one in known else {} for one in (root, live or ""))
    if not left or not right:
        return Copied.PERHAPS if within and (left or right) else Copied.NO
    same = left == right and (_WITH_ID in left or _name(root) == _name(live or ""))
    return Copied.YES if same else Copied.NO


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _within(live: pl.DataFrame, others: pl.DataFrame, batches: pl.DataFrame) -> set[Directory]:
    """Return the directories without a batch that the live one lacks."""
    mine, theirs = (
        files.select(*_DIRECTORY, pl.col("id").alias("source")).join(batches, on="source", how="inner")
        for files in (live, others)
    )
    more = theirs.join(mine, on=_SAME, how="anti", nulls_equal=True).select(_DIRECTORY)
    return set(others.select(_DIRECTORY).unique().join(more, on=_DIRECTORY, how="anti").iter_rows())
