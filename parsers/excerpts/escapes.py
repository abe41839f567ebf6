"""Encodings of a whole text for another format: JSON, HTML, typography. Undone before anything else.

If a text is one line with its line ends escaped, its lines are numbered as after unescaping.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from parsers.excerpts.dressings import undressed
from parsers.excerpts.kinds import broken_of, message_of, said
from parsers.excerpts.times import LEVEL


@dataclass(frozen=True, slots=True)
class Escape:
    """One way of writing a text.

    Attributes:
        name: how it is called.
        undo: the text as it was; None where it is not written so.
        example: such a text.
        near_miss: a text that looks alike and is left alone.
    """

    name: str
    undo: Callable[[str], str | None]
    example: str
    near_miss: str


_EVENT: Final = "[2024-03-01 10:22:41,107] INFO {} (kafka.log.Log)"
_ONE, _TWO = (_EVENT.format(f"Truncating log orders-{number} to offset 50.") for number in (0, 1))


def _event(line: str) -> bool:
    return undressed(line) is not None or undressed(line, message_of) is not None


def _begun(line: str) -> bool:
    """Return whether a line begins an event, perhaps one that continues in the next line."""
    return _event(line) or undressed(line, broken_of) is not None


def _document(text: str) -> str | None:
    """The texts of several lines in a JSON document, such as a ticket as an interface gives it; or one JSON string."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    texts = [one for one in _strings(found) if "\n" in one.strip("\r\n")]
    if isinstance(found, list) and not texts and all(isinstance(one, str) for one in found):
        texts = ["\n".join(found)]
    if isinstance(found, str) and not texts:
        texts = [found]
    kept = [one for one in texts if sum(map(_begun, one.split("\n"))) > 1]
    # An event of several lines in an object is a layout, not an excerpt: there only the first line begins one.
    return "\n".join(one.rstrip("\n") for one in kept) + "\n" if kept else None


def _strings(found: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list) and depth < 8:
        for one in found.values() if isinstance(found, dict) else found:
            yield from _strings(one, depth + 1)


_OPENS: Final = re.compile(r"^(?P<before>(?:[ \t]*>)*[ \t]*)\{[ \t]*$")
_MOST_MEMBERS: Final = 120
"""Lines of an object."""


def _objects(text: str) -> str | None:
    """JSON objects of several lines between other lines, as pages of log viewers show one event; a line each.

    A text of objects alone is a collector's, which is read as it is.
    """
    lines = text.split("\n")
    others = 0
    at = 0
    while at < len(lines):
        opened = _OPENS.match(lines[at])
        count = 0 if opened is None else _length(lines, at, opened["before"])
        if opened is not None and count:
            lines[at : at + count] = _on_one_line(lines[at : at + count], opened["before"])
        others += not count and lines[at].strip() not in _OF_ARRAY
        at += max(count, 1)
    read = "\n".join(lines)
    return read if others and read != text else None


_OF_ARRAY: Final = ("", "[", "]", "],")


def _on_one_line(lines: Sequence[str], before: str) -> list[str]:
    """Return an object on one line with blank ones behind it, if it holds an event; else its lines."""
    joined = "".join(one.removeprefix(before).strip() for one in lines).rstrip(",")
    return [before + joined, *[""] * (len(lines) - 1)] if _event(joined) else [*lines]


def _length(lines: list[str], at: int, before: str) -> int:
    """Return how many lines an object has that begins at a line; 0 if it does not end."""
    closing = (f"{before}}}", f"{before}}},")
    ends = (number for number, line in enumerate(lines[at : at + _MOST_MEMBERS]) if line.rstrip() in closing)
    return next(ends, -1) + 1


_LITERAL: Final = re.compile(r'^[ \t]*(?:\+ ?)?("(?:[^"\\]|\\.)*")[ \t]*[,;+]?[ \t]*$')


def _literals(text: str) -> str | None:
    """Lines that are each a string of JSON or of a programming language."""
    lines = text.split("\n")
    read: list[str] = []
    count = 0
    for line in lines:
        found = _LITERAL.match(line)
        inner = _loaded(found[1]) if found is not None else None
        if inner is not None and inner.rstrip("\n").count("\n") == 0 and _event(inner.rstrip("\n")):
            read.append(inner.rstrip("\n"))
            count += 1
        else:
            read.append(line)
    return "\n".join(read) if count else None


def _loaded(text: str) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, str) else None


_LINE_END: Final = re.compile(r"\\r\\n|\\n")
_CHARACTER: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\([\"'/t\\])")


def _line_ends(text: str) -> str | None:
    r"""Line ends written as ``\n``, with the other characters that are escaped where these are."""
    lines = text.split("\n")
    read: list[str] = []
    count = 0
    for line in lines:
        parts = _LINE_END.split(line)
        if len(parts) > 1 and sum(map(_begun, (_unescaped(part.lstrip("\"' ")) for part in parts))) > 1:
            parts[0] = re.sub(r"^[\"']", "", parts[0])
            parts[-1] = re.sub(r"[\"'],?$", "", parts[-1])
            read += [_unescaped(part) for part in parts]
            count += 1
        else:
            read.append(line)
    return "\n".join(read) if count else None


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return "\t" if found[2] == "t" else found[2]

    return _CHARACTER.sub(one, text)


_PUNCTUATION: Final = re.compile(r"\\([\\_\[\]*`#>(){}+.!|~-])")


def _markdown(text: str) -> str | None:
    r"""Punctuation behind a backslash, as programs that convert to Markdown write it: ``\[`` for ``[``."""
    lines = text.split("\n")
    read = [_PUNCTUATION.sub(r"\1", line) if "\\" in line else line for line in lines]
    changed = [(one, line) for one, line in zip(read, lines, strict=True) if one != line]
    events = any((_begun(one) and not _event(line)) or _tells_only(one, line) for one, line in changed)
    return "\n".join(read) if events else None


def _tells_only(new: str, line: str) -> bool:
    """Return whether a line says something only in its new form."""
    return not _tells(line) and _tells(new)


_AS_NUMBER: Final = re.compile(r"\\u00(?:3[ceCE]|2[267])")
_QUOTE: Final = re.compile(r"\\[\"']")


def _characters(text: str) -> str | None:
    r"""Single characters as JSON writes them for a page, ``\u003e`` for ``>``, and quotes behind a backslash."""
    lines = text.split("\n")
    read = [_unescaped(line) if _AS_NUMBER.search(line) or _QUOTE.search(line) else line for line in lines]
    if read == lines or not any(map(_event, read)):
        return None
    told = any(_AS_NUMBER.search(line) or (new != line and _event(new)) for new, line in zip(read, lines, strict=True))
    return "\n".join(read) if told else None


_BREAK: Final = re.compile(
    r"<br ?/?>(?:[ \t]+(?=[\[\n]|$))?|</?(?:p|div|li|ul|ol|tr|table|pre|blockquote|h[1-6])(?:\s[^<>]*)?>", re.IGNORECASE
)


def _breaks(text: str) -> str | None:
    """Line ends as HTML writes them."""
    lines = text.split("\n")
    read: list[str] = []
    for line in lines:
        parts = _BREAK.split(line)
        told = len(parts) > 1 and any(_event(html.unescape(part)) for part in parts)
        read += [part for part in parts if part or len(parts) < 2] if told else [line]
    return "\n".join(read) if read != lines else None


_ENTITY: Final = re.compile(r"&(?:amp;)?(?:gt|lt|quot|amp|apos|nbsp|#[0-9]{1,5}|#x[0-9a-fA-F]{1,4});")


def _entities(text: str) -> str | None:
    """Characters as HTML writes them, once or twice over."""
    lines = text.split("\n")
    read = []
    for line in lines:
        inner = line
        for _ in range(2):
            if _ENTITY.search(inner):
                inner = html.unescape(inner).replace("\u00a0", " ")
        read.append(inner)
    return "\n".join(read) if read != lines and any(map(_event, read)) else None


_TYPOGRAPHY: Final = {
    **dict.fromkeys("\u200b\u200c\u200d\u2060\u00ad", ""),
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f", " "),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("“”„", '"'),
}


def _typography(text: str) -> str | None:
    """Blanks that are none, and the quotes of word processors, in lines that begin an event."""
    table = str.maketrans(_TYPOGRAPHY)
    lines = text.split("\n")
    read = [plain_one if (plain_one := line.translate(table)) != line and _event(plain_one) else line for line in lines]
    return "\n".join(read) if read != lines else None


_GLUED: Final = re.compile(
    r"(?<=\)) ?(?=(?:[a-z_][A-Za-z0-9_]*\.)+[A-Z][A-Za-z0-9_$]*(?:Exception|Error): )| (?=at "
    r"(?:[\w$]+\.)+[\w$<>]+\([^()]*\))"
)


def _stack_traces(text: str) -> str | None:
    """Exceptions and stack frames that lost the line ends before them."""
    lines = text.split("\n")
    read: list[str] = []
    for line in lines:
        parts = _GLUED.split(line) if _event(line) else [line]
        read += parts if len(parts) > 1 and _GLUED_CLASS.match(parts[1]) else [line]
    return "\n".join(read) if read != lines else None


_GLUED_CLASS: Final = re.compile(r"^(?:[a-z_][A-Za-z0-9_]*\.)+[A-Z][A-Za-z0-9_$]*(?:Exception|Error): ")
_GROUPED: Final = re.compile(r"(?<![0-9,.:])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")


def _grouped_numbers(text: str) -> str | None:
    """Offsets with commas between groups of digits, as a mail or a page shows them."""
    lines = text.split("\n")
    read = []
    for line in lines:
        plain_one = _GROUPED.sub(lambda found: found[0].replace(",", ""), line)
        told = plain_one != line and said(line) is None and said(plain_one) is not None
        read.append(plain_one if told else line)
    return "\n".join(read) if read != lines else None


_ROW: Final = re.compile(
    rf'^[ \t]*"(?P<time>[^"]*)","(?P<level>{LEVEL})","(?P<logger>[A-Za-z_][\w.$]*)","(?P<message>.*?)"?[ \t]*$'
)


def _rows(text: str) -> str | None:
    """Rows of a table in CSV, with columns for time, level, logger and message."""
    lines = text.split("\n")
    read = [_event_of_row(line) or line for line in lines]
    return "\n".join(read) if read != lines else None


def _event_of_row(line: str) -> str | None:
    found = _ROW.match(line)
    if found is None:
        return None
    message = found["message"].replace('""', '"')
    event = f"{found['time']} {found['level']} {message} ({found['logger']})"
    return event if _event(event) else None


_BLOTTED: Final = re.compile(r"(?<![\w.*<>-])([\w.-]*(?:\*{2,}|<[^<>\s=,]{1,40}>)(?:[\w.-]|\*{2,})*)(?=-[0-9])")
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._-]")


def _blotted_names(text: str) -> str | None:
    """Names of topics that were replaced by stars, or by a word in angle brackets, as names that Kafka allows."""
    return _where_told(text, lambda line: _BLOTTED.sub(_allowed, line))


def _allowed(found: re.Match[str]) -> str:
    return _NO_NAME.sub("x", re.sub("[<>]", "", found[0]))


_ELIDED: Final = re.compile(r"(?<=[^\s.…]) (?:\[?(?:\.\.\.|…)\]?) (?=[^\s.…])")


def _elided(text: str) -> str | None:
    """Dots within a line, where the words on both sides are one message of a broker without them."""
    return _where_told(text, lambda line: _ELIDED.sub(" ", line))


def _where_told(text: str, change: Callable[[str], str]) -> str | None:
    """A text with lines changed that say something only then."""
    lines = text.split("\n")
    read = []
    for line in lines:
        new = change(line)
        read.append(new if new != line and _tells_only(new, line) else line)
    return "\n".join(read) if read != lines else None


def _tells(line: str) -> bool:
    found = undressed(line) or undressed(line, message_of)
    return said(line) is not None or (found is not None and said(found.line) is not None)


OBJECTS: Final = "objects"
"""Name of the escape that collectors write too: it is no evidence that somebody pasted a text."""

BLOTTED: Final = "blotted names"
"""Name of the escape after which two topics may have one name."""

ESCAPES: Final[tuple[Escape, ...]] = (
    Escape(
        "json document",
        _document,
        f'{{"title": "loss", "body": "we saw\\n```\\n{_ONE}\\n{_TWO}\\n```"}}',
        '{"title": "loss", "body": "we saw\\nnothing"}',
    ),
    Escape(
        OBJECTS,
        _objects,
        f'from the viewer:\n{{\n  "stream": "stdout",\n  "log": "{_ONE}"\n}}\n',
        'settings:\n{\n  "log": "all of it"\n}\n',
    ),
    Escape("strings", _literals, f'"{_ONE}",\n"{_TWO}"\n', '"[2024-03-01]",\n"INFO"\n'),
    Escape(
        "line ends",
        _line_ends,
        f"{_ONE}\\n{_TWO}",
        "[2024-03-01 10:22:41,107] ERROR a text with \\n in it (kafka.server.KafkaApis)",
    ),
    Escape(
        "characters",
        _characters,
        "[2024-03-01 10:22:41,107] INFO Map(orders-0 -\\u003e 5) (kafka.log.Log)",
        "C:\\users\\u003e",
    ),
    Escape("breaks", _breaks, f"<p>{_ONE}<br>{_TWO}</p>", "a<br>b"),
    Escape(
        "entities",
        _entities,
        "[2024-03-01 10:22:41,107] INFO Map(orders-0 -&gt; 5) (kafka.log.Log)",
        "a &gt; b &amp;&amp; c",
    ),
    Escape(
        "markdown",
        _markdown,
        "\\[2024-03-01 10:22:41,107\\] INFO Truncating log my\\_orders-0 to offset 50. (kafka.log.Log)",
        "C:\\_data and \\[more\\]",
    ),
    Escape(
        "stack traces",
        _stack_traces,
        "[2024-03-01 10:22:41,107] ERROR Error due to "
        "(kafka.server.ReplicaFetcherThread)java.lang.IllegalStateException: "
        "Offset mismatch for partition orders-0: fetched offset = 40, log end offset = 42. at "
        "kafka.log.Log.append(Log.scala:1)",
        "[2024-03-01 10:22:41,107] ERROR looked at kafka.log.Log (kafka.server.KafkaApis)",
    ),
    Escape(
        "grouped numbers",
        _grouped_numbers,
        "[2024-03-01 10:22:41,107] INFO Truncating log orders-0 to offset 1,250. (kafka.log.Log)",
        "[2024-03-01 10:22:41,107] INFO 1,250 records (kafka.log.Log)",
    ),
    Escape(
        "rows",
        _rows,
        '"2024-03-01T10:22:41.107Z","INFO","kafka.log.Log","Truncating log orders-0 to offset 50."',
        '"2024-03-01","INFO","three","four"',
    ),
    Escape(
        BLOTTED,
        _blotted_names,
        "[2024-03-01 10:22:41,107] INFO Truncating log <topic>-0 to offset 50. (kafka.log.Log)",
        "[2024-03-01 10:22:41,107] INFO Truncating **everything** (kafka.log.Log)",
    ),
    Escape(
        "dots within a line",
        _elided,
        "[2024-03-01 10:22:41,107] INFO Truncating log orders-0 ... to offset 50. (kafka.log.Log)",
        "[2024-03-01 10:22:41,107] INFO ... and so on ... (kafka.log.Log)",
    ),
    Escape(
        "typography",
        _typography,
        "[2024-03-01\u00a010:22:41,107]\u00a0INFO Truncating log orders-0 to offset 50. (kafka.log.Log)",
        "it\u2019s broken",
    ),
)
"""In the order in which they are undone."""


def unescaped(text: str) -> tuple[str, tuple[str, ...]]:
    """A text with all escapes undone, and which there were."""
    names: list[str] = []
    for escape in ESCAPES:
        found = escape.undo(text)
        if found is not None and found != text:
            text = found
            names.append(escape.name)
    return text, tuple(names)
