"""Long lines of logs made short: the middle goes, and the values that matter stay."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_PIECES = re.compile(r"[^\s,]+,?\s*|\s+|,")
_NUMBERS = re.compile(r"[0-9]+")
GAP = "… "


def elided(text: str, values: Sequence[int], width: int) -> str:
    """Return a line in at most ``width`` columns: its beginning, and the pieces with a value that matters.

    Args:
        text: a line.
        values: numbers that matter, the most important first.
        width: columns.

    >>> elided("Partition x with a very long tale of words from offset 50, ISR [2], and more words", [50], 40)
    'Partition x with a … offset 50, …'
    >>> elided("short", [1], 40)
    'short'
    """
    if len(text) <= width:
        return text
    pieces = _PIECES.findall(text)
    head = _head(pieces, width // 2)
    kept = set(range(head))
    for number in _by_worth(pieces, values, head):
        more = kept | {number, *({number - 1} if "=" not in pieces[number] and number > head else set())}
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


def _by_worth(pieces: list[str], values: Sequence[int], head: int) -> list[int]:
    """Return the pieces after the beginning that have a value that matters, the most important first."""
    rank = {str(value): place for place, value in reversed(list(enumerate(values)))}
    found = []
    for number in range(head, len(pieces)):
        ranks = [rank[one] for one in _NUMBERS.findall(pieces[number]) if one in rank]
        found += [(min(ranks), number)] if ranks else []
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
