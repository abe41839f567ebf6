"""Long lines of logs made short: the middle goes, and what matters stays."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_PIECES = re.compile(r"[^\s,]+,?\s*|\s+|,")
_NUMBERS = re.compile(r"[0-9]+")
GAP = "… "

_ASIDES = (
    (re.compile(r" \((?:kafka|org\.apache\.kafka|state\.change)\.[\w.$]+\)$"), " …"),  # the logger
    (re.compile(r"\bdir=/[^\s,\])]*/"), "dir=…/"),
)
"""The parts of a quoted line that go first, and what is written instead."""

_VERBS = re.compile(
    r"truncat|corrupt|recover|delet|roll|complet|load|start|stop|shut|elect|lead|follow|append|fetch|expand|shrink|shrunk|"
    r"fail|skip",
    re.IGNORECASE,
)
"""Beginnings of words by which Kafka says what happened."""


def without_asides(text: str, width: int) -> str:
    """Return a line without its logger and without the path of a folder, as far as it is longer than ``width``."""
    for pattern, instead in _ASIDES:
        if len(text) > width:
            text = pattern.sub(instead, text, count=1)
    return text


def elided(text: str, values: Sequence[int], width: int, name: str = "") -> str:
    """Return a line in at most ``width`` columns: its beginning, and the pieces that matter.

    The logger and the path of the folder go first. Then the values, the partition and the verbs stay, in this order.

    Args:
        text: a line.
        values: numbers that matter, the most important first.
        width: columns.
        name: the partition.

    >>> elided("Partition x with a very long tale of words from offset 50, ISR [2], and more words", [50], 40)
    'Partition x with a very … offset 50, …'
    >>> elided("short", [1], 40)
    'short'
    >>> elided("[Log partition=a-0, dir=/srv/kafka/data] Corruption found, truncating (kafka.log.Log)", [42], 70)
    '[Log partition=a-0, dir=…/data] Corruption found, truncating …'
    """
    text = without_asides(text, width)
    if len(text) <= width:
        return text
    pieces = _PIECES.findall(text)
    head = _head(pieces, width // 2)
    kept = set(range(head))
    for number in _by_worth(pieces, values, head, name):
        names_value = "=" in pieces[number] or '":' in pieces[number]  # else the word before it does
        more = kept | {number, *({number - 1} if not names_value and number > head else set())}
        if len(_joined(pieces, more)) <= width:
            kept = more
    longest = max(
        (n for n in range(head, len(pieces)) if len(_joined(pieces, kept | set(range(n)))) <= width), default=0
    )
    shown = _joined(pieces, kept | set(range(longest)))
    return shown if len(shown) <= width else text[: max(width - 1, 1)].rstrip() + "…"


def _head(pieces: list[str], width: int) -> int:
    """Return how many pieces fit into the beginning."""
    length = 0
    for number, piece in enumerate(pieces):
        length += len(piece)
        if length > width:
            return number
    return len(pieces)


def _by_worth(pieces: list[str], values: Sequence[int], head: int, name: str) -> list[int]:
    """Return the pieces after the beginning that matter, the most important first."""
    rank = {str(value): place for place, value in reversed(list(enumerate(values)))}
    named = any(name in piece for piece in pieces[:head])
    found = []
    for number in range(head, len(pieces)):
        piece = pieces[number]
        ranks = [rank[one] for one in _NUMBERS.findall(piece) if one in rank]
        if name and not named and name in piece:
            found.append((len(values), number))
            named = True
        elif ranks:
            found.append((min(ranks), number))
        elif _VERBS.match(piece.lstrip("([")):
            found.append((len(values) + 1, number))
    return [number for _, number in sorted(found)]


def _joined(pieces: list[str], kept: Collection[int]) -> str:
    """Return the pieces that are kept, with a mark for each gap."""
    found: list[str] = []
    last = -1
    for number in sorted(kept):
        if number != last + 1:
            found.append(GAP)
        found.append(pieces[number])
        last = number
    text = "".join(found).rstrip()
    return f"{text} …" if last + 1 < len(pieces) else text
