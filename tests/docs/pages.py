"""Command blocks of the documentation, and the outputs that it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"(?ms)^(?P<indent> *)```(?:sh|bash|console|shell)\n(?P<text>.*?)^(?P=indent)```$")
SHOWN = re.compile(
    r"(?ms)^<!-- output of: (?P<command>[^\n]+?) -->\n```[a-z]*\n(?P<text>.*?)```\n<!-- end of output -->$"
)
LEFT_OUT = "[...]"
"""A line of a shown output that stands for any number of lines."""


@dataclass(frozen=True)
class Command:
    """A command of a page, without its comment, or an output that the page shows."""

    line: int
    text: str
    output: str | None = None
    """What the page shows of it; None for a command of a block."""


def pages(repository: Path) -> dict[str, str]:
    """Return every Markdown page for users by its path."""
    places = [repository / "README.md", repository / "CONTRIBUTING.md"]
    places += [*(repository / "docs").rglob("*.md"), *(repository / "sample_traces").rglob("*.md")]
    return {str(one.relative_to(repository)): one.read_text("utf-8") for one in sorted(places)}


def commands(text: str) -> list[Command]:
    """Return the commands of a page and the outputs that it shows, in order."""
    found = [
        one for block in BLOCK.finditer(text) for one in _lines(block["text"], text.count("\n", 0, block.start()) + 2)
    ]
    for one in SHOWN.finditer(text):
        found.append(Command(text.count("\n", 0, one.start()) + 1, one["command"], one["text"]))
    return sorted(found, key=lambda one: one.line)


def _lines(block: str, first: int) -> Iterator[Command]:
    whole, begun = "", first
    for number, line in enumerate(block.splitlines(), first):
        part = line.strip().removeprefix("$ ")
        whole, begun = (f"{whole} {part}", begun) if whole else (part, number)
        if whole.endswith("\\"):
            whole = whole.removesuffix("\\").rstrip()
            continue
        if text := re.sub(r"(^|\s+)#\s.*", "", whole):
            yield Command(begun, text)
        whole = ""


def alike(shown: str, printed: str) -> bool:
    """Return whether an output that leaves out lines shows what was printed."""
    parts = [re.escape(part) for part in re.split(rf"(?m)^{re.escape(LEFT_OUT)}\n", shown)]
    return re.fullmatch(r"(?:.*\n)*".join(parts), printed) is not None
