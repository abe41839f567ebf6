"""The live one of several directories of one replica: the one in the log directory that its broker used last.

If possible, this is decided for whole log directories: by the last ``log.dirs`` that the broker printed, or by the date
in ``meta.properties``, which a broker writes when it first uses a directory. The date alone misleads if a broker was
once started on an empty directory by mistake. So the directory must also reach further than the others in at least as
many partitions as any of them. If neither decides, each partition is decided by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath

import polars as pl

from forensics.case import Case
from forensics.case.brokers import Broker
from forensics.case.log_directories import LogDirectory
from forensics.replay.facts.directory import LiveBy
from parsers.formats.metadata_log import SNAPSHOT
from parsers.schema import Kind

PLACE = ["topic", "partition", "broker"]

_DATE = "%a %b %d %H:%M:%S %Y"


def live(case: Case, sources: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split replica files into those of the live directory and those of other directories.

    Directories marked for deletion or still being moved are other logs and left out. If a broker has two directories of
    one partition, the one in the log directory that it used last is live. If that is unknown, it is the one with the
    later leader epoch, because a stale directory receives no new epochs. If epochs are equal, it is the one with the
    higher log end offset, or of equal ones the one beside checkpoints. The others are stale.

    Args:
        case: the evidence.
        sources: the sources of it to split.

    Returns:
        Live sources and stale sources, with columns ``root`` (log directory), ``latest`` (last leader epoch) and
        ``live_by`` (the criterion). The last two are set only if there are several directories.
    """
    parts = sources.filter(
        pl.col("broker").is_not_null() & pl.col("topic").is_not_null() & (pl.col("directory_state") == "current")
    ).with_columns(folder(folder(pl.col("path"))).alias("root"))
    if parts.is_empty():  # logs alone are in the evidence
        none = parts.with_columns(pl.lit(None, pl.Int32).alias("latest"), pl.lit(None, pl.String).alias("live_by"))
        return none, none
    keys = [*PLACE, "root"]
    if parts.select(keys).n_unique() == parts.select(PLACE).n_unique():  # each replica has one
        parts = parts.with_columns(pl.lit(None, pl.Int32).alias("latest"), pl.lit(None, pl.String).alias("live_by"))
        return parts, parts.clear()
    of_log = pl.col("log_end").filter(pl.col("format") != SNAPSHOT)
    roots = parts.group_by(keys).agg(of_log.max().alias("end"))
    roots = roots.join(_latest(case, parts, roots), on=keys, how="left")
    beside = pl.Series("root", sorted({path.rpartition("/")[0] for path in case.checkpointed}), dtype=pl.String)
    roots = roots.join(_used_last(case), on=["broker", "root"], how="left").with_columns(
        pl.col("root").is_in(beside.implode()).alias("_beside")
    )
    order = {"_used": True, "latest": True, "end": True, "_beside": True, "root": False}
    roots = roots.sort(*PLACE, *order, descending=[*[False] * len(PLACE), *order.values()], nulls_last=True)
    roots = roots.with_columns(_live_by())
    chosen = roots.group_by(*PLACE, maintain_order=True).first().select(*PLACE, "root")
    parts = parts.join(roots.select(*keys, "latest", "live_by"), on=keys, how="left", maintain_order="left")
    return parts.join(chosen, on=keys, how="semi"), parts.join(chosen, on=keys, how="anti")


def _live_by() -> pl.Expr:
    """Return the criterion for each replica with several directories."""
    used = pl.col("_used").drop_nulls().first().over(PLACE)
    known = pl.col("latest")
    later = (known.n_unique().over(PLACE) > 1) & (known.null_count().over(PLACE) == 0)
    decided = pl.when(used.is_not_null()).then(used).when(later).then(pl.lit(LiveBy.EPOCH.value))
    return (
        pl.when(pl.len().over(PLACE) > 1).then(decided.otherwise(pl.lit(LiveBy.LENGTH.value))).otherwise(None)
    ).alias("live_by")


def _used_last(case: Case) -> pl.DataFrame:
    """Return the log directories that brokers used last, if known: broker, root and criterion."""
    found = [
        (number, root, by.value)
        for number, broker in sorted(case.brokers.items())
        if len(broker.directories) > 1
        for root, by in _of_broker(broker).items()
    ]
    return pl.DataFrame(found, schema={"broker": pl.Int32(), "root": pl.String(), "_used": pl.String()}, orient="row")


def _of_broker(broker: Broker) -> dict[str, LiveBy]:
    named = _named(broker)
    if 0 < len(named) < len(broker.directories):
        return dict.fromkeys(named, LiveBy.LOG_DIRS)
    first_used = _first_used(broker.directories)
    return {first_used: LiveBy.WRITTEN} if first_used is not None else {}


def _named(broker: Broker) -> list[str]:
    """Return the directories in the broker's last printed ``log.dirs``; in the evidence only their names match."""
    if not broker.log_dirs:
        return []
    names = {_name(one) for one in broker.log_dirs[-1][1].split(",")}
    return [root for root in sorted(broker.directories) if _name(root) in names]


def _name(path: str) -> str:
    return PurePosixPath(path.strip().replace("\\", "/")).name


def _first_used(directories: Mapping[str, LogDirectory]) -> str | None:
    """Return the directory that was first used after all others, if its logs reach at least as far as theirs."""
    dates = {root: _date(one.written) for root, one in directories.items()}
    zones = {date[0] for date in dates.values() if date is not None}
    if None in dates.values() or len(zones) != 1:
        return None
    times = {root: date[1] for root, date in dates.items() if date is not None}
    latest = [root for root, time in times.items() if time == max(times.values())]
    if len(latest) != 1 or directories[latest[0]].ahead < _most(directories.values()):
        return None
    return latest[0]


def _most(directories: Iterable[LogDirectory]) -> int:
    return max(one.ahead for one in directories)


def _date(written: str | None) -> tuple[str, datetime] | None:
    """Return zone and time of a date in the format of ``java.util.Date``: ``Tue Sep 23 16:26:36 IST 2025``."""
    words = (written or "").split()
    if len(words) != 6:
        return None
    try:
        return words[4], datetime.strptime(" ".join((*words[:4], words[5])), _DATE)  # noqa: DTZ007 - zones are names
    except ValueError:
        return None


def _latest(case: Case, parts: pl.DataFrame, roots: pl.DataFrame) -> pl.DataFrame:
    """Return the last leader epoch of each of several directories of one replica, by its batches and epoch file."""
    keys = [*PLACE, "root"]
    several = roots.filter(pl.len().over(PLACE) > 1).select(keys)
    files = parts.join(several, on=keys, how="semi").select(*keys, pl.col("id").alias("source"))
    if files.is_empty():
        return several.with_columns(pl.lit(None, pl.Int32).alias("latest"))
    sound = case.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
    entries = case.observations.filter(pl.col("kind") == Kind.EPOCH_ENTRY.value)
    known = pl.concat([rows.select("source", "leader_epoch") for rows in (sound, entries)])
    latest = pl.col("leader_epoch").filter(pl.col("leader_epoch") >= 0).max().alias("latest")
    return files.join(known, on="source", how="inner").group_by(keys).agg(latest)


def folder(path: pl.Expr) -> pl.Expr:
    """Return the parent folder."""
    return path.str.replace(r"/[^/]*$", "")
