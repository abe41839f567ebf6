"""Takers for text: what brokers log."""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers import extract, frames, lines, wrappings
from parsers.errors import NotThisFormat
from parsers.file_reading import UTC, FileReading
from parsers.sources import HEAD_BYTES, Source

_LONG_HEAD: Final = 256 << 10


def is_text(source: Source, head: bytes) -> bool:
    """Begins with lines of a known layout, or with some that go on from an event before."""
    sample = lines.sample(head)
    if sample is None or b"\0" in head:
        return False
    if wrappings.choose(sample)[1] is not None:
        return True
    if len(head) < HEAD_BYTES:
        return False
    with source.open() as stream:
        sample = lines.sample(stream.read(_LONG_HEAD))
    return sample is not None and wrappings.choose(sample)[1] is not None


def text_log(source: Source, _head: bytes) -> FileReading:
    """A broker's log."""
    reading = FileReading("broker-log")
    observations: list[pl.DataFrame] = []
    notices: list[pl.DataFrame] = []
    inside = False
    frame: frames.Frame | None = None
    around: tuple[wrappings.Wrapping, ...] = ()
    with source.open() as stream:
        for block in lines.blocks(stream):
            if frame is None:
                around, frame = wrappings.choose(block.lines)
                if frame is None:
                    raise NotThisFormat("no line begins as a broker's log does")
                reading.frame = " in ".join([frame.name, *[wrapping.name for wrapping in reversed(around)]])
            physical = block.lines.len()
            block = wrappings.unwrap(block, around)
            if frame.utc or block.outer is not None:
                reading.zone = UTC
            found = extract.extract(block, frame, inside_config=inside)
            inside = found.inside_config
            observations.append(found.observations)
            notices.append(found.notices)
            reading.lines += physical
            reading.events += found.events
            reading.relevant += found.relevant
            reading.understood += found.understood
            reading.first_time = found.first_time if reading.first_time is None else reading.first_time
            reading.last_time = found.last_time if found.last_time is not None else reading.last_time
    if observations:
        reading.observations = pl.concat(observations)
        reading.notices = pl.concat(notices)
    return reading
