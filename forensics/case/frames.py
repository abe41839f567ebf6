"""A case of rows that were read before: of frames that a user filtered, joined or kept in a table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

import polars as pl

from forensics.case.case import Case, Reading, assemble
from forensics.errors import UnreadableInput
from parsers.excerpts.pieces import MARKED, PIECE
from parsers.file_reading import UTC, FileReading, placed
from parsers.files.sources import Source
from parsers.filled import filled
from parsers.formats.epoch_checkpoint import NAME as EPOCHS
from parsers.formats.log_directory import split_segment_file
from parsers.formats.offset_checkpoint import NAME as OFFSETS
from parsers.formats.partition_metadata import NAME as TOPIC_IDS
from parsers.formats.producer_snapshot import NAME as PRODUCERS
from parsers.formats.segment import NAME as SEGMENT
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, Kind, conform
from parsers.text.broker_log import NAME as LOG
from parsers.walk import walk

_FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Kind.TRACE.value: TRACE,
        Kind.HW_CHECKPOINT.value: OFFSETS,
        Kind.LOG_START_CHECKPOINT.value: OFFSETS,
        Kind.RECOVERY_POINT.value: OFFSETS,
        Kind.CLEANER_CHECKPOINT.value: OFFSETS,
        Kind.EPOCH_ENTRY.value: EPOCHS,
        Kind.PRODUCER_STATE.value: PRODUCERS,
        Kind.TOPIC_ID.value: TOPIC_IDS,
    }
)
"""The format of a file by the kinds of its rows, the first of these that it has; all other files are logs."""

_AS_A_WHOLE: Final = frozenset((EPOCHS, TRACE))
"""Formats of which each line counts beside the others: a cache of leader epochs without an entry is another one."""

_OBSERVED: Final = ("kind", "line")
_NO_FILE: Final = "no column path names the file of a row; add it, or give the frame of sources"
_FILE: Final = "_file"


def case_of(
    observations: pl.DataFrame,
    batches: pl.DataFrame | None = None,
    notices: pl.DataFrame | None = None,
    sources: pl.DataFrame | None = None,
    *,
    whole: bool = False,
) -> Case:
    """Assemble a case of rows.

    Each frame names the file of a row in ``path``, or by the number ``source``, whose path is in ``sources``.

    Args:
        observations: columns of ``OBSERVATIONS``, of which ``kind`` and ``line`` are needed. Times are UTC. Without a
            path, ``broker`` names the owner of the file.
        batches: columns of ``BATCHES`` with ``topic`` and ``partition``: all of each segment. None for none.
        notices: columns of ``NOTICES``; needed beside batches, because they state damage.
        sources: columns ``id`` and ``path``; None if no frame needs it. By the column ``sha256`` findings name hashes,
            and quote the files that are still what they were.
        whole: each file is complete. Else its rows are read like an excerpt: no absent line is proof, and files that
            are one statement as a whole are left out.

    Raises:
        UnreadableInput: a column or a frame is missing that is needed.
    """
    if batches is not None and notices is None:
        raise UnreadableInput("notices are missing: without them nothing shows which record batches are damaged")
    rows = _named(observations, "observations", _OBSERVED, sources)
    if "path" not in observations.columns and sources is None:
        rows = _by_owner(rows)
    known = _digests(sources)
    files = [_of_rows(name, part, known.get(name), whole=whole) for name, part in _parts(rows)]
    if not whole:
        files = [(source, found) for source, found in files if found.format not in _AS_A_WHOLE]
    if batches is not None and notices is not None:
        headers = _named(batches, "batches", ("byte", "base_offset", "topic", "partition"), sources, by_path=True)
        told = dict(_parts(_named(notices, "notices", ("reason",), sources, by_path=True)))
        files += [_of_batches(name, part, told.get(name), known.get(name)) for name, part in _parts(headers)]
    return assemble(files, Reading())


def check(columns: Collection[str]) -> None:
    """Make sure that observations have the columns without which nothing can be replayed.

    Raises:
        UnreadableInput: one is missing.
    """
    _have(columns, "observations", (*_OBSERVED, "topic", "partition"))
    if not {"path", "source"} & {*columns}:
        raise UnreadableInput(f"observations: {_NO_FILE}")


def _have(columns: Collection[str], what: str, needed: Iterable[str]) -> None:
    missing = next((name for name in needed if name not in columns), None)
    if missing is not None:
        raise UnreadableInput(f"{what}: the column {missing} is missing, which replay needs")


def _named(
    frame: pl.DataFrame,
    what: str,
    needed: tuple[str, ...],
    sources: pl.DataFrame | None,
    *,
    by_path: bool = False,
) -> pl.DataFrame:
    """Return the frame with the name of each row's file.

    Args:
        frame: rows.
        what: name of the frame, for errors.
        needed: columns that it must have.
        sources: path of each ``source``.
        by_path: a number alone does not do: the folder decides whose log it is.

    Raises:
        UnreadableInput: a column is missing.
    """
    _have(frame.columns, what, needed)
    if "path" in frame.columns:
        return frame.with_columns(pl.col("path").cast(pl.String).fill_null("unknown").alias(_FILE))
    if "source" not in frame.columns or (by_path and sources is None):
        raise UnreadableInput(f"{what}: {_NO_FILE}")
    if sources is None:
        return frame.with_columns(filled("source-{}", "source").alias(_FILE))
    paths = sources.select(pl.col("id").alias("source").cast(frame.schema["source"]), pl.col("path").alias(_FILE))
    found = frame.join(paths, on="source", how="left", maintain_order="left")
    return found.with_columns(pl.col(_FILE).fill_null(filled("source-{}", "source")))


def _by_owner(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the files of a known broker in a folder of its name, by which they are its own."""
    if "broker" not in rows.columns:
        return rows
    return rows.with_columns(pl.concat_str(filled("broker-{}/rows/", "broker").fill_null(""), _FILE).alias(_FILE))


def _parts(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the rows of each file, in the order in which the files first appear."""
    return [(str(name), part) for (name,), part in frame.group_by(_FILE, maintain_order=True)]


def _digests(sources: pl.DataFrame | None) -> dict[str, str]:
    """Return the SHA-256 of files by their path."""
    if sources is None or not {"path", "sha256"} <= {*sources.columns}:
        return {}
    return dict(sources.select("path", "sha256").drop_nulls().iter_rows())


def _of_rows(name: str, rows: pl.DataFrame, digest: str | None, *, whole: bool) -> tuple[Source, FileReading]:
    """Return a file of observations."""
    place = [one for one in ("line", "byte") if one in rows.columns]
    ordered = rows.sort(place, nulls_last=True, maintain_order=True)
    found = _typed(ordered, "observations", OBSERVATIONS)
    kinds = {*found.get_column("kind").unique().to_list()}
    form = next((form for kind, form in _FORMATS.items() if kind in kinds), LOG)
    times = found.get_column("time")
    reading = FileReading(
        form,
        observations=found,
        zone=UTC,
        first_time=_micros(times, first=True),
        last_time=_micros(times, first=False),
        lines=found.height,
        events=found.height,
        relevant=found.height,
        understood=found.height,
    )
    excerpt = form == LOG and not whole
    if excerpt:
        reading.frame = f"rows of a table {MARKED}"
    source = _source(name, digest, PIECE if excerpt else "")
    return source, reading if form == LOG else placed(reading, source)


def _typed(rows: pl.DataFrame, what: str, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Return rows in the types of a schema.

    Raises:
        UnreadableInput: a column holds something else, such as an unknown kind.
    """
    try:
        return conform(rows.with_columns(_printed(rows)), schema)
    except pl.exceptions.PolarsError as error:
        raise UnreadableInput(f"{what}: {str(error).splitlines()[0]}") from None


def _printed(rows: pl.DataFrame) -> list[pl.Expr]:
    """Return the times as readers give them: without a zone, which is UTC."""
    dtype = rows.schema.get("time")
    if isinstance(dtype, pl.Datetime):
        time = pl.col("time").dt.convert_time_zone(UTC) if dtype.time_zone else pl.col("time")
        return [time.dt.replace_time_zone(None).dt.cast_time_unit("us")]
    return [pl.col("time").cast(pl.Datetime("us"))] if dtype is not None else []


def _micros(times: pl.Series, *, first: bool) -> int | None:
    known = times.drop_nulls().dt.epoch("us")
    return None if known.is_empty() else int(known[0 if first else -1])


def _of_batches(
    name: str, rows: pl.DataFrame, told: pl.DataFrame | None, digest: str | None
) -> tuple[Source, FileReading]:
    """Return a segment, with the notices about it."""
    found = _typed(rows.sort("byte", maintain_order=True), "batches", BATCHES)
    source = _source(name, digest)
    reading = placed(FileReading(SEGMENT, batches=found), source)
    if told is not None:
        reading.notices = _typed(told, "notices", NOTICES)
    known = split_segment_file(source.name)
    sound = found.filter(pl.col("crc_ok").fill_null(value=True))
    reading.topic, reading.partition = rows.get_column("topic")[0], rows.get_column("partition")[0]
    reading.directory_state = reading.directory_state or "current"
    reading.base_offset = known.base_offset if known is not None else _most(found, "base_offset", least=True)
    last = _most(sound, "last_offset")
    reading.log_end = None if last is None else last + 1
    reading.magic = _most(found, "magic")
    return source, reading


def _most(rows: pl.DataFrame, name: str, *, least: bool = False) -> int | None:
    column = rows.get_column(name).cast(pl.Int64)
    value = column.min() if least else column.max()
    return value if isinstance(value, int) else None


def _source(path: str, digest: str | None, stored: str = "") -> Source:
    """Return a file that was read elsewhere.

    Args:
        path: its path.
        digest: SHA-256 of its content; None if it is unknown, and then the file is never opened.
        stored: how its content is stored.
    """

    def opened() -> BinaryIO:
        there = next(walk([path]), None) if digest is not None and Path(path).is_file() else None
        if there is None or there.sha256() != digest:
            raise FileNotFoundError(2, "its rows were read from a table", path)
        return there.open()

    return Source(path, 0, opened, stored=stored, digest=digest)
