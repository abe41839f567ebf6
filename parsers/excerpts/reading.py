"""Reads one piece of an excerpt: events in the layouts of logs, with and without times, and gaps.

A piece marks its gaps by rows of ``Kind.LINES_MISSING``; what happened in a gap is unknown. Lines in another order (a
search shows the newest first) are read by their times.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import polars as pl

from parsers.errors import NotThisFormat
from parsers.excerpts.catalogue import speaks
from parsers.excerpts.dissect import Line, dissected
from parsers.excerpts.kinds import Event, event_of, exception_of, message_of, whole
from parsers.excerpts.kinds import Kind as LineKind
from parsers.excerpts.pieces import MARKED
from parsers.file_reading import FileReading, joined, note, whole_span
from parsers.files.sources import Source
from parsers.formats.request_log import RequestLog
from parsers.schema import NOTICES, OBSERVATIONS, Kind, conform, empty
from parsers.text import broker_log, cut_wordings, extract, frames, wrappings
from parsers.text.frames import Frame
from parsers.text.layouts import Layout, Layouts, Portion
from parsers.text.lines import Block
from parsers.text.time_order import REMARK, joined_out_of_order, out_of_order

HOLE: Final = "excerpt"
"""Message id of rows that mark missing lines."""

BEGINS: Final = "the excerpt begins"
ENDS: Final = "the excerpt ends"
BETWEEN: Final = "between two parts of the excerpt"
"""Details of rows for lines that are missing before, behind and between stretches; else it is the mark itself."""

CUT: Final = "its end is missing: read as far as it goes"
"""Reason of a notice about a line that states something although its end is missing."""

_TIMELESS: Final = Frame(
    name="no time",
    head=r"^\[\?\] [A-Z]",
    sign=r"^\[\?\] [A-Z]",
    time=pl.lit(None, dtype=pl.Datetime("us")),
    rest=pl.col("text").str.slice(4),
)
"""Events as ``kinds`` gives those without a time, behind a mark in its place."""

_THROWN_BY: Final = "[?] ERROR an exception"
_NO_CLASS: Final = "java.lang.Exception"
"""Stand for the event and the class of an exception that is pasted without them."""

_LONGEST_MARK: Final = 60


def piece(source: Source) -> FileReading:
    """Read a piece of an excerpt.

    Raises:
        NotThisFormat: no line of it begins an event.
        OSError: it cannot be read.
    """
    lines = _lines(source)
    timed, untimed = _events(lines)
    parts = [*([_with_times(timed)] if timed else []), *([_without_times(untimed)] if untimed else [])]
    if not parts:
        raise NotThisFormat("no line begins as a broker's log does")
    part = joined(parts)
    part.lines = len(lines)
    part.prose = sum(line.kind in (LineKind.PROSE, LineKind.FENCE) for line in lines)
    part.frame = f"{part.frame} {MARKED}"
    if part.observations.height:
        marks = _rows([*_marks(lines), *_gaps(lines)])
        part.observations = pl.concat([part.observations, marks]).sort("line", maintain_order=True)
        _by_time(part)
        events = [number for number, line in enumerate(lines, 1) if line.begins]
        begins, ends = _rows([(events[0], BEGINS)]), _rows([(events[-1], ENDS)])
        part.observations = pl.concat([begins, part.observations, ends])
    return part


def classes(source: Source) -> pl.DataFrame:
    """Return the class of each line of a piece; prose is irrelevant, and so is a blank line.

    Returns:
        Columns ``size`` (bytes with the line end) and ``class`` (understood, irrelevant, damaged or unknown).
    """
    lines = _lines(source)
    timed, untimed = _events(lines)
    portions = [*_timed_portions(timed), *_untimed_portions(untimed)]
    of_events = {number: "understood" for portion in portions for number in portion.found.read.to_list()}
    noted = pl.concat([empty(NOTICES), *(portion.found.notices for portion in portions)]).drop_nulls("line")
    for line, reason in noted.select("line", "reason").iter_rows():
        of_events[line] = "unknown" if "not understood" in reason else "damaged"
    found, last = [], "irrelevant"
    for number, line in enumerate(lines, 1):
        last = of_events.get(number, "irrelevant") if line.begins else last
        found.append((len(line.text.encode()) + 1, _class(line, last)))
    return pl.DataFrame(found, schema={"size": pl.Int64, "class": pl.String}, orient="row")


def _class(line: Line, of_event: str) -> str:
    """Return the class of a line, given that of the event that it begins or follows."""
    if line.kind is LineKind.LEFT_OUT:
        return "understood"
    return of_event if line.begins or line.kind is LineKind.GOES_ON else "irrelevant"


def _lines(source: Source) -> list[Line]:
    with source.open() as stream:
        return dissected(stream.read().decode("utf-8", "replace")).lines


def _events(lines: Sequence[Line]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return numbers and texts of the lines of events with a time, and of those without, with continuation lines."""
    timed: list[tuple[int, str]] = []
    untimed: list[tuple[int, str]] = []
    now = timed
    for number, line in enumerate(lines, 1):
        event = _event(line)
        exception = exception_of(event.text) if event is not None and not event.timed else None
        if exception is not None:
            # Readers of logs look for exceptions behind an event.
            now = untimed
            now += [(number, _THROWN_BY), (number, f"{_NO_CLASS}: {exception}")]
        elif event is not None:
            now = timed if event.timed else untimed
            now.append((number, event.text if event.timed else f"[?] {event.text}"))
        elif line.kind is LineKind.GOES_ON and now:
            now.append((number, line.text))
    return timed, untimed


def _event(line: Line) -> Event | None:
    if line.kind is LineKind.EVENT:
        return event_of(line.text)
    return message_of(line.text) if line.kind is LineKind.MESSAGE else None


def _block(rows: Sequence[tuple[int, str]]) -> Block:
    numbers = pl.Series("line", [number for number, _ in rows], dtype=pl.Int64)
    return Block(pl.Series("text", [text for _, text in rows], dtype=pl.String), 1, empty(NOTICES), numbers)


def _layouts(block: Block) -> Layouts:
    """Layouts of lines with times.

    Raises:
        NotThisFormat: no line begins an event.
    """
    around, frame = wrappings.choose(block.lines)
    if frame is None:
        raise NotThisFormat("no line begins as a broker's log does")
    return Layouts(around, frame)


def _timed_portions(rows: Sequence[tuple[int, str]]) -> list[Portion]:
    block = _block(rows)
    return _layouts(block).portions(block) if rows else []


def _untimed_portions(rows: Sequence[tuple[int, str]]) -> list[Portion]:
    block = _block(rows)
    return [Portion(Layout((), _TIMELESS), block, extract.extract(block, _TIMELESS))] if rows else []


def _with_times(rows: Sequence[tuple[int, str]]) -> FileReading:
    block = _block(rows)
    known, requests = _layouts(block), RequestLog()
    part = broker_log.read_block(block, known, requests)
    _add_cut(part, rows, known.known[0].frame)
    if requests.relevant:
        part.observations = pl.concat([part.observations, requests.finish()])
        part.relevant += requests.relevant
        part.understood += requests.understood
    if known.known[0].frame.remark:
        part.notices = pl.concat([note(known.known[0].frame.remark), part.notices])
    return part


def _without_times(rows: Sequence[tuple[int, str]]) -> FileReading:
    part = joined([broker_log.read_portion(portion) for portion in _untimed_portions(rows)])
    _add_cut(part, rows, _TIMELESS)
    part.first_time = part.last_time = None
    return part


def _add_cut(part: FileReading, rows: Sequence[tuple[int, str]], frame: Frame) -> None:
    """Add what lines without their end state. The notices about them stay, and say that this was read."""
    read = {*part.observations.get_column("line").drop_nulls()}
    unread = [(number, text) for number, text in rows if number not in read and not whole(text) and speaks(text)]
    if unread:
        lines = pl.DataFrame(unread, schema={"line": pl.Int64, "text": pl.String}, orient="row")
        found = cut_wordings.read(frames.split(lines, frame))
        cut = pl.col("line").is_in(found.get_column("line").implode())
        part.notices = part.notices.with_columns(pl.when(cut).then(pl.lit(CUT)).otherwise("reason").alias("reason"))
        part.observations = pl.concat([part.observations, found]).sort("line", maintain_order=True)


def _rows(holes: Sequence[tuple[int, str]]) -> pl.DataFrame:
    """Return a row for each place where lines are missing.

    Args:
        holes: numbers and texts of the lines that mark missing lines.
    """
    found = pl.DataFrame(holes, schema={"line": pl.Int64, "detail": pl.String}, orient="row").with_columns(
        pl.lit(Kind.LINES_MISSING.value, dtype=OBSERVATIONS["kind"]).alias("kind"), pl.lit(HOLE).alias("message")
    )
    return conform(found, OBSERVATIONS)


def _marks(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Numbers and texts of marks for lines that are left out; of several in a row the first."""
    told = [(number, line) for number, line in enumerate(lines, 1) if line.kind is not LineKind.BLANK]
    before = [None, *(line.kind for _, line in told)]
    return [
        (number, line.text.strip()[:_LONGEST_MARK])
        for (number, line), last in zip(told, before, strict=False)
        if line.kind is LineKind.LEFT_OUT and last is not LineKind.LEFT_OUT
    ]


def _gaps(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Numbers of the first fences, or lines of prose, between two stretches of lines without such a mark."""
    apart = (LineKind.FENCE, LineKind.PROSE)
    gaps: list[tuple[int, str]] = []
    last: LineKind | None = None
    since = 0
    for number, line in enumerate(lines, 1):
        if line.begins and since:
            gaps.append((since, BETWEEN))
        if line.begins or line.kind is LineKind.LEFT_OUT:
            last, since = line.kind, 0
        elif line.kind in apart and last is not None and last is not LineKind.LEFT_OUT:
            since = since or number
    return gaps


def _by_time(part: FileReading) -> None:
    """Sort rows by their times, if the lines have another order: of two logs pasted below each other too."""
    time = part.observations.get_column("time").cast(pl.Int64)
    steps = [after - before for before, after in itertools.pairwise(time.drop_nulls().to_list())]
    if not out_of_order(steps) and not joined_out_of_order(steps):
        return
    # In lines in reverse order, those of one moment are in reverse order too.
    down = sum(step < 0 for step in steps) > sum(step > 0 for step in steps)
    part.observations = (
        part.observations.with_columns(
            pl.col("time").forward_fill().backward_fill().alias("_place"),
            (-pl.col("line") if down else pl.lit(0)).alias("_within"),
        )
        .sort("_place", "_within", maintain_order=True)
        .drop("_place", "_within")
    )
    part.first_time, part.last_time = whole_span(part)
    part.notices = pl.concat([part.notices, note(REMARK)])
