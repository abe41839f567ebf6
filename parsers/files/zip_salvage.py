"""A zip whose directory is missing, as after an interrupted upload: its files by the header before each of them.

The directory of a zip is at its end. Before each file there is a header of its own with the same facts (APPNOTE.TXT
4.3.7). But a writer that could not seek puts sizes and checksum behind the file (4.3.9). Then the end of a file is
found by expanding it, and the result is not kept.
"""

from __future__ import annotations

import bz2
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, NamedTuple

from parsers import limits
from parsers.files.streams import DEFLATE, Codec, Expanded, Rewritten, codec_called, problem_of

_LOCAL: Final = b"PK\x03\x04"
_DESCRIPTOR: Final = b"PK\x07\x08"
_BEHIND: Final = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x06\x08")  # the directory begins
_HEADER: Final = struct.Struct("<4s5H3I2H")
_IN_EXTRA: Final = 0xFFFFFFFF  # the size is in the zip64 field
_STEP: Final = 1 << 16
_ENDS: Final = "the zip ends inside this file"
_DAMAGED: Final = "the zip is damaged inside this file"

CODECS: Final[dict[int, Codec | None]] = {
    zipfile.ZIP_STORED: None,
    zipfile.ZIP_DEFLATED: DEFLATE,
    zipfile.ZIP_BZIP2: codec_called("bzip2"),
}
"""How content is stored, by the number in the header."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of a zip.

    Attributes:
        name: as stored, folders included.
        begin: first byte of its content in the zip.
        stored: bytes of it that are there.
        size: bytes of its content; if it is truncated, the size in the header or else the stored size.
        method: how it is stored.
        checksum: CRC-32 of its content, if known.
        encrypted: whether a password was set.
        fault: why it is incomplete, or "".
    """

    name: str
    begin: int
    stored: int
    size: int
    method: int
    checksum: int | None
    encrypted: bool
    fault: str


def pieces(stream: BinaryIO) -> tuple[list[Piece], list[str]]:
    """Return the files of a zip in their order, and its problems in words.

    Args:
        stream: a seekable stream of the zip.
    """
    end = stream.seek(0, io.SEEK_END)
    found: list[Piece] = []
    wrong: list[str] = []
    at = 0
    while at < end:
        stream.seek(at)
        block = stream.read(_HEADER.size)
        if block.startswith(_BEHIND):
            wrong.append(f"what stands of it from byte {at:,} on is cut or damaged")
            return found, wrong
        piece, after = _piece(stream, block, at, end)
        if piece is not None:
            found.append(piece)
        if problem := _problem(piece, block, at, after, end):
            wrong.append(problem)
            after = _search(stream, _LOCAL, max(after, at + 1))
        at = after
    if not wrong or not wrong[-1].startswith("it ends"):
        wrong.append(f"it ends at byte {end:,}")
    return found, wrong


def _problem(piece: Piece | None, block: bytes, at: int, after: int, end: int) -> str:
    """Return what is wrong at one place of a zip, in words; "" if nothing is.

    Args:
        piece: the file there; None without a header.
        block: first bytes there.
        at: the place.
        after: where the next header must be.
        end: size of the zip.
    """
    if piece is None:
        if block.startswith(_LOCAL[: len(block)]) and after >= end:
            return f"it ends inside the header at byte {at:,}"
        return f"no header at byte {at:,}, where one must be; files may be missing here"
    if piece.fault == _ENDS:
        return f"it ends inside {piece.name}, at byte {end:,}"
    return f"{piece.name}, from byte {piece.begin:,} on, is damaged" if piece.fault else ""


class _Header(NamedTuple):
    """The header before a file.

    Attributes:
        name: as stored, folders included.
        begin: where the content begins.
        flags, method, crc: as the header has them.
        stored, size: bytes in the zip and of the content; 0 if they follow the content.
    """

    name: str
    begin: int
    flags: int
    method: int
    crc: int
    stored: int
    size: int

    @property
    def streamed(self) -> bool:
        """Return whether checksum and sizes follow the content."""
        return bool(self.flags & 8)

    @property
    def encrypted(self) -> bool:
        """Return whether a password was set."""
        return bool(self.flags & 1)

    def piece(self, stored: int, size: int, fault: str = "") -> Piece:
        """Return the file, with the bytes that are there, the size of its content and why it is incomplete."""
        checksum = None if self.streamed else self.crc
        return Piece(self.name, self.begin, stored, size, self.method, checksum, self.encrypted, fault)


def _piece(stream: BinaryIO, block: bytes, at: int, end: int) -> tuple[Piece | None, int]:
    """Return the file whose header is here, and where the next header must be."""
    if len(block) < _HEADER.size or not block.startswith(_LOCAL):
        return None, end if _LOCAL.startswith(block[:4]) else at
    header = _header(stream, block, at)
    if header.begin > end:
        return None, end
    if not header.streamed or header.stored > 0:
        return _of_known_size(stream, header, end)
    if header.method in CODECS and header.method != zipfile.ZIP_STORED and not header.encrypted:
        there, content, fault = _expanded(stream, header.begin, header.method)
        after = header.begin + there
        return header.piece(there, content, fault), after if fault else _behind_descriptor(stream, after)
    return _of_unknown_size(stream, header, end)


def _header(stream: BinaryIO, block: bytes, at: int) -> _Header:
    """Read a header; ``block`` is its part of fixed length, and the stream is at the byte after it."""
    _, _, flags, method, _, _, crc, stored, size, of_name, of_extra = _HEADER.unpack(block)
    name, extra = stream.read(of_name), stream.read(of_extra)
    shown = name.decode("utf-8" if flags & 0x800 else "cp437", "replace")
    size, stored = _long_sizes(extra, size, stored)
    return _Header(shown, at + _HEADER.size + of_name + of_extra, flags, method, crc, stored, size)


def _of_known_size(stream: BinaryIO, header: _Header, end: int) -> tuple[Piece, int]:
    """Return a file whose header states its size, and where the next header must be."""
    after = header.begin + header.stored
    if after > end:
        return header.piece(end - header.begin, header.size, _ENDS), end
    piece = header.piece(header.stored, header.size)
    return piece, _behind_descriptor(stream, after) if header.streamed else after


def _of_unknown_size(stream: BinaryIO, header: _Header, end: int) -> tuple[Piece, int]:
    """Return a file that ends where what must follow it is found, and where the next header must be."""
    plain = header.method == zipfile.ZIP_STORED and not header.encrypted
    after = _stored_end(stream, header.begin) if plain else _search(stream, _LOCAL, header.begin)
    if after >= end:
        return header.piece(end - header.begin, end - header.begin, _ENDS), end
    size = after - header.begin
    return header.piece(size, size), _behind_descriptor(stream, after) if plain else after


def _long_sizes(extra: bytes, size: int, stored: int) -> tuple[int, int]:
    """Sizes from the zip64 field where the header's own are too small for them."""
    while len(extra) >= 4:
        tag, length = struct.unpack_from("<2H", extra)
        field, extra = extra[4 : 4 + length], extra[4 + length :]
        if tag != 1:
            continue
        if size == _IN_EXTRA and len(field) >= 8:
            (size,), field = struct.unpack_from("<Q", field), field[8:]
        if stored == _IN_EXTRA and len(field) >= 8:
            (stored,) = struct.unpack_from("<Q", field)
    return size, stored


def _expanded(stream: BinaryIO, begin: int, method: int) -> tuple[int, int, str]:
    """Return stored and expanded size of a file without a size in its header, and why it is incomplete."""
    stream.seek(begin)
    deflated = method == zipfile.ZIP_DEFLATED
    decoder = zlib.decompressobj(-zlib.MAX_WBITS) if deflated else bz2.BZ2Decompressor()
    taken = content = 0
    rest = b""
    while not decoder.eof:
        data = rest or (stream.read(_STEP) if deflated or decoder.needs_input else b"")  # type: ignore[union-attr]
        taken += 0 if rest else len(data)
        if not data and (deflated or decoder.needs_input):  # type: ignore[union-attr]
            return taken, content, _ENDS
        try:
            content += len(decoder.decompress(data, 16 * _STEP))
        except (zlib.error, OSError, ValueError):
            return max(taken - len(data), 0), content, _DAMAGED
        rest = decoder.unconsumed_tail if deflated else b""  # type: ignore[union-attr]
        if limits.expands_too_far(content, taken):
            return taken, content, _DAMAGED
    return taken - len(decoder.unused_data), content, ""


def _stored_end(stream: BinaryIO, begin: int) -> int:
    """Return where an uncompressed file ends whose size is behind it: at a size that fits."""
    at = begin
    while True:
        at = _search(stream, _DESCRIPTOR, at)
        stream.seek(at)
        said = stream.read(24)
        if not said:
            return at
        if at - begin in (int.from_bytes(said[8:12], "little"), int.from_bytes(said[8:16], "little")):
            return at
        at += 1


def _behind_descriptor(stream: BinaryIO, at: int) -> int:
    """Return where the next header is: a descriptor has a mark or none, and sizes of 4 or of 8 bytes."""
    stream.seek(at)
    block = stream.read(28)
    lengths = (16, 24) if block.startswith(_DESCRIPTOR) else (12, 20)
    for length in (*lengths, 0):
        if block[length : length + 4] in (_LOCAL, *_BEHIND):
            return at + length
    return at + lengths[0]


def _search(stream: BinaryIO, mark: bytes, at: int) -> int:
    """Place of the next mark, or the end."""
    stream.seek(at)
    rest = b""
    while data := stream.read(1 << 20):
        found = (rest + data).find(mark)
        if found >= 0:
            return at - len(rest) + found
        rest = (rest + data)[-len(mark) + 1 :]
        at += len(data)
    return at


class Content(Rewritten):
    """The content of one file, checked against its checksum at its end.

    Attributes:
        problem: why it ended early or cannot be trusted, or "".
    """

    def __init__(self, stored: BinaryIO, piece: Piece) -> None:
        codec = CODECS[piece.method]
        super().__init__(stored if codec is None else io.BufferedReader(Expanded(stored, codec), _STEP))
        self._piece = piece
        self._crc = self._given = 0
        self.problem = ""

    def _more(self) -> bytes:
        data = self._stored.read(_STEP)
        self._given += len(data)
        self._crc = zlib.crc32(data, self._crc)
        if not data:
            self._ended = True
            self.problem = "; ".join(self._wrong())
        return data

    def _wrong(self) -> Iterator[str]:
        inner = problem_of(self._stored)
        if self._piece.fault:
            yield f"{self._piece.fault}; {self._given:,} bytes of content could be read"
        elif inner:
            yield inner
        elif self._piece.checksum not in (None, self._crc):
            yield f"the zip is damaged here: the checksum of these {self._given:,} bytes does not hold"
