"""Files that no output may replace: another output, a file that the command reads, or a file of a broker."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from forensics.errors import UnwritableOutput

_OF_BROKERS: Final = frozenset(
    (
        *("segment", "deleted-segment", "metadata-log", "metadata-snapshot", "producer-snapshot"),
        *("offset-checkpoint", "epoch-checkpoint", "partition-metadata", "quorum-state", "clean-shutdown"),
        *("meta-properties", "server-properties"),
    )
)
"""Formats of files that brokers and their operators write, and this program never does."""
_STANDARD_INPUT: Final = 0

Identity = tuple[int, int]
"""Device and inode."""


def replaceable(outputs: Iterable[str | None], inputs: Iterable[str | None] = ()) -> None:
    """Make sure that no output replaces what it must not, under whatever name.

    Args:
        outputs: files, made later; None and ``-`` (standard output) are passed over.
        inputs: files that the command reads beside the evidence, such as a baseline; None is passed over.

    Raises:
        UnwritableOutput: an output is such a file, standard input, another output, or looks like a broker's file.
    """
    read = {identity(name): f"{name}, which this command reads" for name in inputs if name is not None}
    read[identity(_STANDARD_INPUT)] = "standard input, which this command reads"
    written: set[object] = set()
    for output in outputs:
        if output is None or output == "-" or not _is_file_or_new(output):
            continue
        there = identity(output)
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


def identity(file: str | Path | int) -> Identity | None:
    """Return what a file is on disk, whatever its name; None if there is none.

    Args:
        file: its path, or the number of an open one.
    """
    try:
        state = os.stat(file)  # noqa: PTH116 - of a number too
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino


def _is_of_broker(path: Path) -> bool:
    """Return whether a file looks like one that a broker wrote; one that cannot be read does not."""
    from parsers.files.sources import HEAD_BYTES, Source
    from parsers.read import EVENT, TAKERS  # with all formats, which the list of commands lacks

    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    if not head:
        return False
    if EVENT.match(head.removeprefix(codecs.BOM_UTF8)):  # no output of this program begins so
        return True
    source = Source(str(path.absolute()), len(head), lambda: io.BytesIO(head))
    return any(taker.format in _OF_BROKERS and taker.claims(source, head) for taker in TAKERS)
