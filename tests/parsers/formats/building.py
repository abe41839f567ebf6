"""Builds segments by hand, for what no recorded broker wrote: message format v0, bombs, lies."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import google_crc32c

DATA = Path(__file__).parent / "data"


def varint(value: int) -> bytes:
    """A zig-zag varint, as records of format v2 use it."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def record(offset_delta: int, value: bytes | None, key: bytes | None = None) -> bytes:
    """One record of format v2, without headers."""

    def sized(content: bytes | None) -> bytes:
        return varint(-1) if content is None else varint(len(content)) + content

    body = b"\0" + varint(0) + varint(offset_delta) + sized(key) + sized(value) + varint(0)
    return varint(len(body)) + body


def batch(
    base_offset: int,
    values: list[bytes],
    *,
    body: bytes | None = None,
    key: bytes | None = None,
    epoch: int = 3,
    attributes: int = 0,
    count: int | None = None,
    last_delta: int | None = None,
    time: int = 1_700_000_000_000,
) -> bytes:
    """A batch of format v2 with a right checksum, whatever its header says."""
    if body is None:
        body = b"".join(record(delta, value, key) for delta, value in enumerate(values))
    last = len(values) - 1 if last_delta is None else last_delta
    records = len(values) if count is None else count
    covered = struct.pack(">hiqqqhii", attributes, last, time, time, -1, -1, -1, records) + body
    head = struct.pack(">qiibI", base_offset, 9 + len(covered), epoch, 2, google_crc32c.value(covered))
    return head + covered


def message(
    offset: int, value: bytes | None, *, magic: int = 1, attributes: int = 0, time: int = 1_700_000_000_000
) -> bytes:
    """A message of format v0 or v1 with a right checksum."""
    stamp = struct.pack(">q", time) if magic == 1 else b""
    content = struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value
    covered = struct.pack(">bb", magic, attributes) + stamp + struct.pack(">i", -1) + content
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def unsigned(value: int) -> bytes:
    """An unsigned varint, as flexible messages use it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def compact(*brokers: int) -> bytes:
    """A compact array of broker ids."""
    return unsigned(len(brokers) + 1) + b"".join(struct.pack(">i", broker) for broker in brokers)


def text(value: str | None) -> bytes:
    """A compact nullable string."""
    return unsigned(0) if value is None else unsigned(len(value.encode()) + 1) + value.encode()


def metadata(api_key: int, body: bytes = b"", *, version: int = 0, tags: dict[int, bytes] | None = None) -> bytes:
    """The value of a record of the metadata log."""
    tags = tags or {}
    section = unsigned(len(tags)) + b"".join(
        unsigned(tag) + unsigned(len(content)) + content for tag, content in sorted(tags.items())
    )
    return unsigned(1) + unsigned(api_key) + unsigned(version) + body + section


TOPIC_ID = bytes(range(16))
TOPIC_ID_TEXT = "AAECAwQFBgcICQoLDA0ODw"


def topic_record(name: str, topic_id: bytes = TOPIC_ID) -> bytes:
    """A TopicRecord."""
    return metadata(2, text(name) + topic_id)


def partition_record(
    partition: int, isr: tuple[int, ...], leader: int, epoch: int, partition_epoch: int, elr: tuple[int, ...] = ()
) -> bytes:
    """A PartitionRecord of version 2 with replicas 1, 2 and 3."""
    body = struct.pack(">i", partition) + TOPIC_ID + compact(1, 2, 3) + compact(*isr) + compact() + compact()
    body += struct.pack(">iii", leader, epoch, partition_epoch) + unsigned(1)
    return metadata(3, body, version=2, tags={1: compact(*elr)} if elr else None)


def change_record(partition: int, **changes: int | tuple[int, ...]) -> bytes:
    """A PartitionChangeRecord of version 2 with the named changes."""
    tags: dict[int, bytes] = {}
    for tag, name in enumerate(("isr", "leader", "replicas", "removing", "adding", "recovery", "elr", "last_known")):
        value = changes.pop(name, None)
        if isinstance(value, tuple):
            tags[tag] = compact(*value)
        elif value is not None:
            tags[tag] = struct.pack(">b" if name == "recovery" else ">i", value)
    assert not changes
    return metadata(5, struct.pack(">i", partition) + TOPIC_ID, version=2, tags=tags)


def boundaries(segment: bytes) -> list[int]:
    """Where entries begin, and the end: read off the lengths alone."""
    places = [0]
    while places[-1] < len(segment):
        places.append(places[-1] + 12 + struct.unpack_from(">i", segment, places[-1] + 8)[0])
    assert places[-1] == len(segment)
    return places
