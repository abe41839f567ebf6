"""Turns Markdown as code hosts read it into Markdown as MkDocs reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

FENCE = re.compile(r"\s*(```+|~~~+)")
ITEM = re.compile(r"(\s*)([-*+]|[0-9]+\.) +")
DEEPER = 4
"""Spaces by which MkDocs indents what belongs to an item of a list."""


def lines_outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is outside fenced code; the fences count as code."""
    fence = ""
    for line in text.splitlines():
        found = FENCE.match(line)
        if fence:
            yield line, False
            if found and found[1].startswith(fence):
                fence = ""
        else:
            fence = found[1] if found else ""
            yield line, not fence


def adapted(text: str) -> str:
    """Return the text with lists and tables as MkDocs needs them: after an empty line, and indented by four."""
    page = _Page()
    for line, outside in lines_outside_code(text):
        page.add(line, outside)
    return "\n".join(page.made) + "\n"


class _Page:
    """A text as far as it is adapted."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.items: list[int] = []
        """Where the text of each enclosing item of a list begins, in the text as it was."""

    def add(self, line: str, outside: bool) -> None:
        """Add a line, which is outside of code or not."""
        if line.strip() and (outside or FENCE.match(line)):
            self._leave_items(line)
        shown = self._indented(line)
        item = ITEM.match(line) if outside else None
        if outside and self._begins_block(line):
            self.made.append("")
        self.made.append(shown)
        if item:
            self.items.append(item.end())

    def _leave_items(self, line: str) -> None:
        """End the items that the line is not part of; a paragraph may continue without indentation."""
        ends = not self.made or not self.made[-1].strip() or ITEM.match(line)
        while ends and self.items and _indent(line) < self.items[-1]:
            self.items.pop()

    def _indented(self, line: str) -> str:
        if not line.strip():
            return ""
        begin = self.items[-1] if self.items else 0
        body = line[begin:] if _indent(line) >= begin else line.lstrip()
        return " " * DEEPER * len(self.items) + body

    def _begins_block(self, line: str) -> bool:
        """Return whether a list or a table begins here without an empty line before it."""
        last = self.made[-1] if self.made else ""
        if not last.strip():
            return False
        if ITEM.match(line):
            return not ITEM.match(last) and not last.startswith(" ")
        return line.lstrip().startswith("|") and not last.lstrip().startswith("|")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
