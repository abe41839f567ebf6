"""Quick test of bytes for a possible excerpt, so that whole logs do not pay for excerpts.

It may accept too much; ``dissect`` decides.
"""

from __future__ import annotations

import itertools
import re
from datetime import datetime, timedelta
from typing import Final

from parsers.excerpts.catalogue import speaks
from parsers.excerpts.headings import heading
from parsers.text.dates import DATES
from parsers.text.time_order import out_of_order
from parsers.text.wrappings import COLLECTED

_LEVEL: Final = rb"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\]?"
_ORNAMENT: Final = rb"[ \t>#|*_~=+.\[(<{-]*"
_DAY: Final = rb"\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ]"

_SIGNS: Final[tuple[bytes, ...]] = (
    rb"[ \t]*(?:```|~~~|>|&gt;|\{noformat|\{code|\{quote|\{panel|\{\{|\*\*|__|`|\[code|\[quote)",
    rb"[ \t]*<(?:pre|code|p|div|br|td|li|ul|ol|blockquote|tt|span|details|b|strong|em)\b",
    rb"[ \t]*(?:[-*+|_\"']|[0-9]{1,7}[.):\]]|\xe2\x80[\xa2\x93\x94\xa3])[ \t]*[\[A-Z0-9]",
    rb"[ \t]*\\\[",
    # a time, or a level, behind something else
    rb"[^\n]{1,90}?" + _DAY,
    rb"[^\n]{0,60}?\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b",
    rb"[^\n]{0,60}?(?<![A-Za-z.])" + _LEVEL + rb"[ :|-]+(?!\[?[0-9]{2,4}[-/.: ])",
    # lines that are left out
    _ORNAMENT + rb"(?:\.\.|\xe2\x80\xa6|\xe2\x8b\xae)[^\n]{0,80}[.\])>}*_~=-]*\s*$",
    _ORNAMENT + rb"(?i:snip|cut|omitted|left out|truncated|skipped|removed|elided|trimmed)\b[^\n]{0,60}$",
    _ORNAMENT + rb"(?i:[0-9]+|many|several|some|a few|more|other|similar|etc|and so on)\b[^\n]{0,60}$",
    rb"[ \t]*(?:--|[.:])[ \t]*$",
    # times that were edited
    rb"[^\n]{0,60}?(?<!\w)(?:[0-9]{4}|[xX*#?YyMmDd]{2,4})[-/.](?:[0-9]{2}[-/.])?[xX*#?YyMmDd]{1,2}(?!\w)",
    rb"[\[<(]+(?i:time|date|ts\b|redacted|removed|omitted|\.\.)",
    # messages alone
    rb"\[(?:Partition|[A-Za-z]*Log|[A-Za-z]*Fetcher[A-Za-z]*|ReplicaManager|LeaderEpochCache|Broker)[ =]",
    rb"\[(?:[A-Za-z]*Controller|KafkaServer|RaftManager)[ =]",
    # words of people
    rb"[A-Z\"'(]?[A-Za-z][^\[\]\n]*\b(?:[Ww]e|[Oo]ur|[Mm]y|I[ ']|[Hh]i|[Hh]ello|[Tt]hanks)\b",
    rb"[A-Z\"'(]?[A-Za-z][^\[\]\n]*\b(?:[Aa]nyone|[Aa]nybody|[Ss]omebody|[Ss]omeone)\b",
)
"""How a line begins that a person dressed."""


def _as_bytes(pattern: str) -> bytes:
    """A pattern of Rust's for texts as one of Python's for bytes, without the names of its groups."""
    named = re.sub(r"\(\?P<\w+>", "(?:", pattern.removeprefix("^"))
    return re.sub(r"\\x\{([0-9A-F]+)\}", lambda found: re.escape(chr(int(found[1], 16))), named).encode()


_COLLECTED: Final = rb"|".join(_as_bytes(one.pattern) for one in COLLECTED)
_DATE: Final = rb"|".join(dict.fromkeys(date.pattern.encode() for date in DATES))
_WRITTEN: Final = rb"(?:" + _COLLECTED + rb"){0,2}(?:\{[\s\"]|(?:" + _LEVEL + rb" +)?\[?(?:" + _DATE + rb"))"
"""How programs begin a line: with its time, perhaps after a collector's prefix."""

_SEVERAL_OBJECTS: Final = re.compile(rb"\n(?:" + _COLLECTED + rb"){0,2}\{")
"""Another line that is an object, perhaps behind a collector's prefix: a log, and no document."""

_LINES: Final = re.compile(
    rb"(?m)\n(?!\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]|\t(?:at |[\w.]+ = |\.\.\. |\t)|\n|\r)(?!"
    + _WRITTEN
    + rb")(?:"
    + rb"|".join(_SIGNS)
    + rb")"
)
"""Most lines of whole logs begin with their time, or with a tab: for these one look is enough."""

_ANYWHERE: Final[tuple[tuple[bytes, re.Pattern[bytes]], ...]] = (
    (b"&", re.compile(rb"&(?:amp;)?(?:gt|lt|quot|amp|apos|nbsp|#[0-9]{1,5}|#x[0-9a-fA-F]{1,4});")),
    (b"\\n", re.compile(rb"\\n[^\n\"{}]{0,80}?\[?[0-9]{4}-[0-9]{2}-")),
    (b"\\u00", re.compile(rb"\\u00(?:3[ceCE]|2[267])")),
    (b"\\_", re.compile(rb"\\_\\_|\w\\_\w")),
    (b"<", re.compile(rb"(?i:<br ?/?>)")),
    (b"]", re.compile(rb"\][ \t]*(?:~|-+>?|to|\.\.+)[ \t]*\[[0-9]{2,4}[-:/]")),
    (b"] ", re.compile(rb"(?m)^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]+\] ")),
    (b"]~", re.compile(rb"\]~[ \t]*\[")),
    (b"**", re.compile(rb"\*\*[\w.*-]*-[0-9]")),
    (b">", re.compile(rb"<[^<>\s=,]{1,40}>[\w.-]*-[0-9]")),
    (b" ...", re.compile(rb"[^\s.] \[?\.\.\.\]? [^\s.0-9]")),
    (b"\xe2\x80\xa6", re.compile(rb" \[?\xe2\x80\xa6\]? ")),
    (b"\xc2\xa0", re.compile(b"\xc2\xa0")),
    (b"\xe2\x80", re.compile(rb"\xe2\x80[\x8b-\x8d\x98-\x9e\xaf]")),
    # a line that does not end as an event does, before one that neither begins an event nor continues one as in logs
    (
        b"\n",
        re.compile(
            rb"\n(?<=[^)\]}\n:]\n)(?![\[\n\r\t{}<]|[ ]*(?:at|\.\.\.) |[ ]+[\w.]+ = | \(|[0-9]{4}[-/]|Caused"
            rb"|[\w$.]+(?:Exception|Error))"
        ),
    ),
)  # fmt: skip
"""Marks of texts that were written for another format, and of wrapped lines; the bytes that they contain come first."""

_HEADING: Final = re.compile(
    rb"(?m)^(?!\[(?![\w.-]+@)|[\t{]|[0-9]{4}[-/])(?=[^\n]{0,200}$)"
    rb"(?:[^\n]*?(?i:broker|node|kafka|server|replica|machine|host|\.log|\.out|\.txt)[^\n]*|"
    rb"[^\w\n]{0,8}[0-9]{3,9} ?:[^\w\n]{0,8})$"
)
"""A line that may be a heading that names whose lines follow."""

_TIME: Final = re.compile(rb"(?m)[0-9]{2}:[0-9]{2}:[0-9]{2}|^[^\w\n]{0,2}(?:[0-9]{10}|\{)|[0-9]{8}T[0-9]{6}")


_STAMP: Final = re.compile(rb"(?m)^\[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3})\] ")


def times_out_of_order(data: bytes) -> bool:
    """Return whether the times in a text are in another order than a process writes them (``order``)."""
    times = _STAMP.findall(data)
    return out_of_order([_step(before, after) for before, after in itertools.pairwise(times)])


def _step(before: bytes, after: bytes) -> int:
    """Microseconds from one time to the next."""
    return 0 if before == after else (_moment(after) - _moment(before)) // timedelta(microseconds=1)


def _moment(stamp: bytes) -> datetime:
    try:
        return datetime.fromisoformat(stamp.decode("ascii").replace(",", "."))
    except ValueError:
        return datetime(1970, 1, 1)  # noqa: DTZ001 - as printed: no zone


def may_be_excerpt(data: bytes) -> bool:
    """Return whether a text should be examined further."""
    objects = data.lstrip()[:1] in (b"{", b"[", b'"')
    if _TIME.search(data) is None:
        return _speaks(data)
    if objects and b"\\n" in data and _SEVERAL_OBJECTS.search(data) is None and _speaks(data):
        return True  # one document
    if not objects and b'\\"' in data and _SEVERAL_OBJECTS.search(data) is None:
        return True  # else a log whose layout changed to JSON half way
    if _LINES.search(b"\n" + data) is not None:
        return True
    if any(held in data and pattern.search(data) is not None for held, pattern in _ANYWHERE):
        return True
    return _several_collectors(data) or times_out_of_order(data) or _has_heading(data)


def _has_heading(data: bytes) -> bool:
    """Return whether a line names whose lines follow."""
    found = (line[0].decode("utf-8", "replace") for line in _HEADING.finditer(data))
    return any(heading(line.rstrip("\r")) for line in found)


_EACH: Final = tuple(re.compile(_as_bytes(one.pattern)) for one in COLLECTED)
_OBJECT: Final = re.compile(rb"\s*\{\s*\"")
_OWN_LAYOUT: Final = re.compile(rb'(?<!\\)"(?:level|logger|loggerName)"\s*:')
"""Fields of a broker's own JSON layout, which no collector put there."""

_FEW_LINES: Final = 200
"""Lines of a text in which several collectors show: a person's text has fewer."""


def _several_collectors(data: bytes) -> bool:
    """Return whether lines of several collectors are in one text: each of them writes a file of its own."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > _FEW_LINES:
        return False
    found = {_collector(line) for line in lines if _LEVELLED.search(line) is not None}
    return len(found - {None}) > 1


_LEVELLED: Final = re.compile(rb"\b(?:INFO|WARN|ERROR|FATAL|DEBUG|TRACE)\b")


def _collector(line: bytes) -> int | None:
    """Return the number of the collector's prefix with which a line begins, -1 for an object; None for no prefix."""
    if _OBJECT.match(line) is not None:
        return None if _OWN_LAYOUT.search(line) is not None else -1
    return next((number for number, one in enumerate(_EACH) if one.match(line) is not None), None)


def _speaks(data: bytes) -> bool:
    """Return whether a text contains what only lines about replication contain, wherever it was wrapped."""
    text = data.decode("utf-8", "replace")
    return any(speaks(_END.sub(blank, text)) for blank in (" ", ""))


_END: Final = re.compile(r"[\s`*_|\"']*(?:\n|\\n|\\r)[\s>`*_|#\"']*")
"""The end of a line, also as JSON escapes it, with what people put around lines."""
