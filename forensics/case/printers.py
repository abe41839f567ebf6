"""One log file with the lines of several brokers: ``cat``, a collector, a shared standard output.

Most lines do not name their broker. If logs were joined one after another, the time falls back at each joint, and a
broker named between two joints logged everything there. If lines are mixed, only those count that name their broker, or
a directory that the settings of one broker name. The others are left out with a notice, because the wrong broker would
make a wrong answer.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.file_reading import note
from parsers.schema import Kind

OUT_OF_ORDER: Final = 2_000_000
"""Microseconds. Threads of one broker print lines out of order by less."""
_ENOUGH = 5  # lines that name a broker: fewer may be adjacent by chance
_ID = r"^(?:broker|node)\.id=([0-9]{1,9})$"


def printer() -> pl.Expr:
    """Return the broker that logged a line, if the line names it: by its prefix, or as a setting of its own."""
    setting = pl.when(pl.col("kind") == Kind.BROKER_CONFIG.value).then(pl.col("detail").str.extract(_ID))
    return pl.coalesce("witness", setting.cast(pl.Int32, strict=False))


def with_printer(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``_printer``, the broker of each line, to the rows of one file: by the line, a dump of settings or a
    directory.

    Each process prints its settings when it starts (``KafkaConfig``), with its id and its ``log.dirs``. A line with
    ``dir=`` is of the broker that named the directory last before it. Before all dumps, it is of the only broker that
    names it.

    Args:
        rows: observations in the order of their lines.
    """
    config = pl.col("kind") == Kind.BROKER_CONFIG.value
    key = pl.when(config).then(pl.col("detail").str.extract("^([^=]*)"))  # a dump is sorted (AbstractConfig.logAll)
    rows = rows.with_columns(
        printer().alias("_printer"),
        pl.when(config).then((~config | (key <= key.shift(1)).fill_null(True)).cum_sum()).alias("_dump"),
        _directory(pl.col("log_dir")).alias("_dir"),
        pl.int_range(pl.len()).alias("_row"),
    )
    dumps = rows.filter(config).with_columns(
        pl.col("_printer").drop_nulls().first().over("_dump"),
        pl.when(pl.col("detail") != "log.dirs=null")
        .then(pl.col("detail").str.extract(r"^log\.dirs=(.+)$"))
        .drop_nulls()
        .first()
        .over("_dump")
        .alias("_dirs"),
        pl.col("detail").str.extract(r"^log\.dir=(.+)$").drop_nulls().first().over("_dump").alias("_only"),
    )
    named = dumps.select("_row", pl.col("_printer").alias("_of_dump"))
    homes = (
        dumps.filter(pl.col("_printer").is_not_null())
        .select(
            "_row",
            "_dump",
            pl.col("_printer").alias("_home"),
            pl.coalesce("_dirs", "_only").str.split(",").alias("_dir"),
        )
        .unique("_dump", keep="first", maintain_order=True)
        .explode("_dir", empty_as_null=True, keep_nulls=True)
        .with_columns(_directory(pl.col("_dir")))
        .drop_nulls("_dir")
    )
    alone = homes.group_by("_dir").agg(
        pl.when(pl.col("_home").n_unique() == 1).then(pl.col("_home").first()).alias("_alone")
    )
    before = homes.select("_row", "_dir", "_home").sort("_row")
    return (
        rows.join(named, on="_row", how="left", maintain_order="left")
        .join_asof(before, on="_row", by="_dir", strategy="backward", check_sortedness=False)
        .join(alone, on="_dir", how="left", maintain_order="left")
        .with_columns(pl.coalesce("_printer", "_of_dump", "_home", "_alone").alias("_printer"))
        .drop("_dump", "_dir", "_row", "_of_dump", "_home", "_alone")
    )


def _directory(path: pl.Expr) -> pl.Expr:
    """Return a directory as brokers print it, without trailing separators of settings. On Windows these may use slashes
    where brokers print backslashes (``java.io.File``).
    """
    slashed = path.str.strip_chars().str.replace_all("\\", "/", literal=True)
    return slashed.str.replace(r"(.)/+$", "$1")


def several(rows: pl.DataFrame) -> bool:
    """Return whether more than one broker logged the lines of a log."""
    named = rows.select(printer().alias("printer")).get_column("printer").drop_nulls()
    return named.n_unique() > 1


def attributed(rows: pl.DataFrame) -> pl.DataFrame:
    """Fill in ``witness`` in the rows of one file of several brokers, if certain, and add the time of order ``_when``.

    Args:
        rows: observations in the order of their lines.
    """
    time = pl.col("time").fill_null(strategy="forward")
    joint = (time.shift(1) - time > pl.duration(microseconds=OUT_OF_ORDER)).fill_null(False)
    rows = with_printer(rows).with_columns(joint.cum_sum().alias("_log"))
    before, after = pl.col("_printer").forward_fill().over("_log"), pl.col("_printer").backward_fill().over("_log")
    between = pl.when(pl.coalesce(before, after) == pl.coalesce(after, before)).then(pl.coalesce(before, after))
    one_by_one = rows.get_column("_log").is_in(_one_by_one(rows).implode())
    rows = rows.with_columns(
        pl.when(one_by_one).then(between).otherwise(pl.col("_printer")).alias("witness"),
        time.cum_max().over("_log").alias("_when"),
    )
    return rows.drop("_log", "_printer")


def told_apart(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of a log of several brokers, ``attributed``, and a notice if some are left out."""
    printers = rows.select(printer().alias("printer")).get_column("printer").drop_nulls().unique().sort()
    rows = _of_everyone(attributed(rows), printers)
    mute = rows.get_column("witness").null_count()
    if not mute:
        return rows, note()
    why = f"lines of several brokers are mixed here: {mute} that do not name theirs are left out"
    return rows, note(f"{why}; give each broker's log by itself")


def _of_everyone(rows: pl.DataFrame, printers: pl.Series) -> pl.DataFrame:
    """Return the rows, with lines that mark missing lines repeated for each broker whose lines may be missing."""
    missing = pl.col("kind") == Kind.LINES_MISSING.value
    if not rows.select(missing.any()).item():
        return rows
    whose = pl.when(missing).then(pl.lit(printers).implode()).otherwise(pl.concat_list("witness"))
    return rows.with_columns(whose.alias("witness")).explode("witness", empty_as_null=True, keep_nulls=True)


def _one_by_one(rows: pl.DataFrame) -> pl.Series:
    """Return stretches between two joints if each broker's lines are together, so that no two brokers are mixed."""
    named = rows.filter(pl.col("_printer").is_not_null())
    switches = (pl.col("_printer") != pl.col("_printer").shift(1)).fill_null(True).sum()
    counted = named.group_by("_log", maintain_order=True).agg(
        switches.alias("switches"),
        pl.col("_printer").n_unique().alias("printers"),
        pl.col("_printer").value_counts().struct.field("count").min().alias("least"),
    )
    alone, apart = pl.col("printers") == 1, pl.col("switches") == pl.col("printers")
    return counted.filter(alone | (apart & (pl.col("least") >= _ENOUGH))).get_column("_log")
