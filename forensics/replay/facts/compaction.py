"""The log cleaner (cleanup.policy=compact): may it have removed records from a log?

A log may skip offsets where the cleaner worked, on this broker or on the leader that it fetched from. Without a
cleaner, a leader assigns consecutive offsets to the records that it appends (LogValidator). Kafka never removes a
single batch from the middle of a log for any other reason.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from forensics.case import Case
from forensics.replay.facts.directory import Damage, Disk
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.lineage import merge
from parsers.details import COMPACT_POLICY
from parsers.schema import DamageKind, Kind

NOT_CLEANED = "no cleaner took them: the log was made without compaction, and no cleaner-offset-checkpoint names it"
"""Reason why skipped offsets are damage."""

CLEANER_FILE = "cleaner-offset-checkpoint"
"""Checkpoint file in which a broker's cleaner records the logs that it cleaned (LogCleanerManager)."""

_INTERNAL = ("__consumer_offsets", "__transaction_state")
_POLICY = "cleanup.policy"
_COMPACT = "compact"


def compacted(observations: pl.DataFrame) -> pl.DataFrame:
    """Return partitions (``topic``, ``partition``) that a cleaner worked on, or whose log has a compact policy."""
    kind, made = pl.col("kind"), pl.col("detail").str.contains(COMPACT_POLICY)
    cleaned = kind == Kind.CLEANER_CHECKPOINT.value
    made_for_it = (kind == Kind.LOG_CREATED.value) & made.fill_null(False)
    found = cleaned | made_for_it | pl.col("topic").is_in(_INTERNAL)
    return observations.filter(found).select("topic", "partition").unique()


def is_compacted(facts: PartitionFacts) -> bool:
    """Return whether a partition, in its present incarnation, is compacted."""
    return (
        facts.topic in _INTERNAL
        or _COMPACT in facts.properties.get(_POLICY, "")
        or any(disk.cleaner_point is not None for disk in facts.disks.values())
    )


def with_skipped(facts: PartitionFacts, case: Case) -> dict[int, Disk]:
    """Return a partition's files; skipped offsets are damage if no cleaner can have worked on it."""
    if not any(disk.skipped for disk in facts.disks.values()) or not _never_compacted(facts, case):
        return dict(facts.disks)
    return {broker: _damaged(disk) for broker, disk in facts.disks.items()}


def _never_compacted(facts: PartitionFacts, case: Case) -> bool:
    """Return whether it is known that no cleaner worked on a partition.

    Three things must hold. The log was created without a compact policy, and no broker has one by default. The
    ``cleaner-offset-checkpoint`` of every log directory is in the evidence and does not name the partition.
    """
    disks = facts.disks
    if facts.properties_ref is None or _COMPACT in facts.properties.get(_POLICY, ""):
        return False
    if _POLICY not in facts.properties:
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
