"""Text that people put around a line when they paste it: quotes, bullets, numbers, bold, code, the name of a broker.

A dressing is removed only if that reveals an event (``undressed``), so a line that merely looks dressed is left alone.
Prefixes of collectors (``parsers.text.wrappings``) are removed in the same way, as they may be in a quote.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from parsers.excerpts.catalogue import EXCEPTION, LOGGER, speaks
from parsers.excerpts.kinds import Event, event_of, said
from parsers.excerpts.times import DATE, LEVEL
from parsers.text.shared_output import WRITERS
from parsers.text.wrappings import COLLECTED as COLLECTORS
from parsers.text.wrappings import Prefix

LONGEST: Final = 16 << 10
"""Longest line from which dressings are removed; several may fit at each step."""
DEEPEST: Final = 6
"""Dressings around one line."""


class Bare(NamedTuple):
    """A line without one dressing.

    Attributes:
        text: text inside.
        writer: its writer, if the dressing names one; else "".
    """

    text: str
    writer: str = ""


@dataclass(frozen=True, slots=True)
class Dressing:
    """One way of dressing a line.

    Attributes:
        name: its name.
        take_off: returns the text inside, or None if the line is not dressed so.
        example: a dressed line.
        near_miss: a line that looks similar and is left alone, or is read without removing this.
        sign: around an event it shows that the text is an excerpt, not a log as a program wrote it.
    """

    name: str
    take_off: Callable[[str], Bare | None]
    example: str
    near_miss: str
    sign: bool = True


def _around(pattern: str) -> Callable[[str], Bare | None]:
    """Return a function that removes what is around the group ``inner``; a group ``writer`` is the writer of the
    line.
    """
    compiled = re.compile(pattern)

    def take_off(text: str) -> Bare | None:
        found = compiled.match(text)
        if found is None:
            return None
        return Bare(found["inner"], (found.groupdict().get("writer") or "").strip())

    return take_off


def _within(pattern: str) -> Callable[[str], Bare | None]:
    """Takes out all that fits."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def take_off(text: str) -> Bare | None:
        inner, count = compiled.subn("", text)
        return Bare(inner) if count else None

    return take_off


_BOLD: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_EMPHASIS: Final = re.compile(
    r"^(?:(\*\*\*|\*\*|__|~~)(?P<strong>[^*_~].*[^*_~])\1|([*_])(?P<inner>[^\s*_].*[^\s*_])\3)[ \t]*$"
)


def _emphasis(text: str) -> Bare | None:
    found = _EMPHASIS.match(text)
    if found is not None:
        return Bare(found["strong"] or found["inner"])
    inner, count = _BOLD.subn(r"\1", text)
    return Bare(inner) if count else None


_EVENT: Final = "[2024-03-01 10:22:41,107] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)"
_HOST: Final = r"(?:[A-Za-z0-9_-]+\.)*[A-Za-z_-]*(?:broker|kafka|node|server|controller|host|pod|machine|replica|kfk)"
_NAME: Final = rf"(?:{_HOST}[ _#-]?(?:id)?[ =:_#-]?[0-9][A-Za-z0-9_.-]*|[a-z]{{1,3}}[0-9]{{1,3}})"
_FILE: Final = r"[\w.@~/\\-]*(?:\.log(?:\.[0-9-]+)?|\.out)"

_QUOTES: Final[tuple[Dressing, ...]] = (
    Dressing("quoted", _around(r"^[ \t]{0,3}>[ \t]?(?P<inner>.*)$"), f"> {_EVENT}", "1 > 0"),
    Dressing(
        "markup",
        _within(
            r"</?(?:p|div|span|pre|code|tt|samp|b|i|u|em|strong|li|ul|ol|td|tr|font|a|blockquote|mark|kbd|small)"
            r"(?:\s[^<>]*)?>|\{(?:noformat|code|quote|color|panel|monospaced?)(?::[^}]*)?\}|^`{3,}\w*[ \t]*|`{3,}$"
        ),
        f"<code>{_EVENT}</code>",
        f"{_EVENT[:-15]} <none> (kafka.log.Log)",
    ),
    Dressing("bold", _emphasis, f"**{_EVENT}**", "** of it all"),
    # Markdown: a line of its own may end in a backslash.
    Dressing("code", _around(r"^(`+)(?P<inner>[^`](?:.*[^`])?)\1\\?[ \t]*$"), f"`{_EVENT}`\\", "`x` and `y`"),
    Dressing("monospaced", _around(r"^\{\{(?P<inner>.+)\}\}[ \t]*$"), f"{{{{{_EVENT}}}}}", "{{x}} of it"),
    Dressing("code begins", _around(r"^`(?P<inner>[^`]+)$"), f"`{_EVENT}", "`x` and `y`"),
    Dressing("in marks", _around(r"^([\"'“‘«])(?P<inner>.+)[\"'”’»],?$"), f'"{_EVENT}"', '"yes", he said'),
)


_CELLS: Final = re.compile(rf"^\[?(?P<time>{DATE})\]? *\| *(?:(?P<level>{LEVEL}) *\| *)?(?P<rest>[^ |].*)$")


def _columns(text: str) -> Bare | None:
    """The time of a line, its level and its message, of a table with a column for each."""
    found = _CELLS.match(text)
    if found is None:
        return None
    return Bare(" ".join(part for part in (found["time"], found["level"], found["rest"]) if part is not None))


_ROW: Final = re.compile(r"^[|│][ \t]*(?P<inner>\S.*?)[ \t]*[|│]$")


def _table(text: str) -> Bare | None:
    """A row of a table. Some layouts have bars of their own: a message with its logger behind it is of none of them."""
    found = _ROW.match(text)
    if found is None:
        return None
    return (_columns(found["inner"]) if LOGGER.search(found["inner"]) else None) or Bare(found["inner"])


def _behind_words(text: str) -> Bare | None:
    """A known message behind words and a colon or comma on the same line."""
    found = _WORDS.match(text) if EXCEPTION.match(text) is None else None
    return Bare(found["inner"]) if found is not None and said(found["inner"]) is not None else None


def _in_sentence(text: str) -> Bare | None:
    """A known message between quotes or backticks, with words around it on the same line."""
    if EXCEPTION.match(text) is not None or _OF_PROGRAM.match(text) is not None:
        return None
    quoted = (found for found in _QUOTED.finditer(text) if _KEY.search(text[: found.start()]) is None)
    parts = (found["inner"].strip() for found in quoted)
    inner = next((one for one in parts if said(one) is not None), None)
    return None if inner is None else Bare(inner)


_WORDS: Final = re.compile(r"^[^\[\]{}=`\"]{1,80}?[,:;，：；。] ?(?P<inner>[A-Z\[].*)$")
_QUOTED: Final = re.compile(r"[`\"“„«](?P<inner>[ \w\[][^`\"”“»]{15,})(?:[`\"”“»]|$)")
_KEY: Final = re.compile(r"(?:[\"\w]\s*=|\"\s*:)\s*$")
"""The end of the name of a value, as JSON and logfmt write it."""
_OF_PROGRAM: Final = re.compile(r"^\s*(?:at |[{\[\"<]|Caused by: |[\w-]+: *[{\[])")
"""Lines of programs that quote texts too: stack traces, JSON, XML."""
_PAGE_TIME: Final = r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}[^\[\]]{1,24}"

_LISTED: Final[tuple[Dressing, ...]] = (
    Dressing("comment", _around(r"^[ \t]*(?:#+|//+|;+)[ \t]*(?P<inner>\[.*)$"), f"# {_EVENT}", "# [a heading]"),
    Dressing("bullet", _around(r"^[ \t]*[-*+•·‣◦–—>][ \t](?P<inner>.*\S.*)$"), f"- {_EVENT}", "- a point"),
    Dressing(
        "numbered",
        _around(
            r"^[ \t]*(?:[Ll](?:ine)?[ .]?)?[\[(#]?[0-9]{1,7}(?:[.):\]][ \t]?|[ \t]*[|│][ \t]?|[ \t]{1,2})"
            r"(?P<inner>.*\S.*)$"
        ),
        f"  231  {_EVENT}",
        "2024-03-01 10:22:41,107 INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
    ),
    Dressing(
        "time of a page",
        _around(rf"^{_PAGE_TIME}(?P<inner>\[[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} .*)$"),
        f"2024/3/1 AM 10:22:41{_EVENT}",
        "2024/3/1 AM 10:22:41 it began",
    ),
    Dressing(
        "columns",
        _columns,
        "2024-03-01 10:22:41,107 | INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "2024-03-01 10:22:41,107 | it began | it ended",
    ),
    Dressing("table", _table, f"| {_EVENT} |", "| a | b |"),
)

_NAMED: Final[tuple[Dressing, ...]] = (
    Dressing(
        "named",
        _around(
            rf"(?i)^[\[(<{{]?(?P<writer>{_NAME})[\])>}}]?(?:[ \t]*(?::|\||->?|=>|>)[ \t]?|[ \t]{{1,2}})"
            r"(?P<inner>.*\S.*)$"
        ),
        f"kafka-2: {_EVENT}",
        "kafka-2: is down",
    ),
    Dressing(
        "file",
        _around(rf"^(?P<writer>{_FILE})(?::[0-9]+(?=:[^0-9]))?[:-][ \t]*(?P<inner>\S.*)$"),
        f"broker-1/logs/server.log:230:{_EVENT}",
        "server.log: see below",
    ),
)

NAMES: Final = frozenset(dressing.name for dressing in _NAMED)
"""Dressings that collectors put there too."""

_INDENTED: Final = Dressing(
    "indented",
    _around(r"^[ \t\u00a0\u3000]+(?P<inner>\S.*)$"),
    f"    {_EVENT}",
    "    at kafka.log.Log.append(Log.scala:1)",
    sign=False,
)


_BEHIND: Final = Dressing(
    "behind words",
    _behind_words,
    f"cut: {_EVENT}",
    "cut: nothing",
)


_INSIDE: Final = Dressing(
    "in a sentence",
    _in_sentence,
    f"(it says `{_EVENT}` then)",
    "(it says `nothing of that kind` then)",
)


def _collector(prefix: Prefix) -> Dressing:
    """Return a collector's prefix as a dressing; it names the writer if a shared output is split by it."""
    pattern = re.compile(_as_python(prefix.pattern))
    end = re.compile(_as_python(prefix.end)) if prefix.end else None

    def take_off(text: str) -> Bare | None:
        found = pattern.match(text)
        if found is None or found.groupdict().get("more"):  # it joins the pieces of lines itself
            return None
        inner = text[found.end() :]
        return Bare(end.sub("", inner) if end is not None else inner, _writer(text[: found.end()], prefix.name))

    return Dressing(prefix.name, take_off, "", "", sign=False)


_NAMELESS: Final = ("numbered", "second time", "kubetail")


_HAS_NUMBER: Final = re.compile(r"[0-9].*[A-Za-z]|[A-Za-z].*[0-9]")


def _writer(before: str, name: str) -> str:
    """Return the writer of a line, by a collector's prefix. A name has a number and letters: words are none."""
    for pattern in _WRITERS if name not in _NAMELESS else ():
        found = pattern.match(before)
        if found is not None and _HAS_NUMBER.search(found[1]) is not None:
            return found[1]
    return ""


def _as_python(pattern: str) -> str:
    """A pattern with Rust's way of writing a character by its number."""
    return re.sub(r"\\x\{([0-9A-F]+)\}", lambda found: re.escape(chr(int(found[1], 16))), pattern)


_COLLECTED: Final = tuple(map(_collector, COLLECTORS))

_LINE_IN: Final = ("log", "message", "MESSAGE", "msg", "textPayload", "line", "_raw")
_NAME_IN: Final = (
    "pod_name", "pod", "kubernetes.pod.name", "kubernetes.pod_name", "container_name", "hostname", "_HOSTNAME", "host",
)  # fmt: skip
_WITHIN: Final = ("_source", "jsonPayload", "result")
"""Members of an object of Elasticsearch, Google Cloud and Splunk that hold the object of the collector."""
_TIME_IN: Final = ("@timestamp", "timestamp", "time", "ts")
_LEVEL_IN: Final = ("level", "log.level", "severity", "loglevel")
_LOGGER_IN: Final = ("logger", "loggerName", "logger_name", "log.logger")
_ISO: Final = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}\S*$")


def _in_object(text: str) -> Bare | None:
    """The line in an object of a collector, as docker's files have them, or the event of a layout that is JSON."""
    if not (text.startswith("{") and text.rstrip(" ,").endswith("}")):
        return None
    try:
        found = json.loads(text.rstrip(" ,"))
    except (ValueError, RecursionError):
        return None
    objects = [found, *(found[name] for name in _WITHIN if isinstance(found.get(name), dict))]
    held = next((one for one in objects if _member(one, _LINE_IN).strip()), None)
    if held is None or "\n" in (inner := _member(held, _LINE_IN).strip()):
        return None
    writer = next((name for one in objects if (name := _member(one, _NAME_IN))), "")
    return Bare(_laid_out(held, inner), writer if re.search("[0-9]", writer) else "")


def _member(found: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the first of some members that is a text, or ""; a name with dots may be a path."""
    return next((one for name in names if isinstance(one := _at(found, name), str)), "")


def _at(found: Mapping[str, object], name: str) -> object:
    outer, _, inner = name.partition(".")
    within = found.get(outer)
    return found.get(name) or (_at(within, inner) if inner and isinstance(within, dict) else None)


def _laid_out(found: Mapping[str, object], inner: str) -> str:
    """Return a message with the time, the level and the logger of its object, if it has none of them itself."""
    time, level, logger = (_member(found, names) for names in (_TIME_IN, _LEVEL_IN, _LOGGER_IN))
    if not level or _ISO.match(time) is None or event_of(inner) is not None:
        return inner
    return f"{time} {level.upper()} {inner}" + (f" ({logger})" if logger else "")


_OBJECT: Final = Dressing(
    "object",
    _in_object,
    f'{{"log":"{_EVENT}\\n","stream":"stdout"}}',
    '{"log":"it began","stream":"stdout"}',
    sign=False,
)

_WRITERS: Final = tuple(re.compile(_as_python(prefix)) for prefix in WRITERS)

DRESSINGS: Final[tuple[Dressing, ...]] = (
    *_QUOTES, _OBJECT, *_COLLECTED, *_LISTED, *_NAMED, _INDENTED, _BEHIND, _INSIDE,
)  # fmt: skip
"""In the order in which they are tried: the first that leads to an event counts."""

COLLECTED: Final = frozenset(dressing.name for dressing in (_OBJECT, *_COLLECTED))
"""Dressings that collectors put there."""


class Undressed(NamedTuple):
    """A line as in a log.

    Attributes:
        event: the event that begins there.
        line: the text of the line.
        dressings: dressings that were removed, outermost first.
        writer: its writer, or "".
        names: names that were removed with the dressings that are names, unchanged.
    """

    event: Event
    line: str
    dressings: tuple[Dressing, ...] = ()
    writer: str = ""
    names: tuple[str, ...] = ()


def undressed(text: str, begins: Callable[[str], Event | None] = event_of) -> Undressed | None:
    """The event that a line begins, without what is around it; None where it begins none.

    Args:
        text: the line.
        begins: gives the event that an undressed line begins.
    """
    if _BEGINS.search(text) is None and not speaks(text):
        return None
    return (_known if len(text) <= LONGEST else _undressed)(text, begins, 0)


_BEGINS: Final = re.compile(rf"(?i:{LEVEL})|[\[\\&{{]|Broker [0-9]|[.][A-Za-z_][A-Za-z0-9_$]*:(?: |$)")
"""A level, a bracket, an escape or a class. A line that begins an event or an exception has one of them somewhere, or
else the words of a known message. To look for them takes a hundredth of the time that taking off all dressings does.
"""


def _undressed(text: str, begins: Callable[[str], Event | None], depth: int) -> Undressed | None:
    """The same where ``depth`` dressings were taken off."""
    for line in dict.fromkeys((text, text.rstrip())):
        event = begins(line)
        if event is not None:
            return Undressed(event, line)
    if depth == DEEPEST or len(text) > LONGEST:
        return None
    found = (_inside(text, dressing, begins, depth) for dressing in DRESSINGS)
    return next((one for one in found if one is not None), None)


_known = functools.lru_cache(maxsize=4096)(_undressed)
"""Each line of a text is asked for several times: to undo escapes, to find its kind, to join what was wrapped."""


def _inside(text: str, dressing: Dressing, begins: Callable[[str], Event | None], depth: int) -> Undressed | None:
    """The event inside of a dressing."""
    bare = dressing.take_off(text)
    found = _undressed(bare.text, begins, depth + 1) if bare is not None and len(bare.text) < len(text) else None
    if bare is None or found is None:
        return None
    names = (_before(text, bare), *found.names) if dressing.name in _STEADY else found.names
    return Undressed(found.event, found.line, (dressing, *found.dressings), bare.writer or found.writer, names)


_STEADY: Final = NAMES | {"kubectl", "kubetail", "compose", "stern", "supervisor"}
"""Dressings that are names: words look like these too, so only those are removed that also precede an event."""


def _before(text: str, bare: Bare) -> str:
    return text.removesuffix(bare.text)


def off(text: str, dressings: tuple[Dressing, ...], indent: str, names: Container[str]) -> tuple[str, str]:
    """Return a line that begins no event without the dressings of the event before it, and its writer, or "".

    Args:
        text: the line.
        dressings: around the event before it.
        indent: indentation of that event: text further to the right keeps the rest.
        names: names that precede events of the text.
    """
    writer = ""
    for dressing in dressings:
        if dressing is _INDENTED:
            text = text.removeprefix(indent) if indent and text.startswith(indent) else text.lstrip(" \t")
            continue
        bare = dressing.take_off(text)
        if bare is not None and (dressing.name not in _STEADY or _before(text, bare) in names):
            text, writer = bare.text, bare.writer or writer
    return text, writer
