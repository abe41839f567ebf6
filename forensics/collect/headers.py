"""The batch headers of a segment as text, in the form of kafka-dump-log, which a scan reads in place of the segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from parsers.encodings.compression import CODECS
from parsers.files.sources import Source
from parsers.filled import filled
from parsers.formats.log_directory import split_segment_file
from parsers.formats.segment import read_segment

ENDING: Final = ".headers.txt"
"""Added to the name of the segment."""

_LINE: Final = filled(
    "baseOffset: {} lastOffset: {} count: {} baseSequence: {} lastSequence: -1 producerId: {} producerEpoch: {} "
    "partitionLeaderEpoch: {} isTransactional: {} isControl: {} deleteHorizonMs: {} position: {} {}: {} size: {} "
    "magic: {} compresscodec: {} crc: {} isvalid: {}\n",
    pl.coalesce("base_offset", "last_offset"),
    "last_offset",
    pl.coalesce("records", pl.col("last_offset") - pl.coalesce("base_offset", "last_offset") + 1),
    *(pl.col(name).fill_null(-1) for name in ("base_sequence", "producer_id", "producer_epoch", "leader_epoch")),
    "transactional",
    "control",
    pl.coalesce(filled("OptionalLong[{}]", "delete_horizon"), pl.lit("OptionalLong.empty")),
    "byte",
    pl.when(pl.col("timestamp_type") == 1).then(pl.lit("LogAppendTime")).otherwise(pl.lit("CreateTime")),
    pl.col("max_timestamp").fill_null(-1),
    "size",
    "magic",
    pl.col("codec").replace_strict(CODECS, default="none", return_dtype=pl.String),
    "crc",
    pl.col("crc_ok").fill_null(value=True),
)
"""One batch as a line."""


def lines(source: Source) -> Iterator[str]:
    """Yield the headers of a segment, one batch a line, then what is damaged.

    Raises:
        OSError: it cannot be read.
    """
    known = split_segment_file(source.name)
    with source.open() as stream:
        scan = read_segment(stream, base_offset=None if known is None else known.base_offset)
    yield f"Dumping {source.path}\n"
    if known is not None:
        yield f"Starting offset: {known.base_offset}\n"
    yield from scan.batches.select(_LINE.alias("line")).get_column("line")
    last = scan.batches.tail(1).select(pl.col("byte") + pl.col("size")).to_series()
    read = int(last[0]) if last.len() else 0
    if read < scan.size:
        yield f"Found {scan.size - read} invalid bytes at the end of {source.name}\n"
