"""The codecs of record batches, undone within a limit.

A batch of half a megabyte can expand to half a gigabyte, so nothing is decompressed without a bound on its output.
Codec numbers are those of Kafka's batch attributes (``CompressionType``): 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import cramjam
import lz4.frame
import zstandard

from parsers import limits
from parsers.containment import worded
from parsers.errors import ParserError

CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}

_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16  # the mark, then a version and the oldest compatible version
_LZ4_DESCRIPTOR = 4  # where an lz4 frame's descriptor begins, after its magic number


class CannotDecompress(ParserError):
    """The compressed bytes are damaged, of an unknown codec, or larger than the limit when expanded."""


def decompress(codec: int, data: bytes, *, limit: int | None = None, magic: int = 2) -> bytes:
    """The decompressed body of one batch.

    Args:
        codec: number in the batch attributes.
        data: the compressed bytes.
        limit: more decompressed bytes than this are refused; None for what holds for batches (``limits.BATCH``).
        magic: message format. Format 0 writes lz4 frames whose header checksum is computed over the wrong bytes
            (KAFKA-3160); the checksum is then not held against the frame.

    Raises:
        CannotDecompress: damaged, unknown codec, or above the limit.
    """
    if codec == 0:
        return data
    limit = limits.BATCH.value if limit is None else limit
    expand = _EXPAND.get(codec)
    if expand is None:
        raise CannotDecompress(f"unknown codec {codec}")
    if codec == 3 and magic == 0:
        data = _with_accepted_lz4_checksum(data)
    try:
        body = expand(data, limit)
    except (ValueError, zlib.error, RuntimeError, EOFError, struct.error, cramjam.DecompressionError) as error:
        raise CannotDecompress(f"{CODECS[codec]} data is damaged ({worded(error)})") from error
    except zstandard.ZstdError as error:
        raise CannotDecompress(f"zstd data is damaged ({worded(error)})") from error
    if len(body) > limit:
        raise _too_large(codec, limit)
    return body


def _too_large(codec: int, limit: int) -> CannotDecompress:
    return CannotDecompress(f"{CODECS[codec]} data expands to more than {limit:,} bytes")


def _gzip(data: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    room = limit + 1
    while data and room > 0:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        parts.append(member.decompress(data, room))
        room -= len(parts[-1])
        if room > 0 and not member.eof:
            raise ValueError("it ends early")
        data = member.unused_data
    return b"".join(parts)


def _snappy(data: bytes, limit: int) -> bytes:
    """Raw snappy, or the blocks of the xerial library that Java clients write."""
    if not data.startswith(_XERIAL):
        return _snappy_block(data, limit)
    parts: list[bytes] = []
    total = 0
    position = _XERIAL_HEADER
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        position += 4
        if size <= 0 or position + size > len(data):
            raise ValueError(f"a block of {size} bytes, {len(data) - position} are left")
        parts.append(_snappy_block(data[position : position + size], limit, total))
        total += len(parts[-1])
        position += size
    return b"".join(parts)


def _snappy_block(block: bytes, limit: int, before: int = 0) -> bytes:
    # A raw block begins with its decompressed length, which the library would allocate unasked.
    if before + cramjam.snappy.decompress_raw_len(block) > limit:
        raise _too_large(2, limit)
    return bytes(cramjam.snappy.decompress_raw(block))


def _lz4(data: bytes, limit: int) -> bytes:
    frame = lz4.frame.LZ4FrameDecompressor()
    body: bytes = frame.decompress(data, max_length=limit + 1)
    if not frame.eof and len(body) <= limit:
        raise ValueError("it ends early")
    return body


def _zstd(data: bytes, limit: int) -> bytes:
    # Java writes no content size, so the frame header cannot bound the output; the reader's count does.
    with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
        return reader.read(limit + 1)


def _with_accepted_lz4_checksum(data: bytes) -> bytes:
    """Return the frame with the one header checksum that its descriptor has by the standard.

    Exactly one of the 256 values of that byte is accepted, so it is found by trying the library.
    """
    if len(data) <= _LZ4_DESCRIPTOR:
        return data
    has_content_size = data[_LZ4_DESCRIPTOR] >> 3 & 1
    place = _LZ4_DESCRIPTOR + 2 + (8 if has_content_size else 0)
    frame = bytearray(data[: place + 1])
    if len(frame) <= place:
        return data
    for value in range(256):
        frame[place] = value
        try:
            lz4.frame.get_frame_info(bytes(frame))
        except RuntimeError:
            continue
        return bytes(frame) + data[place + 1 :]
    return data


_EXPAND: dict[int, Callable[[bytes, int], bytes]] = {1: _gzip, 2: _snappy, 3: _lz4, 4: _zstd}
