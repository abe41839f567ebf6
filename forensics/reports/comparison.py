"""Replicas compared by their files: log ends, high watermarks, epochs, and where their records differ.

No judgement: a tail that was never committed may differ legitimately. The rules decide what it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from forensics.case import Case
from forensics.case.dates import EpochDate, chosen, epoch_dates
from forensics.case.order import METADATA_TOPIC
from forensics.replay.directory import Disk, Ref
from forensics.replay.disks import disks
from forensics.replay.forks import forks
from forensics.replay.history import Fork
from forensics.replay.lineage import UNKNOWN, Range, size
from forensics.replay.live_dirs import PLACE
from forensics.reports.remarks import dated
from forensics.reports.terminal import plain
from forensics.rules.finding import brokers_text, span_text

SCHEMA = "forensics.compare/1"
RANGES = 5  # of offsets named in a sentence
FULL = 20  # partitions that differ and are shown whole
BRIEF = 40  # that are named after these, and as many without a difference


@dataclass(frozen=True, slots=True)
class Side:
    """One replica on disk.

    Attributes:
        broker: broker id.
        disk: its files.
        batches, records: how many its segments hold.
        holes: offsets between batches that no batch has, within the log.
        dates: start times of its leader epochs, by record times.
    """

    broker: int
    disk: Disk
    batches: int
    records: int
    holes: int
    dates: tuple[EpochDate, ...] = ()

    @property
    def compacted(self) -> bool:
        """Return whether there are traces of compaction: the cleaner's checkpoint, or offsets without a batch and no
        damage.
        """
        return self.disk.cleaner_point is not None or (self.holes > 0 and not self.damaged)

    @property
    def damaged(self) -> bool:
        """Return whether its segments are damaged: the contents of damaged places cannot be compared."""
        return bool(self.disk.damage)

    @property
    def elsewhere(self) -> Range | None:
        """Offsets at its start that are its own but not in these segments: tiered, or not handed in."""
        told = self.disk.log_start_checkpoint
        if self.disk.end is None or told is None or told[0] >= self.disk.log_start:
            return None
        return (told[0], self.disk.log_start)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The replicas of one partition.

    Attributes:
        cluster, topic, partition: which.
        sides: replicas by broker.
        forks: where two of them differ.
        compared: pairs of brokers whose segments were compared.
    """

    cluster: str | None
    topic: str
    partition: int
    sides: tuple[Side, ...]
    forks: tuple[Fork, ...]
    compared: tuple[tuple[int, int], ...]

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"

    def side(self, broker: int) -> Side:
        """One replica."""
        return next(side for side in self.sides if side.broker == broker)

    def common(self, pair: tuple[int, int]) -> Range:
        """Offsets that both logs span; empty where they do not meet."""
        left, right = (self.side(broker).disk for broker in pair)
        first = max(left.log_start, right.log_start)
        return (first, max(min(left.end or 0, right.end or 0), first))

    def committed(self, fork: Fork) -> tuple[Range, ...]:
        """Return the part of a difference that is below the checkpointed high watermarks of both."""
        marks = [self.side(broker).disk.checkpoint for broker in (fork.left, fork.right)]
        bound = min(mark[0] if mark is not None else 0 for mark in marks)
        return tuple((a, min(b, bound)) for a, b in fork.ranges if a < bound)


def comparisons(case: Case) -> list[Comparison]:
    """Return every partition with a replica on disk: those that differ first, then by name."""
    found = []
    for part in case.parts:
        replicas, segments = disks(part)
        forked, compared = forks(segments, part.batches, replicas)
        counts = _counts(part, segments)
        dates = epoch_dates(part)
        names = part.sources.get_column("cluster").drop_nulls().unique().to_list()
        for key in sorted(key for key in replicas if key[0] != METADATA_TOPIC):
            sides = tuple(
                Side(
                    broker,
                    disk,
                    *counts.get((*key, broker), (0, 0, 0)),
                    dates=chosen(dates.get((*key, broker), {}), disk.directory),
                )
                for broker, disk in sorted(replicas[key].items())
            )
            found.append(
                Comparison(
                    names[0] if names else None,
                    *key,
                    sides=sides,
                    forks=tuple(sorted(forked.get(key, ()), key=lambda fork: (fork.left, fork.right))),
                    compared=tuple(sorted(compared.get(key, ()))),
                )
            )
    return sorted(found, key=lambda one: (not one.forks, one.cluster or "", one.topic, one.partition))


def _counts(case: Case, segments: pl.DataFrame) -> dict[tuple[str, int, int], tuple[int, int, int]]:
    """Batches, records and missing offsets of each replica's live segments."""
    rows = (
        case.batches.join(segments, on="source", how="semi")
        .filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
        .sort(*PLACE, "base_offset", "source", "byte")
        .with_columns(
            (pl.col("base_offset") - pl.col("last_offset").shift(1).over(PLACE) - 1).clip(lower_bound=0).alias("hole")
        )
        .group_by(PLACE)
        .agg(pl.len(), pl.col("records").sum(), pl.col("hole").sum())
    )
    return {(topic, partition, broker): tuple(rest) for topic, partition, broker, *rest in rows.iter_rows()}


# -- for programs ---------------------------------------------------------------------------------------------------


def document(case: Case, found: Sequence[Comparison]) -> dict[str, Any]:
    """The contract ``forensics.compare/1`` as plain values."""
    return {
        "schema": SCHEMA,
        "partitions": [
            {
                "cluster": one.cluster,
                "topic": one.topic,
                "partition": one.partition,
                "replicas": [_replica(case, side) for side in one.sides],
                "pairs": [_pair(case, one, pair) for pair in one.compared],
            }
            for one in found
        ],
    }


def _replica(case: Case, side: Side) -> dict[str, Any]:
    disk = side.disk
    return {
        "broker": side.broker,
        "directory": disk.directory,
        "log_start_offset": disk.log_start if disk.end is not None else None,
        "log_end_offset": disk.end,
        "high_watermark_checkpoint": disk.checkpoint[0] if disk.checkpoint else None,
        "epochs": [[max(epoch, UNKNOWN), start] for epoch, start in disk.lineage.entries],
        "epoch_checkpoint": [[epoch, start] for epoch, start, _ in disk.entries],
        "epoch_dates": [
            {
                "leader_epoch": date.epoch,
                "start_offset": date.start,
                "not_before_ms": date.not_before,
                "first_record_ms": date.first,
                "last_record_ms": date.last,
                "by": "producer-snapshot" if date.by_snapshot else "batches",
            }
            for date in side.dates
            if date.not_before is not None or date.first is not None
        ],
        "magic": disk.magic,
        "batches": side.batches,
        "records": side.records,
        "offsets_without_batch": side.holes,
        "compacted": side.compacted,
        "not_in_segments": list(side.elsewhere) if side.elsewhere else None,
        "damage": [{"text": damage.text, **_place(case, damage.ref)} for damage in disk.damage],
        "stale_directories": [stale.directory for stale in disk.stale],
    }


def _pair(case: Case, one: Comparison, pair: tuple[int, int]) -> dict[str, Any]:
    fork = next((fork for fork in one.forks if (fork.left, fork.right) == pair), None)
    said: dict[str, Any] = {"brokers": list(pair), "common": list(one.common(pair)), "differ": [], "first": None}
    if fork is not None:
        said["differ"] = [list(piece) for piece in fork.ranges]
        said["first"] = [
            {"broker": broker, "base_offset": base, "last_offset": last, "leader_epoch": epoch, **_place(case, ref)}
            for broker, (base, last, epoch), ref in _firsts(fork)
        ]
    said["differ_below_both_high_watermarks"] = [list(piece) for piece in one.committed(fork)] if fork else []
    return said


def _firsts(fork: Fork) -> tuple[tuple[int, tuple[int, int, int | None], Ref], ...]:
    return ((fork.left, fork.left_batch, fork.left_ref), (fork.right, fork.right_batch, fork.right_ref))


def _place(case: Case, ref: Ref) -> dict[str, Any]:
    return {"path": case.path(ref.source) if ref.source is not None else None, "byte": ref.byte}


# -- for people -----------------------------------------------------------------------------------------------------


def render(case: Case, found: Sequence[Comparison], *, full: bool = False) -> str:
    """The comparison as text.

    Args:
        case: what was taken in.
        found: what to show.
        full: show a table for partitions without a difference too, and not only a line.
    """
    differ = [one for one in found if one.forks]
    alike = [one for one in found if not one.forks]
    lines: list[str] = []
    for one in [*differ[:FULL], *(alike if full else [])]:
        lines += [*_partition(case, one), ""]
    lines += _named([f"{one.name}   REPLICAS DIFFER" for one in differ[FULL:]], "that differ")
    if not full:
        lines += _named([f"{one.name}   {_quiet(one)}" for one in alike], "without a difference")
    return "".join(f"{plain(line).rstrip()}\n" for line in lines)


def _named(lines: list[str], what: str) -> list[str]:
    rest = len(lines) - BRIEF
    return [*lines[:BRIEF], f"... and {rest:,} more {what}: --format json has them all"] if rest > 0 else lines


def _quiet(one: Comparison) -> str:
    held = [side.broker for side in one.sides if side.disk.end is not None]
    if len(held) < 2:
        return f"nothing to compare: {f'segments of {brokers_text(held)} alone' if held else 'no segments'}"
    damaged = [side.broker for side in one.sides if side.damaged]
    ends = {side.disk.end for side in one.sides if side.disk.end is not None}
    longer = "" if len(ends) == 1 else "; ends " + ", ".join(f"{s.broker}: {s.disk.end}" for s in one.sides)
    first = min(one.common(pair)[0] for pair in one.compared)
    end = max(one.common(pair)[1] for pair in one.compared)
    if damaged:
        where = f"DAMAGED on {brokers_text(damaged)}; what can be read does not differ in [{first}, {end})"
        return f"{len(held)} replicas, {where}{longer}{_marks(one.sides)}"
    return f"{len(held)} replicas, no difference in [{first}, {end}){longer}{_marks(one.sides)}"


def _marks(sides: Iterable[Side]) -> str:
    compacted = [side.broker for side in sides if side.compacted]
    return f"; compacted: {brokers_text(compacted)}" if compacted else ""


def _partition(case: Case, one: Comparison) -> list[str]:
    lines = [f"{one.name}   {'REPLICAS DIFFER' if one.forks else _quiet(one)}"]
    rows = [("broker", "log start", "log end", "high watermark", "batches", "leader epochs")]
    for side in one.sides:
        disk = side.disk
        on_disk = disk.end is not None
        rows.append(
            (
                str(side.broker),
                f"{disk.log_start:,}" if on_disk else ".",
                f"{disk.end:,}" if disk.end is not None else ".",
                f"{disk.checkpoint[0]:,}" if disk.checkpoint else ".",
                f"{side.batches:,}" if on_disk else ".",
                ", ".join(f"{epoch if epoch >= 0 else 'none'} from {start:,}" for epoch, start in disk.lineage.entries)
                or ".",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines += [
        "  " + "  ".join((*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[5]))
        for row in rows
    ]
    for pair in one.compared:
        fork = next((fork for fork in one.forks if (fork.left, fork.right) == pair), None)
        lines += _told(case, one, pair, fork)
    lines += [f"  {text}" for text in dated({side.broker: side.dates for side in one.sides})]
    for side in one.sides:
        lines += _remarks(case, side)
    return lines


def _same(one: Comparison, pair: tuple[int, int]) -> str:
    first, end = one.common(pair)
    damaged = [broker for broker in pair if one.side(broker).damaged]
    if damaged:
        return f"damage on {brokers_text(damaged)}; what both can read does not differ in [{first:,}, {end:,})"
    rewritten = any(one.side(broker).compacted for broker in pair)
    where = " where both hold the same batch" if rewritten else ""
    return f"no difference in [{first:,}, {end:,}){where}"


def _told(case: Case, one: Comparison, pair: tuple[int, int], fork: Fork | None) -> list[str]:
    if fork is None:
        return [f"  {brokers_text(pair)}: {_same(one, pair)}"]
    shown = span_text(fork.ranges[:RANGES])
    more = f" and {len(fork.ranges) - RANGES:,} more ranges" if len(fork.ranges) > RANGES else ""
    below = size(one.committed(fork))
    mark = f", {below:,} of them below both high watermarks" if below else ", above the high watermark of one of them"
    if any(one.side(broker).disk.checkpoint is None for broker in pair):
        mark = ", committed or not: unknown, no checkpoint given"
    lines = [f"  {brokers_text(pair)} differ at offsets {shown}{more} ({size(fork.ranges):,} offsets{mark})"]
    for broker, (base, last, epoch), ref in _firsts(fork):
        dated = f", leader epoch {epoch}" if epoch is not None and epoch >= 0 else ""
        place = _place(case, ref)
        lines.append(
            f"    broker {broker}  [{base:,}, {last + 1:,}){dated}  {place['path']} byte {place['byte'] or 0:,}"
        )
    return lines


def _remarks(case: Case, side: Side) -> list[str]:
    said = []
    if side.disk.cleaner_point is not None:
        said.append(f"compacted up to {side.disk.cleaner_point[0]:,}")
    if side.holes:
        why = "as compaction leaves them" if side.compacted else "beside damage"
        said.append(f"{side.holes:,} offsets between batches are in none, {why}")
    if side.elsewhere is not None:
        first, end = side.elsewhere
        said.append(f"[{first:,}, {end:,}) is its own but in no segment here: tiered, or not handed in")
    said += [f"stale directory {stale.directory}" for stale in side.disk.stale]
    for damage in side.disk.damage[:RANGES]:
        place = _place(case, damage.ref)
        said.append(f"{place['path']} byte {place['byte'] or 0:,}: {damage.text}")
    if len(side.disk.damage) > RANGES:
        said.append(f"and {len(side.disk.damage) - RANGES:,} more places with damage")
    return [f"  broker {side.broker}: {text}" for text in said]
