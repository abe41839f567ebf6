"""``kafka-forensics``: what brokers left behind as a source of DataFrames.

    spark.dataSource.register(KafkaForensics)
    spark.read.format("kafka-forensics").option("table", "observations").load("evidence/")

Options: ``table`` (observations, batches, checkpoints, notices), ``tz`` (zone of printed times that name none),
``tasks`` (at least so many, about), and those of ``forensics.engines.spark.wanted``. A file is one partition of the
DataFrame, small files share one; a large plain log is read by ranges of its bytes. Filters are not pushed down: where
``spark.sql.python.filterPushdown.enabled`` is off, as by default, a source that takes filters fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import polars as pl
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from forensics.case.order import known_zone, utc
from forensics.case.zones import ASSUMED, settle
from forensics.engines.spark.wanted import COLUMNS, FILTERS, Wanted
from forensics.engines.stages.listing import File, listed, looked
from forensics.engines.stages.plan import Piece, Unit, planned
from forensics.engines.stages.reading import opened
from forensics.engines.stages.rows import arrow_schema, ddl, narrowed, plain
from forensics.errors import UnreadableInput
from parsers import read
from parsers.containers import is_packed
from parsers.distances import together
from parsers.errors import NotByRanges, NotThisFormat
from parsers.file_reading import FileReading, note
from parsers.files.sources import Place
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS, Kind
from parsers.text import broker_log, lines, wrappings
from parsers.text.broker_log import Range

NAME: Final = "kafka-forensics"
OPTIONS: Final = ("table", "tz", "tasks", *(one.option for one in FILTERS), COLUMNS)
CHECKPOINTS: Final = (
    Kind.HW_CHECKPOINT,
    Kind.RECOVERY_POINT,
    Kind.LOG_START_CHECKPOINT,
    Kind.CLEANER_CHECKPOINT,
    Kind.EPOCH_ENTRY,
)

_TOGETHER: Final = 64 << 20
_TASKS: Final = 32
"""Tasks at least, about, if the option ``tasks`` is not given."""
_ALL: Final = Wanted({})

TABLES: Final[Mapping[str, Mapping[str, pl.DataType]]] = {
    "observations": {"path": pl.String(), **plain(OBSERVATIONS)},
    "batches": {"path": pl.String(), "topic": pl.String(), "partition": pl.Int32(), **plain(BATCHES)},
    "checkpoints": {"path": pl.String(), **plain(OBSERVATIONS)},
    "notices": {"path": pl.String(), **plain(NOTICES)},
}
"""Columns of each table; times are microseconds since 1970 UTC here, and timestamps in the DataFrame."""


@dataclass
class Pieces(InputPartition):  # type: ignore[misc, unused-ignore]
    """Text input of one task: pieces, or everything in an archive."""

    pieces: tuple[str, ...]
    archive: str = ""


def _is_packed(file: File) -> bool:
    """Return whether other files are packed in a file: finding out may take as long as reading it."""
    try:
        return not file.problem and is_packed(file.source().head())
    except OSError:
        return False  # reported when it is read


def _tasks(files: Iterable[File], zone: str | None, least: int = 1) -> list[list[Piece]]:
    """Return tasks, about as many as ``least`` or more, that read the contents of files, and report unreadable files
    and problems of archives.
    """
    looks = [(file, look) for file in files for look in looked(file, None)]
    units = [Unit(number, *one) for number, one in enumerate(looks)]
    whole = [unit.number for unit in units if not _by_ranges(unit, zone)]
    return planned(units, split=_TOGETHER, whole=whole, least=least).tasks


def _by_ranges(unit: Unit, zone: str | None) -> bool:
    """Return whether a large log may be read by ranges: the zone of its times must not depend on all of it."""
    if not unit.look.splits or zone is not None:
        return False
    try:
        sample = lines.sample(opened(unit).head())
    except OSError:  # it went since it was listed
        return False
    return sample is not None and not wrappings.choose(sample)[0]


def _lines_before(place: Place, begin: int) -> int:
    """Return how many lines a sequential read counts before the first line that ends behind a byte."""
    count = 0
    with place.open() as stream:
        for start in range(0, begin, broker_log.STEP):
            block = stream.read(min(broker_log.STEP, begin - start))
            count += block.count(b"\n") or 1  # a block without a line end is split
    return count


class Reader(DataSourceReader):
    """Reads one table of the evidence below a path."""

    def __init__(
        self, path: str, table: str, zone: str | None = None, wanted: Wanted = _ALL, tasks: int = _TASKS
    ) -> None:
        self.path = path
        self.table = table
        self.wanted = wanted
        self.zone = zone  # as the user gave it; None to infer it from a collector's times in each log
        self.tasks = tasks  # at least so many, about

    def partitions(self) -> Sequence[InputPartition]:
        """Tasks: files listed and their first bytes read; what is in an archive is found by the task that reads it."""
        plain, tasks = [], []
        for file in listed([self.path]):
            if _is_packed(file):
                tasks.append(Pieces((), json.dumps([file.path, file.real, file.size, file.changed])))
            else:
                plain.append(file)
        tasks += [Pieces(tuple(piece.row() for piece in task)) for task in _tasks(plain, self.zone, self.tasks)]
        return tasks

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Arrow batches of one task."""
        assert isinstance(partition, Pieces)
        pieces = partition.pieces
        if partition.archive:
            file = File(*json.loads(partition.archive))
            pieces = tuple(piece.row() for task in _tasks([file], self.zone) for piece in task)
        for text in pieces:
            yield from self._piece(Piece.of(text))

    def _piece(self, piece: Piece) -> Iterator[Any]:
        """Arrow batches of some bytes of a file, of a file, or of files that continue each other."""
        units = piece.units
        if piece.range is not None:
            yield from self._ranged(units[0], piece.range)
        elif len(units) > 1:
            sources = [opened(unit) for unit in units]
            for unit, source, reading in zip(units, sources, read.read_unit(sources), strict=True):
                settle([(source, reading)], [None], [None], self.zone)
                yield from self._batches(unit.look.path, reading)
        else:
            yield from self._one(units[0])

    def _ranged(self, unit: Unit, span: Range) -> Iterator[Any]:
        """Arrow batches of some of a file's bytes; where they cannot be read by themselves, the file is read up to
        them.
        """
        source = opened(unit)
        assert source.place is not None
        before = _lines_before(source.place, span.begin)
        try:
            # Kept in a list, because the last block may show that it cannot be done.
            parts = list(broker_log.parts_of_range(source, source.place, span))
        except (NotByRanges, NotThisFormat):
            last = None if span.end is None else _lines_before(source.place, span.end)
            for part in read.read_parts(opened(unit)):
                yield from self._batches(unit.look.path, _between(part, before, last))
            return
        except OSError as error:
            parts = [FileReading(read.UNREADABLE, notices=note(f"cannot be read: {error.strerror or error}"))]
        for part in parts:
            part.observations, part.notices = (
                rows.with_columns(pl.col("line") + before) for rows in (part.observations, part.notices)
            )
            yield from self._batches(unit.look.path, part)

    def _one(self, unit: Unit) -> Iterator[Any]:
        """Arrow batches of one file. A log with a collector's times is read through once more before, for its zone."""
        told: FileReading | None = None
        for part in read.read_parts(opened(unit)):
            if told is None:
                told = self._told(unit, part)
                if told.notices.height:
                    yield from self._batches(unit.look.path, FileReading(part.format, notices=told.notices))
            part.zone = part.zone or told.zone
            yield from self._batches(unit.look.path, part)

    def _told(self, unit: Unit, first: FileReading) -> FileReading:
        """Return zone and notices of a log by all of it; ``first`` is its first part."""
        if first.format != broker_log.NAME or first.zone is not None or not (first.distances or self.zone):
            return FileReading(first.format)
        told = FileReading(broker_log.NAME)
        source = opened(unit)
        for part in read.read_parts(source):
            told.first_time = told.first_time if told.first_time is not None else part.first_time
            told.last_time = part.last_time if part.last_time is not None else told.last_time
            told.distances = together((told.distances, part.distances))
        settle([(source, told)], [None], [None], self.zone)
        return told

    def _batches(self, path: str, part: FileReading) -> Iterator[Any]:
        schema = TABLES[self.table]
        rows = {"batches": part.batches, "notices": part.notices}.get(self.table, part.observations)
        if self.table == "checkpoints":
            rows = rows.filter(pl.col("kind").is_in([kind.value for kind in CHECKPOINTS]))
        if self.table == "batches":
            rows = rows.with_columns(
                pl.lit(part.topic, pl.String).alias("topic"), pl.lit(part.partition, pl.Int32).alias("partition")
            )
        if "time" in rows.columns:
            rows = rows.with_columns(utc(pl.col("time"), part.zone or self.zone or ASSUMED))
        plain_ = narrowed(rows.with_columns(pl.lit(path).alias("path")), schema)
        found = self.wanted.rows(plain_)
        if found.is_empty():
            return
        given = self.wanted.schema(schema)
        table = found.select(*given).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(_arrow(given))
        yield from table.to_batches(1 << 16)


def _between(part: FileReading, before: int, last: int | None) -> FileReading:
    """Return rows of lines in an interval; notices about the whole file are with its first lines."""
    line = pl.col("line").fill_null(1)
    mine = (line > before) & (line <= last) if last is not None else line > before
    part.observations, part.notices = part.observations.filter(mine), part.notices.filter(mine)
    return part


class KafkaForensics(DataSource):
    """The source; register it with ``spark.dataSource.register``."""

    @classmethod
    def name(cls) -> str:
        """As ``spark.read.format`` calls it."""
        return NAME

    def schema(self) -> str:
        """Columns of the table that was asked for."""
        return ddl(self._wanted().schema(TABLES[self._table()])).replace("`time` bigint", "`time` timestamp_ltz")

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of the table that was asked for."""
        zone = self.options.get("tz") or None
        check(self._table(), zone)
        path = self.options.get("path")
        if not path:
            raise UnreadableInput(f"{NAME}: no path; use .load(PATH)")
        return Reader(path, self._table(), known_zone(zone) if zone else None, self._wanted(), self._tasks())

    def _wanted(self) -> Wanted:
        try:
            return Wanted.of(self.options, TABLES[self._table()])
        except UnreadableInput as error:
            raise UnreadableInput(f"{NAME}: {error}") from None

    def _tasks(self) -> int:
        said = self.options.get("tasks") or str(_TASKS)
        if not said.isascii() or not said.isdigit() or not int(said):
            raise UnreadableInput(f"{NAME}: tasks={said!r} is no number of tasks; use one like 32")
        return int(said)

    def _table(self) -> str:
        for name in self.options:
            if name.lower() not in (*OPTIONS, "path"):
                near = get_close_matches(name.lower(), OPTIONS, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(OPTIONS)}"
                raise UnreadableInput(f"{NAME}: there is no option {name!r}{hint}")
        table = str(self.options.get("table", "observations"))
        check(table)
        return table


def check(table: str, zone: str | None = None) -> None:
    """Make sure that there is such a table and such a zone.

    Raises:
        UnreadableInput: there is none.
    """
    if table not in TABLES:
        raise UnreadableInput(f"{NAME}: there is no table {table!r}; use one of {', '.join(TABLES)}")
    try:
        known_zone(zone or "UTC")
    except ValueError:
        raise UnreadableInput(f"{NAME}: {zone!r} is no time zone; use one like Europe/Berlin, UTC or +02:00") from None


def _arrow(schema: Mapping[str, pl.DataType]) -> Any:
    found = arrow_schema(schema)
    if "time" in schema:
        at = found.get_field_index("time")
        found = found.set(at, pa.field("time", pa.timestamp("us", tz="UTC")))
    return found


__all__ = ["CHECKPOINTS", "NAME", "TABLES", "KafkaForensics", "Reader"]
