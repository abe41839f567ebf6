"""From what tasks found to a result: the text behind each piece of evidence, and the case that reports speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from forensics.case import Case, Reading
from forensics.case.brokers import Broker
from forensics.case.quotes import Place, batch_texts
from forensics.engines.spark.deriving import TABLES
from forensics.engines.spark.judging import observations_of, table_of
from forensics.rules.finding import Finding, Judgement
from parsers.schema import BATCHES, NOTICES, conform
from parsers.sources import Source

Texts = dict[tuple[str, int | None, int | None], str]
"""What stands at a place: path, line and byte."""

SPANS: Final = {"source": pl.Int32(), "broker": pl.Int32(), "first": pl.Int64(), "last": pl.Int64()}


def cited(judged: Iterable[Iterable[Judgement]]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Places whose text is yet to be read: lines by path, and bytes at which batches begin by path.

    A file of which nothing but the hash is wanted has no lines.
    """
    lines: dict[str, set[int]] = {}
    batches: dict[str, set[int]] = {}
    for one in (e for found in judged for j in found for f in j.findings for e in f.evidence):
        if one.sha256 is None:
            lines.setdefault(one.path, set()).update([one.line] if one.line is not None else [])
            if one.line is None and one.byte is not None and not one.text:
                batches.setdefault(one.path, set()).add(one.byte)
    return lines, batches


def completed(
    judged: Iterable[Iterable[Judgement]], texts: Texts, hashes: Mapping[str, str | None]
) -> list[list[Judgement]]:
    """Judgements whose evidence has text and hash."""

    def complete(finding: Finding) -> Finding:
        evidence = [
            e
            if e.sha256 is not None
            else replace(e, sha256=hashes.get(e.path), text=e.text or texts.get((e.path, e.line, e.byte), ""))
            for e in finding.evidence
        ]
        return replace(finding, evidence=tuple(evidence))

    return [[replace(j, findings=tuple(complete(f) for f in j.findings)) for j in found] for found in judged]


def batch_quotes(rows: pl.DataFrame, wanted: Mapping[str, set[int]]) -> dict[tuple[str, int | None, int | None], str]:
    """Texts of batches, by path, line (None) and byte.

    Args:
        rows: of the table ``batches``.
        wanted: bytes at which batches begin, by path.
    """
    case = Case(rows, rows, table_of(rows, "batches", BATCHES), rows, {}, Reading())
    paths = dict(rows.select("source", "path").unique().iter_rows())
    places = [Place(source, None, byte) for source, path in paths.items() for byte in wanted.get(path, ())]
    return {(paths[p.source], None, p.byte): text for p, text in batch_texts(case, places).items()}


def summary(
    sources: pl.DataFrame,
    brokers: Sequence[Broker],
    reading: Reading,
    files: Sequence[Source],
    *,
    events: pl.DataFrame,
    spans: pl.DataFrame,
    names: pl.DataFrame,
    notices: pl.DataFrame,
) -> Case:
    """A case for reports: everything but batches and the rows that state progress.

    Args:
        sources: schema ``SOURCES``.
        brokers: of all clusters.
        reading: how printed times were read.
        files: to be quoted from, by id.
        events: rows of the table ``observations``, without progress.
        spans: first and last time that a broker states in a file that is no broker's own, schema ``SPANS``.
        names: topic ids with names.
        notices: rows of the table.
    """
    observations = observations_of(events)
    ends = [spans.select("source", "broker", pl.col(name).alias("time")) for name in ("first", "last")]
    moments = pl.concat(ends).with_columns(pl.from_epoch("time", "us").dt.replace_time_zone("UTC"))
    extra = pl.concat([moments, names.select("topic_id", "topic")], how="diagonal")
    extra = conform(extra, dict(observations.schema)).with_columns(pl.lit(False).alias("starts_run"))
    return Case(
        sources,
        pl.concat([observations, extra]),
        table_of(pl.DataFrame(schema=TABLES["batches"]), "batches", BATCHES),
        notices_of(notices),
        {broker.id: broker for broker in brokers},
        reading,
        list(files),
        tuple(brokers),
    )


def notices_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the table ``notices`` as a case has them."""
    rows = rows.sort("source", "split", "seq", nulls_last=True)
    return rows.select(*NOTICES, pl.col("source").cast(pl.UInt32))
