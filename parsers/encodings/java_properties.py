"""The line format of Java properties files (``java.util.Properties.load``)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from parsers.reading import Notices

_KEY: Final = re.compile(r"(?P<key>(?:\\.|[^\\=: \t\f])*)(?P<rest>.*)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Entry(NamedTuple):
    """One key with its value.

    Attributes:
        value: the value, escapes undone.
        line: 1-based line where the entry begins.
    """

    value: str
    line: int


def entries(data: bytes, notices: Notices) -> tuple[dict[str, Entry], list[str]]:
    """Return keys and values of a properties file, and its comment lines without their mark.

    If a key occurs twice, the last entry counts, as in Java; the earlier one is noted. Bytes that are not UTF-8 are
    read as Latin-1, which is how Java reads all of them.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    found: dict[str, Entry] = {}
    comments: list[str] = []
    lines = iter(enumerate(re.split(r"\r\n|\r|\n", text), start=1))
    for number, line in lines:
        line = line.lstrip(" \t\f")
        if line.startswith(("#", "!")):
            comments.append(line[1:].strip())
            continue
        while _goes_on(line):
            _, more = next(lines, (0, ""))
            line = line[:-1] + more.lstrip(" \t\f")
        if not line:
            continue
        if "\0" in line:
            notices.add("zero bytes: content was lost, as when the power went", excerpt=line, line=number)
            continue
        split = _KEY.fullmatch(line)
        # the pattern fits any text except a single backslash at the end, which continues the line
        assert split is not None
        key = _unescape(split["key"])
        value = _unescape(_SEPARATOR.sub("", split["rest"], count=1))
        if key in found:
            notices.add(f"{key!r} stands here again; line {found[key].line} does not count", line=number)
        found[key] = Entry(value, number)
    return found, comments


def _goes_on(line: str) -> bool:
    """Return whether the line ends in an odd number of backslashes, and so continues in the next."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_undo, text)


def _undo(found: re.Match[str]) -> str:
    escaped = found[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _CONTROL.get(escaped, escaped)
