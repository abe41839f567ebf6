"""Work of a read task: its pieces in, rows of all tables and one row of facts per piece out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, BinaryIO, Final

import polars as pl

from forensics.case.metadata import BATCH_COLUMNS as METADATA_BATCHES
from forensics.case.metadata import FORMATS as METADATA_FORMATS
from forensics.case.order import METADATA_TOPIC, between, latest, repeated, to_utc
from forensics.case.printers import printer, several, told_apart
from forensics.case.shared_directories import opens_caseless
from forensics.engines.stages.listing import File, state_of
from forensics.engines.stages.packing import packed
from forensics.engines.stages.plan import Piece, Unit
from forensics.engines.stages.rows import RAW, narrowed
from parsers import read
from parsers.containers import expand
from parsers.containment import Defect, each
from parsers.errors import NotByRanges, NotThisFormat
from parsers.file_reading import UTC, FileReading, joined, note
from parsers.files.sources import Source
from parsers.formats.trace_jsonl import BELOW_HEADER
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind
from parsers.text import broker_log

AGAIN: Final = "again"
"""Format of a range whose file has to be read in one go."""

HEADER: Final = (
    "format",
    "properties",
    "topic",
    "partition",
    "directory_state",
    "lines",
    "events",
    "relevant",
    "understood",
    "shuffled",
    "roles_begun",
    "roles_due",
    "unread",
    "first_time",
    "last_time",
    "base_offset",
    "log_end",
    "valid_bytes",
    "magic",
    "frame",
    "zone",
    "distances",
)
"""Fields of a reading that are no tables."""

Told = tuple[str, pl.DataFrame]
"""Name of a table in ``RAW``, and rows of it."""


def rows(pieces: Iterable[str], zone: str) -> Iterator[Told]:
    """Read pieces.

    Args:
        pieces: as ``Piece.row`` writes them.
        zone: zone of printed times that name none.

    Returns:
        Rows of all tables.
    """
    for piece in _hashed([Piece.of(text) for text in pieces]):
        if piece.range is not None:
            yield from _of_range(piece, zone)
        elif len(piece.units) > 1:
            sources = [opened(unit) for unit in piece.units]
            for unit, reading in zip(piece.units, read.read_unit(sources), strict=True):
                yield from _told(unit, piece.split, [reading], zone)
        else:
            unit = piece.units[0]
            parts: Iterable[FileReading] = read.read_parts(opened(unit))
            if piece.held:
                parts = [joined(list(parts))]
            yield from _told(unit, piece.split, parts, zone, held=piece.held)


def _hashed(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, with the hash of each source that has none: for what is packed, an archive is passed once more."""

    def known(unit: Unit) -> Unit:
        if unit.look.digest is not None or unit.look.problem:
            return unit
        try:
            return replace(unit, look=replace(unit.look, digest=opened(unit).sha256()))
        except OSError:
            return unit  # reported when it is read

    return [replace(piece, units=tuple(map(known, piece.units))) for piece in pieces]


def opened(unit: Unit) -> Source:
    """The source of a unit, ready to be read."""
    look = unit.look
    if look.place is not None or look.problem or look.container:
        return look.source()
    return look.source(_Member(unit.file, look.path))


def _of_several(whole: FileReading) -> FileReading:
    """A log with each row given to the broker that printed it, where there are several."""
    if whole.format == broker_log.NAME and several(whole.observations):
        whole.observations, said = told_apart(whole.observations)
        whole.notices = pl.concat([whole.notices, said])
    return whole


@dataclass(frozen=True, slots=True)
class _Member:
    """Opens a source that is inside another file."""

    file: File
    member: str

    def __call__(self) -> BinaryIO:
        # A worker outlives its tasks, and the archive that it knows may have been replaced since.
        found = _members(self.file.path, self.file.real, state_of(self.file)).get(self.member)
        if found is None:
            raise FileNotFoundError(2, "no longer in its archive")
        return found.open()


@lru_cache(maxsize=2)
def _members(path: str, real: str, state: tuple[int, ...]) -> dict[str, Source]:
    return {source.path: source for source in expand(File(path, real, state[0], 0).source())}


def _of_range(piece: Piece, zone: str) -> Iterator[Told]:
    unit = piece.units[0]
    source = opened(unit)
    assert source.place is not None
    assert piece.range is not None
    try:
        expected = (NotByRanges, NotThisFormat, OSError)
        read_here = each(broker_log.parts_of_range(source, source.place, piece.range), expected=expected)
        parts = (read.failed(part) if isinstance(part, Defect) else read.handed_over(part) for part in read_here)
        yield from _told(unit, piece.split, _or_nothing(parts), zone)
    except (NotByRanges, NotThisFormat):
        yield from _told(unit, piece.split, [FileReading(AGAIN)], zone)
    except OSError as error:
        said = note(f"cannot be read: {error.strerror or error}")
        yield from _told(unit, piece.split, [FileReading(read.UNREADABLE, notices=said)], zone)


def _or_nothing(parts: Iterable[FileReading]) -> Iterator[FileReading]:
    """Yield the parts; a range within one long line has none of its own."""
    found = None
    for found in parts:
        yield found
    if found is None:
        yield FileReading(broker_log.NAME)


@dataclass(slots=True)
class _Facts:
    """Collects what the driver must know of a piece."""

    whole: FileReading | None = None
    notices: int = 0
    batches: int = 0
    observations: int = 0
    when: int | None = None
    repeated: bool = False
    witnesses: Counter[int] = field(default_factory=Counter)
    spoken: set[tuple[int | None, str | None]] = field(default_factory=set)
    printers: set[int] = field(default_factory=set)
    metadata_hw: int | None = None
    context: list[pl.DataFrame] = field(default_factory=list)
    names: list[pl.DataFrame] = field(default_factory=list)
    keys: list[pl.DataFrame] = field(default_factory=list)


def _told(unit: Unit, split: int, parts: Iterable[FileReading], zone: str, *, held: bool = False) -> Iterator[Told]:
    facts = _Facts()
    for part in parts:
        _to_utc(part, facts, zone)
        yield from _part(unit, split, _of_several(part) if held else part, facts)
    yield _facts(unit, split, facts, held)


def _to_utc(part: FileReading, facts: _Facts, zone: str) -> None:
    """Convert times to UTC, as far as its lines and the user define the zone; collectors' zones are known only
    later.
    """
    if part.zone is None and zone != UTC and part.observations.height:
        facts.repeated = facts.repeated or bool(part.observations.select(repeated(pl.col("time"), zone).any()).item())
        part.observations = to_utc(part.observations, zone).with_columns(pl.col("time").dt.replace_time_zone(None))


def _part(unit: Unit, split: int, part: FileReading, facts: _Facts) -> Iterator[Told]:
    if part.observations.height:
        rows = _timed(part, facts)
        rows = rows.with_row_index("seq", offset=facts.observations).with_columns(pl.col("seq").cast(pl.Int64))
        facts.observations += rows.height
        _collect(part.format, rows, facts)
        yield _raw("observations", unit, split, rows)
    for name, table in (("batches", part.batches), ("notices", part.notices)):
        if table.height:
            begin = facts.batches if name == "batches" else facts.notices
            yield _raw(name, unit, split, table.with_row_index("seq", offset=begin))
    if part.format in METADATA_FORMATS and part.batches.height:
        facts.keys.append(part.batches.select(METADATA_BATCHES))
    facts.batches += part.batches.height
    facts.notices += part.notices.height
    header = FileReading(**{name: getattr(part, name) for name in HEADER})
    facts.whole = header if facts.whole is None else joined([facts.whole, header])
    if part.format in read.NOT_READ:
        facts.whole.format = part.format


def _timed(part: FileReading, facts: _Facts) -> pl.DataFrame:
    """Add the greatest time so far; of a log whose lines are in no order of time, the line's own."""
    rows, time = part.observations, pl.col("time")
    if "_when" in rows.columns:  # of several logs in one file, each has a time of its own
        return rows.with_columns(pl.col("_when").cast(pl.Int64).alias("when")).drop("_when")
    if part.shuffled:
        return rows.with_columns(between(time).cast(pl.Int64).alias("when"))
    if part.format == TRACE:  # it is read whole, and its lines are in order for each of its witnesses
        return rows.with_columns(latest(time).over("witness").cast(pl.Int64).alias("when"))
    rows = rows.with_columns(latest(time).cast(pl.Int64).alias("when"))
    if facts.when is not None:
        rows = rows.with_columns(pl.max_horizontal("when", pl.lit(facts.when)).alias("when"))
    greatest = rows.get_column("when")[-1]
    facts.when = greatest if greatest is not None else facts.when
    return rows


def _collect(format_name: str, rows: pl.DataFrame, facts: _Facts) -> None:
    of_metadata = format_name in METADATA_FORMATS
    facts.context.append(rows.filter(pl.col("topic").is_null() | opens_caseless()))
    own = rows.filter(BELOW_HEADER) if format_name == TRACE else rows
    for witness, count in own.get_column("witness").drop_nulls().value_counts().iter_rows():
        facts.witnesses[witness] += count
    if format_name == broker_log.NAME:
        facts.printers.update(rows.select(printer().alias("_")).get_column("_").drop_nulls().unique().to_list())
    lines = own.filter(pl.col("line").is_not_null())
    facts.spoken.update(lines.select("witness", "message").unique().iter_rows())
    names = rows.filter(pl.col("topic_id").is_not_null() & pl.col("topic").is_not_null())
    byte = pl.col("byte") if of_metadata else pl.lit(None, pl.Int64).alias("byte")
    facts.names.append(names.select("topic_id", "topic", byte).unique(maintain_order=True))
    if of_metadata:
        facts.names.append(
            rows.select(
                pl.lit(None, pl.String).alias("topic_id"), pl.lit(None, pl.String).alias("topic"), "byte"
            ).unique()
        )
    quorum = rows.filter(
        (pl.col("topic") == METADATA_TOPIC) & pl.col("kind").is_in([Kind.HW.value, Kind.LEADER_HW.value])
    )
    greatest = quorum.get_column("hw").max()
    if isinstance(greatest, int):
        facts.metadata_hw = max(facts.metadata_hw or 0, greatest)


def _raw(table: str, unit: Unit, split: int, rows: pl.DataFrame) -> Told:
    whose = pl.lit(unit.number, pl.Int64).alias("unit"), pl.lit(split, pl.Int32).alias("split")
    return table, narrowed(rows.with_columns(whose), RAW[table])


def _facts(unit: Unit, split: int, facts: _Facts, held: bool) -> Told:
    whole = facts.whole if facts.whole is not None else FileReading(read.UNKNOWN)
    header: dict[str, Any] = {name: getattr(whole, name) for name in HEADER}
    header |= {
        "identity": unit.identity,
        "sha256": unit.look.digest,
        "observations": facts.observations,
        "batches": facts.batches,
        "notices": facts.notices,
        "when": facts.when,
        "witnesses": sorted(facts.witnesses.items()),
        "printers": sorted(facts.printers),
        "held": held,
        "repeated": facts.repeated,
        "spoken": sorted(facts.spoken, key=repr),
        "metadata_hw": facts.metadata_hw,
    }
    row = {"header": [json.dumps(header)]}
    frame = pl.DataFrame(row, schema={"header": pl.String()}).with_columns(
        *[
            pl.lit(packed(pl.concat(found)) if found else None, pl.Binary).alias(name)
            for name, found in (
                ("context", [part for part in facts.context if part.height]),
                ("names", facts.names),
                ("keys", facts.keys),
            )
        ]
    )
    return _raw("facts", unit, split, frame)
