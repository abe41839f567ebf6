"""Cases are scanned many times, with ever other files left out; each file is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

import pytest

from parsers import read
from parsers.file_reading import FileReading
from parsers.sources import Source

_read_unit = read.read_unit
_KEPT = 400


class _Unit:
    """Files that are read together, told apart by their contents and the ends of their paths."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.key = tuple(
            (PurePosixPath(one.path).parts[-3:], one.called, one.problem, one.container, one.notes, one.sha256())
            for one in sources
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unit) and self.key == other.key


@lru_cache(maxsize=_KEPT)
def _read(unit: _Unit) -> tuple[FileReading, ...]:
    return tuple(_read_unit(unit.sources))


@pytest.fixture(autouse=True)
def files_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scans within a test of cases share what they read of equal files."""

    def remembered(sources: Sequence[Source]) -> list[FileReading]:
        if any(one.problem or one.container for one in sources):
            return _read_unit(sources)
        return [replace(reading) for reading in _read(_Unit(sources))]

    monkeypatch.setattr(read, "read_unit", remembered)
