"""Text sources as blocks of lines: bounded memory whatever the size, and no byte that cannot be read is silent."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

import numpy as np
import polars as pl

from parsers import limits
from parsers.schema import NOTICES, conform, empty

BLOCK_BYTES = 8 << 20

_FEW_BYTES = 256 << 10
_CHARACTER = 4  # bytes of a character in UTF-8, at most
_MARK = b"\xef\xbb\xbf"  # before UTF-8, as some editors and shells write it


@dataclass(frozen=True, slots=True)
class Block:
    """Some consecutive lines of one source.

    Attributes:
        lines: the text of each line, without its line end.
        first_line: 1-based number of the first of them.
        notices: lines that were not valid UTF-8 or too long, schema ``NOTICES``.
        numbers: 1-based number of each, if one physical line became several or none; else None.
        outer: time that a collector added to each, naive UTC; None if there is none.
        sizes: bytes of each with its line end, as in the source; None unless requested.
        unended: the text ends with its last line, which has no line end: it may be incomplete.
    """

    lines: pl.Series
    first_line: int
    notices: pl.DataFrame
    numbers: pl.Series | None = None
    outer: pl.Series | None = None
    sizes: pl.Series | None = None
    unended: bool = False

    def frame(self) -> pl.DataFrame:
        """Columns ``line``, ``text`` and, where there is one, ``outer``."""
        text = self.lines.alias("text").to_frame()
        if self.numbers is None:
            rows = text.with_row_index("line", offset=self.first_line).with_columns(pl.col("line").cast(pl.Int64))
        else:
            rows = text.insert_column(0, self.numbers.cast(pl.Int64).alias("line"))
        return rows if self.outer is None else rows.with_columns(self.outer.alias("outer"))


_COLOURS: Final = re.compile(rb"(?:\x1b|#033|\^\[|\\+u001[bB]|\\+033)\[[0-9;?]*[A-Za-z]")
_MARKS_OF_COLOURS: Final = (b"\x1b[", b"#033[", b"^[[", b"\\u001b[", b"\\u001B[", b"\\033[")
_BEGIN_OF_COLOUR: Final = re.compile(rb"\[(?:[0-9];)?[39][0-7]m")
_END_OF_COLOUR: Final = b"[0m"
_REST_OF_COLOURS: Final = re.compile(rb"\[(?:(?:[0-9];)?[39][0-7]|[01])?m")


def plain(data: bytes) -> bytes:
    """Text without colours; rsyslog, JSON and ``cat -v`` write the escape character in ways of their own.

    Browsers and tickets drop the escape character: what is left of colours is removed if some begin and some end.
    """
    if any(mark in data for mark in _MARKS_OF_COLOURS):
        data = _COLOURS.sub(b"", data)
    if _END_OF_COLOUR in data and _BEGIN_OF_COLOUR.search(data) is not None:
        data = _REST_OF_COLOURS.sub(b"", data)
    return data


def blocks(
    stream: BinaryIO,
    *,
    block_bytes: int = BLOCK_BYTES,
    first_line: int = 1,
    rest: bytes = b"",
    ends: bool = True,
    sized: bool = False,
) -> Iterator[Block]:
    """Split a byte stream into blocks of whole lines.

    A line longer than the limit ``line`` is shortened, with a notice: of a file without line ends little is kept.

    Args:
        stream: read from its present position.
        block_bytes: bytes read at once; a block is their content up to the last line end.
        first_line: number of the first line.
        rest: bytes before the stream that belong to its first line.
        ends: the stream ends where the text does; else the bytes behind the last line end are left to the caller.
        sized: also return the number of bytes of each line.
    """
    number = first_line
    for data, last, skipped in _texts(stream, block_bytes, rest, ends):
        mark = len(_MARK) if number == 1 and data.startswith(_MARK) else 0
        before = mark + skipped
        for part in _portions(data[mark:]):
            block = _block(part, number)
            sizes = _sizes(part, before) if sized else None
            block = replace(block, unended=last and not part.endswith(b"\n"), sizes=sizes)
            number += block.lines.len()
            before = 0
            yield block


def _texts(stream: BinaryIO, size: int, rest: bytes, ends: bool) -> Iterator[tuple[bytes, bool, int]]:
    """Yield whole lines of the stream, whether the text ends with them, and how many bytes of the first were skipped.

    A last line without an end belongs to the text before it: results do not depend on a missing line end. A line
    beyond its limit is skipped up to its end, so a gigabyte without a line end is looked through, never kept.
    """
    most = limits.LINE.value + _CHARACTER
    skipped, inside = 0, False
    for chunk, last in _chunks(stream, size):
        whole = ends and last
        begin = _line_end(chunk) if inside else 0
        skipped += begin
        inside = inside and begin == len(chunk)
        data = rest + chunk[begin:]
        end = len(data) if whole else data.rfind(b"\n") + 1
        if end:
            yield data[:end], whole, skipped
            skipped = 0
        rest = data[end:]
        if len(rest) > most:
            kept = _head(rest, most)
            skipped += len(rest) - kept
            rest, inside = rest[:kept], True
    if rest and ends:
        yield rest, True, skipped


def _line_end(data: bytes) -> int:
    """Return where the first line ends; the length of the data if it does not end in them."""
    found = data.find(b"\n")
    return len(data) if found < 0 else found


def _head(line: bytes, most: int) -> int:
    """Return where the beginning of a line ends: at most so many bytes, and no part of a character at the end."""
    return next((end for end in range(most, most - _CHARACTER, -1) if line[end] & 0xC0 != 0x80), most)


def _chunks(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the content of the stream in chunks, and whether nothing follows them (if they are shorter)."""
    chunk = stream.read(size)
    while chunk:
        following = stream.read(size) if len(chunk) < size else None
        yield chunk, following == b""
        chunk = stream.read(size) if following is None else following


def _sizes(data: bytes, mark: int) -> pl.Series:
    """Return the bytes of each line with its end; ``mark`` bytes of the first are not in the data."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    sizes = np.diff(ends, prepend=-mark)
    return pl.Series("size", sizes, dtype=pl.Int64)


def _portions(data: bytes) -> Iterator[bytes]:
    """The bytes, in smaller parts where they are mostly line ends: a line takes memory however short it is."""
    begin = 0
    if data.count(b"\n") > (most := limits.LINES.value):
        while (end := data.rfind(b"\n", begin, begin + most) + 1) > begin and end < len(data):
            yield data[begin:end]
            begin = end
    if begin < len(data):
        yield data[begin:]


def sample(head: bytes) -> pl.Series | None:
    """Return whole lines of the first bytes of a file, to find its layout; None for binary content.

    A crash may leave zeros in place of unwritten lines: only text before or behind them is used.
    """
    head = head.removeprefix(_MARK).lstrip(b"\x00")
    if b"\x00" in head:
        head = head[: head.index(b"\x00")]
    end = head.rfind(b"\n") + 1
    text = head[: end or len(head)]
    return _block(text, 1).lines if text.strip() else None


_REPLACED: Final = "\ufffd".encode()
"""It takes the place of bytes that are no UTF-8 text."""


def _block(data: bytes, first_line: int) -> Block:
    notices = empty(NOTICES)
    data = plain(data)
    if b"\x00" in data:
        # Left by a crash on a file system that extends a file before its data: never part of a log line.
        data = data.replace(b"\x00", _REPLACED)
    try:
        lines = _split(data)
    except (pl.exceptions.ComputeError, UnicodeDecodeError):
        # One foreign byte must not cost the file: decode again, replace what cannot be read and name the lines.
        data = data.decode("utf-8", errors="replace").encode("utf-8")
        lines = _split(data)
    if _REPLACED in data:
        damaged = lines.str.contains(_REPLACED.decode(), literal=True)
        notices = _notices(lines, damaged, first_line, "bytes that are not UTF-8 text were replaced")
    if len(data) > limits.LINE.value and (long := lines.str.len_bytes() > limits.LINE.value).any():
        notices = pl.concat([notices, _notices(lines, long, first_line, limits.LINE.told("line longer than {}"))])
        shortened = pl.when(pl.col("line").str.len_bytes() > limits.LINE.value).then(pl.col("line").str.slice(0, 2000))
        lines = lines.to_frame("line").select(shortened.otherwise("line").alias("line")).to_series()
    return Block(lines, first_line, notices)


def _split(data: bytes) -> pl.Series:
    if len(data) <= _FEW_BYTES:
        # What a plan costs to run is more than this takes.
        text = data.decode("utf-8").removesuffix("\n")
        lines = pl.Series("line", text.split("\n") if data else [], dtype=pl.String)
        return lines.str.strip_chars_end("\r") if b"\r" in data else lines
    # A quote character or a separator must never be interpreted: scan_lines knows neither.
    # But it expands what begins like gzip, zlib or zstd, which a piece of a file may by chance: a line goes before.
    guard = data[:1] in (b"\x1f", b"\x78", b"\x28")
    lines = pl.scan_lines(io.BytesIO(b"\n" + data if guard else data)).collect().get_column("line")
    if guard:
        lines = lines.slice(1)
    if b"\r" in data:
        lines = lines.str.strip_chars_end("\r")
    return lines


def _notices(lines: pl.Series, mask: pl.Series, first_line: int, reason: str) -> pl.DataFrame:
    frame = pl.DataFrame({"excerpt": lines}).with_row_index("line", offset=first_line).filter(mask)
    return conform(
        frame.select(pl.lit(reason).alias("reason"), pl.col("excerpt").str.slice(0, 200), pl.col("line")), NOTICES
    )
