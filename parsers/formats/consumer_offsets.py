"""Positions that consumer groups committed, from the segments of ``__consumer_offsets``.

Keys and values of these records are Kafka's own (``GroupMetadataManager`` and ``OffsetCommitKey`` up to 3.x,
``CoordinatorRecordSerde`` of the group coordinator since). A key of version 0 or 1 is a position: group, topic and
partition. Its value of version 0 to 4 holds the offset, from 3 on the leader epoch, and the time of the commit. A value
that is missing (a tombstone) removes the position: the group or the topic was deleted, or the position expired. Keys
of other versions are the members of groups, which are not read. Nor is the text that an application may store with a
position.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple

import polars as pl

from parsers.encodings.kraft_records import Cursor, Unreadable
from parsers.errors import NotThisFormat
from parsers.formats.records import Decoded, decode_batch
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "consumer-offsets"
TOPIC: Final = "__consumer_offsets"

_POSITION_KEYS: Final = (0, 1)
_EPOCH_SINCE: Final = 3  # KIP-320, Kafka 2.1
_FLEXIBLE_SINCE: Final = 4  # KIP-915
_TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_LATEST: Final = 253402300799999  # the year 9999, in milliseconds
_CHUNK: Final = 1 << 20


class Commit(NamedTuple):
    """One commit.

    Attributes:
        group, topic, partition: whose position, and where.
        position: offset of the next record that the group reads; None of a tombstone.
        leader_epoch: leader epoch of the last record that was read before the commit, as the client states it; None
            if it states none.
        time: of the commit, microseconds since 1970 UTC; None if unknown. The coordinator's clock, except where a
            client states a time of its own (version 1 of the request, up to Kafka 3.x).
    """

    group: str
    topic: str
    partition: int
    position: int | None
    leader_epoch: int | None = None
    time: int | None = None


def read_commit(key: bytes, value: bytes | None, timestamp: int = -1) -> Commit | None:
    """Return the commit that a record states; None of a record about something else.

    Args:
        key, value: of the record.
        timestamp: of the record, milliseconds since 1970 UTC. It is the time of a tombstone.

    Raises:
        Unreadable: no layout fits the bytes.
    """
    cursor = Cursor(key)
    if _short(cursor) not in _POSITION_KEYS:
        return None
    group, topic, partition = _text(cursor), _text(cursor), _int(cursor)
    if cursor.place != len(key) or partition < 0 or _TOPIC_NAME.match(topic) is None:
        raise Unreadable("the key names no group, topic and partition")
    if value is None:
        return Commit(group, topic, partition, None, time=_time(timestamp))
    return Commit(group, topic, partition, *_value(Cursor(value)))


def _value(cursor: Cursor) -> tuple[int, int | None, int | None]:
    version = _short(cursor)
    if not 0 <= version <= _FLEXIBLE_SINCE:
        raise Unreadable(f"a position of unknown version {version}")
    position = _long(cursor)
    epoch = _int(cursor) if version >= _EPOCH_SINCE else -1
    length = cursor.unsigned_varint() - 1 if version >= _FLEXIBLE_SINCE else _short(cursor)
    cursor.take(length)
    time = _long(cursor)
    if position < 0:
        raise Unreadable(f"position {position}")
    return position, epoch if epoch >= 0 else None, _time(time)


def _time(milliseconds: int) -> int | None:
    return milliseconds * 1000 if 0 <= milliseconds <= _LATEST else None


def _short(cursor: Cursor) -> int:
    return int(struct.unpack(">h", cursor.take(2))[0])


def _int(cursor: Cursor) -> int:
    return int(struct.unpack(">i", cursor.take(4))[0])


def _long(cursor: Cursor) -> int:
    return int(struct.unpack(">q", cursor.take(8))[0])


def _text(cursor: Cursor) -> str:
    try:
        return cursor.take(_short(cursor)).decode()
    except UnicodeDecodeError as error:
        raise Unreadable("a name that is no text") from error


class _Placed(NamedTuple):
    """A commit, the offset of its record, and where its batch begins in the file."""

    commit: Commit
    offset: int
    byte: int


class _Positions:
    """The positions of each group in each partition, as far as the commits so far show them.

    Of commits of one leader epoch that follow each other and move forward, the first and the last count: the others add
    nothing. A commit that repeats the position before it adds nothing either.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, int], list[_Placed]] = {}

    def add(self, placed: _Placed) -> None:
        """Add a commit, in the order of the log."""
        commit = placed.commit
        kept = self._kept.setdefault((commit.group, commit.topic, commit.partition), [])
        if commit.position is None:
            kept[:] = [placed]
            return
        last = [one.commit for one in kept[-2:]]
        if last and (last[-1].position, last[-1].leader_epoch) == (commit.position, commit.leader_epoch):
            return
        if len(last) == 2 and _goes_on(last[0], last[1]) and _goes_on(last[1], commit):
            kept.pop()
        kept.append(placed)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each position that is kept, group by group in the order of the log."""
        return [
            {
                "topic": one.commit.topic,
                "partition": one.commit.partition,
                "kind": Kind.GROUP_COMMITTED,
                "message": NAME,
                "time": one.commit.time,
                "leader_epoch": one.commit.leader_epoch,
                "offset": one.commit.position,
                "leo": one.offset + 1,
                "detail": one.commit.group,
                "byte": one.byte,
            }
            for kept in self._kept.values()
            for one in kept
        ]


def _goes_on(one: Commit, two: Commit) -> bool:
    """Return whether a commit moves on from another one within one leader epoch."""
    both = one.position is not None and two.position is not None
    return both and one.leader_epoch == two.leader_epoch and (one.position or 0) <= (two.position or 0)


class _Reader:
    """Reads batches in order. What a transaction commits counts once its marker shows that it was not aborted."""

    def __init__(self) -> None:
        self.positions = _Positions()
        self.notices = Notices()
        self._open: dict[int, list[_Placed]] = {}

    def take(self, data: bytes, row: dict[str, Any]) -> None:
        """Read a batch.

        Args:
            data: its bytes.
            row: its header, as ``BATCHES`` has it.
        """
        byte = row["byte"]
        try:
            decoded = decode_batch(data)
        except NotThisFormat as error:
            self.notices.add(f"positions of consumer groups are not read: {error}", byte=byte)
            return
        if decoded.problem is not None:
            self.notices.add(f"positions of consumer groups are not read: {decoded.problem}", byte=byte)
        commits = self._commits(decoded, byte)
        if row["transactional"]:
            self._open.setdefault(row["producer_id"], []).extend(commits)
        else:
            for one in commits:
                self.positions.add(one)
        for marker in decoded.controls:
            waiting = self._open.pop(marker.producer_id, [])
            for one in waiting if marker.type == "COMMIT" else ():
                self.positions.add(one._replace(offset=marker.offset))

    def _commits(self, decoded: Decoded, byte: int) -> list[_Placed]:
        found, bad = list[_Placed](), list[str]()
        for record in decoded.records:
            try:
                commit = read_commit(record.key, record.value, record.timestamp) if record.key is not None else None
            except Unreadable as error:
                bad.append(f"offset {record.offset}: {error}")
                continue
            if commit is not None:
                found.append(_Placed(commit, record.offset, byte))
        if bad:
            count = "1 record" if len(bad) == 1 else f"{len(bad)} records"
            self.notices.add(f"{count} of {TOPIC} cannot be read", excerpt=bad[0], byte=byte)
        return found


def read_positions(stream: BinaryIO, batches: pl.DataFrame) -> Reading:
    """Read the positions in a segment.

    A transaction that has no marker in the same segment does not count. If a segment was compacted, older positions of
    a group are gone from it, and those that are left still count.

    Args:
        stream: the segment.
        batches: its sound batches, rows of ``BATCHES`` in the order of the file.

    Returns:
        ``group_committed`` rows: of commits that move forward within a leader epoch the first and the last one, and
        tombstones, without an offset, in the place of all that was committed before.
    """
    reader, place = _Reader(), 0
    for row in batches.iter_rows(named=True):
        skipped = _skip(stream, row["byte"] - place)
        data = stream.read(row["size"]) if skipped else b""
        if len(data) < row["size"]:
            break  # the file was truncated meanwhile
        place = row["byte"] + row["size"]
        reader.take(data, row)
    return Reading(observations(reader.positions.rows()), reader.notices.frame())


def _skip(stream: BinaryIO, count: int) -> bool:
    """Read over bytes; return whether there were as many."""
    return all(len(stream.read(size)) == size for size in _chunks(count))


def _chunks(count: int) -> Iterator[int]:
    while count > 0:
        yield min(count, _CHUNK)
        count -= _CHUNK
