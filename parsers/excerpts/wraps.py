"""Lines that a mail, a terminal or a narrow window broke: joined where that makes a message that is known.

A mail breaks at blanks, so a blank belongs there. A terminal breaks wherever its width ends, also within a number; then
the pieces but the last of each line have one length. Where both ways of joining give a message and the values differ,
the line is left out: a number without its last digits is another number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from parsers.excerpts.catalogue import EXCEPTION, thrown
from parsers.excerpts.kinds import begun, ended, said, whole

MOST_PIECES: Final = 60
SHORTEST: Final = 20
"""Characters of a piece that another follows: no terminal is narrower."""
LONGEST: Final = 260

_TRACE: Final = re.compile(r"Caused by: |\s+at [\w.$/<>]+\(")
"""A line of a stack trace: it belongs to the event, and is no rest of the line before it."""


Said = tuple[str, tuple[tuple[str, str], ...]]
"""The message of a line, and the values that it states by name."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A joined line.

    Attributes:
        text: the whole line; "" if its pieces fit in two ways with different meanings.
        pieces: how many further lines belong to it.
    """

    text: str
    pieces: int


def joined(first: str, rest: Sequence[str], lengths: Sequence[int], width: Width | None) -> Joined | None:
    """Return the first line of an event joined with its continuation; None if it is complete, or if no known message
    results.

    Args:
        first: the line, undressed.
        rest: lines behind it that begin no event by themselves, undressed.
        lengths: of these lines as in the text, ``first`` included.
        width: at which a terminal broke the lines of the text, if they look like it.
    """
    if lengths[0] < SHORTEST or _complete(first, rest):
        return None
    for pieces in _growing(first, rest, lengths):
        ways = [way for way in _ways(pieces, lengths, width) if ended(way)]
        if ways:
            sure = width is not None and width.sure
            text = _likeliest(ways, sure=sure)
            return None if text is None else Joined(text, len(pieces) - 1)
    return None


def _complete(first: str, rest: Sequence[str]) -> bool:
    """Return whether the first line of an event needs no further piece. A number at its end may have been cut off."""
    if whole(first) or thrown(first) is not None:
        return True
    return ended(first) and not (rest and cut_number(first, rest[0]))


def joined_without_end(first: str, rest: Sequence[str], lengths: Sequence[int], width: Width | None) -> Joined | None:
    """Return the first line of an event joined with its continuation, where the end of the event was left out.

    Args:
        first, rest, lengths, width: as for ``joined``, which found no whole message.
    """
    if whole(first) or said(first) is not None or begun(first) is None:
        return None
    found = None
    for pieces in _growing(first, rest, lengths):
        told = {way: meant for way in _ways(pieces, lengths, width) if (meant := begun(way)) is not None}
        if not told:
            break
        found = Joined(next(iter(told)) if len({*told.values()}) == 1 else "", len(pieces) - 1)
    return found


def joined_by_message(first: str, rest: Sequence[str], lengths: Sequence[int], width: Width | None) -> Joined | None:
    """Return the first line of an event joined with lines without which it is no known message; it has no logger.

    Args:
        first, rest, lengths, width: as for ``joined``, which found no end of the event.
    """
    if whole(first) or said(first) is not None:
        return None
    found, most = None, 0
    for pieces in _growing(first, rest, lengths):
        told = {way: meant for way in _ways(pieces, lengths, width) if (meant := said(way)) is not None}
        values = max((len(values) for _, values in told.values()), default=0)
        if values > most:
            following = rest[len(pieces) - 1 : len(pieces)]
            found, most = Joined(_only(told, pieces[-1], following), len(pieces) - 1), values
    return found


def may_be_torn(text: str) -> bool:
    """Return whether a line is the text of an exception that is not known, so that its end may be missing."""
    return EXCEPTION.match(f"{text} ...") is not None and thrown(text) is None


def joined_exception(first: str, rest: Sequence[str], lengths: Sequence[int]) -> Joined | None:
    """Return the text of an exception joined with its continuation, if it is known only so.

    Args:
        first, rest, lengths: as for ``joined``.
    """
    for pieces in itertools.islice(_growing(first, rest, lengths), _MOST_OF_EXCEPTION):
        ways = (" ".join(piece.strip() for piece in pieces), "".join(pieces))
        known = next((way for way in ways if thrown(way) is not None), None)
        if known is not None:
            return Joined(known, len(pieces) - 1)
    return None


def _only(told: Mapping[str, Said], last: str, following: Sequence[str]) -> str:
    """Return the likeliest way of joining pieces; "" if the ways differ in meaning, or the last number may continue."""
    cut = any(cut_number(last.rstrip(), one) for one in following)
    return next(iter(told)) if not cut and len({_closed(meant) for meant in told.values()}) == 1 else ""


def _growing(first: str, rest: Sequence[str], lengths: Sequence[int]) -> Iterator[list[str]]:
    """Yield a line with one piece more each time, up to a line that is no piece."""
    for count in range(1, min(len(rest), MOST_PIECES) + 1):
        pieces = [first, *rest[:count]]
        if max(lengths[: count + 1]) > LONGEST or not pieces[-1].strip() or _TRACE.match(pieces[-1]):
            return
        yield pieces


def _likeliest(ways: Sequence[str], *, sure: bool) -> str | None:
    """Return the way that is a known message; "" if several are and differ in meaning, None if none is.

    Args:
        ways: the likeliest first.
        sure: a terminal broke the lines, so the first two ways, which assume that, come before all others.
    """
    told = {way: found for way in ways if (found := said(way)) is not None}
    if not told:
        return None
    most = max(len(values) for _, values in told.values())
    told = _without_beginnings({way: found for way, found in told.items() if len(found[1]) == most})
    if sure and any(way in told for way in ways[:2]):
        return next(iter(told))
    if len({_closed(found) for found in told.values()}) > 1:
        return ""
    return min(told, key=lambda way: len(_NO_BLANK.findall(way)))


def _without_beginnings(told: Mapping[str, Said]) -> dict[str, Said]:
    """Return the ways without those that differ from another one only in a name that ends at a dot.

    The name of a class was broken after the dot, and its rest follows a blank: ``org.apache.kafka. common``.
    """
    return {way: found for way, found in told.items() if not any(_begins(found, other) for other in told.values())}


def _begins(found: Said, other: Said) -> bool:
    """Return whether two ways differ, and only in names that end at a dot here and are longer there."""
    pairs = [*zip(found[1], other[1], strict=True)]
    differing = [(mine, its) for mine, its in pairs if mine != its]
    return (
        found[0] == other[0]
        and bool(differing)
        and all(mine[0] == its[0] and mine[1].endswith(".") and its[1].startswith(mine[1]) for mine, its in differing)
    )


def _closed(found: Said) -> tuple[str, ...]:
    """Return the values of a message, without blanks that are in no number."""
    message, values = found
    return message, *(re.sub(r"(?<![0-9]) +| +(?![0-9])", "", f"{name} {value}") for name, value in values)


def _ways(pieces: Sequence[str], lengths: Sequence[int], width: Width | None) -> list[str]:
    """The pieces as one line, in each way that they may have been broken; the likeliest first."""
    at_blanks = " ".join(piece.strip() for piece in pieces)
    if width is None:
        return list(dict.fromkeys((at_blanks, "".join(pieces), *_mixed(pieces))))
    anywhere = "".join(pieces)
    # A blank at the end of the width gets lost where a line is copied.
    lost = (
        " " if length < width.characters and not piece.endswith(" ") else ""
        for piece, length in zip(pieces[:-1], lengths, strict=False)
    )
    regained = "".join(piece + blank for piece, blank in zip(pieces, [*lost, ""], strict=True))
    return list(dict.fromkeys((anywhere, regained, at_blanks, *_mixed(pieces))))


def _mixed(pieces: Sequence[str]) -> Iterator[str]:
    """A few pieces as one line, with or without a blank at each of their ends: dressings may have taken one along."""
    if 2 < len(pieces) <= _MOST_MIXED:
        for blanks in itertools.product(("", " "), repeat=len(pieces) - 1):
            yield "".join(f"{piece.strip()}{blank}" for piece, blank in zip(pieces, (*blanks, ""), strict=True))


_MOST_MIXED: Final = 6
_MOST_OF_EXCEPTION: Final = 4
_NO_BLANK: Final = re.compile(r"[{\[(=] | [}\]),;]")
"""Places where Kafka prints no blank."""


@dataclass(frozen=True, slots=True)
class Width:
    """The width at which a terminal seems to have broken lines.

    Attributes:
        characters: how many there are in a whole piece.
        sure: so many pieces have it that this is no chance.
    """

    characters: int
    sure: bool


def width_of(lengths: Sequence[int]) -> Width | None:
    """Return the terminal width that the lengths of pieces imply; None if they differ."""
    if len(lengths) < 2 or min(lengths) < max(lengths) - 1:
        return None
    return Width(max(lengths), sure=len(lengths) >= _SURE)


_SURE: Final = 3


def cut_number(first: str, following: str) -> bool:
    """Return whether an incomplete line may end within a number that continues in the next line."""
    return not whole(first) and len(first) >= SHORTEST and first[-1:].isdigit() and following[:1].isdigit()
