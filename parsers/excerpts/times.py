"""Time stamps as people edit them before they paste a line: two in one, without the date, with the date blotted out.

A time that is not whole orders nothing. The line is read without it, in its place in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from parsers.text.dates import CLOCK_ONLY, DATES

LEVEL: Final = r"\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|SEVERE)\]?"
DATE: Final = "(?:" + "|".join(dict.fromkeys(date.pattern for date in DATES)) + ")"
TIMED: Final = re.compile(
    rf"^(?:{LEVEL} +\[?{DATE}\]? +\S"
    rf"|\[?{DATE}\]?(?: +(?:\[(?![0-9]{{4}}[-/])[^\]]*\] +)?{LEVEL}(?:[ :]|$)| *\| *{LEVEL} *\| ))"
)
"""How an event begins in any layout that prints a whole time (``parsers.text.frames``)."""

DATED: Final = re.compile(rf"^\[?{DATE}\]?:? +(?P<rest>\S.*)$")
"""A whole time, and what follows it."""


@dataclass(frozen=True, slots=True)
class EditedTime:
    """One way of editing a time stamp.

    Attributes:
        name: how it is called.
        pattern: the stamp at the beginning of a line, with the blanks behind it; a group ``time`` is a time that still
            holds.
        example: a line with it.
        near_miss: a line that looks alike and is left alone.
    """

    name: str
    pattern: re.Pattern[str]
    example: str
    near_miss: str

    def taken_off(self, text: str) -> tuple[str | None, str] | None:
        """The time that still holds, or None, and the rest of the line; None where the stamp is no such one."""
        found = self.pattern.match(text)
        if found is None:
            return None
        return found.groupdict().get("time"), text[found.end() :]


_BLOT: Final = r"[0-9xX*#?YyMmDdNn.]"
_BLOTTED_DAY: Final = (
    rf"(?={_BLOT}*[-/.]{_BLOT}*[-/.]?{_BLOT}*[xX*#?YyMmDdNn]){_BLOT}{{2,4}}[-/.]{_BLOT}{{1,3}}[-/.]{_BLOT}{{1,4}}"
)
_BLOTTED_CLOCK: Final = r"[0-9xX*#_?HhMmSs]{1,2}:[0-9xX*#_?Mm]{2}(?::[0-9xX*#_?Ss]{2})?(?:[.,:][0-9xX*#_?Ss]{1,9})?"

EDITED: Final[tuple[EditedTime, ...]] = (
    EditedTime(
        "from one time to another",
        re.compile(rf"^\[(?P<time>{DATE})(?:\] *(?:~|-+>?|–|—|to|\.\.+|…|→) *\[| *(?:~|→| to ) *){DATE}\] *"),
        "[2024-03-01 10:22:41,107]~[2024-03-01 10:22:43,009] INFO Truncating log orders-0 to offset 50. "
        "(kafka.log.Log)",
        "[2024-03-01 10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
    ),
    EditedTime(
        "words for two times",
        re.compile(r"^\[[^\]\[=]{0,30}\] *(?:~|-+>?|–|—|to|\.\.+|…|→) *\[[^\]\[=]{0,30}\] *"),
        "[t1]~[t2] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "[t1]~[t2] is the time",
    ),
    EditedTime(
        "time of day",
        re.compile(rf"^\[?(?:\.{{2,}}|…)? *{CLOCK_ONLY}\]?(?: *(?:~|-|–|to) *\[?{CLOCK_ONLY}\]?)?(?: *\||:)? +"),
        "[10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "10:22:41 is when it began",
    ),
    EditedTime(
        "minutes of a day",
        re.compile(r"^\[?[0-9]{1,2}:[0-9]{2}(?: ?[AaPp][Mm])?\]?:? +"),
        "10:22 INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "10:22 was the moment",
    ),
    EditedTime(
        "a day that is blotted out",
        re.compile(rf"^\[?{_BLOTTED_DAY}[ T_]+{_BLOTTED_CLOCK}\]? *"),
        "[xxxx-xx-xx 10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "max.in.flight 10:22 INFO is what it said",
    ),
    EditedTime(
        "a day without its year",
        re.compile(rf"^\[?(?:[0-9]{{1,2}}[-/.][0-9]{{1,2}}\.?|[A-Z][a-z]{{2}} [ 0-9]?[0-9]),? +{CLOCK_ONLY}\]? *"),
        "[03-01 10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "01-03 of them were at 10:22:41",
    ),
    EditedTime(
        "a word in its place",
        re.compile(
            r"^(?:\[[ <{(]*(?:time ?stamp|date ?time|date|time|ts|redacted|removed|omitted|\.{2,}|…)[^\]\[]{0,20}\]"
            r"|<(?:time ?stamp|date ?time|date|time|ts)[^>]{0,20}>) *",
            re.IGNORECASE,
        ),
        "[timestamp] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "[time to read] this",
    ),
    EditedTime(
        "bracket cut off",
        re.compile(rf"^(?P<time>{DATE})\] +"),
        "2024-03-01 10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "2024-03-01 10:22:41,107 INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
    ),
    EditedTime(
        "beginning cut off",
        re.compile(
            r"^(?:(?=.)[0-9]{0,4}(?:[-/.][0-9]{0,2}){0,2}[T ]?(?:[0-9]{0,2}(?::[0-9]{2}){0,2})?(?:[.,][0-9]{1,9})?\] +"
            rf"|(?!{LEVEL} )(?:T?R?A?C?E|D?E?B?U?G|I?N?F?O|W?A?R?N|E?R?R?O?R|F?A?T?A?L)\]? +)"
        ),
        ":41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "41] is the first of them",
    ),
)
"""In the order in which they are tried. What is left must be an event without a time (``kinds``)."""
