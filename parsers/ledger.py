"""Class of every byte of a file: understood, irrelevant, damaged or unknown.

Bytes are those of the content, decompressed. A log is counted line by line, a segment batch by batch, a small file line
by line if its notices name lines.
"""

from __future__ import annotations

import contextlib
from typing import Final, NamedTuple

import polars as pl

from parsers.errors import NotThisFormat
from parsers.excerpts.pieces import is_piece
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.formats.log_directory import DELETED_SEGMENT
from parsers.text import broker_log, lines

UNDERSTOOD, IRRELEVANT, DAMAGED, UNKNOWN = CLASSES = ("understood", "irrelevant", "damaged", "unknown")

_BATCHES: Final = frozenset(("segment", DELETED_SEGMENT, "metadata-log"))
_WHOLE: Final = {
    "unknown": UNKNOWN,
    "irrelevant": IRRELEVANT,
    "gc-log": IRRELEVANT,
    "unreadable": DAMAGED,
    "failed": DAMAGED,
    "copy": IRRELEVANT,
    "pointer": IRRELEVANT,
}
"""Files that are of one class from end to end; a copy is counted where it was read first."""
_READ_AT_ONCE: Final = 1 << 20


class Bytes(NamedTuple):
    """Bytes of a file by class.

    Attributes:
        understood: stated something, or were recognised as a known message.
        irrelevant: of a known kind, and not about replication.
        damaged: truncated, overwritten, failed a checksum or could not be read.
        unknown: of no known kind.
    """

    understood: int = 0
    irrelevant: int = 0
    damaged: int = 0
    unknown: int = 0

    @property
    def all(self) -> int:
        """Bytes of the content."""
        return sum(self)


def ledger(source: Source, reading: FileReading) -> Bytes:
    """Return the bytes of one file by class; their sum is the size of its content.

    An archive counts with its stored size and is all understood: its members are files of their own, with classes of
    their own. Damage of an archive is a notice.
    """
    try:
        if reading.format == broker_log.NAME:
            with contextlib.suppress(NotThisFormat):
                return _by_line(_classes_of_piece(source) if is_piece(source) else broker_log.classes(source))
        size = source.size if source.container or source.problem else _size(source)
    except OSError:
        return Bytes(damaged=source.size)
    if source.container:
        return Bytes(understood=size)
    whole = _WHOLE.get(reading.format)
    if whole is not None:
        return Bytes(**{whole: size})
    if reading.format in _BATCHES and reading.base_offset is not None:
        return _by_batch(reading, size)
    if reading.notices.get_column("line").null_count() == reading.notices.height:
        return _by_byte(reading, size)
    return _by_notice(source, reading)


def _classes_of_piece(source: Source) -> pl.DataFrame:
    from parsers.excerpts import reading

    return reading.classes(source)


def _by_line(classed: pl.DataFrame) -> Bytes:
    sums = dict(classed.group_by("class").agg(pl.col("size").sum()).iter_rows())
    return Bytes(**sums)


def _by_batch(reading: FileReading, size: int) -> Bytes:
    """Sound batches are understood; what is in none, or fails its checksum, is damaged."""
    sound = reading.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
    # A read may have been incomplete: never more than there is.
    understood = min(int(sound.get_column("size").sum()), size)
    return Bytes(understood=understood, damaged=size - understood)


def _by_byte(reading: FileReading, size: int) -> Bytes:
    """A file whose notices name no line: damaged from the first byte they name, all of it if it stated nothing."""
    told = reading.notices.get_column("byte").drop_nulls()
    if reading.notices.is_empty():
        return Bytes(understood=size)
    if reading.observations.is_empty() and reading.batches.is_empty() and not reading.properties:
        return Bytes(damaged=size)
    first = min(int(told.min()), size) if told.len() else size  # type: ignore[arg-type]
    return Bytes(understood=first, damaged=size - first)


def _by_notice(source: Source, reading: FileReading) -> Bytes:
    """A text whose notices name lines: these are damaged, the others understood."""
    with source.open() as stream:
        sizes = [block.sizes for block in lines.blocks(stream, sized=True) if block.sizes is not None]
    every = pl.concat(sizes) if sizes else pl.Series("size", [], dtype=pl.Int64)
    wrong = reading.notices.get_column("line").drop_nulls().unique().implode()
    noted = every.to_frame("size").with_row_index("line", offset=1).with_columns(pl.col("line").cast(pl.Int64))
    damaged = int(noted.filter(pl.col("line").is_in(wrong)).get_column("size").sum())
    return Bytes(understood=int(every.sum()) - damaged, damaged=damaged)


def _size(source: Source) -> int:
    """Bytes of the content."""
    if not source.stored:
        return source.size
    size = 0
    with source.open() as stream:
        while data := stream.read(_READ_AT_ONCE):
            size += len(data)
    return size
