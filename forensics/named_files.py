"""Files that the user names beside the evidence: settings, a baseline, a schedule, records, the tables of a batch.

All of them are opened here. Only regular files are read: a pipe may be
empty for ever, and a device may have no end.
"""

from __future__ import annotations

import codecs
import errno
import json
import math
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from parsers.limits import Limit

_NO_FILE: Final = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)
"""Kinds of path that lead to no file, each with its words."""


def opened(path: str | Path) -> BufferedReader:
    """Open a file for reading.

    Raises:
        OSError: it cannot be opened, or is no regular file; ``strerror`` says why.
    """
    try:
        state = os.stat(path)  # noqa: PTH116 - before it is opened: opening a device may change it
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    _regular(state, path)
    # It may be replaced by a pipe meanwhile: opening one waits for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _regular(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def contents(path: str | Path, limit: Limit) -> bytes:
    """Return the bytes of a file, which is held in memory whole.

    Args:
        path: the file.
        limit: bytes that it may have.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger; ``strerror`` says why.
    """
    with opened(path) as stream:
        is_larger = os.fstat(stream.fileno()).st_size > limit.value
        data = b"" if is_larger else stream.read(limit.value + 1)
    if is_larger or len(data) > limit.value:
        raise OSError(errno.EFBIG, limit.told("is larger than {}"), str(path))
    return data


def text(path: str | Path, limit: Limit) -> str:
    """Return a text of UTF-8, or of UTF-16 with the mark that shells of Windows write; the mark is left out.

    Args:
        path: the file.
        limit: bytes that it may have.

    Raises:
        OSError: as of ``contents``.
        UnicodeDecodeError: it is no such text.
    """
    data = contents(path, limit)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if wide else "utf-8-sig")


def finite_json(text: str) -> Any:
    """Return what a text is as JSON; no number in it is infinite, so that each can become a whole one.

    Raises:
        ValueError: it is no JSON, or a number in it is not finite.
        RecursionError: it is nested too deeply.

    >>> finite_json('[1, 2.5]')
    [1, 2.5]
    """
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def _finite(number: str) -> float:
    found = float(number)
    if not math.isfinite(found):
        raise ValueError(f"{number[:20]} is no number")
    return found


def no_file(path: str | Path) -> str:
    """Return why a path leads to no regular file, such as "is a pipe"; "" if it does, or to nothing."""
    try:
        _regular(os.stat(path), path)  # noqa: PTH116
    except OSError as error:
        return "" if error.errno == errno.ENOENT else str(error.strerror)
    return ""


def _regular(state: os.stat_result, path: str | Path) -> None:
    for is_such, what in _NO_FILE:
        if is_such(state.st_mode):
            raise OSError(errno.EINVAL, f"{what}, not a regular file", str(path))
