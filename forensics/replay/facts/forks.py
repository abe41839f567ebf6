"""Offsets at which the segments of two replicas hold different records."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.disks import Key
from forensics.replay.facts.live_dirs import PLACE
from forensics.replay.facts.partition_facts import Fork, ForkPart
from forensics.replay.lineage import Range, merge

_PAIR = ("topic", "partition", "broker_left", "broker_right")


def forks(
    live: pl.DataFrame, batches: pl.DataFrame, found: dict[Key, dict[int, Disk]]
) -> tuple[dict[Key, list[Fork]], dict[Key, frozenset[tuple[int, int]]]]:
    """Compare the segments of each two replicas.

    Followers append the leader's batches unchanged (DefaultRecordBatch; LogAppendInfo without new offsets). So if two
    logs have a batch with the same offsets, it is the same batch or another record. Compaction may rewrite a batch on
    one replica alone; then the leader epoch decides. Where one side has no batch, nothing is reported.

    Args:
        live: column ``source``: the segments of the replicas' live directories.
        batches: of the case.
        found: files of each replica.

    Returns:
        Forks, and the pairs of brokers that were compared, by partition.
    """
    many = [key for key, replicas in found.items() if sum(d.end is not None for d in replicas.values()) > 1]
    compared: dict[Key, frozenset[tuple[int, int]]] = {}
    result: dict[Key, list[Fork]] = {}
    if not many:
        return result, compared
    wanted = pl.DataFrame(many, schema={"topic": pl.String(), "partition": pl.Int32()}, orient="row")
    rows = (
        batches.join(live, on="source", how="semi")
        .join(wanted, on=["topic", "partition"], how="semi")
        .filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
        .drop_nulls("base_offset")  # an unreadable wrapper of v0 or v1: its base offset is unknown
        .select(*PLACE, "base_offset", "last_offset", *_OF_BATCH)
    )
    for key, pairs in _pairs(found):
        compared[key] = frozenset(pairs)
    left = rows.rename({name: f"{name}_left" for name in ("broker", *_OF_BATCH)})
    right = rows.rename({name: f"{name}_right" for name in ("broker", *_OF_BATCH)})
    same_span = left.join(right, on=["topic", "partition", "base_offset", "last_offset"], how="inner").filter(
        pl.col("broker_left") < pl.col("broker_right")
    )
    full = (pl.col("records_left") == pl.col("last_offset") - pl.col("base_offset") + 1) & (
        pl.col("records_left") == pl.col("records_right")
    )
    other_epoch = (pl.col("leader_epoch_left") != pl.col("leader_epoch_right")).fill_null(False)
    # The checksum of a batch covers all except its offset and epoch: one batch under two epochs is the same record.
    alike = ((pl.col("magic_left") >= 2) & (pl.col("crc_left") == pl.col("crc_right"))).fill_null(False)
    other = (pl.col("crc_left") != pl.col("crc_right")) & full
    # A batch that a leader converts to an older format has another checksum, and the same record times.
    at = ("max_timestamp_left", "max_timestamp_right")
    timed = (pl.col(at[0]) != pl.col(at[1])) & (pl.min_horizontal(*at) >= 0)
    other &= ((pl.col("magic_left") < 2) == (pl.col("magic_right") < 2)) | timed
    # One that the cleaner wrote again, with all its records, to note when its tombstones may go (KIP-534): likewise.
    other &= pl.all_horizontal(pl.col("delete_horizon_left", "delete_horizon_right").is_null()) | timed
    unlike = (other_epoch & ~alike) | other
    differ = same_span.filter(unlike).with_columns(
        pl.col("base_offset").alias("base_right"), pl.col("last_offset").alias("last_right")
    )
    shared, common = _shared(same_span, unlike), _with_common_batches(same_span, unlike)
    parts = [
        differ.select(*_FORK),
        _crossing(rows, same_span, found).select(*_FORK),
    ]
    table = pl.concat(parts).sort("topic", "partition", "broker_left", "broker_right", "base_offset", "base_right")
    moved = _moved(*(side.join(table, on=["topic", "partition"], how="semi") for side in (left, right)))
    for (topic, partition, one, two), group in table.group_by(_PAIR, maintain_order=True):
        replicas = found[str(topic), int(partition)]
        # After DeleteRecords the first segment may still hold deleted records below the log start offset.
        start = max(replicas[int(one)].log_start, replicas[int(two)].log_start)
        group = group.filter((pl.col("last_offset") >= start) & (pl.col("last_right") >= start))
        if group.is_empty():
            continue
        pair = (str(topic), int(partition), int(one), int(two))
        fork = _fork(group, start, shared.get(pair, start))
        result.setdefault(pair[:2], []).append(replace(fork, moved=pair in moved, strangers=pair not in common))
    return result, compared


def _shared(same_span: pl.DataFrame, unlike: pl.Expr) -> dict[tuple[str, int, int, int], int]:
    """Return the base offset of the last batch that two replicas both have, by topic, partition and the two."""
    # Messages of v0 have no time, so that two records of the same text have one checksum.
    checked = (pl.col("crc_left") == pl.col("crc_right")) & (pl.col("magic_left") > 0)
    same = (pl.col("leader_epoch_left") == pl.col("leader_epoch_right")).fill_null(False) | checked
    found = same_span.filter(~unlike.fill_null(False) & same.fill_null(False))
    return {
        (topic, partition, one, two): base
        for topic, partition, one, two, base in found.group_by(_PAIR).agg(pl.col("base_offset").max()).iter_rows()
    }


def _with_common_batches(same_span: pl.DataFrame, unlike: pl.Expr) -> set[tuple[str, int, int, int]]:
    """Return the pairs of replicas (topic, partition, the two) that have any batch in common, as far as can be seen."""
    found = same_span.filter(~unlike.fill_null(False))
    return set(found.select(_PAIR).unique().iter_rows())


_SAME_BATCH = ("leader_epoch", "crc", "records", "magic")


def _moved(left: pl.DataFrame, right: pl.DataFrame) -> set[tuple[str, int, int, int]]:
    """Return the pairs of replicas (topic, partition, the two) of which one has batches at offsets that are not theirs.

    The leader of an epoch gives each batch one offset. Messages of v0 and v1 have no epoch, and a producer that sends
    one to the next leader again puts it at another offset.

    Args:
        left, right: batches of all replicas; the columns of ``_OF_BATCH`` end in ``_left`` and in ``_right``.
    """
    key = ["topic", "partition", *_SAME_BATCH]
    ours, theirs = (
        one.rename({f"{name}_{side}": name for name in _SAME_BATCH})
        .filter((pl.col("magic") >= 2) & (pl.col("leader_epoch") >= 0))
        .select(*key, f"broker_{side}", "base_offset")
        .unique()
        for one, side in ((left, "left"), (right, "right"))
    )
    # A hostile segment may hold one batch a thousand times: batches are joined once, whatever their offsets are.
    both = ours.drop("base_offset").unique().join(theirs.drop("base_offset").unique(), on=key, how="inner")
    both = both.filter(pl.col("broker_left") < pl.col("broker_right"))
    # A producer that sends again makes a leader write a batch twice. Then both replicas have both.
    in_place = ours.join(theirs, on=[*key, "base_offset"], how="inner")
    moved = both.join(in_place, on=[*key, "broker_left", "broker_right"], how="anti")
    return {*moved.select(_PAIR).unique().iter_rows()}


def _fork(rows: pl.DataFrame, start: int, shared: int) -> Fork:
    """Return the difference between two replicas.

    Args:
        rows: pairs of differing batches, with the columns of ``_FORK``, in order.
        start: log start offset of both.
        shared: base offset of the last batch that both have.
    """
    whole = _part(rows, start)
    one_epoch = (pl.col("leader_epoch_left") == pl.col("leader_epoch_right")).fill_null(False)
    closed = max((end for _, end in whole.ranges if end <= shared), default=start)
    inside = pl.max_horizontal("last_offset", "last_right") < closed
    parts = [rows.filter(one_epoch), rows.filter(~one_epoch & inside)]
    in_one_epoch, enclosed = (_part(part, start) if part.height else None for part in parts)
    left, right = (int(rows.item(0, f"broker_{side}")) for side in ("left", "right"))
    batches = (whole.left_ref, whole.right_ref, whole.left_batch, whole.right_batch)
    within = bool((parts[0].get_column("leader_epoch_left") >= 0).any())
    return Fork(left, right, whole.ranges, *batches, in_one_epoch, enclosed, within)


def _part(rows: pl.DataFrame, start: int) -> ForkPart:
    first = rows.row(0, named=True)
    ranges = merge(
        (max(a, c, start), min(b, d) + 1)
        for a, b, c, d in rows.select("base_offset", "last_offset", "base_right", "last_right").iter_rows()
    )
    return ForkPart(
        ranges=tuple(ranges),
        left_ref=Ref(source=first["source_left"], byte=first["byte_left"], note="first differing batch"),
        right_ref=Ref(source=first["source_right"], byte=first["byte_right"], note="first differing batch"),
        left_batch=(first["base_offset"], first["last_offset"], first["leader_epoch_left"]),
        right_batch=(first["base_right"], first["last_right"], first["leader_epoch_right"]),
    )


_OF_BATCH = ("leader_epoch", "crc", "records", "magic", "max_timestamp", "delete_horizon", "source", "byte")

_FORK = (
    "topic",
    "partition",
    "broker_left",
    "broker_right",
    "base_offset",
    "last_offset",
    "base_right",
    "last_right",
    "leader_epoch_left",
    "leader_epoch_right",
    "source_left",
    "byte_left",
    "source_right",
    "byte_right",
)


def _crossing(rows: pl.DataFrame, same_span: pl.DataFrame, found: dict[Key, dict[int, Disk]]) -> pl.DataFrame:
    """Return batches of two replicas that overlap, do not have the same offsets, and differ in epoch.

    Without epochs (v0, v1) such an overlap is another record too, if each side has all offsets of the other's wrapper.
    A cleaner that removes messages of a wrapper puts the others into a new one, and leaves a hole beside or within it
    (MemoryRecords.filterTo). For one batch in two formats see ``_converted``.
    """
    matched = same_span.select("topic", "partition", "base_offset", "last_offset", "broker_left", "broker_right")
    some = rows.join(_may_cross(found), on=["topic", "partition"], how="semi")
    out: list[tuple[object, ...]] = []
    for (topic, partition), group in some.group_by(["topic", "partition"], maintain_order=True):
        done = matched.filter((pl.col("topic") == topic) & (pl.col("partition") == partition))
        for one, two in itertools.combinations(sorted(group.get_column("broker").unique().to_list()), 2):
            pairs = done.filter((pl.col("broker_left") == one) & (pl.col("broker_right") == two))
            left, right = (_unmatched(group, broker, pairs) for broker in (one, two))
            replicas = found[str(topic), int(partition)]
            both = _both_span(replicas[one], replicas[two])
            out += ((topic, partition, one, two, *pair) for pair in _crossing_batches(left, right, both))
    return pl.DataFrame(out, schema={name: _TYPES[name] for name in _FORK}, orient="row")


def _may_cross(found: dict[Key, dict[int, Disk]]) -> pl.DataFrame:
    """Return the partitions (topic and partition) whose replicas differ in epochs or have batches without them."""
    suspects = [
        key
        for key, replicas in found.items()
        if len({d.lineage for d in replicas.values() if d.end is not None}) > 1
        or any(d.magic is not None and d.magic < 2 for d in replicas.values())
    ]
    return pl.DataFrame(suspects, schema={"topic": pl.String(), "partition": pl.Int32()}, orient="row")


def _unmatched(group: pl.DataFrame, broker: int, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the batches of a replica, in rising order, whose offsets are not those of a batch of the other replica."""
    own = group.filter(pl.col("broker") == broker).sort("base_offset", "source", "byte")
    return own.join(pairs, on=["base_offset", "last_offset"], how="anti")


def _both_span(*disks: Disk) -> Range:
    """Return the offsets that the segments of both replicas span."""
    return max(disk.log_start for disk in disks), min(disk.end or 0 for disk in disks)


def _crossing_batches(left: pl.DataFrame, right: pl.DataFrame, both: Range) -> Iterator[tuple[int, ...]]:
    """Yield pairs of batches that overlap and are not the same record, as columns of ``_FORK`` from the offsets on."""
    pieces = list(_overlaps(left, right))
    same, cleaned = _converted(pieces), _cleaned(pieces, both)
    for a, b in pieces:
        legacy = a["magic"] < 2 and b["magic"] < 2 and not cleaned & {id(a), id(b)}
        if id(a) in same or id(b) in same or not (legacy or a["leader_epoch"] != b["leader_epoch"]):
            continue
        spans = (one[name] for one in (a, b) for name in ("base_offset", "last_offset"))
        places = (one[name] for one in (a, b) for name in ("source", "byte"))
        yield (*spans, a["leader_epoch"], b["leader_epoch"], *places)


_TYPES: dict[str, pl.DataType] = {
    "topic": pl.String(),
    "partition": pl.Int32(),
    "broker_left": pl.Int32(),
    "broker_right": pl.Int32(),
    "base_offset": pl.Int64(),
    "last_offset": pl.Int64(),
    "base_right": pl.Int64(),
    "last_right": pl.Int64(),
    "leader_epoch_left": pl.Int32(),
    "leader_epoch_right": pl.Int32(),
    "source_left": pl.UInt32(),
    "byte_left": pl.Int64(),
    "source_right": pl.UInt32(),
    "byte_right": pl.Int64(),
}


_Pieces = list[tuple[dict[str, int], dict[str, int]]]


def _overlaps(left: pl.DataFrame, right: pl.DataFrame) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """Yield pairs of batches that share offsets; both sides are in rising order."""
    ours, theirs = left.to_dicts(), right.to_dicts()
    i = j = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i], theirs[j]
        if a["base_offset"] <= b["last_offset"] and b["base_offset"] <= a["last_offset"]:
            yield a, b
        if a["last_offset"] <= b["last_offset"]:
            i += 1
        else:
            j += 1


def _cleaned(pieces: _Pieces, both: Range) -> set[int]:
    """Return batches (by ``id``) at some of whose offsets the other replica has no record, within both logs.

    A cleaner may have removed it.
    """
    held: dict[int, int] = {}
    for one, two in pieces:
        span = min(one["last_offset"], two["last_offset"]) - max(one["base_offset"], two["base_offset"]) + 1
        for own, other in ((one, two), (two, one)):
            held[id(own)] = held.get(id(own), 0) + min(span, other["records"] or 0)
    first, end = both
    batches = (one for pair in pieces for one in pair)
    return {
        id(one) for one in batches if held[id(one)] < min(one["last_offset"] + 1, end) - max(one["base_offset"], first)
    }


def _converted(pieces: _Pieces) -> set[int]:
    """Return batches (by ``id``) that another replica has in an older format, as far as this can be seen.

    A leader converts batches to v0 or v1 messages for followers that fetch with an older protocol, as in a rolling
    upgrade (KIP-98, KIP-283; up to 3.x). The messages keep their offsets and times and carry no epoch.
    """
    parts: dict[int, tuple[dict[str, int], list[dict[str, int]]]] = {}
    for one, two in pieces:
        if (one["magic"] >= 2) != (two["magic"] >= 2):
            new, old = (one, two) if one["magic"] >= 2 else (two, one)
            parts.setdefault(id(new), (new, []))[1].append(old)
    return {number for number, (batch, messages) in parts.items() if _may_be_converted(batch, messages)}


def _may_be_converted(batch: dict[str, int], messages: list[dict[str, int]]) -> bool:
    """Return whether messages of an older format may be those of a batch: nothing in their number or times differs."""
    span = batch["last_offset"] - batch["base_offset"] + 1
    whole = batch["records"] == span == sum(one["records"] or 0 for one in messages)
    latest = max(one["max_timestamp"] for one in messages)
    return not whole or min(latest, batch["max_timestamp"]) < 0 or latest == batch["max_timestamp"]


def _pairs(found: dict[Key, dict[int, Disk]]) -> Iterator[tuple[Key, list[tuple[int, int]]]]:
    for key, replicas in found.items():
        have = sorted(broker for broker, disk in replicas.items() if disk.end is not None)
        if len(have) > 1:
            yield key, [(a, b) for n, a in enumerate(have) for b in have[n + 1 :]]
