"""Replicas compared by their files: log ends, high watermarks, epochs, and where their records differ.

No judgement: a tail that was never committed may differ legitimately. The rules decide what it means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import polars as pl

from forensics.case import Case
from forensics.case.dates import EpochDate, chosen, epoch_dates
from forensics.case.not_read import not_read
from forensics.case.order import METADATA_TOPIC
from forensics.case.trace_clusters import cluster_text
from forensics.outputs import plain
from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.disks import disks
from forensics.replay.facts.forks import forks
from forensics.replay.facts.live_dirs import PLACE
from forensics.replay.facts.partition_facts import Fork
from forensics.replay.lineage import UNKNOWN, Range, size
from forensics.reports.remarks import dated
from forensics.rules.finding import brokers_text, count_text, offsets_text, span_text

SCHEMA = "forensics.compare/1"
RANGES = 5  # of offsets named in a sentence
FULL = 20  # partitions that differ and are shown whole
BRIEF = 40  # that are named after these, and as many without a difference


class Outcome(StrEnum):
    """Result of a comparison."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


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
        """Return whether ``cleaner-offset-checkpoint`` names the replica: offsets without a batch may be compaction."""
        return self.disk.cleaner_point is not None

    @property
    def lacks(self) -> bool:
        """Return whether offsets within its log are in no batch, and nothing shows that compaction removed them."""
        return self.holes > 0 and not self.compacted and not self.damaged

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

    def fork(self, pair: tuple[int, int]) -> Fork | None:
        """Return where the two of a pair differ, or None."""
        return next((fork for fork in self.forks if (fork.left, fork.right) == pair), None)

    def why_unknown(self, pair: tuple[int, int]) -> str:
        """Return why a pair without a difference may differ nevertheless, or ""."""
        first, end = self.common(pair)
        if first == end:
            return "their logs have no offset in common"
        if damaged := [broker for broker in pair if self.side(broker).damaged]:
            return f"damaged batches of {brokers_text(damaged)} cannot be read"
        if lacking := [broker for broker in pair if self.side(broker).lacks]:
            return (
                f"offsets are missing within the log of {brokers_text(lacking)}: compacted, or lost "
                "(cleaner-offset-checkpoint is missing)"
            )
        return ""

    @property
    def damaged(self) -> bool:
        """Return whether segments of a copy are damaged."""
        return any(side.damaged for side in self.sides)

    @property
    def outcome(self) -> Outcome:
        """Return whether the copies hold the same records, as far as their files show it."""
        if self.forks:
            return Outcome.DIFFERENT
        known = self.compared and not any(map(self.why_unknown, self.compared))
        return Outcome.SAME if known and not self.damaged else Outcome.UNKNOWN

    def committed(self, fork: Fork) -> tuple[Range, ...] | None:
        """Return the part of a difference below the checkpointed high watermarks of both; None if one is not known."""
        marks = [self.side(broker).disk.checkpoint for broker in (fork.left, fork.right)]
        known = [mark[0] for mark in marks if mark is not None]
        if len(known) < len(marks):
            return None
        bound = min(known)
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
                "outcome": one.outcome.value,
                "cluster": one.cluster,
                "topic": one.topic,
                "partition": one.partition,
                "replicas": [_replica(case, side) for side in one.sides],
                "pairs": [_pair(case, one, pair) for pair in one.compared],
            }
            for one in found
        ],
        "not_read": [{"path": path, "reason": reason} for path, reason in not_read(case)],
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
        "stale_directories": [stale.directory for stale in disk.left_behind],
    }


def _pair(case: Case, one: Comparison, pair: tuple[int, int]) -> dict[str, Any]:
    fork = one.fork(pair)
    said: dict[str, Any] = {"brokers": list(pair), "common": list(one.common(pair)), "differ": [], "first": None}
    said["unknown_because"] = one.why_unknown(pair) or None
    if fork is not None:
        said["differ"] = [list(piece) for piece in fork.ranges]
        said["first"] = [
            {"broker": broker, "base_offset": base, "last_offset": last, "leader_epoch": epoch, **_place(case, ref)}
            for broker, (base, last, epoch), ref in _firsts(fork)
        ]
    committed = one.committed(fork) if fork is not None else ()
    said["differ_below_both_high_watermarks"] = None if committed is None else [list(piece) for piece in committed]
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
    called = _Names(several=len({one.cluster for one in found}) > 1)
    lines: list[str] = []
    for one in [*differ[:FULL], *(alike if full else [])]:
        lines += [*_partition(case, one, called.of(one)), ""]
    lines += _named([f"{called.of(one)}   REPLICAS DIFFER" for one in differ[FULL:]], "that differ")
    if not full:
        lines += _named([f"{called.of(one)}   {_quiet(one)}" for one in alike], "without a known difference")
    lines += (
        [*([""] if lines and lines[-1] else []), _NEXT[bool(differ)]]
        if differ or any(map(_without_difference, alike))
        else []
    )
    unread = [f"not read: {path}: {reason}" for path, reason in not_read(case)]
    lines += ["", *_named(unread, "that were not read")] if unread else []
    return "".join(f"{plain(line).rstrip()}\n" for line in lines)


_NEXT = {
    True: "forensics scan shows whether the records that differ were committed, and which copy to keep.",
    False: "Copies without a difference may all lack committed records: forensics scan shows whether they do.",
}
"""The next step, by whether replicas differ."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of partitions for people.

    Attributes:
        several: the evidence has several clusters, so each name has one.
    """

    several: bool

    def of(self, one: Comparison) -> str:
        """Return the name of a partition."""
        return f"{one.name} of {cluster_text(one.cluster)}" if self.several else one.name


def _named(lines: list[str], what: str) -> list[str]:
    rest = len(lines) - BRIEF
    return [*lines[:BRIEF], f"... and {rest:,} more {what}: --format json has them all"] if rest > 0 else lines


def _without_difference(one: Comparison) -> bool:
    """Return whether two replicas or more were compared, and all of it is the same."""
    spans = [one.common(pair) for pair in one.compared]
    return any(first < end for first, end in spans) and not any(map(one.why_unknown, one.compared))


def _quiet(one: Comparison) -> str:
    held = [side.broker for side in one.sides if side.disk.end is not None]
    if len(held) < 2:
        return f"nothing to compare: {f'segments of {brokers_text(held)} alone' if held else 'no segments'}"
    if not any(side.disk.end for side in one.sides):
        return f"{'both' if len(held) == 2 else f'all {len(held)}'} copies are empty: nothing to compare"
    after = f"{_ends(one.sides)}{_marks(one.sides)}"
    why = next(filter(None, map(one.why_unknown, one.compared)), "")
    spans = [one.common(pair) for pair in one.compared]
    where = offsets_text([(min(first for first, _ in spans), max(end for _, end in spans))])
    if why:
        damaged = [side.broker for side in one.sides if side.damaged]
        label = f"DAMAGED on {brokers_text(damaged)}, " if damaged else ""
        return f"{len(held)} replicas, {label}UNKNOWN because {why}{_rest(one)}{after}"
    return f"{len(held)} replicas, no difference at {where}{after}"


def _ends(sides: Iterable[Side]) -> str:
    """Return the log end offsets if they differ, or ""."""
    ends = {side.broker: side.disk.end for side in sides if side.disk.end is not None}
    each = ", ".join(f"broker {broker} {end:,}" for broker, end in ends.items())
    return f"; log end offsets differ: {each}" if len(set(ends.values())) > 1 else ""


def _rest(one: Comparison, pairs: Iterable[tuple[int, int]] = ()) -> str:
    """Return that nothing else differs, if anything could be compared."""
    spans = [one.common(pair) for pair in (tuple(pairs) or one.compared)]
    return "; the rest is the same" if any(first < end for first, end in spans) else ""


def _marks(sides: Iterable[Side]) -> str:
    compacted = [side.broker for side in sides if side.compacted]
    return f"; compacted: {brokers_text(compacted)}" if compacted else ""


def _side_cells(side: Side) -> tuple[str, ...]:
    """Return a replica as a row of the table: "." for what its files do not show."""
    disk = side.disk
    start, end, batches = ".", ".", "."
    if disk.end is not None:
        start, end, batches = (f"{number:,}" for number in (disk.log_start, disk.end, side.batches))
    checkpoint = f"{disk.checkpoint[0]:,}" if disk.checkpoint else "."
    epochs = (f"{epoch if epoch >= 0 else 'none'} from {begin:,}" for epoch, begin in disk.lineage.entries)
    return str(side.broker), start, end, checkpoint, batches, ", ".join(epochs) or "."


def _partition(case: Case, one: Comparison, name: str) -> list[str]:
    lines = [f"{name}   {'REPLICAS DIFFER' if one.forks else _quiet(one)}"]
    rows: list[tuple[str, ...]] = [
        ("broker", "log start", "log end", "high watermark", "batches", "leader epochs (start offset)")
    ]
    rows += [_side_cells(side) for side in one.sides]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines += [
        "  " + "  ".join((*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[5]))
        for row in rows
    ]
    for pair in one.compared:
        lines += _pair_text(case, one, pair, one.fork(pair))
    lines += [f"  {text}" for text in dated({side.broker: side.dates for side in one.sides})]
    for side in one.sides:
        lines += _remarks(case, side)
    return lines


def _same(one: Comparison, pair: tuple[int, int]) -> str:
    if why := one.why_unknown(pair):
        return f"unknown because {why}{_rest(one, [pair])}"
    rewritten = any(one.side(broker).compacted for broker in pair)
    where = ", where both hold the same batch" if rewritten else ""
    return f"no difference at {offsets_text([one.common(pair)])}{where}"


def _pair_text(case: Case, one: Comparison, pair: tuple[int, int], fork: Fork | None) -> list[str]:
    if fork is None:
        return [f"  {brokers_text(pair)}: {_same(one, pair)}"]
    shown = span_text(fork.ranges[:RANGES])
    more = f" and {len(fork.ranges) - RANGES:,} more ranges" if len(fork.ranges) > RANGES else ""
    committed = one.committed(fork)
    if committed is None:
        blind = [broker for broker in pair if one.side(broker).disk.checkpoint is None]
        mark = f"committed or not: unknown, replication-offset-checkpoint of {brokers_text(blind)} is missing"
    elif committed:
        mark = f"{size(committed):,} of them below both checkpointed high watermarks"
    else:
        mark = "not below both checkpointed high watermarks"
    lines = [f"  {brokers_text(pair)} differ at offsets {shown}{more} ({count_text(fork.ranges)}, {mark})"]
    for broker, (base, last, epoch), ref in _firsts(fork):
        dated = f", leader epoch {epoch}" if epoch is not None and epoch >= 0 else ""
        place = _place(case, ref)
        where = f"{place['path']} byte {place['byte'] or 0}"
        lines.append(f"    broker {broker}  {offsets_text([(base, last + 1)])}{dated}  {where}")
    return lines


def _remarks(case: Case, side: Side) -> list[str]:
    said = []
    if side.disk.cleaner_point is not None:
        said.append(f"compacted up to offset {side.disk.cleaner_point[0]:,}")
    if side.holes:
        why = "compaction may have removed them" if side.compacted else "compaction removed them, or batches are lost"
        why = "its segments are damaged" if side.damaged else why
        said.append(f"{side.holes:,} offset{' is' if side.holes == 1 else 's are'} in no batch: {why}")
    if side.elsewhere is not None:
        said.append(
            f"{offsets_text([side.elsewhere])} belong to its log but are in no segment here: in tiered storage, or the "
            "segment is missing from the evidence"
        )
    said += [f"stale directory {stale.directory}" for stale in side.disk.left_behind]
    for damage in side.disk.damage[:RANGES]:
        place = _place(case, damage.ref)
        said.append(f"{place['path']} byte {place['byte'] or 0}: {damage.text}")
    if len(side.disk.damage) > RANGES:
        said.append(f"and {len(side.disk.damage) - RANGES:,} more places with damage")
    return [f"  broker {side.broker}: {text}" for text in said]
