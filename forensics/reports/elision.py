"""Long lines of logs made short: their beginning, and the clauses around the values that matter, in few long pieces."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_PIECES = re.compile(r"[^\s,]+,?\s*|\s+|,")
_NUMBERS = re.compile(r"[0-9]+")
GAP = "… "
ROWS = 2
"""Rows of a quote."""

_ASIDES = (
    (re.compile(r" \((?:kafka|org\.apache\.kafka|state\.change)\.[\w.$]+\)$"), " …"),  # the logger
    (re.compile(r"\bdir=/[^\s,\])]*/"), "dir=…/"),
    (re.compile(r" with topic id (?:Some\()?[\w-]{22}\)?"), " …"),
    (re.compile(r"\b(topicId[ =])[\w-]{22}"), r"\1…"),
    (re.compile(r"\bdirectories=\[[^\]]*\]"), "directories=[…]"),
)
"""The parts of a quoted line that go first, and what is written instead."""

_VERBS = re.compile(
    r"truncat|corrupt|recover|delet|roll|complet|load|start|stop|shut|elect|unclean|lead|follow|append|fetch|fenc|expand|"
    r"shrink|shrunk|fail|skip|isr\b|watermark",
    re.IGNORECASE,
)
"""Beginnings of words by which Kafka says what happened, and of the names of what replication is about."""

_BEGINS = frozenset(["with", "from", "at", "due", "since", "and", "starts", "using", "after", "as", "for"])
"""Words that begin a clause."""

_ENDS = re.compile(r"[0-9\])}.,;:!]\s*$")
"""Pieces after which a quote may end: a value, or the end of a clause."""


_OF_VERB, _OF_GAP = 0.5, 0.7
"""How much a verb matters, and a gap."""


def without_asides(text: str, width: int) -> str:
    """Return a line without its logger, the path of a folder and ids, as far as it is longer than ``width``."""
    for pattern, instead in _ASIDES:
        if len(text) > width:
            text = pattern.sub(instead, text, count=1)
    return text


def elided(text: str, values: Sequence[int], width: int, name: str = "", rows: int = ROWS) -> list[str]:
    """Return a line in a few rows: all of it, or its beginning, or that and one further piece with the values.

    The logger, the path of the folder and ids go first. Of two pieces the second has the values that matter most, from
    the beginning of its clause on. More rows than one are used only if they show all, or more of the values.

    Args:
        text: a line.
        values: numbers that matter, the most important first.
        width: columns of a row.
        name: the partition.
        rows: the most rows.

    >>> elided("Partition x with a very long tale of words from offset 50, ISR [2], and more words", [50], 40)
    ['Partition x with a very long tale of', 'words from offset 50, ISR [2], …']
    >>> elided("short", [1], 40)
    ['short']
    >>> elided("[Log partition=a-0, dir=/srv/kafka/data] Corruption found, truncating (kafka.log.Log)", [42], 70)
    ['[Log partition=a-0, dir=…/data] Corruption found, truncating …']
    """
    found = [_shown(text, values, width, name, number) for number in range(1, rows + 1)]
    best = max(one.worth for one in found)
    return next((one.rows for one in found if one.whole), next(one.rows for one in found if one.worth == best))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A quote in rows, how much it has of what matters, and whether nothing but asides is left out."""

    rows: list[str]
    worth: float
    whole: bool = False


def _shown(text: str, values: Sequence[int], width: int, name: str, rows: int) -> _Shown:
    """Return a quote in at most so many rows."""
    pieces = _PIECES.findall(without_asides(text, width * rows))
    worth = _worth(pieces, values, name)
    for room in range(width * rows, width // 2, -4):
        kept = _kept(pieces, worth, room, name)
        made = _wrapped(_joined(pieces, kept), width)
        if len(made) <= rows:
            gaps = sum(number + 1 not in kept for number in kept)
            amount = sum(worth[number] for number in kept) - _OF_GAP * gaps
            return _Shown(made, amount, whole=len(kept) == len(pieces))
    return _Shown(["".join(pieces)[: max(width - 1, 1)].rstrip() + "…"], 0)


def _worth(pieces: Sequence[str], values: Sequence[int], name: str) -> list[float]:
    """Return how much each piece matters: the first occurrence of a value, the partition, and verbs."""
    rank = {str(value): place for place, value in reversed(list(enumerate(values)))}
    seen = set[str]()
    found = []
    for piece in pieces:
        new = [one for one in _NUMBERS.findall(piece.replace(name, "") if name else piece) if one in rank]
        amount = sum(max(1.0, 8.0 - 2 * rank[one]) for one in dict.fromkeys(new) if one not in seen)
        seen.update(new)
        if name and name in piece and name not in seen:
            amount += 4
            seen.add(name)
        found.append(amount + (_OF_VERB if _VERBS.match(piece.lstrip("([")) else 0))
    return found


def _kept(pieces: Sequence[str], worth: Sequence[float], room: int, name: str) -> Collection[int]:
    """Return the pieces to show in so many columns: the first ones, or fewer of them and others further on."""
    if sum(map(len, pieces)) <= room:
        return range(len(pieces))
    first = range(_ended(pieces, worth, 0, _fitting(pieces, 0, room - 2)))
    named = next((number + 1 for number, piece in enumerate(pieces) if name and name in piece), 0)
    head = min(named, _fitting(pieces, 0, room // 2)) or _fitting(pieces, 0, room // 3)
    rest = room - sum(map(len, pieces[:head])) - 2 * len(GAP)
    best: Collection[int] = first
    most = sum(worth[: len(first)])
    for begin in range(head + 1, len(pieces)):
        if not _begins(pieces, begin):
            continue
        window = range(begin, _ended(pieces, worth, begin, _fitting(pieces, begin, rest)))
        amount = sum(worth[:head]) + sum(worth[number] for number in window)
        if amount > most + _OF_GAP:
            best, most = [*range(head), *window], amount
    return best


def _fitting(pieces: Sequence[str], begin: int, room: int) -> int:
    """Return the piece before which the columns end."""
    for number in range(begin, len(pieces)):
        room -= len(pieces[number])
        if room < 0:
            return number
    return len(pieces)


def _begins(pieces: Sequence[str], number: int) -> bool:
    """Return whether a clause begins with a piece."""
    return pieces[number].strip() in _BEGINS or pieces[number - 1].rstrip().endswith((",", ".", ";", ":"))


def _ended(pieces: Sequence[str], worth: Sequence[float], begin: int, end: int) -> int:
    """Return where a piece of a quote ends: after a value or a clause, and not before what matters."""
    if end == len(pieces):
        return end
    for number in range(end, begin, -1):
        if _ENDS.search(pieces[number - 1]) or worth[number - 1] >= 1:
            return number
    return end


def _joined(pieces: Sequence[str], kept: Collection[int]) -> list[str]:
    """Return the pieces that are kept, with a mark for each gap."""
    found: list[str] = []
    last = -1
    for number in sorted(kept):
        if number != last + 1:
            found.append(GAP)
        found.append(pieces[number])
        last = number
    if last + 1 < len(pieces):
        found[-1:] = [*(one.rstrip() for one in found[-1:]), f" {GAP}"]
    return found


def _wrapped(pieces: Sequence[str], width: int) -> list[str]:
    """Return pieces in rows."""
    rows = [""]
    for piece in pieces:
        if rows[-1] and len(rows[-1] + piece.rstrip()) > width:
            rows.append("")
            piece = piece.lstrip()
        rows[-1] += piece
    rows = [row.rstrip() for row in rows]
    return [row[at : at + width] for row in rows for at in range(0, max(len(row), 1), width)]
