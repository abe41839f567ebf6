"""Which of several directories of one replica is the live one: that of the log directory which its broker used last.

That is decided for log directories as a whole where something tells it of them: what the broker printed as ``log.dirs``
last, or the date in ``meta.properties``, which a broker writes when it first uses a directory. A date alone misleads
where a broker was started on an empty directory by mistake and went back, so the directory must also reach farther than
the others in at least as many partitions as any of them. Where nothing tells, each partition is decided by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath

import polars as pl

from forensics.case import Case
from forensics.case.brokers import Broker
from forensics.case.log_directories import LogDirectory
from forensics.replay.directory import LiveBy
from parsers.schema import Kind

PLACE = ["topic", "partition", "broker"]

_DATE = "%a %b %d %H:%M:%S %Y"


def live(case: Case, sources: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The files of each replica's live directory, and those of directories that are not it.

    What is marked for deletion or still being moved is another log. Where one broker has two directories of one
    partition, the one in the log directory that it used last is taken as live; where that is not known, the one that
    knows the later leader epoch, for what was left behind learns of none; of those that know the same, the one whose
    log reaches farther. The others are stale.

    Args:
        case: what was taken in.
        sources: those of its sources that are asked for.

    Returns:
        Two frames of sources with columns ``root`` (the log directory), ``latest`` (the last leader epoch that it
        knows, where there are several) and ``live_by`` (what decided, where there are several), the second of stale
        ones.
    """
    parts = sources.filter(
        pl.col("broker").is_not_null() & pl.col("topic").is_not_null() & (pl.col("directory_state") == "current")
    ).with_columns(folder(folder(pl.col("path"))).alias("root"))
    keys = [*PLACE, "root"]
    roots = parts.group_by(keys).agg(pl.col("log_end").max().alias("end"))
    roots = roots.join(_latest(case, parts, roots), on=keys, how="left")
    roots = roots.join(_used_last(case), on=["broker", "root"], how="left").sort(
        *PLACE, "_used", "latest", "end", "root", descending=[False] * 3 + [True, True, True, False], nulls_last=True
    )
    roots = roots.with_columns(_live_by())
    chosen = roots.group_by(*PLACE, maintain_order=True).first().select(*PLACE, "root")
    parts = parts.join(roots.select(*keys, "latest", "live_by"), on=keys, how="left", maintain_order="left")
    return parts.join(chosen, on=keys, how="semi"), parts.join(chosen, on=keys, how="anti")


def _live_by() -> pl.Expr:
    """What decided for each replica with several directories."""
    used = pl.col("_used").drop_nulls().first().over(PLACE)
    known = pl.col("latest")
    later = (known.n_unique().over(PLACE) > 1) & (known.null_count().over(PLACE) == 0)
    decided = pl.when(used.is_not_null()).then(used).when(later).then(pl.lit(LiveBy.EPOCH.value))
    return (
        pl.when(pl.len().over(PLACE) > 1).then(decided.otherwise(pl.lit(LiveBy.LENGTH.value))).otherwise(None)
    ).alias("live_by")


def _used_last(case: Case) -> pl.DataFrame:
    """The log directories that brokers used last, where that is known of them: broker, root and what tells it."""
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
    """The directories that the broker printed last. In the evidence they may lie in another place, by the same name."""
    if not broker.log_dirs:
        return []
    names = {_name(one) for one in broker.log_dirs[-1][1].split(",")}
    return [root for root in sorted(broker.directories) if _name(root) in names]


def _name(path: str) -> str:
    return PurePosixPath(path.strip().replace("\\", "/")).name


def _first_used(directories: Mapping[str, LogDirectory]) -> str | None:
    """The directory that was first used after all others, where its logs do not speak against it."""
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
    """Zone and time of a date as ``java.util.Date`` prints it: ``Tue Sep 23 16:26:36 IST 2025``."""
    words = (written or "").split()
    if len(words) != 6:
        return None
    try:
        return words[4], datetime.strptime(" ".join((*words[:4], words[5])), _DATE)  # noqa: DTZ007 - zones are names
    except ValueError:
        return None


def _latest(case: Case, parts: pl.DataFrame, roots: pl.DataFrame) -> pl.DataFrame:
    """The last leader epoch that each of several directories of one replica knows, by its batches and epoch file."""
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
    """The folder that holds it."""
    return path.str.replace(r"/[^/]*$", "")
