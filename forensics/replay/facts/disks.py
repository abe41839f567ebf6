"""Each replica by its data directories: its log by its batches, its checkpoints, and damage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from forensics.case import Case
from forensics.replay.facts.compaction import compacted
from forensics.replay.facts.directory import Damage, Disk, LiveBy, Ref, StaleDir
from forensics.replay.facts.live_dirs import PLACE, folder, live
from forensics.replay.lineage import UNKNOWN, Lineage, Range, merge
from parsers.details import CUT
from parsers.schema import DamageKind, Kind

_END = pl.when(pl.col("log_end").last().is_not_null()).then(pl.col("log_end").max()).alias("log_end")
"""Log end offset of a log of several segments; None if the end of the last one is missing."""
Key = tuple[str, int]
"""(topic, partition)."""

CHECKPOINTS = (Kind.HW_CHECKPOINT, Kind.LOG_START_CHECKPOINT, Kind.RECOVERY_POINT, Kind.CLEANER_CHECKPOINT)
"""Kinds of the offsets in checkpoint files of a log directory."""


def disks(case: Case) -> tuple[dict[Key, dict[int, Disk]], pl.DataFrame]:
    """Return the files of each replica, by partition and broker, and the live segments (column ``source``)."""
    sources, stale = live(case, case.sources)
    segments = sources.filter(pl.col("format").is_in(["segment", "dump-log"]))
    of_segment = segments.select(pl.col("id").alias("source"))
    batches = case.batches.join(of_segment, on="source", how="semi")
    sound = batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
    found: dict[Key, dict[int, _Files]] = {}

    def at(topic: str, partition: int, broker: int) -> _Files:
        return found.setdefault((topic, partition), {}).setdefault(broker, _Files())

    ends = (
        segments.sort(*PLACE, "base_offset", "id")
        .group_by(*PLACE, maintain_order=True)
        .agg(_END, pl.col("base_offset").min(), pl.col("magic").max(), pl.col("path").first(), "id")
    )
    for topic, partition, broker, end, first, magic, path, ids in ends.iter_rows():
        one = at(topic, partition, broker)
        one.end, one.first, one.magic, one.directory = end, first, magic, path.rpartition("/")[0]
        one.segments = tuple(ids)
    agreeing = _without_lone(case, sound, at)
    for topic, partition, broker, epoch, start, before, undated, source, byte in _epochs(agreeing).iter_rows():
        at(topic, partition, broker).epoch(epoch, start, before, undated, Ref(source=source, byte=byte))
    for topic, partition, broker, first, last in _altered(sound).iter_rows():
        at(topic, partition, broker).altered.append((first, last + 1))
    lasts = sound.sort(*PLACE, "last_offset", "source", "byte").group_by(*PLACE, maintain_order=True).last()
    for topic, partition, broker, source, byte, last in lasts.select(
        *PLACE, "source", "byte", "last_offset"
    ).iter_rows():
        at(topic, partition, broker).last = Ref(source=source, byte=byte, note=f"last batch, to offset {last}")
    for topic, partition, broker, base in segments.select(*PLACE, "base_offset").drop_nulls("base_offset").iter_rows():
        at(topic, partition, broker).bases.append(base)
    for topic, partition, broker, name in _beside(sources).iter_rows():
        at(topic, partition, broker).beside.append((int(name[:20]), name))
    _checkpoints(case, sources, stale, at)
    for topic, partition, broker, start, local in _last_starts(case).iter_rows():
        if broker in found.get((topic, partition), {}):
            files = at(topic, partition, broker)
            files.started, files.local = start, local
    apart = _apart(case, _ordered(segments)).select(*PLACE, "_end", "base_offset", "_torn")
    for topic, partition, broker, first, end, torn in apart.iter_rows():
        at(topic, partition, broker).holes.append((first, end))
        if not torn:
            at(topic, partition, broker).gaps.append((first, end))
    for topic, partition, broker, first, end, source, byte in _skipped(case, sound, segments).iter_rows():
        ref = Ref(source=source, byte=byte, note=f"the batch before ends at {first}, this one begins at {end}")
        at(topic, partition, broker).skipped.append(((first, end), ref))
    for row in _damage(case, segments).iter_rows():
        topic, partition, broker, kind, reason, source, byte = row
        at(topic, partition, broker).damage.append(
            Damage(DamageKind(kind), reason, Ref(source=source, byte=byte, note=reason))
        )
    for topic, partition, broker, left in _left(case, stale):
        at(topic, partition, broker).stale.append(left)
    known = (
        sources.join(stale.select(PLACE).unique(), on=PLACE, how="semi").select(*PLACE, "latest", "live_by").unique()
    )
    for topic, partition, broker, latest, by in known.sort(PLACE).iter_rows():
        one = at(topic, partition, broker)
        one.latest, one.live_by = latest, LiveBy(by)
    # Each is dropped once its files are collected: of 200,000 partitions they would take 0.4 GB beside the result.
    result = {key: {broker: one.disk() for broker, one in found.pop(key).items()} for key in list(found)}
    return result, of_segment


def _left(case: Case, stale: pl.DataFrame) -> Iterator[tuple[str, int, int, StaleDir]]:
    """Each directory that is not the live one."""
    if stale.is_empty():
        return
    place = [*PLACE, "root"]
    files = stale.select(*place, pl.col("id").alias("source"))
    sound = case.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok")).join(files, on="source", how="inner")
    found: dict[tuple[str, int, int, str], _Files] = {key: _Files() for key in files.select(place).unique().iter_rows()}
    for *key, epoch, start, before, undated, source, byte in _epochs(sound, place).iter_rows():
        topic, partition, broker, root = key
        found[topic, partition, broker, root].epoch(epoch, start, before, undated, Ref(source=source, byte=byte))
    segments = _ordered(stale.filter(pl.col("format").is_in(["segment", "dump-log"])), place)
    apart = segments.filter((pl.col("base_offset") > pl.col("_end")).fill_null(False))
    for topic, partition, broker, root, first, end in apart.select(*place, "_end", "base_offset").iter_rows():
        found[topic, partition, broker, root].holes.append((first, end))
    for row, topic, partition, broker, root, hw in _left_checkpoints(case, files).iter_rows():
        found[topic, partition, broker, root].checkpoint = (hw, Ref(row=row, note=f"high watermark {hw} left behind"))
    for topic, partition, broker, root, topic_id in _topic_ids(case, stale, place).iter_rows():
        found[topic, partition, broker, root].topic_id = topic_id
    lasts = sound.select(*place, "source", "byte", "last_offset").sort(*place, "last_offset", "source", "byte")
    bases = segments.group_by(place).agg(pl.col("base_offset").min())
    ends = stale.sort("path").group_by(*place).agg(pl.col("path", "id", "latest").first(), pl.col("log_end").max())
    rows = ends.join(lasts.group_by(place, maintain_order=True).last(), on=place, how="left")
    rows = rows.join(bases, on=place, how="left").sort(place)
    for topic, partition, broker, root, path, first, end, latest, source, byte, last, base in rows.select(
        *place, "path", "id", "log_end", "latest", "source", "byte", "last_offset", "base_offset"
    ).iter_rows():
        known = found[topic, partition, broker, root]
        ref = Ref(source=source, byte=byte, note=f"last batch, to offset {last}") if source is not None else None
        yield (
            topic,
            partition,
            broker,
            StaleDir(
                path.rpartition("/")[0],
                end,
                ref or Ref(source=first, byte=0),
                latest,
                lineage=Lineage() if known.falls else Lineage(tuple(known.lineage)).without(merge(known.holes)),
                log_start=base or 0,
                checkpoint=known.checkpoint,
                topic_id=known.topic_id,
            ),
        )


def _topic_ids(case: Case, sources: pl.DataFrame, place: Sequence[str]) -> pl.DataFrame:
    """The topic id that each directory of a replica states in its ``partition.metadata``: ``place``, ``topic_id``."""
    stated = case.observations.filter(pl.col("kind") == Kind.TOPIC_ID.value).select("source", "topic_id").drop_nulls()
    files = sources.select(*place, pl.col("id").alias("source"))
    return files.join(stated, on="source", how="inner").sort(*place, "source").select(*place, "topic_id")


def _left_checkpoints(case: Case, files: pl.DataFrame) -> pl.DataFrame:
    """High watermarks in the checkpoint files of directories that are not the live ones."""
    place = [*PLACE, "root"]
    rows = _told_in(case, (Kind.HW_CHECKPOINT,)).join(files.select(place).unique(), on=place, how="semi")
    return rows.sort("row").select("row", *place, "hw")


def _told_in(case: Case, kinds: Sequence[Kind]) -> pl.DataFrame:
    """Return observations read from brokers' files, with the log directory (``root``) of each."""
    roots = case.sources.select(pl.col("id").alias("source"), folder(pl.col("path")).alias("root"))
    wanted = pl.col("kind").is_in([kind.value for kind in kinds]) & pl.col("broker").is_not_null()
    return case.observations.filter(wanted).join(roots, on="source", how="left", maintain_order="left")


def _last_starts(case: Case) -> pl.DataFrame:
    """Return each replica's log start offset by its last line, and its local log start offset if data is remote."""
    kind, told = pl.col("kind"), pl.coalesce("log_start", "offset").is_not_null()
    local = pl.when((kind == Kind.LOG_START.value) & pl.col("log_start").is_null()).then("offset")
    anew = kind.is_in([Kind.LOG_CREATED.value, Kind.LOG_DELETED.value])
    states = anew | (told & kind.is_in([Kind.LOG_START.value, Kind.LOG_LOADED.value]))
    mine = pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))
    return (
        case.observations.filter(states & mine & pl.all_horizontal(pl.col(PLACE).is_not_null()))
        .sort(*PLACE, "row")
        .group_by(PLACE, maintain_order=True)
        .agg(
            pl.when(anew).then(0).otherwise("log_start").drop_nulls().last().fill_null(0).alias("start"),
            pl.when(anew).then(0).otherwise(local).drop_nulls().last().fill_null(0).alias("local"),
        )
        .select(*PLACE, "start", "local")
    )


def _checkpoints(case: Case, sources: pl.DataFrame, stale: pl.DataFrame, at) -> None:  # type: ignore[no-untyped-def]
    for topic, partition, broker, topic_id in _topic_ids(case, sources, PLACE).iter_rows():
        at(topic, partition, broker).topic_id = topic_id
    rows = (
        _told_in(case, (*CHECKPOINTS, Kind.EPOCH_ENTRY))
        # A checkpoint in a directory whose copy of the partition is stale is about that copy.
        .join(stale.select(*PLACE, "root").unique(), on=[*PLACE, "root"], how="anti", maintain_order="left")
        .filter((pl.col("kind") != Kind.EPOCH_ENTRY.value) | pl.col("source").is_in(sources.get_column("id").implode()))
        .sort("row")
        .select("row", *PLACE, "kind", "leader_epoch", "offset", "hw", "log_start", "detail")
    )
    for row, topic, partition, broker, kind, epoch, offset, hw, log_start, detail in rows.iter_rows():
        one = at(topic, partition, broker)
        if kind == Kind.HW_CHECKPOINT.value:
            one.checkpoint = (hw, Ref(row=row, note=f"high watermark {hw} in the checkpoint"))
        elif kind == Kind.LOG_START_CHECKPOINT.value:
            one.log_start = (log_start, Ref(row=row, note=f"log start offset {log_start} in the checkpoint"))
        elif kind == Kind.RECOVERY_POINT.value:
            one.recovery = (offset, Ref(row=row, note=f"recovery point {offset}"))
        elif kind == Kind.CLEANER_CHECKPOINT.value:
            one.cleaned = (offset, Ref(row=row, note=f"cleaned up to {offset}"))
        else:
            one.entries_cut = one.entries_cut or detail == CUT
            one.entries.append((epoch, offset, Ref(row=row, note=f"leader epoch {epoch} starts at {offset}")))


_NONE: Final[frozenset[int]] = frozenset()
"""An empty set of epochs or offsets for all replicas: one made of a set of its own takes 216 bytes."""


_NO_REFS: Final[Mapping[int, Ref]] = {}


class _Files:
    """Collects the contents of one replica's files."""

    __slots__ = (
        "altered",
        "bases",
        "beside",
        "checkpoint",
        "cleaned",
        "damage",
        "directory",
        "end",
        "entries",
        "entries_cut",
        "falls",
        "first",
        "gaps",
        "holes",
        "last",
        "latest",
        "lineage",
        "live_by",
        "local",
        "log_start",
        "lone_epochs",
        "magic",
        "recovery",
        "refs",
        "segments",
        "skipped",
        "stale",
        "started",
        "topic_id",
        "undated",
    )

    def __init__(self) -> None:
        self.lineage: list[tuple[int, int]] = []
        self.undated: set[int] = set()
        self.altered: list[Range] = []
        self.falls: list[Damage] = []
        self.refs: dict[int, Ref] = {}
        self.end: int | None = None
        self.first: int | None = None
        self.magic: int | None = None
        self.directory: str | None = None
        self.checkpoint: tuple[int, Ref] | None = None
        self.log_start: tuple[int, Ref] | None = None
        self.recovery: tuple[int, Ref] | None = None
        self.cleaned: tuple[int, Ref] | None = None
        self.started = self.local = 0
        self.entries: list[tuple[int, int, Ref]] = []
        self.lone_epochs: set[int] = set()
        self.entries_cut = False
        self.last: Ref | None = None
        self.damage: list[Damage] = []
        self.stale: list[StaleDir] = []
        self.latest: int | None = None
        self.live_by: LiveBy | None = None
        self.bases: list[int] = []
        self.segments: tuple[int, ...] = ()
        self.gaps: list[Range] = []
        self.skipped: list[tuple[Range, Ref]] = []
        self.holes: list[Range] = []
        self.beside: list[tuple[int, str]] = []
        self.topic_id: str | None = None

    def epoch(self, epoch: int, start: int, before: int | None, undated: int | None, ref: Ref) -> None:
        """Add the first batch of a leader epoch. Batches are added in the order of the log.

        Args:
            epoch: its leader epoch.
            start: its base offset.
            before: end offset of the batch before it, if known.
            undated: first offset of the messages right before it that carry no epoch, if there are any.
            ref: the batch.
        """
        if undated is not None:
            self.undated.add(start)
            before = undated if self.lineage else before
        if self.lineage and (epoch < self.lineage[-1][0] or start <= self.lineage[-1][1]):
            last = self.lineage[-1][0]
            text = f"leader epoch {epoch} at offset {start} follows leader epoch {last}"
            self.falls.append(Damage(DamageKind.EPOCH_FALLS, text, Ref(source=ref.source, byte=ref.byte, note=text)))
        if self.lineage and start <= self.lineage[-1][1]:
            return
        if before is not None and before < start and (not self.lineage or self.lineage[-1][1] < before):
            self.lineage.append((UNKNOWN, before))
        self.lineage.append((epoch, start))
        self.refs.setdefault(epoch, Ref(source=ref.source, byte=ref.byte, note=f"first batch of leader epoch {epoch}"))

    def _begins(self) -> int:
        kept = max(self.log_start[0] if self.log_start else 0, self.first or 0)
        return max(kept, self.started) if self.end is not None and self.started <= self.end else kept

    def disk(self) -> Disk:
        """Return the collected files."""
        stated = Lineage(tuple(self.lineage))
        return Disk(
            lineage=rising(stated.without(merge([*self.holes, *self.altered]))),
            stated=stated,
            undated=frozenset(self.undated) if self.undated else _NONE,
            end=self.end,
            log_start=self._begins(),
            local_start=self.local,
            checkpoint=self.checkpoint,
            log_start_checkpoint=self.log_start,
            recovery_point=self.recovery,
            cleaner_point=self.cleaned,
            entries=tuple(self.entries),
            lone_epochs=frozenset(self.lone_epochs) if self.lone_epochs else _NONE,
            entries_cut=self.entries_cut,
            magic=self.magic,
            directory=self.directory,
            refs=self.refs or _NO_REFS,
            end_ref=self.last,
            falls=tuple(self.falls),
            damage=tuple(self.damage),
            stale=tuple(self.stale),
            latest=self.latest,
            live_by=self.live_by,
            bases=tuple(sorted(self.bases)),
            segments=self.segments,
            gaps=tuple(merge(self.gaps)),
            skipped=tuple(self.skipped),
            holes=tuple(merge(self.holes)),
            beside=tuple(sorted(one for one in self.beside if one[0] not in self.bases)),
            topic_id=self.topic_id,
        )


def rising(log: Lineage) -> Lineage:
    """Return a log with rising leader epochs, as in every log (KIP-101); where epochs fall, they become unknown.

    Either the batches before the fall or those behind it are not what a leader wrote.
    """
    entries: list[tuple[int, int]] = []
    least = UNKNOWN  # bound for the epochs behind a fall: the epoch from which it fell
    for epoch, start in log.entries:
        highest = max((known for known, _ in entries), default=UNKNOWN)
        if 0 <= epoch < max(highest, least):
            least = max(highest, least)
            fell = min((place for known, place in entries if known > epoch), default=start)
            entries = [entry for entry in entries if entry[1] < fell]
            if not entries or entries[-1][0] != UNKNOWN:
                entries.append((UNKNOWN, fell))
        elif not entries or entries[-1][0] != epoch:
            entries.append((epoch, start))
    return Lineage(tuple(entries))


def _altered(batches: pl.DataFrame) -> pl.DataFrame:
    """Return batches that two replicas have with the same checksum and different leader epochs.

    The checksum does not cover the epoch (DefaultRecordBatch.PARTITION_LEADER_EPOCH_OFFSET), so it does not show which
    one is right. The records are the same.
    """
    span = ["topic", "partition", "base_offset", "last_offset", "crc"]
    several = (
        batches.filter((pl.col("magic") >= 2) & (pl.col("leader_epoch") >= 0))
        .group_by(span)
        .agg(pl.col("leader_epoch").min().alias("_lowest"), pl.col("leader_epoch").max().alias("_highest"))
        .filter(pl.col("_lowest") < pl.col("_highest"))
    )
    return (
        batches.join(several, on=span, how="semi")
        .sort(*PLACE, "base_offset", "source", "byte")
        .select(*PLACE, "base_offset", "last_offset")
    )


def _without_lone(case: Case, sound: pl.DataFrame, at) -> pl.DataFrame:  # type: ignore[no-untyped-def]
    """Remove batches whose leader epoch is damaged, and note the damage. Note epochs that a single batch states."""
    lone = _lone(case, sound)
    for topic, partition, broker, source, byte, epoch, first, last in lone.iter_rows():
        text = f"{DamageKind.LONE_EPOCH}: leader epoch {epoch} of offsets {first} to {last}"
        ref = Ref(source=source, byte=byte, note=text)
        at(topic, partition, broker).altered.append((first, last + 1))
        at(topic, partition, broker).damage.append(Damage(DamageKind.LONE_EPOCH, text, ref))
    alone = sound.group_by(*PLACE, "leader_epoch").len().filter(pl.col("len") == 1).drop_nulls("leader_epoch")
    for topic, partition, broker, epoch in alone.select(*PLACE, "leader_epoch").iter_rows():
        at(topic, partition, broker).lone_epochs.add(epoch)
    return sound.join(lone, on=["source", "byte"], how="anti")


def _lone(case: Case, batches: pl.DataFrame) -> pl.DataFrame:
    """Return batches whose leader epoch contradicts the batches before and behind, and is not in the epoch file.

    No checksum covers the epoch, so one flipped bit changes it. Epochs do not fall along a log. If more than one batch
    falls, or if the replica's ``leader-epoch-checkpoint`` has the epoch, it is not a flipped bit.

    Returns:
        Columns of ``PLACE``, ``source``, ``byte``, ``leader_epoch``, ``base_offset``, ``last_offset``.
    """
    epoch = pl.col("leader_epoch")
    before, after = epoch.shift(1).over(PLACE), epoch.shift(-1).over(PLACE)
    agree = before.is_null() | after.is_null() | (before <= after)
    falls = ((epoch < before) & (after.is_null() | (epoch < after))) | (
        (epoch > after) & (before.is_null() | (epoch > before))
    )
    known = case.observations.filter(pl.col("kind") == Kind.EPOCH_ENTRY.value).select(*PLACE, "leader_epoch").unique()
    return (
        batches.filter(pl.col("magic") >= 2)
        .sort(*PLACE, "base_offset", "source", "byte")
        .filter((agree & falls).fill_null(value=False))
        .join(known, on=[*PLACE, "leader_epoch"], how="anti", maintain_order="left")
        .select(*PLACE, "source", "byte", "leader_epoch", "base_offset", "last_offset")
    )


def _epochs(batches: pl.DataFrame, place: Sequence[str] = PLACE) -> pl.DataFrame:
    """Return the first batch of each leader epoch in each log.

    Columns:
        before: end offset of the batch before it; the cleaner may have removed records in between.
        undated: first offset of the v0 and v1 messages right before it, which carry no epoch. A leader converts records
            to these formats for followers with an older protocol.
    """
    old = pl.col("leader_epoch").is_null()
    first = pl.when(old & ~old.shift(1, fill_value=False).over(place)).then("base_offset").forward_fill().over(place)
    end, byte = pl.col("last_offset") + 1, pl.col("byte") + pl.col("size")
    # Bytes between two batches: other batches were left out, or are damaged. Unknown where the one before ends.
    same = pl.col("source") == pl.col("source").shift(1).over(place)
    left_out = same & (pl.col("byte") != byte.shift(1).over(place))
    return (
        batches.sort(*place, "base_offset", "source", "byte")
        .with_columns(
            pl.when(~left_out.fill_null(False)).then(end.shift(1).over(place)).alias("before"),
            pl.when(old.shift(1, fill_value=False).over(place)).then(first).alias("undated"),
        )
        .filter(pl.col("leader_epoch").is_not_null() & (pl.col("leader_epoch") >= 0))
        .filter((pl.col("leader_epoch") != pl.col("leader_epoch").shift(1).over(place)).fill_null(True))
        .select(*place, "leader_epoch", "base_offset", "before", "undated", "source", "byte")
    )


def _damage(case: Case, segments: pl.DataFrame) -> pl.DataFrame:
    """Return damage that readers noticed in segments, and gaps between segments.

    After compaction a segment may end before the next one begins, so a gap counts only if nothing was compacted.
    """
    noticed = (
        # Damage of the copy, or of the text of a dump, is not damage of the segment and has no kind.
        case.notices.filter(pl.col("kind").is_not_null())
        .join(segments.select(pl.col("id").alias("source"), *PLACE), on="source", how="inner")
        .select(*PLACE, "kind", "reason", "source", "byte")
    )
    ordered = _ordered(segments)
    parted = _apart(case, ordered)
    across = ordered.filter((pl.col("base_offset") < pl.col("_end")).fill_null(False))
    # Not pl.format: polars 2.1 panics when it reads a column made by shift() after rows are filtered out.
    ends = (pl.lit(": the segment before ends at "), pl.col("_end").cast(pl.String))
    begins = (pl.lit(", this one begins at "), pl.col("base_offset").cast(pl.String))
    kinds = [
        (parted.filter(~pl.col("_torn")), DamageKind.GAP),
        (parted.filter("_torn"), DamageKind.RECORDS_MISSING),
        (across, DamageKind.OVERLAP),
    ]
    frames = [
        frame.select(
            *PLACE,
            pl.lit(kind.value).alias("kind"),
            pl.concat_str(pl.lit(kind.value), *ends, *begins).alias("reason"),
            pl.col("id").alias("source"),
            pl.lit(0, dtype=pl.Int64).alias("byte"),
        )
        for frame, kind in kinds
    ]
    return pl.concat([noticed, *frames]).sort(*PLACE, "source", "byte", "reason")


def _ordered(segments: pl.DataFrame, place: Sequence[str] = PLACE) -> pl.DataFrame:
    """Order segments by offset, with the end of the segment before, and that segment (``_end``, ``_before``)."""
    before = (pl.col("log_end").shift(1).over(place).alias("_end"), pl.col("id").shift(1).over(place).alias("_before"))
    return segments.sort(*place, "base_offset", "id").with_columns(before)


def _apart(case: Case, ordered: pl.DataFrame) -> pl.DataFrame:
    """Return segments that begin behind the end of the one before, if nothing was compacted.

    ``_torn``: the segment before is damaged, so no file need be missing.
    """
    uncleaned = ordered.join(compacted(case.observations), on=["topic", "partition"], how="anti")
    damaged = case.notices.filter(pl.col("byte").is_not_null()).get_column("source").unique()
    torn = pl.col("_before").is_in(damaged.implode()).fill_null(False).alias("_torn")
    return uncleaned.filter((pl.col("base_offset") > pl.col("_end")).fill_null(False)).with_columns(torn)


def _skipped(case: Case, batches: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Return batches whose base offset skips offsets although their bytes follow the batch before, without a cleaner.

    For the first batch of a file, the offset in the file name counts as the end of the batch before.
    """
    files = segments.filter(pl.col("format") == "segment").select(
        pl.col("id").alias("source"), pl.col("base_offset").alias("_base")
    )
    rows = batches.join(files, on="source", how="inner").sort(*PLACE, "source", "byte")
    rows = rows.join(compacted(case.observations), on=["topic", "partition"], how="anti", maintain_order="left")
    end = (pl.col("last_offset") + 1).shift(1).over("source")
    behind = (pl.col("byte") + pl.col("size")).shift(1).over("source")
    rows = rows.with_columns(
        end.fill_null(pl.col("_base")).alias("_end"), (pl.col("byte") == behind.fill_null(0)).alias("_next")
    )
    return rows.filter("_next", pl.col("base_offset") > pl.col("_end")).select(
        *PLACE, "_end", "base_offset", "source", "byte"
    )


def _beside(sources: pl.DataFrame) -> pl.DataFrame:
    """Return the names of indexes and producer snapshots in each live directory."""
    name = pl.col("path").str.extract(r"/([0-9]{20}[.](?:index|timeindex|txnindex|snapshot))$").alias("name")
    return sources.select(*PLACE, name).drop_nulls("name")
