"""What tests of all that comes after reading share: a file with the same bytes under the same name is read once.

The samples are scanned by hundreds of tests, and most of a scan is reading. Tests of the parsers and of the engines
themselves read everything anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from threading import Lock

from parsers import limits, read
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.takers import metadata_files

FOLDERS = ("case", "cases", "cli", "replay", "reports", "rules")
"""Below ``tests``."""

Key = tuple[object, ...]

_KEPT = 2_000
_read_unit = read.read_unit
_known: OrderedDict[Key, FileReading] = OrderedDict()
_turn = Lock()


def remember(folder: str) -> None:
    """Scans of the tests in a folder share what they read, or each reads by itself."""
    read.read_unit = _remembered if folder in FOLDERS else _read_unit


def _remembered(sources: Sequence[Source]) -> list[FileReading]:
    """Files that are read together, told apart by their contents and the ends of their paths."""
    if any(one.problem or one.container for one in sources):
        return _read_unit(sources)
    keys = [_key(one) for one in sources]
    chained = metadata_files.belongs(sources[0])  # these go on from each other
    if chained:
        keys = [(number, *keys) for number in range(len(keys))]
    with _turn:  # scans read in threads, and another's reading may take the place of one that is known
        found = {number: _known[key] for number, key in enumerate(keys) if key in _known}
    if chained and len(found) < len(keys):
        found = {}
    missing = [number for number in range(len(keys)) if number not in found]
    if missing:
        found |= zip(missing, _read_unit([sources[number] for number in missing]), strict=True)
    with _turn:
        for number, key in enumerate(keys):
            _known[key] = found[number]
            _known.move_to_end(key)
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return [replace(found[number]) for number in range(len(keys))]


def _key(source: Source) -> Key:
    ends = PurePosixPath(source.path).parts[-3:]
    return (ends, source.called, source.notes, source.stored, source.sha256(), limits.said())
