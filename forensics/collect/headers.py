"""The batch headers of a segment as text, in the form of kafka-dump-log, which a scan reads in place of the segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from parsers.encodings.compression import CODECS
from parsers.files.sources import Source
from parsers.formats.log_directory import split_segment_file
from parsers.formats.segment import read_segment

ENDING: Final = ".headers.txt"
"""Added to the name of the segment."""

_COLUMNS: Final = (
    *("base_offset", "last_offset", "records", "base_sequence", "producer_id", "producer_epoch", "leader_epoch"),
    *("transactional", "control", "byte", "timestamp_type", "max_timestamp", "size", "magic", "codec", "crc", "crc_ok"),
)


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
    for row in scan.batches.select(_COLUMNS).iter_rows():
        yield _line(*row)
    last = scan.batches.tail(1).select(pl.col("byte") + pl.col("size")).to_series()
    read = int(last[0]) if last.len() else 0
    if read < scan.size:
        yield f"Found {scan.size - read} invalid bytes at the end of {source.name}\n"


def _line(
    first: int | None,
    last: int,
    records: int | None,
    sequence: int | None,
    producer: int | None,
    producer_epoch: int | None,
    epoch: int | None,
    transactional: bool,
    control: bool,
    byte: int,
    of_append: int | None,
    time: int | None,
    size: int,
    magic: int,
    codec: int,
    crc: int,
    sound: bool | None,
) -> str:
    """Return one batch as a line."""
    base = last if first is None else first
    clock = "LogAppendTime" if of_append == 1 else "CreateTime"
    return (
        f"baseOffset: {base} lastOffset: {last} count: {records if records is not None else last - base + 1} "
        f"baseSequence: {_number(sequence)} lastSequence: -1 producerId: {_number(producer)} "
        f"producerEpoch: {_number(producer_epoch)} partitionLeaderEpoch: {_number(epoch)} "
        f"isTransactional: {_flag(transactional)} isControl: {_flag(control)} position: {byte} "
        f"{clock}: {_number(time)} size: {size} magic: {magic} compresscodec: {CODECS.get(codec, 'none')} crc: {crc} "
        f"isvalid: {_flag(sound is not False)}\n"
    )


def _number(value: int | None) -> int:
    return -1 if value is None else value


def _flag(value: bool) -> str:
    return "true" if value else "false"
