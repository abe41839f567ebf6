"""A broker's log part by part: memory is bounded whatever its size, and a large plain file can be read by ranges.

Ranges begin and end at multiples of the block size, so the blocks of lines are the same as in a sequential read, and so
are the rows. What continues over the start of a range is looked up in the bytes before it. If that is impossible
(request logs with their sessions, lines in pieces), ``NotByRanges`` is raised and the file is read sequentially.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

import polars as pl

from parsers import distances
from parsers.errors import NotByRanges, NotThisFormat
from parsers.file_reading import UTC, FileReading, joined, note, whole_span
from parsers.files.sources import Place, Source
from parsers.formats.request_log import MARK as REQUEST
from parsers.formats.request_log import RequestLog
from parsers.schema import NOTICES, empty
from parsers.text import extract, frames, layouts, lines, wrappings
from parsers.text.announced_roles import note_announced
from parsers.text.frames import Frame
from parsers.text.layouts import Layouts, Portion
from parsers.text.time_order import REMARK, is_shuffled
from parsers.text.wrappings import Wrapping

NAME: Final = "broker-log"
STEP: Final = lines.BLOCK_BYTES
"""Ranges begin and end at multiples of it."""

SHORT: Final = 128 << 10
"""Bytes of a log that is read together with others: each wording costs more to look for than so few lines to read."""

_SAMPLE_LINES: Final = 5000  # as many as the choice of a layout looks at
_SAMPLE_BYTES: Final = 4 << 20
_LOOK_BACK: Final = 1 << 20
_FARTHEST: Final = 16 << 20
_NO_BYTE: Final = b"\xef\xbf\xbd"  # as blocks of lines show a byte that is none


@dataclass(frozen=True, slots=True)
class Range:
    """Some of a file's bytes: its lines from the last line end before ``begin`` to the last one before ``end``.

    Attributes:
        begin: a multiple of ``STEP``.
        end: a multiple of ``STEP``, or None for the rest of the file.
    """

    begin: int
    end: int | None


def ranges(size: int, wanted: int) -> list[Range]:
    """Ranges of about the wanted size that make up a file."""
    step = max(wanted // STEP, 1) * STEP
    begins = list(range(0, max(size - STEP // 2, 1), step))
    return [Range(begin, end) for begin, end in zip(begins, [*begins[1:], None], strict=True)]


def parts(source: Source) -> Iterator[FileReading]:
    """A log in parts, in the order of its lines.

    Where a request log is among them, what follows its first request comes as one part: sessions reach over the file.

    Raises:
        NotThisFormat: no line begins as a broker's log does.
        OSError: it cannot be read.
    """
    with source.open() as stream:
        around, frame, blocks = _opened(lines.blocks(stream))
        yield from _parts(blocks, around, frame)


def _parts(blocks: Iterator[lines.Block], around: tuple[Wrapping, ...], frame: Frame) -> Iterator[FileReading]:
    requests = RequestLog()
    held: list[FileReading] = []
    known = Layouts(around, frame)
    shuffled: bool | None = None
    for block in blocks:
        if shuffled is None:
            shuffled = is_shuffled(block.lines, around, frame)
        part = read_block(block, known, requests)
        if block.first_line == 1:
            _remark(part, frame, shuffled=shuffled)
        _in_order(part, shuffled=shuffled)
        if requests.relevant:
            held.append(part)
        else:
            yield part
    if held:
        rest = joined(held)
        rest.observations = pl.concat([rest.observations, requests.finish()]).sort("line", maintain_order=True)
        rest.relevant += requests.relevant
        rest.understood += requests.understood
        yield rest


def _opened(blocks: Iterator[lines.Block]) -> tuple[tuple[Wrapping, ...], Frame, Iterator[lines.Block]]:
    """Return the wrappings around the lines, their layout, and the blocks themselves.

    Raises:
        NotThisFormat: no line begins as a broker's log does.
    """
    first = next(blocks, None)
    around, frame = wrappings.choose(first.lines) if first is not None else ((), None)
    if first is None or frame is None:
        raise NotThisFormat("no line begins as a broker's log does")
    return around, frame, wrappings.whole(itertools.chain([first], blocks), around)


def classes(source: Source) -> pl.DataFrame:
    """Return the class of each physical line of a log.

    A continuation line has the class of its event; lines before the first event are unknown.

    Returns:
        Columns ``size`` (bytes with the line end) and ``class`` (understood, irrelevant, damaged or unknown).

    Raises:
        NotThisFormat: no line begins as a broker's log does.
        OSError: it cannot be read.
    """
    sizes: list[pl.Series] = []
    said: list[pl.DataFrame] = []

    def sized(stream: BinaryIO) -> Iterator[lines.Block]:
        for block in lines.blocks(stream, sized=True):
            if block.sizes is not None:
                sizes.append(block.sizes)
            yield block

    with source.open() as stream:
        around, frame, blocks = _opened(sized(stream))
        requests = RequestLog()
        known = Layouts(around, frame)
        for block in blocks:
            portions = known.portions(block)
            noticed = [requests.add(_requests(portions))]
            for portion in portions:
                said.append(_classed(portion, pl.concat([portion.found.notices, *noticed])))
                noticed = []
    by_line = pl.concat(said)
    read = requests.lines.implode()
    by_line = by_line.with_columns(
        pl.when(pl.col("class").eq("irrelevant") & pl.col("line").is_in(read))
        .then(pl.lit("understood"))
        .otherwise("class")
        .alias("class")
    )
    events = by_line.filter(pl.col("class") != "damaged").with_columns(
        pl.col("class").replace_strict(_RANKS, return_dtype=pl.Int8).alias("rank")
    )
    damaged = by_line.filter(pl.col("class") == "damaged").get_column("line").implode()
    return (
        pl.concat(sizes)
        .to_frame("size")
        .with_row_index("line", offset=1)
        .with_columns(pl.col("line").cast(pl.Int64))
        .join(
            events.sort("rank").unique("line", keep="first", maintain_order=True).select("line", "class"),
            on="line",
            how="left",
            maintain_order="left",
        )
        .select(
            "size",
            pl.when(pl.col("line").is_in(damaged))
            .then(pl.lit("damaged"))
            .otherwise(pl.col("class").forward_fill().fill_null("unknown"))
            .alias("class"),
        )
    )


_RANKS: Final = {"unknown": 0, "understood": 1, "irrelevant": 2}
"""Order of classes for a physical line with several events: the first one counts."""


def _classed(portion: Portion, noticed: pl.DataFrame) -> pl.DataFrame:
    """Return the class of each line that begins an event or that a notice names, by number."""
    text = pl.col("text")
    heads = portion.inner.frame().filter(text.str.contains(portion.layout.frame.head))
    read = pl.col("line").is_in(portion.found.read.implode()) | text.str.contains(extract.CONFIG_HEAD, literal=True)
    unknown = portion.found.unknown.to_frame("line").select("line", pl.lit("unknown").alias("class"))
    noted = noticed.drop_nulls("line").select(
        "line",
        pl.when(pl.col("reason").str.contains("not understood", literal=True))
        .then(pl.lit("unknown"))
        .otherwise(pl.lit("damaged"))
        .alias("class"),
    )
    of_events = heads.select(
        "line", pl.when(read).then(pl.lit("understood")).otherwise(pl.lit("irrelevant")).alias("class")
    )
    return pl.concat([of_events, unknown, noted])


def together(sources: Sequence[Source]) -> list[FileReading | None]:
    """Short logs read at once, each as ``parts`` would read it; None for each that has to be read by itself.

    Raises:
        OSError: one of them cannot be read.
    """
    found: list[FileReading | None] = [None] * len(sources)
    by_frame: dict[tuple[str, bool], tuple[Frame, dict[int, list[lines.Block]]]] = {}
    for number, source in enumerate(sources):
        blocks = _short(source)
        around, frame = wrappings.choose(blocks[0].lines) if blocks else ((), None)
        if frame is None:
            continue
        if around:
            found[number] = joined(list(_parts(wrappings.whole(blocks, around), around, frame)))
        else:
            _, logs = by_frame.setdefault((frame.name, frame is frames.MUTE), (frame, {}))
            logs[number] = blocks
    for frame, logs in by_frame.values():
        for number, reading in _of_one_frame(logs, frame):
            found[number] = reading
    return found


def _short(source: Source) -> list[lines.Block]:
    """Return the lines of a short log; nothing for a file that has to be read by itself."""
    with source.open() as stream:
        data = stream.read(SHORT + 1)
    if len(data) > SHORT or b"\0" in data or REQUEST.encode() in data:
        return []
    return list(lines.blocks(io.BytesIO(data), block_bytes=SHORT)) if data else []


def _of_one_frame(logs: Mapping[int, Sequence[lines.Block]], frame: Frame) -> Iterator[tuple[int, FileReading]]:
    """Read short logs that begin in the same layout: all at once, and those that change it one by one.

    Args:
        logs: lines of each log, by the number that is returned with its reading.
        frame: the layout.
    """
    whole = {number: _one_block(blocks) for number, blocks in logs.items()}
    numbers = list(whole)
    changing = {numbers[at] for at in layouts.changing(list(whole.values()), frame)}
    for number in changing:
        yield number, joined(list(_parts(iter(logs[number]), (), frame)))
    alike = {number: block for number, block in whole.items() if number not in changing}
    layout = layouts.Layout((), frame)
    extracts = extract.extracts(list(alike.values()), frame) if alike else []
    for (number, block), one in zip(alike.items(), extracts, strict=True):
        reading = read_portion(Portion(layout, block, one))
        note_announced(reading)
        reading.lines = block.lines.len()
        shuffled = is_shuffled(block.lines, (), frame)
        _remark(reading, frame, shuffled=shuffled)
        _in_order(reading, shuffled=shuffled)
        yield number, reading


def _one_block(blocks: Sequence[lines.Block]) -> lines.Block:
    """Return all lines of a text as one block."""
    text = pl.concat([block.lines for block in blocks])
    return lines.Block(text, 1, pl.concat([block.notices for block in blocks]), unended=blocks[-1].unended)


def parts_of_range(source: Source, place: Place, wanted: Range) -> Iterator[FileReading]:
    """Yield the lines of one range in parts, numbered from 1.

    Args:
        source: the log, plain text.
        place: where its bytes are.
        wanted: the range.

    Raises:
        NotByRanges: the file has to be read sequentially, also because it has lines of another layout.
        NotThisFormat: no line begins as a broker's log does.
        OSError: it cannot be read.
    """
    around, frame, shuffled = _layout(source)
    with place.open() as stream:
        rest, inside = _before(stream, wanted.begin, around, frame)
        stream.seek(wanted.begin)
        whole = wanted.end is None
        limited = stream if wanted.end is None else _Limited(stream, wanted.end - wanted.begin)
        requests = RequestLog()
        known = Layouts(around, frame, inside_config=inside)
        for block in lines.blocks(limited, rest=rest, ends=whole):  # type: ignore[arg-type]
            if around and not whole and around[0].unfinished(block):
                raise NotByRanges("a line goes on in the next range")
            part = read_block(block, known, requests)
            if len(known.known) > 1:
                raise NotByRanges("the layout of its lines changes")
            if wanted.begin == 0 and block.first_line == 1:
                _remark(part, frame, shuffled=shuffled)
            _in_order(part, shuffled=shuffled)
            if requests.relevant:
                raise NotByRanges("sessions of a request log reach over the file")
            yield part


def read_block(block: lines.Block, known: Layouts, requests: RequestLog) -> FileReading:
    """Read one block of a log's lines."""
    count = block.lines.len()
    portions = known.portions(block)
    parts = [read_portion(portion) for portion in portions]
    part = joined(parts)
    if len(parts) > 1:
        part.observations = part.observations.sort("line", maintain_order=True)
        part.first_time = min((one.first_time for one in parts if one.first_time is not None), default=None)
        part.last_time = max((one.last_time for one in parts if one.last_time is not None), default=None)
    note_announced(part)
    part.lines = count
    part.zone = UTC if known.utc else None
    part.notices = pl.concat([part.notices, requests.add(_requests(portions))])
    return part


def read_portion(portion: Portion) -> FileReading:
    """Read lines of one layout."""
    layout, block, found = portion.layout, portion.inner, portion.found
    part = FileReading(NAME, found.observations, notices=found.notices)
    part.frame = f"{layout.name}; {layouts.NOT_KNOWN}" if portion.unread else layout.name
    part.zone = UTC if layout.utc else None
    part.events, part.relevant, part.understood = found.events, found.relevant, found.understood
    part.first_time, part.last_time = found.first_time, found.last_time
    if block.outer is not None and not layout.utc:
        rows = block.frame().filter(pl.col("text").str.contains(layout.frame.head))
        part.distances = distances.measured(rows.select(layout.frame.time.alias("time"))["time"], rows["outer"])
    return part


def _remark(part: FileReading, frame: Frame, *, shuffled: bool) -> None:
    remarks = [*([frame.remark] if frame.remark else []), *([REMARK] if shuffled else [])]
    if remarks:
        part.notices = pl.concat([note(*remarks), part.notices])


def _in_order(part: FileReading, *, shuffled: bool) -> None:
    """Note that the lines of a log are in no order of time, and when the first and the last of them were logged."""
    part.shuffled = shuffled
    if shuffled:
        part.first_time, part.last_time = whole_span(part)


def _requests(portions: Sequence[Portion]) -> pl.DataFrame:
    """Events of the request log among the lines."""
    found = [empty(_REQUESTS)]
    for portion in portions:
        block, frame = portion.inner, portion.layout.frame
        marked = block.lines.str.contains(REQUEST, literal=True)
        if marked.any():
            rows = block.frame().filter(marked)
            found.append(frames.split(rows.filter(pl.col("text").str.contains(frame.head)), frame).select(*_REQUESTS))
    rows = pl.concat(found)
    return rows.sort("line", maintain_order=True) if len(portions) > 1 else rows


_REQUESTS: Final[dict[str, pl.DataType]] = {"line": pl.Int64(), "time": pl.Datetime("us"), "message": pl.String()}


# -- ranges -----------------------------------------------------------------------------------------------------------


class _Limited:
    """The next bytes of a stream, and no more."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


def _layout(source: Source) -> tuple[tuple[Wrapping, ...], Frame, bool]:
    """Return wrappings and layout, from the file's first lines, and whether they are in no order of time."""
    with source.open() as stream:
        head = stream.read(_SAMPLE_BYTES)
        if head.count(b"\n") <= _SAMPLE_LINES:
            head += stream.read(STEP - len(head))
    sample = lines.sample(head.replace(b"\0", _NO_BYTE))
    around, frame = wrappings.choose(sample) if sample is not None else ((), None)
    if sample is None or frame is None:
        raise NotThisFormat("no line begins as a broker's log does")
    return around, frame, is_shuffled(sample, around, frame)


def _before(stream: BinaryIO, begin: int, around: tuple[Wrapping, ...], frame: Frame) -> tuple[bytes, bool]:
    """Return the state that a sequential read carries over the beginning of a range.

    Returns:
        Bytes of the line that continues over it, and whether it is in a dump of ``KafkaConfig``.

    Raises:
        NotByRanges: no line within reach begins an event.
    """
    size = _LOOK_BACK
    while begin:
        start = max(begin - size, 0)
        stream.seek(start)
        before = stream.read(begin - start)
        end = before.rfind(b"\n") + 1
        first = before.find(b"\n") + 1 if start else 0
        inside = _ends_inside(before[first:end], around, frame)
        if inside is not None or not start:
            return before[end:], bool(inside)
        if size >= _FARTHEST:
            raise NotByRanges(f"no line in {size >> 20} MiB begins an event")
        size *= 4
    return b"", False


def _ends_inside(text: bytes, around: tuple[Wrapping, ...], frame: Frame) -> bool | None:
    """Return whether a text of whole lines ends in a dump of ``KafkaConfig``; None if no line of it begins an event."""
    sample = lines.sample(text.replace(b"\0", _NO_BYTE)) if text else None
    return None if sample is None else _inside(sample, around, frame)


def _inside(before: pl.Series, around: tuple[Wrapping, ...], frame: Frame) -> bool | None:
    """Return whether the last event of the lines is a dump of ``KafkaConfig``; None if no line begins one."""
    block = wrappings.unwrap(lines.Block(before, 1, empty(NOTICES)), around)
    heads = block.lines.filter(block.lines.str.contains(frame.head))
    return extract.CONFIG_HEAD in str(heads[-1]) if heads.len() else None
