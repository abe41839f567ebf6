"""What tests of all that comes after reading share: a file with the same bytes under the same name is read once.

What is asked of the bytes of a text alone, to tell how it is read, is answered once too.
The samples are scanned by hundreds of tests, and most of a scan is reading. Tests of the parsers and of the engines
themselves read everything anew.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import PurePosixPath
from threading import Lock
from typing import TypeVar

from parsers import limits, read
from parsers.excerpts import gate
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.takers import metadata_files
from parsers.text import reordered, shared_output

FOLDERS = ("case", "cases", "cli", "repaired", "replay", "reports", "rules")
"""Below ``tests``."""

Key = tuple[object, ...]
_T = TypeVar("_T")

_KEPT = 2_000
_read_unit = read.read_unit
_known: OrderedDict[Key, FileReading] = OrderedDict()
_turn = Lock()


def remember(folder: str) -> None:
    """Scans of the tests in a folder share what they read, or each reads by itself."""
    shared = folder in FOLDERS
    read.read_unit = _remembered if shared else _read_unit
    gate.may_be_excerpt = _MAY_BE_EXCERPT[shared]
    reordered._goes_back = _GOES_BACK[shared]
    shared_output.mark_of = _MARK_OF[shared]


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


# -- what is asked of bytes alone --------------------------------------------------------------------------------------


def _asked_once(ask: Callable[[bytes], _T]) -> tuple[Callable[[bytes], _T], Callable[[bytes], _T]]:
    """Return a function of bytes, and one that remembers its answers: to some thousand texts, by their hashes."""
    known: OrderedDict[bytes, _T] = OrderedDict()

    @wraps(ask)
    def asked(data: bytes) -> _T:
        key = hashlib.sha1(data, usedforsecurity=False).digest()
        with _turn:
            if key in known:
                return known[key]
        answer = ask(data)
        with _turn:
            known[key] = answer
            while len(known) > _KEPT:
                known.popitem(last=False)
        return answer

    return ask, asked


_MAY_BE_EXCERPT = _asked_once(gate.may_be_excerpt)
_GOES_BACK = _asked_once(reordered._goes_back)
_MARK_OF = _asked_once(shared_output.mark_of)
