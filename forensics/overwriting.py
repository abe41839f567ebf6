"""Files that no output may replace: another output, a file that the command reads, or a file of a broker."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from forensics.errors import UnwritableOutput

_EVENT: Final = re.compile(rb"(?:\xef\xbb\xbf)?\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8},[0-9]{3}\] [A-Z]+ ")
"""How most logs of brokers begin. No output of this program does."""
_OF_BROKERS: Final = frozenset(
    (
        *("segment", "deleted-segment", "metadata-log", "metadata-snapshot", "producer-snapshot"),
        *("offset-checkpoint", "epoch-checkpoint", "partition-metadata", "quorum-state", "clean-shutdown"),
        *("meta-properties", "server-properties"),
    )
)
"""Formats of files that brokers and their operators write, and this program never does."""
_HEAD: Final = 1 << 16

_Identity = tuple[int, int]


def replaceable(outputs: Iterable[str | None], inputs: Iterable[str | None] = ()) -> None:
    """Make sure that no output replaces what it must not, under whatever name.

    Args:
        outputs: files, made later; None and ``-`` (standard output) are passed over.
        inputs: files that the command reads beside the evidence, such as a baseline; None is passed over.

    Raises:
        UnwritableOutput: an output is such a file, standard input, another output, or looks like a broker's file.
    """
    read = {_identity(name): f"{name}, which this command reads" for name in inputs if name is not None}
    read[_of_standard_input()] = "standard input, which this command reads"
    written: set[object] = set()
    for output in outputs:
        if output is None or output == "-" or not _is_file_or_new(output):
            continue
        there = _identity(output)
        place: object = there or os.path.realpath(output)
        if place in written:
            raise UnwritableOutput(f"{output}: two outputs of this command would be this file; name another for one")
        written.add(place)
        if there is not None and there in read:
            raise UnwritableOutput(f"{output} is {read[there]}; name another file")
        if there is not None and _is_of_broker(Path(output)):
            raise UnwritableOutput(f"{output} is a log or a file of a broker, which is never written to; name another")


def _is_file_or_new(path: str) -> bool:
    return Path(path).is_file() or not Path(path).exists()


def _identity(path: str) -> _Identity | None:
    try:
        state = os.stat(path)  # noqa: PTH116 - with the error of a name that no file can have
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino


def _of_standard_input() -> _Identity | None:
    try:
        state = os.fstat(0)
    except OSError:  # it is closed
        return None
    return state.st_dev, state.st_ino


def _is_of_broker(path: Path) -> bool:
    """Return whether a file looks like one that a broker wrote; one that cannot be read does not."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    if not head or _EVENT.match(head):
        return bool(head)
    from parsers.files.sources import Source
    from parsers.read import TAKERS  # with all formats, which the list of commands lacks

    source = Source(str(path.absolute()), len(head), lambda: io.BytesIO(head))
    return any(taker.format in _OF_BROKERS and taker.claims(source, head) for taker in TAKERS)
