"""Whether the cleaner may have taken records out of a log (cleanup.policy=compact), or cannot have.

Offsets that a log skips are legal where the cleaner was at work, on this broker or on the leader that it fetched from.
Else a leader gives the records that it appends one offset after the other (LogValidator), and nothing that Kafka does
takes a batch out of the middle of a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from forensics.case import Case
from forensics.replay.directory import Damage, Disk
from forensics.replay.history import History
from forensics.replay.lineage import merge
from parsers.details import COMPACT_POLICY
from parsers.schema import DamageKind, Kind

NOT_CLEANED = "no cleaner took them: the log was made without compaction, and no cleaner-offset-checkpoint names it"
"""Why offsets that a segment skips are damage."""

CLEANER_FILE = "cleaner-offset-checkpoint"
"""In which the cleaner of a broker notes the logs that it has worked on (LogCleanerManager)."""

_INTERNAL = ("__consumer_offsets", "__transaction_state")
_POLICY = "cleanup.policy"
_COMPACT = "compact"


def compacted(observations: pl.DataFrame) -> pl.DataFrame:
    """Partitions (``topic``, ``partition``) that a cleaner has worked on, or whose logs were made for one."""
    kind, made = pl.col("kind"), pl.col("detail").str.contains(COMPACT_POLICY)
    cleaned = kind == Kind.CLEANER_CHECKPOINT.value
    made_for_it = (kind == Kind.LOG_CREATED.value) & made.fill_null(False)
    found = cleaned | made_for_it | pl.col("topic").is_in(_INTERNAL)
    return observations.filter(found).select("topic", "partition").unique()


def is_compacted(history: History) -> bool:
    """The same of a partition that has been replayed, in its present life."""
    return (
        history.topic in _INTERNAL
        or _COMPACT in history.properties.get(_POLICY, "")
        or any(disk.cleaner_point is not None for disk in history.disks.values())
    )


def with_skipped(history: History, disks: Mapping[int, Disk], case: Case) -> dict[int, Disk]:
    """What the files of replicas say, where offsets that a segment skips are damage: nothing can have been cleaned."""
    if not any(disk.skipped for disk in disks.values()) or not _never_compacted(history, disks, case):
        return dict(disks)
    return {broker: _damaged(disk) for broker, disk in disks.items()}


def _never_compacted(history: History, disks: Mapping[int, Disk], case: Case) -> bool:
    """Whether it is known that no cleaner worked on a partition: its log was made without, no broker does it unless it
    is asked to, and the files in which cleaners note what they did are at hand and do not name it.
    """
    if history.properties_ref is None or _COMPACT in history.properties.get(_POLICY, ""):
        return False
    if _POLICY not in history.properties:
        brokers = [case.brokers[broker] for broker in disks if broker in case.brokers]
        if not all(one.settings and _COMPACT not in one.settings.get(f"log.{_POLICY}", "") for one in brokers):
            return False
    roots = {disk.directory.rpartition("/")[0] for disk in disks.values() if disk.directory is not None}
    return all(f"{root}/{CLEANER_FILE}" in case.checkpointed for root in roots)


def _damaged(disk: Disk) -> Disk:
    found = [
        Damage(
            DamageKind.SKIPPED,
            f"{DamageKind.SKIPPED}: a batch ends at {first}, the next in its file begins at {end}",
            ref,
        )
        for (first, end), ref in disk.skipped
    ]
    lacking = merge(span for span, _ in disk.skipped)
    holes = merge([*disk.holes, *lacking])
    return replace(disk, damage=(*disk.damage, *found), lacking=tuple(lacking), holes=tuple(holes))
