"""Formats of plugins, as this program asks them: where the code of one fails, the notice of the file names it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from parsers.admission import admitted as checked
from parsers.containment import guarded
from parsers.errors import NotThisFormat
from parsers.file_reading import FileReading, Taker
from parsers.files.sources import Source
from parsers.plugins import Unfit, fitting, returned

_GIVEN: Final = frozenset({"unknown", "irrelevant", "unreadable", "failed", "archive", "copy"})
"""Formats that say what became of a file; no reader has them."""


def admitted(entry: object, plugin: str) -> Taker:
    """Return the format as it is used.

    Raises:
        Unfit: it is no ``Taker``, or has no id of its own.
    """
    taker = fitting(entry, Taker, lambda one: one.format)
    if taker.format in _GIVEN:
        raise Unfit(f"has the id {taker.format}, which says what became of a file")

    def read(source: Source, head: bytes) -> FileReading:
        found = returned(taker.read(source, head), FileReading, f"the format {taker.format}")
        if found.format != taker.format:
            raise ValueError(f"the format {taker.format} returned a reading of the format {found.format}")
        return checked(found)

    def claims(source: Source, head: bytes) -> bool:
        return bool(taker.claims(source, head))

    expected = (NotThisFormat, OSError)
    return replace(
        taker,
        claims=guarded(claims, plugin, expected=(OSError,)),
        read=guarded(read, plugin, expected=expected),
    )
