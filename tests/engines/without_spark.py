"""The tasks of a batch, one after another in this process: what Spark would do with them, without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from forensics.case.case import SOURCES, Reading
from forensics.engines import codec
from forensics.engines.spark import answers
from forensics.engines.spark import context as contexts
from forensics.engines.spark.batch import Batch, Listing, Options, _commit, opener_of
from forensics.engines.spark.context import NO_UNIT, SURVEY, Facts
from forensics.engines.spark.deriving import TABLES, Derive, survey_columns
from forensics.engines.spark.files import frames
from forensics.engines.spark.judging import JUDGED, KEY, SORTED, Judge, arrived, brought, carried
from forensics.engines.spark.listing import Look, listed
from forensics.engines.spark.output import Output
from forensics.engines.spark.plan import Piece, Unit
from forensics.engines.spark.rows import frame, narrowed, plain
from forensics.engines.spark.work import DIGESTS, LOOKED, QUOTED, WRITTEN, LookInto, Quote, Read, Survey, Write, bundled
from forensics.replay.partitions import PROGRESS
from forensics.result import Result, ordered
from parsers.schema import Kind


def _pieces(texts: list[str]) -> list[Any]:
    return [pa.record_batch({"piece": pa.array(texts, pa.string())})] if texts else []


def _rows(found: Iterable[Any], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    arrived = list(found)
    return frame(arrived) if arrived else pl.DataFrame(schema=schema)


def run(
    path: str,
    folder: Path,
    *,
    split: int = 64 << 20,
    parts: int = 3,
    together: int = 200_000,
    reading: Reading | None = None,
) -> Result:
    """A batch over one path, as ``forensics.engines.spark.batch.batch`` goes about it.

    Args:
        path: the archive.
        folder: an empty folder.
        split: bytes of a read task.
        parts: tasks of the replay.
        together: rows of partitions that are judged at once; a partition of more is thinned.
        reading: how printed times are read.
    """
    files = listed([path])
    asked = [[n, f.path, f.real, f.size, f.changed, f.problem] for n, f in enumerate(files)]
    seen = _rows(LookInto()(_pieces([json.dumps(one) for one in asked])), LOOKED).sort("order")
    looks = [[Look.of(row) for row in json.loads(text)] for text in seen.get_column("looks")]
    listing = Listing(files, seen.get_column("sha256").to_list(), looks)
    batch = Batch(None, [path], Output(folder), Options(reading or Reading(), split=split))  # type: ignore[arg-type]
    copied = contexts.twins(listing.flat, opener_of(listing))
    facts: dict[int, Facts] = {}
    while (plan := batch.plan(listing, copied, facts)).tasks:
        number = batch.output.next_run()
        work = Read(batch.options.reading.assumed, str(batch.output.reads(number)))
        written = [_rows(work(_pieces([piece.row() for piece in task])), WRITTEN) for task in plan.tasks]
        batch.output.keep_run(number, batch.key, pl.concat(written).rows())
        facts = batch.facts()
    made = contexts.draft(listing.flat, listing.flat_units, facts, copied, batch.options.reading)
    raw = [path for path, _ in batch.raw(listing, "observations")]
    survey = Survey(Derive.of(made, made.starts), tuple(survey_columns()))
    context = contexts.settled(made, _rows(survey(_pieces(raw)), SURVEY))
    write = Write(Derive.of(context, context.lines.filter("starts_run")), str(batch.plain))
    told = {}
    for name, schema in TABLES.items():
        pieces = [json.dumps([name, [path]]) for path, _ in batch.raw(listing, name)]
        files = [file for piece in pieces for file in _rows(write(_pieces([piece])), DIGESTS)["name"].drop_nulls()]
        told[name] = pl.DataFrame(schema=schema)
        if files:
            told[name] = pl.concat(frames([str(batch.plain / file) for file in files], list(schema)))
            told[name] = narrowed(told[name], schema)
    if context.notices.height:
        told["notices"] = pl.concat([told["notices"], batch.more_notices(context)])
    judge = Judge.of(context)
    all_large = together < judge.together
    judge = replace(judge, together=together, most=together)
    if all_large:
        found_ = [_rows(judge(part), JUDGED) for part in _shuffled(context, told, parts)]
    else:
        found_ = list(judge.of_frames(arrived(_bundled(context, told, parts))))
    judged = pl.concat([pl.DataFrame(schema=JUDGED), *found_])
    found = [json.loads(text) for text in judged.get_column("judgements")]
    lines, bytes_ = answers.cited(found)
    texts, hashes = _quoted(listing, lines)
    texts.update(answers.batch_quotes(told["batches"], bytes_))
    answers.complete(found, texts, hashes)
    done = [codec.judgements_of(one) for one in found]
    _commit(batch, listing, context)
    case = _summary(context, listing, told)
    histories = [codec.decode_history(text) for text in judged.get_column("history")]
    return ordered([path], case, list(zip(histories, done, strict=True)))


def _shuffled(context: contexts.Context, told: Mapping[str, pl.DataFrame], parts: int) -> list[list[Any]]:
    """Rows of whole partitions, sorted, in so many tasks."""
    tables = {"sources": narrowed(context.sources, plain(SOURCES)), **told}
    rows = [carried(name, table) for name, table in tables.items()]
    every = pl.concat(rows).sort(*SORTED, nulls_last=True)
    keys = every.select(KEY).unique(maintain_order=True).with_row_index("_key")
    every = every.join(keys, on=list(KEY), nulls_equal=True, maintain_order="left")
    tasks = [every.filter(pl.col("_key") % parts == number).drop("_key") for number in range(parts)]
    oldest = pl.CompatLevel.oldest()
    return [task.to_arrow(compat_level=oldest).to_batches(997) for task in tasks if task.height]


def _bundled(context: contexts.Context, told: Mapping[str, pl.DataFrame], parts: int) -> list[Any]:
    """The same rows as ``Bring`` packs them, table by table, those of one bucket after those of another."""
    tables = {"sources": narrowed(context.sources, plain(SOURCES)), **told}
    rows = {name: carried(name, table) for name, table in tables.items()}
    keys = pl.concat([table.select(KEY) for table in rows.values()]).unique(maintain_order=True)
    buckets = keys.with_row_index("bucket").with_columns((pl.col("bucket") % parts).cast(pl.Int32))
    packs: dict[int, list[Any]] = {}
    for name in reversed(rows):
        for bucket, part in brought(rows[name], buckets):
            packs.setdefault(bucket, []).extend(bundled({bucket: [part]}))
    return [batch for bucket in packs.values() for batch in bucket]


def _quoted(listing: Listing, wanted: Mapping[str, set[int]]) -> tuple[answers.Texts, dict[str, str | None]]:
    asked = [
        json.dumps([Piece((Unit(NO_UNIT, file, look),)).row(), sorted(wanted[look.path])])
        for file, looks in zip(listing.files, listing.looks, strict=True)
        for look in looks
        if look.path in wanted
    ]
    texts: answers.Texts = {}
    hashes: dict[str, str | None] = {}
    for path, line, text, digest in _rows(Quote()(_pieces(asked)), QUOTED).iter_rows():
        hashes[path] = digest
        if line:
            texts[path, line, None] = text
    return texts, hashes


def _summary(context: contexts.Context, listing: Listing, told: Mapping[str, pl.DataFrame]) -> Any:
    moving = [kind.value for kind in (*PROGRESS, Kind.REMOTE_LEO)]
    rows = told["observations"]
    shared = context.sources.filter(pl.col("broker").is_null()).get_column("id").to_list()
    spans = (
        rows.filter(pl.col("broker").is_not_null() & pl.col("source").is_in(shared))
        .group_by("source", "broker")
        .agg(pl.col("time").min().alias("first"), pl.col("time").max().alias("last"))
    )
    return answers.summary(
        context.sources,
        context.brokers,
        context.reading,
        [look.source() for look in listing.flat],
        events=rows.filter(~pl.col("kind").is_in(moving)),
        spans=spans,
        names=context.names,
        notices=told["notices"],
    )
