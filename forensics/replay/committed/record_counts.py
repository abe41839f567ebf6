"""Number of records at lost offsets, from the headers of batches.

An offset may have no record: compaction removed it, or it is a transaction marker (a control batch, KIP-98).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import polars as pl

from forensics.case import Case
from forensics.replay.facts.compaction import is_compacted
from forensics.replay.history import History
from forensics.replay.lineage import Range, intersect, merge, size, subtract

_HEADER = ("base_offset", "last_offset", "records", "control", "source", "byte", "size")


class _Header(NamedTuple):
    """Header of a batch: columns ``_HEADER``."""

    base: int
    last: int
    records: int | None
    control: bool | None
    source: int
    byte: int
    size: int | None

    @property
    def end(self) -> int | None:
        """Position in its file behind the batch, or None."""
        return self.byte + self.size if self.size is not None else None


def records_lost(
    history: History, case: Case, ranges: Sequence[Range], holders: dict[int, tuple[Range, ...]]
) -> tuple[int, int, list[Range]]:
    """Return bounds of the number of records lost, and the offsets for which it is unknown.

    Records in copies are counted, from the copy with the most of them. Offsets that no copy holds may have had no
    record if the topic is transactional or compacted.
    """
    low = high = 0
    left = merge(ranges)
    counted: list[Range] = []
    for broker in sorted(holders, key=lambda b: (-size(holders[b]), b)):
        pieces = intersect(left, list(holders[broker]))
        if not pieces or not history.facts.disks.get(broker) or not history.replicas[broker].on_disk:
            continue
        least, most = records_held(history, case, broker, pieces)
        low, high = low + least, high + most
        left = subtract(left, pieces)
        if least < most:
            counted += pieces
    rest = size(left)
    open_ = rest > 0 and may_lack_records(history, case)
    return low + (0 if open_ else rest), high + rest, merge([*counted, *(left if open_ else [])])


def with_records(history: History, case: Case, holders: dict[int, tuple[Range, ...]]) -> dict[int, tuple[Range, ...]]:
    """Return the replicas that hold a record at offsets within their logs: the cleaner may have removed all of them."""
    return {
        broker: ranges
        for broker, ranges in holders.items()
        if not history.replicas[broker].on_disk or records_held(history, case, broker, ranges)[1]
    }


def records_held(history: History, case: Case, broker: int, ranges: Sequence[Range]) -> tuple[int, int]:
    """Return the least and greatest number of records that the segments of a replica hold at offsets."""
    low = high = 0
    damaged = bool(history.facts.disks[broker].damage)
    before: _Header | None = None
    for header in _headers(history, case, broker, ranges):
        for least, most in (_between(before, header, ranges, damaged=damaged), _within(header, ranges)):
            low, high = low + least, high + most
        before = header
    return low, high


def _between(before: _Header | None, header: _Header, ranges: Sequence[Range], *, damaged: bool) -> tuple[int, int]:
    """Return the least and greatest number of records at offsets between two batches of one file, in bytes there."""
    if before is None or before.source != header.source or before.last + 1 >= header.base:
        return 0, 0
    if before.end == header.byte:
        return 0, 0  # nothing is between them: these offsets have no record
    between = size(intersect([(before.last + 1, header.base)], list(ranges)))
    return (between if before.end is not None and not damaged else 0), between


def _within(header: _Header, ranges: Sequence[Range]) -> tuple[int, int]:
    """Return the least and greatest number of records that a batch has at offsets."""
    held = size(intersect([(header.base, header.last + 1)], list(ranges)))
    if not held or header.control:
        return 0, 0
    if header.records is None:
        return 0, held
    span = header.last + 1 - header.base
    return max(0, header.records - (span - held)), min(header.records, held)


def may_lack_records(history: History, case: Case) -> bool:
    """Return whether some offsets of a partition may never have been records, or were removed by compaction."""
    if is_compacted(history.facts):
        return True
    return history.incarnation == 0 and any(rows.get_column("control").any() for rows in _rows(history, case))


def _headers(history: History, case: Case, broker: int, ranges: Sequence[Range]) -> Iterator[_Header]:
    """Yield headers of the sound batches at offsets, and of their neighbours, in order.

    If a partition has very many batches, the reader left out adjacent ones that hold a record at each offset.
    """
    parts = list(_rows(history, case, broker))
    if not parts:
        return
    rows = pl.concat(parts).filter(pl.col("crc_ok").is_null() | pl.col("crc_ok")).drop_nulls(["base_offset"])
    rows = rows.sort("base_offset", "source", "byte").select(_HEADER)
    first = rows.select((pl.col("last_offset") < ranges[0][0]).sum()).item()
    end = rows.select((pl.col("base_offset") < ranges[-1][1]).sum()).item()
    yield from map(_Header._make, rows.slice(max(0, first - 1), end - max(0, first - 1) + 1).iter_rows())


def _rows(history: History, case: Case, *brokers: int) -> Iterator[pl.DataFrame]:
    """Yield headers in the live segments of a partition's replicas, or of some of them, file by file."""
    for broker in brokers or sorted(history.facts.disks):
        for source in history.facts.disks[broker].segments:
            if (place := case.headers.get(source)) is not None:
                yield case.batches.slice(*place)
