"""One metadata log from the copies that every KRaft node keeps: each decision once, and only committed ones.

All nodes hold the same records, except that the end of a copy may never have been committed and may differ. The copy
with the highest epoch and then the highest end is used for all, as it would win an election (KIP-595). Another copy
only adds records from before its start. A record is committed if a majority of the voters hold it, or if a high
watermark of the quorum beyond it was printed. The high watermark itself is in no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
        folder = source.folder
        if reading.format == "quorum-state":
            voters[folder] = _voters(reading)
        if reading.format in FORMATS and reading.topic == TOPIC:
            found.setdefault(folder, Copy(folder, owner[number])).files.append(number)
    for folder, copy in found.items():
        copy.voters = voters.get(folder, frozenset())
        copy.batches = _sound_batches(files, copy.files)
    return sorted(found.values(), key=lambda copy: (*(-value for value in copy.rank), copy.folder))


def _voters(quorum_state: FileReading) -> frozenset[int]:
    """Return the voters of the quorum that a ``quorum-state`` lists."""
    listed = quorum_state.properties.get("voters", "").split(",")
    return frozenset(voter for text in listed if (voter := integer(text)) is not None)


def _sound_batches(files: Sequence[tuple[Source, FileReading]], numbers: Sequence[int]) -> pl.DataFrame:
    """Return the sound batches of some files, as ``Copy.batches`` holds them; a frame without columns if
    none has any.
    """
    parts = [
        files[number][1].batches.filter(_VOUCHED).select(pl.lit(number).alias("file"), "byte", "last_offset", *_KEY)
        for number in numbers
        if files[number][1].batches.height
    ]
    return pl.concat(parts).sort("base_offset", "byte") if parts else pl.DataFrame()


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
    committed = _committed(copies, high_watermark)
    if committed is not None:
        _say_uncommitted(files, copies, committed)
    for at, copy in enumerate(copies):
        usable = _below(copy.batches, _begin(copies[:at])) if at else copy.batches
        if committed is not None:
            usable = _below(usable, committed)
        for number in copy.files:
            _keep(files[number][1], _bytes_of(usable, number), snapshots=at == 0)


def _begin(copies: Sequence[Copy]) -> int:
    """Return the first offset that any of the copies holds; 0 if they hold nothing."""
    return min((int(copy.batches.item(0, "base_offset")) for copy in copies if copy.batches.height), default=0)


def _keep(reading: FileReading, begins: pl.Series, *, snapshots: bool) -> None:
    """Remove the records of a file that do not count: those of a log whose batch does not begin at one of the bytes."""
    if reading.format == "metadata-snapshot":
        keep = pl.lit(snapshots)
    else:
        keep = pl.col("byte").is_in(begins.implode())
    reading.observations = reading.observations.filter(keep)


def _below(batches: pl.DataFrame, end: int) -> pl.DataFrame:
    """Return the batches whose records are all below an offset; a frame without rows may lack the columns."""
    return batches if batches.is_empty() else batches.filter(pl.col("last_offset") < end)


def _bytes_of(batches: pl.DataFrame, number: int) -> pl.Series:
    """Return where the batches of one file begin in it."""
    return batches.filter(pl.col("file") == number).get_column("byte") if batches.height else NOWHERE


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


def _say_uncommitted(files: Sequence[tuple[Source, FileReading]], copies: list[Copy], committed: int) -> None:
    """Add a notice to the first file of the first copy with batches that may be uncommitted, if there are any."""
    if copies[0].batches.is_empty():
        return
    unsure = copies[0].batches.filter(pl.col("last_offset") >= committed)
    if unsure.is_empty():
        return
    reading = files[unsure.item(0, "file")][1]
    begin, end = unsure.item(0, "base_offset"), unsure.item(-1, "last_offset")
    voters = max((copy.voters for copy in copies), key=len)
    said = note(
        f"metadata records {begin} to {end} are not known to be committed and are left out: "
        f"no majority of the voters ({', '.join(map(str, sorted(voters))) or 'not known'}) is seen to hold them"
    )
    reading.notices = pl.concat([reading.notices, said])
