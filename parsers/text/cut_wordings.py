"""Lines without their end, as they are pasted: a terminal's width, a cell of a table, a chat's limit.

A line states what it still has in full. The value at which it ends may lack digits, so it is left out; where it ends
within a word, the line counts up to the word before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from parsers.messages import MESSAGES
from parsers.messages.catalogue import Message, Variant
from parsers.schema import OBSERVATIONS, empty
from parsers.text import extract

MOST_LINES: Final = 200
"""Lines that are read so; a person pastes fewer."""

_PLACES: Final = frozenset({"tp", "bracketed", "topic"})
_WORDS: Final = frozenset({"tp", "bracketed", "topic", "topic_id", "detail", "log_dir", "isr", "isr_before"})
_MARK: Final = re.compile(r"[ \t]*(?:\.{2,}|…)[ \t]*$")
_QUANTIFIER: Final = re.compile(r"(?:[?*+]|\{[0-9]+(?:,[0-9]*)?\})\??")


class _Cut(NamedTuple):
    """The wording of a line without its end.

    Attributes:
        message, variant: the wording.
        values: what the line states in full, by group.
    """

    message: Message
    variant: Variant
    values: dict[str, str]


def read(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the observations of lines without their end.

    Args:
        rows: columns ``line``, ``time`` and ``message``, the text of a message without its end.

    Returns:
        Schema ``OBSERVATIONS``; nothing of a line that may be of two kinds.
    """
    parts = []
    for line, time, text in rows.select("line", "time", "message").head(MOST_LINES).iter_rows():
        found = _wording(_MARK.sub("", text))
        if found is None:
            continue
        values = {"line": [line], "time": [time], "message": [text], **{name: [v] for name, v in found.values.items()}}
        one = pl.DataFrame(values, schema_overrides={"line": pl.Int64, "time": pl.Datetime("us")})
        parts.append(extract.stated(one, found.message, found.variant, found.message.kind))
    return extract.values(pl.concat(parts, how="diagonal")) if parts else empty(OBSERVATIONS)


def is_beginning(text: str) -> bool:
    """Return whether a text is the beginning of a known message that states values."""
    return beginning(text) is not None


def beginning(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the message of which a text is the beginning, and the values that it states in full; or None."""
    found = _wording(_MARK.sub("", text))
    return None if found is None else (found.message.id, tuple(found.values.items()))


def _wording(text: str) -> _Cut | None:
    """Return the only wording of which a text may be the beginning."""
    candidates = [one for one in MESSAGES if not one.thrown and any(literal in text for literal in one.literals)]
    found = [cut for message in candidates for variant in message.variants if (cut := _cut(text, message, variant))]
    most = max((len(one.values) for one in found), default=0)
    best = [one for one in found if len(one.values) == most]
    same = all((one.message.kind, one.values) == (best[0].message.kind, best[0].values) for one in best)
    return best[0] if best and same else None


def _cut(text: str, message: Message, variant: Variant) -> _Cut | None:
    """Return what a text states as the beginning of a wording, or None."""
    if not variant.own_row:
        return None
    match = _beginning(variant.regex, text) or _beginning(variant.regex, text.rpartition(" ")[0])
    if match is None:
        return None
    named = ((name, value) for name, value in match.groupdict().items() if value is not None)
    values = {name: value for name, value in named if match.end(name) < len(match.string)}
    numbers = any(name not in _WORDS for name in values)
    return _Cut(message, variant, values) if numbers and _PLACES & values.keys() else None


def _beginning(regex: str, text: str) -> re.Match[str] | None:
    """Return how the longest beginning of a pattern fits a whole text."""
    return next((found for one in _beginnings(regex) if (found := one.fullmatch(text)) is not None), None)


@functools.cache
def _beginnings(regex: str) -> tuple[re.Pattern[str], ...]:
    """The beginnings of a pattern, the longest first; none of one with alternatives."""
    atoms = [*_atoms(regex.removeprefix("^"))]
    if "|" in atoms:
        return ()
    return tuple(re.compile("".join(atoms[:count])) for count in range(len(atoms), 0, -1))


def _atoms(regex: str) -> Iterator[str]:
    """Yield the pieces of a pattern of which each matches by itself, with their quantifiers."""
    at = 0
    while at < len(regex):
        end = _end(regex, at)
        quantifier = _QUANTIFIER.match(regex, end)
        end = quantifier.end() if quantifier is not None else end
        yield regex[at:end]
        at = end


def _end(regex: str, at: int) -> int:
    """Return where the piece that begins at a place ends, without its quantifier."""
    if regex[at] == "\\":
        return at + 2
    if regex[at] == "[":
        closed = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]").match(regex, at)
        return closed.end() if closed is not None else at + 1
    if regex[at] != "(":
        return at + 1
    at += 1
    while regex[at] != ")":
        at = _end(regex, at)
    return at + 1
