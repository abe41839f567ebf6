"""What engines wrote, side by side: tables as rows in an order of their own, texts as bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from forensics import tables
from forensics.reports import jsonl
from forensics.result import Result

TEXTS: dict[str, Callable[[Result], Iterable[tuple[tuple[object, ...], str]]]] = {
    "findings.jsonl": lambda result: ((one.order, jsonl.line(one)) for one in result.findings),
    "verdicts.jsonl": lambda result: (
        (one.order, "".join(json.dumps(row) + "\n" for row in tables.verdicts_of(one))) for one in result.partitions
    ),
}
"""Texts beside the tables, as parts of a batch give them."""

_NUMBERS = ("row",)
"""Endings of names of columns that number the rows of a whole case; no task of a batch knows them."""


def saved(result: Result, out: Path) -> Path:
    """A scan, with the same tables and texts."""
    tables.save(result, out)
    for name, lines in TEXTS.items():
        (out / name).write_text("".join(text for _, text in sorted(lines(result))), "utf-8")
    return out


def generation(out: Path) -> Path:
    """The tables that count."""
    manifest = out / "manifest.json"
    return out / f"tables-{json.loads(manifest.read_text())['generation']:06}" if manifest.exists() else out


def texts_of(out: Path) -> dict[str, str]:
    """The texts that count, by name."""
    return {name: (generation(out) / name).read_text("utf-8") for name in TEXTS}


def tables_of(out: Path) -> dict[str, pl.DataFrame]:
    """Every table that counts, with the columns of a scan's, its rows sorted by all of them."""
    found = {}
    for table in tables.TABLES:
        folder = generation(out)
        files = sorted([*folder.glob(f"{table.name}.parquet"), *folder.glob(f"{table.name}/**/*.parquet")])
        names = [name for name in table.schema if not name.endswith(_NUMBERS)]
        if not files:
            continue
        rows = pl.concat(
            pl.read_parquet(file, columns=names, hive_partitioning=False, glob=False).select(
                pl.col(name).cast(table.schema[name]) for name in names
            )
            for file in files
        )
        keys = rows.select(pl.struct(pl.all()).struct.json_encode().alias("key")).to_series()
        found[table.name] = rows[keys.arg_sort()]
    return found


def same_tables(found: Mapping[str, pl.DataFrame], wanted: Mapping[str, pl.DataFrame]) -> None:
    """Both have the same rows in every table; a batch writes timelines only where it is asked to."""
    assert set(wanted) - set(found) <= {"timeline"}
    for name, rows in found.items():
        assert_frame_equal(rows, wanted[name])
