"""Segments as brokers write them: message format 1 (0.10) and record batches, format 2 (0.11 on). Nothing is
compressed.

Layouts: ``LegacyRecord`` and ``DefaultRecordBatch`` of Kafka's clients, read at 3.9. Times are those of the run, so the
same run gives the same bytes.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import Literal

import google_crc32c

from forensics.model.state import Batch, Log
from forensics.model.trace import epoch_ms

TRANSACTIONAL, CONTROL = 0x10, 0x20
MARKERS = {"abort": 0, "commit": 1}


def _varint(number: int) -> bytes:
    """Zig-zag varint."""
    left = (number << 1) ^ (number >> 63)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def _message_v1(offset: int, value: str, at: int) -> bytes:
    body = struct.pack(">bbq", 1, 0, epoch_ms(at)) + struct.pack(">i", -1)
    data = value.encode()
    body += struct.pack(">i", len(data)) + data
    message = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", offset, len(message)) + message


def _record(delta: int, key: bytes | None, value: bytes) -> bytes:
    body = b"\0" + _varint(0) + _varint(delta)
    body += _varint(-1) if key is None else _varint(len(key)) + key
    body += _varint(len(value)) + value + _varint(0)
    return _varint(len(body)) + body


def _batch_v2(batch: Batch) -> bytes:
    at = epoch_ms(batch.at)
    attributes = (TRANSACTIONAL if batch.producer >= 0 else 0) | (CONTROL if batch.marker else 0)
    if batch.marker:
        records = _record(0, struct.pack(">hh", 0, MARKERS[batch.marker]), struct.pack(">hi", 0, 0))
    else:
        records = b"".join(_record(n, None, value.encode()) for n, value in enumerate(batch.values))
    count = batch.end - batch.base
    sequence = -1 if batch.marker else batch.sequence
    producer = (batch.producer, 0 if batch.producer >= 0 else -1, sequence if batch.producer >= 0 else -1)
    checked = struct.pack(">hiqqqhii", attributes, count - 1, at, at, *producer, count) + records
    head = struct.pack(">ibI", batch.epoch, 2, google_crc32c.value(checked))
    return struct.pack(">qi", batch.base, len(head) + len(checked)) + head + checked


def keyed(offset: int, key: bytes, value: bytes, at: int, magic: Literal[1, 2]) -> bytes:
    """Return one record with a key as a message or batch of its own, as a coordinator writes it."""
    if magic == 1:
        sized = struct.pack(">i", len(key)) + key + struct.pack(">i", len(value)) + value
        body = struct.pack(">bbq", 1, 0, epoch_ms(at)) + sized
        message = struct.pack(">I", zlib.crc32(body)) + body
        return struct.pack(">qi", offset, len(message)) + message
    times = (epoch_ms(at), epoch_ms(at))
    checked = struct.pack(">hiqqqhii", 0, 0, *times, -1, -1, -1, 1) + _record(0, key, value)
    head = struct.pack(">ibI", 0, 2, google_crc32c.value(checked))
    return struct.pack(">qi", offset, len(head) + len(checked)) + head + checked


@lru_cache(maxsize=65536)
def encode(batch: Batch, magic: Literal[1, 2]) -> bytes:
    """Return one batch as it is in a segment."""
    if magic == 2:
        return _batch_v2(batch)
    return b"".join(_message_v1(offset, value, batch.at) for offset, value in enumerate(batch.values, batch.base))


def segment(log: Log, magic: Literal[1, 2]) -> bytes:
    """A whole log as its one segment, ``00000000000000000000.log``."""
    return b"".join(encode(batch, magic) for batch in log.batches)


def size(batches: list[Batch], magic: Literal[1, 2]) -> int:
    """Bytes that batches take on disk."""
    return sum(len(encode(batch, magic)) for batch in batches)
