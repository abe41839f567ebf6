"""From the results of tasks to one result: the text of each piece of evidence, and the case for reports."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from forensics.case import Case, Reading
from forensics.case.brokers import Broker
from forensics.case.quotes import Place, batch_texts
from forensics.engines import codec
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.judging import observations_of, table_of
from forensics.rules.finding import Evidence, Finding, Judgement
from parsers.files.sources import Source
from parsers.schema import BATCHES, NOTICES, conform

Texts = dict[tuple[str, int | None, int | None], str]
"""Text at a place: path, line and byte."""

SPANS: Final = {"source": pl.Int32(), "broker": pl.Int32(), "first": pl.Int64(), "last": pl.Int64()}


Plain = list[Any]
"""Judgements of one partition as JSON holds them."""

_FINDINGS: Final = codec.place_of(Judgement, "findings")
_EVIDENCE: Final = codec.place_of(Finding, "evidence")
_PATH, _SHA256, _LINE, _BYTE, _TEXT = (
    codec.place_of(Evidence, name) for name in ("path", "sha256", "line", "byte", "text")
)


def _unquoted(judged: Iterable[Plain]) -> Iterator[Plain]:
    """Pieces of evidence with a known place only."""
    for found in judged:
        for judgement in found:
            for finding in judgement[_FINDINGS]:
                for one in finding[_EVIDENCE]:
                    if one[_SHA256] is None:
                        yield one


def cited(judged: Iterable[Plain]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Places whose text is yet to be read: lines by path, and bytes at which batches begin by path.

    A file has no lines here if only its hash is needed.
    """
    lines: dict[str, set[int]] = {}
    batches: dict[str, set[int]] = {}
    for one in _unquoted(judged):
        line = one[_LINE]
        lines.setdefault(one[_PATH], set()).update([line] if line is not None else [])
        if line is None and one[_BYTE] is not None and not one[_TEXT]:
            batches.setdefault(one[_PATH], set()).add(one[_BYTE])
    return lines, batches


def complete(judged: Iterable[Plain], texts: Texts, hashes: Mapping[str, str | None]) -> None:
    """Give the evidence of judgements its text and hash, in place."""
    for one in _unquoted(judged):
        one[_TEXT] = one[_TEXT] or texts.get((one[_PATH], one[_LINE], one[_BYTE]), "")
        one[_SHA256] = hashes.get(one[_PATH])


def forgotten(text: str, changed: Collection[str]) -> str:
    """Judgements as JSON, without hash and line of the evidence in files that changed: they are to be read again.

    Args:
        text: the judgements.
        changed: paths.
    """
    found = json.loads(text)
    findings = (finding for judgement in found for finding in judgement[_FINDINGS])
    touched = [one for finding in findings for one in finding[_EVIDENCE] if one[_PATH] in changed]
    for one in touched:
        one[_SHA256] = None
        one[_TEXT] = "" if one[_LINE] is not None else one[_TEXT]
    return codec.written(found) if touched else text


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
    events: pl.LazyFrame,
    spans: pl.DataFrame,
    names: pl.DataFrame,
    notices: pl.DataFrame,
) -> Case:
    """A case for reports, without batches.

    Args:
        sources: schema ``SOURCES``.
        brokers: of all clusters.
        reading: how printed times were read.
        files: to be quoted from, by id.
        events: rows of the table ``observations`` that reports look at.
        spans: first and last time that a broker states in a file that is no broker's own, schema ``SPANS``.
        names: topics, with their ids where these are known.
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
