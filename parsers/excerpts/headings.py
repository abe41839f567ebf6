"""Headings that name the owner of the following lines: ``broker 2:``, ``### kafka-1 server.log``, ``==>
broker-1/server.log <==``.

A sentence that merely names a broker is no heading, because it does not name the owner of the lines after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Heading:
    """One way to name the owner of the following lines.

    Attributes:
        name: its name.
        pattern: of the whole line; the group ``path``, or ``number`` of a broker, names the owner.
        example: such a line.
        writer: the owner that it names.
        near_miss: a similar line that names no owner.
    """

    name: str
    pattern: re.Pattern[str]
    example: str
    writer: str
    near_miss: str


_ROLE: Final = r"(?:\W{0,3}(?:the )?(?:old |new |former |previous |current )?(?:leader|follower|controller)\W{0,3})?"
_LOG: Final = r"(?:\W{0,4}(?:server\.log|state-change\.log|controller\.log|server log|logs?|output|side)\W{0,2})?"

HEADINGS: Final[tuple[Heading, ...]] = (
    Heading(
        "tail",
        re.compile(r"^\W*==> *(?P<path>\S.*?\S) *<==\W*$"),
        "==> broker-1/logs/server.log <==",
        "broker-1/logs/server.log",
        "==> see broker-1/logs/server.log",
    ),
    Heading(
        "path",
        re.compile(
            r"^[\W_]*(?:(?:from|in|log) )?(?P<path>(?:[\w.~-]*/)*[\w.~-]*[0-9][\w./~-]*\.(?:log|out|txt)(?:\.[0-9-]+)?)"
            r"[\W_]*$"
        ),
        "**kafka-2/server.log**:",
        "kafka-2/server.log",
        "see kafka-2/server.log for more of it",
    ),
    Heading(
        "broker",
        re.compile(
            rf"^[\W_]*(?:[0-9][.)] )?(?:(?:on|from|of|in|at|logs?|the) ){{0,4}}{_ROLE}{_LOG}(?:(?:on|from|of|in) )?"
            r"(?:kafka[ _-])?(?:broker|node|kafka|server|replica|machine|host)[ _#-]{0,2}(?:id)?[ :=#_-]{0,2}"
            rf"(?P<number>[0-9]{{1,9}})(?:'s)?{_ROLE}{_LOG}[\W_]*$",
            re.IGNORECASE,
        ),
        "### Broker 2 (follower), server.log:",
        "broker-2",
        "After broker 2 was restarted:",
    ),
)  # fmt: skip


MOST_CHARACTERS: Final = 200
"""A longer line is no heading; the patterns would take a time that grows with the square of its length."""


def heading(text: str) -> str:
    """Return the owner of the lines after a line of prose, or ""."""
    text = text.strip()
    if len(text) > MOST_CHARACTERS:
        return ""
    for one in HEADINGS:
        found = one.pattern.match(text)
        if found is not None:
            told = found.groupdict()
            return str(told["path"]) if "path" in told else f"broker-{told['number']}"
    return ""
