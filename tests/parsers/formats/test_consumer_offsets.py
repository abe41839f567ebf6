"""Positions of consumer groups in segments of ``__consumer_offsets``."""

from __future__ import annotations

import gzip
import struct
import zlib

import google_crc32c
import pytest

from parsers.encodings.kraft_records import Unreadable
from parsers.file_reading import FileReading
from parsers.formats.consumer_offsets import Commit, read_commit
from parsers.read import read
from tests.parsers.formats.building import record, unsigned
from tests.parsers.handing_over import source

PATH = "b1/data/__consumer_offsets-3/00000000000000000000.log"
NOW = 1_700_000_000_000
SECRET = "what an application keeps"


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def key(group: str = "billing", topic: str = "orders", partition: int = 2, version: int = 1) -> bytes:
    return struct.pack(">h", version) + text(group) + text(topic) + struct.pack(">i", partition)


def value(position: int, epoch: int = -1, *, version: int = 3, time: int = NOW) -> bytes:
    if version == 4:
        kept = SECRET.encode()
        stored = unsigned(len(kept) + 1) + kept + struct.pack(">q", time) + b"\0"
        return struct.pack(">hqi", 4, position, epoch) + stored
    head = struct.pack(">hq", version, position) + (struct.pack(">i", epoch) if version == 3 else b"")
    return head + text(SECRET) + struct.pack(">q", time) + (struct.pack(">q", time + 1) if version == 1 else b"")


def batch(
    offset: int, *pairs: tuple[bytes, bytes | None], codec: int = 0, producer: int = -1, marker: int | None = None
) -> bytes:
    """A record batch of format v2; ``marker`` ends a transaction (1 commits it, 0 aborts it)."""
    records = b"".join(record(delta, content, named) for delta, (named, content) in enumerate(pairs))
    if marker is not None:
        records = record(0, struct.pack(">hi", 0, 7), struct.pack(">hh", 0, marker))
    count = max(len(pairs), 1)
    body = gzip.compress(records) if codec == 1 else records
    attributes = codec | (0x10 if producer >= 0 else 0) | (0x20 if marker is not None else 0)
    whose = (producer, 0 if producer >= 0 else -1, 0 if producer >= 0 else -1)
    covered = struct.pack(">hiqqqhii", attributes, count - 1, NOW, NOW, *whose, count) + body
    return struct.pack(">qiibI", offset, 9 + len(covered), 0, 2, google_crc32c.value(covered)) + covered


def message(offset: int, named: bytes, content: bytes | None, magic: int) -> bytes:
    """A message of format v0 or v1."""
    stamp = struct.pack(">q", NOW) if magic == 1 else b""
    stated = struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content
    covered = struct.pack(">bb", magic, 0) + stamp + struct.pack(">i", len(named)) + named + stated
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def reading(*batches: bytes) -> FileReading:
    return read(source(b"".join(batches), PATH))


def positions(*batches: bytes) -> list[tuple[str, int | None, int | None]]:
    """Group, position and leader epoch of each row."""
    rows = reading(*batches).observations
    return rows.select("detail", "offset", "leader_epoch").rows()


def test_the_first_row() -> None:
    found = reading(batch(0, (key(), value(17, 5))))
    assert (found.format, found.topic, found.partition, found.zone) == ("segment", "__consumer_offsets", 3, "UTC")
    assert found.notices.is_empty()
    row = {name: stated for name, stated in found.observations.row(0, named=True).items() if stated is not None}
    assert row.pop("time").isoformat() == "2023-11-14T22:13:20"
    assert row == {
        "topic": "orders",
        "partition": 2,
        "kind": "group_committed",
        "message": "consumer-offsets",
        "leader_epoch": 5,
        "offset": 17,
        "leo": 1,
        "detail": "billing",
        "byte": 0,
    }


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
def test_each_version_of_a_value(version: int) -> None:
    epoch = 5 if version >= 3 else None
    for of_key in (0, 1):
        read_back = read_commit(key(version=of_key), value(17, 5, version=version))
        assert read_back == Commit("billing", "orders", 2, 17, epoch, NOW * 1000)
    assert read_commit(key(), value(17, -1, version=version)) == Commit("billing", "orders", 2, 17, None, NOW * 1000)


def test_what_applications_store_is_not_read() -> None:
    assert SECRET not in str(reading(batch(0, (key(), value(17, 5)))).observations.rows())


@pytest.mark.parametrize("version", [2, 3, 5, 12])
def test_the_members_of_groups_are_not_read(version: int) -> None:
    found = reading(batch(0, (struct.pack(">h", version) + text("billing"), b"\0\3anything")))
    assert (found.observations.height, found.notices.height) == (0, 0)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_message_formats(magic: int) -> None:
    sent = message(0, key(version=0), value(4, version=0), magic), message(1, key(), value(9, version=1), magic)
    assert positions(*sent) == [("billing", 4, None), ("billing", 9, None)]


def test_a_compressed_batch_of_several_groups() -> None:
    sent = batch(0, (key("a"), value(1, 0)), (key("b"), value(2, 0)), (key("a", partition=0), value(3, 0)), codec=1)
    assert positions(sent) == [("a", 1, 0), ("b", 2, 0), ("a", 3, 0)]


def test_of_commits_that_move_on_in_one_epoch_the_first_and_the_last_count() -> None:
    sent = [batch(n, (key(), value(position, epoch))) for n, (position, epoch) in enumerate(COMMITS)]
    assert positions(*sent) == [("billing", *one) for one in ((3, 0), (9, 0), (12, 1), (2, 1), (8, 1))]
    # The place of a commit is that of its batch.
    assert reading(*sent).observations.item(1, "byte") == 2 * len(sent[0])


COMMITS = [(3, 0), (5, 0), (9, 0), (9, 0), (12, 1), (2, 1), (4, 1), (8, 1)]


def test_a_tombstone_takes_the_place_of_what_was_committed_before() -> None:
    sent = batch(0, (key(), value(9, 0))), batch(1, (key(), None)), batch(2, (key(), value(2, 0)))
    assert positions(*sent) == [("billing", None, None), ("billing", 2, 0)]
    assert positions(*sent[:2]) == [("billing", None, None)]
    assert reading(*sent).observations.item(0, "time") is not None


@pytest.mark.parametrize(("marker", "found"), [(1, [("billing", 9, 0)]), (0, []), (None, [])])
def test_what_a_transaction_commits_counts_once_it_was_committed(
    marker: int | None, found: list[tuple[str, int, int]]
) -> None:
    ends = [batch(1, producer=7, marker=marker)] if marker is not None else []
    other = batch(2, producer=8, marker=1)
    assert positions(batch(0, (key(), value(9, 0)), producer=7), *ends, other) == found


@pytest.mark.parametrize(
    ("named", "content", "why"),
    [
        (key(), value(17, 5)[:-3], "8 bytes are due"),
        (key(), b"\0\x09" + value(17, 5)[2:], "unknown version 9"),
        (key(), value(-4, 5), "position -4"),
        (key(topic="no topic"), value(17, 5), "names no group"),
        (key()[:-2], value(17, 5), "bytes are due"),
        (b"\0\1\0\1\xff" + text("orders") + bytes(4), value(17, 5), "no text"),
    ],
)
def test_a_damaged_record_is_a_notice_and_the_others_are_read(named: bytes, content: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_commit(named, content)
    first, whole = batch(0, (key("a"), value(1, 0))), (key("b"), value(2, 0))
    found = reading(first, batch(1, (named, content), (named, content), whole))
    assert found.observations.get_column("detail").to_list() == ["a", "b"]
    (notice,) = found.notices.iter_rows(named=True)
    assert notice["reason"] == "2 records of __consumer_offsets cannot be read"
    assert (notice["byte"], why in notice["excerpt"]) == (len(first), True)


def test_a_batch_with_a_wrong_checksum_is_not_read() -> None:
    sent = bytearray(batch(0, (key(), value(9, 0))))
    sent[-1] ^= 1
    found = reading(bytes(sent))
    assert (found.observations.height, found.notices.height) == (0, 1)


def test_a_file_cut_at_any_byte_is_read_with_a_notice() -> None:
    sent = [batch(n, (key(), value(10 + n, n))) for n in range(3)]
    whole, ends = b"".join(sent), [sum(map(len, sent[:n])) for n in range(4)]
    for cut in range(len(whole)):
        found = reading(whole[:cut])
        assert found.observations.height == sum(end <= cut for end in ends[1:])
        assert found.notices.is_empty() == (cut in ends)


def test_segments_of_other_topics_are_not_looked_into() -> None:
    found = read(source(batch(0, (key(), value(17, 5))), PATH.replace("__consumer_offsets", "orders")))
    assert (found.observations.height, found.batches.height) == (0, 1)
