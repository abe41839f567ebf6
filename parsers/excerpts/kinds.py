"""Kinds of lines in an excerpt: an event with or without a time, a fence, a mark for lines that are left out, prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from parsers.excerpts.catalogue import EXCEPTION, LOGGER, fits, known, logger_first, speaks, thrown
from parsers.excerpts.times import DATE, DATED, EDITED, LEVEL, TIMED
from parsers.text.cut_wordings import beginning, is_beginning


class Kind(Enum):
    """Kind of a line."""

    EVENT = "event"
    MESSAGE = "message"  # a message that the catalogue knows, without time and level
    BROKEN = "broken"  # looks like the beginning of an event that continues in the next line
    GOES_ON = "goes on"  # from the event before: a stack trace, a setting
    FENCE = "fence"  # begins or ends a block of lines
    LEFT_OUT = "left out"  # marks lines that are left out here
    PROSE = "prose"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Event:
    """The first line of an event.

    Attributes:
        text: as the readers of logs expect it: with its time in a known layout, or from the level on.
        timed: it has a whole time.
        sign: the name of the edited time or "no time", if that alone shows that the line was edited; else "".
    """

    text: str
    timed: bool
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that is no log line, but describes the lines around it.

    Attributes:
        name: its name.
        pattern: of the whole line.
        example: such a line.
        near_miss: a similar line that is none.
        toggles: a line like it begins a block, and the next one ends it; else the pattern has a group ``end`` that
            takes part if it ends a block.
        sign: such a line shows that a text is an excerpt.
    """

    name: str
    pattern: re.Pattern[str]
    example: str
    near_miss: str
    toggles: bool = False
    sign: bool = True


_QUOTED: Final = r"^[ \t]*(?:> ?|&gt; ?)*[ \t]*(?:[-*+] |[0-9]+[.)] )?[ \t]*"

FENCES: Final[tuple[Mark, ...]] = (
    Mark(
        "markdown",
        re.compile(rf"{_QUOTED}(?:`{{3,}}|~{{3,}})[ \t]*[\w.+#-]*(?:[ \t{{:][^`]*)?$"),
        "```log",
        "```[2024-03-01 10:22:41,107] INFO x (a.B)```",
        toggles=True,
    ),
    Mark(
        "jira noformat",
        re.compile(rf"{_QUOTED}\{{(?:noformat|quote|panel)(?::[^}}]*)?\}}[ \t]*$", re.IGNORECASE),
        "{noformat:title=server.log}",
        "{noformat}[2024-03-01 10:22:41,107] INFO x (a.B)",
        toggles=True,
    ),
    Mark(
        "jira code",
        re.compile(rf"{_QUOTED}\{{code(?::[^}}]*)?\}}[ \t]*$", re.IGNORECASE),
        "{code:java|title=server.log}",
        "{code} of the message",
        toggles=True,
    ),
    Mark(
        "html",
        re.compile(
            rf"{_QUOTED}(?:<(?P<end>/)?(?:pre|code|tt|samp|div|p|span|details|blockquote|td|tr|table|tbody|ul|ol|li|body"
            r"|html)(?:[ \t][^<>]*)?>[ \t]*|<summary>.*</summary>[ \t]*|<br ?/?>[ \t]*)+$",
            re.IGNORECASE,
        ),
        '<pre><code class="language-log">',
        "<code>[2024-03-01 10:22:41,107] INFO x (a.B)</code>",
        sign=False,
    ),
    Mark(
        "wiki",
        re.compile(r"^\[(?P<end>/)?(?:code|quote|noparse|pre)(?:=[^\]]*)?\]$", re.IGNORECASE),
        "[code=text]",
        "[codec]",
    ),
)

_MANY: Final = r"(?:a |the |some |several |many |few |more |other |similar |same |unrelated |irrelevant |[0-9,]+ )*"
_GONE: Final = (
    r"(?:snip(?:ped)?|omitted|left out|truncated|skipped|removed|elided|cut|trimmed|deleted|shortened|abbreviated|"
    r"redacted)"
)
_WHAT: Final = r"(?:log )?(?:lines?|logs?|entries|output|rows|messages|records|events)"

LEFT_OUT: Final[tuple[Mark, ...]] = (
    Mark(
        "dots",
        re.compile(r"^[\s>#|*-]*(?:\.(?: ?\.)+|…+|⋮|(?:: ?){2,}|\.|:)[\s.…:|*]*$"),
        "...",
        "... 12 more",
    ),
    Mark(
        "dots in brackets",
        re.compile(r"^[\s>]*[\[(<{][\s.]*(?:\.{2,}|…)[\s.]*[\])>}][\s.,]*$"),
        "[...]",
        "[...] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
    ),
    Mark(
        "words",
        re.compile(
            rf"^[\s>#*_~=+.…\[(<{{-]*(?:{_MANY}(?:{_WHAT} )?(?:were |are |is |was |have been )?{_GONE}"
            rf"|{_GONE} {_MANY}{_WHAT}|{_MANY}(?:more|similar|other|further) {_WHAT}|and so on|etc)"
            r"(?: here| above| below| for brevity| for clarity| by me)*[\s>#*_~=+.…\])}:!-]*$",
            re.IGNORECASE,
        ),
        "(snip)",
        "... 12 common frames omitted",
    ),
    Mark(
        "words between dots",
        re.compile(r"^[\s>]*[\[(<{]?\s*(?:\.{2,}|…)\s*[^\[\]\n]{1,60}?\s*(?:\.{2,}|…)\s*[\])>}]?$"),
        "... many lines like these ...",
        "... 12 common frames omitted",
    ),
    Mark("separator of grep", re.compile(r"^[\s>]*--[\s]*$"), "--", "---"),
)  # fmt: skip

_GOES_ON: Final = re.compile(
    r"^(?:\s+\S|\)|\}|\]|at [\w$.<>/@]+\(|Caused by|Suppressed:|\.\.\. [0-9]+ (?:more|common frames)"
    r"|[\w$.]+(?:Exception|Error|Throwable)\b|[a-z][\w.]* = |(?:.* )?\([A-Za-z_][\w$]*\.[\w$.]+\)$|#\s)"
)
"""Lines that logs put behind the first of an event: stack traces, settings, the end of a message with its logger."""

_SPOKEN: Final = re.compile(
    r"(?:^|[\s(\"'])(?:I|I'm|I've|I'd|[Ww]e|[Ww]e're|[Ww]e've|[Oo]ur|[Oo]urs|[Mm]y|[Hh]i|[Hh]ello|[Tt]hanks"
    r"|[Tt]hank you|[Aa]nyone|[Aa]nybody|[Ss]omebody|[Ss]omeone)(?=[\s,.!?:'\")]|$)"
)
_PROGRAM: Final = re.compile(r"^(?:log4j|SLF4J|OpenJDK|Java|WARNING|Warning|Error|Exception)\b")
"""Programs that print sentences to a broker's output."""

_HALF_BRACKETED: Final = re.compile(rf"^{DATE}\] ")
_WRAPPED: Final = r"\|? *(?:[^|]{1,80}\| *){1,2}[0-9]{2,4}[/-][0-9]{2}[/-][0-9]{2} "
"""The part of a line between the level of a service wrapper and the line inside: who printed it, and when."""
_LEVEL_FIRST: Final = re.compile(
    rf"^(?:\[[^\]=0-9][^\]=]*\] +)?(?P<event>{LEVEL}(?: *[:|-])? +(?!{_WRAPPED})(?P<message>\S.*))$"
)
_LEVEL_AT_LEAST: Final = re.compile(rf"^(?:\[[^\]=0-9][^\]=]*\] +)?{LEVEL}(?:[ :|-]|$)")
_UNDRESSED: Final = re.compile(r"[A-Za-z0-9/(\[]")
_LEVEL_WORD: Final = re.compile(rf"^{LEVEL} +")
_PREFIXED: Final = re.compile(r"^(?:\[[A-Z][A-Za-z]+[ =\]]|Partition \[|Broker [0-9])")
"""How most messages of brokers begin (LogContext, logIdent)."""


def event_of(text: str) -> Event | None:
    """A line as the first of an event; None where it is none."""
    if TIMED.match(text) and not _HALF_BRACKETED.match(text):
        return Event(text, timed=True)
    for edited in EDITED:
        taken = edited.taken_off(text)
        if taken is None:
            continue
        time, rest = taken
        found = _from_level(rest) or _message(rest)
        if found is not None:
            return Event(found if time is None else f"[{time}] {found}", time is not None, edited.name)
    dated = DATED.match(text)
    excepted = dated is not None and EXCEPTION.match(dated["rest"])  # an exception behind a collector's time
    if dated is not None and not excepted and (found := _alone(dated["rest"])) is not None:
        return Event(f"{text[: dated.start('rest')]}{found}", timed=True, sign="no level")
    found = _from_level(text)
    return None if found is None else Event(found, timed=False, sign="no time")


def broken_of(text: str) -> Event | None:
    """Return a line with a level, as the beginning of an event without a whole time: the next line may have the
    rest.
    """
    for edited in EDITED:
        taken = edited.taken_off(text)
        if taken is not None and _LEVEL_AT_LEAST.match(taken[1]):
            return Event(text, timed=False, sign=edited.name)
    return Event(text, timed=False, sign="no time") if _LEVEL_AT_LEAST.match(text) else None


def torn_of(text: str) -> Event | None:
    """Return the beginning of an exception, or of an incomplete message: the next line may have the rest."""
    if EXCEPTION.match(f"{text} ...") or (_UNDRESSED.match(text) and speaks(text) and not whole(text)):
        return Event(text, timed=False, sign="message alone")
    return None


def names_printer(text: str) -> bool:
    """Return whether a line begins with who prints it, as most messages of brokers do: no rest of a line does."""
    return _PREFIXED.match(text) is not None


def may_be_inside(text: str) -> bool:
    """Return whether an incomplete line may be a further piece of the line before."""
    return EXCEPTION.match(text) is None and broken_of(text) is None


def _from_level(text: str) -> str | None:
    """Return an event from its level on. Its message may be unknown: its beginning or end may be enough."""
    found = _LEVEL_FIRST.match(text)
    if found is None:
        return None
    message = found["message"]
    told = LOGGER.search(message) or _PREFIXED.match(message) or known(message)
    return found["event"] if told else None


def _alone(text: str) -> str | None:
    """A known message as an event; which level it had does not matter."""
    return f"INFO {text}" if known(text) or thrown(text) is not None else None


def _message(text: str) -> str | None:
    """A known message as an event; its end may be missing, if it begins with who prints it."""
    return _alone(text) or (f"INFO {text}" if _PREFIXED.match(text) and is_beginning(text) else None)


def exception_of(text: str) -> str | None:
    """Return the known exception text, if an event without a time is nothing else; otherwise None."""
    return thrown(_LEVEL_WORD.sub("", text))


def message_of(text: str) -> Event | None:
    """A line that is a known message by itself, as an event without a time."""
    found = _message(text)
    return None if found is None else Event(found, timed=False, sign="message alone")


def fence_of(text: str) -> Mark | None:
    """The kind of fence that a line is."""
    return next((mark for mark in FENCES if mark.pattern.match(text)), None)


def left_out(text: str) -> bool:
    """Return whether a line marks lines that are left out."""
    text = text.strip()
    return any(mark.pattern.match(text) for mark in LEFT_OUT) and not _GOES_ON.match(text)


def goes_on(text: str) -> bool:
    """Return whether a line that begins no event is a continuation line of logs."""
    return _GOES_ON.match(text) is not None


def spoken(text: str) -> bool:
    """Return whether a line is certainly a person's, not a program's."""
    return _SPOKEN.search(text) is not None and not goes_on(text) and not _PROGRAM.match(text)


def whole(text: str) -> bool:
    """Return whether an event's line ends with its logger."""
    return LOGGER.search(text) is not None


_MESSAGE: Final = re.compile(
    rf"^(?:{LEVEL} +)?(?:\[?{DATE}\]?)?:?[ |]*(?:(?:\[[^\]=]*\] +)?{LEVEL}[ :|-]*)?(?:[^|]*\| *){{0,2}}(?P<message>.*)$"
)


def said(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the catalogue message of an event, and the values that it states; None if it is none."""
    event = event_of(text)
    if event is None:
        return fits(EXCEPTION.sub("", text, count=1))
    found = _MESSAGE.match(event.text)
    return None if found is None else fits(found["message"])


def begun(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the catalogue message of which an event is the beginning, and the values that it states in full."""
    event = event_of(text)
    return beginning(text if event is None else message_in(event.text))


def message_in(text: str) -> str:
    """Return the message of an event, without time and level."""
    found = _MESSAGE.match(text)
    return found["message"] if found is not None else text


def ended(text: str) -> bool:
    """Return whether a wrapped line is complete: it ends with its logger, or it is a known message or exception."""
    if whole(text) or (has_logger_first(text) and said(text) is not None):
        return True
    return event_of(text) is None and broken_of(text) is None and _alone(text) is not None


def has_logger_first(text: str) -> bool:
    """Return whether the layout of an event's line prints the logger before the message."""
    event = event_of(text) or broken_of(text)
    return event is not None and logger_first(message_in(event.text))
