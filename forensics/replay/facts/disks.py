"""Each replica by its data directories: its log by its batches, its checkpoints, and damage."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import polars as pl

from forensics.case import Case
from forensics.replay.facts.compaction import compacted
from forensics.replay.facts.copied_dirs import copied
from forensics.replay.facts.directory import Damage, Disk, LiveBy, Ref, StaleDir
from forensics.replay.facts.live_dirs import PLACE, folder, live
from forensics.replay.lineage import UNKNOWN, Lineage, Range, merge
from parsers.details import CUT
from parsers.formats.metadata_log import SNAPSHOT
from parsers.schema import DamageKind, Kind

_END = pl.when(pl.col("log_end").last().is_not_null()).then(pl.col("log_end").max()).alias("log_end")
"""Log end offset of a log of several segments; None if the end of the last one is missing."""
Key = tuple[str, int]
"""(topic, partition)."""

_LOGS: Final = ("segment", "dump-log")
"""Formats of the files that hold records of a topic's partition."""

CHECKPOINTS = (Kind.HW_CHECKPOINT, Kind.LOG_START_CHECKPOINT, Kind.RECOVERY_POINT, Kind.CLEANER_CHECKPOINT)
"""Kinds of the offsets in checkpoint files of a log directory."""


def disks(case: Case, logs: Sequence[str] = _LOGS) -> tuple[dict[Key, dict[int, Disk]], pl.DataFrame]:
    """Return the files of each replica, by partition and broker, and the live segments (column ``source``).

    Args:
        case: the evidence.
        logs: formats of the files that hold records.
    """
    sources, stale = live(case, case.sources)
    segments = sources.filter(pl.col("format").is_in(logs))
    of_segment = segments.select(pl.col("id").alias("source"))
    batches = case.batches.join(of_segment, on="source", how="semi")
    sound = batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok"))
    replicas = _Collected(len(PLACE))
    if sources.height:
        _take_segments(replicas, segments, sources)
    if segments.height:
        _take_batches(replicas, case, sound)
    _take_checkpoints(replicas, case, sources, stale)
    if len(replicas):
        _take_starts(replicas, case)
    if segments.height:
        _take_damage(replicas, case, segments, sound)
    if stale.height:
        _take_stale(replicas, case, sources, stale)
    return replicas.disks(), of_segment


def _take_segments(replicas: _Collected, segments: pl.DataFrame, sources: pl.DataFrame) -> None:
    """Collect the segments of each replica, and the names of the files beside them."""
    ends = (
        segments.sort(*PLACE, "base_offset", "id")
        .group_by(*PLACE, maintain_order=True)
        .agg(_END, pl.col("base_offset").min(), pl.col("magic").max(), pl.col("path").first(), "id")
    )
    for files, (end, first, magic, path, ids) in replicas.rows(ends):
        files.end, files.first, files.magic, files.directory = end, first, magic, path.rpartition("/")[0]
        files.segments = tuple(ids)
    for files, (base,) in replicas.rows(segments.select(*PLACE, "base_offset").drop_nulls("base_offset")):
        files.bases.append(base)
    for files, (name,) in replicas.rows(_beside(sources)):
        files.beside.append((int(name[:20]), name))


def _take_batches(replicas: _Collected, case: Case, sound: pl.DataFrame) -> None:
    """Collect the leader epochs that sound batches of each replica state, and the last of these batches."""
    for files, (epoch, start, before, undated, source, byte) in replicas.rows(
        _epochs(_without_lone(replicas, case, sound))
    ):
        files.epoch(epoch, start, before, undated, Ref(source=source, byte=byte))
    for files, (first, last) in replicas.rows(_altered(sound)):
        files.altered.append((first, last + 1))
    lasts = sound.sort(*PLACE, "last_offset", "source", "byte").group_by(*PLACE, maintain_order=True).last()
    for files, (source, byte, last) in replicas.rows(lasts.select(*PLACE, "source", "byte", "last_offset")):
        files.last = Ref(source=source, byte=byte, note=f"last batch, to offset {last}")


def _take_starts(replicas: _Collected, case: Case) -> None:
    """Collect log start offsets by lines, of replicas with files."""
    for files, (start, local) in replicas.rows(_last_starts(case), only_known=True):
        files.started, files.local = start, local


def _take_damage(replicas: _Collected, case: Case, segments: pl.DataFrame, sound: pl.DataFrame) -> None:
    """Collect offsets that are missing inside each log, and damage of its segments."""
    cleaned, ordered = compacted(case.observations), _ordered(segments)
    apart = _apart(case, ordered, cleaned)
    for files, (first, end, torn) in replicas.rows(apart.select(*PLACE, "_end", "base_offset", "_torn")):
        files.holes.append((first, end))
        if not torn:
            files.gaps.append((first, end))
    for files, (first, end, source, byte) in replicas.rows(_skipped(sound, segments, cleaned)):
        ref = Ref(source=source, byte=byte, note=f"the batch before ends at {first}, this one begins at {end}")
        files.skipped.append(((first, end), ref))
    for files, (kind, reason, source, byte) in replicas.rows(_damage(case, ordered, apart)):
        files.damage.append(Damage(DamageKind(kind), reason, Ref(source=source, byte=byte, note=reason)))


def _take_stale(replicas: _Collected, case: Case, sources: pl.DataFrame, stale: pl.DataFrame) -> None:
    """Collect the directories of each replica that are not the live one, and what shows which one is."""
    for place, left in _left(case, sources, stale):
        replicas.at(place).stale.append(left)
    known = (
        sources.join(stale.select(PLACE).unique(), on=PLACE, how="semi").select(*PLACE, "latest", "live_by").unique()
    )
    for files, (latest, by) in replicas.rows(known.sort(PLACE)):
        files.latest, files.live_by = latest, LiveBy(by)


def _left(case: Case, live_files: pl.DataFrame, stale: pl.DataFrame) -> Iterator[tuple[tuple[str, int, int], StaleDir]]:
    """Each directory that is not the live one, with its topic, partition and broker."""
    if stale.is_empty():
        return
    place = [*PLACE, "root"]
    of_dirs = stale.select(*place, pl.col("id").alias("source"))
    sound = case.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok")).join(of_dirs, on="source", how="inner")
    dirs = _Collected(len(place))
    for files, (epoch, start, before, undated, source, byte) in dirs.rows(_epochs(sound, place)):
        files.epoch(epoch, start, before, undated, Ref(source=source, byte=byte))
    segments = _ordered(stale.filter(pl.col("format").is_in(["segment", "dump-log"])), place)
    apart = segments.filter((pl.col("base_offset") > pl.col("_end")).fill_null(False))
    for files, (first, end) in dirs.rows(apart.select(*place, "_end", "base_offset")):
        files.holes.append((first, end))
    for files, (row, hw) in dirs.rows(_left_checkpoints(case, of_dirs)):
        files.checkpoint = (hw, Ref(row=row, note=f"high watermark {hw} left behind"))
    for files, (topic_id,) in dirs.rows(_topic_ids(case, stale, place)):
        files.topic_id = topic_id
    lasts = sound.select(*place, "source", "byte", "last_offset").sort(*place, "last_offset", "source", "byte")
    bases = segments.group_by(place).agg(pl.col("base_offset").min())
    of_log = pl.col("log_end").filter(pl.col("format") != SNAPSHOT)
    ends = stale.sort("path").group_by(*place).agg(pl.col("path", "id", "latest").first(), of_log.max())
    rows = ends.join(lasts.group_by(place, maintain_order=True).last(), on=place, how="left")
    rows = rows.join(bases, on=place, how="left").sort(place)
    copies = copied(case, live_files, stale, case.batches.filter(pl.col("crc_ok").is_null() | pl.col("crc_ok")))
    for *where, path, first, end, latest, source, byte, last, base in rows.select(
        *place, "path", "id", "log_end", "latest", "source", "byte", "last_offset", "base_offset"
    ).iter_rows():
        known = dirs.at(tuple(where))
        ref = Ref(source=source, byte=byte, note=f"last batch, to offset {last}") if source is not None else None
        topic, partition, broker, root = where
        yield (
            (topic, partition, broker),
            StaleDir(
                path.rpartition("/")[0],
                end,
                ref or Ref(source=first, byte=0),
                latest,
                lineage=Lineage() if known.falls else Lineage(tuple(known.lineage)).without(merge(known.holes)),
                log_start=base or 0,
                checkpoint=known.checkpoint,
                topic_id=known.topic_id,
                copied=copies[topic, partition, broker, root],
            ),
        )


def _topic_ids(case: Case, sources: pl.DataFrame, place: Sequence[str]) -> pl.DataFrame:
    """The topic id that each directory of a replica states in its ``partition.metadata``: ``place``, ``topic_id``."""
    stated = case.observations.filter(pl.col("kind") == Kind.TOPIC_ID.value).select("source", "topic_id").drop_nulls()
    if stated.is_empty():
        return sources.select(*place, pl.lit(None, pl.String).alias("topic_id")).clear()
    files = sources.select(*place, pl.col("id").alias("source"))
    return files.join(stated, on="source", how="inner").sort(*place, "source").select(*place, "topic_id")


def _left_checkpoints(case: Case, files: pl.DataFrame) -> pl.DataFrame:
    """High watermarks in the checkpoint files of directories that are not the live ones."""
    place = [*PLACE, "root"]
    rows = _stated_in(case, (Kind.HW_CHECKPOINT,)).join(files.select(place).unique(), on=place, how="semi")
    return rows.sort("row").select(*place, "row", "hw")


def _stated_in(case: Case, kinds: Sequence[Kind]) -> pl.DataFrame:
    """Return observations read from brokers' files, with the log directory (``root``) of each."""
    roots = case.sources.select(pl.col("id").alias("source"), folder(pl.col("path")).alias("root"))
    wanted = pl.col("kind").is_in([kind.value for kind in kinds]) & pl.col("broker").is_not_null()
    return case.observations.filter(wanted).join(roots, on="source", how="left", maintain_order="left")


def _last_starts(case: Case) -> pl.DataFrame:
    """Return each replica's log start offset by its last line, and its local log start offset if data is remote."""
    kind, stated = pl.col("kind"), pl.coalesce("log_start", "offset").is_not_null()
    local = pl.when((kind == Kind.LOG_START.value) & pl.col("log_start").is_null()).then("offset")
    empty = kind.is_in([Kind.LOG_CREATED.value, Kind.LOG_DELETED.value])
    states = empty | (stated & kind.is_in([Kind.LOG_START.value, Kind.LOG_LOADED.value]))
    mine = pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))
    return (
        case.observations.filter(states & mine & pl.all_horizontal(pl.col(PLACE).is_not_null()))
        .sort(*PLACE, "row")
        .group_by(PLACE, maintain_order=True)
        .agg(
            pl.when(empty).then(0).otherwise("log_start").drop_nulls().last().fill_null(0).alias("start"),
            pl.when(empty).then(0).otherwise(local).drop_nulls().last().fill_null(0).alias("local"),
        )
        .select(*PLACE, "start", "local")
    )


def _take_checkpoints(replicas: _Collected, case: Case, sources: pl.DataFrame, stale: pl.DataFrame) -> None:
    """Collect what the checkpoint files and ``partition.metadata`` state of each replica."""
    for files, (topic_id,) in replicas.rows(_topic_ids(case, sources, PLACE)):
        files.topic_id = topic_id
    stated = _stated_in(case, (*CHECKPOINTS, Kind.EPOCH_ENTRY))
    if stated.is_empty():
        return
    rows = (
        _of_present_logs(case, stated)
        # A checkpoint in a directory whose copy of the partition is stale is about that copy.
        .join(stale.select(*PLACE, "root").unique(), on=[*PLACE, "root"], how="anti", maintain_order="left")
        .filter((pl.col("kind") != Kind.EPOCH_ENTRY.value) | pl.col("source").is_in(sources.get_column("id").implode()))
    )
    rows = (
        _of_own_directory(rows, sources)
        .sort("row")
        .select(*PLACE, "row", "kind", "leader_epoch", "offset", "hw", "log_start", "detail")
    )
    for one, (row, kind, epoch, offset, hw, log_start, detail) in replicas.rows(rows):
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


def _of_own_directory(stated: pl.DataFrame, live_files: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a checkpoint elsewhere states of a replica, where the one beside its live directory states it.

    A checkpoint that was copied at another time, without the segments, is not about the log of this time.
    """
    own = live_files.select(*PLACE, pl.col("root").alias("_own")).unique()
    beside = stated.join(own, left_on=[*PLACE, "root"], right_on=[*PLACE, "_own"], how="semi")
    if beside.height == stated.height:
        return stated
    elsewhere = stated.join(beside.select("row"), on="row", how="anti")
    elsewhere = elsewhere.join(beside.select(*PLACE, "kind").unique(), on=[*PLACE, "kind"], how="anti")
    return pl.concat([beside, elsewhere])


def _of_present_logs(case: Case, stated: pl.DataFrame) -> pl.DataFrame:
    """Leave out what lines state of a log before a new one replaced it. Files are about the present log."""
    new = (
        case.observations.filter(pl.col("kind") == Kind.LOG_CREATED.value).group_by(PLACE).agg(new=pl.col("row").max())
    )
    if new.is_empty() or stated.get_column("time").null_count() == stated.height:
        return stated
    earlier = pl.col("time").is_not_null() & (pl.col("row") < pl.col("new")).fill_null(False)
    return stated.join(new, on=PLACE, how="left", maintain_order="left").filter(~earlier).drop("new")


_NONE: Final[frozenset[int]] = frozenset()
"""An empty set of epochs or offsets for all replicas: one made of a set of its own takes 216 bytes."""


_EMPTY: Final = Lineage()
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
        kept = max(self.log_start[0] if self.log_start else 0, self.first or 0, self._begins_by_epochs())
        return max(kept, self.started) if self.end is not None and self.started <= self.end else kept

    def _begins_by_epochs(self) -> int:
        """Return the log start offset that the epoch file shows; 0 if it shows none.

        Where the log start offset moves, the file drops the epochs below it and notes the one that it is in from there
        on (LeaderEpochFileCache.truncateFromStart, clearAndFlushEarliest up to 1.1). So its first epoch begins within
        the batches of that epoch.
        """
        if self.end is None or not self.entries:
            return 0
        start, epoch = min((start, epoch) for epoch, start, _ in self.entries)
        within = 0 < start <= self.end and Lineage(tuple(self.lineage)).epoch_at(start - 1) == epoch >= 0
        return start if within else 0

    def disk(self) -> Disk:
        """Return the collected files."""
        stated = Lineage(tuple(self.lineage)) if self.lineage else _EMPTY
        return Disk(
            lineage=rising(stated.without(merge([*self.holes, *self.altered]))) if self.lineage else _EMPTY,
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


class _Collected:
    """The contents of files, by the replica or the directory that they belong to.

    Args:
        width: number of columns that name one: topic, partition, broker, and for a directory its log directory.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._found: dict[tuple[Any, ...], _Files] = {}

    def __len__(self) -> int:
        """Return of how many something is collected."""
        return len(self._found)

    def at(self, place: tuple[Any, ...]) -> _Files:
        """Return what is collected of one."""
        if place not in self._found:
            self._found[place] = _Files()
        return self._found[place]

    def rows(self, frame: pl.DataFrame, *, only_known: bool = False) -> Iterator[tuple[_Files, tuple[Any, ...]]]:
        """Yield for each row what is collected of the one that its first columns name, and its other values.

        Args:
            frame: the rows.
            only_known: leave out rows of those of which nothing was collected before.
        """
        for row in frame.iter_rows():
            place = row[: self._width]
            if not only_known or place in self._found:
                yield self.at(place), row[self._width :]

    def disks(self) -> dict[Key, dict[int, Disk]]:
        """Return the files of each replica, by partition and broker; nothing is collected any more after it."""
        result: dict[Key, dict[int, Disk]] = {}
        # Each is dropped once its files are collected: of 200,000 partitions they would take 0.4 GB beside the result.
        for topic, partition, broker in list(self._found):
            result.setdefault((topic, partition), {})[broker] = self._found.pop((topic, partition, broker)).disk()
        return result


def rising(log: Lineage) -> Lineage:
    """Return a log with rising leader epochs, as in every log (KIP-101); where epochs fall, they become unknown.

    Either the batches before the fall or those behind it are not what a leader wrote.
    """
    found, known, highest = list[tuple[int, int]](), list[tuple[int, int]](), UNKNOWN
    for epoch, start in log.entries:
        begins = (epoch, start)
        if 0 <= epoch < highest:
            kept = bisect_right(known, epoch, key=itemgetter(0))
            begins = (UNKNOWN, known[kept][1] if kept < len(known) else start)
            del known[kept:]
        while found and found[-1][1] >= begins[1]:
            found.pop()
        if not found or found[-1][0] != begins[0]:
            found.append(begins)
            known += [begins] if begins[0] >= 0 else []
        highest = max(highest, epoch)
    return Lineage(tuple(found))


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
    if several.is_empty():
        return batches.select(*PLACE, "base_offset", "last_offset").clear()
    return (
        batches.join(several, on=span, how="semi")
        .sort(*PLACE, "base_offset", "source", "byte")
        .select(*PLACE, "base_offset", "last_offset")
    )


def _without_lone(replicas: _Collected, case: Case, sound: pl.DataFrame) -> pl.DataFrame:
    """Remove batches whose leader epoch is damaged, and note the damage. Note epochs that a single batch states."""
    lone = _lone(case, sound)
    for files, (source, byte, epoch, first, last) in replicas.rows(lone):
        text = f"{DamageKind.LONE_EPOCH}: leader epoch {epoch} of offsets {first} to {last}"
        ref = Ref(source=source, byte=byte, note=text)
        files.altered.append((first, last + 1))
        files.damage.append(Damage(DamageKind.LONE_EPOCH, text, ref))
    alone = sound.group_by(*PLACE, "leader_epoch").len().filter(pl.col("len") == 1).drop_nulls("leader_epoch")
    for files, (epoch,) in replicas.rows(alone.select(*PLACE, "leader_epoch")):
        files.lone_epochs.add(epoch)
    return sound.join(lone, on=["source", "byte"], how="anti") if lone.height else sound


def _lone(case: Case, batches: pl.DataFrame) -> pl.DataFrame:
    """Return batches whose leader epoch contradicts the batches before and behind, and is not in the epoch file.

    No checksum covers the epoch, so one flipped bit changes it. Epochs do not fall along a log. If more than one batch
    falls, or if the replica's ``leader-epoch-checkpoint`` has the epoch, it is not a flipped bit. Nor is it if another
    replica has the same batch with the same epoch. Up to 1.1 a broker does not note an epoch below the one before it
    (LeaderEpochFileCache.assign).

    Returns:
        Columns of ``PLACE``, ``source``, ``byte``, ``leader_epoch``, ``base_offset``, ``last_offset``.
    """
    epoch = pl.col("leader_epoch")
    before, after = epoch.shift(1).over(PLACE), epoch.shift(-1).over(PLACE)
    agree = before.is_null() | after.is_null() | (before <= after)
    falls = ((epoch < before) & (after.is_null() | (epoch < after))) | (
        (epoch > after) & (before.is_null() | (epoch > before))
    )
    found = (
        batches.filter(pl.col("magic") >= 2)
        .sort(*PLACE, "base_offset", "source", "byte")
        .filter((agree & falls).fill_null(value=False))
    )
    if found.height:
        known = case.observations.filter(pl.col("kind") == Kind.EPOCH_ENTRY.value).select(*PLACE, "leader_epoch")
        found = found.join(known.unique(), on=[*PLACE, "leader_epoch"], how="anti", maintain_order="left")
    given = [*PLACE, "source", "byte", "leader_epoch", "base_offset", "last_offset"]
    if found.is_empty():  # as with most of very many batches
        return found.select(given)
    batch = ["topic", "partition", "base_offset", "last_offset", "crc", "leader_epoch"]
    copies = batches.join(found.select(batch).unique(), on=batch, how="semi").group_by(batch)
    shared = copies.agg(pl.col("broker").n_unique().alias("copies")).filter(pl.col("copies") > 1)
    return found.join(shared, on=batch, how="anti", maintain_order="left").select(given)


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


def _damage(case: Case, segments: pl.DataFrame, parted: pl.DataFrame) -> pl.DataFrame:
    """Return damage that readers noticed in segments, and gaps between segments.

    Args:
        case: the evidence.
        segments: in order, with the end of the segment before, as ``_ordered`` returns them.
        parted: those of ``_apart``.
    """
    noticed = (
        # Damage of the copy, or of the text of a dump, is not damage of the segment and has no kind.
        case.notices.filter(pl.col("kind").is_not_null())
        .join(segments.select(pl.col("id").alias("source"), *PLACE), on="source", how="inner")
        .select(*PLACE, "kind", "reason", "source", "byte")
    )
    across = segments.filter((pl.col("base_offset") < pl.col("_end")).fill_null(False))
    # Not pl.format: polars 2.1 panics when it reads a column made by shift() after rows are filtered out.
    ends = (pl.lit(": the segment before ends at "), pl.col("_end").cast(pl.String))
    begins = (pl.lit(", this one begins at "), pl.col("base_offset").cast(pl.String))
    kinds = [(across, DamageKind.OVERLAP)] if across.height else []
    if parted.height:
        kinds += [
            (parted.filter(~pl.col("_torn")), DamageKind.GAP),
            (parted.filter("_torn"), DamageKind.RECORDS_MISSING),
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


def _apart(case: Case, ordered: pl.DataFrame, cleaned: pl.DataFrame) -> pl.DataFrame:
    """Return segments that begin behind the end of the one before, if nothing was compacted.

    After compaction a segment may end before the next one begins, so a gap counts only if nothing was compacted.
    ``_torn``: the segment before is damaged, so no file need be missing.
    """
    uncleaned = ordered.join(cleaned, on=["topic", "partition"], how="anti")
    apart = uncleaned.filter((pl.col("base_offset") > pl.col("_end")).fill_null(False))
    if apart.is_empty():
        return apart.with_columns(pl.lit(False).alias("_torn"))
    damaged = case.notices.filter(pl.col("byte").is_not_null()).get_column("source").unique()
    torn = pl.col("_before").is_in(damaged.implode()).fill_null(False).alias("_torn")
    return apart.with_columns(torn)


def _skipped(batches: pl.DataFrame, segments: pl.DataFrame, cleaned: pl.DataFrame) -> pl.DataFrame:
    """Return batches whose base offset skips offsets although their bytes follow the batch before, without a cleaner.

    For the first batch of a file, the offset in the file name counts as the end of the batch before.
    """
    files = segments.filter(pl.col("format") == "segment").select(
        pl.col("id").alias("source"), pl.col("base_offset").alias("_base")
    )
    rows = batches.join(files, on="source", how="inner").sort(*PLACE, "source", "byte")
    rows = rows.join(cleaned, on=["topic", "partition"], how="anti", maintain_order="left")
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
