"""Lines for a terminal: wrapped, without what could steer it, and with colour and links where it shows them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from forensics.outputs import plain

LEAST, MOST = 60, 200
"""Columns of the narrowest and of the widest page."""

_RESET = "\x1b[0m"


class Style(StrEnum):
    """How a part of a line looks. The value is the sequence that switches it on."""

    NONE = ""
    BOLD = "\x1b[1m"
    BAD = "\x1b[1;31m"
    DOUBT = "\x1b[1;33m"
    GOOD = "\x1b[1;32m"
    DIM = "\x1b[2m"


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        text: its characters.
        styled: how many of the first characters have the style.
        style: their style.
        link: file that the styled characters name, or None.
    """

    text: str
    styled: int = 0
    style: Style = Style.NONE
    link: str | None = None


@dataclass(slots=True)
class Page:
    """Lines as they are added.

    Attributes:
        columns: width of the page.
        lines: what was added.
    """

    columns: int
    lines: list[Line] = field(default_factory=list)

    def blank(self) -> None:
        """Add an empty line, unless the last line is one."""
        if self.lines and self.lines[-1].text:
            self.lines.append(Line(""))

    def row(self, text: str, style: Style = Style.NONE) -> None:
        """Add one line, however long."""
        self.lines.append(Line(plain(text).rstrip(), len(text), style))

    def put(
        self, first: str, text: str, *, indent: int | None = None, style: Style = Style.NONE, whole: bool = False
    ) -> None:
        """Add text, wrapped, its further lines indented to where it began.

        Args:
            first: what the first line begins with.
            text: the text.
            indent: indentation of further lines, if it is not the width of ``first``.
            style: style of ``first``, or of everything.
            whole: the style is that of everything.
        """
        made = textwrap.wrap(
            plain(text),
            width=self.columns,
            initial_indent=plain(first),
            subsequent_indent=" " * (len(first) if indent is None else indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
        for number, line in enumerate(made or [plain(first).rstrip()]):
            styled = len(line) if whole else len(plain(first)) if number == 0 else 0
            self.lines.append(Line(line.rstrip(), styled, style))

    def cite(self, indent: int, place: str, path: str, quote: str) -> None:
        """Add a place in the evidence and the text there, in one line."""
        where = plain(f"{' ' * indent}{place}")
        self.lines.append(Line(plain(f"{where}  {quote}").rstrip(), len(where), Style.DIM, path))


def printed(lines: Iterable[Line], *, styled: bool) -> str:
    """Return lines as one text, each with its line end.

    Args:
        lines: the lines.
        styled: the reader is a terminal that shows colour and links.
    """
    return "".join(f"{_drawn(line) if styled else line.text}\n" for line in lines)


def _drawn(line: Line) -> str:
    end = min(line.styled, len(line.text))
    if not end or line.style is Style.NONE:
        return line.text
    marked = line.text[:end]
    bare = marked.lstrip()
    indent = marked[: len(marked) - len(bare)]
    target = _target(line.link)
    linked = f"\x1b]8;;{target}\x1b\\{bare}\x1b]8;;\x1b\\" if target else bare
    return f"{indent}{line.style.value}{linked}{_RESET}{line.text[end:]}"


def _target(path: str | None) -> str | None:
    """Return the URL of a file, or None for a member of an archive."""
    if path is None:
        return None
    try:
        file = Path(path).resolve()
        return file.as_uri() if file.is_file() else None
    except (OSError, ValueError):
        return None
