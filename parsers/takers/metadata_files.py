"""The metadata log of one node: its files are read together, because a change names only what changed."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from parsers import limits
from parsers.errors import NotThisFormat
from parsers.file_reading import UTC, FileReading, note, placed
from parsers.files.sources import Source
from parsers.formats.log_directory import (
    METADATA_TOPIC,
    split_directory,
    split_metadata_snapshot,
    split_segment_file,
)
from parsers.formats.metadata_log import (
    BOOTSTRAP_FILE,
    NAME,
    SNAPSHOT,
    MetadataScan,
    MetadataState,
    read_metadata_log,
    read_metadata_snapshot,
)
from parsers.schema import NOTICES, DamageKind
from parsers.takers.data_files import content, segment, segment_bytes
from parsers.takers.pointer_files import is_pointer, pointer

TOPIC = METADATA_TOPIC


def belongs(source: Source) -> bool:
    """A segment or snapshot in use, in a directory of the metadata log; not the dump of one."""
    if TOPIC not in source.path or source.problem or source.container:
        return False
    directory = split_directory(source.parent)
    if directory is None or directory.topic != TOPIC:
        return False
    if source.stored.partition(" in ")[0] == "text":
        return False
    file, snapshot = split_segment_file(source.name), split_metadata_snapshot(source.name)
    return (file is not None and file.what == "log" and not file.mark) or (snapshot is not None and not snapshot.mark)


def directory(sources: Sequence[Source]) -> list[FileReading]:
    """Read the files of one directory that ``belongs`` accepts.

    A log that begins at offset 0 is complete. If its beginning is gone, reading starts from its oldest snapshot.
    Records before the snapshot's end are read without the epochs so far, later ones with them. Other snapshots repeat
    the log, so their rows are left out.
    """
    named = {n: found for n, s in enumerate(sources) if (found := split_metadata_snapshot(s.name)) is not None}
    ends = {number: one.end_offset for number, one in named.items()}
    bases = {n: file.base_offset for n, s in enumerate(sources) if (file := split_segment_file(s.name)) is not None}
    readings: dict[int, FileReading] = {}
    state: MetadataState | None = None
    begin = min(bases.values(), default=None)
    for number, end in sorted(ends.items(), key=lambda item: item[1]):
        # The oldest serves as a base; without any segment the newest holds the most.
        wanted = end == max(ends.values()) if begin is None else begin > 0 and state is None and end >= begin
        readings[number], after = _snapshot(sources[number], end, named[number].epoch, rows=wanted)
        if wanted:
            state = after
    before: MetadataState | None = None
    for number, base in sorted(bases.items(), key=lambda item: item[1]):
        readings[number], before, state = _segment(sources[number], base, before, state)
    return [readings[number] for number in range(len(sources))]


def bootstrap(source: Source, _head: bytes) -> FileReading:
    """``bootstrap.checkpoint``: the features a cluster began with."""
    return _snapshot(source, 0, None, rows=True)[0]


def is_bootstrap(source: Source, _head: bytes) -> bool:
    """Named so."""
    return source.name == BOOTSTRAP_FILE


def _snapshot(
    source: Source, end_offset: int, epoch: int | None, *, rows: bool
) -> tuple[FileReading, MetadataState | None]:
    """Return a snapshot and its state; one that is whole has the end offset of its name as the end of the log."""
    try:
        found = read_metadata_snapshot(content(source), end_offset=end_offset, epoch=epoch)
    except NotThisFormat as error:
        return placed(FileReading("unknown", notices=note(f"no snapshot of the metadata log: {error}")), source), None
    except OSError as error:
        return FileReading("unreadable", notices=note(f"cannot be read: {error.strerror or error}")), None
    reading = FileReading(SNAPSHOT, notices=found.notices, zone=UTC)
    if found.whole:
        reading.log_end = end_offset
    if rows:
        reading.observations = found.observations
    return placed(reading, source), found.state


def _segment(
    source: Source, base: int, before: MetadataState | None, state: MetadataState | None
) -> tuple[FileReading, MetadataState | None, MetadataState | None]:
    """One segment, read on from the segment before and, as far as that reaches further, from a snapshot.

    Returns:
        The reading, the state that the segments so far give, and the snapshot's state carried on.
    """
    try:
        if is_pointer(source, head := source.head()):
            return pointer(source, head), None, state
        with segment_bytes(source) as (data, longer):
            plain = read_metadata_log(data, base_offset=base, state=before or MetadataState(next_offset=base))
            based = read_metadata_log(data, base_offset=base, state=state) if state is not None else None
    except NotThisFormat as error:
        reading = segment(source, b"")
        reading.notices = pl.concat([reading.notices, note(f"no metadata log: {error}")])
        return reading, None, state
    except OSError as error:
        return FileReading("unreadable", notices=note(f"cannot be read: {error.strerror or error}")), None, state
    found = plain if based is None or state is None else _spliced(plain, based, state)
    scan = plain.segment
    notices = _bounded(found.notices, scan.valid_bytes) if longer else found.notices
    reading = FileReading(NAME, found.observations, scan.placed(), notices, zone=UTC)
    reading.base_offset = base
    reading.log_end, reading.valid_bytes = scan.log_end_offset, scan.valid_bytes
    reading.magic = max(scan.magic) if scan.magic else None
    return placed(reading, source), plain.state, based.state if based is not None else None


def _bounded(notices: pl.DataFrame, end: int) -> pl.DataFrame:
    """Return the notices of a segment that is longer than what is read of it: it is not torn where reading ends."""
    torn = (pl.col("kind") == DamageKind.TORN_TAIL).fill_null(value=False)
    said = (DamageKind.TORN_TAIL.value, limits.METADATA.told("only its first {} are read"), "", None, end)
    return pl.concat([notices.filter(~torn), pl.DataFrame([said], schema=NOTICES, orient="row")])


def _spliced(plain: MetadataScan, based: MetadataScan, state: MetadataState) -> MetadataScan:
    """Rows before the snapshot's end as read without it, then those read with it."""
    limit = state.next_offset or 0
    early = plain.segment.batches.filter(pl.col("last_offset") < limit).get_column("byte").implode()
    rows = pl.concat([plain.observations.filter(pl.col("byte").is_in(early)), based.observations])
    notices = pl.concat([plain.notices, based.notices]).unique(maintain_order=True).sort("byte", maintain_order=True)
    return MetadataScan(rows, notices, plain.segment, based.state)


__all__ = ["TOPIC", "belongs", "bootstrap", "directory", "is_bootstrap"]
