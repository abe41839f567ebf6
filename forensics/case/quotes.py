"""Text of cited places in the evidence, read again from the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import polars as pl

from forensics.case.case import Case
from parsers import limits
from parsers.files.sources import Source
from parsers.formats.log_directory import METADATA_TOPIC
from parsers.text.lines import plain

LONGEST = 400


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source.

    Attributes:
        source: id of the source.
        line: 1-based line, or None.
        byte: 0-based byte, or None.
    """

    source: int
    line: int | None
    byte: int | None


def places(case: Case, rows: Iterable[int]) -> dict[int, Place]:
    """Return the place of each row of the observations."""
    wanted = sorted(set(rows))
    if not wanted:
        return {}
    found = case.observations.filter(pl.col("row").is_in(wanted)).select("row", "source", "line", "byte")
    return {row: Place(source, line, byte) for row, source, line, byte in found.iter_rows()}


def quote(case: Case, wanted: Iterable[Place]) -> dict[Place, str]:
    """Return the text at each place, at most 400 characters; each file is read once, up to its last cited line."""
    cited = set(wanted)
    by_source: dict[int, list[Place]] = {}
    for place in cited:
        if place.line is not None:
            by_source.setdefault(place.source, []).append(place)
    texts = batch_texts(case, cited)
    for source, here in sorted(by_source.items()):
        texts |= _lines(case, source, here)
    return texts


def _lines(case: Case, source: int, wanted: list[Place]) -> dict[Place, str]:
    """Return the text at those of the places that are lines."""
    lines = {place.line: place for place in wanted if place.line is not None}
    return {lines[line]: text for line, text in line_texts(case.files[source], lines).items()}


def batch_texts(case: Case, wanted: Iterable[Place]) -> dict[Place, str]:
    """Return the text at those of the places that are batches."""
    cited = {
        (place.source, place.byte): place for place in set(wanted) if place.line is None and place.byte is not None
    }
    if not cited:
        return {}
    # A join, not a filter for each file: a thousand partitions may have a finding each, with batches of three files.
    keys = pl.DataFrame(
        list(cited), schema={name: case.batches.schema[name] for name in ("source", "byte")}, orient="row"
    )
    rows = case.batches.join(keys, on=["source", "byte"], how="semi", maintain_order="left")
    texts: dict[Place, str] = {}
    columns = ("source", "topic", "byte", "base_offset", "last_offset", "leader_epoch", "crc", "magic", "records")
    for source, topic, byte, base, last, epoch, crc, magic, records in rows.select(columns).iter_rows():
        where = f"offset {base}" if base == last else f"offsets {base} to {last}"
        # A step about a partition may rest on one: its offsets and leader epoch are not those of the partition.
        log, of = ("", "") if topic != METADATA_TOPIC else (" in the metadata log", " of the quorum")
        dated = f", leader epoch {epoch}{of}" if epoch is not None else ""
        texts[cited[source, byte]] = (
            f"batch of format v{magic}{log}: {where}, {records} record{'' if records == 1 else 's'}{dated}, "
            f"crc {crc:08x}"
        )
    return texts


def line_texts(source: Source, wanted: Collection[int]) -> dict[int, str]:
    """The text of lines of one file, which is read up to the last of them."""
    last = max(wanted)
    texts: dict[int, str] = {}
    try:
        with source.open() as stream:
            for number in range(1, last + 1):
                line = stream.readline(limits.LINE.value)
                if not line:
                    break
                if number in wanted:
                    texts[number] = plain(line).decode("utf-8", errors="replace").rstrip("\r\n")[:LONGEST]
    except OSError:
        return texts  # the file was there when it was read; what cannot be quoted is still named by line
    return texts
