"""Log segments: the batch headers of a ``.log`` file, and every damaged place.

A segment is a series of entries, each with a 12-byte frame (int64 offset, int32 length of what follows). Message format
v2 (Kafka 0.11+) has record batches with a 61-byte header (``DefaultRecordBatch``). v0 and v1 (up to 0.10, or a topic
with an old ``message.format.version``) have single messages, or wrapper messages with a compressed message set inside
(``LegacyRecord``). One file may contain all three.

Only headers are read. Payloads are neither decompressed nor read, with two exceptions: the checksum, and the wrappers
of v0 and v1, whose first offset is only inside.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

import google_crc32c
import numpy as np
import numpy.typing as npt
import polars as pl

from parsers.encodings import compression
from parsers.encodings.segment_neighbours import misplaced
from parsers.errors import NotThisFormat
from parsers.filled import filled
from parsers.reading import Notices
from parsers.schema import BATCHES, DamageKind, conform, empty

NAME: Final = "segment"

Data = bytes | bytearray | memoryview
"""The bytes of a whole segment."""

_FRAME: Final = 12
_HAS_HORIZON: Final = 64
"""Bit of a batch's attributes: its base timestamp is the delete horizon of its tombstones (KIP-534)."""
_HEADER: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("records", ">i4"),
    ]
)
_LEGACY: Final = np.dtype(
    [
        ("offset", ">i8"),
        ("length", ">i4"),
        ("crc", ">u4"),
        ("magic", "i1"),
        ("attributes", "i1"),
        ("timestamp", ">i8"),  # v1 only; in v0 the key's length is here
    ]
)
_LEAST: Final = (14, 22, 49)  # least length field by message format
_V2: Final = 2
_CRC_FROM: Final = (16, 16, 21)  # first byte under the checksum by message format
_SEARCH: Final = 4 * 1024 * 1024  # bytes searched for a sound batch beyond an unreadable place
_SEARCH_CRC: Final = 64 * 1024 * 1024  # bytes checksummed in that search at most
_LARGEST: Final = 1 << 30  # log.segment.bytes by default; a batch never spans segments
_STEP: Final = 16 * 1024 * 1024  # bytes of a stream that are looked at together
_LAST_LONG: Final = (1 << 63) - 1
_RELATIVE: Final = (1 << 31) - 1  # offsets in a segment's index are int32 above its base (LogSegment, OffsetIndex)

_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SegmentScan:
    """Contents of one segment file.

    Attributes:
        batches: rows of ``BATCHES``, in file order; a batch whose checksum fails is listed, with ``crc_ok`` false.
        notices: rows of ``NOTICES``, each with its ``kind``.
        size: bytes in the file.
        valid_bytes: bytes before the first place that Kafka's log recovery would refuse, and at which it would
            truncate.
        recovery_end_offset: log end offset after such a recovery.
        log_end_offset: next offset after the last sound batch, as in Kafka without recovery; the file's base offset
            without a sound batch, None if that is unknown too.
        magic: message formats in the file.
        sound: for each batch, whether its checksum is right and its offsets are possible: by its own header, by the
            name of the file, and by the batches around it.
    """

    batches: pl.DataFrame
    notices: pl.DataFrame
    size: int
    valid_bytes: int
    recovery_end_offset: int | None
    log_end_offset: int | None
    magic: frozenset[int]
    sound: pl.Series = field(compare=False, repr=False)

    def placed(self) -> pl.DataFrame:
        """Batches with possible offsets; the others do not show what is at the offsets they name."""
        return self.batches.filter(self.sound | (pl.col("crc_ok") == False).fill_null(value=False))  # noqa: E712


def read_segment(
    data: Data | BinaryIO,
    *,
    verify_crc: bool = True,
    base_offset: int | None = None,
    limit: int | None = None,
    step: int = _STEP,
) -> SegmentScan:
    """Read the headers of a segment.

    Kafka cannot read bytes behind an unreadable length or format: they are reported and not read. If a sound v2 batch
    is behind, the notice names its place.

    Args:
        data: the whole file, or a stream of it, of which no more than ``step`` bytes and one batch are held. A file
            that a broker may still truncate must be given as a stream: touching a mapped page that is gone ends the
            process.
        verify_crc: check every batch (CRC-32C for v2, CRC-32 for v0 and v1); costs a pass over all bytes.
        base_offset: the base offset in the file's name; None for bytes without a name, which then must begin with a
            readable header.
        limit: decompressed bytes of one v0 or v1 wrapper that are read.
        step: bytes of a stream that are read together.

    Raises:
        NotThisFormat: without a base offset, bytes that do not begin with a batch or message.
    """
    ahead = _Ahead(data)
    parts: list[pl.DataFrame] = []
    told: list[pl.DataFrame] = []
    soundness: list[pl.Series] = []
    while True:
        ahead.fill(step)
        view = ahead.view
        places, stop = _walk(view)
        magic = np.frombuffer(view, dtype=np.uint8)[places + 16] if len(places) else np.empty(0, dtype=np.uint8)
        bad = _first_misfit(view, places, magic)
        if bad is not None:
            stop = int(places[bad])
            places, magic = places[:bad], magic[:bad]
        if base_offset is None and view.nbytes and not len(places) and ahead.begin == 0 and not ahead.goes_on(stop):
            raise NotThisFormat("the bytes do not begin with a Kafka record batch or message")
        notices = Notices()
        batches = _rows(view, places, magic, verify_crc=verify_crc, limit=limit, notices=notices)
        sound = _judge(view, batches, base_offset, notices)
        parts.append(_moved(batches, ahead.begin))
        soundness.append(sound)
        told.append(_moved(notices.frame(), ahead.begin))
        entry = ahead.goes_on(stop) if bad is None else 0
        ahead.drop(stop)
        if not entry:
            break
        step = max(step, entry)
    stop = ahead.begin
    notices = Notices()
    _explain(ahead, notices)
    batches, sound = pl.concat(parts), pl.concat(soundness)
    sound = _in_place(batches, sound, base_offset, notices)
    return SegmentScan(
        batches=batches,
        notices=pl.concat([*told, notices.frame()]),
        size=ahead.end(),
        valid_bytes=_valid_bytes(batches, sound, stop),
        recovery_end_offset=_end(batches.filter(sound.cum_min()), base_offset),
        log_end_offset=_end(batches.filter(sound), base_offset),
        magic=frozenset(batches.get_column("magic").unique().to_list()),
        sound=sound,
    )


class _Ahead:
    """The bytes of a file from a place on, as many as were requested.

    Attributes:
        begin: place of the first of them.
        view: those that are loaded.
    """

    def __init__(self, data: Data | BinaryIO) -> None:
        self.begin = 0
        self._stream = None if isinstance(data, Data) else data
        self.view = memoryview(data if isinstance(data, Data) else b"")

    def fill(self, size: int) -> None:
        """Load at least that many bytes, or all that are left."""
        parts = [self.view] if len(self.view) else []
        missing = size - len(self.view)
        while self._stream is not None and missing > 0:
            data = self._stream.read(missing)
            missing -= len(data)
            if data:
                parts.append(memoryview(data))
            else:
                self._stream = None
        if parts:
            self.view = parts[0] if len(parts) == 1 else memoryview(b"".join(parts))

    def drop(self, count: int) -> None:
        """Advance by so many bytes."""
        self.begin += count
        self.view = self.view[count:]

    def goes_on(self, place: int) -> int:
        """Bytes of an entry that begins at a place in ``view`` and ends behind it, at least; 0 where none can."""
        left = len(self.view) - place
        if self._stream is None:
            return 0
        if left < _FRAME + 5:
            return _FRAME + 5
        length, magic = struct.unpack_from(">i", self.view, place + 8)[0], self.view[place + 16]
        return int(length) + _FRAME if magic <= 2 and _LEAST[magic] <= length <= _LARGEST else 0

    def end(self) -> int:
        """Size of the file; nothing is left to be read then."""
        self.begin += len(self.view)
        self.view = memoryview(b"")
        while self._stream is not None and (count := len(self._stream.read(1 << 20))):
            self.begin += count
        self._stream = None
        return self.begin


def _moved(rows: pl.DataFrame, by: int) -> pl.DataFrame:
    return rows.with_columns(pl.col("byte") + by) if by else rows


def _walk(view: memoryview) -> tuple[_Places, int]:
    """Return where entries begin, by their lengths alone, and where that ends."""
    length_at = struct.Struct(">i").unpack_from
    size = len(view)
    last = size - _FRAME
    places: list[int] = []
    place = 0
    while place <= last:
        length = length_at(view, place + 8)[0]
        end = place + _FRAME + length
        if length < _LEAST[0] or end > size:
            break
        places.append(place)
        place = end
    return np.array(places, dtype=np.int64), place


def _first_misfit(view: memoryview, places: _Places, magic: _Bytes) -> int | None:
    """Index of the first entry of an unknown format, or too small for its format."""
    if not len(places):
        return None
    sizes = np.diff(places, append=places[-1] + _entry_size(view, int(places[-1])))
    misfit = (magic > 2) | (sizes - _FRAME < np.array(_LEAST)[np.minimum(magic, 2)])
    return int(misfit.argmax()) if misfit.any() else None


def _entry_size(view: memoryview, place: int) -> int:
    return _FRAME + int(struct.unpack_from(">i", view, place + 8)[0])


def intact(batch: bytes) -> bool:
    """Return whether bytes are one whole batch or message with the checksum that it states (CRC-32C, before v2 CRC-32).

    >>> intact(b"no batch")
    False
    """
    view = memoryview(batch)
    if len(view) < _FRAME + _LEAST[0] or view[16] > _V2 or _entry_size(view, 0) != len(view):
        return False
    if len(view) - _FRAME < _LEAST[view[16]]:
        return False
    begin = _CRC_FROM[view[16]]
    found = google_crc32c.value(batch[begin:]) if view[16] == _V2 else zlib.crc32(view[begin:])
    (stated,) = struct.unpack_from(">I", view, begin - 4)
    return bool(found == stated)


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(
    view: memoryview, places: _Places, magic: _Bytes, *, verify_crc: bool, limit: int | None, notices: Notices
) -> pl.DataFrame:
    raw = np.frombuffer(view, dtype=np.uint8)
    parts = []
    if (magic == 2).any():
        parts.append(_batch_rows(view, raw, places[magic == 2], verify_crc))
    if (magic < 2).any():
        parts.append(_legacy_rows(view, raw, places[magic < 2], verify_crc, limit, notices))
    if not parts:
        return empty(BATCHES)
    return parts[0] if len(parts) == 1 else pl.concat(parts).sort("byte")


def _gather(raw: _Bytes, places: _Places, header: np.dtype[np.void]) -> npt.NDArray[np.void]:
    windows = np.lib.stride_tricks.sliding_window_view(raw, header.itemsize)
    return windows[places].view(header)[:, 0]


def _native(headers: npt.NDArray[np.void], field: str) -> npt.NDArray[Any]:
    column = headers[field]
    return column.astype(column.dtype.newbyteorder("="))


def _batch_rows(view: memoryview, raw: _Bytes, places: _Places, verify_crc: bool) -> pl.DataFrame:
    headers = _gather(raw, places, _HEADER)
    sizes = _native(headers, "length").astype(np.int64) + _FRAME
    base_offset = _native(headers, "base_offset")
    attributes = _native(headers, "attributes")
    crc = _native(headers, "crc")
    columns: dict[str, npt.NDArray[Any] | pl.Series] = {
        "byte": places,
        "size": sizes,
        "base_offset": base_offset,
        "last_offset": base_offset + _native(headers, "last_offset_delta"),
        "leader_epoch": _native(headers, "leader_epoch"),
        "magic": headers["magic"],
        "crc": crc,
        "records": _native(headers, "records"),
        "codec": attributes & 7,
        "timestamp_type": attributes >> 3 & 1,
        "transactional": (attributes & 16) != 0,
        "control": (attributes & 32) != 0,
        "producer_id": _native(headers, "producer_id"),
        "producer_epoch": _native(headers, "producer_epoch"),
        "base_sequence": _native(headers, "base_sequence"),
        "max_timestamp": _native(headers, "max_timestamp"),
    }
    if verify_crc:
        checksum = google_crc32c.value
        begin = _CRC_FROM[2]
        # The library takes bytes only, hence the copy.
        pairs = zip(places.tolist(), sizes.tolist(), strict=True)
        found = (checksum(bytes(view[place + begin : place + size])) for place, size in pairs)
        columns["crc_ok"] = np.fromiter(found, dtype=np.uint32, count=len(places)) == crc
    rows = pl.DataFrame(columns)
    if (horizon := (attributes & _HAS_HORIZON) != 0).any():
        times = pl.Series(_native(headers, "base_timestamp"))
        rows = rows.with_columns(pl.when(pl.Series(horizon)).then(times).alias("delete_horizon"))
    return conform(rows, BATCHES)


def _legacy_rows(
    view: memoryview, raw: _Bytes, places: _Places, verify_crc: bool, limit: int | None, notices: Notices
) -> pl.DataFrame:
    headers = _gather(raw, places, _LEGACY)
    sizes = _native(headers, "length").astype(np.int64) + _FRAME
    offset = _native(headers, "offset")
    magic = headers["magic"]
    attributes = headers["attributes"]
    crc = _native(headers, "crc")
    rows = pl.DataFrame(
        {
            "byte": places,
            "size": sizes,
            "base_offset": offset,
            "last_offset": offset,
            "magic": magic,
            "crc": crc,
            "records": np.ones(len(places), dtype=np.int32),
            "codec": attributes & 7,
            "timestamp_type": attributes >> 3 & 1,
            "transactional": np.zeros(len(places), dtype=bool),
            "control": np.zeros(len(places), dtype=bool),
            "max_timestamp": np.where(magic == 1, _native(headers, "timestamp"), -1),
        }
    ).with_columns(pl.when(pl.col("magic") == 1).then("timestamp_type"))  # v0 has no time at all
    if verify_crc:
        begin = _CRC_FROM[0]
        pairs = zip(places.tolist(), sizes.tolist(), strict=True)
        found = (zlib.crc32(view[place + begin : place + size]) for place, size in pairs)
        rows = rows.with_columns(crc_ok=np.fromiter(found, dtype=np.uint32, count=len(places)) == crc)
    rows = conform(rows, BATCHES)
    if (rows["codec"] != 0).any():
        rows = _unwrap(view, rows, limit, notices)
    return rows


def _unwrap(view: memoryview, rows: pl.DataFrame, limit: int | None, notices: Notices) -> pl.DataFrame:
    """Fill ``base_offset`` and ``records`` of compressed wrappers from the messages inside; null where unreadable."""
    base_offset = rows["base_offset"].to_list()
    records: list[int | None] = rows["records"].to_list()
    for index, row in enumerate(rows.iter_rows(named=True)):
        if row["codec"] == 0:
            continue
        base_offset[index] = records[index] = None
        if row["crc_ok"] is False:
            continue  # it has a notice of its own
        place = row["byte"]
        try:
            base_offset[index], records[index] = wrapped_span(view[place : place + row["size"]], limit=limit)
        except (compression.CannotDecompress, ValueError, struct.error) as error:
            notices.add(
                f"{DamageKind.BAD_WRAPPER}: {error}; its first offset is unknown",
                kind=DamageKind.BAD_WRAPPER,
                excerpt=_hex(view, place, row["size"]),
                byte=place,
            )
    return rows.with_columns(
        pl.Series("base_offset", base_offset, dtype=pl.Int64), pl.Series("records", records, dtype=pl.Int32)
    )


def wrapped_span(message: memoryview, *, limit: int | None = None) -> tuple[int, int]:
    """First offset and number of the messages inside a compressed v0 or v1 message.

    The wrapper carries the offset of its last message. Inside, v0 has absolute offsets, v1 offsets relative to the
    first one that was produced (KIP-31, ``AbstractLegacyRecordBatch.DeepRecordsIterator``).

    Raises:
        CannotDecompress: the value is damaged or expands beyond the limit.
        ValueError: lengths inside contradict each other.
    """
    offset, magic, inner = wrapped_messages(message, limit=limit)
    offsets: list[int] = []
    place = 0
    while place < len(inner):
        if len(inner) - place < _FRAME + _LEAST[0]:
            raise ValueError("the message set inside ends early")
        inside, length = struct.unpack_from(">qi", inner, place)
        if length < _LEAST[0] or length > len(inner) - place - _FRAME:
            raise ValueError(f"a message of length {length} stands inside")
        offsets.append(inside)
        place += _FRAME + length
    if not offsets:
        raise ValueError("no message is inside")
    first = offsets[0] + (offset - offsets[-1] if magic == 1 else 0)
    if not 0 <= first <= offset:
        raise ValueError(f"the first message inside has offset {first}, the wrapper {offset}")
    return first, len(offsets)


def wrapped_messages(message: memoryview, *, limit: int | None = None) -> tuple[int, int, bytes]:
    """Offset and format of a compressed v0 or v1 message, and the decompressed message set inside.

    Raises:
        CannotDecompress: the value is damaged or expands beyond the limit.
        ValueError: key or value do not fit the message.
    """
    offset, _, _, magic, attributes = struct.unpack_from(">qiIbb", message)
    place = 18 if magic == 0 else 26
    (key,) = struct.unpack_from(">i", message, place)
    place += 4 + max(key, 0)
    if key < -1 or place + 4 > len(message):
        raise ValueError(f"the key's length is {key}")
    (value,) = struct.unpack_from(">i", message, place)
    if value < 0 or place + 4 + value != len(message):
        raise ValueError(f"the value's length is {value}, {len(message) - place - 4} bytes are there")
    inner = compression.decompress(attributes & 7, bytes(message[place + 4 :]), limit=limit, magic=magic)
    return offset, magic, inner


# -- what is wrong -----------------------------------------------------------------------------------------------------


def _in_place(batches: pl.DataFrame, sound: pl.Series, base_offset: int | None, notices: Notices) -> pl.Series:
    """Note sound batches whose offsets contradict those around them; which are left."""
    among = batches.with_row_index("row").filter(sound)
    first = among.select(pl.col("base_offset").fill_null(pl.col("last_offset"))).to_series()
    epochs = among["leader_epoch"].fill_null(-1).to_numpy()
    wrong = misplaced(first.to_numpy(), among["last_offset"].to_numpy(), base_offset, epochs)
    if not wrong.any():
        return sound
    rows = among.with_columns(start=first, right=~pl.Series(wrong)).with_columns(
        before=pl.when("right").then("last_offset").forward_fill(),
        after=pl.when("right").then("start").backward_fill(),
    )
    # Adjacent batches, each behind the one before, are reported together.
    goes_on = (pl.col("row") == pl.col("row").shift(1) + 1) & (pl.col("start") > pl.col("last_offset").shift(1))
    runs = (
        rows.filter(~pl.col("right"))
        .with_columns(run=(~goes_on).fill_null(value=True).cum_sum())
        .group_by("run", maintain_order=True)
        .agg(pl.col("byte", "start", "before", "after").first(), pl.col("last_offset").last())
    )
    for byte, start, last, before, after in runs.select("byte", "start", "last_offset", "before", "after").iter_rows():
        if before is not None and start <= before:
            kind, particulars = DamageKind.OFFSETS_GO_BACK, f"{start} to {last} after {before}"
        elif after is not None:
            kind, particulars = DamageKind.MISPLACED, f"{start} to {last}, the next one begins at {after}"
        else:
            kind, particulars = DamageKind.MISPLACED, f"{start} to {last} after {before}, with nothing behind"
        notices.add(f"{kind}: {particulars}", kind=kind, byte=byte)
    return ~batches.with_row_index("row")["row"].is_in(among["row"].filter(pl.Series(wrong)).implode()) & sound


def _judge(view: memoryview, batches: pl.DataFrame, base_offset: int | None, notices: Notices) -> pl.Series:
    """Note what the headers get wrong; which batches are sound."""
    base, last, records = pl.col("base_offset"), pl.col("last_offset"), pl.col("records")
    start = base.fill_null(last)
    bad_crc = (pl.col("crc_ok") == False).fill_null(value=False)  # noqa: E712
    bad_header = (
        (start < 0)
        | (last < start)
        | (last == _LAST_LONG)  # the next offset would be none
        | (records < 0)
        | (records > last - start + 1)
        | (pl.col("codec") > pl.when(pl.col("magic") == 2).then(4).otherwise(3))
    ).fill_null(value=False)
    low = pl.lit(base_offset, dtype=pl.Int64)
    outside = ((start < low) | (last - low > _RELATIVE)).fill_null(value=False)
    marked = batches.select(
        "byte",
        "size",
        "crc",
        "magic",
        "records",
        "codec",
        start=start,
        last=last,
        bad_crc=bad_crc,
        bad_header=bad_header & ~bad_crc,
        outside=outside & ~bad_header & ~bad_crc,
        sound=~(bad_crc | bad_header | outside),
    )
    if not marked.select(pl.any_horizontal("bad_crc", "bad_header", "outside").any()).item():
        return marked["sound"]
    offsets = filled("{} to {}", "start", "last")
    header = filled("offsets {}, {} records, codec {}", offsets, records.fill_null(0), "codec")
    wrong = marked.filter("bad_crc").select("byte", "size", "magic", "start", "last", "crc")
    for place, size, magic, first, end, stored in wrong.iter_rows():
        where = f"offset {first}" if first == end else f"offsets {first} to {end}"
        text = f"{where}, stored CRC {stored:08x}, computed {_checksum(view, place, size, magic):08x}"
        notices.add(
            f"{DamageKind.BAD_CRC}: {text}", kind=DamageKind.BAD_CRC, excerpt=_hex(view, place, size), byte=place
        )
    for flag, kind, particulars in (
        (pl.col("bad_header"), DamageKind.BAD_HEADER, header),
        (pl.col("outside"), DamageKind.OUT_OF_RANGE, filled(f"{{}}, its name says {base_offset}", offsets)),
    ):
        for place, size, text in marked.filter(flag).select("byte", "size", particulars.alias("text")).iter_rows():
            notices.add(f"{kind}: {text}", kind=kind, excerpt=_hex(view, place, size), byte=place)
    return marked["sound"]


def _checksum(view: memoryview, place: int, size: int, magic: int) -> int:
    """Return the checksum of a batch or message by its bytes: CRC-32C for v2, CRC-32 for v0 and v1."""
    body = bytes(view[place + _CRC_FROM[magic] : place + size])
    return int(google_crc32c.value(body)) if magic == _V2 else zlib.crc32(body)


def _valid_bytes(batches: pl.DataFrame, sound: pl.Series, stop: int) -> int:
    unsound = batches.filter(~sound)["byte"]
    return stop if unsound.is_empty() else int(unsound[0])


def _end(sound: pl.DataFrame, base_offset: int | None) -> int | None:
    # Offsets only rise in a log, so the last batch is also the highest; where they do not, Kafka goes by the last.
    return base_offset if sound.is_empty() else int(sound["last_offset"][-1]) + 1


def _explain(ahead: _Ahead, notices: Notices) -> None:
    """Note why nothing can be read from here on."""
    stop = ahead.begin
    ahead.fill(_HEADER.itemsize)
    head = memoryview(bytes(ahead.view[: _HEADER.itemsize]))
    if not head:
        return
    data = _first_nonzero(ahead)
    ahead.fill(_SEARCH + _SEARCH_CRC + _HEADER.itemsize)
    follows = None if data is None else _next_sound(ahead, max(stop + 1, data - _FRAME - 8))
    rest = ahead.end() - stop
    if data is None:
        kind, particulars = DamageKind.ZERO_TAIL, f"{rest:,} zero bytes to the end of the file"
        notices.add(f"{kind}: {particulars}", kind=kind, byte=stop)
        return
    kind, particulars = _misfit(head, stop, data, rest, reached=follows is not None)
    if follows is not None:
        place, first, last = follows
        particulars += f"; a sound batch with offsets {first} to {last} stands at byte {place}, out of Kafka's reach"
    elif kind is not DamageKind.TORN_TAIL:
        particulars += f"; {rest:,} bytes to the end of the file are out of reach"
    notices.add(f"{kind}: {particulars}", kind=kind, excerpt=_hex(head, 0, len(head)), byte=stop)


def _misfit(head: memoryview, stop: int, data: int, rest: int, *, reached: bool) -> tuple[DamageKind, str]:
    """Return why no entry begins at an unreadable place, and the details.

    Args:
        head: bytes from there on, as many as a header has.
        stop: place of the first of them.
        data: place of the first byte from there on that is not zero.
        rest: bytes to the end of the file.
        reached: a sound batch is behind.
    """
    if rest < _FRAME + 5:
        return DamageKind.TORN_TAIL, f"{rest} bytes are left, less than a header"
    (length,), magic = struct.unpack_from(">i", head, 8), struct.unpack_from("b", head, 16)[0]
    if data - stop >= _FRAME:
        return DamageKind.BAD_LENGTH, f"{data - stop:,} zero bytes, then data again from byte {data}"
    if not 0 <= magic <= 2:
        return DamageKind.BAD_MAGIC, f"message format {magic}"
    if length < _LEAST[magic]:
        return DamageKind.BAD_LENGTH, f"{length}, a message of format {magic} has {_LEAST[magic]} or more"
    if length > _LARGEST or reached:
        return DamageKind.BAD_LENGTH, f"{length:,}, {rest - _FRAME:,} bytes are left in the file"
    return DamageKind.TORN_TAIL, f"{rest - _FRAME:,} of {length:,} bytes are there, {_torn_offsets(head)}"


def _torn_offsets(head: memoryview) -> str:
    """Return the offsets that an incomplete entry was to hold, by its header."""
    if head[16] == 2 and len(head) >= 27:
        base, delta = struct.unpack_from(">q", head)[0], struct.unpack_from(">i", head, 23)[0]
        return f"of offsets {base} to {base + delta}"
    return f"of offset {struct.unpack_from('>q', head)[0]}"


def _next_sound(ahead: _Ahead, start: int) -> tuple[int, int, int] | None:
    """Place, first and last offset of the first v2 batch from ``start`` on whose checksum holds."""
    start -= ahead.begin
    view, raw = ahead.view, np.frombuffer(ahead.view, dtype=np.uint8)
    window = raw[start : start + _SEARCH + _HEADER.itemsize]
    if len(window) < _HEADER.itemsize:
        return None
    places = np.flatnonzero(window[16 : len(window) - _HEADER.itemsize + 17] == 2) + start
    if not len(places):
        return None
    headers = _gather(raw, places, _HEADER)
    lengths = _native(headers, "length").astype(np.int64)
    fits = (lengths >= _LEAST[2]) & (lengths <= _SEARCH_CRC) & (places + lengths + _FRAME <= len(view))
    fits &= (_native(headers, "base_offset") >= 0) & (_native(headers, "last_offset_delta") >= 0)
    budget = _SEARCH_CRC
    for place, length, header in zip(places[fits].tolist(), lengths[fits].tolist(), headers[fits], strict=True):
        budget -= length
        if budget < 0:
            break
        body = bytes(view[place + _CRC_FROM[2] : place + _FRAME + length])
        if google_crc32c.value(body) == int(header["crc"]):
            first = int(header["base_offset"])
            return ahead.begin + place, first, first + int(header["last_offset_delta"])
    return None


def _first_nonzero(ahead: _Ahead) -> int | None:
    """Return the place of the first byte that is not zero, or None; in steps, because a preallocated file may be large.

    The bytes right before it stay loaded: a batch may begin with zeros.
    """
    step = 1 << 20
    looked = 0
    while True:
        ahead.fill(looked + step)
        part = np.frombuffer(ahead.view[looked : looked + step], dtype=np.uint8)
        if not len(part):
            return None
        found = np.flatnonzero(part)
        if len(found):
            return ahead.begin + looked + int(found[0])
        looked += len(part)
        spare = max(looked - _HEADER.itemsize, 0)
        ahead.drop(spare)
        looked -= spare


def _hex(view: memoryview, place: int, size: int) -> str:
    return bytes(view[place : place + min(size, _HEADER.itemsize)]).hex()
