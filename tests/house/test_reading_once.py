"""What tests share of reading is the same for tests that read in threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import pytest

from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.walk import files
from tests import reading_once
from tools.samples import unpacked


def test_what_was_known_is_given_though_it_is_dropped_while_others_are_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may read so much meanwhile that its files take the place of all that was known."""
    sample = unpacked() / "acks1-2.8.2" / "broker-1"
    known, unknown = (
        one for name in ("server.properties", "data/meta.properties") for one in files([f"{sample / name}"])
    )
    read = reading_once._read_unit

    def crowded(sources: Sequence[Source]) -> list[FileReading]:
        found = read(sources)
        reading_once._known.clear()
        return found

    monkeypatch.setattr(reading_once, "_known", OrderedDict())
    first = reading_once._remembered([known])[0].properties
    monkeypatch.setattr(reading_once, "_read_unit", crowded)
    both = reading_once._remembered([known, unknown])
    assert (both[0].properties, len(both)) == (first, 2)
