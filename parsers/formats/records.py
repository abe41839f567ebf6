"""The records inside one batch: offsets, times, keys, values and headers; markers and other control records.

The decoding is kafka-python's (``kafka.record``). It is given one batch at a time, already decompressed within a limit
and with its codec bits cleared, because the library itself expands whatever it is handed. A batch is checked against
its checksum by ``segment``; bytes that fail it should not come here.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from parsers import limits
from parsers.containment import worded
from parsers.encodings import compression
from parsers.errors import NotThisFormat
from parsers.formats.segment import wrapped_messages

NAME: Final = "records"

CONTROL_TYPES: Final = {
    0: "ABORT",
    1: "COMMIT",
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}
"""Names of control records (``ControlRecordType``); the 2.8 preview of KRaft wrote LEADER_CHANGE as 3."""

_HEADER: Final = 61
_ATTRIBUTES: Final = 22  # low byte of a v2 batch's attributes
_CODEC: Final = 0x07
_CONTROL: Final = 0x20
_APPEND_TIME: Final = 0x08
_PRODUCER: Final = struct.Struct(">qh")
_PRODUCER_AT: Final = 43


class _Library(NamedTuple):
    """The used part of kafka-python. Importing it loads the whole client, so it is imported only to decode records."""

    batch: Any
    message: Any
    broken: tuple[type[Exception], ...]  # raised on bytes that contradict themselves: its own, and plain indexing's


_importing = threading.Lock()


@cache
def _library() -> _Library:
    # Its packages import each other in a circle: two threads that begin at different ends see them half made.
    with _importing:
        return _imported()


def _imported() -> _Library:
    from kafka.errors import KafkaError
    from kafka.record.default_records import DefaultRecordBatch
    from kafka.record.legacy_records import LegacyRecordBatch

    broken = (KafkaError, ValueError, IndexError, TypeError, AssertionError, struct.error)
    return _Library(DefaultRecordBatch, LegacyRecordBatch, broken)


class Record(NamedTuple):
    """One record.

    Attributes:
        offset: its offset in the partition.
        timestamp: milliseconds since 1970 UTC, -1 where the format has none.
        key: key, or None.
        value: value, or None (a tombstone).
        headers: names and values, in order; v2 only.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class ControlRecord(NamedTuple):
    """One control record: a transaction marker, or a note of the metadata quorum.

    Attributes:
        offset: its offset in the partition.
        timestamp: milliseconds since 1970 UTC.
        type: name from ``CONTROL_TYPES``, or ``UNKNOWN(n)``.
        type_id: the number behind it.
        producer_id: the transaction's producer, -1 for records of the metadata quorum.
        producer_epoch: its epoch, or -1.
        coordinator_epoch: of a COMMIT or ABORT, where its value has the known version 0; else None.
        value: the undecoded value.
    """

    offset: int
    timestamp: int
    type: str
    type_id: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of one batch.

    Attributes:
        records: data records, in order.
        controls: control records; a batch has either these or data.
        problem: why records are missing after those listed, or None when all are there.
    """

    records: tuple[Record, ...] = ()
    controls: tuple[ControlRecord, ...] = ()
    problem: str | None = None


def decode_batch(batch: bytes | bytearray | memoryview, *, limit: int | None = None) -> Decoded:
    """Decode one batch (v2), or one message or wrapper (v0, v1).

    Args:
        batch: exactly the bytes of one entry, as ``segment`` gives byte and size.
        limit: more decompressed bytes than this are refused, with a ``problem``.

    Returns:
        What could be decoded; damage is in ``problem``, never raised.

    Raises:
        NotThisFormat: the bytes are not one whole entry of a known message format.
    """
    view = memoryview(batch)
    if len(view) < 26 or view[16] > 2 or struct.unpack_from(">i", view, 8)[0] != len(view) - 12:
        raise NotThisFormat("the bytes are not one whole record batch or message")
    if view[16] == 2:
        if len(view) < _HEADER:
            raise NotThisFormat("the bytes are too few for a record batch")
        return _decode_v2(view, limit)
    return _decode_legacy(view, limit)


def _decode_v2(view: memoryview, limit: int | None) -> Decoded:
    plain = bytearray(view[:_HEADER])
    try:
        plain += compression.decompress(view[_ATTRIBUTES] & _CODEC, bytes(view[_HEADER:]), limit=limit)
    except compression.CannotDecompress as error:
        return Decoded(problem=str(error))
    plain[_ATTRIBUTES] &= ~_CODEC & 0xFF
    is_control = bool(view[_ATTRIBUTES] & _CONTROL)
    producer_id, producer_epoch = _PRODUCER.unpack_from(view, _PRODUCER_AT)
    records: list[Record] = []
    controls: list[ControlRecord] = []
    problem, most = None, limits.RECORDS.value
    try:
        for record in _library().batch(plain):
            if len(records) + len(controls) == most:
                problem = limits.RECORDS.told("the batch is not read on after {} records")
                break
            if is_control:
                controls.append(_control(record, producer_id, producer_epoch))
            else:
                headers = tuple(record.headers)
                records.append(Record(record.offset, record.timestamp, record.key, record.value, headers))
    except _library().broken as error:
        problem = f"after {len(records) + len(controls)} records the batch cannot be decoded ({worded(error)})"
    return Decoded(tuple(records), tuple(controls), problem)


def _control(record: Any, producer_id: int, producer_epoch: int) -> ControlRecord:
    type_id: int = record.type
    value: bytes | None = record.value
    coordinator_epoch = None
    if type_id in (0, 1) and value is not None and len(value) >= 6 and value[:2] == b"\0\0":
        (coordinator_epoch,) = struct.unpack_from(">i", value, 2)
    return ControlRecord(
        record.offset,
        record.timestamp,
        CONTROL_TYPES.get(type_id, f"UNKNOWN({type_id})"),
        type_id,
        producer_id,
        producer_epoch,
        coordinator_epoch,
        value,
    )


def _decode_legacy(view: memoryview, limit: int | None) -> Decoded:
    records: list[Record] = []
    problem = None
    try:
        records = list(_wrapped(view, limit)) if view[17] & _CODEC else [_message(view, 0, None)]
    except compression.CannotDecompress as error:
        problem = str(error)
    except _library().broken as error:
        problem = f"the message cannot be decoded ({worded(error)})"
    return Decoded(tuple(records), (), problem)


def _wrapped(view: memoryview, limit: int | None) -> Iterator[Record]:
    """The messages inside a wrapper. See ``segment.wrapped_span`` for their offsets."""
    last_offset, magic, inner = wrapped_messages(view, limit=limit)
    set_view = memoryview(inner)
    bounds: list[tuple[int, int]] = []
    place = 0
    while place < len(inner):
        (length,) = struct.unpack_from(">i", inner, place + 8)
        if length < 14 or place + 12 + length > len(inner):
            raise ValueError(f"a message of length {length} stands inside")
        bounds.append((place, place + 12 + length))
        place += 12 + length
    if not bounds:
        raise ValueError("no message is inside")
    (last_inside,) = struct.unpack_from(">q", inner, bounds[-1][0])
    shift = last_offset - last_inside if magic == 1 else 0
    # With append time the broker stamps the wrapper alone.
    stamped = magic == 1 and view[17] & _APPEND_TIME
    time = struct.unpack_from(">q", view, 18)[0] if stamped else None
    if len(bounds) > limits.RECORDS.value:
        raise ValueError(limits.RECORDS.told(f"{len(bounds):,} messages are inside, more than {{}}"))
    for begin, end in bounds:
        if set_view[begin + 17] & _CODEC:
            raise ValueError("a compressed message is inside a compressed message")
        yield _message(set_view[begin:end], shift, time)


def _message(view: memoryview, shift: int, time: int | None) -> Record:
    (message,) = _library().message(view, view[16])
    if time is None:
        time = -1 if message.timestamp is None else message.timestamp
    return Record(message.offset + shift, time, message.key, message.value)
