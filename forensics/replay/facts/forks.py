"""Offsets at which the segments of two replicas hold different records."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.disks import Key
from forensics.replay.facts.live_dirs import PLACE
from forensics.replay.history import Fork
from forensics.replay.lineage import merge


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
    differ = same_span.filter((other_epoch & ~alike) | other).with_columns(
        pl.col("base_offset").alias("base_right"), pl.col("last_offset").alias("last_right")
    )
    parts = [
        differ.select(*_FORK),
        _crossing(rows, same_span, found).select(*_FORK),
    ]
    table = pl.concat(parts).sort("topic", "partition", "broker_left", "broker_right", "base_offset", "base_right")
    for (topic, partition, one, two), group in table.group_by(
        ["topic", "partition", "broker_left", "broker_right"], maintain_order=True
    ):
        replicas = found[str(topic), int(partition)]
        # After DeleteRecords the first segment may still hold deleted records below the log start offset.
        start = max(replicas[int(one)].log_start, replicas[int(two)].log_start)
        group = group.filter((pl.col("last_offset") >= start) & (pl.col("last_right") >= start))
        if group.is_empty():
            continue
        first = group.row(0, named=True)
        ranges = merge(
            (max(a, c, start), min(b, d) + 1)
            for a, b, c, d in group.select("base_offset", "last_offset", "base_right", "last_right").iter_rows()
        )
        result.setdefault((str(topic), int(partition)), []).append(
            Fork(
                left=int(one),
                right=int(two),
                ranges=tuple(ranges),
                left_ref=Ref(source=first["source_left"], byte=first["byte_left"], note="first differing batch"),
                right_ref=Ref(source=first["source_right"], byte=first["byte_right"], note="first differing batch"),
                left_batch=(first["base_offset"], first["last_offset"], first["leader_epoch_left"]),
                right_batch=(first["base_right"], first["last_right"], first["leader_epoch_right"]),
            )
        )
    return result, compared


_OF_BATCH = ("leader_epoch", "crc", "records", "magic", "max_timestamp", "source", "byte")

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

    Without epochs (v0, v1) such an overlap is another record too: only compaction splits a wrapper, and it then leaves
    single messages. For one batch in two formats see ``_converted``.
    """
    matched = same_span.select("topic", "partition", "base_offset", "last_offset", "broker_left", "broker_right")
    suspects = [
        key
        for key, replicas in found.items()
        if len({d.lineage for d in replicas.values() if d.end is not None}) > 1
        or any(d.magic is not None and d.magic < 2 for d in replicas.values())
    ]
    if not suspects:
        return pl.DataFrame(schema={name: _TYPES[name] for name in _FORK})
    wanted = pl.DataFrame(suspects, schema={"topic": pl.String(), "partition": pl.Int32()}, orient="row")
    some = rows.join(wanted, on=["topic", "partition"], how="semi")
    out: list[tuple[object, ...]] = []
    for (topic, partition), group in some.group_by(["topic", "partition"], maintain_order=True):
        brokers = sorted(group.get_column("broker").unique().to_list())
        by_broker = {b: group.filter(pl.col("broker") == b).sort("base_offset", "source", "byte") for b in brokers}
        done = matched.filter((pl.col("topic") == topic) & (pl.col("partition") == partition))
        for position, one in enumerate(brokers):
            for two in brokers[position + 1 :]:
                pairs = done.filter((pl.col("broker_left") == one) & (pl.col("broker_right") == two))
                spans = ["base_offset", "last_offset"]
                a = by_broker[one].join(pairs, on=spans, how="anti")
                b = by_broker[two].join(pairs, on=spans, how="anti")
                if a.is_empty() or b.is_empty():
                    continue
                pieces = list(_overlaps(a, b))
                same = _converted(pieces)
                for x, y in pieces:
                    legacy = x["magic"] < 2 and y["magic"] < 2
                    if id(x) in same or id(y) in same:
                        continue
                    if legacy or (x["leader_epoch"] != y["leader_epoch"]):
                        out.append(
                            (
                                topic,
                                partition,
                                one,
                                two,
                                x["base_offset"],
                                x["last_offset"],
                                y["base_offset"],
                                y["last_offset"],
                                x["leader_epoch"],
                                y["leader_epoch"],
                                x["source"],
                                x["byte"],
                                y["source"],
                                y["byte"],
                            )
                        )
    return pl.DataFrame(out, schema={name: _TYPES[name] for name in _FORK}, orient="row")


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


def _converted(pieces: list[tuple[dict[str, int], dict[str, int]]]) -> set[int]:
    """Return batches (by ``id``) that another replica has in an older format, as far as this can be seen.

    A leader converts batches to v0 or v1 messages for followers that fetch with an older protocol, as in a rolling
    upgrade (KIP-98, KIP-283; up to 3.x). The messages keep their offsets and times and carry no epoch.
    """
    parts: dict[int, tuple[dict[str, int], list[dict[str, int]]]] = {}
    for pair in pieces:
        new = [batch for batch in pair if batch["magic"] >= 2]
        if len(new) == 1:
            old = pair[1] if new[0] is pair[0] else pair[0]
            parts.setdefault(id(new[0]), (new[0], []))[1].append(old)
    found = set()
    for batch, messages in parts.values():
        span = batch["last_offset"] - batch["base_offset"] + 1
        whole = batch["records"] == span == sum(one["records"] or 0 for one in messages)
        latest = max(one["max_timestamp"] for one in messages)
        if not whole or min(latest, batch["max_timestamp"]) < 0 or latest == batch["max_timestamp"]:
            found |= {id(batch)}
    return found


def _pairs(found: dict[Key, dict[int, Disk]]) -> Iterator[tuple[Key, list[tuple[int, int]]]]:
    for key, replicas in found.items():
        have = sorted(broker for broker, disk in replicas.items() if disk.end is not None)
        if len(have) > 1:
            yield key, [(a, b) for n, a in enumerate(have) for b in have[n + 1 :]]
