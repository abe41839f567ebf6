"""Start times of leader epochs, from the times in records of a replica's files.

A record of an earlier epoch was appended before the epoch began, so none of their times may be later than its start. A
time is the producer's clock when it created the record (``CreateTime``), or the leader's when it appended it
(``LogAppendTime``). Batches state it while the segment exists. After that a producer snapshot states it for each
producer's last batch (``ProducerStateEntry.lastTimestamp``, 0.11+). Clocks only suggest: no verdict uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from forensics.case.case import Case
from parsers.formats.log_directory import DELETED_SEGMENTS
from parsers.schema import Kind

_FOLDER: Final = "folder"


@dataclass(frozen=True, slots=True)
class EpochDate:
    """One leader epoch in the files of one replica.

    Attributes:
        epoch: its number.
        start: its first offset.
        not_before: last time in a record of earlier epochs, milliseconds since 1970 UTC; None if unknown.
        first, last: times in its own records, or None.
        by_snapshot: whether only a producer snapshot states one of these times.
    """

    epoch: int
    start: int
    not_before: int | None
    first: int | None
    last: int | None
    by_snapshot: bool


def epoch_dates(case: Case) -> dict[tuple[str, int, int], dict[str, tuple[EpochDate, ...]]]:
    """Dates of the epochs, by topic, partition and broker, then by the directory of the files."""
    # A broker is about to remove a deleted segment, and what is left in its folder may be another history.
    folders = case.sources.filter(pl.col("directory_state").ne_missing(DELETED_SEGMENTS)).select(
        pl.col("id").alias("source"), pl.col("path").str.replace(r"/[^/]*\z", "").alias(_FOLDER)
    )
    place = ["topic", "partition", "broker"]
    sound = pl.col("crc_ok").is_null() | pl.col("crc_ok")
    batches = case.batches.filter(sound & (pl.col("leader_epoch") >= 0) & pl.col("broker").is_not_null())
    rows = case.observations.filter(pl.col("broker").is_not_null() & pl.col("topic").is_not_null())
    entries = rows.filter(pl.col("kind") == Kind.EPOCH_ENTRY.value).select(*place, "source", "leader_epoch", "offset")
    held = batches.group_by(*place, "source", "leader_epoch").agg(pl.col("base_offset").min().alias("offset"))
    starts = (
        pl.concat([entries, held.select(entries.columns)])
        .join(folders, on="source")
        .group_by(*place, _FOLDER, "leader_epoch")
        .agg(pl.col("offset").min())
        .sort(*place, _FOLDER, "leader_epoch")
    )
    marks = pl.concat(
        [
            batches.filter(pl.col("max_timestamp") >= 0).select(
                *place, "source", "base_offset", "max_timestamp", pl.lit(False).alias("snapshot")
            ),
            _last_batches(rows).select(
                *place, "source", pl.col("offset").alias("base_offset"), "max_timestamp", pl.lit(True).alias("snapshot")
            ),
        ]
    ).join(folders, on="source")
    # The epoch of an offset is the last one that began at or before it.
    dated = (
        marks.sort("base_offset")
        .join_asof(
            starts.sort("offset", "leader_epoch"),
            left_on="base_offset",
            right_on="offset",
            by=[*place, _FOLDER],
            check_sortedness=False,
        )
        .group_by(*place, _FOLDER, "leader_epoch")
        .agg(
            pl.col("max_timestamp").min().alias("first"),
            pl.col("max_timestamp").max().alias("last"),
            pl.col("snapshot").all(),
        )
    )
    known = starts.join(dated, on=[*place, _FOLDER, "leader_epoch"], how="left").sort(*place, _FOLDER, "leader_epoch")
    before = pl.col("last").cum_max().forward_fill().shift(1).over(*place, _FOLDER)
    found: dict[tuple[str, int, int], dict[str, list[EpochDate]]] = {}
    for topic, partition, broker, folder, epoch, start, first, last, snapshot, bound in known.select(
        *place, _FOLDER, "leader_epoch", "offset", "first", "last", "snapshot", before.alias("bound")
    ).iter_rows():
        dates = found.setdefault((topic, partition, broker), {}).setdefault(folder, [])
        dates.append(EpochDate(epoch, start, bound, first, last, bool(snapshot)))
    return {key: {folder: tuple(dates) for folder, dates in one.items()} for key, one in found.items()}


def chosen(folders: Mapping[str, tuple[EpochDate, ...]], directory: str | None) -> tuple[EpochDate, ...]:
    """Return the dates of one directory; without its name, those of the only one."""
    if directory is not None:
        return folders.get(directory, ())
    return next(iter(folders.values())) if len(folders) == 1 else ()


def _last_batches(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the last batch of each producer, by snapshots.

    If a transaction ended, the time is that of its marker. The marker is a later record, perhaps of a later epoch, so
    it is left out.
    """
    ended = ~pl.col("detail").str.contains("coordinator_epoch=-1 ", literal=True)
    closed = pl.col("detail").str.ends_with("transaction_offset=-1")
    return (
        rows.filter((pl.col("kind") == Kind.PRODUCER_STATE.value) & pl.col("offset").is_not_null())
        .filter(~(ended & closed))
        .with_columns(
            pl.col("detail").str.extract(r" timestamp=([0-9]+) ").cast(pl.Int64, strict=False).alias("max_timestamp")
        )
        .drop_nulls("max_timestamp")
    )
