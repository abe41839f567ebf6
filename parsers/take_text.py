"""Takers for text: what brokers log."""

from __future__ import annotations

import polars as pl

from parsers import extract, frames, lines
from parsers.errors import NotThisFormat
from parsers.file_reading import FileReading
from parsers.sources import Source


def is_text(_source: Source, head: bytes) -> bool:
    """Begins with lines of a known layout."""
    sample = lines.sample(head)
    return sample is not None and frames.choose(sample) is not None


def text_log(source: Source, _head: bytes) -> FileReading:
    """A broker's log."""
    reading = FileReading("broker-log")
    observations: list[pl.DataFrame] = []
    notices: list[pl.DataFrame] = []
    inside = False
    frame: frames.Frame | None = None
    with source.open() as stream:
        for block in lines.blocks(stream):
            if frame is None:
                frame = frames.choose(block.lines)
                if frame is None:
                    raise NotThisFormat("no line begins as a broker's log does")
                reading.frame = frame.name
            found = extract.extract(block, frame, inside_config=inside)
            inside = found.inside_config
            observations.append(found.observations)
            notices.append(found.notices)
            reading.lines += block.lines.len()
            reading.events += found.events
            reading.relevant += found.relevant
            reading.understood += found.understood
            reading.first_time = found.first_time if reading.first_time is None else reading.first_time
            reading.last_time = found.last_time if found.last_time is not None else reading.last_time
    if observations:
        reading.observations = pl.concat(observations)
        reading.notices = pl.concat(notices)
    return reading
