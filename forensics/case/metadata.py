"""One metadata log from the copies that every KRaft node keeps: each decision once, and only committed ones.

All nodes hold the same records, except that the end of a copy may never have been committed and may differ. The copy
with the highest epoch and then the highest end is used for all, as it would win an election (KIP-595). Another copy
only adds records from before its start. A record is committed if a majority of the voters hold it, or if a high
watermark of the quorum beyond it was printed. The high watermark itself is in no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import polars as pl

from parsers.encodings.checkpoint_file import integer
from parsers.file_reading import FileReading, note
from parsers.files.sources import Source
from parsers.schema import Kind
from parsers.takers.metadata_files import TOPIC

FORMATS = ("metadata-log", "metadata-snapshot")
NOWHERE = pl.Series("byte", [], dtype=pl.Int64)
_KEY = ["base_offset", "leader_epoch", "crc"]
BATCH_COLUMNS = ("byte", "last_offset", "crc_ok", *_KEY)
"""Columns of the batches of a metadata log that every engine reads."""

_VOUCHED = pl.col("crc_ok") & pl.all_horizontal(pl.col(_KEY).is_not_null())
"""Batches that a node of the quorum can have written: sound, and of message format 2 (KIP-595)."""


@dataclass(slots=True)
class Copy:
    """The metadata log as one node holds it.

    Attributes:
        folder: its directory.
        node: node id.
        files: positions of its segments and snapshots.
        batches: the sound ones of all its segments: file, byte, base_offset, last_offset, leader_epoch, crc.
        voters: the quorum as the node knew it; empty if unknown.
    """

    folder: str
    node: int | None
    files: list[int] = field(default_factory=list)
    batches: pl.DataFrame = field(default_factory=pl.DataFrame)
    voters: frozenset[int] = frozenset()

    @property
    def rank(self) -> tuple[int, int, bool]:
        """Sort key by which one copy is used for all."""
        if self.batches.is_empty():
            return (-1, -1, False)
        last = self.batches.row(-1, named=True)
        return (last["leader_epoch"], last["last_offset"], self.node in self.voters)


def agree(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], cluster: Sequence[str | None]
) -> None:
    """Keep each record of the metadata log in one copy, and remove possibly uncommitted ones, with a notice."""
    for name in sorted(set(cluster), key=repr):
        mine = [n for n, other in enumerate(cluster) if other == name]
        copies = _copies(files, owner, mine)
        if copies:
            _choose(files, copies, _high_watermark(files, mine))


def _copies(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], mine: Sequence[int]
) -> list[Copy]:
    found: dict[str, Copy] = {}
    voters: dict[str, frozenset[int]] = {}
    for number in mine:
        source, reading = files[number]
        folder = str(PurePosixPath(source.path).parent)
        if reading.format == "quorum-state":
            voters[folder] = frozenset(
                voter for v in reading.properties.get("voters", "").split(",") if (voter := integer(v)) is not None
            )
        if reading.format in FORMATS and reading.topic == TOPIC:
            found.setdefault(folder, Copy(folder, owner[number])).files.append(number)
    for folder, copy in found.items():
        copy.voters = voters.get(folder, frozenset())
        parts = [
            files[number][1].batches.filter(_VOUCHED).select(pl.lit(number).alias("file"), "byte", "last_offset", *_KEY)
            for number in copy.files
            if files[number][1].batches.height
        ]
        if parts:
            copy.batches = pl.concat(parts).sort("base_offset", "byte")
    return sorted(found.values(), key=lambda copy: (*(-value for value in copy.rank), copy.folder))


def _high_watermark(files: Sequence[tuple[Source, FileReading]], mine: Sequence[int]) -> int:
    """The highest one of the quorum that any log printed."""
    known = [
        found
        for number in mine
        if files[number][1].format in ("broker-log", "trace")
        and isinstance(
            found := files[number][1]
            .observations.filter(
                (pl.col("topic") == TOPIC) & pl.col("kind").is_in([Kind.HW.value, Kind.LEADER_HW.value])
            )
            .get_column("hw")
            .max(),
            int,
        )
    ]
    return max(known, default=0)


def _choose(files: Sequence[tuple[Source, FileReading]], copies: list[Copy], high_watermark: int) -> None:
    first = copies[0]
    committed = _committed(copies, high_watermark)
    begin: int | None = None
    for copy in copies:
        usable = copy.batches
        if copy is not first and not usable.is_empty():
            usable = usable.filter(pl.col("last_offset") < (begin if begin is not None else 0))
        if committed is not None and not usable.is_empty():
            unsure = usable.filter(pl.col("last_offset") >= committed)
            usable = usable.filter(pl.col("last_offset") < committed)
            if copy is first and not unsure.is_empty():
                _say(files[unsure.item(0, "file")][1], copies, unsure)
        for number in copy.files:
            reading = files[number][1]
            if reading.format == "metadata-snapshot":
                keep = pl.lit(copy is first)
            else:
                kept = (
                    usable.filter(pl.col("file") == number).get_column("byte")
                    if usable.height
                    else pl.Series([], dtype=pl.Int64)
                )
                keep = pl.col("byte").is_in(kept.implode())
            reading.observations = reading.observations.filter(keep)
        if not copy.batches.is_empty():
            start = int(copy.batches.item(0, "base_offset"))
            begin = start if begin is None else min(begin, start)


def _committed(copies: list[Copy], high_watermark: int) -> int | None:
    """Return the first offset that is not known to be committed; None without enough copies."""
    voters = max((copy.voters for copy in copies), key=len)
    held = [copy for copy in copies if copy.node in voters]
    majority = len(voters) // 2 + 1
    if not voters or len(held) < majority:
        return high_watermark or None
    ends = sorted((_common(copies[0], copy) for copy in held), reverse=True)
    return max(ends[majority - 1], high_watermark)


def _common(first: Copy, other: Copy) -> int:
    """End of what two copies share, record by record."""
    if other is first:
        return int(first.batches.item(-1, "last_offset")) + 1 if first.batches.height else 0
    if first.batches.is_empty() or other.batches.is_empty():
        return 0
    both = first.batches.join(other.batches.select(_KEY), on=_KEY, how="semi").get_column("last_offset").max()
    return both + 1 if isinstance(both, int) else 0


def _say(reading: FileReading, copies: list[Copy], unsure: pl.DataFrame) -> None:
    begin, end = unsure.item(0, "base_offset"), unsure.item(-1, "last_offset")
    voters = max((copy.voters for copy in copies), key=len)
    said = note(
        f"metadata records {begin} to {end} are not known to be committed and are left out: "
        f"no majority of the voters ({', '.join(map(str, sorted(voters))) or 'not known'}) is seen to hold them"
    )
    reading.notices = pl.concat([reading.notices, said])
