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
from forensics.engines.spark.batch import Batch, Listing, Options, opener_of
from forensics.engines.spark.context import FACTS, NO_UNIT, Facts
from forensics.engines.spark.deriving import BUSY, TABLES, Derive, busy_columns, columns
from forensics.engines.spark.judging import JUDGED, KEY, PAYLOAD, PLACED, SORTED, Judge
from forensics.engines.spark.listing import Look, listed
from forensics.engines.spark.output import Output
from forensics.engines.spark.plan import Piece, Unit
from forensics.engines.spark.rows import RAW, batches, frame, narrowed, plain
from forensics.engines.spark.work import LOOKED, QUOTED, LookInto, Quote, Read
from forensics.replay.partitions import PROGRESS
from forensics.result import Result, ordered
from parsers.schema import Kind


def _pieces(texts: list[str]) -> list[Any]:
    return [pa.record_batch({"piece": pa.array(texts, pa.string())})] if texts else []


def _rows(found: Iterable[Any], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    arrived = list(found)
    return frame(arrived) if arrived else pl.DataFrame(schema=schema)


def _sent(rows: pl.DataFrame, names: list[str] | None = None) -> list[Any]:
    chosen = rows.select(names) if names else rows
    return list(batches(chosen, dict(chosen.schema), rows=997))


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
    reading = reading or Reading()
    options = Options(split=split, reading=reading)
    batch = Batch(None, [path], Output(folder), options)  # type: ignore[arg-type]
    copied = contexts.twins(listing.flat, opener_of(listing))
    raw = pl.DataFrame(schema=RAW)
    facts: dict[int, Facts] = {}
    while (plan := batch.plan(listing, copied, facts)).tasks:
        number = batch.output.next_run()
        batch.output.keep_run(number, "")
        for task in plan.tasks:
            raw = pl.concat([raw, _rows(Read(reading.assumed)(_pieces([piece.row() for piece in task])), RAW)])
        facts = contexts.merged(raw.filter(pl.col("table") == "facts").select(FACTS))
    made = contexts.draft(listing.flat, listing.flat_units, facts, copied, batch.options.reading)
    table = {name: raw.filter(pl.col("table") == name) for name in TABLES}
    busy = _rows(Derive.of(made, made.starts).busy(_sent(table["observations"], busy_columns())), BUSY).unique()
    context = contexts.settled(made, busy)
    derive = Derive.of(context, context.lines.filter("starts_run"))
    told = {
        name: _rows(getattr(derive, name)(_sent(rows, columns(name))), TABLES[name]) for name, rows in table.items()
    }
    if context.notices.height:
        more = narrowed(batch._more_notices(context), TABLES["notices"])
        told["notices"] = pl.concat([told["notices"], more])
    judge = replace(Judge.of(context), together=together, most=together)
    judged = pl.concat(
        [pl.DataFrame(schema=JUDGED), *[_rows(judge(part), JUDGED) for part in _shuffled(context, told, parts)]]
    )
    found = [json.loads(text) for text in judged.get_column("judgements")]
    lines, bytes_ = answers.cited(found)
    texts, hashes = _quoted(listing, lines)
    texts.update(answers.batch_quotes(told["batches"], bytes_))
    answers.complete(found, texts, hashes)
    done = [codec.judgements_of(one) for one in found]
    case = _summary(context, listing, told)
    histories = [codec.decode_history(text) for text in judged.get_column("history")]
    return ordered([path], case, list(zip(histories, done, strict=True)))


def _shuffled(context: contexts.Context, told: Mapping[str, pl.DataFrame], parts: int) -> list[list[Any]]:
    """Rows of whole partitions, sorted, in so many tasks."""
    about = pl.col("topic").is_not_null() & (pl.col("topic") != "__cluster_metadata")
    tables = {"sources": narrowed(context.sources, plain(SOURCES)), **told}
    tables["observations"] = tables["observations"].filter(pl.col("broker").is_not_null())
    rows = []
    for tag, (name, payload) in enumerate(PAYLOAD.items()):
        there = [column for column in PLACED if column in tables[name].columns]
        one = tables[name].filter(about)
        rows.append(one.select(*there, pl.struct(payload).alias(name), pl.lit(tag, pl.Int32).alias("tag")))
    every = pl.concat(rows, how="diagonal").select(*PLACED, *PAYLOAD).sort(*SORTED, nulls_last=True)
    keys = every.select(KEY).unique(maintain_order=True).with_row_index("_key")
    every = every.join(keys, on=list(KEY), nulls_equal=True, maintain_order="left")
    tasks = [every.filter(pl.col("_key") % parts == number).drop("_key") for number in range(parts)]
    oldest = pl.CompatLevel.oldest()
    return [task.to_arrow(compat_level=oldest).to_batches(997) for task in tasks if task.height]


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
