"""The tables of a finished scan, for SQL and frames: names, columns and types in one place, for every engine.

Engines and ``--save`` write the same tables. Later versions of the format may add columns, but never change them.
``FORMAT`` is in the metadata of each file, with the table's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from forensics import parquet
from forensics.case import Case
from forensics.case.case import SOURCES
from forensics.errors import UnwritableOutput
from forensics.outputs import beside, folder_made, refuse
from forensics.replay.timeline import TIMELINE, timeline
from forensics.result import Partition, Result
from forensics.rules.finding import Finding
from forensics.rules.wording import want_texts
from forensics.version import __version__
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS

if TYPE_CHECKING:
    from forensics.replay.history import History
    from parsers.files.sources import Source

FORMAT = "forensics.tables/1"

_TIME = pl.Datetime("us", "UTC")
_PARTITION: dict[str, pl.DataType] = {
    "cluster": pl.String(),
    "topic": pl.String(),
    "topic_id": pl.String(),
    "partition": pl.Int32(),
    "incarnation": pl.Int32(),  # 0 is the present incarnation of a topic of this name, 1 the one before it
}
_VALUES = pl.List(pl.Struct({"name": pl.String(), "value": pl.Int64()}))

OBSERVATION_ROWS: dict[str, pl.DataType] = {
    "row": pl.UInt32(),  # what the tables of replay refer to
    **OBSERVATIONS,
    "kind": pl.String(),
    "time": _TIME,
    "source": pl.UInt32(),  # id in the table of sources
    "broker": pl.Int32(),  # owner of the source, or the witness as printed
    "run": pl.Int32(),  # which process of that broker
    "starts_run": pl.Boolean(),
}
BATCH_ROWS: dict[str, pl.DataType] = {
    **BATCHES,
    "source": pl.UInt32(),
    "broker": pl.Int32(),
    "topic": pl.String(),
    "partition": pl.Int32(),
}
NOTICE_ROWS: dict[str, pl.DataType] = {**NOTICES, "source": pl.UInt32()}
_AT = pl.Struct({"source": pl.Int64(), "line": pl.Int64()})
_REFERS = {name: f"{name.removesuffix('row')}at" for name in TIMELINE if name == "row" or name.endswith("_row")}
TIMELINE_PLACES: dict[str, pl.DataType] = {
    **_PARTITION,
    **{name: dtype for name, dtype in TIMELINE.items() if name not in _REFERS},
    **dict.fromkeys(_REFERS.values(), _AT),
}
"""The timeline with the places behind its values, and without the numbers of rows, which one case alone knows."""
TIMELINE_ROWS: dict[str, pl.DataType] = {**_PARTITION, **TIMELINE, **TIMELINE_PLACES}
FINDING_ROWS: dict[str, pl.DataType] = {
    "fingerprint": pl.String(),
    "rule": pl.String(),
    "severity": pl.String(),
    "confidence": pl.String(),
    **_PARTITION,
    "replicas": pl.List(pl.Int32()),
    "epochs": pl.List(pl.Int32()),
    "offsets": pl.List(pl.Struct({"first": pl.Int64(), "end": pl.Int64()})),  # half-open
    "records_min": pl.Int64(),
    "records_max": pl.Int64(),
    "from": _TIME,
    "to": _TIME,
    "summary": pl.String(),
    "before": _VALUES,
    "after": _VALUES,
    "facts": pl.List(
        pl.Struct({"text": pl.String(), "broker": pl.Int32(), "time": _TIME, "evidence": pl.List(pl.Int32())})
    ),  # evidence: positions in the column of that name, from 0
    "inferences": pl.List(pl.String()),
    "uncertain": pl.List(pl.String()),
    "not_because": pl.List(pl.String()),
    "cause": pl.String(),
    "reference": pl.String(),
    "keep": pl.String(),
    "next_steps": pl.List(pl.String()),
    "do_not": pl.List(pl.String()),
    "count": pl.Int64(),
    "evidence": pl.List(
        pl.Struct(
            {
                "path": pl.String(),
                "sha256": pl.String(),
                "line": pl.Int64(),
                "byte": pl.Int64(),
                "text": pl.String(),
                "note": pl.String(),
            }
        )
    ),
    "known": pl.Boolean(),  # by a baseline
}
VERDICT_ROWS: dict[str, pl.DataType] = {
    **_PARTITION,
    "rule": pl.String(),
    "verdict": pl.String(),
    "missing": pl.List(pl.String()),
    "findings": pl.List(pl.String()),  # fingerprints
}


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes:
        name: of the file, without its ending.
        schema: column names and types, in order.
        rows: makes it of a finished scan; same rows in the same order for the same evidence.
    """

    name: str
    schema: dict[str, pl.DataType]
    rows: Callable[[Result], pl.DataFrame]


def _sources(result: Result) -> pl.DataFrame:
    case = result.case
    return case.sources.with_columns(pl.Series("sha256", [_hash(case, n) for n in range(len(case.files))], pl.String))


def _hash(case: Case, source: int) -> str | None:
    try:
        return case.files[source].sha256()
    except OSError:
        return None  # the file existed when it was read


def _timeline(result: Result) -> pl.DataFrame:
    return timelines(result.case, [partition.history for partition in result.partitions], timeline)


def timelines(
    case: Case, histories: Iterable[History], states: Callable[[Case, History], pl.DataFrame]
) -> pl.DataFrame:
    """Rows of ``TIMELINE_ROWS``.

    Args:
        case: what was taken in.
        histories: of partitions.
        states: gives the states of one.
    """
    parts = [
        states(case, history).with_columns(
            [pl.lit(getattr(history, name), dtype=dtype).alias(name) for name, dtype in _PARTITION.items()]
        )
        for history in histories
    ]
    if not parts:
        return pl.DataFrame(schema=TIMELINE_ROWS)
    found = pl.concat(parts)
    numbers = case.observations.get_column("row")  # they rise
    wanted = pl.concat(found.get_column(name) for name in _REFERS).drop_nulls().unique().sort()
    rows = case.observations[numbers.search_sorted(wanted)] if wanted.len() else case.observations.clear()
    places = pl.struct(pl.col("source").cast(pl.Int64), "line").alias("_place")
    known = rows.select("row", places)
    for name, at in _REFERS.items():
        found = found.join(known.rename({"row": name, "_place": at}), on=name, how="left", maintain_order="left")
    return found.select(*TIMELINE_ROWS)


def _findings(result: Result) -> pl.DataFrame:
    told = [(one, False) for one in result.findings] + [(one, True) for one in result.known]
    return _frame((finding_row(one, known=known) for one, known in told), FINDING_ROWS)


def _verdicts(result: Result) -> pl.DataFrame:
    return _frame(verdict_rows(result), VERDICT_ROWS)


def _frame(rows: Iterator[dict[str, Any]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def finding_row(one: Finding, *, known: bool = False) -> dict[str, Any]:
    """A finding as a row of ``FINDING_ROWS``.

    Args:
        one: the finding, with its evidence.
        known: whether a baseline has it.
    """
    first, last = one.span
    cause = one.known_cause
    places = {ref: number for number, ref in enumerate(one.refs)}
    return {
        "fingerprint": one.fingerprint,
        "rule": one.rule,
        "severity": one.severity.value,
        "confidence": one.confidence.value,
        **{name: getattr(one, name) for name in _PARTITION},
        "replicas": list(one.replicas),
        "epochs": list(one.epochs),
        "offsets": [{"first": a, "end": b} for a, b in one.offsets],
        "records_min": one.records[0] if one.records else None,
        "records_max": one.records[1] if one.records else None,
        "from": _moment(first),
        "to": _moment(last),
        "summary": one.summary,
        "before": [{"name": name, "value": value} for name, value in one.before.items()],
        "after": [{"name": name, "value": value} for name, value in one.after.items()],
        "facts": [
            {
                "text": fact.text,
                "broker": fact.broker,
                "time": _moment(fact.time),
                "evidence": [places[ref] for ref in dict.fromkeys(fact.refs)],
            }
            for fact in one.facts
        ],
        "inferences": list(one.inferences),
        "uncertain": list(one.doubts),
        "not_because": list(one.not_because),
        "cause": one.cause,
        "reference": cause.reference if cause is not None else None,
        "keep": one.keep,
        "next_steps": [step.sentence for step in one.next_steps],
        "do_not": list(one.do_not),
        "count": one.count,
        "evidence": [
            {"path": e.path, "sha256": e.sha256, "line": e.line, "byte": e.byte, "text": e.text, "note": e.note}
            for e in one.evidence
        ],
        "known": known,
    }


def verdict_rows(result: Result) -> Iterator[dict[str, Any]]:
    """Each rule's answer for each partition, as rows of ``VERDICT_ROWS``."""
    for partition in result.partitions:
        yield from verdicts_of(partition)


def verdicts_of(partition: Partition) -> Iterator[dict[str, Any]]:
    """Each rule's answer for one partition, as rows of ``VERDICT_ROWS``."""
    for rule, judgement in partition.judgements.items():
        yield {
            **{name: getattr(partition.history, name) for name in _PARTITION},
            "rule": rule,
            "verdict": judgement.verdict.value,
            "missing": list(want_texts(judgement.missing, partition.history.name)),
            "findings": [finding.fingerprint for finding in judgement.findings],
        }


def _moment(time: int | None) -> datetime | None:
    if time is None:
        return None
    return datetime.fromtimestamp(time // 1_000_000, UTC).replace(microsecond=time % 1_000_000)


def _signed(schema: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
    """Not every engine that reads or writes Parquet has unsigned numbers."""
    return {name: pl.Int64() if dtype == pl.UInt32 else dtype for name, dtype in schema.items()}


TABLES: tuple[Table, ...] = (
    Table("sources", _signed(SOURCES), _sources),
    Table("observations", _signed(OBSERVATION_ROWS), lambda result: result.case.observations),
    Table("batches", _signed(BATCH_ROWS), lambda result: result.case.batches),
    Table("notices", _signed(NOTICE_ROWS), lambda result: result.case.notices),
    Table("timeline", _signed(TIMELINE_ROWS), _timeline),
    Table("findings", FINDING_ROWS, _findings),
    Table("verdicts", VERDICT_ROWS, _verdicts),
)
"""Every table, in the order of the data's way."""


def metadata(table: Table) -> dict[str, str]:
    """Return the metadata of a table's file."""
    return {"forensics.format": FORMAT, "forensics.table": table.name, "forensics.version": __version__}


def save(result: Result, folder: Path, evidence: Iterable[Source] = ()) -> list[Path]:
    """Write every table as Parquet; the same evidence gives the same bytes.

    Args:
        result: a finished scan.
        folder: made where it is missing; what is in it may only be what was saved before.
        evidence: what must not be written over.

    Raises:
        UnwritableOutput: the folder holds something else or evidence, or cannot be written.
    """
    usable(folder)
    try:
        paths = [folder / f"{table.name}.parquet" for table in TABLES]
        for path in paths:
            refuse(path, evidence)
        with folder_made(folder), beside(paths) as parts:
            for table, part in zip(TABLES, parts, strict=True):
                frame = table.rows(result).select(pl.col(name).cast(dtype) for name, dtype in table.schema.items())
                parquet.write(frame, part, said=metadata(table))
    except OSError as error:
        raise UnwritableOutput(f"{folder}: {error.strerror or error}; name a folder that can be written") from None
    return paths


def usable(folder: Path) -> None:
    """Make sure that tables can be written to a folder, without writing anything: what is in it is a scan's.

    Raises:
        UnwritableOutput: it holds something else, is no folder, or cannot be written.
    """
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there.is_dir():
        raise UnwritableOutput(f"{folder}: {there} is no folder; name another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UnwritableOutput(f"{folder}: permission denied to write there; name a folder that can be written")
    names = {f"{table.name}.parquet" for table in TABLES}
    others = sorted({path.name for path in folder.iterdir()} - names) if there == folder else []
    if others:
        raise UnwritableOutput(
            f"{folder}: holds {others[0]}, which is no table of a scan; name a new folder: nothing else is ever "
            "written over"
        )
