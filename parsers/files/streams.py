"""Bytes that have no file of their own, as streams: compressed files, parts of files, parts of streams.

Nothing is written to disk and memory is bounded: a stream holds some kilobytes whatever its expanded size. If stored
bytes are missing or damaged, the stream ends after the last byte that could be read, and ``problem`` gives the reason.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

import lz4.frame
import zstandard

from parsers import limits
from parsers.containment import worded

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Opener = Callable[[], BinaryIO]

_SKIPPABLE: Final = b"\x2a\x4d\x18"  # a part of zstd or lz4 without content begins with any byte and these
_STEP: Final = 1 << 16
_ZSTD_STEP: Final = 1 << 12  # its decoder gives all that the input expands to, up to 32,768 times as much


class _Decoder(Protocol):
    """The common interface of ``bz2``, ``lzma`` and ``lz4``."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes | None: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Zlib:
    def __init__(self, wbits: int) -> None:
        self._inner = zlib.decompressobj(wbits=wbits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        found = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = not self._inner.unconsumed_tail and len(found) < max_length
        return found


class _Zstd:
    needs_input = True

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor().decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(data)


@dataclass(frozen=True, slots=True)
class Codec:
    """One way of compressing a file.

    Attributes:
        name: as shown in ``sources``.
        suffixes: endings of such files' names.
        magic: bytes they begin with.
        decoder: makes a decoder.
    """

    name: str
    suffixes: tuple[str, ...]
    magic: bytes
    decoder: Callable[[], _Decoder]


CODECS: Final[tuple[Codec, ...]] = (
    Codec("gzip", (".gz", ".tgz"), b"\x1f\x8b\x08", lambda: _Zlib(zlib.MAX_WBITS | 16)),
    Codec("zstd", (".zst", ".tzst", ".zstd"), b"\x28\xb5\x2f\xfd", _Zstd),
    Codec("lz4", (".lz4",), b"\x04\x22\x4d\x18", lz4.frame.LZ4FrameDecompressor),
    Codec("bzip2", (".bz2", ".tbz2", ".tbz"), b"BZh", bz2.BZ2Decompressor),
    Codec("xz", (".xz", ".txz"), b"\xfd7zXZ\x00", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, 256 << 20)),
)
"""Supported compressions, recognised by a file's first bytes, never by its name."""

DEFLATE: Final = Codec("deflate", (), b"", lambda: _Zlib(-zlib.MAX_WBITS))
"""Compression inside a zip, which has no first bytes to recognise."""


def codec_called(name: str) -> Codec:
    """The codec of a name."""
    return next(codec for codec in CODECS if codec.name == name)


def codec_of(head: bytes) -> Codec | None:
    """Return the codec whose mark is at the beginning, or None."""
    for codec in CODECS:
        if head.startswith(codec.magic):
            # "BZh" could begin a text: the level and the mark of a block follow.
            if codec.name == "bzip2" and head[4:10] not in (b"1AY&SY", b"\x17rE8P\x90"):
                continue
            return codec
    return None


class Rewritten(io.RawIOBase):
    """A stream computed from a stored stream piece by piece; a subclass defines how."""

    def __init__(self, stored: BinaryIO) -> None:
        super().__init__()
        self._stored = stored
        self._ready = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """Close the stored stream too."""
        self._stored.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer; 0 at the end."""
        view = memoryview(buffer).cast("B")
        while not self._ready and not self._ended:
            self._ready = memoryview(self._more())
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _more(self) -> bytes:
        """The next piece; empty where there is none yet. Sets ``_ended`` at the end."""
        raise NotImplementedError


class Expanded(Rewritten):
    """The content of a compressed stream. Several compressed parts in a row are one content (as ``cat a.gz b.gz``).

    Attributes:
        problem: why it ended early, or "".
    """

    def __init__(self, stored: BinaryIO, codec: Codec) -> None:
        super().__init__(stored)
        self._codec = codec
        self._decoder = codec.decoder()
        self._read = self._given = 0
        self.problem = ""

    def _more(self) -> bytes:
        data = b""
        if self._decoder.eof:
            data = self._next_part()
            if self._ended:
                return b""
        elif self._decoder.needs_input:
            data = self._stored_bytes()
            if not data:
                return self._end("the file ends inside the compressed data")
        try:
            found = self._decoder.decompress(data, _STEP)
        except (OSError, RuntimeError, ValueError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
            return self._end(f"the compressed data is damaged ({worded(error)})")
        self._given += len(found)
        if limits.expands_too_far(self._given, self._read):
            return self._end(limits.RATIO.told("it expands more than {}-fold and is not read on"))
        return found

    def _stored_bytes(self) -> bytes:
        data = self._stored.read(_ZSTD_STEP if self._codec.name == "zstd" else _STEP)
        self._read += len(data)
        if not data and (inner := problem_of(self._stored)):
            self.problem = inner
        return data

    def _next_part(self) -> bytes:
        """Bytes of the part that follows a finished one; padding is passed over."""
        data = self._decoder.unused_data or b""
        while True:
            data = data.lstrip(b"\0") or self._stored_bytes().lstrip(b"\0")
            if len(data) >= len(self._codec.magic):
                break
            more = self._stored_bytes()
            if not more:
                break
            data += more
        if not data:
            self._ended = True
        elif not data.startswith(self._codec.magic) and data[1:4] != _SKIPPABLE:
            self._end("further bytes follow the compressed data")
        else:
            self._decoder = self._codec.decoder()
        return data

    def _end(self, why: str) -> bytes:
        self._ended = True
        self.problem = f"{self._codec.name}: {why}; {self._given:,} bytes of content could be read" + (
            f" ({self.problem})" if self.problem else ""
        )
        return b""


class Recoded(Rewritten):
    """A text in UTF-16 (what PowerShell's ``>`` writes) as UTF-8; what cannot be decoded is replaced."""

    def __init__(self, stored: BinaryIO) -> None:
        super().__init__(stored)
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def _more(self) -> bytes:
        data = self._stored.read(_STEP)
        self._ended = not data
        return self._decoder.decode(data, final=self._ended).encode("utf-8", "replace")


class Window(io.RawIOBase):
    """Some consecutive bytes of a seekable file.

    Attributes:
        problem: why it ended early, or "".
    """

    def __init__(self, file: BinaryIO, begin: int, size: int) -> None:
        super().__init__()
        self._file = file
        self._begin = begin
        self._size = size
        self._at = 0
        self.problem = ""

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()

    def tell(self) -> int:
        """Place from the window's beginning."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place from the window's beginning, the current place or its end."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the beginning")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read into the buffer; 0 at the end of the window."""
        view = memoryview(buffer).cast("B")[: max(self._size - self._at, 0)]
        if not len(view):
            return 0
        self._file.seek(self._begin + self._at)
        data = self._file.read(len(view))
        view[: len(data)] = data
        self._at += len(data)
        if not data:
            self.problem = problem_of(self._file)
        return len(data)


class Tape:
    """Parts of a stream that can only be read forwards, such as a compressed tar.

    A part is reached by reading up to it. Streams that are done with a part wait there for the next one behind it, so
    that parts asked for in their order cost one pass, however many threads ask.
    """

    _IDLE: Final = 4

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self._idle: list[tuple[int, BinaryIO]] = []
        self._most = self._IDLE

    def open_at(self, begin: int, size: int) -> BinaryIO:
        """The ``size`` bytes from ``begin`` on."""
        with self._lock:
            behind = [entry for entry in self._idle if entry[0] <= begin]
            place, stream = max(behind, key=lambda entry: entry[0]) if behind else (0, None)
            if stream is not None:
                self._idle.remove((place, stream))
        if stream is None:
            stream = self._opener()
        while place < begin:
            step = len(stream.read(min(begin - place, 1 << 20)))
            if not step:
                break
            place += step
        return io.BufferedReader(_Part(self, stream, place, size), _STEP)

    def give_back(self, place: int, stream: BinaryIO) -> None:
        """Keep a stream for the next part behind this place."""
        with self._lock:
            self._idle.append((place, stream))
            spare = self._idle.pop(0)[1] if len(self._idle) > self._most else None
        if spare is not None:
            spare.close()

    def __del__(self) -> None:
        self._most = 0  # a part of this tape may be closed later, as that of a tape within this one
        for _, stream in self._idle:
            stream.close()


class _Part(io.RawIOBase):
    def __init__(self, tape: Tape, stream: BinaryIO, place: int, size: int) -> None:
        super().__init__()
        self._tape = tape
        self._stream: BinaryIO | None = stream
        self._place = place
        self._left = size
        self.problem = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        assert self._stream is not None
        view = memoryview(buffer).cast("B")[: self._left]
        if not len(view):
            return 0
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._left -= len(data)
        self._place += len(data)
        if not data:
            self.problem = f"the archive ends {self._left:,} bytes before the end of this file"
            if inner := problem_of(self._stream):
                self.problem += f" ({inner})"
            self._left = 0
        return len(data)

    def close(self) -> None:
        if self._stream is not None:
            self._tape.give_back(self._place, self._stream)
            self._stream = None
        super().close()


class Watched(io.RawIOBase):
    """A stream that ends at an error and stores it in ``problem``."""

    def __init__(self, inner: BinaryIO, errors: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._inner = inner
        self._errors = errors
        self._given = 0
        self.problem = ""

    def readable(self) -> bool:
        """Always."""
        return True

    def close(self) -> None:
        """Close the inner stream too."""
        self._inner.close()
        super().close()

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read into the buffer; 0 at the end or after an error."""
        view = memoryview(buffer).cast("B")
        if self.problem:
            return 0
        try:
            data = self._inner.read(len(view))
        except self._errors as error:
            self.problem = (
                f"the archive is damaged here ({worded(error)}); {self._given:,} bytes of content could be read"
            )
            return 0
        view[: len(data)] = data
        self._given += len(data)
        return len(data)


def problem_of(stream: BinaryIO) -> str:
    """Why a stream ended early, or ""; known once it was read."""
    return str(getattr(stream, "problem", "") or getattr(getattr(stream, "raw", None), "problem", ""))
