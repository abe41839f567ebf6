"""Ways in which people paste lines of logs into tickets, mails and chats: what ``parsers.excerpts`` undoes."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import NamedTuple

TIME = re.compile(r"^\[(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d,\d{3})\] ")

BEFORE = (
    "Hi all,",
    "",
    "one of our brokers was restarted last night, and since then a consumer reports offsets that are out of range.",
    "This is what the follower printed:",
    "",
)
AFTER = ("", "Is that expected? The topic has three replicas and min.insync.replicas is two.", "Thanks for any hint!")


class Paste(NamedTuple):
    """One way of pasting.

    Attributes:
        dress: makes a text of the lines of a log.
        layer: where it stands in a stack: times are edited first, then collectors name the writer, lines are wrapped,
            dressed, set off from prose, and at last the text is escaped.
        timeless: the times are lost.
    """

    dress: Callable[[list[str]], list[str]]
    layer: int
    timeless: bool = False


def each(change: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    """Changes each line but the blank ones."""
    return lambda lines: [change(line) if line else line for line in lines]


def numbered(lines: list[str], form: str, first: int = 1) -> list[str]:
    """Lines behind their numbers."""
    return [form.format(number, line) for number, line in enumerate(lines, first)]


def at_blanks(width: int) -> Callable[[list[str]], list[str]]:
    """Wraps as mail programs do."""

    def wrap(lines: list[str]) -> list[str]:
        return [
            piece
            for line in lines
            for piece in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
        ]

    return wrap


def anywhere(width: int) -> Callable[[list[str]], list[str]]:
    """Wraps as terminals do."""
    return lambda lines: [line[begin : begin + width] for line in lines for begin in range(0, max(len(line), 1), width)]


def bare(line: str) -> str:
    """The message alone."""
    return re.sub(r" \([\w.$]+\)$", "", re.sub(r"^\[[^\]]*\] [A-Z]+ +", "", line))


def quotes_mixed(lines: list[str]) -> list[str]:
    """A mail that answers a mail: what was quoted before is quoted twice."""
    half = len(lines) // 2
    return [f"{'>> ' if at % 2 else '> > '}{line}" for at, line in enumerate(lines[:half])] + [
        f"> {line}" for line in lines[half:]
    ]


def _json(lines: Iterable[str]) -> list[str]:
    return [json.dumps({"number": 7, "title": "offsets out of range", "body": "\n".join(lines)})]


PASTES: dict[str, Paste] = {
    # times
    "from time to time": Paste(each(lambda line: TIME.sub(r"[\1 \2]~[\1 \2] ", line)), 0),
    "time of day": Paste(each(lambda line: TIME.sub(r"[\2] ", line)), 0, timeless=True),
    "time of day, no brackets": Paste(each(lambda line: TIME.sub(r"\2 ", line)), 0, timeless=True),
    "day blotted out": Paste(each(lambda line: TIME.sub(r"[xxxx-xx-xx \2] ", line)), 0, timeless=True),
    "month and day blotted out": Paste(
        each(lambda line: TIME.sub(lambda found: f"[{found[1][:5]}XX-XX {found[2]}] ", line)), 0, timeless=True
    ),
    "a word for the time": Paste(each(lambda line: TIME.sub("[timestamp] ", line)), 0, timeless=True),
    "bracket cut off": Paste(each(lambda line: TIME.sub(r"\1 \2] ", line)), 0),
    "time cut off": Paste(each(lambda line: line[15:] if TIME.match(line) else line), 0, timeless=True),
    "all but the bracket cut off": Paste(each(lambda line: TIME.sub("] ", line)), 0, timeless=True),
    "no time": Paste(each(lambda line: TIME.sub("", line)), 0, timeless=True),
    # breaks
    "wrapped at 72": Paste(at_blanks(72), 2),
    "wrapped at 100": Paste(at_blanks(100), 2),
    "cut at 80": Paste(anywhere(80), 2),
    "cut at 120": Paste(anywhere(120), 2),
    # lines
    "quoted": Paste(each(lambda line: f"> {line}"), 3),
    "quoted, no blank": Paste(each(lambda line: f">{line}"), 3),
    "quoted twice": Paste(each(lambda line: f"> > {line}"), 3),
    "indented": Paste(each(lambda line: f"    {line}"), 3),
    "indented by a tab": Paste(each(lambda line: f"\t{line}"), 3),
    "bullets": Paste(each(lambda line: f"- {line}"), 3),
    "stars": Paste(each(lambda line: f"* {line}"), 3),
    "list": Paste(lambda lines: numbered(lines, "{}. {}"), 3),
    "line numbers": Paste(lambda lines: numbered(lines, "{:>6}  {}", 230), 3),
    "line numbers with colons": Paste(lambda lines: numbered(lines, "L{}: {}", 8), 3),
    "bold": Paste(each(lambda line: f"**{line}**"), 3),
    "backticks": Paste(each(lambda line: f"`{line}`"), 3),
    "monospaced": Paste(each(lambda line: f"{{{{{line}}}}}"), 3),
    "tags": Paste(each(lambda line: f"<code>{line}</code>"), 3),
    "colon": Paste(each(lambda line: f"kafka-2: {line}"), 3),
    "bar": Paste(each(lambda line: f"broker1 | {line}"), 3),
    "compose": Paste(each(lambda line: f"kafka_1  | {line}"), 1),
    "pod": Paste(each(lambda line: f"[pod/kafka-0/kafka] {line}"), 1),
    "stern": Paste(each(lambda line: f"kafka-0 kafka {line}"), 1),
    "syslog": Paste(each(lambda line: f"Mar  1 10:22:41 node1 kafka[812]: {line}"), 1),
    "file": Paste(each(lambda line: f"b-1/server.log:{line}"), 1),
    # texts
    "fence": Paste(lambda lines: ["```", *lines, "```"], 4),
    "fence with a language, prose": Paste(lambda lines: [*BEFORE, "```log", *lines, "```", *AFTER], 4),
    "tildes": Paste(lambda lines: ["~~~ text", *lines, "~~~"], 4),
    "prose": Paste(lambda lines: [*BEFORE, *lines, *AFTER], 4),
    "noformat": Paste(lambda lines: ["Steps to reproduce:", "{noformat}", *lines, "{noformat}"], 4),
    "code macro": Paste(lambda lines: ["{code:title=server.log|borderStyle=solid}", *lines, "{code}", "any ideas?"], 4),
    "dots": Paste(lambda lines: ["...", *lines, "..."], 4),
    "mail quote": Paste(lambda lines: ["On Tue, Mar 3, 2026 at 10:22 AM somebody wrote:", *lines], 4),
    # escapes
    "entities": Paste(each(html.escape), 5),
    "breaks": Paste(lambda lines: [f"<p>{'<br>'.join(html.escape(line) for line in lines)}</p>"], 5),
    "preformatted": Paste(lambda lines: ["<div><pre>", *(html.escape(line) for line in lines), "</pre></div>"], 5),
    "line ends written": Paste(lambda lines: [json.dumps("\n".join(lines))[1:-1]], 5),
    "characters written": Paste(each(lambda line: line.replace(">", "\\u003e").replace('"', '\\"')), 5),
    "JSON": Paste(_json, 5),
    "windows": Paste(each(lambda line: f"{line}\r"), 5),
}
"""By name; a line is pasted in several of them at once, in the order of their layers."""


def text(lines: list[str]) -> str:
    """Lines as a text."""
    return "\n".join(lines) + "\n"
